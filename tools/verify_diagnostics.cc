#include "baton/tools/verify_diagnostics.h"

#include <cstddef>
#include <memory>
#include <ostream>
#include <string>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "baton/base/plural.h"
#include "baton/base/source.h"
#include "baton/base/status_macros.h"
#include "baton/ir/diagnostics.h"
#include "baton/tools/expected_diagnostics.h"
#include "baton/tools/files.h"
#include "baton/tools/input.h"
#include "baton/tools/opt.h"
#include "baton/tools/prepared_run.h"
#include "baton/transform/pass.h"
#include "baton/triage/failure.h"

namespace baton {
namespace {

constexpr char kStandardStream[] = "-";

// The errors of a module or its run; empty if there are none.
absl::StatusOr<std::string> FaultsOf(
    const std::shared_ptr<const Source>& source, const PreparedRun& prepared) {
  Diagnostics diagnostics;
  const InputModule input = ParseInput(source, diagnostics);
  if (diagnostics.has_errors()) return diagnostics.ToString();
  const absl::StatusOr<Pass> complete =
      CompletePipeline(prepared, input.module);
  const absl::Status status =
      complete.ok() ? RunPipeline(input.module, *complete,
                                  FaultSettings(prepared, *complete, true))
                          .status()
                    : complete.status();
  return absl::StrCat(diagnostics.ToString(), status.message());
}

}  // namespace

absl::Status VerifyDiagnostics(const OptOptions& options,
                               const PreparedRun& prepared,
                               const OptStreams& streams) {
  const bool is_stream = options.input == kStandardStream;
  if (options.input.empty()) {
    return absl::InvalidArgumentError("--verify_diagnostics: give a text file");
  }
  const std::string name = is_stream ? "<stdin>" : options.input;
  BATON_ASSIGN_OR_RETURN(std::string text, is_stream
                                               ? ReadStream(streams.in, name)
                                               : ReadFile(options.input));
  if (FormatOf(text, name) != InputFormat::kText) {
    return absl::InvalidArgumentError(
        absl::StrCat("--verify_diagnostics: ", name, " is no text"));
  }
  size_t num_expected = 0;
  size_t num_modules = 0;
  std::vector<std::string> errors;
  for (const std::shared_ptr<const Source>& source :
       SourcesOf(std::move(text), name, options.split_input_file)) {
    const auto expected = ParseExpectedDiagnostics(*source);
    if (!expected.ok()) {
      errors.push_back(std::string(expected.status().message()));
      continue;
    }
    num_expected += expected->size();
    ++num_modules;
    BATON_ASSIGN_OR_RETURN(const std::string faults,
                           FaultsOf(source, prepared));
    const absl::Status same = CompareDiagnostics(
        *source, *expected, ParseReportedDiagnostics(name, faults));
    if (!same.ok()) errors.push_back(std::string(same.message()));
  }
  if (errors.empty()) {
    streams.reports << "--verify_diagnostics: "
                    << Plural(num_expected, "expected diagnostic") << " in "
                    << Plural(num_modules, "module") << "\n";
    return absl::OkStatus();
  }
  return absl::AbortedError(
      absl::StrCat("the diagnostics differ\n", absl::StrJoin(errors, "\n")));
}

}  // namespace baton
