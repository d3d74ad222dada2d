#include "baton/onnx/export_ops/layouts.h"

#include <cstdint>
#include <numeric>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/string_view.h"
#include "baton/base/layout.h"
#include "baton/base/status_macros.h"
#include "baton/onnx/exporter.h"
#include "baton/onnx/graph_builder.h"

namespace baton::onnx {

absl::StatusOr<std::vector<int64_t>> AxisOrder(absl::string_view from,
                                               absl::string_view to) {
  BATON_ASSIGN_OR_RETURN(const Layout source, Layout::Parse(from));
  BATON_ASSIGN_OR_RETURN(const Layout target, Layout::Parse(to));
  std::vector<int64_t> order;
  for (const Layout::Axis& axis : target.axes()) {
    order.push_back(source.IndexOf(axis.letter));
    if (order.back() < 0) break;
  }
  if (source.ndim() != target.ndim() || source.ndim() != source.ndim_primal() ||
      (!order.empty() && order.back() < 0)) {
    return absl::UnimplementedError(absl::StrCat("the layout ", from));
  }
  return order;
}

std::vector<int64_t> WithLastTwoSwapped(int rank) {
  std::vector<int64_t> order(rank);
  std::iota(order.begin(), order.end(), 0);
  std::swap(order[rank - 1], order[rank - 2]);
  return order;
}

absl::StatusOr<ValueId> InLayout(CallExport& call, ValueId value,
                                 absl::string_view from, absl::string_view to) {
  if (from == to) return value;
  BATON_ASSIGN_OR_RETURN(const std::vector<int64_t> order, AxisOrder(from, to));
  return call.Transpose(value, order);
}

ValueId WithAxisAt(CallExport& call, ValueId value, int rank, int axis,
                   int place, bool back) {
  std::vector<int64_t> order;
  for (int i = 0; i < rank; ++i) {
    if (i != axis) order.push_back(i);
  }
  order.insert(order.begin() + place, axis);
  if (!back) return call.Transpose(value, order);
  std::vector<int64_t> inverse(rank);
  for (int i = 0; i < rank; ++i) inverse[order[i]] = i;
  return call.Transpose(value, inverse);
}

}  // namespace baton::onnx
