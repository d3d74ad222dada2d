// Finds when the allocations of a main function, and of the functions that it
// calls, are in use, and which of them need different memory.
//
//   BATON_ASSIGN_OR_RETURN(BufferInfoAnalysis analysis,
//                          ExtractBufferInfo(main, module));
//   PlanPools("greedy_by_size", analysis.problem)

#ifndef BATON_TIR_USMP_EXTRACT_BUFFER_INFO_H_
#define BATON_TIR_USMP_EXTRACT_BUFFER_INFO_H_

#include <cstdint>
#include <vector>

#include "absl/status/statusor.h"
#include "baton/ir/module.h"
#include "baton/tir/ir/function.h"
#include "baton/tir/ir/stmt.h"
#include "baton/tir/usmp/memory_pools.h"
#include "baton/tir/usmp/pool_planner.h"

namespace baton::tir {

enum class BufferInfoKind { kIntermediate, kInput, kOutput };

// An allocation that the planner places.
struct BufferInfo {
  Stmt stmt;  // an Allocate or an AllocateConst
  BufferInfoKind kind = BufferInfoKind::kIntermediate;
  bool IsConstant() const { return stmt.Is<AllocateConstNode>(); }
};

struct BufferInfoAnalysis {
  std::vector<MemoryPool> pools;
  // The buffers in the order in which they are allocated first.
  std::vector<BufferInfo> infos;
  // `pools` and the buffers, with the same indices.
  PoolProblem problem;
};

struct ExtractBufferInfoOptions {
  int64_t workspace_byte_alignment = 16;
  int64_t constant_byte_alignment = 16;
};

// Allocations have the annotation of AssignPoolInfo. An allocation is placed if
// its memory is `global` or `global.workspace`, its extents are constants, and
// no loop around it, in its function or in one that calls it, runs its
// iterations at the same time.
// Memory is in use from the first access to the last one; memory that is
// accessed in a loop, from the begin of the outermost loop on. Inputs are in
// use from the begin, outputs to the end. All constants need different memory.
absl::StatusOr<BufferInfoAnalysis> ExtractBufferInfo(
    const PrimFunc& main, const IRModule& module,
    const ExtractBufferInfoOptions& options = {});

}  // namespace baton::tir

#endif  // BATON_TIR_USMP_EXTRACT_BUFFER_INFO_H_
