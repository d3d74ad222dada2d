#include "baton/testing/pass_law_checks.h"

#include <algorithm>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/ascii.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/string_view.h"
#include "baton/base/status_macros.h"
#include "baton/instrument/compare_values.h"
#include "baton/instrument/special_inputs.h"
#include "baton/ir/function_verifier.h"
#include "baton/ir/module.h"
#include "baton/ir/node.h"
#include "baton/ir/structural_equal.h"
#include "baton/ir/type.h"
#include "baton/relay/ir/expr.h"
#include "baton/relay/ir/text_printer.h"
#include "baton/relay/ir/visit.h"
#include "baton/relay/runtime/evaluator.h"
#include "baton/relay/runtime/random_inputs.h"
#include "baton/relay/runtime/value.h"
#include "baton/testing/operation_count.h"
#include "baton/testing/registered_passes.h"
#include "baton/testing/round_trip.h"
#include "baton/transform/pass.h"
#include "baton/transform/pass_context.h"
#include "baton/transform/pass_info.h"
#include "baton/transform/value_promise.h"
#include "gtest/gtest.h"

namespace baton::testing {
namespace {

using relay::EvaluateFunction;
using relay::Function;
using relay::Value;

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

}  // namespace

absl::Status Broken(absl::string_view law, absl::string_view message) {
  return absl::FailedPreconditionError(absl::StrCat(law, ": ", message));
}

absl::StatusOr<IRModule> Verified(const IRModule& module) {
  absl::Status status = CheckWellFormed(module);
  if (!status.ok()) return Broken("verifies", status.message());
  absl::StatusOr<IRModule> typed = InferTypesOfAllKinds(module);
  if (!typed.ok()) return Broken("verifies", typed.status().message());
  return typed;
}

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
  const absl::StatusOr<IRModule> typed_given = InferTypesOfAllKinds(*given);
  if (!typed_given.ok()) return Broken("runs", typed_given.status().message());
  const bool typed = typed_given->SameAs(*given);
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
  if (keeps("precision")) {
    BATON_RETURN_IF_ERROR(CheckPrecisionLaw(*typed_given, *verified));
  }
  return keeps("values")
             ? CheckValuesLaw(pass, *typed_given, *verified, options)
             : absl::OkStatus();
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

}  // namespace baton::testing
