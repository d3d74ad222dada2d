// Registers the writer of the format executable.

#include <iostream>
#include <memory>
#include <string>
#include <utility>

#include "absl/status/statusor.h"
#include "baton/backend/cpu/executable.h"
#include "baton/backend/cpu/executable_file.h"
#include "baton/base/status_macros.h"
#include "baton/ir/module.h"
#include "baton/ir/span.h"
#include "baton/onnx/listing.h"
#include "baton/relay/ir/expr.h"
#include "baton/relay/ir/infer_type.h"
#include "baton/tools/input.h"
#include "baton/tools/kernel_costs_file.h"
#include "baton/tools/tensor_files.h"
#include "baton/tools/version.h"

namespace baton {
namespace {

absl::StatusOr<ModuleWriter::Output> Write(
    const IRModule& module, const ModuleWriter::Options& options) {
  CompileOptions compile;
  if (!options.kernel_costs.empty()) {
    BATON_ASSIGN_OR_RETURN(
        compile.costs,
        ReadKernelCosts(options.kernel_costs, &std::cerr, "baton-opt"));
  }
  BATON_ASSIGN_OR_RETURN(const IRModule typed, relay::InferTypes(module));
  BATON_ASSIGN_OR_RETURN(const relay::Function main,
                         typed.Lookup<relay::Function>("main"));
  BATON_ASSIGN_OR_RETURN(
      ExecutableFile file,
      WriteExecutable(
          typed,
          {.compile = compile,
           .version = std::string(BatonVersion()),
           .commit = CommitText(),
           .origin_of = [](const Span& span) { return onnx::OriginName(span); },
           .output_names = OutputNames(main)}));
  const auto owner = std::make_shared<ExecutableFile>(std::move(file));
  return ModuleWriter::Output{owner, owner->pieces(), {}};
}

[[maybe_unused]] const bool registered =
    ModuleWriters().Register("executable", {.write = Write});

}  // namespace
}  // namespace baton
