#include "baton/relay/transform/fake_quantization_to_integer.h"

#include <cstddef>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "absl/container/inlined_vector.h"
#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/str_cat.h"
#include "absl/types/span.h"
#include "baton/base/dtype.h"
#include "baton/base/status_macros.h"
#include "baton/ir/module.h"
#include "baton/ir/op.h"
#include "baton/ir/pass_log.h"
#include "baton/ir/remark_docs.h"
#include "baton/ir/type.h"
#include "baton/relay/analysis/indexed_graph.h"
#include "baton/relay/ir/expr.h"
#include "baton/relay/ir/infer_type.h"
#include "baton/relay/ir/visit.h"
#include "baton/relay/op/qnn/qnn.h"
#include "baton/relay/transform/function_pass.h"
#include "baton/transform/pass.h"
#include "baton/transform/pass_context.h"
#include "baton/transform/pass_registry.h"

namespace baton::relay {

OpProperty<FakeQuantizationRule>& FakeQuantizationRules() {
  static auto* const kRules = new OpProperty<FakeQuantizationRule>;
  return *kRules;
}

absl::StatusOr<AffineType> FakeQuantizedCall::arg_type(int i) const {
  if (args_[i]->types.size() != 1) {
    return absl::FailedPreconditionError(
        absl::StrCat("argument ", i, " is not quantized"));
  }
  return args_[i]->types[0];
}

absl::StatusOr<AffineType> FakeQuantizedCall::output() const {
  depends_on_output_ = true;
  if (output_ == nullptr) {
    return absl::FailedPreconditionError("there is no qnn.quantize behind it");
  }
  return *output_;
}

namespace {

// The operators that have rules which `options` let apply.
class EnabledRules {
 public:
  static absl::StatusOr<EnabledRules> For(
      const FakeQuantizationToIntegerOptions& options) {
    EnabledRules rules;
    for (const std::string& name : options.optional_qnn_ops) {
      BATON_ASSIGN_OR_RETURN(const Op op, Op::Get(name));
      rules.optional_.push_back(op.get());
    }
    return rules;
  }

  const FakeQuantizationRule* Get(const OpNode& op) const {
    const FakeQuantizationRule* rule = FakeQuantizationRules().Get(op);
    if (rule == nullptr || !rule->optional) return rule;
    for (const OpNode* enabled : optional_) {
      if (enabled == &op) return rule;
    }
    return nullptr;
  }

