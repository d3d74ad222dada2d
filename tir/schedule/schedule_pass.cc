#include "baton/tir/schedule/schedule_pass.h"

#include <algorithm>
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
#include "baton/tir/schedule/step_table.h"
#include "baton/tir/schedule/step_text.h"
#include "baton/transform/module_pass.h"
#include "baton/transform/pass.h"
#include "baton/transform/pass_context.h"
#include "baton/transform/pass_info.h"
#include "baton/transform/pass_registry.h"
#include "baton/transform/sequential.h"

namespace baton::tir {
namespace {

absl::StatusOr<IRModule> TakeStepOn(IRModule module, const std::string& line,
                                    const std::string& function) {
  const auto functions = module.functions<PrimFunc>();
  const IRModule::DefinitionOf<PrimFunc>* chosen = nullptr;
  for (const auto& definition : functions) {
    if (definition.var->name() == function) chosen = &definition;
  }
  if (chosen == nullptr && functions.size() == 1) chosen = &functions[0];
  if (chosen == nullptr) {
    return absl::NotFoundError(
        absl::StrCat("the module has no function of loops ", function));
  }
  BATON_ASSIGN_OR_RETURN(const Step step, ParseStep(line));
  Schedule schedule(chosen->function);
  BATON_RETURN_IF_ERROR(schedule.Apply(step));
  if (schedule.function() != chosen->function) {
    module.Set(chosen->var, schedule.function());
  }
  return module;
}

constexpr char kName[] = "tir.Schedule";

PassInfo InfoOf(std::string name) {
  return {.name = std::move(name),
          .doc = "Takes the steps of a schedule on a function.",
          .invalidates = {"tir.no_initializations", "tir.opaque_blocks"},
          .examples = {"steps=[]"}};
}

// `tir.Schedule.split`; the name of the pass alone if the line is no step.
std::string NameOf(const std::string& line) {
  const absl::StatusOr<Step> step = ParseStep(line);
  const std::vector<std::string> names = StepNames();
  const bool is_known = step.ok() && std::find(names.begin(), names.end(),
                                               step->name) != names.end();
  return is_known ? absl::StrCat(kName, ".", step->name) : kName;
}

}  // namespace

Pass SchedulePass(ScheduleOptions options) {
  if (options.steps.empty()) {
    return CreateModulePass(
        [](IRModule module, const PassContext& /*context*/) { return module; },
        InfoOf(kName), options);
  }
  if (options.steps.size() == 1) {
    return CreateModulePass(
        [options](IRModule module, const PassContext& /*context*/) {
          return TakeStepOn(std::move(module), options.steps[0],
                            options.function);
        },
        InfoOf(NameOf(options.steps[0])), options);
  }
  std::vector<Pass> parts;
  for (const std::string& step : options.steps) {
    parts.push_back(
        SchedulePass({.steps = {step}, .function = options.function}));
  }
  return CreateSequentialPass(std::move(parts), InfoOf(kName), options);
}
BATON_REGISTER_PASS_AS("tir.Schedule", SchedulePass);

}  // namespace baton::tir
