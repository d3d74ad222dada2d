#include "baton/relay/transform/canonicalize_cast.h"

#include <vector>

#include "absl/algorithm/container.h"
#include "absl/container/inlined_vector.h"
#include "absl/status/statusor.h"
#include "absl/types/span.h"
#include "baton/ir/module.h"
#include "baton/ir/op.h"
#include "baton/ir/rewrite_gate.h"
#include "baton/ir/type.h"
#include "baton/relay/analysis/indexed_graph.h"
#include "baton/relay/ir/expr.h"
#include "baton/relay/op/fusion_pattern.h"
#include "baton/relay/op/tensor/elementwise.h"
#include "baton/relay/transform/function_pass.h"
#include "baton/transform/pass.h"
#include "baton/transform/pass_context.h"
#include "baton/transform/pass_registry.h"

namespace baton::relay {
namespace {

// True if the call computes element by element, with or without broadcasting.
bool IsBroadcasting(const CallNode& call) {
  const FusionPattern* pattern = FusionPatterns().Get(call.op());
  return pattern != nullptr && *pattern <= FusionPattern::kBroadcast;
}

bool IsWideningCast(const CallNode& call) {
  const auto* attrs = call.attrs_as<CastAttrs>();
  if (attrs == nullptr || call.op() != BATON_OP("cast")) return false;
  const TensorTypeNode* from = call.arg(0)->tensor_type();
  return from != nullptr && from->dtype().bits() < attrs->dtype.bits();
}

class CastCopier {
 public:
  explicit CastCopier(const IndexedGraph& graph)
      : graph_(graph), rewriter_(graph) {}

  Expr Run() {
    shared_casts_.resize(graph_.size());
    for (int i = 0; i < graph_.size(); ++i) {
      const auto* call = graph_.As<CallNode>(i);
      shared_casts_[i] =
          call != nullptr && graph_.num_uses(i) > 1 && IsWideningCast(*call);
    }
    if (!absl::c_linear_search(shared_casts_, true)) return rewriter_.Result();
    FindFirstUses();
    for (int i = 0; i < graph_.size(); ++i) Rewrite(i);
    return rewriter_.Result();
  }

 private:
  static constexpr int kNone = -1;

  // Finds the first use of each cast: a node uses a child as soon as it has
  // been walked, before the next child is.
  void FindFirstUses() {
    first_uses_.assign(graph_.size(), kNone);
    std::vector<bool> seen(graph_.size());
    struct Visit {
      int node;
      int next;
    };
    absl::InlinedVector<Visit, 64> stack = {{graph_.root(), 0}};
    while (!stack.empty()) {
      const int node = stack.back().node;
      const int next = stack.back().next++;
      const absl::Span<const int> children = graph_.children(node);
      if (next > 0) Use(node, next - 1);
      if (next == static_cast<int>(children.size())) {
        stack.pop_back();
        continue;
      }
      const int child = children[next];
      if (seen[child]) continue;
      seen[child] = true;
      stack.push_back({child, 0});
    }
  }

  // Child `k` of node `i` is used.
  void Use(int i, int k) {
    const int child = graph_.children(i)[k];
    if (!shared_casts_[child] || first_uses_[child] != kNone) return;
    const auto* call = graph_.As<CallNode>(i);
    if (call != nullptr && IsBroadcasting(*call)) {
      first_uses_[child] = graph_.first_edge(i) + k;
    }
  }

  void Rewrite(int i) {
    const auto* call = graph_.As<CallNode>(i);
    rewriter_.Rebuild(i);
    if (call == nullptr || !IsBroadcasting(*call)) return;
    absl::InlinedVector<Expr, 4> args;
    const absl::Span<const int> children = graph_.children(i);
    for (int k = 1; k < static_cast<int>(children.size()); ++k) {
      const int child = children[k];
      if (!shared_casts_[child] ||
          first_uses_[child] == graph_.first_edge(i) + k) {
        continue;
      }
      if (args.empty()) {
        const absl::Span<const Expr> now = rewriter_.Args(i);
        args.assign(now.begin(), now.end());
      }
      const Expr cast = rewriter_.Get(child);
      const auto* node = cast.As<CallNode>();
      args[k - 1] = Call(node->op(), node->args(), node->attrs(), {},
                         node->type(), node->span());
    }
    if (args.empty() || !MayRewrite()) return;
    rewriter_.Replace(i,
                      Call(call->op(), args, call->attrs(),
                           {call->type_args().begin(), call->type_args().end()},
                           call->type(), call->span()));
  }

  const IndexedGraph& graph_;
  GraphRewriter rewriter_;
  std::vector<bool> shared_casts_;
  // For a shared cast: the edge from the first call for which it is copied,
  // which keeps the cast itself.
  std::vector<int> first_uses_;
};

}  // namespace

Pass CanonicalizeCast() {
  return CreateFunctionPass(
      [](const Function& function, const IRModule& /*module*/,
         const PassContext& /*context*/) -> absl::StatusOr<Function> {
        const IndexedGraph graph(function);
        return Function(CastCopier(graph).Run().As<FunctionNode>());
      },
      {.name = "CanonicalizeCast",
       .opt_level = 3,
       .required = {"InferType"},
       .doc = "Gives each element-wise use of a widening cast a cast of its "
              "own.",
       .invalidates = {"a_normal_form"}});
}
BATON_REGISTER_PASS(CanonicalizeCast);

}  // namespace baton::relay
