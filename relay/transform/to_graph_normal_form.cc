#include "baton/relay/transform/to_graph_normal_form.h"

#include <utility>
#include <vector>

#include "absl/status/statusor.h"
#include "baton/ir/module.h"
#include "baton/relay/analysis/graph_queries.h"
#include "baton/relay/analysis/indexed_graph.h"
#include "baton/relay/ir/expr.h"
#include "baton/relay/transform/function_pass.h"
#include "baton/transform/pass.h"
#include "baton/transform/pass_context.h"
#include "baton/transform/pass_registry.h"

namespace baton::relay {
namespace {

constexpr int kNone = -1;

// In post-order, what uses a let's variable in the let's value comes before or
// at the value, and what uses it in the body comes after.
class LetRemover {
 public:
  explicit LetRemover(const IndexedGraph& graph)
      : graph_(graph), rewriter_(graph_) {}

  Expr Run() {
    FindLets();
    for (int i = 0; i < graph_.size(); ++i) {
      if (graph_.node(i)->kind() == ExprKind::kLet) {
        const int body = graph_.let_body(i);
        ReplaceVariable(body, i);
        rewriter_.Replace(i, rewriter_.Get(body));
        continue;
      }
      for (const int child : graph_.children(i)) ReplaceVariable(child, i);
      rewriter_.Rebuild(i);
    }
    return rewriter_.Result();
  }

 private:
  void FindLets() {
    const int size = graph_.size();
    let_of_.resize(size, kNone);
    recursive_.resize(size);
    for (int i = 0; i < size; ++i) {
      if (graph_.node(i)->kind() == ExprKind::kLet) {
        let_of_[graph_.children(i)[0]] = i;
      }
    }
    for (int i = 0; i < size; ++i) {
      for (const int child : graph_.children(i)) {
        const int let = let_of_[child];
        if (let != kNone && i <= graph_.let_value(let)) {
          recursive_[let] = true;
        }
      }
    }
  }

  // Has `child`, if it is the variable of a let, stand for its value, if `user`
  // comes after that.
  void ReplaceVariable(int child, int user) {
    // A value may be a variable in turn.
    for (int var = child; IsToReplace(var); var = ValueOf(let_of_[var])) {
      if (user <= ValueOf(let_of_[var])) break;
      pending_.push_back(var);
    }
    while (!pending_.empty()) {
      const int var = pending_.back();
      pending_.pop_back();
      const int let = let_of_[var];
      const auto* node = graph_.As<LetNode>(let);
      Expr value = rewriter_.Get(ValueOf(let));
      if (recursive_[let]) {
        const bool same = value == node->value() && node->body() == node->var();
        value =
            same ? Expr(node) : Let(node->var(), std::move(value), node->var());
      }
      rewriter_.Replace(var, std::move(value));
    }
  }

  int ValueOf(int let) const { return graph_.let_value(let); }
  bool IsToReplace(int i) const {
    return let_of_[i] != kNone && !rewriter_.changed(i);
  }

  const IndexedGraph& graph_;
  GraphRewriter rewriter_;
  std::vector<int> let_of_;  // by variable: the let that binds it, or kNone
  std::vector<int> pending_;
  std::vector<bool> recursive_;  // by let: whether the value uses the variable
};

}  // namespace

absl::StatusOr<Expr> ToGraphNormalFormInExpr(const Expr& expr) {
  if (!ContainsKind(expr, ExprKind::kLet)) return expr;
  return LetRemover(IndexedGraph(expr)).Run();
}

Pass ToGraphNormalForm() {
  return CreateFunctionPass(
      [](const Function& function, const IRModule& /*module*/,
         const PassContext& /*context*/) -> absl::StatusOr<Function> {
        if (!ContainsKind(function, ExprKind::kLet)) return function;
        const IndexedGraph graph(function);
        return Function(LetRemover(graph).Run().As<FunctionNode>());
      },
      {.name = "ToGraphNormalForm",
       .opt_level = 1,
       .doc = "Replaces lets by sharing.",
       .invalidates = {"a_normal_form", "basic_block_normal_form"},
       .idempotent = true,
       .waivers = {{"effects",
                    "A graph has no order: a write whose result nothing "
                    "uses is lost."}}});
}
BATON_REGISTER_PASS(ToGraphNormalForm);

}  // namespace baton::relay
