// FunctionPipeline: runs several passes on one function at a time.

#ifndef BATON_RELAY_TRANSFORM_FUNCTION_PIPELINE_H_
#define BATON_RELAY_TRANSFORM_FUNCTION_PIPELINE_H_

#include <vector>

#include "baton/transform/pass.h"

namespace baton::relay {

// Runs all of `passes` on one Relay function, then on the next one. The text in
// a pipeline is
//
//   Function(SimplifyInference,FoldConstant,FuseOps)
//
// With the `threads` setting, functions are processed in parallel, and a
// function that has finished one pass does not wait for the others before the
// next.
//
// Instruments receive a separate module for each function. It contains the
// function and all functions to which it refers, directly or not, in their
// state before the pipeline and with the attribute SkipOptimization. So the
// result is that of `Sequential(passes)` if each pass examines no function
// other than the one it rewrites.
//
// `passes` must be passes over functions, InferType, or lists of such passes.
// Another pass is an error, of the text that names it or otherwise of the run.
// Gates and required passes are those of Sequential.
//
// Apart from the passes, takes time linear in the number of functions and of
// the functions to which each of them refers.
Pass FunctionPipeline(std::vector<Pass> passes);

}  // namespace baton::relay

#endif  // BATON_RELAY_TRANSFORM_FUNCTION_PIPELINE_H_
