// What a pass is measured on: a module of some shape, prepared as the pass
// asks.

#ifndef BATON_BENCHMARKS_PASS_INPUT_H_
#define BATON_BENCHMARKS_PASS_INPUT_H_

#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "baton/ir/module.h"
#include "baton/transform/pass.h"

namespace baton::benchmarks {

// Whether the registered pass, as pipelines write it, may fail on no program.
bool IsForAnyProgram(const std::string& pass);

// The registered passes of which this is so: the others have no part in tables
// of all passes and shapes.
std::vector<std::string> PassesForAnyProgram();

// Keeps the last shape, so that several passes on it build it once.
class PassInputs {
 public:
  // The shape (shapes.h), typed, after the passes that `pass` requires; untyped
  // if `pass` is InferType.
  absl::StatusOr<IRModule> Get(const Pass& pass, absl::string_view shape);

 private:
  std::string shape_;
  IRModule untyped_;
  IRModule typed_;
};

}  // namespace baton::benchmarks

#endif  // BATON_BENCHMARKS_PASS_INPUT_H_
