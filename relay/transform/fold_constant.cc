#include "baton/relay/transform/fold_constant.h"

#include <algorithm>
#include <cstdint>
#include <limits>
#include <optional>
#include <utility>
#include <vector>

#include "absl/container/inlined_vector.h"
#include "absl/status/statusor.h"
#include "baton/base/hash_table.h"
#include "baton/base/status_macros.h"
#include "baton/base/tensor.h"
#include "baton/ir/op.h"
#include "baton/ir/pass_log.h"
#include "baton/ir/remark_docs.h"
#include "baton/ir/rewrite_gate.h"
#include "baton/relay/ir/constant.h"
#include "baton/relay/ir/infer_type.h"
#include "baton/relay/ir/visit.h"
#include "baton/relay/op/device/on_device.h"
#include "baton/relay/op/op_flags.h"
#include "baton/relay/op/tensor/create.h"
#include "baton/relay/runtime/evaluator.h"
#include "baton/relay/runtime/kernel.h"
#include "baton/relay/transform/function_pass.h"
#include "baton/transform/pass_context.h"
#include "baton/transform/pass_registry.h"

namespace baton::relay {
namespace {

BATON_STATISTIC(kFolded, "FoldConstant", "folded", "Calls computed.");
BATON_STATISTIC(kFoldedBytes, "FoldConstant", "bytes",
                "Bytes of the constants that they became.");

// Calls of constants stay: why.
void TellNotFolded(const CallNode* call, RemarkText reason,
                   absl::string_view error = "") {
  if (!WantsRemarks(RemarkKind::kMissed)) return;
  Remark remark{.kind = RemarkKind::kMissed,
                .node = Expr(call),
                .reason = std::move(reason)};
  if (!error.empty()) remark.args = {{"error", error}};
  LogRemark(std::move(remark));
}

// The bytes of the tensors of a constant, or a tuple of constants.
int64_t BytesOf(const Expr& folded) {
  if (const auto* constant = folded.As<ConstantNode>()) {
    return constant->value().byte_size();
  }
  int64_t bytes = 0;
  for (const Expr& field : folded.As<TupleNode>()->fields()) {
    bytes += field.As<ConstantNode>()->value().byte_size();
  }
  return bytes;
}

void TellFolded(const CallNode* call, const Expr& folded) {
  kFolded.Add(1);
  if (!SomeoneListens()) return;
  const int64_t bytes = BytesOf(folded);
  kFoldedBytes.Add(bytes);
  if (!WantsRemarks(RemarkKind::kPassed)) return;
  LogRemark({.kind = RemarkKind::kPassed,
             .node = Expr(call),
             .reason = "computed",
             .args = {{"bytes", bytes}}});
}

// The value of a constant or of a tuple of constants; nullopt for anything
// else. Tuples nested in tuples are not looked into beyond one level of the
// stack: each is itself the result of a fold.
std::optional<Value> ConstantValue(const Expr& expr) {
  struct Frame {
    const TupleNode* tuple;
    std::vector<Value> fields;
  };
  std::vector<Frame> frames;
  const Expr* next = &expr;
  while (true) {
    std::optional<Value> value;
    const ExprNode* node = IgnoringOnDevice(*next).get();
    if (node->kind() == ExprKind::kConstant) {
      value = Value(static_cast<const ConstantNode*>(node)->value());
    } else if (node->kind() == ExprKind::kTuple) {
      frames.push_back({static_cast<const TupleNode*>(node), {}});
    } else {
      return std::nullopt;
    }
    while (!frames.empty()) {
      Frame& frame = frames.back();
      if (value.has_value()) frame.fields.push_back(*std::move(value));
      if (frame.fields.size() < frame.tuple->fields().size()) {
        next = &frame.tuple->fields()[frame.fields.size()];
        value.reset();
        break;
      }
      value = Value::MakeTuple(std::move(frame.fields));
      frames.pop_back();
    }
    if (frames.empty()) return value;
  }
}

bool IsConstant(const Expr& expr) {
  return IgnoringOnDevice(expr).Is<ConstantNode>();
}

bool IsConstantOrTuple(const Expr& expr) {
  const Expr& value = IgnoringOnDevice(expr);
  return value.Is<ConstantNode>() || value.Is<TupleNode>();
}

bool IsPrimitive(const ExprNode* node) {
  return node->kind() == ExprKind::kFunction &&
         static_cast<const FunctionNode*>(node)->IsPrimitive();
}

// False only if ConstantFolder leaves `node` as it is, unless it changes
// something below.
bool MayFold(const ExprNode* node) {
  switch (ExprKindOf(node)) {
    case ExprKind::kLet:
      return IsConstant(static_cast<const LetNode*>(node)->value());
    case ExprKind::kIf:
      return IsConstant(static_cast<const IfNode*>(node)->cond());
    case ExprKind::kTupleGetItem:
      return IgnoringOnDevice(
                 static_cast<const TupleGetItemNode*>(node)->tuple())
          .Is<TupleNode>();
    case ExprKind::kCall: {
      const auto* call = static_cast<const CallNode*>(node);
      const OpNode* op = call->op_node();
      if (op == nullptr || call->num_args() == 0) return false;
      return ShapeQueries().Get(*op) != nullptr ||
             std::all_of(call->args().begin(), call->args().end(),
                         IsConstantOrTuple);
    }
    default:
      return false;
  }
}

// A constant for a tensor, a tuple of constants for a tuple of tensors; null
// for anything else.
Expr ToExpr(const Value& value) {
  if (value.is_tensor()) return Constant(value.tensor());
  if (!value.is_tuple()) return {};
  std::vector<Expr> fields;
  for (const Value& field : value.fields()) {
    if (!field.is_tensor()) return {};
    fields.push_back(Constant(field.tensor()));
  }
  return Tuple(std::move(fields));
}

// Calls `fn` for the constants that make up `expr`, a constant or a tuple of
// such; others are passed over.
template <typename Fn>
void ForEachConstant(const Expr& expr, Fn&& fn) {
  std::vector<const ExprNode*> pending = {IgnoringOnDevice(expr).get()};
  while (!pending.empty()) {
    const ExprNode* node = pending.back();
    pending.pop_back();
    if (node->kind() == ExprKind::kConstant) {
      fn(static_cast<const ConstantNode*>(node));
    } else if (node->kind() == ExprKind::kTuple) {
      for (const Expr& field : static_cast<const TupleNode*>(node)->fields()) {
        pending.push_back(IgnoringOnDevice(field).get());
      }
    }
  }
}

// The elements of a tensor or of a tuple of tensors, at most the largest
// int64_t; nullopt where the type leaves that open.
std::optional<int64_t> ElementsOf(const Type& type) {
  constexpr int64_t kMost = std::numeric_limits<int64_t>::max();
  if (const auto* tensor = type.As<TensorTypeNode>()) {
    const auto dims = ConstDims(tensor->shape());
    if (!dims.has_value()) return std::nullopt;
    return NumElements(tensor->dtype(), *dims).value_or(kMost);
  }
  const auto* tuple = type.As<TupleTypeNode>();
  if (tuple == nullptr) return std::nullopt;
  int64_t sum = 0;
  for (const Type& field : tuple->fields()) {
    if (!field.Is<TensorTypeNode>()) return std::nullopt;
    const std::optional<int64_t> elements = ElementsOf(field);
    if (!elements.has_value()) return std::nullopt;
    sum = *elements > kMost - sum ? kMost : sum + *elements;
  }
  return sum;
}

int64_t ElementsOf(const Value& value) {
  if (value.is_tensor()) return value.tensor().num_elements();
  int64_t sum = 0;
  if (value.is_tuple()) {
    for (const Value& field : value.fields()) {
      if (field.is_tensor()) sum += field.tensor().num_elements();
    }
  }
  return sum;
}

// How many elements folding may add to the constants of a function. A result
// counts; what it replaces, its arguments, counts against it once, since other
// calls may use them, too.
class Budget {
 public:
  explicit Budget(const FoldConstantOptions& options)
      : max_elements_(options.max_elements), left_(options.max_growth) {}

