#include "baton/backend/library/arena_blocks.h"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <utility>
#include <vector>

#include "baton/backend/library/library_model.h"

namespace baton {
namespace {

// The beginning of the branch or loop that each end is of; the step itself for
// others.
std::vector<size_t> BeginningsOfRegions(const LibraryModel& model) {
  std::vector<size_t> beginnings;
  std::vector<size_t> open;
  for (size_t i = 0; i < model.steps.size(); ++i) {
    const LibraryStep& step = model.steps[i];
    beginnings.push_back(i);
    switch (step.control) {
      case LibraryControl::kIf:
      case LibraryControl::kLoop:
        open.push_back(i);
        break;
      case LibraryControl::kMark:
        // The first of a loop has operands, the last one results.
        if (step.slots.empty() || !step.slots[0].is_result) {
          open.push_back(i);
          break;
        }
        [[fallthrough]];
      case LibraryControl::kEnd:
        beginnings.back() = open.back();
        open.pop_back();
        break;
      case LibraryControl::kElse:
      case LibraryControl::kBreak:
      case LibraryControl::kFail:
      case LibraryControl::kNone:
        break;
    }
  }
  return beginnings;
}

}  // namespace

std::vector<ArenaBlock> ArenaBlocksOf(const LibraryModel& model) {
  const std::vector<size_t> beginnings = BeginningsOfRegions(model);
  const bool has_regions = HasControl(model);
  std::vector<std::pair<size_t, size_t>> loops;  // first and last step
  for (size_t i = 0; i < beginnings.size(); ++i) {
    if (beginnings[i] != i &&
        model.steps[beginnings[i]].control == LibraryControl::kLoop) {
      loops.emplace_back(beginnings[i], i);
    }
  }
  // The last step that needs what step `writer` wrote and `reader` reads.
  const auto last_of = [&loops](size_t writer, size_t reader) {
    size_t last = reader;
    for (const auto& [begin, end] : loops) {
      if (writer < begin && begin <= reader && reader <= end) {
        last = std::max(last, end);
      }
    }
    return last;
  };
  const auto overlap = [](const ArenaBlock& block, const LibrarySlot& slot) {
    return block.offset < slot.offset + slot.bytes &&
           slot.offset < block.offset + block.bytes;
  };
  std::vector<ArenaBlock> blocks;
  std::vector<size_t> first;  // the first block of each step
  for (size_t i = 0; i < model.steps.size(); ++i) {
    const LibraryStep& step = model.steps[i];
    first.push_back(blocks.size());
    std::vector<size_t> read;
    for (const LibrarySlot& slot : step.slots) {
      if (slot.space != LibrarySpace::kArena || slot.is_result) continue;
      const int64_t writer = WriterOf(model, i, slot);
      if (writer < 0) continue;
      for (size_t k = first[writer]; k < first[writer + 1]; ++k) {
        if (blocks[k].is_workspace || !overlap(blocks[k], slot)) continue;
        blocks[k].last = std::max(blocks[k].last, last_of(blocks[k].step, i));
        read.push_back(k);
      }
    }
    if (step.workspace_bytes > 0) {
      blocks.push_back(
          {i, true, step.workspace_offset, step.workspace_bytes, i});
    }
    for (const LibrarySlot& slot : step.slots) {
      if (slot.space != LibrarySpace::kArena || !slot.is_result) continue;
      bool is_there = false;
      for (size_t k = has_regions ? blocks.size() : 0; k-- > 0;) {
        ArenaBlock& block = blocks[k];
        if (block.is_workspace || block.offset != slot.offset ||
            block.bytes != slot.bytes) {
          continue;
        }
        // Steps of the branch or loop that ends here wrote it.
        if (beginnings[i] < block.step && block.step < i) {
          block.last = std::max(block.last, i - 1);
        } else {
          // The next round of a loop writes it again.
          is_there = block.last > i;
          break;
        }
      }
      if (is_there) continue;
      blocks.push_back({i, false, slot.offset, slot.bytes, i});
      // A step that overwrites what it reads has one block.
      for (const size_t k : read) {
        if (overlap(blocks[k], slot)) blocks[k].last = i - 1;
      }
    }
  }
  return blocks;
}

std::vector<ArenaBlock> ArenaAtPeak(const LibraryModel& model) {
  const std::vector<ArenaBlock> blocks = ArenaBlocksOf(model);
  std::vector<int64_t> change(model.steps.size() + 1);  // of the live bytes
  for (const ArenaBlock& block : blocks) {
    change[block.step] += block.bytes;
    change[block.last + 1] -= block.bytes;
  }
  size_t peak = 0;
  int64_t most = 0;
  int64_t bytes = 0;
  for (size_t i = 0; i < model.steps.size(); ++i) {
    bytes += change[i];
    if (bytes <= most) continue;
    most = bytes;
    peak = i;
  }
  std::vector<ArenaBlock> live;
  if (most == 0) return live;
  for (const ArenaBlock& block : blocks) {
    if (block.step <= peak && peak <= block.last) live.push_back(block);
  }
  return live;
}

int64_t WriterOf(const LibraryModel& model, size_t i, const LibrarySlot& slot) {
  for (size_t k = i; k-- > 0;) {
    for (const LibrarySlot& other : model.steps[k].slots) {
      if (other.is_result && other.space == slot.space &&
          other.index == slot.index &&
          other.offset < slot.offset + slot.bytes &&
          slot.offset < other.offset + other.bytes) {
        return static_cast<int64_t>(k);
      }
    }
  }
  return -1;
}

bool HasControl(const LibraryModel& model) {
  return std::any_of(model.steps.begin(), model.steps.end(),
                     [](const LibraryStep& step) {
                       return step.control != LibraryControl::kNone;
                     });
}

}  // namespace baton
