// Plans of small networks give the bits of the evaluator.

#include "baton/runtime/kernels/blocked/kernels.h"

#if defined(__x86_64__) && defined(__linux__)
#include <sys/syscall.h>
#include <unistd.h>
#endif

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <limits>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/ascii.h"
#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_replace.h"
#include "absl/strings/str_split.h"
#include "absl/strings/string_view.h"
#include "baton/backend/cpu/bound_weights.h"
#include "baton/backend/cpu/evaluator_test_util.h"
#include "baton/backend/cpu/executable.h"
#include "baton/base/dtype.h"
#include "baton/base/tensor.h"
#include "baton/base/tensor_difference.h"
#include "baton/ir/module.h"
#include "baton/relay/ir/expr.h"
#include "baton/relay/runtime/evaluator.h"
#include "baton/relay/runtime/random_inputs.h"
#include "baton/relay/runtime/value.h"
#include "baton/runtime/executor/plan.h"
#include "baton/runtime/kernels/blocked/int8_isa.h"
#include "baton/testing/random_program.h"
#include "baton/testing/status_matchers.h"
#include "baton/testing/test_settings.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"

namespace baton {
namespace {

using cpu::CheckProgram;
using cpu::ExpectSameAsEvaluator;

using ::testing::Contains;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::Not;

TEST(KernelsTest, RandomPrograms) {
  const uint32_t count = testing::IsLongTest() ? 400 : 40;
  int compiled = 0;
  for (uint32_t seed = 0; seed < count && !HasFailure(); ++seed) {
    SCOPED_TRACE(absl::StrCat("seed ", seed));
    BATON_ASSERT_OK_AND_ASSIGN(
        const IRModule module,
        testing::RandomProgram(seed, {.size = 10 + static_cast<int>(seed % 30),
                                      .networks = true}));
    const absl::StatusOr<Executable> model =
        Compile(module, {.max_threads = 3, .allow_evaluated_part = false});
    // A program that is no dataflow has no plan.
    if (absl::IsUnimplemented(model.status())) continue;
    ASSERT_TRUE(model.ok()) << model.status();
    ++compiled;
    ExpectSameAsEvaluator(module, *model, seed, false);
  }
  EXPECT_GE(compiled, static_cast<int>(count) / 20);
}

// Calls of half floats; none is the evaluator's unless it is named.
TEST(KernelsTest, Halves) {
  const struct {
    const char* calls;
    bool is_fallback = false;  // of a call
    bool is_fallback_of_bfloat16 = false;
  } cases[] = {
      // Calls of one argument, whose results are rounded.
      {"sqrt(abs(%x))"},
      {"rsqrt(%x)"},
      {"erf(%x)"},
      {"sigmoid(%x)"},
      {"exp(multiply(%x, %x))", false, true},
      {"fast_exp(%x)", false, true},
      {"log(%x)", false, true},
      {"tanh(%x)", false, true},
      {"fast_tanh(add(%x, %x))", false, true},
      {"clip(%x, a_min=-0.3f, a_max=0.7f)"},
      {"nn.leaky_relu(%x, alpha=0.1f)"},
      {"nn.prelu(%x, %w3, axis=1)"},
      {"round(multiply(%x, %y))"},
      {"floor(add(ceil(%x), %x))"},
      {"power(%x, $2)"},
      {"power(%x, $3)"},
      {"power(abs(%x), $0.5)"},
      // Calls of two arguments, which broadcast.
      {"divide(add(%x, %y), subtract(%x, %wl))"},
      {"where(less(%x, %y), %x, multiply(%y, %y))"},
      // GELU, twice.
      {"multiply(multiply(%x, $0.5), add($1, erf(multiply(%x, $0.7))))"},
      {"multiply(multiply(%x, $0.5), add($1, tanh(multiply(add(%x, "
       "multiply(power(%x, $3), $0.044)), $0.8))))",
       false, true},
      // Normalizations and reductions.
      {"divide(subtract(%x, mean(%x, axis=[-1], keepdims=True)), "
       "sqrt(add(mean(power(subtract(%x, mean(%x, axis=[-1], keepdims=True)), "
       "$2), axis=[-1], keepdims=True), $0.001)))"},
      {"variance(%x, mean(%x, axis=[-1], keepdims=True), axis=[-1])"},
      {"sum(%x, axis=[1])"},
      {"nn.softmax(%x)"},
      {"nn.softmax(%x, axis=1)"},
      {"nn.log_softmax(%x)"},
      // Products.
      {"nn.dense(%x, %w17, units=9)"},
      {"add(nn.dense(%x, %w17, units=9, out_dtype=\"$\"), %w9)"},
      {"nn.dense(%x, %w17, units=9, out_dtype=\"float32\")"},
      // Convolutions.
      {"nn.relu(nn.bias_add(nn.conv2d(%x, %wc, padding=[1, 1, 1, 1], "
       "channels=20, kernel_size=[3, 3]), %w20))"},
      {"nn.global_avg_pool2d(%x)"},
      {"nn.avg_pool2d(%x, pool_size=[3, 3], padding=[1, 1, 1, 1])"},
      // Moves.
      {"concatenate((transpose(%x, axes=[0, 1, 3, 2]), transpose(%y, "
       "axes=[0, 1, 3, 2])), axis=2)"},
      {"nn.pad(add(%x, %y), $0.1, pad_width=[[0, 0], [0, 0], [1, 2], [3, 0]])"},
      {"split(add(%x, %y), indices_or_sections=[2, 5], axis=3)"},
      // Casts.
      {"cast(%x, dtype=\"float32\")"},
      {"add(cast(%f, dtype=\"$\"), %x)"},
      {"cast(add(%x, %y), dtype=\"int32\")"},
      {"multiply(cast(cast(multiply(%x, $100), dtype=\"int8\"), "
       "dtype=\"$\"), %x)"},
      {"cast(cast(add(%x, %y), dtype=\"float16\"), dtype=\"bfloat16\")"},
      {"(%x, add(%x, %x), cast(%y, dtype=\"float32\"))"},
      // Calls that stay as they are beside others.
      {"add(sin(add(%x, %y)), %x)", true},
      {"multiply(cos(add(%x, %y)), %y)", true},
  };
  for (const bool is_short : {false, true}) {
    const char* const type = is_short ? "bfloat16" : "float16";
    for (const auto& one : cases) {
      // Numbers are constants of the type.
      std::string calls = absl::StrReplaceAll(
          one.calls, {{"\"$\"", absl::StrCat("\"", type, "\"")}});
      for (size_t at = calls.find('$'); at != std::string::npos;
           at = calls.find('$')) {
        size_t end = at + 1;
        while (end < calls.size() &&
               (absl::ascii_isdigit(static_cast<unsigned char>(calls[end])) ||
                calls[end] == '.')) {
          ++end;
        }
        calls = absl::StrCat(calls.substr(0, at), "cast(",
                             calls.substr(at + 1, end - at - 1), "f, dtype=\"",
                             type, "\")", calls.substr(end));
      }
      const std::string text = absl::StrReplaceAll(
          R"(#[version = "0.0.5"]
def @main(%x: Tensor[(2, 3, 13, 17), $], %y: Tensor[(2, 3, 13, 17), $],
          %f: Tensor[(2, 3, 13, 17), float32], %w3: Tensor[(3), $], %wl: Tensor[(17), $],
          %w17: Tensor[(9, 17), $], %w9: Tensor[(9), $],
          %wc: Tensor[(20, 3, 3, 3), $], %w20: Tensor[(20), $]) {
  )",
          {{"$", type}});
      const std::string whole = absl::StrCat(text, calls, "\n}");
      SCOPED_TRACE(whole);
      const std::vector<std::string> kernels = CheckProgram(whole);
      if (one.is_fallback || (is_short && one.is_fallback_of_bfloat16)) {
        EXPECT_THAT(kernels, Contains(HasSubstr("evaluator.")));
      } else {
        EXPECT_THAT(kernels, Not(Contains(HasSubstr("evaluator."))));
      }
    }
  }
}

// A chain of half floats is one step, and one of convolutions stays blocked.
TEST(KernelsTest, HalvesAreRoundedWithinSteps) {
  EXPECT_THAT(CheckProgram(R"(#[version = "0.0.5"]
def @main(%x: Tensor[(2, 3, 13), float16], %y: Tensor[(13), float16]) {
  tanh(multiply(add(%x, %x), sigmoid(%x)))
})"),
              ::testing::ElementsAre("elementwise+cast"));
  EXPECT_THAT(CheckProgram(R"(#[version = "0.0.5"]
def @main(%x: Tensor[(1, 16, 9, 9), float16], %w: Tensor[(16, 16, 3, 3), float16],
          %w1: Tensor[(16), float16]) {
  %0 = nn.conv2d(%x, %w, padding=[1, 1, 1, 1], channels=16, kernel_size=[3, 3]);
  %1 = nn.relu(nn.bias_add(%0, %w1));
  %2 = nn.conv2d(%1, %w, padding=[1, 1, 1, 1], channels=16, kernel_size=[3, 3]);
  nn.relu(add(%2, %1))
})"),
              ::testing::AllOf(Contains("conv.blocked16+bias+clip+round"),
                               Contains("conv.blocked16+residual+clip+round")));
}

// Sums of bytes, with extremes of both, biases before and after.
TEST(KernelsTest, ConvolutionsOfBytes) {
  for (const char* const type : {"uint8", "int8"}) {
    for (const char* const rest :
         {"%0", "subtract(%0, %wb)", "add(subtract(%0, %wb), %wb)",
          "subtract(%wb, %0)", "add(%0, %y)",
          "cast(add(%wb, %0), dtype=\"float32\")"}) {
      for (const char* const attrs :
           {"strides=[2, 1], padding=[1, 0, 2, 1]", "dilation=[1, 2]",
            "padding=[3, 3, 3, 3]"}) {
        const std::string text = absl::StrCat(
            R"(#[version = "0.0.5"]
def @main(%x: Tensor[(2, 6, 13, 11), )",
            type, R"(], %w: Tensor[(40, 6, 3, 2), int8],
          %wb: Tensor[(1, 40, 1, 1), int32], %y: Tensor[(1, 40, 1, 1), int32]) {
  %0 = nn.conv2d(%x, %w, )",
            attrs,
            R"(, channels=40, kernel_size=[3, 2], out_dtype="int32");
  )",
            rest, "\n}");
        SCOPED_TRACE(text);
        EXPECT_THAT(CheckProgram(text), Contains(HasSubstr("conv.int8")));
      }
    }
  }
  // Unsigned weights, of all channels or of one each.
  for (const char* const type : {"uint8", "int8"}) {
    for (const char* const weights :
         {"strides=[2, 1], channels=40, |40, 6", "channels=40, |40, 6",
          "groups=6, channels=6, padding=[1, 2, 1, 2], |6, 1"}) {
      const std::pair<std::string, std::string> parts =
          absl::StrSplit(weights, '|');
      const std::string text = absl::StrCat(
          "#[version = \"0.0.5\"]\n"
          "def @main(%x: Tensor[(2, 6, 13, 11), ",
          type, "], %w: Tensor[(", parts.second,
          ", 3, 2), uint8]) {\n  nn.conv2d(%x, %w, ", parts.first,
          "kernel_size=[3, 2], out_dtype=\"int32\")\n}");
      SCOPED_TRACE(text);
      EXPECT_THAT(CheckProgram(text), Contains(HasSubstr("conv.int8")));
    }
  }
  // A bias that no pass has made a sum.
  for (const char* const type : {"uint8", "int8"}) {
    EXPECT_THAT(
        CheckProgram(absl::StrCat(R"(#[version = "0.0.5"]
def @main(%x: Tensor[(2, 6, 13, 11), )",
                                  type, R"(], %w: Tensor[(40, 6, 3, 2), int8],
          %wb: Tensor[(40), int32]) {
  nn.bias_add(nn.conv2d(%x, %w, channels=40, kernel_size=[3, 2],
                        out_dtype="int32"), %wb)
})")),
        ::testing::ElementsAre("conv.int8+bias"));
  }
  // A group of channels that are no words.
  EXPECT_THAT(CheckProgram(R"(#[version = "0.0.5"]
def @main(%x: Tensor[(1, 6, 9, 9), uint8], %w: Tensor[(32, 3, 3, 3), int8]) {
  nn.conv2d(%x, %w, groups=2, channels=32, kernel_size=[3, 3],
            out_dtype="int32")
})"),
              Not(Contains(HasSubstr("conv.int8"))));
}

// Matrices of integers, of which some rows have elements far apart.
TEST(KernelsTest, ProductsOfIntegers) {
  for (const char* const type : {"int32", "uint8", "int8"}) {
    for (const char* const call :
         {"nn.dense(%x, %w, units=33, out_dtype=\"int32\")",
          "nn.matmul(%x, %w1, units=33, out_dtype=\"int32\")",
          "nn.dense(%x, cast(%w, dtype=\"int32\"), units=33, "
          "out_dtype=\"int32\")",
          "nn.dense(add(cast(%x, dtype=\"int32\"), cast(%y, dtype=\"int32\")), "
          "subtract(cast(%w, dtype=\"int32\"), 300), units=33, "
          "out_dtype=\"int32\")"}) {
      const std::string text = absl::StrCat(
          R"(#[version = "0.0.5"]
def @main(%x: Tensor[(3, 17, 71), )",
          type, R"(], %y: Tensor[(3, 17, 71), float32],
          %w: Tensor[(33, 71), int8], %w1: Tensor[(71, 33), uint8]) {
  )",
          call, "\n}");
      // Operands of one type alone.
      if (absl::StrContains(call, "%x, cast") && type != std::string("int32")) {
        continue;
      }
      SCOPED_TRACE(text);
      CheckProgram(text);
    }
  }
  EXPECT_THAT(CheckProgram(R"(#[version = "0.0.5"]
def @main(%x: Tensor[(17, 71), uint8], %z: Tensor[(), uint8],
          %w: Tensor[(33, 71), int8]) {
  %0 = subtract(cast(%x, dtype="int32"), cast(%z, dtype="int32"));
  %1 = nn.dense(%0, cast(%w, dtype="int32"), units=33, out_dtype="int32");
  multiply(cast(%1, dtype="float32"), 0.01f)
})"),
              Contains("matmul.int8+zero+scale"));
  // Numbers of a byte that products alone read are bytes in memory.
  EXPECT_THAT(CheckProgram(R"(#[version = "0.0.5"]
def @main(%x: Tensor[(17, 72), float32], %z: Tensor[(), int32],
          %w: Tensor[(33, 72), int8]) {
  %0 = clip(round(multiply(%x, 90f)), a_min=0f, a_max=255f);
  %1 = subtract(cast(%0, dtype="int32"), %z);
  %2 = nn.dense(%1, %w, units=33, out_dtype="int32");
  multiply(cast(%2, dtype="float32"), 0.01f)
})"),
              Contains("matmul.int8+zero+scale"));
}

#if defined(__x86_64__) && defined(__linux__)

// 0 if this process has no permission to have matrix tiles, 1 if it has.
int HasPermissionOfTiles() {
  constexpr int kGetPermission = 0x1022;
  constexpr int kTileData = 18;
  uint64_t features = 0;
  if (syscall(SYS_arch_prctl, kGetPermission, &features) != 0) return 0;
  return static_cast<int>(features >> kTileData & 1);
}

// In processes of their own, as a process keeps the permission.
TEST(KernelsDeathTest, RequestsMatrixTilesOnlyIfItMay) {
  GTEST_FLAG_SET(death_test_style, "threadsafe");
  const auto compile = [](bool use_amx) {
    const absl::StatusOr<IRModule> module =
        cpu::WithWeights(R"(#[version = "0.0.5"]
def @main(%x: Tensor[(64, 128), uint8], %w: Tensor[(64, 128), int8]) {
  nn.dense(%x, %w, units=64, out_dtype="int32")
})");
    if (!module.ok() || HasPermissionOfTiles() != 0) std::exit(2);
    const absl::StatusOr<Executable> model =
        Compile(*module, {.use_amx = use_amx});
    if (!model.ok() || model->plan().notes[0].kernel != "matmul.int8") {
      std::exit(3);
    }
    ExpectSameAsEvaluator(*module, *model, 5, false);
    std::exit(::testing::Test::HasFailure() ? 4 : HasPermissionOfTiles());
  };
  EXPECT_EXIT(compile(false), ::testing::ExitedWithCode(0), "");
  // The predicate is made in this process.
  using kernels::blocked::Int8Isa;
  EXPECT_EXIT(compile(true),
              ::testing::ExitedWithCode(
                  kernels::blocked::IsSupported(Int8Isa::kAmx) ? 1 : 0),
              "");
}

#endif  // __x86_64__ && __linux__

// Chains that quantize and dequantize, of which some values have other uses or
// numbers that are not one for all elements.
TEST(KernelsTest, QuantizesAndDequantizes) {
  for (const char* const type : {"uint8", "int8"}) {
    const bool is_unsigned = type == std::string("uint8");
    const char* const bounds =
        is_unsigned ? "a_min=0f, a_max=255f" : "a_min=-128f, a_max=127f";
    for (const char* const zero : {"7", "-3", "%z"}) {
      for (const char* const scale : {"0.037f", "%s", "%v"}) {
        for (const char* const result :
             {"%6", "(%6, %2)", "(%6, %3)", "divide(%6, %s)",
              "multiply(%s, cast(subtract(%y, %z), dtype=\"float32\"))"}) {
          if (!is_unsigned && result[0] != '%') continue;
          const std::string text = absl::StrCat(
              R"(#[version = "0.0.5"]
def @main(%x: Tensor[(5, 400), float32], %y: Tensor[(5, 400), int32],
          %s: Tensor[(), float32], %z: Tensor[(1), int32],
          %v: Tensor[(400), float32]) {
  %0 = round(divide(%x, )",
              scale, R"());
  %1 = add(cast()",
              zero, R"(, dtype="float32"), %0);
  %2 = clip(%1, )",
              bounds, R"();
  %3 = cast(%2, dtype=")",
              type, R"(");
  %4 = subtract(cast(%3, dtype="int32"), )",
              zero, R"();
  %5 = cast(%4, dtype="float32");
  %6 = multiply(%5, )",
              scale, R"();
  )",
              result, "\n}");
          SCOPED_TRACE(text);
          CheckProgram(text);
        }
      }
    }
  }
}

// Sums of integers that become floats. Scales are computed, and behind the
// product in the order of the program.
TEST(KernelsTest, ScaledProductsOfIntegers) {
  const auto program = [](absl::string_view shape, absl::string_view scale,
                          absl::string_view rest) {
    return absl::StrCat(
        R"(#[version = "0.0.5"]
def @main(%x: Tensor[(3, 17, 71), uint8], %z: Tensor[(), uint8],
          %s: Tensor[()",
        shape, R"(), float32], %w: Tensor[(33, 71), int8],
          %w1: Tensor[(33), float32]) {
  %0 = subtract(cast(%x, dtype="int32"), cast(%z, dtype="int32"));
  %1 = cast(nn.dense(%0, %w, units=33, out_dtype="int32"), dtype="float32");
  %2 = multiply(%1, multiply(%s, )",
        scale, R"());
  )",
        rest, "\n}");
  };
  const char* const kBias = "tanh(add(%2, %w1))";
  EXPECT_THAT(CheckProgram(program("", "0.01f", "%2")),
              Contains("matmul.int8+zero+scale"));
  EXPECT_THAT(CheckProgram(program("", "0.01f", kBias)),
              Contains("matmul.int8+zero+scale+bias"));
  EXPECT_THAT(CheckProgram(program("33", "0.01f", kBias)),
              Contains("matmul.int8+zero+scale+bias"));
  EXPECT_THAT(CheckProgram(program("1, 1", "0.01f", "add(%w1, %2)")),
              Contains("matmul.int8+zero+scale+bias"));
  EXPECT_THAT(CheckProgram(R"(#[version = "0.0.5"]
def @main(%x: Tensor[(17, 71), uint8], %w: Tensor[(33, 71), int8],
          %w1: Tensor[(33), int32], %w2: Tensor[(33), float32]) {
  %0 = subtract(nn.dense(%x, %w, units=33, out_dtype="int32"), %w1);
  multiply(cast(add(%w1, %0), dtype="float32"), %w2)
})"),
              Contains("matmul.int8+offset+scale"));
  // A scale for each row, and sums that something else reads, too.
  EXPECT_THAT(CheckProgram(program("17, 1", "0.01f", kBias)),
              Contains("matmul.int8"));
  EXPECT_THAT(CheckProgram(program("33", "0.01f", "(%1, %2)")),
              Contains("matmul.int8"));
}

// Maps of bytes from convolution to convolution: paddings and the way back from
// sums to bytes are parts of the convolutions.
TEST(KernelsTest, ChainsOfBytes) {
  const struct {
    const char* type;
    const char* zero;
    const char* low;
    const char* high;
  } types[] = {{"uint8", "131", "0f", "255f"}, {"int8", "-7", "-128f", "127f"}};
  for (const auto& type : types) {
    for (const char* const scale :
         {"round(divide(multiply($, 0.003f), 0.07f))",
          "round(multiply($, %wf))", "round(divide(%x0, multiply($, 2f)))",
          "divide(multiply(%wf, $), %wg)", "multiply(round($), 0.01f)"}) {
      for (const char* const results : {"%12", "(%12, %6)", "(%12, %3)"}) {
        const auto requantize = [&](const char* sums) {
          return absl::StrCat(
              "cast(clip(add(",
              absl::StrReplaceAll(
                  scale,
                  {{"$", absl::StrCat("cast(", sums, ", dtype=\"float32\")")}}),
              ", ", type.zero, "f), a_min=", type.low, ", a_max=", type.high,
              "), dtype=\"", type.type, "\")");
        };
        const std::string text = absl::StrCat(
            R"(#[version = "0.0.5"]
def @main(%x: Tensor[(2, 3, 13, 11), )",
            type.type, R"(], %x0: Tensor[(1, 1, 1, 1), float32],
          %w0: Tensor[(40, 3, 3, 3), int8], %w1: Tensor[(40, 40, 1, 1), int8],
          %w2: Tensor[(40, 40, 2, 3), int8], %wb: Tensor[(1, 40, 1, 1), int32],
          %wf: Tensor[(40, 1, 1), float32], %wg: Tensor[(1, 40, 1, 1), float32]) {
  %0 = nn.pad(%x, )",
            type.zero, R"(, pad_width=[[0, 0], [0, 0], [1, 1], [2, 0]]);
  %1 = nn.conv2d(%0, %w0, strides=[2, 1], channels=40, kernel_size=[3, 3],
                 out_dtype="int32");
  %2 = add(%1, %wb);
  %3 = )",
            requantize("%2"), R"(;
  %4 = nn.conv2d(%3, %w1, channels=40, kernel_size=[1, 1], out_dtype="int32");
  %5 = subtract(%4, %wb);
  %6 = )",
            requantize("%5"), ";\n  %7 = nn.pad(%6, ", type.zero,
            R"(, pad_width=[[0, 0], [0, 0], [0, 1], [1, 1]]);
  %8 = nn.conv2d(%7, %w2, channels=40, kernel_size=[2, 3], out_dtype="int32");
  %9 = nn.conv2d(%7, %w2, padding=[1, 1, 1, 1], channels=40,
                 kernel_size=[2, 3], out_dtype="int32");
  %10 = )",
            requantize("%8"), R"(;
  %11 = nn.conv2d(%6, %w1, channels=40, kernel_size=[1, 1], out_dtype="int32");
  %12 = (%10, %9, %11);
  )",
            results, "\n}");
        SCOPED_TRACE(text);
        CheckProgram(text);
      }
    }
  }
  const std::vector<std::string> kernels = CheckProgram(R"(#[version = "0.0.5"]
def @main(%x: Tensor[(1, 3, 13, 11), uint8], %w0: Tensor[(40, 3, 3, 3), int8],
          %w1: Tensor[(40, 40, 3, 3), int8], %wb: Tensor[(1, 40, 1, 1), int32]) {
  %0 = nn.pad(%x, 131, pad_width=[[0, 0], [0, 0], [1, 1], [1, 1]]);
  %1 = add(nn.conv2d(%0, %w0, channels=40, kernel_size=[3, 3], out_dtype="int32"), %wb);
  %2 = add(round(divide(multiply(cast(%1, dtype="float32"), 0.003f), 0.07f)), 131f);
  %3 = cast(clip(%2, a_min=0f, a_max=255f), dtype="uint8");
  %4 = nn.pad(%3, 131, pad_width=[[0, 0], [0, 0], [1, 1], [1, 1]]);
  nn.conv2d(%4, %w1, channels=40, kernel_size=[3, 3], out_dtype="int32")
})");
  EXPECT_THAT(kernels, ::testing::ElementsAre("conv.int8+bias+requantize",
                                              "conv.int8.slabs32"));
}

// Concatenations of channels between convolutions of bytes.
TEST(KernelsTest, ConcatenationsOfBytes) {
  const auto program = [](int64_t batch, int64_t first, int64_t second,
                          absl::string_view result) {
    const int64_t all = first + second + 3;
    return absl::StrCat(
        R"(#[version = "0.0.5"]
def @main(%x: Tensor[()",
        batch, R"(, 3, 7, 5), uint8], %w0: Tensor[()", first,
        R"(, 3, 3, 3), int8], %w1: Tensor[()", second,
        R"(, 3, 3, 3), int8], %w2: Tensor[(8, )", all, R"(, 1, 1), int8]) {
  %0 = nn.conv2d(%x, %w0, padding=[1, 1, 1, 1], channels=)",
        first, R"(, kernel_size=[3, 3], out_dtype="int32");
  %1 = round(divide(multiply(cast(%0, dtype="float32"), 0.003f), 0.07f));
  %2 = cast(clip(add(%1, 131f), a_min=0f, a_max=255f), dtype="uint8");
  %3 = nn.conv2d(%x, %w1, padding=[1, 1, 1, 1], channels=)",
        second, R"(, kernel_size=[3, 3], out_dtype="int32");
  %4 = round(divide(multiply(cast(%3, dtype="float32"), 0.004f), 0.07f));
  %5 = cast(clip(add(%4, 131f), a_min=0f, a_max=255f), dtype="uint8");
  %6 = concatenate((%2, %5, %x), axis=1);
  %7 = nn.max_pool2d(%6, pool_size=[2, 2]);
  %8 = nn.conv2d(%7, %w2, channels=8, kernel_size=[1, 1], out_dtype="int32");
  )",
        result, "\n}");
  };
  // Channels that begin at multiples of 32 are computed in their places.
  EXPECT_THAT(
      CheckProgram(program(1, 64, 32, "%8")),
      ElementsAre("conv.int8+requantize", "conv.int8+requantize", "to_slabs32",
                  "max_pool.slabs32", "conv.int8.slabs32"));
  EXPECT_THAT(CheckProgram(program(1, 48, 20, "%8")),
              Contains("concatenate.slabs32"));
  EXPECT_THAT(CheckProgram(program(1, 33, 8, "(%6, %8, %2)")),
              Contains("concatenate.slabs32"));
  EXPECT_THAT(CheckProgram(program(2, 64, 32, "%8")),
              Contains("concatenate.rows"));
}

// A residual map of bytes is stored in bytes, whatever casts passes left out.
TEST(KernelsTest, ResidualMapsOfBytes) {
  const auto text = [](const char* residual, const char* low, const char* high,
                       const char* type) {
    return absl::StrCat(
        R"(#[version = "0.0.5"]
def @main(%x: Tensor[(1, 32, 7, 5), )",
        type, R"(], %w0: Tensor[(32, 32, 1, 1), int8],
          %w1: Tensor[(32, 32, 1, 1), int8]) {
  %0 = nn.conv2d(%x, %w0, channels=32, kernel_size=[1, 1], out_dtype="int32");
  %1 = clip(round(multiply(cast(%0, dtype="float32"), 0.003f)), a_min=)",
        low, ", a_max=", high, R"();
  %2 = cast(%1, dtype=")",
        residual, R"(");
  %3 = multiply(cast(subtract(%2, cast(3, dtype=")",
        residual, R"(")), dtype="float32"), 0.7f);
  %4 = clip(round(%3), a_min=)",
        low, ", a_max=", high, R"();
  %5 = nn.conv2d(cast(%4, dtype=")",
        type, R"("), %w1, channels=32, kernel_size=[1, 1], out_dtype="int32");
  %6 = clip(round(multiply(cast(%5, dtype="float32"), 0.003f)), a_min=)",
        low, ", a_max=", high, R"();
  add(cast(%6, dtype="int32"), cast(%4, dtype="int32"))
})");
  };
  for (const char* const residual : {"int32", "int64", "int16"}) {
    for (const bool is_signed : {false, true}) {
      const std::string program = is_signed
                                      ? text(residual, "-128f", "127f", "int8")
                                      : text(residual, "0f", "255f", "uint8");
      SCOPED_TRACE(program);
      EXPECT_THAT(CheckProgram(program),
                  Contains("conv.int8+requantize").Times(2));
    }
  }
  // A range that no byte has.
  CheckProgram(text("int32", "-1f", "255f", "uint8"));
}

// A block of a quantized residual network: biases of floats and bounds before
// the division are parts of convolutions, and maps have slabs from the first
// convolution to the last one.
TEST(KernelsTest, ResidualBlocksOfBytes) {
  const struct {
    const char* type;
    const char* zero;
    const char* low;
    const char* high;
  } types[] = {{"uint8", "3", "0f", "255f"}, {"int8", "-7", "-128f", "127f"}};
  for (const auto& type : types) {
    for (const char* const bounds :
         {"$", "nn.relu($)", "clip($, a_min=0f, a_max=6f)",
          "clip($, a_min=-1f, a_max=1.7f)"}) {
      for (const char* const results : {"%13", "(%13, %8, %4)", "(%13, %3)"}) {
        const auto quantize = [&](absl::string_view real) {
          return absl::StrCat("cast(clip(add(round(divide(",
                              absl::StrReplaceAll(bounds, {{"$", real}}),
                              ", 0.043f)), ", type.zero, "f), a_min=", type.low,
                              ", a_max=", type.high, "), dtype=\"", type.type,
                              "\")");
        };
        const auto requantize = [&](absl::string_view sums) {
          return quantize(absl::StrCat("add(multiply(cast(", sums,
                                       ", dtype=\"float32\"), 0.0003f), %wb)"));
        };
        const auto real = [&](absl::string_view bytes,
                              absl::string_view scale) {
          return absl::StrCat("multiply(cast(subtract(cast(", bytes,
                              ", dtype=\"int32\"), ", type.zero,
                              "), dtype=\"float32\"), ", scale, ")");
        };
        const std::string text = absl::StrCat(
            R"(#[version = "0.0.5"]
def @main(%x: Tensor[(2, 3, 23, 21), )",
            type.type, R"(], %w0: Tensor[(40, 3, 3, 3), int8],
          %w1: Tensor[(40, 40, 1, 1), int8], %w2: Tensor[(40, 1, 3, 3), int8],
          %wb: Tensor[(40, 1, 1), float32]) {
  %2 = nn.conv2d(%x, %w0, strides=[2, 1], channels=40, kernel_size=[3, 3],
                 out_dtype="int32");
  %3 = )",
            requantize("%2"), R"(;
  %4 = nn.max_pool2d(%3, pool_size=[3, 3], strides=[1, 2], padding=[1, 1, 1, 1]);
  %5 = nn.conv2d(%4, %w1, channels=40, kernel_size=[1, 1], out_dtype="int32");
  %6 = )",
            requantize("%5"), ";\n  %7 = add(", real("%6", "0.05f"), ", ",
            real("%4", "0.031f"), ");\n  %8 = ", quantize("%7"),
            ";\n  %9 = nn.pad(%8, ", type.zero,
            R"(, pad_width=[[0, 0], [0, 0], [1, 1], [1, 1]]);
  %10 = nn.conv2d(%9, %w2, groups=40, channels=40, kernel_size=[3, 3],
                  out_dtype="int32");
  %11 = )",
            requantize("%10"), R"(;
  %12 = nn.conv2d(%11, %w1, channels=40, kernel_size=[1, 1], out_dtype="int32");
  %13 = )",
            requantize("%12"), ";\n  ", results, "\n}");
        SCOPED_TRACE(text);
        const std::vector<std::string> kernels = CheckProgram(text);
        for (const char* const kernel :
             {"conv.int8+requantize", "max_pool.slabs32",
              "conv.int8.slabs32+requantize", "add.bytes.slabs32",
              "conv.int8.depthwise.slabs32+requantize"}) {
          EXPECT_THAT(kernels, Contains(kernel));
        }
      }
    }
  }
}

// Sums of quantized maps, planar ones, too; others are elementwise groups.
TEST(KernelsTest, SumsOfBytes) {
  for (const char* const x : {"cast(%x, dtype=\"float32\")",
                              "cast(subtract(cast(%x, dtype=\"int32\"), 128), "
                              "dtype=\"float32\")"}) {
    for (const char* const y : {"multiply(0.07f, cast(%y, dtype=\"float32\"))",
                                "cast(%y, dtype=\"float32\")"}) {
      for (const char* const type : {"uint8", "int8"}) {
        for (const char* const shape : {"(2, 5, 7)", "(1234)"}) {
          const std::string text = absl::StrCat(
              R"(#[version = "0.0.5"]
def @main(%x: Tensor[)",
              shape, ", uint8], %y: Tensor[", shape, R"(, int8]) {
  %0 = add(multiply()",
              x, ", 0.0123f), ", y, R"();
  cast(clip(add(round(divide(%0, 0.05f)), 3f), a_min=)",
              type[0] == 'u' ? "0f, a_max=255f" : "-128f, a_max=127f",
              "), dtype=\"", type, "\")\n}");
          SCOPED_TRACE(text);
          EXPECT_THAT(CheckProgram(text), ::testing::ElementsAre("add.bytes"));
        }
      }
    }
  }
  // A scale that is no number for quotients without divisions.
  EXPECT_THAT(CheckProgram(R"(#[version = "0.0.5"]
def @main(%x: Tensor[(99), uint8], %y: Tensor[(99), uint8]) {
  %0 = add(multiply(cast(%x, dtype="float32"), -0.5f), cast(%y, dtype="float32"));
  cast(clip(round(divide(%0, 0.05f)), a_min=0f, a_max=255f), dtype="uint8")
})"),
              Not(Contains("add.bytes")));
}

// Convolutions of bytes whose groups have few channels are computed in floats,
// which hold their sums.
TEST(KernelsTest, ConvolutionsOfBytesInGroups) {
  for (const char* const type : {"uint8", "int8"}) {
    for (const char* const weight : {"uint8", "int8"}) {
      for (const char* const zero : {"0", "3"}) {
        for (const char* const padding :
             {"[1, 1]", "[2]", "[0, 1, 2, 0]", "[0, 0]"}) {
          const std::string text = absl::StrCat(
              R"(#[version = "0.0.5"]
def @main(%x: Tensor[(1, 48, 9, 11), )",
              type, R"(], %w0: Tensor[(48, 1, 3, 3), )", weight,
              R"(], %w1: Tensor[(32, 3, 2, 2), )", weight, R"(],
          %wb: Tensor[(1, 48, 1, 1), int32]) {
  %0 = nn.pad(%x, )",
              zero, R"(, pad_width=[[0, 0], [0, 0], [1, 0], [1, 2]]);
  %1 = nn.conv2d(%0, %w0, strides=[2, 1], padding=)",
              padding,
              R"(, groups=48, channels=48, kernel_size=[3, 3], out_dtype="int32");
  %2 = round(multiply(cast(add(%1, %wb), dtype="float32"), 0.01f));
  %3 = cast(clip(%2, a_min=0f, a_max=127f), dtype=")",
              type, R"(");
  (%3, nn.conv2d(%3, %w1, groups=16, channels=32, kernel_size=[2, 2], out_dtype="int32"))
})");
          SCOPED_TRACE(text);
          const std::vector<std::string> kernels = CheckProgram(text);
          EXPECT_THAT(kernels, ::testing::Each(::testing::Not(
                                   ::testing::HasSubstr("nn.conv2d"))));
          if (zero[0] == '0') {
            EXPECT_THAT(
                kernels,
                ::testing::Each(::testing::Not(::testing::HasSubstr("pad"))));
          }
        }
      }
    }
  }
}

// A map of one element that a blocked step has computed is read as a scalar.
TEST(KernelsTest, BlockedMapsOfOneElementAreScalars) {
  EXPECT_THAT(CheckProgram(R"(#[version = "0.0.5"]
def @main(%x: Tensor[(1, 1, 4, 2), float32]) {
  let %one = nn.max_pool2d(%x, pool_size=[4, 2]);
  let %map = nn.max_pool2d(%x, pool_size=[1, 2]);
  nn.global_avg_pool2d(maximum(%map, %one))
})"),
              Contains(HasSubstr("elementwise.blocked16")));
}

// Windows that overlap, that leave gaps, and that padding cuts off.
TEST(KernelsTest, TransposedConvolutions) {
  for (const char* const attrs :
       {"strides=[2, 2]", "strides=[2, 1], padding=[1, 0, 2, 1]",
        "strides=[3, 4], output_padding=[2, 1]", "dilation=[2, 3]",
        "strides=[2, 2], padding=[4, 4, 4, 4]"}) {
    for (const char* const rest :
         {"%0", "nn.relu(add(multiply(nn.bias_add(%0, %b), %s), %s))",
          "add(%0, sigmoid(%0))"}) {
      const std::string text = absl::StrCat(
          R"(#[version = "0.0.5"]
def @main(%x: Tensor[(2, 19, 9, 7), float32], %w: Tensor[(19, 40, 3, 2), float32],
          %b: Tensor[(40), float32], %s: Tensor[(40, 1, 1), float32]) {
  %0 = nn.conv2d_transpose(%x, %w, )",
          attrs, ", channels=40, kernel_size=[3, 2]);\n  ", rest, "\n}");
      SCOPED_TRACE(text);
      EXPECT_THAT(CheckProgram(text), Contains(HasSubstr("fold.blocked16")));
    }
  }
  EXPECT_THAT(CheckProgram(R"(#[version = "0.0.5"]
def @main(%x: Tensor[(1, 300, 50), float32], %w: Tensor[(300, 130, 4), float32]) {
  nn.conv1d_transpose(%x, %w, strides=[2], padding=[1, 1], channels=130,
                      kernel_size=[4])
})"),
              Contains("fold.blocked16"));
}

// Other kernels do not compute windows that the evaluator refuses.
TEST(KernelsTest, WindowsThatDoNotFitFail) {
  for (const char* const call :
       {"nn.avg_pool2d(%x, pool_size=[3, 1], strides=[2, 2], "
        "padding=[0, 0, 1, 0], ceil_mode=True)",
        "nn.max_pool2d(%x, pool_size=[1, 4], dilation=[1, 3], strides=[2, 2], "
        "ceil_mode=True)",
        "nn.conv2d_transpose(%x, %w, channels=8, kernel_size=[3, 3], "
        "strides=[2, 1], output_padding=[1, 1])"}) {
    const std::string text = absl::StrCat(
        "#[version = \"0.0.5\"]\ndef @main(%x: Tensor[(2, 16, 1, 9), "
        "float32], %w: Tensor[(16, 8, 3, 3), float32]) {\n  ",
        call, "\n}");
    SCOPED_TRACE(text);
    EXPECT_THAT(CheckProgram(text),
                ::testing::Each(::testing::StartsWith("evaluator.")));
  }
}

TEST(KernelsTest, Reductions) {
  for (const char* const op : {"sum", "mean", "max", "min"}) {
    for (const char* const attrs :
         {"", "axis=[-1]", "axis=[1, 2], keepdims=True", "axis=[0]",
          "axis=[1], exclude=True"}) {
      const std::string text = absl::StrCat(
          "#[version = \"0.0.5\"]\ndef @main(%x: Tensor[(3, 5, 7, "
          "37), float32]) {\n  ",
          op, "(%x", *attrs == '\0' ? "" : ", ", attrs, ")\n}");
      SCOPED_TRACE(text);
      const bool is_adjacent = !absl::StrContains(text, "exclude");
      EXPECT_THAT(
          CheckProgram(text),
          Contains(absl::StrCat(is_adjacent ? "reduce." : "evaluator.", op)));
    }
  }
}

TEST(KernelsTest, Variances) {
  for (const char* const axis : {"[-1]", "[2, 3]", "[1]", "[0, 1, 2, 3]"}) {
    const std::string text = absl::StrCat(
        R"(#[version = "0.0.5"]
def @main(%x: Tensor[(3, 5, 7, 37), float32]) {
  %0 = mean(%x, axis=)",
        axis, ", keepdims=True);\n  variance(%x, %0, axis=", axis,
        ", keepdims=True)\n}");
    SCOPED_TRACE(text);
    // One row is not worth joining.
    const absl::string_view a = axis;
    EXPECT_THAT(
        CheckProgram(text),
        Contains(a == "[1]"            ? "evaluator.variance"
                 : a == "[0, 1, 2, 3]" ? "reduce.variance"
                                       : "rows:reduce.mean+reduce.variance"));
  }
}

// Normalizations and the like are one step, as far as nothing else reads what
// is between.
TEST(KernelsTest, Rows) {
  const struct {
    const char* text;
    const char* kernel;
  } cases[] = {
      {R"(def @main(%x: Tensor[(3, 50, 37), float32],
                    %gamma: Tensor[(37), float32],
                    %beta: Tensor[(37), float32]) {
            let %d = subtract(%x, mean(%x, axis=[-1], keepdims=True));
            let %v = mean(power(%d, 2f), axis=[-1], keepdims=True);
            let %y = divide(%d, sqrt(add(%v, 1e-05f)));
            add(multiply(%y, %gamma), %beta)
          })",
       "rows:reduce.mean+elementwise+elementwise+reduce.mean+elementwise+"
       "elementwise"},
      // Each image of a batch has its own mask.
      {R"(def @main(%x: Tensor[(3, 4, 16, 18), float32],
                    %mask: Tensor[(3, 1, 1, 18), float32]) {
            nn.softmax(add(divide(%x, 5f), %mask))
          })",
       "elementwise"},
      // All heads have the same one.
      {R"(def @main(%x: Tensor[(12, 40, 40), float32],
                    %mask: Tensor[(40, 40), bool]) {
            nn.softmax(where(%mask, %x, -1e+30f))
          })",
       "rows:elementwise+cast+softmax"},
      {R"(def @main(%x: Tensor[(300, 40), float32]) {
            let %s = sum(exp(%x), axis=[1]);
            divide(%s, max(%x, axis=[1]))
          })",
       "rows:elementwise+reduce.sum"},
      // The result of a step between the others is an output, too.
      {R"(def @main(%x: Tensor[(300, 40), float32]) {
            let %m = mean(%x, axis=[1], keepdims=True);
            let %d = subtract(%x, %m);
            (mean(multiply(%d, %d), axis=[1]), %d)
          })",
       "rows:reduce.mean+elementwise"},
      // Rows of other sizes.
      {R"(def @main(%x: Tensor[(24, 6, 40), float32]) {
            let %m = mean(%x, axis=[-1]);
            let %d = exp(%m);
            max(%d, axis=[1])
          })",
       "rows:reduce.mean+elementwise+reduce.max"},
      // All rows read the whole result.
      {R"(def @main(%x: Tensor[(40, 40), float32]) {
            add(%x, mean(%x, axis=[1]))
          })",
       "reduce.mean"},
      // Columns are no rows.
      {R"(def @main(%x: Tensor[(40, 40), float32]) {
            mean(exp(%x), axis=[0])
          })",
       "reduce.mean"},
      {R"(def @main(%x: Tensor[(64, 100), int8]) {
            nn.softmax(multiply(cast(%x, dtype="float32"), 0.1f))
          })",
       "rows:elementwise+cast+softmax"},
  };
  for (const auto& one : cases) {
    EXPECT_THAT(CheckProgram(one.text), Contains(one.kernel)) << one.text;
  }
}

