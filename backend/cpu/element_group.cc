#include "baton/backend/cpu/element_group.h"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <numeric>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "absl/strings/str_replace.h"
#include "absl/strings/string_view.h"
#include "absl/types/span.h"
#include "baton/backend/cpu/graph.h"
#include "baton/backend/cpu/kernel_choice.h"
#include "baton/backend/cpu/kernel_costs.h"
#include "baton/backend/cpu/step_source.h"
#include "baton/base/dtype.h"
#include "baton/base/tensor.h"
#include "baton/ir/attrs.h"
#include "baton/relay/op/nn/activation.h"
#include "baton/relay/op/tensor/elementwise.h"
#include "baton/runtime/executor/plan.h"
#include "baton/runtime/kernels/elementwise_program.h"

namespace baton::cpu {
namespace {

using kernels::ElementFunction;

constexpr struct {
  absl::string_view op;
  ElementFunction function;
} kFunctions[] = {
    {"add", ElementFunction::kAdd},
    {"subtract", ElementFunction::kSubtract},
    {"multiply", ElementFunction::kMultiply},
    {"divide", ElementFunction::kDivide},
    {"maximum", ElementFunction::kMaximum},
    {"minimum", ElementFunction::kMinimum},
    {"nn.bias_add", ElementFunction::kAdd},
    {"nn.prelu", ElementFunction::kPrelu},
    {"power", ElementFunction::kPower},
    {"cast", ElementFunction::kCopy},
    {"nn.relu", ElementFunction::kRelu},
    {"clip", ElementFunction::kClip},
    {"nn.leaky_relu", ElementFunction::kLeakyRelu},
    {"negative", ElementFunction::kNegative},
    {"abs", ElementFunction::kAbs},
    {"sqrt", ElementFunction::kSqrt},
    {"rsqrt", ElementFunction::kRsqrt},
    {"exp", ElementFunction::kExp},
    {"fast_exp", ElementFunction::kExp},
    {"log", ElementFunction::kLog},
    {"tanh", ElementFunction::kTanh},
    {"fast_tanh", ElementFunction::kTanh},
    {"sigmoid", ElementFunction::kSigmoid},
    {"erf", ElementFunction::kErf},
    {"fast_erf", ElementFunction::kErf},
    {"floor", ElementFunction::kFloor},
    {"ceil", ElementFunction::kCeil},
    {"round", ElementFunction::kRound},
};

// A vector along `axis` of a tensor of `rank`, with dimensions to broadcast.
std::optional<TensorShape> AlongAxis(const TensorShape& vector, int64_t axis,
                                     int64_t rank) {
  if (axis < 0) axis += rank;
  if (vector.size() != 1 || axis < 0 || axis >= rank) return std::nullopt;
  TensorShape shape(static_cast<size_t>(rank - axis), 1);
  shape[0] = vector[0];
  return shape;
}

// Gives the bias of nn.bias_add the shape with which it broadcasts. Returns
// false if it has none.
bool AlignBias(const GraphNode& node, const GraphTensor& result,
               ElementCall& call) {
  std::optional<TensorShape> aligned =
      AlongAxis(call.args[1].shape,
                AttrsOrDefaults<relay::BiasAddAttrs>(node.call->attrs()).axis,
                static_cast<int64_t>(result.shape.size()));
  if (!aligned.has_value()) return false;
  call.args[1].shape = *std::move(aligned);
  return true;
}

struct StepParams {
  kernels::ElementProgram program;
  std::vector<kernels::ElementInstruction> instructions;
  std::vector<kernels::ElementOperand> operands;
  std::vector<int16_t> registers;
  std::vector<int64_t> dims;
  std::vector<int64_t> strides;
  std::vector<bool> is_int;  // operands that are int32 within the program
};

int Run(const executor::StepCall& call) {
  kernels::RunElementProgram(
      static_cast<const StepParams*>(call.params)->program, call.inputs,
      call.outputs[0], call.workspace, call.begin, call.end);
  return 0;
}

// Rows are those of the first dimension.
void RunRows(const void* params, const void* const* inputs, void* output,
             void* workspace, int64_t rows) {
  const StepParams& p = *static_cast<const StepParams*>(params);
  kernels::ElementProgram program = p.program;
  int64_t dims[kernels::kMaxElementDims];
  std::copy(p.dims.begin(), p.dims.end(), dims);
  program.num_elements = program.num_elements / dims[0] * rows;
  dims[0] = rows;
  program.dims = dims;
  kernels::RunElementProgram(program, inputs, output, workspace, 0,
                             kernels::ElementProgramItems(program));
}

// The kind of an operand of a type that is converted; kFull for others.
kernels::ElementOperand ConvertedOperand(DType type) {
  if (type == DType::Float(16)) return kernels::ElementOperand::kHalf;
  if (type == DType::BFloat(16)) return kernels::ElementOperand::kBFloat;
  if (type == DType::Int(32)) return kernels::ElementOperand::kInt32;
  if (type == DType::UInt(8)) return kernels::ElementOperand::kUint8;
  if (type == DType::Int(8)) return kernels::ElementOperand::kInt8;
  return kernels::ElementOperand::kFull;
}

kernels::ElementResult ResultOf(DType type, bool is_float) {
  if (!is_float) {
    return type.bytes() == 1 ? kernels::ElementResult::kLowByte
                             : kernels::ElementResult::kWords;
  }
  if (type == DType::Float(16)) return kernels::ElementResult::kHalf;
  if (type == DType::BFloat(16)) return kernels::ElementResult::kBFloat;
  if (type == DType::Int(32)) return kernels::ElementResult::kInt32;
  if (type == DType::UInt(8)) return kernels::ElementResult::kUint8;
  if (type == DType::Int(8)) return kernels::ElementResult::kInt8;
  return kernels::ElementResult::kWords;
}

// Types of 8 bits are integers of 32 bits in a program.
bool IsInt(DType type) { return type == DType::Int(32) || type.is_byte(); }
bool IsInProgram(DType type) {
  return type == DType::Float(32) || IsInt(type) || type.is_bool();
}

std::optional<ElementCall> CastOf(const GraphNode& node, const Graph& graph) {
  if (node.inputs.size() != 1) return std::nullopt;
  const GraphTensor& x = graph.tensors[static_cast<size_t>(node.inputs[0])];
  const GraphTensor& y = graph.tensors[static_cast<size_t>(node.outputs[0])];
  const auto can_cast = [](DType type) {
    return IsInProgram(type) || type.is_half();
  };
  // A float is true unless it is 0, which is no function of a program.
  if (!can_cast(x.dtype) || !can_cast(y.dtype) || x.dtype == y.dtype ||
      (y.dtype.is_bool() && !IsInt(x.dtype)) || x.num_elements() == 0) {
    return std::nullopt;
  }
  ElementCall call;
  call.function = ElementFunction::kCopy;
  call.args.push_back({node.inputs[0], x.shape, x.dtype});
  return call;
}

// Functions of floats that are also functions of integers, or give bools.
constexpr struct {
  absl::string_view op;
  ElementFunction function;
  ElementFunction other;
  bool can_wrap = false;
  bool is_comparison = false;
} kIntFunctions[] = {
    {"add", ElementFunction::kAdd, ElementFunction::kAddInt, true},
    {"nn.bias_add", ElementFunction::kAdd, ElementFunction::kAddInt, true},
    {"subtract", ElementFunction::kSubtract, ElementFunction::kSubtractInt,
     true},
    {"multiply", ElementFunction::kMultiply, ElementFunction::kMultiplyInt,
     true},
    {"maximum", ElementFunction::kMaximum, ElementFunction::kMaximumInt},
    {"minimum", ElementFunction::kMinimum, ElementFunction::kMinimumInt},
    {"less", ElementFunction::kLess, ElementFunction::kLessInt, false, true},
    {"less_equal", ElementFunction::kLessEqual, ElementFunction::kLessEqualInt,
     false, true},
    {"greater", ElementFunction::kGreater, ElementFunction::kGreaterInt, false,
     true},
    {"greater_equal", ElementFunction::kGreaterEqual,
     ElementFunction::kGreaterEqualInt, false, true},
    {"equal", ElementFunction::kEqual, ElementFunction::kEqualInt, false, true},
    {"not_equal", ElementFunction::kNotEqual, ElementFunction::kNotEqualInt,
     false, true},
};

int64_t ClampBound(double bound, int64_t low, int64_t high) {
  if (bound != bound) return 0;
  if (bound <= static_cast<double>(low)) return low;
  if (bound >= static_cast<double>(high)) return high;
  return static_cast<int64_t>(bound);
}

// True if `t` is a constant of int32 elements from `low` to `high`.
bool IsConstantWithin(const GraphTensor& t, int32_t low, int32_t high) {
  if (!t.constant.has_value() || t.dtype != DType::Int(32)) return false;
  const absl::Span<const int32_t> values = t.constant->span<int32_t>();
  return std::all_of(values.begin(), values.end(),
                     [&](int32_t v) { return v >= low && v <= high; });
}

std::optional<ElementCall> FixedPointOf(const GraphNode& node,
                                        const Graph& graph) {
  const auto tensor = [&](size_t i) -> const GraphTensor& {
    return graph.tensors[static_cast<size_t>(node.inputs[i])];
  };
  const GraphTensor& x = tensor(0);
  if (x.dtype != DType::Int(32) || x.num_elements() == 0) return std::nullopt;
  ElementCall call;
  call.args.push_back({node.inputs[0], x.shape, x.dtype});
  constexpr int kFraction = 31;  // bits of a multiplier behind the point
  if (node.op_name() == "fixed_point_multiply") {
    const auto* attrs = node.call->attrs_as<relay::FixedPointMultiplyAttrs>();
    if (attrs == nullptr || attrs->shift >= kFraction ||
        attrs->shift < -kFraction) {
      return std::nullopt;
    }
    call.function = ElementFunction::kFixedPoint;
    call.p = attrs->multiplier;
    call.q = kFraction - attrs->shift;
    return call;
  }
  const auto* attrs =
      node.call->attrs_as<relay::FixedPointMultiplyPerAxisAttrs>();
  if (attrs == nullptr || node.inputs.size() != 4 || attrs->axes.size() != 1 ||
      tensor(1).dtype != DType::Int(32) ||
      (attrs->is_lshift_required && !IsConstantWithin(tensor(2), 0, 0)) ||
      (attrs->is_rshift_required &&
       !IsConstantWithin(tensor(3), 0, kFraction))) {
    return std::nullopt;
  }
  const auto rank = static_cast<int64_t>(x.shape.size());
  call.function = attrs->is_rshift_required
                      ? ElementFunction::kFixedPointByShift
                      : ElementFunction::kFixedPointBy;
  call.q = kFraction;
  const auto add = [&](size_t i) {
    std::optional<TensorShape> shape =
        AlongAxis({tensor(i).num_elements()}, attrs->axes[0], rank);
    const bool fits = shape.has_value() &&
                      (*shape)[0] == x.shape[x.shape.size() - shape->size()];
    if (fits) {
      call.args.push_back({node.inputs[i], *std::move(shape), DType::Int(32)});
    }
    return fits;
  };
  if (!add(1) || (attrs->is_rshift_required && !add(3))) return std::nullopt;
  return call;
}

// A call whose arguments or results are integers or bools.
std::optional<ElementCall> IntCallOf(const GraphNode& node,
                                     const Graph& graph) {
  const auto tensor = [&](int t) -> const GraphTensor& {
    return graph.tensors[static_cast<size_t>(t)];
  };
  const std::string& op = node.op_name();
  const GraphTensor& y = tensor(node.outputs[0]);
  if (node.inputs.empty() || y.num_elements() == 0) return std::nullopt;
  if (op == "fixed_point_multiply" || op == "fixed_point_multiply_per_axis") {
    return FixedPointOf(node, graph);
  }
  ElementCall call;
  for (const int t : node.inputs) {
    if (!IsInProgram(tensor(t).dtype)) return std::nullopt;
    call.args.push_back({t, tensor(t).shape, tensor(t).dtype});
  }
  const DType type = call.args.back().type;
  if (op == "where") {
    if (call.args.size() != 3 || !call.args[0].type.is_bool() ||
        call.args[1].type != type || y.dtype != type) {
      return std::nullopt;
    }
    call.function = ElementFunction::kSelect;
    return call;
  }
  for (const ElementArg& arg : call.args) {
    if (arg.type != type) return std::nullopt;
  }
  if (op == "logical_not" && type.is_bool() && call.args.size() == 1) {
    call.function = ElementFunction::kNot;
    return call;
  }
  if ((op == "logical_and" || op == "logical_or") && type.is_bool() &&
      call.args.size() == 2) {
    call.function =
        op == "logical_and" ? ElementFunction::kAnd : ElementFunction::kOr;
    return call;
  }
  if (op == "clip" && IsInt(type) && y.dtype == type && call.args.size() == 1) {
    const auto& attrs = AttrsOrDefaults<relay::ClipAttrs>(node.call->attrs());
    const bool is_unsigned = type == DType::UInt(8);
    const int64_t low = is_unsigned ? 0 : -(int64_t{1} << (type.bits() - 1));
    const int64_t high = low + (int64_t{1} << type.bits()) - 1;
    call.function = ElementFunction::kClipInt;
    call.p = static_cast<double>(ClampBound(attrs.a_min, low, high));
    call.q = static_cast<double>(ClampBound(attrs.a_max, low, high));
    return call;
  }
  const auto* found =
      std::find_if(std::begin(kIntFunctions), std::end(kIntFunctions),
                   [&](const auto& entry) { return entry.op == op; });
  if (found == std::end(kIntFunctions) || call.args.size() != 2) {
    return std::nullopt;
  }
  if (found->is_comparison) {
    if (!y.dtype.is_bool() || type.is_bool()) return std::nullopt;
  } else if (!IsInt(type) || y.dtype != type) {
    return std::nullopt;
  }
  if (op == "nn.bias_add" && !AlignBias(node, y, call)) return std::nullopt;
  call.function = type == DType::Float(32) ? found->function : found->other;
  if (found->can_wrap && type == DType::UInt(8)) {
    call.then = ElementFunction::kWrapUint8;
  } else if (found->can_wrap && type == DType::Int(8)) {
    call.then = ElementFunction::kWrapInt8;
  }
  return call;
}

// A power whose exponent is one constant.
std::optional<ElementCall> PowerOf(const GraphNode& node, const Graph& graph) {
  if (node.inputs.size() != 2) return std::nullopt;
  const GraphTensor& x = graph.tensors[static_cast<size_t>(node.inputs[0])];
  const GraphTensor& y = graph.tensors[static_cast<size_t>(node.inputs[1])];
  if (x.dtype != DType::Float(32) || y.dtype != DType::Float(32) ||
      x.num_elements() == 0 || !y.constant.has_value() ||
      y.num_elements() != 1) {
    return std::nullopt;
  }
  ElementCall call;
  call.p = static_cast<double>(y.constant->span<float>()[0]);
  const ElementArg arg = {node.inputs[0], x.shape};
  // As in runtime/kernels/internal/math.h.
  const bool is_square = call.p == 2;
  call.function =
      is_square ? ElementFunction::kMultiply : ElementFunction::kPower;
  call.args.assign(is_square ? 2 : 1, arg);
  return call;
}

// A function of float16 that is not that of float32, rounded.
std::optional<ElementCall> HalfCallOf(const GraphNode& node,
                                      const Graph& graph) {
  constexpr struct {
    absl::string_view op;
    ElementFunction function;
  } kHalfFunctions[] = {
      {"exp", ElementFunction::kExpOfHalf},
      {"fast_exp", ElementFunction::kExpOfHalf},
      {"log", ElementFunction::kLogOfHalf},
      {"tanh", ElementFunction::kTanhOfHalf},
      {"fast_tanh", ElementFunction::kTanhOfHalf},
  };
  if (node.inputs.size() != 1) return std::nullopt;
  const GraphTensor& x = graph.tensors[static_cast<size_t>(node.inputs[0])];
  const GraphTensor& y = graph.tensors[static_cast<size_t>(node.outputs[0])];
  if (x.dtype != DType::Float(16) || y.dtype != x.dtype ||
      x.num_elements() == 0) {
    return std::nullopt;
  }
  for (const auto& known : kHalfFunctions) {
    if (known.op != node.op_name()) continue;
    ElementCall call;
    call.function = known.function;
    call.args.push_back({node.inputs[0], x.shape, x.dtype});
    call.then = ElementFunction::kRoundToHalf;
    return call;
  }
  return std::nullopt;
}

std::optional<ElementCall> FloatCallOf(const GraphNode& node,
                                       const Graph& graph) {
  const auto* found = std::find_if(
      std::begin(kFunctions), std::end(kFunctions),
      [&](const auto& entry) { return entry.op == node.op_name(); });
  if (found == std::end(kFunctions) || node.outputs.size() != 1) {
    return std::nullopt;
  }
  ElementCall call;
  call.function = found->function;
  if (call.function == ElementFunction::kPower) return PowerOf(node, graph);
  if (call.function == ElementFunction::kCopy) return CastOf(node, graph);
  const size_t arity = kernels::IsBinary(call.function) ? 2 : 1;
  if (node.inputs.size() != arity) return std::nullopt;
  const auto tensor = [&](int t) -> const GraphTensor& {
    return graph.tensors[static_cast<size_t>(t)];
  };
  const GraphTensor& result = tensor(node.outputs[0]);
  if (result.dtype != DType::Float(32) || result.num_elements() == 0) {
    return std::nullopt;
  }
  for (const int t : node.inputs) {
    if (tensor(t).dtype != DType::Float(32)) return std::nullopt;
    call.args.push_back({t, tensor(t).shape});
  }
  std::optional<TensorShape> aligned;
  if (node.op_name() == "nn.bias_add") {
    if (!AlignBias(node, result, call)) return std::nullopt;
    return call;
  }
  if (node.op_name() == "nn.prelu") {
    const auto& attrs = AttrsOrDefaults<relay::PReluAttrs>(node.call->attrs());
    aligned = AlongAxis(call.args[1].shape, attrs.axis,
                        static_cast<int64_t>(result.shape.size()));
  } else if (node.op_name() == "clip") {
    const auto& attrs = AttrsOrDefaults<relay::ClipAttrs>(node.call->attrs());
    call.p = attrs.a_min;
    call.q = attrs.a_max;
    return call;
  } else if (node.op_name() == "nn.leaky_relu") {
    call.p = AttrsOrDefaults<relay::LeakyReluAttrs>(node.call->attrs()).alpha;
    return call;
  } else {
    return call;
  }
  if (!aligned.has_value()) return std::nullopt;
  call.args[1].shape = *std::move(aligned);
  return call;
}

}  // namespace

bool ElementCall::HasSource() const {
  return function != ElementFunction::kExpOfHalf &&
         function != ElementFunction::kLogOfHalf &&
         function != ElementFunction::kTanhOfHalf;
}

std::vector<ElementFunction> CastFunctions(DType from, DType to) {
  std::vector<ElementFunction> functions;
  const bool from_float = from.is_float();
  if (to.is_float()) {
    if (!from_float) functions.push_back(ElementFunction::kToFloat);
    if (to == DType::Float(16)) {
      functions.push_back(ElementFunction::kRoundToHalf);
    } else if (to == DType::BFloat(16)) {
      functions.push_back(ElementFunction::kRoundToBFloat);
    }
    return functions;
  }
  if (from_float) functions.push_back(ElementFunction::kToInt);
  if (to == DType::UInt(8) && !from.is_bool()) {
    functions.push_back(ElementFunction::kWrapUint8);
  } else if (to == DType::Int(8) && !from.is_bool()) {
    functions.push_back(ElementFunction::kWrapInt8);
  } else if (to.is_bool()) {
    functions.push_back(ElementFunction::kToBool);
  }
  return functions;
}

std::optional<ElementCall> ElementCallOf(const GraphNode& node,
                                         const Graph& graph) {
  if (node.outputs.size() != 1) return std::nullopt;
  std::optional<ElementCall> call = FloatCallOf(node, graph);
  if (!call.has_value()) call = HalfCallOf(node, graph);
  return call.has_value() ? call : IntCallOf(node, graph);
}

namespace {

// Finds chains of calls, each of which is the only one that uses the one before
// it.
class ChainFuser {
 public:
  ChainFuser(absl::Span<const ElementArg> operands,
             std::vector<GroupCall>& calls)
      : operands_(operands),
        calls_(calls),
        num_uses_(operands.size() + calls.size(), 0),
        is_dropped_(calls.size(), false) {
    for (const GroupCall& call : calls_) {
      const int args[] = {call.a, call.b, call.c};
      for (int i = 0; i < kernels::NumArgs(call.function); ++i) {
        ++num_uses_[static_cast<size_t>(args[i])];
      }
    }
    // The result is used.
    if (!num_uses_.empty()) ++num_uses_.back();
  }

