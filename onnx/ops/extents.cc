#include "baton/onnx/ops/extents.h"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <numeric>
#include <optional>
#include <utility>
#include <vector>

#include "absl/types/span.h"
#include "baton/base/dtype.h"
#include "baton/base/tensor.h"
#include "baton/ir/attrs.h"
#include "baton/ir/op.h"
#include "baton/ir/type.h"
#include "baton/onnx/converter.h"
#include "baton/relay/ir/constant.h"
#include "baton/relay/ir/expr.h"
#include "baton/relay/op/dim_math.h"
#include "baton/relay/op/tensor/create.h"
#include "baton/relay/op/tensor/elementwise.h"
#include "baton/relay/op/tensor/indexing.h"
#include "baton/relay/op/tensor/shape.h"

namespace baton::onnx {

using relay::operator*;
using Ints = std::vector<int64_t>;

Expr ExtentOf(const Expr& x, int axis) {
  const Dim& dim = x->tensor_type()->dim(axis);
  if (dim.is_const()) return relay::Const(Tensor::Scalar<int64_t>(dim.value()));
  return relay::Take(relay::ShapeOf(x, DType::Int(64)),
                     relay::Const(Tensor::Scalar<int64_t>(axis)), {.axis = 0});
}

Expr Positions(const Expr& x, int axis, int axes_after) {
  const auto number = [](int64_t value) {
    return relay::Const(Tensor::Scalar<int64_t>(value));
  };
  Expr result =
      relay::Arange(number(0), ExtentOf(x, axis), number(1), DType::Int(64));
  if (axes_after == 0) return result;
  return relay::ExpandDims(std::move(result), 1, axes_after);
}

Expr AsInt64(const Expr& x) {
  return x->tensor_type()->dtype() == DType::Int(64)
             ? x
             : relay::Cast(x, DType::Int(64));
}

std::vector<int64_t> Iota(int64_t size) {
  std::vector<int64_t> result(static_cast<size_t>(size));
  std::iota(result.begin(), result.end(), 0);
  return result;
}

Expr AxesFromFront(const Expr& axes, int64_t rank) {
  const Expr given = AsInt64(axes);
  return relay::Where(
      relay::Less(given, relay::Const(Tensor::Scalar<int64_t>(0))),
      relay::Add(given, relay::Const(Tensor::Scalar<int64_t>(rank))), given);
}

Expr ShapeVector(const Expr& x) {
  if (const auto dims = ConstDims(x->tensor_type()->shape())) {
    return VectorConstant(*dims);
  }
  return relay::ShapeOf(x, DType::Int(64));
}

namespace {

// `wanted` axis by axis: a number, the extent of the same axis, or, once, what
// is left.
std::optional<Ints> NumbersByAxis(absl::Span<const Dim> shape,
                                  absl::Span<const Dim> wanted,
                                  bool allowzero) {
  Ints numbers;
  int left = 0;
  for (size_t i = 0; i < wanted.size(); ++i) {
    const bool is_kept =
        i < shape.size() && (relay::ProvablyEqual(wanted[i], shape[i]) ||
                             (wanted[i].is_const(0) && !allowzero));
    if (wanted[i].is_const() && !wanted[i].is_const(-1)) {
      numbers.push_back(wanted[i].value());
    } else if (is_kept && !allowzero) {
      numbers.push_back(0);
    } else {
      numbers.push_back(-1);
      ++left;
    }
  }
  if (left > 1) return std::nullopt;
  return numbers;
}

// As above, where two axes become one, or one becomes two. `wanted` has neither
// -1 nor 0.
std::optional<Ints> NumbersByProducts(absl::Span<const Dim> shape,
                                      absl::Span<const Dim> wanted) {
  Ints numbers;
  size_t from = 0;
  for (size_t i = 0; i < wanted.size(); ++i, ++from) {
    if (from >= shape.size()) return std::nullopt;
    if (relay::ProvablyEqual(wanted[i], shape[from])) {
      numbers.push_back(0);
    } else if (from + 1 < shape.size() &&
               relay::ProvablyEqual(wanted[i], shape[from] * shape[from + 1])) {
      numbers.push_back(-3);
      ++from;
    } else if (i + 1 < wanted.size() &&
               (wanted[i].is_const() || wanted[i + 1].is_const()) &&
               relay::ProvablyEqual(wanted[i] * wanted[i + 1], shape[from])) {
      const Dim& a = wanted[i];
      const Dim& b = wanted[i + 1];
      numbers.push_back(-4);
      numbers.push_back(a.is_const() ? a.value() : -1);
      numbers.push_back(b.is_const() ? b.value() : -1);
      ++i;
    } else {
      return std::nullopt;
    }
  }
  if (from != shape.size()) return std::nullopt;
  return numbers;
}

}  // namespace

std::optional<Ints> ReshapeNumbers(absl::Span<const Dim> shape,
                                   absl::Span<const Dim> wanted,
                                   bool allowzero) {
  if (auto numbers = NumbersByAxis(shape, wanted, allowzero)) return numbers;
  if (allowzero) return std::nullopt;
  // With a number or an expression in place of 0 and -1.
  Dims known(wanted.begin(), wanted.end());
  Dims others;
  std::optional<size_t> left;
  for (size_t i = 0; i < known.size(); ++i) {
    if (known[i].is_const(0)) {
      if (i >= shape.size()) return std::nullopt;
      known[i] = shape[i];
    }
    if (known[i].is_any() || (known[i].is_const(-1) && left.has_value())) {
      return std::nullopt;
    }
    if (known[i].is_const(-1)) {
      left = i;
    } else {
      others.push_back(known[i]);
    }
  }
  if (left.has_value()) known[*left] = relay::Quotient(shape, others);
  return NumbersByProducts(shape, known);
}

Expr ReshapeTo(Expr x, Ints shape) {
  const bool has_zero = std::find(shape.begin(), shape.end(), 0) != shape.end();
  return relay::Call(BATON_OP("reshape"), {std::move(x)},
                     Attrs::Make(relay::ReshapeAttrs{
                         .newshape = std::move(shape), .allowzero = has_zero}));
}

Expr MergeAxes(Expr x, int rank, int begin, int count) {
  for (; count > 1; --count, --rank) {
    Ints numbers(rank - 1, 0);
    numbers[begin] = -3;
    x = relay::Reshape(std::move(x), std::move(numbers));
  }
  return x;
}

Expr SplitFirstAxis(Expr x, Expr like, int count) {
  return relay::ReshapeLike(
      std::move(x), std::move(like),
      {.lhs_begin = 0, .lhs_end = 1, .rhs_begin = 0, .rhs_end = count});
}

bool FitsInto(absl::Span<const Dim> shape, absl::Span<const Dim> wanted) {
  if (shape.size() > wanted.size()) return false;
  const size_t missing = wanted.size() - shape.size();
  for (size_t i = 0; i < shape.size(); ++i) {
    if (!shape[i].is_const(1) &&
        !relay::ProvablyEqual(shape[i], wanted[i + missing])) {
      return false;
    }
  }
  return true;
}

Expr WithExtentsOf(Expr x, const Expr& like, int rank,
                   absl::FunctionRef<bool(int)> is_kept) {
  for (int begin = 0; begin < rank; ++begin) {
    int end = begin;
    while (end < rank && is_kept(end)) ++end;
    if (end == begin) continue;
    x = relay::ReshapeLike(std::move(x), like,
                           {.lhs_begin = begin,
                            .lhs_end = end,
                            .rhs_begin = begin,
                            .rhs_end = end});
    begin = end;
  }
  return x;
}

Expr WithExtents(Expr x, absl::Span<const Dim> extents) {
  // 0 keeps an extent.
  Ints numbers(extents.size(), 0);
  bool is_known = false;
  for (size_t i = 0; i < extents.size(); ++i) {
    if (!extents[i].is_const() || extents[i].value() <= 0) continue;
    numbers[i] = extents[i].value();
    is_known = true;
  }
  return is_known ? relay::Reshape(std::move(x), std::move(numbers)) : x;
}

Expr BroadcastTo(Expr x, Expr wanted) {
  return relay::Call(BATON_OP("dyn.broadcast_to"),
                     {std::move(x), std::move(wanted)},
                     Attrs::Make(relay::InitOpAttrs{}));
}

Expr BroadcastWith(const Expr& x, const Expr& wanted) {
  const TensorTypeNode& type = *x->tensor_type();
  const int64_t wanted_rank = wanted->tensor_type()->dim(0).value();
  const int64_t rank = std::max<int64_t>(type.rank(), wanted_rank);
  const auto padded = [rank](Expr vector, int64_t length) {
    return length == rank
               ? vector
               : relay::Concatenate({VectorConstant(Ints(rank - length, 1)),
                                     std::move(vector)},
                                    0);
  };
  Expr shape = padded(wanted, wanted_rank);
  const bool is_one =
      std::all_of(type.shape().begin(), type.shape().end(),
                  [](const Dim& dim) { return dim.is_const(1); });
  if (is_one) return BroadcastTo(x, std::move(shape));
  // An extent of `x` that is neither 1 nor the wanted one is an error when it
  // is broadcast.
  shape = relay::Where(
      relay::Equal(shape, relay::Const(Tensor::Scalar<int64_t>(1))),
      padded(ShapeVector(x), type.rank()), shape);
  Dims kept(rank - type.rank(), Dim::Any());
  for (const Dim& dim : type.shape()) {
    kept.push_back(dim.is_const(1) ? Dim::Any() : dim);
  }
  return WithExtents(BroadcastTo(x, std::move(shape)), kept);
}

}  // namespace baton::onnx
