#include "baton/backend/cpu/padded_rules.h"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <initializer_list>
#include <limits>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/string_view.h"
#include "absl/types/span.h"
#include "baton/backend/cpu/value_ranges.h"
#include "baton/base/dtype.h"
#include "baton/base/status_macros.h"
#include "baton/base/tensor.h"
#include "baton/ir/op.h"
#include "baton/ir/structural_equal.h"
#include "baton/ir/type.h"
#include "baton/relay/ir/constant.h"
#include "baton/relay/ir/expr.h"
#include "baton/relay/ir/infer_type.h"
#include "baton/relay/op/fusion_pattern.h"
#include "baton/relay/op/image/image.h"
#include "baton/relay/op/nn/activation.h"
#include "baton/relay/op/nn/conv.h"
#include "baton/relay/op/nn/pool.h"
#include "baton/relay/op/op_flags.h"
#include "baton/relay/op/tensor/create.h"
#include "baton/relay/op/tensor/elementwise.h"
#include "baton/relay/op/tensor/indexing.h"
#include "baton/relay/op/tensor/reduce.h"
#include "baton/relay/op/tensor/sequence.h"
#include "baton/relay/op/tensor/shape.h"

namespace baton::cpu {
namespace {

using relay::CallNode;
using relay::Const;
using relay::FusionPattern;
using relay::TupleGetItemNode;
using relay::TupleNode;
using Shape = std::vector<int64_t>;

constexpr DType kInt64 = DType::Int(64);

Expr Number(int64_t value) { return Const(Tensor::Scalar<int64_t>(value)); }

Shape BoundsOf(const Padded& x) {
  Shape shape;
  for (int i = 0; i < x.rank(); ++i) shape.push_back(x.bound(i));
  return shape;
}

absl::Status Refused(absl::string_view reason) {
  return absl::UnimplementedError(reason);
}

// The number of elements on the axes from `begin` to before `end`.
absl::StatusOr<int64_t> Product(const Shape& shape, size_t begin, size_t end) {
  int64_t product = 1;
  for (size_t i = begin; i < end; ++i) {
    const __int128 next = __int128{product} * shape[i];
    if (next > std::numeric_limits<int64_t>::max()) {
      return Refused("it may have more elements than int64 counts");
    }
    product = static_cast<int64_t>(next);
  }
  return product;
}

int NormalAxis(int64_t axis, int rank) {
  return static_cast<int>(axis < 0 ? axis + rank : axis);
}

bool AreEqual(const Expr& a, const Expr& b) {
  return a == b || (a.defined() && b.defined() && StructuralEqual(a, b));
}

// The axis of which alone values decide the extent; -1 if there are several.
int PaddedAxis(const Padded& x) {
  int found = -1;
  for (size_t i = 0; i < x.extents.size(); ++i) {
    if (!x.extents[i].defined()) continue;
    if (found >= 0) return -1;
    found = static_cast<int>(i);
  }
  return found;
}

absl::StatusOr<Expr> Typed(const Expr& expr) {
  return relay::InferTypeOf(expr, nullptr);
}

// 0, 1, ... along axis `axis` of a tensor of rank `rank`.
Expr Indices(int64_t extent, int axis, int rank) {
  Shape shape(static_cast<size_t>(rank), 1);
  shape[static_cast<size_t>(axis)] = extent;
  return relay::Reshape(
      relay::Arange(Number(0), Number(extent), Number(1), kInt64), shape);
}

// True where the elements of `x` are its own, in a shape that broadcasts to
// that of `x`.
Expr OwnElements(const Padded& x) {
  Expr own;
  for (int i = 0; i < x.rank(); ++i) {
    if (!x.extent(i).defined()) continue;
    Expr inside = relay::Less(Indices(x.bound(i), i, x.rank()), x.extent(i));
    own = own.defined() ? relay::LogicalAnd(std::move(own), std::move(inside))
                        : std::move(inside);
  }
  return own;
}

// `x` with `fill` in place of the padding.
Expr Filled(const Padded& x, double fill) {
  if (!x.is_padded()) return x.value;
  return relay::Where(OwnElements(x), x.value,
                      Const(fill, x.value->tensor_type()->dtype()));
}

// `value`, or a fault of the run if `condition`, a scalar, is false.
Expr Required(Expr value, Expr condition) {
  return relay::Take(relay::ExpandDims(std::move(value), 0),
                     relay::Where(std::move(condition), Number(0), Number(1)),
                     {.axis = 0, .mode = "fast"});
}

// Element `i` of a vector of integers, or of a scalar.
struct VectorElement {
  std::optional<int64_t> constant;
  Expr computed;  // an int64 scalar, if it is not a constant

