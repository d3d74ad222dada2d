// Pattern tables: the patterns and operators that an external compiler (a code
// generator, an accelerator) supports, by the compiler's name.
//
//   BATON_REGISTER_PATTERN_TABLE_TEXT("acme", "acme.patterns", R"(
//     pattern @acme.conv2d_relu "Both in one instruction." {
//       match { nn.relu(nn.conv2d(%x, const(%w))) }
//       where { dtype(%x) == "float32" }
//     })");
//
// or, in C++,
//
//   PatternTable AcmeTable() {
//     return {.composites = {{.name = "acme.conv2d_relu",
//                             .pattern = IsOp("nn.relu")(
//                                 IsOp("nn.conv2d")(Wildcard(),
//                                                   IsConstant()))}},
//             .operators = {{.op = "add"}}};
//   }
//   BATON_REGISTER_PATTERN_TABLE("acme", AcmeTable);

#ifndef BATON_RELAY_PATTERN_PATTERN_TABLE_H_
#define BATON_RELAY_PATTERN_PATTERN_TABLE_H_

#include <functional>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "baton/base/macros.h"
#include "baton/base/registry.h"
#include "baton/relay/ir/expr.h"
#include "baton/relay/pattern/dataflow_pattern.h"
#include "baton/relay/pattern/matcher.h"

namespace baton::relay {

// A group of operators that a compiler supports as one operation.
// MergeComposite makes a function of each match, with the name as its attribute
// `Composite`.
struct CompositePattern {
  // `COMPILER.OPERATION`.
  std::string name;
  std::string doc = {};  // one line
  DataflowPattern pattern;
  // True if the compiler supports this match; null for all matches.
  // PatternMatch::Decline records why not.
  std::function<bool(const PatternMatch& match)> accepts = nullptr;
};

// An operator that a compiler supports.
struct SupportedOperator {
  std::string op;
  // True if the compiler supports this typed call; null for all calls.
  std::function<bool(const CallNode& call)> accepts = nullptr;
};

// The operators and groups of operators that one compiler supports.
struct PatternTable {
  // In order of preference: a node belongs to the first match.
  std::vector<CompositePattern> composites = {};
  std::vector<SupportedOperator> operators = {};
};

// Makes the table that `text` describes (ParsePatterns in rule_text.h). Each
// name in it begins with that of the compiler.
absl::StatusOr<PatternTable> ParsePatternTable(
    absl::string_view compiler, absl::string_view text,
    absl::string_view source_name = "patterns");

// A table that is made at the first request, when the operators are registered.
class LazyPatternTable {
 public:
  using Make = std::function<absl::StatusOr<PatternTable>()>;
  explicit LazyPatternTable(Make make) : make_(std::move(make)) {}
  // Errors: those of the text; a composite whose name does not begin with the
  // compiler's; an operator that is not linked.
  absl::StatusOr<std::shared_ptr<const PatternTable>> Get(
      absl::string_view compiler) const;

 private:
  const Make make_;
  mutable std::mutex mutex_;
  mutable std::optional<absl::StatusOr<std::shared_ptr<const PatternTable>>>
      table_;
};

Registry<std::shared_ptr<const LazyPatternTable>>& PatternTables();

// The table of `compiler`. The error names the nearest known compilers.
absl::StatusOr<std::shared_ptr<const PatternTable>> GetPatternTable(
    absl::string_view compiler);

// Each returns true.
bool RegisterPatternTable(absl::string_view compiler,
                          LazyPatternTable::Make make,
                          CodeLocation location = CodeLocation::Current());
bool RegisterPatternTableText(absl::string_view compiler,
                              absl::string_view source_name,
                              absl::string_view text,
                              CodeLocation location = CodeLocation::Current());

#define BATON_REGISTER_PATTERN_TABLE(compiler, make)                           \
  [[maybe_unused]] static const bool BATON_UNIQUE_NAME(baton_pattern_table_) = \
      ::baton::relay::RegisterPatternTable(compiler, make)
#define BATON_REGISTER_PATTERN_TABLE_TEXT(compiler, source_name, text)         \
  [[maybe_unused]] static const bool BATON_UNIQUE_NAME(baton_pattern_table_) = \
      ::baton::relay::RegisterPatternTableText(compiler, source_name, text)

}  // namespace baton::relay

#endif  // BATON_RELAY_PATTERN_PATTERN_TABLE_H_
