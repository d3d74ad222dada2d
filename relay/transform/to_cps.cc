#include "baton/relay/transform/to_cps.h"

#include <algorithm>
#include <cstddef>
#include <deque>
#include <functional>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/str_cat.h"
#include "absl/types/span.h"
#include "baton/base/hash_table.h"
#include "baton/base/status_macros.h"
#include "baton/ir/attrs.h"
#include "baton/ir/diagnostics.h"
#include "baton/ir/error_at.h"
#include "baton/ir/global_references.h"
#include "baton/ir/module.h"
#include "baton/ir/node.h"
#include "baton/ir/node_map.h"
#include "baton/ir/op.h"
#include "baton/ir/origin.h"
#include "baton/ir/span.h"
#include "baton/ir/type.h"
#include "baton/relay/analysis/opaque_function.h"
#include "baton/relay/analysis/sharing.h"
#include "baton/relay/ir/adt.h"
#include "baton/relay/ir/expr.h"
#include "baton/relay/ir/infer_type.h"
#include "baton/relay/ir/param_devices.h"
#include "baton/relay/ir/type_substitution.h"
#include "baton/relay/ir/visit.h"
#include "baton/relay/transform/let_list.h"
#include "baton/relay/transform/type_args.h"
#include "baton/transform/module_pass.h"
#include "baton/transform/pass.h"
#include "baton/transform/pass_context.h"
#include "baton/transform/pass_registry.h"

namespace baton::relay {
namespace {

// Types in which functions take a continuation, that returns `answer`.
class CpsTypes {
 public:
  explicit CpsTypes(TypeVar answer) : answer_(std::move(answer)) {}

  const TypeVar& answer() const { return answer_; }

  // Null for a type that is nested too deeply, and for null.
  Type Of(const Type& type, int depth = 0) {
    if (!type.defined() || depth > kMaxTypeDepth) return {};
    if (const Type* known = known_.Find(type.get())) return *known;
    Type result = Make(type, depth);
    if (result.defined()) known_[type.get()] = result;
    return result;
  }

  // The type of a continuation that takes `type`, a result of Of().
  Type Continuation(const Type& type) const {
    return FuncType({type}, answer_);
  }

 private:
  Type Make(const Type& type, int depth) {
    Type result = MapTypeParts(
        type, [this, depth](const Type& part) { return Of(part, depth + 1); });
    const auto* function =
        result.defined() ? result.As<FuncTypeNode>() : nullptr;
    if (function == nullptr) return result;
    std::vector<Type> args(function->args().begin(), function->args().end());
    args.push_back(Continuation(function->result()));
    return FuncType(
        std::move(args), answer_,
        {function->type_params().begin(), function->type_params().end()});
  }

  TypeVar answer_;
  NodeMap<Type> known_;  // what is mapped is held by the program
};

// The module that is converted, and what of it is to do.
class ModuleConverter {
 public:
  explicit ModuleConverter(const IRModule& module)
      : module_(module), result_(module) {}

  // The replacement of that function, which must not be direct, in calls.
  Expr Callee(const GlobalVar& var) {
    const auto [it, is_new] = callees_.try_emplace(
        var->name(), GlobalVar(absl::StrCat(var->name(), "_cps")));
    if (is_new) pending_.push_back(var->name());
    return it->second;
  }
  // True if calls of that function take no continuation.
  bool IsDirect(const GlobalVar& var) const {
    const Function function = module_.Find<Function>(var->name());
    return !function.defined() || IsOpaque(*function);
  }

  absl::Status Convert(const std::string& name);
  // The functions that are called, and those that they call.
  absl::Status ConvertCallees();

  VarNames& names() { return names_; }
  const IRModule& result() const { return result_; }

 private:
  const IRModule& module_;
  IRModule result_;
  VarNames names_;
  FlatHashMap<std::string, GlobalVar> callees_;
  std::deque<std::string> pending_;
};

// Converts a function. It goes through the program in the order of evaluation
// and writes a row of lets; what follows a call or a branch is a row of its
// own, the body of a continuation, which goes into the row before it as soon as
// it is complete. Expressions become values that have no effects.
class FunctionConverter {
 public:
  FunctionConverter(ModuleConverter& module, const Function& function)
      : module_(module), function_(function), types_(TypeVar("answer")) {}

