// What baton-history tells of a history, as text.

#ifndef BATON_INSTRUMENT_HISTORY_TEXT_H_
#define BATON_INSTRUMENT_HISTORY_TEXT_H_

#include <cstdint>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "baton/instrument/history.h"
#include "baton/instrument/structural_diff.h"

namespace baton {

// A line for each execution: its number, times in microseconds with and without
// the passes inside it, what it changed, and what went wrong.
//
//       #       us     self     made  dropped     bytes
//       1     1234      120      310       12    +10240  sequential
//       2      400      400       12        4     +1024    FoldConstant @main
//
// Nodes of all kinds count; bytes are those of nodes and tensors that the
// program holds more than before.
std::string HistoryLog(const History& history);

// The module after execution `number`, 0 for what the passes were given, as
// text that is input again; only one function if `function` is not empty.
absl::StatusOr<std::string> HistoryShow(const History& history, int64_t number,
                                        const std::string& function);

// What differs between the modules after two executions, by structure; only in
// one function if `function` is not empty.
absl::StatusOr<StructuralDiff> HistoryDiff(const History& history, int64_t from,
                                           int64_t to,
                                           const std::string& function);

// Which nodes a question is about: all of the module, those whose title
// (`nn.relu`) matches `op` (RE2, whole), or the one of that number.
struct NodeSelection {
  std::string op = {};
  int64_t number = -1;
};

// Where a node comes from.
struct NodeBlame {
  // An execution that made a node out of others; nodes have the names that
  // they have in the module in which they came first: `%12 = nn.relu`.
  struct Step {
    int64_t execution = 0;
    std::string pass = {};
    std::string node = {};
    // Empty if nobody has said.
    std::vector<std::string> from = {};
  };
  // A node of what the passes were given.
  struct Source {
    std::string place = {};  // `model.relay:7:3`; empty if it has none
    std::string node = {};
  };

  std::string function = {};
  std::string node = {};
  // From the node itself back.
  std::vector<Step> steps = {};
  std::vector<Source> sources = {};
};

// For each node of the module after execution `number` that is selected: which
// executions made it, what from, back to the program that the passes were
// given.
absl::StatusOr<std::vector<NodeBlame>> HistoryBlame(
    const History& history, int64_t number, const NodeSelection& selection);

// Such as:
//
//   @main %4 = nn.relu
//     #7 FuseOps made %4 = nn.relu from %12 = nn.relu
//     #2 InferType made %12 = nn.relu from %12 = nn.relu
//     model.relay:7:3: %12 = nn.relu
std::string BlameText(const std::vector<NodeBlame>& nodes);
// An array with an object for each node, with the fields of NodeBlame.
std::string BlameJson(const std::vector<NodeBlame>& nodes);

// What execution `number` and those inside it said of these nodes, in the
// module that each was given: a line for each remark, as RemarkText has it.
absl::StatusOr<std::string> HistoryWhy(const History& history, int64_t number,
                                       const NodeSelection& selection);

// What to look for: one of these.
struct HistoryCondition {
  std::string has = {};    // a node whose title matches (RE2, whole)
  std::string lacks = {};  // no such node
  std::string text = {};   // a text that has a match (RE2)
};

// The first execution, in the order in which they end, after which it holds,
// and did not before: `#4 FoldConstant`. A line that says so if there is none.
absl::StatusOr<std::string> HistoryFind(const History& history,
                                        const HistoryCondition& condition);

}  // namespace baton

#endif  // BATON_INSTRUMENT_HISTORY_TEXT_H_