  void Run() {
    for (size_t k = 0; k < calls_.size(); ++k) {
      if (is_dropped_[k]) continue;
      if (!Quantize(k)) Dequantize(k);
    }
    // Values have other numbers without the calls that are part of others.
    const int num = static_cast<int>(operands_.size());
    std::vector<int> numbers(num_uses_.size());
    std::iota(numbers.begin(), numbers.end(), 0);
    std::vector<GroupCall> kept;
    for (size_t k = 0; k < calls_.size(); ++k) {
      if (is_dropped_[k]) continue;
      numbers[static_cast<size_t>(num) + k] =
          num + static_cast<int>(kept.size());
      GroupCall call = calls_[k];
      for (int* const v : {&call.a, &call.b, &call.c}) {
        *v = numbers[static_cast<size_t>(*v)];
      }
      kept.push_back(call);
    }
    calls_ = std::move(kept);
  }

 private:
  // The number of the call that computes the value `v`; negative for an
  // operand.
  int CallOf(int v) const { return v - static_cast<int>(operands_.size()); }

  // True if `v` is an operand of one word.
  bool IsOne(int v, DType type) const {
    if (CallOf(v) >= 0) return false;
    const ElementArg& arg = operands_[static_cast<size_t>(v)];
    return arg.type == type && !arg.is_converted &&
           std::all_of(arg.shape.begin(), arg.shape.end(),
                       [](int64_t extent) { return extent == 1; });
  }

