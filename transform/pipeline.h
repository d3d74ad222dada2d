// Parses and prints pipelines as text:
//
//   FoldConstant,ConvertLayout{desired_layouts={nn.conv2d:[NHWC,HWIO]}},
//   FixedPoint{limit=5}(SimplifyExpr,FoldConstant)
//
//   pipeline := item (',' item)*
//   item     := NAME options?                 a pass
//             | NAME                          a named pipeline, see below
//             | KEYWORD options? '(' pipeline ')'
//                                             a list of passes: Sequential,
//                                             FixedPoint, ... (pass_list.h)
//
// Options and values are those of base/value_text.h.

#ifndef BATON_TRANSFORM_PIPELINE_H_
#define BATON_TRANSFORM_PIPELINE_H_

#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "baton/base/macros.h"
#include "baton/base/registry.h"
#include "baton/transform/pass.h"
#include "baton/transform/pass_context.h"
#include "baton/transform/pass_registry.h"

namespace baton {

// The levels at which sequences run the passes that a text names, at any depth
// of its lists. The passes of named pipelines, and required passes, keep their
// own level.
enum class NamedPasses {
  kAtTheirLevel,
  kAtAnyLevel,  // Pass::AtAnyLevel()
};

// Parses a pipeline into a Sequential of level 0, whatever the number of
// passes. The error shows its place in the text and, for an unknown name,
// suggests similar ones.
absl::StatusOr<Pass> ParsePipeline(
    absl::string_view text,
    const PassRegistry& registry = PassRegistry::Global(),
    absl::string_view source_name = "pipeline",
    NamedPasses named_passes = NamedPasses::kAtTheirLevel);

// The passes of `pipeline` that sequences skip in `context`, each once, in
// order. Lists are looked into, named pipelines are not.
std::vector<Pass> SkippedPasses(const Pass& pipeline,
                                const PassContext& context);

// The text of a pass, without an outermost `Sequential(...)`. Parsing the text
// gives an equal pipeline, if its passes are registered. An error if an option
// is a function, which has no text.
absl::StatusOr<std::string> PipelineToString(const Pass& pass);

// A part of a named pipeline, with its reason.
struct PipelineStep {
  std::string items;  // in the grammar above
  std::string reason;
};

// A named pipeline. In the text of other pipelines, its name is replaced by its
// steps: `--passes=onnx,O3` runs
//
//   Sequential{name=onnx}(...),Sequential{name=O3}(...)
//
// As in any sequence, the context's level determines which of the passes run.
struct NamedPipeline {
  // The documentation, one line.
  std::string doc;
  // The intended level of the context. baton-opt uses it unless a level is
  // given or the default is higher.
  int opt_level = 0;
  std::vector<PipelineStep> steps;
  // The reason why the pipeline may change its own result; empty if it does
  // not.
  std::string not_idempotent = {};

  // The text of all steps.
  std::string ToString() const;
};

// All linked named pipelines. RegistrationErrors() includes names that a pass
// also has, and steps that cannot be parsed.
Registry<NamedPipeline>& NamedPipelines();

// The highest intended level of the named pipelines in `pipeline`; 0 if there
// are none.
int OptLevelOf(const Pass& pipeline);

// Registers a NamedPipeline:
//
//   BATON_REGISTER_PIPELINE(
//       "npu", {.doc = "What the NPU needs.",
//               .opt_level = 3,
//               .steps = {{"SimplifyInference", "It has no batch norm."},
//                         {"FuseOps", "It runs a group as one kernel."}}});
#define BATON_REGISTER_PIPELINE(name, ...)              \
  [[maybe_unused]] static const bool BATON_UNIQUE_NAME( \
      baton_pipeline_registration_) =                   \
      ::baton::NamedPipelines().Register(name, __VA_ARGS__)

}  // namespace baton

#endif  // BATON_TRANSFORM_PIPELINE_H_
