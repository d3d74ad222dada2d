// Tests of libraries that `baton-compile` writes: compilers take them without a
// warning, and they compute what the evaluator does.

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <iostream>
#include <iterator>
#include <map>
#include <sstream>
#include <string>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "absl/strings/ascii.h"
#include "absl/strings/match.h"
#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "absl/strings/str_replace.h"
#include "absl/strings/str_split.h"
#include "absl/strings/string_view.h"
#include "absl/strings/strip.h"
#include "baton/tools/compile_options.h"
#include "baton/tools/compile_test_util.h"
#include "baton/tools/written_library.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"

namespace baton {
namespace {

using ::testing::ContainsRegex;
using ::testing::HasSubstr;
using ::testing::Not;

// All in the long form.
std::vector<const char*> IsasToTest() {
  if (!IsLongForm()) return {"avx2"};
  return {"avx512", "avx2", "sse2"};
}

// In the short form nothing is optimized, which takes two thirds of the time.
std::string Flags() {
  return absl::StrCat(" -std=c++17 ", IsLongForm() ? "-O1" : "-O0",
                      " -Wall -Wextra -Werror -fno-exceptions -fno-rtti ");
}

// True if a program is there, and what it compiles may be run.
bool CanRun(const std::string& tool) { return MayRunPrograms() && Has(tool); }

// Compiles a model with its test, and returns the folder, whose name is that of
// the model unless another one is given.
std::string Compiled(absl::string_view name, absl::string_view text,
                     LibraryOptions options = {},
                     absl::string_view folder = "") {
  options.model = ModelFile(absl::StrCat(name, ".relay"), text);
  options.output_dir =
      absl::StrCat(::testing::TempDir(), "/", folder.empty() ? name : folder);
  options.test = true;
  const absl::Status status = WriteLibrary(options);
  EXPECT_TRUE(status.ok()) << status.message();
  return options.output_dir;
}

// The library gives the evaluator's bytes.
TEST(LibraryCodeTest, CompilesAPerceptron) {
  LibraryOptions options;
  options.cpp_class = "acme::Perceptron";
  const std::string folder = Compiled("perceptron", kPerceptron, options);
  if (!CanRun("g++")) GTEST_SKIP() << "there is no g++";
  EXPECT_THAT(OutputOf(folder,
                       "g++ -std=c++17 -O2 -Wall -Wextra -Werror *.cc *.o -lm "
                       "-o test && ./test"),
              Not(HasSubstr("exit ")));
}

// The header says how far results are from those of the model without passes,
// and the test fails where they are farther.
TEST(LibraryCodeTest, HasANumericalContract) {
  LibraryOptions options;
  options.isas = "sse2";
  const auto error_of = [](const std::string& folder) {
    const std::string header = TextOf(folder + "/contract.h");
    const std::string name = "kMaxError = ";
    const size_t at = header.find(name);
    return at == std::string::npos ? -1 : std::atof(&header[at + name.size()]);
  };
  // Passes that are exact.
  std::string folder = Compiled("contract", kPerceptron, options);
  EXPECT_EQ(error_of(folder), 0);
  EXPECT_THAT(TextOf(folder + "/contract.h"),
              HasSubstr("`SimplifyInference,FoldConstant`"));
  // Weights and products in half floats.
  options.passes = "ToMixedPrecision";
  folder = Compiled("contract", kPerceptron, options);
  const double error = error_of(folder);
  EXPECT_GT(error, 1e-6);
  EXPECT_LT(error, 1e-1);
  EXPECT_THAT(TextOf(folder + "/contract.report.json"),
              HasSubstr("\"max_error\":"));
  std::string other_folders[2];
  for (const bool is_larger : {false, true}) {
    options.max_error = is_larger ? error * 2 : error / 2;
    other_folders[is_larger] =
        Compiled("contract", kPerceptron, options,
                 is_larger ? "contract_larger" : "contract_smaller");
  }
  EXPECT_DOUBLE_EQ(error_of(other_folders[0]), error / 2);
  if (!CanRun("g++")) GTEST_SKIP() << "there is no g++";
  const std::string run = absl::StrCat(
      "g++", Flags(), "contract_sse2.cc contract_test.cc *.o -lm -o t && ./t");
  EXPECT_EQ(OutputOf(folder, run), "sse2\n");
  EXPECT_THAT(OutputOf(other_folders[0], run),
              ::testing::ContainsRegex("output 0 is .* away from that of the "
                                       "model without passes, more than "
                                       "kMaxError"));
  EXPECT_EQ(OutputOf(other_folders[1], run), "sse2\n");
}

// Products of few rows with matrices that are computed: with all columns of
// vectors, with some, and with none; in chunks, and in groups of chunks.
TEST(LibraryCodeTest, CompilesProductsOfFewRows) {
  std::string params;
  std::string body;
  std::string results;
  int number = 0;
  const auto add = [&](int batch, int m, int n, int k) {
    for (const char* transposed : {"True", "False"}) {
      const bool is = transposed[0] == 'T';
      absl::StrAppend(&params, number == 0 ? "" : ", ", "%a", number,
                      ": Tensor[(", batch, ", ", m, ", ", k, "), float32], %b",
                      number, ": Tensor[(", batch, ", ", is ? n : k, ", ",
                      is ? k : n, "), float32]");
      absl::StrAppend(&body, "  %", number, " = nn.batch_matmul(%a", number,
                      ", %b", number, ", transpose_b=", transposed, ");\n");
      absl::StrAppend(&results, number == 0 ? "" : ", ", "%", number);
      ++number;
    }
  };
  add(2, 1, 77, 300);
  add(1, 3, 5, 3);
  add(1, 1, 17, 4700);
  // Columns are packed sixteen at a time, and the rest one by one.
  add(2, 5, 37, 50);
  add(3, 4, 16, 16);
  LibraryOptions options;
  options.check_values = true;
  const std::string network = absl::StrCat("def @main(", params, ") {\n", body,
                                           "  (", results, ")\n}\n");
  for (const char* isa : IsasToTest()) {
    options.isas = isa;
    const std::string name = absl::StrCat("few_rows_", isa);
    const std::string folder = Compiled(name, network, options);
    const std::string text =
        TextOf(absl::StrCat(folder, "/", name, "_", isa, ".cc"));
    EXPECT_THAT(text, HasSubstr("kernels::Dots(1, 77, 300"));
    EXPECT_THAT(text, HasSubstr("kernels::Dots(3, 5, 3"));
    EXPECT_THAT(text, HasSubstr("kernels::PackMatrix(37, 50"));
    // The matrix is packed for sums of more than one group.
    EXPECT_THAT(text, ::testing::Not(HasSubstr("kernels::Dots(1, 17")));
    if (!CanRun("g++")) continue;
    EXPECT_THAT(
        OutputOf(folder,
                 absl::StrCat("g++", Flags(), "*.cc *.o -lm -o t && ./t")),
        ::testing::AnyOf(absl::StrCat(isa, "\n"), HasSubstr("skipped")));
  }
}

constexpr char kBytes[] =
    R"(
def @main(%x: Tensor[(1, 16, 9, 9), uint8], %m: Tensor[(17, 64), int8]) {
  %0 = sin(arange(0f, 11520f, 1f, start=0f, stop=11520f, step=1f, dtype="float32"));
  %1 = cast(multiply(%0, 100f), dtype="int8");
  %2 = reshape(strided_slice(%1, begin=[0], end=[4608], strides=[1], axes=None), newshape=[32, 16, 3, 3]);
  %3 = nn.conv2d(%x, %2, padding=[1, 1, 1, 1], channels=32, kernel_size=[3, 3], out_dtype="int32");
  %4 = arange(0f, 32f, 1f, start=0f, stop=32f, step=1f, dtype="float32");
  %5 = reshape(cast(%4, dtype="int32"), newshape=[1, 32, 1, 1]);
  %6 = round(multiply(cast(add(%3, %5), dtype="float32"), 0.003f));
  %7 = cast(clip(add(%6, 131f), a_min=0f, a_max=255f), dtype="uint8");
  %8 = nn.conv2d(%7, reshape(%1, newshape=[40, 32, 3, 3]), strides=[2, 2], channels=40, kernel_size=[3, 3], out_dtype="int32");
  %9 = reshape(strided_slice(%1, begin=[0], end=[2112], strides=[1], axes=None), newshape=[33, 64]);
  %10 = nn.dense(%m, %9, units=33, out_dtype="int32");
  %11 = multiply(cast(%m, dtype="int32"), 1000);
  %12 = subtract(cast(%9, dtype="int32"), 300);
  %13 = reshape(strided_slice(%1, begin=[0], end=[288], strides=[1], axes=None), newshape=[32, 1, 3, 3]);
  %14 = nn.conv2d(%7, %13, padding=[1, 1, 1, 1], groups=32, channels=32, kernel_size=[3, 3], out_dtype="int32");
  %15 = nn.relu(add(multiply(cast(%14, dtype="float32"), 0.002f), reshape(%4, newshape=[32, 1, 1])));
  %16 = cast(clip(round(divide(%15, 0.3f)), a_min=0f, a_max=255f), dtype="uint8");
  (%8, nn.conv2d(%x, %2, channels=32, kernel_size=[3, 3], out_dtype="int32"), %10, nn.dense(%11, %12, units=33, out_dtype="int32"), %16)
}
)";

// Convolutions of bytes and products of integers are the executor's kernels, for
// each set of instructions; with AVX-512 there are processors without VNNI, which
// give the same bytes.
TEST(LibraryCodeTest, CompilesKernelsOfBytes) {
  LibraryOptions options;
  options.check_values = true;
  options.threads = true;
  for (const char* isa : IsasToTest()) {
    options.isas = isa;
    const std::string name = absl::StrCat("bytes_", isa);
    const std::string folder = Compiled(name, kBytes, options);
    const std::string path = absl::StrCat(folder, "/", name, "_", isa, ".cc");
    const std::string text = TextOf(path);
    for (const char* const call :
         {"kernels::Int8ConvToBytes(kPlan", "kernels::Int8Conv(kPlan",
          "kernels::IntMatmul(kPlan"}) {
      EXPECT_THAT(text, HasSubstr(call));
    }
    EXPECT_THAT(text, Not(HasSubstr("nn_conv2d_")));
    EXPECT_THAT(text, Not(HasSubstr("nn_dense_")));
    if (CanRun("clang++")) {
      EXPECT_EQ(OutputOf(folder, absl::StrCat("clang++", Flags(),
                                              "-fsyntax-only *.cc")),
                "");
    }
    // g++-11 has no __builtin_shufflevector.
    if (CanRun("g++-11")) {
      EXPECT_EQ(
          OutputOf(folder, absl::StrCat("g++-11", Flags(), "-fsyntax-only ",
                                        name, "_", isa, ".cc")),
          "");
    }
    if (!CanRun("g++")) continue;
    // The compiler takes the most time, in sources that ask for all of its work.
    std::ofstream(path) << absl::StrReplaceAll(text, {{", \"O3\")", ")"}});
    const std::string run =
        absl::StrCat("g++", Flags(), "*.cc *.o -lm -o t && ./t");
    const auto passes =
        ::testing::AnyOf(absl::StrCat(isa, "\n"), HasSubstr("skipped"));
    EXPECT_THAT(OutputOf(folder, run), passes);
    if (!absl::StrContains(text, "c >> 11 & b")) {
      EXPECT_NE(isa, absl::string_view("avx512"));
      continue;
    }
    std::ofstream(path) << absl::StrReplaceAll(
        text, {{", \"O3\")", ")"}, {"c >> 11 & b", "0 & b"}});
    EXPECT_THAT(OutputOf(folder, run), passes);
  }
}

// Groups of integers, bools and casts are loops over vectors, as those of floats
// are: for all ways to read operands and to write results, and for floats that
// no integer has.
TEST(LibraryCodeTest, CompilesGroupsOfIntegers) {
  LibraryOptions options;
  options.check_values = true;
  options.threads = true;
  for (const char* isa : IsasToTest()) {
    options.isas = isa;
    const std::string name = absl::StrCat("integers_", isa);
    const std::string folder = Compiled(name, R"(
def @main(%f: Tensor[(3, 5, 421), float32], %a: Tensor[(3, 5, 421), int32], %b: Tensor[(5, 1), int32],
    %u: Tensor[(3, 5, 421), uint8], %v: Tensor[(421), uint8], %i: Tensor[(3, 1, 421), int8], %c: Tensor[(3, 5, 421), bool],
    %d: Tensor[(421), bool], %n: int32, %m: uint8) {
  %0 = multiply(cast(multiply(%f, 3e+9f), dtype="int32"), %a);
  %1 = subtract(add(%0, %b), %n);
  %2 = cast(clip(maximum(minimum(%1, %a), %b), a_min=-300f, a_max=1e+6f), dtype="uint8");
  %3 = multiply(add(%u, %v), subtract(%u, %m));
  %4 = cast(maximum(%u, %v), dtype="float32");
  %5 = add(cast(%u, dtype="float32"), %f);
  %6 = cast(exp(multiply(%f, 60f)), dtype="int32");
  %7 = negative(exp(multiply(%f, 60f)));
  %8 = cast(%7, dtype="int8");
  %9 = cast(divide(%f, subtract(%f, %f)), dtype="uint8");
  %10 = cast(divide(subtract(%f, %f), subtract(%f, %f)), dtype="int32");
  %11 = where(logical_or(less(%a, %b), logical_and(%c, %d)), %f, %5);
  %12 = where(logical_not(greater_equal(%f, 0f)), %a, %n);
  %13 = cast(logical_or(equal(%u, %v), not_equal(%f, %5)), dtype="int32");
  %14 = cast(less_equal(%a, %b), dtype="uint8");
  %15 = fixed_point_multiply(%0, multiplier=1518500250, shift=-9);
  %16 = cast(fixed_point_multiply(%0, multiplier=-1073741825, shift=3), dtype="int8");
  %17 = zeros(shape=[5], dtype="int32");
  %18 = cast(multiply(arange(0f, 5f, 1f, start=0f, stop=5f, step=1f, dtype="float32"), 2e+8f), dtype="int32");
  %19 = cast(arange(1f, 6f, 1f, start=1f, stop=6f, step=1f, dtype="float32"), dtype="int32");
  %20 = fixed_point_multiply_per_axis(%0, %18, %17, %19, is_rshift_required=True, axes=[1]);
  %21 = fixed_point_multiply_per_axis(%0, %18, %17, %17, axes=[1]);
  %22 = greater(cast(%i, dtype="int32"), %b);
  %23 = cast(%a, dtype="bool");
  %24 = cast(multiply(cast(%i, dtype="float32"), 1.7f), dtype="int8");
  %25 = cast(cast(%f, dtype="int32"), dtype="float32");
  (%1, %2, %3, %4, %5, %6, %8, %9, %10, %11, %12, %13, %14, %15, %16, %20, %21, %22, %23, %24, %25)
}
)",
                                        options);
    const std::string text =
        TextOf(absl::StrCat(folder, "/", name, "_", isa, ".cc"));
    EXPECT_THAT(text, Not(HasSubstr("    for (int32_t ")));
    if (CanRun("clang++")) {
      EXPECT_EQ(OutputOf(folder, absl::StrCat("clang++", Flags(),
                                              "-fsyntax-only *.cc")),
                "");
    }
    if (!CanRun("g++")) continue;
    EXPECT_THAT(
        OutputOf(folder,
                 absl::StrCat("g++", Flags(), "*.cc *.o -lm -o t && ./t")),
        ::testing::AnyOf(absl::StrCat(isa, "\n"), HasSubstr("skipped")));
  }
}

