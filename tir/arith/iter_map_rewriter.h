// Rewrites indices to sums of splits of iterators, for the functions of
// iter_map.h, which declares IterMark, IterSplit and IterSum.

#ifndef BATON_TIR_ARITH_ITER_MAP_REWRITER_H_
#define BATON_TIR_ARITH_ITER_MAP_REWRITER_H_

#include <cstddef>
#include <optional>
#include <string>
#include <utility>
#include <variant>
#include <vector>

#include "absl/types/span.h"
#include "baton/tir/arith/analyzer.h"
#include "baton/tir/arith/iter_map.h"
#include "baton/tir/arith/var_map.h"
#include "baton/tir/ir/expr.h"

namespace baton::tir {

// The marks that sums refer to, directly and by way of other sums, with the
// splits of each.
class SplitsOfMarks {
 public:
  struct Entry {
    IterMark mark;
    std::vector<IterSplit> splits;
  };
  // Adds the marks to which `sums` refer.
  void Collect(absl::Span<const IterSum> sums);
  absl::Span<const Entry> entries() const { return entries_; }
  // Null if no sum refers to `mark`.
  const Entry* Find(const IterMark& mark) const;

 private:
  void CollectSum(const IterSum& sum);
  std::vector<Entry> entries_;
};

// True if both are the same part of one mark: equal lower factors, extents and,
// if `with_scale`, scales.
bool SameSplit(const IterSplit& a, const IterSplit& b, bool with_scale = true);

// Rewrites one map: first the constraints, then each index with
// RewriteAndPad(), then each index with Rewrite() if there is padding or if no
// padding is allowed, then the checks.
class IterMapRewriter {
 public:
  // An iterator of extent 1 becomes its value if `simplify_trivial`. Failures
  // are appended to `errors`; after one, results have no meaning.
  IterMapRewriter(Analyzer& analyzer, const VarRanges& iters,
                  IterMapLevel level, bool simplify_trivial,
                  std::vector<std::string>& errors);

  // Rewrites `index` to at most one split of a fused iterator, plus a base.
  IterSum Rewrite(const PrimExpr& index);
  // As Rewrite(), and determines the padding that divisions need. A later call
  // of Rewrite() applies it.
  IterSum RewriteAndPad(const PrimExpr& index);
  // Restricts `iter`, a sum of iterators, to `min` <= iter < `max`; null: no
  // bound.
  void AddConstraint(const PrimExpr& iter, PrimExpr min, PrimExpr max);
  // Rewrites `index` to a sum of splits that are not fused, with the largest
  // constant scales first.
  IterSum RewriteToNormalizedSum(const PrimExpr& index);

  // True if the splits of each iterator in `sums` do not overlap and cover it
  // as the level demands; for kBijective, if also all iterators are used.
  bool CheckMapping(absl::Span<const IterSum> sums);
  // True if of each two constraints one contains the iterators of the other, or
  // they have no iterator in common.
  bool CheckConstraints() const;
  // True for the values of iterators that padding added.
  const PrimExpr& padding_predicate() const { return padding_predicate_; }
  // True if RewriteAndPad() found a division that needs padding.
  bool requires_padding() const { return requires_padding_; }

 private:
  using Form = std::variant<PrimExpr, IterSplit, IterSum>;
  struct Fused {
    IterSum flattened;
    IterMark mark;
    PrimExpr offset;
  };
  struct Padding {
    IterMark mark;
    PrimExpr factor;
    PrimExpr left;
    IterMark padded;
  };

  Form Mutate(const PrimExpr& e);
  Form MutateBinary(const BinaryNode* node);
  Form Divide(const BinaryNode* node, const Form& a, const PrimExpr& b);
  std::optional<Form> SplitFloorDiv(IterSplit split, PrimExpr base,
                                    PrimExpr divisor);
  std::optional<Form> SplitFloorMod(IterSplit split, PrimExpr base,
                                    PrimExpr divisor);
  // The dividend as one split and a base.
  std::optional<IterSum> Dividend(const Form& dividend);
  struct Padded {
    IterSplit split;
    PrimExpr left;
  };
  std::optional<Padded> PadTo(IterSplit split, const PrimExpr& base,
                              const PrimExpr& divisor);
  static IterSum ToSum(const Form& form);
  static void AddTo(IterSum& sum, IterSplit split, bool negative);
  static void AddTo(IterSum& sum, const IterSum& other, bool negative);

  bool NormalizeSplits(const SplitsOfMarks::Entry& entry);
  size_t SkipToSplit(const std::vector<IterSplit>& splits,
                     const std::vector<bool>& used, const PrimExpr& factor);
  std::optional<IterSum> CombineSplits(const IterSum& sum);
  std::optional<IterSum> Fuse(IterSum sum, bool early_skip);
  int FindBase(const IterSum& sum, const std::vector<bool>& skip,
               const IterMark* source, int last);
  int FindScale(const IterSum& sum, const std::vector<bool>& skip,
                const PrimExpr& scale, const IterMark* source, int last,
                int first_unit);
  int FindSmallerScale(const IterSum& sum, const std::vector<bool>& skip,
                       const PrimExpr& scale, PrimExpr& matched);
  bool ProveDivisible(const PrimExpr& a, const PrimExpr& b);
  bool ProveEqual(const PrimExpr& a, const PrimExpr& b);
  void Error(std::string message) { errors_.push_back(std::move(message)); }

  Analyzer& analyzer_;
  IterMapLevel level_;
  std::vector<std::string>& errors_;
  VarMap<Form> vars_;
  std::vector<IterMark> inputs_;
  // Fused iterators by their flattened form, whose splits are those of inputs.
  std::vector<Fused> fused_;
  // The flattened form of the sum that is the source of a mark.
  std::vector<std::pair<IterSum, IterSum>> flattened_;
  std::vector<IterSum> constrained_;
  std::vector<Padding> paddings_;
  bool pads_ = false;
  bool requires_padding_ = false;
  PrimExpr padding_predicate_;
};

// Converts iterators to expressions of their variables.
class IterMapConverter {
 public:
  explicit IterMapConverter(Analyzer& analyzer) : analyzer_(analyzer) {}
  PrimExpr Convert(const IterSum& sum);
  PrimExpr Convert(const IterSplit& split);
  PrimExpr Convert(const IterMark& mark);

 private:
  Analyzer& analyzer_;
};

}  // namespace baton::tir

#endif  // BATON_TIR_ARITH_ITER_MAP_REWRITER_H_
