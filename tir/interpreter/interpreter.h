// Runs a function of loops on tensors, one statement after another. It is slow,
// and the oracle for passes and schedule steps: it checks what it runs.
//
//   BATON_ASSIGN_OR_RETURN(
//       std::vector<Tensor> buffers,
//       Interpret(function, {Argument(a), Argument(b), Argument(int64_t{16})}));
//
// Checked: each index lies in its axis, each access in its memory, each element
// that is read was written, no divisor of an integer is zero, asserted and
// assumed conditions hold, and a block touches only the regions that its
// T.reads and T.writes name. The error has the place of the statement.
//
// Loops that are bound to threads run one iteration after another, so a
// function that synchronizes threads is refused, as are calls of external
// functions and of instructions of accelerators, but for the products of
// vectors in instructions.h. Calls of functions of InterpretOptions::module run
// them; pointers and numbers are passed. Marks of a profiler do nothing.

#ifndef BATON_TIR_INTERPRETER_INTERPRETER_H_
#define BATON_TIR_INTERPRETER_INTERPRETER_H_

#include <cstdint>
#include <optional>
#include <utility>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/types/span.h"
#include "baton/base/tensor.h"
#include "baton/ir/module.h"
#include "baton/tir/ir/function.h"

namespace baton::tir {

// The argument of a parameter: the contents of a buffer, or of the memory that
// a pointer without a buffer points to, or a number.
struct Argument {
  Argument(Tensor contents) : tensor(std::move(contents)) {}  // NOLINT
  explicit Argument(int64_t number) : integer(number) {}
  explicit Argument(double number) : real(number) {}

  std::optional<Tensor> tensor;
  int64_t integer = 0;
  std::optional<double> real;
};

struct InterpretOptions {
  // The module whose functions are called; null: such calls are refused.
  const IRModule* module = nullptr;
  // False allows reads of elements that nothing wrote. Their bytes are 0x5a in
  // memory that the function allocates, so that numbers are large, and a result
  // that depends on them differs from one that does not.
  bool check_initialized = true;
  // False allows blocks to touch more than T.reads and T.writes name.
  bool check_regions = true;
  // Other than 0: the iterations of parallel loops run in a random order that
  // depends on this number.
  uint64_t shuffle_seed = 0;
  // True: a function with parallel loops runs a second time, with their
  // iterations in another order. If that makes a difference, the error is
  // FailedPrecondition and names the loop and the seed of the order.
  bool check_order = false;
  // The largest number of statements and expressions that are evaluated.
  int64_t max_steps = 100'000'000;
  // True: calls of unknown external functions return numbers made of the name
  // and the arguments, and change nothing.
  bool stand_in_for_externs = false;
  // Bytes behind the memory of each parameter and allocation. Other than 0:
  // indices need not lie in their axes, if they lie in the memory.
  int64_t spare_bytes = 0;
};

// Returns the contents of the buffers and pointers of parameters after the run,
// in the order of the parameters. `arguments` has an element for each
// parameter. A tensor has the data type and the shape of the parameter's
// buffer; it gives values to the extents of the buffer that are variables. The
// lanes of vectors are the last axis of the tensor. With stand-ins or spare
// bytes a number follows the results: a hash of all calls of external functions
// and of the spare bytes of parameters.
absl::StatusOr<std::vector<Tensor>> Interpret(
    const PrimFunc& function, absl::Span<const Argument> arguments,
    const InterpretOptions& options = {});

// The arguments of a call with `tensors`, one for each parameter. That of a
// parameter that is a number is the first element. An error for another number
// of tensors.
absl::StatusOr<std::vector<Argument>> ToArguments(
    const PrimFunc& function, absl::Span<const Tensor> tensors);

// Returns the values that `arguments` give to the variables of
// PrimFuncNode::defined(), in their order; 0 for pointers. Errors are those of
// Interpret().
absl::StatusOr<std::vector<int64_t>> BindExtents(
    const PrimFunc& function, absl::Span<const Argument> arguments);

}  // namespace baton::tir

#endif  // BATON_TIR_INTERPRETER_INTERPRETER_H_