// The branch that is chosen is computed alone, also where it may fail.
TEST(LibraryCodeTest, CompilesBranches) {
  LibraryOptions options;
  options.isas = "sse2";
  options.check_values = true;
  options.threads = true;
  options.profile = true;
  const std::string folder = Compiled("branches", R"(
def @main(%x: Tensor[(1, 4), float32], %i: Tensor[(1, 4), int64]) {
  %0 = mean(%x);
  %1 = if (greater(%0, 0.3f)) {
    (exp(%x), mean(%x, axis=[1]))
  } else {
    %2 = (%x, sum(%x, axis=[1]));
    %2
  };
  %3 = if (less(%0, 1f)) { tanh(%1.0) } else { add(%1.0, %1.1) };
  %4 = if (greater(%0, 100f)) {
    gather(%x, add(%i, 1000i64), axis=1)
  } else {
    %5 = nn.dense(%3, reshape(arange(0f, 16f, 1f, start=0f, stop=16f, step=1f, dtype="float32"), newshape=[4, 4]), units=4);
    if (less(%0, 0f)) { nn.softmax(%5) } else { nn.relu(%5) }
  };
  (%3, %4)
}
)",
                                      options);
  const std::string text = TextOf(folder + "/branches_sse2.cc");
  EXPECT_THAT(text, HasSubstr("  } else {\n"));
  if (!CanRun("g++")) GTEST_SKIP() << "there is no g++";
  EXPECT_EQ(OutputOf(folder, absl::StrCat("g++", Flags(),
                                          "*.cc *.o -lm -o test && ./test")),
            "sse2\n");
}

// Tensors without elements: there is nothing to compute, or what does not depend
// on the input.
TEST(LibraryCodeTest, CompilesTensorsWithoutElements) {
  LibraryOptions options;
  options.isas = "sse2";
  options.check_values = true;
  const std::string folder = Compiled("empty", R"(
def @main(%x: Tensor[(1, 0, 4), float32], %y: Tensor[(1, 2, 4), float32]) {
  %0 = concatenate((%x, exp(%y), tanh(%x)), axis=1);
  %1 = nn.softmax(%x);
  %2 = max(%x, axis=[2]);
  %3 = sum(%x, axis=[1]);
  %4 = nn.pad(%x, 1f, pad_width=[[0, 0], [1, 1], [0, 0]]);
  %5 = add(%3, %4);
  %6 = nn.batch_matmul(transpose(%x, axes=[0, 2, 1]), %1);
  (%0, %1, %2, %3, %4, %5, %6)
}
)",
                                      options);
  if (!CanRun("g++")) GTEST_SKIP() << "there is no g++";
  EXPECT_EQ(OutputOf(folder, absl::StrCat("g++", Flags(),
                                          "*.cc *.o -lm -o test && ./test")),
            "sse2\n");
}

// An index of what has no elements is out of range, whichever it is: the run
// ends, if it comes there.
TEST(LibraryCodeTest, ReadingFromNothingEndsARun) {
  LibraryOptions options;
  options.isas = "sse2";
  options.check_values = true;
  std::string text =
      "def @main(%y: Tensor[(1), float32], %x: Tensor[(0, 3), float32], "
      "%i: Tensor[(2), int64], %n: Tensor[(1, 2), int64], %e: Tensor[(2, 3), "
      "int64]) {\n";
  const std::vector<std::string> calls = {"take(%x, %i, axis=0)",
                                          "take(%x, %i, axis=0, mode=\"wrap\")",
                                          "take(%x, %i, axis=0, mode=\"fast\")",
                                          "take(%x, 1i64, axis=0)",
                                          "gather_nd(%x, %n)",
                                          "gather(%x, %e, axis=0)",
                                          "adv_index((%x, %i))"};
  std::vector<std::string> results;
  for (size_t k = 0; k < calls.size(); ++k) {
    results.push_back(absl::StrCat("%", k));
    absl::StrAppend(&text, "  %", k, " = if (not_equal(mean(%y), ", k + 1,
                    "f)) { sum(%y) } else { sum(", calls[k], ") };\n");
  }
  absl::StrAppend(&text, "  (", absl::StrJoin(results, ", "), ")\n}\n");
  const std::string folder = Compiled("nothing", text, options);
  if (!CanRun("g++")) GTEST_SKIP() << "there is no g++";
  std::ofstream(folder + "/use.cpp") << R"(
#include <cstdio>
#include "nothing.h"
int main() {
  alignas(64) static unsigned char arena[nothing::kArenaBytes];
  nothing model(arena);
  const std::int64_t indices[6] = {};
  float to[7];
  for (int i = 0; i < 8; ++i) {
    const float y = i;
    const auto error = model.Run(
        {&y, nullptr, indices, indices, indices},
        {to, to + 1, to + 2, to + 3, to + 4, to + 5, to + 6});
    std::printf("%d", static_cast<int>(error));
  }
}
)";
  EXPECT_EQ(OutputOf(folder, absl::StrCat("g++", Flags(),
                                          "nothing_sse2.cc nothing_test.cc *.o "
                                          "-lm -o test && ./test && g++",
                                          Flags(),
                                          "use.cpp nothing_sse2.cc "
                                          "nothing_weights.o -lm -o use && "
                                          "./use")),
            "sse2\n01111111");
}

// The library computes a function that passes made for another compiler, which
// is not here, and whose code is in the module.
TEST(LibraryCodeTest, CompilesPartitionedModels) {
  LibraryOptions options;
  options.isas = "sse2";
  const std::string folder = Compiled("partitioned", R"(
def @main(%x: Tensor[(4, 5), float32]) {
  %0 = @part(exp(%x));
  tanh(%0)
}
def @part(%y: Tensor[(4, 5), float32], Primitive=1, Inline=1, Compiler="acme", global_symbol="part", artifact_name="part.c", artifact="void part();") -> Tensor[(4, 5), float32] {
  nn.softmax(%y)
}
)",
                                      options);
  if (!CanRun("g++")) GTEST_SKIP() << "there is no g++";
  EXPECT_EQ(OutputOf(folder, absl::StrCat("g++", Flags(),
                                          "*.cc *.o -lm -o test && ./test")),
            "sse2\n");
}

// Images are resized by tables of positions and weights, which are constants of
// the library.
TEST(LibraryCodeTest, CompilesResizes) {
  LibraryOptions options;
  options.isas = "avx2";
  options.check_values = true;
  const std::string folder = Compiled("resized", R"(
def @main(%x: Tensor[(1, 16, 6, 5), float32], %m: Tensor[(4, 4), float32]) {
  %0 = image.resize2d(%x, size=[12, 10], roi=[0f, 0f, 0f, 0f], method="nearest_neighbor", coordinate_transformation_mode="asymmetric", rounding_method="floor");
  %1 = image.resize2d(%x, size=[13, 4], roi=[0f, 0f, 0f, 0f], method="linear");
  %2 = image.resize2d(%x, size=[3, 11], roi=[0f, 0f, 0f, 0f], method="cubic");
  %3 = nn.upsampling(nn.relu(%x), scale_h=2f, scale_w=2f);
  (%0, %1, %2, %3, trilu(%m, 0i64))
}
)",
                                      options);
  if (!CanRun("g++")) GTEST_SKIP() << "there is no g++";
  EXPECT_EQ(OutputOf(folder, absl::StrCat("g++", Flags(),
                                          "*.cc *.o -lm -o test && ./test")),
            "avx2\n");
}

// Statements in an order, whose indices are inputs: of scans, of the largest
// elements, of elements at indices.
TEST(LibraryCodeTest, CompilesStatementsInOrder) {
  LibraryOptions options;
  options.isas = "sse2";
  const std::string folder = Compiled("ordered", R"(
def @main(%x: Tensor[(3, 7), float32], %h: Tensor[(2, 9), float16],
          %i: Tensor[(2, 5), int64], %u: Tensor[(5), float32]) {
  %0 = minimum(maximum(%i, -2i64), 1i64);
  %1 = topk(%x, k=3, axis=1, ret_type="both", is_ascend=0, dtype="int32");
  %2 = topk(%h, k=4, axis=-1, ret_type="values", is_ascend=1, dtype="int32");
  %3 = cumsum(%x, axis=0);
  %4 = gather_nd(%x, %0, batch_dims=0, index_rank=2);
  %5 = scatter_nd(%x, %0, %u, mode="add");
  (%1.0, %1.1, %2, %3, %4, %5)
}
)",
                                      options);
  if (!CanRun("g++")) GTEST_SKIP() << "there is no g++";
  EXPECT_EQ(OutputOf(folder, absl::StrCat("g++", Flags(),
                                          "*.cc *.o -lm -o test && ./test")),
            "sse2\n");
}

// Scatters without updates are copies.
TEST(LibraryCodeTest, CompilesScattersOfNothing) {
  LibraryOptions options;
  options.isas = "avx2";
  options.check_values = true;
  const std::string folder = Compiled("nothing_scattered", R"(
def @main(%x: Tensor[(3, 7), float32], %i: Tensor[(2, 0), int64], %u: Tensor[(0), float32],
          %j: Tensor[(3, 0), int64], %v: Tensor[(3, 0), float32]) {
  (scatter_nd(%x, %i, %u, mode="add"), scatter_elements(nn.relu(%x), %j, %v, axis=1))
}
)",
                                      options);
  if (!CanRun("g++")) GTEST_SKIP() << "there is no g++";
  EXPECT_EQ(OutputOf(folder, absl::StrCat("g++", Flags(),
                                          "*.cc *.o -lm -o test && ./test")),
            "avx2\n");
}

