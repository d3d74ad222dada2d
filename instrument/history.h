// The history of a run: the module after each execution of a pass, the origins
// of nodes, and the remarks of passes. HistoryRecorder (history_recorder.h)
// records it, history_file.h stores it, history_text.h prints it.
//
// Nodes are immutable. So a state is a pointer, and states share all nodes that
// passes did not change.

#ifndef BATON_INSTRUMENT_HISTORY_H_
#define BATON_INSTRUMENT_HISTORY_H_

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "absl/status/statusor.h"
#include "baton/ir/module.h"
#include "baton/ir/node.h"
#include "baton/ir/node_map.h"
#include "baton/ir/pass_log.h"

namespace baton {

// The memory use of an execution of a pass, including the passes inside it.
struct PassMemory {
  int64_t nodes = 0;       // the nodes that the execution allocated
  int64_t node_bytes = 0;  // their bytes
  // The number of these nodes in the result; 0 if the pass failed.
  int64_t kept = 0;
  // The bytes of tensors in the result that are not in the argument.
  int64_t tensor_bytes = 0;
  // The peak of the resident memory of the process during the execution; -1 if
  // it is unknown.
  int64_t peak_bytes = -1;

  // New nodes that are not in the result: temporary or unused.
  int64_t garbage() const { return nodes > kept ? nodes - kept : 0; }
};

// One execution of a pass.
struct HistoryExecution {
  enum class End : uint8_t { kRunning, kDone, kFailed };

  int64_t number = 0;  // PassExecution::number
  int parent = -1;     // index of the execution that it ran in; -1: none
  int depth = 0;
  std::string pass;  // the name of the pass
  // The pass as in a pipeline, with options; its name if the options have no
  // text.
  std::string text;
  End end = End::kRunning;
  std::string error = {};  // set if the pass failed
  // Indices of states. `after` is -1 if the pass failed or is still running.
  int before = 0;
  int after = -1;
  // Nanoseconds from the beginning of the run to the start of the execution.
  int64_t start = 0;
  // Nanoseconds that the execution took, including executions inside it.
  int64_t total = 0;
  // Set if memory was measured.
  std::optional<PassMemory> memory = {};

  bool changed() const { return after >= 0 && after != before; }
};

// The module at one point of a run.
struct HistoryState {
  IRModule module;
  // If false, the recorder dropped the module to stay within its budget of
  // memory, and `module` is empty.
  bool kept = true;
  // The number of entries of History::origins that were recorded before this
  // state: later ones may be about nodes that reuse addresses. SIZE_MAX, for
  // all, if the history was read from a file, in which no address is reused.
  size_t num_origins = SIZE_MAX;
};

// The count of a statistic (ir/pass_log.h).
struct HistoryCount {
  std::string name;  // `FuseOps.groups`
  std::string doc;
  int64_t count = 0;
};

// The place of a node of the first state in its source.
struct HistoryPlace {
  std::string source;  // a file
  int line = 0;        // from 1; 0 if the source has no lines
  int column = 0;      // from 1
};

// `model.relay:12:3`.
std::string PlaceText(const HistoryPlace& place);

// A recorded run. Executions refer to states by index.
struct History {
  History() = default;
  History(History&&) = default;
  History& operator=(History&&) = default;

  // The executions in order of start; their numbers increase.
  std::vector<HistoryExecution> executions;
  // The first state is the input of the passes.
  std::vector<HistoryState> states;

  // The origins of nodes. A node that was made from several nodes has several
  // entries in a row. A node that is in no state may be dead, and a younger
  // node may have its address. Pointers are therefore for comparison only;
  // Provenance (provenance.h) determines the node.
  OriginLog origins;

  std::vector<Remark> remarks;
  std::vector<HistoryCount> counts;  // by name

  // The source locations of nodes of the first state, if the history was read
  // from a file. In a recorded history, nodes have spans instead.
  std::vector<std::pair<NodeRef, HistoryPlace>> places;
  // The tensors without their elements in the file that was read.
  int64_t left_out_tensors = 0;
  // The signal that ended the run; 0 if the run ended normally.
  int signal = 0;

  // Finds the execution `number`. The error lists the existing numbers. 0 is
  // not an execution.
  absl::StatusOr<const HistoryExecution*> Find(int64_t number) const;
  // The index of the state after execution `number`; 0 gives the first state.
  absl::StatusOr<int> StateAfter(int64_t number) const;
  // The module of that state; an error if it was not kept.
  absl::StatusOr<IRModule> ModuleAfter(int64_t number) const;
};

// Counts of nodes and bytes in which two states differ.
struct NodesMade {
  int64_t made = 0;     // nodes of the second state that are not in the first
  int64_t dropped = 0;  // nodes of the first state that are not in the second
  // Nodes that both states share inside of functions that differ.
  int64_t kept = 0;
  int64_t made_bytes = 0;
  int64_t dropped_bytes = 0;
  // The bytes of the tensors that were made and dropped.
  int64_t made_tensors = 0;
  int64_t dropped_tensors = 0;
  // The functions whose node differs, including functions that exist in only
  // one state.
  std::vector<std::string> functions;
};

// Counts nodes of all kinds except spans, including types and attributes.
// Visits only functions that are different nodes in the two modules.
NodesMade CompareNodes(const IRModule& before, const IRModule& after);

// Counts the bytes of modules. Each node and buffer counts once over all
// modules.
class BytesHeld {
 public:
  // Returns the bytes of the nodes and tensors of `module` that were not
  // counted before.
  int64_t Add(const IRModule& module);

 private:
  friend NodesMade CompareNodes(const IRModule& before, const IRModule& after);
  template <typename Fn>
  void Walk(const Node* root, Fn&& fn);

  NodeSet seen_;
  std::vector<const Node*> stack_;
};

}  // namespace baton

#endif  // BATON_INSTRUMENT_HISTORY_H_
