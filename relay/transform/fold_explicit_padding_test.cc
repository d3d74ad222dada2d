#include "baton/relay/transform/fold_explicit_padding.h"

#include <string>

#include "absl/strings/str_cat.h"
#include "absl/strings/string_view.h"
#include "baton/relay/transform/rewrite_test_util.h"
#include "gtest/gtest.h"

namespace baton::relay {
namespace {

// `call` of %0, an image %x that is padded by `pad_width` with `value`.
std::string Padded(
    absl::string_view call, absl::string_view value = "0f",
    absl::string_view pad_width = "[[0, 0], [0, 0], [0, 2], [3, 0]]",
    absl::string_view dtype = "float32") {
  return absl::StrCat("def @main(%x: Tensor[(1, 3, 10, 10), ", dtype,
                      "], %w: Tensor[(2, 3, 3, 3), ", dtype, "]) {\n",
                      "  %0 = nn.pad(%x, ", value, ", pad_width=", pad_width,
                      ");\n  ", call, "\n}\n");
}

std::string Plain(absl::string_view call, absl::string_view dtype = "float32") {
  return absl::StrCat("def @main(%x: Tensor[(1, 3, 10, 10), ", dtype,
                      "], %w: Tensor[(2, 3, 3, 3), ", dtype, "]) {\n  ", call,
                      "\n}\n");
}

TEST(FoldExplicitPaddingTest, Convolutions) {
  ExpectRewrites(
      FoldExplicitPaddingInExpr,
      Padded("nn.conv2d(%0, %w, padding=[1, 2, 3, 4], kernel_size=[3, 3])"),
      Plain("nn.conv2d(%x, %w, padding=[1, 5, 5, 4], kernel_size=[3, 3])"));
  ExpectRewrites(FoldExplicitPaddingInExpr,
                 Padded("nn.conv2d(%0, %w, padding=[1, 2], strides=[2, 2])"),
                 Plain("nn.conv2d(%x, %w, padding=[1, 5, 3, 2], "
                       "strides=[2, 2])"));
}

TEST(FoldExplicitPaddingTest, SpatialAxesAreThoseOfTheLayout) {
  ExpectRewrites(FoldExplicitPaddingInExpr, R"(
      def @main(%x: Tensor[(1, 6, 6, 4, 2), float32],
                %w: Tensor[(3, 3, 3, 2, 4), float32]) {
        %0 = nn.pad(%x, 0f,
                    pad_width=[[0, 0], [1, 2], [3, 4], [5, 6], [0, 0]]);
        nn.conv3d(%0, %w, padding=[0, 0, 0, 0, 0, 1], data_layout="NDHWC",
                  kernel_layout="DHWIO")
      })",
                 R"(
      def @main(%x: Tensor[(1, 6, 6, 4, 2), float32],
                %w: Tensor[(3, 3, 3, 2, 4), float32]) {
        nn.conv3d(%x, %w, padding=[1, 3, 5, 2, 4, 7], data_layout="NDHWC",
                  kernel_layout="DHWIO")
      })");
}

TEST(FoldExplicitPaddingTest, PaddingOfPadding) {
  ExpectRewrites(FoldExplicitPaddingInExpr, R"(
      def @main(%x: Tensor[(1, 2, 8), float32],
                %w: Tensor[(2, 2, 3), float32]) {
        %0 = nn.pad(%x, 0f, pad_width=[[0, 0], [0, 0], [1, 0]]);
        %1 = nn.pad(%0, 0f, pad_width=[[0, 0], [0, 0], [0, 2]]);
        (nn.conv1d(%1, %w, padding=[0, 0]), %1)
      })",
                 R"(
      def @main(%x: Tensor[(1, 2, 8), float32],
                %w: Tensor[(2, 2, 3), float32]) {
        %0 = nn.pad(%x, 0f, pad_width=[[0, 0], [0, 0], [1, 0]]);
        %1 = nn.pad(%0, 0f, pad_width=[[0, 0], [0, 0], [0, 2]]);
        (nn.conv1d(%x, %w, padding=[1, 2]), %1)
      })");
}

