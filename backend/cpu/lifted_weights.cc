#include "baton/backend/cpu/lifted_weights.h"

#include <cstddef>
#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/string_view.h"
#include "absl/types/span.h"
#include "baton/backend/cpu/shared_weights.h"
#include "baton/base/hash_table.h"
#include "baton/base/status_macros.h"
#include "baton/base/tensor.h"
#include "baton/ir/module.h"
#include "baton/ir/type.h"
#include "baton/relay/bind.h"
#include "baton/relay/ir/expr.h"
#include "baton/relay/ir/infer_type.h"
#include "baton/relay/ir/visit.h"

namespace baton::cpu {
namespace {

// Smaller weights are not worth a parameter.
constexpr int64_t kLeastBytes = 4096;

// How often nodes refer to a constant.
struct Uses {
  int64_t all = 0;
  int64_t as_weight = 0;  // of calls outside of functions within the function
};
using UsesOf = FlatHashMap<const void*, Uses>;  // by the address of elements

bool IsCandidate(const Tensor& tensor) {
  return tensor.byte_size() >= kLeastBytes;
}

// The weight of a convolution or product; null for none, and for a convolution
// of few channels, whose packed form depends on where its operand is.
const Tensor* WeightOf(const CallNode& call) {
  constexpr int64_t kBlock = 16;
  const auto* op = call.op().As<OpNode>();
  if (op == nullptr || call.args().size() != 2) return nullptr;
  const auto* constant = call.args()[1].As<ConstantNode>();
  if (constant == nullptr) return nullptr;
  const absl::string_view name = op->name();
  const bool is_conv = name == "nn.conv2d" || name == "nn.conv1d";
  if (!is_conv && name != "nn.dense" && name != "nn.matmul") return nullptr;
  const Tensor& weight = constant->value();
  if (is_conv && (weight.rank() < 2 || weight.shape()[1] < kBlock)) {
    return nullptr;
  }
  return IsCandidate(weight) ? &weight : nullptr;
}

void CountAll(const Expr& root, UsesOf& uses) {
  PostOrderVisit(root, [&uses](const ExprNode* node) {
    ForEachChild(node, [&uses](const Expr& child) {
      const auto* constant = child.As<ConstantNode>();
      if (constant != nullptr && IsCandidate(constant->value())) {
        ++uses[constant->value().data()].all;
      }
    });
  });
}

void CountWeights(const Function& function, UsesOf& uses) {
  PostOrderVisit(
      function->body(),
      [](const ExprNode* node) { return node->kind() != ExprKind::kFunction; },
      [&uses](const ExprNode* node) {
        if (node->kind() != ExprKind::kCall) return;
        const Tensor* weight = WeightOf(*static_cast<const CallNode*>(node));
        if (weight != nullptr) ++uses[weight->data()].as_weight;
      });
}

class WeightLifter final : public ExprMutator {
 public:
  WeightLifter(const UsesOf& uses, SharedWeights& shared)
      : uses_(uses), shared_(shared) {}

  LiftedWeights TakeLifted() && { return std::move(lifted_); }

 protected:
  Expr VisitConstant(const Constant& constant) override {
    const Tensor& tensor = constant->value();
    if (!IsCandidate(tensor)) return constant;
    const auto [known, is_new] = vars_.emplace(tensor.data(), Expr());
    if (is_new) {
      const auto found = uses_.find(tensor.data());
      if (found != uses_.end() && found->second.all > 0 &&
          found->second.all == found->second.as_weight) {
        absl::StatusOr<Tensor> packed = shared_.ReplaceByPacked(tensor);
        if (!packed.ok()) return Fail(packed.status());
        if (packed->data() != tensor.data()) {
          const Var var(absl::StrCat("weight.", lifted_.size()),
                        TensorType::Of(tensor.shape(), tensor.dtype()));
          lifted_.emplace_back(var, *std::move(packed));
          known->second = var;
        }
      }
    }
    return known->second.defined() ? known->second : Expr(constant);
  }

 private:
  const UsesOf& uses_;
  SharedWeights& shared_;
  FlatHashMap<const void*, Expr> vars_;
  LiftedWeights lifted_;
};

Function WithParams(const Function& function, std::vector<Var> params,
                    Expr body) {
  return Function(
      std::move(params), std::move(body), Type(),
      {function->type_params().begin(), function->type_params().end()},
      function->attrs());
}

}  // namespace

absl::StatusOr<LiftedWeights> LiftWeights(const std::string& function,
                                          SharedWeights& shared,
                                          IRModule& module) {
  BATON_ASSIGN_OR_RETURN(const Function main,
                         module.Lookup<Function>(function));
  UsesOf uses;
  for (const auto& definition : module.functions<Function>()) {
    CountAll(definition.function, uses);
  }
  CountWeights(main, uses);
  WeightLifter lifter(uses, shared);
  BATON_ASSIGN_OR_RETURN(Expr body, lifter.Mutate(main->body()));
  LiftedWeights lifted = std::move(lifter).TakeLifted();
  std::vector<Var> params(main->params().begin(), main->params().end());
  for (const auto& [var, tensor] : lifted) params.push_back(var);
  module.Set(function, WithParams(main, std::move(params), std::move(body)));
  return lifted;
}

absl::StatusOr<IRModule> BindWeights(const std::string& function,
                                     const LiftedWeights& weights,
                                     IRModule module) {
  if (weights.empty()) return module;
  BATON_ASSIGN_OR_RETURN(const Function main,
                         module.Lookup<Function>(function));
  // Passes may have made parameters anew.
  FlatHashMap<const VarNode*, Expr> values;
  const absl::Span<const Var> params = main->params();
  for (size_t i = 0; i < weights.size(); ++i) {
    const size_t at = params.size() - weights.size() + i;
    if (params.size() < weights.size() ||
        params[at]->name() != weights[i].first->name()) {
      return absl::InternalError("a pass changed the parameters of weights");
    }
    values.emplace(params[at].get(), Constant(weights[i].second));
  }
  module.Set(function, relay::Bind(main, values));
  return InferTypes(module);
}

}  // namespace baton::cpu