  // True if `call`, of constants, may become constants of that many elements.
  bool Allows(const Call& call, int64_t elements) {
    int64_t given = 0, replaced = 0;
    ForEachArgument(call, [&](const ConstantNode* constant, bool first) {
      given += constant->value().num_elements();
      if (first) replaced += constant->value().num_elements();
    });
    return (elements <= given || elements <= max_elements_) &&
           elements - replaced <= left_;
  }

  // Takes that from the budget.
  void Spend(const Call& call, const Expr& folded) {
    ForEachArgument(call, [&](const ConstantNode* constant, bool first) {
      if (!first) return;
      left_ += constant->value().num_elements();
      replaced_.insert(constant);
    });
    ForEachConstant(folded, [&](const ConstantNode* constant) {
      left_ -= constant->value().num_elements();
      // It may be where a constant was that is gone.
      replaced_.erase(constant);
    });
  }

 private:
  // Each constant of the arguments of `call` once, and whether no call was
  // folded before that had it.
  template <typename Fn>
  void ForEachArgument(const Call& call, Fn&& fn) {
    absl::InlinedVector<const ConstantNode*, 4> seen;
    for (const Expr& arg : call->args()) {
      ForEachConstant(
          arg, [&](const ConstantNode* constant) { seen.push_back(constant); });
    }
    std::sort(seen.begin(), seen.end());
    seen.erase(std::unique(seen.begin(), seen.end()), seen.end());
    for (const ConstantNode* constant : seen) {
      fn(constant, !replaced_.contains(constant));
    }
  }

