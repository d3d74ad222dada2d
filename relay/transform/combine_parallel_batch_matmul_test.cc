#include "baton/relay/transform/combine_parallel_batch_matmul.h"

#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "baton/relay/ir/expr.h"
#include "baton/relay/transform/rewrite_test_util.h"
#include "gtest/gtest.h"

namespace baton::relay {
namespace {

absl::StatusOr<Expr> Combine(const Expr& expr) {
  return CombineParallelBatchMatmulInExpr(expr, {.min_num_branches = 2});
}

TEST(CombineParallelBatchMatmulTest, ColumnsAreConcatenated) {
  constexpr absl::string_view kAfter = R"(
      def @main(%x: Tensor[(2, 3, 4), float32],
                %w1: Tensor[(2, 5, 4), float32],
                %w2: Tensor[(2, 6, 4), float32],
                %b1: Tensor[(5), float32], %b2: Tensor[(6), float32]) {
        %0 = nn.batch_matmul(%x, concatenate((%w1, %w2), axis=1),
                             transpose_b=True);
        %1 = add(%0, concatenate((%b1, %b2), axis=-1));
        (strided_slice(%1, begin=[0, 0, 0], end=[-1, -1, 5], strides=[1, 1, 1],
                       slice_mode="size", axes=None),
         strided_slice(%1, begin=[0, 0, 5], end=[-1, -1, 6], strides=[1, 1, 1],
                       slice_mode="size", axes=None))
      })";
  ExpectRewrites(Combine, R"(
      def @main(%x: Tensor[(2, 3, 4), float32],
                %w1: Tensor[(2, 5, 4), float32],
                %w2: Tensor[(2, 6, 4), float32],
                %b1: Tensor[(5), float32], %b2: Tensor[(6), float32]) {
        (add(nn.batch_matmul(%x, %w1, transpose_b=True), %b1),
         add(nn.batch_matmul(%x, %w2, transpose_b=True), %b2))
      })",
                 kAfter);
  ExpectUnchanged(Combine, kAfter);
}

TEST(CombineParallelBatchMatmulTest, WhatIsBroadcastIsNotCombined) {
  ExpectRewrites(Combine, R"(
      def @main(%x: Tensor[(2, 3, 4), float32],
                %w: Tensor[(2, 5, 4), float32]) {
        (add(nn.batch_matmul(%x, %w, transpose_b=True), 1f),
         add(nn.batch_matmul(%x, %w, transpose_b=True), 2f))
      })",
                 R"(
      def @main(%x: Tensor[(2, 3, 4), float32],
                %w: Tensor[(2, 5, 4), float32]) {
        %0 = nn.batch_matmul(%x, concatenate((%w, %w), axis=1),
                             transpose_b=True);
        %1 = strided_slice(%0, begin=[0, 0, 0], end=[-1, -1, 5],
                           strides=[1, 1, 1], slice_mode="size", axes=None);
        %2 = strided_slice(%0, begin=[0, 0, 5], end=[-1, -1, 5],
                           strides=[1, 1, 1], slice_mode="size", axes=None);
        (add(%1, 1f), add(%2, 2f))
      })");
}

TEST(CombineParallelBatchMatmulTest, OtherTranspositionsStay) {
  ExpectUnchanged(Combine, R"(
      def @main(%x: Tensor[(2, 3, 4), float32],
                %w: Tensor[(2, 4, 5), float32]) {
        (nn.batch_matmul(%x, %w), nn.batch_matmul(%x, %w))
      })");
}

}  // namespace
}  // namespace baton::relay
