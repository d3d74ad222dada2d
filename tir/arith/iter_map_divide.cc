// SubspaceDivide and InverseAffineIterMap.

#include <cstddef>
#include <cstdint>
#include <utility>
#include <vector>

#include "absl/types/span.h"
#include "baton/base/dtype.h"
#include "baton/tir/arith/analyzer.h"
#include "baton/tir/arith/iter_map.h"
#include "baton/tir/arith/iter_map_rewriter.h"
#include "baton/tir/arith/pattern.h"
#include "baton/tir/arith/var_map.h"
#include "baton/tir/ir/expr.h"
#include "baton/tir/ir/fold.h"

namespace baton::tir {
namespace {

PrimExpr Int(int64_t value) { return IntImm(kInt32, value); }

IterSum SumOf(const IterSplit& split) {
  return {{split}, MakeConst(split.extent.dtype(), 0)};
}

// outer * inner_extent + inner.
struct Division {
  enum class Kind { kMixed, kInner, kOuter };
  IterSum outer;
  PrimExpr outer_extent;
  IterSum inner;
  PrimExpr inner_extent;
  Kind kind = Kind::kMixed;

  static Division Inner(IterSum iter, const PrimExpr& extent) {
    const DType dtype = iter.base.dtype();
    return {{{}, MakeConst(dtype, 0)},
            MakeConst(dtype, 1),
            std::move(iter),
            extent,
            Kind::kInner};
  }
  static Division Outer(IterSum iter, const PrimExpr& extent) {
    const DType dtype = iter.base.dtype();
    return {std::move(iter),
            extent,
            {{}, MakeConst(dtype, 0)},
            MakeConst(dtype, 1),
            Kind::kOuter};
  }
  // A sum as one split: itself, or a split of a new iterator.
  static IterSplit AsSplit(const IterSum& sum, const PrimExpr& extent) {
    if (sum.args.size() == 1 && IsZero(sum.base)) return sum.args[0];
    const PrimExpr one = MakeConst(extent.dtype(), 1);
    return {IterMark(sum, extent), one, extent, one};
  }
};

class Divider {
 public:
  Divider(Analyzer& analyzer, const SplitsOfMarks& marks,
          absl::Span<const Var> inner)
      : analyzer_(analyzer), marks_(marks), inner_(inner) {}

  bool failed() const { return failed_; }
  const PrimExpr& outer_predicate() const { return outer_predicate_; }
  const PrimExpr& inner_predicate() const { return inner_predicate_; }

  Division DivideSum(const IterSum& sum, const PrimExpr& mark_extent) {
    const DType dtype = sum.base.dtype();
    if (sum.args.empty()) {
      return {{{}, MakeConst(dtype, 0)},
              MakeConst(dtype, 1),
              {{}, sum.base},
              MakeConst(dtype, 1)};
    }
    if (sum.args.size() == 1) {
      if (!IsOne(sum.args[0].scale)) return Fail();
      Division division = DivideSplit(sum.args[0]);
      if (!IsZero(sum.base)) {
        division.inner.base = Add(division.inner.base, sum.base);
      }
      return division;
    }
    // Outer splits must come before inner ones.
    PrimExpr extent = MakeConst(dtype, 1);
    std::vector<IterSplit> outer;
    std::vector<IterSplit> inner;
    bool has_unit = false;
    for (auto it = sum.args.rbegin(); it != sum.args.rend(); ++it) {
      has_unit = has_unit || IsOne(it->scale);
      const Division division = DivideSplit(*it);
      if (failed_) return division;
      IterSplit split;
      if (division.kind == Division::Kind::kInner) {
        if (!outer.empty()) return Fail();
        split = Division::AsSplit(division.inner, division.inner_extent);
        inner.push_back(split);
      } else if (division.kind == Division::Kind::kOuter) {
        split = Division::AsSplit(division.outer, division.outer_extent);
        outer.push_back(split);
      } else {
        return Fail();
      }
      extent = Mul(extent, split.extent);
    }
    if (!has_unit) return Fail();
    PrimExpr outer_extent;
    PrimExpr inner_extent;
    IterSum outer_sum = Compact(outer, MakeConst(dtype, 0), outer_extent);
    IterSum inner_sum = Compact(inner, sum.base, inner_extent);
    if (analyzer_.CanProveEqual(extent, mark_extent)) {
      return {std::move(outer_sum), outer_extent, std::move(inner_sum),
              inner_extent};
    }
    // A sum with a condition can only be all outer or all inner.
    const auto bounded = [&](const IterSum& part) {
      return MakeBinary(BinaryOp::kLT,
                        IterMapConverter(analyzer_).Convert(part), mark_extent);
    };
    if (inner.empty()) {
      if (!IsZero(sum.base)) return Fail();
      outer_predicate_ =
          MakeBinary(BinaryOp::kAnd, outer_predicate_, bounded(outer_sum));
      return Division::Outer(std::move(outer_sum), mark_extent);
    }
    if (outer.empty()) {
      inner_predicate_ =
          MakeBinary(BinaryOp::kAnd, inner_predicate_, bounded(inner_sum));
      return Division::Inner(std::move(inner_sum), mark_extent);
    }
    return Fail();
  }

