#include "baton/relay/transform/generate_code.h"

#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include "absl/algorithm/container.h"
#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/string_view.h"
#include "baton/base/status_macros.h"
#include "baton/base/target.h"
#include "baton/ir/attrs.h"
#include "baton/ir/module.h"
#include "baton/relay/ir/expr.h"
#include "baton/relay/ir/text_attr.h"
#include "baton/relay/runtime/code_generator.h"
#include "baton/transform/config.h"
#include "baton/transform/module_pass.h"
#include "baton/transform/pass.h"
#include "baton/transform/pass_context.h"
#include "baton/transform/pass_registry.h"

namespace baton::relay {
namespace {

BATON_REGISTER_CONFIG(kMaxBytes, int64_t, "relay.GenerateCode.max_bytes",
                      int64_t{1} << 28,
                      "Most bytes of code that are made for one module.");

bool HasAttr(const Function& function, absl::string_view name,
             const std::string& text) {
  const std::string* value = TextAttr(*function, name);
  return value != nullptr && *value == text;
}

absl::StatusOr<IRModule> Generate(const IRModule& module,
                                  const std::vector<std::string>& compilers,
                                  const Target& target, int64_t max_bytes) {
  for (const std::string& compiler : compilers) {
    BATON_RETURN_IF_ERROR(CodeGenerators().Get(compiler).status());
  }
  IRModule result = module;
  int64_t num_bytes = 0;
  for (const auto& [var, function] : module.functions<Function>()) {
    const std::string* compiler = TextAttr(*function, attr::kCompiler);
    if (compiler == nullptr ||
        (!compilers.empty() && !absl::c_linear_search(compilers, *compiler))) {
      continue;
    }
    BATON_ASSIGN_OR_RETURN(Artifact artifact,
                           GenerateCodeOf(var->name(), function, target));
    num_bytes += static_cast<int64_t>(artifact.bytes.size());
    if (num_bytes > max_bytes) {
      return absl::ResourceExhaustedError(
          absl::StrCat("code for @", var->name(), ": ", artifact.bytes.size(),
                       " bytes are more than the setting ", kMaxBytes.name(),
                       " (", max_bytes, ") allows for all code"));
    }
    if (HasAttr(function, attr::kArtifactName, artifact.name) &&
        HasAttr(function, attr::kArtifact, artifact.bytes)) {
      continue;
    }
    result.Set(var,
               function.WithAttr(attr::kArtifactName, std::move(artifact.name))
                   .WithAttr(attr::kArtifact, std::move(artifact.bytes)));
  }
  BATON_RETURN_IF_ERROR(ArtifactsOf(result).status());
  return result;
}

}  // namespace

Pass GenerateCode(GenerateCodeOptions options) {
  return CreateModulePass(
      [options](const IRModule& module, const PassContext& context) {
        return Generate(module, options.compilers, context.target(),
                        context.Get(kMaxBytes));
      },
      {.name = "GenerateCode",
       .required = {"InferType"},
       .doc = "Asks code generators for the code of functions for external "
              "compilers.",
       .idempotent = true,
       .waivers = {{"runs",
                    "A function may be for a compiler that is not linked "
                    "in."}}},
      options);
}
BATON_REGISTER_PASS(GenerateCode);

}  // namespace baton::relay
