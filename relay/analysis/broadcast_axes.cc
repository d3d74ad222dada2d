#include "baton/relay/analysis/broadcast_axes.h"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <utility>
#include <vector>

#include "absl/container/inlined_vector.h"
#include "absl/strings/string_view.h"
#include "absl/types/span.h"
#include "baton/base/dtype.h"
#include "baton/base/tensor.h"
#include "baton/ir/op.h"
#include "baton/ir/type.h"
#include "baton/relay/ir/expr.h"
#include "baton/relay/ir/visit.h"
#include "baton/relay/op/dim_math.h"
#include "baton/relay/op/op_flags.h"
#include "baton/relay/op/tensor.h"

namespace baton::relay {
namespace {

bool SameExtent(const Dim& a, const Dim& b) {
  return a == b || ProvablyEqual(a, b);
}

// Calls `on_other(axis of rhs)` for each axis of `rhs` that is not in `axes`.
// Returns whether `rhs` matches.
template <typename Fn>
bool MatchAxes(const TensorTypeNode& lhs, const TensorTypeNode& rhs,
               AxisSet axes, Fn&& on_other) {
  const int missing = lhs.rank() - rhs.rank();
  if (missing < 0) return false;
  int matched = 0;
  for (int i = 0; i < lhs.rank(); ++i) {
    if (axes.contains(i)) {
      if (i < missing || !SameExtent(lhs.dim(i), rhs.dim(i - missing))) {
        return false;
      }
      ++matched;
    } else if (i >= missing) {
      if (!rhs.dim(i - missing).is_const(1)) return false;
      on_other(i - missing);
    }
  }
  return matched == axes.size();
}

// True if all extents that MatchExtents() compares are one number.
bool HaveOneNumber(absl::Span<const Expr> typed, int axis) {
  const TensorTypeNode* data = typed[0]->tensor_type();
  if (data == nullptr || axis < 0 || axis >= data->rank() ||
      !data->dim(axis).is_const()) {
    return false;
  }
  const int64_t extent = data->dim(axis).value();
  for (const Expr& vector : typed.subspan(1)) {
    const TensorTypeNode* type = vector->tensor_type();
    if (type == nullptr || type->rank() != 1 ||
        !type->dim(0).is_const(extent)) {
      return false;
    }
  }
  return true;
}

}  // namespace

bool MatchBroadcastToLeftAxes(const TensorTypeNode& lhs,
                              const TensorTypeNode& rhs, AxisSet axes) {
  return MatchAxes(lhs, rhs, axes, [](int) {});
}

Expr SqueezeToLeftAxes(const TensorTypeNode& lhs, const TensorTypeNode& rhs,
                       AxisSet axes, const Expr& value) {
  if (rhs.rank() == 0 && !axes.empty()) {
    for (const int axis : axes) {
      if (axis >= lhs.rank()) return {};
    }
    // Nothing is repeated zero times.
    if (!IsStaticAlong(lhs.shape(), axes) ||
        std::any_of(axes.begin(), axes.end(),
                    [&](int axis) { return lhs.dim(axis).is_const(0); })) {
      return {};
    }
    Expr result = ExpandDims(value, 0, axes.size());
    int i = 0;
    for (const int axis : axes) {
      result = Repeat(result, lhs.dim(axis).value(), i++);
    }
    return result;
  }
  std::vector<int64_t> others;
  if (!MatchAxes(lhs, rhs, axes, [&](int axis) { others.push_back(axis); })) {
    return {};
  }
  return others.empty() ? value : Squeeze(value, std::move(others));
}

bool MatchExtents(absl::Span<const Expr> typed, int axis,
                  absl::Span<Expr> args) {
  if (HaveOneNumber(typed.first(args.size()), axis)) return true;
  const auto axis_of = [axis](size_t i) { return i == 0 ? axis : 0; };
  const auto extent_of = [&](size_t i) {
    const TensorTypeNode* type = typed[i]->tensor_type();
    const bool has_axis = type != nullptr && axis_of(i) >= 0 &&
                          axis_of(i) < type->rank() &&
                          (i == 0 || type->rank() == 1);
    return has_axis ? type->dim(axis_of(i)) : Dim::Any();
  };
  Dim extent = Dim::Any();
  for (size_t i = 0; i < args.size(); ++i) {
    const Dim own = extent_of(i);
    if (extent.is_any() || own.is_const()) extent = own;
  }
  for (size_t i = 0; i < args.size(); ++i) {
    const Dim own = extent_of(i);
    if (own.is_any() || SameExtent(own, extent)) continue;
    if (!extent.is_const() || own.is_const()) return false;
    // 0 keeps an extent.
    const int rank = typed[i]->tensor_type()->rank();
    std::vector<int64_t> shape(static_cast<size_t>(rank), 0);
    shape[static_cast<size_t>(axis_of(i))] = extent.value();
    args[i] = Reshape(std::move(args[i]), std::move(shape));
  }
  return true;
}

Expr ExpandBiasToMatchAxis(Expr value, int target_rank, AxisSet axes) {
  const absl::InlinedVector<int, 4> list(axes.begin(), axes.end());
  // From the last axis to the first: the axes that follow it in the result.
  int next = target_rank;
  for (size_t i = list.size(); i > 0; --i) {
    const int padding = next - list[i - 1] - 1;
    if (padding > 0) value = ExpandDims(value, static_cast<int>(i), padding);
    next = list[i - 1];
  }
  return value;
}

Expr ReshapeToMatchAxis(const Expr& value, absl::Span<const Dim> shape,
                        AxisSet axes) {
  if (!IsStaticAlong(shape, axes)) return {};
  std::vector<int64_t> new_shape(shape.size(), 1);
  for (const int axis : axes) new_shape[axis] = shape[axis].value();
  return Reshape(value, std::move(new_shape));
}

Expr ReshapeOrExpandToMatchAxis(const Expr& value, absl::Span<const Dim> shape,
                                AxisSet axes) {
  return axes.size() > 1 ? ReshapeToMatchAxis(value, shape, axes)
                         : ExpandBiasToMatchAxis(
                               value, static_cast<int>(shape.size()), axes);
}

bool IsStaticAlong(absl::Span<const Dim> shape, AxisSet axes) {
  return std::all_of(axes.begin(), axes.end(), [&](int axis) {
    return static_cast<size_t>(axis) < shape.size() && shape[axis].is_const();
  });
}

Expr WithArgs(const CallNode& call, absl::Span<const Expr> args) {
  absl::InlinedVector<Expr, 6> children = {call.op()};
  children.insert(children.end(), args.begin(), args.end());
  return WithChildren(&call, children);
}

bool IsNonNegativeConstant(const Expr& expr) {
  const ExprNode* node = expr.get();
  while (node->kind() == ExprKind::kCall) {
    const auto* call = static_cast<const CallNode*>(node);
    if (!IsRearranging(call->op())) return false;
    node = call->arg(0).get();
  }
  if (node->kind() != ExprKind::kConstant) return false;
  const Tensor& value = static_cast<const ConstantNode*>(node)->value();
  const DType dtype = value.dtype();
  const bool is_known =
      dtype == DType::Float(32) || dtype == DType::Float(64) ||
      (dtype.is_integral() && (dtype.bits() == 8 || dtype.bits() == 32));
  if (!is_known) return false;
  return VisitDType(dtype, [&]<typename T>() {
    // The elements need not be aligned, and the first ones may decide.
    const absl::string_view bytes = value.bytes();
    for (size_t at = 0; at < bytes.size(); at += sizeof(T)) {
      T element;
      std::memcpy(&element, bytes.data() + at, sizeof(T));
      if (!(element >= T{0})) return false;
    }
    return true;
  });
}

}  // namespace baton::relay
