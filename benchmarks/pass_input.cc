#include "baton/benchmarks/pass_input.h"

#include <string>
#include <utility>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "baton/base/status_macros.h"
#include "baton/benchmarks/shapes.h"
#include "baton/ir/function_verifier.h"
#include "baton/ir/module.h"
#include "baton/testing/registered_passes.h"
#include "baton/transform/pass.h"

namespace baton::benchmarks {

bool IsForAnyProgram(const std::string& pass) {
  const absl::StatusOr<Pass> made = testing::GetRegisteredPass(pass);
  return !made.ok() || !testing::MayRefuse(*made);
}

std::vector<std::string> PassesForAnyProgram() {
  std::vector<std::string> result;
  for (std::string& text : testing::RegisteredPasses()) {
    if (IsForAnyProgram(text)) result.push_back(std::move(text));
  }
  return result;
}

absl::StatusOr<IRModule> PassInputs::Get(const Pass& pass,
                                         absl::string_view shape) {
  if (shape_ != shape) {
    shape_.clear();
    BATON_ASSIGN_OR_RETURN(untyped_, BuildShape(shape));
    BATON_ASSIGN_OR_RETURN(typed_, InferTypesOfAllKinds(untyped_));
    shape_ = std::string(shape);
  }
  if (pass.name() == "InferType") return untyped_;
  return testing::RunRequiredPasses(pass, typed_);
}

}  // namespace baton::benchmarks
