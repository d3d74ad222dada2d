// Cases of the test that `baton-compile --test` writes: inputs of a model and
// the values of its outputs.

#ifndef BATON_TOOLS_COMPILE_CASES_H_
#define BATON_TOOLS_COMPILE_CASES_H_

#include <cstdint>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "baton/backend/cpu/padded_sizes.h"
#include "baton/backend/library/compile_model.h"
#include "baton/backend/library/compiled_test.h"
#include "baton/ir/module.h"
#include "baton/tools/compile_options.h"
#include "baton/tools/input.h"

namespace baton {

// Evaluates `module`, the model with the sizes `dims` of its dimensions. The
// inputs are those of `given`, if it is not null, else random ones of the seed
// of `options`; inputs that are state are zero.
absl::StatusOr<TestCase> MakeCase(const IRModule& module,
                                  std::vector<int64_t> dims,
                                  const CompileModelOptions& model,
                                  const LibraryOptions& options,
                                  const TensorsAtHand* given);

// Evaluates `module`, the model before passes, on the inputs of the case, and
// adds the outputs that have other bytes to the case. Returns the largest error
// of an output, over its largest element; infinite if elements are NaN or
// infinite in only one of the two.
absl::StatusOr<double> AddExactOutputs(const IRModule& module,
                                       TestCase& test_case);

// `error` with two digits, rounded up.
double RoundUp(double error);

// Adds the results of the steps of the executor's plan for `module`. An error
// if an output differs from that of the case.
absl::Status AddPlanValues(const IRModule& module, TestCase& test_case);

// Adds the extents of the outputs with data-dependent shapes, which are outputs
// of the library, and the sizes of their memory.
absl::Status AddExtents(const cpu::PaddedModule& padded, TestCase& test_case);

}  // namespace baton

#endif  // BATON_TOOLS_COMPILE_CASES_H_