// Powers are parts of groups of functions: ordinary ones, and those of zeros,
// negative numbers and infinities.
TEST(LibraryCodeTest, CompilesPowers) {
  LibraryOptions options;
  options.check_values = true;
  for (const char* isa : IsasToTest()) {
    options.isas = isa;
    const std::string name = absl::StrCat("powers_", isa);
    const std::string folder = Compiled(name, R"(
def @main(%x: Tensor[(3, 421), float32], %y: Tensor[(421), float32]) {
  %0 = add(power(abs(%x), 0.75f), %y);
  %1 = divide(%x, power(add(1f, multiply(0.0001f, multiply(%x, %x))), 0.75f));
  %2 = power(multiply(ceil(multiply(%x, 2f)), 3f), 3f);
  %3 = power(divide(%x, subtract(%y, %y)), -1.5f);
  %4 = exp(power(subtract(%x, %y), 2f));
  (%0, %1, %2, %3, %4)
}
)",
                                        options);
    const std::string text =
        TextOf(absl::StrCat(folder, "/", name, "_", isa, ".cc"));
    EXPECT_THAT(text, Not(HasSubstr("    for (int32_t ")));
    if (!CanRun("g++")) continue;
    EXPECT_THAT(
        OutputOf(folder,
                 absl::StrCat("g++", Flags(), "*.cc *.o -lm -o t && ./t")),
        ::testing::AnyOf(absl::StrCat(isa, "\n"), HasSubstr("skipped")));
  }
}

// Half floats are computed by the kernels of float32, and rounded in groups of
// functions.
TEST(LibraryCodeTest, CompilesHalfFloats) {
  LibraryOptions options;
  options.check_values = true;
  for (const char* dtype : {"float16", "bfloat16"}) {
    for (const char* isa : {"avx2", "sse2"}) {
      // The short form has each once.
      if (!IsLongForm() && (dtype[0] == 'b') != (isa[0] == 's')) continue;
      options.isas = isa;
      const std::string name = absl::StrCat(dtype, "_", isa);
      const std::string folder = Compiled(
          name,
          absl::StrReplaceAll(R"(
def @main(%x: Tensor[(1, 20, 9, 7), H], %b: Tensor[(32), H],
          %m: Tensor[(1, 40, 63), H], %c: bool) {
  %7 = cast(reshape(sin(arange(0f, 5760f, 1f, start=0f, stop=5760f, step=1f, dtype="float32")), newshape=[32, 20, 3, 3]), dtype="H");
  %0 = nn.relu(nn.bias_add(nn.conv2d(%x, %7, padding=[1, 1, 1, 1], channels=32, kernel_size=[3, 3]), %b));
  %1 = reshape(nn.max_pool2d(%0, pool_size=[1, 1], padding=[0, 0, 0, 0]), newshape=[1, 32, 63]);
  %2 = nn.batch_matmul(%1, %m, transpose_b=True);
  %3 = nn.softmax(add(%2, multiply(exp(%2), tanh(%2))), axis=-1);
  %4 = cast(%3, dtype="float32");
  %5 = cast(add(%4, 1.5f), dtype="H");
  %6 = if (%c) { multiply(%5, sigmoid(%3)) } else { sqrt(abs(%5)) };
  (%0, %3, %4, %5, %6, cast(%2, dtype="int8"), power(abs(%2), cast(0.75f, dtype="H")))
}
)",
                              {{"H]", absl::StrCat(dtype, "]")},
                               {"\"H\"", absl::StrCat("\"", dtype, "\"")}}),
          options);
      EXPECT_THAT(TextOf(absl::StrCat(folder, "/", name, "_", isa, ".cc")),
                  HasSubstr("ConvByTiles("));
      if (!CanRun("g++")) continue;
      EXPECT_EQ(OutputOf(folder, absl::StrCat("g++", Flags(),
                                              "*.cc *.o -lm -o t && ./t")),
                absl::StrCat(isa, "\n"));
    }
  }
}

// Threads divide a convolution into bands; fewer threads take larger ones.
TEST(LibraryCodeTest, FewerThreadsTakeLargerBands) {
  LibraryOptions options;
  options.threads = true;
  options.max_threads = 3;
  options.isas = "avx2";
  const std::string folder = Compiled("bands", R"(
def @main(%x: Tensor[(1, 64, 28, 28), float32]) {
  %0 = reshape(arange(0f, 36864f, 1f, start=0f, stop=36864f, step=1f, dtype="float32"), newshape=[64, 64, 3, 3]);
  %1 = subtract(divide(%0, 18432f), 1f);
  %2 = nn.relu(nn.conv2d(%x, %1, padding=[1, 1], channels=64, kernel_size=[3, 3]));
  nn.conv2d_transpose(%2, %1, strides=[2, 2], padding=[1, 1], channels=64, kernel_size=[3, 3])
}
)",
                                      options);
  EXPECT_THAT(TextOf(folder + "/bands_avx2.cc"),
              ContainsRegex("\\(m.level < 2 \\? shared::conv_[0-9a-f]+ : "
                            "shared::conv_[0-9a-f]+\\)"));
  EXPECT_THAT(TextOf(folder + "/bands.h"), HasSubstr("kMaxThreads = 3;"));
  // The report has the functions for any number of threads, and the items of a
  // run of the most.
  EXPECT_THAT(TextOf(folder + "/bands_avx2.cc"),
              HasSubstr("m.level < 2 ? 4 : 6"));
  EXPECT_THAT(TextOf(folder + "/bands.report.json"),
              ContainsRegex("\"functions\":\\[\"conv_[0-9a-f]+\","
                            "\"conv_[0-9a-f]+\"\\],[^\n]*\"items\":6,"));
  if (!CanRun("g++")) GTEST_SKIP() << "there is no g++";
  EXPECT_EQ(OutputOf(folder, absl::StrCat("g++", Flags(),
                                          "*.cc *.o -lm -o test && ./test")),
            "avx2\n");
}

// Convolutions over three axes use the kernel of those over two.
TEST(LibraryCodeTest, CompilesConvolutionsOverThreeAxes) {
  LibraryOptions options;
  options.check_values = true;
  options.isas = "avx2";
  const std::string folder = Compiled("videos", R"(
def @main(%x: Tensor[(1, 3, 5, 9, 8), float32]) {
  %0 = reshape(arange(0f, 2592f, 1f, start=0f, stop=2592f, step=1f, dtype="float32"), newshape=[32, 3, 3, 3, 3]);
  %1 = reshape(arange(0f, 9216f, 1f, start=0f, stop=9216f, step=1f, dtype="float32"), newshape=[18, 32, 2, 2, 4]);
  %2 = subtract(divide(%0, 1296f), 1f);
  %3 = subtract(divide(%1, 4608f), 1f);
  %4 = nn.relu(nn.conv3d(%x, %2, strides=[1, 2, 1], padding=[1, 1, 1], channels=32, kernel_size=[3, 3, 3]));
  nn.conv3d(%4, %3, padding=[0, 1, 2], channels=18, kernel_size=[2, 2, 4])
}
)",
                                      options);
  EXPECT_THAT(TextOf(absl::StrCat(folder, "/videos_avx2.cc")),
              HasSubstr("ConvByTiles("));
  if (!CanRun("g++")) GTEST_SKIP() << "there is no g++";
  EXPECT_EQ(OutputOf(folder, absl::StrCat("g++", Flags(),
                                          "*.cc *.o -lm -o test && ./test")),
            "avx2\n");
}

// Loops over as many samples and boxes as values say.
TEST(LibraryCodeTest, CompilesDetections) {
  LibraryOptions options;
  options.isas = "sse2";
  const std::string folder = Compiled("detected", R"(
def @main(%x: Tensor[(2, 3, 5, 6), float32], %n: Tensor[(9, 1), float32],
          %c: Tensor[(9, 4), float32], %b: Tensor[(1, 17, 4), float32],
          %s: Tensor[(1, 3, 17), float32], %w: Tensor[(6), float32]) {
  %0 = concatenate((floor(multiply(abs(%n), 1.9f)), multiply(%c, 12f)), axis=1);
  %1 = vision.roi_align(%x, %0, pooled_size=[2, 3], spatial_scale=0.5f64, sample_ratio=-1);
  %2 = vision.roi_align_half_pixel(%x, %0, pooled_size=[2, 3], spatial_scale=1f64, sample_ratio=2, mode="max");
  %3 = vision.roi_pool(%x, %0, pooled_size=[2, 2], spatial_scale=1f64);
  %4 = vision.all_class_non_max_suppression(%b, %s, 4i64, 0.2f, -0.5f);
  %5 = stft(reshape(%x, newshape=[2, 90]), %w, n_fft=6, hop_length=4);
  (%1, %2, %3, %4.0, %4.1, %5)
}
)",
                                      options);
  if (!CanRun("g++")) GTEST_SKIP() << "there is no g++";
  EXPECT_EQ(OutputOf(folder, absl::StrCat("g++", Flags(),
                                          "*.cc *.o -lm -o test && ./test")),
            "sse2\n");
}

constexpr char kChosen[] = R"(
def @main(%b: Tensor[(1, 17, 4), float32], %s: Tensor[(1, 3, 17), float32], %f: Tensor[(17, 5), float32]) {
  %0 = vision.all_class_non_max_suppression(%b, %s, 4i64, 0.2f, -0.5f);
  %1 = dyn.strided_slice(%0.0, zeros(shape=[1], dtype="int64"), %0.1, ones(shape=[1], dtype="int64"), begin=None, end=None, strides=None, axes=None);
  %2 = take(%1, 2i64, axis=1);
  %3 = take(%f, %2, axis=0, mode="fast");
  %4 = take(reshape(%b, newshape=[17, 4]), %2, axis=0);
  %5 = concatenate((%4, %3, cast(%1, dtype="float32")), axis=1);
  %6 = argwhere(greater(%s, 0f));
  (%1, %5, transpose(%6, axes=[1, 0]), exp(%b))
}
)";

// Results have the memory of the largest that they may be, and extents.
TEST(LibraryCodeTest, CompilesResultsOfManySizes) {
  LibraryOptions options;
  options.isas = "sse2";
  options.check_values = true;
  options.threads = true;
  const std::string folder = Compiled("chosen", kChosen, options);
  const std::string header = TextOf(folder + "/chosen.h");
  EXPECT_THAT(header,
              HasSubstr("std::int64_t* output_0;  // at most int64[12,3]: "
                        "row-major, of the extents in output_0_shape\n"));
  EXPECT_THAT(header, HasSubstr("float* output_1;  // at most float32[12,12]"));
  EXPECT_THAT(header, HasSubstr("int32_t* output_2;  // at most int32[3,51]"));
  EXPECT_THAT(header, HasSubstr("std::int64_t* output_2_shape;  // int64[2]: "
                                "the extents of output_2\n"));
  if (!CanRun("g++")) GTEST_SKIP() << "there is no g++";
  EXPECT_EQ(OutputOf(folder, absl::StrCat("g++", Flags(),
                                          "*.cc *.o -lm -o test && ./test")),
            "sse2\n");
}

constexpr char kFound[] = R"(
#include <cstdint>
#include <cstdio>
#include "found.h"
alignas(found::kArenaAlign) static unsigned char arena[found::kArenaBytes];
int main() {
  found model(arena);
  for (int count = 0; count <= 6; ++count) {
    float x[6] = {};
    for (int i = 0; i < count; ++i) x[i] = 1;
    std::int32_t rows[6], last[1];
    std::int64_t shape[2];
    found::Outputs outputs = {};
    outputs.output_0 = rows;
    outputs.output_0_shape = shape;
    outputs.output_1 = last;
    std::printf("%d", static_cast<int>(model.Run({x}, outputs)));
  }
}
)";

// Three of what is found make a row, and nothing has no largest element.
TEST(LibraryCodeTest, FaultsThatDependOnWhatIsFoundEndARun) {
  LibraryOptions options;
  options.isas = "sse2";
  const std::string folder = Compiled("found", R"(
def @main(%x: Tensor[(6), float32]) {
  %0 = argwhere(%x);
  (reshape(%0, newshape=[-1, 3]), argmax(%0, axis=[0]))
}
)",
                                      options);
  if (!CanRun("g++")) GTEST_SKIP() << "there is no g++";
  std::ofstream(folder + "/use.cpp") << kFound;
  // All but 3 and 6 elements are Error::kValue.
  EXPECT_EQ(OutputOf(folder, absl::StrCat("g++", Flags(),
                                          "use.cpp found_sse2.cc *.o -lm -o "
                                          "use && ./use")),
            "1110110");
}

