// Splits scripts of functions of loops into tokens: the subset of Python that
// TVM prints, with indentation.

#ifndef BATON_TIR_IR_SCRIPT_LEXER_H_
#define BATON_TIR_IR_SCRIPT_LEXER_H_

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "absl/strings/string_view.h"

namespace baton::tir {

enum class ScriptTokenKind : uint8_t {
  kEnd,
  kNewline,
  kIndent,
  kDedent,
  kName,  // and keywords
  kInteger,
  kFloat,
  kString,
  kSign,  // an operator or a bracket: `sign` says which
  kBad,   // not a token: see ScriptLexer::MessageOf()
};

struct ScriptToken {
  ScriptTokenKind kind = ScriptTokenKind::kEnd;
  // The characters of a kSign token, the first in the lowest byte.
  uint32_t sign = 0;
  int64_t begin = 0;
  int64_t end = 0;
};

// The sign of at most three characters as ScriptToken::sign has it.
constexpr uint32_t Sign(const char* text) {
  uint32_t result = 0;
  for (int i = 0; text[i] != '\0'; ++i) {
    result |= static_cast<uint32_t>(static_cast<unsigned char>(text[i]))
              << (8 * i);
  }
  return result;
}

// The tokens of one definition at column 0: its decorators, the line of its
// `def` or `class`, and what is indented below it.
class ScriptLexer {
 public:
  // Reads from `begin` of `text` on, which must be the beginning of a line.
  ScriptLexer(absl::string_view text, int64_t begin);

  // The last is kEnd.
  const std::vector<ScriptToken>& tokens() const { return tokens_; }
  // Describes the mistake of the kBad token that begins at `begin`.
  std::string MessageOf(int64_t begin) const;
  // The end of the last line of the definition.
  int64_t end() const { return end_; }

 private:
  struct Mistake {
    int64_t begin;
    const char* message;
  };
  void ReadLines(int64_t pos);
  // The indentation of the line at `pos`, whose first character is set to `at`;
  // -1 for a line without tokens.
  int64_t Indentation(int64_t pos, int64_t* at);
  // The tokens of a logical line; returns the position behind it.
  int64_t ReadLine(int64_t pos);
  int64_t ReadToken(int64_t pos);
  int64_t ReadNumber(int64_t pos);
  int64_t ReadString(int64_t pos);
  void Add(ScriptTokenKind kind, int64_t begin, int64_t end,
           uint32_t sign = 0) {
    tokens_.push_back({kind, sign, begin, end});
  }
  int64_t AddBad(int64_t begin, int64_t end, const char* message) {
    mistakes_.push_back({begin, message});
    Add(ScriptTokenKind::kBad, begin, end);
    return end;
  }
  char At(int64_t pos) const {
    return pos < static_cast<int64_t>(text_.size())
               ? text_[static_cast<size_t>(pos)]
               : '\0';
  }
  bool StartsWith(int64_t pos, absl::string_view word) const {
    return text_.substr(static_cast<size_t>(pos), word.size()) == word;
  }
  int64_t LineEnd(int64_t pos) const;

  const absl::string_view text_;
  std::vector<ScriptToken> tokens_;
  std::vector<Mistake> mistakes_;
  std::vector<int64_t> indents_ = {0};
  int64_t brackets_ = 0;  // the number of open brackets
  int64_t end_ = 0;
};

// The text of a string token, quotes included, without quotes and escapes.
// False if an escape is wrong.
bool UnescapeScriptString(absl::string_view token, std::string* out);

}  // namespace baton::tir

#endif  // BATON_TIR_IR_SCRIPT_LEXER_H_
