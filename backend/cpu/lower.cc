#include "baton/backend/cpu/lower.h"

#include <sys/mman.h>

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <functional>
#include <limits>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <tuple>
#include <utility>
#include <vector>

#include "absl/functional/function_ref.h"
#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/string_view.h"
#include "absl/types/span.h"
#include "baton/backend/cpu/blocked_steps.h"
#include "baton/backend/cpu/element_group.h"
#include "baton/backend/cpu/fallback_step.h"
#include "baton/backend/cpu/graph.h"
#include "baton/backend/cpu/half_tensors.h"
#include "baton/backend/cpu/int8_steps.h"
#include "baton/backend/cpu/kernel_choice.h"
#include "baton/backend/cpu/packed_constants.h"
#include "baton/backend/cpu/rearrange_step.h"
#include "baton/backend/cpu/rearrangement.h"
#include "baton/backend/cpu/region_step.h"
#include "baton/backend/cpu/row_steps.h"
#include "baton/backend/cpu/shared_weights.h"
#include "baton/backend/cpu/slab_steps.h"
#include "baton/backend/cpu/step_source.h"
#include "baton/backend/cpu/take_step.h"
#include "baton/backend/cpu/views.h"
#include "baton/base/dtype.h"
#include "baton/base/hash_table.h"
#include "baton/base/pages.h"
#include "baton/base/status_macros.h"
#include "baton/base/tensor.h"
#include "baton/ir/attrs.h"
#include "baton/relay/op/nn/spatial.h"
#include "baton/relay/op/tensor/shape.h"
#include "baton/runtime/executor/arena_planner.h"
#include "baton/runtime/executor/plan.h"
#include "baton/runtime/kernels/blocked/byte_slabs.h"
#include "baton/runtime/kernels/blocked/channels.h"
#include "baton/runtime/kernels/blocked/conv.h"
#include "baton/runtime/kernels/blocked/epilogue.h"
#include "baton/runtime/kernels/blocked/int8_conv.h"
#include "baton/runtime/kernels/blocked/int_matmul.h"
#include "baton/runtime/kernels/blocked/kernels.h"
#include "baton/runtime/kernels/blocked/matmul.h"
#include "baton/runtime/kernels/elementwise_program.h"

namespace baton::cpu {
namespace {

using executor::Space;

// A step and the nodes of the graph that it computes.
struct LoweredStep {
  KernelChoice kernel;
  std::vector<int> nodes;
};

// The bytes of a tensor in the memory of another one.
struct Place {
  int tensor = -1;
  int64_t offset = 0;
};

constexpr int64_t kCopyBytes = 64 << 10;  // of an item

int Copy(const executor::StepCall& call) {
  const int64_t bytes = *static_cast<const int64_t*>(call.params);
  const int64_t begin = call.begin * kCopyBytes;
  const int64_t end = std::min(bytes, call.end * kCopyBytes);
  if (begin < end) {
    std::memcpy(static_cast<char*>(call.outputs[0]) + begin,
                static_cast<const char*>(call.inputs[0]) + begin,
                static_cast<size_t>(end - begin));
  }
  return 0;
}

class Lowering {
 public:
  Lowering(Graph graph, const LowerOptions& options)
      : graph_(std::move(graph)),
        options_(options),
        blocked_kernels_(*kernels::blocked::KernelsOf(
            options.width.value_or(kernels::blocked::BestWidth()))),
        tensors_(graph_.tensors),
        views_(graph_.tensors.size()),
        inside_(graph_.tensors.size()),
        output_of_(graph_.tensors.size(), -1),
        blocked_of_(graph_.tensors.size(), -1),
        is_planar_(graph_.tensors.size(), false),
        consumers_(graph_.tensors.size()),
        num_unpacked_(graph_.tensors.size()),
        is_claimed_(graph_.nodes.size(), false) {
    plan_.max_threads = std::max(options.max_threads, 1);
    for (size_t i = 0; i < tensors_.size(); ++i) {
      is_planar_[i] = !IsComputed(static_cast<int>(i));
    }
    for (size_t i = 0; i < graph_.nodes.size(); ++i) {
      for (const int t : graph_.nodes[i].inputs) {
        consumers_[static_cast<size_t>(t)].push_back(static_cast<int>(i));
      }
    }
    for (const int t : graph_.outputs) {
      consumers_[static_cast<size_t>(t)].push_back(kOutput);
    }
    for (size_t i = 0; i < consumers_.size(); ++i) {
      num_unpacked_[i] = consumers_[i].size();
    }
  }

  absl::StatusOr<executor::Plan> Run() {
    FindViews();
    BATON_RETURN_IF_ERROR(ChooseKernels());
    if (options_.use_kernels && !options_.only_sources) JoinSteps();
    PlaceOutputs();
    PlaceParts();
    MakeSteps();
    ReuseInputs();
    executor::PlaceValues(plan_);
    return std::move(plan_);
  }

 private:
  // A consumer that is no node: an output of the graph.
  static constexpr int kOutput = -1;
  static constexpr int kNone = -1;
  // In place of the groups of a convolution, in keys of packed weights.
  static constexpr int64_t kWindows = -2;
  static constexpr int64_t kIntegers = -3;
  static constexpr size_t kMaxGroup = 32;

  const GraphTensor& TensorOf(int t) const {
    return tensors_[static_cast<size_t>(t)];
  }
  int NewTensor(GraphTensor tensor) {
    const bool is_constant = tensor.constant.has_value();
    tensors_.push_back(std::move(tensor));
    views_.emplace_back();
    inside_.emplace_back();
    output_of_.push_back(-1);
    blocked_of_.push_back(-1);
    is_planar_.push_back(is_constant);
    return static_cast<int>(tensors_.size()) - 1;
  }
  int NewConstant(Tensor tensor) {
    const TensorShape shape(tensor.shape().begin(), tensor.shape().end());
    return NewTensor({tensor.dtype(), shape, std::move(tensor), -1});
  }
  bool IsComputed(int t) const {
    return !TensorOf(t).constant.has_value() && TensorOf(t).input < 0;
  }
  // The tensor of which `t` is a view.
  Place RootOf(int t) const {
    Place place = {t, 0};
    while (views_[static_cast<size_t>(place.tensor)].tensor >= 0) {
      const Place& next = views_[static_cast<size_t>(place.tensor)];
      place = {next.tensor, place.offset + next.offset};
    }
    return place;
  }
  // The tensor in whose memory `t` is.
  Place StorageOf(int t) const {
    Place place = RootOf(t);
    while (inside_[static_cast<size_t>(place.tensor)].tensor >= 0) {
      const Place& next = inside_[static_cast<size_t>(place.tensor)];
      place = {next.tensor, place.offset + next.offset};
    }
    return place;
  }

  void FindViews() {
    is_view_.assign(graph_.nodes.size(), false);
    if (!options_.use_kernels) return;
    for (size_t i = 0; i < graph_.nodes.size(); ++i) {
      const GraphNode& node = graph_.nodes[i];
      std::optional<std::vector<Rearrangement>> moves;
      const std::optional<std::vector<View>> views =
          ViewsOf(node, graph_, &moves);
      if (moves.has_value()) {
        moves_.insert_or_assign(static_cast<int>(i), *std::move(moves));
      }
      if (!views.has_value()) continue;
      is_view_[i] = true;
      for (size_t k = 0; k < node.outputs.size(); ++k) {
        views_[static_cast<size_t>(node.outputs[k])] = {
            node.inputs[static_cast<size_t>((*views)[k].input)],
            (*views)[k].offset};
      }
    }
  }

  // The rearrangements that the node `number` does; null if it does more, or is
  // a reshape. FindViews() found them.
  const std::vector<Rearrangement>* MovesOf(int number) const {
    const auto found = moves_.find(number);
    return found == moves_.end() ? nullptr : &found->second;
  }

  absl::Status ChooseKernels() {
    if (options_.use_kernels && !options_.only_sources) FindScaledProducts();
    if (options_.use_kernels) FindGroups();
    if (options_.use_kernels) FindPaddings();
    if (options_.use_kernels) FindMovedProducts();
    for (size_t i = 0; i < graph_.nodes.size(); ++i) {
      if (const auto found = scaled_products_.find(static_cast<int>(i));
          found != scaled_products_.end()) {
        BATON_RETURN_IF_ERROR(LowerIntMatmul(found->second));
        continue;
      }
      if (is_view_[i] || is_claimed_[i]) continue;
      BATON_RETURN_IF_ERROR(Lower(static_cast<int>(i)));
    }
    for (const int t : graph_.outputs) BATON_RETURN_IF_ERROR(MakePlanar(t));
    return absl::OkStatus();
  }