// The calls that qnn.quantize and qnn.dequantize become are one function of a
// step, unless something else reads a value between them, or a scale is not one
// number.
TEST(KernelsTest, ChainsThatQuantizeAreOneFunction) {
  const struct {
    const char* calls;
    const char* kernel;
  } cases[] = {
      {R"(%q)", "elementwise+cast+quantize"},
      {R"(multiply(cast(subtract(cast(%b, dtype="int32"), 7), dtype="float32"), %s))",
       "elementwise+cast+dequantize"},
      {R"(multiply(cast(subtract(cast(%q, dtype="int32"), 7), dtype="float32"), 0.25f))",
       "elementwise+quantize+dequantize"},
      // A number for each column.
      {R"(multiply(cast(subtract(cast(%b, dtype="int32"), 7), dtype="float32"), %c))",
       "elementwise+cast"},
      {R"(cast(clip(add(round(divide(%x, %c)), 7f), a_min=0f, a_max=255f), dtype="uint8"))",
       "elementwise+cast"},
      // The quotient is a result, too.
      {R"((cast(clip(add(round(%d), 7f), a_min=0f, a_max=255f), dtype="uint8"), %d))",
       "elementwise+cast"},
      // The sum comes before it is rounded.
      {R"(cast(clip(round(add(%d, 7f)), a_min=0f, a_max=255f), dtype="uint8"))",
       "elementwise+cast"},
  };
  for (const auto& one : cases) {
    const std::string text = absl::StrCat(R"(#[version = "0.0.5"]
def @main(%x: Tensor[(3, 5, 70), float32], %b: Tensor[(3, 5, 70), uint8],
          %s: Tensor[(), float32], %c: Tensor[(70), float32]) {
  let %d = divide(%x, %s);
  let %q = cast(clip(add(round(%d), 7f), a_min=0f, a_max=255f), dtype="uint8");
  )",
                                          one.calls, "\n}");
    SCOPED_TRACE(text);
    EXPECT_THAT(CheckProgram(text), Contains(one.kernel));
  }
}