  // Moves `k` to the one call that uses its value, if its function is
  // `function`. `other` becomes the other operand.
  bool Follow(ElementFunction function, size_t& k, int& other) const {
    const int v = static_cast<int>(operands_.size() + k);
    if (num_uses_[static_cast<size_t>(v)] != 1) return false;
    for (size_t next = k + 1; next < calls_.size(); ++next) {
      const GroupCall& call = calls_[next];
      const int num_args = kernels::NumArgs(call.function);
      const bool is_first = call.a == v;
      if (!is_first && !(num_args > 1 && call.b == v) &&
          !(num_args > 2 && call.c == v)) {
        continue;
      }
      if (call.function != function) return false;
      const bool commutes = function == ElementFunction::kAdd ||
                            function == ElementFunction::kMultiply;
      if (!is_first && !commutes) return false;
      other = is_first ? call.b : call.a;
      k = next;
      return true;
    }
    return false;
  }

  // Makes call `last` the chain of the calls `numbers`, of which it is the last
  // one.
  void Fuse(absl::Span<const size_t> numbers, size_t last, GroupCall fused) {
    for (const size_t k : numbers) {
      if (k != last) is_dropped_[k] = true;
    }
    calls_[last] = fused;
  }

  bool Quantize(size_t first) {
    const GroupCall& division = calls_[first];
    const DType real = DType::Float(32);
    if (division.function != ElementFunction::kDivide ||
        !IsOne(division.b, real)) {
      return false;
    }
    size_t k = first;
    int none = 0;
    int zero = 0;
    if (!Follow(ElementFunction::kRound, k, none)) return false;
    const size_t rounded = k;
    if (!Follow(ElementFunction::kAdd, k, zero) || !IsOne(zero, real)) {
      return false;
    }
    const size_t sum = k;
    if (!Follow(ElementFunction::kClip, k, none)) return false;
    GroupCall fused = {ElementFunction::kQuantize};
    fused.a = division.a;
    fused.b = division.b;
    fused.c = zero;
    fused.p = calls_[k].p;
    fused.q = calls_[k].q;
    Fuse({first, rounded, sum}, k, fused);
    return true;
  }

  // True if the value `v` is NaN or within the numbers of a byte, of either
  // type.
  bool IsByte(int v) const {
    const int call = CallOf(v);
    if (call < 0) return false;
    const GroupCall& clip = calls_[static_cast<size_t>(call)];
    return (clip.function == ElementFunction::kQuantize ||
            clip.function == ElementFunction::kClip) &&
           ((clip.p >= 0 && clip.q <= 255) ||
            (clip.p >= -128 && clip.q <= 127)) &&
           clip.p <= clip.q;
  }

