#include "baton/tir/schedule/tensor_intrin.h"

#include <string>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "baton/base/registry.h"
#include "baton/base/status_macros.h"
#include "baton/ir/module.h"
#include "baton/ir/module_text.h"
#include "baton/tir/ir/function.h"

namespace baton::tir {
namespace {

absl::StatusOr<PrimFunc> OnlyFunction(const std::string& script) {
  BATON_ASSIGN_OR_RETURN(const IRModule module,
                         ParseModule(script, "tensor intrinsic"));
  const auto functions = module.functions<PrimFunc>();
  if (functions.size() == 1) return functions[0].function;
  return absl::InvalidArgumentError(
      "the script of a tensor intrinsic has one function of loops");
}

}  // namespace

absl::StatusOr<PrimFunc> TensorIntrin::Description() const {
  return OnlyFunction(description);
}

absl::StatusOr<PrimFunc> TensorIntrin::Implementation() const {
  return OnlyFunction(implementation);
}

Registry<TensorIntrin>& TensorIntrinRegistry() {
  static auto& registry =
      *Registry<TensorIntrin>::NewGlobal("tensor intrinsic");
  return registry;
}

}  // namespace baton::tir
