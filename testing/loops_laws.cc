#include "baton/testing/loops_laws.h"

#include <cstdint>
#include <map>
#include <mutex>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "absl/functional/function_ref.h"
#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/string_view.h"
#include "baton/base/dtype.h"
#include "baton/base/status_macros.h"
#include "baton/base/tensor.h"
#include "baton/ir/function_verifier.h"
#include "baton/ir/module.h"
#include "baton/ir/module_text.h"
#include "baton/ir/structural_equal.h"
#include "baton/testing/deep_loops.h"
#include "baton/testing/loops_values.h"
#include "baton/testing/random_loops.h"
#include "baton/testing/registered_passes.h"
#include "baton/testing/round_trip.h"
#include "baton/testing/small_stack.h"
#include "baton/testing/test_settings.h"
#include "baton/tir/ir/function.h"
#include "baton/tir/transform/verify_memory.h"
#include "baton/tir/transform/verify_scopes.h"
#include "baton/transform/pass.h"
#include "baton/transform/pass_info.h"
#include "baton/transform/pipeline.h"
#include "baton/transform/value_promise.h"
#include "gtest/gtest.h"

namespace baton::testing {
namespace {

bool Keeps(const Pass& pass, const LoopsLawOptions& options,
           absl::string_view law) {
  for (const LawWaiver& waiver : options.waivers) {
    if (waiver.law == law) return false;
  }
  return Keeps(pass.info(), law);
}

bool IsTooLong(const absl::Status& status) {
  return absl::IsResourceExhausted(status);
}

// Compares the functions that are in both modules, as far as they can be run.
absl::Status CheckNumbers(const Pass& pass, const IRModule& before,
                          const IRModule& after,
                          const LoopsLawOptions& options) {
  const bool checked = Keeps(pass, options, "checked");
  for (const auto& definition : before.functions<tir::PrimFunc>()) {
    const auto function = after.Find<tir::PrimFunc>(definition.var->name());
    if (!function.defined() || function == definition.function) continue;
    tir::InterpretOptions run = {
        .module = &before, .check_order = true, .max_steps = options.max_steps};
    absl::StatusOr<std::vector<Tensor>> want =
        RunOnSmallIntegers(definition.function, run);
    const bool is_checked = want.ok();
    if (!want.ok()) {
      // It reads what nothing wrote, or touches more than its blocks name.
      run.check_initialized = run.check_regions = false;
      want = RunOnSmallIntegers(definition.function, run);
    }
    if (!want.ok()) {
      // Its parallel loops are none.
      run.check_order = false;
      want = RunOnSmallIntegers(definition.function, run);
    }
    if (!want.ok()) continue;
    run.module = &after;
    run.max_steps *= 4;
    absl::StatusOr<std::vector<Tensor>> got = RunOnSmallIntegers(function, run);
    if (!got.ok() && IsTooLong(got.status())) continue;
    if (!got.ok() && is_checked && checked) {
      return Broken("checked", got.status().message());
    }
    if (!got.ok()) {
      run.check_initialized = run.check_regions = false;
      got = RunOnSmallIntegers(function, run);
    }
    if (!got.ok()) return Broken("values", got.status().message());
    const std::optional<std::string> other = FirstOtherNumber(
        *want, *got, pass.info().exact ? 0 : pass.info().tolerance);
    if (other.has_value()) return Broken("values", *other);
  }
  return absl::OkStatus();
}

std::vector<Tensor> NumbersOf(const IRModule& module, absl::string_view name,
                              const LoopsLawOptions& options) {
  const absl::StatusOr<std::vector<Tensor>> result = RunOnSmallIntegers(
      module.Find<tir::PrimFunc>(name), {.module = &module,
                                         .check_initialized = false,
                                         .check_regions = false,
                                         .max_steps = options.max_steps});
  return result.ok() ? *result : std::vector<Tensor>();
}

absl::Status CheckTextAndFile(const IRModule& module,
                              const LoopsLawOptions& options) {
  const std::string text = AsText(module);
  BATON_ASSIGN_OR_RETURN(const IRModule again, ParseModule(text, "printed"));
  BATON_RETURN_IF_ERROR(CheckWellFormed(again));
  BATON_RETURN_IF_ERROR(CheckRoundTrip(again, /*typed=*/false));
  if (StructuralEqual(module, again, {.map_free_vars = true})) {
    if (AsText(again) != text) {
      return absl::InternalError("printed again, it has another text");
    }
  } else {
    for (const auto& definition : module.functions<tir::PrimFunc>()) {
      const std::string& name = definition.var->name();
      const std::vector<Tensor> was = NumbersOf(module, name, options);
      if (was.empty()) continue;
      const std::optional<std::string> other =
          FirstOtherNumber(was, NumbersOf(again, name, options));
      if (other.has_value()) {
        return absl::InternalError(absl::StrCat(
            "printed and read, it computes something else: ", *other));
      }
    }
  }
  return CheckBinaryRoundTrip(module);
}

absl::StatusOr<IRModule> Prepared(const IRModule& module,
                                  const std::string& before) {
  if (before.empty()) return module;
  BATON_ASSIGN_OR_RETURN(const Pass pipeline, ParsePipeline(before));
  return pipeline(module);
}

tir::PrimFunc RandomFunction(uint32_t seed, const LoopsLawOptions& options) {
  RandomLoopsOptions mixed = RandomLoopsOptions::Mixed(seed);
  mixed.type_ends = options.type_ends;
  return RandomLoops(seed, mixed);
}

// Checks the laws on a module that is prepared.
absl::Status CheckLawsOnPrepared(const Pass& pass,
                                 const absl::StatusOr<IRModule>& given,
                                 const LoopsLawOptions& options) {
  if (!given.ok()) return Broken("before", given.status().message());
  PassLawOptions laws = {.waivers = options.waivers};
  laws.waivers.push_back({"round_trip", "See CheckTextAndFile()."});
  if (!tir::VerifySSA()(*given).ok()) {
    laws.waivers.push_back({"no_op", "Equality is that of values."});
  }
  BATON_RETURN_IF_ERROR(CheckPassLaws(pass, *given, laws));
  const SilentStderr silence;
  const absl::StatusOr<IRModule> result = pass(*given);
  if (!result.ok() || result->SameAs(*given)) return absl::OkStatus();
  if (Keeps(pass, options, "scopes") && tir::VerifyScopes()(*given).ok()) {
    const absl::Status status = tir::VerifyScopes()(*result).status();
    if (!status.ok()) return Broken("scopes", status.message());
  }
  if (Keeps(pass, options, "round_trip")) {
    const absl::Status status = CheckTextAndFile(*result, options);
    if (!status.ok()) return Broken("round_trip", status.message());
  }
  if (!Keeps(pass, options, "values")) return absl::OkStatus();
  return CheckNumbers(pass, *given, *result, options);
}

}  // namespace

absl::StatusOr<IRModule> ModuleAfter(const std::string& name,
                                     const std::string& before,
                                     absl::FunctionRef<IRModule()> make) {
  static auto* const mutex = new std::mutex;
  static auto* const modules = new std::map<std::pair<std::string, std::string>,
                                            absl::StatusOr<IRModule>>;
  const auto key = std::make_pair(name, before);
  const std::lock_guard<std::mutex> lock(*mutex);
  const auto found = modules->find(key);
  if (found != modules->end()) return found->second;
  return modules->emplace(key, Prepared(make(), before)).first->second;
}

absl::Status CheckLoopsLaws(const Pass& pass, const IRModule& module,
                            const LoopsLawOptions& options) {
  return CheckLawsOnPrepared(pass, Prepared(module, options.before), options);
}

absl::Status CheckLoopsLawsOnRandomFunctions(const Pass& pass,
                                             uint32_t first_seed,
                                             int num_functions,
                                             const LoopsLawOptions& options) {
  for (int i = 0; i < num_functions; ++i) {
    const uint32_t seed = first_seed + static_cast<uint32_t>(i);
    const absl::StatusOr<IRModule> prepared = ModuleAfter(
        absl::StrCat("random ", seed, options.type_ends ? " type ends" : ""),
        options.before,
        [&] { return ModuleOfLoops(RandomFunction(seed, options)); });
    const absl::Status status = CheckLawsOnPrepared(pass, prepared, options);
    if (status.ok()) continue;
    const tir::PrimFunc function = RandomFunction(seed, options);
    const std::string law(
        status.message().substr(0, status.message().find(':') + 1));
    const tir::PrimFunc small =
        ShrinkLoops(function, [&](const tir::PrimFunc& candidate) {
          const IRModule smaller = ModuleOfLoops(candidate);
          return CheckWellFormed(smaller).ok() &&
                 RunOnSmallIntegers(candidate).ok() &&
                 absl::StartsWith(
                     CheckLoopsLaws(pass, smaller, options).message(), law);
        });
    const IRModule module = ModuleOfLoops(small);
    std::string message =
        absl::StrCat(CheckLoopsLaws(pass, module, options).message(),
                     "\nfunction of seed ", seed, ", made small");
    const SilentStderr silence;
    const absl::StatusOr<IRModule> given = Prepared(module, options.before);
    if (given.ok()) {
      absl::StrAppend(&message, ", as it was given to ", pass.name(), ":\n",
                      AsText(*given));
      const absl::StatusOr<IRModule> result = pass(*given);
      if (result.ok()) absl::StrAppend(&message, "became\n", AsText(*result));
    } else {
      absl::StrAppend(&message, ":\n", AsText(module));
    }
    return absl::FailedPreconditionError(message);
  }
  return absl::OkStatus();
}

absl::Status CheckLoopsStack(const Pass& pass, int depth,
                             const LoopsLawOptions& options) {
  if (!Keeps(pass, options, "stack")) return absl::OkStatus();
  const SilentStderr silence;
  absl::Status status;
  RunWithStack(SmallStackBytesOfThisBuild(), [&] {
    for (const absl::string_view kind : KindsOfDeepLoops()) {
      const absl::StatusOr<IRModule> given =
          ModuleAfter(absl::StrCat("deep ", kind, " ", depth), options.before,
                      [&] { return ModuleOfLoops(DeepLoops(kind, depth)); });
      if (!given.ok()) continue;
      const absl::StatusOr<IRModule> result = pass(*given);
      if (result.ok()) {
        status = CheckWellFormed(*result);
        if (!status.ok()) {
          status =
              Broken("verifies", absl::StrCat(kind, ": ", status.message()));
          return;
        }
      } else if (Keeps(pass, options, "runs")) {
        status =
            Broken("runs", absl::StrCat(kind, ": ", result.status().message()));
        return;
      }
    }
  });
  return status;
}

GTEST_ALLOW_UNINSTANTIATED_PARAMETERIZED_TEST(LoopsLawsTest);

TEST_P(LoopsLawsTest, RandomFunctions) {
  const absl::Status status =
      CheckLoopsLawsOnRandomFunctions(pass(), 0, LongOrShort(256, 16));
  EXPECT_TRUE(status.ok()) << status.message();
}

TEST_P(LoopsLawsTest, DeepFunctions) {
  const absl::Status status =
      CheckLoopsStack(pass(), IsLongTest() ? 10'000 : 2'000);
  EXPECT_TRUE(status.ok()) << status.message();
}

}  // namespace baton::testing
