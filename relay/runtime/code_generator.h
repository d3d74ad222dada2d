// CodeGenerator: generates and runs the code of functions for an external
// compiler (functions with its name as their attribute `Compiler`).
//
//   CodeGenerator AcmeGenerator() {
//     return {
//         .doc = "C for Acme's accelerator.",
//         .generate = [](const Function& function, const std::string& symbol)
//             -> absl::StatusOr<Artifact> {
//           BATON_ASSIGN_OR_RETURN(std::string code, WriteC(function, symbol));
//           return Artifact{symbol + ".c", std::move(code)};
//         },
//         .load = [](const Function& function, const Artifact& artifact) {
//           return FindCompiled(artifact.name);
//         }};
//   }
//   BATON_REGISTER_CODE_GENERATOR("acme", AcmeGenerator);
//
// The pass GenerateCode (relay/transform/generate_code.h) calls generators and
// stores the code in attributes of the functions: so it is part of the module,
// its text and its binary file. The evaluator runs the code in place of the
// functions.

#ifndef BATON_RELAY_RUNTIME_CODE_GENERATOR_H_
#define BATON_RELAY_RUNTIME_CODE_GENERATOR_H_

#include <functional>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "absl/types/span.h"
#include "baton/base/macros.h"
#include "baton/base/registry.h"
#include "baton/base/target.h"
#include "baton/ir/module.h"
#include "baton/relay/ir/expr.h"
#include "baton/relay/runtime/value.h"

namespace baton::relay {

// Attributes of a function with generated code.
namespace attr {
inline constexpr char kArtifactName[] = "artifact_name";
inline constexpr char kArtifact[] = "artifact";
}  // namespace attr

// The output of a code generator for a function.
struct Artifact {
  // A file name: letters, digits, `_`, `-` and `.`; it does not begin with `.`.
  std::string name;
  std::string bytes;
};

// Runs the code of a function. Several threads may call it at the same time.
// `args` have the types of the function's parameters; the result must have the
// function's result type.
using ExternalFunction =
    std::function<absl::StatusOr<Value>(absl::Span<const Value> args)>;

// A code generator; see the top of this file.
struct CodeGenerator {
  std::string doc;  // one line
  // Generates the code of `function`, which has types, under the name `symbol`,
  // its attribute `global_symbol`. The code must depend on these alone.
  std::function<absl::StatusOr<Artifact>(const Function& function,
                                         const std::string& symbol)>
      generate;
  // Returns a function that runs the code here. If `load` is null or returns
  // null, the code runs elsewhere, and the evaluator evaluates the function.
  std::function<absl::StatusOr<ExternalFunction>(const Function& function,
                                                 const Artifact& artifact)>
      load = nullptr;
  // As `generate`, for the target of the PassContext; the code may depend on
  // it. Takes the place of `generate` if it is not null.
  std::function<absl::StatusOr<Artifact>(const Function& function,
                                         const std::string& symbol,
                                         const Target& target)>
      generate_for_target = nullptr;
};

// All code generators, by the names of their compilers.
Registry<CodeGenerator>& CodeGenerators();

#define BATON_REGISTER_CODE_GENERATOR(compiler, make)   \
  [[maybe_unused]] static const bool BATON_UNIQUE_NAME( \
      baton_code_generator_) =                          \
      ::baton::relay::CodeGenerators().Register(compiler, make())

// Generates the code of the function with the generator of its compiler. Errors
// name the function: it has no types or no `global_symbol`; its compiler has no
// generator; the generator failed; the name of the artifact is not a file name.
absl::StatusOr<Artifact> GenerateCodeOf(absl::string_view name,
                                        const Function& function,
                                        const Target& target = {});

// The artifacts of the functions of `module`, in the order of the functions. An
// error if a name is not a file name, or two artifacts have one name.
absl::StatusOr<std::vector<Artifact>> ArtifactsOf(const IRModule& module);

// Returns a function that runs the artifact of `function`; null if it has none,
// or if it cannot run here. Calls check the types of arguments and result.
// Errors, also those of calls, name the function: its compiler has no
// generator; the generator failed.
absl::StatusOr<ExternalFunction> LoadExternalFunction(const Function& function);

}  // namespace baton::relay

#endif  // BATON_RELAY_RUNTIME_CODE_GENERATOR_H_
