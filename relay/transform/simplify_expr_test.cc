#include "baton/relay/transform/simplify_expr.h"

#include <string>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "absl/strings/string_view.h"
#include "baton/relay/pattern/rewrite_rule.h"
#include "baton/relay/pattern/rule_text.h"
#include "baton/relay/transform/rewrite_test_util.h"
#include "baton/relay/transform/rule_promise.h"
#include "baton/testing/status_matchers.h"
#include "baton/transform/pass_info.h"
#include "baton/transform/value_promise.h"
#include "gtest/gtest.h"

namespace baton::relay {
namespace {

// A function of `params` whose body is `body`.
std::string Of(absl::string_view params, absl::string_view body) {
  return absl::StrCat("def @main(", params, ") {\n", body, "\n}\n");
}

// Checks what becomes of `before` in functions of `params`.
void ExpectSimplifies(absl::string_view params, absl::string_view before,
                      absl::string_view after) {
  SCOPED_TRACE(before);
  ExpectRewrites(SimplifyExprInExpr, Of(params, before), Of(params, after));
}
void ExpectStays(absl::string_view params, absl::string_view body) {
  SCOPED_TRACE(body);
  ExpectUnchanged(SimplifyExprInExpr, Of(params, body));
}

TEST(SimplifyExprTest, RulesAreWellFormed) {
  EXPECT_THAT(SimplifyExprRules().status(), testing::IsOk());
  EXPECT_THAT(SimplifyExprPostAlterOpRules().status(), testing::IsOk());
}

TEST(SimplifyExprTest, ShapesThatAreKnown) {
  ExpectSimplifies(
      "%x: Tensor[(2, 3), int32], %v: float32, %s: Tensor[(3, 2), float32],"
      "%b: Tensor[(3), int32], %n: Tensor[(?, 3), float32]",
      "(zeros_like(%x), ones_like(%x), full_like(%x, %v),"
      " reshape_like(%x, %s), broadcast_to_like(%b, %x), cast_like(%x, %n))",
      "(zeros(shape=[2, 3], dtype=\"int32\"),"
      " ones(shape=[2, 3], dtype=\"int32\"),"
      " full(%v, shape=[2, 3], dtype=\"int32\"),"
      " reshape(%x, newshape=[3, 2]), broadcast_to(%b, shape=[2, 3]),"
      " cast(%x, dtype=\"float32\"))");
  ExpectStays("%n: Tensor[(?, 3), float32]", "(zeros_like(%n), ones_like(%n))");
  // 0 in a new shape would stand for the old extent.
  ExpectStays("%x: Tensor[(2, 0), int32], %y: Tensor[(0, 3), int32]",
              "reshape_like(%x, %y)");
}

TEST(SimplifyExprTest, Identities) {
  const char params[] = "%x: Tensor[(2, 3), float32]";
  for (const char* same :
       {"%x + 0f", "0f + %x", "%x - 0f", "%x * 1f", "1f * %x", "%x / 1f",
        "%x + zeros(shape=[3], dtype=\"float32\")", "ones_like(%x) * %x"}) {
    ExpectSimplifies(params, same, "%x");
  }
  for (const char* other : {"0f - %x", "1f / %x", "%x + 1f", "%x * 0f"}) {
    ExpectStays(params, other);
  }
  // The result has another type.
  ExpectStays(params, "%x + zeros(shape=[4, 2, 3], dtype=\"float32\")");
}

TEST(SimplifyExprTest, FilledTensors) {
  const char params[] = "%x: Tensor[(2, 3), float32]";
  ExpectSimplifies(params, "%x * full(3f, shape=[2, 3])", "%x * 3f");
  ExpectSimplifies(params, "full_like(%x, 3f) - %x", "3f - %x");
  ExpectSimplifies(params, "ones_like(%x) / %x", "1f / %x");
  ExpectSimplifies(params, "maximum(zeros_like(%x), %x)", "maximum(0f, %x)");
  ExpectStays(params, "%x * full(3f, shape=[4, 2, 3])");
  // An operator that does not take scalars.
  ExpectStays("%x: Tensor[(2, 3), float32]",
              "nn.bias_add(%x, full(3f, shape=[3]))");
}

TEST(SimplifyExprTest, SumsAndProducts) {
  const char params[] = "%x: Tensor[(2), float32], %y: Tensor[(2), float32]";
  ExpectSimplifies(params, "%x + %x", "%x * 2f");
  ExpectSimplifies(params, "%x / sqrt(%y)", "%x * rsqrt(%y)");
  ExpectSimplifies(params, "1f / sqrt(%y)", "rsqrt(%y)");
  ExpectSimplifies(params, "2f + %x + 3f", "%x + 5f");
  ExpectSimplifies(params, "2f * (%x * 3f)", "%x * 6f");
  ExpectSimplifies(params, "(%x + 2f) * 3f", "%x * 3f + 6f");
  ExpectSimplifies(params, "4f + (2f + %x) * 3f", "%x * 3f + 10f");
  ExpectSimplifies(params, "3f * (%x * 2f + 4f)", "%x * 6f + 12f");
}

TEST(SimplifyExprTest, WhatIsNeededElsewhereStays) {
  ExpectStays("%x: Tensor[(2), float32]",
              "%0 = sqrt(%x); %1 = 3f / %0; (%0, %1)");
}

TEST(SimplifyExprTest, Binomials) {
  for (const char* dtype : {"int32", "float32", "float64"}) {
    const std::string params = absl::StrCat("%x: Tensor[(5), ", dtype,
                                            "], %y: Tensor[(5), ", dtype, "]");
    const absl::string_view suffix = dtype[0] == 'i'   ? ""
                                     : dtype[5] == '3' ? "f"
                                                       : "f64";
    const auto number = [&](int n) { return absl::StrCat(n, suffix); };
    ExpectSimplifies(
        params, absl::StrCat("%x * %x + ", number(2), " * %x * %y + %y * %y"),
        "%0 = %x + %y; %0 * %0");
    // The first way to match decides which of the two is %x.
    ExpectSimplifies(
        params, absl::StrCat("(%x * %y * ", number(2), " + %y * %y) + %x * %x"),
        "%0 = %x + %y; %0 * %0");
    ExpectSimplifies(params,
                     absl::StrCat(number(6), " * %x * %x + ", number(5),
                                  " * %x * %y + %y * %y"),
                     absl::StrCat("(%y + %x * ", number(3), ") * (%y + %x * ",
                                  number(2), ")"));
    ExpectStays(params, "%x * %x + %x * %y + %y * %y");
  }
  // Factors that are no integers.
  ExpectStays("%x: Tensor[(5), int32], %y: Tensor[(5), int32]",
              "2 * %x * %x + 7 * %x * %y + 3 * %y * %y");
}

TEST(SimplifyExprTest, Reshapes) {
  ExpectSimplifies("%x: Tensor[(1, 16, 16, 16), float32]",
                   "contrib_reverse_reshape(reshape(reshape(%x, "
                   "newshape=[1, 16, -1]), newshape=[4, 8, -1, 16]), "
                   "newshape=[32, 0, -1])",
                   "reshape(%x, newshape=[32, 8, 16])");
  ExpectStays("%x: Tensor[(?, 16), float32]",
              "reshape(reshape(%x, newshape=[4, -1]), newshape=[-1, 16])");
}

TEST(SimplifyExprTest, Transposes) {
  const char nchw[] = "%x: Tensor[(1, 3, 8, 5), float32]";
  ExpectSimplifies(nchw,
                   "transpose(layout_transform(transpose(%x, "
                   "axes=[0, 2, 3, 1]), src_layout=\"NHWC\", "
                   "dst_layout=\"HWCN\"), axes=[3, 0, 1, 2])",
                   "transpose(%x, axes=[0, 2, 3, 1])");
  ExpectSimplifies(nchw,
                   "transpose(transpose(transpose(nn.relu(%x), "
                   "axes=[0, 2, 3, 1]), axes=[1, 2, 3, 0]), "
                   "axes=[3, 2, 0, 1])",
                   "nn.relu(%x)");
  ExpectSimplifies(nchw,
                   "transpose(transpose(transpose(transpose(transpose(%x, "
                   "axes=None), axes=None), axes=[0, 2, -1, 1]), axes=None), "
                   "axes=None)",
                   "transpose(%x, axes=[0, 2, 3, 1])");
  ExpectSimplifies(nchw, "transpose(%x, axes=[0, 1, -2, 3])", "%x");
  ExpectSimplifies(nchw,
                   "layout_transform(layout_transform(%x, "
                   "src_layout=\"NCHW\", dst_layout=\"NHWC\"), "
                   "src_layout=\"NHWC\", dst_layout=\"CHWN\")",
                   "transpose(%x, axes=[1, 2, 3, 0])");
}

// layout_transform of `data`.
std::string Layouts(absl::string_view data, absl::string_view src,
                    absl::string_view dst) {
  return absl::StrCat("layout_transform(", data, ", src_layout=\"", src,
                      "\", dst_layout=\"", dst, "\")");
}

TEST(SimplifyExprTest, LayoutsThatSplitAxes) {
  const char nhwc[] = "%x: Tensor[(1, 5, 6, 16), float32]";
  const std::string blocked = Layouts("%x", "NHWC", "NCHW4c");
  ExpectSimplifies(
      nhwc, Layouts("transpose(%x, axes=[0, 3, 1, 2])", "NCHW", "NCHW4c"),
      blocked);
  ExpectSimplifies(
      nhwc, Layouts(Layouts("%x", "NHWC", "NCHW"), "NCHW", "NCHW4c"), blocked);
  const char nchw4c[] = "%x: Tensor[(1, 4, 5, 6, 4), float32]";
  ExpectSimplifies(nchw4c,
                   absl::StrCat("transpose(", Layouts("%x", "NCHW4c", "NCHW"),
                                ", axes=[0, 2, 3, 1])"),
                   Layouts("%x", "NCHW4c", "NHWC"));
  ExpectSimplifies(nchw4c,
                   Layouts(Layouts("%x", "NCHW4c", "NCHW"), "NCHW", "NCHW8c"),
                   Layouts("%x", "NCHW4c", "NCHW8c"));
  ExpectSimplifies(
      nchw4c, Layouts(Layouts("%x", "NCHW4c", "NCHW8c"), "NCHW8c", "NCHW4c"),
      "%x");
  // Blocks of eight change the order of elements as well.
  ExpectSimplifies(
      nchw4c, Layouts(Layouts("%x", "NCHW4c", "NCHW8c"), "NCHW8c", "NCHW2c"),
      Layouts("%x", "NCHW4c", "NCHW2c"));
  ExpectSimplifies(nchw4c,
                   absl::StrCat("transpose(", Layouts("%x", "NCHW4c", "NCHW8c"),
                                ", axes=[0, 1, 2, 4, 3])"),
                   Layouts("%x", "NCHW4c", "NCH8cW"));
  // The way back keeps what was padded.
  ExpectStays("%x: Tensor[(1, 3, 5, 6), float32]",
              Layouts(Layouts("%x", "NCHW", "NCHW4c"), "NCHW4c", "NCHW"));
}

TEST(SimplifyExprTest, Casts) {
  const char params[] =
      "%i: Tensor[(3), int8], %f: Tensor[(3), float32], "
      "%l: Tensor[(3), int64]";
  ExpectSimplifies(params, "cast(%f, dtype=\"float32\")", "%f");
  ExpectSimplifies(params, "cast_like(%f, %f)", "%f");
  ExpectSimplifies(params,
                   "cast_like(cast_like(cast(cast(%i, dtype=\"int16\"), "
                   "dtype=\"int32\"), %l), %f)",
                   "cast(%i, dtype=\"float32\")");
  ExpectStays(params, "cast(cast(%f, dtype=\"int32\"), dtype=\"float32\")");
  ExpectStays(params, "cast(cast(%l, dtype=\"bool\"), dtype=\"int32\")");
  // Negative numbers change.
  ExpectStays(params, "cast(cast(%i, dtype=\"uint8\"), dtype=\"int32\")");
}

TEST(SimplifyExprTest, CastsThroughFloatsThatRoundStay) {
  // All triples of an integer type, a float, and an integer type.
  for (const bool is_signed : {true, false}) {
    for (const int bits : {8, 16, 32, 64}) {
      const std::string from = absl::StrCat(is_signed ? "int" : "uint", bits);
      const std::string params = absl::StrCat("%x: Tensor[(3), ", from, "]");
      for (const auto& [middle, exact] :
           std::vector<std::pair<std::string, int>>{
               {"float16", 11}, {"float32", 24}, {"float64", 53}}) {
        for (const char* to : {"int8", "int16", "int32", "int64", "uint8",
                               "uint16", "uint32", "uint64"}) {
          const std::string casts = absl::StrCat(
              "cast(cast(%x, dtype=\"", middle, "\"), dtype=\"", to, "\")");
          if (bits - (is_signed ? 1 : 0) > exact) {
            ExpectStays(params, casts);
          } else {
            ExpectSimplifies(
                params, casts,
                to == from ? "%x"
                           : absl::StrCat("cast(%x, dtype=\"", to, "\")"));
          }
        }
      }
    }
  }
  // A float is as good as its rounding.
  ExpectSimplifies("%x: Tensor[(3), int64]",
                   "cast(cast(%x, dtype=\"float64\"), dtype=\"float32\")",
                   "cast(%x, dtype=\"float32\")");
}

TEST(SimplifyExprTest, CastsOfClipThatChangeNumbersStay) {
  const char ints[] = "%x: Tensor[(4), int32]";
  const auto casts = [](absl::string_view clip,
                        const std::vector<std::string>& dtypes) {
    std::string text(clip);
    for (const std::string& dtype : dtypes) {
      text = absl::StrCat("cast(", text, ", dtype=\"", dtype, "\")");
    }
    return text;
  };
  const char large[] = "clip(%x, a_min=0f, a_max=2.14748e+09f)";
  ExpectStays(ints, casts(large, {"float32", "int8"}));
  ExpectStays(ints, casts(large, {"float32", "int64"}));
  ExpectSimplifies(ints, casts(large, {"float64", "int8"}),
                   casts(large, {"int8"}));
  // A number that int8 wraps is not within the clip any more.
  const char bytes[] = "clip(%x, a_min=0f, a_max=255f)";
  ExpectStays(ints, casts(bytes, {"int8", "uint8", "int32"}));
  // 99.99 rounds to 100.
  ExpectStays("%x: Tensor[(4), float32]",
              casts("clip(%x, a_min=0f, a_max=100f)", {"float16", "int32"}));
}

TEST(SimplifyExprTest, ClipsAndCasts) {
  const char ints[] = "%x: Tensor[(4), int32]";
  const std::string clip = "clip(%x, a_min=0f, a_max=255f)";
  ExpectSimplifies(ints,
                   absl::StrCat("cast(cast(cast(", clip,
                                ", dtype=\"uint8\"), dtype=\"int16\"), "
                                "dtype=\"int32\")"),
                   clip);
  const char floats[] = "%x: Tensor[(4), float32]";
  ExpectSimplifies(floats,
                   absl::StrCat("cast(cast(cast(", clip,
                                ", dtype=\"uint8\"), dtype=\"int16\"), "
                                "dtype=\"int32\")"),
                   absl::StrCat("cast(", clip, ", dtype=\"int32\")"));
  ExpectSimplifies(
      floats,
      absl::StrCat("cast(cast(cast(", clip,
                   ", dtype=\"int8\"), dtype=\"int16\"), "
                   "dtype=\"int32\")"),
      absl::StrCat("cast(cast(", clip, ", dtype=\"int8\"), dtype=\"int32\")"));
  // The cast drops fractions.
  ExpectStays(floats, absl::StrCat("cast(cast(", clip,
                                   ", dtype=\"uint8\"), dtype=\"float32\")"));

  ExpectSimplifies(ints,
                   "clip(cast(%x, dtype=\"uint8\"), a_min=0f, a_max=255f)",
                   "cast(%x, dtype=\"uint8\")");
  ExpectStays(ints, "clip(cast(%x, dtype=\"uint8\"), a_min=1f, a_max=255f)");
  ExpectStays(floats,
              "clip(cast(%x, dtype=\"bfloat16\"), a_min=-0.2f, a_max=0.4f)");
}

TEST(SimplifyExprTest, OrderOfQuantizedTensors) {
  const char params[] = "%x: Tensor[(4, 3), int8], %s: Tensor[(3), float32]";
  const std::string numbers =
      "qnn.dequantize(%x, 2f, 0, out_dtype=\"float32\")";
  for (const char* op : {"argmax", "argmin"}) {
    ExpectSimplifies(params, absl::StrCat(op, "(", numbers, ", axis=[1])"),
                     absl::StrCat(op, "(%x, axis=[1])"));
  }
  ExpectSimplifies(params,
                   absl::StrCat("argsort(", numbers, ", dtype=\"int32\")"),
                   "argsort(%x, dtype=\"int32\")");
  ExpectStays(params,
              "argmax(qnn.dequantize(%x, %s, 0, out_dtype=\"float32\", "
              "axis=1), axis=[1])");
}

TEST(SimplifyExprTest, PostAlterOpTakesSomeOfTheRules) {
  const std::string params = "%x: Tensor[(4), float32]";
  ExpectRewrites(SimplifyExprPostAlterOpInExpr,
                 Of(params, "cast_like(%x, %x) + 0f"), Of(params, "%x"));
  ExpectUnchanged(SimplifyExprPostAlterOpInExpr,
                  Of(params, "%x / sqrt(%x + %x)"));
}

TEST(RulePromiseTest, ClassesOfRules) {
  const auto text = [](absl::string_view promise) {
    return ValuePromiseText(
        ParseRules(absl::StrCat("rule @r { match { exp(%x) } replace { %x } ",
                                promise, " }"))
            .value()[0]
            .promise);
  };
  EXPECT_EQ(text(""), "bit-exact");
  EXPECT_EQ(text("promise { exact, not nan }"),
            "exact but for NaN, infinity and zero");
  EXPECT_EQ(text("promise { rtol = 1e-6f64, atol = 2f64 }"),
            "reassociating, within 1e-06 of each element and 2");
  EXPECT_EQ(text("promise { atol = 2f64 }"), "reassociating, within 2");
  EXPECT_EQ(text("promise { exact, %x in [0f64, 1f64] }"),
            "bit-exact, for %x in [0, 1]");
}

TEST(RulePromiseTest, APassPromisesNoMoreThanItsWeakestRule) {
  const PassInfo exact = {.name = "P"};
  const auto promised = [&](std::vector<RulePromise> promises) {
    std::vector<RewriteRule> rules;
    for (RulePromise& promise : promises) {
      rules.push_back({.name = "r", .promise = std::move(promise)});
    }
    return HeldToRules(exact, rules);
  };
  const RulePromise rough = {.exact = false, .rtol = 1e-3};
  const RulePromise rougher = {.exact = false, .rtol = 1e-2};
  const RulePromise finite = {.excludes_infinity = true};
  const RulePromise ranged = {.ranges = {{"x", 0, 1}}};
  EXPECT_EQ(ValuePromiseOf(promised({})), ValuePromise::kBitExact);
  EXPECT_EQ(ValuePromiseOf(promised({{}, finite, finite})),
            ValuePromise::kExactButSpecial);
  EXPECT_EQ(promised({finite, finite}).exceptions.size(), 1);
  EXPECT_EQ(ValuePromiseText(promised({rough, {}, rougher, finite})),
            "reassociating, within 0.01 of the largest element");
  EXPECT_EQ(ValuePromiseOf(promised({rough, ranged})), ValuePromise::kOther);
  const PassInfo rougher_pass = {.name = "P", .exact = false, .tolerance = 0.1};
  EXPECT_EQ(HeldToRules(rougher_pass, {}).tolerance, 0.1);
}

}  // namespace
}  // namespace baton::relay
