// Faults that are planted in what `baton-compile` writes: the test of a library
// that was made with --check_values names the first wrong step.

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <cstring>
#include <fstream>
#include <string>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "absl/strings/match.h"
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

using ::testing::HasSubstr;

// A replacement in a text.
struct Fault {
  std::string from;
  std::string to;
};

constexpr char kWritten[] =
    R"(def @main(%x: Tensor[(1, 3, 9, 7), float32]) {
  %0 = sin(arange(0f, 648f, 1f, start=0f, stop=648f, step=1f, dtype="float32"));
  %1 = reshape(%0, newshape=[24, 3, 3, 3]);
  %2 = nn.conv2d(%x, %1, padding=[1, 1, 1, 1], channels=24, kernel_size=[3, 3]);
  %3 = nn.relu(%2);
  %4 = nn.max_pool2d(%3, pool_size=[3, 3], strides=[2, 2], padding=[1, 1, 1, 1]);
  %5 = nn.lrn(%4, size=5, axis=1, bias=2f, alpha=0.001f, beta=0.75f);
  %6 = nn.global_avg_pool2d(%5);
  %7 = nn.batch_flatten(%6);
  %8 = sin(arange(0f, 240f, 1f, start=0f, stop=240f, step=1f, dtype="float32"));
  %9 = reshape(%8, newshape=[10, 24]);
  %10 = nn.dense(%7, %9, units=10);
  %11 = nn.softmax(%10);
  %12 = exp(%11);
  (%12, %4)
}
)";

// The number of the step in `  Step7(m, ...`; -1 for other lines.
int StepOf(absl::string_view line, absl::string_view start) {
  if (!absl::ConsumePrefix(&line, start)) return -1;
  return std::atoi(std::string(line).c_str());
}

constexpr char kCompile[] =
    "g++ -std=c++17 -O1 -Wall -Wextra -Werror *.cc *.o -lm -o run";

