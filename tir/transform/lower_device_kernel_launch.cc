#include "baton/tir/transform/lower_device_kernel_launch.h"

#include <cstddef>
#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/str_cat.h"
#include "baton/base/attr_value.h"
#include "baton/base/dtype.h"
#include "baton/base/hash_table.h"
#include "baton/base/status_macros.h"
#include "baton/ir/error_at.h"
#include "baton/ir/expr.h"
#include "baton/ir/module.h"
#include "baton/ir/node_map.h"
#include "baton/ir/op.h"
#include "baton/ir/span.h"
#include "baton/tir/analysis/scopes.h"
#include "baton/tir/ir/expr.h"
#include "baton/tir/ir/fold.h"
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

// The parts of a function that its launches refer to.
struct Kernel {
  PrimFunc function;
  Target target;
  std::string symbol;
  std::vector<std::string> launch_params;
  std::vector<PrimExpr> launch_args;  // by the parameters of the function
  bool is_launched = false;
  bool is_called = false;
};
using Kernels = FlatHashMap<std::string, Kernel>;

class LaunchFinder final : public Visitor {
 public:
  explicit LaunchFinder(Kernel& kernel) : kernel_(kernel) {}

  absl::Status Run() {
    Visit(kernel_.function->body());
    if (dynamic_size_.defined()) {
      // It must be the last one.
      kernel_.launch_params.push_back("tir.use_dyn_shared_memory");
      kernel_.launch_args.push_back(dynamic_size_);
    }
    return status_;
  }

 protected:
  void VisitAttrStmt(const AttrStmtNode* node) override {
    const auto* thread = node->node().As<IterVarNode>();
    if (node->key() == "thread_extent" && thread != nullptr &&
        threads_.Insert(thread)) {
      // A thread that is bound again has the extent of its last binding.
      const std::string& tag = thread->thread_tag();
      kernel_.launch_params.push_back(tag);
      kernel_.launch_args.push_back(node->value());
      for (size_t i = 0; i < kernel_.launch_params.size(); ++i) {
        if (kernel_.launch_params[i] == tag) {
          kernel_.launch_args[i] = node->value();
        }
      }
    }
    Visitor::VisitAttrStmt(node);
  }
  void VisitAllocate(const AllocateNode* node) override {
    const MemoryScope scope(node->var()->scope());
    if (scope.rank == MemoryRank::kShared && scope.tag == ".dyn") {
      if (dynamic_size_.defined() && status_.ok()) {
        status_ =
            ErrorAt(node->span(),
                    "a kernel may allocate dynamic shared memory once only");
      }
      PrimExpr size = IntImm(kInt32, 1);
      for (const PrimExpr& extent : node->extents()) size = Mul(size, extent);
      dynamic_size_ = Mul(size, IntImm(kInt32, node->dtype().bytes()));
    }
    Visitor::VisitAllocate(node);
  }

 private:
  Kernel& kernel_;
  NodeSet threads_;
  PrimExpr dynamic_size_;
  absl::Status status_;
};

class CallLowerer final : public Rewriter {
 public:
  CallLowerer(Kernels& kernels, const Target& caller)
      : kernels_(kernels), caller_(caller) {}
  const absl::Status& status() const { return status_; }

 protected:
  PrimExpr VisitCall(const CallNode* node) override {
    const PrimExpr result = Rewriter::VisitCall(node);
    const auto* call = result.As<CallNode>();
    const auto* var = call->op().As<GlobalVarNode>();
    if (var == nullptr) return result;
    const auto found = kernels_.find(var->name());
    if (found == kernels_.end()) {
      Fail(node->span(),
           absl::StrCat(
               "a call of ", var->name(),
               ", which is no PrimFunc of the module, is not supported"));
      return result;
    }
    Kernel& kernel = found->second;
    if (EqualTargets(caller_, kernel.target)) return result;
    const bool is_same_device =
        DeviceTypeOf(caller_) == DeviceTypeOf(kernel.target);
    std::vector<PrimExpr> args = {
        StringImm(is_same_device ? var->name() : kernel.symbol)};
    args.insert(args.end(), call->args().begin(), call->args().end());
    if (is_same_device) {
      kernel.is_called = true;
      return Call(call->dtype(), BATON_OP("tir.call_extern"), std::move(args),
                  call->span());
    }
    const auto params = kernel.function->params();
    if (params.size() != call->args().size()) {
      Fail(node->span(),
           absl::StrCat("call of ", var->name(), " with ", call->args().size(),
                        " arguments; it has ", params.size(), " parameters"));
      return result;
    }
    kernel.is_launched = true;
    NodeMap<PrimExpr> values;
    for (size_t i = 0; i < params.size(); ++i) {
      values[params[i].get()] = call->args()[i];
    }
    for (const PrimExpr& arg : kernel.launch_args) {
      args.push_back(Substitute(arg, values));
    }
    const DType dtype = call->dtype().is_void() ? kInt32 : call->dtype();
    return Call(dtype, BATON_OP("tir.tvm_call_packed"), std::move(args),
                call->span());
  }

