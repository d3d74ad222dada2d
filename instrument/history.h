// The history of a run: the module after each execution of a pass, what nodes
// were made from, and what passes said. HistoryRecorder (history_recorder.h)
// makes it, files keep it (history_file.h), history_text.h tells it.
//
// Nodes never change, so that a state is a pointer, and states share all that
// passes left alone.

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

// What an execution of a pass and those inside it did to memory.
struct PassMemory {
  int64_t nodes = 0;       // made; the other figures on nodes are about these
  int64_t node_bytes = 0;  // theirs
  // In the result and not in the argument; none if the pass failed.
  int64_t kept = 0;
  // Of tensors in the result that are not in the argument.
  int64_t tensor_bytes = 0;
  // The most resident memory of the process meanwhile; -1: not known.
  int64_t peak_bytes = -1;

  // Nodes that are not in the result: of use for a moment, or for nothing.
  int64_t garbage() const { return nodes > kept ? nodes - kept : 0; }
};

// One execution of a pass.
struct HistoryExecution {
  enum class End : uint8_t { kRunning, kDone, kFailed };

  int64_t number = 0;  // PassExecution::number
  int parent = -1;     // index of the execution that it ran in; -1: none
  int depth = 0;
  std::string pass;  // its name
  // As in a pipeline, with options; the name if they have no text.
  std::string text;
  End end = End::kRunning;
  std::string error = {};  // if it failed
  // Indices of states. `after` is -1 if it has not ended well.
  int before = 0;
  int after = -1;
  // In nanoseconds: since the run began; of the pass and those inside it.
  int64_t start = 0;
  int64_t total = 0;
  // If it was measured.
  std::optional<PassMemory> memory = {};

  bool changed() const { return after >= 0 && after != before; }
};

struct HistoryState {
  IRModule module;
  bool kept = true;  // else the module is empty: it was too large to keep
  // How many of History::origins had been told when it came to be. Of a history
  // that was read from a file, all: its origins are of nodes of states.
  size_t num_origins = SIZE_MAX;
};

// What a statistic (ir/pass_log.h) counted.
struct HistoryCount {
  std::string name;  // `FuseOps.groups`
  std::string doc;
  int64_t count = 0;
};

// What a node of the first state comes from.
struct HistoryPlace {
  std::string source;  // a file
  int line = 0;        // from 1; 0 if the source has no lines
  int column = 0;      // from 1
};

// `model.relay:12:3`.
std::string PlaceText(const HistoryPlace& place);

struct History {
  History() = default;
  History(History&&) = default;
  History& operator=(History&&) = default;

  // In order of start. Their numbers grow.
  std::vector<HistoryExecution> executions;
  // The first is what the passes were given.
  std::vector<HistoryState> states;

  // What nodes were made from; several entries in one run for one that was made
  // from several. Nodes that are in no state may be dead, and their addresses
  // those of younger ones: pointers are for comparison, and Provenance
  // (provenance.h) knows which node is meant.
  OriginLog origins;

  std::vector<Remark> remarks;
  std::vector<HistoryCount> counts;  // by name

  // Of a history that was read from a file; else nodes have spans.
  std::vector<std::pair<NodeRef, HistoryPlace>> places;
  int64_t left_out_tensors = 0;
  // The signal that ended the run; 0: it ended by itself.
  int signal = 0;

  // An error that names the numbers there are. 0 is no execution.
  absl::StatusOr<const HistoryExecution*> Find(int64_t number) const;
  // The index of the state after execution `number`; 0: before all.
  absl::StatusOr<int> StateAfter(int64_t number) const;
  // The module in it; an error if it was not kept.
  absl::StatusOr<IRModule> ModuleAfter(int64_t number) const;
};

// How two states differ in what they hold.
struct NodesMade {
  int64_t made = 0;     // nodes of the second that are not in the first
  int64_t dropped = 0;  // the reverse
  int64_t kept = 0;     // nodes of both that the walk met
  int64_t made_bytes = 0;
  int64_t dropped_bytes = 0;
  // Of tensors, in bytes.
  int64_t made_tensors = 0;
  int64_t dropped_tensors = 0;
  // Functions of another node, made and dropped ones included.
  std::vector<std::string> functions;
};

// Counts nodes of all kinds but spans: types and attributes too. Visits
// functions that are not the same node in both.
NodesMade CompareNodes(const IRModule& before, const IRModule& after);

// The bytes that a walk over modules finds, each node and buffer counted once
// over all of them.
class BytesHeld {
 public:
  // What `module` adds: bytes of nodes and of tensors.
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
