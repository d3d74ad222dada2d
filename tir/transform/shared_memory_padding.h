// Pads the rows of buffers in shared memory, so that the threads of a warp
// access different banks.
//
//   A: (64, 64) float16     strides (72, 1)

#ifndef BATON_TIR_TRANSFORM_SHARED_MEMORY_PADDING_H_
#define BATON_TIR_TRANSFORM_SHARED_MEMORY_PADDING_H_

#include <cstdint>
#include <string>
#include <vector>

#include "absl/types/span.h"
#include "baton/base/hash_table.h"
#include "baton/ir/node_map.h"
#include "baton/ir/span.h"
#include "baton/tir/ir/buffer_map.h"
#include "baton/tir/ir/expr.h"
#include "baton/tir/ir/stmt.h"

namespace baton::tir {

class SharedMemoryPadder {
 public:
  // Rows of `buffer` are padded by multiples of `padding`.
  void SetLeastPadding(const Buffer& buffer, int64_t padding);

  // Notes the accesses of a copy; `thread_extents` by tag.
  void NoteAccesses(const Stmt& stmt, absl::Span<const For> outer_loops,
                    const FlatHashMap<std::string, int64_t>& thread_extents);

  // Pads those of `buffers` that are in shared memory and were accessed:
  // chooses, from the last axis to the first, the padding with the fewest
  // accesses of one bank at a time.
  void Pad(std::vector<Buffer>& buffers);

  // Puts padded buffers in the place of the others.
  Stmt Rewritten(const Stmt& stmt) const;

 private:
  friend class PaddedAccessFinder;
  // The values that the index of an axis has for the threads of a warp.
  using Values = std::vector<int64_t>;
  // The values of all axes, for each access.
  using Accesses = std::vector<std::vector<Values>>;

  Buffer Padded(const Buffer& buffer, const Accesses& accesses) const;

  NodeMap<Accesses> accesses_;
  NodeMap<int64_t> least_padding_;
  std::vector<Buffer> kept_;  // keys of the maps above
  BufferMap padded_;
};

}  // namespace baton::tir

#endif  // BATON_TIR_TRANSFORM_SHARED_MEMORY_PADDING_H_
