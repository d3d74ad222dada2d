// The loops of the operator of add_an_operator.h.

#include <cstddef>
#include <cstdint>

#include "absl/status/status.h"
#include "baton/examples/add_an_operator.h"
#include "baton/ir/op.h"
#include "baton/lower/computation.h"
#include "baton/tir/ir/expr.h"
#include "baton/tir/ir/fold.h"

namespace baton::examples {
namespace {

// [loops]
absl::Status LowerRoll(lower::LoopBuilder& loops) {
  const auto& attrs = loops.attrs<RollAttrs>();
  const auto axis =
      static_cast<size_t>(lower::NormalAxis(attrs.axis, loops.rank()));
  const int64_t extent = loops.shape()[axis];
  const int64_t shift = (attrs.shift % extent + extent) % extent;
  loops.Store(loops.output(), [&](lower::Indices at) {
    at[axis] = tir::MakeBinary(tir::BinaryOp::kFloorMod,
                               tir::Add(at[axis], lower::Index(extent - shift)),
                               lower::Index(extent));
    return loops.Load(0, at);
  });
  return absl::OkStatus();
}

BATON_EXTEND_OP("example.roll").Set(lower::Computations(), LowerRoll);
// [/loops]

}  // namespace
}  // namespace baton::examples
