#include "baton/relay/transform/quantize.h"

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "absl/strings/str_cat.h"
#include "baton/base/dtype.h"
#include "baton/base/hash_table.h"
#include "baton/base/status_macros.h"
#include "baton/base/tensor.h"
#include "baton/ir/attrs.h"
#include "baton/ir/pass_log.h"
#include "baton/ir/remark_docs.h"
#include "baton/ir/type.h"
#include "baton/relay/analysis/graph_queries.h"
#include "baton/relay/analysis/indexed_graph.h"
#include "baton/relay/ir/constant.h"
#include "baton/relay/ir/expr.h"
#include "baton/relay/ir/infer_type.h"
#include "baton/relay/op/qnn/qnn.h"
#include "baton/relay/runtime/evaluator.h"
#include "baton/relay/runtime/random_inputs.h"
#include "baton/relay/transform/function_pass.h"
#include "baton/relay/transform/kl_threshold.h"
#include "baton/transform/module_pass.h"
#include "baton/transform/pass_context.h"
#include "baton/transform/pass_registry.h"

namespace baton::relay {

OpProperty<QuantizationRole>& QuantizationRoles() {
  static auto* const roles = new OpProperty<QuantizationRole>;
  return *roles;
}

namespace {

BATON_EXTEND_OP("nn.conv1d")
    .Set(QuantizationRoles(), QuantizationRole::kProduct);
BATON_EXTEND_OP("nn.conv2d")
    .Set(QuantizationRoles(), QuantizationRole::kConv2D);
BATON_EXTEND_OP("nn.dense").Set(QuantizationRoles(), QuantizationRole::kDense);
BATON_EXTEND_OP("add").Set(QuantizationRoles(), QuantizationRole::kAdd);
BATON_EXTEND_OP("nn.bias_add").Set(QuantizationRoles(), QuantizationRole::kAdd);
BATON_EXTEND_OP("multiply")
    .Set(QuantizationRoles(), QuantizationRole::kMultiply);
BATON_EXTEND_OP("reshape").Set(QuantizationRoles(), QuantizationRole::kFollow);
BATON_EXTEND_OP("clip").Set(QuantizationRoles(), QuantizationRole::kFollow);
BATON_EXTEND_OP("nn.relu").Set(QuantizationRoles(), QuantizationRole::kFollow);
BATON_EXTEND_OP("strided_slice")
    .Set(QuantizationRoles(), QuantizationRole::kFollow);
BATON_EXTEND_OP("nn.avg_pool2d")
    .Set(QuantizationRoles(), QuantizationRole::kFollow);
BATON_EXTEND_OP("nn.batch_flatten")
    .Set(QuantizationRoles(), QuantizationRole::kFollow);
BATON_EXTEND_OP("transpose")
    .Set(QuantizationRoles(), QuantizationRole::kFollow);
BATON_EXTEND_OP("nn.max_pool1d")
    .Set(QuantizationRoles(), QuantizationRole::kWindow);
BATON_EXTEND_OP("nn.max_pool2d")
    .Set(QuantizationRoles(), QuantizationRole::kWindow);
BATON_EXTEND_OP("concatenate")
    .Set(QuantizationRoles(), QuantizationRole::kConcatenate);
BATON_EXTEND_OP("nn.global_avg_pool2d")
    .Set(QuantizationRoles(), QuantizationRole::kStop);

// The kind of a tensor after quantization. The numbers are those of
// AnnotateQuantizeAttrs::kind.
enum class Kind { kReal = 0, kInput = 1, kWeight = 2, kActivation = 3 };

const Op& Annotation() {
  return BATON_OP("relay.op.annotation.simulated_quantize");
}

// Integers of 8 bits that have an opposite.
constexpr double kHighest = 127;
constexpr double kSteps = 128;  // from 0 to the end of the range

Expr Annotated(Expr data, Kind kind) {
  return Call(
      Annotation(), {std::move(data), Const(0.0f), Const(0.0f), Const(0.0f)},
      Attrs::Make(AnnotateQuantizeAttrs{.kind = static_cast<int>(kind)}));
}

// A float32 tensor with at least one axis, which can be annotated.
bool CanBeAnnotated(const ExprNode& expr) {
  const TensorTypeNode* type = expr.tensor_type();
  return type != nullptr && type->dtype() == DType::Float(32) &&
         type->rank() > 0;
}

Kind KindOf(const CallNode& annotation) {
  return static_cast<Kind>(
      AttrsOrDefaults<AnnotateQuantizeAttrs>(annotation.attrs()).kind);
}

// Annotates one function.
class Annotator {
 public:
  Annotator(const Function& function, const QuantizeAnnotateOptions& options)
      : options_(options),
        graph_(function),
        rewriter_(graph_),
        kinds_(graph_.size(), Kind::kReal),
        inputs_(graph_.size()) {}

