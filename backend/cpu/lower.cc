#include "baton/backend/cpu/lower.h"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "baton/backend/cpu/blocked_steps.h"
#include "baton/backend/cpu/element_group.h"
#include "baton/backend/cpu/fallback_step.h"
#include "baton/backend/cpu/graph.h"
#include "baton/backend/cpu/half_tensors.h"
#include "baton/backend/cpu/int8_steps.h"
#include "baton/backend/cpu/kernel_choice.h"
#include "baton/backend/cpu/kernel_costs.h"
#include "baton/backend/cpu/lowering.h"
#include "baton/backend/cpu/rearrange_step.h"
#include "baton/backend/cpu/rearrangement.h"
#include "baton/backend/cpu/region_step.h"
#include "baton/backend/cpu/step_source.h"
#include "baton/backend/cpu/take_step.h"
#include "baton/backend/cpu/views.h"
#include "baton/base/status_macros.h"
#include "baton/base/tensor.h"
#include "baton/runtime/executor/arena_planner.h"
#include "baton/runtime/executor/plan.h"
#include "baton/runtime/kernels/blocked/blocked_conv.h"
#include "baton/runtime/kernels/blocked/int8_isa.h"
#include "baton/runtime/kernels/blocked/kernels.h"

namespace baton::cpu::internal {
namespace {

// The instructions of kernels of bytes: the best, or the best whose vectors are
// not wider than `width`.
kernels::blocked::Int8Isa Int8IsaOf(
    std::optional<kernels::blocked::Width> width) {
  using kernels::blocked::Int8Isa;
  using kernels::blocked::Width;
  switch (width.value_or(Width::k512)) {
    case Width::kPlain128:
    case Width::k128:
      return Int8Isa::kPlain;
    case Width::k256:
    case Width::kHalves512:
      return kernels::blocked::IsSupported(Int8Isa::kAvx2) ? Int8Isa::kAvx2
                                                           : Int8Isa::kPlain;
    case Width::k512:
      break;
  }
  return kernels::blocked::BestInt8Isa();
}

// The vectors for which times are predicted: a library has kernels for several
// processors, and is the same wherever it is made.
kernels::blocked::Width CostsWidthOf(const LowerOptions& options) {
  if (options.costs_width.has_value()) return *options.costs_width;
  if (options.only_sources) return kernels::blocked::Width::k256;
  return options.width.value_or(kernels::blocked::BestWidth());
}

}  // namespace

Lowering::Lowering(Graph graph, const LowerOptions& options)
    : graph_(std::move(graph)),
      options_(options),
      costs_(options.costs != nullptr ? *options.costs
                                      : KernelCosts::BuiltIn()),
      costs_width_(CostsWidthOf(options)),
      blocked_kernels_(*kernels::blocked::KernelsOf(
          options.width.value_or(kernels::blocked::BestWidth()))),
      isa_(Int8IsaOf(options.width)),
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
  plan_.costs = costs_.machine();
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

absl::StatusOr<executor::Plan> Lowering::Run() {
  // Processes have less memory than that; costs are computed from sizes.
  constexpr int64_t kMostBytes = int64_t{1} << 48;
  for (const GraphTensor& tensor : tensors_) {
    if (tensor.bytes() <= kMostBytes) continue;
    return absl::ResourceExhaustedError(absl::StrCat(
        tensor.dtype.ToString(), "[", absl::StrJoin(tensor.shape, ", "),
        "] has ", tensor.bytes(), " bytes: no memory is as large"));
  }
  FindViews();
  BATON_RETURN_IF_ERROR(ChooseKernels());
  if (options_.use_kernels && !options_.only_sources) JoinSteps();
  PlaceOutputs();
  PlaceParts();
  MakeSteps();
  // Places in the arena are sums of sizes.
  int64_t room = int64_t{1} << 62;
  for (const executor::Value& value : plan_.values) {
    if (value.space != executor::Space::kArena) continue;
    if (value.bytes > room - executor::kAlignment) {
      return absl::ResourceExhaustedError(
          "the values of the model have more than 2^62 bytes");
    }
    room -= executor::AlignUp(value.bytes);
  }
  ReuseInputs();
  executor::PlaceValues(plan_);
  return std::move(plan_);
}

void Lowering::AddStep(KernelChoice choice, std::vector<int> nodes) {
  choice.cost_ns = PredictNs(choice.work);
  steps_.push_back({std::move(choice), std::move(nodes)});
}

int Lowering::NewTensor(GraphTensor tensor) {
  const bool is_constant = tensor.constant.has_value();
  tensors_.push_back(std::move(tensor));
  views_.emplace_back();
  inside_.emplace_back();
  output_of_.push_back(-1);
  blocked_of_.push_back(-1);
  is_planar_.push_back(is_constant);
  return static_cast<int>(tensors_.size()) - 1;
}

Place Lowering::RootOf(int t) const {
  Place place = {t, 0};
  while (views_[static_cast<size_t>(place.tensor)].tensor >= 0) {
    const Place& next = views_[static_cast<size_t>(place.tensor)];
    place = {next.tensor, place.offset + next.offset};
  }
  return place;
}

Place Lowering::StorageOf(int t) const {
  Place place = RootOf(t);
  while (inside_[static_cast<size_t>(place.tensor)].tensor >= 0) {
    const Place& next = inside_[static_cast<size_t>(place.tensor)];
    place = {next.tensor, place.offset + next.offset};
  }
  return place;
}

void Lowering::FindViews() {
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

absl::Status Lowering::ChooseKernels() {
  if (options_.use_kernels && !options_.only_sources) FindScaledProducts();
  if (options_.use_kernels) FindGroups();
  if (options_.use_kernels) FindPaddings();
  if (options_.use_kernels) FindMovedProducts();
  if (options_.use_kernels) ChooseLayouts();
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

absl::Status Lowering::Lower(int number) {
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

absl::Status Lowering::AddPlanarStep(KernelChoice choice,
                                     std::vector<int> nodes) {
  for (const int t : choice.inputs) BATON_RETURN_IF_ERROR(MakePlanar(t));
  for (const int t : choice.outputs) {
    is_planar_[static_cast<size_t>(t)] = true;
  }
  AddStep(std::move(choice), std::move(nodes));
  return absl::OkStatus();
}

absl::StatusOr<KernelChoice> Lowering::LowerRegion(const GraphNode& node) {
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

absl::StatusOr<bool> Lowering::LowerToKernel(int number) {
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
  if (const auto params = IntMatmulParamsOf(node, graph_); params.has_value()) {
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
    KernelChoice choice = ProductStep(blocked_kernels_, moved.product, moved.a,
                                      moved.b, moved.result);
    if (moved.nodes.size() > 1) {
      choice.reason +=
          "; it reads and stores elements where calls around it "
          "move them";
    }
    BATON_RETURN_IF_ERROR(AddPlanarStep(std::move(choice), moved.nodes));
    return true;
  }
  if (LowerSlabPool(number)) return true;
  if (IsSlabConcatenation(node)) {
    BATON_RETURN_IF_ERROR(LowerSlabConcatenation(number));
    return true;
  }
  if (auto pool = PoolOf(node, graph_); pool.has_value()) {
    BATON_ASSIGN_OR_RETURN(const int x, Blocked(node.inputs[0]));
    const int y = NewBlocked(node.outputs[0]);
    AddStep(PoolStep(blocked_kernels_, *pool, x, y), {number});
    return true;
  }
  if (auto params = LrnParamsOf(node, graph_); params.has_value()) {
    BATON_ASSIGN_OR_RETURN(const int x, Blocked(node.inputs[0]));
    const int y = NewBlocked(node.outputs[0]);
    AddStep(LrnStep(blocked_kernels_, *params, x, y), {number});
    return true;
  }
  if (IsBlockedConcatenation(node)) {
    BATON_RETURN_IF_ERROR(LowerBlockedConcatenation(number));
    return true;
  }
  BATON_ASSIGN_OR_RETURN(const bool is_move, LowerChannelMove(number));
  if (is_move) return true;
  if (IsJoin(node, graph_)) {
    BATON_RETURN_IF_ERROR(
        AddPlanarStep(Joined(node.inputs, node.outputs[0]), {number}));
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

absl::Status Lowering::LowerTake(int number, TakeChoice take) {
  const GraphNode& node = graph_.nodes[static_cast<size_t>(number)];
  const int data = node.inputs[0];
  const int64_t rank = static_cast<int64_t>(TensorOf(data).shape.size());
  // Rows or columns of a blocked map, as where images are resized.
  if (take.places.has_value() && take.axis >= 2 && IsBlockedAlone(data) &&
      IsMap(data) && IsMap(node.outputs[0]) &&
      TensorOf(node.outputs[0]).shape.size() == TensorOf(data).shape.size()) {
    const TensorShape map = MapShape(data);
    const bool is_column = take.axis + 1 == rank;
    take.outer =
        map[0] * kernels::blocked::BlocksOf(map[1]) * (is_column ? map[2] : 1);
    take.inner = (is_column ? 1 : map[3]) * kernels::blocked::kBlock;
    BATON_ASSIGN_OR_RETURN(const int x, Blocked(data));
    const int y = NewBlocked(node.outputs[0]);
    KernelChoice choice = TakeStep(std::move(take), x, -1, y);
    choice.kernel += ".blocked16";
    AddStep(std::move(choice), {number});
    return absl::OkStatus();
  }
  return AddPlanarStep(
      TakeStep(std::move(take), data, node.inputs[1], node.outputs[0]),
      {number});
}

absl::StatusOr<bool> Lowering::LowerMove(int number) {
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

}  // namespace baton::cpu::internal

namespace baton::cpu {

absl::StatusOr<executor::Plan> LowerGraph(Graph graph,
                                          const LowerOptions& options) {
  return internal::Lowering(std::move(graph), options).Run();
}

std::optional<StepSource> SourceOf(const executor::Step& step, int threads) {
  if (auto source = internal::CopyStepSource(step)) return source;
  if (auto source = BlockedStepSource(step, threads)) return source;
  if (auto source = Int8StepSource(step, threads)) return source;
  if (auto source = SlabStepSource(step)) return source;
  std::optional<StepSource> source = RearrangeStepSource(step);
  if (!source.has_value()) source = ElementStepSource(step);
  if (source.has_value()) source->workspace_bytes = step.workspace_bytes;
  return source;
}

}  // namespace baton::cpu
