#include "baton/benchmarks/allocation_counts.h"

#include <memory>
#include <new>
#include <vector>

#include "baton/relay/ir/expr.h"
#include "gtest/gtest.h"

namespace baton::benchmarks {
namespace {

TEST(CountAllocationsTest, CountsWhatIsTakenAndWhatIsHeld) {
  std::vector<std::unique_ptr<char[]>> held;
  held.reserve(3);
  auto before = std::make_unique<char[]>(5000);
  AllocationCounts counts = CountAllocations([&] {
    for (int i = 0; i < 3; ++i) held.emplace_back(new char[1000]);
    held.pop_back();
  });
  EXPECT_EQ(counts.allocations, 3);
  EXPECT_GE(counts.bytes, 3 * 1000);
  EXPECT_LT(counts.bytes, 3 * 1100);
  EXPECT_GE(counts.held_bytes, 2 * 1000);
  EXPECT_LT(counts.held_bytes, 2 * 1100);

  counts = CountAllocations([&] { before.reset(); });
  EXPECT_EQ(counts.allocations, 0);
  EXPECT_LE(counts.held_bytes, -5000);
}

TEST(CountAllocationsTest, CountsAlignedAndFailingForms) {
  constexpr std::align_val_t kLine{64};
  const AllocationCounts counts = CountAllocations([] {
    ::operator delete(::operator new(8, kLine), kLine);
    ::operator delete[](::operator new[](8, kLine), kLine);
    ::operator delete(::operator new(8, std::nothrow), std::nothrow);
  });
  EXPECT_EQ(counts.allocations, 3);
  EXPECT_EQ(counts.held_bytes, 0);
}

TEST(EmptyNodeMemoryTest, ShowsWhatNodesTake) {
  constexpr int kNodes = 100'000;
  std::vector<relay::Var> vars;
  vars.reserve(kNodes);
  const auto fill = [&] {
    while (vars.size() < kNodes) vars.emplace_back("v");
  };
  fill();
  vars.clear();
  const EmptyNodeMemory empty;
  const AllocationCounts counts = CountAllocations(fill);
  EXPECT_NEAR(static_cast<double>(counts.held_bytes),
              static_cast<double>(kNodes * sizeof(relay::VarNode)), 3e6);
}

TEST(CountAllocationsTest, CountsNothingOutside) {
  auto p = std::make_unique<int>(1);
  const AllocationCounts counts = CountAllocations([] {});
  EXPECT_EQ(counts.allocations, 0);
  EXPECT_EQ(counts.bytes, 0);
  EXPECT_EQ(counts.held_bytes, 0);
}

}  // namespace
}  // namespace baton::benchmarks
