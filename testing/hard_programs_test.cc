// Laws of random programs with all that rewrites easily get wrong: chains of
// casts, special numbers in constants, types that share their parts, functions
// that double when they are inlined. The pipelines keep the values, pass by
// pass, or what each pass promises about them.
//
// BATON_LONG_TESTS=1 tries more programs, BATON_PROGRAMS=N as many, from seed
// BATON_FIRST_SEED on.

#include <cstdint>
#include <cstdio>
#include <memory>
#include <string>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/string_view.h"
#include "baton/base/status_macros.h"
#include "baton/instrument/check_values.h"
#include "baton/ir/module.h"
#include "baton/relay/ir/text_printer.h"
#include "baton/testing/random_program.h"
#include "baton/testing/status_matchers.h"
#include "baton/testing/test_settings.h"
#include "baton/transform/pass.h"
#include "baton/transform/pass_context.h"
#include "baton/transform/pipeline.h"
#include "gtest/gtest.h"

namespace baton::testing {
namespace {

uint32_t NumPrograms() {
  return TestSetting("BATON_PROGRAMS", IsLongTest() ? 2000 : 48);
}

// An operator whose values a pass may change.
struct KnownValueChange {
  absl::string_view pass;
  absl::string_view op;
  absl::string_view reason;
};
constexpr KnownValueChange kKnownValueChanges[] = {
    {"SimplifyInference", "nn.batch_norm",
     "a scale and a shift overflow where the normalization does not"},
    {"SimplifyInference", "nn.layer_norm",
     "the variance of huge elements that hardly differ is their rounding"},
};

bool IsKnown(absl::string_view message, absl::string_view text) {
  for (const KnownValueChange& known : kKnownValueChanges) {
    if (absl::StrContains(message,
                          absl::StrCat("pass ", known.pass, " changed")) &&
        absl::StrContains(text, known.op)) {
      return true;
    }
  }
  return false;
}

// The error of a pipeline that changes a value or fails otherwise.
absl::Status CheckPipeline(absl::string_view name, const IRModule& module,
                           uint32_t seed, int64_t& compared) {
  BATON_ASSIGN_OR_RETURN(const Pass pass, ParsePipeline(name));
  const auto check = std::make_shared<CheckValuesInstrument>(
      CheckValuesOptions{.seed = seed, .special_values = true});
  PassContext context({.opt_level = 3, .instruments = {check}});
  const absl::StatusOr<IRModule> result =
      context.Run([&] { return pass(module); });
  compared += check->num_compared();
  return result.status();
}

TEST(HardProgramsTest, PipelinesKeepValues) {
  int64_t compared = 0;
  const uint32_t first = TestSetting("BATON_FIRST_SEED", 0);
  uint32_t not_evaluated = 0;
  uint32_t known = 0;
  for (uint32_t seed = first; seed < first + NumPrograms(); ++seed) {
    BATON_ASSERT_OK_AND_ASSIGN(
        const IRModule module,
        RandomProgram(seed, RandomProgramOptions::Hard(seed)));
    const std::string pipeline = absl::StrCat("O", 1 + seed % 3);
    const absl::Status status = CheckPipeline(pipeline, module, seed, compared);
    if (status.ok()) continue;
    if (absl::StrContains(status.message(), "cannot be evaluated")) {
      ++not_evaluated;
      continue;
    }
    const IRModule small = Shrink(
        module,
        [&](const IRModule& candidate) {
          int64_t ignored = 0;
          const absl::Status again =
              CheckPipeline(pipeline, candidate, seed, ignored);
          return !again.ok() &&
                 !absl::StrContains(again.message(), "cannot be evaluated");
        },
        500);
    const std::string text = AsText(small);
    if (IsKnown(status.message(), text)) {
      ++known;
      continue;
    }
    ADD_FAILURE() << "seed " << seed << ", " << pipeline << ": "
                  << status.message() << "\n"
                  << text;
  }
  std::printf(
      "%u programs, %lld results were compared, %u programs were not "
      "evaluated, %u changed as is known.\n",
      NumPrograms(), static_cast<long long>(compared), not_evaluated, known);
  EXPECT_GT(compared, NumPrograms());
  EXPECT_LT(known, NumPrograms() / 100 + 1);
  EXPECT_LT(not_evaluated, NumPrograms() / 10 + 1);
}

}  // namespace
}  // namespace baton::testing
