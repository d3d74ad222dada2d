#include "baton/relay/transform/legalize.h"

#include <cstdint>
#include <cstdlib>
#include <string>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/string_view.h"
#include "absl/types/span.h"
#include "baton/base/tensor.h"
#include "baton/ir/module.h"
#include "baton/ir/op.h"
#include "baton/ir/structural_equal.h"
#include "baton/relay/ir/expr.h"
#include "baton/relay/ir/infer_type.h"
#include "baton/relay/ir/text_printer.h"
#include "baton/relay/op/tensor.h"
#include "baton/relay/runtime/evaluator.h"
#include "baton/relay/runtime/value.h"
#include "baton/relay/transform/pass_test_util.h"
#include "baton/relay/transform/qnn_canonicalize_ops.h"
#include "baton/relay/transform/qnn_legalize.h"
#include "baton/testing/inputs.h"
#include "baton/testing/status_matchers.h"
#include "baton/transform/pass.h"
#include "gtest/gtest.h"

namespace baton::relay {
namespace {

using ::baton::testing::StatusIs;

constexpr char kKind[] = "LegalizeTestKind";

absl::StatusOr<Expr> ForAll(const CallNode& /*call*/,
                            absl::Span<const Expr> args) {
  return Multiply(args[0], args[0]);
}

absl::StatusOr<Expr> ForOne(const CallNode& /*call*/,
                            absl::Span<const Expr> args) {
  return Exp(args[0]);
}

absl::StatusOr<Expr> Refuse(const CallNode& /*call*/,
                            absl::Span<const Expr> /*args*/) {
  return absl::UnimplementedError("not on this chip");
}

BATON_EXTEND_OP("sqrt").Set(LegalizationRules(kKind), ForAll);
BATON_EXTEND_OP("sqrt").Set(LegalizationRules(kKind, "chip"), ForOne);
BATON_EXTEND_OP("tanh").Set(LegalizationRules(kKind), Refuse);

void ExpectBecomes(const Pass& pass, absl::string_view before,
                   absl::string_view after) {
  BATON_ASSERT_OK_AND_ASSIGN(const IRModule result, pass(ParseTyped(before)));
  EXPECT_TRUE(StructuralEqual(result, ParseTyped(after))) << AsText(result);
}

TEST(LegalizeTest, RulesOfAKindAndOfATarget) {
  constexpr char kText[] = "def @main(%x: float32) { sqrt(%x) }";
  ExpectBecomes(Legalize({.legalize_map_attr_name = kKind}), kText,
                "def @main(%x: float32) { multiply(%x, %x) }");
  ExpectBecomes(Legalize({.legalize_map_attr_name = kKind, .target = "other"}),
                kText, "def @main(%x: float32) { multiply(%x, %x) }");
  ExpectBecomes(Legalize({.legalize_map_attr_name = kKind, .target = "chip"}),
                kText, "def @main(%x: float32) { exp(%x) }");
  const IRModule module = ParseTyped(kText);
  BATON_ASSERT_OK_AND_ASSIGN(
      const IRModule same,
      Legalize({.legalize_map_attr_name = "NoSuchKind"})(module));
  EXPECT_TRUE(same.SameAs(module));
}

TEST(LegalizeTest, ErrorsNameTheOperator) {
  EXPECT_THAT(
      Legalize({.legalize_map_attr_name = kKind})(
          ParseTyped("def @main(%x: float32) { tanh(%x) }"))
          .status(),
      StatusIs(absl::StatusCode::kUnimplemented, "tanh: not on this chip"));
}

TEST(LegalizeTest, ConvTransposeInOtherLayouts) {
  ExpectBecomes(Legalize(), R"(
    def @main(%x: Tensor[(1, 4, 4, 2), float32], %w: Tensor[(3, 3, 5, 2), float32]) {
      nn.conv2d_transpose(%x, %w, channels=5, kernel_size=[3, 3], data_layout="NHWC", kernel_layout="HWOI")
    })",
                R"(
    def @main(%x: Tensor[(1, 4, 4, 2), float32], %w: Tensor[(3, 3, 5, 2), float32]) {
      %0 = transpose(%x, axes=[0, 3, 1, 2]);
      %1 = layout_transform(%w, src_layout="HWOI", dst_layout="IOHW");
      %2 = nn.conv2d_transpose(%0, %1, channels=5, kernel_size=[3, 3], padding=[0, 0, 0, 0]);
      transpose(%2, axes=[0, 2, 3, 1])
    })");
}

// What the pass makes of a program computes what the program computed, give or
// take `tolerance`.
void ExpectKeepsValues(const Pass& pass, absl::string_view text,
                       int64_t tolerance = 0) {
  const IRModule before = ParseTyped(text);
  BATON_ASSERT_OK_AND_ASSIGN(const IRModule after, pass(before));
  EXPECT_FALSE(after.SameAs(before)) << text;
  BATON_ASSERT_OK_AND_ASSIGN(
      const std::vector<Value> args,
      testing::RandomInputs(before.Find<Function>("main"), /*seed=*/1));
  BATON_ASSERT_OK_AND_ASSIGN(const IRModule typed, InferTypes(after));
  BATON_ASSERT_OK_AND_ASSIGN(const Value x,
                             EvaluateFunction(before, "main", args));
  BATON_ASSERT_OK_AND_ASSIGN(const Value y,
                             EvaluateFunction(typed, "main", args));
  const Tensor& a = x.tensor();
  const Tensor& b = y.tensor();
  ASSERT_EQ(a.TypeToString(), b.TypeToString());
  for (int64_t i = 0; i < a.num_elements(); ++i) {
    ASSERT_LE(std::abs(a.AtAsInt64(i) - b.AtAsInt64(i)), tolerance)
        << text << "\n"
        << AsText(after);
  }
}

std::string Program(absl::string_view params, absl::string_view body) {
  return absl::StrCat("def @main(", params, ") { ", body, " }");
}

TEST(QnnCanonicalizeOpsTest, KeepsValues) {
  const std::string xy = "%x: Tensor[(2, 6), int8], %y: Tensor[(3, 6), int8]";
  const std::string same = "%x: Tensor[(2, 6), int8], %y: Tensor[(2, 6), int8]";
  for (const auto& [params, body] :
       std::vector<std::pair<std::string, std::string>>{
           {xy,
            "qnn.dense(%x, %y, 3, 5, 1f, 1f, units=3, out_dtype=\"int32\")"},
           {xy,
            "qnn.dense(%x, %y, 0, 5, 1f, 1f, units=3, out_dtype=\"int32\")"},
           {xy,
            "qnn.dense(%x, %y, 3, 0, 1f, 1f, units=3, out_dtype=\"int32\")"},
           {"%x: Tensor[(2, 2, 6), int8], %y: Tensor[(2, 3, 6), int8]",
            "qnn.batch_matmul(%x, %y, 3, 5, 1f, 1f, out_dtype=\"int32\", "
            "transpose_b=True)"},
           {same, "qnn.add(%x, %y, 0.5f, 3, 0.25f, 4, 0.7f, 5)"},
           {same, "qnn.subtract(%x, %y, 0.5f, 3, 0.25f, 4, 0.7f, 5)"},
           {same, "qnn.mul(%x, %y, 0.5f, 3, 0.25f, 4, 3.7f, 5)"},
           {same,
            "qnn.concatenate((%x, %y), (0.5f, 0.25f), (1, 2), 0.7f, 3, "
            "axis=1)"},
           {same, "qnn.requantize(%x, 0.5f, 3, 0.7f, 4, out_dtype=\"int8\")"},
           {same,
            "qnn.requantize(%x, 0.5f, 3, 0.7f, 4, rounding=\"TONEAREST\", "
            "out_dtype=\"int8\")"},
           {same,
            "qnn.requantize(%x, 0.5f, 3, 0.7f, 4, compute_dtype=\"float32\", "
            "out_dtype=\"int8\")"},
           {same,
            "qnn.requantize(%x, 0.5f, 3, 0.7f, 4, rounding=\"TONEAREST\", "
            "compute_dtype=\"float64\", out_dtype=\"int8\")"},
           {"%x: Tensor[(3, 4), float32]",
            "qnn.quantize(%x, 0.01f, 4, out_dtype=\"uint8\")"},
           {same, "qnn.tanh(%x, 0.02f, 3, 0.01f, 4)"},
           {same, "qnn.sigmoid(%x, 0.02f, 3, 0.01f, 4)"}}) {
    ExpectKeepsValues(QnnCanonicalizeOps(), Program(params, body));
  }
}

TEST(QnnCanonicalizeOpsTest, Convolutions) {
  const std::string nchw =
      "%x: Tensor[(1, 4, 6, 6), uint8], %w: Tensor[(8, 4, 3, 3), int8]";
  const std::string grouped =
      "%x: Tensor[(1, 4, 6, 6), uint8], %w: Tensor[(8, 2, 3, 3), int8]";
  const std::string depthwise =
      "%x: Tensor[(1, 4, 6, 6), uint8], %w: Tensor[(4, 1, 3, 3), int8]";
  const std::string nhwc =
      "%x: Tensor[(1, 6, 6, 4), uint8], %w: Tensor[(3, 3, 4, 8), int8]";
  const auto conv = [](absl::string_view zeros, absl::string_view attrs) {
    return absl::StrCat("qnn.conv2d(%x, %w, ", zeros,
                        ", 1f, 1f, kernel_size=[3, 3], out_dtype=\"int32\", ",
                        attrs, ")");
  };
  for (const char* zeros : {"3, 5", "0, 5", "3, 0", "0, 0", "1, 1"}) {
    for (const auto& [params, attrs] :
         std::vector<std::pair<std::string, std::string>>{
             {nchw, "channels=8, padding=[0, 0, 0, 0]"},
             {nchw, "channels=8, padding=[1, 2, 0, 1], strides=[2, 1]"},
             {nchw, "channels=8, padding=[1, 1, 1, 1], dilation=[2, 2]"},
             {grouped, "channels=8, padding=[0, 0, 0, 0], groups=2"},
             {depthwise, "channels=4, padding=[1, 1, 1, 1], groups=4"},
             {nhwc,
              "channels=8, padding=[1, 1, 1, 1], data_layout=\"NHWC\", "
              "kernel_layout=\"HWIO\""}}) {
      // A padded pixel is the zero point; the plain kernel pads with 0 after
      // the zero point was taken away. Both are the same number.
      ExpectKeepsValues(QnnCanonicalizeOps(),
                        Program(params, conv(zeros, attrs)));
    }
  }
}

TEST(QnnCanonicalizeOpsTest, NeedsConstantScales) {
  EXPECT_THAT(QnnCanonicalizeOps()(ParseTyped(R"(
                def @main(%x: Tensor[(4), int8], %s: float32) {
                  qnn.requantize(%x, 0.5f, 3, %s, 4, out_dtype="int8")
                })"))
                  .status(),
              StatusIs(absl::StatusCode::kUnimplemented,
                       "qnn.requantize: the scale of the result"));
  EXPECT_THAT(QnnCanonicalizeOps()(ParseTyped(R"(
                def @main(%x: Tensor[(4), int8]) {
                  qnn.requantize(%x, 0.5f, 3, 0f, 4, out_dtype="int8")
                })"))
                  .status(),
              StatusIs(absl::StatusCode::kInvalidArgument,
                       "qnn.requantize: the scale of the result is 0"));
}

TEST(QnnLegalizeTest, TablesKeepValues) {
  for (const char* op :
       {"abs", "erf", "exp", "log", "rsqrt", "sigmoid", "sqrt", "tanh"}) {
    for (const char* dtype : {"int8", "uint8"}) {
      ExpectKeepsValues(
          QnnLegalize(),
          Program(absl::StrCat("%x: Tensor[(64), ", dtype, "]"),
                  absl::StrCat("qnn.", op, "(%x, 0.02f, 0, 0.03f, 4)")));
    }
  }
}

}  // namespace
}  // namespace baton::relay
