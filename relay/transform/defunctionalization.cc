#include "baton/relay/transform/defunctionalization.h"

#include <cstddef>
#include <deque>
#include <string>
#include <utility>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/string_view.h"
#include "absl/types/span.h"
#include "baton/base/hash_table.h"
#include "baton/base/status_macros.h"
#include "baton/ir/attrs.h"
#include "baton/ir/error_at.h"
#include "baton/ir/module.h"
#include "baton/ir/node.h"
#include "baton/ir/node_map.h"
#include "baton/ir/op.h"
#include "baton/ir/origin.h"
#include "baton/ir/span.h"
#include "baton/ir/structural_equal.h"
#include "baton/ir/type.h"
#include "baton/relay/analysis/opaque_function.h"
#include "baton/relay/ir/adt.h"
#include "baton/relay/ir/expr.h"
#include "baton/relay/ir/infer_type.h"
#include "baton/relay/ir/type_substitution.h"
#include "baton/relay/ir/visit.h"
#include "baton/relay/transform/type_args.h"
#include "baton/transform/module_pass.h"
#include "baton/transform/pass.h"
#include "baton/transform/pass_context.h"
#include "baton/transform/pass_registry.h"

namespace baton::relay {
namespace {

// True if `type` contains a function, or is nested too deeply to decide.
bool HasFunction(const Type& type, int depth = 0) {
  if (!type.defined()) return false;
  if (type.Is<FuncTypeNode>() || depth > kMaxTypeDepth) return true;
  bool found = false;
  ForEachTypePart(type, [&](const Type& part) {
    found = found || HasFunction(part, depth + 1);
  });
  return found;
}

// The type of what `function`, which has a type, returns.
const Type& ResultOf(const Function& function) {
  return function->type().As<FuncTypeNode>()->result();
}

// True if `expr`, which has a type unless it is a name, is a function.
bool IsFunction(const Expr& expr) {
  return expr.Is<GlobalVarNode>() || expr->type().Is<FuncTypeNode>();
}

// `values` for the type variables `params`; false if one is null.
bool Assign(absl::Span<const TypeVar> params, absl::Span<const Type> values,
            TypeVarMap& types) {
  for (size_t i = 0; i < params.size(); ++i) {
    if (i >= values.size() || !values[i].defined()) return false;
    types[params[i].get()] = values[i];
  }
  return true;
}

// A type of functions as data: a constructor for each function that is a value,
// whose arguments are what it captures.
struct Encoding {
  FuncType function;
  GlobalTypeVar type;
  GlobalVar apply;
  std::vector<Constructor> constructors = {};
  // The clause of each constructor in the function `apply`.
  std::vector<Clause> clauses = {};
  std::vector<Var> params = {};  // of the function that applies
};

class Defunctionalizer {
 public:
  explicit Defunctionalizer(const IRModule& module)
      : module_(module), result_(module) {}

  absl::StatusOr<IRModule> Run(const std::string& start);

  // The encoding of functions of that type, which has no type variables.
  Encoding& EncodingOf(const FuncType& type);
  // `type` with encodings in the place of functions.
  Type Encoded(const Type& type, int depth = 0);

  // True if the function uses functions as values.
  bool IsConcerned(const std::string& name) const {
    return concerned_.contains(name);
  }
  // The replacement of the callee in calls of the concerned function `name`
  // with the type `type`, which has no type variables.
  absl::StatusOr<GlobalVar> CalleeFor(const GlobalVar& var,
                                      const FuncTypeNode& type,
                                      const Span& span);

  // The value of a global function where a function of type `type` is expected.
  absl::StatusOr<Expr> EncodeGlobal(const GlobalVar& var, const FuncType& type,
                                    const Span& span);
  // Encodes a literal; `captured` are the variables that it captures and, for
  // each, a new one. `types` are the values of type variables.
  Expr EncodeLiteral(const FunctionNode* literal, const FuncType& type,
                     const std::vector<std::pair<Var, Var>>& captured,
                     std::vector<Expr> args, const TypeVarMap& types);

  const IRModule& module() const { return module_; }

 private:
  // A function to be converted, where type variables have these values.
  struct Copy {
    Function function;
    TypeVarMap types;
    GlobalVar name;
  };
  // The copy of a literal in a clause of an encoding.
  struct LiteralCopy {
    const FunctionNode* literal;
    TypeVarMap types;
    std::vector<std::pair<Var, Var>> captured;
    Encoding* encoding;
    size_t clause;
  };

