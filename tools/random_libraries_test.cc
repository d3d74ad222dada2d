// Libraries of random programs: each step and each result has the bytes of the
// executor and of the evaluator. The long form is that of the program that has
// the compiler.

#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <fstream>
#include <random>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_replace.h"
#include "absl/strings/string_view.h"
#include "baton/testing/test_settings.h"
#include "baton/tools/compile_options.h"
#include "baton/tools/compile_test_util.h"
#include "baton/tools/written_library.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"

namespace baton {
namespace {

// Replaces `from`, which must be there.
void Replace(const std::string& path, absl::string_view from,
             absl::string_view to) {
  const std::string text = TextOf(path);
  ASSERT_TRUE(absl::StrContains(text, from)) << path;
  std::ofstream(path) << absl::StrReplaceAll(text, {{from, to}});
}

// True for programs that no library is made of.
bool IsRefusal(absl::string_view message) {
  return absl::StrContains(message, "cannot be compiled") ||
         absl::StrContains(message, "cannot be planned");
}

// Compiles libraries, and runs their tests in programs of some.
class Libraries {
 public:
  explicit Libraries(absl::string_view folder)
      : root_(absl::StrCat(::testing::TempDir(), "/", folder)) {
    EXPECT_EQ(std::system(absl::StrCat("mkdir -p ", root_).c_str()), 0);
  }

  // False if no library is made of the program.
  bool Add(uint32_t seed, absl::string_view text) {
    const std::string name = absl::StrCat("random_", seed);
    LibraryOptions options;
    options.model = absl::StrCat(root_, "/", name, ".relay");
    std::ofstream(options.model) << text;
    options.output_dir = FolderOf(seed);
    options.isas = "avx2";
    options.test = true;
    options.check_values = true;
    options.seed = static_cast<int>(seed);
    const absl::Status status = WriteLibrary(options);
    if (!status.ok()) {
      EXPECT_TRUE(IsRefusal(status.message())) << status << text;
      return false;
    }
    // The compiler takes the most time, in sources that ask for all of its work.
    Replace(absl::StrCat(options.output_dir, "/", name, "_avx2.cc"),
            ", \"O3\")", ")");
    Replace(absl::StrCat(options.output_dir, "/", name, "_test.cc"),
            "int main()", absl::StrCat("int Main_", name, "()"));
    names_.push_back(name);
    constexpr size_t kInOneRun = 10;  // of the compiler
    if (names_.size() == kInOneRun) Run();
    return true;
  }

  // The source of the library of a program.
  std::string SourceOf(uint32_t seed) const {
    return TextOf(absl::StrCat(FolderOf(seed), "/random_", seed, "_avx2.cc"));
  }

  // Runs the tests that did not run yet.
  void Run() {
    if (names_.empty() || !MayRunPrograms()) return;
    std::string driver = "#include <cstdio>\n";
    std::string body;
    std::string files;
    for (const std::string& name : names_) {
      absl::StrAppend(&driver, "int Main_", name, "();\n");
      absl::StrAppend(&body, "  if (Main_", name,
                      "() != 0) {\n    std::puts(\"", name,
                      "\");\n    failed = 1;\n  }\n");
      absl::StrAppend(&files, " ", name, "/*.cc ", name, "/*.o");
    }
    std::ofstream(root_ + "/driver.cc")
        << driver << "int main() {\n  int failed = 0;\n"
        << body << "  return failed;\n}\n";
    const int code =
        std::system(absl::StrCat("cd ", root_, " && { g++ -std=c++17 driver.cc",
                                 files, " -lm -o run && ./run; } >output 2>&1")
                        .c_str());
    EXPECT_EQ(code, 0) << TextOf(root_ + "/output");
    names_.clear();
  }

 private:
  std::string FolderOf(uint32_t seed) const {
    return absl::StrCat(root_, "/random_", seed);
  }

