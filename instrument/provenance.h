// Provenance: traces the nodes of a history back to its first state.
//
//   const Provenance provenance(history);
//   for (const ExprNode* source : provenance.SourcesOf(node)) {
//     LOG(INFO) << PlaceText(*provenance.PlaceOf(source));
//   }
//
// Expressions have origins, except operators, constructors and global names,
// which have the same meaning everywhere.

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

// The origins of the nodes of one history. Not thread-safe.
class Provenance {
 public:
  // Takes time linear in the nodes of the history, which must outlive the
  // object.
  explicit Provenance(const History& history);

  struct Making {
    // The execution that made the node; 0 if the node is in the first state.
    int64_t execution = 0;
    // The nodes of states from which it was made. Empty if the node is in the
    // first state, or if no origin was recorded.
    std::vector<const ExprNode*> from = {};
  };
  // Returns the making of a node of a state. A node without a recorded origin
  // counts as made for the node that uses it, and has the origins of that node.
  Making MakingOf(const ExprNode* node) const;

  // The nodes of the first state from which a node of a state was finally made.
  // Empty if no origin was recorded.
  std::vector<const ExprNode*> SourcesOf(const ExprNode* node) const;

  // The place of a node of the first state: a line, or an ONNX node. A node
  // without a place has the place of the nearest node below it that has one,
  // otherwise of the nearest node that uses it. nullopt if no such node exists.
  std::optional<HistoryPlace> PlaceOf(const ExprNode* node) const;

  // The index of the first state that contains the node; -1 if no state does.
  int FirstStateOf(const Node* node) const;

 private:
  void Meet(int state, const ExprNode* root);
  // The index of the last origin of `made` before `limit`; -1 if there is none.
  int64_t LastBefore(const Node* made, size_t limit) const;
  size_t LimitOf(int state) const;
  // The run of entries that contains origin `i`.
  const OriginLog::Run& RunOf(int64_t i) const;
  // The index of the last origin of `node`, first contained in `state`, that
  // names nodes; -1 if there is none.
  int64_t OriginOf(const Node* node, int state) const;
  // True if `node` in origin `i`, which was recorded for a node of `state`, is
  // the same node that a state contains now, and not a dead node with the same
  // address.
  bool WasOfState(const Node* node, int64_t i, int state) const;
  // The nodes of states that origin `origin` of a node of `state` names.
  std::vector<const ExprNode*> FromOf(int64_t origin, int state) const;
  std::optional<HistoryPlace> OwnPlaceOf(const ExprNode* node) const;

  const History& history_;
  struct Facts {
    int first_state;
    // the first met user in the same state; null for roots
    const ExprNode* user;
  };
  NodeMap<Facts> facts_;
  NodeSet met_;
  struct StateFacts {
    int64_t maker = 0;  // the innermost execution that made the state
    int64_t begun = 0;  // the last execution that had begun
    size_t since = 0;   // number of origins recorded when `maker` began
  };
  std::vector<StateFacts> states_;
  NodeMap<uint32_t> last_;         // the last origin of a node, plus one
  std::vector<uint32_t> earlier_;  // the previous origin of the node, plus one
  // True if some states were not kept: the chain of origins passes through
  // their nodes.
  bool lost_states_ = false;
  NodeMap<const HistoryPlace*> places_;
  // Cache of MakingOf() for nodes without a recorded origin: the nearest user
  // with one; null if there is none.
  mutable NodeMap<const ExprNode*> user_with_origin_;
};

// True for kinds of nodes that have origins.
bool HasOrigin(const ExprNode* node);

}  // namespace baton

#endif  // BATON_INSTRUMENT_PROVENANCE_H_
