#include "baton/relay/transform/combine_parallel_dense.h"

#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "baton/relay/ir/expr.h"
#include "baton/relay/transform/rewrite_test_util.h"
#include "gtest/gtest.h"

namespace baton::relay {
namespace {

absl::StatusOr<Expr> ToBatch(const Expr& expr) {
  return CombineParallelDenseInExpr(expr, {.min_num_branches = 2});
}

absl::StatusOr<Expr> ToDense(const Expr& expr) {
  return CombineParallelDenseInExpr(expr,
                                    {.min_num_branches = 2, .to_batch = false});
}

TEST(CombineParallelDenseTest, ToABatch) {
  constexpr absl::string_view kAfter = R"(
      def @main(%x: Tensor[(3, 4), float32], %w1: Tensor[(5, 4), float32],
                %w2: Tensor[(5, 4), float32], %w3: Tensor[(6, 4), float32],
                %b1: Tensor[(5), float32], %b2: Tensor[(5), float32]) {
        %0 = nn.batch_matmul(stack((%x, %x)), stack((%w1, %w2)),
                             transpose_b=True);
        %1 = stack((expand_dims(%b1, axis=0), expand_dims(%b2, axis=0)));
        %2 = split(nn.relu(add(%0, %1)), indices_or_sections=2);
        (squeeze(%2.0, axis=[0]), squeeze(%2.1, axis=[0]),
         nn.dense(%x, %w3, units=None))
      })";
  ExpectRewrites(ToBatch, R"(
      def @main(%x: Tensor[(3, 4), float32], %w1: Tensor[(5, 4), float32],
                %w2: Tensor[(5, 4), float32], %w3: Tensor[(6, 4), float32],
                %b1: Tensor[(5), float32], %b2: Tensor[(5), float32]) {
        (nn.relu(add(nn.dense(%x, %w1, units=None), %b1)),
         nn.relu(add(nn.dense(%x, %w2, units=None), %b2)),
         nn.dense(%x, %w3, units=None))
      })",
                 kAfter);
  ExpectUnchanged(ToBatch, kAfter);
}

TEST(CombineParallelDenseTest, ScalarsHaveNoPlaceForTheBatch) {
  // Stacked, they would be broadcast along the last axis.
  ExpectRewrites(ToBatch, R"(
      def @main(%x: Tensor[(2, 2), float32], %w: Tensor[(2, 2), float32],
                %a: float32, %b: float32) {
        (add(nn.dense(%x, %w, units=2), %a),
         add(nn.dense(%x, %w, units=2), %b))
      })",
                 R"(
      def @main(%x: Tensor[(2, 2), float32], %w: Tensor[(2, 2), float32],
                %a: float32, %b: float32) {
        %0 = nn.batch_matmul(stack((%x, %x)), stack((%w, %w)),
                             transpose_b=True);
        %1 = split(%0, indices_or_sections=2);
        (add(squeeze(%1.0, axis=[0]), %a), add(squeeze(%1.1, axis=[0]), %b))
      })");
}

TEST(CombineParallelDenseTest, ToOneProduct) {
  constexpr absl::string_view kAfter = R"(
      def @main(%x: Tensor[(3, 4), float32], %w1: Tensor[(5, 4), float32],
                %w2: Tensor[(2, 4), float32], %b1: Tensor[(3, 5), float32],
                %b2: Tensor[(3, 1), float32], %s1: float32, %s2: float32) {
        %0 = nn.dense(%x, concatenate((%w1, %w2)), units=7);
        %1 = concatenate((%b1, repeat(%b2, repeats=2, axis=1)), axis=1);
        %2 = concatenate((
            repeat(expand_dims(%s1, axis=-1), repeats=5, axis=0),
            repeat(expand_dims(%s2, axis=-1), repeats=2, axis=0)));
        %3 = expand_dims(multiply(add(%0, %1), %2), axis=2);
        (strided_slice(%3, begin=[0, 0, 0], end=[-1, 5, -1], strides=[1, 1, 1],
                       slice_mode="size", axes=None),
         strided_slice(%3, begin=[0, 5, 0], end=[-1, 2, -1], strides=[1, 1, 1],
                       slice_mode="size", axes=None))
      })";
  ExpectRewrites(ToDense, R"(
      def @main(%x: Tensor[(3, 4), float32], %w1: Tensor[(5, 4), float32],
                %w2: Tensor[(2, 4), float32], %b1: Tensor[(3, 5), float32],
                %b2: Tensor[(3, 1), float32], %s1: float32, %s2: float32) {
        %0 = add(nn.dense(%x, %w1, units=None), %b1);
        %1 = add(nn.dense(%x, %w2, units=None), %b2);
        (expand_dims(multiply(%0, %s1), axis=2),
         expand_dims(multiply(%1, %s2), axis=2))
      })",
                 kAfter);
  ExpectUnchanged(ToDense, kAfter);
}

TEST(CombineParallelDenseTest, BranchesEndWhereTheyMeet) {
  ExpectRewrites(ToDense, R"(
      def @main(%x: Tensor[(3, 4), float32], %w: Tensor[(5, 4), float32]) {
        nn.relu(add(nn.dense(%x, %w, units=5), nn.dense(%x, %w, units=5)))
      })",
                 R"(
      def @main(%x: Tensor[(3, 4), float32], %w: Tensor[(5, 4), float32]) {
        %0 = nn.dense(%x, concatenate((%w, %w)), units=10);
        nn.relu(add(
            strided_slice(%0, begin=[0, 0], end=[-1, 5], strides=[1, 1],
                          slice_mode="size", axes=None),
            strided_slice(%0, begin=[0, 5], end=[-1, 5], strides=[1, 1],
                          slice_mode="size", axes=None)))
      })");
}

TEST(CombineParallelDenseTest, RepeatedColumnsAreNotCombined) {
  // The tiles of the concatenation are not the concatenation of the tiles.
  ExpectRewrites(ToDense, R"(
      def @main(%x: Tensor[(3, 4), float32], %w: Tensor[(5, 4), float32]) {
        (tile(nn.dense(%x, %w, units=5), reps=[1, 2]),
         tile(nn.dense(%x, %w, units=5), reps=[1, 2]))
      })",
                 R"(
      def @main(%x: Tensor[(3, 4), float32], %w: Tensor[(5, 4), float32]) {
        %0 = nn.dense(%x, concatenate((%w, %w)), units=10);
        (tile(strided_slice(%0, begin=[0, 0], end=[-1, 5], strides=[1, 1],
                            slice_mode="size", axes=None), reps=[1, 2]),
         tile(strided_slice(%0, begin=[0, 5], end=[-1, 5], strides=[1, 1],
                            slice_mode="size", axes=None), reps=[1, 2]))
      })");
}

}  // namespace
}  // namespace baton::relay
