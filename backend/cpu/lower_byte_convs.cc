#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <optional>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/types/span.h"
#include "baton/backend/cpu/blocked_steps.h"
#include "baton/backend/cpu/element_group.h"
#include "baton/backend/cpu/graph.h"
#include "baton/backend/cpu/int8_steps.h"
#include "baton/backend/cpu/kernel_choice.h"
#include "baton/backend/cpu/lowering.h"
#include "baton/backend/cpu/packed_constants.h"
#include "baton/backend/cpu/slab_steps.h"
#include "baton/base/dtype.h"
#include "baton/base/status_macros.h"
#include "baton/base/tensor.h"
#include "baton/relay/op/nn/spatial.h"
#include "baton/runtime/kernels/blocked/blocked_conv.h"
#include "baton/runtime/kernels/blocked/byte_slabs.h"
#include "baton/runtime/kernels/blocked/int8_conv.h"
#include "baton/runtime/kernels/elementwise_program.h"

namespace baton::cpu::internal {

void Lowering::FindPaddings() {
  for (size_t i = 0; i < graph_.nodes.size(); ++i) {
    const GraphNode& node = graph_.nodes[i];
    if (node.op_name() != "nn.pad" || node.outputs.size() != 1) continue;
    const std::vector<int>& users =
        consumers_[static_cast<size_t>(node.outputs[0])];
    const bool is_part =
        !users.empty() && std::all_of(users.begin(), users.end(), [&](int u) {
          return IsInt8Conv(u) && PaddedConv(node, u).has_value();
        });
    if (!is_part) continue;
    is_claimed_[i] = true;
    for (const int user : users) {
      padding_of_.insert_or_assign(user, static_cast<int>(i));
    }
  }
}

std::optional<kernels::blocked::Int8ConvParams> Lowering::PaddedConv(
    const GraphNode& pad, int number) const {
  const GraphNode& node = graph_.nodes[static_cast<size_t>(number)];
  auto params = Int8ConvParamsOf(node, graph_);
  const auto* attrs = pad.call->attrs_as<relay::PadAttrs>();
  if (!params.has_value() || attrs == nullptr || pad.inputs.size() != 2 ||
      attrs->pad_mode != "constant" || node.inputs[0] != pad.outputs[0]) {
    return std::nullopt;
  }
  const GraphTensor& value = TensorOf(pad.inputs[1]);
  const GraphTensor& data = TensorOf(pad.inputs[0]);
  if (!value.constant.has_value() || value.num_elements() != 1 ||
      data.num_elements() == 0 || data.shape.size() < 3 ||
      data.dtype != TensorOf(node.inputs[0]).dtype) {
    return std::nullopt;
  }
  const std::optional<int64_t> byte = IntegerOf(*value.constant);
  if (!byte.has_value()) return std::nullopt;
  params->padding = static_cast<uint8_t>(*byte);
  using kernels::blocked::Axis;
  const size_t rank = data.shape.size();
  if (attrs->pad_width.size() != rank) return std::nullopt;
  for (size_t d = 0; d < rank; ++d) {
    const auto& width = attrs->pad_width[d];
    if (width.size() != 2) return std::nullopt;
    const int64_t before = width[0];
    const int64_t after = width[1];
    if (before < 0 || after < 0) return std::nullopt;
    if (d < 2) {
      if (before + after > 0) return std::nullopt;
      continue;
    }
    Axis& axis = d + 1 == rank ? params->w : params->h;
    const int64_t read = (axis.out - 1) * axis.stride - axis.pad_before +
                         (axis.kernel - 1) * axis.dilation + 1;
    // Another padding, of zeros, around this one.
    if (params->padding != 0 && (axis.pad_before > 0 || read > axis.in)) {
      return std::nullopt;
    }
    axis.pad_before += before;
    axis.in = data.shape[d];
  }
  return params;
}

std::optional<int64_t> Lowering::IntegerOf(const Tensor& tensor) {
  if (tensor.dtype() == DType::Int(32)) return tensor.span<int32_t>()[0];
  if (tensor.dtype() == DType::Int(64)) return tensor.span<int64_t>()[0];
  if (tensor.dtype() == DType::Int(8)) return tensor.span<int8_t>()[0];
  if (tensor.dtype() == DType::UInt(8)) return tensor.span<uint8_t>()[0];
  return std::nullopt;
}

std::optional<std::vector<float>> Lowering::ChannelValues(
    const ElementArg& arg, const TensorShape& shape) const {
  const GraphTensor& tensor = TensorOf(arg.tensor);
  if (!tensor.constant.has_value() || tensor.dtype != DType::Float(32)) {
    return std::nullopt;
  }
  const absl::Span<const float> values = tensor.constant->span<float>();
  std::vector<float> result(static_cast<size_t>(shape[1]), 0);
  if (IsChannelConstant(arg, shape, 1)) {
    std::copy(values.begin(), values.end(), result.begin());
  } else if (values.size() == 1 && arg.shape.size() <= shape.size()) {
    std::fill(result.begin(), result.end(), values[0]);
  } else {
    return std::nullopt;
  }
  return result;
}

std::optional<Int8Scales> Lowering::TakeScales(int& result,
                                               std::vector<int>& nodes) {
  using kernels::ElementFunction;
  const TensorShape shape = TensorOf(result).shape;
  Int8Scales scales;
  enum {
    kFloat,
    kFactor,
    kAddend,
    kBounds,
    kDivisor,
    kRound,
    kShift,
    kClip,
    kBytes
  } stage = kFloat;
  // The bounds of a clip before the division.
  constexpr float kInfinity = std::numeric_limits<float>::infinity();
  float least = -kInfinity;
  float most = kInfinity;
  std::vector<int> taken;
  int last = result;
  while (true) {
    const std::vector<int>& users = consumers_[static_cast<size_t>(last)];
    if (users.size() != 1 || users[0] == kOutput) return std::nullopt;
    const GraphNode& node = graph_.nodes[static_cast<size_t>(users[0])];
    const std::optional<ElementCall> call = ElementCallOf(node, graph_);
    if (is_claimed_[static_cast<size_t>(users[0])] || !call.has_value() ||
        TensorOf(node.outputs[0]).shape != shape) {
      return std::nullopt;
    }
    // The operand beside the last result.
    const bool is_first = call->args[0].tensor == last;
    std::optional<std::vector<float>> values;
    if (call->args.size() == 2) {
      values = ChannelValues(call->args[is_first ? 1 : 0], shape);
      if (!values.has_value()) return std::nullopt;
    }
    const DType type = TensorOf(node.outputs[0]).dtype;
    taken.push_back(users[0]);
    last = node.outputs[0];
    const auto reach = [&stage](auto at) {
      if (stage > at) return false;
      stage = static_cast<decltype(stage)>(at + 1);
      return true;
    };
    if (stage == kFloat) {
      if (call->function != ElementFunction::kCopy ||
          type != DType::Float(32)) {
        return std::nullopt;
      }
      stage = kFactor;
    } else if (call->function == ElementFunction::kMultiply && values &&
               reach(kFactor)) {
      scales.factor = *std::move(values);
    } else if (call->function == ElementFunction::kAdd && values &&
               reach(kAddend)) {
      scales.addend = *std::move(values);
    } else if (call->function == ElementFunction::kRelu && reach(kBounds)) {
      least = 0;
    } else if (call->function == ElementFunction::kClip && stage <= kBounds) {
      stage = kDivisor;
      least = static_cast<float>(call->p);
      most = static_cast<float>(call->q);
    } else if (call->function == ElementFunction::kDivide && values &&
               is_first && reach(kDivisor)) {
      scales.divisor = *std::move(values);
    } else if (call->function == ElementFunction::kRound && reach(kRound)) {
      scales.round = true;
    } else if (call->function == ElementFunction::kAdd && values &&
               reach(kShift)) {
      scales.shift = *std::move(values);
    } else if (call->function == ElementFunction::kClip && reach(kClip)) {
      scales.low = static_cast<float>(call->p);
      scales.high = static_cast<float>(call->q);
      if (!(scales.low <= scales.high) || !MoveBounds(least, most, scales)) {
        return std::nullopt;
      }
    } else if (call->function == ElementFunction::kCopy && type.bytes() == 1) {
      if (stage == kDivisor) {
        // The clip was the last one.
        scales.low = least;
        scales.high = most;
      } else if (stage != kBytes) {
        return std::nullopt;
      }
      constexpr float kBound = 0x1p31f;
      if (!(scales.low >= -kBound) || !(scales.high < kBound) ||
          !(scales.low <= scales.high)) {
        return std::nullopt;
      }
      for (const int node_taken : taken) {
        is_claimed_[static_cast<size_t>(node_taken)] = true;
        nodes.push_back(node_taken);
      }
      result = last;
      return scales;
    } else {
      return std::nullopt;
    }
  }
}

bool Lowering::MoveBounds(float least, float most, Int8Scales& scales) {
  constexpr float kInfinity = std::numeric_limits<float>::infinity();
  if (least == -kInfinity && most == kInfinity) return true;
  if (!(least <= most)) return false;
  const auto all = [](const std::vector<float>& values, const auto& holds) {
    return std::all_of(values.begin(), values.end(), holds);
  };
  const auto is_finite = [](float v) { return std::isfinite(v); };
  const float divisor = scales.divisor.empty() ? 1 : scales.divisor[0];
  const float shift = scales.shift.empty() ? 0 : scales.shift[0];
  if (!all(scales.factor, is_finite) || !all(scales.addend, is_finite) ||
      !all(scales.divisor, [&](float v) { return v == divisor; }) ||
      !all(scales.shift, [&](float v) { return v == shift; }) ||
      !(divisor > 0) || !std::isfinite(divisor) || !std::isfinite(shift)) {
    return false;
  }
  const auto moved = [&](float bound) {
    bound /= divisor;
    if (scales.round) bound = std::nearbyint(bound);
    return std::clamp(bound + shift, scales.low, scales.high);
  };
  const float low = moved(least);
  scales.high = moved(most);
  scales.low = low;
  return true;
}

bool Lowering::WantsSlabs(int t, int depth) const {
  const std::vector<int>& users = consumers_[static_cast<size_t>(t)];
  const auto reads = [&](int user) {
    return user != kOutput && ReadsSlabs(user, t, depth);
  };
  return std::any_of(users.begin(), users.end(), reads);
}

bool Lowering::ReadsSlabs(int user, int t, int depth) const {
  const GraphNode& node = graph_.nodes[static_cast<size_t>(user)];
  if (node.op_name() == "nn.pad" && is_claimed_[static_cast<size_t>(user)]) {
    return node.inputs[0] == t && WantsSlabs(node.outputs[0], depth);
  }
  if (!node.inputs.empty() && node.inputs[0] == t) {
    const auto params = Int8ConvParamsOf(node, graph_);
    if (params.has_value()) return CanHaveSlabs(*params);
  }
  if (depth == 0) return false;
  if (SlabPoolOf(node).has_value() || IsByteConcatenation(node)) {
    return WantsSlabs(node.outputs[0], depth - 1);
  }
  // A sum of bytes, as far as can be determined before it is lowered.
  const int group = group_of_[static_cast<size_t>(user)];
  if (group == kNone) return false;
  const int result = graph_.nodes[static_cast<size_t>(group)].outputs[0];
  return TensorOf(result).dtype.is_byte() &&
         TensorOf(result).shape == TensorOf(t).shape &&
         WantsSlabs(result, depth - 1);
}

kernels::blocked::ByteMap Lowering::ByteMapOf(int t) const {
  const TensorShape& shape = TensorOf(t).shape;
  kernels::blocked::ByteMap map = {shape[0], shape[1], 1};
  for (size_t d = 2; d < shape.size(); ++d) map.plane *= shape[d];
  return map;
}

int Lowering::NewSlabs(int t) {
  const TensorShape& shape = TensorOf(t).shape;
  TensorShape slabs(shape.begin(), shape.end());
  slabs[1] = (shape[1] + kernels::blocked::kByteSlab - 1) /
             kernels::blocked::kByteSlab;
  slabs.push_back(kernels::blocked::kByteSlab);
  const int y =
      NewTensor({TensorOf(t).dtype, std::move(slabs), std::nullopt, -1});
  is_planar_[static_cast<size_t>(y)] = true;
  slabs_of_.insert_or_assign(t, y);
  return y;
}

absl::StatusOr<int> Lowering::Slabs(int t) {
  if (const auto found = slabs_of_.find(t); found != slabs_of_.end()) {
    return found->second;
  }
  BATON_RETURN_IF_ERROR(MakePlanar(t));
  const int y = NewSlabs(t);
  AddStep(ToSlabsStep(ByteMapOf(t), t, y), {});
  return y;
}

std::optional<PoolChoice> Lowering::SlabPoolOf(const GraphNode& node) const {
  if (node.op_name() != "nn.max_pool2d" || node.inputs.empty()) {
    return std::nullopt;
  }
  const DType dtype = TensorOf(node.inputs[0]).dtype;
  return dtype.is_byte() ? PoolOf(node, graph_, dtype) : std::nullopt;
}

bool Lowering::IsByteConcatenation(const GraphNode& node) const {
  return IsChannelConcatenation(node) &&
         TensorOf(node.outputs[0]).dtype.is_byte() &&
         TensorOf(node.outputs[0]).shape.size() >= 3 &&
         TensorOf(node.outputs[0]).shape[0] == 1 &&
         TensorOf(node.outputs[0]).num_elements() > 0;
}

bool Lowering::IsSlabConcatenation(const GraphNode& node) const {
  return IsByteConcatenation(node) &&
         std::any_of(node.inputs.begin(), node.inputs.end(),
                     [this](int t) { return slabs_of_.contains(t); }) &&
         WantsSlabs(node.outputs[0]);
}

absl::Status Lowering::LowerSlabConcatenation(int number) {
  const GraphNode& node = graph_.nodes[static_cast<size_t>(number)];
  std::vector<int> parts;
  std::vector<int64_t> channels;
  bool is_join = true;
  for (const int t : node.inputs) {
    is_join = is_join && (channels.empty() ||
                          channels.back() % kernels::blocked::kByteSlab == 0);
    BATON_ASSIGN_OR_RETURN(parts.emplace_back(), Slabs(t));
    channels.push_back(TensorOf(t).shape[1]);
  }
  const int64_t plane = ByteMapOf(node.outputs[0]).plane;
  const int y = NewSlabs(node.outputs[0]);
  return AddPlanarStep(
      is_join ? Joined(std::move(parts), y)
              : JoinSlabsStep(std::move(channels), plane, std::move(parts), y),
      {number});
}

bool Lowering::LowerSlabPool(int number) {
  const GraphNode& node = graph_.nodes[static_cast<size_t>(number)];
  const std::optional<PoolChoice> pool = SlabPoolOf(node);
  if (!pool.has_value()) return false;
  const auto found = slabs_of_.find(node.inputs[0]);
  if (found == slabs_of_.end()) return false;
  const int x = found->second;
  const bool is_signed = TensorOf(x).dtype == DType::Int(8);
  const int y = NewSlabs(node.outputs[0]);
  AddStep(SlabPoolStep(*pool, is_signed, x, y), {number});
  return true;
}

absl::Status Lowering::LowerByteSum(const ByteSum& sum, int result,
                                    std::vector<int> nodes) {
  int x = sum.x;
  int y = sum.y;
  int to = result;
  if (TensorOf(result).shape.size() >= 3 &&
      (slabs_of_.contains(x) || slabs_of_.contains(y))) {
    BATON_ASSIGN_OR_RETURN(x, Slabs(x));
    BATON_ASSIGN_OR_RETURN(y, Slabs(y));
    to = NewSlabs(result);
  }
  KernelChoice choice =
      ByteSumStep(sum.params, TensorOf(to).num_elements(), x, y, to, isa_);
  if (to != result) choice.kernel += ".slabs32";
  return AddPlanarStep(std::move(choice), std::move(nodes));
}

absl::StatusOr<int> Lowering::IntegerConstant(
    const std::vector<uint32_t>& values) {
  BATON_ASSIGN_OR_RETURN(
      MutableTensor tensor,
      MutableTensor::Create(DType::Int(32),
                            {static_cast<int64_t>(values.size())}));
  std::copy(values.begin(), values.end(), tensor.span<int32_t>().begin());
  return NewConstant(std::move(tensor).Freeze());
}

absl::Status Lowering::LowerInt8Conv(int number) {
  const GraphNode& node = graph_.nodes[static_cast<size_t>(number)];
  kernels::blocked::Int8ConvParams params = *Int8ConvParamsOf(node, graph_);
  std::vector<int> nodes;
  int data = node.inputs[0];
  if (const auto found = padding_of_.find(number); found != padding_of_.end()) {
    const GraphNode& pad = graph_.nodes[static_cast<size_t>(found->second)];
    params = *PaddedConv(pad, number);
    data = pad.inputs[0];
    nodes.push_back(found->second);
  }
  nodes.push_back(number);
  if (const auto found = slabs_of_.find(data);
      found != slabs_of_.end() && CanHaveSlabs(params)) {
    params.slabs_input = true;
    data = found->second;
  }
  params.least_bands =
      kernels::blocked::Int8ConvBandsFor(plan_.max_threads, params);
  std::vector<uint32_t> bias;
  int result = FindIntegerBias(number, 1, bias, nodes);
  for (const int taken : nodes) {
    is_claimed_[static_cast<size_t>(taken)] = true;
  }
  std::optional<Int8Scales> scales = TakeScales(result, nodes);
  if (scales.has_value() && CanHaveSlabs(params) && WantsSlabs(result)) {
    params.slabs_output = true;
    result = NewSlabs(result);
  }
  PackedWeight& packed =
      packed_[{node.inputs[1], params.groups, params.signed_data}];
  if (packed.tensor >= 0) {
    TakeWeight(node.inputs[1]);
  } else {
    BATON_ASSIGN_OR_RETURN(
        PackedConstants::Entry entry,
        Packed(node.inputs[1], params.groups, params.signed_data,
               {DType::Int(8), kernels::blocked::PackedInt8ConvSize(params)},
               [&](Tensor weight) -> absl::StatusOr<PackedConstants::Entry> {
                 BATON_ASSIGN_OR_RETURN(Tensor tensor,
                                        PackInt8Conv(weight, params));
                 return PackedConstants::Entry{std::move(tensor)};
               }));
    packed.tensor = NewConstant(std::move(entry.tensor));
  }
  const int weight = packed.tensor;
  int sums = -1;
  if (!bias.empty()) {
    BATON_ASSIGN_OR_RETURN(sums, IntegerConstant(bias));
  }
  return AddPlanarStep(
      Int8ConvStep(params, data, weight, sums, std::move(scales), result, isa_),
      std::move(nodes));
}

}  // namespace baton::cpu::internal
