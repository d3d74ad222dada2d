#include "baton/relay/ir/infer_type.h"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <deque>
#include <iterator>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "absl/container/inlined_vector.h"
#include "absl/status/status.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/string_view.h"
#include "absl/types/span.h"
#include "baton/base/hash_table.h"
#include "baton/base/limits.h"
#include "baton/base/near_names.h"
#include "baton/base/out_of_memory.h"
#include "baton/base/status_macros.h"
#include "baton/ir/node_map.h"
#include "baton/ir/op.h"
#include "baton/ir/origin.h"
#include "baton/ir/type_relation.h"
#include "baton/relay/ir/adt.h"
#include "baton/relay/ir/infer_type_at.h"
#include "baton/relay/ir/type_sizes.h"
#include "baton/relay/ir/type_substitution.h"
#include "baton/relay/ir/unmatched_cases.h"
#include "baton/relay/ir/visit.h"

namespace baton::relay {

// Sets the types of nodes that inference made and that have no other users yet.
class TypedAccess {
 public:
  static void Complete(const ExprNode* node, Type type) {
    auto* n = const_cast<ExprNode*>(node);
    if (n->kind() == ExprKind::kVar) {
      static_cast<VarNode*>(n)->annotation_ = type;
    } else if (n->kind() == ExprKind::kFunction) {
      if (const auto* function_type = type.As<FuncTypeNode>()) {
        static_cast<FunctionNode*>(n)->result_type_ = function_type->result();
      }
    }
    InferredTypeAccess::Set(node, std::move(type));
  }
};

namespace {

// Types nested deeper than this are refused.
constexpr int kMaxTypeDepth = 1000;

const Type& ScalarBool() {
  static const auto* const kType = new Type(TensorType::Scalar(DType::Bool()));
  return *kType;
}

const Type& Unit() {
  static const auto* const kType = new Type(TupleType(std::vector<Type>()));
  return *kType;
}

// True if `dim` contains an unknown dimension.
bool HasAny(const Dim& dim) {
  absl::InlinedVector<Dim, 4> work = {dim};
  while (!work.empty()) {
    const Dim d = std::move(work.back());
    work.pop_back();
    if (d.is_any()) return true;
    if (!d.is_symbolic() || d.expr()->is_var()) continue;
    work.push_back(d.expr()->lhs());
    work.push_back(d.expr()->rhs());
  }
  return false;
}

// Why values of `tensor`, in the result of a relation, cannot be.
absl::Status ResultError(const TypeRelationContext& context,
                         const TensorTypeNode& tensor) {
  const absl::Status status = CheckShape(tensor.shape());
  if (!status.ok()) {
    return context.Error("the result would not do: ", status.message());
  }
  if (tensor.dtype().is_void()) {
    return context.Error("the result would have no element type");
  }
  return context.Error("the result would have the type ",
                       Type(&tensor).ToString());
}

// OK if `type`, the result of a relation, is possible: no dimension is negative
// or out of range, and their number is within the limits.
absl::Status CheckResult(const TypeRelationContext& context, const Type& type,
                         int64_t max_rank) {
  const auto check = [&](const TensorTypeNode& tensor) {
    static_assert(Dim::kOutOfRange < 0);
    bool possible = tensor.rank() <= max_rank && !tensor.dtype().is_void();
    for (const Dim& dim : tensor.shape()) {
      possible &= !dim.is_const() || dim.value() >= 0;
    }
    return possible ? absl::OkStatus() : ResultError(context, tensor);
  };
  if (const auto* tensor = type.As<TensorTypeNode>()) return check(*tensor);
  const auto* tuple = type.As<TupleTypeNode>();
  if (tuple == nullptr) return absl::OkStatus();
  const TypeNode* checked = nullptr;  // the fields of one tuple are often one
  for (const Type& field : tuple->fields()) {
    const auto* tensor = field.As<TensorTypeNode>();
    if (tensor == nullptr || tensor == checked) continue;
    BATON_RETURN_IF_ERROR(check(*tensor));
    checked = tensor;
  }
  return absl::OkStatus();
}

// The error for a node whose type was not found.
std::string DescribeIncomplete(const ExprNode* node, const Type& type) {
  if (node->kind() == ExprKind::kVar) {
    return absl::StrCat("cannot infer the type of %",
                        static_cast<const VarNode*>(node)->name(),
                        "; give it a type annotation");
  }
  if (node->kind() == ExprKind::kCall) {
    const auto* call = static_cast<const CallNode*>(node);
    if (const auto* callee = call->op().As<GlobalVarNode>()) {
      return absl::StrCat("cannot infer the result of @", callee->name(),
                          "; give it a result type");
    }
  }
  std::string message = absl::StrCat("cannot infer the type of this ",
                                     NodeKindName(node->kind()));
  if (!type.Is<IncompleteTypeNode>()) {
    absl::StrAppend(&message, " (found ", type.ToString(), ")");
  }
  return message;
}

// True for a tensor type, or a tuple of a few of them, whose dimensions are not
// expressions: most types, which need no counting.
inline bool IsSmall(const TypeNode* type) {
  const auto is_plain = [](const TypeNode* t) {
    if (t->kind() != TensorTypeNode::kKind) return false;
    for (const Dim& dim : static_cast<const TensorTypeNode*>(t)->shape()) {
      if (dim.is_symbolic() && !dim.expr()->is_var()) return false;
    }
    return true;
  };
  if (type->kind() != TupleTypeNode::kKind) return is_plain(type);
  const auto fields = static_cast<const TupleTypeNode*>(type)->fields();
  constexpr size_t kFew = 8;
  if (fields.size() > kFew) return false;
  for (const Type& field : fields) {
    if (!field.defined() || !is_plain(field.get())) return false;
  }
  return true;
}

class Inferencer final : private TypeRelationContext::Unifier {
 public:
  // `default_span` is the span of nodes that have none.
  Inferencer(const IRModule* module, Diagnostics& diagnostics,
             const Span& default_span)
      : module_(module),
        diagnostics_(diagnostics),
        default_span_(default_span),
        may_lack_definitions_(diagnostics.has_errors()) {
    results_.reserve(32);
  }

  // Infers a function of the module under its name, or any expression if
  // `name` is empty. The result is complete only after Finish().
  Expr Infer(const Expr& root, absl::string_view name);

  // Retries suspended nodes, completes all nodes made so far, and reports types
  // that cannot be inferred.
  void Finish();

  // The place of the node whose children are done; null if there is none.
  Span Place() const { return current_ == nullptr ? Span() : current_->span(); }

 private:
  enum class Step : uint8_t { kEnter, kLeave, kBindLet, kBindPatterns };
  struct Work {
    const ExprNode* node;
    Step step;
  };

  void Enter(const ExprNode* node);
  void EnterVar(const VarNode* var);
  // Replaces the children on top of `results_` by the typed node.
  void Leave(const ExprNode* node);
  // The typed node; may move elements out of `children`.
  Expr Rebuild(const ExprNode* node, absl::Span<Expr> children);
  Expr LeaveCall(const CallNode* call, Expr callee, absl::Span<Expr> args);
  Expr LeaveFunction(const FunctionNode* function, Expr body);
  // Binds the variables of a pattern for values of a type.
  void BindPattern(const PatternNode* pattern, const Type& type,
                   const MatchNode* match);
  Expr LeaveMatch(const MatchNode* match, absl::Span<Expr> children);
  void CheckComplete(const MatchNode* match);
  // Reports data types that the module lacks or that take other arguments.
  void CheckDataTypes(const Type& type, const ExprNode* node);
  Type TypeOfGeneralCall(const CallNode* call, const Type& callee,
                         absl::Span<const Expr> args);
  Type TypeOfProjection(const TupleGetItemNode* node, const Type& tuple);
  // The type of a child: a typed node, or a reference to a function of the
  // module.
  const Type& TypeOf(const Expr& expr) {
    return expr->kind() == ExprKind::kOp || expr->kind() == ExprKind::kGlobalVar
               ? TypeOfReference(expr)
               : expr->type();
  }
  const Type& TypeOfReference(const Expr& expr);
  const Type& TypeOfGlobal(const GlobalVarNode* var);