 private:
  std::vector<const OpNode*> optional_;
};

absl::Status Annotated(const OpNode& op, const absl::Status& status) {
  return absl::Status(status.code(),
                      absl::StrCat(op.name(), ": ", status.message()));
}

bool IsScalar(const Expr& expr) {
  const TensorTypeNode* type = expr->tensor_type();
  return type != nullptr && type->rank() == 0;
}

// The real numbers that `data` stands for, with types.
absl::StatusOr<Expr> Dequantized(Expr data, const AffineType& type,
                                 DType dtype) {
  return InferTypeOf(qnn::Dequantize(std::move(data),
                                     {type.scale, type.zero_point},
                                     {.out_dtype = dtype, .axis = type.axis}));
}

// The result of the rule for `call`, with types, so that expressions it shares
// with other calls stay shared when they get types. An error if the result is
// not a tensor of integers that represent the value of `call`: not all
// quantized operators accept a scale for each channel.
absl::StatusOr<AffineValue> Rewritten(const FakeQuantizedCall& call,
                                      const FakeQuantizationRule& rule) {
  BATON_ASSIGN_OR_RETURN(AffineValue value, rule.rewrite(call));
  std::vector<Expr> parts = {value.expr};
  for (const AffineType& type : value.types) {
    parts.push_back(type.scale);
    parts.push_back(type.zero_point);
  }
  BATON_ASSIGN_OR_RETURN(const Expr typed, InferTypeOf(Tuple(parts)));
  const absl::Span<const Expr> now = typed.As<TupleNode>()->fields();
  value.expr = now[0];
  const bool is_tuple = value.expr->tuple_type() != nullptr;
  for (size_t i = 0; i < value.types.size(); ++i) {
    AffineType& type = value.types[i];
    type.scale = now[2 * i + 1];
    type.zero_point = now[2 * i + 2];
    if (IsScalar(type.scale) && IsScalar(type.zero_point)) continue;
    Expr tensor =
        is_tuple ? TupleGetItem(value.expr, static_cast<int>(i)) : value.expr;
    BATON_RETURN_IF_ERROR(
        Dequantized(std::move(tensor), type, DType::Float(32)).status());
  }
  return value;
}

AffineType TypeOfQuantize(const CallNode& call, absl::Span<const Expr> args) {
  const auto* attrs = call.attrs_as<QuantizeAttrs>();
  return {args[1], args[2], attrs->out_dtype, attrs->axis};
}

// Returns the affine type of the argument of a qnn.dequantize, whose elements
// are `dtype`.
AffineType TypeOfDequantize(const CallNode& call, absl::Span<const Expr> args,
                            DType dtype) {
  return {args[1], args[2], dtype, call.attrs_as<DequantizeAttrs>()->axis};
}

// Emits a remark that the region of `node` is computed in integers, or why not.
void EmitInteger(const ExprNode* node) {
  if (!WantsRemarks(RemarkKind::kPassed)) return;
  LogRemark({.kind = RemarkKind::kPassed,
             .node = Expr(node),
             .reason = "computed in integers"});
}
void EmitReal(const ExprNode* node, const absl::Status& status) {
  if (!WantsRemarks(RemarkKind::kMissed)) return;
  LogRemark({.kind = RemarkKind::kMissed,
             .node = Expr(node),
             .reason = "its rule does not compute it in integers",
             .args = {{"why", status.message()}}});
}

// Rewrites the regions of a function. The integer form of a node depends on the
// qnn.quantize at the end of the region only if a rule uses that. Otherwise it
// is computed once and shared by all regions that contain the node.
class RegionRewriter {
 public:
  RegionRewriter(const IndexedGraph& graph, const EnabledRules& rules,
                 bool hard_fail)
      : graph_(graph), rules_(rules), hard_fail_(hard_fail), rewriter_(graph) {}

  absl::StatusOr<Expr> Run() {
    if (!FindRegions()) return rewriter_.Result();
    slots_.resize(graph_.size());
    for (int i = 0; i < graph_.size(); ++i) {
      rewriter_.Rebuild(i);
      if (IsQuantize(i)) BATON_RETURN_IF_ERROR(RewriteRegionOf(i));
    }
    return rewriter_.Result();
  }

 private:
  // The obstacle of a region that ends in a node: nothing, an expression that
  // is no dataflow, or the number of the call that has no rule.
  static constexpr int kNothing = -1;
  static constexpr int kNoDataFlow = -2;

  enum class State { kUnknown, kEntered, kKnown, kFailed };
  struct Slot {
    AffineValue value;
    State state = State::kUnknown;
    // The region for which alone the value is valid; 0 if it is valid for all.
    int region = 0;
  };

  bool IsQuantize(int i) const {
    return IsCall<QuantizeAttrs>(i, BATON_OP("qnn.quantize"));
  }
  bool IsDequantize(int i) const {
    return IsCall<DequantizeAttrs>(i, BATON_OP("qnn.dequantize"));
  }
  // True for a call of `op` on data, a scale and a zero point.
  template <typename T>
  bool IsCall(int i, const Op& op) const {
    const auto* call = graph_.As<CallNode>(i);
    return call != nullptr && call->op() == op && call->num_args() == 3 &&
           call->attrs_as<T>() != nullptr;
  }

  // True if there is a region to rewrite or to report.
  bool FindRegions() {
    bool any = false;
    for (int i = 0; i < graph_.size() && !any; ++i) any = IsQuantize(i);
    if (!any) return false;
    any = false;
    obstacles_.assign(graph_.size(), kNothing);
    has_calls_.assign(graph_.size(), false);
    for (int i = 0; i < graph_.size(); ++i) {
      FindObstacle(i);
      any = any || IsQuantize(i);
    }
    return any;
  }

