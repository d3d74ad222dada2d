// Tests programs with small mistakes: the modules of the conformance cases with
// numbers, element types and attributes replaced or removed. Each is refused at
// the place of the mistake, or is valid: it survives printing and parsing, and
// passes turn it into well-typed programs.

#include <algorithm>
#include <array>
#include <cstddef>
#include <random>
#include <string>
#include <utility>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/strings/ascii.h"
#include "absl/strings/string_view.h"
#include "absl/types/span.h"
#include "baton/ir/diagnostics.h"
#include "baton/ir/module.h"
#include "baton/relay/ir/infer_type.h"
#include "baton/relay/ir/text_parser.h"
#include "baton/relay/ir/text_printer.h"
#include "baton/testing/conformance.h"
#include "baton/testing/golden.h"
#include "baton/testing/status_matchers.h"
#include "baton/testing/test_settings.h"
#include "baton/transform/pass.h"
#include "baton/transform/pipeline.h"
#include "gtest/gtest.h"

namespace baton::testing {
namespace {

const int kPrograms = LongOrShort(20'000, 5'000);
constexpr size_t kMaxLength = 4000;

constexpr absl::string_view kElementTypes[] = {
    "float32", "float16", "int64", "int32", "int8", "uint8", "bool"};

constexpr absl::string_view kValues[] = {
    "0",     "1",        "-1",   "2",
    "7",     "-3",       "100",  "2147483648",
    "?",     "None",     "[]",   "[0]",
    "[1,1]", "[0,-1,5]", "1.5f", "4611686018427387904",
    "True",  "\"x\"",    "%x",   "-2147483648"};

constexpr absl::string_view kPasses[] = {
    "FoldConstant",
    "SimplifyInference",
    "FuseOps",
    "EliminateCommonSubexpr",
    "BackwardFoldScaleAxis",
    "ForwardFoldScaleAxis",
    "CanonicalizeOps",
    "ConvertLayout{desired_layouts={nn.conv2d:[NHWC,default]}}",
    "DeadCodeElimination",
    "ToANormalForm",
    "ToGraphNormalForm"};

class Mutator {
 public:
  explicit Mutator(unsigned seed) : random_(seed) {}

  size_t Below(size_t n) { return random_() % n; }
  absl::string_view OneOf(absl::Span<const absl::string_view> values) {
    return values[Below(values.size())];
  }

  void Mutate(std::string& text) {
    switch (Below(8)) {
      case 0:
      case 1:
      case 2:
      case 3:
        return Replace(text, OneOf(kValues), [](absl::string_view word) {
          return absl::ascii_isdigit(word[0]);
        });
      case 4:
      case 5:
        return Replace(text, OneOf(kElementTypes), [](absl::string_view word) {
          return std::find(std::begin(kElementTypes), std::end(kElementTypes),
                           word) != std::end(kElementTypes);
        });
      case 6:
        return DropAttribute(text);
      default:
        text.erase(Below(text.size() + 1), 1 + Below(3));
    }
  }

 private:
  // Replaces one of the words that `wanted` takes.
  template <typename Wanted>
  void Replace(std::string& text, absl::string_view by, const Wanted& wanted) {
    std::vector<std::pair<size_t, size_t>> words;  // begin, length
    const auto in_word = [](char c) {
      return absl::ascii_isalnum(c) || c == '_' || c == '.';
    };
    for (size_t begin = 0; begin < text.size();) {
      size_t end = begin;
      while (end < text.size() && in_word(text[end])) ++end;
      if (end > begin && (begin == 0 || text[begin - 1] != '%') &&
          wanted(absl::string_view(text).substr(begin, end - begin))) {
        words.emplace_back(begin, end - begin);
      }
      begin = end + 1;
    }
    if (words.empty()) return;
    const auto [begin, length] = words[Below(words.size())];
    text.replace(begin, length, std::string(by));
  }

  void DropAttribute(std::string& text) {
    const size_t equals = text.find('=', Below(text.size() + 1));
    if (equals == std::string::npos) return;
    const size_t begin = text.rfind(',', equals);
    const size_t end = text.find_first_of(",)", equals);
    if (begin == std::string::npos || end == std::string::npos) return;
    text.erase(begin, end - begin);
  }

  std::mt19937 random_;
};

std::vector<std::string> Programs() {
  const absl::StatusOr<std::vector<ConformanceCase>> cases =
      ReadConformanceCases(RunfilePath("testing/conformance"));
  EXPECT_THAT(cases, IsOk());
  std::vector<std::string> programs;
  if (!cases.ok()) return programs;
  for (const ConformanceCase& c : *cases) {
    for (const std::string& text : {c.before, c.after}) {
      if (!text.empty() && text.size() < kMaxLength) programs.push_back(text);
    }
  }
  return programs;
}

// Checks a program; true if it is a good one.
bool Check(const std::string& text, const Pass& pass) {
  Diagnostics diagnostics;
  IRModule module = ParseModule(text, "mutated", diagnostics);
  if (!diagnostics.has_errors())
    module = relay::InferTypes(module, diagnostics);
  if (diagnostics.has_errors()) {
    for (const Diagnostic& diagnostic : diagnostics.list()) {
      EXPECT_TRUE(diagnostic.span.defined()) << diagnostic.message;
    }
    return false;
  }
  const std::string printed = AsText(module);
  absl::StatusOr<IRModule> again = ParseModule(printed, "printed");
  if (again.ok()) again = relay::InferTypes(*again);
  EXPECT_THAT(again, IsOk());
  if (again.ok()) {
    EXPECT_EQ(AsText(*again), printed);
  }
  // A pass may refuse a program, but must not break it.
  const absl::StatusOr<IRModule> result = pass(module);
  if (result.ok()) {
    EXPECT_THAT(relay::InferTypes(*result), IsOk()) << pass.name();
  }
  return true;
}

TEST(MutatedProgramsTest, AreRefusedOrGood) {
  const std::vector<std::string> programs = Programs();
  ASSERT_FALSE(programs.empty());
  std::vector<Pass> passes;
  for (const absl::string_view text : kPasses) {
    BATON_ASSERT_OK_AND_ASSIGN(const Pass pipeline, ParsePipeline(text));
    passes.push_back(pipeline.impl().listed_passes()[0]);
  }
  Mutator mutator(/*seed=*/20240601);
  int good = 0;
  for (int i = 0; i < kPrograms && !HasFailure(); ++i) {
    std::string text = programs[mutator.Below(programs.size())];
    for (size_t k = mutator.Below(3) + 1; k > 0; --k) mutator.Mutate(text);
    SCOPED_TRACE(text);
    good += Check(text, passes[mutator.Below(passes.size())]) ? 1 : 0;
  }
  // Neither kind is rare.
  EXPECT_GT(good, kPrograms / 10);
  EXPECT_LT(good, kPrograms / 2);
}

}  // namespace
}  // namespace baton::testing
