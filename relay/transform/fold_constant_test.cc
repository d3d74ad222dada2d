#include "baton/relay/transform/fold_constant.h"

#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_split.h"
#include "absl/strings/string_view.h"
#include "baton/base/status_macros.h"
#include "baton/ir/module.h"
#include "baton/ir/structural_equal.h"
#include "baton/relay/ir/infer_type.h"
#include "baton/relay/ir/text_parser.h"
#include "baton/relay/ir/text_printer.h"
#include "baton/testing/round_trip.h"
#include "baton/testing/status_matchers.h"
#include "baton/transform/pass.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"

namespace baton::relay {
namespace {

using ::baton::testing::IsOk;
using ::testing::HasSubstr;
using ::testing::Not;

absl::StatusOr<IRModule> Typed(absl::string_view text) {
  BATON_ASSIGN_OR_RETURN(const IRModule module, ParseModule(text));
  return InferTypes(module);
}

// The program after folding, without types.
std::string Folded(absl::string_view text,
                   const FoldConstantOptions& options = {}) {
  const absl::StatusOr<IRModule> module = Typed(text);
  EXPECT_THAT(module, IsOk());
  if (!module.ok()) return "";
  const absl::StatusOr<IRModule> result = FoldConstant(options)(*module);
  EXPECT_THAT(result, IsOk());
  if (!result.ok()) return "";
  EXPECT_THAT(testing::CheckRoundTrip(*result, /*typed=*/true), IsOk());
  return AsText(*result, {.version = false, .types = false});
}

void ExpectUnchanged(absl::string_view text,
                     const FoldConstantOptions& options = {}) {
  BATON_ASSERT_OK_AND_ASSIGN(const IRModule module, Typed(text));
  BATON_ASSERT_OK_AND_ASSIGN(const IRModule result,
                             FoldConstant(options)(module));
  EXPECT_TRUE(result.SameAs(module)) << AsText(result);
}

// Checks that two expressions of constants fold to the same constant.
void ExpectSameValue(absl::string_view a, absl::string_view b) {
  const std::string text =
      absl::StrCat("def @a() { ", a, " }\ndef @b() { ", b, " }\n");
  BATON_ASSERT_OK_AND_ASSIGN(const IRModule module, Typed(text));
  BATON_ASSERT_OK_AND_ASSIGN(const IRModule result,
                             FoldConstant({.fold_qnn = true})(module));
  const Expr& value = result.Find<Function>("a")->body();
  EXPECT_TRUE(value.Is<ConstantNode>()) << AsText(value);
  EXPECT_EQ(
      FirstDifference(value, result.Find<Function>("b")->body()).value_or(""),
      "");
}

TEST(FoldConstantTest, WhatDependsOnConstantsOnly) {
  EXPECT_EQ(Folded(R"(def @main(%x: float32) {
                        %0 = multiply(add(1f, 1f), 2f);
                        add(add(%x, %0), 1f)
                      })"),
            "def @main(%x: float32) -> float32 {\n"
            "  %0 = add(%x, 4f);\n"
            "  add(%0, 1f)\n"
            "}\n");
  EXPECT_EQ(Folded(R"(def @main(%x: float32) {
                        let %a = 1f;
                        let %b = add(%a, %a);
                        let %c = add(%b, %x);
                        %c
                      })"),
            "def @main(%x: float32) -> float32 {\n"
            "  let %c: float32 = add(2f, %x);\n"
            "  %c\n"
            "}\n");
  EXPECT_EQ(Folded(R"(def @main(%x: float32) {
                        %0 = (%x, 1f);
                        add(add(%0.1, 1f), %0.0)
                      })"),
            "def @main(%x: float32) -> float32 {\n"
            "  add(2f, %x)\n"
            "}\n");
  EXPECT_EQ(Folded(R"(def @main(%x: float32) {
                        if (less(1f, 2f)) { add(%x, 1f) } else { %x }
                      })"),
            "def @main(%x: float32) -> float32 {\n"
            "  add(%x, 1f)\n"
            "}\n");
  // A tuple of tensors.
  EXPECT_EQ(Folded(R"(def @main() {
                        split(stack((1f, 2f)), indices_or_sections=2).1
                      })"),
            Folded("def @main() { stack((2f,)) }"));
}

TEST(FoldConstantTest, WhatIsLeftAlone) {
  // Large and cheap to make.
  ExpectUnchanged("def @main() { zeros(shape=[2, 2], dtype=\"float32\") }");
  // Makes another type of each call.
  ExpectUnchanged(R"(def @main() {
    device_copy(1f, src_virtual_device="a", dst_virtual_device="b")
  })");
  // Would compute something only on some inputs.
  ExpectUnchanged("def @main() { floor_divide(1, 0) }");
  // A fused function.
  ExpectUnchanged(R"(def @main() {
    %0 = fn (%p: float32, Primitive=1) { add(%p, add(1f, 1f)) };
    %0(1f)
  })");
  // A call of a function.
  ExpectUnchanged("def @main() { @f(1f) }\ndef @f(%x: float32) { abs(%x) }");
}