  void Dequantize(size_t first) {
    const GroupCall& start = calls_[first];
    GroupCall fused = {ElementFunction::kDequantizeInt};
    std::vector<size_t> chain;
    size_t k = first;
    int none = 0;
    if (start.function == ElementFunction::kToInt) {
      if (!IsByte(start.a)) return;
      const bool is_unsigned =
          calls_[static_cast<size_t>(CallOf(start.a))].p >= 0;
      fused.function = ElementFunction::kDequantize;
      fused.a = start.a;
      chain.push_back(k);
      size_t wrapped = k;
      // Bytes of the type are not changed.
      if (Follow(is_unsigned ? ElementFunction::kWrapUint8
                             : ElementFunction::kWrapInt8,
                 wrapped, none)) {
        k = wrapped;
        chain.push_back(k);
      }
      if (!Follow(ElementFunction::kSubtractInt, k, fused.b)) return;
    } else if (start.function == ElementFunction::kSubtractInt) {
      fused.a = start.a;
      fused.b = start.b;
    } else {
      return;
    }
    if (!IsOne(fused.b, DType::Int(32))) return;
    chain.push_back(k);
    if (!Follow(ElementFunction::kToFloat, k, none)) return;
    chain.push_back(k);
    if (!Follow(ElementFunction::kMultiply, k, fused.c) ||
        !IsOne(fused.c, DType::Float(32))) {
      return;
    }
    Fuse(chain, k, fused);
  }

  const absl::Span<const ElementArg> operands_;
  std::vector<GroupCall>& calls_;
  std::vector<int> num_uses_;  // of values
  std::vector<bool> is_dropped_;
};

}  // namespace

void FuseQuantization(absl::Span<const ElementArg> operands,
                      std::vector<GroupCall>& calls) {
  ChainFuser(operands, calls).Run();
}

std::optional<KernelChoice> ElementStep(absl::Span<const ElementArg> operands,
                                        absl::Span<const GroupCall> calls,
                                        const TensorShape& shape, int result,
                                        DType type, bool is_float) {
  auto params = std::make_shared<StepParams>();
  // Strides of operands for each dimension of the result; dimensions are merged
  // where all operands allow it.
  const size_t num = operands.size();
  std::vector<std::vector<int64_t>> strides(num);
  for (size_t i = 0; i < num; ++i) {
    const TensorShape& from = operands[i].shape;
    if (from.size() > shape.size()) return std::nullopt;
    strides[i].assign(shape.size(), 0);
    int64_t stride = 1;
    for (size_t d = from.size(); d-- > 0;) {
      const size_t at = shape.size() - from.size() + d;
      if (from[d] != 1) {
        if (from[d] != shape[at]) return std::nullopt;
        strides[i][at] = stride;
      }
      stride *= from[d];
    }
  }
  std::vector<int64_t>& dims = params->dims;
  std::vector<std::vector<int64_t>> merged(num);
  for (size_t d = 0; d < shape.size(); ++d) {
    if (shape[d] == 1) continue;
    bool merge = !dims.empty();
    for (size_t i = 0; i < num && merge; ++i) {
      merge = merged[i].back() == strides[i][d] * shape[d];
    }
    if (merge) {
      dims.back() *= shape[d];
      for (size_t i = 0; i < num; ++i) merged[i].back() = strides[i][d];
    } else {
      dims.push_back(shape[d]);
      for (size_t i = 0; i < num; ++i) merged[i].push_back(strides[i][d]);
    }
  }
  if (dims.empty()) {
    dims.push_back(1);
    for (size_t i = 0; i < num; ++i) merged[i].push_back(1);
  }
  if (dims.size() > kernels::kMaxElementDims) return std::nullopt;
  int64_t elements = 1;
  for (const int64_t extent : dims) elements *= extent;
  int16_t next_register = 0;
  double bytes = static_cast<double>(elements) * 4;
  for (size_t i = 0; i < num; ++i) {
    params->strides.insert(params->strides.end(), merged[i].begin(),
                           merged[i].end());
    params->strides.resize((i + 1) * kernels::kMaxElementDims, 0);
    int64_t size = 1;
    for (const int64_t extent : operands[i].shape) size *= extent;
    params->registers.push_back(0);
    params->is_int.push_back(operands[i].type != DType::Float(32) &&
                             !operands[i].is_converted);
    using kernels::ElementOperand;
    if (operands[i].is_converted) {
      if (size != elements) return std::nullopt;
      params->operands.push_back(ConvertedOperand(operands[i].type));
      params->registers.back() = next_register++;
    } else if (operands[i].type.bytes() == 1) {
      params->operands.push_back(
          operands[i].type.is_bool()           ? ElementOperand::kBools
          : operands[i].type == DType::UInt(8) ? ElementOperand::kBytes
                                               : ElementOperand::kSignedBytes);
      params->registers.back() = next_register++;
    } else if (size == elements) {
      params->operands.push_back(ElementOperand::kFull);
    } else if (size == 1) {
      params->operands.push_back(ElementOperand::kScalar);
    } else {
      params->operands.push_back(ElementOperand::kBroadcast);
      params->registers.back() = next_register++;
    }
    bytes += static_cast<double>(size * operands[i].type.bytes());
  }
  // A register is free after the last use of its value.
  std::vector<size_t> last_use(calls.size(), 0);
  for (size_t k = 0; k < calls.size(); ++k) {
    const auto use = [&](int v) {
      if (v >= static_cast<int>(num))
        last_use[static_cast<size_t>(v) - num] = k;
    };
    const int num_args = kernels::NumArgs(calls[k].function);
    use(calls[k].a);
    if (num_args > 1) use(calls[k].b);
    if (num_args > 2) use(calls[k].c);
  }
  std::vector<int16_t> free;
  for (size_t k = 0; k < calls.size(); ++k) {
    kernels::ElementInstruction instruction;
    instruction.function = calls[k].function;
    instruction.a = static_cast<int16_t>(calls[k].a);
    instruction.b = static_cast<int16_t>(calls[k].b);
    instruction.c = static_cast<int16_t>(calls[k].c);
    instruction.p = calls[k].p;
    instruction.q = calls[k].q;
    if (k + 1 < calls.size()) {
      if (free.empty()) free.push_back(next_register++);
      instruction.target = free.back();
      free.pop_back();
    }
    params->instructions.push_back(instruction);
    for (size_t j = 0; j < k; ++j) {
      if (last_use[j] == k) free.push_back(params->instructions[j].target);
    }
  }
  kernels::ElementProgram& program = params->program;
  program.instructions = params->instructions.data();
  program.num_instructions = static_cast<int32_t>(calls.size());
  program.num_operands = static_cast<int32_t>(num);
  program.num_registers = next_register;
  program.operands = params->operands.data();
  program.operand_registers = params->registers.data();
  program.num_dims = static_cast<int32_t>(dims.size());
  program.dims = params->dims.data();
  program.strides = params->strides.data();
  program.num_elements = elements;
  program.result = ResultOf(type, is_float);

  KernelChoice choice;
  choice.function = Run;
  choice.kernel = "elementwise";
  choice.reason =
      "calls that follow one another, tile by tile in the nearest cache";
  choice.items = kernels::ElementProgramItems(program);
  choice.workspace_bytes =
      static_cast<int64_t>(kernels::ElementProgramWorkspaceSize(program));
  for (const ElementArg& operand : operands) {
    choice.inputs.push_back(operand.tensor);
  }
  choice.outputs = {result};
  // Fewer elements of four bytes may have the bytes of elements of one.
  choice.in_place = type.bytes() == 4;
  bool is_cast = program.result != kernels::ElementResult::kWords;
  for (const ElementArg& operand : operands) {
    is_cast = is_cast || operand.is_converted || operand.type.bytes() == 1;
    if (operand.type.bytes() == 1) choice.in_place = false;
  }
  if (is_cast) choice.kernel += "+cast";
  const auto has = [&](ElementFunction first, ElementFunction last) {
    return std::any_of(calls.begin(), calls.end(), [&](const GroupCall& call) {
      return call.function >= first && call.function <= last;
    });
  };
  if (has(ElementFunction::kQuantize, ElementFunction::kQuantize)) {
    choice.kernel += "+quantize";
  }
  if (has(ElementFunction::kDequantize, ElementFunction::kDequantizeInt)) {
    choice.kernel += "+dequantize";
  }
  if (!choice.in_place) {
    for (const ElementArg& operand : operands) {
      if (operand.shape == shape && operand.type.bytes() == type.bytes()) {
        choice.overwrites = operand.tensor;
      }
    }
  }
  choice.flops =
      static_cast<double>(elements) * static_cast<double>(calls.size());
  choice.work = WorkOf(KernelRate::kElementBytes, bytes)
                    .Beside(KernelRate::kElementFunctions, choice.flops);
  choice.rows.function = RunRows;
  choice.rows.rows = dims[0];
  for (size_t i = 0; i < num; ++i) {
    choice.rows.input_bytes.push_back(merged[i][0] * operands[i].type.bytes());
  }
  choice.rows.output_bytes = elements / dims[0] * type.bytes();
  choice.params = std::move(params);
  return choice;
}

// --- Steps as C++ --------------------------------------------------------

const char kElementsText[] = R"(
// kLanes elements at a time, those of a vector: GCC compares longer vectors
// lane by lane.
typedef float Floats __attribute__((vector_size(4 * kLanes)));

template <int kCount>
__attribute__((always_inline)) inline Floats LoadSome(const float* from) {
  float lanes[kLanes] = {};
  __builtin_memcpy(lanes, from, kCount * sizeof(float));
  return rt::Load<Floats>(lanes);
}
template <int kCount>
__attribute__((always_inline)) inline Floats LoadApart(const float* from,
                                                       int64_t step) {
  float lanes[kLanes] = {};
  for (int i = 0; i < kCount; ++i) lanes[i] = from[i * step];
  return rt::Load<Floats>(lanes);
}
template <int kCount>
__attribute__((always_inline)) inline void StoreSome(float* to,
                                                      const Floats& v) {
  __builtin_memcpy(to, &v, kCount * sizeof(float));
}
template <class Fn>
__attribute__((always_inline)) inline Floats Each(const Floats& x) {
  float lanes[kLanes];
  __builtin_memcpy(lanes, &x, sizeof(lanes));
  // GCC makes vectors of loops, not of what it has unrolled.
#pragma GCC unroll 1
  for (int i = 0; i < kLanes; ++i) lanes[i] = Fn::Of(lanes[i]);
  return rt::Load<Floats>(lanes);
}
// Computes four vectors in place. A flag of one byte for each element makes GCC
// compute them in turns, so that no step waits for the one before it.
template <class Fn>
__attribute__((always_inline)) inline void EachOfFour(float* values) {
  unsigned char flags = 0;
#pragma GCC unroll 1
  for (int i = 0; i < 4 * kLanes; ++i) {
    values[i] = Fn::Of(values[i]);
    flags |= static_cast<unsigned char>(i);
  }
  // Nothing needs them, which the compiler must not find out.
  __asm__ volatile("" : : "r"(flags));
}
struct SqrtFn {
  __attribute__((always_inline)) static float Of(float x) { return ::sqrtf(x); }
};
struct AbsFn {
  __attribute__((always_inline)) static float Of(float x) {
    return __builtin_fabsf(x);
  }
};
)";

