#include "baton/relay/runtime/evaluator.h"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <exception>
#include <iterator>
#include <memory>
#include <new>
#include <optional>
#include <stdexcept>
#include <string>
#include <utility>
#include <vector>

#include "absl/container/inlined_vector.h"
#include "absl/status/status.h"
#include "absl/strings/str_cat.h"
#include "baton/base/hash_table.h"
#include "baton/base/limits.h"
#include "baton/base/out_of_memory.h"
#include "baton/base/status_macros.h"
#include "baton/ir/diagnostics.h"
#include "baton/ir/expr.h"
#include "baton/ir/function_evaluator.h"
#include "baton/ir/node_map.h"
#include "baton/ir/op.h"
#include "baton/relay/ir/adt.h"
#include "baton/relay/ir/tensor_fits.h"
#include "baton/relay/ir/visit.h"
#include "baton/relay/runtime/code_generator.h"
#include "baton/relay/runtime/kernel.h"

namespace baton::relay {

namespace {

// Runs the kernel of a call, which may reuse the buffers of `args`. Errors get
// the name of the operator and the place of the call. A kernel may come from a
// library that throws.
absl::StatusOr<Value> ComputeCall(const CallNode& call,
                                  absl::Span<Value> args) {
  const OpNode* op = call.op_node();
  const Kernel* kernel = op == nullptr ? nullptr : Kernels().Get(*op);
  if (kernel == nullptr) {
    return absl::UnimplementedError(absl::StrCat(
        "operator ", op == nullptr ? "?" : op->name(), " has no kernel"));
  }
  try {
    absl::StatusOr<Value> result = kernel->Compute(call, args);
    if (result.ok()) return result;
    std::string message = absl::StrCat("evaluating ", op->name(), ": ",
                                       result.status().message());
    if (call.span().defined()) {
      Diagnostics diagnostics;
      diagnostics.Error(call.span(), std::move(message));
      message = diagnostics.ToString();
    }
    return absl::Status(result.status().code(), message);
  } catch (const std::bad_alloc&) {
    return OutOfMemoryError(op->name());
  } catch (const std::length_error&) {
    return OutOfMemoryError(op->name());
  } catch (const std::exception& e) {
    return absl::InternalError(absl::StrCat("the kernel of ", op->name(),
                                            " threw an exception: ", e.what()));
  } catch (...) {
    return absl::InternalError(
        absl::StrCat("the kernel of ", op->name(), " threw an exception"));
  }
}

}  // namespace

absl::StatusOr<Value> RunKernel(const CallNode& call,
                                absl::Span<const Value> args) {
  absl::InlinedVector<Value, 4> copies(args.begin(), args.end());
  return ComputeCall(call, absl::MakeSpan(copies));
}

bool IsUnknown(const Value& value) {
  return value.is_data() && !value.data().constructor.defined();
}

bool HasKernels(const Expr& expr, std::string* missing) {
  bool all = true;
  PostOrderVisit(expr, [&](const ExprNode* node) {
    if (node->kind() != ExprKind::kOp) return;
    const auto* op = static_cast<const OpNode*>(node);
    if (all && Kernels().Get(*op) == nullptr) {
      all = false;
      if (missing != nullptr) *missing = op->name();
    }
  });
  return all;
}

namespace {

Value Unknown() { return Value::MakeData({Constructor(), {}}); }

// True if arguments of a kernel have a part for which `pred` is true.
template <typename Pred>
bool AnyPart(absl::Span<const Value> values, const Pred& pred) {
  std::vector<const Value*> work;
  for (const Value& value : values) work.push_back(&value);
  while (!work.empty()) {
    const Value& value = *work.back();
    work.pop_back();
    if (pred(value)) return true;
    if (!value.is_tuple()) continue;
    for (const Value& field : value.fields()) work.push_back(&field);
  }
  return false;
}

// OK if `value` may be passed where `type` is declared.
absl::Status CheckArgument(const Value& value, const Type& type,
                           absl::string_view name) {
  const auto* tensor_type = type.As<TensorTypeNode>();
  if (tensor_type == nullptr) return absl::OkStatus();
  if (value.is_tensor() && TensorFits(value.tensor(), *tensor_type)) {
    return absl::OkStatus();
  }
  return absl::InvalidArgumentError(absl::StrCat(
      "argument %", name, " must be ", type.ToString(), ", found ",
      value.is_tensor() ? value.tensor().TypeToString() : "another value"));
}

absl::Status CheckArguments(absl::Span<const Var> params,
                            absl::string_view callee,
                            absl::Span<const Value> args) {
  if (params.size() != args.size()) {
    return absl::InvalidArgumentError(absl::StrCat(
        callee, " takes ", params.size(), " arguments, found ", args.size()));
  }
  for (size_t i = 0; i < args.size(); ++i) {
    const Var& param = params[i];
    BATON_RETURN_IF_ERROR(CheckArgument(
        args[i], param->type().defined() ? param->type() : param->annotation(),
        param->name()));
  }
  return absl::OkStatus();
}

// True for a callee that needs no value.
bool IsApplied(const Expr& callee) {
  return callee.Is<OpNode>() || callee.Is<ConstructorNode>();
}

// One call of a function: its variables and the nodes computed so far.
struct Activation {
  Value callee;       // keeps the function alive
  int64_t depth = 1;  // as if no call had taken the place of another
  FlatHashMap<const VarNode*, Value> vars;
  FlatHashMap<const ExprNode*, Value> computed;  // shared nodes
};

// The variables that closures capture: those that functions use and do not
// bind. Walks each function once, without the functions inside of it, whose
// variables are known by then: so nested functions take linear time.
class CapturedVars {
 public:
  const std::vector<Var>& Of(const FunctionNode* root) {
    std::vector<std::unique_ptr<Open>> stack;
    stack.push_back(std::make_unique<Open>(root));
    while (!stack.empty()) {
      Open& top = *stack.back();
      if (known_.contains(top.function)) {
        stack.pop_back();
      } else if (!top.walked) {
        Walk(top);
        // Moves the stack, but not its elements.
        for (const FunctionNode* nested : top.nested) {
          if (!known_.contains(nested)) {
            stack.push_back(std::make_unique<Open>(nested));
          }
        }
      } else {
        Finish(top);
        stack.pop_back();
      }
    }
    return known_.at(root);
  }

