// Work on several threads; the setting `threads` is their number.

#ifndef BATON_TRANSFORM_PARALLEL_H_
#define BATON_TRANSFORM_PARALLEL_H_

#include <cstdint>

#include "absl/functional/function_ref.h"
#include "baton/ir/module.h"
#include "baton/transform/config.h"
#include "baton/transform/pass_context.h"

namespace baton {

// The setting `threads`: on how many threads function passes and type
// inference work; 0 for as many as the machine has.
const ConfigKey<int64_t>& ThreadsConfig();

// The number of threads for `num_pieces` pieces of work that do not depend on
// each other; at least 1, and 1 for no work.
int NumThreads(const PassContext& context, int num_pieces);

// Calls `body(begin, end)` for ranges that together are [0, n), concurrently
// and in any order, on the threads of `context`, which must be the current
// context; waits for all calls to return. `body` must neither throw nor run a
// pass.
void ParallelFor(const PassContext& context, int n,
                 absl::FunctionRef<void(int begin, int end)> body);

// Drops `module`, and destroys functions that nothing else refers to on the
// threads of `context`: destroying them takes about as long as making them.
void DropModule(const PassContext& context, IRModule module);

}  // namespace baton

#endif  // BATON_TRANSFORM_PARALLEL_H_