// Quotients by one scale are computed without divisions: those of numbers in the
// middle between two steps, and next to it, too.
TEST(KernelsTest, QuantizationRoundsQuotientsAsDivisionsDo) {
  constexpr float kInf = std::numeric_limits<float>::infinity();
  for (const float scale : {0.0123f, 0x1.fffffep-3f, 3.7e-5f, 41.5f, 1.0f, 0.1f,
                            3e-20f, 7e-39f, 2e25f}) {
    std::vector<float> xs = {0.0f,     -0.0f,   kInf,      -kInf,
                             NAN,      -NAN,    0x1p-149f, -0x1p-149f,
                             0x1p127f, 0x1p31f, 0x1p-126f, 0x1p-100f};
    for (int k = -300; k < 300; ++k) {
      const float middle = (static_cast<float>(k) + 0.5f) * scale;
      float x = middle;
      for (int i = 0; i < 3; ++i) xs.push_back(x = std::nextafter(x, kInf));
      x = middle;
      for (int i = 0; i < 3; ++i) xs.push_back(x = std::nextafter(x, -kInf));
      xs.push_back(middle);
    }
    for (const char* const zero : {"0f", "7f", "-3f"}) {
      BATON_ASSERT_OK_AND_ASSIGN(
          const IRModule module,
          cpu::WithWeights(absl::StrCat(
              "#[version = \"0.0.5\"]\ndef @main(%x: Tensor[(", xs.size(),
              "), float32], %s: Tensor[(), float32]) {\n  "
              "cast(clip(add(round(divide(%x, %s)), ",
              zero, "), a_min=-128f, a_max=127f), dtype=\"int8\")\n}")));
      BATON_ASSERT_OK_AND_ASSIGN(const Executable model, Compile(module, {}));
      EXPECT_THAT(model.plan().notes[0].kernel, HasSubstr("+quantize"));
      BATON_ASSERT_OK_AND_ASSIGN(
          const Tensor x,
          Tensor::FromValues<float>({static_cast<int64_t>(xs.size())}, xs));
      const std::vector<Tensor> inputs = {x, Tensor::Scalar(scale)};
      BATON_ASSERT_OK_AND_ASSIGN(
          const relay::Value want,
          relay::EvaluateFunction(module, "main", {inputs[0], inputs[1]}));
      BATON_ASSERT_OK_AND_ASSIGN(const std::unique_ptr<Session> session,
                                 Session::Create(model));
      BATON_ASSERT_OK_AND_ASSIGN(const std::vector<Tensor> got,
                                 session->Run(inputs));
      EXPECT_TRUE(HaveSameElements(got[0], want.tensor()))
          << scale << " " << zero;
    }
  }
}

