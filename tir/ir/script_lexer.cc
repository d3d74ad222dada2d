#include "baton/tir/ir/script_lexer.h"

#include <cstddef>
#include <cstdint>
#include <string>

#include "absl/strings/ascii.h"
#include "absl/strings/escaping.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/string_view.h"

namespace baton::tir {
namespace {

bool IsNameStart(char c) {
  return c == '_' || absl::ascii_isalpha(static_cast<unsigned char>(c));
}
bool IsNameChar(char c) {
  return c == '_' || absl::ascii_isalnum(static_cast<unsigned char>(c));
}
bool IsDigit(char c) { return c >= '0' && c <= '9'; }

constexpr absl::string_view kLongSigns[] = {"//=", "**", "//", "->", "==",
                                            "!=",  "<=", ">=", "<<", ">>",
                                            "+=",  "-=", "*=", "/=", "%="};

}  // namespace

ScriptLexer::ScriptLexer(absl::string_view text, int64_t begin)
    : text_(text), end_(begin) {
  ReadLines(begin);
}

std::string ScriptLexer::MessageOf(int64_t begin) const {
  for (const Mistake& mistake : mistakes_) {
    if (mistake.begin == begin) return mistake.message;
  }
  return "this is no token";
}

int64_t ScriptLexer::LineEnd(int64_t pos) const {
  const size_t found = text_.find('\n', static_cast<size_t>(pos));
  return static_cast<int64_t>(found == absl::string_view::npos ? text_.size()
                                                               : found);
}

int64_t ScriptLexer::Indentation(int64_t pos, int64_t* at) {
  int64_t p = pos;
  bool tabs = false;
  while (At(p) == ' ' || At(p) == '\t' || At(p) == '\r' || At(p) == '\f') {
    tabs |= At(p) == '\t';
    ++p;
  }
  *at = p;
  if (p >= static_cast<int64_t>(text_.size()) || At(p) == '\n') return -1;
  // `#[metadata]` is no comment: it ends all definitions.
  if (At(p) == '#' && !(p == pos && At(p + 1) == '[')) return -1;
  if (tabs) AddBad(pos, p, "a line is indented by tabs: indent it by blanks");
  return p - pos;
}

void ScriptLexer::ReadLines(int64_t pos) {
  const auto size = static_cast<int64_t>(text_.size());
  bool has_header = false;
  while (pos < size) {
    int64_t at = 0;
    const int64_t indent = Indentation(pos, &at);
    if (indent < 0) {
      pos = LineEnd(pos) + 1;
      continue;
    }
    if (indent == 0) {
      const bool is_header = StartsWith(at, "def ") || StartsWith(at, "class ");
      if (has_header || (!is_header && At(at) != '@')) break;
      has_header = is_header;
    }
    if (indent > indents_.back()) {
      indents_.push_back(indent);
      Add(ScriptTokenKind::kIndent, pos, at);
    } else {
      while (indent < indents_.back()) {
        indents_.pop_back();
        Add(ScriptTokenKind::kDedent, at, at);
      }
      if (indent != indents_.back()) {
        AddBad(pos, at, "this indentation is that of no line above");
      }
    }
    pos = ReadLine(at);
    end_ = pos > size ? size : pos;
    // The end of a token, before the line feed.
    if (end_ > 0 && At(end_ - 1) == '\n') --end_;
  }
  for (; indents_.size() > 1; indents_.pop_back()) {
    Add(ScriptTokenKind::kDedent, end_, end_);
  }
  Add(ScriptTokenKind::kEnd, end_, end_);
}

int64_t ScriptLexer::ReadLine(int64_t pos) {
  const auto size = static_cast<int64_t>(text_.size());
  while (pos < size) {
    const char c = At(pos);
    if (c == '\n') {
      if (brackets_ <= 0) break;
      ++pos;
    } else if (c == ' ' || c == '\t' || c == '\r' || c == '\f') {
      ++pos;
    } else if (c == '#') {
      pos = LineEnd(pos);
    } else if (c == '\\' && At(pos + 1) == '\n') {
      pos += 2;
    } else {
      pos = ReadToken(pos);
    }
  }
  brackets_ = 0;
  Add(ScriptTokenKind::kNewline, pos, pos);
  return pos + 1;
}

int64_t ScriptLexer::ReadToken(int64_t pos) {
  const char c = At(pos);
  if (IsNameStart(c)) {
    int64_t end = pos + 1;
    while (IsNameChar(At(end))) ++end;
    Add(ScriptTokenKind::kName, pos, end);
    return end;
  }
  if (IsDigit(c) || (c == '.' && IsDigit(At(pos + 1)))) return ReadNumber(pos);
  if (c == '"' || c == '\'') return ReadString(pos);
  for (const absl::string_view sign : kLongSigns) {
    if (StartsWith(pos, sign)) {
      const auto size = static_cast<int64_t>(sign.size());
      uint32_t code = 0;
      for (size_t i = 0; i < sign.size(); ++i) {
        code |= static_cast<uint32_t>(static_cast<unsigned char>(sign[i]))
                << (8 * i);
      }
      Add(ScriptTokenKind::kSign, pos, pos + size, code);
      return pos + size;
    }
  }
  switch (c) {
    case '(':
    case '[':
    case '{':
      ++brackets_;
      break;
    case ')':
    case ']':
    case '}':
      --brackets_;
      break;
    case ',':
    case ':':
    case '.':
    case '=':
    case '+':
    case '-':
    case '*':
    case '/':
    case '%':
    case '<':
    case '>':
    case '&':
    case '|':
    case '^':
    case '~':
    case '@':
      break;
    default:
      return AddBad(pos, pos + 1, "unexpected character");
  }
  Add(ScriptTokenKind::kSign, pos, pos + 1, static_cast<unsigned char>(c));
  return pos + 1;
}

int64_t ScriptLexer::ReadNumber(int64_t pos) {
  int64_t end = pos;
  const char base =
      absl::ascii_tolower(static_cast<unsigned char>(At(pos + 1)));
  if (At(pos) == '0' && (base == 'x' || base == 'o' || base == 'b')) {
    while (IsNameChar(At(end))) ++end;
    Add(ScriptTokenKind::kInteger, pos, end);
    return end;
  }
  bool is_float = false;
  const auto skip_digits = [&] {
    while (IsDigit(At(end)) ||
           (At(end) == '_' && IsDigit(At(end - 1)) && IsDigit(At(end + 1)))) {
      ++end;
    }
  };
  skip_digits();
  if (At(end) == '.') {
    is_float = true;
    ++end;
    skip_digits();
  }
  if (At(end) == 'e' || At(end) == 'E') {
    int64_t p = end + 1;
    if (At(p) == '+' || At(p) == '-') ++p;
    if (IsDigit(At(p))) {
      is_float = true;
      end = p;
      skip_digits();
    }
  }
  if (IsNameChar(At(end))) {
    while (IsNameChar(At(end))) ++end;
    return AddBad(pos, end, "this is no number");
  }
  Add(is_float ? ScriptTokenKind::kFloat : ScriptTokenKind::kInteger, pos, end);
  return end;
}

int64_t ScriptLexer::ReadString(int64_t pos) {
  const auto size = static_cast<int64_t>(text_.size());
  const char quote = At(pos);
  const bool triple = At(pos + 1) == quote && At(pos + 2) == quote;
  int64_t p = pos + (triple ? 3 : 1);
  while (p < size) {
    const char c = At(p);
    if (c == '\\' && p + 1 < size) {
      p += 2;
    } else if (c == '\n' && !triple) {
      break;
    } else if (c == quote && !triple) {
      Add(ScriptTokenKind::kString, pos, p + 1);
      return p + 1;
    } else if (triple && c == quote && At(p + 1) == quote &&
               At(p + 2) == quote) {
      Add(ScriptTokenKind::kString, pos, p + 3);
      return p + 3;
    } else {
      ++p;
    }
  }
  return AddBad(pos, p, "this string is not closed");
}

bool UnescapeScriptString(absl::string_view token, std::string* out) {
  const size_t quotes =
      token.size() >= 6 && token[0] == token[1] && token[1] == token[2] ? 3 : 1;
  token = token.substr(quotes, token.size() - 2 * quotes);
  if (token.find('\\') == absl::string_view::npos) {
    *out = std::string(token);
    return true;
  }
  out->clear();
  // `\xNN` has two digits; what follows is no part of it.
  for (size_t i = 0; i < token.size(); ++i) {
    if (token[i] != '\\' || i + 1 == token.size()) {
      out->push_back(token[i]);
      continue;
    }
    const char c = token[++i];
    if (c == 'x') {
      if (i + 2 >= token.size() ||
          !absl::ascii_isxdigit(static_cast<unsigned char>(token[i + 1])) ||
          !absl::ascii_isxdigit(static_cast<unsigned char>(token[i + 2]))) {
        return false;
      }
      absl::StrAppend(out, absl::HexStringToBytes(token.substr(i + 1, 2)));
      i += 2;
      continue;
    }
    switch (c) {
      case 'n':
        out->push_back('\n');
        break;
      case 't':
        out->push_back('\t');
        break;
      case 'r':
        out->push_back('\r');
        break;
      case '0':
        out->push_back('\0');
        break;
      case '\n':
        break;
      case '\\':
      case '"':
      case '\'':
        out->push_back(c);
        break;
      default:
        // Python keeps the backslash of what is no escape.
        out->push_back('\\');
        out->push_back(c);
        break;
    }
  }
  return true;
}

}  // namespace baton::tir
