// Rewrites a copy between memory scopes for the threads of a kernel.

#ifndef BATON_TIR_TRANSFORM_AUTO_COPY_RULES_H_
#define BATON_TIR_TRANSFORM_AUTO_COPY_RULES_H_

#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include "absl/status/statusor.h"
#include "baton/base/hash_table.h"
#include "baton/tir/ir/expr.h"
#include "baton/tir/ir/stmt.h"

namespace baton::tir {

// The description of a copy.
struct AutoCopy {
  // The extents of the function's thread axes, by tag (`threadIdx.x`).
  FlatHashMap<std::string, int64_t> thread_extents;
  std::vector<For> outer_loops;
  BufferRegion read;
  BufferRegion write;
  int64_t data_bits = 0;
  // Annotations of the block.
  bool local_stage = false;
  int64_t vector_bytes = 1;
};

struct AutoCopyResult {
  Stmt body;
  std::vector<Buffer> alloc_buffers;
  // The least padding of rows of a buffer.
  std::vector<std::pair<Buffer, int64_t>> padding;
};

// Rewrites `body`, the copy of a block, as its two memory scopes need it. All
// threads copy between global and shared memory, with vectors. Matrix
// instructions load and store their fragments; a copy from a fragment to global
// memory goes through shared memory.
absl::StatusOr<AutoCopyResult> RewriteAutoCopy(const Stmt& body,
                                               const AutoCopy& copy);

}  // namespace baton::tir

#endif  // BATON_TIR_TRANSFORM_AUTO_COPY_RULES_H_
