// NodeMap, NodeSet: maps and sets of nodes by identity, for traversals.
//
// Open addressing with linear probing; the first few entries need no heap
// memory. There is no iteration: its order would be that of addresses, on which
// no output may depend. The map does not keep its keys alive: if nodes may die
// meanwhile, the caller keeps them alive in the values.

#ifndef BATON_IR_NODE_MAP_H_
#define BATON_IR_NODE_MAP_H_

#include <cstddef>
#include <cstdint>
#include <memory>
#include <utility>

#include "baton/ir/node.h"

namespace baton {

// T must be default-constructible and movable.
template <typename T>
class NodeMap {
 public:
  NodeMap() = default;
  NodeMap(const NodeMap&) = delete;
  NodeMap& operator=(const NodeMap&) = delete;

  size_t size() const { return size_; }
  bool empty() const { return size_ == 0; }

  // The value of `key`; null if there is none. Valid until the next insertion.
  T* Find(const Node* key) {
    Slot* const slot = Probe(key);
    return slot->key == nullptr ? nullptr : &slot->value;
  }
  const T* Find(const Node* key) const {
    return const_cast<NodeMap*>(this)->Find(key);
  }
  bool Contains(const Node* key) const { return Find(key) != nullptr; }

  // The value of `key`, and true if `key` is new. The value of a new key is
  // T().
  std::pair<T*, bool> TryEmplace(const Node* key) {
    Slot* slot = Probe(key);
    if (slot->key != nullptr) return {&slot->value, false};
    if (2 * (size_ + 1) > capacity_) {
      Rehash(capacity_ < 256 ? 4 * capacity_ : 2 * capacity_);
      slot = Probe(key);
    }
    ++size_;
    slot->key = key;
    return {&slot->value, true};
  }
  T& operator[](const Node* key) { return *TryEmplace(key).first; }

  // Also frees the memory.
  void Clear() {
    if (size_ == 0) return;
    if (allocated_ == nullptr) {
      for (Slot& slot : inline_) slot = Slot();
    }
    allocated_.reset();
    slots_ = inline_;
    size_ = 0;
    capacity_ = kInlineCapacity;
    shift_ = kInlineShift;
  }

  // Makes room for a total of `n` entries.
  void Reserve(size_t n) {
    size_t capacity = capacity_;
    while (capacity < 2 * n) capacity *= 2;
    if (capacity != capacity_) Rehash(capacity);
  }

 private:
  struct Slot {
    const Node* key = nullptr;
    [[no_unique_address]] T value{};
  };
  static constexpr size_t kInlineCapacity = 16;
  static constexpr int kInlineShift = 60;
  static constexpr uint64_t kGolden = 0x9E3779B97F4A7C15u;  // 2^64 / 1.618...

  // The slot of `key`, or the empty slot where `key` would be inserted.
  Slot* Probe(const Node* key) {
    // Fibonacci hashing (Knuth, vol. 3, 6.4): neighbours in memory, as nodes
    // often are, get distant slots. Once is not enough: addresses at some equal
    // distances crowd in few slots. Nodes are aligned to 8 bytes or more.
    uint64_t hash = (reinterpret_cast<uintptr_t>(key) >> 3) * kGolden;
    hash = (hash ^ (hash >> 32)) * kGolden;
    size_t i = hash >> shift_;
    while (slots_[i].key != key && slots_[i].key != nullptr) {
      i = (i + 1) & (capacity_ - 1);
    }
    return &slots_[i];
  }

  void Rehash(size_t capacity) {
    auto fresh = std::make_unique<Slot[]>(capacity);
    const std::unique_ptr<Slot[]> old =
        std::exchange(allocated_, std::move(fresh));
    Slot* const old_slots = slots_;
    const size_t old_capacity = capacity_;
    slots_ = allocated_.get();
    for (; capacity_ < capacity; capacity_ *= 2) --shift_;
    for (size_t i = 0; i < old_capacity; ++i) {
      if (old_slots[i].key == nullptr) continue;
      *Probe(old_slots[i].key) = std::move(old_slots[i]);
      if (old == nullptr) old_slots[i] = Slot();  // otherwise it is freed
    }
  }

  size_t size_ = 0;
  size_t capacity_ = kInlineCapacity;
  int shift_ = kInlineShift;  // 64 - log2(capacity_)
  Slot* slots_ = inline_;
  std::unique_ptr<Slot[]> allocated_;
  Slot inline_[kInlineCapacity];
};

// A set of nodes by identity.
class NodeSet {
 public:
  // Inserts `key`; returns true if it is new.
  bool Insert(const Node* key) { return nodes_.TryEmplace(key).second; }
  bool Contains(const Node* key) const { return nodes_.Contains(key); }
  size_t size() const { return nodes_.size(); }

 private:
  struct Nothing {};
  NodeMap<Nothing> nodes_;
};

}  // namespace baton

#endif  // BATON_IR_NODE_MAP_H_
