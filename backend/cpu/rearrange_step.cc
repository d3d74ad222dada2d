#include "baton/backend/cpu/rearrange_step.h"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <memory>
#include <optional>
#include <utility>
#include <vector>

#include "baton/backend/cpu/graph.h"
#include "baton/backend/cpu/kernel_choice.h"
#include "baton/backend/cpu/rearrangement.h"
#include "baton/ir/attrs.h"
#include "baton/relay/op/tensor/shape.h"
#include "baton/runtime/executor/plan.h"

namespace baton::cpu {
namespace {

constexpr double kBytesPerNs = 6;
constexpr size_t kMaxOuter = 8;
// Rows and columns of a tile of a transposition.
constexpr int64_t kTile = 16;
// An item moves about so many elements.
constexpr int64_t kItemElements = 4096;

// The result is `outer` dimensions of planes of rows by columns. Elements of a
// row are adjacent in the result; rows are row_to apart there.
struct MoveParams {
  int64_t base = 0;
  size_t num_outer = 0;
  int64_t dims[kMaxOuter];
  int64_t from[kMaxOuter];
  int64_t to[kMaxOuter];
  int64_t rows = 1;
  int64_t row_from = 0;
  int64_t row_to = 0;
  int64_t columns = 1;
  int64_t column_from = 1;
  int64_t rows_of_item = 1;
  int64_t items_of_plane = 1;
};

template <typename T>
void MovePlane(const MoveParams& p, const T* from, int64_t begin, int64_t end,
               T* to) {
  if (p.column_from == 1) {
    for (int64_t r = begin; r < end; ++r) {
      std::memcpy(to + r * p.row_to, from + r * p.row_from,
                  static_cast<size_t>(p.columns) * sizeof(T));
    }
    return;
  }
  if (p.column_from == 0) {
    for (int64_t r = begin; r < end; ++r) {
      std::fill_n(to + r * p.row_to, p.columns, from[r * p.row_from]);
    }
    return;
  }
  for (int64_t r0 = begin; r0 < end; r0 += kTile) {
    const int64_t r1 = std::min(end, r0 + kTile);
    for (int64_t c0 = 0; c0 < p.columns; c0 += kTile) {
      const int64_t c1 = std::min(p.columns, c0 + kTile);
      for (int64_t r = r0; r < r1; ++r) {
        for (int64_t c = c0; c < c1; ++c) {
          to[r * p.row_to + c] = from[r * p.row_from + c * p.column_from];
        }
      }
    }
  }
}

template <typename T>
int Move(const executor::StepCall& call) {
  const MoveParams& p = *static_cast<const MoveParams*>(call.params);
  const T* const x = static_cast<const T*>(call.inputs[0]) + p.base;
  T* const y = static_cast<T*>(call.outputs[0]);
  for (int64_t item = call.begin; item < call.end; ++item) {
    const int64_t begin = item % p.items_of_plane * p.rows_of_item;
    const int64_t end = std::min(p.rows, begin + p.rows_of_item);
    int64_t rest = item / p.items_of_plane;
    int64_t from = 0;
    int64_t to = 0;
    for (size_t d = p.num_outer; d-- > 0;) {
      from += rest % p.dims[d] * p.from[d];
      to += rest % p.dims[d] * p.to[d];
      rest /= p.dims[d];
    }
    MovePlane<T>(p, x + from, begin, end, y + to);
  }
  return 0;
}

executor::StepFunction MoveOf(int64_t bytes) {
  switch (bytes) {
    case 1:
      return Move<uint8_t>;
    case 2:
      return Move<uint16_t>;
    case 4:
      return Move<uint32_t>;
    case 8:
      return Move<uint64_t>;
    default:
      return nullptr;
  }
}

struct ConcatenateParams {
  std::vector<size_t> bytes;  // of an operand's row
  size_t row_bytes = 0;
  int64_t rows = 1;
  int64_t rows_of_item = 1;
};

int Concatenate(const executor::StepCall& call) {
  const auto& p = *static_cast<const ConcatenateParams*>(call.params);
  const int64_t begin = call.begin * p.rows_of_item;
  const int64_t end = std::min(p.rows, call.end * p.rows_of_item);
  size_t offset = 0;
  for (size_t k = 0; k < p.bytes.size(); ++k) {
    const char* const from = static_cast<const char*>(call.inputs[k]);
    char* const to = static_cast<char*>(call.outputs[0]) + offset;
    for (int64_t r = begin; r < end; ++r) {
      const size_t row = static_cast<size_t>(r);
      std::memcpy(to + row * p.row_bytes, from + row * p.bytes[k], p.bytes[k]);
    }
    offset += p.bytes[k];
  }
  return 0;
}

}  // namespace

std::optional<KernelChoice> RearrangeStep(const Graph& graph,
                                          const Rearrangement& move, int x,
                                          int y) {
  const GraphTensor& result = graph.tensors[static_cast<size_t>(y)];
  const int64_t count = result.num_elements();
  KernelChoice choice;
  choice.function = MoveOf(result.dtype.bytes());
  const size_t rank = move.dims.size();
  if (choice.function == nullptr || count == 0 || rank > kMaxOuter) {
    return std::nullopt;
  }
  auto params = std::make_shared<MoveParams>();
  params->base = move.base;
  std::vector<int64_t> to(rank, 1);
  for (size_t d = rank; d-- > 1;) to[d - 1] = to[d] * move.dims[d];
  // Columns are the last dimension. Rows are the one whose elements are
  // adjacent in the argument, or else the one before the last.
  size_t row = rank;
  if (rank > 0) {
    params->columns = move.dims[rank - 1];
    params->column_from = move.strides[rank - 1];
    if (rank > 1) row = rank - 2;
    for (size_t d = 0; d + 1 < rank && params->column_from > 1; ++d) {
      if (move.strides[d] == 1) row = d;
    }
  }
  for (size_t d = 0; d + 1 < rank; ++d) {
    if (d == row) {
      params->rows = move.dims[d];
      params->row_from = move.strides[d];
      params->row_to = to[d];
      continue;
    }
    params->dims[params->num_outer] = move.dims[d];
    params->from[params->num_outer] = move.strides[d];
    params->to[params->num_outer] = to[d];
    ++params->num_outer;
  }
  params->rows_of_item =
      std::max<int64_t>(kTile, kItemElements / params->columns);
  params->items_of_plane =
      (params->rows + params->rows_of_item - 1) / params->rows_of_item;
  choice.items =
      count / (params->rows * params->columns) * params->items_of_plane;
  choice.kernel = params->column_from == 1 ? "move.rows" : "move.tiles";
  choice.inputs = {x};
  choice.outputs = {y};
  choice.cost_ns = static_cast<double>(2 * result.bytes()) / kBytesPerNs;
  choice.params = std::move(params);
  return choice;
}

std::optional<KernelChoice> ConcatenateStep(const GraphNode& node,
                                            const Graph& graph) {
  if (node.op_name() != "concatenate" || node.outputs.size() != 1) {
    return std::nullopt;
  }
  const GraphTensor& result =
      graph.tensors[static_cast<size_t>(node.outputs[0])];
  int64_t axis =
      AttrsOrDefaults<relay::ConcatenateAttrs>(node.call->attrs()).axis;
  if (axis < 0) axis += static_cast<int64_t>(result.shape.size());
  if (axis < 0 || axis >= static_cast<int64_t>(result.shape.size()) ||
      result.num_elements() == 0) {
    return std::nullopt;
  }
  auto params = std::make_shared<ConcatenateParams>();
  for (int64_t d = 0; d < axis; ++d) {
    params->rows *= result.shape[static_cast<size_t>(d)];
  }
  for (const int t : node.inputs) {
    const GraphTensor& part = graph.tensors[static_cast<size_t>(t)];
    if (part.dtype != result.dtype) return std::nullopt;
    params->bytes.push_back(static_cast<size_t>(part.bytes() / params->rows));
    params->row_bytes += params->bytes.back();
  }
  params->rows_of_item = std::max<int64_t>(
      1, kItemElements * 4 / static_cast<int64_t>(params->row_bytes));
  KernelChoice choice;
  choice.function = Concatenate;
  choice.items =
      (params->rows + params->rows_of_item - 1) / params->rows_of_item;
  choice.kernel = "concatenate.rows";
  choice.inputs = node.inputs;
  choice.outputs = node.outputs;
  choice.cost_ns = static_cast<double>(2 * result.bytes()) / kBytesPerNs;
  choice.params = std::move(params);
  return choice;
}

}  // namespace baton::cpu
