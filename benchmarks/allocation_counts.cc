#include "baton/benchmarks/allocation_counts.h"

#include <malloc.h>

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <new>

#include "absl/functional/function_ref.h"
#include "baton/ir/node_memory.h"

namespace baton::benchmarks {
namespace {

std::atomic<bool> counting{false};
std::atomic<int64_t> allocations{0};
std::atomic<int64_t> allocated_bytes{0};
std::atomic<int64_t> freed_bytes{0};

// glibc keeps one word in front of what it hands out.
int64_t BytesTaken(void* p) {
  return static_cast<int64_t>(malloc_usable_size(p) + sizeof(size_t));
}

void* Allocate(size_t size, size_t alignment) noexcept {
  if (size == 0) size = 1;
  void* const p =
      alignment <= alignof(std::max_align_t)
          ? std::malloc(size)
          : std::aligned_alloc(alignment,
                               (size + alignment - 1) / alignment * alignment);
  if (counting.load(std::memory_order_relaxed) && p != nullptr) {
    allocations.fetch_add(1, std::memory_order_relaxed);
    allocated_bytes.fetch_add(BytesTaken(p), std::memory_order_relaxed);
  }
  return p;
}

void* AllocateOrThrow(size_t size, size_t alignment) {
  void* const p = Allocate(size, alignment);
  if (p == nullptr) throw std::bad_alloc();
  return p;
}

void Free(void* p) noexcept {
  if (counting.load(std::memory_order_relaxed) && p != nullptr) {
    freed_bytes.fetch_add(BytesTaken(p), std::memory_order_relaxed);
  }
  std::free(p);
}

// All that was counted so far.
AllocationCounts CountsSoFar() {
  const int64_t bytes = allocated_bytes.load();
  return {.allocations = allocations.load(),
          .bytes = bytes,
          .held_bytes = bytes - freed_bytes.load()};
}

constexpr size_t kPlain = alignof(std::max_align_t);

}  // namespace

AllocationCounts CountAllocations(absl::FunctionRef<void()> fn) {
  counting = true;
  const AllocationCounts before = CountsSoFar();
  fn();
  const AllocationCounts after = CountsSoFar();
  counting = false;
  return {.allocations = after.allocations - before.allocations,
          .bytes = after.bytes - before.bytes,
          .held_bytes = after.held_bytes - before.held_bytes};
}

EmptyNodeMemory::EmptyNodeMemory() {
#if BATON_POOLS_NODES
  using internal::NodeMemory;
  constexpr size_t kStep = 16;  // between the sizes of blocks
  constexpr size_t kMaxBytes = 256;
  for (size_t bytes = kStep; bytes <= kMaxBytes; bytes += kStep) {
    const size_t before = NodeMemory::reserved_bytes();
    while (NodeMemory::reserved_bytes() == before) {
      blocks_.emplace_back(NodeMemory::Allocate(bytes), bytes);
    }
  }
#endif
}

EmptyNodeMemory::~EmptyNodeMemory() {
  for (const auto& [block, bytes] : blocks_) {
    internal::NodeMemory::Free(block, bytes);
  }
}

}  // namespace baton::benchmarks

using baton::benchmarks::Allocate;
using baton::benchmarks::AllocateOrThrow;
using baton::benchmarks::Free;
using baton::benchmarks::kPlain;

void* operator new(size_t size) { return AllocateOrThrow(size, kPlain); }
void* operator new[](size_t size) { return AllocateOrThrow(size, kPlain); }
void* operator new(size_t size, const std::nothrow_t& /*tag*/) noexcept {
  return Allocate(size, kPlain);
}
void* operator new[](size_t size, const std::nothrow_t& /*tag*/) noexcept {
  return Allocate(size, kPlain);
}
void* operator new(size_t size, std::align_val_t alignment) {
  return AllocateOrThrow(size, static_cast<size_t>(alignment));
}
void* operator new[](size_t size, std::align_val_t alignment) {
  return AllocateOrThrow(size, static_cast<size_t>(alignment));
}
void* operator new(size_t size, std::align_val_t alignment,
                   const std::nothrow_t& /*tag*/) noexcept {
  return Allocate(size, static_cast<size_t>(alignment));
}
void* operator new[](size_t size, std::align_val_t alignment,
                     const std::nothrow_t& /*tag*/) noexcept {
  return Allocate(size, static_cast<size_t>(alignment));
}

void operator delete(void* p) noexcept { Free(p); }
void operator delete[](void* p) noexcept { Free(p); }
void operator delete(void* p, size_t /*size*/) noexcept { Free(p); }
void operator delete[](void* p, size_t /*size*/) noexcept { Free(p); }
void operator delete(void* p, const std::nothrow_t& /*tag*/) noexcept {
  Free(p);
}
void operator delete[](void* p, const std::nothrow_t& /*tag*/) noexcept {
  Free(p);
}
void operator delete(void* p, std::align_val_t /*alignment*/) noexcept {
  Free(p);
}
void operator delete[](void* p, std::align_val_t /*alignment*/) noexcept {
  Free(p);
}
void operator delete(void* p, size_t /*size*/,
                     std::align_val_t /*alignment*/) noexcept {
  Free(p);
}
void operator delete[](void* p, size_t /*size*/,
                       std::align_val_t /*alignment*/) noexcept {
  Free(p);
}
