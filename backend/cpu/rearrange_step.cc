#include "baton/backend/cpu/rearrange_step.h"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "baton/backend/cpu/element_bytes.h"
#include "baton/backend/cpu/graph.h"
#include "baton/backend/cpu/kernel_choice.h"
#include "baton/backend/cpu/kernel_costs.h"
#include "baton/backend/cpu/rearrangement.h"
#include "baton/backend/cpu/step_source.h"
#include "baton/ir/attrs.h"
#include "baton/relay/op/nn/spatial.h"
#include "baton/relay/op/tensor/shape.h"
#include "baton/runtime/executor/plan.h"

namespace baton::cpu {
namespace {

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
  return ForElementBytes(
      bytes, []<typename T>() -> executor::StepFunction { return Move<T>; });
}

// A row of the result is a row of the argument between fillings, or a filling,
// where it is outside of the argument.
struct PadParams {
  size_t num_outer = 0;
  int64_t dims[kMaxOuter];  // of the result, but for the row
  int64_t before[kMaxOuter];
  int64_t extents[kMaxOuter];  // of the argument
  int64_t left = 0;
  int64_t columns = 0;
  int64_t right = 0;
  int64_t rows = 1;
  int64_t rows_of_item = 1;
  uint64_t value = 0;  // the bits of the filling

