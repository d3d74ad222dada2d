// Makes kernels of operators from functions on tensors.

#ifndef BATON_RELAY_KERNELS_KERNEL_ADAPTERS_H_
#define BATON_RELAY_KERNELS_KERNEL_ADAPTERS_H_

#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <type_traits>
#include <utility>

#include "absl/container/inlined_vector.h"
#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/types/span.h"
#include "baton/base/tensor.h"
#include "baton/ir/attrs.h"
#include "baton/ir/type.h"
#include "baton/relay/ir/expr.h"
#include "baton/relay/op/window_math.h"
#include "baton/relay/runtime/kernel.h"
#include "baton/relay/runtime/value.h"
#include "baton/runtime/kernels/operand.h"

namespace baton::relay {

namespace kernel_internal {

template <typename R>
absl::StatusOr<Value> ToValue(absl::StatusOr<R> result) {
  if (!result.ok()) return std::move(result).status();
  return Value(*std::move(result));
}

inline const Tensor& TensorOf(const Value& value) { return value.tensor(); }
inline Tensor TensorOf(Value& value) { return std::move(value).tensor(); }

template <typename T, typename A>
const T& FieldOf(const CallNode& call, T A::*field) {
  return AttrsOrDefaults<A>(call.attrs()).*field;
}

// Makes the function of a kernel, by the type of `kFunction`.
template <auto kFunction, typename Type, auto... kFields>
struct KernelMaker;

template <auto kFunction, typename R, typename... Parameters, auto... kFields>
struct KernelMaker<kFunction, absl::StatusOr<R> (*)(Parameters...),
                   kFields...> {
  static constexpr bool kReuses =
      (std::is_same_v<Parameters, kernels::Operand> || ...);
  using Args = absl::Span<std::conditional_t<kReuses, Value, const Value>>;

  static absl::StatusOr<Value> Compute(const CallNode& call, Args args) {
    return Compute(
        call, args,
        std::make_index_sequence<sizeof...(Parameters) - sizeof...(kFields)>());
  }

 private:
  template <size_t... kIndices>
  static absl::StatusOr<Value> Compute([[maybe_unused]] const CallNode& call,
                                       [[maybe_unused]] Args args,
                                       std::index_sequence<kIndices...>) {
    return ToValue(
        kFunction(TensorOf(args[kIndices])..., FieldOf(call, kFields)...));
  }
};

template <auto kFunction, typename R, typename A, typename V>
struct KernelMaker<kFunction, absl::StatusOr<R> (*)(const A&, absl::Span<V>)> {
  static absl::StatusOr<Value> Compute(const CallNode& call,
                                       absl::Span<V> args) {
    return ToValue(kFunction(AttrsOrDefaults<A>(call.attrs()), args));
  }
};

}  // namespace kernel_internal

// The kernel that calls `kFunction`, which returns a Tensor or a Value. It
// takes as many tensors as the operator has arguments, and then what the fields
// `kFields` of the operator's attributes hold: `KernelOf<kernels::Softmax,
// &SoftmaxAttrs::axis>`. Or it takes the attributes, `const A&`, and the
// arguments, `absl::Span<const Value>`. It may reuse the buffers of arguments
// (see Kernel) if it takes tensors as `kernels::Operand`, or the arguments as
// `absl::Span<Value>`.
template <auto kFunction, auto... kFields>
inline constexpr Kernel KernelOf =
    kernel_internal::KernelMaker<kFunction, decltype(kFunction),
                                 kFields...>::Compute;

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

// Writes `padding` to `numbers`, begins and then ends. It has one number for
// all axes, one for each axis, or all begins and then all ends.
template <size_t N>
absl::Status CopyPadding(absl::Span<const Dim> padding,
                         std::array<int64_t, 2 * N>& numbers) {
  Dims all(padding.begin(), padding.end());
  SpellOutPadding(N, all);
  return CopyDims(all, numbers);
}

}  // namespace baton::relay

#endif  // BATON_RELAY_KERNELS_KERNEL_ADAPTERS_H_
