#include "baton/backend/cpu/slab_steps.h"

#include <cstddef>
#include <cstdint>
#include <limits>
#include <memory>
#include <numeric>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "absl/types/span.h"
#include "baton/backend/cpu/blocked_steps.h"
#include "baton/backend/cpu/element_group.h"
#include "baton/backend/cpu/graph.h"
#include "baton/backend/cpu/kernel_choice.h"
#include "baton/backend/cpu/kernel_costs.h"
#include "baton/backend/cpu/step_source.h"
#include "baton/base/dtype.h"
#include "baton/base/tensor.h"
#include "baton/runtime/executor/plan.h"
#include "baton/runtime/kernels/blocked/byte_slabs.h"
#include "baton/runtime/kernels/blocked/int8_conv.h"
#include "baton/runtime/kernels/blocked/int8_isa.h"
#include "baton/runtime/kernels/elementwise_program.h"

namespace baton::cpu {
namespace {

namespace blocked = kernels::blocked;
using kernels::ElementFunction;

template <void (*kMove)(const blocked::ByteMap&, const void*, void*, int64_t,
                        int64_t)>
int RunMove(const executor::StepCall& call) {
  kMove(*static_cast<const blocked::ByteMap*>(call.params), call.inputs[0],
        call.outputs[0], call.begin, call.end);
  return 0;
}

KernelChoice MoveStep(executor::StepFunction function, const char* kernel,
                      const blocked::ByteMap& map, int from, int to) {
  KernelChoice choice;
  choice.function = function;
  choice.params = std::make_shared<blocked::ByteMap>(map);
  choice.kernel = kernel;
  choice.reason = "the next kernel reads another layout";
  choice.inputs = {from};
  choice.outputs = {to};
  choice.items = blocked::SlabItems(map);
  choice.work =
      WorkOf(KernelRate::kSlabMove,
             static_cast<double>(map.batch * map.channels * map.plane));
  return choice;
}

struct JoinParams {
  blocked::SlabJoinParams params;
  std::vector<int64_t> channels;
};

int RunJoin(const executor::StepCall& call) {
  blocked::JoinSlabs(static_cast<const JoinParams*>(call.params)->params,
                     call.inputs, call.outputs[0], call.begin, call.end);
  return 0;
}

int RunPool(const executor::StepCall& call) {
  blocked::SlabMaxPool(
      *static_cast<const blocked::SlabPoolParams*>(call.params), call.inputs[0],
      call.outputs[0], call.begin, call.end);
  return 0;
}

struct SumParams {
  blocked::ByteSumParams params;
  blocked::Int8Isa isa;
};

int RunSum(const executor::StepCall& call) {
  const auto& p = *static_cast<const SumParams*>(call.params);
  blocked::SumOfBytes(p.params, p.isa, call.inputs[0], call.inputs[1],
                      call.outputs[0], call.begin, call.end);
  return 0;
}

// Reads the calls of a group backwards.
class SumReader {
 public:
  SumReader(absl::Span<const ElementArg> operands,
            absl::Span<const GroupCall> calls, const TensorShape& shape,
            const Graph& graph)
      : operands_(operands), calls_(calls), shape_(shape), graph_(graph) {}

  std::optional<ByteSum> Read(DType type) const {
    const bool is_unsigned = type == DType::UInt(8);
    if (calls_.empty() || !type.is_byte()) return std::nullopt;
    constexpr float kInfinity = std::numeric_limits<float>::infinity();
    ByteSum sum;
    blocked::ByteSumParams& p = sum.params;
    int v = static_cast<int>(operands_.size() + calls_.size()) - 1;
    const GroupCall* call = CallAt(v);
    if (call->function == ElementFunction::kCopy) call = CallAt(v = call->a);
    if (call == nullptr || call->function != ElementFunction::kClip) {
      return std::nullopt;
    }
    p.low = static_cast<float>(call->p);
    p.high = static_cast<float>(call->q);
    if (!(p.low >= (is_unsigned ? 0 : -128)) ||
        !(p.high <= (is_unsigned ? 255 : 127))) {
      return std::nullopt;
    }
    v = call->a;
    if (const auto shift = Take(ElementFunction::kAdd, v)) p.shift = *shift;
    call = CallAt(v);
    if (call == nullptr || call->function != ElementFunction::kRound) {
      return std::nullopt;
    }
    v = call->a;
    if (const auto divisor = Take(ElementFunction::kDivide, v)) {
      p.divisor = *divisor;
    }
    p.least = -kInfinity;
    p.most = kInfinity;
    call = CallAt(v);
    if (call != nullptr && call->function == ElementFunction::kRelu) {
      p.least = 0;
      v = call->a;
    } else if (call != nullptr && call->function == ElementFunction::kClip) {
      p.least = static_cast<float>(call->p);
      p.most = static_cast<float>(call->q);
      v = call->a;
    }
    call = CallAt(v);
    if (call == nullptr || call->function != ElementFunction::kAdd) {
      return std::nullopt;
    }
    sum.x = ReadOperand(call->a, p.x);
    sum.y = ReadOperand(call->b, p.y);
    if (sum.x < 0 || sum.y < 0 || !blocked::IsByteSum(p)) return std::nullopt;
    return sum;
  }

