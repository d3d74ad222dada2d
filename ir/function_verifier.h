// Verifies that a module follows the rules of the IR. Each level of the IR,
// such as Relay or tir, has rules for its kinds of functions.
//
// A level implements them as a FunctionVerifier, registered for its node class:
//
//   class LoopVerifier final : public FunctionVerifier { ... };
//   BATON_REGISTER_FUNCTION_VERIFIER(LoopFunctionNode, LoopVerifier);
//
// Relay's verifier is in the target //relay/ir:well_formed.

#ifndef BATON_IR_FUNCTION_VERIFIER_H_
#define BATON_IR_FUNCTION_VERIFIER_H_

#include <memory>

#include "absl/functional/function_ref.h"
#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "baton/base/registry.h"
#include "baton/ir/diagnostics.h"
#include "baton/ir/expr.h"
#include "baton/ir/module.h"
#include "baton/ir/node_kind.h"

namespace baton {

// True for the functions to check, by their index among those of the module.
using WhichFunctions = absl::FunctionRef<bool(int)>;

// The rules of one kind of function. Stateless.
class FunctionVerifier {
 public:
  virtual ~FunctionVerifier() = default;

  // Adds to `diagnostics` the errors of `function`, which `module` contains
  // under the name of `var`. Checks only rules that do not depend on types.
  virtual void CheckWellFormed(const IRModule& module, const GlobalVar& var,
                               const BaseFunc& function,
                               Diagnostics& diagnostics) const = 0;

  // OK if the types recorded in functions of this kind are right. Ignores
  // functions of other kinds, and may assume that the types of functions for
  // which `which` is false are right. The default is for kinds of functions
  // without types.
  virtual absl::Status CheckTypes(const IRModule& /*module*/,
                                  WhichFunctions /*which*/) const {
    return absl::OkStatus();
  }

  // `module` with the types that its functions of this kind lack; the same
  // module if they lack none. The default is for kinds of functions without
  // types.
  virtual absl::StatusOr<IRModule> InferTypes(const IRModule& module) const {
    return module;
  }
};

// Checks the rules that do not depend on types. OK, or InvalidArgument with all
// errors. A function of a kind without a verifier is an error.
absl::Status CheckWellFormed(const IRModule& module);
// As above, for the functions that `which` selects.
absl::Status CheckWellFormed(const IRModule& module, WhichFunctions which);
// Adds the errors to `diagnostics`.
void CheckWellFormed(const IRModule& module, Diagnostics& diagnostics);

// OK if the types recorded in `module` are right. `module` must be well-formed.
absl::Status CheckTypes(const IRModule& module);
// As above, for the functions that `which` selects; assumes that the types of
// the others are right.
absl::Status CheckTypes(const IRModule& module, WhichFunctions which);

// `module` with the types that its functions lack; the same module if they lack
// none. The linked verifier of each kind of functions infers their types; the
// caller need not link the inference of a level. Errors: those of inference;
// FailedPrecondition if no verifier for a function is linked.
absl::StatusOr<IRModule> InferTypesOfAllKinds(const IRModule& module);

// The verifiers, by the names of node classes: `relay.Function`.
Registry<std::shared_ptr<const FunctionVerifier>>& FunctionVerifiers();

// Registers V for the functions whose node class is N. Use it in the library
// that defines V; the library needs `alwayslink = True`.
#define BATON_REGISTER_FUNCTION_VERIFIER(N, V)                                \
  [[maybe_unused]] static const bool baton_function_verifier_registered_##N = \
      ::baton::internal::RegisterFunctionVerifier(N::kKind,                   \
                                                  std::make_shared<const V>())

namespace internal {
// Returns true: the macro initializes a variable with it.
bool RegisterFunctionVerifier(NodeKind kind,
                              std::shared_ptr<const FunctionVerifier> verifier,
                              CodeLocation location = CodeLocation::Current());
}  // namespace internal

}  // namespace baton

#endif  // BATON_IR_FUNCTION_VERIFIER_H_
