#include "baton/tir/transform/lower_vtcm_alloc.h"

#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/strings/match.h"
#include "baton/base/dtype.h"
#include "baton/ir/module.h"
#include "baton/ir/op.h"
#include "baton/tir/ir/expr.h"
#include "baton/tir/ir/function.h"
#include "baton/tir/ir/functor.h"
#include "baton/tir/ir/stmt.h"
#include "baton/tir/transform/prim_func_pass.h"
#include "baton/transform/pass.h"
#include "baton/transform/pass_context.h"
#include "baton/transform/pass_registry.h"

namespace baton::tir {
namespace {

class VtcmAllocator final : public Rewriter {
 protected:
  Stmt VisitAllocate(const AllocateNode* node) override {
    const std::string& scope = node->var()->scope();
    if (!absl::StrContains(scope, "global.vtcm")) {
      return Rewriter::VisitAllocate(node);
    }
    std::vector<PrimExpr> extents(node->extents().begin(),
                                  node->extents().end());
    const PrimExpr rank =
        IntImm(DType::Int(64), static_cast<int64_t>(extents.size()));
    const PrimExpr shape =
        Call(kHandle, BATON_OP("tir.tvm_stack_make_shape"), std::move(extents));
    return LetStmt(
        node->var(),
        Call(node->var()->dtype(), BATON_OP("tir.nd_mem_alloc_with_scope"),
             {StringImm(scope), rank, shape}),
        Rewrite(node->body()), node->span());
  }
};

}  // namespace

Pass LowerVtcmAlloc() {
  return CreatePrimFuncPass(
      [](PrimFunc function, const IRModule& /*module*/,
         const PassContext& /*context*/) -> absl::StatusOr<PrimFunc> {
        return VtcmAllocator().RewriteBody(function);
      },
      {.name = "tir.LowerVtcmAlloc",
       .doc = "Gets memory of the scope `global.vtcm` from the device.",
       .idempotent = true});
}
BATON_REGISTER_PASS_AS("tir.LowerVtcmAlloc", LowerVtcmAlloc);

}  // namespace baton::tir
