#include "baton/testing/pass_laws.h"

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <iostream>
#include <string>
#include <utility>
#include <vector>

#include "absl/flags/flag.h"
#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/match.h"
#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/string_view.h"
#include "baton/base/dtype.h"
#include "baton/base/status_macros.h"
#include "baton/ir/module.h"
#include "baton/relay/bind.h"
#include "baton/relay/ir/expr.h"
#include "baton/relay/ir/infer_type.h"
#include "baton/relay/ir/module.h"
#include "baton/relay/ir/text_printer.h"
#include "baton/relay/op/builders.h"
#include "baton/testing/pass_law_checks.h"
#include "baton/testing/random_program.h"
#include "baton/testing/registered_passes.h"
#include "baton/testing/small_stack.h"
#include "baton/testing/test_settings.h"
#include "baton/testing/workloads/workload.h"
#include "baton/transform/pass.h"
#include "baton/transform/value_promise.h"
#include "gtest/gtest.h"

ABSL_FLAG(double, seconds, 0,
          "For how long to try random programs, for each pass; 0 for some.");

namespace baton::testing {
namespace {

using relay::Function;
using relay::InferTypes;
using relay::ModuleFromExpr;
using relay::Var;

bool Keeps(const Pass& pass, absl::string_view law) {
  return Keeps(pass.info(), law);
}

int Depth() { return NightlyLongOrShort(100'000, 30'000, 2'000); }

Expr Step(int i, Expr e, const Var& x) {
  return i % 2 == 0 ? relay::Add(std::move(e), x)
                    : relay::nn::Relu(std::move(e));
}

IRModule DeepCalls() {
  const Var x("x", {2, 3});
  Expr e = x;
  const int depth = Depth();
  for (int i = 0; i < depth; ++i) e = Step(i, std::move(e), x);
  return ModuleFromExpr(Function({x}, std::move(e)));
}

IRModule DeepLets() {
  const Var x("x", {2, 3});
  std::vector<Var> vars;
  const int depth = Depth();
  for (int i = 0; i < depth; ++i) vars.push_back(Var("v"));
  Expr e = vars.back();
  for (int i = depth - 1; i >= 0; --i) {
    e = relay::Let(
        vars[static_cast<size_t>(i)],
        Step(i, i == 0 ? Expr(x) : Expr(vars[static_cast<size_t>(i - 1)]), x),
        std::move(e));
  }
  return ModuleFromExpr(Function({x}, std::move(e)));
}

// if (c) {relu(x)} else {if (c) {relu(x)} else {...}}: not as deep, since each
// line of its text is indented by its depth.
IRModule DeepBranches() {
  const int num_branches = LongOrShort(4000, 1000);
  const Var x("x", {2, 3});
  const Var c("c", {}, DType::Bool());
  Expr e = x;
  for (int i = 0; i < num_branches; ++i) {
    e = relay::If(c, relay::nn::Relu(x), std::move(e));
  }
  return ModuleFromExpr(Function({c, x}, std::move(e)));
}

absl::StatusOr<std::vector<IRModule>> MakeDeepModules() {
  std::vector<IRModule> modules;
  for (const auto make : {DeepCalls, DeepLets, DeepBranches}) {
    BATON_ASSIGN_OR_RETURN(IRModule typed, InferTypes(make()));
    modules.push_back(std::move(typed));
  }
  return modules;
}

// With types; made once for all passes.
const absl::StatusOr<std::vector<IRModule>>& DeepModules() {
  static const auto* const modules =
      new absl::StatusOr<std::vector<IRModule>>(MakeDeepModules());
  return *modules;
}

// Functions that differ, `main` first.
absl::StatusOr<IRModule> ManyFunctions(uint32_t seed) {
  const uint32_t num_functions = LongOrShort(24, 6);
  IRModule module;
  for (uint32_t i = 0; i < num_functions; ++i) {
    BATON_ASSIGN_OR_RETURN(
        const IRModule one,
        RandomProgram(seed + i, {.size = 20, .networks = i % 2 == 0}));
    module.Set(i == 0 ? "main" : absl::StrCat("f", i),
               one.Find<Function>("main"));
  }
  return InferTypes(module);
}

// Returns the number of random programs on which a pass must keep the laws:
// more in longer forms of tests (docs/write_a_test.md).
// RandomProgramOptions::Mixed() has 112 sets of options.
int NumRandomPrograms() { return NightlyLongOrShort(672, 224, 12); }

// The random program of a seed. The first ones are made once for all passes.
absl::StatusOr<IRModule> MixedProgram(uint32_t seed) {
  const auto make = [](uint32_t i) {
    return RandomProgram(i, RandomProgramOptions::Mixed(i));
  };
  static const auto* const first = [&make] {
    auto* const programs = new std::vector<absl::StatusOr<IRModule>>;
    const auto count = static_cast<uint32_t>(NumRandomPrograms());
    for (uint32_t i = 0; i < count; ++i) programs->push_back(make(i));
    return programs;
  }();
  return seed < first->size() ? (*first)[seed] : make(seed);
}

double SecondsToTry() {
  double seconds = absl::GetFlag(FLAGS_seconds);
  if (seconds > 0) return seconds;
  const char* text = std::getenv("BATON_PASS_LAWS_SECONDS");
  return text != nullptr && absl::SimpleAtod(text, &seconds) ? seconds : 0;
}

}  // namespace

absl::Status CheckPassStack(const Pass& pass) {
  if (!Keeps(pass, "stack")) return absl::OkStatus();
  const SilentStderr silence;
  const auto check = [&]() -> absl::Status {
    BATON_ASSIGN_OR_RETURN(const std::vector<IRModule> modules, DeepModules());
    for (const IRModule& typed : modules) {
      BATON_ASSIGN_OR_RETURN(const IRModule given,
                             RunRequiredPasses(pass, typed));
      const absl::StatusOr<IRModule> result = pass(given);
      if (!result.ok() && MayRefuse(pass)) continue;
      if (!result.ok()) return Broken("runs", result.status().message());
      BATON_RETURN_IF_ERROR(Verified(*result).status());
    }
    return absl::OkStatus();
  };
  absl::Status status;
  RunWithStack(SmallStackBytesOfThisBuild(), [&] { status = check(); });
  return status;
}

absl::Status CheckPassOnRandomPrograms(const Pass& pass, uint32_t first_seed,
                                       int num_programs) {
  for (int i = 0; i < num_programs; ++i) {
    const uint32_t seed = first_seed + static_cast<uint32_t>(i);
    BATON_ASSIGN_OR_RETURN(const IRModule module, MixedProgram(seed));
    const absl::Status status = CheckPassLaws(pass, module);
    if (status.ok()) continue;
    const std::string law(
        status.message().substr(0, status.message().find(':') + 1));
    const IRModule small = Shrink(module, [&](const IRModule& candidate) {
      return absl::StartsWith(CheckPassLaws(pass, candidate).message(), law);
    });
    std::string message =
        absl::StrCat(CheckPassLaws(pass, small).message(), "\nprogram of seed ",
                     seed, ", made small, as it was given to pass ",
                     pass.name(), ":\n", AsText(small));
    const SilentStderr silence;
    const absl::StatusOr<IRModule> given = RunRequiredPasses(pass, small);
    if (given.ok()) {
      const absl::StatusOr<IRModule> result = pass(*given);
      if (result.ok()) absl::StrAppend(&message, "became\n", ToText(*result));
    }
    return absl::FailedPreconditionError(message);
  }
  return absl::OkStatus();
}

namespace {

absl::StatusOr<std::vector<std::pair<std::string, IRModule>>> MakeLawModules() {
  std::vector<std::pair<std::string, IRModule>> result;
  BATON_ASSIGN_OR_RETURN(const std::vector<WorkloadInfo> workloads,
                         ListWorkloads());
  for (const WorkloadInfo& info : workloads) {
    BATON_ASSIGN_OR_RETURN(IRModule module, GetWorkloadModule(info.name));
    result.emplace_back(info.name, std::move(module));
    if (info.name != "resnet") continue;
    const std::string small =
        "resnet{num_layers=8,image_shape=[3,12,12],num_classes=10}";
    BATON_ASSIGN_OR_RETURN(const Workload workload, GetWorkload(small));
    BATON_ASSIGN_OR_RETURN(
        const Function bound,
        relay::BindParamsByName(workload.module.Find<Function>("main"),
                                workload.params));
    BATON_ASSIGN_OR_RETURN(module, InferTypes(ModuleFromExpr(bound)));
    result.emplace_back(absl::StrCat(small, " with weights"),
                        std::move(module));
  }
  for (const uint32_t seed : {1000, 2000}) {
    BATON_ASSIGN_OR_RETURN(IRModule module, ManyFunctions(seed));
    result.emplace_back(absl::StrCat("functions ", seed), std::move(module));
  }
  return result;
}

}  // namespace

const absl::StatusOr<std::vector<std::pair<std::string, IRModule>>>&
LawModules() {
  // Made once for all passes.
  static const auto* const modules =
      new absl::StatusOr<std::vector<std::pair<std::string, IRModule>>>(
          MakeLawModules());
  return *modules;
}

GTEST_ALLOW_UNINSTANTIATED_PARAMETERIZED_TEST(PassLawsTest);

TEST_P(PassLawsTest, RandomPrograms) {
  const int num_programs = NumRandomPrograms();
  const double seconds = SecondsToTry();
  const auto start = std::chrono::steady_clock::now();
  uint32_t seed = 0;
  do {
    const absl::Status status =
        CheckPassOnRandomPrograms(pass(), seed, num_programs);
    EXPECT_TRUE(status.ok()) << status.message();
    seed += static_cast<uint32_t>(num_programs);
  } while (!HasFailure() && std::chrono::duration<double>(
                                std::chrono::steady_clock::now() - start)
                                    .count() < seconds);
  RecordProperty("programs", static_cast<int>(seed));
  if (seconds > 0) std::cout << seed << " programs\n";
}

TEST_P(PassLawsTest, LargeModules) {
  const auto& modules = LawModules();
  ASSERT_TRUE(modules.ok()) << modules.status();
  for (const auto& [name, module] : *modules) {
    const absl::Status status = CheckPassLaws(pass(), module);
    EXPECT_TRUE(status.ok()) << name << ": " << status.message();
  }
}

TEST_P(PassLawsTest, DeepPrograms) {
  const absl::Status status = CheckPassStack(pass());
  EXPECT_TRUE(status.ok()) << status.message();
}

}  // namespace baton::testing
