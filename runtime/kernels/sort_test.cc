#include "baton/runtime/kernels/sort.h"

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <numeric>
#include <utility>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/types/optional.h"
#include "baton/base/dtype.h"
#include "baton/base/tensor.h"
#include "baton/runtime/kernels/internal/testing.h"
#include "gtest/gtest.h"

namespace baton::kernels {
namespace {

using ::baton::kernels::internal::Fails;
using ::baton::kernels::internal::Make;
using ::baton::kernels::internal::MakeFloat;
using ::baton::kernels::internal::Matches;

constexpr DType kFloat = DType::Float(32);
constexpr DType kInt32 = DType::Int(32);
constexpr DType kInt8 = DType::Int(8);

TEST(SortTest, AlongAnAxis) {
  const Tensor x = MakeFloat({2, 3}, {3, 1, 2, 0, 5, 0});
  EXPECT_TRUE(Matches(Sort(x, -1, true), kFloat, {2, 3}, {1, 2, 3, 0, 0, 5}));
  EXPECT_TRUE(Matches(Sort(x, 0, false), kFloat, {2, 3}, {3, 5, 2, 0, 1, 0}));
  EXPECT_TRUE(
      Matches(Argsort(x, 1, true, kInt32), kInt32, {2, 3}, {1, 2, 0, 0, 2, 1}));
  // Equal elements keep their order, whatever the direction.
  EXPECT_TRUE(Matches(Argsort(x, 1, false, kInt32), kInt32, {2, 3},
                      {0, 2, 1, 1, 0, 2}));
  EXPECT_TRUE(Fails(Sort(x, 2, true).status(), "sort"));
}

TEST(SortTest, NanIsLargest) {
  const double nan = std::numeric_limits<double>::quiet_NaN();
  const Tensor x = MakeFloat({4}, {nan, 2, nan, 1});
  EXPECT_TRUE(Matches(Sort(x, 0, true), kFloat, {4}, {1, 2, nan, nan}));
  EXPECT_TRUE(Matches(Sort(x, 0, false), kFloat, {4}, {nan, nan, 2, 1}));
}

// An axis of a tensor without elements may have any extent: nothing of that
// size is asked for.
TEST(SortTest, HugeAxisWithoutElements) {
  const int64_t huge = int64_t{1} << 40;
  const Tensor x = *Tensor::Zeros(kFloat, {huge, 0});
  EXPECT_TRUE(Matches(Sort(x, 0, true), kFloat, {huge, 0}, {}));
  EXPECT_TRUE(Matches(Argsort(x, 0, true, kInt32), kInt32, {huge, 0}, {}));
}

TEST(TopKTest, ValuesAndIndices) {
  const Tensor x = Make(kInt8, {2, 3}, {3, 1, 2, 4, 6, 5});
  const absl::StatusOr<TopKResult> top = TopK(x, 2, 1, false, kInt32);
  ASSERT_TRUE(top.ok());
  EXPECT_TRUE(Matches(top->values, kInt8, {2, 2}, {3, 2, 6, 5}));
  EXPECT_TRUE(Matches(top->indices, kInt32, {2, 2}, {0, 2, 1, 2}));
  const absl::StatusOr<TopKResult> all = TopK(x, 0, 0, true, kInt32);
  ASSERT_TRUE(all.ok());
  EXPECT_TRUE(Matches(all->values, kInt8, {2, 3}, {3, 1, 2, 4, 6, 5}));
  EXPECT_TRUE(Fails(TopK(x, 4, 1, false, kInt32).status(), "topk"));
}

// Few or many of a line, with equals, NaNs and both zeros, of every dtype,
// along an axis that is not the last: as a stable sort has it.
TEST(TopKTest, IsTheBeginningOfAStableSort) {
  const auto check = [](DType dtype, int64_t extent) {
    std::vector<double> values;
    for (int64_t i = 0; i < extent * 2; ++i) {
      const double value = static_cast<double>(i * 7919 % 61);
      if (dtype.is_float()) {
        values.push_back(i % 37 == 5   ? std::nan("")
                         : i % 11 == 3 ? -0.0
                         : i % 3 == 0  ? -value
                                       : value);
      } else {
        values.push_back(dtype.is_int() ? value - 30 : value);
      }
    }
    const Tensor x = Make(dtype, {extent, 2}, values);
    for (const bool ascending : {true, false}) {
      const auto before = [ascending](double a, double b) {
        if (!ascending) std::swap(a, b);
        return std::isnan(b) ? !std::isnan(a) : a < b;
      };
      std::vector<int64_t> orders[2];
      for (int64_t column = 0; column < 2; ++column) {
        std::vector<int64_t>& order = orders[column];
        order.resize(extent);
        std::iota(order.begin(), order.end(), 0);
        std::stable_sort(order.begin(), order.end(), [&](int64_t a, int64_t b) {
          return before(values[a * 2 + column], values[b * 2 + column]);
        });
      }
      for (const int64_t k :
           {int64_t{1}, int64_t{10}, int64_t{128}, int64_t{129}, extent}) {
        const absl::StatusOr<TopKResult> top = TopK(x, k, 0, ascending, kInt32);
        ASSERT_TRUE(top.ok());
        std::vector<double> indices;
        for (int64_t i = 0; i < k; ++i) {
          for (const std::vector<int64_t>& order : orders) {
            indices.push_back(static_cast<double>(order[i]));
          }
        }
        EXPECT_TRUE(Matches(top->indices, kInt32, {k, 2}, indices))
            << dtype.ToString() << " " << k;
      }
    }
  };
  for (const DType dtype :
       {kFloat, DType::Float(64), DType::Float(16), DType::BFloat(16), kInt8,
        DType::UInt(32), DType::Int(64)}) {
    check(dtype, 300);
    check(dtype, 3000);
  }
}

TEST(SearchSortedTest, LeftAndRight) {
  const Tensor sorted = MakeFloat({4}, {1, 2, 2, 3});
  const Tensor values = MakeFloat({2, 2}, {2, 0, 4, 2.5});
  EXPECT_TRUE(Matches(SearchSorted(sorted, values, false, kInt32), kInt32,
                      {2, 2}, {1, 0, 4, 3}));
  EXPECT_TRUE(Matches(SearchSorted(sorted, values, true, kInt32), kInt32,
                      {2, 2}, {3, 0, 4, 3}));
  EXPECT_TRUE(Matches(
      SearchSorted(MakeFloat({2, 2}, {1, 2, 5, 6}), values, false, kInt32),
      kInt32, {2, 2}, {1, 0, 0, 0}));
}

TEST(ScanTest, SumsAndProducts) {
  const Tensor x = Make(kInt8, {2, 3}, {1, 2, 3, 4, 5, 100});
  EXPECT_TRUE(Matches(CumSum(x, 1, DType(), false), kInt8, {2, 3},
                      {1, 3, 6, 4, 9, 109}));
  EXPECT_TRUE(
      Matches(CumSum(x, 0, DType(), true), kInt8, {2, 3}, {0, 0, 0, 1, 2, 3}));
  EXPECT_TRUE(Matches(CumSum(x, absl::nullopt, kInt32, false), kInt32, {6},
                      {1, 3, 6, 10, 15, 115}));
  EXPECT_TRUE(Matches(CumProd(x, 1, kInt32, false), kInt32, {2, 3},
                      {1, 2, 6, 4, 20, 2000}));
  // In the type asked for, which wraps.
  EXPECT_TRUE(Matches(CumProd(x, 1, DType(), false), kInt8, {2, 3},
                      {1, 2, 6, 4, 20, -48}));
}

TEST(ScanTest, AlongTheFirstAxis) {
  const Tensor x = MakeFloat({3, 2}, {1, 10, -0.5, 20, 4, 30});
  EXPECT_TRUE(Matches(CumSum(x, 0, DType(), false), kFloat, {3, 2},
                      {1, 10, 0.5, 30, 4.5, 60}));
  EXPECT_TRUE(Matches(CumSum(x, 0, DType(), true), kFloat, {3, 2},
                      {0, 0, 1, 10, 0.5, 30}));
  EXPECT_TRUE(Matches(CumProd(x, 0, DType(), true), kFloat, {3, 2},
                      {1, 1, 1, 10, -0.5, 200}));
}

TEST(ScanTest, HugeAxisWithoutElements) {
  const int64_t huge = int64_t{1} << 40;
  const Tensor x = *Tensor::Zeros(kFloat, {huge, 0});
  EXPECT_TRUE(Matches(CumSum(x, 1, DType(), false), kFloat, {huge, 0}, {}));
}

TEST(InvertPermutationTest, Inverts) {
  EXPECT_TRUE(Matches(InvertPermutation(Make(kInt32, {3}, {2, 0, 1})), kInt32,
                      {3}, {1, 2, 0}));
  EXPECT_TRUE(Fails(InvertPermutation(Make(kInt32, {2}, {1, 1})).status(),
                    "invert_permutation"));
}

TEST(UniqueTest, FindsDifferentValues) {
  const Tensor x = internal::Make(DType::Int(32), {6}, {5, 2, 5, 9, 2, 5});
  const auto check = [&](bool sorted, const std::vector<double>& values,
                         const std::vector<double>& indices,
                         const std::vector<double>& inverse,
                         const std::vector<double>& counts) {
    const absl::StatusOr<UniqueResult> unique = Unique(x, sorted);
    ASSERT_TRUE(unique.ok()) << unique.status();
    EXPECT_EQ(internal::Values(unique->values), values);
    EXPECT_EQ(internal::Values(unique->indices), indices);
    EXPECT_EQ(internal::Values(unique->inverse), inverse);
    EXPECT_EQ(internal::Values(unique->counts), counts);
    EXPECT_EQ(internal::Values(unique->count), std::vector<double>{3});
  };
  check(true, {2, 5, 9, 0, 0, 0}, {1, 0, 3, 0, 0, 0}, {1, 0, 1, 2, 0, 1},
        {2, 3, 1, 0, 0, 0});
  check(false, {5, 2, 9, 0, 0, 0}, {0, 1, 3, 0, 0, 0}, {0, 1, 0, 2, 1, 0},
        {3, 2, 1, 0, 0, 0});
}

// Lines of several lengths, one after the other or side by side, in which equal
// elements differ in their bytes.
TEST(SortTest, IsAStableSort) {
  const double nan = std::numeric_limits<double>::quiet_NaN();
  const auto check = [&](DType dtype, int64_t n, int64_t lines, bool special,
                         bool last_axis, bool ascending) {
    const std::vector<int64_t> shape = last_axis
                                           ? std::vector<int64_t>{lines, n}
                                           : std::vector<int64_t>{n, lines};
    std::vector<double> values =
        internal::Values(internal::Random(dtype, shape, 3));
    for (size_t i = 0; special && i < values.size(); i += 7) {
      values[i] = i % 3 == 0 ? 0.0 : i % 3 == 1 ? -0.0 : nan;
    }
    const Tensor x = Make(dtype, shape, values);
    std::vector<double> sorted(values.size());
    std::vector<double> places(values.size());
    for (int64_t line = 0; line < lines; ++line) {
      const auto at = [&](int64_t i) {
        return static_cast<size_t>(last_axis ? line * n + i : i * lines + line);
      };
      std::vector<int64_t> order(static_cast<size_t>(n));
      std::iota(order.begin(), order.end(), int64_t{0});
      std::stable_sort(order.begin(), order.end(), [&](int64_t a, int64_t b) {
        const double u = values[at(ascending ? a : b)];
        const double v = values[at(ascending ? b : a)];
        return std::isnan(v) ? !std::isnan(u) : u < v;
      });
      for (int64_t i = 0; i < n; ++i) {
        sorted[at(i)] = values[at(order[static_cast<size_t>(i)])];
        places[at(i)] = static_cast<double>(order[static_cast<size_t>(i)]);
      }
    }
    const int64_t axis = last_axis ? 1 : 0;
    const absl::StatusOr<Tensor> result = Sort(x, axis, ascending);
    ASSERT_TRUE(result.ok());
    EXPECT_TRUE(*result == Make(dtype, shape, sorted))
        << x.TypeToString() << " " << axis << ascending;
    EXPECT_TRUE(
        Matches(Argsort(x, axis, ascending, kInt32), kInt32, shape, places))
        << x.TypeToString() << " " << axis << ascending;
  };
  for (const DType dtype :
       {DType::Float(32), DType::Float(64), DType::Float(16), kInt8, kInt32,
        DType::Int(64), DType::UInt(8), DType::UInt(16), DType::UInt(64)}) {
    for (const auto& [n, lines] :
         std::vector<std::pair<int64_t, int64_t>>{{1, 3},
                                                  {2, 40},
                                                  {3, 1},
                                                  {21, 7},
                                                  {128, 17},
                                                  {1000, 2},
                                                  {2500, 19}}) {
      for (const bool last_axis : {false, true}) {
        for (const bool ascending : {true, false}) {
          check(dtype, n, lines, false, last_axis, ascending);
          if (dtype.is_float()) {
            check(dtype, n, lines, true, last_axis, ascending);
          }
        }
      }
    }
  }
}

}  // namespace
}  // namespace baton::kernels
