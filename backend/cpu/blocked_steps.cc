#include "baton/backend/cpu/blocked_steps.h"

#include <sys/mman.h>

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "absl/functional/function_ref.h"
#include "absl/status/statusor.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "absl/strings/string_view.h"
#include "absl/types/span.h"
#include "baton/backend/cpu/graph.h"
#include "baton/backend/cpu/kernel_choice.h"
#include "baton/backend/cpu/kernel_costs.h"
#include "baton/backend/cpu/step_source.h"
#include "baton/base/dtype.h"
#include "baton/base/pages.h"
#include "baton/base/status_macros.h"
#include "baton/base/tensor.h"
#include "baton/ir/attrs.h"
#include "baton/ir/type.h"
#include "baton/relay/op/nn/conv.h"
#include "baton/relay/op/nn/dense.h"
#include "baton/relay/op/nn/normalize.h"
#include "baton/relay/op/nn/pool.h"
#include "baton/relay/op/window_math.h"
#include "baton/runtime/executor/plan.h"
#include "baton/runtime/kernels/blocked/internal/conv_plan.h"
#include "baton/runtime/kernels/blocked/internal/matmul_plan.h"
#include "baton/runtime/kernels/blocked/map.h"
#include "baton/runtime/kernels/blocked/sums.h"

namespace baton::cpu {
namespace {

namespace blocked = kernels::blocked;

// Maps of at most so many bytes stay in the nearest caches.
constexpr double kNearBytes = 256 << 10;

double RoundedUp(int64_t channels) {
  return static_cast<double>(blocked::BlocksOf(channels) * blocked::kBlock);
}

const GraphTensor& TensorOf(const Graph& graph, int t) {
  return graph.tensors[static_cast<size_t>(t)];
}

bool IsMapOf(DType type, const GraphTensor& tensor) {
  return tensor.dtype == type && tensor.shape.size() == 4 &&
         tensor.num_elements() > 0;
}
bool IsFloatMap(const GraphTensor& tensor) {
  return IsMapOf(DType::Float(32), tensor);
}

std::optional<std::array<int64_t, 2>> Two(absl::Span<const Dim> dims) {
  if (dims.size() != 2 || !dims[0].is_const() || !dims[1].is_const()) {
    return std::nullopt;
  }
  return std::array<int64_t, 2>{dims[0].value(), dims[1].value()};
}

// top, left, bottom, right
std::optional<std::array<int64_t, 4>> Padding(absl::Span<const Dim> padding) {
  Dims all(padding.begin(), padding.end());
  relay::SpellOutPadding(2, all);
  std::array<int64_t, 4> result;
  if (all.size() != 4) return std::nullopt;
  for (size_t i = 0; i < 4; ++i) {
    if (!all[i].is_const()) return std::nullopt;
    result[i] = all[i].value();
  }
  return result;
}

// The operands of an epilogue in the order in which steps have them.
struct EpilogueForm {
  explicit EpilogueForm(const EpilogueOperands& operands)
      : has_bias(operands.bias >= 0),
        has_scale(operands.scale >= 0),
        has_shift(operands.shift >= 0),
        has_residual(operands.residual >= 0),
        low(operands.low),
        high(operands.high),
        rounding(operands.rounding) {}

  blocked::Epilogue Make(const void* const* inputs) const {
    blocked::Epilogue epilogue;
    const auto next = [&inputs](bool has) {
      return has ? static_cast<const float*>(*inputs++) : nullptr;
    };
    epilogue.bias = next(has_bias);
    epilogue.scale = next(has_scale);
    epilogue.shift = next(has_shift);
    epilogue.residual = next(has_residual);
    epilogue.low = low;
    epilogue.high = high;
    epilogue.rounding = rounding;
    return epilogue;
  }

  bool has_bias, has_scale, has_shift, has_residual;
  float low, high;
  blocked::Rounding rounding;
};

void AddOperands(const EpilogueOperands& operands, KernelChoice& choice) {
  for (const int t :
       {operands.bias, operands.scale, operands.shift, operands.residual}) {
    if (t >= 0) choice.inputs.push_back(t);
  }
  std::string& name = choice.kernel;
  if (operands.bias >= 0) name += "+bias";
  if (operands.scale >= 0) name += "+scale";
  if (operands.shift >= 0) name += "+shift";
  if (operands.residual >= 0) name += "+residual";
  if (operands.low != -__builtin_inff() || operands.high != __builtin_inff()) {
    name += "+clip";
  }
  if (operands.rounding != blocked::Rounding::kNone) name += "+round";
}

struct ConvStepParams {
  const blocked::Kernels* kernels;
  blocked::ConvParams params;
  EpilogueForm epilogue;
};

int RunConv(const executor::StepCall& call) {
  const auto& p = *static_cast<const ConvStepParams*>(call.params);
  p.kernels->conv(p.params, static_cast<const float*>(call.inputs[0]),
                  static_cast<const float*>(call.inputs[1]),
                  p.epilogue.Make(call.inputs + 2),
                  static_cast<float*>(call.outputs[0]), call.workspace,
                  call.resumes, call.begin, call.end);
  return 0;
}

struct MatmulStepParams {
  const blocked::Kernels* kernels;
  blocked::MatmulParams params;
  EpilogueForm epilogue;
};

int RunMatmul(const executor::StepCall& call) {
  const auto& p = *static_cast<const MatmulStepParams*>(call.params);
  p.kernels->matmul(p.params, static_cast<const float*>(call.inputs[0]),
                    static_cast<const float*>(call.inputs[1]),
                    p.epilogue.Make(call.inputs + 2),
                    static_cast<float*>(call.outputs[0]), call.workspace,
                    call.resumes, call.begin, call.end);
  return 0;
}

struct ProductStepParams {
  const blocked::Kernels* kernels;
  ProductChoice product;
  int64_t packed_floats;  // a multiple of 16
  int64_t items;          // of a matrix
};

// The beginning of the workspace of a product: the operands that are packed, or
// of which rows are copied, in what follows.
struct alignas(64) ProductState {
  const float* packed = nullptr;
  const float* copied = nullptr;
};

int RunProduct(const executor::StepCall& call) {
  const auto& p = *static_cast<const ProductStepParams*>(call.params);
  const blocked::MatmulParams& params = p.product.params;
  auto& state = *static_cast<ProductState*>(call.workspace);
  if (!call.resumes) state = {};
  float* const packed = reinterpret_cast<float*>(
      static_cast<char*>(call.workspace) + sizeof(ProductState));
  for (int64_t item = call.begin; item < call.end;) {
    const int64_t i = item / p.items;
    const int64_t end = std::min(call.end, (i + 1) * p.items);
    const float* const a =
        static_cast<const float*>(call.inputs[0]) + p.product.a.Begin(i);
    const float* const b =
        static_cast<const float*>(call.inputs[1]) + p.product.b.Begin(i);
    if (b != state.packed) {
      blocked::PackMatmul(params, b, p.product.transposed, packed);
      state.packed = b;
    }
    p.kernels->matmul(
        params, a, packed, {},
        static_cast<float*>(call.outputs[0]) + p.product.y.Begin(i),
        packed + p.packed_floats, a == state.copied, item - i * p.items,
        end - i * p.items);
    state.copied = a;
    item = end;
  }
  return 0;
}

struct PoolStepParams {
  void (*kernel)(const blocked::PoolParams& params, const float* x, float* y,
                 int64_t begin, int64_t end);
  blocked::PoolParams params;
  PoolKind kind;
};

int RunPool(const executor::StepCall& call) {
  const auto& p = *static_cast<const PoolStepParams*>(call.params);
  p.kernel(p.params, static_cast<const float*>(call.inputs[0]),
           static_cast<float*>(call.outputs[0]), call.begin, call.end);
  return 0;
}

struct MapStepParams {
  void (*kernel)(const blocked::MapParams& params, const float* x, float* y,
                 int64_t begin, int64_t end);
  blocked::MapParams params;
  const char* name;  // `ToBlocked`
};

int RunMap(const executor::StepCall& call) {
  const auto& p = *static_cast<const MapStepParams*>(call.params);
  p.kernel(p.params, static_cast<const float*>(call.inputs[0]),
           static_cast<float*>(call.outputs[0]), call.begin, call.end);
  return 0;
}

struct ApplyStepParams {
  const blocked::Kernels* kernels;
  blocked::MapParams params;
  EpilogueForm epilogue;
};

int RunApply(const executor::StepCall& call) {
  const auto& p = *static_cast<const ApplyStepParams*>(call.params);
  p.kernels->apply(p.params, static_cast<const float*>(call.inputs[0]),
                   p.epilogue.Make(call.inputs + 1),
                   static_cast<float*>(call.outputs[0]), call.begin, call.end);
  return 0;
}

struct FoldStepParams {
  const blocked::Kernels* kernels;
  blocked::FoldParams params;
  blocked::MapParams map;
  EpilogueForm epilogue;
  bool has_epilogue;
};

int RunFold(const executor::StepCall& call) {
  const auto& p = *static_cast<const FoldStepParams*>(call.params);
  float* const y = static_cast<float*>(call.outputs[0]);
  for (int64_t item = call.begin; item < call.end; ++item) {
    blocked::Fold(p.params, static_cast<const float*>(call.inputs[0]), y, item,
                  item + 1);
    // While the plane is near.
    if (p.has_epilogue) {
      p.kernels->apply(p.map, y, p.epilogue.Make(call.inputs + 1), y, item,
                       item + 1);
    }
  }
  return 0;
}

struct LrnStepParams {
  const blocked::Kernels* kernels;
  blocked::BlockedLrnParams params;
};

int RunLrn(const executor::StepCall& call) {
  const auto& p = *static_cast<const LrnStepParams*>(call.params);
  p.kernels->lrn(p.params, static_cast<const float*>(call.inputs[0]),
                 static_cast<float*>(call.outputs[0]), call.begin, call.end);
  return 0;
}

struct GatherStepParams {
  const blocked::Kernels* kernels;
  blocked::GatherParams params;
  std::vector<blocked::ChannelSource> sources;
  std::vector<int64_t> strides;
};

int RunGather(const executor::StepCall& call) {
  const auto& p = *static_cast<const GatherStepParams*>(call.params);
  // The plan's addresses are those of floats.
  p.kernels->gather(p.params,
                    reinterpret_cast<const float* const*>(call.inputs),
                    static_cast<float*>(call.outputs[0]), call.begin, call.end);
  return 0;
}

// The bytes of a weight that are released at a time: a huge page, which is
// released as a whole.
constexpr size_t kReleasedBytes = size_t{2} << 20;
// The floats of some rows of a weight, which a cache holds.
constexpr int64_t kFloatsOfRows = int64_t{32} << 10;
// The least floats of a weight in memory of its own that is released piece by
// piece. That of others is only freed: taking its pages from the heap and
// giving them back would take longer than packing.
constexpr int64_t kLargeWeight = int64_t{1} << 20;

// Reads the floats of a weight from front to back. Releases pages that it has
// read if they are of a mapped file, or of a large weight to which nothing else
// refers.
class WeightReader {
 public:
  // `weight` must outlive the reader.
  WeightReader(Tensor& weight, bool is_mapped)
      : bytes_(weight.bytes()),
        is_aligned_(IsAligned(bytes_.data(), alignof(float))),
        may_release_(is_mapped ||
                     (is_aligned_ && weight.num_elements() >= kLargeWeight &&
                      MutableTensor::Reuse(weight).has_value())) {}
  ~WeightReader() { Release(); }
  WeightReader(const WeightReader&) = delete;
  WeightReader& operator=(const WeightReader&) = delete;

