#include "baton/tools/compile.h"

#include <cstdlib>
#include <fstream>
#include <sstream>
#include <string>

#include "absl/status/status.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/string_view.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"

namespace baton {
namespace {

using ::testing::HasSubstr;

std::string ModelFile(absl::string_view name, absl::string_view text) {
  const std::string path = absl::StrCat(::testing::TempDir(), "/", name);
  std::ofstream(path) << "#[version = \"0.0.5\"]\n" << text;
  return path;
}

constexpr char kPerceptron[] =
    R"(def @main(%x: Tensor[(1, 24), float32], %w0: Tensor[(40, 24), float32], %b0: Tensor[(40), float32], %w1: Tensor[(10, 40), float32]) {
  %0 = nn.dense(%x, %w0, units=40);
  %1 = add(%0, %b0);
  %2 = nn.relu(%1);
  %3 = nn.dense(%2, %w1, units=10);
  tanh(%3)
}
)";

std::string Mistake(const CompileOptions& options) {
  std::ostringstream out;
  return std::string(Compile(options, out).message());
}

TEST(CompileTest, RefusesWhatIsNotBuilt) {
  CompileOptions options;
  options.model = ModelFile("refused.relay", kPerceptron);
  options.output_dir = ::testing::TempDir();
  options.threads = true;
  EXPECT_THAT(Mistake(options), HasSubstr("--threads is not built yet"));
  options.threads = false;
  options.profile = true;
  EXPECT_THAT(Mistake(options), HasSubstr("--profile is not built yet"));
  options.profile = false;
  options.isas = "avx2,neon";
  EXPECT_EQ(Mistake(options),
            "--isas: 'neon' is not one of avx512, avx2, sse2, the instructions "
            "of --target=x86_64");
  options.isas = "";
  options.state = "out";
  EXPECT_EQ(Mistake(options), "--state=out: 'out' is not NAME:VALUE");
  options.state = "";
  options.dims = "n=4";
  EXPECT_EQ(Mistake(options),
            "--dims: no input of the model has a dimension n");
  options.dims = "n=1..4";
  EXPECT_EQ(Mistake(options),
            "--dims: n=1..4: bounds are not built yet; give a number");
  options.dims = "";
  options.name = "a-b";
  EXPECT_THAT(Mistake(options), HasSubstr("--name=a-b is no C++ identifier"));
}

TEST(CompileTest, NamesOpenDimensions) {
  CompileOptions options;
  options.model = ModelFile(
      "open.relay", "def @main(%x: Tensor[(?, 4), float32]) {\n  exp(%x)\n}\n");
  options.output_dir = ::testing::TempDir();
  EXPECT_EQ(Mistake(options),
            "the model leaves dimensions open: a dimension of x; give them "
            "with --dims=NAME=N or --input_shapes");
}

TEST(CompileTest, NamesOperatorsWithoutLoops) {
  CompileOptions options;
  options.model = ModelFile("sorted.relay",
                            "def @main(%x: Tensor[(2, 4), float32]) {\n"
                            "  %0 = exp(%x);\n  %1 = argsort(%0, "
                            "dtype=\"int32\");\n  negative(%1)\n}\n");
  options.output_dir = ::testing::TempDir();
  EXPECT_THAT(Mistake(options),
              HasSubstr("sorted.relay:4:8: error: operator argsort has no "
                        "loops: it cannot be compiled"));
}

// The library gives the evaluator's bytes.
TEST(CompileTest, CompilesAPerceptron) {
  CompileOptions options;
  options.model = ModelFile("perceptron.relay", kPerceptron);
  options.output_dir = absl::StrCat(::testing::TempDir(), "/perceptron");
  options.cpp_class = "acme::Perceptron";
  options.test = true;
  std::ostringstream out;
  const absl::Status status = Compile(options, out);
  ASSERT_TRUE(status.ok()) << status.message();
  EXPECT_THAT(out.str(),
              HasSubstr("perceptron.h\nperceptron_avx512.cc\nperceptron_avx2.cc"
                        "\nperceptron_sse2.cc\nperceptron.report.json\n"
                        "perceptron_weights.o\nperceptron_test.cc\n"
                        "perceptron_test_data.o\nsteps "));
  if (std::system("g++ --version >/dev/null 2>&1") != 0) {
    GTEST_SKIP() << "there is no g++";
  }
  EXPECT_EQ(std::system(absl::StrCat(
                            "cd ", options.output_dir,
                            " && g++ -std=c++17 -O2 -Wall -Wextra -Werror *.cc "
                            "*.o -lm -o test && ./test")
                            .c_str()),
            0);
}

TEST(CompileTest, CrossCompiles) {
  CompileOptions options;
  options.model = ModelFile("perceptron.relay", kPerceptron);
  options.output_dir = absl::StrCat(::testing::TempDir(), "/arm");
  options.target = "aarch64";
  std::ostringstream out;
  const absl::Status status = Compile(options, out);
  ASSERT_TRUE(status.ok()) << status.message();
  EXPECT_THAT(out.str(), HasSubstr("perceptron.h\nperceptron_neon.cc\n"));
  if (std::system("aarch64-linux-gnu-g++ --version >/dev/null 2>&1") != 0) {
    GTEST_SKIP() << "there is no aarch64-linux-gnu-g++";
  }
  EXPECT_EQ(std::system(absl::StrCat("cd ", options.output_dir,
                                     " && aarch64-linux-gnu-g++ -std=c++17 -O2 "
                                     "-Wall -Wextra -Werror -c *.cc")
                            .c_str()),
            0);
}

}  // namespace
}  // namespace baton
