// The values of all operands of the steps of a compiled C++ library: the
// executor runs the plan from which the library is made.

#ifndef BATON_BACKEND_LIBRARY_PLAN_VALUES_H_
#define BATON_BACKEND_LIBRARY_PLAN_VALUES_H_

#include <cstdint>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "absl/types/span.h"
#include "baton/base/dtype.h"
#include "baton/base/tensor.h"
#include "baton/ir/module.h"

namespace baton {

// The format of floats. Processors and compilers choose which NaN a computation
// gives: one stands for all where values are compared.
struct FloatFormat {
  uint64_t infinity = 0;  // its bits; 0 for elements that are no floats
  uint64_t bits = 0;      // of an element
};
FloatFormat FloatFormatOf(DType dtype);

// The bytes of an operand, before a step if it is an input, else after it.
struct OperandValue {
  int64_t step = 0;
  int64_t operand = 0;  // inputs first, then results
  bool is_result = false;
  FloatFormat format = {};
  uint64_t hash = 0;  // HashOfBytes()
};

struct PlanValues {
  std::vector<OperandValue> operands;  // in the order of the run
  std::vector<Tensor> outputs;
};

// A 64-bit hash of `bytes`, in which all NaN are the same one. The test that is
// generated for a library (NAME_test.cc) has a copy of this function.
uint64_t HashOfBytes(absl::string_view bytes, const FloatFormat& format);

// Runs the executor's plan for @main, with only kernels that libraries have.
// `module` is a Relay module after the pipeline `cpu`. Also evaluates each step
// with the evaluator; the error names the first step whose values differ.
absl::StatusOr<PlanValues> RunPlan(const IRModule& module,
                                   absl::Span<const Tensor> inputs);

}  // namespace baton

#endif  // BATON_BACKEND_LIBRARY_PLAN_VALUES_H_