  absl::StatusOr<Function> Run() {
    BATON_RETURN_IF_ERROR(VisitFunction(function_.get()));
    while (!steps_.empty()) {
      const Step step = std::move(steps_.back());
      steps_.pop_back();
      visited_ = step.visited;
      BATON_RETURN_IF_ERROR(step.run());
    }
    const auto* written = values_.back().As<FunctionNode>();
    std::vector<TypeVar> type_params(written->type_params().begin(),
                                     written->type_params().end());
    type_params.push_back(types_.answer());
    Function result({written->params().begin(), written->params().end()},
                    written->body(), written->result_type(),
                    std::move(type_params), written->attrs(), {},
                    written->span());
    LogOrigins(result, function_.get());
    return result;
  }

 private:
  struct Step {
    std::function<absl::Status()> run;
    const ExprNode* visited;  // as it was when the step was added
  };

  // A row of lets that is being written, and what becomes of it, with its tail:
  // the tail of the row before.
  struct Row {
    LetList lets;
    std::function<Expr(Expr)> finish;
  };

  // The last step is the next one. A step may add others.
  void Then(std::function<absl::Status()> run) {
    steps_.push_back({std::move(run), visited_});
  }
  void ThenVisit(const Expr& expr) {
    Then([this, node = expr.get()] { return Visit(node); });
  }
  void Return(Expr value) {
    LogOrigins(value, visited_);
    values_.push_back(std::move(value));
  }
  Expr TakeValue() {
    Expr value = std::move(values_.back());
    values_.pop_back();
    return value;
  }
  std::vector<Expr> TakeValues(size_t n) {
    std::vector<Expr> result(values_.end() - n, values_.end());
    values_.erase(values_.end() - n, values_.end());
    return result;
  }

  Expr Bind(Expr value) {
    LogOrigins(value, visited_);
    return rows_.back().lets.Push(std::move(value));
  }

  void OpenRow(std::function<Expr(Expr)> finish) {
    rows_.push_back({LetList(module_.names()), std::move(finish)});
  }
  // Closes all rows but the first `n`, the last of which ends with `tail`.
  Expr CloseRows(size_t n, Expr tail) {
    while (rows_.size() > n) {
      Row& row = rows_.back();
      tail = row.lets.Close(std::move(tail));
      if (row.finish != nullptr) tail = row.finish(std::move(tail));
      rows_.pop_back();
    }
    return tail;
  }

  // Moves the following code into a continuation whose argument is the current
  // value. `use` makes the tail of the row from that function.
  void Reify(std::function<Expr(Expr)> use) {
    const Var arg("arg");
    OpenRow([arg, use = std::move(use)](Expr body) {
      return use(Function({arg}, std::move(body)));
    });
    Return(arg);
  }

  // Writes `expr` as an expression of its own, which gives its value to `to`.
  // That is what it returns.
  void ThenWrite(const Expr& expr, Expr to) {
    const auto first_row = std::make_shared<size_t>(0);
    Then([this, first_row, to = std::move(to)] {
      const Expr value = TakeValue();
      Return(CloseRows(*first_row, Call(to, {value})));
      return absl::OkStatus();
    });
    ThenVisit(expr);
    Then([this, first_row] {
      *first_row = rows_.size();
      OpenRow(nullptr);
      return absl::OkStatus();
    });
  }

  absl::StatusOr<Type> Convert(const Type& type, const Span& span) {
    if (!type.defined()) return Type();
    const Type result = types_.Of(type);
    if (!result.defined()) {
      return ErrorAt(span, "types nested so deeply cannot be converted");
    }
    return result;
  }

