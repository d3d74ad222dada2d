// Pipelines as text:
//
//   FoldConstant,ConvertLayout{desired_layouts={nn.conv2d:[NHWC,HWIO]}},
//   FixedPoint{limit=5}(SimplifyExpr,FoldConstant)
//
//   pipeline := item (',' item)*
//   item     := NAME options?
//             | 'Sequential' options? '(' pipeline ')'
//             | 'FixedPoint' options? '(' pipeline ')'
//
// Options and values are those of base/value_text.h.

#ifndef BATON_TRANSFORM_PIPELINE_H_
#define BATON_TRANSFORM_PIPELINE_H_

#include <string>

#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "baton/transform/pass.h"
#include "baton/transform/pass_registry.h"

namespace baton {

// The passes as a Sequential of level 0, even if there is one or none. An error
// shows its place in the text and, for an unknown name, suggests similar ones.
absl::StatusOr<Pass> ParsePipeline(
    absl::string_view text,
    const PassRegistry& registry = PassRegistry::Global(),
    absl::string_view source_name = "pipeline");

// The text of a pass, without `Sequential(...)` around the outermost. Parsing
// it gives the same pipeline, if its passes are registered. An error if an
// option is a function, which has no text.
absl::StatusOr<std::string> PipelineToString(const Pass& pass);

}  // namespace baton

#endif  // BATON_TRANSFORM_PIPELINE_H_