// Loops run as often as values say.
TEST(LibraryCodeTest, CompilesLoops) {
  LibraryOptions options;
  options.isas = "sse2";
  options.check_values = true;
  options.threads = true;
  const std::string folder = Compiled("loops", R"(
def @rounds(%i: int32, %n: int32, %x: Tensor[(2, 3), float32], %y: Tensor[(2, 3), float32]) -> (Tensor[(2, 3), float32], int32) {
  if (less(%i, %n)) {
    %0 = tanh(add(%x, %y));
    %1 = if (greater(max(%0), 0.5f)) { multiply(%0, 0.5f) } else { %0 };
    @rounds(add(%i, 1i32), %n, %1, %y)
  } else {
    (exp(%x), %i)
  }
}
def @main(%x: Tensor[(2, 3), float32], %n: int32) {
  @rounds(0i32, add(mod(%n, 3i32), 7i32), %x, %x)
}
)",
                                      options);
  EXPECT_THAT(TextOf(folder + "/loops_sse2.cc"), HasSubstr("  for (;;) {\n"));
  if (!CanRun("g++")) GTEST_SKIP() << "there is no g++";
  EXPECT_EQ(OutputOf(folder, absl::StrCat("g++", Flags(),
                                          "*.cc *.o -lm -o test && ./test")),
            "sse2\n");
}

// The stacks of a loop are as large as the values say, up to a bound.
TEST(LibraryCodeTest, CompilesLoopsThatStack) {
  LibraryOptions options;
  options.isas = "sse2";
  options.check_values = true;
  options.threads = true;
  const std::string folder =
      Compiled("stacked", StackingLoop("minimum(abs(%n), 6i64)"), options);
  EXPECT_THAT(
      TextOf(folder + "/stacked.h"),
      HasSubstr("float* output_1;  // at most float32[6,2,3]: row-major, "
                "of the extents in output_1_shape\n"));
  if (!CanRun("g++")) GTEST_SKIP() << "there is no g++";
  std::ofstream(folder + "/use.cpp") << R"(
#include <cstdio>
#include "stacked.h"
alignas(64) static unsigned char arena[stacked::kArenaBytes];
int main() {
  stacked model(arena);
  for (long n = 0; n < 9; ++n) {
    float x[6] = {0, -1, 2, -3, 4, -0.5f}, last[6], all[36];
    const std::int64_t limit = n;
    std::int64_t shape[3];
    model.Run({x, &limit}, {last, all, shape});
    std::printf(" %d", static_cast<int>(shape[0]));
  }
}
)";
  EXPECT_EQ(OutputOf(folder, absl::StrCat("g++", Flags(),
                                          "*.cc *.o -lm -o test && ./test")),
            "sse2\n");
  EXPECT_EQ(OutputOf(folder, absl::StrCat("g++", Flags(),
                                          "use.cpp stacked_sse2.cc "
                                          "stacked_weights.o -lm -o use && "
                                          "./use")),
            " 0 1 2 3 4 4 4 4 4");
}

// Windows of transposed convolutions overlap, with and without an epilogue.
TEST(LibraryCodeTest, CompilesTransposedConvolutions) {
  LibraryOptions options;
  options.isas = "avx2,sse2";
  options.check_values = true;
  options.threads = true;
  const std::string folder = Compiled("transposed", R"(
def @main(%x: Tensor[(2, 20, 5, 7), float32], %z: Tensor[(1, 4, 9), float32]) {
  %0 = sin(arange(0f, 3240f, 1f, start=0f, stop=3240f, step=1f, dtype="float32"));
  %1 = reshape(%0, newshape=[20, 18, 3, 3]);
  %2 = nn.conv2d_transpose(%x, %1, channels=18, kernel_size=[3, 3], strides=[2, 2], padding=[1, 1, 1, 1], output_padding=[1, 0]);
  %3 = cos(arange(0f, 18f, 1f, start=0f, stop=18f, step=1f, dtype="float32"));
  %4 = nn.relu(nn.bias_add(%2, %3));
  %5 = reshape(sin(arange(0f, 32f, 1f, start=0f, stop=32f, step=1f, dtype="float32")), newshape=[4, 4, 2]);
  (%4, nn.conv1d_transpose(%z, %5, channels=4, kernel_size=[2], strides=[2]))
}
)",
                                      options);
  if (!CanRun("g++")) GTEST_SKIP() << "there is no g++";
  EXPECT_THAT(OutputOf(folder, absl::StrCat("g++", Flags(),
                                            "*.cc *.o -lm -o test && ./test")),
              Not(HasSubstr("exit ")));
}

// Elements of all sizes are padded, moved and joined as the executor does.
TEST(LibraryCodeTest, CompilesMoves) {
  LibraryOptions options;
  options.isas = "sse2";
  options.check_values = true;
  options.threads = true;
  for (const char* type : {"float32", "float64", "int8", "int16"}) {
    const std::string folder = Compiled(absl::StrCat("moves_", type),
                                        absl::StrReplaceAll(R"(
def @main(%x: Tensor[(3, 70, 90), TYPE], %y: Tensor[(5, 1), TYPE]) {
  %0 = nn.pad(%x, cast(3f, dtype="TYPE"), pad_width=[[1, 0], [2, 3], [0, 4]]);
  %1 = nn.pad(%x, cast(-1f, dtype="TYPE"), pad_width=[[0, 0], [1, 1], [0, 0]]);
  %2 = transpose(%x, axes=[2, 0, 1]);
  %3 = strided_slice(%x, begin=[0, 1, 89], end=[3, 70, 0], strides=[2, 3, -2], axes=None);
  %4 = broadcast_to(%y, shape=[2, 5, 33]);
  %5 = (%x, %1);
  %6 = concatenate(%5, axis=1);
  (%0, %1, %2, %3, %4, %6)
}
)",
                                                            {{"TYPE", type}}),
                                        options);
    EXPECT_THAT(TextOf(absl::StrCat(folder, "/moves_", type, "_sse2.cc")),
                HasSubstr("\n// pad.rows\n"));
    if (!CanRun("g++")) continue;
    EXPECT_EQ(OutputOf(folder, absl::StrCat("g++", Flags(),
                                            "*.cc *.o -lm -o test && ./test")),
              "sse2\n")
        << type;
  }
}

// Steps name functions whose bytes the objects tell.
TEST(LibraryCodeTest, AReportNamesTheFunctionsOfSteps) {
  LibraryOptions options;
  options.isas = "sse2";
  const std::string folder = Compiled("named", kNetwork, options);
  if (!CanRun("g++") || !CanRun("nm"))
    GTEST_SKIP() << "there is no g++ or no nm";
  ASSERT_EQ(OutputOf(folder, absl::StrCat("g++", Flags(), "-c named_sse2.cc")),
            "");
  const std::string symbols =
      OutputOf(folder, "nm -S --defined-only named_sse2.o");
  const std::string report = TextOf(folder + "/named.report.json");
  const std::string key = "\"functions\":[\"";
  int steps = 0;
  for (size_t at = report.find(key); at != std::string::npos;
       at = report.find(key, at + 1)) {
    const size_t begin = at + key.size();
    const std::string name =
        report.substr(begin, report.find('"', begin) - begin);
    EXPECT_THAT(symbols, HasSubstr(name));
    ++steps;
  }
  EXPECT_GT(steps, 3);
}

// Sources of a model with other weights are the same: a build compiles none of
// them, and links the other object. The header names the weights.
TEST(LibraryCodeTest, OtherWeightsAreLinkedToTheSameCode) {
  LibraryOptions options;
  options.isas = "avx2,sse2";
  options.test = true;
  const std::string network = kNetwork;
  std::string folders[2];
  for (const bool again : {false, true}) {
    options.model = ModelFile(
        "retrained.relay",
        again ? absl::StrReplaceAll(network, {{"sin(", "cos("}}) : network);
    folders[again] = absl::StrCat(::testing::TempDir(), "/retrained", again);
    options.output_dir = folders[again];
    ASSERT_EQ(WriteLibrary(options), absl::OkStatus());
    options.shared_dir = folders[again] + "/functions";
    options.name = "retrained_split";
    options.test = false;
    ASSERT_EQ(WriteLibrary(options), absl::OkStatus());
    std::filesystem::remove(folders[again] + "/retrained_split_weights.o");
    options.shared_dir.clear();
    options.name.clear();
    options.test = true;
  }
  // So are the files of functions.
  EXPECT_EQ(FilesOf(folders[0] + "/functions"),
            FilesOf(folders[1] + "/functions"));
  for (const char* file : {"retrained.h", "retrained_avx2.cc",
                           "retrained_sse2.cc", "retrained_weights.o"}) {
    EXPECT_EQ(TextOf(absl::StrCat(folders[0], "/", file)) ==
                  TextOf(absl::StrCat(folders[1], "/", file)),
              absl::EndsWith(file, ".cc"))
        << file;
  }
  if (!CanRun("g++")) GTEST_SKIP() << "there is no g++";
  // The objects of the first, the weights of the second.
  EXPECT_EQ(OutputOf(folders[1],
                     absl::StrCat("cp ../retrained0/*_avx2.cc "
                                  "../retrained0/*_sse2.cc . && g++",
                                  Flags(), "*.cc *.o -lm -o test && ./test")),
            "avx2\n");
  // The header of the first names other weights.
  EXPECT_THAT(
      OutputOf(folders[1], absl::StrCat("cp ../retrained0/*.h . && g++",
                                        Flags(), "*.cc *.o -lm -o test 2>&1")),
      HasSubstr("undefined reference to `retrained_model_"));
}

int SizeOf(const std::string& folder, absl::string_view file) {
  return std::atoi(
      OutputOf(folder, absl::StrCat("size ", file, " | tail -1 | cut -f1"))
          .c_str());
}

// A network, and one that differs in its last function: a program with both has
// one copy of equal functions and weights.
TEST(LibraryCodeTest, ModelsOfAProgramShareFunctionsAndWeights) {
  const std::string network = kNetwork;
  const std::string root = absl::StrCat(::testing::TempDir(), "/sharing");
  std::filesystem::create_directory(root);
  std::vector<std::string> files[2];
  for (const bool second : {false, true}) {
    LibraryOptions options;
    options.model = ModelFile(
        second ? "second.relay" : "first.relay",
        second ? absl::StrReplaceAll(network, {{"erf(", "atan("}}) : network);
    options.isas = "avx2";
    options.test = true;
    options.output_dir = root;
    options.shared_dir = absl::StrCat(root, "/functions", second);
    ASSERT_EQ(WriteLibrary(options), absl::OkStatus());
    files[second] = FilesOf(options.shared_dir);
  }
  // Another function, and the group of the copies.
  std::vector<std::string> others;
  std::set_difference(files[1].begin(), files[1].end(), files[0].begin(),
                      files[0].end(), std::back_inserter(others));
  EXPECT_GE(files[0].size(), 8u);
  EXPECT_EQ(others.size(), 1u) << absl::StrJoin(others, ", ");
  for (const std::string& file : files[0]) {
    const std::string other = TextOf(absl::StrCat(root, "/functions1/", file));
    if (other.empty()) continue;
    EXPECT_EQ(TextOf(absl::StrCat(root, "/functions0/", file)), other) << file;
  }
  if (!CanRun("g++") || !CanRun("size"))
    GTEST_SKIP() << "there is no g++ or no size";
  std::ofstream(root + "/use.cc")
      << "int First();\nint Second();\nint main() { return RUN; }\n";
  const std::string compile = absl::StrCat("g++", Flags(), "-c ");
  std::ofstream(root + "/build.sh") << absl::StrCat(
      "set -e\nmkdir -p objects0 objects1\n(cd objects0 && ", compile,
      "../functions0/*.cc)\nfor f in functions1/*.cc; do\n"
      "  o=${f##*/}; o=${o%.cc}.o\n"
      "  cp objects0/$o objects1 2>/dev/null || ",
      compile, "$f -o objects1/$o\ndone\n", compile,
      "first_avx2.cc second_avx2.cc\n", compile, "-Dmain=First first_test.cc\n",
      compile,
      "-Dmain=Second second_test.cc\n"
      "g++ use.cc '-DRUN=First()' first_*.o objects0/*.o -lm -o first\n"
      "g++ use.cc '-DRUN=Second()' second_*.o objects1/*.o -lm -o second\n"
      // Equal objects may be linked twice.
      "g++ use.cc '-DRUN=First() + Second()' first_*.o second_*.o objects?/*.o "
      "-lm -o both\n./both\n");
  EXPECT_EQ(OutputOf(root, "bash build.sh"), "avx2\navx2\n");
  for (const auto& [name, count] :
       std::vector<std::pair<std::string, int>>{{"Tile<6, 2, false>", 1},
                                                {"nn_softmax_[0-9a-f]*", 1},
                                                {"elementwise_[0-9a-f]*", 2},
                                                {"atan_[0-9a-f]*", 1}}) {
    EXPECT_EQ(
        OutputOf(root, absl::StrCat(
                           "nm -C both | grep -v clone | grep -c ' [tW] .*::",
                           name, "('")),
        absl::StrCat(count, "\n"))
        << name;
  }
  // The test has inputs and outputs of both models, which are equal in part.
  const int first = SizeOf(root, "first");
  const int second = SizeOf(root, "second");
  EXPECT_GT(first, 30000);
  EXPECT_LT(SizeOf(root, "both"), (first + second) * 2 / 3);
}