TEST(KernelsTest, Powers) {
  for (const char* const exponent : {"2f", "3f", "0.5f", "-1f", "0f"}) {
    const std::string text = absl::StrCat(
        R"(#[version = "0.0.5"]
def @main(%x: Tensor[(3, 5, 7, 37), float32]) {
  add(power(add(%x, %x), )",
        exponent, "), power(%x, ", exponent, "))\n}");
    SCOPED_TRACE(text);
    EXPECT_THAT(CheckProgram(text), Contains("elementwise"));
  }
}

// Casts are part of the step that reads or writes: numbers out of range, too.
TEST(KernelsTest, Casts) {
  for (const char* const from : {"uint8", "int8", "int32"}) {
    for (const char* const to : {"uint8", "int8", "int32"}) {
      const std::string text = absl::StrCat(
          R"(#[version = "0.0.5"]
def @main(%x: Tensor[(3, 5, 400), )",
          from,
          R"(], %y: Tensor[(5, 1), float32], %z: Tensor[(3, 5, 400), float32]) {
  %0 = cast(%x, dtype="float32");
  %1 = multiply(round(%z), add(%0, %y));
  (cast(%1, dtype=")",
          to, "\"), cast(multiply(%z, 1e+12f), dtype=\"", to,
          "\"), cast(%z, dtype=\"", to,
          "\"), cast(%x, dtype=\"float32\"), "
          "multiply(%0, cast(cast(add(%z, %y), dtype=\"",
          to, "\"), dtype=\"float32\")))\n}");
      SCOPED_TRACE(text);
      const std::vector<std::string> kernels = CheckProgram(text);
      EXPECT_THAT(kernels, Contains("elementwise+cast"));
      EXPECT_THAT(kernels, Not(Contains(HasSubstr("evaluator"))));
    }
  }
  // A blocked map becomes bytes, and bytes become one.
  CheckProgram(R"(#[version = "0.0.5"]
def @main(%x: Tensor[(1, 20, 9, 9), float32], %w: Tensor[(24, 20, 3, 3), float32]) {
  %0 = nn.relu(nn.conv2d(%x, %w, channels=24, kernel_size=[3, 3]));
  %1 = cast(%0, dtype="uint8");
  add(cast(%1, dtype="float32"), %0)
})");
}

// Integers wrap, and are floats, bytes and choices within one step.
TEST(KernelsTest, ElementsOfIntegers) {
  for (const char* const type : {"int32", "uint8", "int8"}) {
    for (const char* const text :
         {"multiply(subtract(%x, %y), add(%x, %z))",
          "clip(maximum(%x, minimum(%y, %z)), a_min=-3.5f, a_max=77.9f)",
          "clip(%x, a_min=-1e+30f, a_max=300f)",
          "cast(subtract(cast(cast(%f, dtype=\"T\"), dtype=\"int32\"), 7), "
          "dtype=\"float32\")",
          "multiply(cast(subtract(cast(clip(add(round(divide(%f, %g)), 3f), "
          "a_min=0f, a_max=255f), dtype=\"uint8\"), %b), dtype=\"float32\"), "
          "%g)",
          "cast(add(cast(%x, dtype=\"int32\"), 200), dtype=\"int8\")",
          "cast(cast(%x, dtype=\"uint8\"), dtype=\"int8\")",
          "nn.bias_add(maximum(%x, %y), %v, axis=-2)",
          "cast(cast(%x, dtype=\"int8\"), dtype=\"int32\")",
          "where(less(%x, %y), %x, add(%z, %y))",
          "where(logical_or(greater(%x, %y), less_equal(%y, %x)), %f, %g)",
          "where(%c, where(greater_equal(%x, %y), %y, %z), %x)",
          "logical_and(equal(%x, %y), logical_not(not_equal(%z, %x)))",
          "where(logical_and(less(%f, %g), less_equal(%g, %f)), %f, 2f)",
          "cast(logical_or(greater(%f, %g), greater_equal(%f, 0f)), "
          "dtype=\"T\")",
          "(equal(%f, %f), not_equal(%f, %g), equal(%f, %g))",
          "where(%c, %f, cast(%c, dtype=\"float32\"))",
          "add(where(%c, %f, %g), sqrt(abs(%f)))",
          "cast(add(%x, %x), dtype=\"bool\")",
          "where(cast(%y, dtype=\"bool\"), exp(%g), %f)"}) {
      const std::string program = absl::StrCat(
          R"(#[version = "0.0.5"]
def @main(%x: Tensor[(3, 5, 437), T], %y: Tensor[(5, 1), T],
          %z: Tensor[(), T], %f: Tensor[(3, 5, 437), float32],
          %v: Tensor[(5), T], %g: Tensor[(5, 437), float32],
          %b: Tensor[(5, 1), uint8],
          %c: Tensor[(3, 1, 437), bool]) {
  )",
          text, "\n}");
      const std::string typed = absl::StrReplaceAll(
          program, {{", T]", absl::StrCat(", ", type, "]")},
                    {"\"T\"", absl::StrCat("\"", type, "\"")}});
      SCOPED_TRACE(typed);
      const std::vector<std::string> kernels = CheckProgram(typed);
      EXPECT_THAT(kernels, Contains(HasSubstr("elementwise")));
      EXPECT_THAT(kernels, Not(Contains(HasSubstr("evaluator"))));
    }
  }
}

// Integers times fixed-point numbers, by channel and not.
TEST(KernelsTest, FixedPoint) {
  for (const char* const text :
       {"fixed_point_multiply(%x, multiplier=1518500250, shift=-9)",
        "fixed_point_multiply(%x, multiplier=-1073741825, shift=0)",
        "fixed_point_multiply(add(%x, %x), multiplier=1073741824, shift=30)",
        "clip(add(fixed_point_multiply_per_axis(%x, %w, %w0, %w1, "
        "is_rshift_required=True, axes=[1]), 7), a_min=-128f, a_max=127f)",
        "fixed_point_multiply_per_axis(%x, %w, %w0, %w1, axes=[1])",
        "fixed_point_multiply_per_axis(%x, %w, %w0, %w1, "
        "is_lshift_required=True, is_rshift_required=True, axes=[-2])"}) {
    const std::string program = absl::StrCat(
        R"(#[version = "0.0.5"]
def @main(%r: Tensor[(3, 5, 437), float32], %w: Tensor[(5), int32]) {
  let %x = cast(multiply(%r, 1e+9f), dtype="int32");
  let %w0 = zeros(shape=[5], dtype="int32");
  let %w1 = arange(0, 25, 5, start=0, stop=25, step=5, dtype="int32");
  )",
        text, "\n}");
    SCOPED_TRACE(program);
    const std::vector<std::string> kernels = CheckProgram(program);
    EXPECT_THAT(kernels, Contains(HasSubstr("elementwise")));
    EXPECT_THAT(kernels, Not(Contains(HasSubstr("evaluator"))));
  }
}

// One step quantizes and dequantizes a map, on the map's blocks.
TEST(KernelsTest, QuantizedMapsStayBlocked) {
  const std::vector<std::string> kernels = CheckProgram(R"(#[version = "0.0.5"]
def @main(%x: Tensor[(1, 20, 9, 9), float32], %w: Tensor[(24, 20, 3, 3), float32],
          %w1: Tensor[(24, 24, 1, 1), float32]) {
  %0 = nn.relu(nn.conv2d(%x, %w, channels=24, kernel_size=[3, 3]));
  %1 = clip(add(round(divide(%0, 0.05f)), 128f), a_min=0f, a_max=255f);
  %2 = cast(cast(%1, dtype="uint8"), dtype="int32");
  %3 = multiply(cast(subtract(%2, 128), dtype="float32"), 0.05f);
  nn.conv2d(%3, %w1, channels=24, kernel_size=[1, 1])
})");
  EXPECT_THAT(kernels,
              ::testing::ElementsAre("to_blocked16", "conv.blocked16+clip",
                                     "elementwise.blocked16",
                                     "conv.blocked16.pointwise", "to_planar"));
}

TEST(KernelsTest, Pads) {
  for (const char* const mode : {"constant", "edge", "reflect"}) {
    for (const char* const type : {"float32", "int8", "int64"}) {
      for (const char* const width :
           {"[[0, 0], [1, 2], [3, 0]]", "[[2, 1], [0, 0], [0, 4]]",
            "[[1, 0], [-1, 1], [-2, -3]]"}) {
        // Only constants may be put in place of what is cut off.
        if (absl::StrContains(width, "-1") &&
            mode != absl::string_view("constant")) {
          continue;
        }
        const std::string text = absl::StrCat(
            R"(#[version = "0.0.5"]
def @main(%x: Tensor[(3, 5, 40), )",
            type, "], %v: Tensor[(), ", type,
            "]) {\n  nn.pad(%x, %v, pad_width=", width, ", pad_mode=\"", mode,
            "\")\n}");
        SCOPED_TRACE(text);
        EXPECT_THAT(CheckProgram(text), Contains("pad.indexed"));
      }
    }
  }
}

// The zero point of a quantized map has another type than the map.
TEST(KernelsTest, PadsWithConvertedValues) {
  EXPECT_THAT(CheckProgram(R"(#[version = "0.0.5"]
def @main(%x: Tensor[(3, 5, 40), uint8]) {
  nn.pad(%x, 131, pad_width=[[0, 0], [1, 2], [3, 0]])
})"),
              Contains("pad.indexed"));
  // A computed one: as integers do, it wraps around in the map's type.
  for (const char* const type : {"uint8", "int8", "int16"}) {
    for (const char* const value : {"int32", "int64", "uint32"}) {
      const std::string text = absl::StrCat(R"(#[version = "0.0.5"]
def @main(%x: Tensor[(3, 5, 40), )",
                                            type, "], %v: Tensor[(), ", value,
                                            R"(]) {
  nn.pad(%x, multiply(%v, %v), pad_width=[[0, 0], [1, 2], [3, 0]])
})");
      SCOPED_TRACE(text);
      EXPECT_THAT(CheckProgram(text), Contains("pad.indexed"));
    }
  }
}

// Indices of any shape and type, out of range, computed and constant.
TEST(KernelsTest, JoinsWithoutElements) {
  for (const char* const type : {"float32", "int8", "bool"}) {
    for (const char* const call : {"concatenate", "stack"}) {
      for (const char* const axis : {"0", "1", "2"}) {
        const std::string text =
            absl::StrCat("def @main(%x: Tensor[(1, 0, 3), ", type,
                         "], %y: Tensor[(1, 0, 3), ", type, "]) { ", call,
                         "((%x, %y), axis=", axis, ") }");
        SCOPED_TRACE(text);
        CheckProgram(text);
      }
    }
  }
}

TEST(KernelsTest, Takes) {
  for (const char* const type : {"int32", "int64"}) {
    for (const char* const attrs :
         {"axis=0", "axis=1", "axis=2", "axis=-1, mode=\"wrap\"",
          "mode=\"wrap\""}) {
      const std::string text = absl::StrCat(
          R"(#[version = "0.0.5"]
def @main(%x: Tensor[(5, 7, 9), float32], %i: Tensor[(2, 3), )",
          type, "]) {\n  (take(%x, %i, ", attrs,
          "), take(cast(%x, dtype=\"int8\"), %i, ", attrs, "))\n}");
      SCOPED_TRACE(text);
      EXPECT_THAT(CheckProgram(text), Contains("take.rows"));
    }
  }
  EXPECT_THAT(CheckProgram(R"(#[version = "0.0.5"]
def @main(%x: Tensor[(5, 7, 9), float32]) {
  take(%x, arange(0, 7, 2, start=0, stop=7, step=2, dtype="int32"), axis=1, mode="fast")
})"),
              Contains("take.rows"));
}

// An image is resized, and interpolated by rows and columns, as it is.
// Operators that search, sort, scan and index have steps of their own.
TEST(KernelsTest, SearchesAndScans) {
  for (const char* const type :
       {"float32", "float64", "int64", "int32", "int8", "uint8"}) {
    const bool is_rare = absl::string_view(type) == "uint8";
    for (const char* const call :
         {"argmax(%x, axis=[-1])", "argmin(%x, axis=[1], keepdims=True)",
          "argmax(%x, axis=[0, 1], select_last_index=True)", "argmin(%x)",
          "topk(%x, k=1, dtype=\"int32\")",
          "topk(%x, k=7, axis=1, dtype=\"int64\")",
          "topk(%x, k=0, axis=0, is_ascend=True, dtype=\"int32\")",
          "topk(%x, k=150, ret_type=\"values\", dtype=\"int32\")",
          "topk(%x, k=40, axis=-1, ret_type=\"indices\", dtype=\"int32\")",
          "cumsum(%x, axis=1)", "cumsum(%x, axis=-1, exclusive=True)",
          "cumsum(%x)", "cumprod(%x, axis=0)"}) {
      const bool is_search = absl::StartsWith(call, "arg");
      const std::string text = absl::StrCat(R"(#[version = "0.0.5"]
def @main(%x: Tensor[(37, 9, 211), )",
                                            type, "]) {\n  ", call, "\n}");
      SCOPED_TRACE(text);
      const std::vector<std::string> kernels = CheckProgram(text);
      if (is_search && is_rare) continue;
      EXPECT_THAT(kernels, Not(Contains(HasSubstr("evaluator"))));
    }
  }
  // Many equal elements, whose order is that of their places.
  for (const char* const call :
       {"topk(%0, k=100, axis=1, dtype=\"int32\")",
        "topk(%0, k=2, axis=0, is_ascend=True, dtype=\"int32\")",
        "topk(%0, k=400, axis=1, dtype=\"int32\")", "argmax(%0, axis=[1])",
        "argmin(%0, axis=[1], select_last_index=True)"}) {
    const std::string text = absl::StrCat(R"(#[version = "0.0.5"]
def @main(%x: Tensor[(3, 500, 3), float32]) {
  %0 = round(%x);
  )",
                                          call, "\n}");
    SCOPED_TRACE(text);
    EXPECT_THAT(CheckProgram(text), Not(Contains(HasSubstr("evaluator"))));
  }
}

// Indices of ints from -4 to 3: in the range, and out of it, where both fail.
TEST(KernelsTest, IndexedElements) {
  for (const char* const type : {"int32", "int64"}) {
    for (const char* const call :
         {"gather_nd(%x, %i)", "gather_nd(%m, %i)",
          "take(%x, %i, axis=1, mode=\"fast\")",
          "take(%x, %k, axis=1, mode=\"fast\")",
          "gather_nd(%x, %j, batch_dims=1)", "gather_nd(%r, %i)",
          "one_hot(%j, %on, %off, depth=5, axis=-1, dtype=\"float32\")",
          "one_hot(%i, %on, %off, depth=3, axis=1, dtype=\"float32\")"}) {
      const std::string text =
          absl::StrReplaceAll(absl::StrCat(R"(#[version = "0.0.5"]
def @main(%x: Tensor[(4, 6, 5), float32], %m: Tensor[(4, 4), int8],
          %r: Tensor[(2, 3), float32], %a: Tensor[(2, 301), float32],
          %b: Tensor[(1, 4, 7), float32], %on: Tensor[(), float32],
          %off: Tensor[(), float32]) {
  let %i = cast(clip(multiply(%a, 2f), a_min=-4f, a_max=3f), dtype="T");
  let %j = cast(clip(multiply(%b, 2f), a_min=-4f, a_max=3f), dtype="T");
  let %k = cast(clip(multiply(%b, 2f), a_min=0f, a_max=5f), dtype="T");
  )",
                                           call, "\n}"),
                              {{"\"T\"", absl::StrCat("\"", type, "\"")}});
      SCOPED_TRACE(text);
      const std::vector<std::string> kernels = CheckProgram(text);
      EXPECT_THAT(kernels, Not(Contains(HasSubstr("evaluator.gather_nd"))));
      EXPECT_THAT(kernels, Not(Contains(HasSubstr("evaluator.one_hot"))));
      EXPECT_THAT(kernels, Not(Contains(HasSubstr("evaluator.take"))));
    }
  }
}

TEST(KernelsTest, PoolsOfBytes) {
  for (const char* const type : {"uint8", "int8"}) {
    for (const char* const attrs :
         {"pool_size=[3, 3], strides=[2, 2], padding=[1, 1, 1, 1]",
          "pool_size=[2, 3], strides=[1, 2], padding=[0, 2, 1, 0]",
          "pool_size=[3, 2], dilation=[2, 3], ceil_mode=True, strides=[3, "
          "1]"}) {
      const std::string text =
          absl::StrCat(R"(#[version = "0.0.5"]
def @main(%x: Tensor[(2, 37, 21, 23), )",
                       type, "]) {\n  nn.max_pool2d(%x, ", attrs, ")\n}");
      SCOPED_TRACE(text);
      EXPECT_THAT(CheckProgram(text), ::testing::ElementsAre("max_pool.bytes"));
    }
  }
}

// Dtypes that programs of elements do not have.
TEST(KernelsTest, WideElements) {
  for (const char* const type : {"int64", "float64", "uint32", "int16"}) {
    for (const char* const call :
         {"multiply(subtract(%x, %y), add(%x, %z))",
          "maximum(minimum(%x, %y), %z)", "where(%c, %x, %z)",
          "where(less(%x, %y), add(%y, %z), %x)", "abs(negative(%x))",
          "sign(%x)", "cast(%x, dtype=\"float32\")", "cast(%f, dtype=\"T\")",
          "cast(%x, dtype=\"bool\")", "cast(%c, dtype=\"T\")",
          "cast(%x, dtype=\"int8\")",
          "(equal(%x, %y), not_equal(%z, %x), less_equal(%x, %z), "
          "greater(%x, %y), greater_equal(%y, %x))",
          "logical_xor(less(%x, %y), %c)"}) {
      const std::string text =
          absl::StrReplaceAll(absl::StrCat(R"(#[version = "0.0.5"]
def @main(%x: Tensor[(3, 5, 437), T], %y: Tensor[(5, 1), T],
          %z: Tensor[(), T], %f: Tensor[(3, 5, 437), float32],
          %c: Tensor[(3, 1, 437), bool]) {
  )",
                                           call, "\n}"),
                              {{", T]", absl::StrCat(", ", type, "]")},
                               {"\"T\"", absl::StrCat("\"", type, "\"")}});
      SCOPED_TRACE(text);
      EXPECT_THAT(CheckProgram(text), Not(Contains(HasSubstr("evaluator"))));
    }
  }
}

TEST(KernelsTest, ResizesStayBlocked) {
  const std::vector<std::string> kernels = CheckProgram(R"(#[version = "0.0.5"]
def @main(%x: Tensor[(2, 3, 9, 7), float32], %w0: Tensor[(24, 3, 3, 3), float32],
          %w1: Tensor[(16, 24, 1, 1), float32], %r: Tensor[(18, 1), float32],
          %c: Tensor[(1, 1, 1, 14), float32], %m: Tensor[(2, 1, 18, 14), float32]) {
  let %a = nn.relu(nn.conv2d(%x, %w0, padding=[1, 1, 1, 1], channels=24,
                             kernel_size=[3, 3]));
  let %b = multiply(take(%a, divide(arange(0, 18, 1, start=0, stop=18, step=1, dtype="int32"), 2), axis=2), %r);
  let %c2 = multiply(take(%b, divide(arange(0, 14, 1, start=0, stop=14, step=1, dtype="int32"), 2), axis=3), %c);
  nn.conv2d(add(%c2, %m), %w1, channels=16, kernel_size=[1, 1])
})");
  EXPECT_THAT(kernels, Contains("take.rows.blocked16"));
  EXPECT_THAT(kernels, Not(Contains(HasSubstr("to_blocked"))));
}

// Passes make a weight anew for each step of a recurrence.
TEST(KernelsTest, EqualWeightsArePackedOnce) {
  BATON_ASSERT_OK_AND_ASSIGN(const IRModule module,
                             cpu::WithWeights(R"(#[version = "0.0.5"]
def @main(%x: Tensor[(1, 64), float32], %w: Tensor[(64, 64), float32]) {
  %0 = nn.dense(%x, multiply(%w, 2f), units=64);
  nn.dense(%0, add(%w, %w), units=64)
})"));
  BATON_ASSERT_OK_AND_ASSIGN(const Executable model, Compile(module, {}));
  EXPECT_EQ(model.plan().constants.size(), 1);
  ExpectSameAsEvaluator(module, model, 5, false);
}

// The heads of an attention are read from, and stored to, the rows that contain
// them: no step moves elements.
TEST(KernelsTest, ProductsReadAndStoreHeadsInPlace) {
  for (const int batch : {1, 2}) {
    for (const bool is_joint : {false, true}) {
      const std::string text = absl::StrReplaceAll(
          R"(#[version = "0.0.5"]
def @main(%q: Tensor[(B, 19, 60), float32], %k: Tensor[(B, 23, 60), float32],
          %v: Tensor[(B, 23, 60), float32]) {
  %0 = transpose(reshape(%q, newshape=[B, 19, 3, 20]), axes=[0, 2, 1, 3]);
  %1 = transpose(reshape(%k, newshape=[B, 23, 3, 20]), axes=[0, 2, KEYS]);
  %2 = transpose(reshape(%v, newshape=[B, 23, 3, 20]), axes=[0, 2, 1, 3]);
  %3 = nn.batch_matmul(reshape(%0, newshape=[-1, 19, 20]),
                       reshape(%1, newshape=[N, SHAPE]), transpose_b=JOINT);
  %4 = nn.batch_matmul(nn.softmax(%3), reshape(%2, newshape=[-1, 23, 20]),
                       transpose_b=False);
  %5 = transpose(reshape(%4, newshape=[B, 3, 19, 20]), axes=[0, 2, 1, 3]);
  nn.relu(reshape(%5, newshape=[B, 19, 60]))
})",
          {{"B", absl::StrCat(batch)},
           {"N", absl::StrCat(3 * batch)},
           {"KEYS", is_joint ? "1, 3" : "3, 1"},
           {"SHAPE", is_joint ? "23, 20" : "20, 23"},
           {"JOINT", is_joint ? "True" : "False"}});
      SCOPED_TRACE(text);
      const std::vector<std::string> kernels = CheckProgram(text);
      EXPECT_THAT(kernels, Contains("matmul.batch"));
      EXPECT_THAT(kernels, Not(Contains(HasSubstr("move"))));
    }
  }
}

// Calls that move elements stay steps where others use what they move, or where
// rows would not have adjacent elements.
TEST(KernelsTest, ProductsWithMovesOfTheirOwn) {
  constexpr char kBegin[] =
      "#[version = \"0.0.5\"]\ndef @main(%x: Tensor[(9, 20, 3), float32], "
      "%y: Tensor[(9, 20, 33), float32]) {\n";
  const struct {
    const char* text;
    bool has_move;
  } cases[] = {
      {"  nn.batch_matmul(transpose(%y, axes=[0, 2, 1]), %x, "
       "transpose_b=False)\n}",
       true},
      {"  %0 = transpose(%y, axes=[0, 2, 1]);\n"
       "  (nn.batch_matmul(%0, %0, transpose_b=True), %0)\n}",
       true},
      {"  nn.batch_matmul(%x, transpose(%x, axes=[0, 2, 1]), "
       "transpose_b=False)\n}",
       false},
      {"  transpose(nn.batch_matmul(%x, %x, transpose_b=True), "
       "axes=[0, 2, 1])\n}",
       true},
      {"  transpose(nn.batch_matmul(%x, %x, transpose_b=True), "
       "axes=[1, 0, 2])\n}",
       false},
      {"  reverse(nn.batch_matmul(%x, %x, transpose_b=True), axis=0)\n}", true},
      {"  %0 = nn.batch_matmul(%x, %x, transpose_b=True);\n"
       "  (transpose(%0, axes=[1, 0, 2]), %0)\n}",
       true},
      // A row that is there several times.
      {"  nn.batch_matmul(%x, repeat(strided_slice(%x, begin=[0, 0, 0], "
       "end=[9, 1, 3], strides=[1, 1, 1], axes=[0, 1, 2]), repeats=17, "
       "axis=1), transpose_b=True)\n}",
       true},
      {"  nn.batch_matmul(%x, broadcast_to(strided_slice(%x, begin=[0, 0, 0], "
       "end=[1, 20, 3], strides=[1, 1, 1], axes=[0, 1, 2]), shape=[9, 20, 3]), "
       "transpose_b=True)\n}",
       false},
  };
  for (const auto& one : cases) {
    SCOPED_TRACE(one.text);
    const std::vector<std::string> kernels =
        CheckProgram(absl::StrCat(kBegin, one.text));
    EXPECT_THAT(kernels, Contains("matmul.batch"));
    EXPECT_EQ(std::any_of(kernels.begin(), kernels.end(),
                          [](const std::string& kernel) {
                            return absl::StartsWith(kernel, "move");
                          }),
              one.has_move);
  }
}

// Products of two computed matrices, moves of elements, rows of one dimension.
TEST(KernelsTest, OtherKernels) {
  const struct {
    std::string text;
    std::string kernel;
  } cases[] = {
      {"def @main(%x: Tensor[(3, 9, 20), float32], "
       "%y: Tensor[(3, 17, 20), float32]) "
       "{ nn.batch_matmul(%x, %y, transpose_b=True) }",
       "matmul.batch"},
      {"def @main(%x: Tensor[(3, 9, 20), float32], "
       "%y: Tensor[(1, 20, 33), float32]) { nn.batch_matmul(%x, %y) }",
       "matmul.batch"},
      {"def @main(%x: Tensor[(40, 200), float32], "
       "%y: Tensor[(33, 200), float32]) { nn.dense(%x, %y, units=33) }",
       "matmul.batch"},
      {"def @main(%x: Tensor[(3, 17, 5, 20), float32]) "
       "{ transpose(%x, axes=[0, 3, 2, 1]) }",
       "move.tiles"},
      {"def @main(%x: Tensor[(3, 17, 33), int8]) "
       "{ transpose(%x, axes=[2, 1, 0]) }",
       "move.tiles"},
      {"def @main(%x: Tensor[(3, 17, 33), int64]) "
       "{ transpose(%x, axes=[1, 0, 2]) }",
       "move.rows"},
      {"def @main(%x: Tensor[(1, 17, 33), float32]) "
       "{ strided_slice(%x, begin=[0, 1, 30], end=[1, 17, 2], "
       "strides=[1, 3, -3], axes=[0, 1, 2]) }",
       "move.tiles"},
      {"def @main(%x: Tensor[(1, 17, 1), float32]) "
       "{ broadcast_to(%x, shape=[4, 17, 9]) }",
       "move.tiles"},
      {"def @main(%x: Tensor[(7, 2, 9), float32], "
       "%y: Tensor[(7, 5, 9), float32]) { concatenate((%x, %y), axis=1) }",
       "concatenate.rows"},
      {"def @main(%x: Tensor[(7, 5), int8], %y: Tensor[(7, 5), int8]) "
       "{ (stack((%x, %y), axis=0), stack((%y, %y, %x), axis=1), "
       "stack((%x, %y), axis=-1)) }",
       "concatenate.rows"},
      {"def @main(%x: Tensor[(7, 5, 9), float32]) { nn.softmax(%x, axis=1) }",
       "softmax"},
      {"def @main(%x: Tensor[(7, 5, 9), float32]) { nn.log_softmax(%x) }",
       "log_softmax"},
      {"def @main(%x: Tensor[(2, 5, 40), float32], "
       "%w0: Tensor[(24, 5, 3), float32], %w1: Tensor[(24, 1), float32]) "
       "{ nn.relu(add(nn.conv1d(%x, %w0, padding=[1, 1], channels=24, "
       "kernel_size=[3]), %w1)) }",
       "conv.blocked16.first+bias+clip"},
      {"def @main(%x: Tensor[(1, 24, 40), float32], "
       "%w0: Tensor[(24, 1, 3), float32], %w1: Tensor[(24, 1), float32]) { "
       "let %a = nn.conv1d(%x, %w0, strides=[2], groups=24, channels=24, "
       "kernel_size=[3]); "
       "add(%a, multiply(sigmoid(%a), %w1)) }",
       "elementwise.blocked16"},
  };
  for (const auto& one : cases) {
    EXPECT_THAT(CheckProgram(one.text), Contains(one.kernel)) << one.text;
  }
}

// Sums of float32 are within 1e-5 of the sum of their terms' magnitudes. `call`
// names operands as $x, so that the same is computed of doubles and of their
// magnitudes.
TEST(KernelsTest, SumsAreWithinTheirBounds) {
  const struct {
    const char* params;
    const char* call;
    const char* kernel;
  } cases[] = {
      {"%x: Tensor[(1, 600, 5, 5), float32], "
       "%w0: Tensor[(20, 600, 3, 3), float32]",
       "nn.conv2d($x, $w0, padding=[1, 1, 1, 1], channels=20, "
       "kernel_size=[3, 3])",
       "conv.blocked16"},
      {"%x: Tensor[(2, 3, 19, 17), float32], "
       "%w0: Tensor[(24, 3, 7, 7), float32]",
       "nn.conv2d($x, $w0, strides=[2, 2], padding=[3, 3, 3, 3], channels=24, "
       "kernel_size=[7, 7])",
       "conv.blocked16.first"},
      {"%x: Tensor[(1, 9000, 3, 3), float32], "
       "%w0: Tensor[(17, 9000, 1, 1), float32]",
       // The processor's costs decide its layouts.
       "nn.conv2d($x, $w0, channels=17, kernel_size=[1, 1])", ""},
      {"%x: Tensor[(1, 40, 23, 23), float32], "
       "%w0: Tensor[(40, 1, 13, 13), float32]",
       "nn.conv2d($x, $w0, groups=40, channels=40, kernel_size=[13, 13])",
       "conv.blocked16.depthwise"},
      {"%x: Tensor[(1, 256, 7, 7), float32], "
       "%w0: Tensor[(32, 64, 3, 3), float32]",
       "nn.conv2d($x, $w0, groups=4, channels=32, kernel_size=[3, 3])",
       "conv.blocked16"},
      {"%x: Tensor[(1, 40, 70), float32], %w0: Tensor[(24, 40, 31), float32]",
       "nn.conv1d($x, $w0, channels=24, kernel_size=[31])", "conv.blocked16"},
      {"%x: Tensor[(1, 300, 6, 6), float32], "
       "%w0: Tensor[(300, 20, 3, 3), float32]",
       "nn.conv2d_transpose($x, $w0, channels=20, kernel_size=[3, 3])",
       "fold.blocked16"},
      {"%x: Tensor[(3, 20000), float32], %w0: Tensor[(17, 20000), float32]",
       "nn.dense($x, $w0, units=17)", "matmul"},
      {"%x: Tensor[(40, 9000), float32], %y: Tensor[(33, 9000), float32]",
       "nn.dense($x, $y, units=33)", "matmul.batch"},
      {"%x: Tensor[(2, 9, 5000), float32], %y: Tensor[(2, 5000, 8), float32]",
       "nn.batch_matmul($x, $y, transpose_b=False)", "matmul.batch"},
      {"%x: Tensor[(3, 40000), float32]", "sum($x, axis=[1])", "reduce.sum"},
      {"%x: Tensor[(3, 9000, 5), float32]", "mean($x, axis=[1])",
       "reduce.mean"},
      {"%x: Tensor[(1, 3, 70, 70), float32], "
       "%w0: Tensor[(24, 3, 1, 1), float32]",
       "nn.global_avg_pool2d(nn.conv2d($x, $w0, channels=24, "
       "kernel_size=[1, 1]))",
       "global_avg_pool"},
  };
  for (const auto& one : cases) {
    SCOPED_TRACE(one.call);
    const auto text = [&](const char* before, const char* behind) {
      std::string call = one.call;
      for (const char* const name : {"x", "y", "w0"}) {
        call = absl::StrReplaceAll(call,
                                   {{absl::StrCat("$", name),
                                     absl::StrCat(before, "%", name, behind)}});
      }
      return absl::StrCat("#[version = \"0.0.5\"]\ndef @main(", one.params,
                          ") {\n  ", call, "\n}");
    };
    BATON_ASSERT_OK_AND_ASSIGN(const IRModule module,
                               cpu::WithWeights(text("", "")));
    BATON_ASSERT_OK_AND_ASSIGN(
        const IRModule in_double,
        cpu::WithWeights(text("cast(", ", dtype=\"float64\")")));
    BATON_ASSERT_OK_AND_ASSIGN(
        const IRModule of_magnitudes,
        cpu::WithWeights(text("abs(cast(", ", dtype=\"float64\"))")));
    BATON_ASSERT_OK_AND_ASSIGN(
        const std::vector<relay::Value> args,
        relay::RandomInputs(module.Find<relay::Function>("main"), 9));
    BATON_ASSERT_OK_AND_ASSIGN(
        const relay::Value want,
        relay::EvaluateFunction(in_double, "main", args));
    BATON_ASSERT_OK_AND_ASSIGN(
        const relay::Value magnitudes,
        relay::EvaluateFunction(of_magnitudes, "main", args));
    BATON_ASSERT_OK_AND_ASSIGN(const Executable model, Compile(module, {}));
    std::vector<std::string> kernels;
    for (const executor::StepNote& note : model.plan().notes) {
      kernels.push_back(note.kernel);
    }
    EXPECT_THAT(kernels, Contains(HasSubstr(one.kernel)));
    BATON_ASSERT_OK_AND_ASSIGN(const std::unique_ptr<Session> session,
                               Session::Create(model));
    std::vector<Tensor> inputs;
    for (const relay::Value& arg : args) inputs.push_back(arg.tensor());
    BATON_ASSERT_OK_AND_ASSIGN(const std::vector<Tensor> got,
                               session->Run(inputs));
    ASSERT_EQ(got[0].shape(), want.tensor().shape());
    double largest = 0;  // of the errors, as parts of the bound
    for (int64_t i = 0; i < got[0].num_elements(); ++i) {
      const double bound = 1e-5 * magnitudes.tensor().AtAsDouble(i);
      largest = std::max(largest, std::fabs(got[0].AtAsDouble(i) -
                                            want.tensor().AtAsDouble(i)) /
                                      bound);
    }
    EXPECT_LE(largest, 1);
    EXPECT_GT(largest, 0);
  }
}

// Channels stay in blocks from the first convolution to the last pool.
TEST(KernelsTest, ChainsStayBlocked) {
  const std::vector<std::string> kernels = CheckProgram(R"(
    def @main(%x: Tensor[(1, 3, 9, 9), float32],
              %w0: Tensor[(24, 3, 3, 3), float32],
              %w1: Tensor[(24, 1, 3, 3), float32],
              %w2: Tensor[(24, 1, 1), float32],
              %w3: Tensor[(40, 48), float32]) {
      let %a = nn.relu(nn.conv2d(%x, %w0, padding=[1, 1, 1, 1], channels=24, kernel_size=[3, 3]));
      let %b = nn.conv2d(%a, %w1, padding=[1, 1, 1, 1], groups=24, channels=24, kernel_size=[3, 3]);
      let %c = nn.relu(add(multiply(%a, %w2), %w2));
      let %d = concatenate((%b, %c), axis=1);
      let %e = reshape(%d, newshape=[1, 4, 12, 9, 9]);
      let %f = transpose(%e, axes=[0, 2, 1, 3, 4]);
      let %g = reshape(%f, newshape=[1, 48, 9, 9]);
      let %h = nn.lrn(nn.max_pool2d(%g, pool_size=[2, 2], strides=[2, 2]));
      nn.dense(nn.batch_flatten(nn.global_avg_pool2d(%h)), %w3, units=40)
    })");
  EXPECT_THAT(kernels, Not(Contains(HasSubstr("to_planar"))));
  EXPECT_THAT(kernels, Not(Contains(HasSubstr("to_blocked"))));
  EXPECT_THAT(kernels, Not(Contains(HasSubstr("evaluator"))));
  EXPECT_THAT(kernels, Contains("apply.blocked16+scale+shift+clip"));
  EXPECT_THAT(kernels, Contains("gather_channels.blocked16"));
  EXPECT_THAT(kernels, Contains("lrn.blocked16"));
}

}  // namespace
}  // namespace baton
