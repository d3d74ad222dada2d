// Splits the text of modules into tokens, for the functions of all levels.
//
// The lexer walks over the text once and allocates nothing: a token is a kind
// and a place. The lexer skips white space and comments; `/* ... */` nests, and a
// hash and a blank begin a comment, too, up to the end of the line. A lexical
// error is a token of kind kBad; error() describes it.
//
// A level may reserve words: they are separate token kinds in every text
// (ReserveWords). Other keywords are identifiers for the lexer: see
// Lexer::AtWord().

#ifndef BATON_IR_TEXT_LEXER_H_
#define BATON_IR_TEXT_LEXER_H_

#include <cstddef>
#include <cstdint>
#include <initializer_list>
#include <string>

#include "absl/strings/string_view.h"

namespace baton {

// The kinds of tokens.
enum class TokenKind : uint8_t {
  kEnd,
  kBad,
  // Names. See Token::name.
  kLocal,       // %x
  kGraph,       // %12
  kGlobal,      // @main
  kIdentifier,  // nn.conv2d
  kMeta,        // meta[relay.Constant][0]
  // Literals.
  kInteger,
  kFloat,
  kString,
  kTrue,
  kFalse,
  // #[version = ...], #[metadata]
  kVersion,
  kMetadata,
  // Punctuation.
  kUnderscore,
  kOpenParen,
  kCloseParen,
  kOpenSquare,
  kCloseSquare,
  kOpenCurly,
  kCloseCurly,
  kComma,
  kSemicolon,
  kColon,
  kPeriod,
  kQuestion,
  kAssign,    // =
  kArrow,     // ->
  kFatArrow,  // =>
  kStar,
  kSlash,
  kPlus,
  kMinus,
  kLess,
  kLessEqual,
  kGreater,
  kGreaterEqual,
  kEqual,     // ==
  kNotEqual,  // !=
  // Reserved words.
  kWord0,
  kWord1,
  kWord2,
  kWord3,
  kWord4,
  kWord5,
  kWord6,
  kWord7,
  kWord8,
  kWord9,
  kWord10,
  kWord11,
  kWord12,
  kWord13,
  kWord14,
  kWord15,
};

// The name of a kind in messages: "`;`", "a name", "the end of the text".
absl::string_view TokenKindName(TokenKind kind);

constexpr bool IsReservedWord(TokenKind kind) {
  return kind >= TokenKind::kWord0;
}

// True for identifiers, `True`, `False` and reserved words: Lexer::Name() is
// the word.
constexpr bool IsWord(TokenKind kind) {
  return kind == TokenKind::kIdentifier || kind == TokenKind::kTrue ||
         kind == TokenKind::kFalse || IsReservedWord(kind);
}

// Reserves words, with static storage, before `main`; kWord0 is the kind of the
// first one, and so on. A word `match?` is one token if `match` is reserved,
// too. One level at most reserves words: a second call aborts the program.
inline constexpr size_t kMaxReservedWords = 16;
bool ReserveWords(std::initializer_list<absl::string_view> words);

// A kind, and the bytes [begin, end) of the text.
struct Token {
  TokenKind kind = TokenKind::kEnd;
  // For a number: 0 without a suffix, otherwise 16, 32 or 64.
  uint8_t width = 0;
  int64_t begin = 0;
  int64_t end = 0;
  // For kGraph and kMeta: the number.
  int64_t number = 0;
  // The significant part: a name without `%` or `@`, the kind of a meta
  // reference, the digits of a number, the inside of a string, a version.
  int64_t name_begin = 0;
  int64_t name_end = 0;
};

// Splits a text into tokens, one at a time; token() is the current one.
class Lexer {
 public:
  // `text` must outlive the lexer and be followed by a NUL, as a std::string
  // is.
  explicit Lexer(const std::string& text)
      : base_(text.data()), end_(base_ + text.size()), pos_(base_) {}

  const Token& token() const { return token_; }
  TokenKind kind() const { return token_.kind; }
  // The error of a kBad token.
  const std::string& error() const { return error_; }
  // The end of the last consumed token.
  int64_t last_end() const { return last_end_; }

  absl::string_view Text(int64_t begin, int64_t end) const {
    return {base_ + begin, static_cast<size_t>(end - begin)};
  }
  absl::string_view Name() const { return Name(token_); }
  absl::string_view Name(const Token& token) const {
    return Text(token.name_begin, token.name_end);
  }

  // True if the current token is `word`.
  bool AtWord(absl::string_view word) const {
    return IsWord(token_.kind) && Name() == word;
  }
  // Moves to the next token.
  void Next() {
    last_end_ = token_.end;
    Lex();
  }
  // Moves to the next token if the current one is of `kind`.
  bool Accept(TokenKind kind) {
    if (token_.kind != kind) return false;
    Next();
    return true;
  }
  // Returns to an earlier token.
  void Rewind(const Token& token, int64_t last_end) {
    token_ = token;
    pos_ = base_ + token.end;
    last_end_ = last_end;
  }
  // Skips everything before `offset`, the end of a token, and moves to the next
  // token.
  void SkipTo(int64_t offset) {
    pos_ = base_ + offset;
    token_.end = offset;
    Next();
  }

  // The next character after the current token that is not white space or in a
  // comment; NUL at the end.
  char PeekChar();
  // True if a global name or a word follows the current token.
  bool BeforeNameOrWord();
  // True if `=` follows the current token.
  bool AtAssign();
  // True if the current token is a word (an identifier or a keyword) and `=`
  // follows. Extends an identifier by the dashes that the key of an attribute
  // may contain.
  bool AtKey();
  // Moves past a `.` to a token of digits only, so that `%0.1.2` is two
  // projections.
  void NextIndex();
  // Removes the last part of a kLocal (`%a-b` becomes `%a`, `-`, `b`). Returns
  // false if it has only one part.
  bool ShortenLocal();

 private:
  void Lex();
  void LexOther();
  void SkipBlank();
  void SkipBlankSlow();
  bool SkipComment();
  void LexLocal();
  void LexGlobal();
  void LexWord();
  void LexNumber();
  void LexString();
  void LexMeta();
  void LexPragma();
  void LexBad(int64_t length, std::string message);
  void Finish(TokenKind kind, const char* begin, const char* end) {
    token_.kind = kind;
    token_.begin = begin - base_;
    token_.end = end - base_;
    pos_ = end;
  }

  const char* const base_;
  const char* const end_;
  const char* pos_;
  // The start of a comment that is not closed; null if there is none.
  const char* open_comment_ = nullptr;
  Token token_;
  int64_t last_end_ = 0;
  std::string error_;
};

}  // namespace baton

#endif  // BATON_IR_TEXT_LEXER_H_
