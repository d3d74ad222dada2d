#include "baton/relay/analysis/shape_values.h"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <utility>
#include <vector>

#include "absl/container/inlined_vector.h"
#include "absl/types/span.h"
#include "baton/base/dtype.h"
#include "baton/base/tensor.h"
#include "baton/ir/op.h"
#include "baton/ir/type.h"
#include "baton/relay/ir/expr.h"
#include "baton/relay/op/dim_math.h"
#include "baton/relay/op/tensor/indexing.h"
#include "baton/relay/op/tensor/reduce.h"
#include "baton/relay/op/tensor/shape.h"

namespace baton::relay {

OpProperty<ShapeValueRule>& ShapeValueRules() {
  static auto* const rules = new OpProperty<ShapeValueRule>;
  return *rules;
}

namespace {

constexpr int64_t kMaxLength = 64;

using Args = absl::Span<const Dims* const>;

// Returns the number of elements of a tensor of rank 0 or 1; nullopt if there
// may be too many, or if they are neither signed integers nor booleans.
std::optional<int64_t> Length(const ExprNode& expr) {
  const TensorTypeNode* type = expr.tensor_type();
  if (type == nullptr || type->rank() > 1 ||
      !(type->dtype().is_int() || type->dtype() == DType::Bool())) {
    return std::nullopt;
  }
  if (type->rank() == 0) return 1;
  const Dim& dim = type->dim(0);
  if (!dim.is_const() || dim.value() < 0 || dim.value() > kMaxLength) {
    return std::nullopt;
  }
  return dim.value();
}

// True if the dimension is at least 0 for all values of its variables, which
// are extents.
bool IsNonNegative(const Dim& dim) {
  absl::InlinedVector<const Dim*, 8> open = {&dim};
  for (int visited = 0; !open.empty(); ++visited) {
    const Dim& next = *open.back();
    open.pop_back();
    if (next.is_any() || visited > 64) return false;
    if (next.is_const()) {
      if (next.value() < 0) return false;
      continue;
    }
    switch (next.expr()->op()) {
      case DimExprNode::Op::kVar:
      case DimExprNode::Op::kSizeVar:
        break;
      case DimExprNode::Op::kSub:
        return false;
      case DimExprNode::Op::kAdd:
      case DimExprNode::Op::kMul:
      case DimExprNode::Op::kFloorDiv:
        open.push_back(&next.expr()->lhs());
        open.push_back(&next.expr()->rhs());
        break;
    }
  }
  return true;
}

std::optional<Dims> OfShapeOf(const CallNode& call, Args /*args*/) {
  const TensorTypeNode* type = call.arg(0)->tensor_type();
  if (type == nullptr) return std::nullopt;
  return Dims(type->shape().begin(), type->shape().end());
}

std::optional<Dims> OfSize(const CallNode& call, Args /*args*/) {
  const TensorTypeNode* type = call.arg(0)->tensor_type();
  if (type == nullptr) return std::nullopt;
  return Dims{Product(type->shape())};
}

// The elements of the first argument, in their order.
std::optional<Dims> OfFirstArgument(const CallNode& /*call*/, Args args) {
  if (args.empty() || args[0] == nullptr) return std::nullopt;
  return *args[0];
}

std::optional<Dims> OfAllArguments(const CallNode& /*call*/, Args args) {
  Dims result;
  for (const Dims* arg : args) {
    if (arg == nullptr) return std::nullopt;
    result.insert(result.end(), arg->begin(), arg->end());
  }
  return result;
}

std::optional<Dims> OfTake(const CallNode& call, Args args) {
  const auto* attrs = call.attrs_as<TakeAttrs>();
  if (attrs == nullptr || attrs->batch_dims != 0 || args[0] == nullptr ||
      args[1] == nullptr) {
    return std::nullopt;
  }
  const int64_t length = static_cast<int64_t>(args[0]->size());
  Dims result;
  for (const Dim& index : *args[1]) {
    if (!index.is_const()) return std::nullopt;
    const int64_t i = index.value();
    if (i < 0 || i >= length) return std::nullopt;
    result.push_back((*args[0])[i]);
  }
  return result;
}

std::optional<Dims> OfStridedSlice(const CallNode& call, Args args) {
  const auto* attrs = call.attrs_as<StridedSliceAttrs>();
  if (attrs == nullptr || args[0] == nullptr || attrs->slice_mode != "end" ||
      !attrs->begin.has_value() || !attrs->end.has_value() ||
      attrs->begin->size() != 1 || attrs->end->size() != 1) {
    return std::nullopt;
  }
  const int64_t stride = attrs->strides.has_value() && !attrs->strides->empty()
                             ? attrs->strides->front()
                             : 1;
  if (stride <= 0) return std::nullopt;
  const int64_t length = static_cast<int64_t>(args[0]->size());
  const auto inside = [length](int64_t i) {
    return std::clamp<int64_t>(i < 0 ? i + length : i, 0, length);
  };
  Dims result;
  const int64_t end = inside(attrs->end->front());
  for (int64_t i = inside(attrs->begin->front()); i < end;
       i += std::min(stride, kMaxLength)) {
    result.push_back((*args[0])[i]);
  }
  return result;
}

// An operator on elements; one of the operands may have a single element.
template <typename F>
std::optional<Dims> Elementwise(Args args, F f) {
  if (args[0] == nullptr || args[1] == nullptr) return std::nullopt;
  const Dims& a = *args[0];
  const Dims& b = *args[1];
  if (a.size() != b.size() && a.size() != 1 && b.size() != 1) {
    return std::nullopt;
  }
  Dims result;
  const size_t size = a.empty() || b.empty() ? 0 : std::max(a.size(), b.size());
  for (size_t i = 0; i < size; ++i) {
    result.push_back(f(a[a.size() == 1 ? 0 : i], b[b.size() == 1 ? 0 : i]));
  }
  return result;
}

std::optional<Dims> OfAdd(const CallNode& /*call*/, Args args) {
  return Elementwise(args, [](const Dim& a, const Dim& b) { return a + b; });
}

std::optional<Dims> OfSubtract(const CallNode& /*call*/, Args args) {
  return Elementwise(args, [](const Dim& a, const Dim& b) { return a - b; });
}

std::optional<Dims> OfMultiply(const CallNode& /*call*/, Args args) {
  return Elementwise(args, [](const Dim& a, const Dim& b) { return a * b; });
}

// Quotients of integers are rounded towards zero or down, which is the same if
// nothing is negative.
std::optional<Dims> OfDivide(const CallNode& /*call*/, Args args) {
  return Elementwise(args, [](const Dim& a, const Dim& b) {
    return IsNonNegative(a) && IsNonNegative(b) ? FloorDiv(a, b) : Dim::Any();
  });
}

template <bool kLargest>
std::optional<Dims> OfExtreme(const CallNode& /*call*/, Args args) {
  return Elementwise(args, [](const Dim& a, const Dim& b) {
    if (ProvablyEqual(a, b)) return a;
    if (a.is_const() && b.is_const()) {
      return Dim(kLargest ? std::max(a.value(), b.value())
                          : std::min(a.value(), b.value()));
    }
    return Dim::Any();
  });
}

// The result of the comparison of an extent with a number that is at most 0.
Dim Less(const Dim& a, const Dim& b) {
  if (a.is_const() && b.is_const()) return a.value() < b.value() ? 1 : 0;
  return b.is_const() && b.value() <= 0 && IsNonNegative(a) ? Dim(0)
                                                            : Dim::Any();
}

Dim Equal(const Dim& a, const Dim& b) {
  if (ProvablyEqual(a, b)) return 1;
  if (ProvablyDiffer(a, b)) return 0;
  const bool signs_differ =
      (a.is_const() && a.value() < 0 && IsNonNegative(b)) ||
      (b.is_const() && b.value() < 0 && IsNonNegative(a));
  return signs_differ ? Dim(0) : Dim::Any();
}

std::optional<Dims> OfLess(const CallNode& /*call*/, Args args) {
  return Elementwise(args, Less);
}

std::optional<Dims> OfGreater(const CallNode& /*call*/, Args args) {
  return Elementwise(args,
                     [](const Dim& a, const Dim& b) { return Less(b, a); });
}

std::optional<Dims> OfEqual(const CallNode& /*call*/, Args args) {
  return Elementwise(args, Equal);
}

std::optional<Dims> OfNotEqual(const CallNode& /*call*/, Args args) {
  return Elementwise(args, [](const Dim& a, const Dim& b) {
    const Dim equal = Equal(a, b);
    return equal.is_const() ? Dim(1 - equal.value()) : equal;
  });
}

std::optional<Dims> OfWhere(const CallNode& call, Args args) {
  if (args[0] == nullptr) return std::nullopt;
  const std::optional<int64_t> length = Length(call);
  if (!length.has_value()) return std::nullopt;
  Dims result;
  for (int64_t i = 0; i < *length; ++i) {
    const auto element = [i, &args](int k) {
      const Dims* arg = args[k];
      if (arg == nullptr || arg->empty()) return Dim::Any();
      return (*arg)[arg->size() == 1 ? 0 : i];
    };
    const Dim condition = element(0);
    result.push_back(condition.is_const() ? element(condition.value() ? 1 : 2)
                     : ProvablyEqual(element(1), element(2)) ? element(1)
                                                             : Dim::Any());
  }
  return result;
}

// As many of one value as the result is long.
std::optional<Dims> Filled(const CallNode& call, Dim value) {
  const std::optional<int64_t> length = Length(call);
  if (!length.has_value()) return std::nullopt;
  return Dims(*length, value);
}

template <int kValue>
std::optional<Dims> OfFill(const CallNode& call, Args /*args*/) {
  return Filled(call, kValue);
}

template <int kArg>
std::optional<Dims> OfFillWith(const CallNode& call, Args args) {
  if (args[kArg] == nullptr || args[kArg]->size() != 1) return std::nullopt;
  return Filled(call, args[kArg]->front());
}

std::optional<Dims> OfProduct(const CallNode& call, Args args) {
  const std::optional<int64_t> length = Length(call);
  if (args[0] == nullptr || length != 1) return std::nullopt;
  return Dims{Product(*args[0])};
}

std::optional<Dims> OfSum(const CallNode& call, Args args) {
  const std::optional<int64_t> length = Length(call);
  if (args[0] == nullptr || length != 1) return std::nullopt;
  Dim sum = 0;
  for (const Dim& dim : *args[0]) sum = sum + dim;
  return Dims{sum};
}

Dims OfConstant(const Tensor& tensor) {
  Dims result;
  for (int64_t i = 0; i < tensor.num_elements(); ++i) {
    const int64_t value = tensor.AtAsInt64(i);
    result.push_back(value >= -Dim::kMax && value <= Dim::kMax ? Dim(value)
                                                               : Dim::Any());
  }
  return result;
}

// The call of split of which `item` is a part; else null.
const CallNode* SplitOf(const TupleGetItemNode& item) {
  const auto* call = item.tuple().As<CallNode>();
  return call != nullptr && call->op().get() == BATON_OP("split").get()
             ? call
             : nullptr;
}

// The elements of part `index`.
std::optional<Dims> PartOf(const CallNode& split, int64_t index,
                           const Dims& elements) {
  const auto* attrs = split.attrs_as<SplitAttrs>();
  if (attrs == nullptr) return std::nullopt;
  const int64_t length = static_cast<int64_t>(elements.size());
  int64_t begin = 0;
  int64_t end = length;
  std::vector<int64_t> cuts;
  if (const int64_t* sections = attrs->indices_or_sections.As<int64_t>()) {
    if (*sections <= 0 || length % *sections != 0) return std::nullopt;
    begin = index * (length / *sections);
    end = begin + length / *sections;
  } else if (AttrTraits<std::vector<int64_t>>::FromValue(
                 attrs->indices_or_sections, &cuts)
                 .ok()) {
    const int64_t parts = static_cast<int64_t>(cuts.size()) + 1;
    if (index >= parts) return std::nullopt;
    if (index > 0) begin = cuts[index - 1];
    if (index + 1 < parts) end = cuts[index];
  }
  if (begin < 0 || begin > end || end > length) return std::nullopt;
  return Dims(elements.begin() + begin, elements.begin() + end);
}

// True if `dtype` can represent the number; unknown dimensions count as true.
bool Fits(const Dim& dim, DType dtype) {
  if (dim.is_any()) return true;
  if (dtype == DType::Bool()) return dim.is_const(0) || dim.is_const(1);
  if (dim.is_symbolic()) return dtype.bits() >= 32;
  if (dtype.bits() >= 64) return dim.value() != Dim::kOutOfRange;
  const int64_t limit = int64_t{1} << (dtype.bits() - 1);
  return dim.value() >= -limit && dim.value() < limit;
}

// The expressions on which the elements of `expr` depend.
std::vector<Expr> Operands(const Expr& expr) {
  std::vector<Expr> result;
  if (const auto* call = expr.As<CallNode>()) {
    for (const Expr& arg : call->args()) {
      if (const auto* tuple = arg.As<TupleNode>()) {
        result.insert(result.end(), tuple->fields().begin(),
                      tuple->fields().end());
      } else {
        result.push_back(arg);
      }
    }
  } else if (const auto* item = expr.As<TupleGetItemNode>()) {
    if (const CallNode* split = SplitOf(*item)) result.push_back(split->arg(0));
  }
  return result;
}

}  // namespace

const Dims* ShapeValues::Known(const Expr& expr) const {
  const auto found = known_.find(expr);
  return found == known_.end() || !found->second.has_value() ? nullptr
                                                             : &*found->second;
}

std::optional<Dims> ShapeValues::Compute(const Expr& expr) const {
  const std::optional<int64_t> length = Length(*expr);
  if (!length.has_value()) return std::nullopt;
  std::optional<Dims> result;
  if (const auto* constant = expr.As<ConstantNode>()) {
    result = OfConstant(constant->value());
  } else if (const auto* call = expr.As<CallNode>()) {
    const ShapeValueRule* rule = ShapeValueRules().Get(call->op());
    if (rule == nullptr) return std::nullopt;
    std::vector<const Dims*> args;
    for (const Expr& operand : Operands(expr)) args.push_back(Known(operand));
    result = (*rule)(*call, args);
  } else if (const auto* item = expr.As<TupleGetItemNode>()) {
    const CallNode* split = SplitOf(*item);
    const Dims* whole = split == nullptr ? nullptr : Known(split->arg(0));
    if (whole != nullptr) result = PartOf(*split, item->index(), *whole);
  }
  if (!result.has_value() || static_cast<int64_t>(result->size()) != *length) {
    return std::nullopt;
  }
  for (Dim& dim : *result) {
    if (!Fits(dim, expr->tensor_type()->dtype())) dim = Dim::Any();
  }
  return result;
}

const Dims* ShapeValues::Find(const Expr& expr) {
  if (!Length(*expr).has_value()) return nullptr;
  std::vector<std::pair<Expr, bool>> open = {{expr, false}};
  while (!open.empty()) {
    const auto [next, has_operands] = open.back();
    if (known_.contains(next)) {
      open.pop_back();
      continue;
    }
    if (has_operands || !Length(*next).has_value()) {
      open.pop_back();
      known_.emplace(next, Compute(next));
      continue;
    }
    open.back().second = true;
    for (Expr& operand : Operands(next)) {
      open.emplace_back(std::move(operand), false);
    }
  }
  return Known(expr);
}

namespace {

BATON_EXTEND_OP("shape_of").Set(ShapeValueRules(), OfShapeOf);
BATON_EXTEND_OP("ndarray_size").Set(ShapeValueRules(), OfSize);
BATON_EXTEND_OP("cast").Set(ShapeValueRules(), OfFirstArgument);
BATON_EXTEND_OP("copy").Set(ShapeValueRules(), OfFirstArgument);
BATON_EXTEND_OP("expand_dims").Set(ShapeValueRules(), OfFirstArgument);
BATON_EXTEND_OP("squeeze").Set(ShapeValueRules(), OfFirstArgument);
BATON_EXTEND_OP("reshape").Set(ShapeValueRules(), OfFirstArgument);
BATON_EXTEND_OP("dyn.reshape").Set(ShapeValueRules(), OfFirstArgument);
BATON_EXTEND_OP("concatenate").Set(ShapeValueRules(), OfAllArguments);
BATON_EXTEND_OP("stack").Set(ShapeValueRules(), OfAllArguments);
BATON_EXTEND_OP("take").Set(ShapeValueRules(), OfTake);
BATON_EXTEND_OP("strided_slice").Set(ShapeValueRules(), OfStridedSlice);
BATON_EXTEND_OP("add").Set(ShapeValueRules(), OfAdd);
BATON_EXTEND_OP("subtract").Set(ShapeValueRules(), OfSubtract);
BATON_EXTEND_OP("multiply").Set(ShapeValueRules(), OfMultiply);
BATON_EXTEND_OP("divide").Set(ShapeValueRules(), OfDivide);
BATON_EXTEND_OP("floor_divide").Set(ShapeValueRules(), OfDivide);
BATON_EXTEND_OP("maximum").Set(ShapeValueRules(), OfExtreme<true>);
BATON_EXTEND_OP("minimum").Set(ShapeValueRules(), OfExtreme<false>);
BATON_EXTEND_OP("less").Set(ShapeValueRules(), OfLess);
BATON_EXTEND_OP("greater").Set(ShapeValueRules(), OfGreater);
BATON_EXTEND_OP("equal").Set(ShapeValueRules(), OfEqual);
BATON_EXTEND_OP("not_equal").Set(ShapeValueRules(), OfNotEqual);
BATON_EXTEND_OP("where").Set(ShapeValueRules(), OfWhere);
BATON_EXTEND_OP("zeros").Set(ShapeValueRules(), OfFill<0>);
BATON_EXTEND_OP("zeros_like").Set(ShapeValueRules(), OfFill<0>);
BATON_EXTEND_OP("ones").Set(ShapeValueRules(), OfFill<1>);
BATON_EXTEND_OP("ones_like").Set(ShapeValueRules(), OfFill<1>);
BATON_EXTEND_OP("full").Set(ShapeValueRules(), OfFillWith<0>);
BATON_EXTEND_OP("dyn.full").Set(ShapeValueRules(), OfFillWith<0>);
BATON_EXTEND_OP("full_like").Set(ShapeValueRules(), OfFillWith<1>);
BATON_EXTEND_OP("prod").Set(ShapeValueRules(), OfProduct);
BATON_EXTEND_OP("sum").Set(ShapeValueRules(), OfSum);

}  // namespace
}  // namespace baton::relay
