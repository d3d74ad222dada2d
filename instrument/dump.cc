#include "baton/instrument/dump.h"

#include <algorithm>
#include <filesystem>
#include <memory>
#include <string>
#include <system_error>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "absl/strings/ascii.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "absl/strings/str_split.h"
#include "absl/strings/string_view.h"
#include "baton/base/flags.h"
#include "baton/base/status_macros.h"
#include "baton/base/write_file.h"
#include "baton/instrument/instrument_registry.h"
#include "baton/ir/module.h"
#include "baton/ir/module_text.h"
#include "baton/transform/pass_instrument.h"

namespace baton {

namespace {

// True for `0002.FoldConstant.changed.relay`.
bool IsDump(const std::string& name) {
  const std::vector<absl::string_view> parts = absl::StrSplit(name, '.');
  return parts.size() >= 3 && parts.back() == "relay" && parts[0].size() >= 4 &&
         std::all_of(parts[0].begin(), parts[0].end(), [](char c) {
           return absl::ascii_isdigit(static_cast<unsigned char>(c));
         });
}

}  // namespace

absl::Status DumpInstrument::CheckFolder(const std::string& folder) {
  std::error_code error;
  for (const auto& entry : std::filesystem::directory_iterator(folder, error)) {
    const std::string name = entry.path().filename().string();
    if (!IsDump(name)) continue;
    return absl::AlreadyExistsError(
        absl::StrCat(folder, " has dumps of another run, such as ", name,
                     "; remove them, or give another folder"));
  }
  return absl::OkStatus();  // it need not exist
}

absl::Status DumpInstrument::EnterPassContext() {
  if (!is_checked_) BATON_RETURN_IF_ERROR(CheckFolder(options_.folder));
  is_checked_ = true;
  std::error_code error;
  std::filesystem::create_directories(options_.folder, error);
  if (error) {
    return absl::UnavailableError(absl::StrCat(
        "cannot make folder ", options_.folder, ": ", error.message()));
  }
  return absl::OkStatus();
}

absl::Status DumpInstrument::WriteFile(const std::string& name,
                                       const IRModule& module) const {
  const std::string path =
      (std::filesystem::path(options_.folder) / name).string();
  return WriteFileAtomically(path, AsText(module, options_.text));
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
  if (options_.changed_only && !pass.changed()) return absl::OkStatus();
  return Write(pass, pass.changed() ? "changed" : "unchanged", module);
}

void DumpInstrument::PassFailed(const IRModule& module,
                                const PassExecution& pass,
                                const absl::Status& /*error*/) {
  // The pass's own error matters more than one of this file's.
  Write(pass, "failed", module).IgnoreError();
}

namespace {

struct DumpFlags {
  std::string dump_dir;
  bool dump_changed_only = false;

  template <typename V>
  static void VisitFields(V& v) {
    v("dump_dir", &DumpFlags::dump_dir,
      FlagSpec{
          .help =
              "Folder for a file of each execution; it must have no dumps yet.",
          .value = "DIR",
          .group = kReportFlags});
    v("dump_changed_only", &DumpFlags::dump_changed_only,
      FlagSpec{.help = "With --dump_dir: writes only results that changed.",
               .group = kReportFlags});
  }
};

InstrumentFactory::Made MakeDump(const DumpFlags& flags,
                                 const InstrumentRun& run) {
  if (flags.dump_dir.empty()) {
    if (!flags.dump_changed_only) return nullptr;
    return absl::InvalidArgumentError("--dump_changed_only: needs --dump_dir");
  }
  DumpOptions options = {.folder = flags.dump_dir,
                         .changed_only = flags.dump_changed_only};
  if (run.module_number > 0) {
    absl::StrAppend(&options.folder, "/", run.module_number);
  }
  const absl::Status status = DumpInstrument::CheckFolder(options.folder);
  if (!status.ok()) {
    return absl::Status(status.code(),
                        absl::StrCat("--dump_dir: ", status.message()));
  }
  auto instrument = std::make_shared<DumpInstrument>(std::move(options));
  instrument->set_name("--dump_dir");
  return instrument;
}

BATON_REGISTER_INSTRUMENT("dump", "Writes a file for each execution of a pass.",
                          MakeDump, InstrumentPhase::kPrint);

}  // namespace

}  // namespace baton
