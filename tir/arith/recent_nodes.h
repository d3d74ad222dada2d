// RecentNodes: a cache of results by node that drops those that were not used
// recently.

#ifndef BATON_TIR_ARITH_RECENT_NODES_H_
#define BATON_TIR_ARITH_RECENT_NODES_H_

#include <cstddef>
#include <utility>

#include "baton/ir/node_map.h"
#include "baton/tir/ir/expr.h"

namespace baton::tir {

// Keeps its nodes alive. A walk over an expression of any size finds the
// results of the parts that it has just left.
template <typename T>
class RecentNodes {
 public:
  // The result for `e`, valid until the next call; null if there is none.
  const T* Find(const PrimExpr& e) {
    if (const Entry* entry = maps_[now_].Find(e.get())) return &entry->result;
    const Entry* entry = maps_[1 - now_].Find(e.get());
    if (entry == nullptr) return nullptr;
    T result = entry->result;
    return Set(e, std::move(result));
  }
  // Stores the result for `e`. Returns a pointer to it, valid until the next
  // call.
  const T* Set(const PrimExpr& e, T result) {
    if (maps_[now_].size() >= kMost) {
      now_ = 1 - now_;
      maps_[now_].Clear();
    }
    Entry& entry = maps_[now_][e.get()];
    entry = {e, std::move(result)};
    return &entry.result;
  }
  void Clear() {
    maps_[0].Clear();
    maps_[1].Clear();
  }

 private:
  static constexpr size_t kMost = 4096;
  struct Entry {
    PrimExpr node;
    T result{};
  };
  NodeMap<Entry> maps_[2];
  size_t now_ = 0;  // the map that grows; the other one is older
};

}  // namespace baton::tir

#endif  // BATON_TIR_ARITH_RECENT_NODES_H_
