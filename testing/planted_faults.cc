// Passes with typical mistakes of compilers, for tests of triage. Each looks
// like an optimization and is wrong in one place.

#include <cmath>
#include <cstdint>
#include <cstdlib>
#include <ctime>
#include <functional>
#include <string>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "baton/base/attr_value.h"
#include "baton/base/hash_table.h"
#include "baton/base/tensor.h"
#include "baton/ir/attrs.h"
#include "baton/ir/module.h"
#include "baton/ir/op.h"
#include "baton/ir/pass_log.h"
#include "baton/ir/rewrite_gate.h"
#include "baton/ir/type.h"
#include "baton/relay/ir/expr.h"
#include "baton/relay/ir/visit.h"
#include "baton/relay/transform/function_pass.h"
#include "baton/transform/module_pass.h"
#include "baton/transform/pass.h"
#include "baton/transform/pass_context.h"
#include "baton/transform/pass_registry.h"

namespace baton {
namespace {

using relay::Call;
using relay::CallNode;
using relay::CreateFunctionPass;
using relay::ExprMutator;
using relay::Function;

// Returns the replacement of a call, or the call itself. The operands of `call`
// are already rewritten; `original` has types.
using RewriteCall = std::function<Expr(const CallNode* original, Call call)>;

class CallRewriter final : public ExprMutator {
 public:
  explicit CallRewriter(const RewriteCall& rewrite) : rewrite_(rewrite) {}

 protected:
  Expr VisitCall(const CallNode* original, Call call) override {
    const Expr result = rewrite_(original, call);
    return result == call || MayRewrite() ? result : call;
  }

