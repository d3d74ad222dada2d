// Limits of the sizes that a program may request.
//
// A few characters of text can request more memory than any machine has:
// `zeros(shape=[1000000, 1000000, 1000000])`, `expand_dims(%x, axis=0,
// num_newaxis=2147483647)`. Code that allocates by a number from a program
// compares the number with these limits first.

#ifndef BATON_BASE_LIMITS_H_
#define BATON_BASE_LIMITS_H_

#include <cstdint>

#include "absl/status/status.h"

namespace baton {

// The limits, each with its default.
struct Limits {
  int64_t max_rank = 1024;                       // of a tensor, in axes
  int64_t max_fields = int64_t{1} << 20;         // of a tuple
  int64_t max_tensor_bytes = int64_t{16} << 30;  // of one tensor
  // The nodes of the types of the expressions in a module. A node that types
  // share counts once for each type that has it. Small types do not count.
  int64_t max_type_parts = int64_t{1} << 22;
  // Nodes that a pass may add to a module by copying functions into those that
  // call them, and to a function of loops by copying bodies of loops.
  int64_t max_copied_nodes = 1'000'000;
  // The calls of functions in one evaluation.
  int64_t max_calls = 4'000'000;
  // The bytes that are read from a pipe or a device, which may be endless.
  int64_t max_stream_bytes = int64_t{1} << 30;

  friend bool operator==(const Limits&, const Limits&) = default;
};

// The limits of this thread: those of the innermost ScopedLimits, or the
// defaults. The pass manager sets them from the settings `limits.*` of the
// innermost PassContext.
const Limits& CurrentLimits();

// Sets the limits of this thread during the lifetime of the object. Scopes
// nest. `limits` must outlive the object.
class ScopedLimits {
 public:
  explicit ScopedLimits(const Limits& limits);
  ScopedLimits(const ScopedLimits&) = delete;
  ScopedLimits& operator=(const ScopedLimits&) = delete;
  ~ScopedLimits();

 private:
  const Limits* const previous_;
};

namespace internal {
// Sets the limits of this thread; null sets the defaults. Returns the previous
// limits.
const Limits* SetCurrentLimits(const Limits* limits);
}  // namespace internal

// Errors if a tensor would have more than `max_rank` axes, or a tuple more than
// `max_fields` fields: `num_newaxis=2147483647 would make a tensor of ...`.
absl::Status CheckRank(int64_t rank);
absl::Status CheckFields(int64_t fields);

// A ResourceExhausted error if `bytes` exceeds `max_tensor_bytes`.
absl::Status CheckTensorBytes(int64_t bytes);

// A ResourceExhausted error if a pass has copied too many nodes, an evaluation
// has made too many calls, or an input is too long.
absl::Status CheckCopiedNodes(int64_t nodes);
absl::Status CheckCalls(int64_t calls);
absl::Status CheckStreamBytes(int64_t bytes);

}  // namespace baton

#endif  // BATON_BASE_LIMITS_H_
