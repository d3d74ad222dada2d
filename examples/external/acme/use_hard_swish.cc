#include "acme/use_hard_swish.h"

#include <cstdint>
#include <optional>
#include <utility>

#include "absl/status/statusor.h"
#include "acme/hard_swish.h"
#include "baton/base/dtype.h"
#include "baton/ir/module.h"
#include "baton/ir/op.h"
#include "baton/ir/type.h"
#include "baton/relay/ir/expr.h"
#include "baton/relay/ir/visit.h"
#include "baton/relay/op/tensor/elementwise.h"
#include "baton/relay/transform/function_pass.h"
#include "baton/transform/pass.h"
#include "baton/transform/pass_context.h"
#include "baton/transform/pass_registry.h"

namespace acme {
namespace {

using baton::Call;
using baton::CallNode;
using baton::Expr;
using baton::Op;

bool IsScalar(const Expr& expr, float value) {
  const auto* constant = expr.As<baton::ConstantNode>();
  return constant != nullptr && constant->is_scalar() &&
         constant->value().dtype() == baton::DType::Float(32) &&
         *static_cast<const float*>(constant->value().data()) == value;
}

class Rewriter final : public baton::ExprMutator {
 public:
  explicit Rewriter(int64_t min_elements) : min_elements_(min_elements) {}

 protected:
  // The arguments of `call` are rewritten already; `original` has a type.
  Expr VisitCall(const CallNode* original, Call call) override {
    if (!IsLarge(original->type())) return call;
    if (IsCallTo(call, multiply_)) {
      for (const int i : {0, 1}) {
        const std::optional<Expr> gate = Sixth(call->arg(1 - i));
        if (gate.has_value() && IsGate(*gate, call->arg(i))) {
          return HardSwish(call->arg(i));
        }
      }
    }
    const std::optional<Expr> product = Sixth(call);
    if (product.has_value() && IsCallTo(*product, multiply_)) {
      const auto* factors = product->As<CallNode>();
      for (const int i : {0, 1}) {
        if (IsGate(factors->arg(1 - i), factors->arg(i))) {
          return HardSwish(factors->arg(i));
        }
      }
    }
    return call;
  }

 private:
  bool IsLarge(const baton::Type& type) const {
    const auto* tensor = type.As<baton::TensorTypeNode>();
    if (tensor == nullptr || tensor->dtype() != baton::DType::Float(32)) {
      return false;
    }
    int64_t elements = 1;
    for (const baton::Dim& dim : tensor->shape()) {
      if (!dim.is_const()) return false;
      elements *= dim.value();
    }
    return elements >= min_elements_;
  }

  // What `expr` is a sixth of.
  std::optional<Expr> Sixth(const Expr& expr) const {
    if (!IsCallTo(expr, divide_)) return std::nullopt;
    const auto* call = expr.As<CallNode>();
    if (!IsScalar(call->arg(1), 6)) return std::nullopt;
    return call->arg(0);
  }

  // Whether `expr` is clip(x + 3, 0, 6).
  bool IsGate(const Expr& expr, const Expr& x) const {
    if (!IsCallTo(expr, clip_)) return false;
    const auto* clip = expr.As<CallNode>();
    const auto* bounds = clip->attrs_as<baton::relay::ClipAttrs>();
    if (bounds == nullptr || bounds->a_min != 0 || bounds->a_max != 6 ||
        !IsCallTo(clip->arg(0), add_)) {
      return false;
    }
    const auto* sum = clip->arg(0).As<CallNode>();
    return (sum->arg(0) == x && IsScalar(sum->arg(1), 3)) ||
           (sum->arg(1) == x && IsScalar(sum->arg(0), 3));
  }

  const int64_t min_elements_;
  const Op add_ = Op::Find("add");
  const Op clip_ = Op::Find("clip");
  const Op divide_ = Op::Find("divide");
  const Op multiply_ = Op::Find("multiply");
};

}  // namespace

baton::Pass UseHardSwish(UseHardSwishOptions options) {
  return baton::CreateFunctionPass(
      [options](const baton::Function& function,
                const baton::IRModule& /*module*/,
                const baton::PassContext& /*context*/)
          -> absl::StatusOr<baton::Function> {
        return Rewriter(options.min_elements).MutateFunction(function);
      },
      {.name = "UseHardSwish",
       .opt_level = 1,
       .required = {"InferType"},
       .doc = "Uses the instruction for x * clip(x + 3, 0, 6) / 6.",
       .idempotent = true,
       .exact = false,
       .tolerance = 1e-6},
      options);
}
BATON_REGISTER_PASS(UseHardSwish);

}  // namespace acme