  Function Run() {
    const Expr result = rewriter_.RewriteAll<CallNode>(
        [this](int i, const CallNode& call) { return Annotate(i, call); });
    return Function(result.As<FunctionNode>());
  }

 private:
  // Null if the call does not become another one.
  Expr Annotate(int i, const CallNode& call) {
    if (call.op() == Annotation()) {
      kinds_[i] = KindOf(call);
      return {};
    }
    const QuantizationRole* role = QuantizationRoles().Get(call.op());
    if (role == nullptr || graph_.args(i).empty()) return {};
    const int first = graph_.args(i)[0];
    if (stopped_ || Skips(*role)) {
      if (stopped_ || kinds_[first] != Kind::kReal || IsProduct(*role)) {
        EmitReal(call, stopped_ ? RemarkText("nothing is quantized after an "
                                             "operator that is before it")
                                : RemarkText("an option leaves it out"));
      }
      return {};
    }
    switch (*role) {
      case QuantizationRole::kProduct:
      case QuantizationRole::kConv2D:
      case QuantizationRole::kDense:
        return AnnotateProduct(i, call);
      case QuantizationRole::kAdd:
      case QuantizationRole::kMultiply:
        return AnnotateBinary(i, call, *role);
      case QuantizationRole::kFollow:
        return Become(i, kinds_[first], {});
      case QuantizationRole::kWindow:
        if (kinds_[first] == Kind::kReal) return {};
        return Become(i, Kind::kInput, With(i, call, {Input(first)}));
      case QuantizationRole::kConcatenate:
        return AnnotateConcatenate(i, call);
      case QuantizationRole::kStop:
        stopped_ = kinds_[first] != Kind::kReal;
        return {};
    }
    return {};
  }

  static bool IsProduct(QuantizationRole role) {
    return role == QuantizationRole::kProduct ||
           role == QuantizationRole::kConv2D ||
           role == QuantizationRole::kDense;
  }
  static void EmitReal(const CallNode& call, RemarkText reason) {
    if (!WantsRemarks(RemarkKind::kMissed)) return;
    LogRemark({.kind = RemarkKind::kMissed,
               .node = Expr(&call),
               .reason = std::move(reason)});
  }
  static void EmitQuantized(const CallNode& call) {
    if (!WantsRemarks(RemarkKind::kPassed)) return;
    LogRemark({.kind = RemarkKind::kPassed,
               .node = Expr(&call),
               .reason = "its operands are quantized"});
  }

  bool Skips(QuantizationRole role) {
    if (role == QuantizationRole::kDense) return options_.skip_dense_layer;
    if (role != QuantizationRole::kConv2D) return false;
    const int64_t number = num_convs_++;
    return std::find(options_.skip_conv_layers.begin(),
                     options_.skip_conv_layers.end(),
                     number) != options_.skip_conv_layers.end();
  }

  Expr AnnotateProduct(int i, const CallNode& call) {
    if (call.num_args() != 2) return {};
    const int data = graph_.args(i)[0];
    const int weight = graph_.args(i)[1];
    const bool is_weight =
        kinds_[weight] == Kind::kWeight ||
        (ConstantTensor(Expr(graph_.node(weight))) != nullptr &&
         CanBeAnnotated(*graph_.node(weight)));
    if (!is_weight || !CanBeAnnotated(*graph_.node(data))) {
      EmitReal(call, is_weight
                         ? RemarkText("its data is no tensor of 32-bit floats")
                         : RemarkText("its weight is no constant"));
      return {};
    }
    EmitQuantized(call);
    return Become(i, Kind::kActivation,
                  With(i, call, {Input(data), Weight(weight)}));
  }