  Expr value() const { return constant ? Number(*constant) : computed; }
};

absl::StatusOr<VectorElement> ElementOf(const Expr& vector, int64_t i) {
  const VectorPart part = PartOf(vector, i);
  if (const auto values = relay::ConstantInts(part.value)) {
    return VectorElement{(*values)[static_cast<size_t>(part.index)], Expr()};
  }
  VectorElement element;
  Expr one = part.value;
  if (one->tensor_type()->rank() == 1) {
    one = relay::StridedSlice(std::move(one), {part.index}, {part.index + 1});
  }
  if (one->type().defined() && one->tensor_type()->rank() == 0 &&
      one->tensor_type()->dtype() == kInt64) {
    element.computed = std::move(one);
    return element;
  }
  BATON_ASSIGN_OR_RETURN(
      element.computed,
      Typed(relay::Cast(relay::Reshape(std::move(one), {}), kInt64)));
  return element;
}

OpProperty<PaddedRule>& Rules() {
  static auto* const rules = new OpProperty<PaddedRule>;
  return *rules;
}

// --- Elements ----------------------------------------------------------------

// The axes of operands are those of the result, counted from the last.
absl::StatusOr<Padded> Broadcast(const PaddedCall& call,
                                 std::vector<Expr> values) {
  BATON_ASSIGN_OR_RETURN(Expr value, call.With(std::move(values)));
  Padded result{std::move(value)};
  const int rank = result.rank();
  result.extents.resize(static_cast<size_t>(rank));
  for (int i = 0; i < rank; ++i) {
    Expr& extent = result.extents[static_cast<size_t>(i)];
    int64_t fixed = 1;  // the extent of operands without padding
    for (const Padded& x : call.args) {
      const int axis = i - (rank - x.rank());
      if (axis < 0) continue;
      if (!x.extent(axis).defined()) {
        fixed = std::max(fixed, x.bound(axis));
        continue;
      }
      if (extent.defined() && !AreEqual(extent, x.extent(axis))) {
        return Refused(
            "operands have two extents that values decide on one axis");
      }
      extent = x.extent(axis);
    }
    if (extent.defined() && fixed != 1) {
      return Refused("an extent that values decide meets another one");
    }
  }
  return result;
}

absl::StatusOr<Padded> BroadcastRule(const PaddedCall& call) {
  std::vector<Expr> values;
  for (const Padded& x : call.args) values.push_back(x.value);
  return Broadcast(call, std::move(values));
}

// The operator refuses some integers as its second operand, such as a divisor 0
// or a negative exponent. It takes `fill`.
template <int fill>
absl::StatusOr<Padded> PartialRule(const PaddedCall& call) {
  const Padded& by = call.arg(1);
  if (!by.value->tensor_type()->dtype().is_integral()) {
    return BroadcastRule(call);
  }
  return Broadcast(call, {call.arg(0).value, Filled(by, fill)});
}

// The result has the shape of the first operand; no element depends on the
// padding.
absl::StatusOr<Padded> KeepShapeRule(const PaddedCall& call) {
  BATON_RETURN_IF_ERROR(call.OnlyPadded({0}));
  BATON_ASSIGN_OR_RETURN(Expr value, call.Rebuilt());
  Padded result{std::move(value), call.arg(0).extents};
  if (result.value->tensor_type() == nullptr ||
      BoundsOf(result) != BoundsOf(call.arg(0))) {
    return Refused("its operand is padded");
  }
  return result;
}

// The operator computes along the axis of its attribute, whose extent must be
// constant. The result has the shape of the operand.
template <typename A>
absl::StatusOr<Padded> KeepShapeAlongRule(const PaddedCall& call) {
  const Padded& x = call.arg(0);
  int64_t axis = 0;
  if constexpr (requires(A a) { *a.axis; }) {
    const auto given = call.attrs<A>().axis;
    if (!given.has_value()) return Refused("it computes along all axes");
    axis = *given;
  } else {
    axis = call.attrs<A>().axis;
  }
  if (x.extent(NormalAxis(axis, x.rank())).defined()) {
    return Refused(
        "values decide the extent of the axis along which it "
        "computes");
  }
  return KeepShapeRule(call);
}

// The operator computes each image, or row, of a batch by itself. The batch is
// the first axis of the operand and of the result.
absl::StatusOr<Padded> BatchRule(const PaddedCall& call) {
  BATON_RETURN_IF_ERROR(call.OnlyPadded({0}));
  const auto* type = call.call.tensor_type();
  if (PaddedAxis(call.arg(0)) != 0 || type == nullptr || type->rank() == 0) {
    return Refused("values decide more than the size of its batch");
  }
  for (int i = 0; i < type->rank(); ++i) {
    if (type->dim(i).is_const() != (i > 0)) {
      return Refused("values decide more than the size of its batch");
    }
  }
  BATON_ASSIGN_OR_RETURN(Expr value, call.Rebuilt());
  Padded result{std::move(value)};
  result.extents.resize(static_cast<size_t>(result.rank()));
  result.extents[0] = call.arg(0).extent(0);
  return result;
}

// The layout of the data must begin with the batch.
template <typename A>
absl::StatusOr<Padded> BatchOfLayoutRule(const PaddedCall& call) {
  const A attrs = call.attrs<A>();
  std::string layout;
  if constexpr (requires(A a) { a.data_layout; }) {
    layout = attrs.data_layout;
  } else {
    layout = attrs.layout;
  }
  if (!absl::StartsWith(layout, "N")) {
    return Refused("its layout does not begin with the batch");
  }
  return BatchRule(call);
}

// The operator multiplies rows, the last axis of its operand.
absl::StatusOr<Padded> RowsRule(const PaddedCall& call) {
  BATON_RETURN_IF_ERROR(call.OnlyPadded({0}));
  const Padded& x = call.arg(0);
  if (x.extent(x.rank() - 1).defined()) {
    return Refused("values decide over how many elements it adds");
  }
  BATON_ASSIGN_OR_RETURN(Expr value, call.Rebuilt());
  Padded result{std::move(value), x.extents};
  if (result.rank() != x.rank()) return Refused("its operand is padded");
  return result;
}

// The operator computes a result for each region of an image. The regions are
// the rows of operand 1.
absl::StatusOr<Padded> RegionsRule(const PaddedCall& call) {
  BATON_RETURN_IF_ERROR(call.OnlyPadded({1}));
  const Padded& regions = call.arg(1);
  if (PaddedAxis(regions) != 0) return Refused("its operand is padded");
  BATON_ASSIGN_OR_RETURN(Expr value,
                         call.With({call.arg(0).value, Filled(regions, 0)}));
  Padded result{std::move(value)};
  result.extents.resize(static_cast<size_t>(result.rank()));
  result.extents[0] = regions.extent(0);
  return result;
}

// --- Axes --------------------------------------------------------------------

absl::StatusOr<Padded> TransposeRule(const PaddedCall& call) {
  const Padded& x = call.arg(0);
  const auto axes = call.attrs<relay::TransposeAttrs>().axes;
  BATON_ASSIGN_OR_RETURN(Expr value, call.Rebuilt());
  Padded result{std::move(value)};
  for (int i = 0; i < x.rank(); ++i) {
    result.extents.push_back(
        x.extent(axes.has_value() && !axes->empty()
                     ? NormalAxis((*axes)[static_cast<size_t>(i)], x.rank())
                     : x.rank() - 1 - i));
  }
  return result;
}

absl::StatusOr<Padded> ExpandDimsRule(const PaddedCall& call) {
  const Padded& x = call.arg(0);
  const auto attrs = call.attrs<relay::ExpandDimsAttrs>();
  BATON_ASSIGN_OR_RETURN(Expr value, call.Rebuilt());
  Padded result{std::move(value), x.extents};
  result.extents.resize(static_cast<size_t>(x.rank()));
  result.extents.insert(
      result.extents.begin() + NormalAxis(attrs.axis, x.rank() + 1),
      static_cast<size_t>(attrs.num_newaxis), Expr());
  return result;
}

absl::StatusOr<Padded> SqueezeRule(const PaddedCall& call) {
  const Padded& x = call.arg(0);
  const auto axes = call.attrs<relay::SqueezeAttrs>().axis;
  if (!axes.has_value()) return Refused("values decide which axes it drops");
  Padded result;
  for (int i = 0; i < x.rank(); ++i) {
    const bool drops = std::any_of(
        axes->begin(), axes->end(),
        [&](int64_t axis) { return NormalAxis(axis, x.rank()) == i; });
    if (!drops) {
      result.extents.push_back(x.extent(i));
    } else if (x.extent(i).defined()) {
      return Refused("values decide the extent of an axis that it drops");
    }
  }
  BATON_ASSIGN_OR_RETURN(result.value, call.Rebuilt());
  return result;
}

// The padded axis keeps its place between the elements before and after it. It
// may gain or lose axes behind it.
absl::StatusOr<Padded> ReshapeRule(const PaddedCall& call) {
  BATON_RETURN_IF_ERROR(call.OnlyPadded({0}));
  const Padded& x = call.arg(0);
  const int from = PaddedAxis(x);
  const auto* type = call.call.tensor_type();
  if (!x.is_padded()) return Refused("values decide its shape");
  if (from < 0 || type == nullptr) return Refused("its operand is padded");
  Shape shape;
  int to = -1;
  Expr wanted;  // the extent of `to`, if it is computed
  const bool keeps_zero = call.attrs<relay::ReshapeAttrs>().allowzero;
  for (int i = 0; i < type->rank(); ++i) {
    if (type->dim(i).is_const()) {
      shape.push_back(type->dim(i).value());
      continue;
    }
    VectorElement element = {-1, Expr()};
    if (call.args.size() > 1) {
      BATON_ASSIGN_OR_RETURN(element, ElementOf(call.arg(1).value, i));
    }
    const int64_t number = element.constant.value_or(-1);
    if (number == 0) {
      // The extent of the axis of the operand.
      if (keeps_zero) return Refused("its result has no elements");
      if (i >= x.rank()) {
        return Refused(
            "its shape has a 0 for an axis that its operand does not have");
      }
      if (!x.extent(i).defined()) {
        shape.push_back(x.bound(i));
        continue;
      }
    }
    shape.push_back(std::max<int64_t>(number, 1));
    if (number > 0) continue;
    if (to >= 0 || number < -1) return Refused("its operand is padded");
    to = i;
    wanted = element.computed;
    if (wanted.defined() && call.ranges.Of(wanted).least < 0) {
      return Refused("values decide its shape");
    }
    if (number == 0) wanted = x.extent(i);
  }
  if (to < 0) return Refused("the size of its result is that of the padding");
  const Shape bounds = BoundsOf(x);
  const auto place = [](int axis) { return static_cast<size_t>(axis); };
  BATON_ASSIGN_OR_RETURN(const int64_t before, Product(bounds, 0, place(from)));
  BATON_ASSIGN_OR_RETURN(const int64_t inner,
                         Product(bounds, place(from) + 1, bounds.size()));
  BATON_ASSIGN_OR_RETURN(const int64_t most,
                         Product(bounds, place(from), bounds.size()));
  BATON_ASSIGN_OR_RETURN(const int64_t new_before,
                         Product(shape, 0, place(to)));
  BATON_ASSIGN_OR_RETURN(const int64_t new_inner,
                         Product(shape, place(to) + 1, shape.size()));
  if (before != new_before || new_inner == 0 || most % new_inner != 0) {
    return Refused("its operand is padded");
  }
  shape[place(to)] = most / new_inner;
  BATON_ASSIGN_OR_RETURN(Expr value, Typed(relay::Reshape(x.value, shape)));
  Padded result{std::move(value)};
  result.extents.resize(shape.size());
  Expr extent = x.extent(from);
  if (inner != new_inner) {
    const Expr count = relay::Multiply(std::move(extent), Number(inner));
    extent = relay::FloorDivide(count, Number(new_inner));
    if (inner % new_inner != 0) {
      extent = Required(
          std::move(extent),
          relay::Equal(relay::FloorMod(count, Number(new_inner)), Number(0)));
    }
    BATON_ASSIGN_OR_RETURN(extent, Typed(extent));
  }
  // 0 is the extent of the axis `to` of the operand, if it has one.
  const bool is_axis = !keeps_zero && to < x.rank();
  const Expr own = is_axis ? x.own_extent(to) : Expr();
  if (wanted.defined() &&
      (!AreEqual(wanted, extent) || !(keeps_zero || AreEqual(own, extent)))) {
    const Expr is_zero = relay::Equal(wanted, Number(0));
    Expr fits = relay::Equal(
        is_axis ? relay::Where(is_zero, own, wanted) : wanted, extent);
    if (!keeps_zero && !is_axis) {
      fits = relay::LogicalAnd(std::move(fits), relay::LogicalNot(is_zero));
    }
    BATON_ASSIGN_OR_RETURN(extent,
                           Typed(Required(std::move(extent), std::move(fits))));
  }
  result.extents[place(to)] = std::move(extent);
  return result;
}

absl::StatusOr<Padded> ConcatenateRule(const PaddedCall& call) {
  const std::vector<Padded>& parts = call.arg(0).fields;
  const int rank = parts[0].rank();
  const int axis = NormalAxis(call.attrs<relay::ConcatenateAttrs>().axis, rank);
  BATON_ASSIGN_OR_RETURN(Expr value, call.Rebuilt());
  Padded result{std::move(value)};
  result.extents.resize(static_cast<size_t>(rank));
  bool is_along = false;
  for (const Padded& part : parts) is_along |= part.extent(axis).defined();
  for (int i = 0; i < rank; ++i) {
    if (i == axis) continue;
    for (const Padded& part : parts) {
      if (!AreEqual(part.extent(i), parts[0].extent(i))) {
        return Refused("its operands have several extents on one axis");
      }
    }
    result.extents[static_cast<size_t>(i)] = parts[0].extent(i);
  }
  if (!is_along) return result;
  // Element `k` is behind the padding of the parts that end before it.
  const int64_t bound = result.bound(axis);
  const Expr k = relay::Arange(Number(0), Number(bound), Number(1), kInt64);
  Expr from = k;
  Expr end;
  for (const Padded& part : parts) {
    const Expr own = part.own_extent(axis);
    end = end.defined() ? relay::Add(std::move(end), own) : own;
    if (!part.extent(axis).defined()) continue;
    from =
        relay::Add(std::move(from),
                   relay::Where(relay::GreaterEqual(k, end),
                                relay::Subtract(Number(part.bound(axis)), own),
                                Number(0)));
  }
  BATON_ASSIGN_OR_RETURN(
      result.value,
      Typed(relay::Take(result.value, std::move(from), {.axis = axis})));
  BATON_ASSIGN_OR_RETURN(result.extents[static_cast<size_t>(axis)], Typed(end));
  return result;
}

absl::StatusOr<Padded> StackRule(const PaddedCall& call) {
  const std::vector<Padded>& parts = call.arg(0).fields;
  for (const Padded& part : parts) {
    for (int i = 0; i < part.rank(); ++i) {
      if (!AreEqual(part.extent(i), parts[0].extent(i))) {
        return Refused("its operands have several extents on one axis");
      }
    }
  }
  BATON_ASSIGN_OR_RETURN(Expr value, call.Rebuilt());
  Padded result{std::move(value)};
  for (int i = 0; i < parts[0].rank(); ++i) {
    result.extents.push_back(parts[0].extent(i));
  }
  result.extents.insert(
      result.extents.begin() +
          NormalAxis(call.attrs<relay::StackAttrs>().axis, result.rank()),
      Expr());
  return result;
}

absl::StatusOr<Padded> SplitRule(const PaddedCall& call) {
  const Padded& x = call.arg(0);
  if (x.extent(NormalAxis(call.attrs<relay::SplitAttrs>().axis, x.rank()))
          .defined()) {
    return Refused("values decide the extent of the axis that it splits");
  }
  BATON_ASSIGN_OR_RETURN(const Expr value, call.Rebuilt());
  const auto* type = value->type().As<TupleTypeNode>();
  if (type == nullptr) return Refused("its operand is padded");
  Padded result;
  for (size_t i = 0; i < type->fields().size(); ++i) {
    BATON_ASSIGN_OR_RETURN(
        Expr field, Typed(relay::TupleGetItem(value, static_cast<int>(i))));
    result.fields.push_back({std::move(field), x.extents});
  }
  return result;
}

// --- Reductions --------------------------------------------------------------

// How a fold takes no notice of the padding: the value that is put there.
enum class Neutral { kNone, kZero, kOne, kLeast, kMost };

std::optional<double> NeutralOf(Neutral neutral, DType dtype) {
  const bool is_least = neutral == Neutral::kLeast;
  switch (neutral) {
    case Neutral::kNone:
      return std::nullopt;
    case Neutral::kZero:
    case Neutral::kOne:
      // A sum of floats has an order, in which the padding has no place.
      if (dtype.is_float() || dtype.is_half()) return std::nullopt;
      return neutral == Neutral::kOne ? 1 : 0;
    case Neutral::kLeast:
    case Neutral::kMost:
      break;
  }
  if (dtype.is_float() || dtype.is_half()) {
    const double infinity = std::numeric_limits<double>::infinity();
    return is_least ? -infinity : infinity;
  }
  if (dtype.is_bool()) return is_least ? 0 : 1;
  if (dtype == DType::Int(32)) {
    return is_least ? std::numeric_limits<int32_t>::min()
                    : std::numeric_limits<int32_t>::max();
  }
  // Numbers of 64 bits are no doubles.
  return std::nullopt;
}

// Returns, for each axis, whether a reduction reduces it. No axes, or an empty
// list of them, stand for all.
template <typename A>
std::vector<bool> ReducedAxes(const A& attrs, int rank) {
  const bool is_total = !attrs.axis.has_value() || attrs.axis->empty();
  std::vector<bool> reduced(static_cast<size_t>(rank),
                            is_total || attrs.exclude);
  if (is_total) return reduced;
  for (const int64_t axis : *attrs.axis) {
    reduced[static_cast<size_t>(NormalAxis(axis, rank))] = !attrs.exclude;
  }
  return reduced;
}

// True if values decide the extent of a reduced axis.
bool IsPaddedAlong(const Padded& x, const std::vector<bool>& is_reduced) {
  for (int i = 0; i < x.rank(); ++i) {
    if (is_reduced[static_cast<size_t>(i)] && x.extent(i).defined()) {
      return true;
    }
  }
  return false;
}

template <typename A, Neutral neutral>
absl::StatusOr<Padded> ReduceRule(const PaddedCall& call) {
  BATON_RETURN_IF_ERROR(call.OnlyPadded({0}));
  const A attrs = call.attrs<A>();
  const Padded& x = call.arg(0);
  const std::vector<bool> is_reduced = ReducedAxes(attrs, x.rank());
  Padded result;
  for (int i = 0; i < x.rank(); ++i) {
    if (!is_reduced[static_cast<size_t>(i)]) {
      result.extents.push_back(x.extent(i));
    } else if (attrs.keepdims) {
      result.extents.emplace_back();
    }
  }
  Expr value = x.value;
  if (IsPaddedAlong(x, is_reduced)) {
    const auto fill = NeutralOf(neutral, value->tensor_type()->dtype());
    if (!fill.has_value()) {
      return Refused("values decide over how many elements it computes");
    }
    value = Filled(x, *fill);
  }
  BATON_ASSIGN_OR_RETURN(result.value, call.With({std::move(value)}));
  return result;
}

// The first of equal elements is not padding.
template <Neutral neutral>
absl::StatusOr<Padded> ArgReduceRule(const PaddedCall& call) {
  const auto attrs = call.attrs<relay::ArgReduceAttrs>();
  if (attrs.select_last_index) {
    return ReduceRule<relay::ArgReduceAttrs, Neutral::kNone>(call);
  }
  BATON_ASSIGN_OR_RETURN(Padded result,
                         (ReduceRule<relay::ArgReduceAttrs, neutral>(call)));
  const Padded& x = call.arg(0);
  const std::vector<bool> is_reduced = ReducedAxes(attrs, x.rank());
  if (!IsPaddedAlong(x, is_reduced)) return result;
  // The operator counts the padding. The model counts its own elements.
  Expr rest = relay::Cast(result.value, kInt64);
  Expr place = Number(0);
  Expr count = Number(1);
  for (int i = x.rank(); i-- > 0;) {
    if (!is_reduced[static_cast<size_t>(i)]) continue;
    const Expr bound = Number(std::max<int64_t>(x.bound(i), 1));
    place = relay::Add(std::move(place),
                       relay::Multiply(relay::FloorMod(rest, bound), count));
    rest = relay::FloorDivide(std::move(rest), bound);
    count = relay::Multiply(std::move(count), x.own_extent(i));
  }
  const DType dtype = result.value->tensor_type()->dtype();
  BATON_ASSIGN_OR_RETURN(result.value,
                         Typed(Required(relay::Cast(std::move(place), dtype),
                                        relay::Greater(count, Number(0)))));
  return result;
}

// --- Indices -----------------------------------------------------------------

absl::StatusOr<Padded> TakeRule(const PaddedCall& call) {
  auto attrs = call.attrs<relay::TakeAttrs>();
  const Padded& x = call.arg(0);
  const Padded& indices = call.arg(1);
  if (attrs.batch_dims != 0 || (!attrs.axis.has_value() && x.is_padded())) {
    return Refused("its operands are padded");
  }
  const int axis = NormalAxis(attrs.axis.value_or(0), x.rank());
  const Expr& extent = x.extent(axis);
  Expr numbers = indices.value;
  if (extent.defined()) {
    // Indices have their range in the tensor without padding.
    numbers = relay::Cast(std::move(numbers), kInt64);
    if (attrs.mode == "wrap") {
      numbers = relay::FloorMod(std::move(numbers),
                                relay::Maximum(extent, Number(1)));
    } else if (attrs.mode == "clip") {
      numbers =
          relay::Maximum(relay::Minimum(std::move(numbers),
                                        relay::Subtract(extent, Number(1))),
                         Number(0));
    }
    // An index that is out of range is made one that the run refuses.
    const Expr is_in_range = relay::LogicalAnd(
        relay::GreaterEqual(numbers, Number(0)), relay::Less(numbers, extent));
    attrs.mode = "fast";
    BATON_ASSIGN_OR_RETURN(numbers, Typed(relay::Where(is_in_range, numbers,
                                                       Number(x.bound(axis)))));
  }
  numbers = Filled(Padded{std::move(numbers), indices.extents}, 0);
  BATON_ASSIGN_OR_RETURN(
      Expr value, Typed(relay::Take(x.value, std::move(numbers), attrs)));
  Padded result{std::move(value)};
  const bool is_flat = !attrs.axis.has_value();
  for (int i = 0; !is_flat && i < axis; ++i) {
    result.extents.push_back(x.extent(i));
  }
  for (int i = 0; i < indices.rank(); ++i) {
    result.extents.push_back(indices.extent(i));
  }
  for (int i = axis + 1; !is_flat && i < x.rank(); ++i) {
    result.extents.push_back(x.extent(i));
  }
  return result;
}

absl::StatusOr<Padded> GatherNdRule(const PaddedCall& call) {
  BATON_RETURN_IF_ERROR(call.OnlyPadded({1}));
  const Padded& indices = call.arg(1);
  if (call.attrs<relay::GatherNDAttrs>().batch_dims != 0 ||
      indices.extent(0).defined()) {
    return Refused("its operands are padded");
  }
  BATON_ASSIGN_OR_RETURN(Expr value,
                         call.With({call.arg(0).value, Filled(indices, 0)}));
  Padded result{std::move(value)};
  for (int i = 1; i < indices.rank(); ++i) {
    result.extents.push_back(indices.extent(i));
  }
  result.extents.resize(static_cast<size_t>(result.rank()));
  return result;
}

absl::StatusOr<Padded> OneHotRule(const PaddedCall& call) {
  BATON_RETURN_IF_ERROR(call.OnlyPadded({0}));
  BATON_ASSIGN_OR_RETURN(Expr value, call.Rebuilt());
  Padded result{std::move(value), call.arg(0).extents};
  result.extents.resize(static_cast<size_t>(call.arg(0).rank()));
  result.extents.insert(
      result.extents.begin() +
          NormalAxis(call.attrs<relay::OneHotAttrs>().axis, result.rank()),
      Expr());
  return result;
}

// --- Slices ------------------------------------------------------------------

// The number of rows that non-maximum suppression finds at most, if `rows` are
// its rows and `count` is their number.
std::optional<int64_t> MostBoxes(const Expr& rows, const Expr& count) {
  const auto* item = rows.As<TupleGetItemNode>();
  const auto* number = count.As<TupleGetItemNode>();
  if (item == nullptr || number == nullptr || item->index() != 0 ||
      number->index() != 1 || item->tuple() != number->tuple()) {
    return std::nullopt;
  }
  const auto* call = item->tuple().As<CallNode>();
  if (call == nullptr ||
      call->op() != BATON_OP("vision.all_class_non_max_suppression")) {
    return std::nullopt;
  }
  const auto limit = relay::ConstantInts(call->arg(2));
  const auto* scores = call->arg(1)->tensor_type();
  if (!limit.has_value() || limit->size() != 1 || scores == nullptr ||
      !scores->is_static()) {
    return std::nullopt;
  }
  const int64_t of_class =
      std::min(std::max<int64_t>((*limit)[0], 0), scores->dim(2).value());
  return scores->dim(0).value() * scores->dim(1).value() * of_class;
}

// The slice from `begin` to before `end` on one axis.
absl::Status SliceAxis(Padded& x, int axis, int64_t begin,
                       std::optional<int64_t> end, const Expr& computed_end) {
  const int64_t bound = x.bound(axis);
  Expr& extent = x.extents[static_cast<size_t>(axis)];
  if (begin < 0 || (end.has_value() && *end < 0 && extent.defined())) {
    return Refused("a slice counts from an end that values decide");
  }
  const int64_t first = std::min(begin, bound);
  int64_t last = bound;
  if (end.has_value()) {
    last = std::clamp(*end < 0 ? *end + bound : *end, first, bound);
  }
  Expr own = extent;
  if (computed_end.defined()) {
    const Expr whole = x.own_extent(axis);
    own = relay::Where(relay::Less(computed_end, Number(0)),
                       relay::Add(computed_end, whole), computed_end);
    own = relay::Minimum(std::move(own), whole);
  } else if (extent.defined() && last < bound) {
    own = relay::Minimum(extent, Number(last));
  }
  if (own.defined() && (own != extent || first > 0)) {
    own = relay::Maximum(relay::Subtract(std::move(own), Number(first)),
                         Number(0));
    BATON_ASSIGN_OR_RETURN(extent, Typed(own));
  }
  if (first == 0 && last == bound) return absl::OkStatus();
  BATON_ASSIGN_OR_RETURN(x.value,
                         Typed(relay::StridedSlice(x.value, {first}, {last},
                                                   {.axes = Shape{axis}})));
  return absl::OkStatus();
}

absl::StatusOr<Padded> StridedSliceRule(const PaddedCall& call) {
  const auto attrs = call.attrs<relay::StridedSliceAttrs>();
  Padded x = call.arg(0);
  if (!attrs.begin.has_value() || !attrs.end.has_value() ||
      attrs.slice_mode != "end") {
    return Refused("its operand is padded");
  }
  const auto stride_of = [&attrs](size_t i) -> int64_t {
    if (!attrs.strides.has_value() || attrs.strides->empty()) return 1;
    return (*attrs.strides)[std::min(i, attrs.strides->size() - 1)];
  };
  x.extents.resize(static_cast<size_t>(x.rank()));
  for (size_t i = 0; i < attrs.begin->size(); ++i) {
    const int axis = attrs.axes.has_value() && !attrs.axes->empty()
                         ? NormalAxis((*attrs.axes)[i], x.rank())
                         : static_cast<int>(i);
    if (!x.extent(axis).defined()) {
      BATON_ASSIGN_OR_RETURN(
          x.value, Typed(relay::StridedSlice(
                       x.value, {(*attrs.begin)[i]}, {(*attrs.end)[i]},
                       {.strides = {stride_of(i)}, .axes = Shape{axis}})));
      continue;
    }
    if (stride_of(i) != 1) {
      return Refused("a slice with steps of an extent that values decide");
    }
    BATON_RETURN_IF_ERROR(
        SliceAxis(x, axis, (*attrs.begin)[i], (*attrs.end)[i], Expr()));
  }
  return x;
}

// The slice of one axis whose begin, end and stride are all computed.
absl::Status TakeSlice(Padded& x, int axis, const Expr& begin, const Expr& end,
                       const Expr& given_stride) {
  const int64_t bound = x.bound(axis);
  if (bound == 0) return absl::OkStatus();
  Expr& extent = x.extents[static_cast<size_t>(axis)];
  const Expr whole = x.own_extent(axis);
  // A longer stride chooses no other elements.
  const Expr stride = relay::Maximum(
      relay::Minimum(given_stride, Number(bound + 1)), Number(-bound - 1));
  const Expr is_forward = relay::Greater(stride, Number(0));
  const auto limited = [&](const Expr& index) {
    const Expr from_front = relay::Where(relay::Less(index, Number(0)),
                                         relay::Add(index, whole), index);
    const Expr least = relay::Where(is_forward, Number(0), Number(-1));
    const Expr most =
        relay::Where(is_forward, whole, relay::Subtract(whole, Number(1)));
    return relay::Minimum(relay::Maximum(from_front, least), most);
  };
  const Expr first = limited(begin);
  const Expr last = limited(end);
  const Expr step = relay::Abs(stride);
  const Expr length = relay::Where(is_forward, relay::Subtract(last, first),
                                   relay::Subtract(first, last));
  const Expr count = relay::Maximum(
      relay::FloorDivide(relay::Subtract(relay::Add(length, step), Number(1)),
                         step),
      Number(0));
  const Expr from =
      relay::Add(first, relay::Multiply(Indices(bound, 0, 1), stride));
  BATON_ASSIGN_OR_RETURN(x.value,
                         Typed(relay::Take(x.value, from, {.axis = axis})));
  BATON_ASSIGN_OR_RETURN(extent, Typed(count));
  return absl::OkStatus();
}

absl::StatusOr<Padded> DynStridedSliceRule(const PaddedCall& call) {
  BATON_RETURN_IF_ERROR(call.OnlyPadded({0}));
  if (call.attrs<relay::StridedSliceAttrs>().slice_mode != "end") {
    return Refused("values decide the size of its slice");
  }
  Padded x = call.arg(0);
  x.extents.resize(static_cast<size_t>(x.rank()));
  const Expr& begins = call.arg(1).value;
  const Expr& ends = call.arg(2).value;
  const Expr& strides = call.arg(3).value;
  if (const auto most = MostBoxes(x.value, ends)) {
    if (*most < x.bound(0)) {
      BATON_ASSIGN_OR_RETURN(x.value,
                             Typed(relay::StridedSlice(x.value, {0}, {*most},
                                                       {.axes = Shape{0}})));
    }
  }
  const int64_t count = begins->tensor_type()->dim(0).value();
  if (ends->tensor_type()->dim(0).value() != count ||
      strides->tensor_type()->dim(0).value() != count) {
    return Refused("begins, ends and strides are not of the same axes");
  }
  for (int64_t i = 0; i < count; ++i) {
    BATON_ASSIGN_OR_RETURN(const VectorElement begin, ElementOf(begins, i));
    BATON_ASSIGN_OR_RETURN(const VectorElement end, ElementOf(ends, i));
    BATON_ASSIGN_OR_RETURN(const VectorElement stride, ElementOf(strides, i));
    const int axis = static_cast<int>(i);
    if (begin.constant.value_or(-1) >= 0 && stride.constant == 1 &&
        !(end.constant.has_value() && *end.constant < 0 &&
          x.extent(axis).defined())) {
      BATON_RETURN_IF_ERROR(
          SliceAxis(x, axis, *begin.constant, end.constant, end.computed));
    } else {
      BATON_RETURN_IF_ERROR(
          TakeSlice(x, axis, begin.value(), end.value(), stride.value()));
    }
  }
  return x;
}

// Sorts all, of which the first are its own.
absl::StatusOr<Padded> DynTopKRule(const PaddedCall& call) {
  const Padded& x = call.arg(0);
  auto attrs = call.attrs<relay::TopKAttrs>();
  const int axis = NormalAxis(attrs.axis, x.rank());
  if (call.arg(1).is_padded() || x.extent(axis).defined()) {
    return Refused("values decide over how many elements it computes");
  }
  // A negative number means all.
  const Expr bound = Number(x.bound(axis));
  const Expr k = relay::Cast(relay::Reshape(call.arg(1).value, {}), kInt64);
  BATON_ASSIGN_OR_RETURN(
      const Expr count,
      Typed(Required(relay::Where(relay::Less(k, Number(0)), bound,
                                  relay::Minimum(k, bound)),
                     relay::LessEqual(k, bound))));
  attrs.k = 0;
  BATON_ASSIGN_OR_RETURN(const Expr sorted, Typed(relay::TopK(x.value, attrs)));
  std::vector<Expr> extents = x.extents;
  extents.resize(static_cast<size_t>(x.rank()));
  extents[static_cast<size_t>(axis)] = count;
  if (sorted->tensor_type() != nullptr) return Padded{sorted, extents};
  Padded result;
  for (int i = 0; i < 2; ++i) {
    BATON_ASSIGN_OR_RETURN(Expr field, Typed(relay::TupleGetItem(sorted, i)));
    result.fields.push_back({std::move(field), extents});
  }
  return result;
}

// The rows of the coordinates of elements that are not 0, in front.
absl::StatusOr<Padded> ArgWhereRule(const PaddedCall& call) {
  const Padded& x = call.arg(0);
  const DType dtype = x.value->tensor_type()->dtype();
  const auto* type = call.call.tensor_type();
  const Shape bounds = BoundsOf(x);
  if (bounds.empty() || type == nullptr) return Refused("a scalar");
  BATON_ASSIGN_OR_RETURN(const int64_t count,
                         Product(bounds, 0, bounds.size()));
  Expr chosen = Filled(x, 0);
  if (!dtype.is_bool()) chosen = relay::NotEqual(chosen, Const(0.0, dtype));
  chosen = relay::Reshape(std::move(chosen), {count});
  const Expr ones = relay::Cast(chosen, kInt64);
  // Numbers of the elements that are chosen; the others share the last place.
  const Expr places =
      relay::Where(chosen, relay::CumSum(ones, {.axis = 0, .exclusive = true}),
                   Number(count));
  const Expr all = relay::Arange(Number(0), Number(count), Number(1), kInt64);
  Expr rest = relay::StridedSlice(
      relay::Call(BATON_OP("scatter_elements"),
                  {relay::Zeros({count + 1}, kInt64), places, all},
                  Attrs::Make(relay::ScatterElementsAttrs{})),
      {0}, {count});
  std::vector<Expr> columns(bounds.size());
  for (size_t i = bounds.size(); i-- > 0;) {
    // A tensor without elements has no coordinates.
    const Expr extent = Number(std::max<int64_t>(bounds[i], 1));
    columns[i] = relay::ExpandDims(
        relay::Cast(relay::FloorMod(rest, extent), type->dtype()), 1);
    rest = relay::FloorDivide(std::move(rest), extent);
  }
  BATON_ASSIGN_OR_RETURN(Expr rows,
                         Typed(relay::Concatenate(std::move(columns), 1)));
  BATON_ASSIGN_OR_RETURN(Expr own, Typed(relay::Sum(ones, {.axis = Shape{0}})));
  return Padded{std::move(rows), {std::move(own), Expr()}};
}

// --- New tensors -------------------------------------------------------------

// A result of which values decide the size has at most so many elements.
constexpr int64_t kMostElements = int64_t{1} << 24;

// `bound` is of a result, or of one of its axes.
absl::Status CheckBound(__int128 bound) {
  if (bound <= kMostElements) return absl::OkStatus();
  return Refused(
      absl::StrCat("it may have more than ", kMostElements, " elements"));
}

// Whole numbers from one to before another one, of which the range of values is
// known. The step is a constant.
absl::StatusOr<Padded> ArangeRule(const PaddedCall& call) {
  BATON_RETURN_IF_ERROR(call.OnlyPadded({}));
  const DType dtype = call.call.tensor_type()->dtype();
  for (int i = 0; i < 3; ++i) {
    if (!call.call.arg(i)->tensor_type()->dtype().is_integral()) {
      return Refused("its numbers are not whole");
    }
  }
  if (dtype == DType::UInt(64)) {
    return Refused("its numbers may be out of range of int64");
  }
  const auto step = relay::ConstantInts(call.arg(2).value);
  if (!step.has_value() || step->size() != 1 || step->front() == 0) {
    return Refused("values decide its step");
  }
  const int64_t by = step->front();
  if (by == std::numeric_limits<int64_t>::min()) {
    return Refused("the size of its step is out of range of int64");
  }
  const bool is_up = by > 0;
  const ValueRange starts = call.ranges.Of(call.arg(0).value);
  const ValueRange stops = call.ranges.Of(call.arg(1).value);
  const __int128 size = is_up ? __int128{by} : -__int128{by};
  const __int128 room = is_up ? __int128{stops.most} - starts.least
                              : __int128{starts.most} - stops.least;
  if (room > std::numeric_limits<int64_t>::max()) {
    return Refused("its start and its stop may be far apart");
  }
  const __int128 most = room <= 0 ? 0 : (room - 1) / size + 1;
  BATON_RETURN_IF_ERROR(CheckBound(most));
  const auto bound = static_cast<int64_t>(most);
  BATON_ASSIGN_OR_RETURN(const VectorElement begin,
                         ElementOf(call.arg(0).value, 0));
  BATON_ASSIGN_OR_RETURN(const VectorElement end,
                         ElementOf(call.arg(1).value, 0));
  const Expr first = begin.value();
  const Expr last = end.value();
  // The difference is at most `room` where it is positive.
  const Expr is_some =
      is_up ? relay::Less(first, last) : relay::Less(last, first);
  const Expr between =
      is_up ? relay::Subtract(last, first) : relay::Subtract(first, last);
  const bool counts = by == 1 && begin.constant == 0 && stops.least >= 0;
  const Expr count =
      counts ? last
             : relay::Where(is_some,
                            relay::Add(relay::FloorDivide(
                                           relay::Subtract(between, Number(1)),
                                           Number(static_cast<int64_t>(size))),
                                       Number(1)),
                            Number(0));
  BATON_ASSIGN_OR_RETURN(
      Expr value,
      Typed(relay::Cast(
          relay::Add(first, relay::Multiply(Indices(bound, 0, 1), Number(by))),
          dtype)));
  BATON_ASSIGN_OR_RETURN(Expr extent, Typed(count));
  return Padded{std::move(value), {std::move(extent)}};
}

// Bounds and extents of a shape that is computed, of which the ranges of values
// are known.
struct ShapeBounds {
  Shape bounds;
  std::vector<Expr> extents;
};
absl::StatusOr<ShapeBounds> BoundsOfShape(const PaddedCall& call,
                                          const Expr& shape) {
  ShapeBounds result;
  __int128 elements = 1;
  for (int64_t i = 0; i < shape->tensor_type()->dim(0).value(); ++i) {
    BATON_ASSIGN_OR_RETURN(VectorElement element, ElementOf(shape, i));
    if (element.constant.has_value()) {
      if (*element.constant < 0) return Refused("an extent is negative");
      result.bounds.push_back(*element.constant);
      result.extents.emplace_back();
    } else {
      const ValueRange range = call.ranges.Of(element.computed);
      BATON_RETURN_IF_ERROR(CheckBound(range.most));
      Expr extent = element.computed;
      if (range.least < 0) {
        BATON_ASSIGN_OR_RETURN(
            extent,
            Typed(Required(extent, relay::GreaterEqual(extent, Number(0)))));
      }
      result.bounds.push_back(std::max<int64_t>(range.most, 0));
      result.extents.push_back(std::move(extent));
    }
    elements *= result.bounds.back();
    BATON_RETURN_IF_ERROR(CheckBound(elements));
  }
  return result;
}

template <int kShape>
absl::StatusOr<Padded> DynFullRule(const PaddedCall& call) {
  BATON_RETURN_IF_ERROR(call.OnlyPadded({}));
  const DType dtype = call.call.tensor_type()->dtype();
  BATON_ASSIGN_OR_RETURN(ShapeBounds shape,
                         BoundsOfShape(call, call.arg(kShape).value));
  Expr value = kShape == 1 ? relay::Full(call.arg(0).value,
                                         std::move(shape.bounds), dtype)
               : call.call.op() == BATON_OP("dyn.ones")
                   ? relay::Ones(std::move(shape.bounds), dtype)
                   : relay::Zeros(std::move(shape.bounds), dtype);
  BATON_ASSIGN_OR_RETURN(value, Typed(value));
  return Padded{std::move(value), std::move(shape.extents)};
}

absl::StatusOr<Padded> DynBroadcastToRule(const PaddedCall& call) {
  BATON_RETURN_IF_ERROR(call.OnlyPadded({}));
  const Padded& x = call.arg(0);
  BATON_ASSIGN_OR_RETURN(ShapeBounds shape,
                         BoundsOfShape(call, call.arg(1).value));
  const auto rank = static_cast<int>(shape.bounds.size());
  if (rank < x.rank()) return Refused("its operand has more axes");
  for (int i = 0; i < x.rank(); ++i) {
    const auto to = static_cast<size_t>(rank - x.rank() + i);
    const int64_t own = x.bound(i);
    if (own == 1) continue;
    // Another extent is a fault.
    Expr& extent = shape.extents[to];
    if (!extent.defined()) {
      if (shape.bounds[to] != own) return Refused("its operand does not fit");
      continue;
    }
    BATON_ASSIGN_OR_RETURN(
        extent, Typed(Required(extent, relay::Equal(extent, Number(own)))));
    shape.bounds[to] = own;
  }
  // Extents of the operand may be above the bounds.
  BATON_ASSIGN_OR_RETURN(const int64_t elements,
                         Product(shape.bounds, 0, shape.bounds.size()));
  BATON_RETURN_IF_ERROR(CheckBound(elements));
  BATON_ASSIGN_OR_RETURN(
      Expr value, Typed(relay::BroadcastTo(x.value, std::move(shape.bounds))));
  return Padded{std::move(value), std::move(shape.extents)};
}

// --- Extents -----------------------------------------------------------------

absl::StatusOr<Padded> ShapeOfRule(const PaddedCall& call) {
  BATON_ASSIGN_OR_RETURN(
      Expr value,
      Typed(ExtentsOf(call.arg(0), call.call.tensor_type()->dtype())));
  return Padded{std::move(value)};
}

absl::StatusOr<Padded> SizeRule(const PaddedCall& call) {
  const Padded& x = call.arg(0);
  Expr size = Number(1);
  for (int i = 0; i < x.rank(); ++i) {
    size = relay::Multiply(std::move(size), x.own_extent(i));
  }
  BATON_ASSIGN_OR_RETURN(
      Expr value,
      Typed(relay::Cast(std::move(size), call.call.tensor_type()->dtype())));
  return Padded{std::move(value)};
}

#define BATON_PADDED(op, rule) BATON_EXTEND_OP(op).Set(Rules(), rule)

BATON_PADDED("add", BroadcastRule);
BATON_PADDED("bitwise_and", BroadcastRule);
BATON_PADDED("bitwise_or", BroadcastRule);
BATON_PADDED("bitwise_xor", BroadcastRule);
BATON_PADDED("equal", BroadcastRule);
BATON_PADDED("greater", BroadcastRule);
BATON_PADDED("greater_equal", BroadcastRule);
BATON_PADDED("less", BroadcastRule);
BATON_PADDED("less_equal", BroadcastRule);
BATON_PADDED("logical_and", BroadcastRule);
BATON_PADDED("logical_or", BroadcastRule);
BATON_PADDED("logical_xor", BroadcastRule);
BATON_PADDED("maximum", BroadcastRule);
BATON_PADDED("minimum", BroadcastRule);
BATON_PADDED("multiply", BroadcastRule);
BATON_PADDED("not_equal", BroadcastRule);
BATON_PADDED("subtract", BroadcastRule);
BATON_PADDED("where", BroadcastRule);
BATON_PADDED("left_shift", PartialRule<0>);
BATON_PADDED("power", PartialRule<0>);
BATON_PADDED("right_shift", PartialRule<0>);
BATON_PADDED("divide", PartialRule<1>);
BATON_PADDED("floor_divide", PartialRule<1>);
BATON_PADDED("floor_mod", PartialRule<1>);
BATON_PADDED("mod", PartialRule<1>);
BATON_PADDED("trunc_divide", PartialRule<1>);
BATON_PADDED("trunc_mod", PartialRule<1>);

BATON_PADDED("nn.bias_add", KeepShapeRule);
BATON_PADDED("nn.prelu", KeepShapeRule);
BATON_PADDED("nn.softmax", KeepShapeAlongRule<relay::SoftmaxAttrs>);
BATON_PADDED("nn.log_softmax", KeepShapeAlongRule<relay::SoftmaxAttrs>);
BATON_PADDED("cumsum", KeepShapeAlongRule<relay::ScanopAttrs>);
BATON_PADDED("argsort", KeepShapeAlongRule<relay::ArgsortAttrs>);
BATON_PADDED("sort", KeepShapeAlongRule<relay::ArgsortAttrs>);
BATON_PADDED("nn.batch_flatten", BatchRule);
BATON_PADDED("nn.conv1d", BatchOfLayoutRule<relay::Conv1DAttrs>);
BATON_PADDED("nn.conv2d", BatchOfLayoutRule<relay::Conv2DAttrs>);
BATON_PADDED("nn.conv2d_transpose",
             BatchOfLayoutRule<relay::Conv2DTransposeAttrs>);
BATON_PADDED("nn.conv3d", BatchOfLayoutRule<relay::Conv3DAttrs>);
BATON_PADDED("nn.avg_pool2d", BatchOfLayoutRule<relay::AvgPool2DAttrs>);
BATON_PADDED("nn.max_pool2d", BatchOfLayoutRule<relay::MaxPool2DAttrs>);
BATON_PADDED("nn.global_avg_pool2d",
             BatchOfLayoutRule<relay::GlobalPool2DAttrs>);
BATON_PADDED("nn.global_max_pool2d",
             BatchOfLayoutRule<relay::GlobalPool2DAttrs>);
BATON_PADDED("image.resize2d", BatchOfLayoutRule<relay::Resize2DAttrs>);
BATON_PADDED("nn.dense", RowsRule);
BATON_PADDED("nn.matmul", RowsRule);
BATON_PADDED("vision.roi_align", RegionsRule);
BATON_PADDED("vision.roi_align_half_pixel", RegionsRule);
BATON_PADDED("vision.roi_pool", RegionsRule);

BATON_PADDED("transpose", TransposeRule);
BATON_PADDED("expand_dims", ExpandDimsRule);
BATON_PADDED("squeeze", SqueezeRule);
BATON_PADDED("reshape", ReshapeRule);
BATON_PADDED("dyn.reshape", ReshapeRule);
BATON_PADDED("concatenate", ConcatenateRule);
BATON_PADDED("stack", StackRule);
BATON_PADDED("split", SplitRule);

BATON_PADDED("all", (ReduceRule<relay::ReduceAttrs, Neutral::kMost>));
BATON_PADDED("any", (ReduceRule<relay::ReduceAttrs, Neutral::kLeast>));
BATON_PADDED("max", (ReduceRule<relay::ReduceAttrs, Neutral::kLeast>));
BATON_PADDED("mean", (ReduceRule<relay::ReduceAttrs, Neutral::kNone>));
BATON_PADDED("min", (ReduceRule<relay::ReduceAttrs, Neutral::kMost>));
BATON_PADDED("prod", (ReduceRule<relay::ReduceAttrs, Neutral::kOne>));
BATON_PADDED("sum", (ReduceRule<relay::ReduceAttrs, Neutral::kZero>));
BATON_PADDED("argmax", ArgReduceRule<Neutral::kLeast>);
BATON_PADDED("argmin", ArgReduceRule<Neutral::kMost>);

BATON_PADDED("take", TakeRule);
BATON_PADDED("gather_nd", GatherNdRule);
BATON_PADDED("one_hot", OneHotRule);
BATON_PADDED("strided_slice", StridedSliceRule);
BATON_PADDED("dyn.strided_slice", DynStridedSliceRule);
BATON_PADDED("dyn.topk", DynTopKRule);
BATON_PADDED("argwhere", ArgWhereRule);
BATON_PADDED("arange", ArangeRule);
BATON_PADDED("dyn.broadcast_to", DynBroadcastToRule);
BATON_PADDED("dyn.full", DynFullRule<1>);
BATON_PADDED("dyn.ones", DynFullRule<0>);
BATON_PADDED("dyn.zeros", DynFullRule<0>);
BATON_PADDED("shape_of", ShapeOfRule);
BATON_PADDED("ndarray_size", SizeRule);

#undef BATON_PADDED

}  // namespace

const Expr& Padded::extent(int axis) const {
  static const Expr* const none = new Expr;
  return extents.empty() ? *none : extents[static_cast<size_t>(axis)];
}

Expr Padded::own_extent(int axis) const {
  return extent(axis).defined() ? extent(axis) : Number(bound(axis));
}

bool Padded::is_padded() const {
  return !fields.empty() ||
         std::any_of(extents.begin(), extents.end(),
                     [](const Expr& extent) { return extent.defined(); });
}

absl::StatusOr<Expr> PaddedCall::With(std::vector<Expr> values) const {
  return Typed(relay::Call(call.op(), absl::MakeConstSpan(values), call.attrs(),
                           {call.type_args().begin(), call.type_args().end()},
                           Type(), call.span()));
}

absl::StatusOr<Expr> PaddedCall::Rebuilt() const {
  std::vector<Expr> values;
  for (const Padded& x : args) {
    if (x.fields.empty()) {
      values.push_back(x.value);
      continue;
    }
    std::vector<Expr> fields;
    for (const Padded& field : x.fields) fields.push_back(field.value);
    values.push_back(relay::Tuple(std::move(fields)));
  }
  return With(std::move(values));
}

absl::Status PaddedCall::OnlyPadded(
    std::initializer_list<size_t> allowed) const {
  for (size_t i = 0; i < args.size(); ++i) {
    if (args[i].is_padded() &&
        std::find(allowed.begin(), allowed.end(), i) == allowed.end()) {
      return Refused(absl::StrCat("values decide the size of operand ", i));
    }
  }
  return absl::OkStatus();
}

const PaddedRule* PaddedRuleOf(const Expr& op) {
  const PaddedRule* const rule = Rules().Get(op);
  if (rule != nullptr) return rule;
  // All operators that compute each element of one tensor.
  static constexpr PaddedRule kKeepShape = KeepShapeRule;
  const FusionPattern* const pattern = relay::FusionPatterns().Get(op);
  const auto* node = op.As<OpNode>();
  return pattern != nullptr && *pattern == FusionPattern::kElemWise &&
                 node->arity() == 1 && !relay::IsIndexDependent(op)
             ? &kKeepShape
             : nullptr;
}

Expr ExtentsOf(const Padded& x, DType dtype) {
  std::vector<Expr> extents;
  for (int i = 0; i < x.rank(); ++i) {
    extents.push_back(relay::Reshape(x.own_extent(i), {1}));
  }
  return relay::Cast(relay::Concatenate(std::move(extents), 0), dtype);
}

absl::StatusOr<Expr> DenseElements(const Padded& x) {
  const Shape bounds = BoundsOf(x);
  const int axis = PaddedAxis(x);
  if (axis >= 0) {
    BATON_ASSIGN_OR_RETURN(const int64_t before,
                           Product(bounds, 0, static_cast<size_t>(axis)));
    if (before == 1) return x.value;
  }
  BATON_ASSIGN_OR_RETURN(const int64_t count,
                         Product(bounds, 0, bounds.size()));
  if (count == 0) return x.value;
  Expr rest = relay::Arange(Number(0), Number(count), Number(1), kInt64);
  Expr from = Number(0);
  int64_t stride = 1;
  for (int i = x.rank() - 1; i >= 0; --i) {
    const Expr extent = x.extent(i).defined()
                            ? relay::Maximum(x.extent(i), Number(1))
                            : Number(x.bound(i));
    const Expr at = i > 0 ? relay::FloorMod(rest, extent) : rest;
    from = relay::Add(std::move(from), relay::Multiply(at, Number(stride)));
    rest = relay::FloorDivide(std::move(rest), extent);
    stride *= x.bound(i);
  }
  return Typed(relay::Reshape(relay::Take(relay::Reshape(x.value, {count}),
                                          std::move(from), {.axis = 0}),
                              bounds));
}

}  // namespace baton::cpu
