// --call_budget: the command processor has room for so many calls.

#include <cstdint>
#include <functional>
#include <memory>
#include <utility>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/string_view.h"
#include "baton/instrument/op_differ.h"
#include "baton/ir/module.h"
#include "baton/tools/flags.h"
#include "baton/tools/instruments.h"
#include "baton/transform/pass_instrument.h"

namespace acme {
namespace {

struct CallBudgetOptions {
  int64_t call_budget = 0;

  template <typename V>
  static void VisitFields(V& v) {
    v("call_budget", &CallBudgetOptions::call_budget,
      baton::FlagSpec{.help = "The most calls that a program may have; 0 for "
                              "any number.",
                      .value = "N"});
  }
};

class CallBudget final : public baton::PassInstrument {
 public:
  CallBudget(int64_t budget, std::function<void(absl::string_view)> report)
      : PassInstrument("CallBudget"),
        budget_(budget),
        report_(std::move(report)) {}

  // A pass that goes beyond the budget fails.
  absl::Status RunAfterPass(const baton::IRModule& module,
                            const baton::PassExecution& pass) override {
    if (!pass.changed()) return absl::OkStatus();
    calls_ = 0;
    for (const auto& [op, count] : baton::CountOps(module)) calls_ += count;
    if (calls_ <= budget_) return absl::OkStatus();
    return absl::ResourceExhaustedError(
        absl::StrCat(calls_, " calls, and the budget is ", budget_));
  }

  absl::Status ExitPassContext() override {
    report_(absl::StrCat("call budget: ", calls_, " of ", budget_, "\n"));
    return absl::OkStatus();
  }

 private:
  const int64_t budget_;
  const std::function<void(absl::string_view)> report_;
  int64_t calls_ = 0;
};

absl::StatusOr<std::shared_ptr<baton::PassInstrument>> MakeCallBudget(
    const CallBudgetOptions& options, const baton::InstrumentRun& run) {
  if (options.call_budget == 0) return nullptr;
  if (options.call_budget < 0) {
    return absl::InvalidArgumentError(
        absl::StrCat("--call_budget=", options.call_budget,
                     ": a number of calls is not "
                     "negative"));
  }
  return std::make_shared<CallBudget>(options.call_budget, run.report);
}
BATON_REGISTER_INSTRUMENT("CallBudget",
                          "Keeps programs small enough for the hardware.",
                          MakeCallBudget);

}  // namespace
}  // namespace acme
