// The pattern of one CHECK line; see tools/check.h.

#ifndef BATON_TOOLS_CHECK_PATTERN_H_
#define BATON_TOOLS_CHECK_PATTERN_H_

#include <cstddef>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "re2/re2.h"

namespace baton {

using CheckVariables = std::map<std::string, std::string>;

// An error at bytes [begin, end) of a pattern's text.
struct PatternError {
  size_t begin = 0;
  size_t end = 0;
  std::string message;
};

struct PatternOptions {
  bool literal = false;    // no {{regex}} and no [[variables]]
  bool full_line = false;  // matches whole lines
  bool strict = false;     // blanks of the pattern match exactly
};

// A pattern matches within one line.
class CheckPattern {
 public:
  // On an error, returns nullopt and sets `error`.
  static std::optional<CheckPattern> Parse(absl::string_view text,
                                           const PatternOptions& options,
                                           PatternError* error);

  struct Match {
    size_t begin = 0;
    size_t end = 0;
    // The texts that the pattern's [[NAME:regex]] matched, in order.
    std::vector<std::pair<std::string, std::string>> variables;
  };

  // The first match in `text`, where `^` also matches at the beginning and `$`
  // at the end. An error if a variable has no value, or if a variable that is
  // used in the same pattern can be set in too many ways.
  absl::StatusOr<std::optional<Match>> Find(
      absl::string_view text, const CheckVariables& variables) const;

  // The names of the variables that must have values, in order of use.
  std::vector<std::string> UsedVariables() const;
  bool has_variables() const;

  // The literal pieces that every match contains, joined; omits variables
  // without a value.
  std::string LiteralText(const CheckVariables& variables) const;

 private:
  enum class Kind { kText, kRegex, kDefine, kUse, kOwnUse };
  struct Piece {
    Kind kind;
    std::string text;     // for a variable, its name
    std::string regex;    // for kRegex, kDefine
    int groups = 0;       // capturing groups in `regex`
    int definition = -1;  // for kOwnUse: the index of the defining piece
  };
  struct Compiled {
    std::unique_ptr<RE2> regex;
    std::vector<int> group;  // for each piece, its group; 0: none
    int num_groups = 0;      // with group 0
  };

  static Compiled Compile(const std::vector<Piece>& pieces,
                          const PatternOptions& options,
                          const CheckVariables& variables);
  std::optional<Match> FindRegex(const Compiled& compiled,
                                 absl::string_view text, size_t from,
                                 bool* agrees) const;
  absl::StatusOr<std::optional<Match>> FindRepeated(
      const Compiled& compiled, absl::string_view text,
      const CheckVariables& variables) const;

  PatternOptions options_;
  std::vector<Piece> pieces_;
  int first_own_use_ = -1;
  // The text of a pattern without regular expressions and variables.
  std::optional<std::string> only_text_;
  // Set for a pattern that uses no variables of other patterns.
  std::shared_ptr<const Compiled> compiled_;
};

}  // namespace baton

#endif  // BATON_TOOLS_CHECK_PATTERN_H_