  int64_t max_elements_;
  int64_t left_;
  FlatHashSet<const ConstantNode*> replaced_;
};

class ConstantFolder : public ExprMutator {
 public:
  explicit ConstantFolder(const FoldConstantOptions& options)
      : options_(options), budget_(options) {}

 protected:
  Expr Before(const ExprNode* node) override {
    return IsPrimitive(node) ? Expr(node) : Expr();
  }

  Expr AfterLetValue(const LetNode* /*let*/, const Expr& value) override {
    return IsConstant(value) ? value : Expr();
  }

  Expr VisitLet(const LetNode* /*original*/, Let let) override {
    return IsConstant(let->value()) ? let->body() : Expr(let);
  }

  Expr VisitIf(const IfNode* /*original*/, If branch) override {
    const std::optional<double> cond =
        ConstantScalar(IgnoringOnDevice(branch->cond()));
    if (!cond.has_value()) return branch;
    return *cond != 0 ? branch->true_branch() : branch->false_branch();
  }

  Expr VisitTupleGetItem(const TupleGetItemNode* /*original*/,
                         TupleGetItem item) override {
    const auto* tuple = IgnoringOnDevice(item->tuple()).As<TupleNode>();
    if (tuple == nullptr || item->index() < 0 ||
        item->index() >= static_cast<int>(tuple->fields().size())) {
      return item;
    }
    const Expr& field = tuple->fields()[item->index()];
    const CallNode* on_device = AsOnDevice(item->tuple());
    return on_device == nullptr ? field : OnDeviceLike(on_device, field);
  }

  Expr VisitCall(const CallNode* original, Call call) override {
    const OpNode* op = call->op_node();
    if (op == nullptr || call->num_args() == 0) return call;
    if (Expr shape = FoldShape(original, *op)) {
      if (!MayRewrite()) return call;
      TellFolded(original, shape);
      return shape;
    }
    for (const Expr& arg : call->args()) {
      if (!IsConstantOrTuple(arg)) return call;
    }
    if (IsStateful(call->op()) || IsDeviceCopy(call->op())) {
      TellNotFolded(original, "the operator has effects");
      return call;
    }
    if (Kernels().Get(*op) == nullptr) {
      TellNotFolded(original, "the operator has no kernel");
      return call;
    }
    if (IsQuantized(call->op())) {
      if (!options_.fold_qnn) {
        TellNotFolded(original,
                      "the option fold_qnn leaves quantized operators out");
        return call;
      }
    } else if (IsNonComputational(call->op())) {
      TellNotFolded(original, "the operator computes nothing");
      return call;
    }
    absl::InlinedVector<Value, 4> args;
    for (const Expr& arg : call->args()) {
      std::optional<Value> value = ConstantValue(arg);
      if (!value.has_value()) {
        TellNotFolded(original, "a field of a tuple is no constant");
        return call;
      }
      args.push_back(*std::move(value));
    }
    // Kernels may ask for the type of the call.
    const absl::StatusOr<Expr> typed = InferTypeOf(call);
    if (!typed.ok()) {
      TellNotFolded(original, "the call has no type", typed.status().message());
      return call;
    }
    static constexpr char kOverBudget[] = "the result is over the budget";
    const std::optional<int64_t> elements = ElementsOf((*typed)->type());
    if (elements.has_value() && !budget_.Allows(call, *elements)) {
      TellNotFolded(original, kOverBudget);
      return call;
    }
    const absl::StatusOr<Value> result =
        RunKernel(*typed->As<CallNode>(), args);
    if (!result.ok()) {
      TellNotFolded(original, "its kernel fails", result.status().message());
      return call;
    }
    if (!elements.has_value() && !budget_.Allows(call, ElementsOf(*result))) {
      TellNotFolded(original, kOverBudget);
      return call;
    }
    Expr folded = ToExpr(*result);
    if (!folded.defined()) {
      TellNotFolded(original, "the result is no tensor");
      return call;
    }
    if (!MayRewrite()) return call;
    budget_.Spend(call, folded);
    TellFolded(original, folded);
    return folded;
  }

