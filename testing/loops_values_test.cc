// The recorded cases of loops keep values: what a function computes before a
// pass or a schedule step is what the recorded result computes. The short form
// has a quarter of them, and not the lowering of networks, which takes minutes.

#include "baton/testing/loops_values.h"

#include <cstddef>
#include <cstdint>
#include <iostream>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/ascii.h"
#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_split.h"
#include "absl/strings/string_view.h"
#include "absl/types/span.h"
#include "baton/base/dtype.h"
#include "baton/base/status_macros.h"
#include "baton/base/tensor.h"
#include "baton/ir/function_evaluator.h"
#include "baton/ir/module.h"
#include "baton/ir/module_text.h"
#include "baton/relay/runtime/random_inputs.h"
#include "baton/testing/conformance.h"
#include "baton/testing/golden.h"
#include "baton/testing/status_matchers.h"
#include "baton/testing/test_settings.h"
#include "baton/tir/analysis/undefined_vars.h"
#include "baton/tir/interpreter/interpreter.h"
#include "baton/tir/ir/expr.h"
#include "baton/tir/ir/function.h"
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

constexpr int64_t kSteps = 2'000'000;
// In the long form, of cases of passes for processors.
constexpr int64_t kStepsOfLongForm = 10'000'000;

// The arguments of a run, and the accesses that it allows.
struct Setting {
  // Buffers of integers, which may be indices, are zero; numbers are 2.
  bool small_integers;
  // Indices outside of their buffers' axes, within these bytes behind them.
  int64_t spare_bytes;
};
// A function runs in the first setting in which it has no error.
constexpr Setting kSettings[] = {{false, 0}, {true, 0}, {true, 1 << 16}};

// The names of the variables that a function uses and does not define.
std::set<std::string> FreeNames(const tir::PrimFunc& function) {
  std::set<std::string> names;
  std::vector<tir::Var> defined(function->params().begin(),
                                function->params().end());
  defined.insert(defined.end(), function->defined().begin(),
                 function->defined().end());
  for (const tir::Var& var : tir::UndefinedVars(function->body(), defined)) {
    names.insert(std::string(var->name()));
  }
  return names;
}

// The function with variables that it does not define as parameters, in the
// order of their names; those of `names` that it does not use as well.
tir::PrimFunc WithFreeVarsAsParams(const tir::PrimFunc& function,
                                   const std::set<std::string>& names) {
  std::vector<tir::Var> defined(function->params().begin(),
                                function->params().end());
  defined.insert(defined.end(), function->defined().begin(),
                 function->defined().end());
  std::map<std::string, tir::Var> by_name;
  for (const tir::Var& var : tir::UndefinedVars(function->body(), defined)) {
    by_name.emplace(std::string(var->name()), var);
  }
  tir::PrimFuncNode::Parts parts = function->parts();
  for (const std::string& name : names) {
    const auto found = by_name.find(name);
    parts.params.push_back(found != by_name.end()
                               ? found->second
                               : tir::Var(name, DType::Int(32)));
  }
  return tir::PrimFunc(std::move(parts));
}

absl::StatusOr<std::vector<Tensor>> Run(const tir::PrimFunc& function,
                                        const Setting& setting,
                                        int64_t max_steps) {
  const FunctionEvaluator* evaluator =
      FindFunctionEvaluator(tir::PrimFuncNode::kKind);
  uint32_t seed = 1;
  BATON_ASSIGN_OR_RETURN(
      const std::vector<Tensor> tensors,
      evaluator->MakeArguments(
          function,
          [&](DType dtype,
              absl::Span<const int64_t> shape) -> absl::StatusOr<Tensor> {
            ++seed;
            if (setting.small_integers && dtype.is_integral()) {
              if (shape.empty()) return Tensor::ScalarOf(dtype, 2);
              return Tensor::Zeros(dtype, shape);
            }
            return relay::RandomTensor(dtype, shape, seed);
          }));
  BATON_ASSIGN_OR_RETURN(const std::vector<tir::Argument> arguments,
                         tir::ToArguments(function, tensors));
  // A program may read what nothing wrote, if nothing depends on it; and what
  // blocks name is another question than what they compute.
  return tir::Interpret(function, arguments,
                        {.check_initialized = false,
                         .check_regions = false,
                         .max_steps = max_steps,
                         .stand_in_for_externs = true,
                         .spare_bytes = setting.spare_bytes});
}

// Sums in another order have other rounding.
double ToleranceOf(absl::Span<const Tensor> buffers) {
  double tolerance = 1e-4;
  for (const Tensor& buffer : buffers) {
    if (buffer.dtype() == DType::Float(16)) tolerance = 2e-2;
  }
  return tolerance;
}

