#include "baton/instrument/dump.h"

#include <filesystem>
#include <string>
#include <system_error>

#include "absl/status/status.h"
#include "absl/strings/ascii.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "absl/strings/string_view.h"
#include "baton/base/write_file.h"
#include "baton/ir/module.h"
#include "baton/ir/module_text.h"
#include "baton/transform/pass_instrument.h"

namespace baton {

absl::Status DumpInstrument::EnterPassContext() {
  std::error_code error;
  std::filesystem::create_directories(folder_, error);
  if (error) {
    return absl::UnavailableError(
        absl::StrCat("cannot make folder ", folder_, ": ", error.message()));
  }
  return absl::OkStatus();
}

absl::Status DumpInstrument::WriteFile(const std::string& name,
                                       const IRModule& module) const {
  const std::string path = (std::filesystem::path(folder_) / name).string();
  return WriteFileAtomically(path, AsText(module, text_));
}

absl::Status DumpInstrument::Write(const PassExecution& pass,
                                   absl::string_view outcome,
                                   const IRModule& module) const {
  std::string name;
  for (char c : pass.name()) {
    const bool fits = absl::ascii_isalnum(static_cast<unsigned char>(c)) ||
                      c == '-' || c == '_' || c == '.';
    name.push_back(fits ? c : '_');
  }
  return WriteFile(
      absl::StrFormat("%04d.%s.%s.relay", pass.number(), name, outcome),
      module);
}

absl::Status DumpInstrument::RunBeforePass(const IRModule& module,
                                           const PassExecution& pass) {
  return pass.number() == 1 ? WriteFile("0000.input.relay", module)
                            : absl::OkStatus();
}

absl::Status DumpInstrument::RunAfterPass(const IRModule& module,
                                          const PassExecution& pass) {
  return Write(pass, pass.changed() ? "changed" : "unchanged", module);
}

void DumpInstrument::PassFailed(const IRModule& module,
                                const PassExecution& pass,
                                const absl::Status& /*error*/) {
  // The pass's own error matters more than one of this file's.
  Write(pass, "failed", module).IgnoreError();
}

}  // namespace baton
