#include "baton/tools/select_branches.h"

#include <algorithm>
#include <cstddef>
#include <utility>
#include <vector>

#include "absl/status/statusor.h"
#include "baton/base/status_macros.h"
#include "baton/ir/diagnostics.h"
#include "baton/ir/module.h"
#include "baton/ir/op.h"
#include "baton/ir/type.h"
#include "baton/relay/ir/expr.h"
#include "baton/relay/ir/infer_type.h"
#include "baton/relay/ir/visit.h"
#include "baton/relay/op/op_flags.h"

namespace baton {
namespace {

// True if the type has floats and booleans only: what takes no integers has no
// index and no divisor that may be wrong.
bool HasNoIntegers(const Type& type) {
  if (const auto* tensor = type.As<TensorTypeNode>(); tensor != nullptr) {
    return tensor->dtype().is_float() || tensor->dtype().is_bool();
  }
  const auto* tuple = type.As<TupleTypeNode>();
  return tuple != nullptr && std::all_of(tuple->fields().begin(),
                                         tuple->fields().end(), HasNoIntegers);
}

// True if `expr` can be computed whether its value is used or not.
bool IsPlain(const Expr& expr) {
  bool is_plain = true;
  PostOrderVisit(expr, [&is_plain](const ExprNode* node) {
    const Expr visited(node);
    if (const auto* call = visited.As<CallNode>(); call != nullptr) {
      is_plain = is_plain && (call->op_node() != nullptr
                                  ? !relay::IsStateful(call->op())
                                  : call->op().As<FunctionNode>() != nullptr);
      for (const Expr& arg : call->args()) {
        is_plain = is_plain && HasNoIntegers(arg->type());
      }
      return;
    }
    is_plain = is_plain && (visited.As<VarNode>() != nullptr ||
                            visited.As<ConstantNode>() != nullptr ||
                            visited.As<OpNode>() != nullptr ||
                            visited.As<TupleNode>() != nullptr ||
                            visited.As<TupleGetItemNode>() != nullptr ||
                            visited.As<FunctionNode>() != nullptr ||
                            visited.As<IfNode>() != nullptr ||
                            visited.As<LetNode>() != nullptr);
  });
  return is_plain;
}

Expr FieldOf(const Expr& tuple, size_t i) {
  const auto* node = tuple.As<TupleNode>();
  return node != nullptr ? node->fields()[i]
                         : Expr(TupleGetItem(tuple, static_cast<int>(i)));
}

class BranchSelector final : public ExprMutator {
 public:
  explicit BranchSelector(Diagnostics* notes) : notes_(notes) {}

 private:
  Expr VisitIf(const IfNode* original, If node) override {
    const Type& type = original->type();
    // Before the rewrite, all have types.
    if (!type.defined() || !IsPlain(original->true_branch()) ||
        !IsPlain(original->false_branch())) {
      return node;
    }
    const auto select = [&node](const Expr& a, const Expr& b) {
      return Call(BATON_OP("where"), {node->cond(), a, b});
    };
    // `where` would broadcast branches of different shapes.
    const auto is_static = [](const Type& t) {
      const auto* tensor = t.As<TensorTypeNode>();
      return tensor != nullptr && tensor->is_static();
    };
    if (is_static(type)) {
      Note(original);
      return select(node->true_branch(), node->false_branch());
    }
    const auto* tuple = type.As<TupleTypeNode>();
    if (tuple == nullptr) return node;
    std::vector<Expr> fields;
    for (const Type& field : tuple->fields()) {
      if (!is_static(field)) return node;
      const size_t i = fields.size();
      fields.push_back(select(FieldOf(node->true_branch(), i),
                              FieldOf(node->false_branch(), i)));
    }
    Note(original);
    return Tuple(std::move(fields));
  }

  void Note(const IfNode* node) {
    if (notes_ == nullptr) return;
    notes_->Note(node->span(),
                 "both branches are computed, and one is selected");
  }

  Diagnostics* const notes_;
};

}  // namespace

absl::StatusOr<IRModule> SelectBranches(const IRModule& module,
                                        Diagnostics* notes) {
  BATON_ASSIGN_OR_RETURN(const Function main, module.Lookup<Function>("main"));
  BATON_ASSIGN_OR_RETURN(Function selected,
                         BranchSelector(notes).MutateFunction(main));
  if (selected.get() == main.get()) return module;
  IRModule result = module;
  result.Set("main", std::move(selected));
  return InferTypes(result);
}

}  // namespace baton
