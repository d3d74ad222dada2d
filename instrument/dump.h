// DumpInstrument: writes a file for each execution of a pass.

#ifndef BATON_INSTRUMENT_DUMP_H_
#define BATON_INSTRUMENT_DUMP_H_

#include <string>
#include <utility>

#include "absl/status/status.h"
#include "absl/strings/string_view.h"
#include "baton/ir/module.h"
#include "baton/ir/module_text.h"
#include "baton/transform/pass_instrument.h"

namespace baton {

// The files sort in the order in which passes started:
//
//   0000.input.relay                        the argument of the first pass
//   0001.sequential.changed.relay           the result of each pass
//   0002.FoldConstant.unchanged.relay
//   0003.FuseOps.failed.relay               the argument, if the pass failed
//
// Characters that are not allowed in file names become `_`.
class DumpInstrument final : public PassInstrument {
 public:
  // Entering the context creates the folder if it does not exist.
  explicit DumpInstrument(std::string folder, TextOptions text = {})
      : PassInstrument("DumpInstrument"),
        folder_(std::move(folder)),
        text_(text) {}

  absl::Status EnterPassContext() override;
  absl::Status RunBeforePass(const IRModule& module,
                             const PassExecution& pass) override;
  absl::Status RunAfterPass(const IRModule& module,
                            const PassExecution& pass) override;
  void PassFailed(const IRModule& module, const PassExecution& pass,
                  const absl::Status& error) override;

 private:
  absl::Status Write(const PassExecution& pass, absl::string_view outcome,
                     const IRModule& module) const;
  absl::Status WriteFile(const std::string& name, const IRModule& module) const;

  const std::string folder_;
  const TextOptions text_;
};

}  // namespace baton

#endif  // BATON_INSTRUMENT_DUMP_H_
