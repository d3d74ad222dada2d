#include "baton/testing/pass_laws.h"

#include <algorithm>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <iostream>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "absl/flags/flag.h"
#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/ascii.h"
#include "absl/strings/match.h"
#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/string_view.h"
#include "baton/base/dtype.h"
#include "baton/base/status_macros.h"
#include "baton/base/tensor.h"
#include "baton/instrument/compare_values.h"
#include "baton/instrument/special_inputs.h"
#include "baton/ir/module.h"
#include "baton/ir/node.h"
#include "baton/ir/op.h"
#include "baton/ir/structural_equal.h"
#include "baton/ir/type.h"
#include "baton/relay/bind.h"
#include "baton/relay/ir/expr.h"
#include "baton/relay/ir/infer_type.h"
#include "baton/relay/ir/module.h"
#include "baton/relay/ir/text_printer.h"
#include "baton/relay/ir/visit.h"
#include "baton/relay/ir/well_formed.h"
#include "baton/relay/op/builders.h"
#include "baton/relay/runtime/evaluator.h"
#include "baton/relay/runtime/random_inputs.h"
#include "baton/relay/runtime/value.h"
#include "baton/testing/operation_count.h"
#include "baton/testing/random_program.h"
#include "baton/testing/registered_passes.h"
#include "baton/testing/round_trip.h"
#include "baton/testing/small_stack.h"
#include "baton/testing/test_settings.h"
#include "baton/testing/workloads/workload.h"
#include "baton/transform/pass.h"
#include "baton/transform/pass_context.h"
#include "baton/transform/pass_info.h"
#include "baton/transform/pass_registry.h"
#include "baton/transform/value_promise.h"
#include "gtest/gtest.h"

ABSL_FLAG(double, seconds, 0,
          "For how long to try random programs, for each pass; 0 for some.");

