// Checks that only the run time depends on the number of threads.

#ifndef BATON_TESTING_THREADS_SWEEP_H_
#define BATON_TESTING_THREADS_SWEEP_H_

#include <cstdint>
#include <string>

#include "baton/ir/module.h"
#include "baton/testing/test_settings.h"
#include "baton/transform/pass.h"

namespace baton::testing {

struct ThreadsSweepOptions {
  int opt_level = 4;
  // The number of schedules to try for each number of threads.
  int num_schedules = LongOrShort(2, 1);
  uint32_t first_seed = 1;
};

// Runs `pass` on `module` on one thread, and on 2 and 16 threads with perturbed
// schedules. Compares the text of the result or of the error; the events of
// instruments, in order; dumps, with names of files; printed differences;
// counts of operators; the tree of timings without the times; and the number of
// verified functions. Returns the first difference, or the empty string. Does
// this once with instruments and once without, since the pass manager then does
// less.
std::string FindThreadsDifference(const Pass& pass, const IRModule& module,
                                  const ThreadsSweepOptions& options = {});

}  // namespace baton::testing

#endif  // BATON_TESTING_THREADS_SWEEP_H_