  // The next `count` floats; valid until the next call.
  const float* Next(int64_t count) {
    if (at_ - released_ >= kReleasedBytes) Release();
    const size_t size = static_cast<size_t>(count) * sizeof(float);
    const char* const from = bytes_.data() + at_;
    at_ += size;
    if (is_aligned_) return reinterpret_cast<const float*>(from);
    if (aligned_.size() < static_cast<size_t>(count)) {
      aligned_.resize(static_cast<size_t>(count));
    }
    std::memcpy(aligned_.data(), from, size);
    return aligned_.data();
  }

 private:
  // Up to the last address of a huge page, or to the end of the weight.
  void Release() {
    if (!may_release_) return;
    const size_t past =
        reinterpret_cast<uintptr_t>(bytes_.data() + at_) % kReleasedBytes;
    const size_t end =
        at_ == bytes_.size() ? at_ : at_ - std::min(past, at_ - released_);
    AdviseWholePages(bytes_.data() + released_, end - released_, MADV_DONTNEED);
    released_ = end;
  }

  const absl::string_view bytes_;
  const bool is_aligned_;
  const bool may_release_;
  std::vector<float> aligned_;
  size_t at_ = 0;
  size_t released_ = 0;
};

// Packs a weight of blocks of `size` floats, of which each stays in its place
// and the last one may have fewer: `packed_size` floats with all of it. Packs
// in the memory of the weight if nothing else refers to it and all blocks are
// whole; otherwise in new memory.
// The only error is that there is no memory.
absl::StatusOr<Tensor> PackBlocks(
    Tensor weight, int64_t size, int64_t packed_size, bool is_mapped,
    absl::FunctionRef<void(const float* from, int64_t count, float* to)> pack) {
  const int64_t count = weight.num_elements();
  // A weight that is not aligned would be copied for that.
  std::optional<MutableTensor> reused =
      packed_size == count && IsAligned(weight.bytes().data(), alignof(float))
          ? MutableTensor::Reuse(weight)
          : std::nullopt;
  if (reused.has_value()) {
    std::vector<float> block(static_cast<size_t>(size));
    float* const data = static_cast<float*>(reused->data());
    for (int64_t at = 0; at < count; at += size) {
      std::copy_n(data + at, size, block.data());
      pack(block.data(), size, data + at);
    }
    return std::move(*reused).Freeze();
  }
  BATON_ASSIGN_OR_RETURN(
      MutableTensor packed,
      MutableTensor::Uninitialized(DType::Float(32), {packed_size}));
  WeightReader reader(weight, is_mapped);
  for (int64_t at = 0; at < count;) {
    const int64_t from_block = std::min(size, count - at);
    pack(reader.Next(from_block), from_block,
         static_cast<float*>(packed.data()) + at);
    at += from_block;
  }
  return std::move(packed).Freeze();
}

blocked::MapParams MapParamsOf(const TensorShape& planar) {
  return {.batch = planar[0],
          .channels = planar[1],
          .positions = planar[2] * planar[3]};
}

KernelChoice MapStep(void (*kernel)(const blocked::MapParams& params,
                                    const float* x, float* y, int64_t begin,
                                    int64_t end),
                     std::string name, const char* function, KernelRate rate,
                     const TensorShape& planar, int x, int y) {
  const blocked::MapParams params = MapParamsOf(planar);
  KernelChoice choice;
  choice.function = RunMap;
  choice.params =
      std::make_shared<MapStepParams>(MapStepParams{kernel, params, function});
  choice.kernel = std::move(name);
  choice.reason = "the next kernel reads another layout";
  choice.inputs = {x};
  choice.outputs = {y};
  choice.items = blocked::MapItems(params);
  choice.work =
      WorkOf(rate, static_cast<double>(params.batch * params.channels *
                                       params.positions * 8));
  return choice;
}

}  // namespace

std::optional<blocked::ConvParams> ConvParamsOf(const GraphNode& node,
                                                const Graph& graph) {
  const DType f32 = DType::Float(32);
  if (node.inputs.size() != 2 || node.outputs.size() != 1 ||
      TensorOf(graph, node.inputs[0]).dtype != f32 ||
      TensorOf(graph, node.inputs[1]).dtype != f32 ||
      TensorOf(graph, node.outputs[0]).dtype != f32) {
    return std::nullopt;
  }
  return ConvShapeOf(node, graph);
}

std::optional<blocked::ConvParams> ConvShapeOf(const GraphNode& node,
                                               const Graph& graph) {
  if (node.inputs.size() != 2 || node.outputs.size() != 1) return std::nullopt;
  const GraphTensor& x = TensorOf(graph, node.inputs[0]);
  const GraphTensor& weight = TensorOf(graph, node.inputs[1]);
  const GraphTensor& y = TensorOf(graph, node.outputs[0]);
  const auto params = [&](const auto* attrs, size_t dims,
                          absl::string_view data_layout,
                          absl::string_view kernel_layout)
      -> std::optional<blocked::ConvParams> {
    if (attrs == nullptr || attrs->data_layout != data_layout ||
        attrs->kernel_layout != kernel_layout ||
        (!attrs->out_layout.empty() && attrs->out_layout != data_layout) ||
        x.shape.size() != dims + 2 || y.shape.size() != dims + 2 ||
        weight.shape.size() != dims + 2 || x.num_elements() == 0 ||
        y.num_elements() == 0 || weight.num_elements() == 0 ||
        !weight.constant.has_value() || attrs->groups < 1 ||
        x.shape[1] % attrs->groups != 0 || y.shape[1] % attrs->groups != 0 ||
        weight.shape[0] != y.shape[1] ||
        weight.shape[1] != x.shape[1] / attrs->groups) {
      return std::nullopt;
    }
    Dims padding(attrs->padding.begin(), attrs->padding.end());
    relay::SpellOutPadding(dims, padding);
    blocked::ConvParams params;
    params.batch = x.shape[0];
    params.groups = attrs->groups;
    params.in_channels = x.shape[1] / attrs->groups;
    params.out_channels = y.shape[1] / attrs->groups;
    if (attrs->strides.size() != dims || attrs->dilation.size() != dims ||
        padding.size() != 2 * dims) {
      return std::nullopt;
    }
    for (size_t d = 0; d < dims; ++d) {
      if (!attrs->strides[d].is_const() || !attrs->dilation[d].is_const() ||
          !padding[d].is_const()) {
        return std::nullopt;
      }
      // A row is a map of height one.
      blocked::Axis& axis = d + 1 == dims ? params.w : params.h;
      axis = {.in = x.shape[2 + d],
              .kernel = weight.shape[2 + d],
              .stride = attrs->strides[d].value(),
              .dilation = attrs->dilation[d].value(),
              .pad_before = padding[d].value(),
              .out = y.shape[2 + d]};
    }
    return params;
  };
  if (node.op_name() == "nn.conv2d") {
    return params(node.call->attrs_as<relay::Conv2DAttrs>(), 2, "NCHW", "OIHW");
  }
  if (node.op_name() == "nn.conv1d") {
    return params(node.call->attrs_as<relay::Conv1DAttrs>(), 1, "NCW", "OIW");
  }
  return std::nullopt;
}

std::optional<TransposedConv> TransposedConvOf(const GraphNode& node,
                                               const Graph& graph) {
  if (node.inputs.size() != 2 || node.outputs.size() != 1) return std::nullopt;
  const GraphTensor& x = TensorOf(graph, node.inputs[0]);
  const GraphTensor& weight = TensorOf(graph, node.inputs[1]);
  const GraphTensor& y = TensorOf(graph, node.outputs[0]);
  for (const GraphTensor* tensor : {&x, &weight, &y}) {
    if (tensor->dtype != DType::Float(32) || tensor->num_elements() == 0) {
      return std::nullopt;
    }
  }
  const auto params =
      [&](const auto* attrs, size_t dims, absl::string_view data_layout,
          absl::string_view kernel_layout) -> std::optional<TransposedConv> {
    if (attrs == nullptr || attrs->data_layout != data_layout ||
        attrs->kernel_layout != kernel_layout ||
        (!attrs->out_layout.empty() && attrs->out_layout != data_layout) ||
        attrs->groups != 1 || x.shape.size() != dims + 2 ||
        y.shape.size() != dims + 2 || weight.shape.size() != dims + 2 ||
        !weight.constant.has_value() || weight.shape[0] != x.shape[1] ||
        weight.shape[1] != y.shape[1]) {
      return std::nullopt;
    }
    Dims padding(attrs->padding.begin(), attrs->padding.end());
    relay::SpellOutPadding(dims, padding);
    if (attrs->strides.size() != dims || attrs->dilation.size() != dims ||
        attrs->output_padding.size() != dims || padding.size() != 2 * dims) {
      return std::nullopt;
    }
    TransposedConv result;
    int64_t taps = 1;
    for (size_t d = 0; d < dims; ++d) {
      if (!attrs->strides[d].is_const() || !attrs->dilation[d].is_const() ||
          !padding[d].is_const()) {
        return std::nullopt;
      }
      // The evaluator's kernel refuses more.
      const Dim& extra = attrs->output_padding[d];
      if (!extra.is_const() || extra.value() < 0 ||
          extra.value() >=
              std::max(attrs->strides[d].value(), attrs->dilation[d].value())) {
        return std::nullopt;
      }
      const bool is_row = d + 1 == dims;
      (is_row ? result.fold.w : result.fold.h) =
          blocked::Axis{.in = y.shape[2 + d],
                        .kernel = weight.shape[2 + d],
                        .stride = attrs->strides[d].value(),
                        .dilation = attrs->dilation[d].value(),
                        .pad_before = padding[d].value(),
                        .out = x.shape[2 + d]};
      (is_row ? result.product.w : result.product.h) =
          blocked::Axis{.in = x.shape[2 + d], .out = x.shape[2 + d]};
      taps *= weight.shape[2 + d];
    }
    result.fold.batch = result.product.batch = x.shape[0];
    result.fold.channels = y.shape[1];
    result.product.in_channels = x.shape[1];
    result.product.out_channels =
        taps * blocked::BlocksOf(y.shape[1]) * blocked::kBlock;
    // The windows take memory: at most 64 MB, or some times that of the
    // tensors.
    const int64_t windows = result.product.batch * result.product.out_channels *
                            result.product.h.out * result.product.w.out;
    if (windows >
        std::max(int64_t{1} << 24, 8 * (x.num_elements() + y.num_elements()))) {
      return std::nullopt;
    }
    return result;
  };
  if (node.op_name() == "nn.conv2d_transpose") {
    return params(node.call->attrs_as<relay::Conv2DTransposeAttrs>(), 2, "NCHW",
                  "IOHW");
  }
  if (node.op_name() == "nn.conv1d_transpose") {
    return params(node.call->attrs_as<relay::Conv1DTransposeAttrs>(), 1, "NCW",
                  "IOW");
  }
  return std::nullopt;
}

absl::StatusOr<Tensor> WeightOfWindows(const Tensor& weight) {
  const int64_t ins = weight.shape()[0];
  const int64_t outs = weight.shape()[1];
  const int64_t taps = weight.num_elements() / (ins * outs);
  const int64_t padded = blocked::BlocksOf(outs) * blocked::kBlock;
  BATON_ASSIGN_OR_RETURN(
      MutableTensor result,
      MutableTensor::Create(DType::Float(32), {taps * padded, ins, 1, 1}));
  const float* from = weight.span<float>().data();
  float* const to = static_cast<float*>(result.data());
  for (int64_t i = 0; i < ins; ++i) {
    for (int64_t o = 0; o < outs; ++o) {
      for (int64_t tap = 0; tap < taps; ++tap) {
        to[(tap * padded + o) * ins + i] = *from++;
      }
    }
  }
  return std::move(result).Freeze();
}

absl::StatusOr<Tensor> PackConv(Tensor weight, bool is_mapped,
                                blocked::ConvParams& params) {
  const int64_t size = blocked::PackedConvSize(params);
  if (params.out_channels % blocked::kBlock == 0 &&
      size == weight.num_elements()) {
    blocked::ConvParams block = params;
    block.groups = 1;
    block.out_channels = blocked::kBlock;
    params.finite_weights = true;
    return PackBlocks(
        std::move(weight), blocked::PackedConvSize(block), size, is_mapped,
        [&](const float* from, int64_t /*count*/, float* to) {
          const bool is_finite = blocked::PackConvWeights(block, from, to);
          params.finite_weights = params.finite_weights && is_finite;
        });
  }
  BATON_ASSIGN_OR_RETURN(MutableTensor packed, MutableTensor::Uninitialized(
                                                   DType::Float(32), {size}));
  params.finite_weights = blocked::PackConvWeights(
      params, weight.span<float>().data(), static_cast<float*>(packed.data()));
  return std::move(packed).Freeze();
}

bool HasTransposedWeight(const GraphNode& node) {
  if (node.op_name() == "nn.dense") return true;
  const auto* attrs = node.call->attrs_as<relay::MatmulAttrs>();
  return attrs != nullptr && attrs->transpose_b;
}

std::optional<blocked::MatmulParams> MatmulShapeOf(const GraphNode& node,
                                                   const Graph& graph) {
  if (node.inputs.size() != 2 || node.outputs.size() != 1) return std::nullopt;
  if (node.op_name() == "nn.matmul") {
    const auto* attrs = node.call->attrs_as<relay::MatmulAttrs>();
    if (attrs != nullptr && attrs->transpose_a) return std::nullopt;
  } else if (node.op_name() != "nn.dense") {
    return std::nullopt;
  }
  const GraphTensor& x = TensorOf(graph, node.inputs[0]);
  const GraphTensor& weight = TensorOf(graph, node.inputs[1]);
  const GraphTensor& y = TensorOf(graph, node.outputs[0]);
  if (weight.shape.size() != 2 || !weight.constant.has_value() ||
      x.shape.empty() || x.num_elements() == 0 || y.num_elements() == 0) {
    return std::nullopt;
  }
  blocked::MatmulParams params;
  params.k = x.shape.back();
  params.m = x.num_elements() / params.k;
  params.n = y.num_elements() / params.m;
  if (params.m * params.n != y.num_elements() ||
      params.n * params.k != weight.num_elements()) {
    return std::nullopt;
  }
  return params;
}

std::optional<blocked::MatmulParams> MatmulParamsOf(const GraphNode& node,
                                                    const Graph& graph) {
  for (const std::vector<int>& tensors : {node.inputs, node.outputs}) {
    for (const int t : tensors) {
      if (TensorOf(graph, t).dtype != DType::Float(32)) return std::nullopt;
    }
  }
  return MatmulShapeOf(node, graph);
}

absl::StatusOr<Tensor> PackWeight(Tensor weight, bool is_mapped,
                                  bool transposed,
                                  const blocked::MatmulParams& params) {
  if (transposed) {
    blocked::MatmulParams block = params;
    return PackBlocks(std::move(weight), blocked::kBlock * params.k,
                      blocked::PackedMatmulSize(params), is_mapped,
                      [&](const float* from, int64_t count, float* to) {
                        block.n = count / params.k;
                        blocked::PackMatmul(block, from, /*transposed=*/true,
                                            to);
                      });
  }
  BATON_ASSIGN_OR_RETURN(
      MutableTensor packed,
      MutableTensor::Uninitialized(DType::Float(32),
                                   {blocked::PackedMatmulSize(params)}));
  WeightReader reader(weight, is_mapped);
  const int64_t rows =
      std::max<int64_t>(blocked::kBlock, kFloatsOfRows / params.n /
                                             blocked::kBlock * blocked::kBlock);
  for (int64_t row = 0; row < params.k; row += rows) {
    const int64_t end = std::min(params.k, row + rows);
    blocked::PackMatmulRows(params, reader.Next((end - row) * params.n), row,
                            end, static_cast<float*>(packed.data()));
  }
  return std::move(packed).Freeze();
}

std::optional<PoolChoice> PoolOf(const GraphNode& node, const Graph& graph,
                                 DType type) {
  const std::string& op = node.op_name();
  if (node.inputs.size() != 1 || node.outputs.size() != 1) return std::nullopt;
  const GraphTensor& x = TensorOf(graph, node.inputs[0]);
  const GraphTensor& y = TensorOf(graph, node.outputs[0]);
  if (!IsMapOf(type, x) || !IsMapOf(type, y)) return std::nullopt;
  PoolChoice choice;
  choice.params.batch = x.shape[0];
  choice.params.channels = x.shape[1];
  choice.params.h.in = x.shape[2];
  choice.params.w.in = x.shape[3];
  const auto set = [&](const auto& attrs) {
    const auto size = Two(attrs.pool_size);
    const auto strides = Two(attrs.strides);
    const auto dilation = Two(attrs.dilation);
    const auto padding = Padding(attrs.padding);
    if (attrs.layout != "NCHW" ||
        (!attrs.out_layout.empty() && attrs.out_layout != "NCHW") ||
        !size.has_value() || !strides.has_value() || !dilation.has_value() ||
        !padding.has_value()) {
      return false;
    }
    const auto axis = [&](size_t d) {
      return blocked::Axis{.in = x.shape[2 + d],
                           .kernel = (*size)[d],
                           .stride = (*strides)[d],
                           .dilation = (*dilation)[d],
                           .pad_before = (*padding)[d],
                           .out = y.shape[2 + d]};
    };
    choice.params.h = axis(0);
    choice.params.w = axis(1);
    // The evaluator's kernel refuses windows that do not fit.
    for (size_t d = 0; d < 2; ++d) {
      if (x.shape[2 + d] + (*padding)[d] + (*padding)[2 + d] <=
          ((*size)[d] - 1) * (*dilation)[d]) {
        return false;
      }
    }
    return true;
  };
  if (op == "nn.max_pool2d") {
    choice.kind = PoolKind::kMax;
    const auto* attrs = node.call->attrs_as<relay::MaxPool2DAttrs>();
    if (attrs == nullptr || !set(*attrs)) return std::nullopt;
    return choice;
  }
  if (op == "nn.avg_pool2d") {
    choice.kind = PoolKind::kAverage;
    const auto* attrs = node.call->attrs_as<relay::AvgPool2DAttrs>();
    if (attrs == nullptr || !set(*attrs)) return std::nullopt;
    choice.params.count_include_pad = attrs->count_include_pad;
    return choice;
  }
  if (op == "nn.global_avg_pool2d" || op == "nn.global_max_pool2d") {
    choice.kind = op == "nn.global_avg_pool2d" ? PoolKind::kGlobalAverage
                                               : PoolKind::kGlobalMax;
    const auto& attrs =
        AttrsOrDefaults<relay::GlobalPool2DAttrs>(node.call->attrs());
    if (attrs.layout != "NCHW" ||
        (!attrs.out_layout.empty() && attrs.out_layout != "NCHW")) {
      return std::nullopt;
    }
    return choice;
  }
  return std::nullopt;
}

Work WorkOfConv(const blocked::ConvParams& params) {
  const bool is_depthwise =
      params.in_channels == 1 && params.out_channels == 1 && params.groups > 1;
  const auto taps = static_cast<double>(params.h.kernel * params.w.kernel);
  const bool is_pointwise = taps == 1;
  // Few channels are read like planar ones: a unit of a sum has few terms.
  const bool is_thin =
      params.groups == 1 && params.in_channels < blocked::kBlock;
  const KernelFamily family = is_depthwise ? KernelFamily::kConvDepthwise
                              : params.planar_input || is_thin
                                  ? is_pointwise
                                        ? KernelFamily::kConvPlanarPointwise
                                        : KernelFamily::kConvPlanar
                              : params.groups > 1 ? KernelFamily::kConvGrouped
                              : is_pointwise      ? KernelFamily::kConvPointwise
                                                  : KernelFamily::kConv;
  const auto positions = static_cast<double>(params.h.out * params.w.out);
  // Lanes without a channel take their time, too.
  const double channels = is_depthwise ? RoundedUp(params.groups)
                                       : static_cast<double>(params.groups) *
                                             RoundedUp(params.out_channels);
  const double terms = static_cast<double>(params.in_channels) * taps;
  return Work()
      .AddFlops(
          family,
          2 * static_cast<double>(params.batch) * channels * positions * terms,
          positions, terms)
      .Beside(KernelRate::kMemory, channels * terms * 4);
}

Work WorkOfMatmul(const blocked::MatmulParams& params) {
  const double columns = RoundedUp(params.n);
  const auto rows = static_cast<double>(params.m);
  const auto terms = static_cast<double>(params.k);
  return Work()
      .AddFlops(KernelFamily::kMatmul, 2 * rows * columns * terms, rows, terms)
      .Beside(KernelRate::kMemory, columns * terms * 4);
}

Work WorkOfProduct(const ProductChoice& product) {
  const blocked::MatmulParams& p = product.params;
  const auto batch = static_cast<double>(product.batch);
  const auto rows = static_cast<double>(p.m);
  const auto terms = static_cast<double>(p.k);
  return Work()
      .AddFlops(KernelFamily::kMatmulBatch,
                2 * batch * rows * RoundedUp(p.n) * terms, rows, terms)
      .Add(KernelRate::kPackMatrix, batch * terms * static_cast<double>(p.n));
}

KernelChoice ConvStep(const blocked::Kernels& kernels,
                      const blocked::ConvParams& params, int x, int packed,
                      const EpilogueOperands& epilogue, int y) {
  KernelChoice choice;
  choice.function = RunConv;
  choice.params = std::make_shared<ConvStepParams>(
      ConvStepParams{&kernels, params, EpilogueForm(epilogue)});
  const bool depthwise = params.in_channels == 1 && params.out_channels == 1;
  choice.kernel = absl::StrCat(
      "conv.blocked16", params.planar_input                      ? ".first"
                        : depthwise                              ? ".depthwise"
                        : params.groups > 1                      ? ".grouped"
                        : params.h.kernel * params.w.kernel == 1 ? ".pointwise"
                                                                 : "");
  choice.inputs = {x, packed};
  choice.outputs = {y};
  AddOperands(epilogue, choice);
  choice.items = std::max<int64_t>(1, blocked::ConvItems(params));
  choice.workspace_bytes =
      static_cast<int64_t>(blocked::ConvWorkspaceSize(params));
  choice.flops = 2.0 *
                 static_cast<double>(params.batch * params.groups *
                                     params.in_channels * params.out_channels) *
                 static_cast<double>(params.h.kernel * params.w.kernel *
                                     params.h.out * params.w.out);
  choice.work = WorkOfConv(params);
  choice.reason =
      params.planar_input ? "a map of few channels is read where it is"
      : depthwise         ? "a block of channels is a vector"
      : params.groups > 1 && params.out_channels % blocked::kBlock != 0
          ? "groups end within blocks: their sums are joined, then stored"
          : "weights are packed for blocks of 16 channels";
  return choice;
}

KernelChoice MatmulStep(const blocked::Kernels& kernels,
                        const blocked::MatmulParams& params, int x, int packed,
                        const EpilogueOperands& epilogue, int y) {
  KernelChoice choice;
  choice.function = RunMatmul;
  choice.params = std::make_shared<MatmulStepParams>(
      MatmulStepParams{&kernels, params, EpilogueForm(epilogue)});
  choice.kernel = params.m == 1 ? "matmul.vector" : "matmul.packed";
  choice.reason = "the weight is constant, and packed";
  choice.inputs = {x, packed};
  choice.outputs = {y};
  AddOperands(epilogue, choice);
  choice.items = std::max<int64_t>(1, blocked::MatmulItems(params));
  choice.workspace_bytes =
      static_cast<int64_t>(blocked::MatmulWorkspaceSize(params));
  choice.flops = 2.0 * static_cast<double>(params.m * params.n) *
                 static_cast<double>(params.k);
  choice.work = WorkOfMatmul(params);
  return choice;
}

std::optional<ProductChoice> ProductOf(const GraphNode& node,
                                       const Graph& graph, int64_t least_rows) {
  if (node.inputs.size() != 2 || node.outputs.size() != 1) return std::nullopt;
  const GraphTensor& a = TensorOf(graph, node.inputs[0]);
  const GraphTensor& b = TensorOf(graph, node.inputs[1]);
  const GraphTensor& y = TensorOf(graph, node.outputs[0]);
  const DType f32 = DType::Float(32);
  if (a.dtype != f32 || b.dtype != f32 || y.dtype != f32 ||
      a.num_elements() == 0 || y.num_elements() == 0) {
    return std::nullopt;
  }
  ProductChoice product;
  blocked::MatmulParams& p = product.params;
  if (node.op_name() == "nn.batch_matmul") {
    const auto& attrs =
        AttrsOrDefaults<relay::BatchMatmulAttrs>(node.call->attrs());
    if (attrs.transpose_a || a.shape.size() != 3 || b.shape.size() != 3 ||
        y.shape.size() != 3) {
      return std::nullopt;
    }
    product.transposed = attrs.transpose_b;
    product.batch = y.shape[0];
    p.m = y.shape[1];
    p.n = y.shape[2];
    p.k = a.shape[2];
    const auto places = [&](const GraphTensor& t) {
      return t.shape[0] == 1 ? MatrixPlaces{}
                             : MatrixPlaces{.group = product.batch,
                                            .step = t.shape[1] * t.shape[2]};
    };
    product.a = places(a);
    product.b = places(b);
    product.y = places(y);
  } else {
    if (node.op_name() == "nn.matmul") {
      const auto* attrs = node.call->attrs_as<relay::MatmulAttrs>();
      if (attrs != nullptr && attrs->transpose_a) return std::nullopt;
    } else if (node.op_name() != "nn.dense") {
      return std::nullopt;
    }
    if (b.shape.size() != 2 || a.shape.empty()) return std::nullopt;
    product.transposed = HasTransposedWeight(node);
    p.k = a.shape.back();
    p.m = a.num_elements() / p.k;
    p.n = y.num_elements() / p.m;
  }
  if (p.m < least_rows || product.batch * p.m * p.n != y.num_elements() ||
      p.k * p.n * (product.b.step == 0 ? 1 : product.batch) !=
          b.num_elements()) {
    return std::nullopt;
  }
  return product;
}

namespace {

// The matrices of `batch` x `rows` x `columns` elements that a rearrangement
// makes, as they are in the tensor that it reads.
struct MovedMatrices {
  MatrixPlaces places;
  int64_t row = 0;  // from an element to that in the next row
  int64_t column = 0;
};
std::optional<MovedMatrices> MatricesOf(const Rearrangement& move,
                                        int64_t batch, int64_t rows,
                                        int64_t columns) {
  auto dims = move.dims;
  auto strides = move.strides;
  // Takes the innermost `extent` elements, and returns their stride.
  const auto take = [&](int64_t extent) -> std::optional<int64_t> {
    if (extent == 1) return 0;
    if (dims.empty() || dims.back() % extent != 0) return std::nullopt;
    const int64_t stride = strides.back();
    dims.back() /= extent;
    strides.back() *= extent;
    if (dims.back() == 1) {
      dims.pop_back();
      strides.pop_back();
    }
    return stride;
  };
  MovedMatrices found;
  const std::optional<int64_t> column = take(columns);
  const std::optional<int64_t> row = column.has_value() ? take(rows) : column;
  if (move.base != 0 || !row.has_value() || dims.size() > 2) {
    return std::nullopt;
  }
  int64_t count = 1;
  for (const int64_t extent : dims) count *= extent;
  if (count != batch) return std::nullopt;
  found.row = *row;
  found.column = *column;
  found.places.group = dims.empty() ? 1 : dims.back();
  found.places.step = strides.empty() ? 0 : strides.back();
  found.places.group_step = dims.size() == 2 ? strides[0] : 0;
  return found;
}

}  // namespace

bool ReadMoved(const Rearrangement& move, int operand, ProductChoice& product) {
  blocked::MatmulParams& p = product.params;
  const bool is_a = operand == 0;
  MatrixPlaces& places = is_a ? product.a : product.b;
  const int64_t batch = places.step == 0 ? 1 : product.batch;
  const bool is_transposed = !is_a && product.transposed;
  const int64_t rows = is_a ? p.m : is_transposed ? p.n : p.k;
  const int64_t columns = is_a || is_transposed ? p.k : p.n;
  const std::optional<MovedMatrices> moved =
      MatricesOf(move, batch, rows, columns);
  if (!moved.has_value()) return false;
  if ((columns == 1 || moved->column == 1) && (rows == 1 || moved->row > 0)) {
    (is_a ? p.x_stride : p.b_stride) = rows == 1 ? columns : moved->row;
  } else if (!is_a && (rows == 1 || moved->row == 1) && moved->column > 0) {
    product.transposed = !product.transposed;
    p.b_stride = moved->column;
  } else {
    return false;
  }
  places = moved->places;
  return true;
}

bool StoreMoved(const Rearrangement& move, ProductChoice& product) {
  // The inverse of the permutation: the dimensions in the order of the result
  // that the product has now, with their strides in the other one.
  const size_t rank = move.dims.size();
  std::vector<size_t> order(rank);
  std::vector<int64_t> to(rank, 1);
  for (size_t d = rank; d-- > 0;) {
    order[d] = d;
    if (d + 1 < rank) to[d] = to[d + 1] * move.dims[d + 1];
  }
  std::sort(order.begin(), order.end(), [&](size_t a, size_t b) {
    return move.strides[a] > move.strides[b];
  });
  Rearrangement inverse;
  int64_t count = 1;
  for (size_t i = rank; i-- > 0;) {
    if (move.strides[order[i]] != count) return false;
    count *= move.dims[order[i]];
  }
  blocked::MatmulParams& p = product.params;
  if (move.base != 0 || count != product.batch * p.m * p.n) return false;
  for (const size_t d : order) {
    inverse.dims.push_back(move.dims[d]);
    inverse.strides.push_back(to[d]);
  }
  const std::optional<MovedMatrices> moved =
      MatricesOf(inverse, product.batch, p.m, p.n);
  if (!moved.has_value() || (p.n > 1 && moved->column != 1)) return false;
  p.y_stride = p.m == 1 ? p.n : moved->row;
  product.y = moved->places;
  return true;
}

KernelChoice ProductStep(const blocked::Kernels& kernels,
                         const ProductChoice& product, int a, int b, int y) {
  const blocked::MatmulParams& p = product.params;
  auto params = std::make_shared<ProductStepParams>();
  params->kernels = &kernels;
  params->product = product;
  params->packed_floats = blocked::PackedMatmulSize(p);
  params->items = blocked::MatmulItems(p);
  KernelChoice choice;
  choice.function = RunProduct;
  choice.kernel = "matmul.batch";
  choice.reason = "the second operand is computed: it is packed in each run";
  choice.inputs = {a, b};
  choice.outputs = {y};
  choice.items = product.batch * params->items;
  choice.workspace_bytes =
      static_cast<int64_t>(sizeof(ProductState)) + params->packed_floats * 4 +
      static_cast<int64_t>(blocked::MatmulWorkspaceSize(p));
  choice.flops = 2.0 * static_cast<double>(product.batch * p.m * p.n) *
                 static_cast<double>(p.k);
  choice.work = WorkOfProduct(product);
  choice.params = std::move(params);
  return choice;
}

KernelChoice FoldStep(const blocked::Kernels& kernels,
                      const blocked::FoldParams& params, int x,
                      const EpilogueOperands& epilogue, int y) {
  KernelChoice choice;
  choice.function = RunFold;
  choice.params = std::make_shared<FoldStepParams>(FoldStepParams{
      &kernels, params,
      MapParamsOf({params.batch, params.channels, params.h.in, params.w.in}),
      EpilogueForm(epilogue), !epilogue.is_empty()});
  choice.kernel = "fold.blocked16";
  choice.inputs = {x};
  choice.outputs = {y};
  AddOperands(epilogue, choice);
  choice.items = blocked::FoldItems(params);
  const double windows =
      static_cast<double>(params.batch * params.channels * params.h.kernel *
                          params.w.kernel) *
      static_cast<double>(params.h.out * params.w.out);
  choice.flops = windows;
  choice.work = WorkOf(KernelRate::kFold, windows * 12);
  choice.reason = "windows of a transposed convolution are added";
  return choice;
}

KernelChoice PoolStep(const blocked::Kernels& kernels, const PoolChoice& pool,
                      int x, int y) {
  const blocked::PoolParams& p = pool.params;
  const bool is_global = pool.kind == PoolKind::kGlobalMax ||
                         pool.kind == PoolKind::kGlobalAverage;
  auto params = std::make_shared<PoolStepParams>();
  params->kernel = pool.kind == PoolKind::kMax       ? kernels.max_pool
                   : pool.kind == PoolKind::kAverage ? kernels.avg_pool
                   : pool.kind == PoolKind::kGlobalMax
                       ? kernels.global_max_pool
                       : kernels.global_avg_pool;
  params->params = p;
  params->kind = pool.kind;
  KernelChoice choice;
  choice.function = RunPool;
  choice.params = std::move(params);
  choice.kernel = pool.kind == PoolKind::kMax       ? "max_pool.blocked16"
                  : pool.kind == PoolKind::kAverage ? "avg_pool.blocked16"
                  : pool.kind == PoolKind::kGlobalMax
                      ? "global_max_pool.blocked16"
                      : "global_avg_pool.blocked16";
  choice.reason = "a block of channels is a vector";
  choice.inputs = {x};
  choice.outputs = {y};
  choice.items = std::max<int64_t>(
      1, is_global ? blocked::GlobalPoolItems(p) : blocked::PoolItems(p));
  const double reads =
      static_cast<double>(p.batch * p.channels) *
      static_cast<double>(is_global
                              ? p.h.in * p.w.in
                              : p.h.out * p.w.out * p.h.kernel * p.w.kernel);
  choice.flops = reads;
  choice.work =
      WorkOf(is_global ? KernelRate::kGlobalPool : KernelRate::kPool, reads);
  return choice;
}

std::optional<blocked::BlockedLrnParams> LrnParamsOf(const GraphNode& node,
                                                     const Graph& graph) {
  if (node.op_name() != "nn.lrn" || node.inputs.size() != 1) {
    return std::nullopt;
  }
  const auto& attrs = AttrsOrDefaults<relay::LRNAttrs>(node.call->attrs());
  const GraphTensor& x = TensorOf(graph, node.inputs[0]);
  const int64_t reach = attrs.size / 2;
  if (!IsFloatMap(x) || (attrs.axis != 1 && attrs.axis != -3) ||
      attrs.beta != 0.75 || attrs.size < 1 || attrs.size % 2 == 0 ||
      reach > blocked::kMostReach) {
    return std::nullopt;
  }
  blocked::BlockedLrnParams params;
  params.batch = x.shape[0];
  params.channels = x.shape[1];
  params.positions = x.shape[2] * x.shape[3];
  params.reach = reach;
  params.bias = attrs.bias;
  params.alpha = attrs.alpha / static_cast<double>(attrs.size);
  return params;
}

KernelChoice ApplyStep(const blocked::Kernels& kernels,
                       const TensorShape& planar, int x,
                       const EpilogueOperands& epilogue, int y) {
  const blocked::MapParams params = MapParamsOf(planar);
  KernelChoice choice;
  choice.function = RunApply;
  choice.params = std::make_shared<ApplyStepParams>(
      ApplyStepParams{&kernels, params, EpilogueForm(epilogue)});
  choice.kernel = "apply.blocked16";
  choice.reason = "elementwise calls on a blocked map, in one pass over it";
  choice.inputs = {x};
  choice.outputs = {y};
  choice.in_place = true;
  AddOperands(epilogue, choice);
  choice.items = blocked::MapItems(params);
  const double elements =
      static_cast<double>(params.batch * params.channels * params.positions);
  choice.flops = elements;
  const double bytes = elements * (epilogue.residual >= 0 ? 12 : 8);
  choice.work = WorkOf(
      bytes <= kNearBytes ? KernelRate::kNearMap : KernelRate::kFarMap, bytes);
  return choice;
}

KernelChoice LrnStep(const blocked::Kernels& kernels,
                     const blocked::BlockedLrnParams& params, int x, int y) {
  KernelChoice choice;
  choice.function = RunLrn;
  choice.params =
      std::make_shared<LrnStepParams>(LrnStepParams{&kernels, params});
  choice.kernel = "lrn.blocked16";
  choice.reason = "a block of channels is a vector";
  choice.inputs = {x};
  choice.outputs = {y};
  choice.items = std::max<int64_t>(1, blocked::LrnItems(params));
  const double elements =
      static_cast<double>(params.batch * params.channels * params.positions);
  choice.flops = elements * static_cast<double>(2 * params.reach + 8);
  choice.work = WorkOf(KernelRate::kLrn, elements);
  return choice;
}

KernelChoice GatherStep(const blocked::Kernels& kernels,
                        const std::vector<TensorShape>& inputs,
                        std::vector<blocked::ChannelSource> sources,
                        std::vector<int> xs, int y) {
  auto params = std::make_shared<GatherStepParams>();
  params->kernels = &kernels;
  params->sources = std::move(sources);
  const int64_t positions = inputs[0][2] * inputs[0][3];
  for (const TensorShape& input : inputs) {
    params->strides.push_back(blocked::BlocksOf(input[1]) * blocked::kBlock *
                              positions);
  }
  blocked::GatherParams& p = params->params;
  p.batch = inputs[0][0];
  p.channels = static_cast<int64_t>(params->sources.size());
  p.positions = positions;
  p.sources = params->sources.data();
  p.x_batch_strides = params->strides.data();
  KernelChoice choice;
  choice.function = RunGather;
  choice.kernel = "gather_channels.blocked16";
  choice.reason = "channels move within and between blocks";
  choice.inputs = std::move(xs);
  choice.outputs = {y};
  choice.items = std::max<int64_t>(1, blocked::GatherItems(p));
  choice.work = WorkOf(KernelRate::kGatherChannels,
                       static_cast<double>(p.batch * p.channels * positions));
  choice.params = std::move(params);
  return choice;
}

KernelChoice ToBlockedStep(const blocked::Kernels& kernels,
                           const TensorShape& planar, int x, int y) {
  return MapStep(kernels.to_blocked, "to_blocked16", "ToBlocked",
                 KernelRate::kToBlocked, planar, x, y);
}

KernelChoice ToPlanarStep(const blocked::Kernels& kernels,
                          const TensorShape& planar, int x, int y) {
  return MapStep(kernels.to_planar, "to_planar", "ToPlanar",
                 KernelRate::kToPlanar, planar, x, y);
}

// --- Steps as C++ --------------------------------------------------------

std::string AxisText(const blocked::Axis& axis) {
  const auto& [in, kernel, stride, dilation, pad_before, out] = axis;
  return Braced(in, kernel, stride, dilation, pad_before, out);
}

std::string PlanDefinition(absl::string_view type, const std::string& value) {
  return absl::StrCat("static constexpr kernels::", type, " kPlan@N@ = ", value,
                      ";\n");
}

namespace {

// Each names all fields, in order: the compiler refuses others.

std::string Text(const blocked::ConvParams& params) {
  const auto& [batch, groups, in_channels, out_channels, h, w, planar_input,
               finite_weights, x_batch, y_batch, residual_batch, least_bands] =
      params;
  return Braced(batch, groups, in_channels, out_channels, AxisText(h),
                AxisText(w), planar_input, finite_weights, x_batch, y_batch,
                residual_batch, least_bands);
}

std::string Text(const blocked::internal::ConvPlan& plan) {
  const auto& [params, depthwise, pads, drops, copies, splits, joins,
               joined_step, in_blocks, out_blocks, slabs, rows, columns,
               row_bands, column_bands, copy_h, copy_w, taps, units, chunks,
               terms, in_double, items, copy_bytes, sum_bytes, double_bytes,
               joined_bytes] = plan;
  return Braced(Text(params), depthwise, pads, drops, copies, splits, joins,
                joined_step, in_blocks, out_blocks, slabs, rows, columns,
                row_bands, column_bands, Braced(copy_h.phases, copy_h.extent),
                Braced(copy_w.phases, copy_w.extent), taps, units, chunks,
                terms, in_double, items, copy_bytes, sum_bytes, double_bytes,
                joined_bytes);
}

std::string Text(const blocked::MatmulParams& params) {
  const auto& [m, n, k, x_stride, y_stride, residual_stride, b_stride,
               least_bands] = params;
  return Braced(m, n, k, x_stride, y_stride, residual_stride, b_stride,
                least_bands);
}

std::string Text(const blocked::internal::MatmulPlan& plan) {
  const auto& [params, few_rows, blocks, blocks_of_slab, slabs, rows, bands,
               units, chunks, in_double, items, copy_bytes, sum_bytes,
               double_bytes] = plan;
  return Braced(Text(params), few_rows, blocks, blocks_of_slab, slabs, rows,
                bands, units, chunks, in_double, items, copy_bytes, sum_bytes,
                double_bytes);
}

std::string Text(const blocked::PoolParams& params) {
  const auto& [batch, channels, h, w, count_include_pad, x_batch, y_batch] =
      params;
  return Braced(batch, channels, AxisText(h), AxisText(w), count_include_pad,
                x_batch, y_batch);
}

std::string Text(const blocked::MapParams& params) {
  const auto& [batch, channels, positions, x_batch, y_batch, residual_batch] =
      params;
  return Braced(batch, channels, positions, x_batch, y_batch, residual_batch);
}

std::string Text(const blocked::BlockedLrnParams& params) {
  const auto& [batch, channels, positions, reach, bias, alpha] = params;
  return Braced(batch, channels, positions, reach, bias, alpha);
}

// The epilogue whose operands begin with `first`.
std::string Text(const EpilogueForm& form, int64_t first) {
  const auto next = [&first](bool has) {
    return has ? OperandText(first++) : std::string("nullptr");
  };
  const std::string bias = next(form.has_bias);
  const std::string scale = next(form.has_scale);
  const std::string shift = next(form.has_shift);
  const std::string residual = next(form.has_residual);
  return Braced(bias, scale, shift, residual, form.low, form.high);
}

template <typename Params>
const Params& ParamsOf(const executor::Step& step) {
  return *static_cast<const Params*>(step.params);
}

const char* FunctionOf(PoolKind kind) {
  switch (kind) {
    case PoolKind::kMax:
      return "MaxPool";
    case PoolKind::kAverage:
      return "AvgPool";
    case PoolKind::kGlobalMax:
      return "GlobalMaxPool";
    case PoolKind::kGlobalAverage:
      return "GlobalAvgPool";
  }
  return "";
}

// Definitions of kPlan@N@, and of kTiles@N@, the tiles that it uses.
std::string PlanAndTiles(const std::string& type, const std::string& plan) {
  return absl::StrCat(
      PlanDefinition(type, plan),
      "static constexpr const kernels::PlanTiles& kTiles@N@ =\n    "
      "kernels::UsedTiles<kernels::TilesUsedBy(kPlan@N@)>::tiles;\n");
}

// The definitions and the begin of a call of MatmulByTiles.
std::string MatmulDefinitions(const blocked::internal::MatmulPlan& plan) {
  return plan.few_rows ? PlanDefinition("internal::MatmulPlan", Text(plan))
                       : PlanAndTiles("internal::MatmulPlan", Text(plan));
}
std::string MatmulCall(const blocked::internal::MatmulPlan& plan) {
  return plan.few_rows ? "kernels::MatmulByTiles<true>(kPlan@N@, nullptr, "
                       : "kernels::MatmulByTiles<false>(kPlan@N@, &kTiles@N@, ";
}

StepSource ProductSource(const ProductStepParams& p) {
  const ProductChoice& product = p.product;
  const blocked::internal::MatmulPlan plan =
      blocked::internal::MakeMatmulPlan(product.params);
  const blocked::MatmulParams& params = product.params;
  const int64_t b_stride = params.b_stride != 0 ? params.b_stride
                           : product.transposed ? params.k
                                                : params.n;
  const auto begin = [&product](const MatrixPlaces& places) {
    if (places.group >= product.batch) return absl::StrCat("i * ", places.step);
    return absl::StrCat("i / ", places.group, " * ", places.group_step,
                        " + i % ", places.group, " * ", places.step);
  };
  const bool has_adjacent_rows = plan.params.x_stride == params.k &&
                                 plan.params.y_stride == params.n &&
                                 b_stride == params.k;
  StepSource source;
  source.texts = StepSource::kMatmul;
  source.items = product.batch;
  // Rows that are few do not repay the packing.
  constexpr int64_t kFewDots = 3;
  if (product.transposed && params.m <= kFewDots && has_adjacent_rows &&
      !blocked::Sums{.channels = params.k}.in_double()) {
    source.statements = absl::StrCat(
        "  for (int64_t i = begin; i < end; ++i) {\n    kernels::Dots(",
        params.m, ", ", params.n, ", ", params.k, ", @0@ + ", begin(product.a),
        ",\n        @1@ + ", begin(product.b), ", @2@ + ", begin(product.y),
        ");\n  }\n");
    return source;
  }
  source.definitions = MatmulDefinitions(plan);
  source.statements = absl::StrCat(
      "  float* const packed = reinterpret_cast<float*>(workspace);\n"
      "  const float* packed_of = nullptr;\n"
      "  for (int64_t i = begin; i < end; ++i) {\n"
      "    const float* const b = @1@ + ",
      begin(product.b),
      ";\n    if (b != packed_of) {\n      kernels::PackMatrix(", params.n,
      ", ", params.k, ", b, ", b_stride, ", ", CppText(product.transposed),
      ", packed);\n      packed_of = b;\n    }\n    ", MatmulCall(plan),
      "@0@ + ", begin(product.a), ", packed, {},\n        @2@ + ",
      begin(product.y), ", packed + ", p.packed_floats, ", false, 0, ", p.items,
      ");\n  }\n");
  return source;
}

StepSource GatherSource(const GatherStepParams& p, const executor::Step& step) {
  std::vector<std::string> sources;
  for (const blocked::ChannelSource& source : p.sources) {
    sources.push_back(Braced(int64_t{source.input}, int64_t{source.channel}));
  }
  std::vector<std::string> xs;
  for (int32_t i = 0; i < step.num_inputs; ++i) xs.push_back(OperandText(i));
  StepSource source;
  source.texts = StepSource::kChannels;
  source.definitions = absl::StrCat(
      "static constexpr kernels::ChannelSource kSources@N@[] = {\n    ",
      absl::StrJoin(sources, ", "),
      "};\nstatic constexpr int64_t kStrides@N@[] = {",
      absl::StrJoin(p.strides, ", "), "};\n",
      PlanDefinition("GatherParams",
                     Braced(p.params.batch, p.params.channels,
                            p.params.positions, "kSources@N@", "kStrides@N@")));
  source.statements =
      absl::StrCat("  const float* const xs[] = {", absl::StrJoin(xs, ", "),
                   "};\n  kernels::Gather(kPlan@N@, xs, ",
                   OperandText(step.num_inputs), ", begin, end);\n");
  return source;
}

}  // namespace

std::optional<StepSource> BlockedStepSource(const executor::Step& step,
                                            int threads) {
  StepSource source;
  source.items = step.items;
  source.workspace_bytes = step.workspace_bytes;
  const std::string y = OperandText(step.num_inputs);
  if (step.function == RunConv) {
    const auto& p = ParamsOf<ConvStepParams>(step);
    blocked::ConvParams params = p.params;
    params.least_bands = blocked::ConvBandsFor(threads, params);
    const auto plan = blocked::internal::MakeConvPlan(params);
    source.texts = StepSource::kConv;
    source.items = std::max<int64_t>(1, plan.items);
    source.workspace_bytes =
        static_cast<int64_t>(blocked::ConvWorkspaceSize(params));
    source.definitions = plan.depthwise
                             ? PlanDefinition("internal::ConvPlan", Text(plan))
                             : PlanAndTiles("internal::ConvPlan", Text(plan));
    source.statements = absl::StrCat(
        plan.depthwise ? "  kernels::Depthwise(kPlan@N@, "
                       : "  kernels::ConvByTiles(kPlan@N@, kTiles@N@, ",
        "@0@, @1@,\n      ", Text(p.epilogue, 2), ",\n      ", y,
        plan.depthwise ? "" : ", workspace, resumes", ", begin, end);\n");
    return source;
  }
  if (step.function == RunMatmul) {
    const auto& p = ParamsOf<MatmulStepParams>(step);
    blocked::MatmulParams params = p.params;
    params.least_bands = threads;
    const auto plan = blocked::internal::MakeMatmulPlan(params);
    source.texts = StepSource::kMatmul;
    source.items = std::max<int64_t>(1, plan.items);
    source.workspace_bytes =
        static_cast<int64_t>(blocked::MatmulWorkspaceSize(params));
    source.definitions = MatmulDefinitions(plan);
    source.statements = absl::StrCat(
        "  ", MatmulCall(plan), "@0@, @1@,\n      ", Text(p.epilogue, 2),
        ",\n      ", y, ", workspace, resumes, begin, end);\n");
    return source;
  }
  if (step.function == RunProduct) {
    source = ProductSource(ParamsOf<ProductStepParams>(step));
    source.workspace_bytes = step.workspace_bytes;
    return source;
  }
  if (step.function == RunPool) {
    const auto& p = ParamsOf<PoolStepParams>(step);
    source.texts = StepSource::kPool;
    source.definitions = PlanDefinition("PoolParams", Text(p.params));
    source.statements = absl::StrCat("  kernels::", FunctionOf(p.kind),
                                     "(kPlan@N@, @0@, ", y, ", begin, end);\n");
    return source;
  }
  if (step.function == RunMap) {
    const auto& p = ParamsOf<MapStepParams>(step);
    source.texts = StepSource::kMap;
    source.definitions = PlanDefinition("MapParams", Text(p.params));
    source.statements = absl::StrCat("  kernels::", p.name, "(kPlan@N@, @0@, ",
                                     y, ", begin, end);\n");
    return source;
  }
  if (step.function == RunApply) {
    const auto& p = ParamsOf<ApplyStepParams>(step);
    source.texts = StepSource::kMap;
    source.definitions = PlanDefinition("MapParams", Text(p.params));
    source.statements =
        absl::StrCat("  kernels::Apply(kPlan@N@, @0@, ", Text(p.epilogue, 1),
                     ",\n      ", y, ", begin, end);\n");
    return source;
  }
  if (step.function == RunFold) {
    const auto& p = ParamsOf<FoldStepParams>(step);
    source.texts = StepSource::kFold;
    source.definitions = PlanDefinition(
        "FoldParams", Braced(p.params.batch, p.params.channels,
                             AxisText(p.params.h), AxisText(p.params.w)));
    source.statements =
        absl::StrCat("  kernels::Fold(kPlan@N@, @0@, ", y, ", begin, end);\n");
    if (p.has_epilogue) {
      absl::StrAppend(
          &source.definitions,
          "static constexpr kernels::MapParams kMap@N@ = ", Text(p.map), ";\n");
      absl::StrAppend(&source.statements, "  kernels::Apply(kMap@N@, ", y, ", ",
                      Text(p.epilogue, 1), ",\n      ", y, ", begin, end);\n");
    }
    return source;
  }
  if (step.function == RunLrn) {
    const auto& p = ParamsOf<LrnStepParams>(step);
    source.texts = StepSource::kChannels;
    source.definitions = PlanDefinition("BlockedLrnParams", Text(p.params));
    source.statements =
        absl::StrCat("  kernels::Lrn(kPlan@N@, @0@, ", y, ", begin, end);\n");
    return source;
  }
  if (step.function == RunGather) {
    StepSource gather = GatherSource(ParamsOf<GatherStepParams>(step), step);
    gather.items = step.items;
    return gather;
  }
  return std::nullopt;
}

TensorShape BlockedShape(const TensorShape& planar) {
  return {planar[0], blocked::BlocksOf(planar[1]), planar[2], planar[3],
          blocked::kBlock};
}

absl::StatusOr<Tensor> ToBlocked(const Tensor& planar,
                                 const TensorShape& shape) {
  BATON_ASSIGN_OR_RETURN(
      MutableTensor result,
      MutableTensor::Create(planar.dtype(), BlockedShape(shape)));
  const blocked::MapParams params = MapParamsOf(shape);
  blocked::KernelsOf(blocked::Width::kPlain128)
      ->to_blocked(params, planar.span<float>().data(),
                   static_cast<float*>(result.data()), 0,
                   blocked::MapItems(params));
  return std::move(result).Freeze();
}

}  // namespace baton::cpu