// The library gives the evaluator's bytes. Then faults in what runs the steps:
// one that does not run, or not to its end. The test of the library finds each.
TEST(LibraryCodeTest, TestsOfANetworkFindPlantedFaults) {
  LibraryOptions options;
  options.isas = "avx2";
  const std::string folder = Compiled("faulty", kNetwork, options);
  if (!CanRun("g++")) GTEST_SKIP() << "there is no g++";
  if (CanRun("clang++")) {
    EXPECT_EQ(OutputOf(folder,
                       absl::StrCat("clang++", Flags(), "-fsyntax-only *.cc")),
              "");
  }
  std::string source = "extern int planted;\n";
  int faults = 0;
  for (absl::string_view line :
       absl::StrSplit(TextOf(folder + "/faulty_avx2.cc"), '\n')) {
    if (absl::StartsWith(line, "  Step")) {
      absl::StrAppend(&source, "  if (planted != ", ++faults, ")");
      if (!absl::EndsWith(line, ", 1);")) {
        absl::StrAppend(&source, line.substr(0, line.size() - 2),
                        " - (planted == ", ++faults, "));\n");
        continue;
      }
    }
    absl::StrAppend(&source, line, "\n");
  }
  EXPECT_GE(faults, 20);
  std::ofstream(folder + "/faulty_avx2.cc") << source;
  std::string test = TextOf(folder + "/faulty_test.cc");
  const std::string main = "int main() {\n";
  const size_t at = test.find(main);
  ASSERT_NE(at, std::string::npos);
  test.replace(at, main.size(),
               "int planted = 0;\nint main(int argc, char** argv) {\n"
               "  for (const char* c = argc > 1 ? argv[1] : \"\"; *c; ++c) "
               "planted = planted * 10 + *c - '0';\n");
  std::ofstream(folder + "/faulty_test.cc") << test;
  ASSERT_EQ(OutputOf(folder, absl::StrCat("g++", Flags(),
                                          "*.cc *.o -lm -o run && ./run 0")),
            "avx2\n");
  for (int fault = 1; fault <= faults; ++fault) {
    EXPECT_THAT(OutputOf(folder, absl::StrCat("./run ", fault)),
                HasSubstr("differs from the evaluator's"))
        << fault;
  }
}

// Operators with an order of their own: sorts, sums of products, samples.
TEST(LibraryCodeTest, SortsContractsAndSamples) {
  LibraryOptions options;
  options.isas = IsLongForm() ? "avx2,sse2" : "avx2";
  const std::string folder = Compiled("ordered", R"(
def @main(%x: Tensor[(3, 1500), float32], %i: Tensor[(5, 7, 2), int8], %a: Tensor[(2, 3, 40), float32], %b: Tensor[(2, 40, 24), float32], %g: Tensor[(1, 2, 4, 5), float32]) {
  %0 = topk(%x, k=1200, is_ascend=True, dtype="int64");
  %1 = reshape(%a, newshape=[1, 3, 8, 10]);
  (sort(%x, is_ascend=False),
   argsort(%i, axis=1, dtype="int32"),
   %0.0,
   %0.1,
   einsum((%a, %b), equation="bij,bjk->bik"),
   einsum((%a, %b, %b), equation="bij,bjk,bjl->ikl"),
   image.grid_sample(%1, %g, method="bicubic", padding_mode="reflection"),
   image.grid_sample(%1, %g, padding_mode="border", align_corners=False))
}
)",
                                      options);
  if (!CanRun("g++")) GTEST_SKIP() << "there is no g++";
  for (const char* compiler : {"g++", "clang++"}) {
    if (!CanRun(compiler)) continue;
    EXPECT_EQ(OutputOf(folder, absl::StrCat(compiler, Flags(),
                                            "*.cc *.o -lm -o run && ./run")),
              "avx2\n");
  }
}

TEST(LibraryCodeTest, LibrariesAreSmallAndNeedLibcAlone) {
  const std::string folder = Compiled("small", kPerceptron);
  if (!CanRun("g++") || !CanRun("nm"))
    GTEST_SKIP() << "there is no g++ or no nm";
  EXPECT_EQ(OutputOf(folder, absl::StrCat("g++", Flags(),
                                          "-ffreestanding -fsyntax-only "
                                          "small_avx2.cc small_sse2.cc")),
            "");
  ASSERT_EQ(OutputOf(folder, absl::StrCat("g++", Flags(),
                                          "-c small_avx512.cc small_avx2.cc "
                                          "small_sse2.cc")),
            "");
  // The text and the data of all instructions.
  const std::string sizes = OutputOf(
      folder,
      "size small_avx512.o small_avx2.o small_sse2.o | awk 'NR > 1 {sum += $4} "
      "END {print sum}'");
  int64_t bytes = 0;
  ASSERT_TRUE(absl::SimpleAtoi(absl::StripAsciiWhitespace(sizes), &bytes))
      << sizes;
  EXPECT_LT(bytes, 64 << 10);
  // Nothing runs before main.
  EXPECT_EQ(OutputOf(folder,
                     "{ nm small_*.o; objdump -h small_*.o; } | awk "
                     "'/_GLOBAL__sub_I|init_array/ {++n} END {print n + 0}'"),
            "0\n");
  // Also with exceptions, which the library does not have, and without
  // optimization.
  for (const std::string& compiler :
       {absl::StrCat("g++", Flags()), std::string("g++ -std=c++17 -O2 "),
        std::string("g++ -std=c++17 -O0 "),
        std::string("clang++ -std=c++17 -O2 ")}) {
    SCOPED_TRACE(compiler);
    if (!CanRun(compiler.substr(0, compiler.find(' ')))) continue;
    const std::string undefined = OutputOf(
        folder, absl::StrCat(compiler,
                             "-c small_avx512.cc small_avx2.cc small_sse2.cc "
                             "&& nm -u small_avx512.o small_avx2.o "
                             "small_sse2.o | grep ' U '"));
    EXPECT_THAT(undefined, HasSubstr("fmaf"));
    for (absl::string_view line :
         absl::StrSplit(undefined, '\n', absl::SkipWhitespace())) {
      line = absl::StripAsciiWhitespace(line);
      line = absl::StripPrefix(line, "U ");
      EXPECT_TRUE(absl::StrContains(line, "small_") || line == "memcpy" ||
                  line == "memset" || line == "fmaf" || line == "sqrtf")
          << line;
    }
  }
}

// A recurrent model of voice detection: spectra, convolutions over time, and an
// LSTM cell, whose state is an output.
constexpr char kVoice[] =
    R"(def @main(%x: Tensor[(1, 1, 512), float32], %h: Tensor[(1, 128), float32], %c: Tensor[(1, 128), float32]) {
  %0 = sin(arange(0f, 66048f, 1f, start=0f, stop=66048f, step=1f, dtype="float32"));
  %1 = nn.conv1d(%x, reshape(%0, newshape=[258, 1, 256]), strides=[128], padding=[64, 64], channels=258, kernel_size=[256]);
  %2 = split(%1, indices_or_sections=[129], axis=1);
  %3 = multiply(%2.0, %2.0);
  %4 = multiply(%2.1, %2.1);
  %5 = sqrt(add(%3, %4));
  %6 = multiply(cos(arange(0f, 49536f, 1f, start=0f, stop=49536f, step=1f, dtype="float32")), 0.05f);
  %7 = nn.relu(nn.bias_add(nn.conv1d(%5, reshape(%6, newshape=[128, 129, 3]), padding=[1, 1], channels=128, kernel_size=[3]), cos(arange(0f, 128f, 1f, start=0f, stop=128f, step=1f, dtype="float32"))));
  %8 = multiply(cos(arange(0f, 24576f, 1f, start=0f, stop=24576f, step=1f, dtype="float32")), 0.05f);
  %9 = nn.relu(nn.bias_add(nn.conv1d(%7, reshape(%8, newshape=[64, 128, 3]), strides=[2], padding=[1, 1], channels=64, kernel_size=[3]), cos(arange(0f, 64f, 1f, start=0f, stop=64f, step=1f, dtype="float32"))));
  %10 = multiply(cos(arange(0f, 12288f, 1f, start=0f, stop=12288f, step=1f, dtype="float32")), 0.05f);
  %11 = nn.relu(nn.bias_add(nn.conv1d(%9, reshape(%10, newshape=[64, 64, 3]), strides=[2], padding=[1, 1], channels=64, kernel_size=[3]), cos(arange(0f, 64f, 1f, start=0f, stop=64f, step=1f, dtype="float32"))));
  %12 = multiply(sin(arange(0f, 24576f, 1f, start=0f, stop=24576f, step=1f, dtype="float32")), 0.05f);
  %13 = nn.relu(nn.bias_add(nn.conv1d(%11, reshape(%12, newshape=[128, 64, 3]), padding=[1, 1], channels=128, kernel_size=[3]), cos(arange(0f, 128f, 1f, start=0f, stop=128f, step=1f, dtype="float32"))));
  %14 = nn.batch_flatten(mean(%13, axis=[2], keepdims=True));
  %15 = multiply(sin(arange(0f, 65536f, 1f, start=0f, stop=65536f, step=1f, dtype="float32")), 0.05f);
  %16 = multiply(cos(arange(0f, 65536f, 1f, start=0f, stop=65536f, step=1f, dtype="float32")), 0.05f);
  %17 = nn.dense(%14, reshape(%15, newshape=[512, 128]), units=512);
  %18 = nn.dense(%h, reshape(%16, newshape=[512, 128]), units=512);
  %19 = add(add(%17, %18), cos(arange(0f, 512f, 1f, start=0f, stop=512f, step=1f, dtype="float32")));
  %20 = split(%19, indices_or_sections=4, axis=1);
  %21 = multiply(sigmoid(%20.1), %c);
  %22 = multiply(sigmoid(%20.0), tanh(%20.2));
  %23 = add(%21, %22);
  %24 = multiply(sigmoid(%20.3), tanh(%23));
  %25 = multiply(sin(arange(0f, 128f, 1f, start=0f, stop=128f, step=1f, dtype="float32")), 0.1f);
  %26 = sigmoid(nn.dense(nn.relu(%24), reshape(%25, newshape=[1, 128]), units=1));
  (%26, %24, %23)
}
)";

TEST(LibraryCodeTest, ARecurrentModelIsSmall) {
  LibraryOptions options;
  options.state = "output_1:h,output_2:c";
  const std::string folder = Compiled("voice", kVoice, options);
  const std::string report = TextOf(folder + "/voice.report.json");
  EXPECT_LT(SumOf(report, "\n\"arena_bytes\":"), 64 << 10);
  if (!CanRun("g++")) GTEST_SKIP() << "there is no g++";
  // -O3, as baton_model_library has it, takes minutes.
  const bool is_long = IsLongForm();
  ASSERT_EQ(OutputOf(folder,
                     absl::StrCat("g++", Flags(), is_long ? "-O3" : "",
                                  " -c voice_avx512.cc voice_avx2.cc "
                                  "voice_sse2.cc voice_test.cc && "
                                  "g++ *.o -lm -o test && ./test >/dev/null")),
            "");
  const std::string sizes = OutputOf(
      folder,
      "size voice_avx512.o voice_avx2.o voice_sse2.o | awk 'NR > 1 {sum += $4} "
      "END {print sum}'");
  int64_t bytes = 0;
  ASSERT_TRUE(absl::SimpleAtoi(absl::StripAsciiWhitespace(sizes), &bytes))
      << sizes;
  std::cout << "bytes of code: " << bytes << "\n";
  EXPECT_LT(bytes, 256 << 10);
}