 private:
  // The call that computes value `v`; null for an operand.
  const GroupCall* CallAt(int v) const {
    const int number = v - static_cast<int>(operands_.size());
    return number < 0 ? nullptr : &calls_[static_cast<size_t>(number)];
  }

  // The one element of value `v`, a constant.
  const Tensor* ConstantAt(int v) const {
    if (v >= static_cast<int>(operands_.size())) return nullptr;
    const ElementArg& arg = operands_[static_cast<size_t>(v)];
    // Packed forms, behind the tensors of the graph, are none.
    if (static_cast<size_t>(arg.tensor) >= graph_.tensors.size()) {
      return nullptr;
    }
    const auto& constant =
        graph_.tensors[static_cast<size_t>(arg.tensor)].constant;
    return constant.has_value() && constant->num_elements() == 1 ? &*constant
                                                                 : nullptr;
  }

  // The constant beside the value to which `v` moves, if `function` computes
  // `v` of both.
  std::optional<float> Take(ElementFunction function, int& v) const {
    const GroupCall* const call = CallAt(v);
    if (call == nullptr || call->function != function) return std::nullopt;
    const Tensor* constant = ConstantAt(call->b);
    int other = call->a;
    if (constant == nullptr && function != ElementFunction::kDivide) {
      constant = ConstantAt(call->a);
      other = call->b;
    }
    if (constant == nullptr || constant->dtype() != DType::Float(32)) {
      return std::nullopt;
    }
    v = other;
    return constant->span<float>()[0];
  }

  // The tensor of bytes that value `v` dequantizes; -1 for others.
  int ReadOperand(int v, blocked::ByteSumParams::Operand& to) const {
    if (const auto scale = Take(ElementFunction::kMultiply, v)) {
      to.scale = *scale;
    }
    bool is_converted = true;
    if (const GroupCall* call = CallAt(v); call != nullptr) {
      if (call->function != ElementFunction::kToFloat) return -1;
      v = call->a;
      is_converted = false;
      call = CallAt(v);
      if (call != nullptr) {
        if (call->function != ElementFunction::kSubtractInt) return -1;
        const Tensor* const zero = ConstantAt(call->b);
        if (zero == nullptr || zero->dtype() != DType::Int(32)) return -1;
        constexpr int32_t kMost = 255;
        to.zero = zero->span<int32_t>()[0];
        if (to.zero < -kMost || to.zero > kMost) return -1;
        v = call->a;
      }
    }
    if (v >= static_cast<int>(operands_.size())) return -1;
    const ElementArg& arg = operands_[static_cast<size_t>(v)];
    if (arg.is_converted != is_converted || arg.shape != shape_ ||
        !arg.type.is_byte()) {
      return -1;
    }
    to.is_signed = arg.type == DType::Int(8);
    return arg.tensor;
  }

