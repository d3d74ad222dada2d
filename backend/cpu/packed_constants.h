// PackedConstants: the constants into which lowering packs weights, kept in a
// file so that they are not packed again.

#ifndef BATON_BACKEND_CPU_PACKED_CONSTANTS_H_
#define BATON_BACKEND_CPU_PACKED_CONSTANTS_H_

#include <cstddef>
#include <cstdint>
#include <utility>
#include <vector>

#include "absl/functional/function_ref.h"
#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "baton/base/tensor.h"

namespace baton::cpu {

// A recorder keeps the packed constants of a lowering. A replayer returns them,
// in order, to a later lowering of the same graph. It packs small constants
// again and compares, to find files of a compiler that packs differently.
class PackedConstants {
 public:
  struct Entry {
    Tensor tensor;
    // A number that packing computes besides the tensor; 0 if there is none.
    int64_t number = 0;
  };

  // A recorder.
  PackedConstants() = default;
  // A replayer of `entries`.
  explicit PackedConstants(std::vector<Entry> entries)
      : entries_(std::move(entries)), replays_(true) {}

  // The next constant: a recorder calls `pack` for it.
  absl::StatusOr<Entry> Next(absl::FunctionRef<absl::StatusOr<Entry>()> pack) {
    if (!replays_) {
      absl::StatusOr<Entry> entry = pack();
      if (entry.ok()) entries_.push_back(*entry);
      return entry;
    }
    if (next_ == entries_.size()) {
      return absl::InternalError("a packed constant is missing");
    }
    const Entry& entry = entries_[next_++];
    if (entry.tensor.num_elements() <= kChecked) {
      absl::StatusOr<Entry> again = pack();
      if (!again.ok()) return again;
      if (again->tensor != entry.tensor || again->number != entry.number) {
        return absl::InternalError("constants are packed in another way");
      }
    }
    return entry;
  }

  const std::vector<Entry>& entries() const { return entries_; }
  // True if a replayer has returned all its entries.
  bool is_used_up() const { return !replays_ || next_ == entries_.size(); }

 private:
  // A replayer packs constants of at most so many elements again.
  static constexpr int64_t kChecked = 16384;

  std::vector<Entry> entries_;
  bool replays_ = false;
  size_t next_ = 0;
};

}  // namespace baton::cpu

#endif  // BATON_BACKEND_CPU_PACKED_CONSTANTS_H_
