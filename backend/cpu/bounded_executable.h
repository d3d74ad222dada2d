// Compiles models whose inputs have symbolic dimensions with bounds.
//
//   BATON_ASSIGN_OR_RETURN(const std::vector<DimBound> bounds,
//                          ParseDimBounds("batch=1..64"));
//   BATON_ASSIGN_OR_RETURN(
//       const BoundedExecutable model,
//       BoundedExecutable::Compile(module, bounds, {}));
//   BATON_ASSIGN_OR_RETURN(const std::unique_ptr<BoundedSession> sessions,
//                          BoundedSession::Create(model));
//   BATON_ASSIGN_OR_RETURN(Session* const session, sessions->For({images}));
//   BATON_RETURN_IF_ERROR(session->Run({images}, {scores}));
//
// Each combination of sizes has a plan of its own, which is made when inputs
// first have these sizes. All plans share the packed weights. The plans of a
// session share one arena, which is large enough for the largest sizes.

#ifndef BATON_BACKEND_CPU_BOUNDED_EXECUTABLE_H_
#define BATON_BACKEND_CPU_BOUNDED_EXECUTABLE_H_

#include <atomic>
#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/types/span.h"
#include "baton/backend/cpu/dim_bounds.h"
#include "baton/backend/cpu/executable.h"
#include "baton/ir/module.h"
#include "baton/runtime/executor/plan_runner.h"

namespace baton {

// A compiled model for all sizes within bounds. Copies share its plans. Several
// threads may use it at the same time.
class BoundedExecutable {
 public:
  // Compiles for the largest sizes. Errors: a dimension of an input has no
  // bounds, `bounds` has a name that no dimension of an input has, and those of
  // CheckDimBounds.
  static absl::StatusOr<BoundedExecutable> Compile(
      IRModule module, std::vector<DimBound> bounds,
      const CompileOptions& options);

  // Makes the module for sizes of the bounds, in their order.
  using MakeModule =
      std::function<absl::StatusOr<IRModule>(const std::vector<int64_t>&)>;
  // As above, for a model that cannot be typed with symbolic dimensions, or
  // whose program depends on the sizes. `make` makes the module for each
  // combination of sizes; the inputs of the module have constant shapes. One
  // thread at a time calls `make`. `names` has the names of the dimensions of
  // each input; an empty name is a constant dimension. For a bound whose name
  // is not in `names`, the dimensions that change with its size are found by
  // comparing modules.
  static absl::StatusOr<BoundedExecutable> Compile(
      MakeModule make, std::vector<DimBound> bounds,
      const CompileOptions& options,
      const std::vector<std::vector<std::string>>& names = {});

  const std::vector<DimBound>& bounds() const;
  // The executable for the largest sizes.
  const Executable& largest() const;

  // The sizes of the dimensions of bounds(), in their order, of inputs with
  // these shapes. Errors: a size is outside of its bounds, a dimension has two
  // sizes, the rank of an input or the number of inputs is wrong.
  absl::StatusOr<std::vector<int64_t>> SizesOf(
      absl::Span<const TensorView> inputs) const;

  // The executable for these sizes of the dimensions of bounds(). The first
  // call compiles it.
  absl::StatusOr<Executable> At(const std::vector<int64_t>& sizes) const;

 private:
  struct State;
  explicit BoundedExecutable(std::shared_ptr<State> state)
      : state_(std::move(state)) {}

  std::shared_ptr<State> state_;
};

// The memory of one run at a time, for any sizes within the bounds.
class BoundedSession {
 public:
  static absl::StatusOr<std::unique_ptr<BoundedSession>> Create(
      BoundedExecutable executable);

  // The session for inputs of these shapes, which lives as long as this object.
  // Call from one thread at a time. Of all these sessions one runs at a time:
  // Run() of another one meanwhile is an error.
  // The first call for a combination of sizes makes its plan. Later calls
  // allocate only a vector of the sizes.
  absl::StatusOr<Session*> For(absl::Span<const TensorView> inputs);

  // The memory of the shared arena. A plan for smaller sizes may have other
  // tiles and need more memory; then it has an arena of its own.
  int64_t arena_bytes() const { return arena_bytes_; }

 private:
  explicit BoundedSession(BoundedExecutable executable)
      : executable_(std::move(executable)) {}

  const BoundedExecutable executable_;
  executor::ArenaMemory arena_;
  int64_t arena_bytes_ = 0;
  std::atomic<bool> is_running_{false};
  std::map<std::vector<int64_t>, std::unique_ptr<Session>> sessions_;
};

}  // namespace baton

#endif  // BATON_BACKEND_CPU_BOUNDED_EXECUTABLE_H_