 private:
  struct Open {
    explicit Open(const FunctionNode* f) : function(f) {}
    const FunctionNode* function;
    bool walked = false;
    std::vector<Var> used;  // each once
    std::vector<const FunctionNode*> nested;
    NodeSet bound;
  };

  static void Walk(Open& open) {
    open.walked = true;
    PostOrderVisit(
        Function(open.function),
        [&open](const ExprNode* node) {
          return node->kind() != ExprKind::kFunction || node == open.function;
        },
        [&open](const ExprNode* node) {
          if (node->kind() == ExprKind::kVar) {
            open.used.push_back(Var(static_cast<const VarNode*>(node)));
          } else if (node->kind() == ExprKind::kLet) {
            open.bound.Insert(static_cast<const LetNode*>(node)->var().get());
          } else if (node->kind() == ExprKind::kMatch) {
            for (const Clause& clause :
                 static_cast<const MatchNode*>(node)->clauses()) {
              ForEachVar(clause.lhs.get(), [&open](const Var& var) {
                open.bound.Insert(var.get());
              });
            }
          } else if (node != open.function &&
                     node->kind() == ExprKind::kFunction) {
            open.nested.push_back(static_cast<const FunctionNode*>(node));
          }
        });
    for (const Var& param : open.function->params()) {
      open.bound.Insert(param.get());
    }
  }

  void Finish(Open& open) {
    std::vector<Var> captured;
    const auto add = [&](const Var& var) {
      // A variable that was added is not added again.
      if (open.bound.Insert(var.get())) captured.push_back(var);
    };
    for (const Var& var : open.used) add(var);
    for (const FunctionNode* nested : open.nested) {
      for (const Var& var : known_.at(nested)) add(var);
    }
    known_.emplace(open.function, std::move(captured));
  }

