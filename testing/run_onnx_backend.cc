// run_onnx_backend: runs cases in the layout of ONNX's backend tests.
//
// usage: run_onnx_backend [--passes=PIPELINE] [--round_trip [--opset=N]
//                         [--save=FOLDER]] [--keep_dimensions] [--table=FILE]
//                         [--rtol=X] [--atol=X] [--archive=FILE.tar] FOLDER...
//
// A folder without model.onnx is searched for folders with it. With --archive
// the folders are those of an archive, which is not unpacked. Prints a line
// for each case that does not pass, and a summary; the exit code is 1 if a case
// is wrong. --table writes the table of docs/onnx.md: the operators with
// converters, and the cases that do not pass; for that, each case is run in all
// the ways of kWays. With --round_trip the models are exported to ONNX and
// imported again; --save keeps the exported models. With --keep_dimensions a
// model that is not supported is not imported again with the shapes of its
// inputs.

#include <cstddef>
#include <filesystem>
#include <fstream>
#include <iostream>
#include <iterator>
#include <string>
#include <utility>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "absl/strings/str_replace.h"
#include "absl/strings/string_view.h"
#include "baton/base/status_macros.h"
#include "baton/onnx/converter.h"
#include "baton/testing/onnx_backend.h"

namespace baton {
namespace {

namespace fs = std::filesystem;

std::string OperatorTable() {
  std::string result = "| operator | opsets |\n|---|---|\n";
  const auto converters = onnx::OpConverters().List();
  if (!converters.ok()) return std::string(converters.status().message());
  for (const onnx::OpConverter* converter : *converters) {
    absl::StrAppend(&result, "| `", converter->domain,
                    converter->domain.empty() ? "" : ".", converter->op, "` | ",
                    converter->first_opset,
                    converter->last_opset == onnx::OpConverter::kNewest
                        ? std::string(" on")
                        : absl::StrCat(" to ", converter->last_opset),
                    " |\n");
  }
  return result;
}

// The first line of a message, less the place in front.
std::string Reason(absl::string_view message) {
  std::string line(message.substr(0, message.find('\n')));
  for (const std::string mark : {": error: ", "model.onnx: "}) {
    const size_t at = line.find(mark);
    if (at != std::string::npos) line = line.substr(at + mark.size());
  }
  // The message of the pass is in the line after the one that names the pass.
  if (absl::StartsWith(line, "in pass ")) {
    const size_t next = message.find('\n');
    if (next != absl::string_view::npos) {
      return Reason(message.substr(next + 1));
    }
  }
  // All that is unsupported is listed in lines of its own.
  if (absl::EndsWith(line, "not supported:")) {
    line = absl::StrReplaceAll(message.substr(message.find('\n') + 1),
                               {{"\n", "; "}, {"  ", ""}});
    line = absl::StrCat("not supported: ", line.substr(0, line.find(':')));
  }
  return absl::StrReplaceAll(line, {{"|", "\\|"}});
}

// The steps between import and evaluation.
struct Way {
  absl::string_view text;
  absl::string_view passes;
  bool round_trip;
};
constexpr Way kWays[] = {
    {"imported", "", false},
    {"after `onnx,O3`", "onnx,O3", false},
    {"after export and import", "", true},
    {"after `onnx,O3`, export and import", "onnx,O3", true},
};

struct Counts {
  int pass = 0;
  int unsupported = 0;
  int wrong = 0;

