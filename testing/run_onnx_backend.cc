// Runs cases in the layout of ONNX's backend tests.
//
// usage: run_onnx_backend [--passes=PIPELINE] [--round_trip [--opset=N]
//                         [--save=FOLDER]] [--table=FILE] FOLDER...
//
// A folder that has no model.onnx is searched for folders that do. Prints a
// line for each case that does not pass, and a summary; the exit code is 1 if a
// case is wrong. --table writes what docs/onnx.md shows: the operators that
// have converters, and the cases that do not pass. With --round_trip the models
// are written as ONNX and read again; --save keeps what was written.

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <iostream>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_replace.h"
#include "absl/strings/string_view.h"
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
    absl::StrAppend(&result, "| `", converter->op, "` | ",
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
  // All that is unsupported is listed in lines of its own.
  if (absl::EndsWith(line, "not supported:")) {
    line = absl::StrReplaceAll(message.substr(message.find('\n') + 1),
                               {{"\n", "; "}, {"  ", ""}});
    line = absl::StrCat("not supported: ", line.substr(0, line.find(':')));
  }
  return absl::StrReplaceAll(line, {{"|", "\\|"}});
}

int Run(int argc, char** argv) {
  OnnxCaseOptions options;
  std::string table_file;
  std::string save;
  std::vector<fs::path> cases;
  for (int i = 1; i < argc; ++i) {
    const std::string arg = argv[i];
    if (absl::StartsWith(arg, "--passes=")) {
      options.passes = arg.substr(9);
    } else if (absl::StartsWith(arg, "--table=")) {
      table_file = arg.substr(8);
    } else if (arg == "--round_trip") {
      options.round_trip = true;
    } else if (absl::StartsWith(arg, "--opset=")) {
      options.opset = std::stoi(arg.substr(8));
    } else if (absl::StartsWith(arg, "--save=")) {
      save = arg.substr(7);
    } else if (fs::exists(fs::path(arg) / "model.onnx")) {
      cases.push_back(arg);
    } else {
      for (const fs::directory_entry& entry : fs::directory_iterator(arg)) {
        if (fs::exists(entry.path() / "model.onnx")) {
          cases.push_back(entry.path());
        }
      }
    }
  }
  std::sort(cases.begin(), cases.end());
  int counts[3] = {0, 0, 0};
  std::string table = "| case | is | why |\n|---|---|---|\n";
  for (const fs::path& folder : cases) {
    const OnnxCaseResult result = RunOnnxCase(folder.string(), options);
    ++counts[static_cast<int>(result.outcome)];
    const std::string name = folder.filename().string();
    if (!save.empty() && !result.written.empty()) {
      std::ofstream(fs::path(save) / (name + ".onnx"), std::ios::binary)
          << result.written;
    }
    if (result.outcome == OnnxOutcome::kPass) continue;
    const bool is_wrong = result.outcome == OnnxOutcome::kWrong;
    std::cout << (is_wrong ? "WRONG " : "UNSUPPORTED ") << name << ": "
              << absl::StrReplaceAll(result.message, {{"\n", " | "}}) << "\n";
    absl::StrAppend(&table, "| `", name, "` | ",
                    is_wrong ? "wrong" : "not supported", " | ",
                    Reason(result.message), " |\n");
  }
  const std::string summary =
      absl::StrCat(counts[0], " of ", cases.size(), " cases pass, ", counts[1],
                   " are not supported, ", counts[2], " are wrong.");
  std::cout << summary << "\n";
  if (!table_file.empty()) {
    std::ofstream(table_file) << OperatorTable() << "\n"
                              << summary << "\n\n"
                              << table;
  }
  return counts[2] == 0 ? 0 : 1;
}

}  // namespace
}  // namespace baton

int main(int argc, char** argv) { return baton::Run(argc, argv); }