 private:
  Division Fail() {
    failed_ = true;
    return {{{}, Int(0)}, Int(0), {{}, Int(0)}, Int(0)};
  }

  // `b` is a multiple of `a`.
  bool Divides(const PrimExpr& a, const PrimExpr& b) {
    return analyzer_.CanProveEqual(MakeBinary(BinaryOp::kFloorMod, b, a),
                                   MakeConst(b.dtype(), 0));
  }

  // Sums the splits, which are ordered from the inside, with scales that leave
  // no gaps.
  static IterSum Compact(const std::vector<IterSplit>& splits,
                         const PrimExpr& base, PrimExpr& extent) {
    IterSum sum;
    sum.base = base;
    extent = MakeConst(base.dtype(), 1);
    for (IterSplit split : splits) {
      split.scale = extent;
      extent = Mul(extent, split.extent);
      sum.args.insert(sum.args.begin(), std::move(split));
    }
    return sum;
  }

  Division DivideSplit(const IterSplit& split) {
    for (const auto& [known, division] : divisions_) {
      if (SameSplit(known, split)) return division;
    }
    const SplitsOfMarks::Entry* entry = marks_.Find(split.source);
    if (entry == nullptr) return Fail();
    const std::vector<IterSplit>& splits = entry->splits;
    const IterSum* source = split.source.sum();
    if (source == nullptr) {
      const auto* var = split.source.expr().As<VarNode>();
      if (var == nullptr) return Fail();
      bool inner = false;
      for (const Var& iter : inner_) inner = inner || iter.get() == var;
      for (const IterSplit& part : splits) {
        divisions_.emplace_back(
            part, inner ? Division::Inner(SumOf(part), part.extent)
                        : Division::Outer(SumOf(part), part.extent));
      }
    } else {
      const Division division = DivideSum(*source, split.source.extent());
      if (failed_) return division;
      const bool is_whole =
          splits.size() == 1 && IsOne(split.lower_factor) &&
          analyzer_.CanProveEqual(split.extent, split.source.extent());
      if (is_whole) return division;
      // A split of outer * E + inner is one of `inner` if it ends at or below
      // the boundary E, and one of `outer` if it begins at or above it.
      const IterMark outer_mark(division.outer, division.outer_extent);
      const IterMark inner_mark(division.inner, division.inner_extent);
      const PrimExpr& boundary = division.inner_extent;
      for (const IterSplit& part : splits) {
        IterSplit moved = part;
        if (division.kind == Division::Kind::kInner ||
            (division.kind != Division::Kind::kOuter &&
             Divides(Mul(part.lower_factor, part.extent), boundary))) {
          moved.source = inner_mark;
          divisions_.emplace_back(part,
                                  Division::Inner(SumOf(moved), part.extent));
        } else if (IsZero(division.inner.base) &&
                   Divides(boundary, part.lower_factor)) {
          moved.source = outer_mark;
          moved.lower_factor =
              MakeBinary(BinaryOp::kFloorDiv, part.lower_factor, boundary);
          divisions_.emplace_back(part,
                                  Division::Outer(SumOf(moved), part.extent));
        } else {
          return Fail();
        }
      }
    }
    for (const auto& [known, division] : divisions_) {
      if (SameSplit(known, split)) return division;
    }
    return Fail();
  }

