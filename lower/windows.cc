#include "baton/lower/windows.h"

#include <cstddef>
#include <cstdint>

#include "absl/status/statusor.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/string_view.h"
#include "absl/types/span.h"
#include "baton/base/layout.h"
#include "baton/base/status_macros.h"
#include "baton/lower/computation.h"
#include "baton/tir/ir/expr.h"
#include "baton/tir/ir/fold.h"

namespace baton::lower {

using tir::BinaryOp;
using tir::PrimExpr;

PrimExpr AxisWindow::Position(const PrimExpr& o, const PrimExpr& k) const {
  return tir::Sub(
      tir::Add(tir::Mul(o, Index(stride)), tir::Mul(k, Index(dilation))),
      Index(before));
}

PrimExpr AxisWindow::Inside(const PrimExpr& position) const {
  PrimExpr result;
  if (before > 0) result = Op2(BinaryOp::kLE, Index(0), position);
  if ((out - 1) * stride + (kernel - 1) * dilation - before >= in) {
    result = And(result, Op2(BinaryOp::kLT, position, Index(in)));
  }
  return result;
}

bool AxisWindow::IsInside() const { return !Inside(Index(0)).defined(); }

absl::StatusOr<LayoutIndex> LayoutIndex::Parse(absl::string_view layout,
                                               int rank) {
  LayoutIndex result;
  absl::StatusOr<Layout> parsed = Layout::Parse(layout);
  if (!parsed.ok() || parsed->ndim() != rank) {
    return NoLoops(absl::StrCat("layout \"", layout, "\" does not fit"));
  }
  result.layout_ = *parsed;
  for (const Layout::Axis& axis : result.layout_.axes()) {
    if (!result.Has(Layout::ToPrimal(axis.letter))) {
      return NoLoops(absl::StrCat("layout \"", layout, "\" lacks an axis"));
    }
  }
  return result;
}

int64_t LayoutIndex::FactorOf(char letter) const {
  const char sub = Layout::ToSub(letter);
  return layout_.Contains(sub) ? layout_.FactorOf(sub) : 1;
}

int64_t LayoutIndex::ExtentOf(char letter,
                              absl::Span<const int64_t> shape) const {
  const int axis = layout_.IndexOf(letter);
  return axis < 0 ? 1 : shape[static_cast<size_t>(axis)] * FactorOf(letter);
}

PrimExpr LayoutIndex::PositionOf(char letter, const Indices& at) const {
  const int axis = layout_.IndexOf(letter);
  const int block = layout_.IndexOf(Layout::ToSub(letter));
  const PrimExpr& outer = at[static_cast<size_t>(axis)];
  if (block < 0) return outer;
  return tir::Add(tir::Mul(outer, Index(FactorOf(letter))),
                  at[static_cast<size_t>(block)]);
}

Indices LayoutIndex::IndexOf(absl::string_view letters,
                             const Indices& positions) const {
  Indices index;
  for (const Layout::Axis& axis : layout_.axes()) {
    const char letter = Layout::ToPrimal(axis.letter);
    const size_t which = letters.find(letter);
    PrimExpr position =
        which == absl::string_view::npos ? Index(0) : positions[which];
    const int64_t factor = FactorOf(letter);
    if (!Layout::IsPrimal(axis.letter)) {
      position = tir::MakeBinary(BinaryOp::kFloorMod, position, Index(factor));
    } else if (factor > 1) {
      position = tir::MakeBinary(BinaryOp::kFloorDiv, position, Index(factor));
    }
    index.push_back(position);
  }
  return index;
}

}  // namespace baton::lower
