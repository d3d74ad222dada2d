// Whether the number of threads can be seen in anything but time.

#ifndef BATON_TESTING_THREADS_SWEEP_H_
#define BATON_TESTING_THREADS_SWEEP_H_

#include <cstdint>
#include <string>

#include "baton/ir/module.h"
#include "baton/transform/pass.h"

namespace baton::testing {

struct ThreadsSweepOptions {
  int opt_level = 4;
  // Ways to shuffle threads, for each number of them.
  int num_shuffles = 2;
  uint32_t first_seed = 1;
};

// Runs `pass` on `module` on one thread, and on 2 and 16 that are made to
// overtake each other. Empty if nothing differs: the text of the result, or of
// the error; what instruments see, in order; dumps, names of files included;
// printed differences; counts of operators; the tree of timings less the times;
// how much was verified. Otherwise says what. Once with instruments and once
// without, since the pass manager does less then.
std::string FindThreadsDifference(const Pass& pass, const IRModule& module,
                                  const ThreadsSweepOptions& options = {});

}  // namespace baton::testing

#endif  // BATON_TESTING_THREADS_SWEEP_H_
