#include "baton/relay/pattern/pattern_table.h"

#include <memory>
#include <mutex>
#include <string>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/string_view.h"
#include "baton/base/registry.h"
#include "baton/base/status_macros.h"
#include "baton/ir/op.h"
#include "baton/relay/ir/expr.h"
#include "baton/relay/pattern/matcher.h"
#include "baton/relay/pattern/rewrite_rule.h"
#include "baton/relay/pattern/rule_text.h"

namespace baton::relay {
namespace {

absl::Status Check(absl::string_view compiler, const PatternTable& table) {
  const std::string prefix = absl::StrCat(compiler, ".");
  for (const CompositePattern& composite : table.composites) {
    if (!absl::StartsWith(composite.name, prefix) ||
        composite.name.size() == prefix.size()) {
      return absl::InvalidArgumentError(
          absl::StrCat("pattern table of ", compiler, ": the name of pattern @",
                       composite.name, " does not begin with `", prefix, "`"));
    }
    if (absl::Status status = Matcher(composite.pattern).status();
        !status.ok()) {
      return absl::Status(
          status.code(),
          absl::StrCat("pattern table of ", compiler, ": pattern @",
                       composite.name, ": ", status.message()));
    }
  }
  for (const SupportedOperator& supported : table.operators) {
    if (absl::Status status = Op::Get(supported.op).status(); !status.ok()) {
      return absl::Status(
          status.code(),
          absl::StrCat("pattern table of ", compiler, ": ", status.message()));
    }
  }
  return absl::OkStatus();
}

}  // namespace

absl::StatusOr<PatternTable> ParsePatternTable(absl::string_view compiler,
                                               absl::string_view text,
                                               absl::string_view source_name) {
  BATON_ASSIGN_OR_RETURN(std::vector<RewriteRule> patterns,
                         ParsePatterns(text, source_name));
  PatternTable table;
  for (RewriteRule& pattern : patterns) {
    table.composites.push_back(
        {.name = std::move(pattern.name),
         .doc = std::move(pattern.doc),
         .pattern = std::move(pattern.pattern),
         .accepts =
             [replace = std::move(pattern.replace)](const PatternMatch& match) {
               const absl::StatusOr<Expr> taken = replace(match);
               return taken.ok() && taken->defined();
             }});
  }
  if (absl::Status status = Check(compiler, table); !status.ok()) return status;
  return table;
}

absl::StatusOr<std::shared_ptr<const PatternTable>> LazyPatternTable::Get(
    absl::string_view compiler) const {
  const std::lock_guard<std::mutex> lock(mutex_);
  if (!table_.has_value()) {
    table_ = [&]() -> absl::StatusOr<std::shared_ptr<const PatternTable>> {
      BATON_ASSIGN_OR_RETURN(PatternTable table, make_());
      if (absl::Status status = Check(compiler, table); !status.ok()) {
        return status;
      }
      return std::make_shared<const PatternTable>(std::move(table));
    }();
  }
  return *table_;
}

Registry<std::shared_ptr<const LazyPatternTable>>& PatternTables() {
  static auto& registry =
      *Registry<std::shared_ptr<const LazyPatternTable>>::NewGlobal(
          "pattern table");
  return registry;
}

absl::StatusOr<std::shared_ptr<const PatternTable>> GetPatternTable(
    absl::string_view compiler) {
  BATON_ASSIGN_OR_RETURN(const std::shared_ptr<const LazyPatternTable>* table,
                         PatternTables().Get(compiler));
  return (*table)->Get(compiler);
}

bool RegisterPatternTable(absl::string_view compiler,
                          LazyPatternTable::Make make, CodeLocation location) {
  PatternTables().Register(
      compiler, std::make_shared<const LazyPatternTable>(std::move(make)),
      location);
  return true;
}

bool RegisterPatternTableText(absl::string_view compiler,
                              absl::string_view source_name,
                              absl::string_view text, CodeLocation location) {
  return RegisterPatternTable(
      compiler,
      [compiler = std::string(compiler), source_name = std::string(source_name),
       text = std::string(text)]() {
        return ParsePatternTable(compiler, text, source_name);
      },
      location);
}

}  // namespace baton::relay