  void FindConcerned();
  std::string NewName(absl::string_view base, bool is_type) const;
  Constructor AddConstructor(Encoding& encoding, std::vector<Type> inputs);
  // Adds the data types and the functions that apply them, all for `start`.
  void Finish(const Function& start);

  const IRModule& module_;
  IRModule result_;
  FlatHashSet<std::string> concerned_;
  std::deque<Encoding> encodings_;
  FlatHashMap<std::string, Encoding*> encoding_of_;  // by the text of the type
  FlatHashMap<std::string, GlobalVar> copies_;     // by name and type arguments
  FlatHashMap<std::string, Constructor> globals_;  // by name and type
  std::deque<Copy> pending_;
  std::deque<LiteralCopy> pending_literals_;
};

// Converts the body of a function.
class BodyConverter final : public ExprMutator {
 public:
  BodyConverter(Defunctionalizer& all, const TypeVarMap& types)
      : all_(all), types_(types) {}

  // `var` becomes `value`.
  void Set(const Var& var, const Var& value) { vars_[var.get()] = value; }

  absl::StatusOr<Function> Convert(const Function& function) {
    places_.Insert(function.get());
    return MutateFunction(function);
  }

 protected:
  Expr Before(const ExprNode* node) override {
    if (const auto* call = Expr(node).As<CallNode>()) return BeforeCall(call);
    if (node->kind() == ExprKind::kFunction) {
      const auto* literal = static_cast<const FunctionNode*>(node);
      if (places_.Contains(node)) {
        for (const TypeVar& param : literal->type_params()) {
          if (!types_.contains(param.get())) {
            return FailAt(node,
                          "the type arguments of this function are not "
                          "known");
          }
        }
        return {};
      }
      const FuncType* expected = expected_.Find(node);
      if (expected == nullptr) return FailAt(node, kNotAnArgument);
      std::vector<std::pair<Var, Var>> captured;
      std::vector<Expr> args;
      for (const Var& var : FreeVars(Expr(literal))) {
        const Expr now = VisitVar(var);
        if (!now.defined()) return {};
        const auto* converted = now.As<VarNode>();
        captured.emplace_back(var, Var(var->name(), converted->annotation()));
        args.push_back(now);
      }
      return all_.EncodeLiteral(literal, *expected, captured, std::move(args),
                                types_);
    }
    return {};
  }

  Expr VisitVar(const Var& var) override {
    const auto [converted, is_new] = vars_.TryEmplace(var.get());
    if (is_new) {
      const Type type = SubstituteTypeVars(
          var->type().defined() ? var->type() : var->annotation(), types_);
      if (!type.Is<FuncTypeNode>() && HasFunction(type)) {
        return FailAt(var.get(),
                      "functions in tuples, references and data cannot be "
                      "encoded");
      }
      *converted = Var(var->name(), all_.Encoded(type), var->span());
    }
    return *converted;
  }

  Expr VisitFunction(const FunctionNode* /*original*/,
                     Function function) override {
    return Function(
        {function->params().begin(), function->params().end()},
        function->body(),
        all_.Encoded(SubstituteTypeVars(function->result_type(), types_)), {},
        function->attrs(), {}, function->span());
  }

  Expr VisitLet(const LetNode* original, Let let) override {
    return IsFunction(original->value())
               ? FailAt(original->value().get(), kNotAnArgument)
               : Expr(let);
  }

  Expr VisitCall(const CallNode* original, Call call) override {
    const auto* type = CalleeType(original);
    std::vector<Expr> args(call->args().begin(), call->args().end());
    for (int i = 0; i < original->num_args(); ++i) {
      const auto* global = original->arg(i).As<GlobalVarNode>();
      if (global == nullptr) continue;
      absl::StatusOr<Expr> encoded = all_.EncodeGlobal(
          GlobalVar(global), FuncType(type->args()[i].As<FuncTypeNode>()),
          original->span());
      if (!encoded.ok()) return Fail(encoded.status());
      args[i] = *std::move(encoded);
    }
    if (const auto* global = original->op().As<GlobalVarNode>()) {
      GlobalVar callee(global);
      if (all_.IsConcerned(global->name())) {
        if (type == nullptr) return FailAt(original, kUnknownTypes);
        const absl::StatusOr<GlobalVar> found =
            all_.CalleeFor(callee, *type, original->span());
        if (!found.ok()) return Fail(found.status());
        callee = *found;
      }
      return Call(callee, args, call->attrs(), {}, {}, call->span());
    }
    if (original->op().Is<VarNode>()) {
      if (type == nullptr) return FailAt(original, kUnknownTypes);
      args.insert(args.begin(), call->op());
      return Call(all_.EncodingOf(FuncType(type)).apply, args, {}, {}, {},
                  call->span());
    }
    // The values of type variables are known now.
    if (types_.empty() && !original->op().Is<FunctionNode>()) return call;
    return Call(call->op(), args, call->attrs(), {}, {}, call->span());
  }

