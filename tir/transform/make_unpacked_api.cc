#include "baton/tir/transform/make_unpacked_api.h"

#include <cstddef>
#include <optional>
#include <utility>
#include <vector>

#include "absl/status/statusor.h"
#include "baton/base/dtype.h"
#include "baton/base/status_macros.h"
#include "baton/ir/expr.h"
#include "baton/ir/module.h"
#include "baton/ir/op.h"
#include "baton/tir/ir/expr.h"
#include "baton/tir/ir/function.h"
#include "baton/tir/ir/functor.h"
#include "baton/tir/ir/stmt.h"
#include "baton/tir/transform/func_target.h"
#include "baton/tir/transform/with_parts.h"
#include "baton/transform/module_pass.h"
#include "baton/transform/pass.h"
#include "baton/transform/pass_context.h"
#include "baton/transform/pass_registry.h"

namespace baton::tir {
namespace {

// Calls of functions that are not private return an error code and take
// pointers.
class CallRewriter final : public Rewriter {
 public:
  explicit CallRewriter(const IRModule& module) : module_(module) {}

 protected:
  PrimExpr VisitCall(const CallNode* node) override {
    const PrimExpr result = Rewriter::VisitCall(node);
    const auto* call = result.As<CallNode>();
    const auto* var = call->op().As<GlobalVarNode>();
    if (var == nullptr) return result;
    const PrimFunc callee = module_.Find<PrimFunc>(var->name());
    if (!callee.defined() || !GlobalSymbolOf(callee).has_value()) return result;
    std::vector<PrimExpr> args(call->args().begin(), call->args().end());
    bool changed = call->dtype() != kInt32;
    for (PrimExpr& arg : args) {
      const auto* array = arg.As<CallNode>();
      if (array == nullptr ||
          array->op() != BATON_OP("tir.tvm_stack_make_array") ||
          array->args().empty()) {
        continue;
      }
      arg = PrimExpr(array->args()[0]);
      changed = true;
    }
    if (!changed) return result;
    return Call(kInt32, call->op(), std::move(args), call->span());
  }

 private:
  const IRModule& module_;
};

absl::StatusOr<PrimFunc> Unpacked(const PrimFunc& function) {
  BATON_ASSIGN_OR_RETURN(const std::optional<TargetAndHost> targets,
                         TargetsOfLinked(function));
  if (!targets.has_value()) return function;
  PrimFuncNode::Parts parts = function->parts();
  for (size_t i = 0; i < parts.params.size(); ++i) {
    const Buffer buffer = function->BufferOf(static_cast<int>(i));
    if (buffer.defined()) parts.params[i] = buffer->data();
  }
  std::vector<Stmt> seq;
  AppendFlattened(function->body(), seq);
  if (seq.empty()) seq.push_back(function->body());
  seq.push_back(
      Evaluate(Call(kInt32, BATON_OP("tir.ret"), {IntImm(kInt32, 0)})));
  parts.body = MakeSeq(std::move(seq));
  if (!parts.buffers.empty()) {
    const StringImm device("default");
    parts.body =
        AttrStmt(device, "device_type",
                 IntImm(kInt32, DeviceTypeOf(targets->target)), parts.body);
    parts.body = AttrStmt(device, "device_id", IntImm(kInt32, 0), parts.body);
  }
  parts.buffers.clear();
  parts.ret_type = kInt32;
  return WithTarget(WithParts(function, std::move(parts)), targets->host);
}

}  // namespace

Pass MakeUnpackedAPI() {
  return CreateModulePass(
      [](IRModule module,
         const PassContext& /*context*/) -> absl::StatusOr<IRModule> {
        std::vector<PrimFunc> functions;
        for (const auto& definition : module.functions<PrimFunc>()) {
          BATON_ASSIGN_OR_RETURN(
              PrimFunc unpacked,
              Unpacked(CallRewriter(module).RewriteBody(definition.function)));
          functions.push_back(std::move(unpacked));
        }
        return module.WithFunctions(functions);
      },
      {.name = "tir.MakeUnpackedAPI",
       .doc = "Passes buffers of parameters as pointers to their data.",
       .idempotent = true});
}
BATON_REGISTER_PASS_AS("tir.MakeUnpackedAPI", MakeUnpackedAPI);

}  // namespace baton::tir
