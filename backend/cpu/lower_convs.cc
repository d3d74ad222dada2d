#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/types/span.h"
#include "baton/backend/cpu/blocked_steps.h"
#include "baton/backend/cpu/element_group.h"
#include "baton/backend/cpu/graph.h"
#include "baton/backend/cpu/kernel_choice.h"
#include "baton/backend/cpu/lowering.h"
#include "baton/backend/cpu/packed_constants.h"
#include "baton/base/dtype.h"
#include "baton/base/status_macros.h"
#include "baton/base/tensor.h"
#include "baton/runtime/kernels/blocked/blocked_conv.h"
#include "baton/runtime/kernels/blocked/epilogue.h"
#include "baton/runtime/kernels/elementwise_program.h"

namespace baton::cpu::internal {

absl::StatusOr<int> Lowering::ChannelConstant(const ElementArg& arg,
                                              int64_t channels) {
  BATON_ASSIGN_OR_RETURN(
      MutableTensor padded,
      MutableTensor::Create(DType::Float(32), {(channels + 15) / 16 * 16}));
  const Tensor& constant = *TensorOf(arg.tensor).constant;
  std::copy_n(constant.span<float>().begin(), channels,
              padded.span<float>().begin());
  return NewConstant(std::move(padded).Freeze());
}

bool Lowering::IsChannelConstant(const ElementArg& arg,
                                 const TensorShape& shape, size_t axis) const {
  const GraphTensor& tensor = TensorOf(arg.tensor);
  if (!tensor.constant.has_value() || arg.shape.size() > shape.size() ||
      tensor.num_elements() != shape[axis]) {
    return false;
  }
  const size_t skipped = shape.size() - arg.shape.size();
  for (size_t d = 0; d < arg.shape.size(); ++d) {
    if (arg.shape[d] != (d + skipped == axis ? shape[axis] : 1)) {
      return false;
    }
  }
  return true;
}

absl::StatusOr<int> Lowering::TakeEpilogue(int number, size_t axis,
                                           bool is_blocked,
                                           EpilogueOperands& epilogue,
                                           std::vector<int>& nodes) {
  int result = graph_.nodes[static_cast<size_t>(number)].outputs[0];
  const TensorShape shape = TensorOf(result).shape;
  enum { kBias, kScale, kShift, kResidual, kClip, kEnd } stage = kBias;
  const auto claim = [&](int node) {
    is_claimed_[static_cast<size_t>(node)] = true;
    nodes.push_back(node);
    result = graph_.nodes[static_cast<size_t>(node)].outputs[0];
  };
  std::vector<int> casts;
  using kernels::blocked::Rounding;
  epilogue.rounding = RoundingOf(result, casts);
  for (const int cast : casts) claim(cast);
  while (stage != kEnd) {
    const std::vector<int>& users = consumers_[static_cast<size_t>(result)];
    if (users.size() != 1 || users[0] == kOutput) break;
    const int user = users[0];
    if (is_claimed_[static_cast<size_t>(user)]) break;
    const GraphNode& node = graph_.nodes[static_cast<size_t>(user)];
    const std::optional<ElementCall> call = ElementCallOf(node, graph_);
    if (!call.has_value() || TensorOf(node.outputs[0]).shape != shape) break;
    using kernels::ElementFunction;
    // Each result is rounded, or is one of a half float already.
    casts.clear();
    if (epilogue.rounding != Rounding::kNone &&
        RoundingOf(node.outputs[0], casts) != epilogue.rounding) {
      if (call->function != ElementFunction::kRelu) break;
      casts.clear();
    }
    if (call->function == ElementFunction::kRelu ||
        (call->function == ElementFunction::kClip && call->p <= call->q)) {
      const bool is_relu = call->function == ElementFunction::kRelu;
      epilogue.low = is_relu ? 0.0f : static_cast<float>(call->p);
      if (!is_relu) epilogue.high = static_cast<float>(call->q);
      stage = kEnd;
    } else if (call->function == ElementFunction::kAdd ||
               call->function == ElementFunction::kMultiply) {
      const bool is_sum = call->function == ElementFunction::kAdd;
      const ElementArg& other =
          call->args[call->args[0].tensor == result ? 1 : 0];
      if (other.tensor == result) break;
      if (IsChannelConstant(other, shape, axis)) {
        if (is_sum && stage > kShift) break;
        if (!is_sum && stage > kScale) break;
        BATON_ASSIGN_OR_RETURN(const int constant,
                               ChannelConstant(other, shape[axis]));
        if (!is_sum) {
          epilogue.scale = constant;
          stage = kShift;
        } else if (stage == kBias) {
          epilogue.bias = constant;
          stage = kScale;
        } else {
          epilogue.shift = constant;
          stage = kResidual;
        }
      } else if (is_sum && stage <= kResidual && other.shape == shape &&
                 IsReady(other.tensor)) {
        if (is_blocked) {
          BATON_ASSIGN_OR_RETURN(epilogue.residual, Blocked(other.tensor));
        } else {
          BATON_RETURN_IF_ERROR(MakePlanar(other.tensor));
          epilogue.residual = other.tensor;
        }
        stage = kClip;
      } else {
        break;
      }
    } else {
      break;
    }
    claim(user);
    for (const int cast : casts) claim(cast);
  }
  return result;
}

kernels::blocked::Rounding Lowering::RoundingOf(int t,
                                                std::vector<int>& casts) const {
  using kernels::blocked::Rounding;
  casts.clear();
  // Sources of libraries do not round.
  if (options_.only_sources || TensorOf(t).dtype != DType::Float(32)) {
    return Rounding::kNone;
  }
  std::vector<int> found;
  for (int i = 0; i < 2; ++i) {
    const std::vector<int>& users = consumers_[static_cast<size_t>(t)];
    if (users.size() != 1 || users[0] == kOutput ||
        is_claimed_[static_cast<size_t>(users[0])]) {
      return Rounding::kNone;
    }
    const GraphNode& node = graph_.nodes[static_cast<size_t>(users[0])];
    if (node.op_name() != "cast") return Rounding::kNone;
    found.push_back(users[0]);
    t = node.outputs[0];
  }
  const DType half =
      TensorOf(graph_.nodes[static_cast<size_t>(found[0])].outputs[0]).dtype;
  if (!half.is_half() || TensorOf(t).dtype != DType::Float(32)) {
    return Rounding::kNone;
  }
  casts = std::move(found);
  return half == DType::Float(16) ? Rounding::kFloat16 : Rounding::kBFloat16;
}

absl::Status Lowering::LowerConv(int number,
                                 kernels::blocked::ConvParams params) {
  const GraphNode& node = graph_.nodes[static_cast<size_t>(number)];
  ConvLayout& layout = conv_layouts_[number];
  if (layout.kind == ConvLayout::Kind::kRows) {
    return LowerMatmul(number, RowsOf(params), /*transposed=*/true, 1,
                       std::move(layout.candidates));
  }
  if (layout.kind == ConvLayout::Kind::kProduct) {
    KernelChoice choice =
        ProductStep(blocked_kernels_, ImageProductOf(params), node.inputs[1],
                    node.inputs[0], node.outputs[0]);
    choice.reason =
        "the weight is multiplied with each image, which is packed in each run";
    choice.candidates = std::move(layout.candidates);
    return AddPlanarStep(std::move(choice), {number});
  }
  std::vector<int> nodes = {number};
  EpilogueOperands epilogue;
  BATON_ASSIGN_OR_RETURN(const int result,
                         TakeEpilogue(number, 1, true, epilogue, nodes));
  const int data = node.inputs[0];
  params.planar_input = layout.kind == ConvLayout::Kind::kPlanarInput;
  int x = data;
  if (params.planar_input) {
    BATON_RETURN_IF_ERROR(MakePlanar(data));
  } else {
    BATON_ASSIGN_OR_RETURN(x, Blocked(data));
  }
  // Calls with one weight share what is packed of it.
  PackedWeight& packed =
      packed_[{node.inputs[1], params.groups, params.planar_input}];
  if (packed.tensor >= 0) {
    TakeWeight(node.inputs[1]);
  } else {
    BATON_ASSIGN_OR_RETURN(
        PackedConstants::Entry entry,
        Packed(node.inputs[1], params.groups, params.planar_input,
               {DType::Float(32), kernels::blocked::PackedConvSize(params)},
               [&](Tensor unpacked) -> absl::StatusOr<PackedConstants::Entry> {
                 const bool is_mapped = IsMapped(unpacked);
                 BATON_ASSIGN_OR_RETURN(
                     Tensor tensor,
                     PackConv(std::move(unpacked), is_mapped, params));
                 return PackedConstants::Entry{std::move(tensor),
                                               params.finite_weights ? 1 : 0};
               }));
    packed = {NewConstant(std::move(entry.tensor)), entry.number != 0};
  }
  params.finite_weights = packed.is_finite;
  params.least_bands =
      kernels::blocked::ConvBandsFor(plan_.max_threads, params);
  const int weight = packed.tensor;
  const int y = NewBlocked(result);
  KernelChoice choice =
      ConvStep(blocked_kernels_, params, x, weight, epilogue, y);
  choice.overwrites = epilogue.residual;
  choice.candidates = std::move(layout.candidates);
  AddStep(std::move(choice), std::move(nodes));
  return absl::OkStatus();
}

absl::Status Lowering::LowerTransposedConv(int number,
                                           const TransposedConv& conv) {
  const GraphNode& node = graph_.nodes[static_cast<size_t>(number)];
  std::vector<int> nodes = {number};
  EpilogueOperands epilogue;
  BATON_ASSIGN_OR_RETURN(const int result,
                         TakeEpilogue(number, 1, true, epilogue, nodes));
  BATON_ASSIGN_OR_RETURN(const int x, Blocked(node.inputs[0]));
  kernels::blocked::ConvParams product = conv.product;
  PackedWeight& packed = packed_[{node.inputs[1], kWindows, false}];
  if (packed.tensor >= 0) {
    TakeWeight(node.inputs[1]);
  } else {
    BATON_ASSIGN_OR_RETURN(
        PackedConstants::Entry entry,
        Packed(
            node.inputs[1], kWindows, false,
            {DType::Float(32), kernels::blocked::PackedConvSize(product)},
            [&](Tensor weight) -> absl::StatusOr<PackedConstants::Entry> {
              BATON_ASSIGN_OR_RETURN(Tensor windows, WeightOfWindows(weight));
              BATON_ASSIGN_OR_RETURN(
                  Tensor tensor, PackConv(std::move(windows), false, product));
              return PackedConstants::Entry{std::move(tensor)};
            }));
    packed.tensor = NewConstant(std::move(entry.tensor));
  }
  // Nothing is padded, so that any weights will do.
  product.finite_weights = true;
  product.least_bands =
      kernels::blocked::ConvBandsFor(plan_.max_threads, product);
  const int weight = packed.tensor;
  const int windows =
      NewTensor({DType::Float(32),
                 BlockedShape({product.batch, product.out_channels,
                               product.h.out, product.w.out}),
                 std::nullopt, -1});
  KernelChoice choice =
      ConvStep(blocked_kernels_, product, x, weight, {}, windows);
  AddStep(std::move(choice), {number});
  const int y = NewBlocked(result);
  choice = FoldStep(blocked_kernels_, conv.fold, windows, epilogue, y);
  AddStep(std::move(choice), std::move(nodes));
  return absl::OkStatus();
}

int Lowering::FindIntegerBias(int number, size_t axis,
                              std::vector<uint32_t>& bias,
                              std::vector<int>& nodes) const {
  int result = graph_.nodes[static_cast<size_t>(number)].outputs[0];
  const TensorShape shape = TensorOf(result).shape;
  while (true) {
    const std::vector<int>& users = consumers_[static_cast<size_t>(result)];
    if (users.size() != 1 || users[0] == kOutput) return result;
    const GraphNode& node = graph_.nodes[static_cast<size_t>(users[0])];
    const std::optional<ElementCall> call = ElementCallOf(node, graph_);
    if (!call.has_value() || call->args.size() != 2) return result;
    const bool is_sum = call->function == kernels::ElementFunction::kAddInt;
    if (!is_sum && call->function != kernels::ElementFunction::kSubtractInt) {
      return result;
    }
    const ElementArg& arg = call->args[call->args[0].tensor == result ? 1 : 0];
    const int other = arg.tensor;
    if (is_claimed_[static_cast<size_t>(users[0])] || other == result ||
        (!is_sum && node.inputs[0] != result) ||
        TensorOf(node.outputs[0]).shape != shape ||
        !IsChannelConstant(arg, shape, axis)) {
      return result;
    }
    const absl::Span<const int32_t> values =
        TensorOf(other).constant->span<int32_t>();
    bias.resize(values.size());
    for (size_t c = 0; c < values.size(); ++c) {
      const auto value = static_cast<uint32_t>(values[c]);
      bias[c] += is_sum ? value : 0u - value;
    }
    nodes.push_back(users[0]);
    result = node.outputs[0];
  }
}

}  // namespace baton::cpu::internal
