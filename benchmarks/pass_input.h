// Inputs of benchmarks of passes: a module of a given shape, prepared with the
// passes that the measured pass requires.

#ifndef BATON_BENCHMARKS_PASS_INPUT_H_
#define BATON_BENCHMARKS_PASS_INPUT_H_

#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "baton/ir/module.h"
#include "baton/transform/pass.h"

namespace baton::benchmarks {

// True if the registered pass `pass`, written as in a pipeline, fails on no
// program.
bool IsForAnyProgram(const std::string& pass);

// The registered passes for which IsForAnyProgram is true. Tables of all passes
// and shapes omit the others.
std::vector<std::string> PassesForAnyProgram();

// Caches the last shape, so that several passes on one shape build it once.
class PassInputs {
 public:
  // Returns the module of `shape` (shapes.h), typed, after the passes that
  // `pass` requires; untyped if `pass` is InferType.
  absl::StatusOr<IRModule> Get(const Pass& pass, absl::string_view shape);

 private:
  std::string shape_;
  IRModule untyped_;
  IRModule typed_;
};

}  // namespace baton::benchmarks

#endif  // BATON_BENCHMARKS_PASS_INPUT_H_