  void FindObstacle(int i) {
    switch (ExprKindOf(graph_.node(i))) {
      case ExprKind::kConstant:
      case ExprKind::kOp:
        return;
      case ExprKind::kTuple:
      case ExprKind::kTupleGetItem:
        return Combine(i, graph_.children(i));
      case ExprKind::kCall: {
        const OpNode* op = graph_.As<CallNode>(i)->op_node();
        if (op == nullptr) {
          obstacles_[i] = kNoDataFlow;
          return;
        }
        if (IsDequantize(i)) {
          has_calls_[i] = true;
          return;
        }
        if (IsQuantize(i)) return Combine(i, graph_.args(i).subspan(0, 1));
        Combine(i, graph_.args(i));
        has_calls_[i] = true;
        // A call that lacks arguments is none that a rule knows.
        if (obstacles_[i] == kNothing &&
            (rules_.Get(*op) == nullptr ||
             graph_.As<CallNode>(i)->num_args() != op->arity())) {
          obstacles_[i] = i;
        }
        return;
      }
      default:
        obstacles_[i] = kNoDataFlow;
    }
  }

  void Combine(int i, absl::Span<const int> parts) {
    for (const int part : parts) {
      if (obstacles_[i] != kNoDataFlow && obstacles_[part] != kNothing) {
        obstacles_[i] = obstacles_[part];
      }
      has_calls_[i] = has_calls_[i] || has_calls_[part];
    }
  }

  // An error if the region must be rewritten and cannot be.
  absl::Status RewriteRegionOf(int quantize) {
    // The state for other regions if this one stays unchanged.
    slots_[quantize].state = State::kFailed;
    const int end = graph_.args(quantize)[0];
    if (!has_calls_[end] || obstacles_[end] == kNoDataFlow) {
      return absl::OkStatus();
    }
    if (obstacles_[end] != kNothing) {
      if (WantsRemarks(RemarkKind::kMissed)) {
        LogRemark(
            {.kind = RemarkKind::kMissed,
             .node = Expr(graph_.node(quantize)),
             .reason = "an operator before it has no rule for quantized "
                       "arguments",
             .nodes = {{"operator", Expr(graph_.node(obstacles_[end]))}}});
      }
      if (!hard_fail_) return absl::OkStatus();
      return absl::UnimplementedError(
          absl::StrCat(graph_.As<CallNode>(obstacles_[end])->op_node()->name(),
                       " has no rule for quantized arguments"));
    }
    const CallNode& call = *graph_.As<CallNode>(quantize);
    output_ = TypeOfQuantize(call, rewriter_.Args(quantize));
    ++region_;
    main_path_.clear();
    root_ = quantize;
    absl::StatusOr<AffineValue> value = EvaluateQuantize(quantize);
    if (!value.ok()) {
      EmitReal(graph_.node(quantize), value.status());
      return hard_fail_ ? value.status() : absl::OkStatus();
    }
    EmitInteger(graph_.node(quantize));
    Expr result = value->expr;
    if (!result.Is<CallNode>()) {
      slots_[quantize].state = State::kKnown;
      slots_[quantize].value = *std::move(value);
    }
    rewriter_.Replace(quantize, std::move(result));
    return absl::OkStatus();
  }

  absl::StatusOr<AffineValue> EvaluateQuantize(int i) {
    BATON_RETURN_IF_ERROR(Evaluate(graph_.args(i)[0]));
    const CallNode& call = *graph_.As<CallNode>(i);
    const absl::Span<const Expr> now = rewriter_.Args(i);
    absl::InlinedVector<Expr, 4> args(now.begin(), now.end());
    const AffineValue& data = slots_[graph_.args(i)[0]].value;
    args[0] = data.expr;
    const AffineValue parameter;
    const AffineValue* const values[] = {&data, &parameter, &parameter};
    const FakeQuantizedCall fake(
        call, Call(call.op(), args, call.attrs(), {}, {}, call.span()), values,
        &output_, /*on_main_path=*/[] { return true; });
    return Rewrite(fake);
  }

