#include "baton/tools/reproducer_file.h"

#include <cstddef>
#include <filesystem>
#include <string>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/string_view.h"
#include "baton/base/status_macros.h"
#include "baton/ir/binary_writer.h"
#include "baton/ir/module.h"
#include "baton/ir/module_text.h"
#include "baton/relay/ir/infer_type.h"
#include "baton/runtime/io/npy.h"
#include "baton/tools/files.h"
#include "baton/tools/prepared_run.h"
#include "baton/tools/reproducer.h"
#include "baton/tools/run_options.h"
#include "baton/transform/pass.h"
#include "baton/triage/child.h"
#include "baton/triage/failure.h"
#include "baton/triage/reducer.h"

namespace baton {
namespace {

// Writes the tensors of --inputs or --expect beside the reproducer. `source` is
// the name that the reproducer records.
absl::Status KeepTensors(const std::string& path, absl::string_view kind,
                         const NamedTensors* given, std::string& source) {
  if (given == nullptr) return absl::OkStatus();
  NamedTensors tensors = *given;
  for (size_t i = 0; i < tensors.size(); ++i) {
    std::string& name = tensors[i].first;
    if (name.empty()) name = absl::StrCat("arr_", i);
  }
  BATON_ASSIGN_OR_RETURN(const std::string bytes, WriteNpz(tensors));
  const std::string copy = absl::StrCat(path, ".", kind, ".npz");
  BATON_RETURN_IF_ERROR(WriteFileAtomically(copy, bytes));
  source = std::filesystem::path(copy).filename().string();
  return absl::OkStatus();
}

// A reproducer that is longer than this many bytes is cut.
constexpr size_t kLongProgram = 10'000;

// `module` without the weights that `failure` does not need, and, if
// it is still long, without most of the nodes. They become inputs, so those
// must be random.
absl::StatusOr<IRModule> MinimizeForReproducer(const IRModule& module,
                                               const PreparedRun& prepared,
                                               const Failure& failure,
                                               const ChildLimits& limits) {
  if (prepared.inputs != nullptr || !failure.failed()) return module;
  BATON_ASSIGN_OR_RETURN(const Pass complete,
                         CompletePipeline(prepared, module));
  const PipelineSettings settings = FaultSettings(prepared, complete, true);
  const bool typed = relay::InferTypes(module)->SameAs(module);
  const auto fails = [&](const IRModule& candidate) -> absl::StatusOr<bool> {
    absl::StatusOr<IRModule> given = relay::InferTypes(candidate);
    if (!given.ok()) return false;
    BATON_ASSIGN_OR_RETURN(const Failure now,
                           RunPipelineInChild(typed ? *given : candidate,
                                              complete, settings, limits));
    return now.number == failure.number && SameFailure(failure, now);
  };
  BATON_ASSIGN_OR_RETURN(const IRModule light, DropWeights(module, fails));
  if (AsText(light).size() <= kLongProgram) return light;
  BATON_ASSIGN_OR_RETURN(const IRModule given, relay::InferTypes(light));
  return CutToFailure(given, fails);
}

}  // namespace

std::string WriteReproducer(const IRModule& module, const PreparedRun& prepared,
                            const absl::Status& error, const Failure& failure,
                            const std::string& path,
                            const ChildLimits& limits) {
  RunOptions run = prepared.run;
  absl::Status written =
      KeepTensors(path, "inputs", prepared.inputs.get(), run.inputs);
  written.Update(
      KeepTensors(path, "expect", prepared.expected.get(), run.expect));
  if (!written.ok()) return std::string(written.message());
  if (absl::EndsWith(path, ".baton")) {
    const absl::StatusOr<BinaryModule> binary =
        WriteBinary(module, {.comment = ReproducerHead(module, run, error)});
    written = binary.ok() ? WriteFileAtomically(path, binary->pieces())
                          : binary.status();
  } else {
    const IRModule light =
        MinimizeForReproducer(module, prepared, failure, limits)
            .value_or(module);
    written = WriteFileAtomically(path, ReproducerText(light, run, error));
  }
  return written.ok() ? absl::StrCat("reproducer: ", path)
                      : std::string(written.message());
}

}  // namespace baton
