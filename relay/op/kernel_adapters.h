// Makes kernels of operators from functions on tensors.

#ifndef BATON_RELAY_OP_KERNEL_ADAPTERS_H_
#define BATON_RELAY_OP_KERNEL_ADAPTERS_H_

#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <utility>

#include "absl/container/inlined_vector.h"
#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/types/span.h"
#include "baton/base/fields.h"
#include "baton/base/tensor.h"
#include "baton/ir/type.h"
#include "baton/relay/ir/expr.h"
#include "baton/relay/op/window_math.h"
#include "baton/relay/runtime/kernel.h"
#include "baton/relay/runtime/value.h"

namespace baton::relay {

// The kernel of an operator without attributes: `kFunction` takes as many
// tensors as the operator has arguments.
template <auto kFunction>
absl::StatusOr<Value> Kernel1(const CallNode& /*call*/,
                              absl::Span<const Value> args) {
  absl::StatusOr<Tensor> result = kFunction(args[0].tensor());
  if (!result.ok()) return std::move(result).status();
  return Value(*std::move(result));
}

template <auto kFunction>
absl::StatusOr<Value> Kernel2(const CallNode& /*call*/,
                              absl::Span<const Value> args) {
  absl::StatusOr<Tensor> result = kFunction(args[0].tensor(), args[1].tensor());
  if (!result.ok()) return std::move(result).status();
  return Value(*std::move(result));
}

template <auto kFunction>
absl::StatusOr<Value> Kernel3(const CallNode& /*call*/,
                              absl::Span<const Value> args) {
  absl::StatusOr<Tensor> result =
      kFunction(args[0].tensor(), args[1].tensor(), args[2].tensor());
  if (!result.ok()) return std::move(result).status();
  return Value(*std::move(result));
}

// The kernel of an operator with attributes A: `kFunction(attrs, args)` gives a
// tensor.
template <typename A, auto kFunction>
absl::StatusOr<Value> KernelWith(const CallNode& call,
                                 absl::Span<const Value> args) {
  absl::StatusOr<Tensor> result =
      kFunction(AttrsOrDefaults<A>(call.attrs()), args);
  if (!result.ok()) return std::move(result).status();
  return Value(*std::move(result));
}

// The in-place kernels of the same operators: `kFunction` takes Operands.
template <auto kFunction>
absl::StatusOr<Value> InPlaceKernel1(const CallNode& /*call*/,
                                     absl::Span<Value> args) {
  absl::StatusOr<Tensor> result = kFunction(std::move(args[0]).tensor());
  if (!result.ok()) return std::move(result).status();
  return Value(*std::move(result));
}

template <auto kFunction>
absl::StatusOr<Value> InPlaceKernel2(const CallNode& /*call*/,
                                     absl::Span<Value> args) {
  absl::StatusOr<Tensor> result =
      kFunction(std::move(args[0]).tensor(), std::move(args[1]).tensor());
  if (!result.ok()) return std::move(result).status();
  return Value(*std::move(result));
}

template <typename A, auto kFunction>
absl::StatusOr<Value> InPlaceKernelWith(const CallNode& call,
                                        absl::Span<Value> args) {
  absl::StatusOr<Tensor> result =
      kFunction(AttrsOrDefaults<A>(call.attrs()), args);
  if (!result.ok()) return std::move(result).status();
  return Value(*std::move(result));
}

// The argument itself.
inline absl::StatusOr<Value> IdentityKernel(const CallNode& /*call*/,
                                            absl::Span<const Value> args) {
  return args[0];
}

// The dimensions in an attribute as numbers; an error if one is not a number.
inline absl::StatusOr<absl::InlinedVector<int64_t, 6>> ConcreteDims(
    absl::Span<const Dim> dims) {
  std::optional<absl::InlinedVector<int64_t, 6>> numbers = ConstDims(dims);
  if (!numbers.has_value()) {
    return absl::InvalidArgumentError(
        "a dimension in the attributes is not a number");
  }
  return *std::move(numbers);
}

// Writes `dims`, of N elements, to `numbers`.
template <size_t N>
absl::Status CopyDims(absl::Span<const Dim> dims,
                      std::array<int64_t, N>& numbers) {
  if (dims.size() != N) {
    return absl::InvalidArgumentError("wrong number of dimensions");
  }
  for (size_t i = 0; i < N; ++i) {
    if (!dims[i].is_const()) {
      return absl::InvalidArgumentError(
          "a dimension in the attributes is not a number");
    }
    numbers[i] = dims[i].value();
  }
  return absl::OkStatus();
}

// As CopyDims, for padding, which may be one number for all axes, one for each
// axis, or all begins followed by all ends.
template <size_t N>
absl::Status CopyPadding(absl::Span<const Dim> padding,
                         std::array<int64_t, 2 * N>& numbers) {
  Dims all(padding.begin(), padding.end());
  SpellOutPadding(N, all);
  return CopyDims(all, numbers);
}

}  // namespace baton::relay

#endif  // BATON_RELAY_OP_KERNEL_ADAPTERS_H_