  absl::StatusOr<AffineValue> Rewrite(const FakeQuantizedCall& call) const {
    const OpNode& op = *call.original().op_node();
    absl::StatusOr<AffineValue> value = Rewritten(call, *rules_.Get(op));
    if (!value.ok()) return Annotated(op, value.status());
    return value;
  }

  // Fills the slots of node `end` and of those that it is made of.
  absl::Status Evaluate(int end) {
    std::vector<int> stack = {end};
    while (!stack.empty()) {
      const int i = stack.back();
      Slot& slot = slots_[i];
      if (slot.region != 0 && slot.region != region_) slot = Slot();
      if (slot.state == State::kKnown) {
        stack.pop_back();
        continue;
      }
      if (slot.state == State::kUnknown) {
        slot.state = State::kEntered;
        const size_t size = stack.size();
        for (const int input : Inputs(i)) {
          const Slot& known = slots_[input];
          if (known.state != State::kKnown ||
              (known.region != 0 && known.region != region_)) {
            stack.push_back(input);
          }
        }
        if (stack.size() > size) continue;
      }
      absl::Status status =
          slot.state == State::kFailed
              ? absl::FailedPreconditionError("a part cannot be quantized")
              : Compute(i);
      if (!status.ok()) {
        // Nor can the nodes that use it.
        for (const int j : stack) {
          if (slots_[j].state == State::kEntered) {
            slots_[j].state = State::kFailed;
            slots_[j].region = slot.region;
          }
        }
        return status;
      }
      stack.pop_back();
    }
    return absl::OkStatus();
  }

  // The nodes that the value of node `i` is computed from.
  absl::Span<const int> Inputs(int i) const {
    switch (ExprKindOf(graph_.node(i))) {
      case ExprKind::kTuple:
      case ExprKind::kTupleGetItem:
        return graph_.children(i);
      case ExprKind::kCall:
        if (IsDequantize(i)) return {};
        return graph_.args(i);
      default:
        return {};
    }
  }

  // The inputs of node `i` have values.
  absl::Status Compute(int i) {
    Slot& slot = slots_[i];
    for (const int input : Inputs(i)) {
      if (slots_[input].region != 0) slot.region = region_;
    }
    switch (ExprKindOf(graph_.node(i))) {
      case ExprKind::kTuple:
        for (const int input : Inputs(i)) {
          if (slots_[input].value.types.size() != 1) {
            return absl::FailedPreconditionError(
                "a field of a tuple is not quantized");
          }
          slot.value.types.push_back(slots_[input].value.types[0]);
        }
        slot.value.expr = WithInputs(i);
        break;
      case ExprKind::kTupleGetItem: {
        const std::vector<AffineType>& types = slots_[Inputs(i)[0]].value.types;
        const size_t index = graph_.As<TupleGetItemNode>(i)->index();
        if (index >= types.size()) {
          return absl::FailedPreconditionError("a tuple is not quantized");
        }
        slot.value.types = {types[index]};
        slot.value.expr = WithInputs(i);
        break;
      }
      case ExprKind::kCall:
        BATON_RETURN_IF_ERROR(ComputeCall(i));
        break;
      default:
        slot.value.expr = rewriter_.Get(i);
    }
    slot.state = State::kKnown;
    return absl::OkStatus();
  }

