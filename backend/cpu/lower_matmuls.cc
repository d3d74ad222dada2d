#include <sys/mman.h>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <optional>
#include <utility>
#include <vector>

#include "absl/functional/function_ref.h"
#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "baton/backend/cpu/blocked_steps.h"
#include "baton/backend/cpu/element_group.h"
#include "baton/backend/cpu/graph.h"
#include "baton/backend/cpu/int8_steps.h"
#include "baton/backend/cpu/kernel_choice.h"
#include "baton/backend/cpu/lowering.h"
#include "baton/backend/cpu/packed_constants.h"
#include "baton/backend/cpu/rearrangement.h"
#include "baton/backend/cpu/shared_weights.h"
#include "baton/base/dtype.h"
#include "baton/base/pages.h"
#include "baton/base/status_macros.h"
#include "baton/base/tensor.h"
#include "baton/runtime/kernels/blocked/int8_isa.h"
#include "baton/runtime/kernels/blocked/int_matmul.h"
#include "baton/runtime/kernels/blocked/matmul.h"
#include "baton/runtime/kernels/elementwise_program.h"

namespace baton::cpu::internal {

std::vector<int> Lowering::Producers() const {
  std::vector<int> producers(graph_.tensors.size(), kNone);
  for (size_t i = 0; i < graph_.nodes.size(); ++i) {
    for (const int t : graph_.nodes[i].outputs) {
      producers[static_cast<size_t>(t)] = static_cast<int>(i);
    }
  }
  return producers;
}

bool Lowering::IsReshape(int node) const {
  if (!is_view_[static_cast<size_t>(node)]) return false;
  const std::vector<int>& outputs =
      graph_.nodes[static_cast<size_t>(node)].outputs;
  if (outputs.size() != 1) return false;
  const Place& place = views_[static_cast<size_t>(outputs[0])];
  return place.offset == 0 &&
         TensorOf(place.tensor).bytes() == TensorOf(outputs[0]).bytes();
}

const Rearrangement* Lowering::MoveOf(int node) const {
  const GraphNode& call = graph_.nodes[static_cast<size_t>(node)];
  if (is_view_[static_cast<size_t>(node)] ||
      is_claimed_[static_cast<size_t>(node)] || call.outputs.size() != 1 ||
      call.region != nullptr) {
    return nullptr;
  }
  const std::vector<Rearrangement>* const moves = MovesOf(node);
  return moves == nullptr ? nullptr : &moves->front();
}

void Lowering::TakeOperandMove(const std::vector<int>& producers, int operand,
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

void Lowering::TakeResultMove(MovedProduct& moved) {
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

void Lowering::FindMovedProducts() {
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

void Lowering::TakeZeroPoint(const std::vector<int>& producers,
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

void Lowering::FindScaledProducts() {
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

absl::Status Lowering::LowerIntMatmul(const ScaledProduct& product) {
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
                     Tensor tensor, PackIntWeight(weight, transposed, params));
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
  const bool may_use_amx =
      options_.use_amx && isa_ == kernels::blocked::Int8Isa::kVnni;
  return AddPlanarStep(
      IntMatmulStep(
          params, product.data, weight, operands, product.result,
          may_use_amx ? kernels::blocked::BestIntMatmulIsa(params) : isa_),
      product.nodes);
}

Tensor Lowering::TakeWeight(int t) {
  const size_t i = static_cast<size_t>(t);
  Tensor weight = *tensors_[i].constant;
  if (--num_unpacked_[i] == 0) {
    // No step is going to read it.
    tensors_[i].constant = Tensor();
    graph_.tensors[i].constant = Tensor();
  }
  return weight;
}

bool Lowering::IsMapped(const Tensor& tensor) const {
  const char* const data = tensor.bytes().data();
  const absl::string_view file = options_.mapped_file;
  return std::less_equal<>()(file.data(), data) &&
         std::less<>()(data, file.data() + file.size());
}

absl::StatusOr<PackedConstants::Entry> Lowering::Packed(
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

absl::Status Lowering::LowerMatmul(int number,
                                   kernels::blocked::MatmulParams params) {
  const GraphNode& node = graph_.nodes[static_cast<size_t>(number)];
  return LowerMatmul(number, params, HasTransposedWeight(node),
                     TensorOf(node.outputs[0]).shape.size() - 1, {});
}

absl::Status Lowering::LowerMatmul(
    int number, kernels::blocked::MatmulParams params, bool transposed,
    size_t axis, std::vector<executor::Candidate> candidates) {
  const GraphNode& node = graph_.nodes[static_cast<size_t>(number)];
  std::vector<int> nodes = {number};
  EpilogueOperands epilogue;
  params.least_bands = plan_.max_threads;
  BATON_ASSIGN_OR_RETURN(const int result,
                         TakeEpilogue(number, axis, false, epilogue, nodes));
  PackedWeight& packed = packed_[{node.inputs[1], -1, transposed}];
  if (packed.tensor >= 0) {
    TakeWeight(node.inputs[1]);
  } else {
    BATON_ASSIGN_OR_RETURN(
        PackedConstants::Entry entry,
        Packed(node.inputs[1], -1, transposed,
               {DType::Float(32), kernels::blocked::PackedMatmulSize(params)},
               [&](Tensor unpacked) -> absl::StatusOr<PackedConstants::Entry> {
                 const bool is_mapped = IsMapped(unpacked);
                 BATON_ASSIGN_OR_RETURN(
                     Tensor tensor, PackWeight(std::move(unpacked), is_mapped,
                                               transposed, params));
                 return PackedConstants::Entry{std::move(tensor)};
               }));
    packed.tensor = NewConstant(std::move(entry.tensor));
  }
  const int weight = packed.tensor;
  KernelChoice choice = MatmulStep(blocked_kernels_, params, node.inputs[0],
                                   weight, epilogue, result);
  choice.overwrites = epilogue.residual;
  choice.candidates = std::move(candidates);
  return AddPlanarStep(std::move(choice), std::move(nodes));
}

}  // namespace baton::cpu::internal
