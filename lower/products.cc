#include "baton/lower/products.h"

#include <algorithm>
#include <cstdint>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/strings/str_cat.h"
#include "baton/base/dtype.h"
#include "baton/lower/computation.h"
#include "baton/runtime/kernels/blocked/sums.h"
#include "baton/tir/ir/expr.h"
#include "baton/tir/ir/fold.h"
#include "baton/tir/ir/intrinsics.h"

namespace baton::lower {
namespace {

using kernels::blocked::kChunksOfGroup;
using kernels::blocked::kTapsOfChunk;
using tir::BinaryOp;
using tir::PrimExpr;

constexpr int64_t kLanes = 16;

Indices WithoutLast(const Indices& at) { return {at.begin(), at.end() - 1}; }
Indices Append(Indices at, const PrimExpr& last) {
  at.push_back(last);
  return at;
}

// acc + left * right, rounded once if they are floats.
PrimExpr AddTerm(const ProductTerms& terms, const Indices& at,
                 const PrimExpr& channel, const PrimExpr& tap,
                 const PrimExpr& sum) {
  const PrimExpr left = terms.left(at, channel, tap);
  const PrimExpr right = terms.right(at, channel, tap);
  const PrimExpr added =
      terms.dtype.is_float()
          ? tir::CallIntrinsic("fma", {left, right, sum})
          : Op2(BinaryOp::kAdd, sum, Op2(BinaryOp::kMul, left, right));
  if (terms.included == nullptr) return added;
  const PrimExpr condition = terms.included(at, channel, tap);
  return condition.defined() ? IfThenElse(condition, added, sum) : added;
}

// to[at] = the sum of terms[at, c] over c below `count`.
void SumOver(LoopBuilder& loops, const tir::Buffer& terms, int64_t count,
             const tir::Buffer& to) {
  const DType dtype = to.dtype();
  loops.Fold(
      to, {count}, [&](const Indices&) { return Number(dtype, 0); },
      [&](const Indices& at, const Indices& k, const PrimExpr& sum) {
        return Op2(BinaryOp::kAdd, sum,
                   Cast(dtype, tir::BufferLoad(terms, Append(at, k[0]))));
      });
}

void SumIntegers(LoopBuilder& loops, const ProductTerms& terms,
                 const tir::Buffer& to) {
  loops.Fold(
      to, {terms.channels, terms.taps},
      [&](const Indices&) { return Number(terms.dtype, 0); },
      [&](const Indices& at, const Indices& k, const PrimExpr& sum) {
        return AddTerm(terms, at, k[0], k[1], sum);
      });
}

void SumFloats(LoopBuilder& loops, const ProductTerms& terms,
               const tir::Buffer& to) {
  const kernels::blocked::Sums order = {terms.channels, terms.taps};
  const int64_t chunks = order.chunks();
  const std::vector<int64_t> shape = ShapeOf(to);
  std::vector<int64_t> chunk_shape = shape;
  chunk_shape.push_back(chunks);
  const tir::Buffer partial = loops.Temporary(
      absl::StrCat(to->name(), "_chunk"), terms.dtype, chunk_shape);
  const auto zero = [&](const Indices&) { return Number(terms.dtype, 0); };
  if (terms.taps == 1) {
    const int64_t length =
        std::min(terms.channels, kernels::blocked::kPositionsOfChunk);
    const auto position = [&](const Indices& at, const Indices& k) {
      return tir::Add(tir::Mul(at.back(), Index(length)), k[0]);
    };
    LoopBuilder::Condition exists;
    if (terms.channels % length != 0) {
      exists = [&](const Indices& at, const Indices& k) {
        return Less(position(at, k), Index(terms.channels));
      };
    }
    loops.Fold(
        partial, {length}, zero,
        [&](const Indices& at, const Indices& k, const PrimExpr& sum) {
          return AddTerm(terms, WithoutLast(at), position(at, k), Index(0),
                         sum);
        },
        exists);
  } else {
    const int64_t units = order.units();
    const int64_t length = std::min(units, kTapsOfChunk);
    const int64_t lanes = std::min(terms.channels, kLanes);
    const auto unit = [&](const Indices& at, const Indices& k) {
      return tir::Add(tir::Mul(at.back(), Index(length)), k[0]);
    };
    const auto channel = [&](const Indices& at, const Indices& k) {
      return tir::Add(
          tir::Mul(terms.channels > kLanes ? Divide(unit(at, k), terms.taps)
                                           : Index(0),
                   Index(kLanes)),
          k[1]);
    };
    const bool has_rest = units % length != 0;
    const bool has_channels = terms.channels % lanes == 0;
    LoopBuilder::Condition exists;
    if (has_rest || !has_channels) {
      exists = [&](const Indices& at, const Indices& k) {
        return And(has_rest ? Less(unit(at, k), Index(units)) : PrimExpr(),
                   has_channels ? PrimExpr()
                                : Less(channel(at, k), Index(terms.channels)));
      };
    }
    loops.Fold(
        partial, {length, lanes}, zero,
        [&](const Indices& at, const Indices& k, const PrimExpr& sum) {
          return AddTerm(terms, WithoutLast(at), channel(at, k),
                         terms.channels > kLanes ? Rest(unit(at, k), terms.taps)
                                                 : unit(at, k),
                         sum);
        },
        exists);
  }
  if (terms.dtype != DType::Float(32) || !order.in_double()) {
    return SumOver(loops, partial, chunks, to);
  }
  const int64_t groups = (chunks + kChunksOfGroup - 1) / kChunksOfGroup;
  std::vector<int64_t> group_shape = shape;
  group_shape.push_back(groups);
  const tir::Buffer sums = loops.Temporary(absl::StrCat(to->name(), "_group"),
                                           terms.dtype, group_shape);
  const auto chunk = [&](const Indices& at, const Indices& k) {
    return tir::Add(tir::Mul(at.back(), Index(kChunksOfGroup)), k[0]);
  };
  LoopBuilder::Condition exists;
  if (chunks % kChunksOfGroup != 0) {
    exists = [&](const Indices& at, const Indices& k) {
      return Less(chunk(at, k), Index(chunks));
    };
  }
  loops.Fold(
      sums, {kChunksOfGroup}, zero,
      [&](const Indices& at, const Indices& k, const PrimExpr& sum) {
        Indices from = at;
        from.back() = chunk(at, k);
        return Op2(BinaryOp::kAdd, sum, tir::BufferLoad(partial, from));
      },
      exists);
  const tir::Buffer total = loops.Temporary(absl::StrCat(to->name(), "_double"),
                                            DType::Float(64), shape);
  SumOver(loops, sums, groups, total);
  loops.Store(to, [&](const Indices& at) {
    return Cast(terms.dtype, tir::BufferLoad(total, at));
  });
}

}  // namespace

absl::StatusOr<DType> ProductDType(DType a, DType b, DType out) {
  if (a.is_float() != b.is_float()) {
    return NoLoops("one operand is a float and the other an integer");
  }
  bool wide = false;
  for (const DType dtype : {a, b, out}) {
    if (!dtype.IsStorable() || dtype.is_bool()) {
      return NoLoops(absl::StrCat(dtype.ToString(), " is not multiplied"));
    }
    wide = wide || dtype.bits() == 64;
  }
  if (a.is_float() || out.is_float()) return DType::Float(wide ? 64 : 32);
  return DType::Int(wide ? 64 : 32);
}

void SumProducts(LoopBuilder& loops, const ProductTerms& terms,
                 const tir::Buffer& to) {
  const bool converts = to.dtype() != terms.dtype;
  const tir::Buffer sums =
      converts ? loops.Temporary(absl::StrCat(to->name(), "_sum"), terms.dtype,
                                 ShapeOf(to))
               : to;
  if (terms.dtype.is_float()) {
    SumFloats(loops, terms, sums);
  } else {
    SumIntegers(loops, terms, sums);
  }
  if (!converts) return;
  loops.Store(to, [&](const Indices& at) {
    return Convert(to.dtype(), tir::BufferLoad(sums, at));
  });
}

}  // namespace baton::lower