constexpr char kConfined[] = R"(
#include <linux/seccomp.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <unistd.h>
#include "confined.h"
alignas(64) static unsigned char arena[confined::kArenaBytes];
int main() {
  static float x[24], w0[40 * 24], b0[40], w1[400], y[10];
  confined model(arena);
  if (prctl(PR_SET_SECCOMP, SECCOMP_MODE_STRICT) != 0) return 99;
  for (int run = 0; run < 10; ++run) {
    x[0] = static_cast<float>(run % 3);
    model.Run({x, w0, b0, w1}, {y});
    model.Run({x, w0, b0, w1}, {y}, nullptr, nullptr);
  }
  syscall(SYS_exit, 0);
}
)";

// A run at one thread, also of a library that may divide steps.
TEST(LibraryCodeTest, ARunMakesNoSystemCall) {
  LibraryOptions options;
  options.threads = true;
  // With a branch that values decide.
  const std::string folder = Compiled(
      "confined",
      absl::StrReplaceAll(
          kPerceptron, {{"tanh(%3)",
                         "if (less(mean(%x), 0f)) { exp(%3) } else { tanh(%3) "
                         "}"}}),
      options);
  if (!CanRun("g++")) GTEST_SKIP() << "there is no g++";
  std::ofstream(folder + "/use.cpp") << kConfined;
  const std::string output = OutputOf(
      folder, absl::StrCat("g++", Flags(),
                           "use.cpp confined_avx512.cc confined_avx2.cc "
                           "confined_sse2.cc confined_weights.o -lm -o use && "
                           "./use; echo $?"));
  if (output == "99\n") GTEST_SKIP() << "there is no strict mode of seccomp";
  EXPECT_EQ(output, "0\n");
}

// Two builds in different folders write equal files, of which g++ makes equal
// objects.
TEST(LibraryCodeTest, TwoBuildsGiveTheSameBytes) {
  LibraryOptions options;
  options.isas = "avx2,sse2";
  options.threads = options.line_table = options.benchmark = true;
  std::map<std::string, std::string> contents[2];
  for (const int i : {0, 1}) {
    const std::string folder =
        Compiled("same", kPerceptron, options, absl::StrCat("same_", i));
    if (CanRun("g++")) {
      EXPECT_EQ(OutputOf(folder, absl::StrCat("g++", Flags(),
                                              "-g0 -c same_avx2.cc "
                                              "same_sse2.cc")),
                "");
    }
    for (const auto& [path, bytes] : ContentsOf(folder)) {
      contents[i].emplace(path.substr(folder.size()), bytes);
    }
  }
  EXPECT_GE(contents[0].size(), CanRun("g++") ? 11u : 9u);
  EXPECT_TRUE(contents[0] == contents[1]);
}

// A model without inputs, of which passes leave no steps but copies; and results
// that are constants, an input, or equal.
TEST(LibraryCodeTest, CompilesModelsWithoutInputs) {
  LibraryOptions options;
  options.isas = "avx2,sse2";
  options.threads = options.profile = options.check_values = true;
  options.line_table = options.benchmark = true;
  const char* const nothing = R"(
def @main() {
  %0 = nn.softmax(arange(0f, 5f, 1f, start=0f, stop=5f, step=1f, dtype="float32"));
  (%0, full(3i32, shape=[2], dtype="int32"), %0)
}
)";
  const char* const passed = R"(
def @main(%x: Tensor[(3), float32], %unused: Tensor[(2), int64]) {
  (%x, exp(%x), %x, ones(shape=[2], dtype="bool"))
}
)";
  for (const char* passes : {"", "FoldConstant"}) {
    for (const auto& [name, text] :
         {std::pair("nothing", nothing), std::pair("passed", passed)}) {
      SCOPED_TRACE(absl::StrCat(name, " ", passes));
      options.passes = passes;
      const std::string folder =
          Compiled(name, text, options, absl::StrCat(name, "_", passes));
      for (const char* compiler : {"g++", "clang++"}) {
        if (!CanRun(compiler)) continue;
        EXPECT_EQ(
            OutputOf(folder,
                     absl::StrCat("rm -f run && ", compiler, Flags(),
                                  "-fsyntax-only ", name, "_benchmark.cc && ",
                                  compiler, Flags(), name, "_avx2.cc ", name,
                                  "_sse2.cc ", name,
                                  "_test.cc *.o -lm -o run && ./run")),
            "avx2\n");
      }
    }
  }
}

// Names that are keywords, macros, types and members, and a file's name that
// ends comments, strings and lines.
TEST(LibraryCodeTest, TakesHostileNames) {
  LibraryOptions options;
  options.name = "hostile";
  options.cpp_class = "arena";
  options.isas = "avx2,sse2";
  options.profile = options.line_table = options.check_values = true;
  options.benchmark = true;
  std::string params;
  std::string sum = "%int64_t";
  for (const char* name :
       {"int64_t", "class", "stdin", "INT8_MAX", "__LINE__", "std", "Inputs",
        "Run", "size_t", "arena", "inputs", "from", "this", "m", "uint8_t"}) {
    absl::StrAppend(&params, params.empty() ? "" : ", ", "%", name,
                    ": Tensor[(2, 3), float32]");
    sum = absl::StrCat("add(", sum, ", %", name, ")");
  }
  const std::string folder = Compiled(
      "hostile ?"
      "?> \\ \" %s\n#error \xc3\xa9",
      absl::StrCat("def @main(", params, ") {\n  %0 = ", sum,
                   ";\n  (%0, nn.log_softmax(%0), atan(%0))\n}\n"),
      options, "hostile");
  EXPECT_THAT(TextOf(folder + "/hostile.h"),
              HasSubstr("const float* INT8_MAX_;"));
  for (const char* compiler : {"g++", "clang++"}) {
    if (!CanRun(compiler)) continue;
    EXPECT_EQ(OutputOf(folder,
                       absl::StrCat(compiler, Flags(),
                                    "-c hostile_benchmark.cc -o benchmark && ",
                                    compiler, Flags(),
                                    "hostile_avx2.cc hostile_sse2.cc "
                                    "hostile_test.cc *.o -lm -o run && ./run")),
              "avx2\n");
    EXPECT_EQ(OutputOf(folder, absl::StrCat(
                                   "echo '#include \"hostile.h\"' | ", compiler,
                                   " -std=c++11 -Wall -Wextra -Werror "
                                   "-pedantic -fsyntax-only -x c++ -")),
              "");
  }
}

// Two models with classes of one name, in archives of one program: each part of
// the program has its own.
TEST(LibraryCodeTest, ClassesOfOneNameAreDifferent) {
  LibraryOptions options;
  options.cpp_class = "acme::Model";
  options.isas = "sse2";
  const std::string root = absl::StrCat(::testing::TempDir(), "/one_name");
  std::filesystem::create_directories(root);
  for (const char* name : {"least", "most"}) {
    const std::string function = name[0] == 'l' ? "min" : "max";
    const std::string folder =
        Compiled(name,
                 absl::StrCat("def @main(%x: Tensor[(2, 3), float32]) {\n  ",
                              function, "(%x)\n}\n"),
                 options, absl::StrCat("one_name/", name));
    std::ofstream(absl::StrCat(folder, "/use.cc"))
        << "#include \"" << name << ".h\"\nfloat Use_" << name
        << "() {\n  alignas(64) static unsigned char "
           "arena[acme::Model::kArenaBytes];\n  acme::Model model(arena);\n"
           "  const float x[6] = {5, 3, 8, 2, 4, 6};\n  float y = 0;\n"
           "  model.Run({x}, {&y});\n  return y;\n}\n";
    if (!CanRun("g++") || !CanRun("ar")) continue;
    ASSERT_EQ(
        OutputOf(folder, absl::StrCat("g++", Flags(), "-c use.cc ", name,
                                      "_sse2.cc && ar rcs ../lib", name, ".a ",
                                      name, "_sse2.o ", name, "_weights.o")),
        "");
  }
  if (!CanRun("g++") || !CanRun("ar"))
    GTEST_SKIP() << "there is no g++ or no ar";
  std::ofstream(root + "/main.cc")
      << "#include <cstdio>\nfloat Use_least();\nfloat Use_most();\nint main() "
         "{ std::printf(\"%g %g\\n\", Use_least(), Use_most()); }\n";
  EXPECT_EQ(OutputOf(root, absl::StrCat("g++", Flags(),
                                        "main.cc least/use.o most/use.o -L. "
                                        "-lleast -lmost -lm -o run && ./run")),
            "2 8\n");
}

// Two versions of a model, of one name, that differ in their weights alone: each
// part of a program has its own, and the code is there once.
TEST(LibraryCodeTest, VersionsOfOneNameAreDifferent) {
  LibraryOptions options;
  options.cpp_class = "acme::Model";
  options.isas = "sse2";
  const std::string root = absl::StrCat(::testing::TempDir(), "/versions");
  std::filesystem::create_directories(root);
  for (const char* version : {"2", "5"}) {
    const std::string folder = Compiled(
        "version",
        absl::StrCat("def @main(%x: Tensor[(2), float32]) {\n  "
                     "multiply(%x, cumsum(full(",
                     version, "f, shape=[2], dtype=\"float32\")))\n}\n"),
        options, absl::StrCat("versions/v", version));
    std::ofstream(absl::StrCat(folder, "/use.cc"))
        << "#include \"version.h\"\nfloat Use_" << version
        << "() {\n  alignas(64) static unsigned char "
           "arena[acme::Model::kArenaBytes];\n  acme::Model model(arena);\n"
           "  const float x[2] = {1, 1};\n  float y[2];\n"
           "  model.Run({x}, {y});\n  return y[1];\n}\n";
    if (!CanRun("g++") || !CanRun("ar")) continue;
    ASSERT_EQ(OutputOf(folder, absl::StrCat("g++", Flags(),
                                            "-c use.cc version_sse2.cc && ar "
                                            "rcs ../libv",
                                            version,
                                            ".a version_sse2.o "
                                            "version_weights.o")),
              "");
  }
  EXPECT_EQ(TextOf(root + "/v2/version_sse2.cc"),
            TextOf(root + "/v5/version_sse2.cc"));
  if (!CanRun("g++") || !CanRun("ar"))
    GTEST_SKIP() << "there is no g++ or no ar";
  std::ofstream(root + "/main.cc")
      << "#include <cstdio>\nfloat Use_2();\nfloat Use_5();\nint main() "
         "{ std::printf(\"%g %g\\n\", Use_2(), Use_5()); }\n";
  EXPECT_EQ(OutputOf(root, absl::StrCat("g++", Flags(),
                                        "main.cc v2/use.o v5/use.o -L. -lv2 "
                                        "-lv5 -lm -o run && ./run")),
            "4 10\n");
}

// The number of the line of `text` that has `part`.
int LineWith(absl::string_view text, absl::string_view part) {
  int line = 1;
  for (absl::string_view one : absl::StrSplit(text, '\n')) {
    if (absl::StrContains(one, part)) return line;
    ++line;
  }
  return 0;
}

// Lines of objects are those of the model's text, where nodes have names.
TEST(LibraryCodeTest, HasALineTable) {
  LibraryOptions options;
  options.isas = "sse2";
  options.line_table = true;
  const std::string folder = Compiled("lines", R"(
def @main(%x: Tensor[(8, 16), float32], %w: Tensor[(16, 16), float32]) {
  %0 = nn.dense(%x, %w, units=16);
  nn.softmax(%0)
}
)",
                                      options);
  const auto text_of = [&folder](const std::string& name) {
    std::ifstream file(folder + "/" + name);
    std::ostringstream text;
    text << file.rdbuf();
    return text.str();
  };
  const std::string model = text_of("lines.model.txt");
  const std::string source = text_of("lines_sse2.cc");
  const int dense = LineWith(model, "# step 0, ");
  EXPECT_THAT(model, HasSubstr("lines.relay:4\n"));
  EXPECT_THAT(source, HasSubstr(absl::StrCat("#line ", dense,
                                             " \"lines.model.txt\"\n")));
  const int loop = LineWith(model, "    for ");
  ASSERT_GT(loop, 0) << model;
  EXPECT_THAT(source, HasSubstr(absl::StrCat("#line ", loop,
                                             " \"lines.model.txt\"\n")));
  if (!CanRun("g++") || !CanRun("objdump")) {
    GTEST_SKIP() << "there is no g++ or no objdump";
  }
  const std::string table =
      OutputOf(folder, absl::StrCat("g++", Flags(),
                                    "-g -c lines_sse2.cc -o lines.o && objdump "
                                    "--dwarf=decodedline lines.o"));
  for (const int line : {dense, loop}) {
    EXPECT_THAT(table, ::testing::ContainsRegex(
                           absl::StrCat("lines.model.txt +", line, " ")));
  }
  EXPECT_THAT(table, HasSubstr("lines_sse2.cc"));
}

