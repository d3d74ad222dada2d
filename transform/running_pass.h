// The pass that is running on this thread, for reports about crashes.

#ifndef BATON_TRANSFORM_RUNNING_PASS_H_
#define BATON_TRANSFORM_RUNNING_PASS_H_

#include <string>

namespace baton {

// `#1 sequential > #4 FuseOps`, as in errors of passes; empty outside of
// passes. On a helper thread of a function pass, numbers may be too small.
std::string DescribeRunningPass();

}  // namespace baton

#endif  // BATON_TRANSFORM_RUNNING_PASS_H_
