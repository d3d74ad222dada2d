// The recorded cases of loops keep values: what a function computes before a
// pass or a schedule step is what the recorded result computes. The short form
// has a quarter of them, and not the lowering of networks, which takes minutes.

#include "baton/testing/loops_values.h"

#include <cstdint>
#include <iostream>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/strings/ascii.h"
#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_split.h"
#include "absl/strings/string_view.h"
#include "absl/types/span.h"
#include "baton/base/dtype.h"
#include "baton/base/tensor.h"
#include "baton/ir/expr.h"
#include "baton/ir/function_evaluator.h"
#include "baton/ir/module.h"
#include "baton/ir/module_text.h"
#include "baton/relay/runtime/random_inputs.h"
#include "baton/testing/conformance.h"
#include "baton/testing/golden.h"
#include "baton/testing/status_matchers.h"
#include "baton/testing/test_settings.h"
#include "gtest/gtest.h"

namespace baton::testing {
namespace {

// Names of the cases in testing/loops/other_values.txt.
std::set<std::string> OtherValues() {
  std::set<std::string> names;
  const std::string text =
      ReadFileOrFail(RunfilePath("testing/loops/other_values.txt"));
  for (absl::string_view line : absl::StrSplit(text, '\n')) {
    line = absl::StripAsciiWhitespace(line);
    if (!line.empty() && line[0] != '#') names.emplace(line);
  }
  return names;
}

absl::StatusOr<std::vector<Tensor>> Arguments(
    const FunctionEvaluator& evaluator, const BaseFunc& function) {
  uint32_t seed = 1;
  return evaluator.MakeArguments(
      function, [&seed](DType dtype, absl::Span<const int64_t> shape) {
        return RandomTensor(dtype, shape, seed++);
      });
}

// Sums in another order have other rounding.
double ToleranceOf(absl::Span<const Tensor> buffers) {
  double tolerance = 1e-5;
  for (const Tensor& buffer : buffers) {
    if (buffer.dtype() == DType::Float(16)) tolerance = 2e-2;
  }
  return tolerance;
}

// Compares the functions of both modules that have one name. Returns `same`,
// `differs ...`, or why they cannot be evaluated.
std::string Compare(const std::string& before, const std::string& after) {
  const absl::StatusOr<IRModule> a = ParseModule(before);
  const absl::StatusOr<IRModule> b = ParseModule(after);
  if (!a.ok() || !b.ok()) return "unread";
  std::string result = "no function";
  for (const auto& [var, function] : a->functions()) {
    const BaseFunc other = b->Find(var->name());
    if (!other.defined()) continue;
    const FunctionEvaluator* evaluator =
        FindFunctionEvaluator(function->kind());
    if (evaluator == nullptr) return "no evaluator";
    const absl::StatusOr<std::vector<Tensor>> arguments =
        Arguments(*evaluator, function);
    if (!arguments.ok()) return std::string(arguments.status().message());
    const auto was = evaluator->Evaluate(*a, function, *arguments,
                                         FunctionEvaluator::kStepsOfCheck);
    if (!was.ok()) return absl::StrCat("before: ", was.status().message());
    const auto is = evaluator->Evaluate(*b, other, *arguments,
                                        FunctionEvaluator::kStepsOfCheck);
    if (!is.ok()) return absl::StrCat("after: ", is.status().message());
    if (was->size() != is->size()) return "other buffers";
    if (const std::optional<std::string> other =
            FirstOtherNumber(*was, *is, ToleranceOf(*was))) {
      return absl::StrCat("differs: of ", var->name(), " ", *other);
    }
    result = "same";
  }
  return result;
}

TEST(LoopsValuesTest, RecordedResultsComputeTheSame) {
  BATON_ASSERT_OK_AND_ASSIGN(
      const std::vector<ConformanceCase> cases,
      ReadConformanceCases(RunfilePath("testing/loops")));
  // One case of `every`.
  const int every = IsLongTest() ? 1 : 4;
  int number = 0;
  std::set<std::string> others = OtherValues();
  std::map<std::string, int> outcomes;
  for (const ConformanceCase& c : cases) {
    if (c.expects_error || c.is_text) continue;
    if (every > 1 && absl::StartsWith(c.group, "lowering/")) continue;
    if (++number % every != 0) {
      others.erase(c.name());
      continue;
    }
    const std::string outcome = Compare(c.before, c.after);
    const std::string kind = outcome.substr(0, outcome.find(':'));
    ++outcomes[kind];
    if (kind == "differs") {
      EXPECT_EQ(others.erase(c.name()), 1) << c.name() << " " << outcome;
    } else if (kind != "same") {
      std::cout << c.name() << " " << outcome << "\n";
    }
  }
  for (const std::string& name : others) {
    ADD_FAILURE() << name << " does not differ";
  }
  for (const auto& [outcome, n] : outcomes) {
    std::cout << outcome << ": " << n << "\n";
  }
  EXPECT_GT(outcomes["same"], 250 / every);
}

}  // namespace
}  // namespace baton::testing
