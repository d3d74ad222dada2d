// Converter of Unique: the distinct elements of a tensor, or its distinct
// slices along an axis.

#include <cstdint>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "baton/base/dtype.h"
#include "baton/base/status_macros.h"
#include "baton/base/tensor.h"
#include "baton/ir/attrs.h"
#include "baton/ir/op.h"
#include "baton/onnx/converter.h"
#include "baton/relay/ir/constant.h"
#include "baton/relay/ir/expr.h"
#include "baton/relay/op/tensor/create.h"
#include "baton/relay/op/tensor/elementwise.h"
#include "baton/relay/op/tensor/indexing.h"
#include "baton/relay/op/tensor/reduce.h"
#include "baton/relay/op/tensor/sequence.h"
#include "baton/relay/op/tensor/shape.h"

namespace baton::onnx {
namespace {

using Ints = std::vector<int64_t>;

// The largest number of pairs of elements that are compared.
constexpr int64_t kMaxComparisons = int64_t{1} << 24;

constexpr DType kInt64 = DType::Int(64);

// The first `count` elements of a vector.
Expr First(Expr vector, const Expr& count) {
  return relay::Call(
      BATON_OP("dyn.strided_slice"),
      {std::move(vector), VectorConstant({0}), count, VectorConstant({1})},
      Attrs::Make(relay::StridedSliceAttrs{}));
}

absl::StatusOr<Outputs> UniqueElements(NodeContext& node, bool sorted) {
  BATON_ASSIGN_OR_RETURN(
      const Expr unique,
      node.Typed(relay::Call(BATON_OP("unique"),
                             {relay::Reshape(node.Input(0), {-1})},
                             Attrs::Make(relay::UniqueAttrs{
                                 .sorted = sorted, .return_counts = true}))));
  const auto field = [&unique](int i) {
    return relay::TupleGetItem(unique, i);
  };
  const auto wide = [](Expr expr) {
    return relay::Cast(std::move(expr), kInt64);
  };
  // All but the inverse are padded to the length of the data.
  const Expr count = wide(field(3));
  return Outputs{First(field(0), count), First(wide(field(1)), count),
                 wide(field(2)), First(wide(field(4)), count)};
}

// Each slice is compared with each other one: a slice has the rank of its first
// occurrence among all first occurrences.
absl::StatusOr<Outputs> UniqueSlices(NodeContext& node, int axis, bool sorted) {
  const Expr& x = node.Input(0);
  BATON_ASSIGN_OR_RETURN(const Ints shape, ShapeOf(x));
  const int64_t slices = shape[axis];
  BATON_ASSIGN_OR_RETURN(const int64_t elements,
                         NumElements(DType::Int(8), shape));
  if (elements == 0) {
    return absl::UnimplementedError("data without elements are not supported");
  }
  if (slices > kMaxComparisons / elements) {
    return absl::UnimplementedError("slices of so much data are not supported");
  }
  const int64_t size = elements / slices;
  Ints order = {axis};
  for (int i = 0; i < static_cast<int>(shape.size()); ++i) {
    if (i != axis) order.push_back(i);
  }
  BATON_ASSIGN_OR_RETURN(
      const Expr rows,
      node.Typed(relay::Reshape(relay::Transpose(x, order), {slices, size})));
  const auto numbers = [](int64_t n) {
    Ints values(n);
    for (int64_t i = 0; i < n; ++i) values[i] = i;
    return VectorConstant(values);
  };
  // (left, right, element)
  const Expr left = relay::ExpandDims(rows, 1);
  const Expr right = relay::ExpandDims(rows, 0);
  BATON_ASSIGN_OR_RETURN(const Expr differs,
                         node.Typed(relay::NotEqual(left, right)));
  const Expr where =
      relay::Cast(relay::ArgMax(relay::Cast(differs, DType::Int(32)),
                                {.axis = Ints{2}, .keepdims = true}),
                  kInt64);
  // (left, right)
  const Expr is_less =
      relay::Any(relay::LogicalAnd(relay::Less(left, right),
                                   relay::Equal(where, numbers(size))),
                 {.axis = Ints{2}});
  BATON_ASSIGN_OR_RETURN(
      const Expr equals,
      node.Typed(relay::LogicalNot(relay::Any(differs, {.axis = Ints{2}}))));
  BATON_ASSIGN_OR_RETURN(
      const Expr first,
      node.Typed(relay::Cast(
          relay::ArgMax(relay::Cast(equals, DType::Int(32)), {.axis = Ints{1}}),
          kInt64)));
  const Expr is_first = relay::Equal(first, numbers(slices));
  const Expr precedes = sorted ? is_less
                               : relay::Less(relay::ExpandDims(first, 1),
                                             relay::ExpandDims(first, 0));
  BATON_ASSIGN_OR_RETURN(
      const Expr rank,
      node.Typed(relay::Sum(
          relay::Cast(
              relay::LogicalAnd(relay::ExpandDims(is_first, 1), precedes),
              kInt64),
          {.axis = Ints{0}})));
  const Expr count = relay::Sum(relay::Cast(is_first, kInt64),
                                {.axis = Ints{0}, .keepdims = true});
  const Expr positions = relay::Argsort(
      relay::Where(is_first, rank,
                   relay::Const(Tensor::Scalar<int64_t>(slices))),
      {.axis = 0, .is_ascend = true, .dtype = kInt64});
  BATON_ASSIGN_OR_RETURN(const Expr indices,
                         node.Typed(First(positions, count)));
  const Expr counts =
      relay::Take(relay::Sum(relay::Cast(equals, kInt64), {.axis = Ints{1}}),
                  indices, {.axis = 0});
  return Outputs{relay::Take(x, indices, {.axis = axis}), indices, rank,
                 counts};
}

absl::StatusOr<Outputs> Unique(NodeContext& node) {
  BATON_ASSIGN_OR_RETURN(const int rank, RankOf(node.Input(0)));
  const bool sorted = node.Int("sorted", 1) != 0;
  if (node.HasAttr("axis")) {
    BATON_ASSIGN_OR_RETURN(const int axis,
                           NormalAxis(node.Int("axis", 0), rank));
    if (rank > 1) return UniqueSlices(node, axis, sorted);
  }
  return UniqueElements(node, sorted);
}

BATON_ONNX_CONVERTERS({
    {"Unique", Unique, 11},
});

}  // namespace
}  // namespace baton::onnx
