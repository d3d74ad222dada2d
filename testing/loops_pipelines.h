// The passes over loops, and what brings random functions into the forms that
// they take.

#ifndef BATON_TESTING_LOOPS_PIPELINES_H_
#define BATON_TESTING_LOOPS_PIPELINES_H_

#include <string>
#include <vector>

#include "absl/strings/string_view.h"

namespace baton::testing {

// The passes over loops that are linked in, as RegisteredPasses() writes them.
std::vector<std::string> PassesOverLoops();

// The pipelines that make functions what the pass of that name must be given,
// one after which it is tested each; an empty one for functions as they are.
std::vector<std::string> PipelinesBefore(absl::string_view pass);

}  // namespace baton::testing

#endif  // BATON_TESTING_LOOPS_PIPELINES_H_