  int64_t width() const { return left + columns + right; }
};

template <typename T>
int Pad(const executor::StepCall& call) {
  const PadParams& p = *static_cast<const PadParams*>(call.params);
  const T* const x = static_cast<const T*>(call.inputs[0]);
  T* const y = static_cast<T*>(call.outputs[0]);
  const T value = static_cast<T>(p.value);
  const int64_t last = std::min(p.rows, call.end * p.rows_of_item);
  for (int64_t row = call.begin * p.rows_of_item; row < last; ++row) {
    int64_t rest = row;
    int64_t from = 0;
    int64_t step = 1;
    bool is_inside = true;
    for (size_t d = p.num_outer; d-- > 0;) {
      const int64_t i = rest % p.dims[d] - p.before[d];
      rest /= p.dims[d];
      is_inside &= i >= 0 && i < p.extents[d];
      from += i * step;
      step *= p.extents[d];
    }
    T* const to = y + row * p.width();
    if (!is_inside) {
      std::fill_n(to, p.width(), value);
      continue;
    }
    std::fill_n(to, p.left, value);
    std::memcpy(to + p.left, x + from * p.columns,
                static_cast<size_t>(p.columns) * sizeof(T));
    std::fill_n(to + p.left + p.columns, p.right, value);
  }
  return 0;
}

executor::StepFunction PadOf(int64_t bytes) {
  return ForElementBytes(
      bytes, []<typename T>() -> executor::StepFunction { return Pad<T>; });
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

// --- C++ ---------------------------------------------------------------------

// The number of bytes of an element of a step whose function is one of
// `function_of(1)`, `function_of(2)`, ...; 0 for others.
int64_t ElementBytes(executor::StepFunction function,
                     executor::StepFunction (*function_of)(int64_t bytes)) {
  for (const int64_t bytes : {1, 2, 4, 8}) {
    if (function == function_of(bytes)) return bytes;
  }
  return 0;
}

// `x` and `y`, as numbers of that many bytes, which tensors of all types are.
std::string Words(int64_t bytes, int64_t base) {
  return absl::StrCat("  typedef uint", 8 * bytes,
                      "_t Word __attribute__((may_alias));\n"
                      "  const Word* const x = reinterpret_cast<const "
                      "Word*>(@0@) + ",
                      base,
                      ";\n  Word* const y = reinterpret_cast<Word*>(@1@);\n");
}

std::string MoveText(const MoveParams& p, int64_t bytes) {
  std::string text = absl::StrCat(
      Words(bytes, p.base),
      "  for (int64_t item = begin; item < end; ++item) {\n"
      "    const int64_t first = item % ",
      p.items_of_plane, " * ", p.rows_of_item,
      ";\n    const int64_t limit = first + ", p.rows_of_item,
      ";\n    const int64_t last = limit < ", p.rows, " ? limit : ", p.rows,
      ";\n    [[maybe_unused]] int64_t rest = item / ", p.items_of_plane,
      ";\n    const Word* from = x;\n    Word* to = y;\n");
  for (size_t d = p.num_outer; d-- > 0;) {
    absl::StrAppend(&text, "    from += rest % ", p.dims[d], " * ", p.from[d],
                    ";\n    to += rest % ", p.dims[d], " * ", p.to[d],
                    ";\n    rest /= ", p.dims[d], ";\n");
  }
  if (p.column_from == 1 || p.column_from == 0) {
    absl::StrAppend(&text,
                    "    for (int64_t r = first; r < last; ++r) {\n"
                    "      Word* const row = to + r * ",
                    p.row_to, ";\n");
    if (p.column_from == 1) {
      absl::StrAppend(&text, "      __builtin_memcpy(row, from + r * ",
                      p.row_from, ", ", p.columns * bytes, ");\n");
    } else {
      absl::StrAppend(&text, "      const Word value = from[r * ", p.row_from,
                      "];\n      for (int64_t c = 0; c < ", p.columns,
                      "; ++c) row[c] = value;\n");
    }
    return absl::StrCat(text, "    }\n  }\n");
  }
  absl::StrAppend(
      &text, "    for (int64_t r0 = first; r0 < last; r0 += ", kTile,
      ") {\n      const int64_t r1 = last < r0 + ", kTile, " ? last : r0 + ",
      kTile, ";\n      for (int64_t c0 = 0; c0 < ", p.columns,
      "; c0 += ", kTile, ") {\n        const int64_t c1 = ", p.columns,
      " < c0 + ", kTile, " ? ", p.columns, " : c0 + ", kTile,
      ";\n        for (int64_t r = r0; r < r1; ++r) {\n"
      "          for (int64_t c = c0; c < c1; ++c) {\n            to[r * ",
      p.row_to, " + c] = from[r * ", p.row_from, " + c * ", p.column_from,
      "];\n          }\n        }\n      }\n    }\n  }\n");
  return text;
}

std::string PadText(const PadParams& p, int64_t bytes) {
  const auto fill = [](int64_t at, int64_t count) {
    return absl::StrCat("for (int64_t c = ", at, "; c < ", at + count,
                        "; ++c) to[c] = value;\n");
  };
  std::string text = absl::StrCat(
      Words(bytes, 0), "  const Word value = static_cast<Word>(", p.value,
      "u);\n  const int64_t limit = end * ", p.rows_of_item,
      ";\n  const int64_t last = limit < ", p.rows, " ? limit : ", p.rows,
      ";\n  for (int64_t row = begin * ", p.rows_of_item,
      "; row < last; ++row) {\n    [[maybe_unused]] int64_t rest = row;\n"
      "    int64_t from = 0;\n    bool is_inside = true;\n");
  int64_t step = 1;
  for (size_t d = p.num_outer; d-- > 0;) {
    absl::StrAppend(&text, "    const int64_t i", d, " = rest % ", p.dims[d],
                    " - ", p.before[d], ";\n    rest /= ", p.dims[d],
                    ";\n    is_inside &= i", d, " >= 0 && i", d, " < ",
                    p.extents[d], ";\n    from += i", d, " * ", step, ";\n");
    step *= p.extents[d];
  }
  absl::StrAppend(&text, "    Word* const to = y + row * ", p.width(),
                  ";\n    if (!is_inside) {\n      ", fill(0, p.width()),
                  "      continue;\n    }\n");
  if (p.left > 0) absl::StrAppend(&text, "    ", fill(0, p.left));
  absl::StrAppend(&text, "    __builtin_memcpy(to + ", p.left, ", x + from * ",
                  p.columns, ", ", p.columns * bytes, ");\n");
  if (p.right > 0) {
    absl::StrAppend(&text, "    ", fill(p.left + p.columns, p.right));
  }
  return absl::StrCat(text, "  }\n");
}

std::string ConcatenateText(const ConcatenateParams& p) {
  std::string text = absl::StrCat(
      "  const int64_t first = begin * ", p.rows_of_item,
      ";\n  const int64_t limit = end * ", p.rows_of_item,
      ";\n  const int64_t last = limit < ", p.rows, " ? limit : ", p.rows,
      ";\n  char* const y = reinterpret_cast<char*>(@", p.bytes.size(),
      "@);\n");
  size_t offset = 0;
  for (size_t k = 0; k < p.bytes.size(); ++k) {
    absl::StrAppend(&text, "  for (int64_t r = first; r < last; ++r) {\n",
                    "    __builtin_memcpy(y + r * ", p.row_bytes, " + ", offset,
                    ",\n        reinterpret_cast<const char*>(@", k,
                    "@) + r * ", p.bytes[k], ", ", p.bytes[k], ");\n  }\n");
    offset += p.bytes[k];
  }
  return text;
}

}  // namespace

std::optional<StepSource> RearrangeStepSource(const executor::Step& step) {
  StepSource source;
  source.items = step.items;
  if (const int64_t move = ElementBytes(step.function, MoveOf); move > 0) {
    source.statements =
        MoveText(*static_cast<const MoveParams*>(step.params), move);
  } else if (const int64_t pad = ElementBytes(step.function, PadOf); pad > 0) {
    source.statements =
        PadText(*static_cast<const PadParams*>(step.params), pad);
  } else if (step.function == Concatenate) {
    source.statements =
        ConcatenateText(*static_cast<const ConcatenateParams*>(step.params));
  } else {
    return std::nullopt;
  }
  return source;
}

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
  choice.reason = params->column_from == 1   ? "rows stay together"
                  : params->column_from == 0 ? "a row repeats one element"
                                             : "neighbours come from apart";
  choice.inputs = {x};
  choice.outputs = {y};
  choice.work =
      WorkOf(KernelRate::kMove, static_cast<double>(2 * result.bytes()));
  choice.params = std::move(params);
  return choice;
}