 private:
  static constexpr char kNotAnArgument[] =
      "a function that is no argument of a call cannot be encoded";
  static constexpr char kUnknownTypes[] =
      "the types of this call are not known";

  Expr FailAt(const ExprNode* node, const char* message) {
    return Fail(ErrorAt(node->span(), message));
  }

  // The type of what `call` calls in this call, without type variables; null if
  // it is no function, or not known. Held until the next call.
  const FuncTypeNode* CalleeType(const CallNode* call) {
    Type type;
    if (const auto* global = call->op().As<GlobalVarNode>()) {
      const BaseFunc function = all_.module().Find(global->name());
      if (function.defined()) type = function->type();
    } else {
      type = call->op()->type();
    }
    const auto* function = type.As<FuncTypeNode>();
    if (function == nullptr) return nullptr;
    if (static_cast<int>(function->args().size()) != call->num_args()) {
      return nullptr;
    }
    TypeVarMap values;
    if (!Assign(function->type_params(), TypeArgsOf(*function, *call),
                values)) {
      return nullptr;
    }
    callee_type_ = SubstituteTypeVars(
        SubstituteTypeVars(
            FuncType({function->args().begin(), function->args().end()},
                     function->result()),
            values),
        types_);
    return callee_type_.As<FuncTypeNode>();
  }

  // Says which type is expected of literals in `call`.
  Expr BeforeCall(const CallNode* call) {
    if (call->op().Is<FunctionNode>()) places_.Insert(call->op().get());
    const bool takes_functions = call->op().Is<GlobalVarNode>() ||
                                 call->op().Is<VarNode>() ||
                                 call->op().Is<FunctionNode>();
    if (!takes_functions && !call->op().Is<OpNode>() &&
        !call->op().Is<ConstructorNode>()) {
      return FailAt(call->op().get(), kNotAnArgument);
    }
    bool any = false;
    for (const Expr& arg : call->args()) {
      any |= IsFunction(arg);
    }
    if (!any) return {};
    const FuncTypeNode* type = takes_functions ? CalleeType(call) : nullptr;
    if (type == nullptr) return FailAt(call, kUnknownTypes);
    for (int i = 0; i < call->num_args(); ++i) {
      const Expr& arg = call->arg(i);
      if (!IsFunction(arg)) continue;
      const auto* expected = type->args()[i].As<FuncTypeNode>();
      if (expected == nullptr) return FailAt(arg.get(), kUnknownTypes);
      if (arg.Is<FunctionNode>()) {
        const auto [known, is_new] = expected_.TryEmplace(arg.get());
        if (is_new) *known = FuncType(expected);
        if (!StructuralEqual(*known, Type(expected))) {
          return FailAt(arg.get(), kUnknownTypes);
        }
      } else if (!arg.Is<GlobalVarNode>() && !arg.Is<VarNode>()) {
        return FailAt(arg.get(),
                      "a function that is neither a literal nor a name cannot "
                      "be encoded");
      }
    }
    return {};
  }

