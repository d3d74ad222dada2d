#include "baton/ir/node_memory.h"

#include <pthread.h>

#include <algorithm>
#include <atomic>
#include <cstddef>
#include <mutex>
#include <new>
#include <thread>
#include <utility>

#include "baton/ir/node_counts.h"

namespace baton::internal {

// For NodeCounting. Defined in the class, which other code cannot name.
void BeginCountingNodes();
void EndCountingNodes();
NodeCounts* CountedNodes();  // null: the thread does not count

// The data that threads share: full batches, and the caches of threads that
// have ended. Never destroyed.
class NodeMemory::Store {
 public:
  // A thread that counts nodes (NodeCounting) has a cache like none_, so that
  // each node takes the slow path.
  struct Counting {
    Cache cache = none_;
    Cache* real;  // the thread's own; null before its first use
    int depth = 1;
    NodeCounts counts;

    void Made(size_t bytes) {
      ++counts.made;
      counts.made_bytes += static_cast<int64_t>(bytes);
      counts.peak_bytes = std::max(counts.peak_bytes,
                                   counts.made_bytes - counts.destroyed_bytes);
    }
    void Destroyed(size_t bytes) {
      ++counts.destroyed;
      counts.destroyed_bytes += static_cast<int64_t>(bytes);
    }
  };
  static thread_local constinit Counting* counting;  // null: it does not count

  friend void BeginCountingNodes() {
    if (counting != nullptr) {
      ++counting->depth;
      return;
    }
    auto* const begun = new (std::nothrow) Counting;
    if (begun == nullptr) return;
    begun->real = SwitchCache(&begun->cache);
    counting = begun;
  }
  friend void EndCountingNodes() {
    if (counting == nullptr || --counting->depth > 0) return;
    SwitchCache(counting->real);
    delete std::exchange(counting, nullptr);
  }
  friend NodeCounts* CountedNodes() {
    return counting == nullptr ? nullptr : &counting->counts;
  }

  // Returns the one before.
  static Cache* SwitchCache(Cache* cache) {
    return std::exchange(cache_, cache);
  }

  // Puts a block into a list of `cache`.
  static void Put(Cache& cache, Block* block, size_t size_class) {
    List& list = cache.lists[size_class];
    if (list.count == kBatch) {
      if (list.full != nullptr) Global().PutBatch(size_class, list.full);
      list.full = list.head;
      list.head = nullptr;
      list.count = 0;
    }
    block->next = list.head;
    list.head = block;
    ++list.count;
  }

  static Store& Global() {
    static auto* const kStore = new Store;
    return *kStore;
  }

  // The cache of a thread that has ended, or a new one; null without memory.
  Cache* Adopt() {
    const std::lock_guard<std::mutex> lock(mutex_);
    if (idle_ == nullptr) return new (std::nothrow) Cache;
    return std::exchange(idle_, idle_->next_idle);
  }

  // To be the calling thread's until it ends.
  void Assign(Cache* cache) {
    (counting != nullptr ? counting->real : cache_) = cache;
    pthread_setspecific(key_, cache);
  }

  void PutBatch(size_t size_class, Block* batch) {
    const std::lock_guard<std::mutex> lock(mutex_);
    batch->next_batch = batches_[size_class].load(std::memory_order_relaxed);
    batches_[size_class].store(batch, std::memory_order_relaxed);
  }

  // Null if there is none.
  Block* TakeBatch(size_t size_class) {
    std::atomic<Block*>& first = batches_[size_class];
    if (first.load(std::memory_order_relaxed) == nullptr) return nullptr;
    const std::lock_guard<std::mutex> lock(mutex_);
    Block* const batch = first.load(std::memory_order_relaxed);
    if (batch != nullptr) {
      first.store(batch->next_batch, std::memory_order_relaxed);
    }
    return batch;
  }

  void AddReserved(size_t bytes) {
    reserved_.fetch_add(bytes, std::memory_order_relaxed);
  }
  size_t reserved() const { return reserved_.load(std::memory_order_relaxed); }

 private:
  Store() { pthread_key_create(&key_, &Store::Retire); }

  // Called at the end of a thread. If destructors that run later free nodes,
  // they adopt a cache again, and this is called once more.
  static void Retire(void* value) {
    auto* const cache = static_cast<Cache*>(value);
    cache_ = &none_;
    Store& store = Global();
    const std::lock_guard<std::mutex> lock(store.mutex_);
    cache->next_idle = store.idle_;
    store.idle_ = cache;
  }