const char kElementsIntegersText[] = R"(
// Integers of 32 bits, which are those of 8 bits in memory, too.
typedef int32_t Ints __attribute__((vector_size(4 * kLanes)));
typedef uint32_t Words __attribute__((vector_size(4 * kLanes)));
typedef int64_t Longs __attribute__((vector_size(8 * kLanes)));

template <int kCount>
__attribute__((always_inline)) inline Ints LoadSome(const int32_t* from) {
  Ints v{};
  __builtin_memcpy(&v, from, kCount * sizeof(int32_t));
  return v;
}
template <int kCount, class T>
__attribute__((always_inline)) inline Ints LoadNarrow(const T* from) {
  typedef T Narrow __attribute__((vector_size(kLanes)));
  Narrow v{};
  __builtin_memcpy(&v, from, kCount);
  return __builtin_convertvector(v, Ints);
}
template <int kCount, class T>
__attribute__((always_inline)) inline Ints LoadIntsApart(const T* from,
                                                         int64_t step) {
  int32_t lanes[kLanes] = {};
  for (int i = 0; i < kCount; ++i) lanes[i] = from[i * step];
  return rt::Load<Ints>(lanes);
}
template <int kCount>
__attribute__((always_inline)) inline void StoreSome(int32_t* to,
                                                     const Ints& v) {
  __builtin_memcpy(to, &v, kCount * sizeof(int32_t));
}
// The low bytes of a vector are the first bytes of the result.
template <int kSize>
struct LowBytes {
  typedef uint8_t Bytes __attribute__((vector_size(kLanes)));
  __attribute__((always_inline)) static Bytes Of(const Ints& v) {
    return __builtin_convertvector(v, Bytes);
  }
};
#if !defined(__clang__)
// GCC converts eight lanes one by one.
template <>
struct LowBytes<8> {
  typedef int32_t Words8 __attribute__((vector_size(32)));
  typedef uint8_t Bytes __attribute__((vector_size(32)));
  __attribute__((always_inline)) static Bytes Of(const Words8& v) {
    return __builtin_shuffle(reinterpret_cast<Bytes>(v),
                             Bytes{0, 4, 8, 12, 16, 20, 24, 28});
  }
};
#endif
template <int kCount>
__attribute__((always_inline)) inline void StoreSome(uint8_t* to,
                                                     const Ints& v) {
  const auto bytes = LowBytes<kLanes>::Of(v);
  __builtin_memcpy(to, &bytes, kCount);
}
// 1 for each lane that is not 0.
__attribute__((always_inline)) inline Ints AreTrue(const Ints& a) {
  return -(a != 0);
}
__attribute__((always_inline)) inline Ints AddInts(const Ints& a,
                                                   const Ints& b) {
  return reinterpret_cast<Ints>(reinterpret_cast<Words>(a) +
                                reinterpret_cast<Words>(b));
}
__attribute__((always_inline)) inline Ints SubtractInts(const Ints& a,
                                                        const Ints& b) {
  return reinterpret_cast<Ints>(reinterpret_cast<Words>(a) -
                                reinterpret_cast<Words>(b));
}
__attribute__((always_inline)) inline Ints MultiplyInts(const Ints& a,
                                                        const Ints& b) {
  return reinterpret_cast<Ints>(reinterpret_cast<Words>(a) *
                                reinterpret_cast<Words>(b));
}
__attribute__((always_inline)) inline Ints SignedBytes(const Ints& a) {
  return reinterpret_cast<Ints>(reinterpret_cast<Words>(a) << 24) >> 24;
}
__attribute__((always_inline)) inline Floats ToFloats(const Ints& a) {
  return __builtin_convertvector(a, Floats);
}
// Towards zero, of numbers of int32_t; 0 for a NaN. Without the mask GCC takes
// the float of the result for a function that keeps -0.
__attribute__((always_inline)) inline Ints SmallToInts(const Floats& x) {
  const Ints is_number = x == x;
  return __builtin_convertvector(is_number ? x : Floats{}, Ints) & is_number;
}
// Towards zero, as int64_t with its limits, of which the low words remain; 0
// for a NaN.
__attribute__((always_inline)) inline Ints ToInts(const Floats& x) {
  const Ints is_small = (x >= -0x1p31f) & (x < 0x1p31f);
  const Ints small = __builtin_convertvector(is_small ? x : Floats{}, Ints);
  const Ints bits = reinterpret_cast<Ints>(x);
  // By how much the digits are shifted to the left: 8 or more.
  const Ints by = ((bits >> 23) & 255) - 150;
  const Ints digits = (bits & 0x7fffff) | 0x800000;
  const Ints large =
      by < 32 ? reinterpret_cast<Ints>(reinterpret_cast<Words>(digits)
                                       << reinterpret_cast<Words>(by & 31))
              : Ints{};
  const Ints is_negative = bits >> 31;
  const Ints with_sign = SubtractInts(large ^ is_negative, is_negative);
  const Ints beyond = x >= 0x1p63f;
  return is_small ? small : (beyond | ((x == x) & with_sign));
}
// round(a b / 2^by), ties upwards.
__attribute__((always_inline)) inline Ints FixedPoint(const Ints& a,
                                                      const Ints& b,
                                                      const Longs& by) {
  const Longs one = Longs{} + 1;
  const Longs product =
      __builtin_convertvector(a, Longs) * __builtin_convertvector(b, Longs);
  return __builtin_convertvector((product + (one << (by - 1))) >> by, Ints);
}
)";

