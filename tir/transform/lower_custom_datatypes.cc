#include "baton/tir/transform/lower_custom_datatypes.h"

#include "absl/status/statusor.h"
#include "baton/base/status_macros.h"
#include "baton/ir/module.h"
#include "baton/tir/ir/function.h"
#include "baton/tir/transform/func_target.h"
#include "baton/tir/transform/prim_func_pass.h"
#include "baton/transform/pass.h"
#include "baton/transform/pass_context.h"
#include "baton/transform/pass_registry.h"

namespace baton::tir {

Pass LowerCustomDatatypes() {
  return CreatePrimFuncPass(
      [](PrimFunc function, const IRModule& /*module*/,
         const PassContext& /*context*/) -> absl::StatusOr<PrimFunc> {
        BATON_RETURN_IF_ERROR(RequiredTargetOf(function).status());
        return function;
      },
      {.name = "tir.LowerCustomDatatypes",
       .doc = "Lowers operations on data types that users registered: none.",
       .needs = {"tir.has_targets"},
       .idempotent = true});
}
BATON_REGISTER_PASS_AS("tir.LowerCustomDatatypes", LowerCustomDatatypes);

}  // namespace baton::tir