  absl::StatusOr<Var> Convert(const Var& var) {
    const auto [converted, is_new] = vars_.TryEmplace(var.get());
    if (is_new) {
      BATON_ASSIGN_OR_RETURN(
          Type type,
          Convert(var->type().defined() ? var->type() : var->annotation(),
                  var->span()));
      *converted = Var(var->name(), std::move(type), var->span());
      LogOrigin(*converted, var.get());
    }
    return *converted;
  }

  absl::Status Visit(const ExprNode* node) {
    visited_ = node;
    switch (ExprKindOf(node)) {
      case ExprKind::kVar: {
        BATON_ASSIGN_OR_RETURN(Var var,
                               Convert(Var(static_cast<const VarNode*>(node))));
        Return(std::move(var));
        return absl::OkStatus();
      }
      case ExprKind::kGlobalVar: {
        const GlobalVar var(static_cast<const GlobalVarNode*>(node));
        if (module_.IsDirect(var)) return OnlyCalled(node);
        Return(module_.Callee(var));
        return absl::OkStatus();
      }
      case ExprKind::kConstant:
        Return(Expr(node));
        return absl::OkStatus();
      case ExprKind::kOp:
      case ExprKind::kConstructor:
        return OnlyCalled(node);
      case ExprKind::kFunction: {
        const auto* function = static_cast<const FunctionNode*>(node);
        if (IsOpaque(*function)) return OnlyCalled(node);
        return VisitFunction(function);
      }
      case ExprKind::kLet: {
        const auto* let = static_cast<const LetNode*>(node);
        ThenVisit(let->body());
        Then([this, let]() -> absl::Status {
          BATON_ASSIGN_OR_RETURN(Var var, Convert(let->var()));
          rows_.back().lets.Push(std::move(var), TakeValue());
          return absl::OkStatus();
        });
        ThenVisit(let->value());
        return absl::OkStatus();
      }
      case ExprKind::kTuple: {
        const auto* tuple = static_cast<const TupleNode*>(node);
        Then([this, tuple] {
          Return(Tuple(TakeValues(tuple->fields().size()), {}, tuple->span()));
          return absl::OkStatus();
        });
        ThenVisitAll(tuple->fields());
        return absl::OkStatus();
      }
      case ExprKind::kTupleGetItem: {
        const auto* item = static_cast<const TupleGetItemNode*>(node);
        Then([this, item] {
          Return(TupleGetItem(TakeValue(), item->index(), {}, item->span()));
          return absl::OkStatus();
        });
        ThenVisit(item->tuple());
        return absl::OkStatus();
      }
      case ExprKind::kRefCreate:
        Then([this, node] {
          Return(RefCreate(TakeValue(), {}, node->span()));
          return absl::OkStatus();
        });
        ThenVisit(static_cast<const RefCreateNode*>(node)->value());
        return absl::OkStatus();
      case ExprKind::kRefRead:
        Then([this, node] {
          Return(Bind(RefRead(TakeValue(), {}, node->span())));
          return absl::OkStatus();
        });
        ThenVisit(static_cast<const RefReadNode*>(node)->ref());
        return absl::OkStatus();
      case ExprKind::kRefWrite: {
        const auto* write = static_cast<const RefWriteNode*>(node);
        Then([this, write] {
          Expr value = TakeValue();
          Expr ref = TakeValue();
          Return(Bind(
              RefWrite(std::move(ref), std::move(value), {}, write->span())));
          return absl::OkStatus();
        });
        ThenVisit(write->value());
        ThenVisit(write->ref());
        return absl::OkStatus();
      }
      case ExprKind::kIf: {
        const auto* branch = static_cast<const IfNode*>(node);
        VisitBranches(
            branch->cond(), {branch->true_branch(), branch->false_branch()},
            [branch](const Expr& cond, std::vector<Expr> branches) {
              return absl::StatusOr<Expr>(
                  If(cond, branches[0], branches[1], {}, branch->span()));
            });
        return absl::OkStatus();
      }
      case ExprKind::kMatch: {
        const auto* match = static_cast<const MatchNode*>(node);
        std::vector<Expr> branches;
        for (const Clause& clause : match->clauses()) {
          branches.push_back(clause.rhs);
        }
        VisitBranches(
            match->data(), branches,
            [this, match](const Expr& data,
                          std::vector<Expr> branches) -> absl::StatusOr<Expr> {
              std::vector<Clause> clauses;
              absl::Status status;
              for (size_t i = 0; i < branches.size(); ++i) {
                Pattern pattern =
                    WithBinders(match->clauses()[i].lhs, [&](const Var& var) {
                      const absl::StatusOr<Var> converted = Convert(var);
                      status.Update(converted.status());
                      return converted.ok() ? *converted : var;
                    });
                clauses.push_back({std::move(pattern), branches[i]});
              }
              BATON_RETURN_IF_ERROR(status);
              return Expr(Match(data, std::move(clauses), match->complete(), {},
                                match->span()));
            });
        return absl::OkStatus();
      }
      case ExprKind::kCall:
        VisitCall(static_cast<const CallNode*>(node));
        return absl::OkStatus();
    }
    return ErrorAt(node->span(),
                   absl::StrCat("a ", NodeKindName(node->kind()),
                                " has no form with a continuation"));
  }

