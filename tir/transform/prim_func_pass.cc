#include "baton/tir/transform/prim_func_pass.h"

#include <utility>

#include "baton/tir/ir/function.h"
#include "baton/transform/function_pass.h"
#include "baton/transform/pass.h"
#include "baton/transform/pass_info.h"

namespace baton::tir {

const FunctionKind<PrimFunc>& PrimFunctions() {
  static const auto* const kind = new FunctionKind<PrimFunc>;
  return *kind;
}

Pass CreatePrimFuncPass(FunctionPassBody<PrimFunc> body, PassInfo info,
                        PassOptions options) {
  return CreateFunctionPass(PrimFunctions(), std::move(body), std::move(info),
                            std::move(options));
}

}  // namespace baton::tir
