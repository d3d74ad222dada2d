// The passes over loops, and the pipelines that prepare random functions for
// each of them.

#ifndef BATON_TESTING_LOOPS_PIPELINES_H_
#define BATON_TESTING_LOOPS_PIPELINES_H_

#include <string>
#include <vector>

#include "absl/strings/string_view.h"

namespace baton::testing {

// The passes over loops that are linked in, as RegisteredPasses() writes them.
std::vector<std::string> PassesOverLoops();

// The pipelines to run before the pass `pass` in a test, so that it gets
// functions in a form that it accepts. The pass is tested once after each
// pipeline. An empty pipeline leaves functions as they are.
std::vector<std::string> PipelinesBefore(absl::string_view pass);

}  // namespace baton::testing

#endif  // BATON_TESTING_LOOPS_PIPELINES_H_