  static absl::Status OnlyCalled(const ExprNode* node) {
    return ErrorAt(node->span(),
                   absl::StrCat("a ", NodeKindName(node->kind()),
                                " that takes no continuation can only be "
                                "called"));
  }

  void ThenVisitAll(absl::Span<const Expr> exprs) {
    for (size_t i = exprs.size(); i > 0; --i) ThenVisit(exprs[i - 1]);
  }

  absl::Status VisitFunction(const FunctionNode* function) {
    const auto& type = *function->type().As<FuncTypeNode>();
    BATON_ASSIGN_OR_RETURN(const Type result,
                           Convert(type.result(), function->span()));
    const Var k("k", types_.Continuation(result));
    std::vector<Var> params;
    for (const Var& param : function->params()) {
      BATON_ASSIGN_OR_RETURN(Var converted, Convert(param));
      params.push_back(std::move(converted));
    }
    params.push_back(k);
    Then([this, function, params = std::move(params)] {
      Return(Function(
          params, TakeValue(), types_.answer(),
          {function->type_params().begin(), function->type_params().end()},
          AttrsWithNumParams(*function, params.size()), {}, function->span()));
      return absl::OkStatus();
    });
    ThenWrite(function->body(), k);
    return absl::OkStatus();
  }

  // Both branches of an if, or all of a match, give their value to one
  // function: what follows.
  void VisitBranches(
      const Expr& data, const std::vector<Expr>& branches,
      std::function<absl::StatusOr<Expr>(const Expr&, std::vector<Expr>)>
          make) {
    const Var follows(module_.names().Next());
    const size_t first_row = rows_.size();
    OpenRow(nullptr);
    Then([this, first_row, follows, n = branches.size(),
          make = std::move(make)]() -> absl::Status {
      std::vector<Expr> written = TakeValues(n);
      const Expr value = TakeValue();
      BATON_ASSIGN_OR_RETURN(Expr tail, make(value, std::move(written)));
      tail = CloseRows(first_row, std::move(tail));
      Reify([follows, tail = std::move(tail)](Expr function) {
        return Let(follows, std::move(function), tail);
      });
      return absl::OkStatus();
    });
    for (size_t i = branches.size(); i > 0; --i) {
      ThenWrite(branches[i - 1], follows);
    }
    ThenVisit(data);
  }

