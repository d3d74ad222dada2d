#include "baton/lower/line_sort.h"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "baton/base/dtype.h"
#include "baton/lower/computation.h"
#include "baton/tir/ir/expr.h"
#include "baton/tir/ir/fold.h"
#include "baton/tir/ir/intrinsics.h"
#include "baton/tir/ir/stmt.h"

namespace baton::lower {
namespace {

using tir::BinaryOp;
using tir::PrimExpr;
using tir::Stmt;

PrimExpr Least(const PrimExpr& a, const PrimExpr& b) {
  return Op2(BinaryOp::kMin, a, b);
}
PrimExpr Element(const tir::Buffer& buffer, const Indices& at) {
  return tir::BufferLoad(buffer, at);
}

}  // namespace

PrimExpr IsBefore(const PrimExpr& a, const PrimExpr& b, bool is_ascending) {
  const PrimExpr& x = is_ascending ? a : b;
  const PrimExpr& y = is_ascending ? b : a;
  if (!a.dtype().is_float()) return Less(x, y);
  const auto is_number = [](const PrimExpr& value) {
    return Op2(BinaryOp::kEQ, value, value);
  };
  return tir::Select(is_number(y), Less(x, y), is_number(x));
}

LineSort::LineSort(LoopBuilder& loops, int input, size_t axis,
                   bool is_ascending)
    : loops_(loops),
      input_(input),
      axis_(axis),
      is_ascending_(is_ascending),
      extent_(loops.shape(input)[axis]) {
  while ((int64_t{1} << num_rounds_) < extent_) ++num_rounds_;
  positions_ = loops.Temporary("T_positions", tir::kInt32,
                               {2, std::max<int64_t>(extent_, 1)});
  heads_ = loops.Temporary("T_heads", tir::kInt32, {2});
}

absl::Status LineSort::Check(const LoopBuilder& loops, int input, size_t axis) {
  // Positions beyond the end of a run are computed.
  constexpr int64_t kMost = int64_t{1} << 29;
  return loops.shape(input)[axis] > kMost ? NoLoops("lines of so many elements")
                                          : absl::OkStatus();
}

PrimExpr LineSort::Position(const PrimExpr& i) const {
  return Element(positions_, {Index(num_rounds_ % 2), i});
}

Stmt LineSort::Sort(const Indices& line) const {
  std::vector<Stmt> stmts = {
      ForEach("i", {extent_}, [&](const Indices& at) -> Stmt {
        return tir::BufferStore(positions_, at[0], {Index(0), at[0]});
      })};
  if (num_rounds_ > 0) {
    stmts.push_back(ForEach("round", {num_rounds_}, [&](const Indices& round) {
      return With("width",
                  tir::CallIntrinsic("shift_left", {Index(1), round[0]}),
                  [&](const PrimExpr& width) {
                    return Merge(line, Rest(round[0], 2), width);
                  });
    }));
  }
  return tir::MakeSeq(std::move(stmts));
}

Stmt LineSort::Merge(const Indices& line, const PrimExpr& from,
                     const PrimExpr& width) const {
  const PrimExpr end = Index(extent_);
  const auto value = [&](const PrimExpr& head) {
    Indices at = line;
    at[axis_] = Element(positions_, {from, head});
    const PrimExpr element = loops_.Load(input_, at);
    const DType dtype = element.dtype();
    return Cast(dtype.is_bool() ? DType::UInt(8) : WideDType(dtype), element);
  };
  const Stmt merge = ForEach("i", {extent_}, [&](const Indices& at) -> Stmt {
    const PrimExpr& i = at[0];
    const auto take = [&](int run, const PrimExpr& head) {
      return tir::MakeSeq(
          {tir::BufferStore(positions_, Element(positions_, {from, head}),
                            {tir::Sub(Index(1), from), i}),
           tir::BufferStore(heads_, tir::Add(head, Index(1)), {Index(run)})});
    };
    // The place of `i` in two runs, and the ends of these.
    const PrimExpr place =
        tir::MakeBinary(BinaryOp::kFloorMod, i, tir::Mul(width, Index(2)));
    const Stmt begin = tir::IfThenElse(
        Op2(BinaryOp::kEQ, place, Index(0)),
        tir::MakeSeq({tir::BufferStore(heads_, i, {Index(0)}),
                      tir::BufferStore(heads_, Least(tir::Add(i, width), end),
                                       {Index(1)})}));
    const auto step = [&](const PrimExpr& first, const PrimExpr& left,
                          const PrimExpr& right) {
      const PrimExpr left_end = Least(tir::Add(first, width), end);
      const PrimExpr right_end =
          Least(tir::Add(first, tir::Mul(width, Index(2))), end);
      const Stmt compared =
          tir::IfThenElse(IsBefore(value(right), value(left), is_ascending_),
                          take(1, right), take(0, left));
      const Stmt left_is_there =
          tir::IfThenElse(Less(left, left_end), compared, take(1, right));
      return tir::IfThenElse(Less(right, right_end), left_is_there,
                             take(0, left));
    };
    const Stmt merged =
        With("first", tir::Sub(i, place), [&](const PrimExpr& first) {
          return With("left", Element(heads_, {Index(0)}),
                      [&](const PrimExpr& left) {
                        return With("right", Element(heads_, {Index(1)}),
                                    [&](const PrimExpr& right) -> Stmt {
                                      return step(first, left, right);
                                    });
                      });
        });
    return tir::MakeSeq({begin, merged});
  });
  // Compilers do not see that the first place begins a run.
  return tir::MakeSeq({tir::BufferStore(heads_, Index(0), {Index(0)}),
                       tir::BufferStore(heads_, Index(0), {Index(1)}), merge});
}

}  // namespace baton::lower
