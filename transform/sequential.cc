#include "baton/transform/sequential.h"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "absl/functional/function_ref.h"
#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "absl/strings/string_view.h"
#include "absl/types/span.h"
#include "baton/base/status_macros.h"
#include "baton/ir/module.h"
#include "baton/ir/structural_equal.h"
#include "baton/transform/pass.h"
#include "baton/transform/pass_context.h"
#include "baton/transform/pass_info.h"
#include "baton/transform/pass_list.h"
#include "baton/transform/pass_registry.h"

namespace baton {
namespace {

// Runs one pass: `pass.Run` and perhaps something around it.
using RunOne =
    absl::FunctionRef<absl::StatusOr<IRModule>(const Pass&, IRModule)>;

absl::StatusOr<IRModule> RunPasses(absl::Span<const Pass> passes,
                                   IRModule module, const PassContext& context,
                                   RunOne run_one) {
  for (size_t i = 0; i < passes.size(); ++i) {
    const Pass& pass = passes[i];
    if (!pass.defined()) {
      return absl::InvalidArgumentError(
          absl::StrCat("pass ", i + 1, " of the sequence is null"));
    }
    if (!IsEnabled(pass, context)) continue;
    for (const std::string& name : pass.info().required) {
      absl::StatusOr<Pass> required = RegistryOf(context).Get(name);
      if (!required.ok()) {
        return absl::Status(required.status().code(),
                            absl::StrCat(pass.name(), " requires ", name, ": ",
                                         required.status().message()));
      }
      BATON_ASSIGN_OR_RETURN(module, run_one(*required, std::move(module)));
    }
    BATON_ASSIGN_OR_RETURN(module, run_one(pass, std::move(module)));
  }
  return module;
}

absl::StatusOr<IRModule> JustRun(const Pass& pass, IRModule module) {
  return pass.Run(std::move(module));
}

class SequentialPass final : public PassImpl {
 public:
  SequentialPass(std::vector<Pass> passes, absl::string_view keyword,
                 PassInfo info, PassOptions options)
      : PassImpl(std::move(info), std::move(options)),
        passes_(std::move(passes)),
        keyword_(keyword) {}

  absl::string_view list_keyword() const override { return keyword_; }
  absl::Span<const Pass> listed_passes() const override {
    return keyword_.empty() ? absl::Span<const Pass>() : passes_;
  }
  absl::Span<const Pass> passes() const { return passes_; }

 private:
  absl::StatusOr<IRModule> RunImpl(IRModule module,
                                   const PassContext& context) const override {
    return RunPasses(passes_, std::move(module), context, JustRun);
  }

  std::vector<Pass> passes_;
  absl::string_view keyword_;
};

class FixedPointPass final : public PassImpl {
 public:
  FixedPointPass(std::vector<Pass> passes, PassInfo info,
                 FixedPointOptions options)
      : PassImpl(std::move(info), options),
        passes_(std::move(passes)),
        limit_(options.limit) {}

  absl::string_view list_keyword() const override { return "FixedPoint"; }
  absl::Span<const Pass> listed_passes() const override { return passes_; }

 private:
  // The module with which a round began, and the passes that changed it in that
  // round, except those whose result was structurally equal.
  struct Round {
    IRModule module;
    uint64_t hash;
    std::vector<std::string> changed_by;
  };

  absl::StatusOr<IRModule> RunImpl(IRModule module,
                                   const PassContext& context) const override {
    if (limit_ < 1) {
      return absl::InvalidArgumentError(
          absl::StrCat("limit is ", limit_, "; it must be at least 1"));
    }
    std::vector<Round> rounds;
    int equal_rounds = 0;  // in a row
    while (static_cast<int64_t>(rounds.size()) < limit_) {
      rounds.push_back({.module = module});
      Round& round = rounds.back();
      BATON_ASSIGN_OR_RETURN(IRModule next, RunRound(round, context));
      if (next.IdenticalTo(module)) return module;
      module = std::move(next);
      if (round.changed_by.empty()) {
        // The round rebuilt the module as an equal one. If it has new types,
        // the first passes could use them: one more round. Without, another
        // round would say nothing new, and in a fixed point of fixed points
        // double what each level runs.
        if (!HasNewTypes(round.module, module) || ++equal_rounds == 2) {
          return module;
        }
        continue;
      }
      equal_rounds = 0;
      BATON_RETURN_IF_ERROR(CheckNotSeen(rounds, module));
    }
    return absl::AbortedError(absl::StrCat(
        "no fixed point after ", limit_, limit_ == 1 ? " round" : " rounds",
        "; still changing the module: ",
        absl::StrJoin(rounds.back().changed_by, ", ")));
  }

  // True if a function has a type in `after` only.
  static bool HasNewTypes(const IRModule& before, const IRModule& after) {
    return std::any_of(after.functions().begin(), after.functions().end(),
                       [&before](const IRModule::Definition& definition) {
                         if (!definition.function->type().defined())
                           return false;
                         const BaseFunc old =
                             before.Find(definition.var->name());
                         return !old.defined() || !old->type().defined();
                       });
  }

