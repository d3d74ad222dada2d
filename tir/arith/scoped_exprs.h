// ScopedExprs: a map from expressions to values in nested scopes.

#ifndef BATON_TIR_ARITH_SCOPED_EXPRS_H_
#define BATON_TIR_ARITH_SCOPED_EXPRS_H_

#include <cstddef>
#include <utility>
#include <vector>

#include "baton/base/hash_table.h"
#include "baton/tir/arith/expr_key.h"
#include "baton/tir/arith/pattern.h"
#include "baton/tir/ir/expr.h"

namespace baton::tir {

// Expressions are equal by ExprDeepEqual(). An operation takes constant time
// where few expressions differ only deep inside.
template <typename T>
class ScopedExprs {
 public:
  bool empty() const { return log_.empty(); }
  size_t size() const { return log_.size(); }

  // The value of `e` that was pushed last; null if there is none.
  const T* Find(const PrimExpr& e) const {
    if (log_.empty()) return nullptr;
    const auto it = by_hash_.find(ExprShallowHash(e));
    if (it == by_hash_.end()) return nullptr;
    for (auto entry = it->second.rbegin(); entry != it->second.rend();
         ++entry) {
      if (ExprDeepEqual(e, entry->first)) return &entry->second;
    }
    return nullptr;
  }
  void Push(const PrimExpr& e, T value) {
    const size_t hash = ExprShallowHash(e);
    by_hash_[hash].emplace_back(e, std::move(value));
    log_.push_back(hash);
  }
  // Removes all values but the first `size`.
  void Leave(size_t size) {
    for (; log_.size() > size; log_.pop_back()) {
      const auto it = by_hash_.find(log_.back());
      it->second.pop_back();
      if (it->second.empty()) by_hash_.erase(it);
    }
  }

 private:
  FlatHashMap<size_t, std::vector<std::pair<PrimExpr, T>>> by_hash_;
  std::vector<size_t> log_;  // the hashes, in the order of Push()
};

}  // namespace baton::tir

#endif  // BATON_TIR_ARITH_SCOPED_EXPRS_H_