TEST(FoldExplicitPaddingTest, AveragesCountWhatIsPadded) {
  ExpectRewrites(FoldExplicitPaddingInExpr,
                 Padded("nn.avg_pool2d(%0, pool_size=[2, 2])"),
                 Plain("nn.avg_pool2d(%x, pool_size=[2, 2], "
                       "padding=[0, 3, 2, 0], count_include_pad=True)"));
  ExpectRewrites(FoldExplicitPaddingInExpr,
                 Padded("nn.avg_pool2d(%0, pool_size=[2, 2], padding=[1, 1], "
                        "count_include_pad=True)"),
                 Plain("nn.avg_pool2d(%x, pool_size=[2, 2], "
                       "padding=[1, 4, 3, 1], count_include_pad=True)"));
  // Its own padding must not be counted, that of nn.pad must.
  ExpectUnchanged(
      FoldExplicitPaddingInExpr,
      Padded("nn.avg_pool2d(%0, pool_size=[2, 2], padding=[1, 0, 0, 0])"));
  ExpectUnchanged(FoldExplicitPaddingInExpr,
                  Padded("nn.avg_pool2d(%0, pool_size=[2, 2], strides=[2, 2], "
                         "ceil_mode=True)"));
}

TEST(FoldExplicitPaddingTest, MaximaPadWithTheLowestValue) {
  const char kPool[] = "nn.max_pool2d(%0, pool_size=[2, 2])";
  const char kFolded[] =
      "nn.max_pool2d(%x, pool_size=[2, 2], padding=[0, 3, 2, 0])";
  const char kWidth[] = "[[0, 0], [0, 0], [0, 2], [3, 0]]";
  ExpectRewrites(FoldExplicitPaddingInExpr, Padded(kPool, "-3.40282347e38f"),
                 Plain(kFolded));
  ExpectRewrites(
      FoldExplicitPaddingInExpr,
      Padded(kPool, "-65504f16", "[[0, 0], [0, 0], [0, 1], [1, 0]]", "float16"),
      Plain("nn.max_pool2d(%x, pool_size=[2, 2], padding=[0, 1, 1, 0])",
            "float16"));
  ExpectRewrites(FoldExplicitPaddingInExpr,
                 Padded(kPool, "-2147483648", kWidth, "int32"),
                 Plain(kFolded, "int32"));
  ExpectUnchanged(FoldExplicitPaddingInExpr, Padded(kPool, "0f"));
  ExpectUnchanged(FoldExplicitPaddingInExpr,
                  Padded(kPool, "0", kWidth, "int32"));
}

TEST(FoldExplicitPaddingTest, QuantizedConvolutionsPadWithTheirZeroPoint) {
  const auto conv = [](absl::string_view data, absl::string_view padding) {
    return absl::StrCat(
        "qnn.conv2d(", data, ", %w, 10, 1, 1f, 1f, padding=", padding,
        ", channels=2, kernel_size=[3, 3], out_dtype=\"int32\")");
  };
  const auto program = [&](absl::string_view value) {
    return absl::StrCat(
        "def @main(%x: Tensor[(1, 3, 4, 4), int8], "
        "%w: Tensor[(2, 3, 3, 3), int8]) {\n  %0 = nn.pad(%x, ",
        value, ", pad_width=[[0, 0], [0, 0], [1, 1], [1, 1]]);\n  ",
        conv("%0", "[0, 0]"), "\n}\n");
  };
  ExpectRewrites(FoldExplicitPaddingInExpr, program("10"),
                 absl::StrCat("def @main(%x: Tensor[(1, 3, 4, 4), int8], "
                              "%w: Tensor[(2, 3, 3, 3), int8]) {\n  ",
                              conv("%x", "[1, 1, 1, 1]"), "\n}\n"));
  ExpectUnchanged(FoldExplicitPaddingInExpr, program("0"));
}

TEST(FoldExplicitPaddingTest, OtherPaddingStays) {
  const char kConv[] = "nn.conv2d(%0, %w, padding=[0, 0, 0, 0])";
  ExpectUnchanged(FoldExplicitPaddingInExpr, Padded(kConv, "1f"));
  ExpectUnchanged(FoldExplicitPaddingInExpr,
                  Padded(kConv, "0f", "[[1, 0], [0, 0], [1, 1], [1, 1]]"));
  ExpectUnchanged(
      FoldExplicitPaddingInExpr,
      Padded(kConv, "0f",
             "[[0, 0], [0, 0], [1, 1], [1, 1]], pad_mode=\"edge\""));
}

}  // namespace
}  // namespace baton::relay
