// RemarkInstrument: prints the remarks and the statistics of passes.

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
#include "baton/instrument/pass_listener.h"
#include "baton/ir/module.h"
#include "baton/ir/pass_log.h"
#include "baton/transform/pass_instrument.h"

namespace re2 {
class RE2;
}

namespace baton {

// A remark as text. Nodes are written `%12 = nn.relu`, with their number in the
// module that was the argument of the pass.
struct RenderedRemark {
  RemarkKind kind;
  int64_t execution = 0;
  std::string pass;
  std::string function;  // empty if no function contains the node
  std::string node;      // empty if the remark is about no node
  std::string place;     // `model.relay:12:3`; empty if unknown
  std::string reason;
  std::vector<std::pair<std::string, std::string>> args;
};

// missed #4 FuseOps @main %5 = nn.max_pool2d: a user is opaque (user %6 = ...)
std::string FormatRemark(const RenderedRemark& remark);
// {"kind":"missed","execution":4,"pass":"FuseOps","function":"main",
//  "node":"%5 = nn.max_pool2d","reason":...,"args":{"user":"%6 = ..."}}
std::string RemarkJson(const RenderedRemark& remark);

struct RemarkOptions {
  // `KIND:RE,KIND,...`: selects remarks of a kind (passed, missed, analysis or
  // all) of the passes whose whole name matches RE (RE2). Without `:RE`,
  // selects remarks of all passes. Empty selects none.
  std::string remarks = {};
  bool statistics = false;
  // Called with each selected remark, in order, when its pass has ended. If the
  // pass runs inside a function pass, called when the function pass has ended.
  std::function<void(const RenderedRemark&)> on_remark = nullptr;
};

// Collects the remarks that its options select, and all statistics.
class RemarkInstrument final : public PassInstrument {
 public:
  // An error if `options.remarks` is malformed.
  static absl::StatusOr<std::shared_ptr<RemarkInstrument>> Create(
      RemarkOptions options);
  ~RemarkInstrument() override;

  // The statistics, a line each, sorted by pass and name:
  //   `     12 FuseOps.groups  Functions made of several operators.`
  std::string StatisticsText() const;

  // The expressions for names of passes that no pass so far had.
  std::vector<std::string> UnmatchedPatterns() const;

  bool needs_untyped_modules() const override { return false; }
  absl::Status RunBeforePass(const IRModule& module,
                             const PassExecution& pass) override;
  absl::Status RunAfterPass(const IRModule& module,
                            const PassExecution& pass) override;
  void PassFailed(const IRModule& module, const PassExecution& pass,
                  const absl::Status& error) override;

 private:
  struct Filter {
    uint8_t kinds;
    std::string pattern;
    std::unique_ptr<const re2::RE2> pass;  // of `pattern`; null matches all
    bool has_matched = false;
  };
  RemarkInstrument();
  uint8_t WantedOf(const std::string& pass);
  void End(const PassExecution& pass);

  std::vector<Filter> filters_;
  bool statistics_ = false;
  std::function<void(const RenderedRemark&)> on_remark_;
  PassListener listener_;
};

// Renders `remarks`. `module` is the module that contains their nodes.
std::vector<RenderedRemark> RenderRemarks(const std::vector<Remark>& remarks,
                                          const IRModule& module);

}  // namespace baton

#endif  // BATON_INSTRUMENT_REMARKS_H_
