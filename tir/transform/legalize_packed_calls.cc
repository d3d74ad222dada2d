#include "baton/tir/transform/legalize_packed_calls.h"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/str_cat.h"
#include "baton/base/dtype.h"
#include "baton/base/hash_table.h"
#include "baton/ir/error_at.h"
#include "baton/ir/module.h"
#include "baton/ir/op.h"
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

// An array over the memory of `argument`, as `buffer` describes it; null: with
// no dimension and no data type.
PrimExpr MakeArray(const PrimExpr& argument, const Buffer& buffer) {
  std::vector<PrimExpr> shape;
  DType dtype = kHandle;
  PrimExpr offset = IntImm(DType::UInt(64), 0);
  if (buffer.defined()) {
    shape.assign(buffer->shape().begin(), buffer->shape().end());
    dtype = buffer->dtype();
    offset = buffer->elem_offset();
  }
  const auto dimensions = static_cast<int64_t>(shape.size());
  return Call(
      kHandle, BATON_OP("tir.tvm_stack_make_array"),
      {argument,
       Call(kHandle, BATON_OP("tir.tvm_stack_make_shape"), std::move(shape)),
       Call(kHandle, BATON_OP("tir.reinterpret"), {IntImm(DType::UInt(64), 0)}),
       IntImm(DType::UInt(32), dimensions), Cast(dtype, IntImm(kInt32, 0)),
       std::move(offset)});
}

class CallLegalizer final : public Rewriter {
 public:
  CallLegalizer(const IRModule& module, const PrimFunc& function)
      : module_(module) {
    for (const Var& param : function->params()) params_.insert(param.get());
  }
  const absl::Status& status() const { return status_; }

 protected:
  Stmt VisitEvaluate(const EvaluateNode* node) override {
    const auto* call = node->value().As<CallNode>();
    if (call == nullptr || call->op() != BATON_OP("tir.tvm_call_cpacked")) {
      return Rewriter::VisitEvaluate(node);
    }
    std::string problem;
    PrimExpr result = Legalized(call, problem);
    if (!problem.empty()) {
      if (status_.ok()) {
        status_ = ErrorAt(node->span(), absl::StrCat("packed call: ", problem));
      }
      return Evaluate(node);
    }
    return Evaluate(std::move(result), node->span());
  }

 private:
  PrimExpr Legalized(const CallNode* call, std::string& problem) const {
    const auto old_args = call->args();
    const auto* name =
        old_args.empty() ? nullptr : old_args[0].As<StringImmNode>();
    if (name == nullptr || old_args.size() < 2) {
      problem = "expected the name of a function, arguments and a device";
      return PrimExpr(call);
    }
    if (!module_.Find(name->value()).defined()) {
      problem = absl::StrCat("no function ", name->value(), " in the module");
      return PrimExpr(call);
    }
    const auto callee = module_.Find<PrimFunc>(name->value());
    std::vector<PrimExpr> args = {old_args.front()};
    for (size_t i = 1; i + 1 < old_args.size(); ++i) {
      if (callee.defined() && i > callee->params().size()) {
        problem = absl::StrCat(name->value(), " has ", callee->params().size(),
                               " parameters");
        return PrimExpr(call);
      }
      if (params_.contains(old_args[i].As<VarNode>())) {
        args.push_back(old_args[i]);
        continue;
      }
      Buffer buffer;
      if (callee.defined()) {
        buffer = callee->BufferOf(static_cast<int>(i) - 1);
      }
      if (buffer.defined() && !HasConstantLayout(buffer)) {
        problem = absl::StrCat("the shape of parameter ", i - 1, " of ",
                               name->value(), " is not constant");
        return PrimExpr(call);
      }
      args.push_back(MakeArray(old_args[i], buffer));
    }
    args.push_back(old_args.back());
    return Call(call->dtype(), call->op(), std::move(args), call->span());
  }

  static bool HasConstantLayout(const Buffer& buffer) {
    return buffer->elem_offset().As<IntImmNode>() != nullptr &&
           std::all_of(buffer->shape().begin(), buffer->shape().end(),
                       [](const PrimExpr& extent) {
                         return extent.As<IntImmNode>() != nullptr;
                       });
  }

  const IRModule& module_;
  FlatHashSet<const VarNode*> params_;  // of the function
  absl::Status status_;
};

}  // namespace

Pass LegalizePackedCalls() {
  return CreatePrimFuncPass(
      [](PrimFunc function, const IRModule& module,
         const PassContext& /*context*/) -> absl::StatusOr<PrimFunc> {
        CallLegalizer legalizer(module, function);
        PrimFunc result = legalizer.RewriteBody(function);
        if (!legalizer.status().ok()) return legalizer.status();
        return result;
      },
      {.name = "tir.LegalizePackedCalls",
       .doc = "Gives packed calls their arguments as arrays on the stack."});
}
BATON_REGISTER_PASS_AS("tir.LegalizePackedCalls", LegalizePackedCalls);

}  // namespace baton::tir