  Expr AnnotateBinary(int i, const CallNode& call, QuantizationRole role) {
    if (call.num_args() != 2) return {};
    const int operands[2] = {graph_.args(i)[0], graph_.args(i)[1]};
    const bool real[2] = {kinds_[operands[0]] == Kind::kReal,
                          kinds_[operands[1]] == Kind::kReal};
    if (real[0] && real[1]) return {};
    const bool constant[2] = {
        ConstantTensor(Expr(graph_.node(operands[0]))) != nullptr,
        ConstantTensor(Expr(graph_.node(operands[1]))) != nullptr};
    // A constant is added in 32 bits, as it is.
    if (role == QuantizationRole::kAdd && (constant[0] || constant[1])) {
      return Become(i, Kind::kActivation, {});
    }
    std::vector<Expr> args;
    for (int k = 0; k < 2; ++k) {
      if (!CanBeAnnotated(*graph_.node(operands[k]))) return {};
      args.push_back(constant[k] ? Weight(operands[k]) : Input(operands[k]));
    }
    return Become(i, Kind::kActivation, With(i, call, std::move(args)));
  }

  Expr AnnotateConcatenate(int i, const CallNode& call) {
    const int tuple = graph_.args(i)[0];
    if (graph_.As<TupleNode>(tuple) == nullptr) return {};
    bool any = false;
    for (const int field : graph_.children(tuple)) {
      any = any || kinds_[field] != Kind::kReal;
      if (!CanBeAnnotated(*graph_.node(field))) return {};
    }
    if (!any) return {};
    std::vector<Expr> fields;
    bool changed = false;
    for (const int field : graph_.children(tuple)) {
      fields.push_back(Input(field));
      changed = changed || fields.back() != rewriter_.Get(field);
    }
    if (!changed) return Become(i, Kind::kActivation, {});
    return Become(i, Kind::kActivation,
                  With(i, call, {Tuple(std::move(fields))}));
  }

  // Node `i` is `kind` now. What several users share is quantized once.
  Expr Become(int i, Kind kind, Expr expr) {
    kinds_[i] = kind;
    if (!expr.defined()) {
      // Rebuilt with its new arguments.
      rewriter_.Rebuild(i);
      expr = rewriter_.Get(i);
    }
    if (kind == Kind::kActivation && graph_.num_uses(i) > 1 &&
        CanBeAnnotated(*graph_.node(i))) {
      expr = Annotated(std::move(expr), Kind::kInput);
      kinds_[i] = Kind::kInput;
    }
    return expr;
  }

  // `call`, which is node `i`, with these arguments; null if it has them.
  Expr With(int i, const CallNode& call, std::vector<Expr> args) {
    const absl::Span<const Expr> now = rewriter_.Args(i);
    if (std::equal(args.begin(), args.end(), now.begin(), now.end())) return {};
    return Call(call.op(), std::move(args), call.attrs());
  }

  // Node `i` in 8 bits.
  Expr Input(int i) {
    if (kinds_[i] == Kind::kInput || kinds_[i] == Kind::kWeight) {
      return rewriter_.Get(i);
    }
    if (!inputs_[i].defined()) {
      inputs_[i] = Annotated(rewriter_.Get(i), Kind::kInput);
    }
    return inputs_[i];
  }
  Expr Weight(int i) {
    if (kinds_[i] == Kind::kWeight) return rewriter_.Get(i);
    if (!inputs_[i].defined()) {
      inputs_[i] = Annotated(rewriter_.Get(i), Kind::kWeight);
    }
    return inputs_[i];
  }