  absl::Status Lower(int number) {
    const GraphNode& node = graph_.nodes[static_cast<size_t>(number)];
    if (node.region != nullptr) {
      BATON_ASSIGN_OR_RETURN(KernelChoice region, LowerRegion(node));
      return AddPlanarStep(std::move(region), {number});
    }
    if (options_.use_kernels) {
      // The last node of a group is lowered with all of it.
      const int group = group_of_[static_cast<size_t>(number)];
      if (group != kNone && group != number) return absl::OkStatus();
      BATON_ASSIGN_OR_RETURN(const bool is_lowered, LowerToKernel(number));
      if (is_lowered) return absl::OkStatus();
      const CpuKernel* const kernel =
          options_.only_sources ? nullptr
                                : CpuKernels().Get(*node.call->op_node());
      if (kernel != nullptr) {
        BATON_ASSIGN_OR_RETURN(std::optional<KernelChoice> choice,
                               (*kernel)(node, graph_));
        if (choice.has_value()) {
          return AddPlanarStep(*std::move(choice), {number});
        }
      }
    }
    return AddPlanarStep(FallbackStep(node, graph_), {number});
  }

  // A step on tensors in the layout of the graph.
  absl::Status AddPlanarStep(KernelChoice choice, std::vector<int> nodes) {
    for (const int t : choice.inputs) BATON_RETURN_IF_ERROR(MakePlanar(t));
    for (const int t : choice.outputs) {
      is_planar_[static_cast<size_t>(t)] = true;
    }
    steps_.push_back({std::move(choice), std::move(nodes)});
    return absl::OkStatus();
  }

  absl::StatusOr<KernelChoice> LowerRegion(const GraphNode& node) {
    LowerOptions options = options_;
    options.max_threads = 1;
    // Branches, and the rounds of an unrolled loop, may have the same weights.
    if (options.shared == nullptr) options.shared = &weights_of_regions_;
    return RegionStep(
        node, graph_,
        [&options](const Graph& graph) -> absl::StatusOr<executor::Plan> {
          Graph lowered = graph;
          if (options.use_kernels) {
            BATON_RETURN_IF_ERROR(ComputeHalvesInFloat32(lowered));
          }
          return LowerGraph(std::move(lowered), options);
        });
  }

  absl::StatusOr<bool> LowerToKernel(int number) {
    const GraphNode& node = graph_.nodes[static_cast<size_t>(number)];
    if (group_of_[static_cast<size_t>(number)] == number) {
      return LowerGroup(number);
    }
    if (auto params = ConvParamsOf(node, graph_); params.has_value()) {
      BATON_RETURN_IF_ERROR(LowerConv(number, *std::move(params)));
      return true;
    }
    if (const auto conv = TransposedConvOf(node, graph_); conv.has_value()) {
      BATON_RETURN_IF_ERROR(LowerTransposedConv(number, *conv));
      return true;
    }
    if (IsInt8Conv(number)) {
      BATON_RETURN_IF_ERROR(LowerInt8Conv(number));
      return true;
    }
    if (const auto params = IntMatmulParamsOf(node, graph_);
        params.has_value()) {
      ScaledProduct product;
      product.params = *params;
      product.number = number;
      product.nodes = {number};
      product.data = node.inputs[0];
      product.result = node.outputs[0];
      BATON_RETURN_IF_ERROR(LowerIntMatmul(product));
      return true;
    }
    if (auto params = MatmulParamsOf(node, graph_); params.has_value()) {
      BATON_RETURN_IF_ERROR(LowerMatmul(number, *std::move(params)));
      return true;
    }
    if (const auto found = products_.find(number); found != products_.end()) {
      const MovedProduct& moved = found->second;
      KernelChoice choice = ProductStep(blocked_kernels_, moved.product,
                                        moved.a, moved.b, moved.result);
      if (moved.nodes.size() > 1) {
        choice.reason +=
            "; it reads and stores elements where calls around it "
            "move them";
      }
      BATON_RETURN_IF_ERROR(AddPlanarStep(std::move(choice), moved.nodes));
      return true;
    }
    if (!options_.only_sources && LowerSlabPool(number)) return true;
    if (IsSlabConcatenation(node)) {
      BATON_RETURN_IF_ERROR(LowerSlabConcatenation(number));
      return true;
    }
    if (auto pool = PoolOf(node, graph_); pool.has_value()) {
      BATON_ASSIGN_OR_RETURN(const int x, Blocked(node.inputs[0]));
      const int y = NewBlocked(node.outputs[0]);
      steps_.push_back({PoolStep(blocked_kernels_, *pool, x, y), {number}});
      return true;
    }
    if (auto params = LrnParamsOf(node, graph_); params.has_value()) {
      BATON_ASSIGN_OR_RETURN(const int x, Blocked(node.inputs[0]));
      const int y = NewBlocked(node.outputs[0]);
      steps_.push_back({LrnStep(blocked_kernels_, *params, x, y), {number}});
      return true;
    }
    if (IsBlockedConcatenation(node)) {
      BATON_RETURN_IF_ERROR(LowerBlockedConcatenation(number));
      return true;
    }
    BATON_ASSIGN_OR_RETURN(const bool is_move, LowerChannelMove(number));
    if (is_move) return true;
    if (IsJoin(node, graph_)) {
      KernelChoice join;
      join.is_join = true;
      join.inputs = node.inputs;
      join.outputs = node.outputs;
      BATON_RETURN_IF_ERROR(AddPlanarStep(std::move(join), {number}));
      return true;
    }
    if (auto step = PadStep(node, graph_); step.has_value()) {
      BATON_RETURN_IF_ERROR(AddPlanarStep(*std::move(step), {number}));
      return true;
    }
    // Libraries have loops for takes.
    if (auto take = options_.only_sources ? std::nullopt : TakeOf(node, graph_);
        take.has_value()) {
      BATON_RETURN_IF_ERROR(LowerTake(number, *std::move(take)));
      return true;
    }
    if (auto step = ConcatenateStep(node, graph_); step.has_value()) {
      BATON_RETURN_IF_ERROR(AddPlanarStep(*std::move(step), {number}));
      return true;
    }
    return LowerMove(number);
  }

  absl::Status LowerTake(int number, TakeChoice take) {
    const GraphNode& node = graph_.nodes[static_cast<size_t>(number)];
    const int data = node.inputs[0];
    const int64_t rank = static_cast<int64_t>(TensorOf(data).shape.size());
    // Rows or columns of a blocked map, as where images are resized.
    if (take.places.has_value() && take.axis >= 2 && IsBlockedAlone(data) &&
        IsMap(data) && IsMap(node.outputs[0]) &&
        TensorOf(node.outputs[0]).shape.size() == TensorOf(data).shape.size()) {
      const TensorShape map = MapShape(data);
      const bool is_column = take.axis + 1 == rank;
      take.outer = map[0] * kernels::blocked::BlocksOf(map[1]) *
                   (is_column ? map[2] : 1);
      take.inner = (is_column ? 1 : map[3]) * kernels::blocked::kBlock;
      BATON_ASSIGN_OR_RETURN(const int x, Blocked(data));
      const int y = NewBlocked(node.outputs[0]);
      KernelChoice choice = TakeStep(std::move(take), x, -1, y);
      choice.kernel += ".blocked16";
      steps_.push_back({std::move(choice), {number}});
      return absl::OkStatus();
    }
    return AddPlanarStep(
        TakeStep(std::move(take), data, node.inputs[1], node.outputs[0]),
        {number});
  }

  // A call that moves elements, a step for each result.
  absl::StatusOr<bool> LowerMove(int number) {
    const GraphNode& node = graph_.nodes[static_cast<size_t>(number)];
    const std::vector<Rearrangement>* const moves = MovesOf(number);
    if (moves == nullptr) return false;
    std::vector<KernelChoice> choices;
    for (size_t i = 0; i < moves->size(); ++i) {
      if (consumers_[static_cast<size_t>(node.outputs[i])].empty()) continue;
      std::optional<KernelChoice> choice =
          RearrangeStep(graph_, (*moves)[i], node.inputs[0], node.outputs[i]);
      if (!choice.has_value()) return false;
      choices.push_back(*std::move(choice));
    }
    for (KernelChoice& choice : choices) {
      BATON_RETURN_IF_ERROR(AddPlanarStep(std::move(choice), {number}));
    }
    return true;
  }

  // --- Layouts -------------------------------------------------------------

  bool IsMap(int t) const { return !MapShape(t).empty(); }