const char kElementsHalvesText[] = R"(
// Half floats, which are bits in memory and floats elsewhere.
struct Float16Fn {
  __attribute__((always_inline)) static float From(uint16_t bits) {
    return rt::FromFloat16(bits);
  }
  __attribute__((always_inline)) static uint16_t To(float x) {
    return rt::ToFloat16(x);
  }
  __attribute__((always_inline)) static float Of(float x) {
    return From(To(x));
  }
};
struct BFloat16Fn {
  __attribute__((always_inline)) static float From(uint16_t bits) {
    return rt::FromBFloat16(bits);
  }
  __attribute__((always_inline)) static uint16_t To(float x) {
    return rt::ToBFloat16(x);
  }
  __attribute__((always_inline)) static float Of(float x) {
    return From(To(x));
  }
};
template <int kCount, class Fn>
__attribute__((always_inline)) inline Floats LoadHalves(const uint16_t* from) {
  uint16_t bits[kLanes] = {};
  __builtin_memcpy(bits, from, kCount * sizeof(uint16_t));
  float lanes[kLanes];
#pragma GCC unroll 1
  for (int i = 0; i < kLanes; ++i) lanes[i] = Fn::From(bits[i]);
  return rt::Load<Floats>(lanes);
}
template <int kCount, class Fn>
__attribute__((always_inline)) inline void StoreHalves(uint16_t* to,
                                                        const Floats& v) {
  float lanes[kLanes];
  __builtin_memcpy(lanes, &v, sizeof(lanes));
  uint16_t bits[kLanes];
#pragma GCC unroll 1
  for (int i = 0; i < kLanes; ++i) bits[i] = Fn::To(lanes[i]);
  __builtin_memcpy(to, bits, kCount * sizeof(uint16_t));
}
)";

const char kElementsMathText[] = R"(
struct ExpFn {
  __attribute__((always_inline)) static float Of(float x) {
    return math::Exp(x);
  }
};
struct LogFn {
  __attribute__((always_inline)) static float Of(float x) {
    return math::Log(x);
  }
};
struct TanhFn {
  __attribute__((always_inline)) static float Of(float x) {
    return math::Tanh(x);
  }
};
struct SigmoidFn {
  __attribute__((always_inline)) static float Of(float x) {
    return math::Sigmoid(x);
  }
};
struct ErfFn {
  __attribute__((always_inline)) static float Of(float x) {
    return math::Erf(x);
  }
};
struct FloorFn {
  __attribute__((always_inline)) static float Of(float x) {
    return math::Floor(x);
  }
};
struct CeilFn {
  __attribute__((always_inline)) static float Of(float x) {
    return math::Ceil(x);
  }
};
struct RoundFn {
  __attribute__((always_inline)) static float Of(float x) {
    return math::Round(x);
  }
};
__attribute__((noinline)) inline void AnyPowers(float y, float* lanes) {
  for (int i = 0; i < kLanes; ++i) lanes[i] = math::AnyPower(lanes[i], y);
}
// Most powers are numbers in the middle of those of float.
__attribute__((always_inline)) inline Floats Powers(const Floats& x,
                                                    const Floats& y) {
  float lanes[kLanes], powers[kLanes];
  __builtin_memcpy(lanes, &x, sizeof(lanes));
  int are_plain = 1;
#pragma GCC unroll 1
  for (int i = 0; i < kLanes; ++i) {
    bool is_plain = false;
    powers[i] = math::PlainPower(lanes[i], y[0], is_plain);
    are_plain &= is_plain ? 1 : 0;
  }
  if (are_plain != 0) return rt::Load<Floats>(powers);
  AnyPowers(y[0], lanes);
  return rt::Load<Floats>(lanes);
}
)";

