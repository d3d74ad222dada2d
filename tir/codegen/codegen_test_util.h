// Functions of loops with arguments and the interpreter's results, for tests of
// code generators: they are compiled, run and compared.

#ifndef BATON_TIR_CODEGEN_CODEGEN_TEST_UTIL_H_
#define BATON_TIR_CODEGEN_CODEGEN_TEST_UTIL_H_

#include <cstdint>
#include <string>
#include <vector>

#include "absl/functional/function_ref.h"
#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "absl/types/span.h"
#include "baton/base/tensor.h"
#include "baton/tir/codegen/function_parts.h"
#include "baton/tir/ir/function.h"
#include "gtest/gtest.h"

namespace baton::tir {

// The functions of a script.
std::vector<PrimFunc> FunctionsOf(absl::string_view text);
// A function with the parameters `signature` and the statements `body`.
PrimFunc Parsed(absl::string_view signature, absl::string_view body);

struct Case {
  CppFunction function;
  std::vector<Tensor> arguments;
  std::vector<Tensor> expected;
};

// `function` with random arguments of `seed` and the interpreter's results. An
// error if the interpreter cannot run it.
absl::StatusOr<Case> MakeCase(CppFunction function, uint32_t seed);
// MakeCase() of Parsed(), which must succeed.
Case MadeCase(std::string symbol, absl::string_view signature,
              absl::string_view body);

std::vector<Case> StatementCases();
std::vector<Case> IntegerCases();
std::vector<Case> FloatCases();
std::vector<Case> VectorCases();
// Random expressions over all operations, as loops and as vectors.
std::vector<Case> RandomExpressionCases();
// Random functions of loops (testing/random_loops.h), four times as many in the
// long form of tests.
std::vector<Case> RandomLoopCases(int count);
// Functions of the recorded scripts that the interpreter runs and that
// `can_write` says can be written.
std::vector<Case> RecordedCases(
    absl::FunctionRef<bool(const CppFunction&)> can_write);
// Functions of floats, with the results of the kernels.
std::vector<Case> MathCases();

// All cases in the long form of tests; in the short form, each third.
std::vector<Case> Sample(std::vector<Case> cases);

// True if the command exists.
bool HasTool(const std::string& name);
std::string FileText(const std::string& path);
// The start of the names of a test's files.
std::string TemporaryBase(absl::string_view name);

// C++ source of `int Call(int number, unsigned char** arguments)`, which calls
// the function of a case.
std::string CallerText(const std::vector<Case>& cases,
                       absl::Span<const CppEmitted> emitted);
// C++ source of `main`, which reads arguments, calls `generated::Call`, and
// writes the arguments as the function left them.
extern const char kDriver[];
// True if memory holds the elements of `expected`. NaNs are equal whatever
// their bits.
::testing::AssertionResult HoldsValues(const char* memory,
                                       const Tensor& expected);
// Runs a program of that source and expects the results of the cases. Messages
// have the `description`.
void RunAndCompare(const std::vector<Case>& cases, const std::string& program,
                   const std::string& description);

}  // namespace baton::tir

#endif  // BATON_TIR_CODEGEN_CODEGEN_TEST_UTIL_H_
