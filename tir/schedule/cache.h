// The common code of the steps that cache a buffer in other memory.

#ifndef BATON_TIR_SCHEDULE_CACHE_H_
#define BATON_TIR_SCHEDULE_CACHE_H_

#include <vector>

#include "absl/status/statusor.h"
#include "baton/base/hash_table.h"
#include "baton/tir/ir/expr.h"
#include "baton/tir/ir/stmt.h"
#include "baton/tir/schedule/conditions.h"
#include "baton/tir/schedule/state.h"

namespace baton::tir {

// A block that copies `source` to `target`, and its place.
struct CacheStage {
  Buffer source;
  Buffer target;
  // The one of the two that the scope is to allocate; may be null.
  Buffer allocated;
  // The loop or scope whose body has the copy, and the position of the copy.
  const Site* place = nullptr;
  int position = 0;
  // The nest of the copy, and its block.
  Stmt nest;
  Block block;
  // The region of the cached buffer that is copied. If `full`, the copy has the
  // shape of the whole buffer; otherwise that of the region, and the begin of
  // the region is subtracted from the indices of accesses.
  BufferRegion region;
  bool full = true;
  // If not empty, the indices of all accesses to the copy.
  std::vector<PrimExpr> indices;
  // Blocks that use the copy; empty: all.
  FlatHashSet<const Node*> consumers;
};

// Inserts a statement at a position in a sequence, or before (0) or after (1)
// another statement.
absl::StatusOr<Stmt> InsertAt(const Stmt& body, int position, const Stmt& stmt);

// Sets `stage.place` and `stage.position` to the place of the copy of a buffer.
// `block` is the block of the scope that writes the buffer. The copy is before
// the first block that reads the buffer: if `is_read`, before the first of
// `stage.consumers`; otherwise before the first reader that is not one of them.
// Without such a block, the copy is at the end of the scope.
void FindPlace(const ScheduleState& state, const Site* block, const Site* scope,
               bool is_read, CacheStage& stage);

// False if the blocks that read the copy come after the block that writes the
// buffer; true if the step lists its consumers and all come before it.
// Otherwise an error.
absl::StatusOr<bool> ReadersAreBefore(const ScheduleState& state,
                                      const Site* scope, const Site* writer,
                                      const CacheStage& stage);

// The scope with the copy, and with accesses to the copied buffer replaced: by
// blocks that read it; by the block `writer` and those in it.
absl::StatusOr<Block> RewriteReaders(const Site* scope,
                                     const CacheStage& stage);
absl::StatusOr<Block> RewriteWriter(const Site* scope, const Site* writer,
                                    const CacheStage& stage);

// The only block of the scope that writes the buffer; null for none; an error
// for several.
absl::StatusOr<const Site*> OnlyWriter(const ScheduleState& state,
                                       const Site* scope, const Buffer& buffer);

}  // namespace baton::tir

#endif  // BATON_TIR_SCHEDULE_CACHE_H_