namespace {

// The types of the values of a function.
enum class Values { kFloats, kInts, kFloatsToInts, kIntsToFloats, kAny };

// A function of vectors. $a, $b and $c: operands; $p and $q: numbers, of the
// type of the operands.
struct FunctionText {
  ElementFunction function;
  Values values;
  const char* text;
  unsigned texts = 0;  // StepSource texts that `text` uses
};
constexpr FunctionText kFunctionTexts[] = {
    {ElementFunction::kAdd, Values::kFloats, "$a + $b"},
    {ElementFunction::kSubtract, Values::kFloats, "$a - $b"},
    {ElementFunction::kMultiply, Values::kFloats, "$a * $b"},
    {ElementFunction::kDivide, Values::kFloats, "$a / $b"},
    {ElementFunction::kMaximum, Values::kFloats,
     "(($a > $b) | ($a != $a)) ? $a : $b"},
    {ElementFunction::kMinimum, Values::kFloats,
     "(($a < $b) | ($a != $a)) ? $a : $b"},
    {ElementFunction::kPrelu, Values::kFloats, "$a > Floats{} ? $a : $a * $b"},
    {ElementFunction::kRelu, Values::kFloats, "$a < Floats{} ? Floats{} : $a"},
    {ElementFunction::kLeakyRelu, Values::kFloats,
     "$a > Floats{} ? $a : $p * $a"},
    {ElementFunction::kNegative, Values::kFloats, "-$a"},
    {ElementFunction::kAbs, Values::kFloats, "Each<AbsFn>($a)"},
    {ElementFunction::kSqrt, Values::kFloats, "Each<SqrtFn>($a)"},
    {ElementFunction::kRsqrt, Values::kFloats,
     "rt::Splat<Floats>(1.0f) / Each<SqrtFn>($a)"},
    {ElementFunction::kExp, Values::kFloats, "Each<ExpFn>($a)",
     StepSource::kMath},
    {ElementFunction::kLog, Values::kFloats, "Each<LogFn>($a)",
     StepSource::kMath},
    {ElementFunction::kTanh, Values::kFloats, "Each<TanhFn>($a)",
     StepSource::kMath},
    {ElementFunction::kSigmoid, Values::kFloats, "Each<SigmoidFn>($a)",
     StepSource::kMath},
    {ElementFunction::kErf, Values::kFloats, "Each<ErfFn>($a)",
     StepSource::kMath},
    {ElementFunction::kFloor, Values::kFloats, "Each<FloorFn>($a)",
     StepSource::kMath},
    {ElementFunction::kCeil, Values::kFloats, "Each<CeilFn>($a)",
     StepSource::kMath},
    {ElementFunction::kRound, Values::kFloats, "Each<RoundFn>($a)",
     StepSource::kMath},
    {ElementFunction::kPower, Values::kFloats, "Powers($a, $p)",
     StepSource::kMath},
    {ElementFunction::kRoundToHalf, Values::kFloats, "Each<Float16Fn>($a)",
     StepSource::kElementsHalves},
    {ElementFunction::kRoundToBFloat, Values::kFloats, "Each<BFloat16Fn>($a)",
     StepSource::kElementsHalves},
    {ElementFunction::kLess, Values::kFloatsToInts, "-($a < $b)"},
    {ElementFunction::kLessEqual, Values::kFloatsToInts, "-($a <= $b)"},
    {ElementFunction::kGreater, Values::kFloatsToInts, "-($a > $b)"},
    {ElementFunction::kGreaterEqual, Values::kFloatsToInts, "-($a >= $b)"},
    {ElementFunction::kEqual, Values::kFloatsToInts, "-($a == $b)"},
    {ElementFunction::kNotEqual, Values::kFloatsToInts, "-($a != $b)"},
    {ElementFunction::kAddInt, Values::kInts, "AddInts($a, $b)"},
    {ElementFunction::kSubtractInt, Values::kInts, "SubtractInts($a, $b)"},
    {ElementFunction::kMultiplyInt, Values::kInts, "MultiplyInts($a, $b)"},
    {ElementFunction::kMaximumInt, Values::kInts, "$a > $b ? $a : $b"},
    {ElementFunction::kMinimumInt, Values::kInts, "$a < $b ? $a : $b"},
    {ElementFunction::kLessInt, Values::kInts, "-($a < $b)"},
    {ElementFunction::kLessEqualInt, Values::kInts, "-($a <= $b)"},
    {ElementFunction::kGreaterInt, Values::kInts, "-($a > $b)"},
    {ElementFunction::kGreaterEqualInt, Values::kInts, "-($a >= $b)"},
    {ElementFunction::kEqualInt, Values::kInts, "-($a == $b)"},
    {ElementFunction::kNotEqualInt, Values::kInts, "-($a != $b)"},
    {ElementFunction::kAnd, Values::kInts, "$a & $b"},
    {ElementFunction::kOr, Values::kInts, "$a | $b"},
    {ElementFunction::kNot, Values::kInts, "$a ^ 1"},
    {ElementFunction::kToBool, Values::kInts, "AreTrue($a)"},
    {ElementFunction::kWrapUint8, Values::kInts, "$a & 255"},
    {ElementFunction::kWrapInt8, Values::kInts, "SignedBytes($a)"},
    {ElementFunction::kFixedPoint, Values::kInts,
     "FixedPoint($a, $p, Longs{} + $q)"},
    {ElementFunction::kFixedPointBy, Values::kInts,
     "FixedPoint($a, $b, Longs{} + $q)"},
    {ElementFunction::kFixedPointByShift, Values::kInts,
     "FixedPoint($a, $b, __builtin_convertvector($c, Longs) + $q)"},
    {ElementFunction::kToInt, Values::kFloatsToInts, "$toints($a)"},
    {ElementFunction::kToFloat, Values::kIntsToFloats, "ToFloats($a)"},
    {ElementFunction::kSelect, Values::kAny, "($a != 0) ? $b : $c"},
    {ElementFunction::kCopy, Values::kAny, "$a"},
};

std::string Splat(double value) {
  return absl::StrCat("rt::Splat<Floats>(", CppText(static_cast<float>(value)),
                      ")");
}
std::string SplatInt(double value) {
  // The least number is no literal.
  return absl::StrCat("rt::Splat<Ints>(static_cast<int32_t>(",
                      static_cast<int64_t>(value), "))");
}

const char* TypeText(bool is_int) { return is_int ? "Ints" : "Floats"; }

// The function that converts the value `v<i>` to integers: a simpler one if a
// clip bounds it.
const char* ToIntsText(const kernels::ElementProgram& program, int32_t i) {
  i -= program.num_operands;
  if (i < 0) return "ToInts";
  const kernels::ElementInstruction& call = program.instructions[i];
  constexpr double kEnd = 0x1p31;
  return call.function == ElementFunction::kClip && -kEnd <= call.p &&
                 call.p < kEnd && -kEnd <= call.q && call.q < kEnd
             ? "SmallToInts"
             : "ToInts";
}

// The first instruction of so many steps that those of several vectors are
// interleaved, as the evaluator does; -1 for none.
int32_t SlowInstruction(const kernels::ElementProgram& program) {
  for (int32_t i = 0; i < program.num_instructions; ++i) {
    if (program.instructions[i].function == ElementFunction::kErf) return i;
  }
  return -1;
}

// Appends the lines that compute the group from v0, v1, ...; returns the name
// of the result. `is_int`: of operands; then of all values, too. The value of
// instruction `slow` is a parameter of that name; -1 for none.
std::string AppendCalls(const kernels::ElementProgram& program,
                        std::vector<bool>& is_int, int32_t slow,
                        StepSource& source) {
  const char* const maybe_unused = slow >= 0 ? "[[maybe_unused]] " : "";
  std::string name = "v0";
  for (int32_t i = 0; i < program.num_instructions; ++i) {
    const kernels::ElementInstruction& call = program.instructions[i];
    const std::string a = absl::StrCat("v", call.a);
    name = absl::StrCat("v", program.num_operands + i);
    if (call.function == ElementFunction::kClip ||
        call.function == ElementFunction::kClipInt) {
      // A NaN stays.
      const bool of_ints = call.function == ElementFunction::kClipInt;
      const std::string type =
          absl::StrCat(maybe_unused, "const ", TypeText(of_ints), " ");
      const auto splat = of_ints ? SplatInt : Splat;
      absl::StrAppend(&source.definitions, "  ", type, "low_", name, " = ",
                      splat(call.p), ", high_", name, " = ", splat(call.q),
                      ";\n  ", type, "raised_", name, " = ", a, " < low_", name,
                      " ? low_", name, " : ", a, ";\n  ", type, name,
                      " =\n      raised_", name, " > high_", name, " ? high_",
                      name, " : raised_", name, ";\n");
      is_int.push_back(of_ints);
      continue;
    }
    std::string value = a;
    bool gives_ints = is_int[static_cast<size_t>(call.a)];
    for (const FunctionText& known : kFunctionTexts) {
      if (known.function != call.function) continue;
      gives_ints =
          known.values == Values::kInts ||
          known.values == Values::kFloatsToInts ||
          (known.values == Values::kAny &&
           is_int[static_cast<size_t>(
               known.function == ElementFunction::kSelect ? call.b : call.a)]);
      source.texts |= known.texts;
      // A shift is a number of its own.
      const bool of_ints = known.values == Values::kInts;
      value = absl::StrReplaceAll(
          known.text, {{"$a", a},
                       {"$b", absl::StrCat("v", call.b)},
                       {"$c", absl::StrCat("v", call.c)},
                       {"$toints", ToIntsText(program, call.a)},
                       {"$p", of_ints ? SplatInt(call.p) : Splat(call.p)},
                       {"$q", absl::StrCat(static_cast<int64_t>(call.q))}});
    }
    if (i == slow) value = "slow";
    absl::StrAppend(&source.definitions, "  ", maybe_unused, "const ",
                    TypeText(gives_ints), " ", name, " = ", value, ";\n");
    is_int.push_back(gives_ints);
  }
  return name;
}

// The way in which a kernel reads an operand.
struct OperandType {
  const char* element;    // in memory
  bool is_narrow;         // of 8 bits
  const char* converter;  // a function of what is read; empty for none
  const char* half = "";  // the functions of a half float; empty for others
};

OperandType TypeOf(kernels::ElementOperand operand, bool is_int) {
  using kernels::ElementOperand;
  switch (operand) {
    case ElementOperand::kInt32:
      return {"int32_t", false, "ToFloats"};
    case ElementOperand::kUint8:
      return {"uint8_t", true, "ToFloats"};
    case ElementOperand::kInt8:
      return {"int8_t", true, "ToFloats"};
    case ElementOperand::kBytes:
      return {"uint8_t", true, ""};
    case ElementOperand::kSignedBytes:
      return {"int8_t", true, ""};
    case ElementOperand::kBools:
      return {"uint8_t", true, "AreTrue"};
    case ElementOperand::kHalf:
      return {"uint16_t", false, "", "Float16Fn"};
    case ElementOperand::kBFloat:
      return {"uint16_t", false, "", "BFloat16Fn"};
    case ElementOperand::kFull:
    case ElementOperand::kScalar:
    case ElementOperand::kBroadcast:
      break;
  }
  return {is_int ? "int32_t" : "float", false, ""};
}

constexpr absl::string_view kLanesText = "kLanes";

// The stride of operand `k` along dimension `d`.
int64_t StrideOf(const kernels::ElementProgram& program, int32_t k, int32_t d) {
  return program.operands[k] == kernels::ElementOperand::kScalar
             ? 0
             : program.strides[k * kernels::kMaxElementDims + d];
}

// `count` elements, kLanes or kRest, of operand `k` along the last dimension,
// from `i` on.
std::string LoadOf(const kernels::ElementProgram& program,
                   const OperandType& type, int32_t k,
                   absl::string_view count) {
  const int64_t stride = StrideOf(program, k, program.num_dims - 1);
  const bool is_float = absl::string_view(type.element) == "float";
  const std::string from = absl::StrCat("x", k);
  std::string load;
  if (type.half[0] != '\0') {
    load = absl::StrCat("LoadHalves<", count, ", ", type.half, ">(", from,
                        " + i)");
  } else if (stride == 0) {
    load = is_float ? absl::StrCat("rt::Splat<Floats>(*", from, ")")
                    : absl::StrCat("rt::Splat<Ints>(int32_t{*", from, "})");
  } else if (stride != 1) {
    load = absl::StrCat(is_float ? "LoadApart<" : "LoadIntsApart<", count, ">(",
                        from, " + i * ", stride, ", ", stride, ")");
  } else if (is_float && count == kLanesText) {
    load = absl::StrCat("rt::Load<Floats>(", from, " + i)");
  } else {
    load = absl::StrCat(type.is_narrow ? "LoadNarrow<" : "LoadSome<", count,
                        ">(", from, " + i)");
  }
  return type.converter[0] == '\0'
             ? load
             : absl::StrCat(type.converter, "(", load, ")");
}

}  // namespace