  pthread_key_t key_;
  std::mutex mutex_;
  Cache* idle_ = nullptr;
  std::atomic<Block*> batches_[kNumClasses] = {};
  std::atomic<size_t> reserved_{0};
};

constinit NodeMemory::Cache NodeMemory::none_ = [] {
  Cache cache;
  for (List& list : cache.lists) list.count = kBatch;
  return cache;
}();
thread_local constinit NodeMemory::Cache* NodeMemory::cache_ =
    &NodeMemory::none_;
thread_local constinit NodeMemory::Store::Counting*
    NodeMemory::Store::counting = nullptr;

NodeMemory::Cache* NodeMemory::ThisThread() {
  Cache*& own = Store::counting != nullptr ? Store::counting->real : cache_;
  if (own == &none_) {
    Store& store = Store::Global();
    Cache* const cache = store.Adopt();
    if (cache == nullptr) return nullptr;
    store.Assign(cache);
  }
  return own;
}

// The list is empty, or the thread counts.
void* NodeMemory::AllocateSlow(size_t size_class) {
  Cache* const this_thread = ThisThread();
  if (this_thread == nullptr) throw std::bad_alloc();
  Cache& cache = *this_thread;
  if (Store::counting != nullptr) {
    Store::counting->Made((size_class + 1) * kStep);
  }
  List& list = cache.lists[size_class];
  if (list.head == nullptr) {
    list.head = list.full != nullptr ? std::exchange(list.full, nullptr)
                                     : Store::Global().TakeBatch(size_class);
    list.count = list.head == nullptr ? 0 : kBatch;
  }
  if (Block* const block = list.head; block != nullptr) {
    list.head = block->next;
    --list.count;
    return block;
  }
  const size_t bytes = (size_class + 1) * kStep;
  if (cache.chunk_bytes < bytes) {
    // The rest of the chunk becomes a block of its own size.
    if (cache.chunk_bytes >= kStep) {
      Store::Put(cache,
                 reinterpret_cast<Block*>(std::exchange(cache.chunk, nullptr)),
                 ClassOf(cache.chunk_bytes / kStep * kStep));
    }
    constexpr size_t kMaxChunkBytes = size_t{1} << 20;
    cache.chunk_bytes = 0;  // if there is no memory
    cache.chunk = static_cast<char*>(::operator new(cache.next_chunk_bytes));
    cache.chunk_bytes = cache.next_chunk_bytes;
    Store::Global().AddReserved(cache.chunk_bytes);
    cache.next_chunk_bytes =
        std::min(2 * cache.next_chunk_bytes, kMaxChunkBytes);
  }
  // Several blocks at once, the lowest first.
  const size_t n = std::min<size_t>(cache.chunk_bytes / bytes, kBatch / 4);
  char* const memory = cache.chunk;
  cache.chunk += n * bytes;
  cache.chunk_bytes -= n * bytes;
  for (size_t i = n - 1; i > 0; --i) {
    auto* const block = reinterpret_cast<Block*>(memory + i * bytes);
    block->next = list.head;
    list.head = block;
  }
  list.count = static_cast<uint32_t>(n - 1);
  return memory;
}

// The list has kBatch blocks, or the thread counts.
void NodeMemory::FreeSlow(Block* block, size_t size_class) {
  Cache* const cache = ThisThread();
  // A block that no list can be had for is lost.
  if (cache == nullptr) return;
  if (Store::counting != nullptr) {
    Store::counting->Destroyed((size_class + 1) * kStep);
  }
  Store::Put(*cache, block, size_class);
}

size_t NodeMemory::reserved_bytes() { return Store::Global().reserved(); }

}  // namespace baton::internal

namespace baton {

void NodeCounting::Begin() { internal::BeginCountingNodes(); }
void NodeCounting::End() { internal::EndCountingNodes(); }

NodeCounts NodeCounting::Now() {
  const NodeCounts* counts = internal::CountedNodes();
  return counts == nullptr ? NodeCounts() : *counts;
}

NodeCounting::Helpers::Helpers()
    : counts_(internal::CountedNodes() != nullptr),
      thread_(std::this_thread::get_id()) {}

void NodeCounting::Helpers::Join() {
  NodeCounts* const mine = internal::CountedNodes();
  if (mine == nullptr) return;
  const std::lock_guard<std::mutex> lock(mutex_);
  // As if all of them had been at their peaks together.
  mine->peak_bytes =
      std::max(mine->peak_bytes,
               mine->made_bytes - mine->destroyed_bytes + counted_.peak_bytes);
  mine->made += counted_.made;
  mine->made_bytes += counted_.made_bytes;
  mine->destroyed += counted_.destroyed;
  mine->destroyed_bytes += counted_.destroyed_bytes;
  counted_ = NodeCounts();
}

NodeCounting::Helpers::Use::Use(Helpers& helpers)
    : helpers_(helpers.counts_ && helpers.thread_ != std::this_thread::get_id()
                   ? &helpers
                   : nullptr) {
  if (helpers_ != nullptr) Begin();
}

NodeCounting::Helpers::Use::~Use() {
  if (helpers_ == nullptr) return;
  const NodeCounts mine = Now();
  End();
  const std::lock_guard<std::mutex> lock(helpers_->mutex_);
  NodeCounts& all = helpers_->counted_;
  all.made += mine.made;
  all.made_bytes += mine.made_bytes;
  all.destroyed += mine.destroyed;
  all.destroyed_bytes += mine.destroyed_bytes;
  all.peak_bytes += mine.peak_bytes;
}

}  // namespace baton