TEST(PlantedCodeFaultsTest, InWhatIsWritten) {
  LibraryOptions options;
  options.model = ModelFile("written.relay", kWritten);
  options.output_dir = absl::StrCat(::testing::TempDir(), "/written");
  options.isas = "avx2";
  options.test = true;
  options.check_values = true;
  ASSERT_EQ(WriteLibrary(options), absl::OkStatus());
  if (!MayRunPrograms() || !Has("g++")) GTEST_SKIP() << "there is no g++";
  const std::string& folder = options.output_dir;
  const std::string source = TextOf(folder + "/written_avx2.cc");
  // Steps that do not run, read other memory or write to other memory. The
  // steps by the numbers of faults, from 1 on.
  std::vector<int> steps = {-1};
  std::string faulty = "extern int planted;\n";
  int step = -1;
  for (absl::string_view line : absl::StrSplit(source, '\n')) {
    std::string text(line);
    if (const int run = StepOf(line, "  Step"); run >= 0) {
      text = absl::StrCat("  if (planted != ", steps.size(), ")", line);
      steps.push_back(run);
    } else if (const int is = StepOf(line, "static void Step"); is >= 0) {
      step = is;
    } else if (step >= 0) {
      for (const char* place : {"(m.arena, ", "(m.weights["}) {
        const size_t at = text.find(place);
        if (at == std::string::npos) continue;
        const size_t end = text.find(')', at);
        text.insert(end,
                    absl::StrCat(" + 64 * (planted == ", steps.size(), ")"));
        steps.push_back(step);
      }
      if (line == "}") step = -1;
    }
    absl::StrAppend(&faulty, text, "\n");
  }
  EXPECT_GE(steps.size(), 20u);
  std::string test = TextOf(folder + "/written_test.cc");
  const std::string main = "int main() {\n";
  const size_t at = test.find(main);
  ASSERT_NE(at, std::string::npos);
  test.replace(at, main.size(),
               "int planted = 0;\nint main(int argc, char** argv) {\n"
               "  for (const char* c = argc > 1 ? argv[1] : \"\"; *c; ++c) "
               "planted = planted * 10 + *c - '0';\n");
  std::ofstream(folder + "/written_test.cc") << test;
  std::ofstream(folder + "/written_avx2.cc") << faulty;
  ASSERT_EQ(OutputOf(folder, absl::StrCat(kCompile, " && ./run 0")), "avx2\n");
  for (size_t fault = 1; fault < steps.size(); ++fault) {
    const std::string output = OutputOf(folder, absl::StrCat("./run ", fault));
    EXPECT_THAT(output, HasSubstr(absl::StrCat("first wrong step: step ",
                                               steps[fault], ", ")))
        << fault;
    EXPECT_THAT(output, HasSubstr("written.relay:")) << fault;
  }
  // Another weight.
  const std::string object = TextOf(folder + "/written_weights.o");
  std::string other = object;
  // The third section has the first of those that models share.
  uint64_t sections = 0;
  uint64_t offset = 0;
  std::memcpy(&sections, &other[40], 8);
  std::memcpy(&offset, &other[sections + 3 * 64 + 24], 8);
  other[offset + 100] ^= 1;
  std::ofstream(folder + "/written_weights.o") << other;
  EXPECT_THAT(
      OutputOf(folder, absl::StrCat(kCompile, " && ./run 0")),
      ::testing::ContainsRegex(
          "first wrong step: step [0-9]+, conv.*, "
          "written.relay:5.*: its operand 1 is not the model's weights"));
  std::ofstream(folder + "/written_weights.o") << object;
  // A plan in the wrong order: a step runs before the one whose result it has.
  const auto block_of = [&source](int number) {
    const size_t begin = source.find(absl::StrCat(
        "  if (check != nullptr) {\n    check(check_ctx, ", number, ", "));
    const size_t end = source.find(
        absl::StrCat("  if (check != nullptr) {\n    check(check_ctx, ",
                     number + 1, ", "),
        begin);
    return source.substr(begin, end - begin);
  };
  const std::string first = block_of(1);
  const std::string second = block_of(2);
  ASSERT_THAT(source, HasSubstr(first + second));
  const std::string swapped =
      absl::StrReplaceAll(source, {{first + second, second + first}});
  std::ofstream(folder + "/written_avx2.cc") << swapped;
  EXPECT_THAT(OutputOf(folder, absl::StrCat(kCompile, " && ./run 0")),
              ::testing::ContainsRegex(
                  "first wrong step: step 2, .*: before it, its operand 0, the "
                  "result of step 1, .*, is not there, or not any more"));
  // A plan that places two values that live at the same time in one place: a
  // step writes to what it reads later.
  const size_t pool = source.find("\n// max_pool");
  ASSERT_NE(pool, std::string::npos);
  const std::string body =
      source.substr(pool, source.find("\n}\n", pool) - pool);
  const int number =
      StepOf(body.substr(body.find("static void Step")), "static void Step");
  std::vector<std::string> places;
  for (size_t place = body.find("m.arena, "); place != std::string::npos;
       place = body.find("m.arena, ", place + 1)) {
    places.push_back(body.substr(place, body.find(')', place) + 1 - place));
  }
  ASSERT_EQ(places.size(), 2u) << body;
  std::ofstream(folder + "/written_avx2.cc") << absl::StrReplaceAll(
      source,
      {{places[1], absl::StrCat("m.arena, 512 + ", places[0].substr(9))}});
  EXPECT_THAT(OutputOf(folder, absl::StrCat(kCompile, " && ./run 0")),
              HasSubstr(absl::StrCat("first wrong step: step ", number, ", ")));
}

// --- Text of LLVM --------------------------------------------------------------

// Functions have loops alone; some steps are the executor's kernels, which have
// no float64.
constexpr char kLoops[] =
    R"(def @main(%x: Tensor[(4, 19), float32], %n: Tensor[(4, 19), float64]) {
  %0 = nn.softmax(%x);
  %1 = tan(%x);
  %2 = multiply(%0, %1);
  %3 = sum(%2, axis=[1], keepdims=True);
  %4 = sin(%x);
  %5 = multiply(%n, %n);
  %6 = greater(%n, %5);
  %7 = where(%6, %n, %5);
  %8 = cast(%5, dtype="float32");
  %9 = argmax(%7, axis=[1]);
  %10 = add(add(%8, %3), %4);
  %11 = atan(%10);
  %12 = max(%11, axis=[0]);
  (%12, %9, %7, %5)
}
)";

