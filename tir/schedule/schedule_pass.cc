#include "baton/tir/schedule/schedule_pass.h"

#include <string>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/str_cat.h"
#include "baton/base/status_macros.h"
#include "baton/ir/module.h"
#include "baton/tir/ir/function.h"
#include "baton/tir/schedule/schedule.h"
#include "baton/tir/schedule/step_text.h"
#include "baton/transform/module_pass.h"
#include "baton/transform/pass.h"
#include "baton/transform/pass_context.h"
#include "baton/transform/pass_registry.h"

namespace baton::tir {
namespace {

absl::StatusOr<IRModule> RunSteps(IRModule module,
                                  const ScheduleOptions& options) {
  if (options.steps.empty()) return module;
  const auto functions = module.functions<PrimFunc>();
  const IRModule::DefinitionOf<PrimFunc>* chosen = nullptr;
  for (const auto& definition : functions) {
    if (definition.var->name() == options.function) chosen = &definition;
  }
  if (chosen == nullptr && functions.size() == 1) chosen = &functions[0];
  if (chosen == nullptr) {
    return absl::NotFoundError(
        absl::StrCat("the module has no function of loops ", options.function));
  }
  Schedule schedule(chosen->function);
  for (size_t i = 0; i < options.steps.size(); ++i) {
    const auto failed = [&](const absl::Status& status) {
      return absl::Status(status.code(),
                          absl::StrCat("step ", i + 1, ": ", status.message()));
    };
    const absl::StatusOr<Step> step = ParseStep(options.steps[i]);
    if (!step.ok()) return failed(step.status());
    const absl::Status status = schedule.Apply(*step);
    if (!status.ok()) return failed(status);
  }
  if (schedule.function() != chosen->function) {
    module.Set(chosen->var, schedule.function());
  }
  return module;
}

}  // namespace

Pass SchedulePass(ScheduleOptions options) {
  return CreateModulePass(
      [options](IRModule module, const PassContext& /*context*/) {
        return RunSteps(std::move(module), options);
      },
      {.name = "tir.Schedule",
       .doc = "Takes the steps of a schedule on a function.",
       .examples = {"steps=[]"}},
      options);
}
BATON_REGISTER_PASS_AS("tir.Schedule", SchedulePass);

}  // namespace baton::tir