  void VisitCall(const CallNode* call) {
    const auto* global = call->op().As<GlobalVarNode>();
    const auto* literal = call->op().As<FunctionNode>();
    // True if the callee takes no continuation.
    const bool is_direct =
        call->op().Is<OpNode>() || call->op().Is<ConstructorNode>() ||
        (global != nullptr && module_.IsDirect(GlobalVar(global))) ||
        (literal != nullptr && IsOpaque(*literal));
    Then([this, call, is_direct, global]() -> absl::Status {
      std::vector<Expr> args = TakeValues(call->num_args());
      Expr callee = TakeValue();
      std::vector<Type> type_args;
      // A global function has one type parameter more than it had.
      if (global == nullptr || is_direct) {
        for (const Type& type : call->type_args()) {
          BATON_ASSIGN_OR_RETURN(Type converted, Convert(type, call->span()));
          type_args.push_back(std::move(converted));
        }
      }
      if (is_direct) {
        Return(Bind(Call(std::move(callee), args, call->attrs(),
                         std::move(type_args), {}, call->span())));
        return absl::OkStatus();
      }
      Reify([callee, args, type_args, call](Expr continuation) {
        std::vector<Expr> all = args;
        all.push_back(std::move(continuation));
        return Call(callee, all, call->attrs(), type_args, {}, call->span());
      });
      return absl::OkStatus();
    });
    ThenVisitAll(call->args());
    if (is_direct) {
      Return(call->op());
    } else {
      ThenVisit(call->op());
    }
  }

