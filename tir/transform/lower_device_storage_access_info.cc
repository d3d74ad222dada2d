#include "baton/tir/transform/lower_device_storage_access_info.h"

#include <utility>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/str_cat.h"
#include "baton/base/dtype.h"
#include "baton/ir/error_at.h"
#include "baton/ir/module.h"
#include "baton/ir/op.h"
#include "baton/tir/analysis/scopes.h"
#include "baton/tir/ir/expr.h"
#include "baton/tir/ir/fold.h"
#include "baton/tir/ir/function.h"
#include "baton/tir/ir/functor.h"
#include "baton/tir/ir/stmt.h"
#include "baton/tir/transform/prim_func_pass.h"
#include "baton/transform/pass.h"
#include "baton/transform/pass_context.h"
#include "baton/transform/pass_registry.h"

namespace baton::tir {
namespace {

class AccessLowerer final : public Rewriter {
 public:
  const absl::Status& status() const { return status_; }

 protected:
  Stmt VisitAllocate(const AllocateNode* node) override {
    const MemoryScope scope(node->var()->scope());
    if (!scope.tag.empty() && scope.tag != ".dyn" && status_.ok()) {
      status_ =
          ErrorAt(node->span(),
                  absl::StrCat("there is no description of the memory scope ",
                               node->var()->scope()));
    }
    return Rewriter::VisitAllocate(node);
  }
  PrimExpr VisitCall(const CallNode* node) override {
    PrimExpr result = Rewriter::VisitCall(node);
    const auto* call = result.As<CallNode>();
    if (call->op() != BATON_OP("tir.tvm_access_ptr") ||
        call->args().size() != 5) {
      return result;
    }
    const auto* pointer = call->args()[1].As<VarNode>();
    if (pointer == nullptr) return result;
    const DType dtype = call->args()[0].dtype();
    PrimExpr offset = call->args()[2];
    if (dtype.lanes() != 1) {
      offset = Mul(offset, MakeConst(offset.dtype(), dtype.lanes()));
      const PrimExpr stride = MakeConst(offset.dtype(), 1);
      offset = Ramp(offset, stride, dtype.lanes());
    }
    BufferNode::Parts parts;
    parts.name = pointer->name();
    parts.data = Var(pointer);
    parts.dtype = WithLanes(dtype, 1);
    parts.shape = {Add(offset, MakeConst(offset.dtype(), 1))};
    parts.elem_offset = IntImm(kInt32, 0);
    return Call(kHandle, BATON_OP("tir.address_of"),
                {BufferLoad(Buffer(std::move(parts)), {offset})}, call->span());
  }

 private:
  absl::Status status_;
};

}  // namespace

Pass LowerDeviceStorageAccessInfo() {
  return CreatePrimFuncPass(
      [](PrimFunc function, const IRModule& /*module*/,
         const PassContext& /*context*/) -> absl::StatusOr<PrimFunc> {
        AccessLowerer lowerer;
        PrimFunc result = lowerer.RewriteBody(function);
        if (!lowerer.status().ok()) return lowerer.status();
        return result;
      },
      {.name = "tir.LowerDeviceStorageAccessInfo",
       .doc = "Makes pointers into memory addresses of elements.",
       .idempotent = true});
}
BATON_REGISTER_PASS_AS("tir.LowerDeviceStorageAccessInfo",
                       LowerDeviceStorageAccessInfo);

}  // namespace baton::tir
