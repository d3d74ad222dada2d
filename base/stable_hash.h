// A 64-bit hash that is the same in every run and in every build on machines of
// one byte order, unlike absl::Hash.

#ifndef BATON_BASE_STABLE_HASH_H_
#define BATON_BASE_STABLE_HASH_H_

#include <cmath>
#include <cstdint>
#include <cstring>

#include "absl/strings/string_view.h"
#include "baton/base/dtype.h"

namespace baton {

// Hashes the values that are added, in order.
class StableHash {
 public:
  explicit StableHash(uint64_t seed) { Add(seed); }

  void Add(uint64_t word) {
    state_ ^= word * 0x9ddfea08eb382d69ull;
    state_ = ((state_ << 31) | (state_ >> 33)) * 0xc2b2ae3d27d4eb4full;
  }
  void AddString(absl::string_view text) {
    Add(text.size());
    while (text.size() >= 8) {
      uint64_t word;
      std::memcpy(&word, text.data(), 8);
      Add(word);
      text.remove_prefix(8);
    }
    if (!text.empty()) {
      uint64_t word = 0;
      std::memcpy(&word, text.data(), text.size());
      Add(word);
    }
  }
  // Equal numbers (also 0 and -0) have equal hashes. All NaNs have one hash.
  void AddDouble(double value) {
    if (value == 0) value = 0;
    uint64_t word = 0x7ff8000000000000ull;
    if (!std::isnan(value)) std::memcpy(&word, &value, sizeof(word));
    Add(word);
  }
  void AddDType(DType dtype) {
    Add((static_cast<uint64_t>(dtype.code()) << 32) |
        (static_cast<uint64_t>(dtype.bits()) << 16) |
        static_cast<uint64_t>(dtype.lanes()));
  }

  uint64_t value() const {
    uint64_t h = state_;
    h ^= h >> 29;
    h *= 0x94d049bb133111ebull;
    return h ^ (h >> 32);
  }

 private:
  uint64_t state_ = 0x243f6a8885a308d3ull;
};

}  // namespace baton

#endif  // BATON_BASE_STABLE_HASH_H_