std::optional<StepSource> ElementStepSource(const executor::Step& step) {
  if (step.function != Run) return std::nullopt;
  const auto& params = *static_cast<const StepParams*>(step.params);
  const kernels::ElementProgram& program = params.program;
  StepSource source;
  source.texts = StepSource::kElements;
  std::string& text = source.definitions;
  std::vector<std::string> values;
  std::vector<std::string> pointers;
  std::vector<std::string> args;
  std::vector<bool> is_int = params.is_int;
  std::vector<OperandType> types;
  const int32_t slow = SlowInstruction(program);
  const char* const half =
      program.result == kernels::ElementResult::kHalf     ? "Float16Fn"
      : program.result == kernels::ElementResult::kBFloat ? "BFloat16Fn"
                                                          : "";
  const bool gives_halves = half[0] != '\0';
  if (gives_halves) source.texts |= StepSource::kElementsHalves;
  bool has_ints =
      program.result != kernels::ElementResult::kWords && !gives_halves;
  for (int32_t k = 0; k < program.num_operands; ++k) {
    const bool of_ints = is_int[static_cast<size_t>(k)];
    types.push_back(TypeOf(program.operands[k], of_ints));
    if (types.back().half[0] != '\0') {
      source.texts |= StepSource::kElementsHalves;
    } else {
      has_ints |= absl::string_view(types.back().element) != "float";
    }
    values.push_back(absl::StrCat(slow >= 0 ? "[[maybe_unused]] " : "",
                                  "const ", TypeText(of_ints), "& v", k));
    pointers.push_back(absl::StrCat("const float* p", k));
    args.push_back(OperandText(k));
  }
  pointers.push_back("float* p");
  args.push_back(OperandText(program.num_operands));
  std::string argument;  // the function of the slow instruction's operand
  if (slow >= 0) {
    kernels::ElementProgram before = program;
    before.num_instructions = slow;
    std::vector<bool> is_int_before = is_int;
    AppendCalls(before, is_int_before, slow, source);
    argument = absl::StrCat(
        "__attribute__((always_inline)) static inline Floats Argument@N@(\n"
        "    ",
        absl::StrJoin(values, ", "), ") {\n", text, "  return v",
        program.instructions[slow].a, ";\n}\n");
    text.clear();
    values.push_back("const Floats& slow");
  }
  const std::string result = AppendCalls(program, is_int, slow, source);
  const bool of_ints = is_int.back();
  has_ints |= std::find(is_int.begin(), is_int.end(), true) != is_int.end();
  if (has_ints) source.texts |= StepSource::kElementsIntegers;
  // A float is converted where it is stored.
  const bool is_converted =
      program.result != kernels::ElementResult::kWords &&
      program.result != kernels::ElementResult::kLowByte && !gives_halves;
  const char* const element =
      gives_halves ? "uint16_t"
      : program.result == kernels::ElementResult::kInt32 ||
              (program.result == kernels::ElementResult::kWords && of_ints)
          ? "int32_t"
      : program.result == kernels::ElementResult::kWords ? "float"
                                                         : "uint8_t";
  text = absl::StrCat(
      argument, "__attribute__((always_inline)) static inline ",
      TypeText(of_ints || is_converted), " Group@N@(\n    ",
      absl::StrJoin(values, ", "), ") {\n", text, "  return ",
      is_converted
          ? absl::StrCat(ToIntsText(program, program.num_operands +
                                                 program.num_instructions - 1),
                         "(", result, ")")
          : result,
      ";\n}\n");
  absl::StrAppend(&text, "static void Elements@N@(",
                  absl::StrJoin(pointers, ", "),
                  ",\n    [[maybe_unused]] int64_t begin, [[maybe_unused]] "
                  "int64_t end) {\n");
  // Items are tiles of a vector, or places in the first dimension.
  const int32_t rank = program.num_dims;
  const int64_t length = program.dims[rank - 1];
  // The lanes of a vector are 4, 8 or 16.
  const bool has_rest = length % 16 != 0;
  source.items = rank == 1 ? step.items : program.dims[0];
  std::string indent = "  ";
  if (has_rest) {
    absl::StrAppend(&text, indent, "constexpr int kRest = ", length,
                    " % kLanes;\n");
  }
  std::string row = "";  // the number of the run
  // An operand is read before the loops over which it does not vary: a compiler
  // does not know that the result has other memory.
  std::vector<bool> is_read(static_cast<size_t>(program.num_operands), false);
  const auto add_operands = [&](int32_t loop) {
    for (int32_t k = 0; k < program.num_operands; ++k) {
      int32_t last = -1;  // the innermost loop that changes its place
      const OperandType& type = types[static_cast<size_t>(k)];
      std::string at = absl::string_view(type.element) == "float"
                           ? absl::StrCat("p", k)
                           : absl::StrCat("reinterpret_cast<const ",
                                          type.element, "*>(p", k, ")");
      for (int32_t d = 0; d + 1 < rank; ++d) {
        const int64_t stride = StrideOf(program, k, d);
        if (stride == 0) continue;
        absl::StrAppend(&at, " + i", d, " * ", stride);
        last = d;
      }
      if (last != loop) continue;
      absl::StrAppend(&text, indent, "const ", type.element, "* const x", k,
                      " = ", at, ";\n");
      if (type.half[0] != '\0' || StrideOf(program, k, rank - 1) != 0) continue;
      is_read[static_cast<size_t>(k)] = true;
      absl::StrAppend(&text, indent, "const auto l", k, " = ",
                      LoadOf(program, type, k, kLanesText), ";\n");
    }
  };
  add_operands(-1);
  for (int32_t d = 0; d + 1 < rank; ++d) {
    absl::StrAppend(&text, indent, "for (int64_t i", d, " = ",
                    d == 0 ? "begin" : "0", "; i", d, " < ",
                    d == 0 ? "end" : absl::StrCat(program.dims[d]), "; ++i", d,
                    ") {\n");
    absl::StrAppend(&indent, "  ");
    row = d == 0 ? "i0"
                 : absl::StrCat("(", row, ") * ", program.dims[d], " + i", d);
    add_operands(d);
  }
  absl::StrAppend(&text, indent, element, "* const y = ",
                  absl::string_view(element) == "float"
                      ? "p"
                      : absl::StrCat("reinterpret_cast<", element, "*>(p)"),
                  rank == 1 ? "" : absl::StrCat(" + (", row, ") * ", length),
                  ";\n");
  const auto loads_of = [&](absl::string_view n) {
    std::vector<std::string> loads;
    for (int32_t k = 0; k < program.num_operands; ++k) {
      loads.push_back(
          is_read[static_cast<size_t>(k)]
              ? absl::StrCat("l", k)
              : LoadOf(program, types[static_cast<size_t>(k)], k, n));
    }
    return absl::StrJoin(loads, ", ");
  };
  // `n` elements of the result.
  const auto group_of = [&](absl::string_view n) {
    const std::string loads = loads_of(n);
    return absl::StrCat(
        "Group@N@(", loads,
        slow < 0 ? "" : absl::StrCat(", Each<ErfFn>(Argument@N@(", loads, "))"),
        ")");
  };
  std::string first = "0";
  std::string last = absl::StrCat(length, has_rest ? " - kRest" : "");
  if (rank == 1) {
    first = absl::StrCat("begin * ", kernels::kElementTile);
    absl::StrAppend(&text, indent, "int64_t last = end * ",
                    kernels::kElementTile, ";\n", indent, "if (last > ", last,
                    ") last = ", last, ";\n");
    last = "last";
  }
  const auto store = [&](absl::string_view n) {
    return gives_halves ? absl::StrCat("StoreHalves<", n, ", ", half, ">")
                        : absl::StrCat("StoreSome<", n, ">");
  };
  if (length >= 4) {
    if (slow >= 0) {
      const std::string in_four = absl::StrCat(
          indent, "  for (int j = 0; j < 4 * kLanes; j += kLanes) {\n", indent,
          "    const int64_t i = four + j;\n", indent, "    ");
      absl::StrAppend(
          &text, indent, "int64_t four = ", first, ";\n", indent,
          "for (; four + 4 * kLanes <= ", last, "; four += 4 * kLanes) {\n",
          indent, "  float values[4 * kLanes];\n", in_four,
          "rt::Store(values + j, Argument@N@(", loads_of(kLanesText), "));\n",
          indent, "  }\n", indent, "  EachOfFour<ErfFn>(values);\n", in_four,
          store(kLanesText), "(y + i, Group@N@(", loads_of(kLanesText),
          ", rt::Load<Floats>(values + j)));\n", indent, "  }\n", indent,
          "}\n");
      first = "four";
    }
    absl::StrAppend(&text, indent, "for (int64_t i = ", first, "; i < ", last,
                    "; i += kLanes) {\n", indent, "  ", store(kLanesText),
                    "(y + i, ", group_of(kLanesText), ");\n", indent, "}\n");
  }
  if (has_rest) {
    absl::StrAppend(&text, indent, "if (kRest > 0",
                    rank == 1 ? absl::StrCat(" && end == ", source.items) : "",
                    ") {\n", indent, "  constexpr int64_t i = ", length,
                    " - kRest;\n", indent, "  ", store("kRest"), "(y + i, ",
                    group_of("kRest"), ");\n", indent, "}\n");
  }
  for (int32_t d = rank - 1; d-- > 0;) {
    indent.resize(indent.size() - 2);
    absl::StrAppend(&text, indent, "}\n");
  }
  absl::StrAppend(&text, "}\n");
  source.statements = absl::StrCat("  Elements@N@(", absl::StrJoin(args, ", "),
                                   ", begin, end);\n");
  return source;
}

}  // namespace baton::cpu
