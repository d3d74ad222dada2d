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
struct DumpOptions {
  std::string folder;
  // If true, there are no files of unchanged results: numbers have gaps.
  bool changed_only = false;
  TextOptions text = {};
};

class DumpInstrument final : public PassInstrument {
 public:
  explicit DumpInstrument(DumpOptions options)
      : PassInstrument("DumpInstrument"), options_(std::move(options)) {}
  explicit DumpInstrument(std::string folder, TextOptions text = {})
      : DumpInstrument(DumpOptions{.folder = std::move(folder), .text = text}) {
  }

  // An error if the folder contains a file that has the name of a dump.
  static absl::Status CheckFolder(const std::string& folder);

  // Creates the folder if it does not exist; otherwise calls CheckFolder. A
  // context that is entered again replaces its own dumps.

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

  const DumpOptions options_;
  bool is_checked_ = false;
};

}  // namespace baton

#endif  // BATON_INSTRUMENT_DUMP_H_