  const Var& Bind(const VarNode* var, const Type& type);
  void Push(const ExprNode* node, Step step) { work_.push_back({node, step}); }
  void RecordOrigin(const Expr& typed, const ExprNode* node) {
    if (records_origins_) baton::internal::RecordOrigin(typed.get(), node);
  }
  // Registers a node made here, to be completed later if its type is not.
  template <typename T>
  T Made(T node) {
    const TypeNode* const type = node->type().get();
    if (!type->complete()) incomplete_.push_back(node);
    // Most types have no parts, or are that of the node before.
    if (type != last_counted_ && !IsSmall(type)) {
      Count(node->type(), node.get());
    }
    return node;
  }
  // Adds the parts of `type` to those that the types of this run have, written
  // out; reports it if they are too many. From then on types do not grow, and
  // are not compared.
  void Count(const Type& type, const ExprNode* node);
  // `type`, or if there are too many parts something small.
  Type Bounded(Type type) {
    return types_are_too_large_ ? NewInferenceVar() : std::move(type);
  }

  // Calls and projections whose type waits for inference variables to be bound.
  void Suspend(const Expr& node);
  void Resume();
  // The type of a suspended node; null if it must wait on.
  absl::StatusOr<Type> Retry(const Expr& node);
  absl::StatusOr<Type> ApplyRelation(const CallNode* call,
                                     absl::Span<const Type> args);

  // An inference variable and its binding. Holds its node, so that the address
  // cannot be reused.
  struct InferenceVar {
    Type type;
    Type value;  // null until it is bound
  };
  // The variables in the order in which they were made. References stay valid.
  class InferenceVars {
   public:
    size_t size() const { return size_; }
    InferenceVar& operator[](size_t index) {
      return blocks_[index / kBlockSize][index % kBlockSize];
    }
    InferenceVar& Add(Type type) {
      if (size_ % kBlockSize == 0) {
        blocks_.push_back(std::make_unique<InferenceVar[]>(kBlockSize));
      }
      InferenceVar& added = (*this)[size_++];
      added.type = std::move(type);
      return added;
    }

   private:
    static constexpr size_t kBlockSize = 64;
    std::vector<std::unique_ptr<InferenceVar[]>> blocks_;
    size_t size_ = 0;
  };
  // The reference stays valid.
  const Type& NewInferenceVar() {
    const auto hint = static_cast<uint32_t>(inference_vars_.size() + 1);
    return inference_vars_
        .Add(Type(new IncompleteTypeNode(TypeVarKind::kType, hint)))
        .type;
  }
  // Null for a variable that was not made here and is not bound.
  InferenceVar* FindInferenceVar(const IncompleteTypeNode* variable);
  // `type` itself if it is complete; else with bound inference variables
  // replaced.
  Type Resolve(const Type& type) {
    return type->complete() ? type : ResolveDeep(type, 0);
  }
  Type ResolveDeep(const Type& type, int depth);
  // The binding of an inference variable, if it is bound; else `type` itself.
  const Type& ResolveTop(const Type& type) {
    const Type* top = &type;
    int steps = 0;
    for (; const auto* node = top->As<IncompleteTypeNode>(); ++steps) {
      const InferenceVar* variable = FindInferenceVar(node);
      if (variable == nullptr || !variable->value.defined()) break;
      top = &variable->value;
    }
    constexpr int kMostSteps = 8;
    if (steps > kMostSteps) return ShortenRow(type, *top, steps);
    return *top;
  }
  // Binds the variables of a long row, which stand for each other as the
  // results of functions that call the next do, to `top`, which the last stands
  // for.
  [[gnu::noinline]] const Type& ShortenRow(const Type& type, const Type& top,
                                           int steps) {
    const Type* next = &type;
    for (; steps > 1; --steps) {
      InferenceVar* variable = FindInferenceVar(next->As<IncompleteTypeNode>());
      const Type value = std::exchange(variable->value, top);
      next = &FindInferenceVar(value.As<IncompleteTypeNode>())->type;
    }
    return top;
  }
  absl::StatusOr<Type> UnifyTypes(const Type& a, const Type& b, int depth = 0);
  absl::Status Unify(const Type& a, const Type& b) override {
    return UnifyTypes(a, b).status();
  }
  // The common value of two dimensions; nullopt if there is none.
  std::optional<Dim> UnifyDims(Dim a, Dim b);
  absl::StatusOr<Type> Mismatch(const Type& a, const Type& b);
  absl::Status BindInferenceVar(const IncompleteTypeNode* node,
                                const Type& type);
  Type Instantiate(const Type& type, const TypeVarMap& values, int depth = 0);

  // Unifies, reports a failure at `node`, and returns the common type.
  template <typename... Context>
  Type Require(const Type& a, const Type& b, const ExprNode* node,
               const Context&... context);
  const Span& SpanOf(const ExprNode* node) const {
    return node->span().defined() ? node->span() : default_span_;
  }
  void Error(const ExprNode* node, std::string message) {
    diagnostics_.Error(SpanOf(node), std::move(message));
  }

  // Returns false if further errors are dropped, so that their texts need not
  // be made.
  bool KeepsErrors() const {
    return diagnostics_.num_errors() < Diagnostics::kMaxErrors;
  }

  const IRModule* module_;
  Diagnostics& diagnostics_;
  const Span default_span_;
  // Earlier errors may have kept definitions out of the module: inference does
  // not report missing ones.
  const bool may_lack_definitions_;
  const int64_t max_rank_ = CurrentLimits().max_rank;
  const bool records_origins_ = WantsOrigins();

  absl::InlinedVector<Work, 64> work_;
  std::vector<Expr> results_;
  NodeMap<Expr> memo_;  // of shared nodes
  NodeMap<Var> vars_;

  // Functions of the module, by name; the types of functions not inferred yet
  // contain inference variables.
  FlatHashMap<std::string, const Type*> globals_;
  std::deque<Type> global_types_;  // which stay where they are
  absl::string_view current_name_;
  const FunctionNode* current_function_ = nullptr;
  const ExprNode* current_ = nullptr;  // the node whose children are done

