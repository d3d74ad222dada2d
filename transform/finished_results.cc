#include "baton/transform/finished_results.h"

#include <memory>

#include "absl/algorithm/container.h"
#include "baton/transform/pass_context.h"
#include "baton/transform/pass_instrument.h"

namespace baton {

bool SeesUnfinishedResults(const PassInstrument& instrument) {
  const auto* const seer =
      dynamic_cast<const SeesFinishedResults*>(&instrument);
  return seer == nullptr || !seer->sees_finished_results();
}

bool UnfinishedResultsAreSeen(const PassContext& context) {
  return absl::c_any_of(context.instruments(),
                        [](const std::shared_ptr<PassInstrument>& instrument) {
                          return SeesUnfinishedResults(*instrument);
                        });
}

}  // namespace baton
