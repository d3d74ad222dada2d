#include "baton/testing/blame.h"

#include <memory>
#include <set>
#include <string>
#include <vector>

#include "absl/algorithm/container.h"
#include "absl/status/statusor.h"
#include "absl/strings/str_cat.h"
#include "baton/base/status_macros.h"
#include "baton/instrument/history.h"
#include "baton/instrument/history_file.h"
#include "baton/instrument/history_text.h"

namespace baton::testing {
namespace {

bool EndsAtSources(const NodeBlame& node, bool needs_places) {
  return !node.sources.empty() &&
         absl::c_none_of(
             node.steps,
             [](const NodeBlame::Step& step) { return step.from.empty(); }) &&
         absl::c_none_of(node.sources,
                         [needs_places](const NodeBlame::Source& source) {
                           return needs_places && source.place.empty();
                         });
}

}  // namespace

absl::StatusOr<BlameGaps> FindBlameGaps(const History& history,
                                        bool needs_places) {
  BlameGaps result;
  std::set<int> seen = {0};
  for (const HistoryExecution& execution : history.executions) {
    if (execution.after < 0 || !seen.insert(execution.after).second) continue;
    BATON_ASSIGN_OR_RETURN(const std::vector<NodeBlame> nodes,
                           HistoryBlame(history, execution.number, {}));
    result.nodes += static_cast<int>(nodes.size());
    for (const NodeBlame& node : nodes) {
      if (EndsAtSources(node, needs_places)) continue;
      result.gaps.push_back(
          absl::StrCat("after execution ", execution.number, ": ", node.node));
    }
  }
  return result;
}

absl::StatusOr<History> WrittenAndRead(const History& history) {
  BATON_ASSIGN_OR_RETURN(const HistoryBytes bytes, WriteHistory(history));
  const auto text = std::make_shared<const std::string>(bytes.ToString());
  return ReadHistory(*text, text, "run.history");
}

}  // namespace baton::testing
