#include "baton/tir/transform/decorate_device_scope.h"

#include <utility>

#include "absl/status/statusor.h"
#include "baton/base/dtype.h"
#include "baton/ir/module.h"
#include "baton/tir/ir/expr.h"
#include "baton/tir/ir/function.h"
#include "baton/tir/ir/stmt.h"
#include "baton/tir/transform/prim_func_pass.h"
#include "baton/transform/pass.h"
#include "baton/transform/pass_context.h"
#include "baton/transform/pass_registry.h"

namespace baton::tir {

Pass DecorateDeviceScope() {
  return CreatePrimFuncPass(
      [](const PrimFunc& function, const IRModule& /*module*/,
         const PassContext& /*context*/) -> absl::StatusOr<PrimFunc> {
        const IntImm zero(DType::Int(32), 0);
        PrimFuncNode::Parts parts = function->parts();
        parts.body = AttrStmt(zero, "device_scope", zero, parts.body);
        return PrimFunc(std::move(parts), function->span());
      },
      {.name = "tir.DecorateDeviceScope",
       .doc = "Puts the bodies of functions into a scope of the device."});
}
BATON_REGISTER_PASS_AS("tir.DecorateDeviceScope", DecorateDeviceScope);

}  // namespace baton::tir
