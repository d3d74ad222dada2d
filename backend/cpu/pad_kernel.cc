// Steps of the calls of nn.pad that PadStep (rearrange_step.h) does not take:
// edges, reflections, computed values, negative widths.

#include <algorithm>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <memory>
#include <optional>
#include <utility>
#include <vector>

#include "absl/status/statusor.h"
#include "baton/backend/cpu/element_bytes.h"
#include "baton/backend/cpu/graph.h"
#include "baton/backend/cpu/kernel_choice.h"
#include "baton/backend/cpu/kernel_costs.h"
#include "baton/base/dtype.h"
#include "baton/base/status_macros.h"
#include "baton/base/tensor.h"
#include "baton/ir/attrs.h"
#include "baton/ir/op.h"
#include "baton/relay/op/nn/spatial.h"
#include "baton/runtime/executor/plan.h"
#include "baton/runtime/kernels/shape_kernels.h"

namespace baton::cpu {
namespace {

// An item writes about so many elements.
constexpr int64_t kItemElements = 4096;

// A dimension of the result.
struct Dimension {
  int64_t extent = 1;
  int64_t stride = 0;  // of the argument, in elements
  // The index in the argument of each index of the result; negative for none.
  std::vector<int64_t> from;
};

struct Params {
  std::vector<Dimension> outer;
  Dimension row;
  // The indices [begin, end) of a row are adjacent in the argument.
  int64_t begin = 0;
  int64_t end = 0;
  int64_t rows = 1;
  int64_t rows_of_item = 1;
  // The value, if it is constant, in the type of the data.
  std::optional<Tensor> value;
};

// The row of the argument that is row `index` of the result; null for none.
template <typename T>
const T* RowOf(const Params& p, const T* x, int64_t index) {
  for (size_t d = p.outer.size(); d-- > 0;) {
    const Dimension& dimension = p.outer[d];
    const int64_t at =
        dimension.from[static_cast<size_t>(index % dimension.extent)];
    if (at < 0) return nullptr;
    x += at * dimension.stride;
    index /= dimension.extent;
  }
  return x;
}

template <typename T>
int Run(const executor::StepCall& call) {
  const Params& p = *static_cast<const Params*>(call.params);
  const T* const x = static_cast<const T*>(call.inputs[0]);
  const T value = *static_cast<const T*>(p.value.has_value() ? p.value->data()
                                                             : call.inputs[1]);
  const int64_t first = call.begin * p.rows_of_item;
  const int64_t last = std::min(p.rows, call.end * p.rows_of_item);
  T* y = static_cast<T*>(call.outputs[0]) + first * p.row.extent;
  for (int64_t r = first; r < last; ++r, y += p.row.extent) {
    const T* const from = RowOf(p, x, r);
    if (from == nullptr) {
      std::fill_n(y, p.row.extent, value);
      continue;
    }
    const auto edge = [&](int64_t begin, int64_t end) {
      for (int64_t i = begin; i < end; ++i) {
        const int64_t at = p.row.from[static_cast<size_t>(i)];
        y[i] = at < 0 ? value : from[at];
      }
    };
    edge(0, p.begin);
    if (p.begin < p.end) {
      std::memcpy(y + p.begin, from + p.row.from[static_cast<size_t>(p.begin)],
                  static_cast<size_t>(p.end - p.begin) * sizeof(T));
    }
    edge(p.end, p.row.extent);
  }
  return 0;
}

// True if the value for data of `type` may be one of `value_type` in memory: it
// has that type, or is an integer that wraps around in that type, which is its
// first bytes.
bool IsValueOf(DType type, DType value_type) {
  static_assert(std::endian::native == std::endian::little);
  return value_type == type ||
         (type.is_integral() && value_type.is_integral() &&
          type.lanes() == value_type.lanes() &&
          type.bytes() < value_type.bytes());
}

executor::StepFunction RunOf(int64_t bytes) {
  return ForElementBytes(
      bytes, []<typename T>() -> executor::StepFunction { return Run<T>; });
}

absl::StatusOr<std::optional<KernelChoice>> Choose(const GraphNode& node,
                                                   const Graph& graph) {
  if (node.inputs.size() != 2 || node.outputs.size() != 1) return std::nullopt;
  const auto tensor = [&](int t) -> const GraphTensor& {
    return graph.tensors[static_cast<size_t>(t)];
  };
  const GraphTensor& x = tensor(node.inputs[0]);
  const GraphTensor& value = tensor(node.inputs[1]);
  const GraphTensor& y = tensor(node.outputs[0]);
  const auto* attrs = node.call->attrs_as<relay::PadAttrs>();
  const size_t rank = x.shape.size();
  KernelChoice choice;
  choice.function = RunOf(x.dtype.bytes());
  if (attrs == nullptr || choice.function == nullptr || rank == 0 ||
      x.num_elements() == 0 || y.num_elements() == 0 ||
      (!IsValueOf(x.dtype, value.dtype) && !value.constant.has_value()) ||
      value.num_elements() != 1 || attrs->pad_width.size() != rank ||
      y.shape.size() != rank) {
    return std::nullopt;
  }
  const bool is_edge = attrs->pad_mode == "edge";
  const bool is_reflect = attrs->pad_mode == "reflect";
  if (!is_edge && !is_reflect && attrs->pad_mode != "constant") {
    return std::nullopt;
  }
  auto params = std::make_shared<Params>();
  std::vector<Dimension> dimensions(rank);
  int64_t stride = 1;
  for (size_t d = rank; d-- > 0;) {
    Dimension& dimension = dimensions[d];
    dimension.extent = y.shape[d];
    dimension.stride = stride;
    stride *= x.shape[d];
    const int64_t last = x.shape[d] - 1;
    const std::vector<int64_t>& width = attrs->pad_width[d];
    if (width.size() != 2 || width[0] + width[1] + last + 1 != y.shape[d]) {
      return std::nullopt;
    }
    // The evaluator's kernel refuses these.
    if ((is_edge || is_reflect) && (width[0] < 0 || width[1] < 0)) {
      return std::nullopt;
    }
    if (is_reflect && std::max(width[0], width[1]) > last) return std::nullopt;
    for (int64_t i = 0; i < dimension.extent; ++i) {
      const int64_t at = i - width[0];
      if (is_edge) {
        dimension.from.push_back(std::clamp<int64_t>(at, 0, last));
      } else if (is_reflect) {
        dimension.from.push_back(at < 0 ? -at : at > last ? 2 * last - at : at);
      } else {
        dimension.from.push_back(at < 0 || at > last ? -1 : at);
      }
    }
  }
  params->row = std::move(dimensions.back());
  dimensions.pop_back();
  const int64_t before = attrs->pad_width[rank - 1][0];
  params->begin = std::clamp<int64_t>(before, 0, params->row.extent);
  params->end =
      std::clamp(before + x.shape[rank - 1], params->begin, params->row.extent);
  for (const Dimension& dimension : dimensions) {
    params->rows *= dimension.extent;
  }
  params->outer = std::move(dimensions);
  params->rows_of_item =
      std::max<int64_t>(1, kItemElements / params->row.extent);
  choice.kernel = "pad.indexed";
  choice.reason = "a table has the element for each place";
  choice.inputs = {node.inputs[0]};
  if (value.constant.has_value()) {
    BATON_ASSIGN_OR_RETURN(params->value,
                           kernels::Cast(*value.constant, x.dtype));
  } else {
    choice.inputs.push_back(node.inputs[1]);
  }
  choice.outputs = node.outputs;
  choice.items =
      (params->rows + params->rows_of_item - 1) / params->rows_of_item;
  choice.work = WorkOf(KernelRate::kMove, static_cast<double>(2 * y.bytes()));
  choice.params = std::move(params);
  return choice;
}

BATON_EXTEND_OP("nn.pad").Set(CpuKernels(), Choose);

}  // namespace
}  // namespace baton::cpu