  const absl::Span<const ElementArg> operands_;
  const absl::Span<const GroupCall> calls_;
  const TensorShape& shape_;
  const Graph& graph_;
};

}  // namespace

KernelChoice ToSlabsStep(const blocked::ByteMap& map, int from, int to) {
  return MoveStep(RunMove<blocked::ToSlabs>, "to_slabs32", map, from, to);
}

KernelChoice FromSlabsStep(const blocked::ByteMap& map, int from, int to) {
  return MoveStep(RunMove<blocked::FromSlabs>, "to_planar.slabs32", map, from,
                  to);
}

KernelChoice JoinSlabsStep(std::vector<int64_t> channels, int64_t plane,
                           std::vector<int> parts, int y) {
  auto params = std::make_shared<JoinParams>();
  params->channels = std::move(channels);
  blocked::SlabJoinParams& p = params->params;
  p.plane = plane;
  p.num_parts = static_cast<int64_t>(params->channels.size());
  p.part_channels = params->channels.data();
  p.channels = std::accumulate(params->channels.begin(), params->channels.end(),
                               int64_t{0});
  KernelChoice choice;
  choice.function = RunJoin;
  choice.kernel = "concatenate.slabs32";
  choice.reason = "channels move within and between slabs";
  choice.inputs = std::move(parts);
  choice.outputs = {y};
  choice.items = blocked::SlabItems({1, p.channels, plane});
  choice.work =
      WorkOf(KernelRate::kSlabMove, static_cast<double>(p.channels * plane));
  choice.params = std::move(params);
  return choice;
}

KernelChoice SlabPoolStep(const PoolChoice& pool, bool is_signed, int x,
                          int y) {
  auto params = std::make_shared<blocked::SlabPoolParams>();
  params->slabs =
      pool.params.batch *
      ((pool.params.channels + blocked::kByteSlab - 1) / blocked::kByteSlab);
  params->h = pool.params.h;
  params->w = pool.params.w;
  params->is_signed = is_signed;
  KernelChoice choice;
  choice.function = RunPool;
  choice.kernel = "max_pool.slabs32";
  choice.reason = "a slab of channels is a vector";
  choice.inputs = {x};
  choice.outputs = {y};
  choice.items = blocked::SlabPoolItems(*params);
  choice.work =
      WorkOf(KernelRate::kSlabPool,
             static_cast<double>(params->slabs * params->h.out * params->w.out *
                                 params->h.kernel * params->w.kernel *
                                 blocked::kByteSlab));
  choice.params = std::move(params);
  return choice;
}

std::optional<ByteSum> ByteSumOf(absl::Span<const ElementArg> operands,
                                 absl::Span<const GroupCall> calls,
                                 const TensorShape& shape, DType type,
                                 const Graph& graph) {
  return SumReader(operands, calls, shape, graph).Read(type);
}

KernelChoice ByteSumStep(blocked::ByteSumParams params, int64_t size, int x,
                         int y, int result, blocked::Int8Isa isa) {
  params.size = size;
  KernelChoice choice;
  choice.function = RunSum;
  choice.kernel = "add.bytes";
  choice.reason = "two quantized maps are added without maps of floats between";
  choice.inputs = {x, y};
  choice.outputs = {result};
  choice.items = blocked::ByteSumItems(params);
  choice.work = WorkOf(KernelRate::kSlabAdd, static_cast<double>(size));
  choice.params = std::make_shared<SumParams>(SumParams{params, isa});
  return choice;
}

namespace {

// Each names all fields, in order: the compiler refuses others.

std::string Text(const blocked::ByteMap& map) {
  const auto& [batch, channels, plane] = map;
  return Braced(batch, channels, plane);
}

std::string Text(const blocked::SlabPoolParams& params) {
  const auto& [slabs, h, w, is_signed] = params;
  return Braced(slabs, AxisText(h), AxisText(w), is_signed);
}

std::string Text(const blocked::ByteSumParams::Operand& operand) {
  const auto& [is_signed, zero, scale] = operand;
  return Braced(is_signed, int64_t{zero}, scale);
}

std::string Text(const blocked::ByteSumParams& params) {
  const auto& [size, x, y, least, most, divisor, shift, low, high] = params;
  return Braced(size, Text(x), Text(y), least, most, divisor, shift, low, high);
}

}  // namespace

std::optional<StepSource> SlabStepSource(const executor::Step& step) {
  StepSource source;
  source.texts = StepSource::kByteSlabs;
  source.items = step.items;
  const std::string y = OperandText(step.num_inputs);
  if (step.function == RunMove<blocked::ToSlabs> ||
      step.function == RunMove<blocked::FromSlabs>) {
    source.definitions = PlanDefinition(
        "ByteMap", Text(*static_cast<const blocked::ByteMap*>(step.params)));
    source.statements = absl::StrCat(
        "  kernels::",
        step.function == RunMove<blocked::ToSlabs> ? "ToSlabs" : "FromSlabs",
        "(kPlan@N@, @0@, ", y, ", begin, end);\n");
    return source;
  }
  if (step.function == RunJoin) {
    const auto& p = *static_cast<const JoinParams*>(step.params);
    std::vector<std::string> parts;
    for (int32_t i = 0; i < step.num_inputs; ++i) {
      parts.push_back(OperandText(i));
    }
    source.definitions = absl::StrCat(
        "static constexpr int64_t kChannels@N@[] = {",
        absl::StrJoin(p.channels, ", "), "};\n",
        PlanDefinition("SlabJoinParams",
                       Braced(p.params.plane, p.params.channels,
                              p.params.num_parts, "kChannels@N@")));
    source.statements = absl::StrCat(
        "  const void* const parts[] = {", absl::StrJoin(parts, ", "),
        "};\n  kernels::JoinSlabs(kPlan@N@, parts, ", y, ", begin, end);\n");
    return source;
  }
  if (step.function == RunPool) {
    source.definitions = PlanDefinition(
        "SlabPoolParams",
        Text(*static_cast<const blocked::SlabPoolParams*>(step.params)));
    source.statements = absl::StrCat("  kernels::SlabMaxPool(kPlan@N@, @0@, ",
                                     y, ", begin, end);\n");
    return source;
  }
  if (step.function == RunSum) {
    const auto& p = *static_cast<const SumParams*>(step.params);
    source.definitions = PlanDefinition("ByteSumParams", Text(p.params));
    source.statements = absl::StrCat(
        "  kernels::SumOfBytes(kPlan@N@, kernels::integers::LibraryIsa(), "
        "@0@,\n      @1@, ",
        y, ", begin, end);\n");
    return source;
  }
  return std::nullopt;
}

}  // namespace baton::cpu
