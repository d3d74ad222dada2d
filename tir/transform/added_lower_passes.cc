#include "baton/tir/transform/added_lower_passes.h"

#include <algorithm>
#include <cstdint>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "baton/base/attr_value.h"
#include "baton/base/status_macros.h"
#include "baton/ir/module.h"
#include "baton/transform/config.h"
#include "baton/transform/pass.h"
#include "baton/transform/pass_context.h"
#include "baton/transform/pass_info.h"
#include "baton/transform/pass_registry.h"
#include "baton/transform/pipeline.h"
#include "baton/transform/sequential.h"

namespace baton::tir {
namespace {

constexpr int64_t kLastPhase = 3;

BATON_REGISTER_CONFIG(kAdded, AttrValue, "tir.add_lower_pass", {},
                      "Passes that tir.lower runs at the end of its phases: "
                      "[[PHASE,PIPELINE],...].");

absl::Status BadSetting() {
  return absl::InvalidArgumentError(
      "tir.add_lower_pass is a list of pairs, each a phase from 0 on and a "
      "pipeline: [[1,tir.Simplify],[2,\"A,B\"]]");
}

class AddedPasses final : public PassImpl {
 public:
  AddedPasses(PassInfo info, AddedLowerPassesOptions options)
      : PassImpl(std::move(info), options), phase_(options.phase) {}

 private:
  absl::StatusOr<IRModule> RunImpl(IRModule module,
                                   const PassContext& context) const override {
    const AttrValue setting = context.Get(kAdded);
    if (setting.is_none()) return module;
    const auto* entries = setting.As<AttrList>();
    if (entries == nullptr) return BadSetting();
    std::vector<Pass> passes;
    for (const AttrValue& entry : *entries) {
      const auto* pair = entry.As<AttrList>();
      if (pair == nullptr || pair->size() != 2) return BadSetting();
      const auto* phase = (*pair)[0].As<int64_t>();
      const auto* text = (*pair)[1].As<std::string>();
      if (phase == nullptr || *phase < 0 || text == nullptr) {
        return BadSetting();
      }
      if (std::min(*phase, kLastPhase) != phase_) continue;
      BATON_ASSIGN_OR_RETURN(
          Pass pass,
          ParsePipeline(*text,
                        context.registry() == nullptr ? PassRegistry::Global()
                                                      : *context.registry(),
                        "tir.add_lower_pass"));
      passes.push_back(std::move(pass));
    }
    return internal::RunInSequence(passes, std::move(module), context);
  }

  int64_t phase_;
};

}  // namespace

Pass AddedLowerPasses(AddedLowerPassesOptions options) {
  return Pass(std::make_shared<const AddedPasses>(
      PassInfo{.name = "tir.AddedLowerPasses",
               .doc = "Runs passes that the context adds to tir.lower.",
               .examples = {"phase=1"},
               .always_run = true,
               .granularity = PassGranularity::kSequence},
      options));
}
BATON_REGISTER_PASS_AS("tir.AddedLowerPasses", AddedLowerPasses);

}  // namespace baton::tir