std::optional<KernelChoice> PadStep(const GraphNode& node, const Graph& graph) {
  if (node.op_name() != "nn.pad" || node.inputs.size() != 2 ||
      node.outputs.size() != 1) {
    return std::nullopt;
  }
  const auto tensor = [&graph](int t) -> const GraphTensor& {
    return graph.tensors[static_cast<size_t>(t)];
  };
  const GraphTensor& x = tensor(node.inputs[0]);
  const GraphTensor& value = tensor(node.inputs[1]);
  const GraphTensor& y = tensor(node.outputs[0]);
  const auto* attrs = node.call->attrs_as<relay::PadAttrs>();
  const int64_t bytes = x.dtype.bytes();
  if (attrs == nullptr || attrs->pad_mode != "constant" ||
      !value.constant.has_value() || value.num_elements() != 1 ||
      value.dtype != x.dtype || y.dtype != x.dtype || PadOf(bytes) == nullptr ||
      x.num_elements() == 0 || x.shape.size() > kMaxOuter ||
      attrs->pad_width.size() != x.shape.size()) {
    return std::nullopt;
  }
  auto params = std::make_shared<PadParams>();
  PadParams& p = *params;
  std::memcpy(&p.value, value.constant->data(), static_cast<size_t>(bytes));
  // The row is the last axis that is padded, with those behind it.
  size_t axis = x.shape.size();
  p.columns = 1;
  while (axis > 0) {
    const std::vector<int64_t>& pads = attrs->pad_width[--axis];
    if (pads.size() != 2 || pads[0] < 0 || pads[1] < 0) return std::nullopt;
    const int64_t inner = p.columns;
    p.columns *= x.shape[axis];
    p.left = pads[0] * inner;
    p.right = pads[1] * inner;
    if (p.left + p.right > 0) break;
  }
  if (p.left + p.right == 0) return std::nullopt;
  for (size_t d = 0; d < axis; ++d) {
    const std::vector<int64_t>& pads = attrs->pad_width[d];
    if (pads.size() != 2 || pads[0] < 0 || pads[1] < 0) return std::nullopt;
    p.dims[d] = y.shape[d];
    p.before[d] = pads[0];
    p.extents[d] = x.shape[d];
    p.rows *= y.shape[d];
  }
  p.num_outer = axis;
  p.rows_of_item = std::max<int64_t>(1, kItemElements / p.width());
  KernelChoice choice;
  choice.function = PadOf(bytes);
  choice.items = (p.rows + p.rows_of_item - 1) / p.rows_of_item;
  choice.kernel = "pad.rows";
  choice.reason = "rows stay together between their padding";
  choice.inputs = {node.inputs[0]};
  choice.outputs = node.outputs;
  choice.work =
      WorkOf(KernelRate::kMove, static_cast<double>(x.bytes() + y.bytes()));
  choice.params = std::move(params);
  return choice;
}

std::optional<KernelChoice> ConcatenateStep(const GraphNode& node,
                                            const Graph& graph) {
  // Rows of a stack have a place in one dimension more.
  const bool is_stack = node.op_name() == "stack";
  if ((!is_stack && node.op_name() != "concatenate") ||
      node.outputs.size() != 1) {
    return std::nullopt;
  }
  const GraphTensor& result =
      graph.tensors[static_cast<size_t>(node.outputs[0])];
  int64_t axis =
      is_stack
          ? AttrsOrDefaults<relay::StackAttrs>(node.call->attrs()).axis
          : AttrsOrDefaults<relay::ConcatenateAttrs>(node.call->attrs()).axis;
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
  choice.reason = "parts alternate, so that none is a part of the result";
  choice.inputs = node.inputs;
  choice.outputs = node.outputs;
  choice.work =
      WorkOf(KernelRate::kMove, static_cast<double>(2 * result.bytes()));
  choice.params = std::move(params);
  return choice;
}

}  // namespace baton::cpu