  std::string root_;
  std::vector<std::string> names_;
};

TEST(RandomLibrariesTest, HaveTheBytesOfTheExecutorAndTheEvaluator) {
  if (!Has("g++")) GTEST_SKIP() << "there is no g++";
  const bool is_long = IsLongForm();
  const uint32_t count =
      is_long ? testing::NightlyLongOrShort(120, 50, 10) : 10;
  Libraries libraries("random");
  size_t compiled = 0;
  for (uint32_t seed = 0; seed < count && !HasFailure(); ++seed) {
    SCOPED_TRACE(absl::StrCat("seed ", seed));
    const std::string text =
        TextOfRandomNetwork(seed, 10 + static_cast<int>(seed % 30));
    if (libraries.Add(seed, text)) ++compiled;
  }
  libraries.Run();
  EXPECT_GE(compiled, count / 3);
}

// A network of bytes: a convolution, its sums as bytes, another convolution, and
// a product of integers, of random sizes.
std::string NetworkOfBytes(uint32_t seed) {
  std::mt19937 random(seed);
  // In [low, high].
  const auto draw = [&](int low, int high) {
    return low +
           static_cast<int>(random() % static_cast<uint32_t>(high - low + 1));
  };
  const bool is_signed = draw(0, 1) == 1;
  const char* const type = is_signed ? "int8" : "uint8";
  const int groups = draw(0, 3) == 0 ? 2 : 1;
  const int in = groups == 2 ? 4 * draw(1, 3) : draw(1, 21);
  const int middle = groups == 2 ? 32 : draw(1, 70);
  const int out = draw(1, 40);
  const int kernel = draw(1, 3);
  const int height = draw(5, 13);
  const int width = draw(5, 30);
  const int rows = draw(1, 29);
  const int depth = draw(1, 90);
  const int columns = draw(1, 70);
  // A constant of whole numbers from -127 to 127.
  const auto bytes = [&](int64_t count, absl::string_view shape) {
    return absl::StrCat("reshape(cast(multiply(sin(multiply(arange(0f, ", count,
                        "f, 1f, start=0f, stop=", count,
                        "f, step=1f, dtype=\"float32\"), ", draw(1, 99),
                        "f)), 127f), dtype=\"int8\"), newshape=[", shape, "])");
  };
  const std::string scale = absl::StrCat("0.00", draw(1, 9), "f");
  const std::string scales = absl::StrCat(
      "reshape(multiply(cast(", bytes(middle, absl::StrCat(middle)),
      ", dtype=\"float32\"), ", scale, "), newshape=[1, ", middle, ", 1, 1])");
  const char* const zero = is_signed ? "-3" : "131";
  return absl::StrCat(
      "#[version = \"0.0.5\"]\ndef @main(%x: Tensor[(", draw(1, 2), ", ",
      in * groups, ", ", height, ", ", width, "), ", type, "], %m: Tensor[(",
      rows, ", ", depth, "), ", type, "]) {\n  %0 = nn.conv2d(%x, ",
      bytes(
          int64_t{middle} * groups * in * kernel * kernel,
          absl::StrCat(middle * groups, ", ", in, ", ", kernel, ", ", kernel)),
      ", strides=[", draw(1, 2), ", ", draw(1, 2), "], padding=[", draw(0, 2),
      ", ", draw(0, 2), ", ", draw(0, 2), ", ", draw(0, 2),
      "], groups=", groups, ", channels=", middle * groups, ", kernel_size=[",
      kernel, ", ", kernel,
      "], out_dtype=\"int32\");\n  %1 = cast(%0, "
      "dtype=\"float32\");\n  %2 = round(multiply(%1, ",
      groups == 1 && draw(0, 1) == 1 ? scales : scale,
      "));\n  %3 = cast(clip(add(%2, ", zero,
      "f), a_min=", is_signed ? "-128f, a_max=127f" : "0f, a_max=255f",
      "), dtype=\"", type, "\");\n  %4 = nn.conv2d(%3, ",
      bytes(int64_t{out} * middle * groups,
            absl::StrCat(out, ", ", middle * groups, ", 1, 1")),
      ", channels=", out,
      ", kernel_size=[1, 1], out_dtype=\"int32\");\n"
      "  %5 = cast(%m, dtype=\"int32\");\n  %6 = subtract(%5, ",
      zero, ");\n  %7 = nn.dense(multiply(%6, ",
      draw(0, 1) == 1 ? "1" : "70001", "), cast(",
      bytes(int64_t{columns} * depth, absl::StrCat(columns, ", ", depth)),
      ", dtype=\"int32\"), units=", columns,
      ", out_dtype=\"int32\");\n  (%4, %7)\n}\n");
}

TEST(RandomLibrariesTest, OfBytesHaveTheBytesOfTheExecutor) {
  if (!Has("g++")) GTEST_SKIP() << "there is no g++";
  const bool is_long = IsLongForm();
  const uint32_t count = is_long ? testing::NightlyLongOrShort(60, 25, 5) : 5;
  Libraries libraries("random_bytes");
  for (uint32_t seed = 0; seed < count && !HasFailure(); ++seed) {
    SCOPED_TRACE(absl::StrCat("seed ", seed));
    EXPECT_TRUE(libraries.Add(seed, NetworkOfBytes(seed)));
    const std::string source = libraries.SourceOf(seed);
    EXPECT_TRUE(absl::StrContains(source, "kernels::Int8Conv"));
    EXPECT_TRUE(absl::StrContains(source, "kernels::IntMatmul("));
  }
  libraries.Run();
}

}  // namespace
}  // namespace baton
