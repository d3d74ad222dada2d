// How a copy between memories is made by the threads of a kernel.

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

struct AutoCopy {
  // By tag, of all threads of the function.
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

// The copy `body` of a block, rewritten as its memories need it: between global
// and shared memory by all threads, with vectors; to and from fragments of
// matrix instructions by these, from them to global memory by way of shared
// memory.
absl::StatusOr<AutoCopyResult> RewriteAutoCopy(const Stmt& body,
                                               const AutoCopy& copy);

}  // namespace baton::tir

#endif  // BATON_TIR_TRANSFORM_AUTO_COPY_RULES_H_
