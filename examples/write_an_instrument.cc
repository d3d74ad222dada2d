#include "baton/examples/write_an_instrument.h"

#include <algorithm>
#include <cstdint>
#include <memory>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/str_cat.h"
#include "baton/base/flags.h"
#include "baton/instrument/instrument_registry.h"
#include "baton/ir/module.h"
#include "baton/ir/op.h"
#include "baton/relay/ir/expr.h"
#include "baton/relay/ir/visit.h"
#include "baton/transform/pass_instrument.h"

namespace baton::examples {

int64_t CountNodes(const IRModule& module) {
  int64_t count = 0;
  for (const auto& definition : module.functions<relay::Function>()) {
    relay::PostOrderVisit(definition.function, [&count](const ExprNode* node) {
      if (node->kind() != relay::ExprKind::kOp) ++count;
    });
  }
  return count;
}

// [growth]
absl::Status GrowthInstrument::EnterPassContext() {
  changes_.clear();
  return absl::OkStatus();
}

absl::Status GrowthInstrument::RunAfterPass(const IRModule& module,
                                            const PassExecution& pass) {
  if (!pass.changed()) return absl::OkStatus();
  const int64_t before = CountNodes(pass.before());
  const int64_t after = CountNodes(module);
  if (before == after) return absl::OkStatus();
  changes_.push_back({pass.name(), before, after});
  if (static_cast<double>(after) > limit_ * static_cast<double>(before)) {
    return absl::ResourceExhaustedError(absl::StrCat(
        "the program grew from ", before, " to ", after, " nodes"));
  }
  return absl::OkStatus();
}
// [/growth]

// [should_run]
absl::StatusOr<bool> SkipInstrument::ShouldRun(const IRModule& /*module*/,
                                               const PassExecution& pass) {
  return std::find(names_.begin(), names_.end(), pass.name()) == names_.end();
}
// [/should_run]

// [register]
namespace {

struct GrowthOptions {
  double max_growth = 0;

  template <typename V>
  static void VisitFields(V& v) {
    v("max_growth", &GrowthOptions::max_growth,
      FlagSpec{.help = "A pass may make the program X times as large; 0: any.",
               .value = "X",
               .least = 0});
  }
};

// No instrument if the flag is not given.
absl::StatusOr<std::shared_ptr<PassInstrument>> MakeGrowth(
    const GrowthOptions& options, const InstrumentRun& /*run*/) {
  if (options.max_growth == 0) return nullptr;
  return std::make_shared<GrowthInstrument>(options.max_growth);
}
BATON_REGISTER_INSTRUMENT("Growth", "Fails a pass that adds too much.",
                          MakeGrowth);

}  // namespace
// [/register]

}  // namespace baton::examples