// With threads and a profile: the test divides steps, too.
TEST(LibraryCodeTest, DividesAndMeasuresSteps) {
  LibraryOptions options;
  options.threads = true;
  options.profile = true;
  options.benchmark = true;
  options.isas = "avx2";
  const std::string folder = Compiled("divided", R"(
def @main(%x: Tensor[(512, 256), float32], %w: Tensor[(256, 256), float32]) {
  %0 = nn.dense(%x, %w, units=256);
  %1 = exp(%0);
  %2 = nn.dense(%1, %w, units=256);
  tanh(%2)
}
)",
                                      options);
  if (!CanRun("g++")) GTEST_SKIP() << "there is no g++";
  std::ofstream(folder + "/use.cpp") << R"(
#include <cstdio>
#include "divided.h"
alignas(64) static unsigned char arena[divided::kArenaBytes];
static int parts = 0;
static void Parallel(void* ctx, int n, void (*body)(void*, int), void* body_ctx) {
  for (int i = 0; i < n; ++i) body(body_ctx, i);
  *static_cast<int*>(ctx) += n;
}
static std::uint64_t now = 0;
static std::uint64_t Clock() { return now += 3; }
int main() {
  static float x[512 * 256], w[256 * 256], y[512 * 256], z[512 * 256];
  for (float& v : x) v = static_cast<float>(parts++ % 7) - 3;
  parts = 0;
  for (float& v : w) v = static_cast<float>(&v - w) / 65536 - 0.5f;
  divided model(arena);
  std::uint64_t times[divided::kSteps] = {};
  model.Run({x, w}, {y}, Parallel, &parts);
  model.RunProfiled({x, w}, {z}, Clock, times);
  std::printf("%d %d %d\n", parts > 1, static_cast<int>(times[0]),
              __builtin_memcmp(y, z, sizeof(y)));
  for (std::size_t i = 0; i < divided::kSteps; ++i) {
    std::printf("%s\n", divided::StepName(i));
  }
}
)";
  EXPECT_EQ(
      OutputOf(folder, absl::StrCat("g++", Flags(), "-c divided_avx2.cc")), "");
  const std::string files = "divided_avx2.o divided_weights.o -lm ";
  const std::string output = OutputOf(
      folder,
      absl::StrCat("g++", Flags(), "use.cpp ", files, "-o use && ./use"));
  EXPECT_THAT(output, HasSubstr("1 3 0\n"));
  EXPECT_THAT(output, HasSubstr("elementwise: exp, "));
  EXPECT_EQ(
      OutputOf(folder, absl::StrCat("g++", Flags(), "divided_test.cc ", files,
                                    "divided_test_data.o "
                                    "-o run && ./run")),
      "avx2\n");
  EXPECT_THAT(
      OutputOf(folder, absl::StrCat("g++", Flags(), "divided_benchmark.cc ",
                                    files, "-o measure && ./measure 3")),
      ::testing::MatchesRegex(
          "(ms min [0-9.]+ median [0-9.]+ threads 1 arena [0-9]+ weights in "
          "(the file|large pages)\n){2}"));
}

// The constants of a header are what is counted in a run: calls by the clock,
// bytes of the arena by those that change, multiplications and additions by the
// shapes.
TEST(LibraryCodeTest, ConstantsOfAHeaderAreTrue) {
  LibraryOptions options;
  options.isas = "sse2";
  options.profile = true;
  const std::string folder = Compiled("counted", R"(
def @main(%x: Tensor[(1, 16, 6, 6), float32]) {
  %0 = sin(arange(0f, 4608f, 1f, start=0f, stop=4608f, step=1f, dtype="float32"));
  %1 = nn.relu(nn.conv2d(%x, reshape(%0, newshape=[32, 16, 3, 3]), channels=32, kernel_size=[3, 3]));
  %2 = cos(arange(0f, 5120f, 1f, start=0f, stop=5120f, step=1f, dtype="float32"));
  %3 = nn.dense(nn.batch_flatten(%1), reshape(%2, newshape=[10, 512]), units=10);
  nn.softmax(tan(%3))
}
)",
                                      options);
  if (!CanRun("g++")) GTEST_SKIP() << "there is no g++";
  std::ofstream(folder + "/use.cpp") << R"(
#include <cstdio>
#include <cstring>
#include "counted.h"
constexpr std::size_t kBehind = 4096;
alignas(64) static unsigned char arena[counted::kArenaBytes + kBehind];
static int calls = 0;
static std::uint64_t Clock() { return static_cast<std::uint64_t>(++calls); }
int main() {
  static float x[16 * 36], y[10];
  for (float& v : x) v = static_cast<float>(&v - x) / 512;
  std::memset(arena, 0xA5, sizeof(arena));
  counted model(arena);
  std::uint64_t times[counted::kSteps] = {};
  model.RunProfiled({x}, {y}, Clock, times);
  std::size_t end = sizeof(arena);
  while (end > 0 && arena[end - 1] == 0xA5) --end;
  // The clock is read before the first step.
  std::printf("%d %d %d %d\n", calls - 1 == static_cast<int>(counted::kCalls),
              end <= counted::kArenaBytes && end + 64 > counted::kArenaBytes,
              counted::kFlops == 2 * (32 * 16 * 16 * 9 + 10 * 512),
              counted::kWeightBytes >= 4 * (4608 + 5120) &&
                  counted::kWeightBytes < 4 * (4608 + 2 * 5120));
}
)";
  EXPECT_EQ(
      OutputOf(folder, absl::StrCat("g++", Flags(),
                                    "use.cpp counted_sse2.cc "
                                    "counted_weights.o -lm -o use && ./use")),
      "1 1 1 1\n");
}

// With optimization, compilers warn of loops of which they know more.
TEST(LibraryCodeTest, ProductsOfBytesHaveNoWarnings) {
  LibraryOptions options;
  options.isas = "avx512,avx2,sse2";
  const std::string folder = Compiled("products", R"(
def @main(%m: Tensor[(16, 384), int8], %few: Tensor[(2, 200), int32]) {
  %0 = sin(arange(0f, 147456f, 1f, start=0f, stop=147456f, step=1f, dtype="float32"));
  %1 = reshape(cast(multiply(%0, 100f), dtype="int8"), newshape=[384, 384]);
  %2 = sin(arange(0f, 600f, 1f, start=0f, stop=600f, step=1f, dtype="float32"));
  %3 = reshape(cast(multiply(%2, 300f), dtype="int32"), newshape=[3, 200]);
  (nn.dense(%m, %1, units=384, out_dtype="int32"),
   nn.dense(%few, %3, units=3, out_dtype="int32"))
}
)",
                                      options);
  if (!CanRun("g++")) GTEST_SKIP() << "there is no g++";
  EXPECT_THAT(
      OutputOf(folder,
               "g++ -std=c++17 -O2 -Wall -Wextra -Wpedantic -Werror *.cc "
               "*.o -lm -o run && ./run"),
      ::testing::MatchesRegex("avx512\n|avx2\n|sse2\n"));
}

// Loops of rows are made for a group of rows, which stays in the cache, and
// called for each group; threads share the groups.
TEST(LibraryCodeTest, LoopsTakeGroupsOfRows) {
  LibraryOptions options;
  options.threads = true;
  options.check_values = IsLongForm();
  options.isas = "avx2";
  const std::string folder = Compiled("rows", R"(
def @main(%x: Tensor[(1, 12, 64, 128), float32], %y: Tensor[(1009, 40), float32], %z: Tensor[(40, 16, 20), float32], %b: Tensor[(4000, 2, 3), bool]) {
  %0 = nn.softmax(%x);
  %1 = mean(%y, axis=[-1], keepdims=True);
  %2 = variance(%y, %1, axis=[1], keepdims=True);
  %3 = nn.log_softmax(%z, axis=1);
  %4 = sum(%z, axis=[0, 2], exclude=True);
  %5 = argmax(%x, axis=[1, 3]);
  %6 = max(%x, axis=[3]);
  (%0, %1, %2, %3, %4, %5, %6, all(%b, axis=[2]), min(%y, axis=[0]), nn.softmax(%y, axis=0))
}
)",
                                      options);
  const std::string source = TextOf(folder + "/rows_avx2.cc");
  // 768 rows of 1024 bytes and their results, 24 of a group.
  EXPECT_THAT(source,
              ContainsRegex("for \\(int64_t i = begin; i < end; "
                            "\\+\\+i\\) \\{\n *shared::nn_softmax_[0-9a-"
                            "f]+\\(At<const float>\\(m.inputs\\[0\\], "
                            "0\\) \\+ i \\* 3072,"));
  if (!CanRun("g++")) GTEST_SKIP() << "there is no g++";
  EXPECT_EQ(OutputOf(folder, absl::StrCat("g++", Flags(),
                                          "*.cc *.o -lm -o test && ./test")),
            "avx2\n");
}

// Also in both branches of an `if`, in all parts of a loop, and in these of
// each other.
TEST(LibraryCodeTest, LoopsInBranchesAndLoopsTakeGroupsOfRows) {
  LibraryOptions options;
  options.threads = true;
  options.check_values = IsLongForm();
  options.isas = "avx2";
  const std::string folder = Compiled("nested", R"(
def @rounds(%i: int32, %n: int32, %x: Tensor[(64, 200), float32]) -> (Tensor[(64, 200), float32], Tensor[(64), float32]) {
  if (less(%i, %n)) {
    %0 = nn.softmax(multiply(%x, 3f));
    %1 = if (equal(%i, 1i32)) { nn.log_softmax(%0) } else { nn.softmax(%0) };
    @rounds(add(%i, 1i32), %n, %1)
  } else {
    (nn.softmax(%x), sum(%x, axis=[1]))
  }
}
def @main(%x: Tensor[(64, 200), float32], %y: Tensor[(12, 64, 128), float32], %c: bool, %n: int32) {
  %0 = if (%c) { sum(%x, axis=[1]) } else { max(%x, axis=[1]) };
  %1 = if (logical_not(%c)) { sum(%x, axis=[1]) } else { max(%x, axis=[1]) };
  %2 = if (%c) { nn.softmax(%y) } else { nn.log_softmax(%y) };
  %3 = if (logical_not(%c)) { nn.softmax(%y) } else { nn.log_softmax(%y) };
  %4 = @rounds(0i32, add(abs(mod(%n, 3i32)), 2i32), %x);
  (%0, %1, %2, %3, %4.0, %4.1)
}
)",
                                      options);
  if (!CanRun("g++")) GTEST_SKIP() << "there is no g++";
  EXPECT_EQ(OutputOf(folder, absl::StrCat("g++", Flags(),
                                          "*.cc *.o -lm -o test && ./test")),
            "avx2\n");
}

