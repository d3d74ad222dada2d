#include "baton/ir/node_memory.h"

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <thread>
#include <utility>
#include <vector>

#include "baton/base/dtype.h"
#include "baton/ir/node_counts.h"
#include "baton/ir/type.h"
#include "gtest/gtest.h"

namespace baton::internal {
namespace {

using Blocks = std::vector<std::pair<char*, size_t>>;

// Blocks of all sizes around those that are pooled, each filled with a byte of
// its own.
Blocks AllocateMany(size_t n, uint32_t seed) {
  Blocks blocks;
  for (size_t i = 0; i < n; ++i) {
    seed = seed * 1664525 + 1013904223;
    const size_t bytes = 1 + seed % 300;
    auto* block = static_cast<char*>(NodeMemory::Allocate(bytes));
    std::memset(block, static_cast<int>(i % 251), bytes);
    blocks.emplace_back(block, bytes);
  }
  return blocks;
}

void CheckAndFree(const Blocks& blocks) {
  for (size_t i = 0; i < blocks.size(); ++i) {
    const auto [block, bytes] = blocks[i];
    EXPECT_EQ(reinterpret_cast<uintptr_t>(block) % 16, 0);
    EXPECT_EQ(block[0], static_cast<char>(i % 251));
    EXPECT_EQ(block[bytes - 1], static_cast<char>(i % 251));
    NodeMemory::Free(block, bytes);
  }
}

TEST(NodeMemoryTest, BlocksDoNotOverlap) {
  const Blocks first = AllocateMany(5000, 1);
  const Blocks second = AllocateMany(5000, 2);
  CheckAndFree(first);
  const Blocks third = AllocateMany(5000, 3);
  CheckAndFree(second);
  CheckAndFree(third);
}

TEST(NodeMemoryTest, FreedBlocksAreUsedAgain) {
  CheckAndFree(AllocateMany(20000, 1));
  const size_t before = NodeMemory::reserved_bytes();
  for (int round = 0; round < 10; ++round) {
    CheckAndFree(AllocateMany(20000, 1));
  }
  EXPECT_EQ(NodeMemory::reserved_bytes(), before);
}

// One thread makes what another frees: nothing piles up.
TEST(NodeMemoryTest, BlocksComeBackFromOtherThreads) {
  size_t after_first = 0;
  for (int round = 0; round < 50; ++round) {
    Blocks blocks;
    std::thread([&] { blocks = AllocateMany(20000, 7); }).join();
    std::thread([&] { CheckAndFree(blocks); }).join();
    if (round == 0) after_first = NodeMemory::reserved_bytes();
  }
  EXPECT_LE(NodeMemory::reserved_bytes(), 2 * after_first);
}

TEST(NodeMemoryTest, ThreadsAtOnce) {
  std::vector<std::thread> threads;
  for (uint32_t t = 0; t < 8; ++t) {
    threads.emplace_back([t] {
      for (uint32_t round = 0; round < 5; ++round) {
        CheckAndFree(AllocateMany(3000, 10 * t + round));
      }
    });
  }
  for (std::thread& thread : threads) thread.join();
}

// Freed by a destructor that runs when the thread ends.
TEST(NodeMemoryTest, NodesOutliveTheirThreadsCache) {
  const Type shared = TensorType({1, 2, 3}, DType::Float(32));
  for (int i = 0; i < 20; ++i) {
    std::thread([&] {
      thread_local std::vector<Type> kept;
      for (int k = 0; k < 1000; ++k) kept.push_back(TupleType({shared}));
    }).join();
  }
  EXPECT_TRUE(shared->unique());
}

#if BATON_POOLS_NODES

void MakeTuples(int n) {
  const Type shared = TensorType({1, 2, 3}, DType::Float(32));
  std::vector<Type> kept;
  for (int i = 0; i < n; ++i) kept.push_back(TupleType({shared}));
}

TEST(NodeCountingTest, CountsWhatTheThreadMakesAndDestroys) {
  EXPECT_EQ(NodeCounting::Now().made, 0);
  MakeTuples(10);  // before: not counted
  NodeCounting::Begin();
  const Type kept = TensorType({7}, DType::Float(32));
  const NodeCounts first = NodeCounting::Now();
  EXPECT_EQ(first.made, 1);
  EXPECT_EQ(first.destroyed, 0);
  EXPECT_GT(first.made_bytes, 0);
  EXPECT_EQ(first.peak_bytes, first.made_bytes);
  NodeCounting::Begin();
  MakeTuples(1000);
  NodeCounting::End();
  const NodeCounts second = NodeCounting::Now();
  EXPECT_EQ(second.made, 1002);
  EXPECT_EQ(second.destroyed, 1001);
  EXPECT_EQ(second.made_bytes - second.destroyed_bytes, first.made_bytes);
  EXPECT_EQ(second.peak_bytes, second.made_bytes);
  NodeCounting::End();
  EXPECT_EQ(NodeCounting::Now().made, 0);
  MakeTuples(10);
  EXPECT_EQ(NodeCounting::Now().made, 0);
}

TEST(NodeCountingTest, BlocksThatWereCountedAreUsedAgain) {
  MakeTuples(20000);
  const size_t before = NodeMemory::reserved_bytes();
  for (int round = 0; round < 10; ++round) {
    NodeCounting::Begin();
    MakeTuples(20000);
    NodeCounting::End();
    MakeTuples(20000);
  }
  EXPECT_EQ(NodeMemory::reserved_bytes(), before);
}

TEST(NodeCountingTest, HelpersCountForTheThreadThatTheyHelp) {
  NodeCounting::Begin();
  NodeCounting::Helpers helpers;
  std::vector<std::thread> threads;
  for (int t = 0; t < 4; ++t) {
    threads.emplace_back([&helpers] {
      {
        const NodeCounting::Helpers::Use use(helpers);
        MakeTuples(100);
      }
      MakeTuples(100);  // for itself
    });
  }
  {
    const NodeCounting::Helpers::Use use(helpers);
    MakeTuples(100);
  }
  for (std::thread& thread : threads) thread.join();
  EXPECT_EQ(NodeCounting::Now().made, 101);
  helpers.Join();
  EXPECT_EQ(NodeCounting::Now().made, 5 * 101);
  EXPECT_EQ(NodeCounting::Now().destroyed, 5 * 101);
  NodeCounting::End();
}

#endif  // BATON_POOLS_NODES

}  // namespace
}  // namespace baton::internal