  absl::Status ComputeCall(int i) {
    Slot& slot = slots_[i];
    const CallNode& call = *graph_.As<CallNode>(i);
    if (IsDequantize(i)) {
      const TensorTypeNode* type = call.arg(0)->tensor_type();
      if (type == nullptr) {
        return absl::FailedPreconditionError("qnn.dequantize has no type");
      }
      const absl::Span<const Expr> args = rewriter_.Args(i);
      slot.value = {args[0], {TypeOfDequantize(call, args, type->dtype())}};
      return absl::OkStatus();
    }
    absl::InlinedVector<const AffineValue*, 4> args;
    for (const int arg : graph_.args(i)) args.push_back(&slots_[arg].value);
    const auto on_main_path = [this, i] { return IsOnMainPath(i); };
    const FakeQuantizedCall fake(call, Call(WithInputs(i).As<CallNode>()), args,
                                 &output_, on_main_path);
    absl::StatusOr<AffineValue> value = Rewrite(fake);
    if (fake.depends_on_output()) slot.region = region_;
    if (!value.ok()) return value.status();
    slot.value = *std::move(value);
    return absl::OkStatus();
  }

  // Node `i` with the values of its inputs.
  Expr WithInputs(int i) {
    scratch_.clear();
    if (const auto* call = graph_.As<CallNode>(i)) {
      scratch_.push_back(call->op());
    }
    for (const int input : Inputs(i)) {
      scratch_.push_back(slots_[input].value.expr);
    }
    return WithChildren(graph_.node(i), scratch_);
  }

  // See FakeQuantizedCall::on_main_path.
  bool IsOnMainPath(int i) {
    if (main_path_.empty()) {
      int j = graph_.args(root_)[0];
      while (graph_.As<CallNode>(j) != nullptr && !IsDequantize(j) &&
             !graph_.args(j).empty()) {
        main_path_.push_back(j);
        j = graph_.args(j)[0];
      }
    }
    for (size_t k = 1; k < main_path_.size(); ++k) {
      if (main_path_[k] == i) return true;
    }
    return false;
  }

  const IndexedGraph& graph_;
  const EnabledRules& rules_;
  const bool hard_fail_;
  GraphRewriter rewriter_;
  std::vector<int> obstacles_;
  std::vector<bool> has_calls_;
  std::vector<Slot> slots_;
  // The state of the current region.
  int region_ = 0;
  int root_ = 0;
  AffineType output_;
  std::vector<int> main_path_;
  std::vector<Expr> scratch_;
};

// Rewrites calls whose arguments are dequantized, or constants.
class SingleCallRewriter {
 public:
  SingleCallRewriter(const IndexedGraph& graph, const EnabledRules& rules,
                     bool hard_fail)
      : graph_(graph), rules_(rules), hard_fail_(hard_fail), rewriter_(graph) {}

  absl::StatusOr<Expr> Run() {
    return rewriter_.RewriteAll<CallNode>(
        [this](int i, const CallNode& call) -> absl::StatusOr<Expr> {
          const OpNode* op = call.op_node();
          const FakeQuantizationRule* rule =
              op == nullptr ? nullptr : rules_.Get(*op);
          if (rule == nullptr || !rule->single) return Expr();
          if (call.num_args() != op->arity() || !ReadArgs(i)) return Expr();
          absl::StatusOr<Expr> result = RewriteCall(i, call, *rule);
          if (!result.ok()) {
            EmitReal(&call, result.status());
            if (hard_fail_) return Annotated(*op, result.status());
            return Expr();
          }
          EmitInteger(&call);
          return result;
        });
  }

 private:
  // The arguments of call `i`; false if they are not all quantized or
  // constants, or all are constants.
  bool ReadArgs(int i) {
    args_.clear();
    bool any = false;
    size_t k = 0;
    for (const Expr& arg : rewriter_.Args(i)) {
      const int node = graph_.args(i)[k++];
      if (arg.Is<ConstantNode>()) {
        args_.push_back({arg, {}});
        continue;
      }
      if (!IsCallTo(arg, BATON_OP("qnn.dequantize"))) return false;
      const auto* dequantize = arg.As<CallNode>();
      const std::optional<DType> dtype = DTypeOfArg(node, *dequantize);
      if (!dtype.has_value() || dequantize->num_args() != 3 ||
          dequantize->attrs_as<DequantizeAttrs>() == nullptr) {
        return false;
      }
      args_.push_back(
          {dequantize->arg(0),
           {TypeOfDequantize(*dequantize, dequantize->args(), *dtype)}});
      any = true;
    }
    return any;
  }