  ModuleConverter& module_;
  const Function& function_;
  CpsTypes types_;
  NodeMap<Var> vars_;
  std::vector<Step> steps_;
  const ExprNode* visited_ = nullptr;  // what is written comes from it
  std::vector<Expr> values_;
  std::vector<Row> rows_;
};

absl::Status ModuleConverter::Convert(const std::string& name) {
  const Function function = module_.Find<Function>(name);
  BATON_ASSIGN_OR_RETURN(const Function converted,
                         FunctionConverter(*this, function).Run());
  result_.Set(name, converted);
  return absl::OkStatus();
}

absl::Status ModuleConverter::ConvertCallees() {
  while (!pending_.empty()) {
    const std::string name = std::move(pending_.front());
    pending_.pop_front();
    const GlobalVar& var = callees_.at(name);
    if (module_.Find(var->name()).defined()) {
      return absl::FailedPreconditionError(
          absl::StrCat("@", var->name(), " is there already: @", name,
                       " with a continuation would have its name"));
    }
    const Function function = module_.Find<Function>(name);
    BATON_ASSIGN_OR_RETURN(const Function converted,
                           FunctionConverter(*this, function).Run());
    result_.Set(callees_.at(name), converted);
  }
  return absl::OkStatus();
}

// The names of the functions in the options.
absl::StatusOr<std::vector<std::string>> FunctionsToConvert(
    const IRModule& module, const std::string& function) {
  if (!function.empty()) {
    BATON_RETURN_IF_ERROR(module.Lookup<Function>(function).status());
    return std::vector<std::string>{function};
  }
  std::vector<std::string> names;
  for (const auto& [var, definition] : module.functions<Function>()) {
    if (!IsOpaque(*definition)) names.push_back(var->name());
  }
  return names;
}

// The functions that UnCPS converts: those that functions of the module call go
// on to take what they are given.
absl::StatusOr<std::vector<std::string>> FunctionsToConvertBack(
    const IRModule& module, const std::string& function) {
  BATON_ASSIGN_OR_RETURN(std::vector<std::string> names,
                         FunctionsToConvert(module, function));
  FlatHashSet<std::string> called;
  for (const auto& [var, definition] : module.functions<Function>()) {
    AnyGlobalReference(definition, [&](const std::string& name) {
      called.insert(name);
      return false;
    });
  }
  if (!function.empty() && called.contains(function)) {
    return ErrorAt(module.Find<Function>(function)->span(),
                   absl::StrCat("@", function,
                                " keeps its continuation: functions of the "
                                "module give it one"));
  }
  names.erase(std::remove_if(names.begin(), names.end(),
                             [&](const std::string& name) {
                               return called.contains(name);
                             }),
              names.end());
  return names;
}

// `function`, called with the identity as its continuation.
absl::StatusOr<Function> WithoutContinuation(const Function& function) {
  const auto error = [&function] {
    return ErrorAt(function->span(),
                   "the last parameter is no continuation: a function of one "
                   "argument");
  };
  if (function->params().empty() || function->type_params().empty()) {
    return error();
  }
  const auto* continuation =
      function->params().back()->type().As<FuncTypeNode>();
  if (continuation == nullptr || continuation->args().size() != 1) {
    return error();
  }
  // The type parameters, except that of the answer.
  const TypeVarMap types = FreshTypeVars(
      function->type_params().first(function->type_params().size() - 1));
  std::vector<TypeVar> type_params;
  for (const TypeVar& param : function->type_params()) {
    const auto it = types.find(param.get());
    if (it == types.end()) break;
    type_params.push_back(TypeVar(it->second.As<TypeVarNode>()));
  }
  const Type result = SubstituteTypeVars(continuation->args()[0], types);
  std::vector<Var> params;
  std::vector<Expr> args;
  for (const Var& param :
       function->params().first(function->params().size() - 1)) {
    params.emplace_back(param->name(), SubstituteTypeVars(param->type(), types),
                        param->span());
    LogOrigin(params.back(), param.get());
    args.push_back(params.back());
  }
  const Var x("x", result);
  args.push_back(Function({x}, x, result));
  DictAttrs attrs = AttrsWithNumParams(*function, params.size());
  Function applied(std::move(params), Call(function, args), result,
                   std::move(type_params), std::move(attrs), {},
                   function->span());
  LogOrigins(applied, function.get());
  return applied;
}

}  // namespace

absl::StatusOr<IRModule> ToCPSInModule(const IRModule& given,
                                       const ToCPSOptions& options) {
  BATON_ASSIGN_OR_RETURN(const IRModule module, InferTypes(given));
  BATON_ASSIGN_OR_RETURN(const std::vector<std::string> names,
                         FunctionsToConvert(module, options.function));
  Diagnostics diagnostics;
  for (const auto& [var, function] : module.functions<Function>()) {
    if (IsOpaque(*function)) continue;
    ReportSharing(function, "has no form with a continuation", diagnostics);
  }
  BATON_RETURN_IF_ERROR(diagnostics.ToStatus());
  ModuleConverter converter(module);
  for (const std::string& name : names) {
    BATON_RETURN_IF_ERROR(converter.Convert(name));
  }
  BATON_RETURN_IF_ERROR(converter.ConvertCallees());
  return InferTypes(converter.result());
}

absl::StatusOr<IRModule> UnCPSInModule(const IRModule& given,
                                       const UnCPSOptions& options) {
  BATON_ASSIGN_OR_RETURN(const IRModule module, InferTypes(given));
  BATON_ASSIGN_OR_RETURN(const std::vector<std::string> names,
                         FunctionsToConvertBack(module, options.function));
  IRModule result = module;
  for (const std::string& name : names) {
    BATON_ASSIGN_OR_RETURN(const Function converted,
                           WithoutContinuation(module.Find<Function>(name)));
    result.Set(name, converted);
  }
  return InferTypes(result);
}

Pass ToCPS(ToCPSOptions options) {
  return CreateModulePass(
      [options](const IRModule& module, const PassContext& /*context*/) {
        return ToCPSInModule(module, options);
      },
      {.name = "ToCPS",
       .opt_level = 1,
       .doc = "Makes functions give their result to a continuation.",
       .invalidates = {"a_normal_form", "basic_block_normal_form"},
       .waivers = {{"runs",
                    "Expressions that are used more than once are refused, "
                    "as the reference does."},
                   {"values", "Functions take continuations."}}},
      options);
}
BATON_REGISTER_PASS(ToCPS);

Pass UnCPS(UnCPSOptions options) {
  return CreateModulePass(
      [options](const IRModule& module, const PassContext& /*context*/) {
        return UnCPSInModule(module, options);
      },
      {.name = "UnCPS",
       .opt_level = 1,
       .doc = "Gives functions that take a continuation the identity.",
       .invalidates = {"a_normal_form", "basic_block_normal_form"},
       .waivers = {{"runs", "Functions must take a continuation."},
                   {"values", "Functions lose a parameter."}}},
      options);
}
BATON_REGISTER_PASS(UnCPS);

}  // namespace baton::relay
