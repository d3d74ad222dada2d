// VarMap: values by variable, in the order of insertion.

#ifndef BATON_TIR_ARITH_VAR_MAP_H_
#define BATON_TIR_ARITH_VAR_MAP_H_

#include <cstddef>
#include <initializer_list>
#include <utility>
#include <vector>

#include "baton/base/hash_table.h"
#include "baton/tir/ir/expr.h"

namespace baton::tir {

// Keeps its variables alive. Iteration gives pairs of a variable and a value.
template <typename T>
class VarMap {
 public:
  using Entry = std::pair<Var, T>;
  VarMap() = default;
  VarMap(std::initializer_list<Entry> entries) {
    for (const Entry& entry : entries) Set(entry.first, entry.second);
  }

  size_t size() const { return entries_.size(); }
  bool empty() const { return entries_.empty(); }
  auto begin() const { return entries_.begin(); }
  auto end() const { return entries_.end(); }

  // The value of `var`; null if there is none. Valid until the next change.
  const T* Find(const VarNode* var) const {
    const size_t i = IndexOf(var);
    return i < entries_.size() ? &entries_[i].second : nullptr;
  }
  T* Find(const VarNode* var) {
    const size_t i = IndexOf(var);
    return i < entries_.size() ? &entries_[i].second : nullptr;
  }
  const T* Find(const Var& var) const { return Find(var.get()); }
  T* Find(const Var& var) { return Find(var.get()); }
  bool Contains(const VarNode* var) const { return Find(var) != nullptr; }
  bool Contains(const Var& var) const { return Find(var) != nullptr; }

  // Inserts or replaces a value; a replaced one keeps its place.
  void Set(const Var& var, T value) {
    const size_t i = IndexOf(var.get());
    if (i < entries_.size()) {
      entries_[i].second = std::move(value);
      return;
    }
    entries_.emplace_back(var, std::move(value));
    if (entries_.size() <= kLinear) return;
    if (index_.empty()) {
      for (size_t k = 0; k < entries_.size(); ++k) {
        index_[entries_[k].first.get()] = k;
      }
    } else {
      index_[var.get()] = i;
    }
  }
  // Takes constant time for the variable that was inserted last.
  void Erase(const VarNode* var) {
    const size_t i = IndexOf(var);
    if (i >= entries_.size()) return;
    entries_.erase(entries_.begin() + i);
    if (entries_.size() <= kLinear) {
      index_.clear();
      return;
    }
    index_.erase(var);
    for (size_t k = i; k < entries_.size(); ++k) {
      index_[entries_[k].first.get()] = k;
    }
  }

 private:
  static constexpr size_t kLinear = 16;

  size_t IndexOf(const VarNode* var) const {
    if (entries_.size() <= kLinear) {
      size_t i = 0;
      while (i < entries_.size() && entries_[i].first.get() != var) ++i;
      return i;
    }
    const auto it = index_.find(var);
    return it == index_.end() ? entries_.size() : it->second;
  }

  std::vector<Entry> entries_;
  FlatHashMap<const VarNode*, size_t> index_;
};

using VarRanges = VarMap<Range>;

}  // namespace baton::tir

#endif  // BATON_TIR_ARITH_VAR_MAP_H_
