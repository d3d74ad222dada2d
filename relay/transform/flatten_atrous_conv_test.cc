#include "baton/relay/transform/flatten_atrous_conv.h"

#include <string>

#include "absl/strings/str_cat.h"
#include "absl/strings/string_view.h"
#include "baton/relay/transform/rewrite_test_util.h"
#include "gtest/gtest.h"

namespace baton::relay {
namespace {

struct Atrous {
  std::string block = "[2, 2]";
  std::string paddings = "[[2, 3], [2, 3]]";
  std::string pad_value = "0f";
  std::string conv = "padding=[0, 0, 0, 0]";
  std::string block_after = "[2, 2]";
  std::string crops = "[[0, 1], [0, 1]]";
};

// A convolution of blocks of a 5 x 5 image, with a kernel of 3 x 3.
std::string Program(const Atrous& a = {}) {
  return absl::StrCat(R"(
      def @main(%x: Tensor[(1, 5, 5, 4), float32],
                %w: Tensor[(3, 3, 4, 2), float32]) {
        %0 = nn.space_to_batch_nd(%x, block_shape=)",
                      a.block, ", paddings=", a.paddings,
                      ", pad_value=", a.pad_value, R"();
        %1 = nn.conv2d(%0, %w, )",
                      a.conv, R"(, kernel_size=[3, 3],
            data_layout="NHWC", kernel_layout="HWIO");
        nn.batch_to_space_nd(%1, block_shape=)",
                      a.block_after, ", crops=", a.crops, R"()
      })");
}

std::string Flat(absl::string_view padding, absl::string_view dilation) {
  return absl::StrCat(R"(
      def @main(%x: Tensor[(1, 5, 5, 4), float32],
                %w: Tensor[(3, 3, 4, 2), float32]) {
        nn.conv2d(%x, %w, padding=)",
                      padding, ", dilation=", dilation,
                      R"(, kernel_size=[3, 3],
            data_layout="NHWC", kernel_layout="HWIO")
      })");
}

TEST(FlattenAtrousConvTest, BlocksBecomeDilation) {
  ExpectRewrites(FlattenAtrousConvInExpr, Program(),
                 Flat("[2, 2, 2, 2]", "[2, 2]"));
  ExpectRewrites(FlattenAtrousConvInExpr,
                 Program({.block = "[4, 4]",
                          .paddings = "[[4, 7], [4, 7]]",
                          .block_after = "[4, 4]",
                          .crops = "[[0, 3], [0, 3]]"}),
                 Flat("[4, 4, 4, 4]", "[4, 4]"));
}

TEST(FlattenAtrousConvTest, PaddingIsWhatIsPaddedAndNotCropped) {
  // 5 + 4 + 3 = 3 * 4 rows and 5 + 2 + 3 = 2 * 5 columns.
  ExpectRewrites(FlattenAtrousConvInExpr,
                 Program({.block = "[3, 2]",
                          .paddings = "[[4, 3], [2, 3]]",
                          .block_after = "[3, 2]",
                          .crops = "[[1, 0], [0, 2]]"}),
                 Flat("[3, 2, 3, 1]", "[3, 2]"));
  // What the convolution pads counts once for each element of a block.
  ExpectRewrites(FlattenAtrousConvInExpr,
                 Program({.paddings = "[[0, 1], [0, 1]]",
                          .conv = "padding=[1, 1]",
                          .crops = "[[0, 1], [0, 1]]"}),
                 Flat("[2, 2, 2, 2]", "[2, 2]"));
}

TEST(FlattenAtrousConvTest, WhatIsNoDilatedConvolutionStays) {
  const Atrous others[] = {
      {.paddings = "[[0, 3], [2, 3]]", .crops = "[[0, 1], [0, 4]]"},
      {.pad_value = "1f"},
      {.paddings = "[[2, 3], [2, 3]]",
       .conv = "strides=[2, 2], padding=[1, 1, 1, 1]"},
      {.conv = "dilation=[2, 2], padding=[2, 2, 2, 2]"},
      {.paddings = "[[2, 5], [2, 5]]",
       .block_after = "[4, 1]",
       .crops = "[[0, 0], [0, 0]]"},
  };
  for (const Atrous& other : others) {
    ExpectUnchanged(FlattenAtrousConvInExpr, Program(other));
  }
}

TEST(FlattenAtrousConvTest, SoDoesWhatHasSomethingBetween) {
  ExpectUnchanged(FlattenAtrousConvInExpr, R"(
      def @main(%x: Tensor[(1, 5, 5, 4), float32],
                %w: Tensor[(3, 3, 4, 2), float32]) {
        %0 = nn.space_to_batch_nd(%x, block_shape=[2, 2],
                                  paddings=[[2, 3], [2, 3]]);
        %1 = nn.conv2d(nn.relu(%0), %w, padding=[0, 0, 0, 0],
            kernel_size=[3, 3], data_layout="NHWC", kernel_layout="HWIO");
        nn.batch_to_space_nd(%1, block_shape=[2, 2], crops=[[0, 1], [0, 1]])
      })");
}

TEST(FlattenAtrousConvTest, QuantizedConvolutionsPadWithTheirZeroPoint) {
  const auto program = [](absl::string_view zero_point) {
    return absl::StrCat(R"(
      def @main(%x: Tensor[(1, 5, 5, 4), int8],
                %w: Tensor[(3, 3, 4, 2), int8]) {
        %0 = nn.space_to_batch_nd(%x, block_shape=[2, 2],
                                  paddings=[[2, 3], [2, 3]], pad_value=3f);
        %1 = qnn.conv2d(%0, %w, )",
                        zero_point, R"(, 0, 2f, 1f,
            padding=[0, 0, 0, 0], channels=2, kernel_size=[3, 3],
            data_layout="NHWC", kernel_layout="HWIO", out_dtype="int32");
        nn.batch_to_space_nd(%1, block_shape=[2, 2], crops=[[0, 1], [0, 1]])
      })");
  };
  ExpectRewrites(FlattenAtrousConvInExpr, program("3"), R"(
      def @main(%x: Tensor[(1, 5, 5, 4), int8],
                %w: Tensor[(3, 3, 4, 2), int8]) {
        qnn.conv2d(%x, %w, 3, 0, 2f, 1f,
            padding=[2, 2, 2, 2], dilation=[2, 2], channels=2,
            kernel_size=[3, 3], data_layout="NHWC", kernel_layout="HWIO",
            out_dtype="int32")
      })");
  ExpectUnchanged(FlattenAtrousConvInExpr, program("0"));
}

}  // namespace
}  // namespace baton::relay
