#include "baton/backend/cpu/take_step.h"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <memory>
#include <optional>
#include <utility>

#include "baton/backend/cpu/graph.h"
#include "baton/backend/cpu/kernel_choice.h"
#include "baton/backend/cpu/kernel_costs.h"
#include "baton/base/dtype.h"
#include "baton/base/tensor.h"
#include "baton/ir/attrs.h"
#include "baton/relay/op/tensor/indexing.h"
#include "baton/runtime/executor/plan.h"

namespace baton::cpu {
namespace {

// An item moves about so many bytes.
constexpr int64_t kItemBytes = 16 << 10;

struct Params {
  TakeChoice take;
  int64_t bytes = 0;  // of a row
  int64_t rows_of_item = 1;
};

int64_t InRange(int64_t index, int64_t extent, bool wraps) {
  if (!wraps) return std::clamp<int64_t>(index, 0, extent - 1);
  index %= extent;
  return index < 0 ? index + extent : index;
}

// Copies rows of a constant or of any length.
template <int64_t kBytes, typename PlaceFn>
void CopyRows(const char* from, int64_t bytes, int64_t begin, int64_t end,
              const PlaceFn& place, char* to) {
  const int64_t step = kBytes > 0 ? kBytes : bytes;
  for (int64_t i = begin; i < end; ++i, to += step) {
    std::memcpy(to, from + place(i) * step, static_cast<size_t>(step));
  }
}

template <typename PlaceFn>
void TakeRows(const Params& p, const char* x, int64_t begin, int64_t end,
              const PlaceFn& place, char* y) {
  while (begin < end) {
    const int64_t outer = begin / p.take.count;
    const int64_t first = begin - outer * p.take.count;
    const int64_t last = std::min(p.take.count, first + end - begin);
    const char* const from = x + outer * p.take.extent * p.bytes;
    char* const to = y + begin * p.bytes;
    const auto copy = [&]<int64_t kBytes>() {
      CopyRows<kBytes>(from, p.bytes, first, last, place, to);
    };
    switch (p.bytes) {
      case 1:
        copy.template operator()<1>();
        break;
      case 2:
        copy.template operator()<2>();
        break;
      case 4:
        copy.template operator()<4>();
        break;
      case 8:
        copy.template operator()<8>();
        break;
      case 64:  // the channels of a block
        copy.template operator()<64>();
        break;
      default:
        copy.template operator()<0>();
    }
    begin += last - first;
  }
}

// True if the indices of rows [begin, end) are in the range.
template <typename Index>
bool AreInRange(const TakeChoice& take, const Index* indices, int64_t begin,
                int64_t end) {
  int wrong = 0;
  for (int64_t i = begin; i < std::min(end, begin + take.count); ++i) {
    const int64_t index = indices[i % take.count];
    wrong |= (index < 0 ? 1 : 0) | (index >= take.extent ? 1 : 0);
  }
  return wrong == 0;
}

int Run(const executor::StepCall& call) {
  const Params& p = *static_cast<const Params*>(call.params);
  const int64_t begin = call.begin * p.rows_of_item;
  const int64_t end =
      std::min(p.take.outer * p.take.count, call.end * p.rows_of_item);
  const char* const x = static_cast<const char*>(call.inputs[0]);
  char* const y = static_cast<char*>(call.outputs[0]);
  const auto take_at = [&](const auto* indices) {
    if (p.take.is_checked && !AreInRange(p.take, indices, begin, end)) return 1;
    TakeRows(
        p, x, begin, end,
        [&](int64_t i) {
          return InRange(indices[i], p.take.extent, p.take.wraps);
        },
        y);
    return 0;
  };
  if (p.take.places.has_value()) {
    const int64_t* const places = p.take.places->data();
    TakeRows(
        p, x, begin, end, [places](int64_t i) { return places[i]; }, y);
    return 0;
  }
  return p.take.has_wide_indices
             ? take_at(static_cast<const int64_t*>(call.inputs[1]))
             : take_at(static_cast<const int32_t*>(call.inputs[1]));
}

}  // namespace

std::optional<TakeChoice> TakeOf(const GraphNode& node, const Graph& graph) {
  if (node.op_name() != "take" || node.inputs.size() != 2 ||
      node.outputs.size() != 1) {
    return std::nullopt;
  }
  const auto tensor = [&](int t) -> const GraphTensor& {
    return graph.tensors[static_cast<size_t>(t)];
  };
  const GraphTensor& x = tensor(node.inputs[0]);
  const GraphTensor& indices = tensor(node.inputs[1]);
  const auto& attrs = AttrsOrDefaults<relay::TakeAttrs>(node.call->attrs());
  const auto rank = static_cast<int64_t>(x.shape.size());
  if (attrs.batch_dims != 0 || x.num_elements() == 0 ||
      indices.num_elements() == 0 ||
      (indices.dtype != DType::Int(32) && indices.dtype != DType::Int(64))) {
    return std::nullopt;
  }
  TakeChoice take;
  take.count = indices.num_elements();
  take.element_bytes = x.dtype.bytes();
  take.has_wide_indices = indices.dtype == DType::Int(64);
  take.wraps = attrs.mode == "wrap";
  if (attrs.axis.has_value()) {
    take.axis = *attrs.axis < 0 ? *attrs.axis + rank : *attrs.axis;
    if (take.axis < 0 || take.axis >= rank) return std::nullopt;
    for (int64_t d = 0; d < rank; ++d) {
      const int64_t extent = x.shape[static_cast<size_t>(d)];
      (d < take.axis    ? take.outer
       : d == take.axis ? take.extent
                        : take.inner) *= extent;
    }
  } else {
    take.extent = x.num_elements();
  }
  const bool is_checked = attrs.mode == "fast";
  if (!indices.constant.has_value()) {
    take.is_checked = is_checked;
    return take;
  }
  take.places.emplace();
  for (int64_t i = 0; i < take.count; ++i) {
    const int64_t index = indices.constant->AtAsInt64(i);
    const int64_t place = InRange(index, take.extent, take.wraps);
    if (is_checked && place != index) return std::nullopt;
    take.places->push_back(place);
  }
  return take;
}

KernelChoice TakeStep(TakeChoice take, int x, int indices, int y) {
  auto params = std::make_shared<Params>();
  params->bytes = take.inner * take.element_bytes;
  params->rows_of_item = std::max<int64_t>(1, kItemBytes / params->bytes);
  const int64_t rows = take.outer * take.count;
  KernelChoice choice;
  choice.function = Run;
  choice.items = (rows + params->rows_of_item - 1) / params->rows_of_item;
  choice.kernel = "take.rows";
  choice.reason = "parts are copied, each as a whole";
  choice.moves_bytes = true;
  choice.inputs = {x};
  if (!take.places.has_value()) choice.inputs.push_back(indices);
  choice.outputs = {y};
  choice.work =
      WorkOf(KernelRate::kMove, static_cast<double>(2 * rows * params->bytes));
  params->take = std::move(take);
  choice.params = std::move(params);
  return choice;
}

}  // namespace baton::cpu