TEST(FoldConstantTest, ShapesThatAreKnown) {
  for (const char* op : {"shape_of", "vm.shape_of"}) {
    EXPECT_EQ(
        Folded(absl::StrCat("def @main(%x: Tensor[(2, 3), float32]) {\n  ", op,
                            "(nn.relu(%x), dtype=\"int64\")\n}")),
        Folded(R"(def @main(%x: Tensor[(2, 3), float32]) {
          stack((2i64, 3i64))
        })"))
        << op;
    ExpectUnchanged(absl::StrCat("def @main(%x: Tensor[(?, 3), float32]) {\n  ",
                                 op, "(%x, dtype=\"int64\")\n}"));
  }
  EXPECT_EQ(Folded("def @main(%x: Tensor[(2, 3), float32]) {\n"
                   "  ndarray_size(%x, dtype=\"int32\")\n}"),
            "def @main(%x: Tensor[(2, 3), float32]) -> int32 {\n  6\n}\n");
}

TEST(FoldConstantTest, SeesThroughOnDevice) {
  EXPECT_EQ(Folded(R"(def @main(%x: float32) {
                        let %a = on_device(1f, virtual_device="cpu");
                        let %b = on_device(add(%a, %a), virtual_device="cpu");
                        let %c = on_device(add(%b, %x), virtual_device="cpu");
                        %c
                      })"),
            "def @main(%x: float32) -> float32 {\n"
            "  %0 = on_device(2f, virtual_device=\"cpu\");\n"
            "  %1 = add(%0, %x);\n"
            "  let %c: float32 = on_device(%1, virtual_device=\"cpu\");\n"
            "  %c\n"
            "}\n");
  EXPECT_EQ(Folded(R"(def @main(%x: float32) {
                        %0 = on_device(True, virtual_device="cpu");
                        if (%0) { %x } else { abs(%x) }
                      })"),
            "def @main(%x: float32) -> float32 {\n  %x\n}\n");
  // A field keeps the note that was on the tuple, unless it needs none.
  EXPECT_EQ(Folded(R"(def @main(%x: float32) {
                        %0 = on_device((abs(%x), %x), virtual_device="cpu");
                        add(%0.0, %0.1)
                      })"),
            "def @main(%x: float32) -> float32 {\n"
            "  %0 = abs(%x);\n"
            "  %1 = on_device(%0, virtual_device=\"cpu\");\n"
            "  add(%1, %x)\n"
            "}\n");
  EXPECT_EQ(Folded(R"(def @main(%x: float32) {
                        %0 = on_device(abs(%x), virtual_device="a");
                        %1 = on_device((%0,), virtual_device="b",
                                       constrain_result=True,
                                       constrain_body=False);
                        %1.0
                      })"),
            "def @main(%x: float32) -> float32 {\n"
            "  %0 = abs(%x);\n"
            "  on_device(%0, virtual_device=\"b\", constrain_result=True)\n"
            "}\n");
}

TEST(FoldConstantTest, QuantizedOperatorsOnlyIfAskedTo) {
  const std::string program =
      "def @main() { qnn.quantize(1.5f, 0.5f, 1, out_dtype=\"int8\") }";
  ExpectUnchanged(program);
  EXPECT_EQ(Folded(program, {.fold_qnn = true}),
            Folded("def @main() { cast(4, dtype=\"int8\") }"));
}

constexpr char kBytes[] = "cast(stack((1, 2, 3)), dtype=\"uint8\")";

TEST(FoldConstantTest, QuantizedSums) {
  // 2 * (q - 1) + 0.5 * q, in units of 1 above 3.
  ExpectSameValue(absl::StrCat("qnn.add(", kBytes, ", ", kBytes,
                               ", 2f, 1, 0.5f, 0, 1f, 3)"),
                  "cast(stack((4, 6, 9)), dtype=\"uint8\")");
  ExpectSameValue(absl::StrCat("qnn.subtract(", kBytes, ", ", kBytes,
                               ", 2f, 1, 1f, 0, 1f, 3)"),
                  "cast(stack((2, 3, 4)), dtype=\"uint8\")");
  // What does not fit is limited.
  ExpectSameValue(absl::StrCat("qnn.subtract(", kBytes, ", ", kBytes,
                               ", 1f, 0, 100f, 0, 1f, 0)"),
                  "cast(stack((0, 0, 0)), dtype=\"uint8\")");
}

