// The memory that the steps of a library use in the arena, by step.

#ifndef BATON_BACKEND_LIBRARY_ARENA_BLOCKS_H_
#define BATON_BACKEND_LIBRARY_ARENA_BLOCKS_H_

#include <cstddef>
#include <cstdint>
#include <vector>

#include "baton/backend/library/library_model.h"

namespace baton {

// A result of a step in the arena, or the step's workspace.
struct ArenaBlock {
  size_t step = 0;
  bool is_workspace = false;
  int64_t offset = 0;
  int64_t bytes = 0;
  size_t last = 0;  // the last step that reads it
};

// The results and workspaces of all steps, in the order of steps. Results of a
// branch stay until its end, and what a loop reads stays for all rounds.
std::vector<ArenaBlock> ArenaBlocksOf(const LibraryModel& model);

// The blocks that are live during one step, the step at which live blocks have
// the most bytes.
std::vector<ArenaBlock> ArenaAtPeak(const LibraryModel& model);

// The step before `i` that wrote to the bytes of a slot last; -1 for none.
int64_t WriterOf(const LibraryModel& model, size_t i, const LibrarySlot& slot);

// True if the model has branches or loops.
bool HasControl(const LibraryModel& model);

}  // namespace baton

#endif  // BATON_BACKEND_LIBRARY_ARENA_BLOCKS_H_