  // The element type of the argument of `dequantize`, which node `i` is now.
  std::optional<DType> DTypeOfArg(int i, const CallNode& dequantize) const {
    if (!dtypes_.empty() && !dtypes_[i].is_void()) return dtypes_[i];
    // Rebuilt: its argument was replaced by one of the same type.
    const auto* original = graph_.As<CallNode>(i);
    if (original == nullptr || original->op() != dequantize.op()) return {};
    const TensorTypeNode* type = original->arg(0)->tensor_type();
    if (type == nullptr) return {};
    return type->dtype();
  }

  absl::StatusOr<Expr> RewriteCall(int i, const CallNode& call,
                                   const FakeQuantizationRule& rule) {
    absl::InlinedVector<const AffineValue*, 4> args;
    absl::InlinedVector<Expr, 4> children = {call.op()};
    for (const AffineValue& arg : args_) {
      args.push_back(&arg);
      children.push_back(arg.expr);
    }
    const FakeQuantizedCall fake(
        call, Call(WithChildren(&call, children).As<CallNode>()), args,
        /*output=*/nullptr, /*on_main_path=*/[] { return true; });
    BATON_ASSIGN_OR_RETURN(AffineValue value, Rewritten(fake, rule));
    const TensorTypeNode* type = call.tensor_type();
    if (value.types.size() != 1 || type == nullptr) {
      return absl::UnimplementedError("the result is a tuple");
    }
    if (dtypes_.empty()) dtypes_.resize(graph_.size());
    dtypes_[i] = value.types[0].dtype;
    return Dequantized(std::move(value.expr), value.types[0], type->dtype());
  }

  const IndexedGraph& graph_;
  const EnabledRules& rules_;
  const bool hard_fail_;
  GraphRewriter rewriter_;
  std::vector<AffineValue> args_;
  // The dtypes of the arguments of the new qnn.dequantize; void for other
  // nodes.
  std::vector<DType> dtypes_;
};

absl::StatusOr<Function> RewriteFunction(
    const Function& function, const IRModule& module,
    const FakeQuantizationToIntegerOptions& options) {
  BATON_ASSIGN_OR_RETURN(const EnabledRules rules, EnabledRules::For(options));
  const IndexedGraph graph(function);
  BATON_ASSIGN_OR_RETURN(Expr result,
                         RegionRewriter(graph, rules, options.hard_fail).Run());
  if (options.use_qat) {
    if (result != function) {
      BATON_ASSIGN_OR_RETURN(result, InferTypeOf(result, &module));
    }
    const IndexedGraph typed(result);
    BATON_ASSIGN_OR_RETURN(
        result, SingleCallRewriter(typed, rules, options.hard_fail).Run());
  }
  return Function(result.As<FunctionNode>());
}

}  // namespace

Pass FakeQuantizationToInteger(FakeQuantizationToIntegerOptions options) {
  return CreateFunctionPass(
      [options](const Function& function, const IRModule& module,
                const PassContext& /*context*/) {
        return RewriteFunction(function, module, options);
      },
      {.name = "FakeQuantizationToInteger",
       .required = {"InferType"},
       .doc = "Computes in integers the calls between qnn.dequantize and "
              "qnn.quantize.",
       .invalidates = {"a_normal_form"},
       .exact = false,
       // A step of a quantization of 128 steps.
       .tolerance = 0.01,
       .waivers = {{"precision",
                    "It computes in integers. Averages of them drop "
                    "fractions: results may be a step off, and more if "
                    "they are multiplied by weights."}},
       .examples = {"use_qat=true"}},
      options);
}
BATON_REGISTER_PASS(FakeQuantizationToInteger);
BATON_REGISTER_REMARKS("FakeQuantizationToInteger",
                       {.passed = "a call computes in integers",
                        .missed = "why a call or a region does not"});

}  // namespace baton::relay