 private:
  const RewriteCall& rewrite_;
};

Pass RewriteCalls(std::string name, RewriteCall rewrite,
                  std::vector<std::string> required = {"InferType"}) {
  return CreateFunctionPass(
      [rewrite = std::move(rewrite)](
          const Function& function, const IRModule& /*module*/,
          const PassContext& /*context*/) -> absl::StatusOr<Function> {
        return CallRewriter(rewrite).MutateFunction(function);
      },
      {.name = std::move(name), .required = std::move(required)});
}

Op Named(absl::string_view name) { return Op::Find(name); }

Expr Apply(absl::string_view op, std::vector<Expr> args, Attrs attrs = {}) {
  return Call(Named(op), args, std::move(attrs));
}

bool Calls(const Expr& expr, absl::string_view op) {
  return relay::IsCallTo(expr, Named(op));
}

// `call` with other values of its attributes.
Expr WithAttrs(const Call& call, const AttrMap& changes) {
  AttrMap values = call->attrs()->fields().NonDefault(call->attrs()->object());
  for (const auto& change : changes) {
    std::erase_if(
        values, [&](const auto& entry) { return entry.first == change.first; });
    values.push_back(change);
  }
  absl::StatusOr<Attrs> attrs = call->attrs()->type().FromValues(values);
  if (!attrs.ok()) return call;
  return Call(call->op(), call->args(), *std::move(attrs));
}

Expr ZerosLike(const Expr& expr) { return Apply("zeros_like", {expr}); }

// The second operand is forgotten.
Pass AddFirstOperandTwice() {
  return RewriteCalls("AddFirstOperandTwice",
                      [](const CallNode*, Call call) -> Expr {
                        if (!Calls(call, "add")) return call;
                        return Apply("add", {call->arg(0), call->arg(0)});
                      });
}
BATON_REGISTER_PASS(AddFirstOperandTwice);

// Subtraction is taken to be commutative.
Pass SwapSubtract() {
  return RewriteCalls("SwapSubtract",
                      [](const CallNode* before, Call call) -> Expr {
                        if (!Calls(call, "subtract")) return call;
                        LogRemark({.kind = RemarkKind::kPassed,
                                   .node = Expr(before),
                                   .reason = "its operands are swapped"});
                        return Apply("subtract", {call->arg(1), call->arg(0)});
                      });
}
BATON_REGISTER_PASS(SwapSubtract);

// The axis is lost.
Pass SoftmaxOverFirstAxis() {
  return RewriteCalls("SoftmaxOverFirstAxis",
                      [](const CallNode*, Call call) -> Expr {
                        if (!Calls(call, "nn.softmax")) return call;
                        return WithAttrs(call, {{"axis", 0}});
                      });
}
BATON_REGISTER_PASS(SoftmaxOverFirstAxis);

// Numbers are folded as integers.
Pass FoldAsInteger() {
  return RewriteCalls("FoldAsInteger", [](const CallNode*, Call call) -> Expr {
    if (!Calls(call, "multiply")) return call;
    const auto* constant = call->arg(1).As<relay::ConstantNode>();
    if (constant == nullptr || !constant->is_scalar()) return call;
    const Tensor& value = constant->value();
    return Apply(
        "multiply",
        {call->arg(0), relay::Constant(Tensor::ScalarOf(
                           value.dtype(), std::trunc(value.AtAsDouble(0))))});
  });
}
BATON_REGISTER_PASS(FoldAsInteger);

// Numbers are folded as float64.
Pass FoldAsDouble() {
  return RewriteCalls("FoldAsDouble", [](const CallNode*, Call call) -> Expr {
    if (!Calls(call, "multiply")) return call;
    const auto* constant = call->arg(1).As<relay::ConstantNode>();
    if (constant == nullptr || !constant->is_scalar()) return call;
    return Apply("multiply",
                 {call->arg(0),
                  relay::Constant(Tensor::ScalarOf(
                      DType::Float(64), constant->value().AtAsDouble(0)))});
  });
}
BATON_REGISTER_PASS(FoldAsDouble);

class WriteLoser final : public ExprMutator {
 protected:
  Expr VisitLet(const relay::LetNode* /*original*/, relay::Let let) override {
    return let->value().Is<relay::RefWriteNode>() ? let->body() : Expr(let);
  }
};

// Treats unread values as dead; a write has no result.
Pass DropUnusedWrites() {
  return CreateFunctionPass(
      [](const Function& function, const IRModule& /*module*/,
         const PassContext& /*context*/) -> absl::StatusOr<Function> {
        return WriteLoser().MutateFunction(function);
      },
      {.name = "DropUnusedWrites"});
}
BATON_REGISTER_PASS(DropUnusedWrites);

// -1 is taken for the extent that is left, which is the other one.
Pass FlattenByReshape() {
  return RewriteCalls(
      "FlattenByReshape", [](const CallNode* original, Call call) -> Expr {
        if (!Calls(call, "nn.batch_flatten")) return call;
        const auto* type = original->arg(0)->type().As<TensorTypeNode>();
        if (type == nullptr || !type->dim(0).is_const()) return call;
        Attrs attrs = *Named("reshape")->attrs_type()->FromValues(
            {{"newshape",
              AttrList{AttrValue(-1), AttrValue(type->dim(0).value())}}});
        return Apply("reshape", {call->arg(0)}, std::move(attrs));
      });
}
BATON_REGISTER_PASS(FlattenByReshape);

// Nothing differs from itself, NaN apart.
Pass FoldSelfComparison() {
  return RewriteCalls("FoldSelfComparison",
                      [](const CallNode*, Call call) -> Expr {
                        if (!Calls(call, "not_equal") ||
                            call->arg(0).get() != call->arg(1).get()) {
                          return call;
                        }
                        return ZerosLike(call);
                      });
}
BATON_REGISTER_PASS(FoldSelfComparison);

// Assumes that what is rectified has a name.
Pass CrashOnReluOfAdd() {
  return RewriteCalls(
      "CrashOnReluOfAdd", [](const CallNode*, Call call) -> Expr {
        if (Calls(call, "nn.relu") && Calls(call->arg(0), "add")) {
          std::abort();
        }
        return call;
      });
}
BATON_REGISTER_PASS(CrashOnReluOfAdd);

// Looks for a fixed point where there is none.
Pass HangOnBiasOfDense() {
  return RewriteCalls(
      "HangOnBiasOfDense", [](const CallNode*, Call call) -> Expr {
        if (!Calls(call, "nn.bias_add") || !Calls(call->arg(0), "nn.dense")) {
          return call;
        }
        while (std::clock() >= 0) {
        }
        return call;
      });
}
BATON_REGISTER_PASS(HangOnBiasOfDense);

// Right, but slow: it takes a second for seven calls.
Pass SpinAtCalls() {
  return RewriteCalls("SpinAtCalls", [](const CallNode*, Call call) -> Expr {
    const std::clock_t end = std::clock() + CLOCKS_PER_SEC / 7;
    while (std::clock() < end) {
    }
    return call;
  });
}
BATON_REGISTER_PASS(SpinAtCalls);

// These two undo each other's work.
Pass ReluToMaximum() {
  return RewriteCalls("ReluToMaximum", [](const CallNode*, Call call) -> Expr {
    if (!Calls(call, "nn.relu")) return call;
    return Apply("maximum",
                 {call->arg(0), relay::Constant(Tensor::Scalar(0.0f))});
  });
}
BATON_REGISTER_PASS(ReluToMaximum);

Pass MaximumToRelu() {
  return RewriteCalls("MaximumToRelu", [](const CallNode*, Call call) -> Expr {
    if (!Calls(call, "maximum") || !call->arg(1).Is<relay::ConstantNode>()) {
      return call;
    }
    return Apply("nn.relu", {call->arg(0)});
  });
}
BATON_REGISTER_PASS(MaximumToRelu);

// A transpose is taken for a new shape.
Pass TransposeByReshape() {
  return RewriteCalls(
      "TransposeByReshape", [](const CallNode* original, Call call) -> Expr {
        const auto* type = original->type().As<TensorTypeNode>();
        if (!Calls(call, "transpose") || type == nullptr) return call;
        AttrList shape;
        for (const Dim& dim : type->shape()) shape.emplace_back(dim.value());
        return Apply("reshape", {call->arg(0)},
                     *Named("reshape")->attrs_type()->FromValues(
                         {{"newshape", std::move(shape)}}));
      });
}
BATON_REGISTER_PASS(TransposeByReshape);

// Strides are lost.
Pass DropStrides() {
  return RewriteCalls("DropStrides", [](const CallNode*, Call call) -> Expr {
    if (!Calls(call, "nn.conv2d")) return call;
    return WithAttrs(call, {{"strides", AttrList{AttrValue(1), AttrValue(1)}}});
  });
}
BATON_REGISTER_PASS(DropStrides);

// The wrong kind of pooling.
Pass PoolByMaximum() {
  return RewriteCalls("PoolByMaximum", [](const CallNode*, Call call) -> Expr {
    if (!Calls(call, "nn.global_avg_pool2d")) return call;
    return Apply("nn.global_max_pool2d", {call->arg(0)});
  });
}
BATON_REGISTER_PASS(PoolByMaximum);

// The wrong one of several results.
Pass NextField() {
  class Shifter final : public ExprMutator {
   protected:
    Expr VisitTupleGetItem(const relay::TupleGetItemNode* original,
                           relay::TupleGetItem item) override {
      const auto* type = original->tuple()->type().As<TupleTypeNode>();
      if (!Calls(item->tuple(), "split") || type == nullptr) return item;
      return relay::TupleGetItem(
          item->tuple(),
          (item->index() + 1) % static_cast<int>(type->fields().size()));
    }
  };
  return CreateFunctionPass(
      [](const Function& function, const IRModule& /*module*/,
         const PassContext& /*context*/) -> absl::StatusOr<Function> {
        return Shifter().MutateFunction(function);
      },
      {.name = "NextField", .required = {"InferType"}});
}
BATON_REGISTER_PASS(NextField);

// An epsilon of its own.
Pass LargeEpsilon() {
  return RewriteCalls("LargeEpsilon", [](const CallNode*, Call call) -> Expr {
    if (!Calls(call, "nn.batch_norm")) return call;
    return WithAttrs(call, {{"epsilon", 0.5}});
  });
}
BATON_REGISTER_PASS(LargeEpsilon);

// a * b + c is taken for a * (b + c).
Pass DistributeWrongly() {
  return RewriteCalls(
      "DistributeWrongly", [](const CallNode*, Call call) -> Expr {
        if (!Calls(call, "add") || !Calls(call->arg(0), "multiply")) {
          return call;
        }
        const auto* product = call->arg(0).As<CallNode>();
        return Apply(
            "multiply",
            {product->arg(0), Apply("add", {product->arg(1), call->arg(1)})});
      });
}
BATON_REGISTER_PASS(DistributeWrongly);

// Calls of one operator on the same operands are the same call.
Pass MergeWithoutAttributes() {
  class Merger final : public ExprMutator {
   protected:
    Expr VisitCall(const CallNode* /*original*/, Call call) override {
      if (!Calls(call, "strided_slice")) return call;
      Expr& first = first_[call->arg(0).get()];
      if (!first.defined()) first = call;
      return first;
    }

   private:
    FlatHashMap<const ExprNode*, Expr> first_;
  };
  return CreateFunctionPass(
      [](const Function& function, const IRModule& /*module*/,
         const PassContext& /*context*/) -> absl::StatusOr<Function> {
        return Merger().MutateFunction(function);
      },
      {.name = "MergeWithoutAttributes"});
}
BATON_REGISTER_PASS(MergeWithoutAttributes);

// A bias is doubled until the number of its elements is even: the condition is
// the wrong way round.
Pass PadBias() {
  class Padder final : public ExprMutator {
   public:
    absl::Status status;

   protected:
    Expr VisitCall(const CallNode* original, Call call) override {
      if (!Calls(call, "nn.bias_add")) return call;
      const auto* type = original->arg(1)->type().As<TensorTypeNode>();
      if (type == nullptr || !type->dim(0).is_const()) return call;
      constexpr int64_t kEnough = int64_t{1} << 40;
      int64_t size = type->dim(0).value();
      while (size % 2 == 0 && size < kEnough) size *= 2;
      status.Update(Tensor::Zeros(type->dtype(), {size}).status());
      return call;
    }
  };
  return CreateFunctionPass(
      [](const Function& function, const IRModule& /*module*/,
         const PassContext& /*context*/) -> absl::StatusOr<Function> {
        Padder padder;
        absl::StatusOr<Function> result = padder.MutateFunction(function);
        if (!padder.status.ok()) return padder.status;
        return result;
      },
      {.name = "PadBias", .required = {"InferType"}});
}
BATON_REGISTER_PASS(PadBias);

// A parameter gets lost.
Pass UnbindParameter() {
  return CreateModulePass(
      [](const IRModule& module,
         const PassContext& /*context*/) -> absl::StatusOr<IRModule> {
        const Function main = module.Find<Function>("main");
        if (main->params().empty()) return module;
        IRModule result = module;
        result.Set("main",
                   Function({main->params().begin() + 1, main->params().end()},
                            main->body(), main->result_type()));
        return result;
      },
      {.name = "UnbindParameter"});
}
BATON_REGISTER_PASS(UnbindParameter);

}  // namespace
}  // namespace baton
