// Sweeps of threads over pipelines of random passes.

#ifndef BATON_TESTING_THREADS_SWEEP_PIPELINES_H_
#define BATON_TESTING_THREADS_SWEEP_PIPELINES_H_

#include <string>
#include <vector>

#include "baton/ir/module.h"

namespace baton::testing {

// Expects that six pipelines, of six random ones of `passes` each behind the
// passes `before`, if these are not empty, do the same for any number of
// threads. Some fail; then they fail alike.
void SweepRandomPipelines(const IRModule& module,
                          const std::vector<std::string>& passes,
                          const std::string& before);

}  // namespace baton::testing

#endif  // BATON_TESTING_THREADS_SWEEP_PIPELINES_H_
