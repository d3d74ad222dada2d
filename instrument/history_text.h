// Prints a history as text: the commands of baton-history.

#ifndef BATON_INSTRUMENT_HISTORY_TEXT_H_
#define BATON_INSTRUMENT_HISTORY_TEXT_H_

#include <cstdint>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "baton/instrument/history.h"
#include "baton/instrument/structural_diff.h"

namespace baton {

// A line for each execution: its number, its times in microseconds with and
// without the passes inside it, its changes, and its error.
//
//       #       us     self     made  dropped     bytes
//       1     1234      120      310       12    +10240  sequential
//       2      400      400       12        4     +1024    FoldConstant @main
//
// Nodes of all kinds count. `bytes` is the growth of the program in bytes of
// nodes and tensors.
std::string HistoryLog(const History& history);

// The module after execution `number` as text that can be parsed again; 0 gives
// the input of the first pass. If `function` is not empty, prints only that
// function.
absl::StatusOr<std::string> HistoryShow(const History& history, int64_t number,
                                        const std::string& function);

// The structural difference of the modules after two executions. If `function`
// is not empty, compares only that function.
absl::StatusOr<StructuralDiff> HistoryDiff(const History& history, int64_t from,
                                           int64_t to,
                                           const std::string& function);

// Selects nodes of a module; all nodes if no field is set.
struct NodeSelection {
  // Matches, as a whole, the operator or the kind of the node (RE2): `nn.relu`.
  std::string op = {};
  // The number in the text of the module, 12 for `%12`; -1: not set.
  int64_t number = -1;
};

// The provenance of a node.
struct NodeBlame {
  // An execution that made a node from other nodes. Each node has the name that
  // it has in the first module that contains it: `%12 = nn.relu`.
  struct Step {
    int64_t execution = 0;
    std::string pass = {};
    std::string node = {};
    // Empty if no origin was recorded.
    std::vector<std::string> from = {};
  };
  // A node of the input of the first pass.
  struct Source {
    std::string place = {};  // `model.relay:7:3`; empty if unknown
    std::string node = {};
  };

  std::string function = {};
  std::string node = {};
  // From the selected node backwards.
  std::vector<Step> steps = {};
  std::vector<Source> sources = {};
};

// Traces each selected node of the module after execution `number` back to the
// input of the first pass: which executions made it, and from which nodes.
absl::StatusOr<std::vector<NodeBlame>> HistoryBlame(
    const History& history, int64_t number, const NodeSelection& selection);

// Example:
//
//   @main %4 = nn.relu
//     #7 FuseOps made %4 = nn.relu from %12 = nn.relu
//     #2 InferType made %12 = nn.relu from %12 = nn.relu
//     model.relay:7:3: %12 = nn.relu
std::string BlameText(const std::vector<NodeBlame>& nodes);
// An array with an object for each node, with the fields of NodeBlame.
std::string BlameJson(const std::vector<NodeBlame>& nodes);

// Returns the remarks of execution `number` and of the executions inside it
// about the selected nodes. Nodes are those of the argument of each pass. A
// line for each remark, formatted by FormatRemark.
absl::StatusOr<std::string> HistoryWhy(const History& history, int64_t number,
                                       const NodeSelection& selection);

// A condition on a module. Set exactly one field.
struct HistoryCondition {
  // A node matches (RE2), as NodeSelection::op does.
  std::string has = {};
  // No node matches so.
  std::string lacks = {};
  // The module's text contains a match (RE2).
  std::string text = {};
};

// Finds the first execution, in the order in which executions end, after which
// the condition is true and before which it is false: `#4 FoldConstant`. If
// there is none, the result is a line that says so.
absl::StatusOr<std::string> HistoryFind(const History& history,
                                        const HistoryCondition& condition);

}  // namespace baton

#endif  // BATON_INSTRUMENT_HISTORY_TEXT_H_