  // Runs all passes on the module of `round` and notes which changed it.
  absl::StatusOr<IRModule> RunRound(Round& round,
                                    const PassContext& context) const {
    IRModule module = round.module;
    bool hashed = false;
    uint64_t hash = 0;
    absl::StatusOr<IRModule> result = RunPasses(
        passes_, std::move(module), context,
        [&](const Pass& pass, IRModule before) -> absl::StatusOr<IRModule> {
          BATON_ASSIGN_OR_RETURN(IRModule after, pass.Run(before));
          if (after.SameAs(before)) return after;
          if (!hashed) {
            hash = round.hash = StructuralHash(before);
            hashed = true;
          }
          const uint64_t hash_before =
              std::exchange(hash, StructuralHash(after));
          if (hash != hash_before &&
              std::find(round.changed_by.begin(), round.changed_by.end(),
                        pass.name()) == round.changed_by.end()) {
            round.changed_by.push_back(pass.name());
          }
          return after;
        });
    return result;
  }

  // An error if `module` equals one that an earlier round began with.
  static absl::Status CheckNotSeen(const std::vector<Round>& rounds,
                                   const IRModule& module) {
    const uint64_t hash = StructuralHash(module);
    for (size_t i = 0; i < rounds.size(); ++i) {
      if (rounds[i].hash != hash ||
          !StructuralEqual(rounds[i].module, module)) {
        continue;
      }
      std::vector<std::string> guilty;
      for (size_t k = i; k < rounds.size(); ++k) {
        for (const std::string& name : rounds[k].changed_by) {
          if (std::find(guilty.begin(), guilty.end(), name) == guilty.end()) {
            guilty.push_back(name);
          }
        }
      }
      return absl::AbortedError(absl::StrCat(
          "no fixed point: after round ", rounds.size(),
          " the module is again what it was ",
          i == 0 ? std::string("at the start")
                 : absl::StrCat("after round ", i),
          "; undoing each other's work: ", absl::StrJoin(guilty, ", ")));
    }
    return absl::OkStatus();
  }

  std::vector<Pass> passes_;
  int64_t limit_;
};

[[maybe_unused]] const bool kRegistered[] = {
    PassListKinds().Register(
        "Sequential", PassListKindOf<SequentialOptions>(
                          "Runs passes one after the other.", Sequential)),
    PassListKinds().Register("FixedPoint", [] {
      PassListKind kind = PassListKindOf<FixedPointOptions>(
          "Runs passes until they change nothing.", FixedPoint);
      kind.repeats = true;
      return kind;
    }())};

}  // namespace

absl::StatusOr<IRModule> internal::RunInSequence(absl::Span<const Pass> passes,
                                                 IRModule module,
                                                 const PassContext& context) {
  return RunPasses(passes, std::move(module), context, JustRun);
}

void internal::PromiseLike(absl::Span<const Pass> passes, PassInfo& info) {
  info.exact = true;
  info.uses_target = false;
  double tolerance = 0;
  for (const Pass& pass : passes) {
    if (!pass.defined()) continue;
    info.uses_target |= pass.info().uses_target;
    if (pass.info().exact) continue;
    info.exact = false;
    tolerance += pass.info().tolerance;
  }
  if (!info.exact) info.tolerance = tolerance;
}

absl::Span<const Pass> internal::PartsOf(const Pass& pass) {
  const auto* sequence = dynamic_cast<const SequentialPass*>(&pass.impl());
  return sequence != nullptr ? sequence->passes() : pass.impl().listed_passes();
}

Pass Sequential(std::vector<Pass> passes, SequentialOptions options) {
  PassInfo info{.name = options.name,
                .opt_level = options.opt_level,
                .required = options.required,
                .doc = "Runs passes one after the other.",
                .always_run = true,
                .granularity = PassGranularity::kSequence};
  internal::PromiseLike(passes, info);
  return Pass(std::make_shared<const SequentialPass>(
      std::move(passes), "Sequential", std::move(info), std::move(options)));
}

Pass CreateSequentialPass(std::vector<Pass> passes, PassInfo info,
                          PassOptions options) {
  info.always_run = true;
  info.granularity = PassGranularity::kSequence;
  return Pass(std::make_shared<const SequentialPass>(
      std::move(passes), "", std::move(info), std::move(options)));
}

Pass FixedPoint(std::vector<Pass> passes, FixedPointOptions options) {
  PassInfo info{.name = "FixedPoint",
                .doc = "Runs passes until they change nothing.",
                .always_run = true,
                .granularity = PassGranularity::kSequence};
  internal::PromiseLike(passes, info);
  info.idempotent = true;
  return Pass(std::make_shared<const FixedPointPass>(std::move(passes),
                                                     std::move(info), options));
}

}  // namespace baton
