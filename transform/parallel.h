// Runs work on several threads; the setting `threads` is their number.

#ifndef BATON_TRANSFORM_PARALLEL_H_
#define BATON_TRANSFORM_PARALLEL_H_

#include <cstdint>

#include "absl/functional/function_ref.h"
#include "baton/ir/module.h"
#include "baton/transform/config.h"
#include "baton/transform/pass_context.h"

namespace baton {

// The setting `threads`: the number of threads of function passes and type
// inference; 0 for the number of processors.
const ConfigKey<int64_t>& ThreadsConfig();

// The number of threads for `num_pieces` independent pieces of work; at least
// 1.
int NumThreads(const PassContext& context, int num_pieces);

// Calls `body(begin, end)` for ranges that together are [0, n), concurrently
// and in any order, on the threads of `context`, which must be the current
// context; waits for all calls to return. `body` must neither throw nor run a
// pass.
void ParallelFor(const PassContext& context, int n,
                 absl::FunctionRef<void(int begin, int end)> body);

// Drops `module`. The threads of `context` destroy functions without other
// references: destroying them takes about as long as making them.
void DropModule(const PassContext& context, IRModule module);

}  // namespace baton

#endif  // BATON_TRANSFORM_PARALLEL_H_
