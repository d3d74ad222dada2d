#include "baton/runtime/kernels/sparse_kernels.h"

#include "absl/status/statusor.h"
#include "baton/base/dtype.h"
#include "baton/base/tensor.h"
#include "baton/runtime/kernels/internal/testing.h"
#include "gtest/gtest.h"

namespace baton::kernels {
namespace {

using ::baton::kernels::internal::Fails;
using ::baton::kernels::internal::Iota;
using ::baton::kernels::internal::Make;
using ::baton::kernels::internal::MakeFloat;
using ::baton::kernels::internal::Matches;

constexpr DType kFloat = DType::Float(32);
constexpr DType kInt32 = DType::Int(32);

// 0 2 0
// 0 0 0
// 3 0 4
SparseMatrix Matrix() {
  return {MakeFloat({3}, {2, 3, 4}), Make(kInt32, {3}, {1, 0, 2}),
          Make(kInt32, {4}, {0, 1, 1, 3})};
}

TEST(SparseTest, Products) {
  const Tensor x = MakeFloat({2, 3}, {1, 2, 3, 4, 5, 6});
  EXPECT_TRUE(Matches(SparseDense(x, Matrix(), false), kFloat, {2, 3},
                      {4, 0, 15, 10, 0, 36}));
  EXPECT_TRUE(Matches(SparseDense(x, Matrix(), true), kFloat, {3, 2},
                      {4, 10, 0, 0, 15, 36}));
  // One block of 2 by 2 in the second column of blocks.
  const SparseMatrix blocks = {MakeFloat({1, 2, 2}, {1, 2, 3, 4}),
                               Make(kInt32, {1}, {1}),
                               Make(kInt32, {3}, {0, 1, 1})};
  EXPECT_TRUE(Matches(SparseDense(Iota(kFloat, {1, 4}), blocks, false), kFloat,
                      {1, 4}, {8, 18, 0, 0}));
}

TEST(SparseTest, Sums) {
  EXPECT_TRUE(Matches(SparseAdd(Iota(kFloat, {3, 3}), Matrix()), kFloat, {3, 3},
                      {0, 3, 2, 3, 4, 5, 9, 7, 12}));
}

TEST(SparseTest, Transposes) {
  const absl::StatusOr<SparseMatrix> result = SparseTranspose(Matrix());
  ASSERT_TRUE(result.ok()) << result.status();
  EXPECT_EQ(result->values, MakeFloat({3}, {3, 2, 4}));
  EXPECT_EQ(result->indices, Make(kInt32, {3}, {2, 0, 2}));
  EXPECT_EQ(result->row_begins, Make(kInt32, {4}, {0, 1, 2, 3}));
}

TEST(SparseTest, ChecksNumbers) {
  const Tensor x = Iota(kFloat, {1, 3});
  SparseMatrix wrong = Matrix();
  wrong.indices = Make(kInt32, {3}, {1, 3, 2});
  EXPECT_TRUE(Fails(SparseDense(x, wrong, false).status(), "sparse_dense",
                    "column 3 is out of range [0, 3)"));
  wrong = Matrix();
  wrong.row_begins = Make(kInt32, {4}, {0, 2, 1, 3});
  EXPECT_TRUE(Fails(SparseTranspose(wrong).status(), "sparse_transpose",
                    "the row pointer 1 is out of order"));
  wrong.row_begins = Make(kInt32, {4}, {0, 1, 1, 9});
  EXPECT_TRUE(Fails(SparseAdd(Iota(kFloat, {3, 3}), wrong).status(),
                    "sparse_add", "the row pointer 9 is out of order"));
}

}  // namespace
}  // namespace baton::kernels
