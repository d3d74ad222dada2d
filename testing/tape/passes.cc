#include "baton/testing/tape/passes.h"

#include <algorithm>
#include <utility>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "baton/base/status_macros.h"
#include "baton/ir/function_verifier.h"
#include "baton/ir/module.h"
#include "baton/ir/node_map.h"
#include "baton/testing/tape/tape.h"
#include "baton/transform/function_pass.h"
#include "baton/transform/module_pass.h"
#include "baton/transform/pass.h"
#include "baton/transform/pass_context.h"
#include "baton/transform/pass_registry.h"

namespace baton {
namespace tape {
namespace {

class TapeFunctionKind final : public FunctionKind<Tape> {
 public:
  absl::string_view SkipReason(const Tape& tape) const override {
    const DictAttrs& attrs = tape->attrs();
    return attrs.defined() && attrs.IsTrue(kFrozen) ? kFrozen
                                                    : absl::string_view();
  }
  Pass FinishingPass() const override { return check_tapes_; }

 private:
  const Pass check_tapes_ = CheckTapes();
};

Tape WithoutDeadSteps(const Tape& tape) {
  // From the end: which registers are read before they are written again.
  NodeMap<bool> is_read;
  is_read[tape->result().get()] = true;
  std::vector<Step> kept;
  for (auto step = tape->steps().rbegin(); step != tape->steps().rend();
       ++step) {
    if (!std::exchange(is_read[(*step)->result().get()], false)) continue;
    for (const Register& arg : (*step)->args()) is_read[arg.get()] = true;
    kept.push_back(*step);
  }
  if (kept.size() == tape->steps().size()) return tape;
  std::reverse(kept.begin(), kept.end());
  return Tape({tape->params().begin(), tape->params().end()}, std::move(kept),
              tape->result(), tape->attrs(), tape->span());
}

}  // namespace

const FunctionKind<Tape>& Tapes() {
  static const auto* const kind = new TapeFunctionKind;
  return *kind;
}

Pass RemoveDeadSteps() {
  return CreateFunctionPass(
      Tapes(),
      [](const Tape& tape, const IRModule& /*module*/,
         const PassContext& /*context*/) -> absl::StatusOr<Tape> {
        return WithoutDeadSteps(tape);
      },
      {.name = "RemoveDeadSteps",
       .opt_level = 1,
       .doc = "Removes steps of tapes whose results nobody reads.",
       .idempotent = true});
}
BATON_REGISTER_PASS(RemoveDeadSteps);

Pass CheckTapes() {
  return CreateModulePass(
      [](IRModule module,
         const PassContext& /*context*/) -> absl::StatusOr<IRModule> {
        BATON_RETURN_IF_ERROR(CheckWellFormed(module));
        return module;
      },
      {.name = "CheckTapes",
       .doc = "Checks that functions are well-formed.",
       .idempotent = true,
       .always_run = true});
}
BATON_REGISTER_PASS(CheckTapes);

}  // namespace tape
}  // namespace baton
