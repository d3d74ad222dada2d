#include "baton/ir/text_lexer.h"

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <cstring>
#include <deque>
#include <initializer_list>
#include <string>
#include <utility>
#include <vector>

#include "absl/strings/ascii.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/string_view.h"

namespace baton {
namespace {

// Classes of characters. Bytes above 0x7f are parts of UTF-8 sequences, which
// names may contain.
constexpr uint8_t kLetter = 1;  // or `_`, or of UTF-8
constexpr uint8_t kDigit = 2;
constexpr uint8_t kNameChar = kLetter | kDigit;
constexpr uint8_t kBlank = 4;  // or the beginning of a comment

constexpr std::array<uint8_t, 256> MakeClasses() {
  std::array<uint8_t, 256> classes{};
  for (int c = 0; c < 256; ++c) {
    if ((c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_' ||
        c >= 0x80) {
      classes[c] = kLetter;
    } else if (c >= '0' && c <= '9') {
      classes[c] = kDigit;
    }
  }
  for (const char c : {' ', '\n', '\t', '\r', '\f', '\v', '/'}) {
    classes[static_cast<unsigned char>(c)] = kBlank;
  }
  return classes;
}
constexpr std::array<uint8_t, 256> kClasses = MakeClasses();

// The kinds of the marks with which no longer mark begins.
constexpr std::array<TokenKind, 256> MakeMarks() {
  std::array<TokenKind, 256> marks{};  // kEnd for everything else
  marks[','] = TokenKind::kComma;
  marks['('] = TokenKind::kOpenParen;
  marks[')'] = TokenKind::kCloseParen;
  marks['['] = TokenKind::kOpenSquare;
  marks[']'] = TokenKind::kCloseSquare;
  marks['{'] = TokenKind::kOpenCurly;
  marks['}'] = TokenKind::kCloseCurly;
  marks[';'] = TokenKind::kSemicolon;
  marks[':'] = TokenKind::kColon;
  marks['.'] = TokenKind::kPeriod;
  marks['?'] = TokenKind::kQuestion;
  marks['*'] = TokenKind::kStar;
  marks['/'] = TokenKind::kSlash;
  marks['+'] = TokenKind::kPlus;
  return marks;
}
constexpr std::array<TokenKind, 256> kMarks = MakeMarks();

bool IsLetter(char c) {
  return (kClasses[static_cast<unsigned char>(c)] & kLetter) != 0;
}
bool IsDigit(char c) {
  return (kClasses[static_cast<unsigned char>(c)] & kDigit) != 0;
}
bool IsNameChar(char c) {
  return (kClasses[static_cast<unsigned char>(c)] & kNameChar) != 0;
}
bool IsBlank(char c) {
  return (kClasses[static_cast<unsigned char>(c)] & kBlank) != 0;
}

bool IsHashComment(const char* p) {
  return *p == '#' && (p[1] == ' ' || p[1] == '\n');
}

// Past the name at `p`, in which slashes stand where they begin no comment, and
// dots and dashes between other characters.
const char* PassLongName(const char* p) {
  while (true) {
    while (IsNameChar(*p)) ++p;
    if (*p == '/' && p[1] != '*') {
      ++p;
    } else if ((*p == '.' || *p == '-') && IsNameChar(p[1])) {
      ++p;
    } else {
      return p;
    }
  }
}

// The reserved words.
class ReservedWords {
 public:
  static ReservedWords& Get() {
    static ReservedWords& words = *new ReservedWords;
    return words;
  }

  bool empty() const { return words_.empty(); }
  void Add(absl::string_view word) {
    const auto kind = static_cast<TokenKind>(
        static_cast<size_t>(TokenKind::kWord0) + words_.size());
    words_.push_back({word, absl::StrCat("`", word, "`"), kind});
    of_size_[std::min(word.size(), kMostSize)].push_back({word, kind});
  }
  TokenKind Kind(absl::string_view word) const {
    if (word.size() < kMostSize) {
      for (const auto& [reserved, kind] : of_size_[word.size()]) {
        if (reserved == word) return kind;
      }
    }
    return TokenKind::kIdentifier;
  }
  absl::string_view Description(TokenKind kind) const {
    const size_t i =
        static_cast<size_t>(kind) - static_cast<size_t>(TokenKind::kWord0);
    return i < words_.size() ? absl::string_view(words_[i].description)
                             : "a word";
  }

 private:
  static constexpr size_t kMostSize = 16;
  struct Word {
    absl::string_view word;
    std::string description;  // "`let`"
    TokenKind kind;
  };
  std::deque<Word> words_;
  std::array<std::vector<std::pair<absl::string_view, TokenKind>>,
             kMostSize + 1>
      of_size_;
};

TokenKind WordKind(absl::string_view word) {
  if (word == "_") return TokenKind::kUnderscore;
  if (word == "True") return TokenKind::kTrue;
  if (word == "False") return TokenKind::kFalse;
  return ReservedWords::Get().Kind(word);
}

// The width in a numeric suffix: 0 for none, -1 if it is not a suffix.
int SuffixWidth(absl::string_view digits) {
  if (digits.empty()) return 0;
  if (digits == "16") return 16;
  if (digits == "32") return 32;
  if (digits == "64") return 64;
  return -1;
}

}  // namespace

bool ReserveWords(std::initializer_list<absl::string_view> words) {
  ReservedWords& reserved = ReservedWords::Get();
  // Two levels would disagree on the words of the other one's texts.
  if (!reserved.empty() || words.size() > kMaxReservedWords) std::abort();
  for (const absl::string_view word : words) reserved.Add(word);
  return true;
}

absl::string_view TokenKindName(TokenKind kind) {
  switch (kind) {
    case TokenKind::kEnd:
      return "the end of the text";
    case TokenKind::kBad:
      return "something unreadable";
    case TokenKind::kLocal:
      return "a variable";
    case TokenKind::kGraph:
      return "a numbered variable";
    case TokenKind::kGlobal:
      return "a global name";
    case TokenKind::kIdentifier:
      return "a name";
    case TokenKind::kMeta:
      return "a metadata reference";
    case TokenKind::kInteger:
    case TokenKind::kFloat:
      return "a number";
    case TokenKind::kString:
      return "a string";
    case TokenKind::kTrue:
      return "`True`";
    case TokenKind::kFalse:
      return "`False`";
    case TokenKind::kVersion:
      return "a version line";
    case TokenKind::kMetadata:
      return "the metadata section";
    case TokenKind::kUnderscore:
      return "`_`";
    case TokenKind::kOpenParen:
      return "`(`";
    case TokenKind::kCloseParen:
      return "`)`";
    case TokenKind::kOpenSquare:
      return "`[`";
    case TokenKind::kCloseSquare:
      return "`]`";
    case TokenKind::kOpenCurly:
      return "`{`";
    case TokenKind::kCloseCurly:
      return "`}`";
    case TokenKind::kComma:
      return "`,`";
    case TokenKind::kSemicolon:
      return "`;`";
    case TokenKind::kColon:
      return "`:`";
    case TokenKind::kPeriod:
      return "`.`";
    case TokenKind::kQuestion:
      return "`?`";
    case TokenKind::kAssign:
      return "`=`";
    case TokenKind::kArrow:
      return "`->`";
    case TokenKind::kFatArrow:
      return "`=>`";
    case TokenKind::kStar:
      return "`*`";
    case TokenKind::kSlash:
      return "`/`";
    case TokenKind::kPlus:
      return "`+`";
    case TokenKind::kMinus:
      return "`-`";
    case TokenKind::kLess:
      return "`<`";
    case TokenKind::kLessEqual:
      return "`<=`";
    case TokenKind::kGreater:
      return "`>`";
    case TokenKind::kGreaterEqual:
      return "`>=`";
    case TokenKind::kEqual:
      return "`==`";
    case TokenKind::kNotEqual:
      return "`!=`";
    default:
      return ReservedWords::Get().Description(kind);
  }
}

inline void Lexer::SkipBlank() {
  while (*pos_ == ' ' || *pos_ == '\n') ++pos_;
  if (IsBlank(*pos_)) SkipBlankSlow();
}

void Lexer::SkipBlankSlow() {
  while (true) {
    switch (*pos_) {
      case ' ':
      case '\n':
      case '\t':
      case '\r':
      case '\f':
      case '\v':
        ++pos_;
        continue;
      case '/':
        if (pos_[1] == '/') {
          const void* line_end =
              std::memchr(pos_, '\n', static_cast<size_t>(end_ - pos_));
          pos_ =
              line_end == nullptr ? end_ : static_cast<const char*>(line_end);
          continue;
        }
        if (pos_[1] == '*' && SkipComment()) continue;
        return;
      default:
        return;
    }
  }
}

bool Lexer::SkipComment() {
  const char* p = pos_ + 2;
  const char* inside = p;  // past the last `/*`, whose star closes nothing
  int64_t depth = 1;
  while (p < end_) {
    p = static_cast<const char*>(
        std::memchr(p, '/', static_cast<size_t>(end_ - p)));
    if (p == nullptr) break;
    if (p > inside && p[-1] == '*') {
      ++p;
      if (--depth == 0) {
        pos_ = p;
        return true;
      }
    } else if (p[1] == '*') {
      ++depth;
      p += 2;
      inside = p;
    } else {
      ++p;
    }
  }
  open_comment_ = pos_;
  pos_ = end_;
  return true;
}

void Lexer::Lex() {
  SkipBlank();
  const char* const p = pos_;
  const TokenKind mark = kMarks[static_cast<unsigned char>(*p)];
  if (mark != TokenKind::kEnd) return Finish(mark, p, p + 1);
  if (*p == '%') return LexLocal();
  if (IsLetter(*p)) return LexWord();
  LexOther();
}

void Lexer::LexOther() {
  const char* const p = pos_;
  const char c = *p;
  const auto mark = [this, p](TokenKind kind, int length) {
    Finish(kind, p, p + length);
  };
  switch (c) {
    case '@':
      return LexGlobal();
    case '=':
      if (p[1] == '=') return mark(TokenKind::kEqual, 2);
      if (p[1] == '>') return mark(TokenKind::kFatArrow, 2);
      return mark(TokenKind::kAssign, 1);
    case '-':
      if (p[1] == '>') return mark(TokenKind::kArrow, 2);
      return mark(TokenKind::kMinus, 1);
    case '<':
      if (p[1] == '=') return mark(TokenKind::kLessEqual, 2);
      return mark(TokenKind::kLess, 1);
    case '>':
      if (p[1] == '=') return mark(TokenKind::kGreaterEqual, 2);
      return mark(TokenKind::kGreater, 1);
    case '!':
      if (p[1] == '=') return mark(TokenKind::kNotEqual, 2);
      break;
    case '"':
      return LexString();
    case '#':
      return LexPragma();
    case '\0':
      if (p == end_) {
        if (open_comment_ != nullptr) {
          pos_ = std::exchange(open_comment_, nullptr);
          LexBad(2, "this comment is not closed");
          pos_ = end_;
          return;
        }
        return mark(TokenKind::kEnd, 0);
      }
      break;
    default:
      if (IsDigit(c)) return LexNumber();
      break;
  }
  LexBad(1, absl::ascii_isprint(static_cast<unsigned char>(c))
                ? absl::StrCat("unexpected character `",
                               absl::string_view(&c, 1), "`")
                : absl::StrCat("unexpected character ",
                               static_cast<unsigned char>(c)));
}

void Lexer::LexBad(int64_t length, std::string message) {
  const char* const p = pos_;
  error_ = std::move(message);
  token_.name_begin = token_.name_end = p - base_;
  Finish(TokenKind::kBad, p, p + length <= end_ ? p + length : end_);
}

void Lexer::LexLocal() {
  const char* const begin = pos_;
  const char* p = begin + 1;
  token_.name_begin = p - base_;
  if (IsDigit(*p)) {
    uint64_t number = 0;
    const char* const digits = p;
    while (IsDigit(*p))
      number = number * 10 + static_cast<uint64_t>(*p++ - '0');
    if (!IsLetter(*p) && !(*p == '.' && IsLetter(p[1]))) {
      if (p - digits > 18) {
        return LexBad(p - begin, "this number is too large");
      }
      token_.number = static_cast<int64_t>(number);
      token_.name_end = p - base_;
      return Finish(TokenKind::kGraph, begin, p);
    }
  }
  p = PassLongName(p);
  if (p == begin + 1) return LexBad(1, "expected a name after `%`");
  token_.name_end = p - base_;
  Finish(TokenKind::kLocal, begin, p);
}

bool Lexer::ShortenLocal() {
  const absl::string_view name = Name();
  const size_t cut = name.find_last_of("./-");
  if (cut == absl::string_view::npos || cut == 0) return false;
  token_.name_end = token_.name_begin + static_cast<int64_t>(cut);
  token_.end = token_.name_end;
  pos_ = base_ + token_.end;
  return true;
}

void Lexer::LexGlobal() {
  const char* const begin = pos_;
  const char* const p = PassLongName(begin + 1);
  if (p == begin + 1) return LexBad(1, "expected a name after `@`");
  token_.name_begin = begin + 1 - base_;
  token_.name_end = p - base_;
  Finish(TokenKind::kGlobal, begin, p);
}

void Lexer::LexWord() {
  const char* const begin = pos_;
  const char* p = begin;
  bool dotted = false;
  while (true) {
    while (IsNameChar(*p)) ++p;
    if ((*p != '.' && *p != '/') || !IsLetter(p[1])) break;
    dotted = true;
    ++p;
  }
  const absl::string_view word(begin, static_cast<size_t>(p - begin));
  if (*p == '[' && word == "meta") return LexMeta();
  token_.name_begin = begin - base_;
  token_.name_end = p - base_;
  const TokenKind kind = dotted ? TokenKind::kIdentifier : WordKind(word);
  if (*p == '?' && IsReservedWord(kind)) {
    const TokenKind longer = WordKind({begin, word.size() + 1});
    if (IsReservedWord(longer)) return Finish(longer, begin, p + 1);
  }
  if (kind == TokenKind::kIdentifier && word.size() >= 4 && word[3] == 'f' &&
      (word.substr(0, 3) == "inf" || word.substr(0, 3) == "nan")) {
    const int width = SuffixWidth(word.substr(4));
    if (width >= 0) {
      token_.width = static_cast<uint8_t>(width);
      token_.name_end = token_.name_begin + 3;
      return Finish(TokenKind::kFloat, begin, p);
    }
  }
  Finish(kind, begin, p);
}

void Lexer::LexNumber() {
  const char* const begin = pos_;
  const char* p = begin;
  while (IsDigit(*p)) ++p;
  bool real = false;
  if (*p == '.' &&
      !(IsLetter(p[1]) && p[1] != 'f' && p[1] != 'e' && p[1] != 'E')) {
    real = true;
    ++p;
    while (IsDigit(*p)) ++p;
  }
  if (*p == 'e' || *p == 'E') {
    real = true;
    ++p;
    if (*p == '+' || *p == '-') ++p;
    while (IsDigit(*p)) ++p;
  }
  const char* const digits_end = p;
  const char suffix = *p == 'f' || *p == 'i' ? *p++ : '\0';
  const char* const width_begin = p;
  if (suffix != '\0') {
    while (IsDigit(*p)) ++p;
  }
  const int width = SuffixWidth(
      absl::string_view(width_begin, static_cast<size_t>(p - width_begin)));
  if (IsLetter(*p) || width < 0) {
    while (IsNameChar(*p)) ++p;
    return LexBad(p - begin,
                  "a number ends in `f` or `i`, and perhaps 16, 32 or 64");
  }
  if (real && suffix != 'f') {
    return LexBad(p - begin,
                  "a number with a point or an exponent ends in `f`");
  }
  token_.width = static_cast<uint8_t>(width);
  token_.name_begin = begin - base_;
  token_.name_end = digits_end - base_;
  Finish(suffix == 'f' ? TokenKind::kFloat : TokenKind::kInteger, begin, p);
}

void Lexer::NextIndex() {
  last_end_ = token_.end;
  SkipBlank();
  const char* const begin = pos_;
  const char* p = begin;
  while (IsDigit(*p)) ++p;
  if (p == begin || IsLetter(*p)) return Lex();
  token_.width = 0;
  token_.name_begin = begin - base_;
  token_.name_end = p - base_;
  Finish(TokenKind::kInteger, begin, p);
}

void Lexer::LexString() {
  const char* const begin = pos_;
  const char* p = begin + 1;
  while (p < end_ && *p != '"') p += *p == '\\' ? 2 : 1;
  if (p >= end_) {
    LexBad(1, "this string is not closed");
    pos_ = end_;
    return;
  }
  token_.name_begin = begin + 1 - base_;
  token_.name_end = p - base_;
  Finish(TokenKind::kString, begin, p + 1);
}

void Lexer::LexMeta() {
  const char* const begin = pos_;
  const char* const kind = begin + 5;
  const char* p = kind;
  while (IsNameChar(*p) || *p == '.') ++p;
  const char* const kind_end = p;
  int64_t number = 0;
  bool good = p != kind && p[0] == ']' && p[1] == '[' && IsDigit(p[2]);
  if (good) {
    p += 2;
    const char* const digits = p;
    while (IsDigit(*p) && p - digits < 18) number = number * 10 + (*p++ - '0');
    good = *p == ']';
  }
  if (!good) return LexBad(p - begin, "expected `meta[KIND][NUMBER]`");
  token_.number = number;
  token_.name_begin = kind - base_;
  token_.name_end = kind_end - base_;
  Finish(TokenKind::kMeta, begin, p + 1);
}

void Lexer::LexPragma() {
  // A hash and a blank begin a comment, as in texts of Python.
  if (IsHashComment(pos_)) {
    do {
      const void* line_end =
          std::memchr(pos_, '\n', static_cast<size_t>(end_ - pos_));
      pos_ = line_end == nullptr ? end_ : static_cast<const char*>(line_end);
      SkipBlank();
    } while (IsHashComment(pos_));
    return Lex();
  }
  const char* const begin = pos_;
  constexpr absl::string_view kKnown =
      "expected `#[version = \"0.0.5\"]` or `#[metadata]`";
  if (begin[1] != '[') return LexBad(1, std::string(kKnown));
  const void* close =
      std::memchr(begin, ']', static_cast<size_t>(end_ - begin));
  const void* line =
      std::memchr(begin, '\n', static_cast<size_t>(end_ - begin));
  if (close == nullptr || (line != nullptr && line < close)) {
    return LexBad(2, std::string(kKnown));
  }
  const char* const inside_end = static_cast<const char*>(close);
  absl::string_view inside(begin + 2,
                           static_cast<size_t>(inside_end - begin - 2));
  inside = absl::StripAsciiWhitespace(inside);
  if (inside == "metadata") {
    return Finish(TokenKind::kMetadata, begin, inside_end + 1);
  }
  const size_t assign = inside.find('=');
  if (assign == absl::string_view::npos ||
      absl::StripAsciiWhitespace(inside.substr(0, assign)) != "version") {
    return LexBad(inside_end + 1 - begin, std::string(kKnown));
  }
  const absl::string_view value =
      absl::StripAsciiWhitespace(inside.substr(assign + 1));
  token_.name_begin = value.data() - base_;
  token_.name_end = token_.name_begin + static_cast<int64_t>(value.size());
  Finish(TokenKind::kVersion, begin, inside_end + 1);
}

char Lexer::PeekChar() {
  SkipBlank();
  return *pos_;
}

bool Lexer::BeforeNameOrWord() {
  const char c = PeekChar();
  return c == '@' || IsLetter(c);
}

bool Lexer::AtAssign() {
  SkipBlank();
  return *pos_ == '=' && pos_[1] != '=' && pos_[1] != '>';
}

bool Lexer::AtKey() {
  const bool is_key =
      token_.kind == TokenKind::kIdentifier ||
      (IsReservedWord(token_.kind) && token_.name_end == token_.end);
  if (!is_key) return false;
  const char* const end = base_ + token_.end;
  SkipBlank();
  if (*pos_ == '=' && pos_[1] != '=') return true;
  if (*end != '-' && *end != '.') return false;
  // The key may go on: `hardware-version`, `a.1`.
  const char* p = end;
  while (IsNameChar(*p) || *p == '-' || *p == '.') ++p;
  const char* q = p;
  while (*q == ' ') ++q;
  if (*q != '=' || q[1] == '=') return false;
  token_.kind = TokenKind::kIdentifier;
  token_.name_end = p - base_;
  token_.end = p - base_;
  pos_ = p;
  return true;
}

}  // namespace baton