 private:
  void Fail(const Span& span, std::string message) {
    if (status_.ok()) status_ = ErrorAt(span, std::move(message));
  }

  Kernels& kernels_;
  const Target caller_;
  absl::Status status_;
};

// Removes `T.ret(0)`.
class ReturnRemover final : public Rewriter {
 public:
  const absl::Status& status() const { return status_; }

 protected:
  Stmt VisitEvaluate(const EvaluateNode* node) override {
    const auto* call = node->value().As<CallNode>();
    if (call == nullptr || call->op() != BATON_OP("tir.ret")) {
      return Rewriter::VisitEvaluate(node);
    }
    if ((call->args().size() != 1 || !IsZero(call->args()[0])) &&
        status_.ok()) {
      status_ = ErrorAt(node->span(), "a kernel can return nothing but 0");
    }
    return Evaluate(IntImm(kInt32, 0));
  }

 private:
  absl::Status status_;
};

absl::StatusOr<PrimFunc> WithAttributes(const std::string& name,
                                        PrimFunc function,
                                        const Kernel& kernel) {
  if (kernel.is_launched && kernel.is_called) {
    return ErrorAt(function->span(),
                   absl::StrCat("function ", name,
                                " is launched and called directly; that is not "
                                "supported"));
  }
  if (kernel.is_launched || kernel.is_called) {
    function = WithAttr(function, kIsGlobalFunc, true);
  }
  if (kernel.is_launched) {
    ReturnRemover remover;
    PrimFuncNode::Parts parts = function->parts();
    parts.body = remover.Rewrite(function->body());
    if (!remover.status().ok()) return remover.status();
    parts.ret_type = DType();
    function = WithParts(function, std::move(parts));
    AttrList params;
    for (const std::string& param : kernel.launch_params) {
      params.emplace_back(param);
    }
    function = WithAttr(function, kCallingConvAttr,
                        static_cast<int64_t>(kDeviceKernelLaunch));
    function = WithAttr(function, "tir.kernel_launch_params", params);
    function = WithAttr(function, kGlobalSymbol, kernel.symbol);
  } else if (kernel.is_called && !GlobalSymbolOf(function).has_value()) {
    function = WithAttr(function, kGlobalSymbol, name);
  }
  return function;
}

absl::StatusOr<IRModule> LowerLaunches(const IRModule& module) {
  Kernels kernels;
  for (const auto& [var, function] : module.functions<PrimFunc>()) {
    Kernel kernel;
    kernel.function = function;
    const Target target = TargetOf(function);
    if (!target.defined()) {
      return ErrorAt(function->span(),
                     absl::StrCat("function ", var->name(),
                                  " has no attribute `target`: run "
                                  "tir.BindTarget first"));
    }
    kernel.target = WithoutHost(target);
    kernel.symbol = GlobalSymbolOf(function).value_or(var->name());
    BATON_RETURN_IF_ERROR(LaunchFinder(kernel).Run());
    kernels.try_emplace(var->name(), std::move(kernel));
  }
  IRModule result = module;
  for (const auto& [var, function] : module.functions<PrimFunc>()) {
    CallLowerer lowerer(kernels, kernels.find(var->name())->second.target);
    PrimFunc lowered = lowerer.RewriteBody(function);
    BATON_RETURN_IF_ERROR(lowerer.status());
    if (lowered != function) result.Set(var, std::move(lowered));
  }
  for (const auto& [var, function] : result.functions<PrimFunc>()) {
    const Kernel& kernel = kernels.find(var->name())->second;
    if (!kernel.is_launched && !kernel.is_called) continue;
    BATON_ASSIGN_OR_RETURN(PrimFunc changed,
                           WithAttributes(var->name(), function, kernel));
    result.Set(var, std::move(changed));
  }
  return result;
}

}  // namespace

Pass LowerDeviceKernelLaunch() {
  return CreateModulePass(
      [](IRModule module, const PassContext& /*context*/) {
        return LowerLaunches(module);
      },
      {.name = "tir.LowerDeviceKernelLaunch",
       .doc = "Calls functions of other devices through the runtime.",
       .idempotent = true});
}
BATON_REGISTER_PASS_AS("tir.LowerDeviceKernelLaunch", LowerDeviceKernelLaunch);

}  // namespace baton::tir
