// RemarkInstrument: what passes say of their work, and what they count.

#ifndef BATON_INSTRUMENT_REMARKS_H_
#define BATON_INSTRUMENT_REMARKS_H_

#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "baton/instrument/pass_listener.h"
#include "baton/ir/module.h"
#include "baton/ir/pass_log.h"
#include "baton/transform/finished_results.h"
#include "baton/transform/pass_instrument.h"

namespace re2 {
class RE2;
}

namespace baton {

// A remark as people read it: nodes are `%12 = nn.relu`, with the number that
// they have in the module that the pass was given.
struct ToldRemark {
  RemarkKind kind;
  int64_t execution = 0;
  std::string pass;
  std::string function;  // empty if the node is in none, or there is no node
  std::string node;      // empty if there is none
  std::string place;     // `model.relay:12:3`; empty if it comes from no text
  std::string reason;
  std::vector<std::pair<std::string, std::string>> args;
};

// missed #4 FuseOps @main %5 = nn.max_pool2d: a user is opaque (user %6 = ...)
std::string RemarkText(const ToldRemark& remark);
// {"kind":"missed","execution":4,"pass":"FuseOps","function":"main",
//  "node":"%5 = nn.max_pool2d","reason":...,"args":{"user":"%6 = ..."}}
std::string RemarkJson(const ToldRemark& remark);

struct RemarkOptions {
  // `KIND:RE,KIND,...`: remarks of a kind (passed, missed, analysis or all) of
  // the passes whose whole name matches (RE2); of all passes without `:RE`.
  // Empty: none.
  std::string remarks = {};
  bool statistics = false;
  // Called with each remark, in order, when its pass, or the function pass
  // inside of which that runs, has ended.
  std::function<void(const ToldRemark&)> told = nullptr;
};

class RemarkInstrument final : public PassInstrument,
                               public SeesFinishedResults {
 public:
  // An error if there is a mistake in `options.remarks`.
  static absl::StatusOr<std::shared_ptr<RemarkInstrument>> Create(
      RemarkOptions options);
  ~RemarkInstrument() override;

  // What was counted, a line each, sorted by pass and name:
  //   `     12 FuseOps.groups  Functions made of several operators.`
  std::string StatisticsText() const;

  absl::Status RunBeforePass(const IRModule& module,
                             const PassExecution& pass) override;
  absl::Status RunAfterPass(const IRModule& module,
                            const PassExecution& pass) override;
  void PassFailed(const IRModule& module, const PassExecution& pass,
                  const absl::Status& error) override;

 private:
  struct Filter {
    uint8_t kinds;
    std::unique_ptr<const re2::RE2> pass;  // null matches all
  };
  RemarkInstrument();
  uint8_t WantedOf(const std::string& pass) const;
  void End(const PassExecution& pass);

  std::vector<Filter> filters_;
  bool statistics_ = false;
  std::function<void(const ToldRemark&)> told_;
  PassListener listener_;
};

// The remarks as people read them. `module`: where their nodes are.
std::vector<ToldRemark> TellRemarks(const std::vector<Remark>& remarks,
                                    const IRModule& module);

}  // namespace baton

#endif  // BATON_INSTRUMENT_REMARKS_H_
