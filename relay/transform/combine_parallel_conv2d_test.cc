#include "baton/relay/transform/combine_parallel_conv2d.h"

#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "baton/relay/ir/expr.h"
#include "baton/relay/transform/rewrite_test_util.h"
#include "gtest/gtest.h"

namespace baton::relay {
namespace {

absl::StatusOr<Expr> Combine(const Expr& expr) {
  return CombineParallelConv2dInExpr(expr, {.min_num_branches = 2});
}

void ExpectMakes(absl::string_view before, absl::string_view after) {
  ExpectRewrites(Combine, before, after);
  ExpectUnchanged(Combine, after);
}

void ExpectLeaves(absl::string_view text) { ExpectUnchanged(Combine, text); }

TEST(CombineParallelConv2dTest, GroupsHaveEqualAttributesAndKernels) {
  ExpectMakes(R"(
      def @main(%x: Tensor[(1, 4, 6, 6), float32],
                %w1: Tensor[(2, 4, 1, 1), float32],
                %w2: Tensor[(3, 4, 1, 1), float32],
                %w3: Tensor[(2, 4, 3, 3), float32],
                %w4: Tensor[(5, 4, 1, 1), float32],
                %w5: Tensor[(1, 4, 3, 3), float32]) {
        (nn.conv2d(%x, %w1, padding=[0, 0, 0, 0]),
         nn.conv2d(%x, %w3, padding=[1, 1, 1, 1]),
         nn.conv2d(%x, %w2, padding=[0, 0, 0, 0]),
         nn.conv2d(%x, %w4, padding=[0, 0, 0, 0], strides=[2, 2]),
         nn.conv2d(%x, %w5, padding=[1, 1, 1, 1]))
      })",
              R"(
      def @main(%x: Tensor[(1, 4, 6, 6), float32],
                %w1: Tensor[(2, 4, 1, 1), float32],
                %w2: Tensor[(3, 4, 1, 1), float32],
                %w3: Tensor[(2, 4, 3, 3), float32],
                %w4: Tensor[(5, 4, 1, 1), float32],
                %w5: Tensor[(1, 4, 3, 3), float32]) {
        %0 = nn.conv2d(%x, concatenate((%w1, %w2)), padding=[0, 0, 0, 0],
                       channels=5);
        %1 = nn.conv2d(%x, concatenate((%w3, %w5)), padding=[1, 1, 1, 1],
                       channels=3);
        (strided_slice(%0, begin=[0, 0], end=[-1, 2], strides=[1, 1],
                       slice_mode="size", axes=None),
         strided_slice(%1, begin=[0, 0], end=[-1, 2], strides=[1, 1],
                       slice_mode="size", axes=None),
         strided_slice(%0, begin=[0, 2], end=[-1, 3], strides=[1, 1],
                       slice_mode="size", axes=None),
         nn.conv2d(%x, %w4, padding=[0, 0, 0, 0], strides=[2, 2]),
         strided_slice(%1, begin=[0, 2], end=[-1, 1], strides=[1, 1],
                       slice_mode="size", axes=None))
      })");
}

TEST(CombineParallelConv2dTest, WhatFollowsHasTheChannels) {
  // The last addition broadcasts over the channels and is not combined.
  ExpectMakes(R"(
      def @main(%x: Tensor[(1, 6, 6, 4), float32],
                %w1: Tensor[(1, 1, 4, 2), float32],
                %w2: Tensor[(1, 1, 4, 3), float32],
                %b1: Tensor[(2), float32], %b2: Tensor[(3), float32]) {
        %0 = nn.conv2d(%x, %w1, padding=[0, 0, 0, 0], data_layout="NHWC",
                       kernel_layout="HWIO");
        %1 = nn.conv2d(%x, %w2, padding=[0, 0, 0, 0], data_layout="NHWC",
                       kernel_layout="HWIO");
        %2 = nn.relu(add(%0, %b1));
        %3 = nn.relu(add(%1, %b2));
        (add(%2, 1f), add(%3, 1f))
      })",
              R"(
      def @main(%x: Tensor[(1, 6, 6, 4), float32],
                %w1: Tensor[(1, 1, 4, 2), float32],
                %w2: Tensor[(1, 1, 4, 3), float32],
                %b1: Tensor[(2), float32], %b2: Tensor[(3), float32]) {
        %0 = nn.conv2d(%x, concatenate((%w1, %w2), axis=3),
                       padding=[0, 0, 0, 0], channels=5, data_layout="NHWC",
                       kernel_layout="HWIO");
        %1 = nn.relu(add(%0, concatenate((%b1, %b2))));
        %2 = strided_slice(%1, begin=[0, 0, 0, 0], end=[-1, -1, -1, 2],
                           strides=[1, 1, 1, 1], slice_mode="size", axes=None);
        %3 = strided_slice(%1, begin=[0, 0, 0, 2], end=[-1, -1, -1, 3],
                           strides=[1, 1, 1, 1], slice_mode="size", axes=None);
        (add(%2, 1f), add(%3, 1f))
      })");
}

