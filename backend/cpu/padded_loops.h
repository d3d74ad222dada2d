// Gives constant sizes to tensors to which each round of a loop appends
// elements ("stacks"), for padded_sizes.h.
//
//   let %loop = fn (%i: int64, %n: int64, %all: Tensor[(?, 2), float32]) {
//     if (less(%i, %n)) { %loop(add(%i, 1i64), %n, concatenate((%all, ...))) }
//     else { (%all,) }
//   };
//   %loop(0i64, minimum(%count, 8i64), zeros(shape=[0, 2]))
//
// becomes a loop whose %all has 8 rows from the beginning, of which round i sets
// the row i. The importer of ONNX makes such loops of Loop and Scan.

#ifndef BATON_BACKEND_CPU_PADDED_LOOPS_H_
#define BATON_BACKEND_CPU_PADDED_LOOPS_H_

#include "absl/status/statusor.h"
#include "absl/types/span.h"
#include "baton/backend/cpu/padded_rules.h"
#include "baton/backend/cpu/value_ranges.h"
#include "baton/ir/module.h"
#include "baton/relay/ir/expr.h"

namespace baton::cpu {

// The recursive function that `call` calls, if its callee is `let %f = fn ...;
// %f`, the graph normal form of such a function. Null for other calls.
const relay::FunctionNode* LoopOf(const relay::CallNode& call);

// Computes `call`, of a loop whose result has a size that depends on values.
// `args` are the values of its arguments. Unimplemented, with the reason, if
// the number of rounds has no bound, or if a round uses a stack other than to
// append to it.
absl::StatusOr<Padded> PadLoop(const relay::CallNode& call,
                               absl::Span<const Padded> args,
                               ValueRanges& ranges, const IRModule& module);

}  // namespace baton::cpu

#endif  // BATON_BACKEND_CPU_PADDED_LOOPS_H_