  // [N, C, H, W] of a tensor that may have a blocked form, of which a row has
  // height one; else empty.
  TensorShape MapShape(int t) const {
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

  // If `t` is channels of the map `root`, of one image, the number of the
  // first; else -1.
  int64_t FirstChannel(int t, const Place& root) const {
    const TensorShape part = MapShape(t);
    const TensorShape whole = MapShape(root.tensor);
    if (part.empty() || whole.empty() || part[0] != 1 || whole[0] != 1 ||
        part[2] != whole[2] || part[3] != whole[3]) {
      return -1;
    }
    const int64_t channel_bytes = whole[2] * whole[3] * 4;
    return root.offset % channel_bytes == 0 ? root.offset / channel_bytes : -1;
  }

  // True if the view `t` of the planar map `root` has the elements of a view of
  // the blocked map.
  bool IsBlockedView(int t, const Place& root) const {
    const int64_t first = FirstChannel(t, root);
    if (first < 0 || first % 16 != 0) return false;
    const int64_t channels = MapShape(t)[1];
    return channels % 16 == 0 || first + channels == MapShape(root.tensor)[1];
  }

  // True if `t` was computed in blocked form alone, and this has its channels.
  bool IsBlockedAlone(int t) const {
    const Place root = RootOf(t);
    return !is_planar_[static_cast<size_t>(root.tensor)] &&
           blocked_of_[static_cast<size_t>(root.tensor)] >= 0 &&
           (root.tensor == t || FirstChannel(t, root) >= 0);
  }

  // True if the blocked form of `t` costs nothing.
  bool HasBlocked(int t) const {
    if (blocked_of_[static_cast<size_t>(t)] >= 0) return true;
    const Place root = RootOf(t);
    return root.tensor != t &&
           blocked_of_[static_cast<size_t>(root.tensor)] >= 0 &&
           IsBlockedView(t, root);
  }

  // The blocked form of `t`, which a step is going to write.
  int NewBlocked(int t) {
    const int blocked = NewTensor(
        {TensorOf(t).dtype, BlockedShape(MapShape(t)), std::nullopt, -1});
    blocked_of_[static_cast<size_t>(t)] = blocked;
    return blocked;
  }

  // The blocked form of `t`, converted if there is none.
  absl::StatusOr<int> Blocked(int t) {
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
      steps_.push_back(
          {GatherStep(blocked_kernels_, {MapShape(root.tensor)},
                      ChannelsFrom(0, FirstChannel(t, root), MapShape(t)[1]),
                      {of}, blocked),
           {}});
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
    steps_.push_back(
        {ToBlockedStep(blocked_kernels_, MapShape(t), t, blocked), {}});
    return blocked;
  }

  // Adds the step that makes the planar form of `t`, if there is none.
  absl::Status MakePlanar(int t) {
    const int root = RootOf(t).tensor;
    if (is_planar_[static_cast<size_t>(root)]) return absl::OkStatus();
    is_planar_[static_cast<size_t>(root)] = true;
    if (const auto found = slabs_of_.find(root); found != slabs_of_.end()) {
      steps_.push_back(
          {FromSlabsStep(ByteMapOf(root), found->second, root), {}});
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
    steps_.push_back(
        {ToPlanarStep(blocked_kernels_, shape, blocked, root), {}});
    return absl::OkStatus();
  }

  static std::vector<kernels::blocked::ChannelSource> ChannelsFrom(
      size_t input, int64_t first, int64_t count) {
    std::vector<kernels::blocked::ChannelSource> sources;
    for (int64_t c = first; c < first + count; ++c) {
      sources.push_back({static_cast<int32_t>(input), static_cast<int32_t>(c)});
    }
    return sources;
  }

  bool IsChannelConcatenation(const GraphNode& node) const {
    if (node.op_name() != "concatenate" || node.outputs.size() != 1) {
      return false;
    }
    const int axis =
        AttrsOrDefaults<relay::ConcatenateAttrs>(node.call->attrs()).axis;
    const int rank = static_cast<int>(TensorOf(node.outputs[0]).shape.size());
    return axis == 1 || axis == 1 - rank;
  }

  // True for a concatenation of channels of which a part is a blocked map.
  bool IsBlockedConcatenation(const GraphNode& node) const {
    return IsChannelConcatenation(node) && IsMap(node.outputs[0]) &&
           std::all_of(node.inputs.begin(), node.inputs.end(),
                       [this](int t) { return IsMap(t); }) &&
           std::any_of(node.inputs.begin(), node.inputs.end(),
                       [this](int t) { return IsBlockedAlone(t); });
  }

  absl::Status LowerBlockedConcatenation(int number) {
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
    KernelChoice choice;
    if (is_join) {
      choice.is_join = true;
      choice.inputs = std::move(parts);
      choice.outputs = {y};
    } else {
      choice = GatherStep(blocked_kernels_, shapes, std::move(sources),
                          std::move(parts), y);
    }
    steps_.push_back({std::move(choice), {number}});
    return absl::OkStatus();
  }

  // A call that moves whole channels of a blocked map of one image, such as the
  // transposition of a shuffle.
  absl::StatusOr<bool> LowerChannelMove(int number) {
    const GraphNode& node = graph_.nodes[static_cast<size_t>(number)];
    if (node.inputs.empty() || node.outputs.size() != 1) return false;
    const Place root = RootOf(node.inputs[0]);
    const int from = blocked_of_[static_cast<size_t>(root.tensor)];
    if (from < 0 || is_planar_[static_cast<size_t>(root.tensor)]) return false;
    const TensorShape map = MapShape(root.tensor);
    if (map.empty() || map[0] != 1) return false;
    const std::vector<Rearrangement>* const moved = MovesOf(number);
    if (moved == nullptr || moved->size() != 1) return false;
    const Rearrangement& move = moved->front();
    const int64_t plane = map[2] * map[3];
    const int64_t base = move.base + root.offset / 4;
    auto dims = move.dims;
    auto strides = move.strides;
    if (plane > 1) {
      if (dims.empty() || strides.back() != 1 || dims.back() % plane != 0) {
        return false;
      }
      dims.back() /= plane;
      strides.back() = plane;
    }
    if (base % plane != 0) return false;
    int64_t count = 1;
    for (size_t d = 0; d < dims.size(); ++d) {
      if (strides[d] % plane != 0) return false;
      count *= dims[d];
    }
    std::vector<kernels::blocked::ChannelSource> sources;
    for (int64_t i = 0; i < count; ++i) {
      int64_t channel = base / plane;
      int64_t rest = i;
      for (size_t d = dims.size(); d-- > 0;) {
        channel += rest % dims[d] * (strides[d] / plane);
        rest /= dims[d];
      }
      if (channel < 0 || channel >= map[1]) return false;
      sources.push_back({0, static_cast<int32_t>(channel)});
    }
    const int result = node.outputs[0];
    const TensorShape moved_map = {1, count, map[2], map[3]};
    if (const TensorShape own = MapShape(result);
        !own.empty() && own != moved_map) {
      return false;  // A map itself, but another one.
    }
    map_shapes_[result] = moved_map;
    const int y = NewBlocked(result);
    steps_.push_back(
        {GatherStep(blocked_kernels_, {map}, std::move(sources), {from}, y),
         {number}});
    return true;
  }

  // --- Epilogues -----------------------------------------------------------

  // The constant of `channels` elements along `axis` of a tensor of `rank`;
  // padded to a multiple of 16.
  absl::StatusOr<int> ChannelConstant(const ElementArg& arg, int64_t channels) {
    BATON_ASSIGN_OR_RETURN(
        MutableTensor padded,
        MutableTensor::Create(DType::Float(32), {(channels + 15) / 16 * 16}));
    const Tensor& constant = *TensorOf(arg.tensor).constant;
    std::copy_n(constant.span<float>().begin(), channels,
                padded.span<float>().begin());
    return NewConstant(std::move(padded).Freeze());
  }

  // True if `arg` is a constant with an element for each index of dimension
  // `axis` of `shape`.
  bool IsChannelConstant(const ElementArg& arg, const TensorShape& shape,
                         size_t axis) const {
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

  // The elementwise operators behind a node whose kernel has an epilogue, as
  // far as it can compute them. Returns the tensor that the kernel then has as
  // its result.
  absl::StatusOr<int> TakeEpilogue(int number, size_t axis, bool is_blocked,
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

  // Returns the rounding of `t`, if its only user is a cast to half floats, and
  // the only user of that a cast back. `casts` becomes the two casts, or is
  // empty.
  kernels::blocked::Rounding RoundingOf(int t, std::vector<int>& casts) const {
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

  // True if the steps so far compute `t`.
  bool IsReady(int t) const {
    const int root = RootOf(t).tensor;
    return is_planar_[static_cast<size_t>(root)] ||
           blocked_of_[static_cast<size_t>(root)] >= 0;
  }

  absl::Status LowerConv(int number, kernels::blocked::ConvParams params) {
    const GraphNode& node = graph_.nodes[static_cast<size_t>(number)];
    std::vector<int> nodes = {number};
    EpilogueOperands epilogue;
    BATON_ASSIGN_OR_RETURN(const int result,
                           TakeEpilogue(number, 1, true, epilogue, nodes));
    const int data = node.inputs[0];
    // A first layer reads an image where it is.
    params.planar_input = params.in_channels * params.groups < 16 &&
                          params.groups == 1 && !HasBlocked(data);
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
          Packed(
              node.inputs[1], params.groups, params.planar_input,
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
    steps_.push_back({std::move(choice), std::move(nodes)});
    return absl::OkStatus();
  }

  absl::Status LowerTransposedConv(int number, const TransposedConv& conv) {
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
          Packed(node.inputs[1], kWindows, false,
                 {DType::Float(32), kernels::blocked::PackedConvSize(product)},
                 [&](Tensor weight) -> absl::StatusOr<PackedConstants::Entry> {
                   BATON_ASSIGN_OR_RETURN(Tensor windows,
                                          WeightOfWindows(weight));
                   BATON_ASSIGN_OR_RETURN(
                       Tensor tensor,
                       PackConv(std::move(windows), false, product));
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
    steps_.push_back({std::move(choice), {number}});
    const int y = NewBlocked(result);
    choice = FoldStep(blocked_kernels_, conv.fold, windows, epilogue, y);
    steps_.push_back({std::move(choice), std::move(nodes)});
    return absl::OkStatus();
  }

  // Finds the bias of an integer result, with an element for each index of
  // dimension `axis`: sums of integers wrap, so that biases behind it are one.
  // Appends their nodes to `nodes`. Returns the tensor that the kernel then has
  // as its result.
  int FindIntegerBias(int number, size_t axis, std::vector<uint32_t>& bias,
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
      const ElementArg& arg =
          call->args[call->args[0].tensor == result ? 1 : 0];
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

  // --- Convolutions of bytes -----------------------------------------------

  bool IsInt8Conv(int number) const {
    return number != kOutput &&
           Int8ConvParamsOf(graph_.nodes[static_cast<size_t>(number)], graph_)
               .has_value();
  }

  // The paddings that convolutions of bytes do themselves: nothing else reads
  // what is padded.
  void FindPaddings() {
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

  // The parameters of the convolution `number` on what `pad` pads; nullopt if
  // it cannot pad so.
  std::optional<kernels::blocked::Int8ConvParams> PaddedConv(
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

  // The one element of a tensor of integers.
  static std::optional<int64_t> IntegerOf(const Tensor& tensor) {
    if (tensor.dtype() == DType::Int(32)) return tensor.span<int32_t>()[0];
    if (tensor.dtype() == DType::Int(64)) return tensor.span<int64_t>()[0];
    if (tensor.dtype() == DType::Int(8)) return tensor.span<int8_t>()[0];
    if (tensor.dtype() == DType::UInt(8)) return tensor.span<uint8_t>()[0];
    return std::nullopt;
  }

  // The values of the constant `arg` for each channel of a result, and more
  // that nothing uses; nullopt if it is none.
  std::optional<std::vector<float>> ChannelValues(
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

  // The operators that make bytes of the sums `result`, which becomes the
  // tensor of bytes; nullopt if there are none.
  std::optional<Int8Scales> TakeScales(int& result, std::vector<int>& nodes) {
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
      } else if (call->function == ElementFunction::kCopy &&
                 type.bytes() == 1) {
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

  // Applies the bounds of what is divided to the results instead, as all steps
  // between are monotonic. False if bounds would differ by channel, or if there
  // may be NaN.
  static bool MoveBounds(float least, float most, Int8Scales& scales) {
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

  static bool CanHaveSlabs(const kernels::blocked::Int8ConvParams& params) {
    return params.groups == 1 ||
           (params.in_channels == 1 && params.out_channels == 1);
  }

  // True if steps that read slabs read `t`, a map of bytes. In sources of
  // libraries only convolutions do, and nothing else may read `t`.
  bool WantsSlabs(int t, int depth = kMostDepth) const {
    const std::vector<int>& users = consumers_[static_cast<size_t>(t)];
    const auto reads = [&](int user) {
      return user != kOutput && ReadsSlabs(user, t, depth);
    };
    return options_.only_sources
               ? !users.empty() &&
                     std::all_of(users.begin(), users.end(), reads)
               : std::any_of(users.begin(), users.end(), reads);
  }
  bool ReadsSlabs(int user, int t, int depth) const {
    const GraphNode& node = graph_.nodes[static_cast<size_t>(user)];
    if (node.op_name() == "nn.pad" && is_claimed_[static_cast<size_t>(user)]) {
      return node.inputs[0] == t && WantsSlabs(node.outputs[0], depth);
    }
    if (!node.inputs.empty() && node.inputs[0] == t) {
      const auto params = Int8ConvParamsOf(node, graph_);
      if (params.has_value()) return CanHaveSlabs(*params);
    }
    if (options_.only_sources || depth == 0) return false;
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
  static constexpr int kMostDepth = 3;

  kernels::blocked::ByteMap ByteMapOf(int t) const {
    const TensorShape& shape = TensorOf(t).shape;
    kernels::blocked::ByteMap map = {shape[0], shape[1], 1};
    for (size_t d = 2; d < shape.size(); ++d) map.plane *= shape[d];
    return map;
  }

  // The new slabs of `t`.
  int NewSlabs(int t) {
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

  // The slabs of `t`, computed from the planar map if there are none.
  absl::StatusOr<int> Slabs(int t) {
    if (const auto found = slabs_of_.find(t); found != slabs_of_.end()) {
      return found->second;
    }
    BATON_RETURN_IF_ERROR(MakePlanar(t));
    const int y = NewSlabs(t);
    steps_.push_back({ToSlabsStep(ByteMapOf(t), t, y), {}});
    return y;
  }

  std::optional<PoolChoice> SlabPoolOf(const GraphNode& node) const {
    if (node.op_name() != "nn.max_pool2d" || node.inputs.empty()) {
      return std::nullopt;
    }
    const DType dtype = TensorOf(node.inputs[0]).dtype;
    return dtype.is_byte() ? PoolOf(node, graph_, dtype) : std::nullopt;
  }

  // True for a concatenation of channels of maps of bytes, of one image.
  bool IsByteConcatenation(const GraphNode& node) const {
    return IsChannelConcatenation(node) &&
           TensorOf(node.outputs[0]).dtype.is_byte() &&
           TensorOf(node.outputs[0]).shape.size() >= 3 &&
           TensorOf(node.outputs[0]).shape[0] == 1 &&
           TensorOf(node.outputs[0]).num_elements() > 0;
  }

  // True if a part of it has slabs, and what reads the result wants them.
  bool IsSlabConcatenation(const GraphNode& node) const {
    return !options_.only_sources && IsByteConcatenation(node) &&
           std::any_of(node.inputs.begin(), node.inputs.end(),
                       [this](int t) { return slabs_of_.contains(t); }) &&
           WantsSlabs(node.outputs[0]);
  }

  absl::Status LowerSlabConcatenation(int number) {
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
    KernelChoice choice;
    if (is_join) {
      choice.is_join = true;
      choice.inputs = std::move(parts);
      choice.outputs = {y};
    } else {
      choice = JoinSlabsStep(std::move(channels), plane, std::move(parts), y);
    }
    return AddPlanarStep(std::move(choice), {number});
  }

  // True if the maximum pool `number` is one of slabs.
  bool LowerSlabPool(int number) {
    const GraphNode& node = graph_.nodes[static_cast<size_t>(number)];
    const std::optional<PoolChoice> pool = SlabPoolOf(node);
    if (!pool.has_value()) return false;
    const auto found = slabs_of_.find(node.inputs[0]);
    if (found == slabs_of_.end()) return false;
    const int x = found->second;
    const bool is_signed = TensorOf(x).dtype == DType::Int(8);
    const int y = NewSlabs(node.outputs[0]);
    steps_.push_back({SlabPoolStep(*pool, is_signed, x, y), {number}});
    return true;
  }

  // Adds maps with slabs if one of them has these.
  absl::Status LowerByteSum(const ByteSum& sum, int result,
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
        ByteSumStep(sum.params, TensorOf(to).num_elements(), x, y, to);
    if (to != result) choice.kernel += ".slabs32";
    return AddPlanarStep(std::move(choice), std::move(nodes));
  }

  absl::StatusOr<int> IntegerConstant(const std::vector<uint32_t>& values) {
    BATON_ASSIGN_OR_RETURN(
        MutableTensor tensor,
        MutableTensor::Create(DType::Int(32),
                              {static_cast<int64_t>(values.size())}));
    std::copy(values.begin(), values.end(), tensor.span<int32_t>().begin());
    return NewConstant(std::move(tensor).Freeze());
  }

  absl::Status LowerInt8Conv(int number) {
    const GraphNode& node = graph_.nodes[static_cast<size_t>(number)];
    kernels::blocked::Int8ConvParams params = *Int8ConvParamsOf(node, graph_);
    std::vector<int> nodes;
    int data = node.inputs[0];
    if (const auto found = padding_of_.find(number);
        found != padding_of_.end()) {
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
        Int8ConvStep(params, data, weight, sums, std::move(scales), result),
        std::move(nodes));
  }

  // The node that computes each tensor of the graph, or kNone.
  std::vector<int> Producers() const {
    std::vector<int> producers(graph_.tensors.size(), kNone);
    for (size_t i = 0; i < graph_.nodes.size(); ++i) {
      for (const int t : graph_.nodes[i].outputs) {
        producers[static_cast<size_t>(t)] = static_cast<int>(i);
      }
    }
    return producers;
  }

  // A product of two computed matrices, and the calls around it that only move
  // elements: the product reads and stores them where they move to.
  struct MovedProduct {
    ProductChoice product;
    int a = -1;
    int b = -1;
    int result = -1;
    std::vector<int> nodes;
  };

  // True if the one result of `node` is all of its first input, reshaped.
  bool IsReshape(int node) const {
    if (!is_view_[static_cast<size_t>(node)]) return false;
    const std::vector<int>& outputs =
        graph_.nodes[static_cast<size_t>(node)].outputs;
    if (outputs.size() != 1) return false;
    const Place& place = views_[static_cast<size_t>(outputs[0])];
    return place.offset == 0 &&
           TensorOf(place.tensor).bytes() == TensorOf(outputs[0]).bytes();
  }

  // The rearrangement that `node` does; null if it does more or another step
  // does it.
  const Rearrangement* MoveOf(int node) const {
    const GraphNode& call = graph_.nodes[static_cast<size_t>(node)];
    if (is_view_[static_cast<size_t>(node)] ||
        is_claimed_[static_cast<size_t>(node)] || call.outputs.size() != 1 ||
        call.region != nullptr) {
      return nullptr;
    }
    const std::vector<Rearrangement>* const moves = MovesOf(node);
    return moves == nullptr ? nullptr : &moves->front();
  }

  // If a call that moves elements computes operand `operand` of a product for
  // nothing else, lets the product read what that call reads.
  void TakeOperandMove(const std::vector<int>& producers, int operand,
                       MovedProduct& moved) {
    int& t = operand == 0 ? moved.a : moved.b;
    std::vector<int> nodes;
    int from = t;
    while (consumers_[static_cast<size_t>(from)].size() == 1) {
      const int node = producers[static_cast<size_t>(from)];
      if (node == kNone) return;
      nodes.push_back(node);
      from = graph_.nodes[static_cast<size_t>(node)].inputs[0];
      if (IsReshape(node)) continue;
      const Rearrangement* const move = MoveOf(node);
      if (move == nullptr || !ReadMoved(*move, operand, moved.product)) return;
      is_claimed_[static_cast<size_t>(node)] = true;
      moved.nodes.insert(moved.nodes.end(), nodes.begin(), nodes.end());
      t = from;
      return;
    }
  }

  // If a call that moves elements is all that reads the result of a product,
  // lets the product store its result as that call does.
  void TakeResultMove(MovedProduct& moved) {
    std::vector<int> nodes;
    int to = moved.result;
    while (true) {
      const std::vector<int>& users = consumers_[static_cast<size_t>(to)];
      if (users.size() != 1 || users[0] == kOutput) return;
      const int node = users[0];
      const GraphNode& call = graph_.nodes[static_cast<size_t>(node)];
      if (call.inputs.empty() || call.inputs[0] != to) return;
      nodes.push_back(node);
      if (IsReshape(node)) {
        to = call.outputs[0];
        continue;
      }
      const Rearrangement* const move = MoveOf(node);
      if (move == nullptr || !StoreMoved(*move, moved.product)) return;
      is_claimed_[static_cast<size_t>(node)] = true;
      moved.nodes.insert(moved.nodes.end(), nodes.begin(), nodes.end());
      moved.result = call.outputs[0];
      return;
    }
  }

  void FindMovedProducts() {
    const std::vector<int> producers = Producers();
    // Loops take longer than packing.
    const int64_t least_rows = options_.only_sources ? 1 : kFewRows;
    for (size_t i = 0; i < graph_.nodes.size(); ++i) {
      const GraphNode& node = graph_.nodes[i];
      if (node.region != nullptr || is_claimed_[i] ||
          MatmulParamsOf(node, graph_).has_value()) {
        continue;
      }
      const auto product = ProductOf(node, graph_, least_rows);
      if (!product.has_value()) continue;
      MovedProduct moved = {.product = *product,
                            .a = node.inputs[0],
                            .b = node.inputs[1],
                            .result = node.outputs[0],
                            .nodes = {static_cast<int>(i)}};
      TakeOperandMove(producers, 0, moved);
      TakeOperandMove(producers, 1, moved);
      TakeResultMove(moved);
      std::sort(moved.nodes.begin(), moved.nodes.end());
      products_.insert_or_assign(static_cast<int>(i), std::move(moved));
    }
  }

  // A product of integers with the calls behind it that make floats of its
  // sums.
  struct ScaledProduct {
    kernels::blocked::IntMatmulParams params;
    int number = -1;  // of the product itself
    std::vector<int> nodes;
    int data = -1;
    int zero = -1;                 // subtracted from the data; -1 for none
    std::vector<uint32_t> offset;  // added to the sums; empty for none
    int scale = -1;
    bool has_scale_of_column = false;
    std::optional<ElementArg> bias;
    int result = -1;
  };

  // Lets a product read bytes from which one number is subtracted, in place of
  // the differences. These are dropped if nothing else reads them.
  void TakeZeroPoint(const std::vector<int>& producers,
                     ScaledProduct& product) {
    const auto producer = [&](int t) {
      return producers[static_cast<size_t>(t)];
    };
    const auto call_of = [&](int number) -> std::optional<ElementCall> {
      if (number == kNone) return std::nullopt;
      return ElementCallOf(graph_.nodes[static_cast<size_t>(number)], graph_);
    };
    const int difference = producer(product.data);
    const std::optional<ElementCall> subtraction = call_of(difference);
    if (!subtraction.has_value() ||
        subtraction->function != kernels::ElementFunction::kSubtractInt ||
        subtraction->then != kernels::ElementFunction::kCopy ||
        TensorOf(subtraction->args[1].tensor).num_elements() != 1) {
      return;
    }
    const int cast = producer(subtraction->args[0].tensor);
    const std::optional<ElementCall> conversion = call_of(cast);
    if (!conversion.has_value() ||
        conversion->function != kernels::ElementFunction::kCopy ||
        conversion->args[0].type != DType::UInt(8) ||
        conversion->args[0].shape != TensorOf(product.data).shape) {
      return;
    }
    // Users of a tensor are in its list once for each use.
    const auto leave = [this](int t, int node) {
      std::vector<int>& users = consumers_[static_cast<size_t>(t)];
      users.erase(std::find(users.begin(), users.end(), node));
      return users.empty();
    };
    const int bytes = conversion->args[0].tensor;
    const int zero = subtraction->args[1].tensor;
    consumers_[static_cast<size_t>(bytes)].push_back(product.number);
    consumers_[static_cast<size_t>(zero)].push_back(product.number);
    if (leave(product.data, product.number)) {
      is_claimed_[static_cast<size_t>(difference)] = true;
      leave(zero, difference);
      if (leave(subtraction->args[0].tensor, difference)) {
        is_claimed_[static_cast<size_t>(cast)] = true;
        leave(bytes, cast);
      }
    }
    product.nodes.insert(product.nodes.begin(), {cast, difference});
    product.data = bytes;
    product.zero = zero;
    product.params.type = kernels::blocked::IntMatmulParams::Type::kUint8;
  }

  // Finds products whose sums are cast to float32 and multiplied by a scale,
  // and the biases behind that. Such a product is lowered in the place of the
  // last of these calls: there its scale is computed.
  void FindScaledProducts() {
    const std::vector<int> producers = Producers();
    for (size_t i = 0; i < graph_.nodes.size(); ++i) {
      const auto params = IntMatmulParamsOf(graph_.nodes[i], graph_);
      // Scales and biases must not have as many elements as the result: other
      // groups compute them.
      if (!params.has_value() || params->m == 1 || params->n == 1) continue;
      ScaledProduct product = {.params = *params};
      product.number = static_cast<int>(i);
      product.nodes = {product.number};
      product.data = graph_.nodes[i].inputs[0];
      const TensorShape shape = TensorOf(graph_.nodes[i].outputs[0]).shape;
      product.result = FindIntegerBias(static_cast<int>(i), shape.size() - 1,
                                       product.offset, product.nodes);
      // The call of `function` that alone reads the result, and gives floats.
      const auto next =
          [&](kernels::ElementFunction function) -> std::optional<ElementCall> {
        const std::vector<int>& users =
            consumers_[static_cast<size_t>(product.result)];
        if (users.size() != 1 || users[0] == kOutput ||
            is_claimed_[static_cast<size_t>(users[0])]) {
          return std::nullopt;
        }
        const GraphNode& node = graph_.nodes[static_cast<size_t>(users[0])];
        std::optional<ElementCall> call = ElementCallOf(node, graph_);
        const GraphTensor& result = TensorOf(node.outputs[0]);
        if (!call.has_value() || call->function != function ||
            result.dtype != DType::Float(32) || result.shape != shape) {
          return std::nullopt;
        }
        return call;
      };
      const auto other_operand = [&](const ElementCall& call) {
        return call.args[call.args[0].tensor == product.result ? 1 : 0];
      };
      const auto take = [&] {
        const int node = consumers_[static_cast<size_t>(product.result)][0];
        product.nodes.push_back(node);
        product.result = graph_.nodes[static_cast<size_t>(node)].outputs[0];
      };
      if (!next(kernels::ElementFunction::kCopy).has_value()) continue;
      take();
      const auto scaled = next(kernels::ElementFunction::kMultiply);
      if (!scaled.has_value()) continue;
      const ElementArg scale = other_operand(*scaled);
      product.scale = scale.tensor;
      product.has_scale_of_column =
          TensorOf(scale.tensor).num_elements() == params->n;
      if (scale.tensor == product.result ||
          (TensorOf(scale.tensor).num_elements() != 1 &&
           !(product.has_scale_of_column && !scale.shape.empty() &&
             scale.shape.back() == params->n))) {
        continue;
      }
      take();
      if (const auto sum = next(kernels::ElementFunction::kAdd);
          sum.has_value()) {
        const ElementArg bias = other_operand(*sum);
        if (bias.tensor != product.result &&
            IsChannelConstant(bias, shape, shape.size() - 1)) {
          product.bias = bias;
          take();
        }
      }
      for (const int node : product.nodes) {
        is_claimed_[static_cast<size_t>(node)] = true;
      }
      const int last = product.nodes.back();
      if (params->type == kernels::blocked::IntMatmulParams::Type::kInt32) {
        TakeZeroPoint(producers, product);
      }
      scaled_products_.insert_or_assign(last, std::move(product));
    }
  }

  absl::Status LowerIntMatmul(const ScaledProduct& product) {
    const kernels::blocked::IntMatmulParams& params = product.params;
    const GraphNode& node = graph_.nodes[static_cast<size_t>(product.number)];
    const bool transposed = HasTransposedWeight(node);
    PackedWeight& packed = packed_[{node.inputs[1], kIntegers, transposed}];
    if (packed.tensor >= 0) {
      TakeWeight(node.inputs[1]);
    } else {
      BATON_ASSIGN_OR_RETURN(
          PackedConstants::Entry entry,
          Packed(node.inputs[1], kIntegers, transposed,
                 {DType::Int(8), kernels::blocked::PackedIntMatmulSize(params)},
                 [&](Tensor weight) -> absl::StatusOr<PackedConstants::Entry> {
                   BATON_ASSIGN_OR_RETURN(
                       Tensor tensor,
                       PackIntWeight(weight, transposed, params));
                   return PackedConstants::Entry{std::move(tensor)};
                 }));
      packed.tensor = NewConstant(std::move(entry.tensor));
    }
    const int weight = packed.tensor;
    IntMatmulOperands operands;
    if (!product.offset.empty()) {
      BATON_ASSIGN_OR_RETURN(operands.offset, IntegerConstant(product.offset));
    }
    operands.zero = product.zero;
    operands.scale = product.scale;
    operands.has_scale_of_column = product.has_scale_of_column;
    if (product.bias.has_value()) {
      BATON_ASSIGN_OR_RETURN(operands.bias,
                             ChannelConstant(*product.bias, params.n));
    }
    return AddPlanarStep(IntMatmulStep(params, product.data, weight, operands,
                                       product.result, options_.use_amx),
                         product.nodes);
  }

  // The constant `t`, for a step that has it packed. The last such step gets
  // the only reference that the lowering has.
  Tensor TakeWeight(int t) {
    const size_t i = static_cast<size_t>(t);
    Tensor weight = *tensors_[i].constant;
    if (--num_unpacked_[i] == 0) {
      // No step is going to read it.
      tensors_[i].constant = Tensor();
      graph_.tensors[i].constant = Tensor();
    }
    return weight;
  }

  bool IsMapped(const Tensor& tensor) const {
    const char* const data = tensor.bytes().data();
    const absl::string_view file = options_.mapped_file;
    return std::less_equal<>()(file.data(), data) &&
           std::less<>()(data, file.data() + file.size());
  }

  // The type and the number of the elements of a packed weight that kernels
  // read.
  struct PackedSize {
    DType dtype;
    int64_t elements;
  };

  // The weight `t` as `pack` makes it, or as another lowering or the file of
  // this executable has it.
  absl::StatusOr<PackedConstants::Entry> Packed(
      int t, int64_t groups, bool alternate, const PackedSize& size,
      absl::FunctionRef<absl::StatusOr<PackedConstants::Entry>(Tensor)> pack) {
    Tensor weight = TakeWeight(t);
    // Keeps the memory mapped until its pages are released. PackBlocks()
    // releases pieces of a large weight as it packs them, so that memory never
    // has all of both forms; here, pages are released that other packing, and
    // weights that are not packed again, have read.
    const std::optional<Tensor> mapped =
        IsMapped(weight) ? std::optional<Tensor>(weight) : std::nullopt;
    const auto make = [&]() -> absl::StatusOr<PackedConstants::Entry> {
      SharedWeights* const shared = options_.shared;
      if (shared == nullptr) return pack(std::move(weight));
      if (const PackedConstants::Entry* known =
              shared->Find(weight, groups, alternate)) {
        return *known;
      }
      // The weight is kept, so it is not packed in place.
      BATON_ASSIGN_OR_RETURN(PackedConstants::Entry entry, pack(weight));
      shared->Add(weight, groups, alternate, entry);
      return entry;
    };
    BATON_ASSIGN_OR_RETURN(
        PackedConstants::Entry entry,
        options_.packed == nullptr ? make() : options_.packed->Next(make));
    if (mapped.has_value()) {
      const absl::string_view bytes = mapped->bytes();
      AdviseWholePages(bytes.data(), bytes.size(), MADV_DONTNEED);
    }
    if (entry.tensor.dtype() != size.dtype ||
        entry.tensor.num_elements() != size.elements) {
      return absl::InternalError("a packed constant has another size");
    }
    return entry;
  }

  absl::Status LowerMatmul(int number, kernels::blocked::MatmulParams params) {
    const GraphNode& node = graph_.nodes[static_cast<size_t>(number)];
    std::vector<int> nodes = {number};
    EpilogueOperands epilogue;
    params.least_bands = plan_.max_threads;
    const size_t axis = TensorOf(node.outputs[0]).shape.size() - 1;
    BATON_ASSIGN_OR_RETURN(const int result,
                           TakeEpilogue(number, axis, false, epilogue, nodes));
    PackedWeight& packed =
        packed_[{node.inputs[1], -1, HasTransposedWeight(node)}];
    if (packed.tensor >= 0) {
      TakeWeight(node.inputs[1]);
    } else {
      BATON_ASSIGN_OR_RETURN(
          PackedConstants::Entry entry,
          Packed(
              node.inputs[1], -1, HasTransposedWeight(node),
              {DType::Float(32), kernels::blocked::PackedMatmulSize(params)},
              [&](Tensor unpacked) -> absl::StatusOr<PackedConstants::Entry> {
                const bool is_mapped = IsMapped(unpacked);
                BATON_ASSIGN_OR_RETURN(
                    Tensor tensor,
                    PackWeight(std::move(unpacked), is_mapped,
                               HasTransposedWeight(node), params));
                return PackedConstants::Entry{std::move(tensor)};
              }));
      packed.tensor = NewConstant(std::move(entry.tensor));
    }
    const int weight = packed.tensor;
    KernelChoice choice = MatmulStep(blocked_kernels_, params, node.inputs[0],
                                     weight, epilogue, result);
    choice.overwrites = epilogue.residual;
    return AddPlanarStep(std::move(choice), std::move(nodes));
  }

  // --- Elementwise groups --------------------------------------------------

  // Joins an elementwise node with the one group that uses its result. A group
  // has the number of its last node.
  void FindGroups() {
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
          static_cast<size_t>(std::count_if(
              groups_[group].begin(), groups_[group].end(), is_counted)) >=
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

  // The group whose last node is `last`, without what epilogues compute.
  absl::StatusOr<bool> LowerGroup(int last) {
    std::vector<int> nodes;
    std::vector<ElementArg> operands;
    std::vector<GroupCall> calls;
    // The values of tensors: operands, and calls as -1, -2, ..., since those
    // are numbered after all operands, whose number is not known yet.
    FlatHashMap<int, int> value_of;
    const auto operand = [&](ElementArg arg, bool is_converted) {
      arg.is_converted = is_converted;
      size_t k = 0;
      while (k < operands.size() &&
             (operands[k].tensor != arg.tensor ||
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
            for (const ElementFunction function :
                 CastFunctions(arg.type, type)) {
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
        steps_.push_back({*std::move(apply), std::move(nodes)});
        return true;
      }
      for (ElementArg& operand : operands) {
        if (TensorOf(operand.tensor).num_elements() == 1) continue;
        BATON_ASSIGN_OR_RETURN(operand, BlockedArg(operand, shape));
      }
      shape = BlockedShape(MapShape(result));
      const int y = NewBlocked(result);
      std::optional<KernelChoice> choice =
          ElementStep(operands, calls, shape, y);
      if (!choice.has_value()) {
        return absl::InternalError("an elementwise step has no blocked form");
      }
      choice->kernel += ".blocked16";
      steps_.push_back({*std::move(choice), std::move(nodes)});
      return true;
    }
    if (!options_.only_sources) {
      const std::optional<ByteSum> sum =
          ByteSumOf(operands, calls, shape, type, graph_);
      if (sum.has_value()) {
        BATON_RETURN_IF_ERROR(LowerByteSum(*sum, result, std::move(nodes)));
        return true;
      }
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

  // True if `arg` has a blocked form that broadcasts: a map of the shape of the
  // result, or elements for each channel or for each position.
  bool HasBlockedForm(const ElementArg& arg, const TensorShape& shape) const {
    if (arg.shape == shape) return IsMap(arg.tensor);
    return IsForChannels(arg, shape) || IsForPositions(arg, shape.size());
  }

  // True if all channels have the same elements of `arg`.
  static bool IsForPositions(const ElementArg& arg, size_t rank) {
    const TensorShape& s = arg.shape;
    return s.size() + 2 <= rank ||
           (s.size() + 1 >= rank && s[s.size() + 1 - rank] == 1);
  }

  // True if `arg` has an element for each channel of a result, or of an image
  // and channel.
  static bool IsForChannels(const ElementArg& arg, const TensorShape& shape) {
    const size_t rank = shape.size();
    const TensorShape& s = arg.shape;
    if (s.size() + 1 != rank && s.size() != rank) return false;
    const size_t channel = s.size() + 1 - rank;
    return s[channel] == shape[1] &&
           std::all_of(s.begin() + static_cast<int64_t>(channel) + 1, s.end(),
                       [](int64_t extent) { return extent == 1; }) &&
           (channel == 0 || s[0] == 1 || s[0] == shape[0]);
  }

  // True if a group is computed on blocked maps: an operand has this form
  // alone, and the others can have it.
  bool WantsBlocked(const std::vector<ElementArg>& operands,
                    const TensorShape& shape) const {
    if (shape.size() != 3 && shape.size() != 4) return false;
    bool any = false;
    for (const ElementArg& operand : operands) {
      if (TensorOf(operand.tensor).num_elements() == 1) continue;
      if (operand.type != DType::Float(32) || !HasBlockedForm(operand, shape)) {
        return false;
      }
      any = any || (operand.shape == shape && IsBlockedAlone(operand.tensor));
    }
    return any;
  }

  // The group as an epilogue of one of its maps, if that computes it.
  absl::StatusOr<std::optional<KernelChoice>> LowerToApply(
      const std::vector<ElementArg>& operands,
      const std::vector<GroupCall>& calls, const TensorShape& shape,
      int result) {
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
      } else if (call.function == ElementFunction::kMultiply &&
                 !is_map(other)) {
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
      if (tensor.num_elements() == 1 ? !tensor.constant.has_value()
                                     : tensor.num_elements() != shape[1] ||
                                           !IsForChannels(arg, shape)) {
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
            MutableTensor::Create(DType::Float(32),
                                  {(shape[1] + 15) / 16 * 16}));
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

  // The blocked form of an operand of a result of the given shape.
  absl::StatusOr<ElementArg> BlockedArg(const ElementArg& arg,
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

  // Makes one step of steps that compute the same rows.
  void JoinSteps() {
    FlatHashMap<int, int64_t> last_readers;  // of roots
    const auto read = [&](int t, int64_t reader) {
      last_readers.insert_or_assign(RootOf(t).tensor, reader);
    };
    for (size_t i = 0; i < steps_.size(); ++i) {
      for (const int t : steps_[i].kernel.inputs) {
        read(t, static_cast<int64_t>(i));
      }
    }
    for (const int t : graph_.outputs) {
      read(t, std::numeric_limits<int64_t>::max());
    }
    const auto root = [this](int t) { return RootOf(t).tensor; };
    const auto is_whole = [this](int t) {
      const Place place = RootOf(t);
      return place.offset == 0 &&
             TensorOf(t).bytes() == TensorOf(place.tensor).bytes();
    };
    const auto bytes = [this](int t) { return TensorOf(t).bytes(); };
    const auto last_reader = [&](int t) {
      const auto found = last_readers.find(t);
      return found == last_readers.end() ? int64_t{-1} : found->second;
    };
    const RowTensors tensors = {root, is_whole, bytes, last_reader};
    std::vector<LoweredStep> steps;
    steps.swap(steps_);
    std::vector<const KernelChoice*> choices;
    choices.reserve(steps.size());
    for (const LoweredStep& step : steps) choices.push_back(&step.kernel);
    for (size_t i = 0; i < steps.size();) {
      std::optional<JoinedRows> joined =
          JoinRows(absl::MakeConstSpan(choices).subspan(i),
                   static_cast<int64_t>(i), plan_.max_threads, tensors);
      if (!joined.has_value()) {
        steps_.push_back(std::move(steps[i++]));
        continue;
      }
      LoweredStep step = {std::move(joined->choice), {}};
      for (const size_t end = i + joined->count; i < end; ++i) {
        step.nodes.insert(step.nodes.end(), steps[i].nodes.begin(),
                          steps[i].nodes.end());
      }
      steps_.push_back(std::move(step));
    }
  }

  void AddCopy(int from, int to, std::vector<int> nodes, std::string reason) {
    const int64_t bytes = TensorOf(from).bytes();
    LoweredStep step;
    step.kernel.function = Copy;
    step.kernel.params = std::make_shared<int64_t>(bytes);
    step.kernel.kernel = "copy";
    step.kernel.reason = std::move(reason);
    step.kernel.inputs = {from};
    step.kernel.outputs = {to};
    step.kernel.items =
        std::max<int64_t>(1, (bytes + kCopyBytes - 1) / kCopyBytes);
    step.kernel.cost_ns = static_cast<double>(bytes) / 8;
    step.nodes = std::move(nodes);
    steps_.push_back(std::move(step));
  }

  // Results go into the memory of the outputs where that is possible. Others
  // are copied at the end: a constant, an input, a part of a tensor, and the
  // second of two outputs that are the same tensor.
  void PlaceOutputs() {
    for (size_t k = 0; k < graph_.outputs.size(); ++k) {
      const int t = graph_.outputs[k];
      const Place root = RootOf(t);
      plan_.output_bytes.push_back(TensorOf(t).bytes());
      int& output = output_of_[static_cast<size_t>(root.tensor)];
      if (IsComputed(root.tensor) && root.offset == 0 && output < 0 &&
          TensorOf(root.tensor).bytes() == TensorOf(t).bytes()) {
        output = static_cast<int>(k);
        continue;
      }
      // A tensor of its own, which the graph does not have.
      copied_outputs_.emplace_back(t, static_cast<int>(k));
    }
    for (const int t : graph_.inputs) {
      plan_.input_bytes.push_back(TensorOf(t).bytes());
    }
  }

  // Operands of a concatenation along the first axis are computed in their
  // places in the result.
  void PlaceParts() {
    if (!options_.use_kernels) return;
    std::vector<LoweredStep> steps;
    steps.swap(steps_);
    for (LoweredStep& step : steps) {
      if (!step.kernel.is_join) {
        steps_.push_back(std::move(step));
        continue;
      }
      const int result = step.kernel.outputs[0];
      int64_t offset = 0;
      for (const int t : step.kernel.inputs) {
        const Place root = RootOf(t);
        const int64_t bytes = TensorOf(t).bytes();
        Place& inside = inside_[static_cast<size_t>(root.tensor)];
        if (bytes > 0) {
          if (IsComputed(root.tensor) && root.offset == 0 &&
              TensorOf(root.tensor).bytes() == bytes && inside.tensor < 0 &&
              output_of_[static_cast<size_t>(root.tensor)] < 0) {
            inside = {result, offset};
          } else {
            AddCopy(t, result, step.nodes,
                    "a part of a concatenation that is "
                    "also elsewhere");
            steps_.back().kernel.outputs.clear();
            part_of_[steps_.size() - 1] = {result, offset};
          }
        }
        offset += bytes;
      }
    }
  }

  // The value of the plan that is the memory of tensor `storage`.
  int32_t ValueOf(int storage) {
    const auto [found, is_new] =
        value_of_.emplace(storage, static_cast<int32_t>(plan_.values.size()));
    if (!is_new) return found->second;
    const GraphTensor& tensor = TensorOf(storage);
    executor::Value value;
    value.bytes = tensor.bytes();
    if (tensor.constant.has_value()) {
      value.space = Space::kConstant;
      value.index = static_cast<int32_t>(plan_.constants.size());
      plan_.constants.push_back({needs_aligned_[static_cast<size_t>(storage)]
                                     ? tensor.constant->data()
                                     : tensor.constant->bytes().data(),
                                 value.bytes});
      plan_.owners.push_back(std::make_shared<Tensor>(*tensor.constant));
    } else if (tensor.input >= 0) {
      value.space = Space::kInput;
      value.index = tensor.input;
    } else if (output_of_[static_cast<size_t>(storage)] >= 0) {
      value.space = Space::kOutput;
      value.index = output_of_[static_cast<size_t>(storage)];
    }
    plan_.values.push_back(value);
    return found->second;
  }

  executor::Operand OperandOf(int t) {
    const Place place = StorageOf(t);
    return {ValueOf(place.tensor), place.offset, TensorOf(t).bytes()};
  }

  void MakeSteps() {
    for (size_t t = 0; t < graph_.tensors.size(); ++t) {
      // Other maps have another shape than their tensors.
      if (blocked_of_[t] >= 0 &&
          MapShape(static_cast<int>(t)) == graph_.tensors[t].shape) {
        planar_of_.insert_or_assign(blocked_of_[t], static_cast<int>(t));
      }
    }
    needs_aligned_.assign(tensors_.size(), false);
    for (const LoweredStep& lowered : steps_) {
      const KernelChoice& kernel = lowered.kernel;
      for (size_t k = kernel.moves_bytes ? 1 : 0; k < kernel.inputs.size();
           ++k) {
        needs_aligned_[static_cast<size_t>(
            StorageOf(kernel.inputs[k]).tensor)] = true;
      }
    }
    for (size_t i = 0; i < steps_.size(); ++i) {
      const LoweredStep& lowered = steps_[i];
      const KernelChoice& kernel = lowered.kernel;
      BeginStep(kernel, lowered.nodes);
      for (const int t : kernel.inputs) {
        AddInput(OperandOf(t));
        plan_.notes.back().tensors.push_back(NotedOf(t));
      }
      for (const int t : kernel.outputs) {
        AddOutput(OperandOf(t));
        plan_.notes.back().tensors.push_back(NotedOf(t));
      }
      if (const auto part = part_of_.find(i); part != part_of_.end()) {
        const Place place = StorageOf(part->second.tensor);
        AddOutput({ValueOf(place.tensor), place.offset + part->second.offset,
                   TensorOf(kernel.inputs[0]).bytes()});
      }
      if (kernel.workspace_bytes > 0) {
        executor::Step& step = plan_.steps.back();
        step.workspace_bytes = executor::AlignUp(kernel.workspace_bytes);
        step.workspace = static_cast<int32_t>(plan_.values.size());
        executor::Value value;
        value.bytes = step.workspace_bytes * plan_.max_threads;
        plan_.values.push_back(value);
      }
    }
    for (const auto& [t, output] : copied_outputs_) {
      const int64_t bytes = TensorOf(t).bytes();
      LoweredStep copy;
      AddCopy(t, -1, {}, "an output that has no memory of its own");
      copy = std::move(steps_.back());
      steps_.pop_back();
      BeginStep(copy.kernel, {});
      AddInput(OperandOf(t));
      executor::Value value;
      value.space = Space::kOutput;
      value.index = output;
      value.bytes = bytes;
      plan_.values.push_back(value);
      AddOutput({static_cast<int32_t>(plan_.values.size() - 1), 0, bytes});
    }
  }

  // The tensor of the graph that tensor `t` is or has the elements of.
  executor::NotedTensor NotedOf(int t) const {
    if (static_cast<size_t>(t) < graph_.tensors.size()) return {t, false};
    const auto found = planar_of_.find(t);
    if (found == planar_of_.end()) return {};
    return {found->second, true};
  }

  void BeginStep(const KernelChoice& kernel, const std::vector<int>& nodes) {
    executor::Step step;
    step.function = kernel.function;
    step.params = kernel.params.get();
    if (kernel.params != nullptr) plan_.owners.push_back(kernel.params);
    step.first_operand = static_cast<int32_t>(plan_.operands.size());
    step.items = kernel.items;
    step.cost_ns = kernel.cost_ns;
    if (kernel.in_place) step.overwritable = executor::Step::kAnyInput;
    for (size_t k = 0; k < kernel.inputs.size(); ++k) {
      if (kernel.overwrites >= 0 && kernel.inputs[k] == kernel.overwrites) {
        step.overwritable = static_cast<int32_t>(k);
      }
    }
    plan_.steps.push_back(step);
    executor::StepNote note;
    note.kernel = kernel.kernel;
    note.reason = kernel.reason;
    note.flops = kernel.flops;
    note.is_fallback = kernel.is_fallback;
    for (const int node : nodes) {
      note.sources.push_back(node);
      note.names.push_back(graph_.nodes[static_cast<size_t>(node)].op_name());
    }
    plan_.notes.push_back(std::move(note));
  }
  void AddInput(const executor::Operand& operand) {
    plan_.operands.push_back(operand);
    ++plan_.steps.back().num_inputs;
    plan_.notes.back().bytes += static_cast<double>(operand.bytes);
  }
  void AddOutput(const executor::Operand& operand) {
    plan_.operands.push_back(operand);
    ++plan_.steps.back().num_outputs;
    plan_.notes.back().bytes += static_cast<double>(operand.bytes);
  }

  // Lets results have the memory of inputs that nothing uses afterwards.
  void ReuseInputs() {
    struct Uses {
      int32_t first = -1;
      int32_t last = -1;
      int32_t in_last = 0;  // operands of the last step
    };
    std::vector<Uses> uses(plan_.values.size());
    for (size_t i = 0; i < plan_.steps.size(); ++i) {
      const executor::Step& step = plan_.steps[i];
      for (int32_t k = 0; k < step.num_inputs + step.num_outputs; ++k) {
        Uses& use = uses[static_cast<size_t>(
            plan_.operands[static_cast<size_t>(step.first_operand + k)].value)];
        const int32_t number = static_cast<int32_t>(i);
        if (use.first < 0) use.first = number;
        use.in_last = use.last == number ? use.in_last + 1 : 1;
        use.last = number;
      }
    }
    for (size_t i = 0; i < plan_.steps.size(); ++i) {
      const executor::Step& step = plan_.steps[i];
      if (step.overwritable == executor::Step::kNoInput ||
          step.num_outputs != 1) {
        continue;
      }
      const executor::Operand* operands =
          plan_.operands.data() + step.first_operand;
      const executor::Operand& output = operands[step.num_inputs];
      executor::Value& result = plan_.values[static_cast<size_t>(output.value)];
      if (result.space != Space::kArena || result.bytes != output.bytes ||
          uses[static_cast<size_t>(output.value)].first !=
              static_cast<int32_t>(i)) {
        continue;
      }
      for (int32_t k = 0; k < step.num_inputs; ++k) {
        if (step.overwritable != executor::Step::kAnyInput &&
            step.overwritable != k) {
          continue;
        }
        const executor::Value& value =
            plan_.values[static_cast<size_t>(operands[k].value)];
        const Uses& use = uses[static_cast<size_t>(operands[k].value)];
        if (value.space != Space::kArena || value.bytes != result.bytes ||
            operands[k].bytes != value.bytes ||
            use.last != static_cast<int32_t>(i) || use.in_last != 1) {
          continue;
        }
        result.overwrites = operands[k].value;
        break;
      }
    }
  }

  Graph graph_;
  const LowerOptions options_;
  const kernels::blocked::Kernels& blocked_kernels_;
  executor::Plan plan_;
  // The tensors of the graph come first, then packed weights and blocked forms.
  std::vector<GraphTensor> tensors_;
  FlatHashMap<int, std::vector<Rearrangement>> moves_;  // of nodes
  std::vector<bool> is_view_;                           // of nodes
  std::vector<Place> views_;     // of tensors: those of which they are views
  std::vector<Place> inside_;    // of tensors: the results that contain them
  std::vector<int> output_of_;   // of tensors: the output that they are
  std::vector<int> blocked_of_;  // of tensors: their blocked forms
  std::vector<bool> is_planar_;  // of tensors: a step so far computes them
  // Tensors of which a step reads elements, which must be aligned.
  std::vector<bool> needs_aligned_;
  struct PackedWeight {
    int tensor = -1;
    bool is_finite = false;
  };
  // By the tensor, the groups of a convolution (-1 for a product, kWindows or
  // kIntegers),
  // and whether the input is planar (or the weight transposed).
  std::map<std::tuple<int, int64_t, bool>, PackedWeight> packed_;
  // Tensors that are no maps, and of which views are maps.
  FlatHashMap<int, TensorShape> map_shapes_;
  std::vector<std::vector<int>> consumers_;  // of tensors
  // The consumers of each tensor that have no packed form of it.
  std::vector<size_t> num_unpacked_;
  // Has the weights of all regions, also those that no other region has. Those
  // stay in `graph_` as long, so none of them could be packed in place, or
  // freed before the lowering ends.
  SharedWeights weights_of_regions_;
  std::vector<bool> is_claimed_;  // of nodes: another step computes them
  // Convolutions of bytes, and the calls of nn.pad that they compute.
  FlatHashMap<int, int> padding_of_;
  FlatHashMap<int, ScaledProduct> scaled_products_;  // by their last nodes
  FlatHashMap<int, MovedProduct> products_;          // by their nodes
  // Tensors of bytes that have slabs, and those slabs.
  FlatHashMap<int, int> slabs_of_;
  std::vector<int> group_of_;  // of nodes
  std::map<int, std::vector<int>> groups_;
  std::vector<LoweredStep> steps_;
  FlatHashMap<size_t, Place> part_of_;  // of steps: what they write
  std::vector<std::pair<int, int>> copied_outputs_;
  FlatHashMap<int, int32_t> value_of_;
  FlatHashMap<int, int> planar_of_;  // the tensors of blocked ones
};

}  // namespace

absl::StatusOr<executor::Plan> LowerGraph(Graph graph,
                                          const LowerOptions& options) {
  return Lowering(std::move(graph), options).Run();
}

std::optional<StepSource> SourceOf(const executor::Step& step, int threads) {
  if (step.function == Copy) {
    const int64_t bytes = *static_cast<const int64_t*>(step.params);
    StepSource source;
    source.items = step.items;
    source.statements = absl::StrCat(
        "  const int64_t first = begin * ", kCopyBytes,
        ";\n  int64_t last = end * ", kCopyBytes, ";\n  if (last > ", bytes,
        ") last = ", bytes,
        ";\n  __builtin_memcpy(reinterpret_cast<char*>(@1@) + first,\n"
        "                   reinterpret_cast<const char*>(@0@) + first,\n"
        "                   static_cast<size_t>(last - first));\n");
    return source;
  }
  if (auto source = BlockedStepSource(step, threads)) return source;
  if (auto source = Int8StepSource(step, threads)) return source;
  std::optional<StepSource> source = RearrangeStepSource(step);
  if (!source.has_value()) source = ElementStepSource(step);
  if (source.has_value()) source->workspace_bytes = step.workspace_bytes;
  return source;
}

}  // namespace baton::cpu
