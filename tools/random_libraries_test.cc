// Libraries of random programs: each step and each result has the bytes of the
// executor and of the evaluator.

#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <fstream>
#include <sstream>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_replace.h"
#include "absl/strings/string_view.h"
#include "baton/ir/module.h"
#include "baton/ir/module_text.h"
#include "baton/testing/random_program.h"
#include "baton/testing/status_matchers.h"
#include "baton/tools/compile.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"

namespace baton {
namespace {

std::string TextOf(const std::string& path) {
  std::ifstream file(path);
  std::ostringstream text;
  text << file.rdbuf();
  return text.str();
}

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

TEST(RandomLibrariesTest, HaveTheBytesOfTheExecutorAndTheEvaluator) {
  if (std::system("g++ --version >/dev/null 2>&1") != 0) {
    GTEST_SKIP() << "there is no g++";
  }
  const bool is_long = std::getenv("BATON_LONG_TESTS") != nullptr;
  const uint32_t count = is_long ? 120 : 10;
  constexpr size_t kInOneRun = 10;  // of the compiler
  const std::string root = absl::StrCat(::testing::TempDir(), "/random");
  ASSERT_EQ(std::system(absl::StrCat("mkdir -p ", root).c_str()), 0);
  size_t compiled = 0;
  std::vector<std::string> names;
  const auto run = [&] {
    std::string driver = "#include <cstdio>\n";
    std::string body;
    std::string files;
    for (const std::string& name : names) {
      absl::StrAppend(&driver, "int Main_", name, "();\n");
      absl::StrAppend(&body, "  if (Main_", name,
                      "() != 0) {\n    std::puts(\"", name,
                      "\");\n    failed = 1;\n  }\n");
      absl::StrAppend(&files, " ", name, "_avx2.cc ", name, "_test.cc ", name,
                      "_weights.o ", name, "_test_data.o");
    }
    std::ofstream(root + "/driver.cc")
        << driver << "int main() {\n  int failed = 0;\n"
        << body << "  return failed;\n}\n";
    const int code =
        std::system(absl::StrCat("cd ", root, " && { g++ -std=c++17 driver.cc",
                                 files, " -lm -o run && ./run; } >output 2>&1")
                        .c_str());
    EXPECT_EQ(code, 0) << TextOf(root + "/output");
    names.clear();
  };
  for (uint32_t seed = 0; seed < count && !HasFailure(); ++seed) {
    SCOPED_TRACE(absl::StrCat("seed ", seed));
    const std::string name = absl::StrCat("random_", seed);
    BATON_ASSERT_OK_AND_ASSIGN(
        const IRModule module,
        testing::RandomProgram(seed, {.size = 10 + static_cast<int>(seed % 30),
                                      .networks = true}));
    LibraryOptions options;
    options.model = absl::StrCat(root, "/", name, ".relay");
    std::ofstream(options.model) << AsText(module);
    options.output_dir = root;
    options.isas = "avx2";
    options.test = true;
    options.check_values = true;
    options.seed = static_cast<int>(seed);
    std::ostringstream out;
    const absl::Status status = CompileLibrary(options, out);
    if (!status.ok()) {
      EXPECT_TRUE(IsRefusal(status.message())) << status << AsText(module);
      continue;
    }
    ++compiled;
    // The compiler takes the most time, in sources that ask for all of its work.
    Replace(absl::StrCat(root, "/", name, "_avx2.cc"), ", \"O3\")", ")");
    Replace(absl::StrCat(root, "/", name, "_test.cc"), "int main()",
            absl::StrCat("int Main_", name, "()"));
    names.push_back(name);
    if (names.size() == kInOneRun) run();
  }
  if (!names.empty()) run();
  EXPECT_GE(compiled, count / 3);
}

}  // namespace
}  // namespace baton
