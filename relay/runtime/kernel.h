// Kernels: functions that compute calls of operators.

#ifndef BATON_RELAY_RUNTIME_KERNEL_H_
#define BATON_RELAY_RUNTIME_KERNEL_H_

#include "absl/status/statusor.h"
#include "absl/types/span.h"
#include "baton/ir/op.h"
#include "baton/relay/ir/expr.h"
#include "baton/relay/runtime/value.h"

namespace baton::relay {

// Computes one call of an operator from the values of its arguments. The
// arguments have the types that the operator's type relation accepts. Errors
// are those that depend on values (an index out of range, an integer division
// by zero).
//
// A function that takes `absl::Span<Value>` makes a kernel that may give the
// result the buffer of an argument that nothing else uses
// (MutableTensor::Reuse), which saves memory and the time to fill it. The
// result is the same, bit for bit, whether it reuses a buffer or not.
class Kernel {
 public:
  using Function = absl::StatusOr<Value> (*)(const CallNode& call,
                                             absl::Span<const Value> args);
  using ReusingFunction = absl::StatusOr<Value> (*)(const CallNode& call,
                                                    absl::Span<Value> args);

  constexpr Kernel(Function function) : function_(function) {}  // NOLINT
  constexpr Kernel(ReusingFunction function)                    // NOLINT
      : reusing_function_(function) {}

  // True if Compute() may move from its arguments, and overwrite the buffers
  // that nothing else uses. A caller that needs its arguments afterwards passes
  // copies, which share buffers.
  constexpr bool reuses_arguments() const {
    return reusing_function_ != nullptr;
  }

  absl::StatusOr<Value> Compute(const CallNode& call,
                                absl::Span<Value> args) const {
    return reuses_arguments() ? reusing_function_(call, args)
                              : function_(call, args);
  }

 private:
  // Exactly one of these is null.
  Function function_ = nullptr;
  ReusingFunction reusing_function_ = nullptr;
};

// The kernels of all operators that have one.
OpProperty<Kernel>& Kernels();

}  // namespace baton::relay

#endif  // BATON_RELAY_RUNTIME_KERNEL_H_
