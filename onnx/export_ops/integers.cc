#include "baton/onnx/export_ops/integers.h"

#include <algorithm>
#include <cstdint>
#include <optional>
#include <utility>
#include <vector>

#include "absl/functional/function_ref.h"
#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/str_cat.h"
#include "baton/base/dtype.h"
#include "baton/base/status_macros.h"
#include "baton/base/tensor.h"
#include "baton/ir/op.h"
#include "baton/ir/type.h"
#include "baton/onnx/exporter.h"
#include "baton/onnx/graph_builder.h"
#include "baton/relay/ir/expr.h"
#include "baton/relay/op/tensor/elementwise.h"

namespace baton::onnx {
namespace {

using relay::CallNode;
using relay::IsCallTo;

constexpr DType kInt8 = DType::Int(8);
constexpr DType kUInt8 = DType::UInt(8);
constexpr DType kInt32 = DType::Int(32);

// The largest magnitude that an int8 holds with either sign.
constexpr int64_t kMost = 127;

// As many as a constant may take.
constexpr int kMaxFactors = 4;

int64_t LowOf(DType dtype) { return dtype.is_uint() ? 0 : -128; }

// `tensor` with `change` of each element, as elements of T.
template <typename T>
absl::StatusOr<Tensor> Mapped(const Tensor& tensor, DType dtype,
                              absl::FunctionRef<int64_t(int64_t)> change) {
  BATON_ASSIGN_OR_RETURN(MutableTensor result,
                         MutableTensor::Create(dtype, tensor.shape()));
  for (int64_t k = 0; k < tensor.num_elements(); ++k) {
    result.span<T>()[k] = static_cast<T>(change(tensor.AtAsInt64(k)));
  }
  return std::move(result).Freeze();
}

absl::StatusOr<std::vector<ByteFactor>> FactorsOfConstant(
    CallExport& call, const Tensor& tensor) {
  int64_t low = 0;
  int64_t high = 0;
  for (int64_t k = 0; k < tensor.num_elements(); ++k) {
    low = std::min(low, tensor.AtAsInt64(k));
    high = std::max(high, tensor.AtAsInt64(k));
  }
  std::vector<ByteFactor> result;
  if (low >= 0 && high <= 255) {
    BATON_ASSIGN_OR_RETURN(
        Tensor bytes,
        Mapped<uint8_t>(tensor, kUInt8, [](int64_t value) { return value; }));
    result.push_back({call.TensorConstant(std::move(bytes)), kUInt8, 0});
    return result;
  }
  if (low < -kMost * kMaxFactors || high > kMost * kMaxFactors) {
    return absl::UnimplementedError(
        absl::StrCat("of constants from ", low, " to ", high));
  }
  // Each takes what is left, as far as it can hold it.
  for (int64_t before = 0; before == 0 || low < -before || high > before;
       before += kMost) {
    BATON_ASSIGN_OR_RETURN(
        Tensor bytes, Mapped<int8_t>(tensor, kInt8, [before](int64_t value) {
          const int64_t rest =
              value - std::clamp<int64_t>(value, -before, before);
          return std::clamp<int64_t>(rest, -kMost, kMost);
        }));
    result.push_back({call.TensorConstant(std::move(bytes)), kInt8, 0});
  }
  return result;
}

// The bytes that `expr` is a cast of; itself if it is bytes; null if neither.
Expr BytesIn(CallExport& call, const Expr& expr) {
  const TensorTypeNode* type = expr->tensor_type();
  if (type == nullptr) return Expr();
  if (type->dtype().is_byte()) return expr;
  const Expr& definition = call.Definition(expr);
  if (!IsCallTo(definition, BATON_OP("cast"))) return Expr();
  const Expr& from = definition.As<CallNode>()->arg(0);
  const TensorTypeNode* from_type = from->tensor_type();
  return from_type != nullptr && from_type->dtype().is_byte() ? from : Expr();
}

// The one number that a constant has; nullopt of others.
std::optional<int64_t> NumberIn(CallExport& call, const Expr& expr) {
  const Tensor* known = call.graph().ConstantOf(call.Of(expr));
  if (known == nullptr || known->num_elements() != 1) return std::nullopt;
  return known->AtAsInt64(0);
}

// True if argument `i` is a difference of integers that does not wrap for
// bytes, as the difference from a zero point does not.
bool IsDifference(CallExport& call, int i) {
  const DType dtype = call.ElementType(i);
  return !dtype.is_uint() && dtype.bits() > 8 &&
         IsCallTo(call.Definition(i), BATON_OP("subtract"));
}

}  // namespace

absl::StatusOr<std::vector<ByteFactor>> ByteFactorsOf(CallExport& call, int i,
                                                      int64_t zero) {
  if (const Tensor* known = call.Constant(i);
      known != nullptr && zero == 0 && !known->dtype().is_byte()) {
    return FactorsOfConstant(call, *known);
  }
  Expr bytes = BytesIn(call, call.call().arg(i));
  if (!bytes.defined()) {
    const Expr& difference = call.Definition(i);
    if (IsDifference(call, i)) {
      const auto* node = difference.As<CallNode>();
      bytes = BytesIn(call, node->arg(0));
      const std::optional<int64_t> number = NumberIn(call, node->arg(1));
      if (!number.has_value()) bytes = Expr();
      zero += number.value_or(0);
    }
  }
  if (!bytes.defined()) {
    return absl::UnimplementedError(
        absl::StrCat("of ", call.ElementType(i).ToString(),
                     " that are no bytes less a constant"));
  }
  const DType dtype = bytes->tensor_type()->dtype();
  if (zero < LowOf(dtype) || zero > LowOf(dtype) + 255) {
    return absl::UnimplementedError(
        absl::StrCat("of ", dtype.ToString(), " less ", zero));
  }
  return std::vector<ByteFactor>{{call.Of(bytes), dtype, zero}};
}

namespace {

// The float32 numbers from 0 to 255 that `expr` is a cast of; null of others.
Expr ClippedToByteIn(CallExport& call, const Expr& expr) {
  const Expr& definition = call.Definition(expr);
  if (!IsCallTo(definition, BATON_OP("cast"))) return Expr();
  const Expr& from = definition.As<CallNode>()->arg(0);
  const Expr& clip = call.Definition(from);
  if (!IsCallTo(clip, BATON_OP("clip"))) return Expr();
  const auto* attrs = clip.As<CallNode>()->attrs_as<relay::ClipAttrs>();
  const TensorTypeNode* type = from->tensor_type();
  const bool fits = attrs != nullptr && attrs->a_min >= 0 &&
                    attrs->a_max <= 255 && type != nullptr &&
                    type->dtype() == DType::Float(32);
  return fits ? from : Expr();
}

}  // namespace

absl::StatusOr<std::vector<ByteFactor>> ByteFactorsWithZeroOf(CallExport& call,
                                                              int i) {
  const Expr& difference = call.Definition(i);
  if (IsDifference(call, i)) {
    const auto* node = difference.As<CallNode>();
    const Expr bytes = BytesIn(call, node->arg(0));
    const Expr zero = BytesIn(call, node->arg(1));
    const Expr clipped =
        bytes.defined() ? Expr() : ClippedToByteIn(call, node->arg(0));
    if (clipped.defined() && zero.defined() &&
        zero->tensor_type()->rank() == 0 &&
        zero->tensor_type()->dtype() == kUInt8) {
      ByteFactor factor;
      factor.value = call.Cast(call.Of(clipped), DType::Float(32), kUInt8);
      factor.dtype = kUInt8;
      factor.computed_zero = call.Of(zero);
      return std::vector<ByteFactor>{factor};
    }
    if (bytes.defined() && zero.defined() && zero->tensor_type()->rank() == 0 &&
        zero->tensor_type()->dtype() == bytes->tensor_type()->dtype()) {
      ByteFactor factor;
      factor.value = call.Of(bytes);
      factor.dtype = bytes->tensor_type()->dtype();
      factor.computed_zero = call.Of(zero);
      return std::vector<ByteFactor>{factor};
    }
  }
  return ByteFactorsOf(call, i);
}

std::optional<int64_t> BoundOfBytes(CallExport& call, int i) {
  // The least and the largest number that an operand can have.
  using Range = std::pair<int64_t, int64_t>;
  const auto range_of = [&call](Expr expr) -> std::optional<Range> {
    // Operators that only move elements are looked through.
    while (true) {
      const Expr& definition = call.Definition(expr);
      const bool moves = IsCallTo(definition, BATON_OP("expand_dims")) ||
                         IsCallTo(definition, BATON_OP("reshape")) ||
                         IsCallTo(definition, BATON_OP("squeeze")) ||
                         IsCallTo(definition, BATON_OP("transpose"));
      if (!moves) break;
      expr = definition.As<CallNode>()->arg(0);
    }
    const Expr bytes = BytesIn(call, expr);
    if (bytes.defined()) {
      const int64_t low = LowOf(bytes->tensor_type()->dtype());
      return Range(low, low + 255);
    }
    const Tensor* known = call.graph().ConstantOf(call.Of(expr));
    if (known == nullptr || known->num_elements() == 0) return std::nullopt;
    Range result(known->AtAsInt64(0), known->AtAsInt64(0));
    for (int64_t k = 1; k < known->num_elements(); ++k) {
      result.first = std::min(result.first, known->AtAsInt64(k));
      result.second = std::max(result.second, known->AtAsInt64(k));
    }
    return result;
  };
  const auto magnitude = [](int64_t low, int64_t high) {
    return std::max(high < 0 ? -high : high, low < 0 ? -low : low);
  };
  constexpr int64_t kMostOfConstant = 1 << 12;
  const Expr& definition = call.Definition(i);
  if (IsCallTo(definition, BATON_OP("subtract"))) {
    const auto a = range_of(definition.As<CallNode>()->arg(0));
    const auto b = range_of(definition.As<CallNode>()->arg(1));
    if (!a.has_value() || !b.has_value()) return std::nullopt;
    if (magnitude(a->first, a->second) > kMostOfConstant ||
        magnitude(b->first, b->second) > kMostOfConstant) {
      return std::nullopt;
    }
    return magnitude(a->first - b->second, a->second - b->first);
  }
  const auto range = range_of(call.call().arg(i));
  if (!range.has_value()) return std::nullopt;
  const int64_t result = magnitude(range->first, range->second);
  if (result > kMostOfConstant) return std::nullopt;
  return result;
}

ByteFactor AsUnsigned(CallExport& call, const ByteFactor& factor) {
  if (factor.dtype == kUInt8) return factor;
  ByteFactor result = {kNoValue, kUInt8, factor.zero + 128};
  if (const Tensor* known = call.graph().ConstantOf(factor.value)) {
    absl::StatusOr<Tensor> bytes = Mapped<uint8_t>(
        *known, kUInt8, [](int64_t value) { return value + 128; });
    if (bytes.ok()) {
      result.value = call.TensorConstant(*std::move(bytes));
      return result;
    }
  }
  const ValueId moved = call.Node(
      "Add",
      {call.Cast(factor.value, kInt8, kInt32), call.Scalar(128, kInt32)});
  result.value = call.Cast(moved, kInt32, kUInt8);
  return result;
}

ValueId ZeroOf(CallExport& call, const ByteFactor& factor) {
  if (factor.computed_zero != kNoValue) return factor.computed_zero;
  return call.Scalar(static_cast<double>(factor.zero), factor.dtype);
}

ValueId SumOfProducts(
    CallExport& call, const std::vector<ByteFactor>& a,
    const std::vector<ByteFactor>& b,
    absl::FunctionRef<ValueId(const ByteFactor&, const ByteFactor&)> product) {
  ValueId sum = kNoValue;
  for (const ByteFactor& x : a) {
    for (const ByteFactor& y : b) {
      const ValueId term = product(x, y);
      sum = sum == kNoValue ? term : call.Node("Add", {sum, term});
    }
  }
  return sum;
}

}  // namespace baton::onnx