// Compares two functions. Returns `same`, `differs ...`, or why they cannot be
// evaluated.
std::string Compare(const tir::PrimFunc& before, const tir::PrimFunc& after,
                    int64_t max_steps) {
  std::set<std::string> names = FreeNames(before);
  names.merge(FreeNames(after));
  const tir::PrimFunc a = WithFreeVarsAsParams(before, names);
  const tir::PrimFunc b = WithFreeVarsAsParams(after, names);
  std::string result;
  for (const Setting& setting : kSettings) {
    const auto was = Run(a, setting, max_steps);
    if (absl::IsResourceExhausted(was.status())) return "before: many steps";
    if (!was.ok()) {
      result = absl::StrCat("before: ", was.status().message());
      continue;
    }
    const auto is = Run(b, setting, max_steps);
    if (absl::IsResourceExhausted(is.status())) return "after: many steps";
    if (!is.ok()) {
      result = absl::StrCat("after: ", is.status().message());
      continue;
    }
    if (was->size() != is->size()) return "other buffers";
    for (size_t i = 0; i < was->size(); ++i) {
      if ((*was)[i].dtype() != (*is)[i].dtype()) return "other types";
    }
    const std::optional<std::string> other =
        FirstOtherNumber(*was, *is, ToleranceOf(*was));
    if (other.has_value()) return absl::StrCat("differs: ", *other);
    return "same";
  }
  return result;
}

// Compares the functions of both modules that have one name.
std::string Compare(const std::string& before, const std::string& after,
                    int64_t max_steps) {
  const absl::StatusOr<IRModule> a = ParseModule(before);
  const absl::StatusOr<IRModule> b = ParseModule(after);
  if (!a.ok() || !b.ok()) return "unread";
  std::string result = "no function";
  for (const auto& definition : a->functions<tir::PrimFunc>()) {
    const std::string name(definition.var->name());
    const auto other = b->Find<tir::PrimFunc>(name);
    if (!other.defined()) continue;
    result = Compare(definition.function, other, max_steps);
    if (result != "same") return absl::StrCat(result, " (", name, ")");
  }
  return result;
}

// Passes for accelerators.
constexpr absl::string_view kForAccelerators[] = {
    "AnnotateDeviceRegions",
    "InferFragment",
    "InjectPTXAsyncCopy",
    "InjectPTXLDG32",
    "InjectPermutedLayout",
    "InjectSoftwarePipeline",
    "LiftAttrScope",
    "LiftThreadBinding",
    "LowerAsyncDMA",
    "LowerAutoCopy",
    "LowerCrossThreadReduction",
    "LowerDeviceKernelLaunch",
    "LowerThreadAllreduce",
    "LowerVtcmAlloc",
    "LowerWarpMemory",
    "ManifestSharedMemoryLocalStage",
    "MergeDynamicSharedMemoryAllocations",
    "SplitHostDevice",
    "ThreadSync",
    "TransformMmaBufferLayout",
    "UnifyThreadBinding",
};

// True for a case of passes, none of which only accelerators need.
bool IsForProcessors(const ConformanceCase& c) {
  if (!c.step.empty() || absl::StartsWith(c.group, "lowering/")) return false;
  for (const absl::string_view name : kForAccelerators) {
    if (absl::StrContains(c.passes, name)) return false;
  }
  return true;
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
  int for_processors = 0;
  int not_run = 0;
  for (const ConformanceCase& c : cases) {
    if (c.expects_error || c.is_text) continue;
    if (every > 1 && absl::StartsWith(c.group, "lowering/")) continue;
    if (++number % every != 0) {
      others.erase(c.name());
      continue;
    }
    const bool is_for_processors = IsForProcessors(c);
    const std::string outcome =
        Compare(c.before, c.after,
                every == 1 && is_for_processors ? kStepsOfLongForm : kSteps);
    const std::string kind = outcome.substr(0, outcome.find(':'));
    ++outcomes[kind];
    if (kind == "differs") {
      EXPECT_EQ(others.erase(c.name()), 1) << c.name() << " " << outcome;
    } else if (kind != "same") {
      std::cout << c.name() << " " << outcome << "\n";
    }
    if (!is_for_processors) continue;
    ++for_processors;
    if (kind != "same" && kind != "differs") ++not_run;
  }
  for (const std::string& name : others) {
    ADD_FAILURE() << name << " does not differ";
  }
  for (const auto& [outcome, n] : outcomes) {
    std::cout << outcome << ": " << n << "\n";
  }
  std::cout << not_run << " of " << for_processors
            << " cases of passes for processors cannot be run\n";
  EXPECT_GT(outcomes["same"], 250 / every);
  // The bound is that of all cases, not of a sample.
  if (every == 1) {
    EXPECT_LE(not_run, for_processors * 15 / 100);
  }
}

}  // namespace
}  // namespace baton::testing
