#include "baton/relay/transform/copy_with.h"

#include <utility>

#include "absl/status/statusor.h"
#include "baton/base/hash_table.h"
#include "baton/relay/ir/expr.h"
#include "baton/relay/ir/visit.h"

namespace baton::relay {
namespace {

class Copier final : public ExprMutator {
 public:
  explicit Copier(FlatHashMap<const VarNode*, Expr> values)
      : values_(std::move(values)) {}

 protected:
  Expr VisitVar(const Var& var) override {
    Expr& value = values_[var.get()];
    if (!value.defined()) value = CopyVar(var.get());
    return value;
  }

 private:
  FlatHashMap<const VarNode*, Expr> values_;
};

}  // namespace

Var CopyVar(const VarNode* var) {
  return Var(
      new VarNode(var->name(), var->annotation(), var->type(), var->span()));
}

absl::StatusOr<Expr> CopyWith(const Expr& expr,
                              FlatHashMap<const VarNode*, Expr> values) {
  return Copier(std::move(values)).Mutate(expr);
}

}  // namespace baton::relay