  void Add(OnnxOutcome outcome) {
    switch (outcome) {
      case OnnxOutcome::kPass:
        ++pass;
        break;
      case OnnxOutcome::kUnsupported:
        ++unsupported;
        break;
      case OnnxOutcome::kWrong:
        ++wrong;
        break;
    }
  }
};

absl::string_view OutcomeText(OnnxOutcome outcome) {
  return outcome == OnnxOutcome::kWrong ? "wrong" : "not supported";
}

// Returns tables of the number of cases that pass each way, and of those that
// do not, each with the first way in which it does not.
std::string CaseTables(const std::vector<OnnxCase>& cases) {
  std::string counts =
      "| run | pass | not supported | wrong |\n|---|---|---|---|\n";
  std::vector<std::string> rows(cases.size());
  for (const Way& way : kWays) {
    OnnxCaseOptions options;
    options.passes = std::string(way.passes);
    options.round_trip = way.round_trip;
    Counts count;
    for (size_t i = 0; i < cases.size(); ++i) {
      const OnnxCaseResult result = RunOnnxCase(cases[i], options);
      count.Add(result.outcome);
      if (result.outcome == OnnxOutcome::kPass || !rows[i].empty()) continue;
      rows[i] = absl::StrCat("| `", cases[i].name, "` | ",
                             OutcomeText(result.outcome),
                             &way == kWays ? "" : absl::StrCat(" ", way.text),
                             " | ", Reason(result.message), " |\n");
    }
    absl::StrAppend(&counts, "| ", way.text, " | ", count.pass, " | ",
                    count.unsupported, " | ", count.wrong, " |\n");
  }
  return absl::StrCat(cases.size(), " cases:\n\n", counts,
                      "\n| case | is | why |\n|---|---|---|\n",
                      absl::StrJoin(rows, ""));
}

absl::StatusOr<std::vector<OnnxCase>> Cases(
    const std::string& archive, const std::vector<std::string>& folders) {
  if (!archive.empty()) return ReadOnnxCases(archive, folders);
  std::vector<OnnxCase> cases;
  for (const std::string& folder : folders) {
    BATON_ASSIGN_OR_RETURN(std::vector<OnnxCase> some, ReadOnnxCases(folder));
    std::move(some.begin(), some.end(), std::back_inserter(cases));
  }
  return cases;
}

int Run(int argc, char** argv) {
  OnnxCaseOptions options;
  std::string table_file;
  std::string save;
  std::string archive;
  std::vector<std::string> folders;
  for (int i = 1; i < argc; ++i) {
    const std::string arg = argv[i];
    if (absl::StartsWith(arg, "--passes=")) {
      options.passes = arg.substr(9);
    } else if (absl::StartsWith(arg, "--table=")) {
      table_file = arg.substr(8);
    } else if (arg == "--round_trip") {
      options.round_trip = true;
    } else if (arg == "--keep_dimensions") {
      options.keep_dimensions = true;
    } else if (absl::StartsWith(arg, "--rtol=")) {
      options.rtol = std::stod(arg.substr(7));
    } else if (absl::StartsWith(arg, "--atol=")) {
      options.atol = std::stod(arg.substr(7));
    } else if (absl::StartsWith(arg, "--opset=")) {
      options.opset = std::stoi(arg.substr(8));
    } else if (absl::StartsWith(arg, "--save=")) {
      save = arg.substr(7);
    } else if (absl::StartsWith(arg, "--archive=")) {
      archive = arg.substr(10);
    } else {
      folders.push_back(arg);
    }
  }
  const absl::StatusOr<std::vector<OnnxCase>> read = Cases(archive, folders);
  if (!read.ok()) {
    std::cerr << read.status().message() << "\n";
    return 1;
  }
  const std::vector<OnnxCase>& cases = *read;
  if (!table_file.empty()) {
    std::ofstream(table_file) << OperatorTable() << "\n" << CaseTables(cases);
    return 0;
  }
  Counts counts;
  for (const OnnxCase& test : cases) {
    const OnnxCaseResult result = RunOnnxCase(test, options);
    counts.Add(result.outcome);
    const std::string& name = test.name;
    if (!save.empty() && !result.written.empty()) {
      std::ofstream(fs::path(save) / (name + ".onnx"), std::ios::binary)
          << result.written;
    }
    if (result.outcome == OnnxOutcome::kPass) continue;
    std::cout << (result.outcome == OnnxOutcome::kWrong ? "WRONG "
                                                        : "UNSUPPORTED ")
              << name << ": "
              << absl::StrReplaceAll(result.message, {{"\n", " | "}}) << "\n";
  }
  std::cout << counts.pass << " of " << cases.size() << " cases pass, "
            << counts.unsupported << " are not supported, " << counts.wrong
            << " are wrong.\n";
  return counts.wrong == 0 ? 0 : 1;
}

}  // namespace
}  // namespace baton

int main(int argc, char** argv) { return baton::Run(argc, argv); }
