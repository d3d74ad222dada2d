#include "baton/ir/function_verifier.h"

#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "absl/algorithm/container.h"
#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/string_view.h"
#include "baton/base/registry.h"
#include "baton/base/status_macros.h"
#include "baton/ir/diagnostics.h"
#include "baton/ir/expr.h"
#include "baton/ir/module.h"
#include "baton/ir/node.h"
#include "baton/ir/node_kind.h"

namespace baton {
namespace {

bool All(int /*function*/) { return true; }

// Null if none is registered.
const FunctionVerifier* FindVerifier(NodeKind kind) {
  const auto* found = FunctionVerifiers().Find(QualifiedNodeKindName(kind));
  return found == nullptr ? nullptr : found->get();
}

// Looks up the registry once for adjacent functions of one kind.
class Verifiers {
 public:
  const FunctionVerifier* Of(const BaseFunc& function) {
    if (!(function->kind() == kind_)) {
      kind_ = function->kind();
      verifier_ = FindVerifier(kind_);
    }
    return verifier_;
  }

 private:
  NodeKind kind_ = IrKind::kGlobalVar;  // which is no function
  const FunctionVerifier* verifier_ = nullptr;
};

std::string NoVerifier(const GlobalVar& var, const BaseFunc& function,
                       absl::string_view what) {
  return absl::StrCat("in @", var->name(), ": functions of kind ",
                      QualifiedNodeKindName(function->kind()), " cannot be ",
                      what, ": no verifier for them is linked");
}

void Check(const IRModule& module, WhichFunctions which,
           Diagnostics& diagnostics) {
  Verifiers verifiers;
  for (int i = 0; i < module.size(); ++i) {
    if (!which(i)) continue;
    const auto& [var, function] = module.functions()[i];
    if (const FunctionVerifier* verifier = verifiers.Of(function)) {
      verifier->CheckWellFormed(module, var, function, diagnostics);
    } else {
      diagnostics.Error(function->span(),
                        NoVerifier(var, function, "verified"));
    }
  }
}

}  // namespace

Registry<std::shared_ptr<const FunctionVerifier>>& FunctionVerifiers() {
  static auto& registry =
      *Registry<std::shared_ptr<const FunctionVerifier>>::NewGlobal(
          "function verifier");
  return registry;
}

namespace internal {

bool RegisterFunctionVerifier(NodeKind kind,
                              std::shared_ptr<const FunctionVerifier> verifier,
                              CodeLocation location) {
  return FunctionVerifiers().Register(QualifiedNodeKindName(kind),
                                      std::move(verifier), location);
}

}  // namespace internal

void CheckWellFormed(const IRModule& module, Diagnostics& diagnostics) {
  Check(module, All, diagnostics);
}

absl::Status CheckWellFormed(const IRModule& module) {
  return CheckWellFormed(module, All);
}

absl::Status CheckWellFormed(const IRModule& module, WhichFunctions which) {
  Diagnostics diagnostics;
  Check(module, which, diagnostics);
  return diagnostics.ToStatus();
}

absl::Status CheckTypes(const IRModule& module) {
  return CheckTypes(module, All);
}

absl::Status CheckTypes(const IRModule& module, WhichFunctions which) {
  Verifiers verifiers;
  std::vector<const FunctionVerifier*> used;
  for (int i = 0; i < module.size(); ++i) {
    if (!which(i)) continue;
    const FunctionVerifier* verifier =
        verifiers.Of(module.functions()[i].function);
    if (verifier == nullptr || absl::c_linear_search(used, verifier)) continue;
    used.push_back(verifier);
    BATON_RETURN_IF_ERROR(verifier->CheckTypes(module, which));
  }
  return absl::OkStatus();
}

absl::StatusOr<IRModule> InferTypesOfAllKinds(const IRModule& module) {
  Verifiers verifiers;
  std::vector<const FunctionVerifier*> used;
  IRModule result = module;
  for (const auto& [var, function] : module.functions()) {
    const FunctionVerifier* verifier = verifiers.Of(function);
    if (verifier == nullptr) {
      return absl::FailedPreconditionError(NoVerifier(var, function, "typed"));
    }
    if (absl::c_linear_search(used, verifier)) continue;
    used.push_back(verifier);
    BATON_ASSIGN_OR_RETURN(result, verifier->InferTypes(result));
  }
  return result;
}

}  // namespace baton
