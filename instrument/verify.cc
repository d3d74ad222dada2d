#include "baton/instrument/verify.h"

#include <cstddef>
#include <string>
#include <utility>
#include <vector>

#include "absl/container/flat_hash_set.h"
#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/string_view.h"
#include "baton/ir/expr.h"
#include "baton/ir/infer_type.h"
#include "baton/ir/module.h"
#include "baton/ir/node.h"
#include "baton/ir/op.h"
#include "baton/ir/status_macros.h"
#include "baton/ir/type.h"
#include "baton/ir/visit.h"
#include "baton/ir/well_formed.h"
#include "baton/transform/pass_info.h"
#include "baton/transform/pass_instrument.h"

namespace baton {
namespace {

class TypeStripper final : public ExprMutator {
 protected:
  Expr VisitVar(const Var& var) override { return WithType(var, {}); }
  Expr VisitGlobalVar(const GlobalVar& var) override {
    return WithType(var, {});
  }
  Expr VisitConstant(const Constant& constant) override {
    return WithType(constant, {});
  }
  Expr VisitCall(const CallNode* /*original*/, Call call) override {
    return WithType(call, {});
  }
  Expr VisitTuple(const TupleNode* /*original*/, Tuple tuple) override {
    return WithType(tuple, {});
  }
  Expr VisitTupleGetItem(const TupleGetItemNode* /*original*/,
                         TupleGetItem item) override {
    return WithType(item, {});
  }
  Expr VisitFunction(const FunctionNode* /*original*/,
                     Function function) override {
    return WithType(function, {});
  }
  Expr VisitLet(const LetNode* /*original*/, Let let) override {
    return WithType(let, {});
  }
  Expr VisitIf(const IfNode* /*original*/, If node) override {
    return WithType(node, {});
  }
  Expr VisitRefCreate(const RefCreateNode* /*original*/,
                      RefCreate node) override {
    return WithType(node, {});
  }
  Expr VisitRefRead(const RefReadNode* /*original*/, RefRead node) override {
    return WithType(node, {});
  }
  Expr VisitRefWrite(const RefWriteNode* /*original*/, RefWrite node) override {
    return WithType(node, {});
  }
};

// `%x`, `a call of nn.dense`, `a Tuple`.
std::string Describe(const ExprNode* node) {
  const Expr expr(node);
  if (const auto* var = expr.As<VarNode>()) {
    return absl::StrCat("%", var->name());
  }
  if (const auto* call = expr.As<CallNode>()) {
    if (const OpNode* op = call->op_node()) {
      return absl::StrCat("a call of ", op->name());
    }
  }
  return absl::StrCat("a ", NodeKindName(node->kind()));
}

// Compares the types of two graphs that are the same but for types.
absl::Status CompareTypes(const Expr& recorded, const Expr& inferred,
                          absl::string_view function) {
  absl::flat_hash_set<const ExprNode*> seen;
  std::vector<std::pair<const ExprNode*, const ExprNode*>> stack = {
      {recorded.get(), inferred.get()}};
  std::vector<const ExprNode*> children;
  while (!stack.empty()) {
    const auto [a, b] = stack.back();
    stack.pop_back();
    if (!seen.insert(a).second) continue;
    if (a->kind() != b->kind()) {
      return absl::InternalError("type inference changed the program");
    }
    if (a->type().defined() && !TypeEqual(a->type(), b->type())) {
      return absl::InvalidArgumentError(absl::StrCat(
          "function @", function, ": ", Describe(a),
          " is recorded to have type ", a->type().ToString(), ", but has type ",
          b->type().defined() ? b->type().ToString() : "unknown"));
    }
    children.clear();
    ForEachChild(a,
                 [&](const Expr& child) { children.push_back(child.get()); });
    size_t i = 0;
    ForEachChild(b, [&](const Expr& child) {
      if (i < children.size()) stack.emplace_back(children[i++], child.get());
    });
  }
  return absl::OkStatus();
}

}  // namespace

absl::Status CheckTypes(const IRModule& module) {
  TypeStripper stripper;
  std::vector<Function> functions;
  for (const IRModule::Definition& definition : module.functions()) {
    functions.push_back(stripper.MutateFunction(definition.function));
  }
  BATON_ASSIGN_OR_RETURN(const IRModule inferred,
                         InferTypes(module.WithFunctions(functions)));
  for (const IRModule::Definition& definition : module.functions()) {
    const std::string& name = definition.var->name();
    BATON_RETURN_IF_ERROR(
        CompareTypes(definition.function, inferred.Find(name), name));
  }
  return absl::OkStatus();
}

absl::Status VerifyInstrument::Check(const IRModule& module) {
  if (module.SameAs(good_)) return absl::OkStatus();
  BATON_RETURN_IF_ERROR(CheckWellFormed(module));
  if (options_.types) BATON_RETURN_IF_ERROR(CheckTypes(module));
  good_ = module;
  return absl::OkStatus();
}

absl::Status VerifyInstrument::ExitPassContext() {
  good_ = IRModule();
  return absl::OkStatus();
}

absl::Status VerifyInstrument::RunBeforePass(const IRModule& module,
                                             const PassExecution& pass) {
  if (pass.depth() > 0) return absl::OkStatus();
  const absl::Status status = Check(module);
  if (status.ok()) return status;
  return absl::Status(
      status.code(), absl::StrCat("the module was wrong before any pass ran:\n",
                                  status.message()));
}

absl::Status VerifyInstrument::RunAfterPass(const IRModule& module,
                                            const PassExecution& pass) {
  // What a sequence returns was checked when its last pass returned it.
  if (pass.info().granularity == PassGranularity::kSequence) {
    return absl::OkStatus();
  }
  const absl::Status status = Check(module);
  if (status.ok()) return status;
  return absl::Status(status.code(),
                      absl::StrCat("pass ", pass.name(), " broke the module:\n",
                                   status.message()));
}

}  // namespace baton
