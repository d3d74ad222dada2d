// RewriteFilter: counts the rewrites of passes, and lets passes do only some.
//
//   --rewrites=FuseOps:0-12        the first twelve, of all executions together
//   --rewrites=FuseOps:0-11:13-    all but the twelfth
//   --rewrites=FuseOps#2:3         in the second execution, the third alone
//   --rewrites=FuseOps             all; reports how many there are
//   --rewrites=all                 all; reports how many each execution does
//
// Rewrites are numbered from 1, in the order of the functions (see
// ir/rewrite_gate.h): functions of FuseOps, applications of rules, folded calls
// and so on. For a pass that does not call MayRewrite(), a rewrite is a changed
// function, or the module. Leaving out a rewrite may make other rewrites
// impossible, or possible.

#ifndef BATON_INSTRUMENT_REWRITE_FILTER_H_
#define BATON_INSTRUMENT_REWRITE_FILTER_H_

#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "baton/ir/module.h"
#include "baton/ir/rewrite_gate.h"
#include "baton/transform/pass_instrument.h"

namespace baton {

// One item of --rewrites.
struct RewriteSelection {
  std::string pass;
  int64_t execution = 0;  // of the passes with that name, from 1; 0 for all
  // The first and the last rewrite that are done; empty for all.
  std::vector<std::pair<int64_t, int64_t>> ranges;
  std::string text;

  bool Includes(int64_t number) const;
};

// Parses `FuseOps#2:0-12:15-`. The error names the part of the text that is
// wrong.
absl::StatusOr<RewriteSelection> ParseRewriteSelection(absl::string_view text);

// Permits only the rewrites in `selections`; passes without a selection do all.
class RewriteFilter final : public PassInstrument {
 public:
  // `report` receives the counts when the context is left: a line for each
  // selection, or for each execution if there is none.
  RewriteFilter(std::vector<RewriteSelection> selections,
                std::function<void(absl::string_view)> report);
  ~RewriteFilter() override;

  // The number of rewrites of the executions of `pass` so far, including the
  // ones left out.
  int64_t CountOf(const std::string& pass) const;

  absl::Status EnterPassContext() override;
  absl::Status ExitPassContext() override;
  absl::Status RunBeforePass(const IRModule& module,
                             const PassExecution& pass) override;
  absl::Status RunAfterPass(const IRModule& module,
                            const PassExecution& pass) override;
  bool needs_untyped_modules() const override { return false; }
  void PassFailed(const IRModule& module, const PassExecution& pass,
                  const absl::Status& error) override;

 private:
  class Gate;
  struct Execution {
    int64_t number;
    std::string pass;
    int64_t rewrites;
  };

  void Leave(const PassExecution& pass);

  const std::vector<RewriteSelection> selections_;
  const std::function<void(absl::string_view)> report_;
  // A gate for each of `selections`. Executions of other passes have a gate
  // each (Running::own).
  std::vector<std::unique_ptr<Gate>> gates_;
  std::map<std::string, int64_t> executions_;
  std::vector<Execution> counts_;
  // For each running pass: its gate, and the gate of the enclosing pass.
  struct Running {
    std::unique_ptr<Gate> own;
    RewriteGate* gate;
    RewriteGate* outer;
    int64_t requests_before;
  };
  std::vector<Running> running_;
};

}  // namespace baton

#endif  // BATON_INSTRUMENT_REWRITE_FILTER_H_