TEST(FoldConstantTest, QuantizedProducts) {
  ExpectSameValue(absl::StrCat("qnn.mul(", kBytes, ", ", kBytes,
                               ", 2f, 1, 0.5f, 0, 1f, 3)"),
                  "cast(stack((3, 5, 9)), dtype=\"uint8\")");
  // (0, 1, 2) . (2, 3, 4)
  ExpectSameValue(
      absl::StrCat("qnn.dense(expand_dims(", kBytes, ", axis=0), expand_dims(",
                   kBytes,
                   ", axis=0), 1, -1, 1f, 1f, units=1, out_dtype=\"int32\")"),
      "expand_dims(stack((11,)), axis=0)");
  const std::string ones =
      "cast(reshape(stack((1, 1, 1, 1)), "
      "newshape=[1, 1, 2, 2]), dtype=\"uint8\")";
  ExpectSameValue(
      absl::StrCat("reshape(qnn.mul(qnn.conv2d(", ones, ", ", ones,
                   ", 0, 0, 1f, 1f, padding=[0, 0, 0, 0], channels=1, "
                   "kernel_size=[2, 2], out_dtype=\"int32\"), stack((10,)), "
                   "1f, 0, 1f, 0, 1f, 0), newshape=[])"),
      "40");
  // What is padded with is the zero point.
  ExpectSameValue(
      absl::StrCat("sum(qnn.conv2d(", ones, ", ", ones,
                   ", 3, 0, 1f, 1f, padding=[1, 1, 1, 1], channels=1, "
                   "kernel_size=[2, 2], out_dtype=\"int32\"))"),
      "-32");
}

TEST(FoldConstantTest, QuantizedConcatenation) {
  ExpectSameValue(absl::StrCat("qnn.concatenate((", kBytes, ", ", kBytes,
                               "), (1f, 2f), (0, 1), 1f, 0, axis=0)"),
                  "cast(stack((1, 2, 3, 0, 2, 4)), dtype=\"uint8\")");
}

TEST(FoldConstantTest, QuantizedFunctions) {
  // sqrt of 0, 4 and 8.
  ExpectSameValue(absl::StrCat("qnn.sqrt(", kBytes, ", 4f, 1, 0.5f, 1)"),
                  "cast(stack((1, 5, 7)), dtype=\"uint8\")");
}

// Without the budget this would be 200 MB of constants.
TEST(FoldConstantTest, AResultThatIsTooLargeStays) {
  const char* const huge = R"(def @main() {
                                sqrt(broadcast_to(4f, shape=[50000000]))
                              })";
  ExpectUnchanged(huge);
  EXPECT_EQ(Folded("def @main() { sum(broadcast_to(4f, shape=[5])) }"),
            "def @main() -> float32 {\n  20f\n}\n");
  const char* const five = R"(def @main() { broadcast_to(4f, shape=[5]) })";
  ExpectUnchanged(five, {.max_elements = 4});
  EXPECT_THAT(Folded(five, {.max_elements = 5}),
              HasSubstr("{\n  meta[relay.Constant][0]\n}\n"));
  // No more elements than the argument has.
  EXPECT_EQ(Folded("def @main() { add(4f, 1f) }",
                   {.max_elements = 0, .max_growth = 0}),
            "def @main() -> float32 {\n  5f\n}\n");
}

TEST(FoldConstantTest, GrowthIsLimitedInAll) {
  const char* const two = R"(def @main() {
                               %0 = broadcast_to(1f, shape=[3]);
                               %1 = broadcast_to(2f, shape=[3]);
                               (%0, %1)
                             })";
  const auto calls = [&](int64_t max_growth) {
    const std::string text = Folded(two, {.max_growth = max_growth});
    return static_cast<int>(absl::StrContains(text, "broadcast_to(1f")) +
           static_cast<int>(absl::StrContains(text, "broadcast_to(2f"));
  };
  // Each adds three elements and replaces one.
  EXPECT_EQ(calls(1), 2);
  EXPECT_EQ(calls(3), 1);
  EXPECT_EQ(calls(4), 0);

  // What several calls share is replaced once.
  const char* const shared = R"(def @main() {
                                  %0 = (1f, 2f, 3f);
                                  %1 = stack(%0, axis=0);
                                  %2 = exp(%1);
                                  %3 = log(%1);
                                  %4 = sqrt(%1);
                                  (%2, %3, %4)
                                })";
  EXPECT_THAT(Folded(shared, {.max_growth = 5}), HasSubstr("sqrt("));
  EXPECT_THAT(Folded(shared, {.max_growth = 6}), Not(HasSubstr("sqrt(")));

  // Doubled again and again: by 2, 4, 8, 16, 32 elements, and then no more.
  std::string doubled =
      "def @main() {\n  %0 = (1f, 1f);\n  "
      "%1 = stack(%0, axis=0);\n";
  for (int i = 1; i <= 40; ++i) {
    absl::StrAppend(&doubled, "  %", 2 * i, " = (%", 2 * i - 1, ", %",
                    2 * i - 1, ");\n  %", 2 * i + 1, " = concatenate(%", 2 * i,
                    ");\n");
  }
  absl::StrAppend(&doubled, "  %81\n}\n");
  const std::vector<std::string> parts =
      absl::StrSplit(Folded(doubled, {.max_growth = 100}), "concatenate(");
  EXPECT_EQ(parts.size(), 1u + 35u);
}

}  // namespace
}  // namespace baton::relay
