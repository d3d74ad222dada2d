#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "baton/backend/cpu/blocked_steps.h"
#include "baton/backend/cpu/graph.h"
#include "baton/backend/cpu/kernel_choice.h"
#include "baton/backend/cpu/lowering.h"
#include "baton/backend/cpu/rearrangement.h"
#include "baton/backend/cpu/slab_steps.h"
#include "baton/base/dtype.h"
#include "baton/base/status_macros.h"
#include "baton/base/tensor.h"
#include "baton/ir/attrs.h"
#include "baton/relay/op/tensor/shape.h"
#include "baton/runtime/kernels/blocked/channels.h"

namespace baton::cpu::internal {

TensorShape Lowering::MapShape(int t) const {
  if (const auto found = map_shapes_.find(t); found != map_shapes_.end()) {
    return found->second;
  }
  const GraphTensor& tensor = TensorOf(t);
  if (tensor.dtype != DType::Float(32) || tensor.num_elements() == 0) {
    return {};
  }
  if (tensor.shape.size() == 3) {
    return {tensor.shape[0], tensor.shape[1], 1, tensor.shape[2]};
  }
  return tensor.shape.size() == 4 ? tensor.shape : TensorShape();
}

int64_t Lowering::FirstChannel(const TensorShape& part,
                               const TensorShape& whole, int64_t offset) {
  if (part.empty() || whole.empty() || part[0] != 1 || whole[0] != 1 ||
      part[2] != whole[2] || part[3] != whole[3]) {
    return -1;
  }
  const int64_t channel_bytes = whole[2] * whole[3] * 4;
  return offset % channel_bytes == 0 ? offset / channel_bytes : -1;
}

bool Lowering::IsBlockedView(int t, const Place& root) const {
  const int64_t first = FirstChannel(t, root);
  if (first < 0 || first % 16 != 0) return false;
  const int64_t channels = MapShape(t)[1];
  return channels % 16 == 0 || first + channels == MapShape(root.tensor)[1];
}

bool Lowering::IsBlockedAlone(int t) const {
  const Place root = RootOf(t);
  return !is_planar_[static_cast<size_t>(root.tensor)] &&
         blocked_of_[static_cast<size_t>(root.tensor)] >= 0 &&
         (root.tensor == t || FirstChannel(t, root) >= 0);
}

bool Lowering::HasBlocked(int t) const {
  if (blocked_of_[static_cast<size_t>(t)] >= 0) return true;
  const Place root = RootOf(t);
  return root.tensor != t &&
         blocked_of_[static_cast<size_t>(root.tensor)] >= 0 &&
         IsBlockedView(t, root);
}

int Lowering::NewBlocked(int t) {
  const int blocked = NewTensor(
      {TensorOf(t).dtype, BlockedShape(MapShape(t)), std::nullopt, -1});
  blocked_of_[static_cast<size_t>(t)] = blocked;
  return blocked;
}

absl::StatusOr<int> Lowering::Blocked(int t) {
  if (const int known = blocked_of_[static_cast<size_t>(t)]; known >= 0) {
    return known;
  }
  const Place root = RootOf(t);
  if (HasBlocked(t)) {
    const int of = blocked_of_[static_cast<size_t>(root.tensor)];
    const int blocked = NewBlocked(t);
    views_[static_cast<size_t>(blocked)] = {of, root.offset};
    return blocked;
  }
  if (root.tensor != t && IsBlockedAlone(t)) {
    const int of = blocked_of_[static_cast<size_t>(root.tensor)];
    const int blocked = NewBlocked(t);
    AddStep(GatherStep(blocked_kernels_, {MapShape(root.tensor)},
                       ChannelsFrom(0, FirstChannel(t, root), MapShape(t)[1]),
                       {of}, blocked),
            {});
    return blocked;
  }
  if (TensorOf(t).constant.has_value()) {
    BATON_ASSIGN_OR_RETURN(Tensor blocked,
                           ToBlocked(*TensorOf(t).constant, MapShape(t)));
    const int constant = NewConstant(std::move(blocked));
    blocked_of_[static_cast<size_t>(t)] = constant;
    return constant;
  }
  BATON_RETURN_IF_ERROR(MakePlanar(t));
  const int blocked = NewBlocked(t);
  if (const TensorShape map = MapShape(t);
      map[2] * map[3] == 1 && map[1] % kernels::blocked::kBlock == 0) {
    views_[static_cast<size_t>(blocked)] = {t, 0};
    return blocked;
  }
  AddStep(ToBlockedStep(blocked_kernels_, MapShape(t), t, blocked), {});
  return blocked;
}

absl::Status Lowering::MakePlanar(int t) {
  const int root = RootOf(t).tensor;
  if (is_planar_[static_cast<size_t>(root)]) return absl::OkStatus();
  is_planar_[static_cast<size_t>(root)] = true;
  if (const auto found = slabs_of_.find(root); found != slabs_of_.end()) {
    AddStep(FromSlabsStep(ByteMapOf(root), found->second, root), {});
    return absl::OkStatus();
  }
  const int blocked = blocked_of_[static_cast<size_t>(root)];
  // Steps that write blocked tensors themselves have no planar form.
  if (blocked < 0) return absl::OkStatus();
  const TensorShape shape = MapShape(root);
  if (shape[2] * shape[3] == 1 && shape[1] % 16 == 0) {
    views_[static_cast<size_t>(root)] = {blocked, 0};
    return absl::OkStatus();
  }
  AddStep(ToPlanarStep(blocked_kernels_, shape, blocked, root), {});
  return absl::OkStatus();
}

std::vector<kernels::blocked::ChannelSource> Lowering::ChannelsFrom(
    size_t input, int64_t first, int64_t count) {
  std::vector<kernels::blocked::ChannelSource> sources;
  for (int64_t c = first; c < first + count; ++c) {
    sources.push_back({static_cast<int32_t>(input), static_cast<int32_t>(c)});
  }
  return sources;
}

bool Lowering::IsChannelConcatenation(const GraphNode& node) const {
  if (node.op_name() != "concatenate" || node.outputs.size() != 1) {
    return false;
  }
  const int axis =
      AttrsOrDefaults<relay::ConcatenateAttrs>(node.call->attrs()).axis;
  const int rank = static_cast<int>(TensorOf(node.outputs[0]).shape.size());
  return axis == 1 || axis == 1 - rank;
}

bool Lowering::IsBlockedConcatenation(const GraphNode& node) const {
  return IsChannelConcatenation(node) && IsMap(node.outputs[0]) &&
         std::all_of(node.inputs.begin(), node.inputs.end(),
                     [this](int t) { return IsMap(t); }) &&
         std::any_of(node.inputs.begin(), node.inputs.end(),
                     [this](int t) { return IsBlockedAlone(t); });
}

absl::Status Lowering::LowerBlockedConcatenation(int number) {
  const GraphNode& node = graph_.nodes[static_cast<size_t>(number)];
  std::vector<int> parts;
  std::vector<TensorShape> shapes;
  std::vector<kernels::blocked::ChannelSource> sources;
  bool is_join = MapShape(node.outputs[0])[0] == 1;
  for (size_t i = 0; i < node.inputs.size(); ++i) {
    BATON_ASSIGN_OR_RETURN(const int part, Blocked(node.inputs[i]));
    parts.push_back(part);
    shapes.push_back(MapShape(node.inputs[i]));
    for (const auto& source : ChannelsFrom(i, 0, shapes[i][1])) {
      sources.push_back(source);
    }
    is_join =
        is_join && (i + 1 == node.inputs.size() || shapes[i][1] % 16 == 0);
  }
  const int y = NewBlocked(node.outputs[0]);
  AddStep(is_join ? Joined(std::move(parts), y)
                  : GatherStep(blocked_kernels_, shapes, std::move(sources),
                               std::move(parts), y),
          {number});
  return absl::OkStatus();
}

std::optional<ChannelMove> Lowering::ChannelMoveOf(
    int number, const TensorShape& map) const {
  const GraphNode& node = graph_.nodes[static_cast<size_t>(number)];
  if (map.empty() || map[0] != 1 || node.inputs.empty() ||
      node.outputs.size() != 1) {
    return std::nullopt;
  }
  const std::vector<Rearrangement>* const moved = MovesOf(number);
  if (moved == nullptr || moved->size() != 1) return std::nullopt;
  const Rearrangement& move = moved->front();
  const int64_t plane = map[2] * map[3];
  const int64_t base = move.base + RootOf(node.inputs[0]).offset / 4;
  auto dims = move.dims;
  auto strides = move.strides;
  if (plane > 1) {
    if (dims.empty() || strides.back() != 1 || dims.back() % plane != 0) {
      return std::nullopt;
    }
    dims.back() /= plane;
    strides.back() = plane;
  }
  if (base % plane != 0) return std::nullopt;
  int64_t count = 1;
  for (size_t d = 0; d < dims.size(); ++d) {
    if (strides[d] % plane != 0) return std::nullopt;
    count *= dims[d];
  }
  ChannelMove result;
  for (int64_t i = 0; i < count; ++i) {
    int64_t channel = base / plane;
    int64_t rest = i;
    for (size_t d = dims.size(); d-- > 0;) {
      channel += rest % dims[d] * (strides[d] / plane);
      rest /= dims[d];
    }
    if (channel < 0 || channel >= map[1]) return std::nullopt;
    result.sources.push_back({0, static_cast<int32_t>(channel)});
  }
  result.map = {1, count, map[2], map[3]};
  if (const TensorShape own = MapShape(node.outputs[0]);
      !own.empty() && own != result.map) {
    return std::nullopt;  // A map itself, but another one.
  }
  return result;
}

absl::StatusOr<bool> Lowering::LowerChannelMove(int number) {
  const GraphNode& node = graph_.nodes[static_cast<size_t>(number)];
  if (node.inputs.empty()) return false;
  const Place root = RootOf(node.inputs[0]);
  const int from = blocked_of_[static_cast<size_t>(root.tensor)];
  if (from < 0 || is_planar_[static_cast<size_t>(root.tensor)]) return false;
  const TensorShape map = MapShape(root.tensor);
  std::optional<ChannelMove> move = ChannelMoveOf(number, map);
  if (!move.has_value()) return false;
  const int result = node.outputs[0];
  map_shapes_[result] = move->map;
  const int y = NewBlocked(result);
  AddStep(
      GatherStep(blocked_kernels_, {map}, std::move(move->sources), {from}, y),
      {number});
  return true;
}

}  // namespace baton::cpu::internal