  const QuantizeAnnotateOptions& options_;
  const IndexedGraph graph_;
  GraphRewriter rewriter_;
  std::vector<Kind> kinds_;   // of each node
  std::vector<Expr> inputs_;  // each node in 8 bits, where one asked for it
  int64_t num_convs_ = 0;
  bool stopped_ = false;
};

// An annotation that has no scale yet, or all.
enum class Which { kWithoutScale, kWithScale };

const CallNode* AnnotationOf(const ExprNode* node, Which which) {
  const auto* call = CallNode::ClassOf(node->kind())
                         ? static_cast<const CallNode*>(node)
                         : nullptr;
  if (call == nullptr || call->op() != Annotation() || call->num_args() != 4) {
    return nullptr;
  }
  const std::optional<double> scale = ConstantScalar(call->arg(1));
  if (!scale.has_value() || (*scale == 0) != (which == Which::kWithoutScale)) {
    return nullptr;
  }
  return call;
}

bool IsWeight(const CallNode& annotation) {
  return KindOf(annotation) == Kind::kWeight &&
         ConstantTensor(annotation.arg(0)) != nullptr;
}

double LargestMagnitude(const Tensor& x) {
  double largest = 0;
  for (int64_t i = 0; i < x.num_elements(); ++i) {
    const double magnitude = std::abs(x.AtAsDouble(i));
    // A NaN stays.
    if (!(magnitude <= largest)) largest = magnitude;
  }
  return largest;
}

absl::StatusOr<double> WeightRange(const Tensor& weight,
                                   const std::string& mode) {
  const double largest = LargestMagnitude(weight);
  if (mode == "max") return largest;
  if (mode != "power2") {
    return absl::InvalidArgumentError(
        absl::StrCat("weight_scale=", mode, " is neither max nor power2"));
  }
  return largest > 0 ? std::exp2(std::ceil(std::log2(largest))) : 1.0;
}

// The annotations without a scale that are not of weights, in the order of
// evaluation.
std::vector<const CallNode*> ToRecord(const IndexedGraph& graph) {
  std::vector<const CallNode*> calls;
  for (int i = 0; i < graph.size(); ++i) {
    const CallNode* call = AnnotationOf(graph.node(i), Which::kWithoutScale);
    if (call != nullptr && !IsWeight(*call)) calls.push_back(call);
  }
  return calls;
}

absl::StatusOr<IRModule> Calibrate(const IRModule& module,
                                   const QuantizeCalibrateOptions& options,
                                   const QuantizationInputs& inputs) {
  const Function main = module.Find<Function>("main");
  if (!main.defined() || !CallsOp(main, Annotation())) return module;
  const IndexedGraph graph(main);
  const size_t count = ToRecord(graph).size();
  std::vector<double> ranges = options.ranges;
  if (ranges.empty()) {
    if (options.mode == "global_scale") {
      ranges.assign(count, options.global_scale);
    } else if (inputs.empty()) {
      BATON_ASSIGN_OR_RETURN(const Dataset read,
                             ReadDataset(main, options.dataset));
      BATON_ASSIGN_OR_RETURN(ranges, RecordRanges(module, options, read));
    } else {
      BATON_ASSIGN_OR_RETURN(ranges, RecordRanges(module, options, inputs));
    }
  }
  if (ranges.size() != count) {
    return absl::InvalidArgumentError(absl::StrCat(
        "ranges has ", ranges.size(), " elements for ", count, " annotations"));
  }
  size_t next = 0;
  GraphRewriter rewriter(graph);
  BATON_ASSIGN_OR_RETURN(
      const Expr result,
      rewriter.RewriteAll<CallNode>(
          [&](int i, const CallNode& call) -> absl::StatusOr<Expr> {
            if (AnnotationOf(&call, Which::kWithoutScale) == nullptr) {
              return Expr();
            }
            double range = 0;
            if (IsWeight(call)) {
              BATON_ASSIGN_OR_RETURN(range,
                                     WeightRange(*ConstantTensor(call.arg(0)),
                                                 options.weight_scale));
            } else {
              range = ranges[next++];
            }
            if (!std::isfinite(range) || range < 0) {
              return absl::InvalidArgumentError(absl::StrCat(
                  "the range ", range, " of an annotation is no number"));
            }
            // For a tensor of zeros, any scale is right.
            const auto scale =
                static_cast<float>((range > 0 ? range : 1.0) / kSteps);
            return Call(call.op(),
                        {rewriter.Args(i)[0], Const(std::max(scale, 1e-30f)),
                         Const(static_cast<float>(-kHighest)),
                         Const(static_cast<float>(kHighest))},
                        call.attrs());
          }));
  IRModule calibrated = module;
  calibrated.Set("main", Function(result.As<FunctionNode>()));
  return InferTypes(std::move(calibrated));
}

absl::StatusOr<Function> Realize(const Function& function) {
  if (!CallsOp(function, Annotation())) return function;
  const IndexedGraph graph(function);
  GraphRewriter rewriter(graph);
  const Expr result =
      rewriter.RewriteAll<CallNode>([&](int i, const CallNode& call) -> Expr {
        if (AnnotationOf(&call, Which::kWithScale) == nullptr) return {};
        const qnn::Quantization quantization = {call.arg(1), Const(int32_t{0})};
        Expr integers = qnn::Quantize(rewriter.Args(i)[0], quantization,
                                      {.out_dtype = DType::Int(8)});
        return qnn::Dequantize(std::move(integers), quantization);
      });
  return Function(result.As<FunctionNode>());
}

absl::StatusOr<Pass> CreateQuantizeCalibrate(QuantizeCalibrateOptions options) {
  const auto refused = [](const char* option, const auto& value,
                          const char* expected) {
    return absl::InvalidArgumentError(
        absl::StrCat(option, ": expected ", expected, ", got ", value));
  };
  if (options.mode != "global_scale" && options.mode != "max" &&
      options.mode != "percentile" && options.mode != "kl_divergence") {
    return refused("mode", options.mode,
                   "global_scale, max, percentile or kl_divergence");
  }
  if (options.weight_scale != "max" && options.weight_scale != "power2") {
    return refused("weight_scale", options.weight_scale, "max or power2");
  }
  if (!(options.global_scale > 0)) {
    return refused("global_scale", options.global_scale, "a positive number");
  }
  if (!(options.percentile >= 0 && options.percentile <= 1)) {
    return refused("percentile", options.percentile, "a number in [0, 1]");
  }
  if (options.random_inputs < 0) {
    return refused("random_inputs", options.random_inputs,
                   "no negative number");
  }
  if (!options.dataset.empty() &&
      (options.mode == "global_scale" || !options.ranges.empty())) {
    return absl::InvalidArgumentError(
        absl::StrCat("dataset: nothing is recorded with ",
                     options.ranges.empty() ? "mode=global_scale" : "ranges",
                     "; choose another mode"));
  }
  return QuantizeCalibrate(std::move(options));
}

}  // namespace

absl::StatusOr<std::vector<double>> RecordRanges(
    const IRModule& module, const QuantizeCalibrateOptions& options,
    absl::Span<const std::vector<Value>> inputs) {
  const Function main = module.Find<Function>("main");
  if (!main.defined()) {
    return absl::NotFoundError("there is no function @main to evaluate");
  }
  const IndexedGraph graph(main);
  const std::vector<const CallNode*> calls = ToRecord(graph);
  QuantizationInputs random;
  if (inputs.empty()) {
    for (int64_t i = 0; i < options.random_inputs; ++i) {
      BATON_ASSIGN_OR_RETURN(
          std::vector<Value> args,
          RandomInputs(main, static_cast<uint32_t>(options.seed + i),
                       RandomRange::kMild));
      random.push_back(std::move(args));
    }
    inputs = random;
  }
  if (inputs.empty() && !calls.empty()) {
    return absl::FailedPreconditionError(absl::StrCat(
        "mode=", options.mode,
        " needs inputs to record ranges on; give some (a dataset), "
        "random_inputs, or ranges"));
  }
  FlatHashMap<const ExprNode*, size_t> numbers;
  for (size_t i = 0; i < calls.size(); ++i) numbers.emplace(calls[i], i);
  const bool wants_threshold = options.mode == "kl_divergence";
  const bool keeps_all = options.mode == "percentile" || wants_threshold;
  std::vector<double> ranges(calls.size(), 0);
  std::vector<std::vector<float>> elements(calls.size());
  EvaluateOptions evaluation;
  evaluation.observe = [&](const ExprNode& node, const Value& value) {
    const auto it = numbers.find(&node);
    if (it == numbers.end() || !value.is_tensor()) return;
    const Tensor& tensor = value.tensor();
    if (!keeps_all) {
      const double largest = LargestMagnitude(tensor);
      double& range = ranges[it->second];
      if (!(largest <= range)) range = largest;
      return;
    }
    for (int64_t i = 0; i < tensor.num_elements(); ++i) {
      elements[it->second].push_back(static_cast<float>(tensor.AtAsDouble(i)));
    }
  };
  for (const std::vector<Value>& args : inputs) {
    BATON_RETURN_IF_ERROR(
        EvaluateFunction(module, "main", args, evaluation).status());
  }
  for (size_t i = 0; i < calls.size() && keeps_all; ++i) {
    std::vector<float>& all = elements[i];
    if (all.empty()) continue;
    if (wants_threshold) {
      ranges[i] = KlThreshold(all);
      continue;
    }
    for (float& element : all) element = std::abs(element);
    const auto at =
        std::min(static_cast<size_t>(static_cast<double>(all.size()) *
                                     options.percentile),
                 all.size() - 1);
    std::nth_element(all.begin(), all.begin() + static_cast<int64_t>(at),
                     all.end());
    ranges[i] = all[at];
  }
  return ranges;
}

Pass QuantizeAnnotate(QuantizeAnnotateOptions options) {
  return CreateFunctionPass(
      [options](const Function& function, const IRModule& /*module*/,
                const PassContext& /*context*/) -> absl::StatusOr<Function> {
        if (!CallsOpOf(function, QuantizationRoles())) return function;
        return Annotator(function, options).Run();
      },
      {.name = "QuantizeAnnotate",
       .opt_level = 1,
       .required = {"InferType"},
       .doc = "Marks what a float model can compute in 8 bits.",
       .invalidates = {"a_normal_form", "basic_block_normal_form"},
       .idempotent = true,
       .examples = {"skip_dense_layer=false"}},
      options);
}
BATON_REGISTER_PASS(QuantizeAnnotate);
BATON_REGISTER_REMARKS("QuantizeAnnotate",
                       {.passed = "the operands of a call are quantized",
                        .missed = "why they are not"});

Pass QuantizeCalibrate(QuantizeCalibrateOptions options,
                       QuantizationInputs inputs) {
  return CreateModulePass(
      [options, inputs = std::move(inputs)](IRModule module,
                                            const PassContext& /*context*/) {
        return Calibrate(module, options, inputs);
      },
      {.name = "QuantizeCalibrate",
       .opt_level = 1,
       .required = {"InferType"},
       .doc = "Sets the scales of what QuantizeAnnotate marked, from ranges.",
       .invalidates = {"a_normal_form"},
       .idempotent = true,
       .exact = false,
       .tolerance = 0.1,
       .waivers = {{"precision", "It rounds to steps of integers."},
                   {"values", "Numbers out of the ranges are clipped."}},
       .examples = {"mode=max,random_inputs=2"}},
      options);
}
BATON_REGISTER_PASS_AS("QuantizeCalibrate", CreateQuantizeCalibrate);

Pass QuantizeRealize() {
  return CreateFunctionPass(
      [](const Function& function, const IRModule& /*module*/,
         const PassContext& /*context*/) { return Realize(function); },
      {.name = "QuantizeRealize",
       .opt_level = 1,
       .required = {"InferType"},
       .doc = "Makes qnn.quantize and qnn.dequantize of what "
              "QuantizeCalibrate gave scales.",
       .invalidates = {"a_normal_form", "no_quantized_operators"},
       .idempotent = true,
       .exact = false,
       .tolerance = 0.1,
       .waivers = {{"precision", "It computes in integers."}}});
}
BATON_REGISTER_PASS(QuantizeRealize);

}  // namespace baton::relay
