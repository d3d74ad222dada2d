#include "baton/tir/transform/prim_func_pass.h"

#include <utility>

#include "absl/status/statusor.h"
#include "baton/ir/module.h"
#include "baton/ir/origin.h"
#include "baton/ir/structural_equal.h"
#include "baton/tir/ir/function.h"
#include "baton/tir/transform/convert_ssa.h"
#include "baton/transform/function_pass.h"
#include "baton/transform/pass.h"
#include "baton/transform/pass_context.h"
#include "baton/transform/pass_info.h"

namespace baton::tir {

const FunctionKind<PrimFunc>& PrimFunctions() {
  static const auto* const kind = new FunctionKind<PrimFunc>;
  return *kind;
}

Pass CreatePrimFuncPass(FunctionPassBody<PrimFunc> body, PassInfo info,
                        PassOptions options) {
  return CreateFunctionPass(
      PrimFunctions(),
      [body = std::move(body)](
          PrimFunc function, const IRModule& module,
          const PassContext& context) -> absl::StatusOr<PrimFunc> {
        absl::StatusOr<PrimFunc> result = body(function, module, context);
        // Equality does not see that variables were renamed.
        const auto defines_once = [](const PrimFunc& f) {
          return ConvertSSA(f->body()) == f->body();
        };
        if (result.ok() && *result != function &&
            StructuralEqual(*result, function) &&
            (defines_once(function) || !defines_once(*result))) {
          return function;
        }
        // Not all of it comes from a rewriter.
        if (result.ok() && *result != function) {
          LogOrigins(*result, function.get());
        }
        return result;
      },
      std::move(info), std::move(options));
}

}  // namespace baton::tir