  // The nodes of those made here have a hint: 1 + the index.
  InferenceVars inference_vars_;
  FlatHashMap<const TypeNode*, size_t> foreign_vars_;
  // Symbolic dimensions that were found to be numbers.
  FlatHashMap<Dim, Dim> dim_values_;
  // See Count.
  const int64_t max_type_parts_ = CurrentLimits().max_type_parts;
  relay::TypeSizes type_sizes_;
  const TypeNode* last_counted_ = nullptr;
  int64_t type_parts_ = 0;
  bool types_are_too_large_ = false;
  std::vector<Expr> incomplete_;
  std::vector<Expr> suspended_;
  FlatHashMap<const TypeNode*, std::vector<size_t>> waiting_;
  std::deque<size_t> ready_;
};

Expr Inferencer::Infer(const Expr& root, absl::string_view name) {
  current_name_ = name;
  current_function_ = root.As<FunctionNode>();
  Push(root.get(), Step::kEnter);
  while (!work_.empty()) {
    if (!ready_.empty()) Resume();
    const Work work = work_.back();
    work_.pop_back();
    current_ = work.node;
    switch (work.step) {
      case Step::kEnter:
        Enter(work.node);
        break;
      case Step::kBindLet: {
        const auto* let = static_cast<const LetNode*>(work.node);
        const Type& value_type = TypeOf(results_.back());
        const VarNode* var = let->var().get();
        const Var& bound = Bind(
            var, var->annotation().defined() ? var->annotation() : value_type);
        Require(bound->type(), value_type, let, "the value of %", var->name(),
                " does not have its type");
        break;
      }
      case Step::kBindPatterns: {
        const auto* match = static_cast<const MatchNode*>(work.node);
        const Type type = TypeOf(results_.back());
        for (const Clause& clause : match->clauses()) {
          BindPattern(clause.lhs.get(), type, match);
        }
        break;
      }
      case Step::kLeave:
        Leave(work.node);
        RecordOrigin(results_.back(), work.node);
        if (!work.node->unique()) memo_[work.node] = results_.back();
        break;
    }
  }
  Expr result = std::move(results_.back());
  results_.pop_back();
  return result;
}

void Inferencer::Enter(const ExprNode* node) {
  if (node == nullptr) {
    diagnostics_.Error(default_span_, "an operand is missing");
    results_.push_back(
        Constant(Tensor(), TensorType::Scalar(DType::Float(32))));
    return;
  }
  // A node with a type is typed in all its children.
  if (node->type().defined() || node->kind() == ExprKind::kOp ||
      node->kind() == ExprKind::kGlobalVar) {
    results_.push_back(Expr(node));
    return;
  }
  if (node->kind() == ExprKind::kVar) {
    EnterVar(static_cast<const VarNode*>(node));
    return;
  }
  if (!node->unique()) {
    if (const Expr* typed = memo_.Find(node); typed != nullptr) {
      results_.push_back(*typed);
      return;
    }
  }
  switch (ExprKindOf(node)) {
    case ExprKind::kConstant: {
      const auto* constant = static_cast<const ConstantNode*>(node);
      Expr typed =
          Constant(constant->value(), constant->ValueType(), SpanOf(node));
      RecordOrigin(typed, node);
      if (!node->unique()) memo_[node] = typed;
      results_.push_back(std::move(typed));
      return;
    }
    case ExprKind::kLet: {
      const auto* let = static_cast<const LetNode*>(node);
      // A function may call itself through the variable that it is bound to.
      if (let->value().Is<FunctionNode>()) {
        const Type& annotation = let->var()->annotation();
        Bind(let->var().get(),
             annotation.defined() ? annotation : NewInferenceVar());
      }
      Push(node, Step::kLeave);
      Push(let->body().get(), Step::kEnter);
      Push(node, Step::kBindLet);
      Push(let->value().get(), Step::kEnter);
      return;
    }
    case ExprKind::kFunction: {
      const auto* function = static_cast<const FunctionNode*>(node);
      // Inference variables that an earlier reference to this function made.
      const FuncTypeNode* known = nullptr;
      if (node == current_function_) {
        const auto it = globals_.find(current_name_);
        if (it != globals_.end()) known = it->second->As<FuncTypeNode>();
      }
      if (function->params().size() > 8) {
        vars_.Reserve(vars_.size() + function->params().size());
      }
      for (size_t i = 0; i < function->params().size(); ++i) {
        const VarNode* param = function->params()[i].get();
        if (param->type().defined()) continue;  // stands for itself
        Bind(param, known != nullptr                ? known->args()[i]
                    : param->annotation().defined() ? param->annotation()
                                                    : NewInferenceVar());
      }
      Push(node, Step::kLeave);
      Push(function->body().get(), Step::kEnter);
      if (function->result_type().defined()) {
        CheckDataTypes(function->result_type(), function);
      }
      return;
    }
    case ExprKind::kMatch: {
      const auto* match = static_cast<const MatchNode*>(node);
      Push(node, Step::kLeave);
      const absl::Span<const Clause> clauses = match->clauses();
      for (size_t i = clauses.size(); i-- > 0;) {
        Push(clauses[i].rhs.get(), Step::kEnter);
      }
      Push(node, Step::kBindPatterns);
      Push(match->data().get(), Step::kEnter);
      return;
    }
    case ExprKind::kCall: {
      const auto* call = static_cast<const CallNode*>(node);
      Push(node, Step::kLeave);
      const absl::Span<const Expr> args = call->args();
      for (size_t i = args.size(); i-- > 0;) {
        Push(args[i].get(), Step::kEnter);
      }
      // An operator needs no type.
      if (call->op_node() == nullptr) Push(call->op().get(), Step::kEnter);
      return;
    }
    case ExprKind::kVar:
    case ExprKind::kOp:
    case ExprKind::kGlobalVar:
    case ExprKind::kConstructor:
      results_.push_back(Expr(node));  // done above, or has a fixed type
      return;
    case ExprKind::kTuple:
    case ExprKind::kTupleGetItem:
    case ExprKind::kIf:
    case ExprKind::kRefCreate:
    case ExprKind::kRefRead:
    case ExprKind::kRefWrite: {
      Push(node, Step::kLeave);
      const size_t first = work_.size();
      ForEachChild(
          node, [this](const Expr& child) { Push(child.get(), Step::kEnter); });
      std::reverse(work_.begin() + static_cast<ptrdiff_t>(first), work_.end());
      return;
    }
  }
  results_.push_back(Rebuild(node, {}));  // of another level: an error
}

const Var& Inferencer::Bind(const VarNode* var, const Type& type) {
  // A variable bound twice keeps its first binding; well-formedness reports
  // it.
  const auto [bound, is_new] = vars_.TryEmplace(var);
  if (!is_new) return *bound;
  if (var->type().defined()) {
    *bound = Var(var);
    return *bound;
  }
  if (var->annotation().defined()) CheckDataTypes(var->annotation(), var);
  *bound = Made(Var(new VarNode(var->name(), type, type, var->span())));
  RecordOrigin(*bound, var);
  return *bound;
}

void Inferencer::EnterVar(const VarNode* var) {
  if (const Var* bound = vars_.Find(var); bound != nullptr) {
    results_.push_back(*bound);
    return;
  }
  if (!current_name_.empty()) {
    Error(var, absl::StrCat("unbound variable %", var->name()));
  } else if (!var->annotation().defined()) {
    Error(var, absl::StrCat("free variable %", var->name(),
                            " has no type annotation"));
  }
  results_.push_back(Bind(var, var->annotation().defined()
                                   ? var->annotation()
                                   : NewInferenceVar()));
}

const Type& Inferencer::TypeOfReference(const Expr& expr) {
  if (const auto* global = expr.As<GlobalVarNode>()) {
    return TypeOfGlobal(global);
  }
  // Operators are shared nodes, and so have no place in the text.
  if (current_ != nullptr) {
    Error(current_, absl::StrCat("operator ", expr.As<OpNode>()->name(),
                                 " can only be called, not used as a value"));
  }
  return NewInferenceVar();
}

const Type& Inferencer::TypeOfGlobal(const GlobalVarNode* var) {
  const auto it = globals_.find(var->name());
  if (it != globals_.end()) return *it->second;
  const BaseFunc known =
      module_ == nullptr ? BaseFunc() : module_->Find(var->name());
  const Function function(known.As<FunctionNode>());
  Type type;
  if (known.defined() && known->type().defined()) {
    type = known->type();
  } else if (!function.defined()) {
    if (var->type().defined()) return var->type();
    if (known.defined()) {
      Error(var, absl::StrCat("@", var->name(), " has no type: it is a ",
                              NodeKindName(known->kind())));
    } else if (!may_lack_definitions_) {
      std::vector<std::string> names;
      if (module_ != nullptr && KeepsErrors()) {
        for (const auto& d : module_->functions()) {
          names.push_back(d.var->name());
        }
      }
      Error(var, absl::StrCat("the module has no function @", var->name(),
                              DidYouMean(var->name(), names)));
    }
    type = NewInferenceVar();
  } else {
    std::vector<Type> args;
    for (const Var& param : function->params()) {
      const Var* bound = vars_.Find(param.get());
      args.push_back(bound != nullptr                ? (*bound)->type()
                     : param->type().defined()       ? param->type()
                     : param->annotation().defined() ? param->annotation()
                                                     : NewInferenceVar());
    }
    type = FuncType(
        std::move(args),
        function->result_type().defined() ? function->result_type()
                                          : NewInferenceVar(),
        {function->type_params().begin(), function->type_params().end()});
  }
  global_types_.push_back(std::move(type));
  return *globals_.emplace(var->name(), &global_types_.back()).first->second;
}

void Inferencer::Leave(const ExprNode* node) {
  size_t n = 0;
  switch (ExprKindOf(node)) {
    case ExprKind::kCall: {
      const auto* call = static_cast<const CallNode*>(node);
      n = static_cast<size_t>(call->num_args()) +
          (call->op_node() == nullptr ? 1 : 0);
      break;
    }
    case ExprKind::kTuple:
      n = static_cast<const TupleNode*>(node)->fields().size();
      break;
    case ExprKind::kLet:
    case ExprKind::kRefWrite:
      n = 2;
      break;
    case ExprKind::kIf:
      n = 3;
      break;
    case ExprKind::kMatch:
      n = static_cast<const MatchNode*>(node)->clauses().size() + 1;
      break;
    case ExprKind::kTupleGetItem:
    case ExprKind::kFunction:
    case ExprKind::kRefCreate:
    case ExprKind::kRefRead:
      n = 1;
      break;
    case ExprKind::kVar:
    case ExprKind::kConstant:
    case ExprKind::kGlobalVar:
    case ExprKind::kOp:
    case ExprKind::kConstructor:
      break;
  }
  const size_t first = results_.size() - n;
  Expr result = Rebuild(node, absl::MakeSpan(results_).subspan(first));
  results_.resize(first);
  results_.push_back(std::move(result));
}

Expr Inferencer::Rebuild(const ExprNode* node, absl::Span<Expr> children) {
  switch (ExprKindOf(node)) {
    case ExprKind::kCall: {
      const auto* call = static_cast<const CallNode*>(node);
      if (call->op_node() != nullptr) {
        return LeaveCall(call, call->op(), children);
      }
      return LeaveCall(call, std::move(children[0]), children.subspan(1));
    }
    case ExprKind::kTuple: {
      std::vector<Type> types;
      types.reserve(children.size());
      for (const Expr& child : children) types.push_back(TypeOf(child));
      std::vector<Expr> fields(std::make_move_iterator(children.begin()),
                               std::make_move_iterator(children.end()));
      return Made(Tuple(std::move(fields), Bounded(TupleType(std::move(types))),
                        SpanOf(node)));
    }
    case ExprKind::kTupleGetItem: {
      const auto* item = static_cast<const TupleGetItemNode*>(node);
      const Type& tuple = ResolveTop(TypeOf(children[0]));
      if (tuple.Is<IncompleteTypeNode>()) {
        const TupleGetItem result =
            Made(TupleGetItem(std::move(children[0]), item->index(),
                              NewInferenceVar(), SpanOf(node)));
        Suspend(result);
        return result;
      }
      Type type = TypeOfProjection(item, tuple);
      return Made(TupleGetItem(std::move(children[0]), item->index(),
                               std::move(type), SpanOf(node)));
    }
    case ExprKind::kFunction:
      return LeaveFunction(static_cast<const FunctionNode*>(node),
                           std::move(children[0]));
    case ExprKind::kLet: {
      const auto* let = static_cast<const LetNode*>(node);
      const Var* bound = vars_.Find(let->var().get());
      const Type& type = TypeOf(children[1]);
      return Made(Let(bound == nullptr ? let->var() : *bound,
                      std::move(children[0]), std::move(children[1]), type,
                      SpanOf(node)));
    }
    case ExprKind::kIf: {
      // The place of a variable is that of its binding.
      const ExprNode* place =
          children[0].Is<VarNode>() ? node : children[0].get();
      Require(ScalarBool(), TypeOf(children[0]), place,
              "the condition of an if must be a scalar bool");
      Type type = Require(TypeOf(children[1]), TypeOf(children[2]), node,
                          "the branches of an if must have one type");
      return Made(If(std::move(children[0]), std::move(children[1]),
                     std::move(children[2]), std::move(type), SpanOf(node)));
    }
    case ExprKind::kRefCreate: {
      Type type = Bounded(RefType(TypeOf(children[0])));
      return Made(
          RefCreate(std::move(children[0]), std::move(type), node->span()));
    }
    case ExprKind::kRefRead: {
      Type ref = ResolveTop(TypeOf(children[0]));
      if (!ref.Is<RefTypeNode>()) {
        ref = Require(RefType(NewInferenceVar()), ref, node,
                      "ref_read needs a reference");
      }
      const auto* ref_type = ref.As<RefTypeNode>();
      return Made(
          RefRead(std::move(children[0]),
                  ref_type == nullptr ? NewInferenceVar() : ref_type->value(),
                  node->span()));
    }
    case ExprKind::kMatch:
      return LeaveMatch(static_cast<const MatchNode*>(node), children);
    case ExprKind::kRefWrite: {
      const Type& ref = ResolveTop(TypeOf(children[0]));
      const Type& value = TypeOf(children[1]);
      if (const auto* ref_type = ref.As<RefTypeNode>()) {
        Require(ref_type->value(), value, node,
                "ref_write stores a value of another type");
      } else {
        Require(RefType(value), ref, node, "ref_write needs a reference");
      }
      return Made(RefWrite(std::move(children[0]), std::move(children[1]),
                           Unit(), node->span()));
    }
    case ExprKind::kVar:
    case ExprKind::kConstant:
    case ExprKind::kGlobalVar:
    case ExprKind::kOp:
    case ExprKind::kConstructor:
      break;
  }
  Error(node, absl::StrCat("cannot infer the type of a ",
                           NodeKindName(node->kind())));
  return Expr(node);
}

Expr Inferencer::LeaveCall(const CallNode* call, Expr callee,
                           absl::Span<Expr> args) {
  const OpNode* op = callee.As<OpNode>();
  const auto make = [&](Type type) {
    if (types_are_too_large_) type = NewInferenceVar();
    return Made(
        Call::Taking(std::move(callee), args, call->attrs(),
                     {call->type_args().begin(), call->type_args().end()},
                     std::move(type), SpanOf(call)));
  };
  if (op == nullptr) {
    return make(TypeOfGeneralCall(call, TypeOf(callee), args));
  }
  if (op->arity() >= 0 && op->arity() != call->num_args()) {
    Error(call, absl::StrCat(op->name(), " takes ", op->arity(),
                             op->arity() == 1 ? " argument" : " arguments",
                             ", found ", call->num_args()));
    return make(NewInferenceVar());
  }
  if (op->type_relation() == nullptr) {
    Error(call,
          absl::StrCat("operator ", op->name(),
                       op->index() < 0 ? " is not linked into this program"
                                       : " has no type relation"));
    return make(NewInferenceVar());
  }
  absl::InlinedVector<Type, 6> arg_types;
  for (const Expr& arg : args) {
    const Type& type = TypeOf(arg);
    // Resolving walks the type.
    if (!type->complete()) Count(type, call);
    if (types_are_too_large_) return make(NewInferenceVar());
    arg_types.push_back(Resolve(type));
  }
  absl::StatusOr<Type> type = ApplyRelation(call, arg_types);
  if (!type.ok()) {
    Error(call, std::string(type.status().message()));
    return make(NewInferenceVar());
  }
  if (type->defined()) return make(*std::move(type));
  const Call result = make(NewInferenceVar());
  Suspend(result);
  return result;
}

absl::StatusOr<Type> Inferencer::ApplyRelation(const CallNode* call,
                                               absl::Span<const Type> args) {
  const OpNode& op = *call->op_node();
  TypeRelationContext context(op, call->args(), call->attrs(), args, this);
  absl::StatusOr<Type> type = op.type_relation()(context);
  if (!context.status().ok()) return context.status();
  if (type.ok()) BATON_RETURN_IF_ERROR(CheckResult(context, *type, max_rank_));
  return type;
}

Type Inferencer::TypeOfGeneralCall(const CallNode* call, const Type& callee,
                                   absl::Span<const Expr> args) {
  const Type& type = ResolveTop(callee);
  if (type.Is<IncompleteTypeNode>()) {
    // A function of these arguments with an unknown result.
    std::vector<Type> arg_types;
    for (const Expr& arg : args) arg_types.push_back(TypeOf(arg));
    const Type result = NewInferenceVar();
    Require(type, FuncType(std::move(arg_types), result), call,
            "call of something else than a function");
    return result;
  }
  const auto* function = type.As<FuncTypeNode>();
  if (function == nullptr) {
    Error(call, absl::StrCat("only a function can be called, found ",
                             type.ToString()));
    return NewInferenceVar();
  }
  if (function->args().size() != args.size()) {
    Error(call, absl::StrCat(
                    "the function takes ", function->args().size(),
                    function->args().size() == 1 ? " argument" : " arguments",
                    ", found ", args.size()));
    return NewInferenceVar();
  }
  if (call->type_args().size() > function->type_params().size()) {
    Error(call,
          absl::StrCat("the function takes ", function->type_params().size(),
                       " type arguments, found ", call->type_args().size()));
    return NewInferenceVar();
  }
  if (function->type_params().empty()) {
    for (size_t i = 0; i < args.size(); ++i) {
      Require(function->args()[i], TypeOf(args[i]), call, "argument ", i,
              " of the call has another type");
    }
    return function->result();
  }
  TypeVarMap values;
  for (size_t i = 0; i < function->type_params().size(); ++i) {
    values.emplace(function->type_params()[i].get(),
                   i < call->type_args().size() ? call->type_args()[i]
                                                : NewInferenceVar());
  }
  for (size_t i = 0; i < args.size(); ++i) {
    Require(Instantiate(function->args()[i], values), TypeOf(args[i]), call,
            "argument ", i, " of the call has another type");
  }
  return Instantiate(function->result(), values);
}

Type Inferencer::TypeOfProjection(const TupleGetItemNode* node,
                                  const Type& tuple) {
  const auto* type = tuple.As<TupleTypeNode>();
  if (type == nullptr) {
    Error(node,
          absl::StrCat("only a tuple has fields, found ", tuple.ToString()));
    return NewInferenceVar();
  }
  if (node->index() < 0 ||
      node->index() >= static_cast<int>(type->fields().size())) {
    Error(node,
          absl::StrCat("field ", node->index(), " is not in a tuple of size ",
                       type->fields().size()));
    return NewInferenceVar();
  }
  return type->fields()[node->index()];
}

void Inferencer::BindPattern(const PatternNode* root, const Type& root_type,
                             const MatchNode* match) {
  struct Part {
    const PatternNode* pattern;
    Type type;
    int depth;
  };
  std::vector<Part> work = {{root, root_type, 0}};
  const auto error = [&](const PatternNode* pattern, std::string message) {
    diagnostics_.Error(
        pattern->span().defined() ? pattern->span() : match->span(),
        std::move(message));
  };
  // Requires that values of type `a` are of type `b`.
  const auto require = [&](const PatternNode* pattern, const Type& a,
                           const Type& b) {
    const absl::Status status = Unify(a, b);
    if (!status.ok()) {
      error(pattern,
            absl::StrCat("the pattern ", Handle(pattern).ToString(),
                         " is for values of another type: ", status.message()));
    }
    return status.ok();
  };
  while (!work.empty()) {
    const Part part = std::move(work.back());
    work.pop_back();
    const absl::Span<const Pattern> parts = part.pattern->patterns();
    std::vector<Type> types;
    switch (part.pattern->form()) {
      case PatternNode::Form::kWildcard:
        continue;
      case PatternNode::Form::kVar: {
        const Var& var = part.pattern->var();
        const Var bound =
            Bind(var.get(),
                 var->annotation().defined() ? var->annotation() : part.type);
        require(part.pattern, part.type, bound->type());
        continue;
      }
      case PatternNode::Form::kTuple:
        for (size_t i = 0; i < parts.size(); ++i) {
          types.push_back(NewInferenceVar());
        }
        if (!require(part.pattern, part.type, TupleType(types))) {
          types.assign(parts.size(), Type());
        }
        break;
      case PatternNode::Form::kConstructor: {
        const ConstructorNode* constructor = part.pattern->constructor().get();
        if (parts.size() != constructor->inputs().size()) {
          error(part.pattern,
                absl::StrCat(
                    "constructor ", constructor->name(), " takes ",
                    constructor->num_inputs(),
                    constructor->num_inputs() == 1 ? " argument" : " arguments",
                    ", the pattern has ", parts.size()));
          types.assign(parts.size(), Type());
          break;
        }
        TypeVarMap values;
        std::vector<Type> args;
        for (const TypeVar& param : constructor->type_params()) {
          args.push_back(NewInferenceVar());
          values.emplace(param.get(), args.back());
        }
        if (!require(part.pattern, part.type,
                     TypeCall(constructor->belongs_to(), std::move(args)))) {
          types.assign(parts.size(), Type());
          break;
        }
        for (const Type& input : constructor->inputs()) {
          types.push_back(Instantiate(input, values));
        }
        break;
      }
    }
    if (part.depth >= kMaxPatternDepth && !parts.empty()) {
      error(part.pattern, "the pattern is nested too deeply");
      continue;
    }
    for (size_t i = parts.size(); i-- > 0;) {
      // After an error, variables may have any type.
      work.push_back({parts[i].get(),
                      types[i].defined() ? types[i] : NewInferenceVar(),
                      part.depth + 1});
    }
  }
}

Expr Inferencer::LeaveMatch(const MatchNode* match, absl::Span<Expr> children) {
  Type result;
  std::vector<Clause> clauses;
  clauses.reserve(match->clauses().size());
  std::vector<Var> vars;
  for (size_t i = 0; i < match->clauses().size(); ++i) {
    const PatternNode* lhs = match->clauses()[i].lhs.get();
    vars.clear();
    ForEachVar(lhs, [&](const Var& var) {
      const Var* bound = vars_.Find(var.get());
      vars.push_back(bound == nullptr ? var : *bound);
    });
    absl::Span<const Var> rest = vars;
    Expr& rhs = children[i + 1];
    const Type& type = TypeOf(rhs);
    result = i == 0 ? type
                    : Require(result, type,
                              rhs->span().defined() ? rhs.get() : match,
                              "clause ", i, " of the match has another type");
    clauses.push_back({WithVars(lhs, &rest), std::move(rhs)});
  }
  if (!result.defined()) result = NewInferenceVar();
  if (match->complete()) CheckComplete(match);
  return Made(Match(std::move(children[0]), std::move(clauses),
                    match->complete(), std::move(result), match->span()));
}

void Inferencer::CheckComplete(const MatchNode* match) {
  // A pattern with a mistake in it was reported before.
  if (diagnostics_.has_errors()) return;
  const absl::StatusOr<std::vector<Pattern>> missing =
      UnmatchedCases(*match, module_);
  if (!missing.ok()) {
    Error(match, std::string(missing.status().message()));
    return;
  }
  if (missing->empty()) return;
  std::string cases;
  for (const Pattern& pattern : *missing) {
    absl::StrAppend(&cases, cases.empty() ? "" : ", ", pattern.ToString());
  }
  Error(match, absl::StrCat("the match does not handle ", cases,
                            "; `match?` may be incomplete"));
}

void Inferencer::CheckDataTypes(const Type& type, const ExprNode* node) {
  if (module_ == nullptr || type.Is<TensorTypeNode>()) return;
  if (const auto* tuple = type.As<TupleTypeNode>();
      tuple != nullptr &&
      std::all_of(tuple->fields().begin(), tuple->fields().end(),
                  [](const Type& t) { return t.Is<TensorTypeNode>(); })) {
    return;
  }
  absl::InlinedVector<const TypeNode*, 8> work = {type.get()};
  const auto push_all = [&work](absl::Span<const Type> types) {
    for (const Type& t : types) work.push_back(t.get());
  };
  while (!work.empty()) {
    const TypeNode* top = work.back();
    work.pop_back();
    switch (TypeKindOf(top)) {
      case TypeKind::kTupleType:
        push_all(static_cast<const TupleTypeNode*>(top)->fields());
        break;
      case TypeKind::kFuncType:
        push_all(static_cast<const FuncTypeNode*>(top)->args());
        work.push_back(static_cast<const FuncTypeNode*>(top)->result().get());
        break;
      case TypeKind::kRefType:
        work.push_back(static_cast<const RefTypeNode*>(top)->value().get());
        break;
      case TypeKind::kTypeCall: {
        const auto* call = static_cast<const TypeCallNode*>(top);
        push_all(call->args());
        const auto* name = call->func().As<GlobalTypeVarNode>();
        if (name == nullptr) {
          Error(node, absl::StrCat("only a data type takes type arguments, "
                                   "found ",
                                   call->func().ToString()));
          break;
        }
        const TypeData data = module_->FindType<TypeData>(name->name());
        if (!data.defined()) {
          if (may_lack_definitions_) break;
          std::vector<std::string> known;
          if (KeepsErrors()) {
            for (const TypeData& each : module_->types<TypeData>()) {
              known.push_back(each->name());
            }
          }
          Error(node, absl::StrCat("the module has no type ", name->name(),
                                   DidYouMean(name->name(), known)));
        } else if (data->type_params().size() != call->args().size()) {
          Error(node,
                absl::StrCat("the type ", name->name(), " takes ",
                             data->type_params().size(),
                             data->type_params().size() == 1 ? " argument"
                                                             : " arguments",
                             ", found ", call->args().size()));
        }
        break;
      }
      case TypeKind::kTensorType:
      case TypeKind::kTypeVar:
      case TypeKind::kGlobalTypeVar:
      case TypeKind::kIncompleteType:
        break;
    }
  }
}

Expr Inferencer::LeaveFunction(const FunctionNode* function, Expr body) {
  Type result = TypeOf(body);
  if (function->result_type().defined()) {
    result = Require(function->result_type(), result, function,
                     "the body does not have the declared result type");
  }
  if (function == current_function_) {
    const auto it = globals_.find(current_name_);
    if (it != globals_.end()) {
      if (const auto* known = it->second->As<FuncTypeNode>()) {
        result = Require(known->result(), result, function,
                         "the calls of this function expect another result");
      }
    }
  }
  std::vector<Var> params;
  std::vector<Type> param_types;
  params.reserve(function->params().size());
  param_types.reserve(function->params().size());
  for (const Var& param : function->params()) {
    const Var* bound = vars_.Find(param.get());
    params.push_back(bound == nullptr ? param : *bound);
    param_types.push_back(params.back()->type());
  }
  const Type type(FuncType(
      std::move(param_types), result,
      {function->type_params().begin(), function->type_params().end()}));
  if (function == current_function_ && !current_name_.empty()) {
    // For the calls in the functions that come after this one.
    global_types_.push_back(type);
    globals_.emplace(current_name_, &global_types_.back());
  }
  return Made(Function(
      std::move(params), std::move(body),
      function->result_type().defined() ? function->result_type() : result,
      {function->type_params().begin(), function->type_params().end()},
      function->attrs(), type, SpanOf(function)));
}

void Inferencer::Suspend(const Expr& node) {
  const size_t id = suspended_.size();
  suspended_.push_back(node);
  ready_.push_back(id);
}

void Inferencer::Resume() {
  current_ = nullptr;
  while (!ready_.empty()) {
    const size_t id = ready_.front();
    ready_.pop_front();
    const Expr node = suspended_[id];
    if (!node.defined()) continue;
    absl::StatusOr<Type> type = Retry(node);
    if (!type.ok()) {
      Error(node.get(), std::string(type.status().message()));
      suspended_[id] = {};
    } else if (type->defined()) {
      suspended_[id] = {};
      Require(node->type(), *type, node.get(), "conflicting types");
    } else {
      // Wait for each inference variable in the arguments.
      FlatHashSet<const TypeNode*> seen;
      std::vector<Type> types;
      ForEachChild(node.get(), [&](const Expr& child) {
        if (child.Is<OpNode>()) return;
        types.push_back(Resolve(TypeOf(child)));
      });
      while (!types.empty()) {
        const Type t = std::move(types.back());
        types.pop_back();
        if (!t.defined() || t->complete() || !seen.insert(t.get()).second) {
          continue;
        }
        if (t.Is<IncompleteTypeNode>()) {
          waiting_[t.get()].push_back(id);
        } else {
          ForEachTypePart(
              t, [&types](const Type& part) { types.push_back(part); });
        }
      }
    }
  }
}

absl::StatusOr<Type> Inferencer::Retry(const Expr& node) {
  if (const auto* item = node.As<TupleGetItemNode>()) {
    const Type& tuple = ResolveTop(TypeOf(item->tuple()));
    return tuple.Is<IncompleteTypeNode>() ? Type()
                                          : TypeOfProjection(item, tuple);
  }
  const auto* call = node.As<CallNode>();
  absl::InlinedVector<Type, 6> arg_types;
  for (const Expr& arg : call->args()) {
    arg_types.push_back(Resolve(TypeOf(arg)));
  }
  return ApplyRelation(call, arg_types);
}

void Inferencer::Count(const Type& type, const ExprNode* node) {
  if (types_are_too_large_ || type.Is<IncompleteTypeNode>() ||
      IsSmall(type.get())) {
    return;
  }
  const int64_t size = type_sizes_.Of(type);
  // Small types are not what makes a program large; nor are types of a program
  // that has about as many different ones, such as tuples nested deeply.
  constexpr int64_t kSmall = 64;
  if (size <= kSmall * std::max<int64_t>(type_sizes_.num_counted(), 1)) {
    last_counted_ = type.get();
    return;
  }
  type_parts_ += size;
  if (type_parts_ <= max_type_parts_) return;
  types_are_too_large_ = true;
  Error(node, absl::StrCat("the types have, written out, more than ",
                           max_type_parts_, " parts (limits.max_type_parts)"));
}

void Inferencer::Finish() {
  Resume();
  FlatHashSet<const TypeNode*> reported;
  for (const Expr& node : incomplete_) {
    Type type = types_are_too_large_ ? node->type() : Resolve(node->type());
    // An inference variable may stand for much.
    if (type != node->type()) Count(type, node.get());
    if (!type->complete() && !diagnostics_.has_errors() &&
        reported.insert(type.get()).second) {
      Error(node.get(), DescribeIncomplete(node.get(), type));
    }
    TypedAccess::Complete(node.get(), std::move(type));
  }
  incomplete_.clear();
}

Inferencer::InferenceVar* Inferencer::FindInferenceVar(
    const IncompleteTypeNode* variable) {
  const size_t index = size_t{variable->hint()} - 1;
  if (index < inference_vars_.size() &&
      inference_vars_[index].type.get() == variable) {
    return &inference_vars_[index];
  }
  const auto it = foreign_vars_.find(variable);
  return it == foreign_vars_.end() ? nullptr : &inference_vars_[it->second];
}

Type Inferencer::ResolveDeep(const Type& type, int depth) {
  if (type->complete() || depth > kMaxTypeDepth) return type;
  if (type.Is<IncompleteTypeNode>()) {
    const Type& top = ResolveTop(type);
    return top == type ? type : ResolveDeep(top, depth + 1);
  }
  return MapTypeParts(type, [this, depth](const Type& part) {
    return ResolveDeep(part, depth + 1);
  });
}

Type Inferencer::Instantiate(const Type& type, const TypeVarMap& values,
                             int depth) {
  if (values.empty() || depth > kMaxTypeDepth) return type;
  if (type.Is<TypeVarNode>()) {
    const auto it = values.find(type.get());
    return it == values.end() ? type : it->second;
  }
  if (type.Is<IncompleteTypeNode>()) {
    const Type& top = ResolveTop(type);
    return top == type ? type : Instantiate(top, values, depth + 1);
  }
  return MapTypeParts(type, [&](const Type& part) {
    return Instantiate(part, values, depth + 1);
  });
}

absl::StatusOr<Type> Inferencer::Mismatch(const Type& a, const Type& b) {
  return absl::InvalidArgumentError(absl::StrCat(
      "expected ", Resolve(a).ToString(), ", found ", Resolve(b).ToString()));
}

absl::Status Inferencer::BindInferenceVar(const IncompleteTypeNode* node,
                                          const Type& type) {
  // A variable that occurs in its own value would make an infinite type.
  if (!type->complete()) {
    std::vector<Type> work = {type};
    while (!work.empty()) {
      const Type t = ResolveTop(std::move(work.back()));
      work.pop_back();
      if (t.get() == node) {
        return absl::InvalidArgumentError("the type contains itself");
      }
      if (t->complete()) continue;
      ForEachTypePart(t, [&work](const Type& part) { work.push_back(part); });
    }
  }
  InferenceVar* variable = FindInferenceVar(node);
  if (variable == nullptr) {
    foreign_vars_.emplace(node, inference_vars_.size());
    variable = &inference_vars_.Add(Type(node));
  }
  variable->value = type;
  if (waiting_.empty()) return absl::OkStatus();
  const auto it = waiting_.find(node);
  if (it != waiting_.end()) {
    ready_.insert(ready_.end(), it->second.begin(), it->second.end());
    waiting_.erase(it);
  }
  return absl::OkStatus();
}

std::optional<Dim> Inferencer::UnifyDims(Dim a, Dim b) {
  const auto resolve = [this](Dim& dim) {
    while (dim.is_symbolic()) {
      const auto it = dim_values_.find(dim);
      if (it == dim_values_.end()) break;
      dim = it->second;
    }
  };
  resolve(a);
  resolve(b);
  if (a == b) return a;
  // A dimension unknown on one side is unknown.
  if (HasAny(a) || HasAny(b)) return Dim::Any();
  if (a.is_const()) std::swap(a, b);
  if (a.is_symbolic() && a.expr()->is_var() && b.is_const()) {
    dim_values_.emplace(a, b);
    return b;
  }
  // Symbolic dimensions may agree structurally.
  if (a.is_symbolic() && b.is_symbolic() &&
      TypeEqual(TensorType({a}, DType::Int(32)),
                TensorType({b}, DType::Int(32)))) {
    return a;
  }
  return std::nullopt;
}

absl::StatusOr<Type> Inferencer::UnifyTypes(const Type& left, const Type& right,
                                            int depth) {
  if (left == right) return left;
  if (depth > kMaxTypeDepth) {
    return absl::InvalidArgumentError("the type is nested too deeply");
  }
  const Type& a = ResolveTop(left);
  const Type& b = ResolveTop(right);
  if (a == b) return a;
  if (const auto* variable = a.As<IncompleteTypeNode>()) {
    BATON_RETURN_IF_ERROR(BindInferenceVar(variable, b));
    return b;
  }
  if (const auto* variable = b.As<IncompleteTypeNode>()) {
    BATON_RETURN_IF_ERROR(BindInferenceVar(variable, a));
    return a;
  }
  if (a->kind() != b->kind()) return Mismatch(a, b);
  bool changed = false;
  // The resolved types of `xs`; empty if nothing changes.
  const auto all =
      [&](absl::Span<const Type> xs,
          absl::Span<const Type> ys) -> absl::StatusOr<std::vector<Type>> {
    std::vector<Type> result;
    for (size_t i = 0; i < xs.size(); ++i) {
      BATON_ASSIGN_OR_RETURN(Type t, UnifyTypes(xs[i], ys[i], depth + 1));
      if (t == xs[i]) continue;
      changed = true;
      if (result.empty()) result.assign(xs.begin(), xs.end());
      result[i] = std::move(t);
    }
    return result;
  };
  switch (TypeKindOf(a)) {
    case TypeKind::kTensorType: {
      const auto* x = a.As<TensorTypeNode>();
      const auto* y = b.As<TensorTypeNode>();
      if (x->dtype() != y->dtype() || x->rank() != y->rank()) {
        return Mismatch(a, b);
      }
      if (x->shape() == y->shape()) return a;
      Dims dims(x->shape().begin(), x->shape().end());
      for (int i = 0; i < x->rank(); ++i) {
        if (x->dim(i) == y->dim(i)) continue;
        std::optional<Dim> dim = UnifyDims(x->dim(i), y->dim(i));
        if (!dim.has_value()) return Mismatch(a, b);
        changed |= *dim != x->dim(i);
        dims[i] = *std::move(dim);
      }
      return changed ? Type(TensorType(dims, x->dtype())) : a;
    }
    case TypeKind::kTupleType: {
      const auto xs = a.As<TupleTypeNode>()->fields();
      const auto ys = b.As<TupleTypeNode>()->fields();
      if (xs.size() != ys.size()) return Mismatch(a, b);
      BATON_ASSIGN_OR_RETURN(std::vector<Type> fields, all(xs, ys));
      return changed ? Type(TupleType(std::move(fields))) : a;
    }
    case TypeKind::kFuncType: {
      const auto* x = a.As<FuncTypeNode>();
      const auto* y = b.As<FuncTypeNode>();
      if (x->args().size() != y->args().size()) return Mismatch(a, b);
      // The type parameters that only one of them has are solved for: a
      // polymorphic function can be given where a plain one is wanted.
      const size_t common =
          std::min(x->type_params().size(), y->type_params().size());
      const auto rename = [&](const FuncTypeNode* function) {
        TypeVarMap values;
        for (size_t i = 0; i < function->type_params().size(); ++i) {
          values.emplace(
              function->type_params()[i].get(),
              i < common ? Type(x->type_params()[i]) : NewInferenceVar());
        }
        return values;
      };
      const TypeVarMap x_values =
          x->type_params().size() > common ? rename(x) : TypeVarMap();
      const TypeVarMap y_values = rename(y);
      std::vector<Type> x_args;
      std::vector<Type> y_args;
      for (size_t i = 0; i < x->args().size(); ++i) {
        x_args.push_back(Instantiate(x->args()[i], x_values));
        y_args.push_back(Instantiate(y->args()[i], y_values));
      }
      changed |= !x_values.empty();
      BATON_ASSIGN_OR_RETURN(std::vector<Type> args, all(x_args, y_args));
      const Type x_result = Instantiate(x->result(), x_values);
      BATON_ASSIGN_OR_RETURN(
          Type result,
          UnifyTypes(x_result, Instantiate(y->result(), y_values), depth + 1));
      changed |= result != x_result;
      if (args.empty()) args = std::move(x_args);
      return changed ? Type(FuncType(std::move(args), std::move(result),
                                     {x->type_params().begin(),
                                      x->type_params().begin() + common}))
                     : a;
    }
    case TypeKind::kTypeCall: {
      const auto* x = a.As<TypeCallNode>();
      const auto* y = b.As<TypeCallNode>();
      if (x->args().size() != y->args().size()) return Mismatch(a, b);
      BATON_RETURN_IF_ERROR(
          UnifyTypes(x->func(), y->func(), depth + 1).status());
      BATON_ASSIGN_OR_RETURN(std::vector<Type> args, all(x->args(), y->args()));
      return changed ? Type(TypeCall(x->func(), std::move(args))) : a;
    }
    case TypeKind::kRefType: {
      const Type& x = a.As<RefTypeNode>()->value();
      BATON_ASSIGN_OR_RETURN(
          Type value, UnifyTypes(x, b.As<RefTypeNode>()->value(), depth + 1));
      return value == x ? a : Type(RefType(std::move(value)));
    }
    case TypeKind::kTypeVar:
    case TypeKind::kGlobalTypeVar:
    case TypeKind::kIncompleteType:
      break;
  }
  return TypeEqual(a, b) ? absl::StatusOr<Type>(a) : Mismatch(a, b);
}

template <typename... Context>
Type Inferencer::Require(const Type& a, const Type& b, const ExprNode* node,
                         const Context&... context) {
  if (a == b) return a;
  // Both are walked, as trees.
  if (!a.Is<TensorTypeNode>() && !b.Is<TensorTypeNode>()) Count(a, node);
  if (types_are_too_large_) return a;
  absl::StatusOr<Type> type = UnifyTypes(a, b);
  if (type.ok()) return *std::move(type);
  Error(node, absl::StrCat(context..., ": ", type.status().message()));
  return a;
}

// The result of `infer`; an empty one, with an error, if memory runs out.
template <typename Infer>
auto WithInferencer(const IRModule* module, Diagnostics& diagnostics,
                    const Span& default_span, const Infer& infer) {
  std::optional<Inferencer> inferencer;
  using Result = decltype(infer(*inferencer));
  return IfOutOfMemory(
      [&] {
        return infer(inferencer.emplace(module, diagnostics, default_span));
      },
      [&] {
        diagnostics.OutOfMemory(
            inferencer.has_value() ? inferencer->Place() : Span(), "types");
        return Result();
      });
}

// Types without unknown parts.
class KnownTypes final : public TypeRelationContext::Unifier {
 public:
  absl::Status Unify(const Type& a, const Type& b) override {
    if (TypeEqual(a, b)) return absl::OkStatus();
    return absl::InvalidArgumentError("the types differ");
  }
};

// The type of a call of an operator whose arguments have types, without an
// Inferencer; null if that is not enough, or if there is an error, which an
// Inferencer describes.
Type TypeOfTypedCall(const CallNode& call) {
  const OpNode* op = call.op_node();
  if (op == nullptr || op->type_relation() == nullptr ||
      (op->arity() >= 0 && op->arity() != call.num_args())) {
    return {};
  }
  absl::InlinedVector<Type, 6> args;
  for (const Expr& arg : call.args()) {
    if (!arg->type().defined()) return {};
    args.push_back(arg->type());
  }
  KnownTypes unifier;
  TypeRelationContext context(*op, call.args(), call.attrs(), args, &unifier);
  absl::StatusOr<Type> type = op->type_relation()(context);
  if (!context.status().ok() || !type.ok() || !type->defined() ||
      !(*type)->complete() || !IsSmall(type->get()) ||
      !CheckResult(context, *type, CurrentLimits().max_rank).ok()) {
    return {};
  }
  return *std::move(type);
}

}  // namespace

IRModule InferTypes(const IRModule& module, Diagnostics& diagnostics) {
  const auto is_typed = [](const IRModule::Definition& d) {
    return d.function->type().defined() || !d.function.Is<FunctionNode>();
  };
  if (std::all_of(module.functions().begin(), module.functions().end(),
                  is_typed)) {
    return module;
  }
  const auto definitions = module.functions<Function>();
  return WithInferencer(&module, diagnostics, {}, [&](Inferencer& inferencer) {
    std::vector<Function> functions;
    functions.reserve(definitions.size());
    for (const auto& d : definitions) {
      const Expr result = inferencer.Infer(d.function, d.var->name());
      functions.push_back(Function(result.As<FunctionNode>()));
    }
    inferencer.Finish();
    if (diagnostics.has_errors()) return module;
    return module.WithFunctions(functions);
  });
}

absl::StatusOr<IRModule> InferTypes(const IRModule& module) {
  Diagnostics diagnostics;
  IRModule result = InferTypes(module, diagnostics);
  BATON_RETURN_IF_ERROR(diagnostics.ToStatus());
  return result;
}

absl::StatusOr<Expr> InferTypeOf(const Expr& expr, const IRModule* module) {
  return InferTypeAt(expr, {}, module);
}

absl::StatusOr<Expr> InferTypeAt(const Expr& expr, const Span& span,
                                 const IRModule* module) {
  if (expr->type().defined()) return expr;
  // A call of typed arguments needs no engine, which reports all errors.
  if (const auto* call = expr.As<CallNode>()) {
    const auto with_type = [&]() -> Expr {
      Type type = TypeOfTypedCall(*call);
      if (!type.defined()) return Expr();
      return Call(call->op(), call->args(), call->attrs(),
                  {call->type_args().begin(), call->type_args().end()},
                  std::move(type),
                  call->span().defined() ? call->span() : span);
    };
    Expr typed = IfOutOfMemory(with_type, [] { return Expr(); });
    if (typed.defined()) return typed;
  }
  Diagnostics diagnostics;
  Expr result = WithInferencer(module, diagnostics, span,
                               [&expr](Inferencer& inferencer) {
                                 Expr typed = inferencer.Infer(expr, "");
                                 inferencer.Finish();
                                 return typed;
                               });
  BATON_RETURN_IF_ERROR(diagnostics.ToStatus());
  return result;
}

}  // namespace baton::relay
