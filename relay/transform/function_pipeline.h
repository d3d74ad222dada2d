// Passes over one function at a time.

#ifndef BATON_RELAY_TRANSFORM_FUNCTION_PIPELINE_H_
#define BATON_RELAY_TRANSFORM_FUNCTION_PIPELINE_H_

#include <vector>

#include "baton/transform/pass.h"

namespace baton::relay {

// Runs all of `passes` on one Relay function, then on the next one. In the text
// of a pipeline it is
//
//   Function(SimplifyInference,FoldConstant,FuseOps)
//
// With the `threads` setting, functions are worked on at once, and a function
// that is done with one pass does not wait for the others before the next.
//
// Each function is in a module of its own, which instruments see: the function,
// and the functions that it refers to, directly or not, as they were before the
// pipeline and with the attribute SkipOptimization. So the result is that of
// `Sequential(passes)` if each pass looks at no other function than the one it
// rewrites.
//
// `passes` must be passes over functions, InferType, or lists of such passes.
// Another one is an error, of the text that names it or else of the run. Gates
// and required passes are those of Sequential.
//
// Besides the passes, it takes time linear in the number of functions and of
// the functions that each of them refers to.
Pass FunctionPipeline(std::vector<Pass> passes);

}  // namespace baton::relay

#endif  // BATON_RELAY_TRANSFORM_FUNCTION_PIPELINE_H_
