#include "baton/backend/cpu/value_ranges.h"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <optional>
#include <utility>
#include <vector>

#include "absl/strings/string_view.h"
#include "baton/base/dtype.h"
#include "baton/base/hash_table.h"
#include "baton/base/tensor.h"
#include "baton/ir/expr.h"
#include "baton/ir/op.h"
#include "baton/ir/type.h"
#include "baton/relay/ir/constant.h"
#include "baton/relay/ir/expr.h"
#include "baton/relay/op/tensor/indexing.h"

namespace baton::cpu {
namespace {

using relay::CallNode;
using relay::TupleNode;
using Wide = __int128;

// Nullopt if a dimension is not constant, or int64 does not hold the number.
std::optional<int64_t> NumElementsOf(const Expr& x) {
  const TensorTypeNode* const type = x->tensor_type();
  if (type == nullptr || !type->is_static()) return std::nullopt;
  Wide count = 1;
  for (const Dim& dim : type->shape()) {
    count *= dim.value();
    if (count > std::numeric_limits<int64_t>::max()) return std::nullopt;
  }
  return static_cast<int64_t>(count);
}

// That of all numbers if int64 does not hold those of the type.
ValueRange RangeOfType(DType dtype) {
  if (dtype.is_bool()) return {0, 1};
  const int bits = std::min(dtype.bits(), 64);
  if (dtype.is_uint() && bits < 64) return {0, (int64_t{1} << bits) - 1};
  return {std::numeric_limits<int64_t>::min() >> (64 - bits),
          std::numeric_limits<int64_t>::max() >> (64 - bits)};
}

ValueRange Union(const ValueRange& a, const ValueRange& b) {
  return {std::min(a.least, b.least), std::max(a.most, b.most)};
}

// The ways in which operators compute with ranges.
enum class Rule {
  kNone,    // nothing is known
  kSame,    // elements are those of the first argument
  kFields,  // elements are those of the fields of the first argument
  kWhere,
  kCast,
  kAdd,
  kSubtract,
  kMultiply,
  kMinimum,
  kMaximum,
  kFloorDivide,
  kFloorMod,
  kNegative,
  kSum,
};

Rule RuleOf(const Expr& op) {
  static const auto* const rules = new FlatHashMap<absl::string_view, Rule>{
      {"reshape", Rule::kSame},
      {"expand_dims", Rule::kSame},
      {"squeeze", Rule::kSame},
      {"transpose", Rule::kSame},
      {"broadcast_to", Rule::kSame},
      {"full", Rule::kSame},
      {"strided_slice", Rule::kSame},
      {"take", Rule::kSame},
      {"max", Rule::kSame},
      {"min", Rule::kSame},
      {"concatenate", Rule::kFields},
      {"stack", Rule::kFields},
      {"where", Rule::kWhere},
      {"cast", Rule::kCast},
      {"add", Rule::kAdd},
      {"subtract", Rule::kSubtract},
      {"multiply", Rule::kMultiply},
      {"minimum", Rule::kMinimum},
      {"maximum", Rule::kMaximum},
      {"floor_divide", Rule::kFloorDivide},
      {"floor_mod", Rule::kFloorMod},
      {"negative", Rule::kNegative},
      {"sum", Rule::kSum},
  };
  const auto* node = op.As<OpNode>();
  if (node == nullptr) return Rule::kNone;
  const auto found = rules->find(node->name());
  return found == rules->end() ? Rule::kNone : found->second;
}

// True for integers and bools that int64 holds.
bool FitsInt64(const Expr& x) {
  const TensorTypeNode* const type = x->tensor_type();
  if (type == nullptr) return false;
  const DType dtype = type->dtype();
  return dtype.is_integral() && dtype.bits() <= (dtype.is_uint() ? 63 : 64);
}

// The typed integers and bools on which the range depends.
std::vector<Expr> NeededFor(const Expr& x) {
  const auto* call = x.As<CallNode>();
  if (call == nullptr || !FitsInt64(x) || x->tensor_type()->dtype().is_bool()) {
    return {};
  }
  const Rule rule = RuleOf(call->op());
  std::vector<Expr> needed;
  switch (rule) {
    case Rule::kNone:
      return {};
    case Rule::kSame: {
      needed.push_back(call->arg(0));
      if (NumElementsOf(x) != 1) break;
      // One element may be that of a part of another vector.
      VectorPart part = PartOf(x, 0);
      if (part.value != x) needed[0] = std::move(part.value);
      break;
    }
    case Rule::kFields: {
      const auto* tuple = call->arg(0).As<TupleNode>();
      if (tuple == nullptr) return {};
      needed.assign(tuple->fields().begin(), tuple->fields().end());
      break;
    }
    case Rule::kWhere:
      needed = {call->arg(1), call->arg(2)};
      break;
    case Rule::kCast:
    case Rule::kNegative:
    case Rule::kSum:
      needed = {call->arg(0)};
      break;
    case Rule::kAdd:
    case Rule::kSubtract:
    case Rule::kMultiply:
    case Rule::kMinimum:
    case Rule::kMaximum:
    case Rule::kFloorDivide:
    case Rule::kFloorMod:
      needed = {call->arg(0), call->arg(1)};
      break;
  }
  return std::all_of(needed.begin(), needed.end(), FitsInt64)
             ? needed
             : std::vector<Expr>();
}

// The index of an element of a vector of `extent` elements; nullopt if it is
// out of range.
std::optional<int64_t> IndexIn(int64_t extent, int64_t index) {
  if (index < 0) index += extent;
  if (index < 0 || index >= extent) return std::nullopt;
  return index;
}

// The part of the vector or scalar `call` that has element `i`; nullopt if it is
// no part of an argument.
std::optional<VectorPart> PartOfCall(const CallNode& call, int64_t i) {
  if (call.op() == BATON_OP("concatenate")) {
    const auto* parts = call.arg(0).As<TupleNode>();
    if (parts == nullptr) return std::nullopt;
    for (const Expr& part : parts->fields()) {
      const std::optional<int64_t> count = NumElementsOf(part);
      if (!count.has_value()) return std::nullopt;
      if (i < *count) return VectorPart{part, i};
      i -= *count;
    }
    return std::nullopt;
  }
  if (call.op() == BATON_OP("stack")) {
    const auto* scalars = call.arg(0).As<TupleNode>();
    if (scalars == nullptr || call.tensor_type()->rank() != 1) {
      return std::nullopt;
    }
    return VectorPart{scalars->fields()[static_cast<size_t>(i)], 0};
  }
  if (call.args().empty()) return std::nullopt;
  const Expr& x = call.arg(0);
  const std::optional<int64_t> count = NumElementsOf(x);
  if (!count.has_value() || !FitsInt64(x)) return std::nullopt;
  const int rank = x->tensor_type()->rank();
  // A cast and `full` may change the numbers.
  const DType from = x->tensor_type()->dtype();
  const DType to = call.tensor_type()->dtype();
  if (from != to &&
      !(from.is_int() && to.is_int() && from.bits() < to.bits())) {
    return std::nullopt;
  }
  if (call.op() == BATON_OP("cast")) return VectorPart{x, i};
  if (call.op() == BATON_OP("full")) return VectorPart{x, 0};
  if (call.op() == BATON_OP("reshape") || call.op() == BATON_OP("squeeze") ||
      call.op() == BATON_OP("expand_dims")) {
    // Other shapes than those of vectors have no parts.
    if (rank > 1) return std::nullopt;
    return VectorPart{x, i};
  }
  if (rank != 1) return std::nullopt;
  if (call.op() == BATON_OP("strided_slice")) {
    const auto* attrs = call.attrs_as<relay::StridedSliceAttrs>();
    if (attrs == nullptr || !attrs->begin.has_value() ||
        attrs->begin->size() != 1 ||
        (attrs->strides.has_value() && !attrs->strides->empty() &&
         attrs->strides->front() != 1)) {
      return std::nullopt;
    }
    const int64_t begin = attrs->begin->front();
    const std::optional<int64_t> at = IndexIn(
        *count, std::max(begin < 0 ? begin + *count : begin, int64_t{0}) + i);
    if (!at.has_value()) return std::nullopt;
    return VectorPart{x, *at};
  }
  if (call.op() == BATON_OP("take")) {
    const auto indices = relay::ConstantInts(call.arg(1));
    if (!indices.has_value() || static_cast<size_t>(i) >= indices->size()) {
      return std::nullopt;
    }
    // Indices out of range depend on the mode.
    const int64_t index = (*indices)[static_cast<size_t>(i)];
    if (index < 0 || index >= *count) return std::nullopt;
    return VectorPart{x, index};
  }
  return std::nullopt;
}

}  // namespace

ValueRange ValueRanges::Of(const Expr& root) {
  // Sizes of tensors are computed from few.
  constexpr int kMostExpressions = 4096;
  int num_seen = 0;
  std::vector<Expr> open = {root};
  while (!open.empty()) {
    const Expr x = open.back();
    if (known_.count(x.get()) != 0) {
      open.pop_back();
      continue;
    }
    const std::vector<Expr> needed = NeededFor(x);
    const size_t count = open.size();
    for (const Expr& operand : needed) {
      if (known_.count(operand.get()) == 0) open.push_back(operand);
    }
    if (open.size() == count) {
      Keep(x, Compute(x, needed));
      open.pop_back();
    } else if (++num_seen > kMostExpressions) {
      // None of what is open is considered again.
      for (const Expr& unknown : open) {
        Keep(unknown, RangeOfType(unknown->tensor_type()->dtype()));
      }
    }
  }
  return known_.at(root.get());
}

void ValueRanges::Keep(const Expr& x, const ValueRange& range) {
  if (known_.emplace(x.get(), range).second) kept_.push_back(x);
}

ValueRange ValueRanges::Compute(const Expr& x,
                                const std::vector<Expr>& needed) const {
  const ValueRange all = RangeOfType(x->tensor_type()->dtype());
  if (!FitsInt64(x)) return all;
  if (const Tensor* constant = relay::ConstantTensor(x)) {
    constexpr int64_t kMostElements = 1024;
    const int64_t count = constant->num_elements();
    if (count == 0 || count > kMostElements) return all;
    ValueRange range = {constant->AtAsInt64(0), constant->AtAsInt64(0)};
    for (int64_t i = 1; i < count; ++i) {
      const int64_t value = constant->AtAsInt64(i);
      range = Union(range, {value, value});
    }
    return range;
  }
  if (needed.empty()) return all;
  const auto* call = x.As<CallNode>();
  const ValueRange a = known_.at(needed[0].get());
  const ValueRange b = needed.size() > 1 ? known_.at(needed[1].get()) : a;
  // The range of all numbers if some are not of the type.
  const auto range_of = [&all](Wide least, Wide most) {
    return least < all.least || most > all.most
               ? all
               : ValueRange{static_cast<int64_t>(least),
                            static_cast<int64_t>(most)};
  };
  switch (RuleOf(call->op())) {
    case Rule::kNone:
      return all;
    case Rule::kSame:
    case Rule::kCast:
      return range_of(a.least, a.most);
    case Rule::kFields: {
      ValueRange range = a;
      for (const Expr& field : needed) {
        range = Union(range, known_.at(field.get()));
      }
      return range;
    }
    case Rule::kWhere:
      return Union(a, b);
    case Rule::kAdd:
      return range_of(Wide{a.least} + b.least, Wide{a.most} + b.most);
    case Rule::kSubtract:
      return range_of(Wide{a.least} - b.most, Wide{a.most} - b.least);
    case Rule::kMultiply: {
      const Wide products[] = {Wide{a.least} * b.least, Wide{a.least} * b.most,
                               Wide{a.most} * b.least, Wide{a.most} * b.most};
      return range_of(*std::min_element(products, products + 4),
                      *std::max_element(products, products + 4));
    }
    case Rule::kMinimum:
      return {std::min(a.least, b.least), std::min(a.most, b.most)};
    case Rule::kMaximum:
      return {std::max(a.least, b.least), std::max(a.most, b.most)};
    case Rule::kFloorDivide: {
      if (b.least < 1) return all;
      // The quotient that is rounded down; that by a larger divisor is nearer
      // to zero.
      const auto quotient = [](int64_t value, int64_t by) {
        return value / by - (value % by < 0 ? 1 : 0);
      };
      return {quotient(a.least, a.least < 0 ? b.least : b.most),
              quotient(a.most, a.most < 0 ? b.most : b.least)};
    }
    case Rule::kFloorMod:
      return b.least < 1 ? all : ValueRange{0, b.most - 1};
    case Rule::kNegative:
      return range_of(-Wide{a.most}, -Wide{a.least});
    case Rule::kSum: {
      // Each result is the sum of so many.
      const std::optional<int64_t> from = NumElementsOf(call->arg(0));
      const std::optional<int64_t> to = NumElementsOf(x);
      if (!from.has_value() || !to.has_value() || *to == 0) return all;
      const Wide count = *from / *to;
      return range_of(a.least * count, a.most * count);
    }
  }
  return all;
}

VectorPart PartOf(Expr vector, int64_t i) {
  constexpr int kMostSteps = 256;
  VectorPart part = {std::move(vector), i};
  for (int step = 0; step < kMostSteps; ++step) {
    const auto* call = part.value.As<CallNode>();
    if (call == nullptr || call->tensor_type() == nullptr) break;
    std::optional<VectorPart> inner = PartOfCall(*call, part.index);
    if (!inner.has_value()) break;
    part = *std::move(inner);
  }
  return part;
}

}  // namespace baton::cpu
