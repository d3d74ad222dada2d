// Derives comparisons of expressions from known ones.
// See Analyzer::TryCompare.

#ifndef BATON_TIR_ARITH_COMPARISONS_H_
#define BATON_TIR_ARITH_COMPARISONS_H_

#include <cstddef>
#include <cstdint>
#include <optional>
#include <vector>

#include "absl/types/span.h"
#include "baton/base/hash_table.h"
#include "baton/tir/arith/analyzer.h"
#include "baton/tir/arith/expr_key.h"
#include "baton/tir/arith/var_map.h"
#include "baton/tir/ir/expr.h"

namespace baton::tir {

class Comparisons {
 public:
  void Bind(const Var& var, const Range& range);
  CompareResult TryCompare(const PrimExpr& a, const PrimExpr& b,
                           bool propagate) const;

  // Adds the comparisons of a condition. Leave(n), where n is the size() before
  // this call, removes them.
  void Enter(const PrimExpr& condition) { Add(condition, scoped_); }
  size_t size() const { return scoped_.list.size(); }
  void Leave(size_t size);

 private:
  using Key = int;
  // left OP right + offset. OP is kEQ, kLE, kGE or kNE.
  struct Comparison {
    Key left = 0;
    Key right = 0;
    int64_t offset = 0;
    CompareResult op = CompareResult::kUnknown;

    static Comparison Of(Key left, Key right, int64_t offset, CompareResult op);
    // The comparison with `key` on the left; nullopt if it has no such side.
    std::optional<Comparison> WithLeft(Key key) const;
    bool Implies(const Comparison& other) const;
  };
  // The sides of a comparison without their constants: a OP b + offset.
  struct Sides {
    PrimExpr a;
    PrimExpr b;
    int64_t offset;
  };
  static Sides SplitOffsets(const PrimExpr& a, const PrimExpr& b);

  // Comparisons, with the indices of those of each key.
  struct List {
    std::vector<Comparison> list;
    std::vector<std::vector<int>> of_key;

    void Append(const Comparison& comparison);
    absl::Span<const int> Of(Key key) const;
  };
  // Distinguishes leaves, keys that are compared with only one other key, from
  // all others: a chain of comparisons never leads through a leaf. Most
  // iterators are leaves, compared only with 0.
  class Leaves {
   public:
    // Updates the leaves for the last comparison of `known`.
    void Append(const List& known);
    // The comparisons of `key` with keys that are no leaves.
    absl::Span<const int> WithBranching(Key key) const;
    // True if `leaf` is compared with `key` only.
    bool IsLeafOf(Key leaf, Key key) const;

   private:
    static constexpr Key kNone = -1;
    static constexpr Key kSeveral = -2;
    void Connect(Key key, Key other, const List& known);

    std::vector<Key> only_;  // the key with which a key is compared
    std::vector<std::vector<int>> with_branching_;
  };

  Key KeyOf(const PrimExpr& e);
  std::optional<Key> FindKey(const PrimExpr& e) const;
  void Add(const PrimExpr& condition, List& list);
  void Append(const PrimExpr& comparison, List& list);
  template <typename Fn>
  void ForEachWithLeft(Key key, Fn fn) const;
  template <typename Fn>
  void ForEachBetween(Key left, Key right, Fn fn) const;
  template <typename Fn>
  void ForEachOnTheWay(Key key, Key goal, Fn fn) const;
  std::vector<Comparison> Follow(Key left, Key right) const;

  // The limit of the comparisons that Follow() derives.
  static constexpr size_t kMaxFollowed = 4096;
  // The limit of the conditions on one key that are used: the innermost ones.
  static constexpr size_t kMaxScoped = 256;

  FlatHashMap<ExprKey, Key> keys_;
  VarRanges ranges_;
  List known_;
  Leaves leaves_;  // of `known_`
  List scoped_;
};

}  // namespace baton::tir

#endif  // BATON_TIR_ARITH_COMPARISONS_H_
