// Makes a test of the C++ library of a model.

#ifndef BATON_BACKEND_LIBRARY_COMPILED_TEST_H_
#define BATON_BACKEND_LIBRARY_COMPILED_TEST_H_

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "absl/types/span.h"
#include "baton/backend/library/compile_model.h"
#include "baton/backend/library/plan_values.h"
#include "baton/base/tensor.h"
#include "baton/tir/codegen/elf_object.h"

namespace baton {

// A run in a test, with the expected outputs.
struct TestCase {
  std::vector<int64_t> dims;  // the sizes of options.bounds
  std::vector<Tensor> inputs;
  std::vector<Tensor> outputs;
  // By output: the bytes of its memory, if that is larger than the expected
  // value; otherwise 0.
  std::vector<size_t> output_bytes = {};
  // By output: the value that the model without passes computes, if its bytes
  // differ from `outputs`.
  std::vector<std::optional<Tensor>> exact = {};
  // With options.check_values: the values of the operands of the steps of the
  // variant that runs. Its step 0 is CompiledModel::steps[first_step].
  std::vector<OperandValue> operands = {};
  size_t first_step = 0;
};

// A test of the library: a program that runs the model on inputs and compares
// with outputs, byte for byte but for which NaN they have, and the object with
// both.
struct CompiledTest {
  std::string source;
  tir::ElfObject data;  // refers to `tensors`
  std::vector<Tensor> tensors;
};
CompiledTest MakeCompiledTest(const CompileModelOptions& options,
                              absl::Span<const CompiledModel::Step> steps,
                              absl::Span<const TestCase> cases);

}  // namespace baton

#endif  // BATON_BACKEND_LIBRARY_COMPILED_TEST_H_
