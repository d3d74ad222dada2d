#include "baton/relay/analysis/magnitude.h"

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <limits>

#include "absl/container/inlined_vector.h"
#include "absl/types/span.h"
#include "baton/base/dtype.h"
#include "baton/base/tensor.h"
#include "baton/ir/op.h"
#include "baton/ir/type.h"
#include "baton/relay/ir/expr.h"
#include "baton/relay/op/op_flags.h"

namespace baton::relay {

OpProperty<MagnitudeRule>& MagnitudeRules() {
  static auto* const rules = new OpProperty<MagnitudeRule>;
  return *rules;
}

double MaxExponent(DType dtype) {
  if (dtype == DType::Float(16)) return 16;
  if (dtype == DType::Float(32) || dtype == DType::BFloat(16)) return 128;
  if (dtype == DType::Float(64)) return 1024;
  return std::numeric_limits<double>::infinity();
}

namespace {

// Calls that BoundMagnitude looks at before it gives up.
constexpr int kMaxCalls = 32;

// The largest exponent of a number of the type that `call` has.
double MaxExponentOf(const CallNode& call) {
  const TensorTypeNode* type = call.tensor_type();
  return type == nullptr ? std::numeric_limits<double>::infinity()
                         : MaxExponent(type->dtype());
}

// Bounds of the result of `call` after rounding: too small a result may become
// zero; too large a result becomes infinity, which the bounds do not cover.
MagnitudeBounds Rounded(const CallNode& call, double min_log2,
                        double max_log2) {
  const double limit = MaxExponentOf(call);
  MagnitudeBounds bounds;
  // NaN, the difference of two infinities, fails both comparisons.
  if (min_log2 > 2 - limit) bounds.min_log2 = min_log2;
  if (max_log2 < limit) {
    bounds.max_log2 = max_log2;
  } else if (std::isfinite(limit)) {
    bounds.max_log2 = limit;
  }
  return bounds;
}

MagnitudeBounds OfConstant(const Tensor& value) {
  MagnitudeBounds bounds;
  if (!value.dtype().is_float() && !value.dtype().is_integral()) return bounds;
  double smallest = std::numeric_limits<double>::infinity();
  double largest = 0;
  for (int64_t i = 0; i < value.num_elements(); ++i) {
    const double x = std::fabs(value.AtAsDouble(i));
    if (!std::isfinite(x)) continue;
    smallest = std::min(smallest, x);
    largest = std::max(largest, x);
  }
  bounds.min_log2 = std::log2(smallest);
  bounds.max_log2 = std::log2(largest);
  return bounds;
}

// The elements of the result are elements of the first argument.
MagnitudeBounds OfFirstArgument(const CallNode& /*call*/,
                                absl::Span<const MagnitudeBounds> args) {
  return args[0];
}

MagnitudeBounds OfProduct(const CallNode& call,
                          absl::Span<const MagnitudeBounds> args) {
  // Products of integers wrap around.
  if (!std::isfinite(MaxExponentOf(call))) return {};
  return Rounded(call, args[0].min_log2 + args[1].min_log2,
                 args[0].max_log2 + args[1].max_log2);
}

MagnitudeBounds OfQuotient(const CallNode& call,
                           absl::Span<const MagnitudeBounds> args) {
  // Integers are divided with a remainder.
  if (!std::isfinite(MaxExponentOf(call))) return {};
  return Rounded(call, args[0].min_log2 - args[1].max_log2,
                 args[0].max_log2 - args[1].min_log2);
}

MagnitudeBounds OfSquareRoot(const CallNode& call,
                             absl::Span<const MagnitudeBounds> args) {
  return Rounded(call, args[0].min_log2 / 2,
                 std::min(args[0].max_log2, MaxExponentOf(call)) / 2);
}

MagnitudeBounds OfReciprocalSquareRoot(const CallNode& call,
                                       absl::Span<const MagnitudeBounds> args) {
  return Rounded(call, -std::min(args[0].max_log2, MaxExponentOf(call)) / 2,
                 -args[0].min_log2 / 2);
}

// The rule for `call`; null if there is none.
MagnitudeRule RuleFor(const CallNode& call) {
  if (IsRearranging(call.op())) return OfFirstArgument;
  const MagnitudeRule* rule = MagnitudeRules().Get(call.op());
  return rule == nullptr ? nullptr : *rule;
}

}  // namespace

MagnitudeBounds BoundMagnitude(const Expr& expr) {
  struct Frame {
    const CallNode* call;
    MagnitudeRule rule;
    int next_arg;
  };
  absl::InlinedVector<Frame, 8> frames;
  absl::InlinedVector<MagnitudeBounds, 8> results;
  int num_calls = 0;
  const auto arrive = [&](const ExprNode* node) {
    if (node->kind() == ExprKind::kCall && num_calls < kMaxCalls) {
      const auto* call = static_cast<const CallNode*>(node);
      if (const MagnitudeRule rule = RuleFor(*call)) {
        ++num_calls;
        frames.push_back({call, rule, 0});
        return;
      }
    }
    results.push_back(
        node->kind() == ExprKind::kConstant
            ? OfConstant(static_cast<const ConstantNode*>(node)->value())
            : MagnitudeBounds());
  };
  arrive(expr.get());
  while (!frames.empty()) {
    Frame& frame = frames.back();
    if (frame.next_arg < frame.call->num_args()) {
      arrive(frame.call->arg(frame.next_arg++).get());
      continue;
    }
    const Frame done = frame;
    frames.pop_back();
    const size_t num_args = static_cast<size_t>(done.call->num_args());
    const size_t first = results.size() - num_args;
    const MagnitudeBounds bounds =
        done.rule(*done.call, absl::MakeConstSpan(results).subspan(first));
    results.resize(first);
    results.push_back(bounds);
  }
  return results.back();
}

namespace {

BATON_EXTEND_OP("broadcast_to").Set(MagnitudeRules(), OfFirstArgument);
BATON_EXTEND_OP("negative").Set(MagnitudeRules(), OfFirstArgument);
BATON_EXTEND_OP("abs").Set(MagnitudeRules(), OfFirstArgument);
BATON_EXTEND_OP("multiply").Set(MagnitudeRules(), OfProduct);
BATON_EXTEND_OP("divide").Set(MagnitudeRules(), OfQuotient);
BATON_EXTEND_OP("sqrt").Set(MagnitudeRules(), OfSquareRoot);
BATON_EXTEND_OP("rsqrt").Set(MagnitudeRules(), OfReciprocalSquareRoot);

}  // namespace
}  // namespace baton::relay
