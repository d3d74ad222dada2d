// Constants that lowering makes of weights, to be kept in a file.

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

// Records the packed constants of one lowering, or gives a second lowering of
// the same graph those of the first, in order: then nothing is packed again but
// small constants, to see that they are still packed so.
class PackedConstants {
 public:
  struct Entry {
    Tensor tensor;
    // A number that packing found beside the tensor.
    int64_t fact = 0;
  };

  // Records.
  PackedConstants() = default;
  // Gives `entries`.
  explicit PackedConstants(std::vector<Entry> entries)
      : entries_(std::move(entries)), replays_(true) {}

  // The next constant: the result of `pack`, or the recorded one.
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
      if (again->tensor != entry.tensor || again->fact != entry.fact) {
        return absl::InternalError("constants are packed in another way");
      }
    }
    return entry;
  }

  const std::vector<Entry>& entries() const { return entries_; }
  // True if all recorded constants were given.
  bool is_used_up() const { return !replays_ || next_ == entries_.size(); }

 private:
  static constexpr int64_t kChecked = 16384;  // elements

  std::vector<Entry> entries_;
  bool replays_ = false;
  size_t next_ = 0;
};

}  // namespace baton::cpu

#endif  // BATON_BACKEND_CPU_PACKED_CONSTANTS_H_