 private:
  // The result of a shape query for a tensor with a known shape; otherwise
  // null.
  static Expr FoldShape(const CallNode* call, const OpNode& op) {
    const ShapeQuery* query = ShapeQueries().Get(op);
    if (query == nullptr) return {};
    TensorShape shape;
    if (const auto* constant =
            IgnoringOnDevice(call->arg(0)).As<ConstantNode>()) {
      shape.assign(constant->value().shape().begin(),
                   constant->value().shape().end());
    } else if (const TensorTypeNode* type = call->arg(0)->tensor_type()) {
      const auto dims = ConstDims(type->shape());
      if (!dims.has_value()) return {};
      shape.assign(dims->begin(), dims->end());
    } else {
      return {};
    }
    DType dtype = DType::Int(32);
    std::vector<int64_t> values(shape.begin(), shape.end());
    TensorShape result_shape = {static_cast<int64_t>(shape.size())};
    if (*query == ShapeQuery::kShape) {
      if (const auto* attrs = call->attrs_as<ShapeOfAttrs>()) {
        dtype = attrs->dtype;
      }
    } else {
      if (const auto* attrs = call->attrs_as<NdarraySizeAttrs>()) {
        dtype = attrs->dtype;
      }
      int64_t size = 1;
      for (int64_t d : shape) size *= d;
      values = {size};
      result_shape.clear();
    }
    if (!dtype.IsStorable()) return {};
    absl::StatusOr<MutableTensor> result =
        MutableTensor::Create(dtype, result_shape);
    if (!result.ok()) return {};
    VisitDType(dtype, [&]<typename T>() {
      for (size_t i = 0; i < values.size(); ++i) {
        result->span<T>()[i] = static_cast<T>(values[i]);
      }
    });
    return Constant(std::move(*result).Freeze());
  }

  const FoldConstantOptions options_;
  Budget budget_;
};

}  // namespace

absl::StatusOr<Expr> FoldConstantInExpr(const Expr& expr,
                                        const FoldConstantOptions& options) {
  // Looking is cheaper than rewriting.
  bool found = false;
  PostOrderVisit(
      expr,
      [&found](const ExprNode* node) { return !found && !IsPrimitive(node); },
      [&found](const ExprNode* node) { found = found || MayFold(node); });
  if (!found) return expr;
  return ConstantFolder(options).Mutate(expr);
}

Pass FoldConstant(FoldConstantOptions options) {
  return CreateFunctionPass(
      [options](Function function, const IRModule& /*module*/,
                const PassContext& /*context*/) -> absl::StatusOr<Function> {
        BATON_ASSIGN_OR_RETURN(const Expr result,
                               FoldConstantInExpr(function, options));
        return Function(result.As<FunctionNode>());
      },
      {.name = "FoldConstant",
       .opt_level = 2,
       .doc = "Computes what depends on constants only.",
       // A branch that an `if` becomes is bound to no variable. What a scope
       // and those inside it shared is left to these if only it is constant
       // around them.
       .destroys = {"a_normal_form", "basic_block_normal_form"}},
      options);
}

BATON_REGISTER_PASS(FoldConstant);
BATON_REGISTER_REMARKS("FoldConstant",
                       {.passed = "a call was computed",
                        .missed = "why a call of constants was not computed"});

}  // namespace baton::relay