  FlatHashMap<const FunctionNode*, std::vector<Var>> known_;
};

class Evaluator {
 public:
  Evaluator(const IRModule* module, const EvaluateOptions& options)
      : module_(module), options_(options) {
    activations_.push_back(std::make_unique<Activation>());
  }

  absl::StatusOr<Value> Run(const Expr& root);
  absl::StatusOr<Value> Apply(const Function& function,
                              absl::Span<const Value> args);
  absl::StatusOr<Value> Apply(const Value& closure,
                              absl::Span<const Value> args);

 private:
  enum class Step : uint8_t {
    kEnter,
    kLeave,     // what the node needs first is computed
    kRemember,  // the value of a shared let or if is known
    kReturn,    // the body of the function that a call activated is computed
  };
  struct Work {
    const ExprNode* node;
    Step step;
  };

  absl::Status Loop();
  absl::Status Enter(const ExprNode* node);
  absl::Status Leave(const ExprNode* node);
  absl::Status LeaveCall(const CallNode* call);
  // Moves from `args` where that saves a copy.
  absl::StatusOr<Value> CallOp(const CallNode& call, absl::Span<Value> args);
  // `depth`: of the activation that calls.
  absl::Status Activate(const Value& callee, absl::Span<const Value> args,
                        int64_t depth);
  bool IsTailCall() const;
  // The function that runs in place of the callee; null if it must be
  // evaluated.
  absl::StatusOr<const ExternalFunction*> External(const Value& callee);
  Value MakeClosure(const FunctionNode* function, Var self);
  Value ConstructorValue(const ConstructorNode* constructor);
  // Binds the variables of the pattern if it fits; some of them also if not.
  // Null if that depends on something unknown.
  std::optional<bool> Fits(const PatternNode* pattern, const Value& value);
  absl::StatusOr<Value> Global(const GlobalVarNode* var);
  // The function that `callee` names if another level evaluates it, else null.
  BaseFunc OtherLevel(const Expr& callee) const;
  absl::StatusOr<Value> CallOtherLevel(const BaseFunc& function,
                                       absl::Span<const Value> args);

  Activation& current() { return *activations_.back(); }
  void Push(const ExprNode* node, Step step) { work_.push_back({node, step}); }
  // The value of `node` is known.
  void Yield(const ExprNode* node, Value value) {
    if (options_.observe != nullptr) options_.observe(*node, value);
    if (!node->unique()) current().computed.emplace(node, value);
    values_.push_back(std::move(value));
  }
  // Skips an evaluation that might have written to references.
  Value UnknownEffects() {
    effects_unknown_ = true;
    return Unknown();
  }
  Value PopValue() {
    Value value = std::move(values_.back());
    values_.pop_back();
    return value;
  }