namespace baton::testing {
namespace {

using relay::EvaluateFunction;
using relay::Function;
using relay::InferTypes;
using relay::ModuleFromExpr;
using relay::Value;
using relay::Var;

absl::Status Broken(absl::string_view law, absl::string_view message) {
  return absl::FailedPreconditionError(absl::StrCat(law, ": ", message));
}

absl::StatusOr<IRModule> RunWithThreads(const Pass& pass,
                                        const IRModule& module,
                                        int64_t threads) {
  return PassContext({.opt_level = 3, .config = {{"threads", threads}}})
      .Run([&] { return pass(module); });
}

bool Keeps(const Pass& pass, absl::string_view law) {
  return Keeps(pass.info(), law);
}

bool HasEffects(const Function& function) {
  bool result = false;
  relay::PostOrderVisit(function, [&](const ExprNode* node) {
    result = result || node->kind() == relay::ExprKind::kRefCreate ||
             node->kind() == relay::ExprKind::kRefRead ||
             node->kind() == relay::ExprKind::kRefWrite;
  });
  return result;
}

constexpr int64_t kMaxCallDepth = 1000;

// Passes that promise to keep every bit keep those of special numbers, too.
absl::Status CheckSpecialValuesLaw(const Pass& pass, const IRModule& before,
                                   const IRModule& after,
                                   std::vector<Value> args) {
  const ValuePromise promise = ValuePromiseOf(pass.info());
  if (promise != ValuePromise::kBitExact &&
      promise != ValuePromise::kExactButSpecial) {
    return absl::OkStatus();
  }
  for (Value& arg : args) arg = WithSpecialNumbers(arg);
  relay::EvaluateOptions evaluate;
  evaluate.max_call_depth = kMaxCallDepth;
  const absl::StatusOr<Value> want =
      EvaluateFunction(before, "main", args, evaluate);
  const absl::StatusOr<Value> got =
      EvaluateFunction(after, "main", args, evaluate);
  if (!want.ok() || !got.ok()) return absl::OkStatus();
  const absl::Status compared = CompareValues(*want, *got, pass.info());
  if (compared.ok() || absl::IsUnimplemented(compared)) return absl::OkStatus();
  return Broken("special_values", compared.message());
}

absl::Status CheckValuesLaw(const Pass& pass, const IRModule& before,
                            const IRModule& after,
                            const PassLawOptions& options) {
  const Function main = before.Find<Function>("main");
  if (!main.defined() || NumOperations(before) > options.max_operations) {
    return absl::OkStatus();
  }
  for (const auto& d : before.functions<Function>()) {
    if (!relay::HasKernels(d.function)) return absl::OkStatus();
    if (!Keeps(pass, "effects") && HasEffects(d.function)) {
      return absl::OkStatus();
    }
  }
  // A program may amplify the rounding errors of a pass that is not exact, for
  // some arguments; a wrong one is wrong for most.
  const int tries = pass.info().exact ? 1 : 5;
  relay::EvaluateOptions evaluate;
  evaluate.max_call_depth = kMaxCallDepth;
  absl::Status status;
  for (int i = 0; i < tries; ++i) {
    const auto args = relay::RandomInputs(main, static_cast<uint32_t>(i + 1),
                                          relay::RandomRange::kPlain);
    if (!args.ok()) return absl::OkStatus();
    const absl::StatusOr<Value> want =
        EvaluateFunction(before, "main", *args, evaluate);
    if (!want.ok()) return absl::OkStatus();
    const absl::StatusOr<Value> got =
        EvaluateFunction(after, "main", *args, evaluate);
    if (!got.ok()) {
      return Broken("values",
                    absl::StrCat("@main cannot be evaluated any more: ",
                                 got.status().message()));
    }
    const absl::Status compared =
        CompareValues(*want, *got, WithRounding(pass.info(), before, after));
    // Functions and the like cannot be compared.
    if (compared.ok() || absl::IsUnimplemented(compared)) {
      return CheckSpecialValuesLaw(pass, before, after, *args);
    }
    if (status.ok()) status = Broken("values", compared.message());
  }
  return status;
}

// The bits of the narrowest dtype of numbers, at most 32.
int NarrowestBits(const IRModule& module) {
  int bits = 32;
  for (const auto& d : module.functions<Function>()) {
    relay::PostOrderVisit(d.function, [&bits](const ExprNode* node) {
      const TensorTypeNode* type = node->tensor_type();
      if (type == nullptr || type->dtype().is_bool()) return;
      if (type->dtype().is_float() || type->dtype().is_integral()) {
        bits = std::min(bits, type->dtype().bits());
      }
    });
  }
  return bits;
}

absl::Status CheckPrecisionLaw(const IRModule& before, const IRModule& after) {
  const int was = NarrowestBits(before);
  const int is = NarrowestBits(after);
  if (is >= was) return absl::OkStatus();
  return Broken("precision", absl::StrCat("there are numbers of ", is,
                                          " bits; the narrowest had ", was));
}

absl::StatusOr<IRModule> Verified(const IRModule& module) {
  absl::Status status = CheckWellFormed(module);
  if (!status.ok()) return Broken("verifies", status.message());
  absl::StatusOr<IRModule> typed = InferTypes(module);
  if (!typed.ok()) return Broken("verifies", typed.status().message());
  return typed;
}

int64_t NumNodes(const IRModule& module) {
  int64_t result = 0;
  for (const auto& d : module.functions<Function>()) {
    relay::PostOrderVisit(d.function,
                          [&](const ExprNode* /*node*/) { ++result; });
  }
  return result;
}

// True if the programs are equal and equally large. (Of two structurally equal
// programs, one may share projections that the other repeats.)
bool Equal(const IRModule& a, const IRModule& b) {
  return StructuralEqual(a, b) && NumNodes(a) == NumNodes(b);
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

absl::Status CheckPassLaws(const Pass& pass, const IRModule& module,
                           const PassLawOptions& options) {
  const SilentStderr silence;
  const auto keeps = [&](absl::string_view law) {
    for (const LawWaiver& waiver : options.waivers) {
      if (waiver.law == law) return false;
    }
    return Keeps(pass, law);
  };
  absl::StatusOr<IRModule> given = RunRequiredPasses(pass, module);
  if (!given.ok()) return Broken("runs", given.status().message());
  const bool typed = InferTypes(*given)->SameAs(*given);
  const std::string text = AsText(*given);
  absl::StatusOr<IRModule> result = RunWithThreads(pass, *given, 1);
  if (keeps("runs") && !result.ok()) {
    return Broken("runs", result.status().message());
  }
  if (keeps("input") && AsText(*given) != text) {
    return Broken("input", "the module given in has changed");
  }
  if (!result.ok()) return absl::OkStatus();
  const std::string after = AsText(*result);
  if (keeps("threads")) {
    for (const int64_t threads : {2, 16}) {
      const absl::StatusOr<IRModule> other =
          RunWithThreads(pass, *given, threads);
      if (!other.ok()) return Broken("threads", other.status().message());
      if (other->SameAs(*result) || AsText(*other) == after) continue;
      return Broken("threads",
                    absl::StrCat(threads, " threads make\n", ToText(*other),
                                 "and one makes\n", ToText(*result)));
    }
  }
  // The result of a module pass may lack types.
  absl::StatusOr<IRModule> verified = Verified(*result);
  if (!verified.ok()) {
    return keeps("verifies") ? verified.status() : absl::OkStatus();
  }
  if (keeps("no_op") && typed && !result->SameAs(*given) &&
      Equal(*result, *given)) {
    return Broken("no_op", "an equal module was made, not returned");
  }
  if (keeps("round_trip") && !result->SameAs(*given)) {
    const absl::Status status = CheckRoundTrip(*verified, /*typed=*/true);
    if (!status.ok()) return Broken("round_trip", status.message());
  }
  if (pass.info().idempotent && keeps("idempotent") &&
      !result->SameAs(*given)) {
    const absl::StatusOr<IRModule> again = RunWithThreads(pass, *verified, 1);
    if (!again.ok()) return Broken("idempotent", again.status().message());
    const std::optional<std::string> difference =
        FirstDifference(*verified, *again);
    if (difference.has_value()) {
      return Broken("idempotent",
                    absl::StrCat(*difference, ", when it ran twice"));
    }
    if (keeps("no_op") && !again->SameAs(*verified) &&
        Equal(*again, *verified)) {
      return Broken("no_op", "run twice, it made an equal module");
    }
  }
  if (result->SameAs(*given)) return absl::OkStatus();
  BATON_ASSIGN_OR_RETURN(const IRModule typed_given, InferTypes(*given));
  if (keeps("precision")) {
    BATON_RETURN_IF_ERROR(CheckPrecisionLaw(typed_given, *verified));
  }
  return keeps("values") ? CheckValuesLaw(pass, typed_given, *verified, options)
                         : absl::OkStatus();
}

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

void PassLawsTest::SetUp() {
  const absl::StatusOr<Pass> pass = GetRegisteredPass(GetParam());
  ASSERT_TRUE(pass.ok()) << pass.status();
  pass_ = *pass;
}

std::string PassTestName(const ::testing::TestParamInfo<std::string>& info) {
  std::string result;
  for (const char c : info.param) {
    if (absl::ascii_isalnum(static_cast<unsigned char>(c))) {
      result.push_back(c);
    } else if (!result.empty() && result.back() != '_') {
      result.push_back('_');
    }
  }
  return result;
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
