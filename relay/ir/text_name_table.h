// NameTable: finds nodes by their names, with nested scopes.
//
// A stack of bindings and a hash table of their indices. Memory bounds the
// speed on a text of 100,000 variables, so the table takes few bytes for each
// name: the names themselves stay in the nodes.

#ifndef BATON_RELAY_IR_TEXT_NAME_TABLE_H_
#define BATON_RELAY_IR_TEXT_NAME_TABLE_H_

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <vector>

#include "absl/strings/string_view.h"

namespace baton::relay {
namespace internal {

template <typename Word>
uint64_t LoadWord(const char* p) {
  Word word;
  std::memcpy(&word, p, sizeof(word));
  return word;
}

inline uint32_t MixedHashOfName(absl::string_view name) {
  constexpr uint64_t kOdd = 0x9e3779b97f4a7c15ull;
  const size_t size = name.size();
  const char* const p = name.data();
  const char* const end = p + size;
  uint64_t h = size;
  const auto add = [&h](uint64_t word) {
    h = (h ^ word) * kOdd;
    h ^= h >> 32;
  };
  if (size >= 8) {
    for (const char* q = p; q + 8 < end; q += 8) add(LoadWord<uint64_t>(q));
    add(LoadWord<uint64_t>(end - 8));
  } else if (size >= 4) {
    add(LoadWord<uint32_t>(p) << 32 | LoadWord<uint32_t>(end - 4));
  } else if (size > 0) {
    add(LoadWord<uint8_t>(p) << 16 | LoadWord<uint8_t>(p + size / 2) << 8 |
        LoadWord<uint8_t>(end - 1));
  }
  h *= kOdd;
  return static_cast<uint32_t>(h >> 32);
}

// Names that differ only in their last character, as `v_120` and `v_121`, have
// adjacent buckets: most texts number their names, and a cache miss costs more
// than the rest of the search.
inline uint32_t HashOfName(absl::string_view name) {
  if (name.empty()) return 0;
  const auto last = static_cast<uint8_t>(name.back());
  return MixedHashOfName(name.substr(0, name.size() - 1)) * 16 + last % 16;
}

// Compares names; short ones without a call of memcmp.
inline bool IsSameName(absl::string_view a, absl::string_view b) {
  const size_t size = a.size();
  if (size != b.size()) return false;
  const char* const p = a.data();
  const char* const q = b.data();
  if (size >= 8) {
    for (size_t i = 0; i + 8 < size; i += 8) {
      if (LoadWord<uint64_t>(p + i) != LoadWord<uint64_t>(q + i)) return false;
    }
    return LoadWord<uint64_t>(p + size - 8) == LoadWord<uint64_t>(q + size - 8);
  }
  for (size_t i = 0; i < size; ++i) {
    if (p[i] != q[i]) return false;
  }
  return true;
}

// N has a member `name()`. The caller keeps the nodes alive while they are
// bound.
template <typename N>
class NameTable {
 public:
  // The number of bindings, and the node of binding `i`; the oldest binding is
  // 0.
  uint32_t size() const { return static_cast<uint32_t>(bindings_.size()); }
  const N* operator[](uint32_t i) const { return bindings_[i].node; }

  // The node of the last binding of `name`; null if there is none.
  const N* Find(absl::string_view name) const {
    // Most uses refer to one of the newest bindings.
    const size_t bound = bindings_.size();
    for (size_t back = 1; back <= 2 && back <= bound; ++back) {
      const N* const node = bindings_[bound - back].node;
      if (IsSameName(node->name(), name)) return node;
    }
    if (bound == 0) return nullptr;
    const uint32_t index = buckets_[BucketOf(name, HashOfName(name))];
    return index == kNone ? nullptr : bindings_[index].node;
  }

  // Binds the node's name to the node; hides an earlier binding of the name.
  void Push(const N* node) {
    if (2 * bindings_.size() >= buckets_.size()) Grow();
    const absl::string_view name = node->name();
    const uint32_t hash = HashOfName(name);
    uint32_t& bucket = buckets_[BucketOf(name, hash)];
    const uint32_t hidden = bucket;
    bucket = size();
    bindings_.push_back({node, hash, hidden});
  }

  // Removes all bindings except the oldest `size`.
  void Shrink(uint32_t size) {
    while (bindings_.size() > size) {
      const uint32_t index = this->size() - 1;
      const Binding& binding = bindings_.back();
      // This is the newest binding: no later one depends on its bucket.
      buckets_[BucketWith(index, binding.hash)] = binding.hidden;
      bindings_.pop_back();
    }
  }

 private:
  static constexpr uint32_t kNone = ~uint32_t{0};
  struct Binding {
    const N* node;
    uint32_t hash;
    uint32_t hidden;  // the hidden binding; kNone if there is none
  };

  // The bucket of `name`, or the empty bucket where it would be inserted.
  size_t BucketOf(absl::string_view name, uint32_t hash) const {
    const size_t mask = buckets_.size() - 1;
    size_t i = hash & mask;
    while (buckets_[i] != kNone) {
      const Binding& binding = bindings_[buckets_[i]];
      if (binding.hash == hash && IsSameName(binding.node->name(), name)) break;
      i = (i + 1) & mask;
    }
    return i;
  }
  // The bucket that contains `index`.
  size_t BucketWith(uint32_t index, uint32_t hash) const {
    const size_t mask = buckets_.size() - 1;
    size_t i = hash & mask;
    while (buckets_[i] != index) i = (i + 1) & mask;
    return i;
  }

  void Grow() {
    const size_t size = buckets_.empty() ? 16 : 2 * buckets_.size();
    buckets_.assign(size, kNone);
    for (uint32_t i = 0; i < bindings_.size(); ++i) {
      buckets_[BucketWith(bindings_[i].hidden, bindings_[i].hash)] = i;
    }
  }

  std::vector<Binding> bindings_;
  // The index of each name's newest binding, by open addressing; kNone: empty.
  // The size is a power of two, and at most half of the buckets are in use.
  std::vector<uint32_t> buckets_;
};

}  // namespace internal
}  // namespace baton::relay

#endif  // BATON_RELAY_IR_TEXT_NAME_TABLE_H_
