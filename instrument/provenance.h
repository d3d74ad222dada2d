// Where the nodes of a history come from.
//
//   const Provenance provenance(history);
//   for (const ExprNode* source : provenance.SourcesOf(node)) {
//     LOG(INFO) << PlaceText(*provenance.PlaceOf(source));
//   }
//
// Expressions have origins, except those that mean the same wherever they
// stand: operators, constructors and global names.

#ifndef BATON_INSTRUMENT_PROVENANCE_H_
#define BATON_INSTRUMENT_PROVENANCE_H_

#include <cstddef>
#include <cstdint>
#include <optional>
#include <vector>

#include "baton/instrument/history.h"
#include "baton/ir/expr.h"
#include "baton/ir/node.h"
#include "baton/ir/node_map.h"

namespace baton {

// For one thread at a time.
class Provenance {
 public:
  // Linear in the nodes of the history, which must outlive this.
  explicit Provenance(const History& history);

  struct Making {
    // The execution that made the node. 0: it was in the first state.
    int64_t execution = 0;
    // What it was made from: nodes of states. Empty if it was in the first
    // state, or if nobody has said.
    std::vector<const ExprNode*> from = {};
  };
  // Of a node of a state. A node of which nobody has said anything was made for
  // the node that uses it, and so comes from the same.
  Making MakingOf(const ExprNode* node) const;

  // The nodes of the first state that a node of a state comes from in the end.
  // Empty if nobody has said.
  std::vector<const ExprNode*> SourcesOf(const ExprNode* node) const;

  // Where a node of the first state comes from: a line, or an ONNX node. If it
  // has no place of its own, that of the nearest node below it that has one, or
  // else of the nearest that uses it; nothing if there is none.
  std::optional<HistoryPlace> PlaceOf(const ExprNode* node) const;

  // The index of the first state that has the node; -1 if none has it.
  int FirstStateOf(const Node* node) const;

 private:
  void Meet(int state, const ExprNode* root);
  // The index of the last origin of `made` before `limit`; -1 if there is none.
  int64_t LastBefore(const Node* made, size_t limit) const;
  size_t LimitOf(int state) const;
  // The run of origin `i`.
  const OriginLog::Run& RunOf(int64_t i) const;
  // The index of the last origin of a node that first came to `state`, of those
  // that say what it was made from; -1 if there is none.
  int64_t OriginOf(const Node* node, int state) const;
  // Whether `node`, when origin `i` was told of a node of `state`, was the node
  // that a state has now.
  bool WasOfState(const Node* node, int64_t i, int state) const;
  // What origin `origin` of a node of `state` says: nodes of states.
  std::vector<const ExprNode*> FromOf(int64_t origin, int state) const;
  std::optional<HistoryPlace> OwnPlaceOf(const ExprNode* node) const;

  const History& history_;
  struct Facts {
    int first_state;
    // A node of the same state that uses it, met first; null for roots.
    const ExprNode* user;
  };
  NodeMap<Facts> facts_;
  struct StateFacts {
    int64_t maker = 0;  // the execution that made it, the innermost one
    int64_t begun = 0;  // the last execution that had begun
    size_t since = 0;   // how many origins had been told when its maker began
  };
  std::vector<StateFacts> states_;
  NodeMap<uint32_t> last_;         // the last origin of a node, and one more
  std::vector<uint32_t> earlier_;  // the one before it of that node, so too
  // Whether some states were not kept: origins of their nodes are on the way.
  bool lost_states_ = false;
  NodeMap<const HistoryPlace*> places_;
  // Of nodes that MakingOf() was asked about, and of which nothing is told: the
  // nearest user of which something is; null if there is none.
  mutable NodeMap<const ExprNode*> told_user_;
};

// Whether nodes of its kind have origins.
bool HasOrigin(const ExprNode* node);

}  // namespace baton

#endif  // BATON_INSTRUMENT_PROVENANCE_H_
