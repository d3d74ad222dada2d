// Pipelines as text:
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
#include "baton/base/registry.h"
#include "baton/transform/pass.h"
#include "baton/transform/pass_context.h"
#include "baton/transform/pass_registry.h"

namespace baton {

// The levels at which sequences run the passes that a text names, at any depth
// of its lists. Passes of named pipelines and required passes always have their
// own level.
enum class NamedPasses {
  kAtTheirLevel,
  kAtAnyLevel,  // Pass::AtAnyLevel()
};

// The passes as a Sequential of level 0, even if there is one or none. An error
// shows its place in the text and, for an unknown name, suggests similar ones.
absl::StatusOr<Pass> ParsePipeline(
    absl::string_view text,
    const PassRegistry& registry = PassRegistry::Global(),
    absl::string_view source_name = "pipeline",
    NamedPasses named_passes = NamedPasses::kAtTheirLevel);

// The passes of `pipeline` that sequences skip in `context`, each once, in
// order. Lists are looked into, named pipelines are not.
std::vector<Pass> SkippedPasses(const Pass& pipeline,
                                const PassContext& context);

// The text of a pass, without `Sequential(...)` around the outermost. Parsing
// it gives the same pipeline, if its passes are registered. An error if an
// option is a function, which has no text.
absl::StatusOr<std::string> PipelineToString(const Pass& pass);

// A part of a named pipeline, and why it is there.
struct PipelineStep {
  std::string items;  // in the grammar above
  std::string reason;
};

// A pipeline with a name, which stands for its steps in other pipelines:
// `--passes=onnx,O3` runs
//
//   Sequential{name=onnx}(...),Sequential{name=O3}(...)
//
// As in any sequence, the context's level decides which of the passes run.
struct NamedPipeline {
  // One line.
  std::string doc;
  // The level of the context that the pipeline is made for. baton-opt takes it
  // unless it is given another or the default is higher.
  int opt_level = 0;
  std::vector<PipelineStep> steps;
  // Why the pipeline may change its own result; empty if it does not.
  std::string not_idempotent = {};

  // The text of all steps.
  std::string ToString() const;
};

// The named pipelines that are linked in. A name that a pass has, and steps
// that cannot be parsed, are among RegistrationErrors().
Registry<NamedPipeline>& NamedPipelines();

// The highest level that a named pipeline in `pipeline` is made for; 0 if there
// is none in it.
int OptLevelOf(const Pass& pipeline);

// Registers a NamedPipeline:
//
//   BATON_REGISTER_PIPELINE(
//       "npu", {.doc = "What the NPU needs.",
//               .opt_level = 3,
//               .steps = {{"SimplifyInference", "It has no batch norm."},
//                         {"FuseOps", "It runs a group as one kernel."}}});
#define BATON_REGISTER_PIPELINE(name, ...)               \
  [[maybe_unused]] static const bool BATON_PASS_CONCAT_( \
      baton_pipeline_registration_, __COUNTER__) =       \
      ::baton::NamedPipelines().Register(name, __VA_ARGS__)

}  // namespace baton

#endif  // BATON_TRANSFORM_PIPELINE_H_