// A run whose number of threads is unknown has at most as many parts as have
// run concurrently so far, at least two; its first step and every eighth try
// more.
TEST(LibraryCodeTest, RunsSeeTheirThreads) {
  LibraryOptions options;
  options.threads = true;
  options.isas = "sse2";
  std::string text =
      "def @main(%x: Tensor[(256, 256), float32]) {\n"
      "  %100 = reshape(sin(arange(0f, 65536f, 1f, start=0f, stop=65536f, "
      "step=1f, dtype=\"float32\")), newshape=[256, 256]);\n";
  constexpr int kProducts = 11;
  for (int i = 0; i < kProducts; ++i) {
    absl::StrAppend(&text, "  %", i, " = nn.dense(",
                    i == 0 ? "%x" : absl::StrCat("%", i - 1),
                    ", %100, units=256);\n");
  }
  absl::StrAppend(&text, "  %", kProducts - 1, "\n}\n");
  const std::string folder = Compiled("seen", text, options);
  if (!CanRun("g++")) GTEST_SKIP() << "there is no g++";
  std::ofstream(folder + "/use.cpp") << R"(
#include <cstdio>
#include <cstring>
#include <thread>
#include <vector>
#include "seen.h"
alignas(64) static unsigned char arena[seen::kArenaBytes];
static std::vector<int> parts;
static void InTurn(void*, int n, void (*body)(void*, int), void* ctx) {
  for (int i = 0; i < n; ++i) body(ctx, i);
  parts.push_back(n);
}
static void AtOnce(void*, int n, void (*body)(void*, int), void* ctx) {
  std::vector<std::thread> threads;
  for (int i = 0; i < n; ++i) threads.emplace_back(body, ctx, i);
  for (std::thread& thread : threads) thread.join();
  parts.push_back(n);
}
static float x[256 * 256], y[256 * 256], z[256 * 256];
int main() {
  for (int i = 0; i < 256 * 256; ++i) x[i] = (i * 7 % 31 - 15) / 100.0f;
  seen model(arena);
  model.Run({x}, {y});
  model.Run({x}, {z}, InTurn, nullptr);
  for (const int n : parts) std::printf(" %d", n);
  int same = std::memcmp(y, z, sizeof(y));
  bool more = false;
  for (int i = 0; i < 1000 && !more; ++i) {
    parts.clear();
    model.Run({x}, {z}, AtOnce, nullptr);
    same |= std::memcmp(y, z, sizeof(y));
    more = parts[1] > 2;
  }
  std::printf(" %d %d\n", same, more);
  parts.clear();
  model.Run({x}, {z}, InTurn, nullptr, 3);
  for (const int n : parts) std::printf(" %d", n);
}
)";
  EXPECT_EQ(
      OutputOf(folder, absl::StrCat("g++ -std=c++17 -O1 -Wall -Wextra -Werror "
                                    "use.cpp seen_sse2.cc seen_weights.o -lm "
                                    "-pthread -o use && ./use")),
      " 8 2 2 2 2 2 2 2 8 2 2 0 1\n 3 3 3 3 3 3 3 3 3 3 3");
}

// A thread that has computed its part of a step computes what is left of others.
TEST(LibraryCodeTest, ThreadsTakeWhatOthersHaveLeft) {
  LibraryOptions options;
  options.threads = true;
  options.isas = "sse2";
  const std::string folder = Compiled("left", R"(
def @main(%x: Tensor[(1, 32, 28, 28), float32], %w: Tensor[(48, 32, 3, 3), float32], %v: Tensor[(48, 784), float32]) {
  %0 = nn.relu(nn.conv2d(%x, %w, padding=[1, 1, 1, 1], channels=48, kernel_size=[3, 3]));
  %1 = reshape(%0, newshape=[48, 784]);
  %2 = nn.dense(%1, %v, units=48);
  %3 = nn.batch_matmul(reshape(%2, newshape=[1, 48, 48]), reshape(%1, newshape=[1, 48, 784]));
  nn.softmax(exp(tanh(reshape(%3, newshape=[48, 784]))))
}
)",
                                      options);
  if (!CanRun("g++")) GTEST_SKIP() << "there is no g++";
  std::ofstream(folder + "/use.cpp") << R"(
#include <cstdio>
#include <cstring>
#include <thread>
#include "left.h"
alignas(64) static unsigned char arena[left::kArenaBytes];
static float x[32 * 784], w[48 * 288], v[48 * 784], y[48 * 784], z[48 * 784];
static int steps = 0, first = 0;
static bool is_complete = false;
// One part computes all of a step, before the others begin.
static void InTurn(void*, int n, void (*body)(void*, int), void* ctx) {
  ++steps;
  for (int i = 0; i < n; ++i) {
    body(ctx, (first + i) % n);
    if (i == 0) is_complete = std::memcmp(y, z, sizeof(y)) == 0;
  }
}
static void AtOnce(void*, int n, void (*body)(void*, int), void* ctx) {
  std::thread threads[8];
  for (int i = 0; i < n; ++i) threads[i] = std::thread(body, ctx, i);
  for (int i = 0; i < n; ++i) threads[i].join();
}
int main() {
  for (int i = 0; i < 32 * 784; ++i) x[i] = (i * 7 % 31 - 15) / 10.0f;
  for (int i = 0; i < 48 * 288; ++i) w[i] = (i * 5 % 23 - 11) / 50.0f;
  for (int i = 0; i < 48 * 784; ++i) v[i] = (i * 3 % 29 - 14) / 90.0f;
  left model(arena);
  model.Run({x, w, v}, {y});
  const int counts[] = {0, 2, 3, 8};
  for (const int threads : counts) {
    for (first = 0; first < 2; ++first) {
      std::memset(z, 0, sizeof(z));
      steps = 0;
      is_complete = false;
      model.Run({x, w, v}, {z}, InTurn, nullptr, threads);
      std::printf("%d%d%d ", steps > 1, is_complete,
                  std::memcmp(y, z, sizeof(y)) == 0);
    }
  }
  for (int i = 0; i < 100; ++i) {
    std::memset(z, 0, sizeof(z));
    model.Run({x, w, v}, {z}, AtOnce, nullptr, i % 9);
    if (std::memcmp(y, z, sizeof(y)) != 0) std::puts("differs");
  }
}
)";
  EXPECT_EQ(
      OutputOf(folder, absl::StrCat("g++", Flags(),
                                    "use.cpp left_sse2.cc left_weights.o -lm "
                                    "-pthread -o use && ./use")),
      "111 111 111 111 111 111 111 111 ");
}

// A model with a dimension that each run chooses.
constexpr char kSequence[] =
    R"(def @main(%x: Tensor[(meta[tir.Var][0], 24), float32], %m: Tensor[(2, 40), float32]) {
  %0 = sin(arange(0f, 960f, 1f, start=0f, stop=960f, step=1f, dtype="float32"));
  %1 = tanh(nn.dense(%x, reshape(%0, newshape=[40, 24]), units=40));
  (nn.softmax(nn.dense(%1, %m, units=2)), sum(%x, axis=[0]))
}

#[metadata]
{"root": 1, "nodes": [
  {"type_key": ""},
  {"type_key": "Map", "keys": ["tir.Var"], "data": [2]},
  {"type_key": "Array", "data": [3]},
  {"type_key": "tir.Var", "attrs": {"dtype": "int32", "name": "4", "span": "0", "type_annotation": "0"}},
  {"type_key": "runtime.String", "repr_str": "n"}],
 "b64ndarrays": [], "attrs": {"tvm_version": "0.14.0"}}
)";

// Steps that threads divide, and the vector mathematics.
constexpr char kDivided[] =
    R"(def @main(%x: Tensor[(64, 256), float32], %w: Tensor[(256, 256), float32]) {
  %0 = nn.dense(%x, %w, units=256);
  %1 = exp(%0);
  (tanh(nn.dense(%1, %w, units=256)), erf(%0), log(abs(%0)), power(abs(%0), 0.3f), cast(%0, dtype="float16"))
}
)";

// The libraries of AArch64 have the evaluator's bytes, too: a perceptron and a
// model with dimensions; in the long form a network of convolutions, a recurrent
// model, one of bytes, results whose sizes values decide, parts for threads.
TEST(LibraryCodeTest, CrossCompiles) {
  struct Case {
    std::string name;
    std::string text;
    std::string dims;
    bool threads = false;
  };
  std::vector<Case> cases = {{"perceptron", kPerceptron},
                             {"sequence", kSequence, "n=1..3"}};
  if (IsLongForm()) {
    cases.push_back({"network", kNetwork, "", true});
    cases.push_back({"voice", kVoice});
    cases.push_back({"bytes", kBytes});
    cases.push_back({"chosen", kChosen, "", true});
    cases.push_back({"divided", kDivided, "", true});
  }
  for (const Case& c : cases) {
    SCOPED_TRACE(c.name);
    LibraryOptions options;
    options.target = "aarch64";
    options.dims = c.dims;
    options.threads = c.threads;
    const std::string folder =
        Compiled(c.name, c.text, options, "arm_" + c.name);
    EXPECT_THAT(FilesOf(folder),
                ::testing::IsSupersetOf({c.name + ".h", c.name + "_neon.cc"}));
    if (!CanRun("aarch64-linux-gnu-g++")) continue;
    const std::string compile = absl::StrCat("aarch64-linux-gnu-g++", Flags());
    EXPECT_EQ(OutputOf(folder, absl::StrCat(compile, "-fsyntax-only *.cc")),
              "");
    if (!CanRun("qemu-aarch64")) continue;
    EXPECT_EQ(OutputOf(folder, absl::StrCat(compile,
                                            "-static *.cc *.o -lm -o run && "
                                            "qemu-aarch64 ./run")),
              "neon\n");
  }
}

// Steps of all kinds that threads divide: convolutions, windows, products,
// rows, elements, and moves.
constexpr char kManySteps[] = R"(
def @main(%x: Tensor[(1, 32, 28, 28), float32], %w: Tensor[(48, 32, 3, 3), float32], %v: Tensor[(48, 784), float32]) {
  %0 = nn.relu(nn.conv2d(%x, %w, padding=[1, 1, 1, 1], channels=48, kernel_size=[3, 3]));
  %1 = reshape(%0, newshape=[48, 784]);
  %2 = nn.dense(%1, %v, units=48);
  %3 = nn.batch_matmul(reshape(%2, newshape=[1, 48, 48]), reshape(%1, newshape=[1, 48, 784]));
  %4 = nn.softmax(exp(tanh(reshape(%3, newshape=[48, 784]))));
  %5 = nn.max_pool2d(%0, pool_size=[3, 3], strides=[2, 2], padding=[1, 1, 1, 1]);
  %6 = nn.avg_pool2d(%0, pool_size=[3, 3], padding=[1, 1, 1, 1]);
  %7 = nn.conv2d(%0, reshape(strided_slice(%v, begin=[0, 0], end=[48, 9], strides=[1, 1], axes=None), newshape=[48, 1, 3, 3]), padding=[1, 1, 1, 1], groups=48, channels=48, kernel_size=[3, 3]);
  %8 = transpose(%4, axes=[1, 0]);
  %9 = concatenate((%6, nn.pad(%5, 0f, pad_width=[[0, 0], [0, 0], [7, 7], [7, 7]])), axis=1);
  %10 = nn.lrn(%7, size=5, axis=1, bias=2f, alpha=0.001f, beta=0.75f);
  %11 = nn.layer_norm(%1, reshape(strided_slice(%v, begin=[0, 0], end=[1, 784], strides=[1, 1], axes=None), newshape=[784]), reshape(strided_slice(%v, begin=[1, 0], end=[2, 784], strides=[1, 1], axes=None), newshape=[784]));
  (%8, %9, %10, %11, mean(%0, axis=[1]), cumsum(%1, axis=1), argsort(%1, dtype="int32"))
}
)";

// The thread sanitizer watches the parts of all steps, each of which a thread of
// its own computes.
TEST(LibraryCodeTest, ThreadsHaveNoRaces) {
  struct Case {
    std::string name;
    std::string text;
    std::string dims;
  };
  std::vector<Case> cases = {{"many", kManySteps}, {"divided", kDivided}};
  if (IsLongForm()) {
    cases.push_back({"network", kNetwork});
    cases.push_back({"voice", kVoice});
    cases.push_back({"bytes", kBytes});
    cases.push_back({"chosen", kChosen});
    cases.push_back({"sequence", kSequence, "n=1..3"});
  }
  constexpr char kInTurn[] =
      "  for (int i = n; i > 0; --i) body(body_ctx, i - 1);\n";
  constexpr char kAtOnce[] =
      "  std::vector<std::thread> threads;\n"
      "  for (int i = 0; i < n; ++i) threads.emplace_back(body, body_ctx, i);\n"
      "  for (std::thread& thread : threads) thread.join();\n";
  const char* const isas = IsLongForm() ? "avx512,avx2,sse2" : "sse2";
  for (const Case& c : cases) {
    SCOPED_TRACE(c.name);
    LibraryOptions options;
    options.threads = true;
    options.max_threads = 3;
    options.dims = c.dims;
    options.isas = isas;
    const std::string folder =
        Compiled(c.name, c.text, options, "races_" + c.name);
    if (!CanRun("g++")) continue;
    const std::string path = absl::StrCat(folder, "/", c.name, "_test.cc");
    const std::string test = TextOf(path);
    ASSERT_THAT(test, HasSubstr(kInTurn));
    std::ofstream(path) << "#include <thread>\n#include <vector>\n"
                        << absl::StrReplaceAll(test, {{kInTurn, kAtOnce}});
    EXPECT_THAT(OutputOf(folder,
                         "g++ -std=c++17 -O1 -g -fsanitize=thread -Wall "
                         "-Wextra -Werror *.cc *.o -lm -pthread -o races && "
                         "TSAN_OPTIONS=halt_on_error=1 ./races"),
                ::testing::MatchesRegex("avx512\n|avx2\n|sse2\n"));
  }
}

}  // namespace
}  // namespace baton
