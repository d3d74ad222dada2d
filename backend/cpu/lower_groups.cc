#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "baton/backend/cpu/blocked_steps.h"
#include "baton/backend/cpu/element_group.h"
#include "baton/backend/cpu/fallback_step.h"
#include "baton/backend/cpu/graph.h"
#include "baton/backend/cpu/kernel_choice.h"
#include "baton/backend/cpu/lowering.h"
#include "baton/backend/cpu/slab_steps.h"
#include "baton/base/dtype.h"
#include "baton/base/hash_table.h"
#include "baton/base/status_macros.h"
#include "baton/base/tensor.h"
#include "baton/runtime/kernels/elementwise_program.h"

namespace baton::cpu::internal {

void Lowering::FindGroups() {
  group_of_.assign(graph_.nodes.size(), -1);
  for (size_t i = graph_.nodes.size(); i-- > 0;) {
    const GraphNode& node = graph_.nodes[i];
    const std::optional<ElementCall> call = ElementCallOf(node, graph_);
    if (is_view_[i] || is_claimed_[i] || !call.has_value()) continue;
    // Libraries have loops for the others.
    if (options_.only_sources && !call->HasSource()) continue;
    const int t = node.outputs[0];
    int group = kNone;
    for (const int user : consumers_[static_cast<size_t>(t)]) {
      const int other =
          user == kOutput ? kNone : group_of_[static_cast<size_t>(user)];
      if (other == kNone || (group != kNone && group != other)) {
        group = kNone;
        break;
      }
      group = other;
    }
    // Half floats are rounded by two casts.
    const auto is_counted = [this](int member) {
      return graph_.nodes[static_cast<size_t>(member)].op_name() != "cast";
    };
    if (group == kNone ||
        static_cast<size_t>(std::count_if(groups_[group].begin(),
                                          groups_[group].end(), is_counted)) >=
            kMaxGroup ||
        TensorOf(graph_.nodes[static_cast<size_t>(group)].outputs[0]).shape !=
            TensorOf(t).shape) {
      group = static_cast<int>(i);
    }
    group_of_[i] = group;
    groups_[group].push_back(static_cast<int>(i));
  }
  for (auto& [last, members] : groups_) {
    std::reverse(members.begin(), members.end());
  }
}

absl::StatusOr<bool> Lowering::LowerGroup(int last) {
  std::vector<int> nodes;
  std::vector<ElementArg> operands;
  std::vector<GroupCall> calls;
  // The values of tensors: operands, and calls as -1, -2, ..., since those
  // are numbered after all operands, whose number is not known yet.
  FlatHashMap<int, int> value_of;
  const auto operand = [&](ElementArg arg, bool is_converted) {
    arg.is_converted = is_converted;
    size_t k = 0;
    while (k < operands.size() && (operands[k].tensor != arg.tensor ||
                                   operands[k].shape != arg.shape ||
                                   operands[k].is_converted != is_converted)) {
      ++k;
    }
    if (k == operands.size()) operands.push_back(std::move(arg));
    return static_cast<int>(k);
  };
  const auto value = [&](const ElementArg& arg) {
    const auto found = value_of.find(arg.tensor);
    return found != value_of.end() ? found->second
                                   : operand(arg, arg.type.is_half());
  };
  const auto add = [&](const GroupCall& call) {
    calls.push_back(call);
    return -static_cast<int>(calls.size());
  };
  using kernels::ElementFunction;
  bool is_float = true;  // the last value
  for (const int member : groups_.at(last)) {
    if (is_claimed_[static_cast<size_t>(member)]) continue;
    const GraphNode& node = graph_.nodes[static_cast<size_t>(member)];
    const std::optional<ElementCall> call = ElementCallOf(node, graph_);
    nodes.push_back(member);
    const DType type = TensorOf(node.outputs[0]).dtype;
    is_float = type.is_float();
    int v;
    if (call->function == ElementFunction::kCopy) {
      const ElementArg& arg = call->args[0];
      const bool from_float = arg.type.is_float();
      if (is_float && !from_float && !arg.type.is_bool() &&
          !value_of.contains(arg.tensor)) {
        // Part of reading the operand.
        v = operand(arg, true);
        if (member != last && type.is_half()) {
          v = add({CastFunctions(DType::Float(32), type)[0], v});
        }
      } else {
        v = value(arg);
        if (member == last && from_float) {
          // Part of storing the result.
          is_float = true;
        } else {
          for (const ElementFunction function : CastFunctions(arg.type, type)) {
            v = add({function, v});
          }
        }
      }
    } else {
      GroupCall grouped = {call->function};
      grouped.p = call->p;
      grouped.q = call->q;
      int* const numbers[] = {&grouped.a, &grouped.b, &grouped.c};
      for (size_t i = 0; i < call->args.size(); ++i) {
        *numbers[i] = value(call->args[i]);
      }
      v = add(grouped);
      if (call->then != ElementFunction::kCopy) v = add({call->then, v});
    }
    // The last call gives the result.
    if (member == last && (v >= 0 || v != -static_cast<int>(calls.size()))) {
      v = add({ElementFunction::kCopy, v});
    }
    value_of.insert_or_assign(node.outputs[0], v);
  }
  for (GroupCall& call : calls) {
    for (int* const number : {&call.a, &call.b, &call.c}) {
      if (*number < 0) {
        *number = static_cast<int>(operands.size()) - 1 - *number;
      }
    }
  }
  const int result = graph_.nodes[static_cast<size_t>(last)].outputs[0];
  TensorShape shape = TensorOf(result).shape;
  const DType type = TensorOf(result).dtype;
  if (type == DType::Float(32) && WantsBlocked(operands, shape)) {
    BATON_ASSIGN_OR_RETURN(std::optional<KernelChoice> apply,
                           LowerToApply(operands, calls, shape, result));
    if (apply.has_value()) {
      AddStep(*std::move(apply), std::move(nodes));
      return true;
    }
    for (ElementArg& operand : operands) {
      if (TensorOf(operand.tensor).num_elements() == 1) {
        BATON_RETURN_IF_ERROR(MakePlanar(operand.tensor));
        continue;
      }
      BATON_ASSIGN_OR_RETURN(operand, BlockedArg(operand, shape));
    }
    shape = BlockedShape(MapShape(result));
    const int y = NewBlocked(result);
    std::optional<KernelChoice> choice = ElementStep(operands, calls, shape, y);
    if (!choice.has_value()) {
      return absl::InternalError("an elementwise step has no blocked form");
    }
    choice->kernel += ".blocked16";
    AddStep(*std::move(choice), std::move(nodes));
    return true;
  }
  const std::optional<ByteSum> sum =
      ByteSumOf(operands, calls, shape, type, graph_);
  if (sum.has_value()) {
    BATON_RETURN_IF_ERROR(LowerByteSum(*sum, result, std::move(nodes)));
    return true;
  }
  if (!options_.only_sources) FuseQuantization(operands, calls);
  std::optional<KernelChoice> choice =
      ElementStep(operands, calls, shape, result, type, is_float);
  if (!choice.has_value()) {
    // One by one.
    if (nodes.size() == 1) return false;
    for (const int node : nodes) {
      BATON_RETURN_IF_ERROR(AddPlanarStep(
          FallbackStep(graph_.nodes[static_cast<size_t>(node)], graph_),
          {node}));
    }
    return true;
  }
  BATON_RETURN_IF_ERROR(AddPlanarStep(*std::move(choice), std::move(nodes)));
  return true;
}

bool Lowering::IsForChannels(const ElementArg& arg, const TensorShape& shape) {
  const size_t rank = shape.size();
  const TensorShape& s = arg.shape;
  if (s.size() + 1 != rank && s.size() != rank) return false;
  const size_t channel = s.size() + 1 - rank;
  return s[channel] == shape[1] &&
         std::all_of(s.begin() + static_cast<int64_t>(channel) + 1, s.end(),
                     [](int64_t extent) { return extent == 1; }) &&
         (channel == 0 || s[0] == 1 || s[0] == shape[0]);
}

bool Lowering::WantsBlocked(const std::vector<ElementArg>& operands,
                            const TensorShape& shape) const {
  return HaveBlockedForms(operands, shape) &&
         std::any_of(operands.begin(), operands.end(),
                     [&](const ElementArg& operand) {
                       return operand.shape == shape &&
                              TensorOf(operand.tensor).num_elements() != 1 &&
                              IsBlockedAlone(operand.tensor);
                     });
}

absl::StatusOr<std::optional<KernelChoice>> Lowering::LowerToApply(
    const std::vector<ElementArg>& operands,
    const std::vector<GroupCall>& calls, const TensorShape& shape, int result) {
  using kernels::ElementFunction;
  const int num = static_cast<int>(operands.size());
  const auto is_map = [&](int v) {
    return v < num && operands[static_cast<size_t>(v)].shape == shape;
  };
  enum { kBias, kScale, kShift, kResidual, kClip, kEnd } stage = kBias;
  int x = -1;
  // Operands of the group, negative for none.
  int bias = -1, scale = -1, shift = -1, residual = -1;
  EpilogueOperands epilogue;
  for (size_t k = 0; k < calls.size(); ++k) {
    const GroupCall& call = calls[k];
    const bool is_binary = kernels::IsBinary(call.function);
    int other = is_binary ? call.b : -1;
    if (k > 0) {
      const int last = num + static_cast<int>(k) - 1;
      if (call.a != last) {
        if (!is_binary || call.b != last) return std::nullopt;
        other = call.a;
      }
      if (other == last) return std::nullopt;
    } else if (is_map(call.a)) {
      x = call.a;
    } else if (is_binary && is_map(call.b)) {
      x = call.b;
      other = call.a;
    } else {
      return std::nullopt;
    }
    if (other >= num) return std::nullopt;
    if (call.function == ElementFunction::kRelu ||
        (call.function == ElementFunction::kClip && call.p <= call.q)) {
      if (stage == kEnd) return std::nullopt;
      const bool is_relu = call.function == ElementFunction::kRelu;
      epilogue.low = is_relu ? 0.0f : static_cast<float>(call.p);
      if (!is_relu) epilogue.high = static_cast<float>(call.q);
      stage = kEnd;
    } else if (call.function == ElementFunction::kAdd && is_map(other)) {
      if (stage > kResidual) return std::nullopt;
      residual = other;
      stage = kClip;
    } else if (call.function == ElementFunction::kAdd) {
      if (stage > kShift) return std::nullopt;
      (stage == kBias ? bias : shift) = other;
      stage = stage == kBias ? kScale : kResidual;
    } else if (call.function == ElementFunction::kMultiply && !is_map(other)) {
      if (stage > kScale) return std::nullopt;
      scale = other;
      stage = kShift;
    } else {
      return std::nullopt;
    }
  }
  for (const int v : {bias, scale, shift}) {
    if (v < 0) continue;
    // One vector for all images.
    const ElementArg& arg = operands[static_cast<size_t>(v)];
    const GraphTensor& tensor = TensorOf(arg.tensor);
    if (tensor.num_elements() == 1
            ? !tensor.constant.has_value()
            : tensor.num_elements() != shape[1] || !IsForChannels(arg, shape)) {
      return std::nullopt;
    }
  }
  const auto channels = [&](int v) -> absl::StatusOr<int> {
    if (v < 0) return -1;
    const ElementArg& arg = operands[static_cast<size_t>(v)];
    const std::optional<Tensor>& constant = TensorOf(arg.tensor).constant;
    if (constant.has_value() && constant->num_elements() == 1) {
      BATON_ASSIGN_OR_RETURN(
          MutableTensor spread,
          MutableTensor::Create(DType::Float(32), {(shape[1] + 15) / 16 * 16}));
      std::fill(spread.span<float>().begin(), spread.span<float>().end(),
                constant->span<float>()[0]);
      return NewConstant(std::move(spread).Freeze());
    }
    BATON_ASSIGN_OR_RETURN(const ElementArg spread, BlockedArg(arg, shape));
    return spread.tensor;
  };
  const auto map = [&](int v) -> absl::StatusOr<int> {
    if (v < 0) return -1;
    return Blocked(operands[static_cast<size_t>(v)].tensor);
  };
  BATON_ASSIGN_OR_RETURN(const int from, map(x));
  BATON_ASSIGN_OR_RETURN(epilogue.bias, channels(bias));
  BATON_ASSIGN_OR_RETURN(epilogue.scale, channels(scale));
  BATON_ASSIGN_OR_RETURN(epilogue.shift, channels(shift));
  BATON_ASSIGN_OR_RETURN(epilogue.residual, map(residual));
  return ApplyStep(blocked_kernels_, MapShape(result), from, epilogue,
                   NewBlocked(result));
}

absl::StatusOr<ElementArg> Lowering::BlockedArg(const ElementArg& arg,
                                                const TensorShape& shape) {
  const size_t rank = shape.size();
  ElementArg result;
  if (arg.shape != shape && IsForPositions(arg, rank) &&
      std::any_of(arg.shape.begin(), arg.shape.end(),
                  [](int64_t extent) { return extent != 1; })) {
    // [N, 1, H, W] is [N, 1, H, W, 1], and a row has height one.
    BATON_RETURN_IF_ERROR(MakePlanar(arg.tensor));
    result.tensor = arg.tensor;
    result.shape = arg.shape;
    if (arg.shape.size() == 3 && rank == 3) {
      result.shape.insert(result.shape.begin() + 2, 1);
    }
    result.shape.push_back(1);
    return result;
  }
  if (arg.shape.size() == rank && IsMap(arg.tensor) &&
      TensorOf(arg.tensor).shape == arg.shape) {
    BATON_ASSIGN_OR_RETURN(result.tensor, Blocked(arg.tensor));
    result.shape = BlockedShape(MapShape(arg.tensor));
    return result;
  }
  // [C, 1, 1], or the [C] of a bias.
  const int64_t channels = arg.shape[arg.shape.size() + 1 - rank];
  const TensorShape map = {1, channels, 1, 1};
  int tensor;
  if (TensorOf(arg.tensor).constant.has_value()) {
    BATON_ASSIGN_OR_RETURN(Tensor reshaped,
                           TensorOf(arg.tensor).constant->Reshaped(map));
    tensor = NewConstant(std::move(reshaped));
  } else {
    BATON_RETURN_IF_ERROR(MakePlanar(arg.tensor));
    tensor = NewTensor({DType::Float(32), map, std::nullopt, -1});
    views_[static_cast<size_t>(tensor)] = {arg.tensor, 0};
  }
  BATON_ASSIGN_OR_RETURN(result.tensor, Blocked(tensor));
  result.shape = BlockedShape(map);
  return result;
}

}  // namespace baton::cpu::internal