  Analyzer& analyzer_;
  const SplitsOfMarks& marks_;
  absl::Span<const Var> inner_;
  bool failed_ = false;
  std::vector<std::pair<IterSplit, Division>> divisions_;
  PrimExpr outer_predicate_ = IntImm::Bool(true);
  PrimExpr inner_predicate_ = IntImm::Bool(true);
};

// Propagates values of sums to the iterators that they are of.
class Inverter {
 public:
  VarMap<PrimExpr> Invert(absl::Span<const IterSum> map,
                          absl::Span<const PrimExpr> outputs) {
    // Marks are visited after all sums that refer to them.
    for (const IterSum& sum : map) Order(sum);
    for (size_t i = 0; i < map.size() && i < outputs.size(); ++i) {
      Propagate(map[i], outputs[i]);
    }
    for (auto it = order_.rbegin(); it != order_.rend(); ++it) {
      const IterMark& mark = *it;
      const PrimExpr value = *FindValue(mark);
      if (mark.sum() != nullptr) {
        Propagate(*mark.sum(), value);
      } else if (const auto* var = mark.expr().As<VarNode>()) {
        result_.Set(Var(var), value);
      } else if (const auto* difference =
                     AsBinary(mark.expr(), BinaryOp::kSub)) {
        // An iterator that does not begin at zero.
        if (const auto* shifted = difference->a().As<VarNode>()) {
          result_.Set(Var(shifted), Add(value, difference->b()));
        }
      }
    }
    return std::move(result_);
  }

 private:
  void Order(const IterSum& sum) {
    for (const IterSplit& split : sum.args) {
      if (FindValue(split.source) != nullptr) continue;
      values_.emplace_back(split.source, Int(0));
      if (split.source.sum() != nullptr) Order(*split.source.sum());
      order_.push_back(split.source);
    }
  }

  PrimExpr* FindValue(const IterMark& mark) {
    for (auto& [known, value] : values_) {
      if (known.same_as(mark)) return &value;
    }
    return nullptr;
  }

  void Send(const IterSplit& split, const PrimExpr& value) {
    PrimExpr& total = *FindValue(split.source);
    total = Add(total, Mul(value, split.lower_factor));
  }

  void Propagate(const IterSum& sum, const PrimExpr& output) {
    const PrimExpr input = Sub(output, sum.base);
    if (sum.args.size() == 1) {
      const PrimExpr& scale = sum.args[0].scale;
      Send(sum.args[0], IsOne(scale) || IsConst(scale, -1)
                            ? Mul(input, scale)
                            : MakeBinary(BinaryOp::kFloorDiv, input, scale));
      return;
    }
    for (size_t i = sum.args.size(); i > 0; --i) {
      const IterSplit& split = sum.args[i - 1];
      PrimExpr value = MakeBinary(BinaryOp::kFloorDiv, input, split.scale);
      // The first one has no more than its extent.
      if (i > 1) value = MakeBinary(BinaryOp::kFloorMod, value, split.extent);
      Send(split, value);
    }
  }

  std::vector<IterMark> order_;
  std::vector<std::pair<IterMark, PrimExpr>> values_;
  VarMap<PrimExpr> result_;
};

}  // namespace

std::vector<DividedIter> SubspaceDivide(absl::Span<const PrimExpr> bindings,
                                        const VarRanges& input_iters,
                                        absl::Span<const Var> sub_iters,
                                        const PrimExpr& predicate,
                                        IterMapLevel level, Analyzer& analyzer,
                                        bool simplify_trivial_iterators) {
  const IterMapResult map =
      DetectIterMap(bindings, input_iters, predicate, level, analyzer,
                    simplify_trivial_iterators);
  if (map.indices.empty()) return {};
  SplitsOfMarks marks;
  marks.Collect(map.indices);
  Divider divider(analyzer, marks, sub_iters);
  std::vector<DividedIter> result;
  for (const IterSum& sum : map.indices) {
    Division division = divider.DivideSum(sum, Int(0));
    if (divider.failed()) return {};
    result.push_back(
        {IterMark(std::move(division.outer), std::move(division.outer_extent)),
         IterMark(std::move(division.inner),
                  std::move(division.inner_extent))});
  }
  result.push_back({IterMark(IterSum{{}, Int(0)}, divider.outer_predicate()),
                    IterMark(IterSum{{}, Int(0)}, divider.inner_predicate())});
  return result;
}

VarMap<PrimExpr> InverseAffineIterMap(absl::Span<const IterSum> map,
                                      absl::Span<const PrimExpr> outputs) {
  return Inverter().Invert(map, outputs);
}

}  // namespace baton::tir