  const IRModule* module_;
  const EvaluateOptions options_;
  std::vector<Work> work_;
  std::vector<Value> values_;
  std::vector<std::unique_ptr<Activation>> activations_;
  CapturedVars captured_vars_;
  FlatHashMap<const FunctionNode*, ExternalFunction> external_;
  int64_t num_calls_ = 0;
  bool has_unknown_ = false;      // there is an unknown value
  bool effects_unknown_ = false;  // so are the contents of references
};

absl::StatusOr<Value> Evaluator::Run(const Expr& root) {
  Push(root.get(), Step::kEnter);
  BATON_RETURN_IF_ERROR(Loop());
  return PopValue();
}

absl::StatusOr<Value> Evaluator::Apply(const Function& function,
                                       absl::Span<const Value> args) {
  return Apply(MakeClosure(function.get(), Var()), args);
}

absl::StatusOr<Value> Evaluator::Apply(const Value& closure,
                                       absl::Span<const Value> args) {
  BATON_ASSIGN_OR_RETURN(const ExternalFunction* const external,
                         External(closure));
  if (external != nullptr) return (*external)(args);
  Push(nullptr, Step::kReturn);
  BATON_RETURN_IF_ERROR(Activate(closure, args, current().depth));
  BATON_RETURN_IF_ERROR(Loop());
  return PopValue();
}

absl::Status Evaluator::Loop() {
  while (!work_.empty()) {
    const Work work = work_.back();
    work_.pop_back();
    switch (work.step) {
      case Step::kEnter:
        BATON_RETURN_IF_ERROR(Enter(work.node));
        break;
      case Step::kLeave:
        BATON_RETURN_IF_ERROR(Leave(work.node));
        break;
      case Step::kRemember:
        current().computed.emplace(work.node, values_.back());
        break;
      case Step::kReturn: {
        activations_.pop_back();
        if (work.node != nullptr) Yield(work.node, PopValue());
        break;
      }
    }
  }
  return absl::OkStatus();
}

absl::Status Evaluator::Enter(const ExprNode* node) {
  switch (ExprKindOf(node)) {
    case ExprKind::kVar: {
      const auto* var = static_cast<const VarNode*>(node);
      const auto it = current().vars.find(var);
      if (it == current().vars.end()) {
        return absl::InvalidArgumentError(
            absl::StrCat("variable %", var->name(), " has no value"));
      }
      values_.push_back(it->second);
      return absl::OkStatus();
    }
    case ExprKind::kConstant:
      values_.push_back(static_cast<const ConstantNode*>(node)->value());
      return absl::OkStatus();
    case ExprKind::kGlobalVar: {
      BATON_ASSIGN_OR_RETURN(Value value,
                             Global(static_cast<const GlobalVarNode*>(node)));
      values_.push_back(std::move(value));
      return absl::OkStatus();
    }
    case ExprKind::kConstructor:
      values_.push_back(
          ConstructorValue(static_cast<const ConstructorNode*>(node)));
      return absl::OkStatus();
    case ExprKind::kOp:
      return absl::InvalidArgumentError(
          absl::StrCat("operator ", static_cast<const OpNode*>(node)->name(),
                       " can only be called, not used as a value"));
    case ExprKind::kCall:
    case ExprKind::kTuple:
    case ExprKind::kTupleGetItem:
    case ExprKind::kFunction:
    case ExprKind::kLet:
    case ExprKind::kIf:
    case ExprKind::kRefCreate:
    case ExprKind::kRefRead:
    case ExprKind::kRefWrite:
    case ExprKind::kMatch:
      break;
  }
  if (!node->unique()) {
    const auto it = current().computed.find(node);
    if (it != current().computed.end()) {
      values_.push_back(it->second);
      return absl::OkStatus();
    }
  }
  switch (ExprKindOf(node)) {
    case ExprKind::kFunction:
      Yield(node, MakeClosure(static_cast<const FunctionNode*>(node), Var()));
      return absl::OkStatus();
    case ExprKind::kLet: {
      const auto* let = static_cast<const LetNode*>(node);
      if (!node->unique()) Push(node, Step::kRemember);
      Push(node, Step::kLeave);
      if (const auto* function = let->value().As<FunctionNode>()) {
        values_.push_back(MakeClosure(function, let->var()));
      } else {
        Push(let->value().get(), Step::kEnter);
      }
      return absl::OkStatus();
    }
    case ExprKind::kIf:
      if (!node->unique()) Push(node, Step::kRemember);
      Push(node, Step::kLeave);
      Push(static_cast<const IfNode*>(node)->cond().get(), Step::kEnter);
      return absl::OkStatus();
    case ExprKind::kMatch:
      if (!node->unique()) Push(node, Step::kRemember);
      Push(node, Step::kLeave);
      Push(static_cast<const MatchNode*>(node)->data().get(), Step::kEnter);
      return absl::OkStatus();
    case ExprKind::kCall:
    case ExprKind::kTuple:
    case ExprKind::kTupleGetItem:
    case ExprKind::kRefCreate:
    case ExprKind::kRefRead:
    case ExprKind::kRefWrite:
    case ExprKind::kVar:
    case ExprKind::kConstant:
    case ExprKind::kGlobalVar:
    case ExprKind::kOp:
    case ExprKind::kConstructor:
      break;
  }
  Push(node, Step::kLeave);
  const size_t first = work_.size();
  // The operator or constructor of a call, its first child, is not a value.
  bool is_callee = node->kind() == ExprKind::kCall;
  ForEachChild(node, [&](const Expr& child) {
    if (!std::exchange(is_callee, false) ||
        (!IsApplied(child) && !OtherLevel(child).defined())) {
      Push(child.get(), Step::kEnter);
    }
  });
  std::reverse(work_.begin() + static_cast<ptrdiff_t>(first), work_.end());
  return absl::OkStatus();
}

absl::Status Evaluator::Leave(const ExprNode* node) {
  switch (ExprKindOf(node)) {
    case ExprKind::kCall:
      return LeaveCall(static_cast<const CallNode*>(node));
    case ExprKind::kLet: {
      // The body's value becomes that of the let: no step of its own is
      // needed, so a chain of lets keeps the stack flat.
      const auto* let = static_cast<const LetNode*>(node);
      current().vars.insert_or_assign(let->var().get(), PopValue());
      Push(let->body().get(), Step::kEnter);
      return absl::OkStatus();
    }
    case ExprKind::kIf: {
      const auto* branch = static_cast<const IfNode*>(node);
      const Value cond = PopValue();
      if (IsUnknown(cond)) {
        values_.push_back(UnknownEffects());
        return absl::OkStatus();
      }
      if (!cond.is_tensor() || !cond.tensor().dtype().is_bool() ||
          cond.tensor().num_elements() != 1) {
        return absl::InvalidArgumentError(
            "the condition of an if is not a scalar bool");
      }
      Push(cond.tensor().span<bool>()[0] ? branch->true_branch().get()
                                         : branch->false_branch().get(),
           Step::kEnter);
      return absl::OkStatus();
    }
    case ExprKind::kMatch: {
      const auto* match = static_cast<const MatchNode*>(node);
      const Value data = PopValue();
      for (const Clause& clause : match->clauses()) {
        const std::optional<bool> fits = Fits(clause.lhs.get(), data);
        if (!fits.has_value()) {
          values_.push_back(UnknownEffects());
          return absl::OkStatus();
        }
        if (!*fits) continue;
        Push(clause.rhs.get(), Step::kEnter);
        return absl::OkStatus();
      }
      return absl::InvalidArgumentError("no clause of the match fits");
    }
    case ExprKind::kTuple: {
      const size_t n = static_cast<const TupleNode*>(node)->fields().size();
      std::vector<Value> fields(
          std::make_move_iterator(values_.end() - static_cast<ptrdiff_t>(n)),
          std::make_move_iterator(values_.end()));
      values_.resize(values_.size() - n);
      Yield(node, Value::MakeTuple(std::move(fields)));
      return absl::OkStatus();
    }
    case ExprKind::kTupleGetItem: {
      const int index = static_cast<const TupleGetItemNode*>(node)->index();
      const Value tuple = PopValue();
      if (IsUnknown(tuple)) {
        Yield(node, tuple);
        return absl::OkStatus();
      }
      if (!tuple.is_tuple() || index < 0 ||
          index >= static_cast<int>(tuple.fields().size())) {
        return absl::InvalidArgumentError(
            absl::StrCat("the tuple has no field ", index));
      }
      Yield(node, tuple.fields()[index]);
      return absl::OkStatus();
    }
    case ExprKind::kRefCreate:
      Yield(node, Value::MakeCell(PopValue()));
      return absl::OkStatus();
    case ExprKind::kRefRead: {
      const Value ref = PopValue();
      if (effects_unknown_ || IsUnknown(ref)) {
        Yield(node, Unknown());
        return absl::OkStatus();
      }
      if (!ref.is_cell()) {
        return absl::InvalidArgumentError(
            "ref_read: the operand is not a reference");
      }
      Yield(node, ref.cell().content);
      return absl::OkStatus();
    }
    case ExprKind::kRefWrite: {
      Value content = PopValue();
      const Value ref = PopValue();
      if (IsUnknown(ref)) {
        effects_unknown_ = true;
        Yield(node, Value());
        return absl::OkStatus();
      }
      if (!ref.is_cell()) {
        return absl::InvalidArgumentError(
            "ref_write: the first operand is not a reference");
      }
      ref.cell().content = std::move(content);
      Yield(node, Value());
      return absl::OkStatus();
    }
    case ExprKind::kVar:
    case ExprKind::kConstant:
    case ExprKind::kGlobalVar:
    case ExprKind::kOp:
    case ExprKind::kConstructor:
    case ExprKind::kFunction:
      break;
  }
  return absl::InternalError(
      absl::StrCat("cannot evaluate a ", NodeKindName(node->kind())));
}

absl::Status Evaluator::LeaveCall(const CallNode* call) {
  const size_t n = static_cast<size_t>(call->num_args());
  absl::InlinedVector<Value, 6> args(
      std::make_move_iterator(values_.end() - static_cast<ptrdiff_t>(n)),
      std::make_move_iterator(values_.end()));
  values_.resize(values_.size() - n);
  if (call->op_node() != nullptr) {
    BATON_ASSIGN_OR_RETURN(Value result, CallOp(*call, absl::MakeSpan(args)));
    Yield(call, std::move(result));
    return absl::OkStatus();
  }
  if (const auto* constructor = call->op().As<ConstructorNode>()) {
    if (constructor->inputs().size() != n) {
      return absl::InvalidArgumentError(
          absl::StrCat("constructor ", constructor->name(), " takes ",
                       constructor->num_inputs(), " arguments, found ", n));
    }
    Yield(call, Value::MakeData({Handle(constructor),
                                 {std::make_move_iterator(args.begin()),
                                  std::make_move_iterator(args.end())}}));
    return absl::OkStatus();
  }
  if (const BaseFunc function = OtherLevel(call->op()); function.defined()) {
    BATON_ASSIGN_OR_RETURN(Value result, CallOtherLevel(function, args));
    Yield(call, std::move(result));
    return absl::OkStatus();
  }
  const Value callee = PopValue();
  if (IsUnknown(callee)) {
    Yield(call, UnknownEffects());
    return absl::OkStatus();
  }
  BATON_ASSIGN_OR_RETURN(const ExternalFunction* const external,
                         External(callee));
  if (external != nullptr) {
    if (has_unknown_ && AnyPart(args, IsUnknown)) {
      Yield(call, Unknown());
      return absl::OkStatus();
    }
    BATON_ASSIGN_OR_RETURN(Value result, (*external)(args));
    Yield(call, std::move(result));
    return absl::OkStatus();
  }
  const int64_t depth = current().depth;
  const bool is_tail_call = IsTailCall();
  if (is_tail_call) {
    // Values that only the calling function needed are dropped before the
    // callee begins, so that a loop needs no more memory than one round of it.
    activations_.pop_back();
  } else {
    Push(call, Step::kReturn);
  }
  return Activate(
      callee, args,
      is_tail_call && !options_.max_call_depth.has_value() ? depth - 1 : depth);
}

// True if the call is the last one of its function. Observers receive calls
// that return, so with an observer there are no tail calls.
bool Evaluator::IsTailCall() const {
  return options_.observe == nullptr && !work_.empty() &&
         work_.back().step == Step::kReturn;
}

absl::StatusOr<const ExternalFunction*> Evaluator::External(
    const Value& callee) {
  if (!callee.is_closure()) return nullptr;
  const Function& function = callee.closure().function;
  if (function->attrs().Find(attr::kArtifact) == nullptr) {
    return nullptr;
  }
  auto known = external_.find(function.get());
  if (known == external_.end()) {
    BATON_ASSIGN_OR_RETURN(ExternalFunction loaded,
                           LoadExternalFunction(function));
    known = external_.emplace(function.get(), std::move(loaded)).first;
  }
  return known->second == nullptr ? nullptr : &known->second;
}

absl::StatusOr<Value> Evaluator::CallOp(const CallNode& call,
                                        absl::Span<Value> args) {
  if (options_.without_kernel != nullptr) {
    const OpNode& op = *call.op_node();
    const bool has_kernel = Kernels().Get(op) != nullptr;
    if (!has_kernel) options_.without_kernel(call, args);
    if (!has_kernel || (has_unknown_ && AnyPart(args, IsUnknown))) {
      has_unknown_ = true;
      const bool may_write = AnyPart(args, [](const Value& part) {
        return part.is_cell() || part.is_closure();
      });
      return may_write ? UnknownEffects() : Unknown();
    }
  }
  if (options_.cache == nullptr) return ComputeCall(call, args);
  const Value* known = options_.cache->Find(call, args);
  if (known != nullptr) return *known;
  BATON_ASSIGN_OR_RETURN(Value result, RunKernel(call, args));
  return options_.cache->Add(call, args, std::move(result));
}

absl::Status Evaluator::Activate(const Value& callee,
                                 absl::Span<const Value> args, int64_t depth) {
  if (!callee.is_closure()) {
    return absl::InvalidArgumentError("the callee is not a function");
  }
  const int64_t max_depth =
      options_.max_call_depth.value_or(EvaluateOptions::kMaxCallDepth);
  if (depth > max_depth) {
    return absl::ResourceExhaustedError(absl::StrCat(
        "more than ", max_depth, " nested calls of functions",
        options_.max_call_depth.has_value() ? ", or rounds of a loop" : ""));
  }
  if (++num_calls_ > options_.max_calls) {
    return absl::ResourceExhaustedError(
        absl::StrCat("more than ", options_.max_calls, " calls of functions"));
  }
  BATON_RETURN_IF_ERROR(CheckCalls(num_calls_));
  const Value::Closure& closure = callee.closure();
  const FunctionNode* function = closure.function.get();
  if (function->params().size() != args.size()) {
    return absl::InvalidArgumentError(
        absl::StrCat("the function takes ", function->params().size(),
                     " arguments, found ", args.size()));
  }
  auto activation = std::make_unique<Activation>();
  activation->callee = callee;
  activation->depth = depth + 1;
  for (const auto& [var, value] : closure.captured) {
    activation->vars.emplace(var.get(), value);
  }
  if (closure.self.defined()) {
    activation->vars.emplace(closure.self.get(), callee);
  }
  for (size_t i = 0; i < args.size(); ++i) {
    activation->vars.insert_or_assign(function->params()[i].get(), args[i]);
  }
  activations_.push_back(std::move(activation));
  Push(function->body().get(), Step::kEnter);
  return absl::OkStatus();
}

std::optional<bool> Evaluator::Fits(const PatternNode* root,
                                    const Value& root_value) {
  std::vector<std::pair<const PatternNode*, const Value*>> work = {
      {root, &root_value}};
  while (!work.empty()) {
    const auto [pattern, value] = work.back();
    work.pop_back();
    absl::Span<const Value> fields;
    switch (pattern->form()) {
      case PatternNode::Form::kWildcard:
        continue;
      case PatternNode::Form::kVar:
        current().vars.insert_or_assign(pattern->var().get(), *value);
        continue;
      case PatternNode::Form::kTuple:
        if (IsUnknown(*value)) return std::nullopt;
        if (!value->is_tuple()) return false;
        fields = value->fields();
        break;
      case PatternNode::Form::kConstructor:
        if (IsUnknown(*value)) return std::nullopt;
        if (!value->is_data() || !SameConstructor(*value->data().constructor,
                                                  *pattern->constructor())) {
          return false;
        }
        fields = value->data().fields;
        break;
    }
    const absl::Span<const Pattern> parts = pattern->patterns();
    if (parts.size() != fields.size()) return false;
    for (size_t i = parts.size(); i-- > 0;) {
      work.push_back({parts[i].get(), &fields[i]});
    }
  }
  return true;
}

// A constructor that is not applied is a function.
Value Evaluator::ConstructorValue(const ConstructorNode* constructor) {
  std::vector<Var> params;
  for (int i = 0; i < constructor->num_inputs(); ++i) {
    params.push_back(Var(absl::StrCat("a", i)));
  }
  const std::vector<Expr> args(params.begin(), params.end());
  Value::Closure closure;
  closure.function =
      Function(std::move(params), Call(Handle(constructor), args));
  return Value::MakeClosure(std::move(closure));
}

Value Evaluator::MakeClosure(const FunctionNode* function, Var self) {
  Value::Closure closure;
  closure.function = Function(function);
  for (const Var& var : captured_vars_.Of(function)) {
    if (var == self) {
      closure.self = self;
      continue;
    }
    const auto found = current().vars.find(var.get());
    if (found != current().vars.end()) {
      closure.captured.emplace_back(var, found->second);
    }
  }
  return Value::MakeClosure(std::move(closure));
}

BaseFunc Evaluator::OtherLevel(const Expr& callee) const {
  const auto* var = callee.As<GlobalVarNode>();
  if (var == nullptr || module_ == nullptr) return {};
  BaseFunc function = module_->Find(var->name());
  return function.Is<FunctionNode>() ? BaseFunc() : function;
}

absl::StatusOr<Value> Evaluator::CallOtherLevel(const BaseFunc& function,
                                                absl::Span<const Value> args) {
  if (has_unknown_ && AnyPart(args, IsUnknown)) return Unknown();
  std::vector<Tensor> tensors;
  for (const Value& arg : args) {
    if (!arg.is_tensor()) {
      return absl::InvalidArgumentError(
          "an argument of a function of another level is not a tensor");
    }
    tensors.push_back(arg.tensor());
  }
  BATON_ASSIGN_OR_RETURN(
      const std::vector<Tensor> results,
      CallByType(*module_, function, tensors, options_.other_level));
  if (results.size() == 1) return Value(results[0]);
  return Value::MakeTuple({results.begin(), results.end()});
}

absl::StatusOr<Value> Evaluator::Global(const GlobalVarNode* var) {
  if (module_ == nullptr) {
    return absl::InvalidArgumentError(
        absl::StrCat("@", var->name(),
                     " is not defined: the expression is evaluated without a "
                     "module"));
  }
  BATON_ASSIGN_OR_RETURN(const Function function,
                         module_->Lookup<Function>(var->name()));
  return MakeClosure(function.get(), Var());
}

}  // namespace

absl::StatusOr<Value> Evaluate(const Expr& expr, const IRModule* module,
                               const EvaluateOptions& options) {
  return CatchOutOfMemory("evaluating an expression",
                          [&] { return Evaluator(module, options).Run(expr); });
}

absl::StatusOr<Value> EvaluateFunction(const IRModule& module,
                                       absl::string_view name,
                                       absl::Span<const Value> args,
                                       const EvaluateOptions& options) {
  BATON_ASSIGN_OR_RETURN(const Function function,
                         module.Lookup<Function>(name));
  return CatchOutOfMemory(name, [&]() -> absl::StatusOr<Value> {
    BATON_RETURN_IF_ERROR(
        CheckArguments(function->params(), absl::StrCat("@", name), args));
    return Evaluator(&module, options).Apply(function, args);
  });
}

absl::StatusOr<Value> CallFunction(const IRModule& module,
                                   const Value& function,
                                   absl::Span<const Value> args,
                                   const EvaluateOptions& options) {
  return CatchOutOfMemory("calling a function", [&]() -> absl::StatusOr<Value> {
    if (!function.is_closure()) {
      return absl::InvalidArgumentError("only a function can be called");
    }
    BATON_RETURN_IF_ERROR(CheckArguments(function.closure().function->params(),
                                         "a function", args));
    return Evaluator(&module, options).Apply(function, args);
  });
}

}  // namespace baton::relay