TEST(CombineParallelConv2dTest, GroupedConvolutionsStay) {
  ExpectLeaves(R"(
      def @main(%x: Tensor[(1, 4, 6, 6), float32],
                %w: Tensor[(4, 1, 1, 1), float32]) {
        (nn.conv2d(%x, %w, padding=[0, 0, 0, 0], groups=4),
         nn.conv2d(%x, %w, padding=[0, 0, 0, 0], groups=4))
      })");
}

TEST(CombineParallelConv2dTest, BranchesDoNotDependOnEachOther) {
  // The second weight is computed from the first result.
  ExpectLeaves(R"(
      def @main(%x: Tensor[(1, 2, 2, 2), float32],
                %w: Tensor[(2, 2, 1, 1), float32]) {
        %0 = nn.conv2d(%x, %w, padding=[0, 0, 0, 0]);
        %1 = reshape(mean(%0, axis=[2, 3]), newshape=[1, 2, 1, 1]);
        (%0, nn.conv2d(%x, %1, padding=[0, 0, 0, 0]))
      })");
  // Each of two groups would be computed from the other.
  ExpectLeaves(R"(
      def @main(%x: Tensor[(1, 2, 2, 2), float32],
                %y: Tensor[(1, 2, 2, 2), float32],
                %w: Tensor[(2, 2, 2, 2), float32]) {
        %0 = nn.conv2d(%x, %w, padding=[0, 0, 0, 0]);
        %1 = reshape(%0, newshape=[1, 2, 1, 1]);
        %2 = nn.conv2d(%y, %1, padding=[0, 0, 0, 0]);
        %3 = nn.conv2d(%y, mean(%w, axis=[2, 3], keepdims=True),
                       padding=[0, 0, 0, 0]);
        %4 = mean(%3, axis=[0]);
        %5 = nn.conv2d(%x, add(%w, %4), padding=[0, 0, 0, 0]);
        (%2, %5)
      })");
}

TEST(CombineParallelConv2dTest, ArgumentsStayInTheirScopes) {
  ExpectLeaves(R"(
      def @main(%x: Tensor[(1, 2, 2, 2), float32],
                %w: Tensor[(2, 2, 1, 1), float32]) {
        %0 = fn (%v: Tensor[(2, 2, 1, 1), float32]) {
          nn.conv2d(%x, %v, padding=[0, 0, 0, 0])
        };
        let %u = add(%w, %w);
        (nn.conv2d(%x, %w, padding=[0, 0, 0, 0]), %0(%w),
         nn.conv2d(%x, %u, padding=[0, 0, 0, 0]))
      })");
}

TEST(CombineParallelConv2dTest, EffectsStayInTheirPlaces) {
  ExpectLeaves(R"(
      def @main(%x: Tensor[(1, 2, 2, 2), float32],
                %r: ref(Tensor[(2, 2, 1, 1), float32])) {
        let %a = nn.conv2d(%x, ref_read(%r), padding=[0, 0, 0, 0]);
        let %b = ref_write(%r, add(ref_read(%r), 1f));
        (%a, nn.conv2d(%x, ref_read(%r), padding=[0, 0, 0, 0]))
      })");
}

TEST(CombineParallelConv2dTest, ThereMustBeThreeOrAsManyAsAskedFor) {
  ExpectUnchanged(
      [](const Expr& expr) { return CombineParallelConv2dInExpr(expr); }, R"(
      def @main(%x: Tensor[(1, 2, 2, 2), float32],
                %w: Tensor[(2, 2, 1, 1), float32]) {
        (nn.conv2d(%x, %w, padding=[0, 0, 0, 0]),
         nn.conv2d(%x, %w, padding=[0, 0, 0, 0]))
      })");
}

}  // namespace
}  // namespace baton::relay