  Defunctionalizer& all_;
  const TypeVarMap& types_;
  NodeMap<Var> vars_;
  NodeSet places_;  // literals that are called, or are the whole function
  NodeMap<FuncType> expected_;
  Type callee_type_;
};

Encoding& Defunctionalizer::EncodingOf(const FuncType& type) {
  Encoding*& encoding = encoding_of_[Type(type).ToString()];
  if (encoding == nullptr) {
    const size_t number = encodings_.size();
    encoding = &encodings_.emplace_back(Encoding{
        .function = type,
        .type = GlobalTypeVar(NewName(absl::StrCat("Defunc", number), true)),
        .apply = GlobalVar(NewName(absl::StrCat("apply", number), false))});
    encoding->params.push_back(Var("f", TypeCall(encoding->type, {})));
    for (const Type& arg : type->args()) {
      encoding->params.push_back(Var("x", Encoded(arg)));
    }
  }
  return *encoding;
}

Type Defunctionalizer::Encoded(const Type& type, int depth) {
  const auto* function = type.As<FuncTypeNode>();
  if (function == nullptr || depth > kMaxTypeDepth) return type;
  return TypeCall(EncodingOf(FuncType(function)).type, {});
}

std::string Defunctionalizer::NewName(absl::string_view base,
                                      bool is_type) const {
  std::string name(base);
  for (int i = 1; is_type ? result_.FindType(name).defined()
                          : result_.Find(name).defined();
       ++i) {
    name = absl::StrCat(base, "_", i);
  }
  return name;
}

Constructor Defunctionalizer::AddConstructor(Encoding& encoding,
                                             std::vector<Type> inputs) {
  const Constructor constructor(
      absl::StrCat(encoding.type->name(), "_", encoding.constructors.size()),
      std::move(inputs), encoding.type);
  encoding.constructors.push_back(constructor);
  encoding.clauses.emplace_back();
  return constructor;
}

absl::StatusOr<GlobalVar> Defunctionalizer::CalleeFor(const GlobalVar& var,
                                                      const FuncTypeNode& type,
                                                      const Span& span) {
  const Function function = module_.Find<Function>(var->name());
  if (!function.defined() || IsOpaque(*function)) {
    return ErrorAt(span, absl::StrCat("@", var->name(), " is not known"));
  }
  const std::vector<Type> values = MatchTypeParams(
      *function->type().As<FuncTypeNode>(), type.args(), type.result());
  TypeVarMap types;
  if (!Assign(function->type_params(), values, types)) {
    return ErrorAt(span, absl::StrCat("the type arguments of @", var->name(),
                                      " are not known"));
  }
  std::string key = var->name();
  for (const Type& value : values) {
    absl::StrAppend(&key, "\n", value.ToString());
  }
  const auto it = copies_.find(key);
  if (it != copies_.end()) return it->second;
  const GlobalVar name(
      NewName(absl::StrCat(var->name(), "_defunc"), /*is_type=*/false));
  copies_.emplace(key, name);
  result_.Set(name, function);  // for now
  pending_.push_back({function, std::move(types), name});
  return name;
}

absl::StatusOr<Expr> Defunctionalizer::EncodeGlobal(const GlobalVar& var,
                                                    const FuncType& type,
                                                    const Span& span) {
  const std::string key =
      absl::StrCat(var->name(), "\n", Type(type).ToString());
  const auto it = globals_.find(key);
  if (it != globals_.end()) {
    return Expr(Call(it->second, absl::Span<const Expr>()));
  }
  GlobalVar callee = var;
  if (IsConcerned(var->name())) {
    BATON_ASSIGN_OR_RETURN(callee, CalleeFor(var, *type.get(), span));
  }
  Encoding& encoding = EncodingOf(type);
  const Constructor constructor = AddConstructor(encoding, {});
  globals_.emplace(key, constructor);
  const std::vector<Expr> args(encoding.params.begin() + 1,
                               encoding.params.end());
  encoding.clauses.back() = {Pattern::OfConstructor(constructor, {}),
                             Call(callee, args)};
  LogOrigins(encoding.clauses.back().rhs, module_.Find(var->name()).get());
  return Expr(Call(constructor, absl::Span<const Expr>()));
}

Expr Defunctionalizer::EncodeLiteral(
    const FunctionNode* literal, const FuncType& type,
    const std::vector<std::pair<Var, Var>>& captured, std::vector<Expr> args,
    const TypeVarMap& types) {
  Encoding& encoding = EncodingOf(type);
  std::vector<Type> inputs;
  std::vector<Pattern> patterns;
  for (const auto& [var, inner] : captured) {
    inputs.push_back(inner->annotation());
    patterns.push_back(Pattern::OfVar(inner));
  }
  const Constructor constructor = AddConstructor(encoding, std::move(inputs));
  encoding.clauses.back().lhs =
      Pattern::OfConstructor(constructor, std::move(patterns));
  LiteralCopy copy{literal, types, captured, &encoding,
                   encoding.clauses.size() - 1};
  // A polymorphic literal gets the expected type. Type parameters that the
  // expected type does not determine are an error when the literal is
  // converted.
  Assign(literal->type_params(),
         MatchTypeParams(*Expr(literal)->type().As<FuncTypeNode>(),
                         type->args(), type->result()),
         copy.types);
  pending_literals_.push_back(std::move(copy));
  return Call(constructor, args);
}

void Defunctionalizer::FindConcerned() {
  FlatHashMap<std::string, std::vector<std::string>> callers;
  std::vector<std::string> pending;
  for (const auto& [var, function] : module_.functions<Function>()) {
    if (IsOpaque(*function)) continue;
    bool concerned = false;
    for (const Var& param : function->params()) {
      concerned |= HasFunction(param->type());
    }
    concerned |= HasFunction(ResultOf(function));
    const std::string name = var->name();
    PostOrderVisit(function, [&](const ExprNode* node) {
      const Expr* callee = nullptr;
      if (node->kind() == ExprKind::kCall) {
        callee = &static_cast<const CallNode*>(node)->op();
      }
      ForEachChild(node, [&](const Expr& child) {
        const auto* global = child.As<GlobalVarNode>();
        if (&child != callee) {
          concerned |= global != nullptr || child.Is<FunctionNode>();
        } else if (global != nullptr) {
          callers[global->name()].push_back(name);
        }
      });
    });
    if (concerned && concerned_.insert(name).second) pending.push_back(name);
  }
  while (!pending.empty()) {
    const std::string name = std::move(pending.back());
    pending.pop_back();
    for (const std::string& caller : callers[name]) {
      if (concerned_.insert(caller).second) pending.push_back(caller);
    }
  }
}

void Defunctionalizer::Finish(const Function& start) {
  for (Encoding& encoding : encodings_) {
    result_.SetType(TypeData(encoding.type, {}, encoding.constructors));
    const Function apply(encoding.params,
                         Match(encoding.params[0], encoding.clauses),
                         Encoded(encoding.function->result()));
    LogOrigins(apply, start.get());
    result_.Set(encoding.apply, apply);
  }
}

absl::StatusOr<IRModule> Defunctionalizer::Run(const std::string& start) {
  const Function main = module_.Find<Function>(start);
  if (!main->type_params().empty()) {
    return ErrorAt(main->span(),
                   absl::StrCat("@", start, " must not be polymorphic"));
  }
  for (const Var& param : main->params()) {
    if (HasFunction(param->type())) {
      return ErrorAt(
          param->span(),
          absl::StrCat("@", start, " must not have functions as parameters"));
    }
  }
  if (HasFunction(ResultOf(main))) {
    return ErrorAt(main->span(),
                   absl::StrCat("@", start, " must not return a function"));
  }
  FindConcerned();
  if (!IsConcerned(start)) return module_;
  const GlobalVar name = module_.FindGlobalVar(start);
  copies_.emplace(start, name);
  pending_.push_back({main, {}, name});
  while (!pending_.empty() || !pending_literals_.empty()) {
    if (!pending_.empty()) {
      const Copy copy = std::move(pending_.front());
      pending_.pop_front();
      if (HasFunction(
              SubstituteTypeVars(ResultOf(copy.function), copy.types))) {
        return ErrorAt(copy.function->span(),
                       "functions that return functions cannot be encoded");
      }
      BodyConverter converter(*this, copy.types);
      BATON_ASSIGN_OR_RETURN(const Function converted,
                             converter.Convert(copy.function));
      result_.Set(copy.name, converted);
      continue;
    }
    const LiteralCopy copy = std::move(pending_literals_.front());
    pending_literals_.pop_front();
    BodyConverter converter(*this, copy.types);
    for (const auto& [var, inner] : copy.captured) converter.Set(var, inner);
    BATON_ASSIGN_OR_RETURN(const Function converted,
                           converter.Convert(Function(copy.literal)));
    const auto& params = copy.encoding->params;
    const std::vector<Expr> args(params.begin() + 1, params.end());
    Expr& applied = copy.encoding->clauses[copy.clause].rhs;
    applied = Call(converted, args);
    LogOrigins(applied, copy.literal);
  }
  Finish(main);
  return InferTypes(result_);
}

absl::StatusOr<IRModule> Defunctionalize(
    const IRModule& given, const DefunctionalizationOptions& options) {
  BATON_ASSIGN_OR_RETURN(const IRModule module, InferTypes(given));
  return Defunctionalizer(module).Run(options.function);
}

}  // namespace

Pass Defunctionalization(DefunctionalizationOptions options) {
  return CreateModulePass(
      [options](const IRModule& module,
                const PassContext& /*context*/) -> absl::StatusOr<IRModule> {
        if (!module.Find<Function>(options.function).defined()) return module;
        return Defunctionalize(module, options);
      },
      {.name = "Defunctionalization",
       .doc = "Makes data of functions that are arguments.",
       .invalidates = {"a_normal_form", "basic_block_normal_form"},
       .waivers = {{"runs",
                    "Functions as values must be arguments of calls, as in "
                    "the reference."}}},
      options);
}
BATON_REGISTER_PASS(Defunctionalization);

}  // namespace baton::relay
