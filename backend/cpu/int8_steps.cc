#include "baton/backend/cpu/int8_steps.h"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "baton/backend/cpu/blocked_steps.h"
#include "baton/backend/cpu/graph.h"
#include "baton/backend/cpu/kernel_choice.h"
#include "baton/backend/cpu/kernel_costs.h"
#include "baton/backend/cpu/step_source.h"
#include "baton/base/dtype.h"
#include "baton/base/status_macros.h"
#include "baton/base/tensor.h"
#include "baton/runtime/executor/plan.h"
#include "baton/runtime/kernels/blocked/blocked_conv.h"
#include "baton/runtime/kernels/blocked/int8_conv.h"
#include "baton/runtime/kernels/blocked/int8_isa.h"
#include "baton/runtime/kernels/blocked/int_matmul.h"
#include "baton/runtime/kernels/blocked/matmul.h"

namespace baton::cpu {
namespace {

namespace blocked = kernels::blocked;

struct Params {
  blocked::Int8ConvParams params;
  blocked::Int8Isa isa;
  bool has_bias = false;
  // Behind `requantization`.
  Int8Scales scales = {};
  blocked::Int8Requantization requantization = {};
};

const int32_t* BiasOf(const Params& p, const executor::StepCall& call) {
  return p.has_bias ? static_cast<const int32_t*>(call.inputs[2]) : nullptr;
}

int Run(const executor::StepCall& call) {
  const auto& p = *static_cast<const Params*>(call.params);
  blocked::Int8Conv(p.params, p.isa, call.inputs[0], call.inputs[1],
                    BiasOf(p, call), static_cast<int32_t*>(call.outputs[0]),
                    call.workspace, call.resumes, call.begin, call.end);
  return 0;
}

int RunToBytes(const executor::StepCall& call) {
  const auto& p = *static_cast<const Params*>(call.params);
  blocked::Int8ConvToBytes(p.params, p.isa, call.inputs[0], call.inputs[1],
                           BiasOf(p, call), p.requantization, call.outputs[0],
                           call.workspace, call.resumes, call.begin, call.end);
  return 0;
}

struct MatmulStepParams {
  blocked::IntMatmulParams params;
  blocked::Int8Isa isa;
  bool has_zero = false;
  bool has_offset = false;
  bool has_scale_of_column = false;
  bool has_bias = false;
};

int RunMatmul(const executor::StepCall& call) {
  const auto& p = *static_cast<const MatmulStepParams*>(call.params);
  blocked::IntMatmul(p.params, p.isa, call.inputs[0], call.inputs[1],
                     static_cast<int32_t*>(call.outputs[0]), call.workspace,
                     call.resumes, call.begin, call.end);
  return 0;
}

int RunMatmulToFloats(const executor::StepCall& call) {
  const auto& p = *static_cast<const MatmulStepParams*>(call.params);
  const void* const* operand = call.inputs + 2;
  blocked::IntMatmulScales scales;
  if (p.has_zero) scales.zero = static_cast<const int32_t*>(*operand++);
  if (p.has_offset) scales.offset = static_cast<const int32_t*>(*operand++);
  scales.scale = static_cast<const float*>(*operand++);
  scales.has_scale_of_column = p.has_scale_of_column;
  if (p.has_bias) scales.bias = static_cast<const float*>(*operand);
  blocked::IntMatmulToFloats(p.params, p.isa, call.inputs[0], call.inputs[1],
                             scales, static_cast<float*>(call.outputs[0]),
                             call.workspace, call.resumes, call.begin,
                             call.end);
  return 0;
}

// The elements that all elements of a weight lie between; nullopt for types
// other than int8, uint8 and int32.
std::optional<std::pair<int32_t, int32_t>> RangeOf(const Tensor& weight) {
  const auto range = [](const auto values) {
    int32_t low = values[0];
    int32_t high = low;
    for (const int32_t v : values) {
      low = std::min(low, v);
      high = std::max(high, v);
    }
    return std::pair(low, high);
  };
  if (weight.dtype() == DType::Int(32)) return range(weight.span<int32_t>());
  if (weight.dtype() == DType::UInt(8)) return range(weight.span<uint8_t>());
  if (weight.dtype() == DType::Int(8)) return std::pair(-128, 127);
  return std::nullopt;
}

const char* IsaName(blocked::Int8Isa isa) {
  switch (isa) {
    case blocked::Int8Isa::kPlain:
      return "plain code";
    case blocked::Int8Isa::kAvx2:
      return "AVX2";
    case blocked::Int8Isa::kVnni:
      return "AVX-512 VNNI";
    case blocked::Int8Isa::kAmx:
      return "AMX";
  }
  return "";
}

}  // namespace

std::optional<blocked::Int8ConvParams> Int8ConvParamsOf(const GraphNode& node,
                                                        const Graph& graph) {
  if (node.inputs.size() != 2 || node.outputs.size() != 1) return std::nullopt;
  const auto tensor = [&](int t) -> const GraphTensor& {
    return graph.tensors[static_cast<size_t>(t)];
  };
  const DType data = tensor(node.inputs[0]).dtype;
  if ((data != DType::UInt(8) && data != DType::Int(8)) ||
      !tensor(node.inputs[1]).dtype.is_byte() ||
      tensor(node.outputs[0]).dtype != DType::Int(32)) {
    return std::nullopt;
  }
  const std::optional<blocked::ConvParams> shape = ConvShapeOf(node, graph);
  if (!shape.has_value()) return std::nullopt;
  const bool is_depthwise = shape->in_channels == 1 && shape->out_channels == 1;
  // A channel of its own is a word with three zeros.
  if (shape->groups > 1 && !is_depthwise &&
      (shape->in_channels % 4 != 0 ||
       shape->out_channels % blocked::kBlock != 0)) {
    return std::nullopt;
  }
  return blocked::Int8ConvParams{
      .batch = shape->batch,
      .groups = shape->groups,
      .in_channels = shape->in_channels,
      .out_channels = shape->out_channels,
      .h = shape->h,
      .w = shape->w,
      .signed_data = data == DType::Int(8),
      .unsigned_weights = tensor(node.inputs[1]).dtype.is_uint()};
}

absl::StatusOr<Tensor> PackInt8Conv(const Tensor& weight,
                                    const blocked::Int8ConvParams& params) {
  BATON_ASSIGN_OR_RETURN(
      MutableTensor packed,
      MutableTensor::Uninitialized(DType::Int(8),
                                   {blocked::PackedInt8ConvSize(params)}));
  blocked::PackInt8ConvWeights(
      params, static_cast<const int8_t*>(weight.data()), packed.data());
  return std::move(packed).Freeze();
}

KernelChoice Int8ConvStep(const blocked::Int8ConvParams& params, int x,
                          int packed, int bias,
                          std::optional<Int8Scales> scales, int y,
                          blocked::Int8Isa isa) {
  KernelChoice choice;
  auto own = std::make_shared<Params>();
  own->params = params;
  own->isa = isa;
  own->has_bias = bias >= 0;
  choice.function = Run;
  choice.kernel = "conv.int8";
  const bool is_depthwise = params.groups > 1 && params.in_channels == 1;
  if (is_depthwise) choice.kernel += ".depthwise";
  if (params.slabs_input) choice.kernel += ".slabs32";
  choice.reason = absl::StrCat("products of bytes with ", IsaName(isa),
                               ", whose sums are exact; the weight is packed");
  if (bias >= 0) choice.kernel += "+bias";
  if (scales.has_value()) {
    choice.function = RunToBytes;
    choice.kernel += "+requantize";
    own->scales = *std::move(scales);
    blocked::Int8Requantization& to = own->requantization;
    const auto values = [](const std::vector<float>& v) {
      return v.empty() ? nullptr : v.data();
    };
    to.factor = values(own->scales.factor);
    to.addend = values(own->scales.addend);
    to.divisor = values(own->scales.divisor);
    to.shift = values(own->scales.shift);
    to.round = own->scales.round;
    to.low = own->scales.low;
    to.high = own->scales.high;
  }
  choice.params = std::move(own);
  choice.inputs = {x, packed};
  if (bias >= 0) choice.inputs.push_back(bias);
  choice.outputs = {y};
  choice.items = blocked::Int8ConvItems(params);
  choice.workspace_bytes =
      static_cast<int64_t>(blocked::Int8ConvWorkspaceSize(params));
  const double products = static_cast<double>(
      params.batch * params.groups * params.out_channels * params.in_channels *
      params.h.kernel * params.w.kernel * params.h.out * params.w.out);
  choice.flops = 2 * products;
  choice.work =
      WorkOf(is_depthwise ? KernelRate::kInt8Depthwise : KernelRate::kInt8Conv,
             products);
  return choice;
}

std::optional<blocked::IntMatmulParams> IntMatmulParamsOf(const GraphNode& node,
                                                          const Graph& graph) {
  const std::optional<blocked::MatmulParams> shape = MatmulShapeOf(node, graph);
  if (!shape.has_value()) return std::nullopt;
  const auto tensor = [&](int t) -> const GraphTensor& {
    return graph.tensors[static_cast<size_t>(t)];
  };
  const DType x = tensor(node.inputs[0]).dtype;
  blocked::IntMatmulParams params;
  using Type = blocked::IntMatmulParams::Type;
  if (x == DType::Int(32)) {
    params.type = Type::kInt32;
  } else if (x == DType::UInt(8)) {
    params.type = Type::kUint8;
  } else if (x == DType::Int(8)) {
    params.type = Type::kInt8;
  } else {
    return std::nullopt;
  }
  if (tensor(node.outputs[0]).dtype != DType::Int(32)) return std::nullopt;
  const auto range = RangeOf(*tensor(node.inputs[1]).constant);
  if (!range.has_value() || range->first < -0x8000 || range->second > 0x7fff) {
    return std::nullopt;
  }
  params.has_byte_weights = range->first >= -128 && range->second <= 127;
  params.m = shape->m;
  params.n = shape->n;
  params.k = shape->k;
  return params;
}

absl::StatusOr<Tensor> PackIntWeight(const Tensor& weight, bool transposed,
                                     const blocked::IntMatmulParams& params) {
  BATON_ASSIGN_OR_RETURN(
      MutableTensor packed,
      MutableTensor::Uninitialized(DType::Int(8),
                                   {blocked::PackedIntMatmulSize(params)}));
  const auto pack = [&](const auto values) {
    blocked::PackIntMatmul(params, values.data(), transposed, packed.data());
  };
  if (weight.dtype() == DType::Int(32)) {
    pack(weight.span<int32_t>());
  } else if (weight.dtype() == DType::UInt(8)) {
    pack(weight.span<uint8_t>());
  } else {
    pack(weight.span<int8_t>());
  }
  return std::move(packed).Freeze();
}

KernelChoice IntMatmulStep(const blocked::IntMatmulParams& params, int x,
                           int packed, const IntMatmulOperands& operands, int y,
                           blocked::Int8Isa isa) {
  KernelChoice choice;
  choice.function = operands.scale < 0 ? RunMatmul : RunMatmulToFloats;
  choice.params = std::make_shared<MatmulStepParams>(
      MatmulStepParams{params, isa, operands.zero >= 0, operands.offset >= 0,
                       operands.has_scale_of_column, operands.bias >= 0});
  choice.kernel = params.has_byte_weights ? "matmul.int8" : "matmul.int16";
  choice.reason = absl::StrCat("products of integers with ", IsaName(isa),
                               ", whose sums are exact; the weight is packed");
  choice.inputs = {x, packed};
  const auto add = [&choice](int tensor, const char* name) {
    if (tensor < 0) return;
    choice.kernel += name;
    choice.inputs.push_back(tensor);
  };
  add(operands.zero, "+zero");
  add(operands.offset, "+offset");
  add(operands.scale, "+scale");
  add(operands.bias, "+bias");
  choice.outputs = {y};
  choice.items = blocked::IntMatmulItems(params);
  choice.workspace_bytes =
      static_cast<int64_t>(blocked::IntMatmulWorkspaceSize(params));
  const double products =
      static_cast<double>(params.m * params.n) * static_cast<double>(params.k);
  choice.flops = 2 * products;
  choice.work = WorkOf(KernelRate::kIntMatmul, products);
  return choice;
}

namespace {

std::string Text(const blocked::Int8ConvParams& params) {
  const auto& [batch, groups, in_channels, out_channels, h, w, signed_data,
               unsigned_weights, slabs_input, slabs_output, padding,
               least_bands] = params;
  return Braced(batch, groups, in_channels, out_channels, AxisText(h),
                AxisText(w), signed_data, unsigned_weights, slabs_input,
                slabs_output, int64_t{padding}, least_bands);
}

std::string Text(const blocked::IntMatmulParams& params) {
  using Type = blocked::IntMatmulParams::Type;
  const auto& [m, n, k, type, has_byte_weights] = params;
  const char* const name = type == Type::kInt32   ? "kInt32"
                           : type == Type::kUint8 ? "kUint8"
                                                  : "kInt8";
  return Braced(m, n, k, absl::StrCat("kernels::IntMatmulParams::Type::", name),
                has_byte_weights);
}

// The text of a constant of the library, with its definition before it.
std::string ScalesText(const char* name, const std::vector<float>& values,
                       std::string& definitions) {
  if (values.empty()) return "nullptr";
  absl::StrAppend(
      &definitions, "static constexpr float ", name, "@N@[] = {\n    ",
      absl::StrJoin(
          values, ",\n    ",
          [](std::string* out, float value) { out->append(CppText(value)); }),
      "};\n");
  return absl::StrCat(name, "@N@");
}

}  // namespace

std::optional<StepSource> Int8StepSource(const executor::Step& step,
                                         int threads) {
  StepSource source;
  source.items = step.items;
  source.workspace_bytes = step.workspace_bytes;
  const std::string y = OperandText(step.num_inputs);
  if (step.function == RunMatmul) {
    const auto& p = *static_cast<const MatmulStepParams*>(step.params);
    source.texts = StepSource::kIntMatmul;
    source.definitions = PlanDefinition("IntMatmulParams", Text(p.params));
    source.statements = absl::StrCat(
        "  kernels::IntMatmul(kPlan@N@, kernels::integers::LibraryIsa(), @0@, "
        "@1@,\n      reinterpret_cast<int32_t*>(",
        y, "), workspace, resumes, begin, end);\n");
    return source;
  }
  if (step.function != Run && step.function != RunToBytes) return std::nullopt;
  const auto& p = *static_cast<const Params*>(step.params);
  source.texts = StepSource::kInt8Conv;
  blocked::Int8ConvParams params = p.params;
  params.least_bands = blocked::Int8ConvBandsFor(threads, params);
  source.items = blocked::Int8ConvItems(params);
  source.workspace_bytes =
      static_cast<int64_t>(blocked::Int8ConvWorkspaceSize(params));
  source.definitions = PlanDefinition("Int8ConvParams", Text(params));
  const std::string args = absl::StrCat(
      "(kPlan@N@, kernels::integers::LibraryIsa(), @0@, @1@,\n      ",
      p.has_bias ? "reinterpret_cast<const int32_t*>(@2@)" : "nullptr", ", ");
  if (step.function == Run) {
    source.statements =
        absl::StrCat("  kernels::Int8Conv", args, "reinterpret_cast<int32_t*>(",
                     y, "),\n      workspace, resumes, begin, end);\n");
    return source;
  }
  const std::string factor =
      ScalesText("kFactor", p.scales.factor, source.definitions);
  const std::string addend =
      ScalesText("kAddend", p.scales.addend, source.definitions);
  const std::string divisor =
      ScalesText("kDivisor", p.scales.divisor, source.definitions);
  const std::string shift =
      ScalesText("kShift", p.scales.shift, source.definitions);
  absl::StrAppend(
      &source.definitions,
      "static constexpr kernels::Int8Requantization kRequantization@N@ = ",
      Braced(factor, addend, divisor, shift, p.scales.round, p.scales.low,
             p.scales.high),
      ";\n");
  source.statements =
      absl::StrCat("  kernels::Int8ConvToBytes", args, "kRequantization@N@, ",
                   y, ",\n      workspace, resumes, begin, end);\n");
  return source;
}

}  // namespace baton::cpu
