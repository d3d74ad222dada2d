// NodeMemory: allocates nodes from per-thread free lists of blocks by size.
//
// A compiler makes and drops millions of nodes of a few sizes. A freed block is
// kept for the next node of its size; the usual allocation is a load, a test
// and a store. Threads exchange whole batches of blocks through a common store
// (the magazines of Bonwick and Adams, "Magazines and Vmem", USENIX 2001), so
// that blocks made on one thread and freed on another do not pile up. Memory is
// never returned to the system: a process keeps the peak of the memory of its
// nodes.
//
// Under the address, thread and memory sanitizers every node is allocated by
// `operator new`, so that the sanitizers can track it.

#ifndef BATON_IR_NODE_MEMORY_H_
#define BATON_IR_NODE_MEMORY_H_

#include <cstddef>
#include <cstdint>
#include <new>

#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
#define BATON_POOLS_NODES 0
#elif defined(__has_feature)
#if __has_feature(address_sanitizer) || __has_feature(thread_sanitizer) || \
    __has_feature(memory_sanitizer)
#define BATON_POOLS_NODES 0
#endif
#endif
#ifndef BATON_POOLS_NODES
#define BATON_POOLS_NODES 1
#endif

#if defined(__GNUC__)
#define BATON_PREFETCH(address) __builtin_prefetch(address, 1)
#else
#define BATON_PREFETCH(address) static_cast<void>(address)
#endif

namespace baton::internal {

// The allocator of nodes. All members may be called on any thread.
class NodeMemory {
 public:
  // Returns a block of at least `bytes`, aligned to 16 bytes; never null.
  // Throws std::bad_alloc if memory runs out, as `operator new` does.
  static void* Allocate(size_t bytes);
  // Frees a block that was allocated with the same `bytes`. Never throws.
  static void Free(void* block, size_t bytes);

  // Bytes taken from the system for blocks so far, in all threads.
  static size_t reserved_bytes();

 private:
  // `operator new` allocates larger blocks.
  static constexpr size_t kMaxBytes = 256;
  static constexpr size_t kStep = 16;
  static constexpr size_t kNumClasses = kMaxBytes / kStep;
  static constexpr uint32_t kBatch = 128;  // blocks per exchanged batch

  struct Block {
    Block* next;        // in its list
    Block* next_batch;  // in the first block of a batch in the store
  };
  struct List {
    Block* head = nullptr;
    uint32_t count = 0;
    Block* full = nullptr;  // a second list, of kBatch blocks
  };
  struct Cache {
    List lists[kNumClasses];
    char* chunk = nullptr;  // memory not yet cut into blocks
    size_t chunk_bytes = 0;
    size_t next_chunk_bytes = size_t{16} << 10;
    Cache* next_idle = nullptr;
  };
  class Store;

  static size_t ClassOf(size_t bytes) { return (bytes - 1) / kStep; }
  static void* AllocateSlow(size_t size_class);
  static void FreeSlow(Block* block, size_t size_class);
  static Cache* ThisThread();  // null if memory runs out

  // A cache without blocks that takes none: the cache of a thread before its
  // first slow call and after the thread has ended.
  static Cache none_;
#if defined(__GNUC__)
  // The address is a fixed offset in the thread's storage, also in a library
  // that is loaded at run time.
  __attribute__((tls_model("initial-exec")))
#endif
  static thread_local constinit Cache* cache_;
};

inline void* NodeMemory::Allocate(size_t bytes) {
#if BATON_POOLS_NODES
  if (bytes <= kMaxBytes) {
    List& list = cache_->lists[ClassOf(bytes)];
    Block* const block = list.head;
    if (block == nullptr) return AllocateSlow(ClassOf(bytes));
    list.head = block->next;
    --list.count;
    // The next block of this size is seldom in the processor's cache: its
    // address becomes known only now, and the next allocation reads its first
    // bytes.
    BATON_PREFETCH(list.head);
    return block;
  }
#endif
  return ::operator new(bytes);
}

inline void NodeMemory::Free(void* memory, size_t bytes) {
#if BATON_POOLS_NODES
  if (bytes <= kMaxBytes) {
    auto* const block = static_cast<Block*>(memory);
    List& list = cache_->lists[ClassOf(bytes)];
    if (list.count == kBatch) return FreeSlow(block, ClassOf(bytes));
    block->next = list.head;
    list.head = block;
    ++list.count;
    return;
  }
#endif
  ::operator delete(memory);
}

}  // namespace baton::internal

#undef BATON_PREFETCH

#endif  // BATON_IR_NODE_MEMORY_H_
