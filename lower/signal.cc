// Computations of Fourier transforms, in the order of their kernels
// (runtime/kernels/signal.cc).

#include "baton/runtime/kernels/signal.h"

#include <cmath>
#include <cstddef>
#include <cstdint>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/str_cat.h"
#include "baton/base/dtype.h"
#include "baton/base/status_macros.h"
#include "baton/base/tensor.h"
#include "baton/ir/op.h"
#include "baton/lower/computation.h"
#include "baton/lower/double_math.h"
#include "baton/relay/op/tensor/sequence.h"
#include "baton/tir/ir/expr.h"
#include "baton/tir/ir/fold.h"

namespace baton::lower {
namespace {

using tir::BinaryOp;
using tir::PrimExpr;

// The table [n, 2] of kernels::RootsOfUnity(), for `frequencies` of a
// transform. The products of a frequency and a position are int32.
absl::StatusOr<tir::Buffer> RootTable(LoopBuilder& loops, int64_t n,
                                      int64_t frequencies) {
  constexpr int64_t kMostPoints = 46340;
  if (n > kMostPoints || frequencies > kMostPoints) {
    return NoLoops("a transform of so many points");
  }
  BATON_ASSIGN_OR_RETURN(
      const Tensor roots,
      Tensor::FromValues<double>({n, 2}, kernels::RootsOfUnity(n)));
  return loops.Table("T_roots", roots);
}

// Part `part` of the root by which element `i` is multiplied for frequency `k`.
PrimExpr Root(const tir::Buffer& roots, const PrimExpr& k, const PrimExpr& i,
              const PrimExpr& part) {
  return tir::BufferLoad(
      roots,
      {tir::MakeBinary(BinaryOp::kFloorMod, tir::Mul(k, i), roots->shape()[0]),
       part});
}

absl::Status LowerDft(LoopBuilder& loops) {
  const bool inverse = loops.attrs<relay::DFTAttrs>().inverse;
  const std::vector<int64_t>& shape = loops.shape();
  if (shape.empty() || loops.shape(1) != shape || !loops.dtype(0).is_float() ||
      !loops.dtype(1).is_float()) {
    return NoLoops("parts that are no floats of one shape with an axis");
  }
  const int64_t extent = shape.back();
  BATON_ASSIGN_OR_RETURN(const tir::Buffer roots,
                         RootTable(loops, extent, extent));
  for (const int part : {0, 1}) {
    const tir::Buffer& out = loops.output(part);
    const tir::Buffer sums =
        loops.Temporary(absl::StrCat(out->name(), "_sum"), kDouble, shape);
    loops.Fold(
        sums, {extent}, [](const Indices&) { return Real(0); },
        [&](const Indices& at, const Indices& i, const PrimExpr& sum) {
          Indices from = at;
          from.back() = i[0];
          const PrimExpr a = Cast(kDouble, loops.Load(0, from));
          const PrimExpr b = Cast(kDouble, loops.Load(1, from));
          const PrimExpr cosine = Root(roots, at.back(), i[0], Index(0));
          PrimExpr sine = Root(roots, at.back(), i[0], Index(1));
          if (inverse) sine = Times(Real(-1), sine);
          return Plus(sum, part == 0 ? Minus(Times(a, cosine), Times(b, sine))
                                     : Plus(Times(a, sine), Times(b, cosine)));
        });
    loops.Store(out, [&](const Indices& at) {
      const PrimExpr sum = tir::BufferLoad(sums, at);
      return Convert(
          out->dtype(),
          inverse ? Over(sum, Real(static_cast<double>(extent))) : sum);
    });
  }
  return absl::OkStatus();
}

absl::Status LowerStft(LoopBuilder& loops) {
  const auto& attrs = loops.attrs<relay::StftAttrs>();
  const int64_t points = attrs.win_length > 0 ? attrs.win_length : attrs.n_fft;
  const tir::Buffer& out = loops.output();
  const std::vector<int64_t> to = ShapeOf(out);
  if (!loops.dtype(0).is_float() || loops.rank(1) != 1 ||
      points > loops.shape(1)[0] || points > attrs.n_fft ||
      attrs.n_fft > loops.shape().back()) {
    return NoLoops("a window that does not fit the data");
  }
  BATON_ASSIGN_OR_RETURN(const tir::Buffer roots,
                         RootTable(loops, points, to[to.size() - 3]));
  const tir::Buffer sums =
      loops.Temporary(absl::StrCat(out->name(), "_sum"), kDouble, to);
  // The result is [batch, frequency, window, part].
  loops.Fold(
      sums, {points}, [](const Indices&) { return Real(0); },
      [&](const Indices& at, const Indices& i, const PrimExpr& sum) {
        const size_t rank = at.size();
        const PrimExpr position =
            tir::Add(tir::Mul(at[rank - 2], Index(attrs.hop_length)), i[0]);
        const PrimExpr x = loops.Load(
            0, rank == 4 ? Indices{at[0], position} : Indices{position});
        return Plus(sum, Times(Times(Cast(kDouble, loops.Load(1, {i[0]})),
                                     Cast(kDouble, x)),
                               Root(roots, at[rank - 3], i[0], at.back())));
      });
  const double scale =
      attrs.normalized ? 1 / std::sqrt(static_cast<double>(attrs.n_fft)) : 1;
  loops.Store(out, [&](const Indices& at) {
    return Convert(out->dtype(), Times(tir::BufferLoad(sums, at), Real(scale)));
  });
  return absl::OkStatus();
}

#define BATON_ROW(name, computation) \
  BATON_EXTEND_OP(name).Set(Computations(), computation)

BATON_ROW("dft", LowerDft);
BATON_ROW("stft", LowerStft);

}  // namespace
}  // namespace baton::lower
