#include "baton/tools/guilty_rewrites.h"

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/string_view.h"
#include "baton/base/status_macros.h"
#include "baton/instrument/history.h"
#include "baton/instrument/rewrite_filter.h"
#include "baton/transform/pass.h"
#include "baton/transform/pass_context.h"
#include "baton/transform/pass_info.h"
#include "baton/transform/sequential.h"
#include "baton/triage/bisection.h"
#include "baton/triage/child.h"
#include "baton/triage/failure.h"
#include "baton/triage/triage.h"

namespace baton {
namespace {

// More rewrites than any pass does.
constexpr int64_t kMaxRewrites = int64_t{1} << 32;

// `FuseOps:0-12`, or `FuseOps:12` if `alone`.
std::string Selection(const std::string& pass, int64_t last, bool alone) {
  return absl::StrCat(pass, ":", alone ? "" : "0-", last);
}

}  // namespace

absl::StatusOr<std::optional<GuiltyRewrites>> FindGuiltyRewrites(
    const GuiltyExecution& guilty, const Failure& failure,
    const ChildLimits& limits) {
  const Pass& pass = guilty.pass;
  if (guilty.shows.passes.empty() ||
      pass.info().granularity == PassGranularity::kSequence) {
    return std::nullopt;
  }
  const auto fails = [&](int64_t last, bool alone) -> absl::StatusOr<bool> {
    PipelineSettings settings = guilty.settings;
    settings.make_instruments = [&, make = guilty.settings.make_instruments]()
        -> absl::StatusOr<PassInstruments> {
      BATON_ASSIGN_OR_RETURN(
          RewriteSelection selection,
          ParseRewriteSelection(Selection(pass.name(), last, alone)));
      PassInstruments instruments = {std::make_shared<RewriteFilter>(
          std::vector<RewriteSelection>{std::move(selection)},
          [](absl::string_view /*counts*/) {})};
      if (make == nullptr) return instruments;
      BATON_ASSIGN_OR_RETURN(PassInstruments others, make());
      instruments.insert(instruments.end(), others.begin(), others.end());
      return instruments;
    };
    BATON_ASSIGN_OR_RETURN(
        const Failure now,
        RunPipelineInChild(guilty.shows.module, Sequential(guilty.shows.passes),
                           settings, limits));
    return SameFailure(failure, now);
  };
  BATON_ASSIGN_OR_RETURN(const bool always, fails(0, false));
  if (always) return std::nullopt;
  int64_t good = 0;
  int64_t bad = 1;
  while (true) {
    BATON_ASSIGN_OR_RETURN(const bool is_bad, fails(bad, false));
    if (is_bad) break;
    if (bad == kMaxRewrites) return std::nullopt;
    good = bad;
    // The failure may need all rewrites: tries all after some doublings.
    bad = bad < 1024 ? 2 * bad : kMaxRewrites;
  }
  BATON_ASSIGN_OR_RETURN(bad, FirstBad(good, bad, [&](int64_t last) {
                           return fails(last, /*alone=*/false);
                         }));
  GuiltyRewrites result = {.last = bad};
  BATON_ASSIGN_OR_RETURN(result.alone, fails(bad, true));
  int64_t execution = 0;
  for (const HistoryExecution& ran : guilty.history.executions) {
    if (ran.number > guilty.number) break;
    if (ran.pass == pass.name()) ++execution;
  }
  result.selection =
      Selection(absl::StrCat(pass.name(), "#", execution), bad, result.alone);
  return result;
}

}  // namespace baton