// `line` with its last two operands in the other order.
std::string Swapped(const std::string& line) {
  std::vector<std::string> parts = absl::StrSplit(line, ", ");
  std::swap(parts[1], parts[2]);
  return absl::StrJoin(parts, ", ");
}

// `line` with another instruction; empty where `from` is none of it.
std::string OtherInstruction(const std::string& line, const Fault& fault) {
  if (!absl::StrContains(line, fault.from)) return "";
  return fault.to.empty() ? Swapped(line)
                          : absl::StrReplaceAll(line, {{fault.from, fault.to}});
}

TEST(PlantedCodeFaultsTest, InTextOfLlvm) {
  LibraryOptions options;
  options.model = ModelFile("llvm.relay", kLoops);
  options.output_dir = absl::StrCat(::testing::TempDir(), "/llvm");
  options.isas = "avx2";
  options.llvm_target = "llvm -mcpu=haswell -mattr=+avx2,+fma";
  options.test = true;
  options.check_values = true;
  ASSERT_EQ(WriteLibrary(options), absl::OkStatus());
  if (!MayRunPrograms()) GTEST_SKIP() << "libraries are only written";
  std::vector<std::string> versions;
  for (const char* one : {"16", "19"}) {
    if (Has(absl::StrCat("llc-", one))) versions.emplace_back(one);
  }
  if (versions.empty() || !Has("g++")) {
    GTEST_SKIP() << "there is neither LLVM 16 nor 19, or no g++";
  }
  const std::string& folder = options.output_dir;
  const auto run_with = [](const std::string& version) {
    return absl::StrCat(
        "llc-", version,
        " -O0 -filetype=obj -relocation-model=pic "
        "llvm_loops.ll -o loops.obj && g++ llvm_avx2.o llvm_test.o "
        "llvm_weights.o llvm_test_data.o loops.obj -lm -o run && ./run");
  };
  ASSERT_EQ(
      OutputOf(folder, "g++ -std=c++17 -O1 -Wall -Wextra -Werror -c *.cc"), "");
  for (const std::string& version : versions) {
    ASSERT_EQ(OutputOf(folder, run_with(version)), "avx2\n") << version;
  }
  const std::string run = run_with(versions.front());
  const Fault faults[] = {
      {" fadd ", " fsub "},       {" fsub ", " fadd "},
      {" fmul ", " fadd "},       {" fdiv ", " fmul "},
      {" mul nsw ", " add nsw "}, {" fcmp olt ", " fcmp ogt "},
      {" select i1 ", ""},        {" br i1 ", ""},
  };
  const size_t most = IsLongForm() ? 100 : 2;
  const std::vector<std::string> lines =
      absl::StrSplit(TextOf(folder + "/llvm_loops.ll"), '\n');
  size_t planted_faults = 0;
  for (const Fault& fault : faults) {
    // The first such instruction of a function.
    std::string function;
    std::string done;
    size_t count = 0;
    for (size_t i = 0; i < lines.size() && count < most; ++i) {
      if (absl::StartsWith(lines[i], "define")) {
        function =
            std::string(absl::StripPrefix(lines[i], "define void @llvm_"));
        function.resize(std::min(function.size(), function.find('(')));
        // The hash.
        function.resize(function.size() -
                        std::min<size_t>(17, function.size()));
      }
      // Functions of the vector mathematics are of all steps.
      if (absl::StartsWith(lines[i], "define internal")) break;
      const std::string other = OtherInstruction(lines[i], fault);
      if (function == done || other.empty()) continue;
      done = function;
      ++count;
      std::vector<std::string> faulty = lines;
      faulty[i] = other;
      std::ofstream(folder + "/llvm_loops.ll") << absl::StrJoin(faulty, "\n");
      EXPECT_THAT(OutputOf(folder, run),
                  ::testing::ContainsRegex(absl::StrCat(
                      "first wrong step: step [0-9]+, ", function,
                      " of .*llvm.relay:[0-9]+: it computes another operand")))
          << lines[i] << "\n"
          << other;
    }
    planted_faults += count;
  }
  EXPECT_GE(planted_faults, most == 2 ? 10u : 30u);
}

}  // namespace
}  // namespace baton
