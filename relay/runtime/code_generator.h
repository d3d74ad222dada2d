// Code generators: what makes code of the functions that are for an external
// compiler (those with its name as their attribute `Compiler`), and runs it.
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
// The pass GenerateCode (relay/transform/generate_code.h) asks generators and
// puts what they make into attributes of the functions: so it is part of the
// module, its text and its binary file. The evaluator runs it in place of the
// functions.

#ifndef BATON_RELAY_RUNTIME_CODE_GENERATOR_H_
#define BATON_RELAY_RUNTIME_CODE_GENERATOR_H_

#include <functional>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "absl/types/span.h"
#include "baton/base/registry.h"
#include "baton/ir/module.h"
#include "baton/relay/ir/expr.h"
#include "baton/relay/runtime/value.h"

namespace baton {

// Attributes of a function that code was generated for.
namespace attr {
inline constexpr char kArtifactName[] = "artifact_name";
inline constexpr char kArtifact[] = "artifact";
}  // namespace attr

// What a code generator makes of a function.
struct Artifact {
  // Of a file: letters, digits, `_`, `-` and `.`, which is not the first.
  std::string name;
  std::string bytes;
};

// Runs the code of a function. Called from several threads at the same time.
// `args` have the types of the function's parameters; the result must have that
// of its result.
using ExternalFunction =
    std::function<absl::StatusOr<Value>(absl::Span<const Value> args)>;

struct CodeGenerator {
  std::string doc;  // one line
  // The code of `function`, which has types, under the name `symbol`, its
  // attribute `global_symbol`. What is in it depends on these alone.
  std::function<absl::StatusOr<Artifact>(const Function& function,
                                         const std::string& symbol)>
      generate;
  // What runs that code here. The evaluator evaluates the function if this is
  // null, or returns null: the code runs elsewhere.
  std::function<absl::StatusOr<ExternalFunction>(const Function& function,
                                                 const Artifact& artifact)>
      load = nullptr;
};

// By the names of their compilers.
Registry<CodeGenerator>& CodeGenerators();

#define BATON_REGISTER_CODE_GENERATOR(compiler, make)              \
  [[maybe_unused]] static const bool BATON_CODE_GENERATOR_CONCAT_( \
      baton_code_generator_, __COUNTER__) =                        \
      ::baton::CodeGenerators().Register(compiler, make())
#define BATON_CODE_GENERATOR_CONCAT_(a, b) \
  BATON_CODE_GENERATOR_CONCAT_IMPL_(a, b)
#define BATON_CODE_GENERATOR_CONCAT_IMPL_(a, b) a##b

// The function's code by its compiler's generator. Errors name the function:
// one without types or `global_symbol`; a compiler without a generator; what
// the generator says; an artifact whose name is not that of a file.
absl::StatusOr<Artifact> GenerateCodeOf(absl::string_view name,
                                        const Function& function);

// The artifacts of functions of the module, in the order of these. An error if
// a name is not that of a file, or two have one name.
absl::StatusOr<std::vector<Artifact>> ArtifactsOf(const IRModule& module);

// What runs the artifact of `function`; null if it has none, or if nothing can
// run it here. Calls check the types of arguments and result. Errors, of this
// and of calls, name the function: a compiler without a generator; what the
// generator says.
absl::StatusOr<ExternalFunction> LoadExternalFunction(const Function& function);

}  // namespace baton

#endif  // BATON_RELAY_RUNTIME_CODE_GENERATOR_H_
