// Counts the instructions of every registered pass as programs grow.
//
//   growth --pass=FuseOps --shape=chain_calls --sizes=1000,10000
//
// prints a line of JSON for each pass, shape and size, as
//
//   {"pass":"FuseOps","shape":"chain_calls","size":1000,"nodes":1002,
//   "written":0,"instructions":2714432,"seconds":0.0011}
//
// `written` is the number of bytes that the pass wrote to standard error,
// `seconds` is time of the processor. The
// count includes running the pass and destroying its result, in user space, but
// not making its input. `benchmarks/report` fits the exponents. A pass that
// fails has an `error`.
//
// Without a counter in the processor `instructions` is null. Then run the
// program in callgrind, with its option --instr-atstart=no and the flag
// --callgrind here: callgrind collects exactly the same instructions. With
// --callgrind_parts it writes a file for each measurement, which names pass,
// shape and size; without, the sum of all.

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <ctime>
#include <iostream>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "absl/flags/flag.h"
#include "absl/flags/parse.h"
#include "absl/flags/usage.h"
#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/match.h"
#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_split.h"
#include "absl/strings/string_view.h"
#include "baton/base/json.h"
#include "baton/base/status_macros.h"
#include "baton/benchmarks/callgrind.h"
#include "baton/benchmarks/pass_input.h"
#include "baton/benchmarks/shapes.h"
#include "baton/instrument/history_recorder.h"
#include "baton/instrument/instruction_counter.h"
#include "baton/ir/module.h"
#include "baton/testing/registered_passes.h"
#include "baton/transform/pass.h"
#include "baton/transform/pass_context.h"

ABSL_FLAG(std::vector<std::string>, shape, {},
          "Shapes, separated by commas; all if empty.");
ABSL_FLAG(std::string, pass, "",
          "The passes as a pipeline writes each, separated by semicolons; all "
          "registered ones if empty.");
ABSL_FLAG(std::vector<std::string>, sizes,
          std::vector<std::string>({"1000", "3000", "10000", "30000",
                                    "100000"}),
          "Sizes of all shapes but resnet.");
ABSL_FLAG(std::vector<std::string>, resnet_sizes,
          std::vector<std::string>({"18", "34", "50", "101", "152"}),
          "Numbers of layers of resnet.");
ABSL_FLAG(
    std::string, runs, "",
    "Measurements PASS@SHAPE/SIZE, divided by semicolons, in the place of "
    "those of --pass, --shape and --sizes.");
ABSL_FLAG(double, max_seconds, 10,
          "A pass that took longer is not run on larger programs.");
ABSL_FLAG(bool, callgrind, false, "Let callgrind collect.");
ABSL_FLAG(bool, callgrind_parts, false,
          "Let callgrind write a file for each measurement.");
ABSL_FLAG(std::string, record, "none",
          "What a HistoryRecorder records: none, states, origins (and states), "
          "or all: remarks as well.");
ABSL_FLAG(bool, run, true,
          "If false, runs nothing, but prints the lines without counts.");

namespace baton::benchmarks {
namespace {

// A pass that wrote more is not run on larger programs: text of nested
// branches, which is indented, outgrows memory.
constexpr int64_t kMaxWritten = 100'000'000;

struct Line {
  std::string pass;
  std::string shape;
  int64_t size = 0;
  int64_t nodes = 0;
  int64_t written = 0;
  std::optional<int64_t> instructions = std::nullopt;
  double seconds = 0;
  std::string error = {};
};

void Print(const Line& line) {
  JsonWriter json;
  json.BeginObject().Fields("pass", line.pass, "shape", line.shape, "size",
                            line.size);
  if (!line.error.empty()) {
    json.Fields("error", line.error);
  } else {
    json.Fields("nodes", line.nodes, "written", line.written);
    json.Key("instructions");
    if (line.instructions.has_value()) {
      json.Value(*line.instructions);
    } else {
      json.Value(JsonText{"null"});
    }
    json.Fields("seconds", line.seconds);
  }
  json.End();
  std::cout << std::move(json).Finish() << "\n" << std::flush;
}

absl::Status Measure(const InstructionCounter* counter, bool in_callgrind,
                     Line& line) {
  const testing::SilentStderr silence;
  BATON_ASSIGN_OR_RETURN(const Pass pass,
                         testing::GetRegisteredPass(line.pass));
  // Made anew for each pass: nodes remember hashes.
  BATON_ASSIGN_OR_RETURN(
      const IRModule input,
      PassInputs().Get(pass, absl::StrCat(line.shape, "/", line.size)));
  line.nodes = CountNodes(input);
  const int64_t written_before = silence.bytes();
  const std::clock_t start = std::clock();
  absl::Status status;
  const std::string record = absl::GetFlag(FLAGS_record);
  const auto run = [&] {
    if (record == "none") {
      status.Update(pass(input).status());
      return;
    }
    // Its destruction is counted as well: it holds what the passes dropped.
    const PassContext context(
        {.opt_level = 3,
         .instruments = {std::make_shared<HistoryRecorder>(HistoryOptions{
             .origins = record != "states", .remarks = record == "all"})}});
    status.Update(context.Run([&] { return pass(input).status(); }));
  };
  if (in_callgrind) {
    if (!CollectInCallgrind(run)) {
      return absl::UnimplementedError("built without Valgrind's headers");
    }
    if (absl::GetFlag(FLAGS_callgrind_parts)) {
      DumpCallgrindPart(
          absl::StrCat(line.pass, " on ", line.shape, "/", line.size));
    }
  } else if (counter != nullptr) {
    absl::StatusOr<int64_t> counted = counter->Count(run);
    if (absl::IsUnavailable(counted.status())) counted = counter->Count(run);
    BATON_ASSIGN_OR_RETURN(line.instructions, std::move(counted));
  } else {
    run();
  }
  line.seconds = static_cast<double>(std::clock() - start) / CLOCKS_PER_SEC;
  line.written = silence.bytes() - written_before;
  return status;
}

// Passes over loops have shapes of their own.
bool IsOverLoops(absl::string_view pass) {
  return absl::StartsWith(pass, "tir.");
}
bool IsShapeOfLoops(absl::string_view family) {
  return absl::StartsWith(family, "tir_");
}

absl::StatusOr<std::vector<int64_t>> SizesOf(const std::string& family) {
  std::vector<int64_t> result;
  for (const std::string& text :
       absl::GetFlag(family == "resnet" ? FLAGS_resnet_sizes : FLAGS_sizes)) {
    int64_t size = 0;
    if (!absl::SimpleAtoi(text, &size) || size <= 0) {
      return absl::InvalidArgumentError(
          absl::StrCat("`", text, "` is no size"));
    }
    result.push_back(size);
  }
  return result;
}

// The measurements of --runs.
absl::StatusOr<std::vector<Line>> GivenRuns() {
  std::vector<Line> lines;
  for (const absl::string_view run :
       absl::StrSplit(absl::GetFlag(FLAGS_runs), ';', absl::SkipEmpty())) {
    const size_t at = run.rfind('@');
    const size_t slash = run.rfind('/');
    Line line;
    if (at == absl::string_view::npos || slash == absl::string_view::npos ||
        slash < at || !absl::SimpleAtoi(run.substr(slash + 1), &line.size)) {
      return absl::InvalidArgumentError(
          absl::StrCat("--runs: `", run, "` is not PASS@SHAPE/SIZE"));
    }
    line.pass = std::string(run.substr(0, at));
    line.shape = std::string(run.substr(at + 1, slash - at - 1));
    lines.push_back(std::move(line));
  }
  return lines;
}

// Runs each pass once: objects that are made at first use are not counted.
void WarmUp(const std::vector<std::string>& passes) {
  for (const std::string& pass : passes) {
    Line line{.pass = pass,
              .shape = IsOverLoops(pass) ? "tir_flat" : "resnet",
              .size = 18};
    Measure(nullptr, false, line).IgnoreError();
  }
}

absl::Status MeasureRuns(std::vector<Line> lines) {
  std::vector<std::string> passes;
  for (const Line& line : lines) passes.push_back(line.pass);
  std::sort(passes.begin(), passes.end());
  passes.erase(std::unique(passes.begin(), passes.end()), passes.end());
  WarmUp(passes);
  absl::Status result;
  for (Line& line : lines) {
    const absl::Status status =
        Measure(nullptr, absl::GetFlag(FLAGS_callgrind), line);
    line.error = std::string(status.message());
    Print(line);
    result.Update(status);
  }
  return result;
}

// An error if one pass failed that must not; the others are measured all the
// same.
absl::Status MeasureAll() {
  BATON_ASSIGN_OR_RETURN(std::vector<Line> runs, GivenRuns());
  if (!runs.empty()) return MeasureRuns(std::move(runs));
  std::vector<std::string> families = absl::GetFlag(FLAGS_shape);
  if (families.empty()) {
    for (const ShapeFamily& f : ShapeFamilies()) families.push_back(f.name);
  }
  std::vector<std::string> passes = PassesForAnyProgram();
  for (const std::string& pass : testing::RegisteredPasses()) {
    if (IsOverLoops(pass) && !IsForAnyProgram(pass)) passes.push_back(pass);
  }
  if (!absl::GetFlag(FLAGS_pass).empty()) {
    passes = absl::StrSplit(absl::GetFlag(FLAGS_pass), ';');
  }
  const absl::StatusOr<InstructionCounter> counter =
      InstructionCounter::Create();
  if (absl::GetFlag(FLAGS_run)) WarmUp(passes);
  absl::Status result;
  const double max_seconds = absl::GetFlag(FLAGS_max_seconds);
  for (const std::string& family : families) {
    BATON_ASSIGN_OR_RETURN(const std::vector<int64_t> sizes, SizesOf(family));
    for (const std::string& pass : passes) {
      if (IsOverLoops(pass) != IsShapeOfLoops(family)) continue;
      for (const int64_t size : sizes) {
        Line line{.pass = pass, .shape = family, .size = size};
        if (absl::GetFlag(FLAGS_run)) {
          const absl::Status status =
              Measure(counter.ok() ? &*counter : nullptr,
                      absl::GetFlag(FLAGS_callgrind), line);
          line.error = std::string(status.message());
        }
        Print(line);
        // Some passes over loops take functions of one form only.
        if (!line.error.empty() && IsForAnyProgram(pass) &&
            !IsOverLoops(pass)) {
          result.Update(absl::InternalError(
              absl::StrCat(pass, " on ", family, "/", size, ": ", line.error)));
        }
        if (!line.error.empty() || line.seconds > max_seconds ||
            line.written > kMaxWritten) {
          break;
        }
      }
    }
  }
  return result;
}

}  // namespace
}  // namespace baton::benchmarks

int main(int argc, char** argv) {
  absl::SetProgramUsageMessage(
      "Instructions of every pass on programs that grow, as lines of JSON.");
  absl::ParseCommandLine(argc, argv);
  const absl::Status status = baton::PassContext({.opt_level = 3}).Run([] {
    return baton::benchmarks::MeasureAll();
  });
  if (!status.ok()) {
    std::cerr << "growth: " << status.message() << "\n";
    return 1;
  }
  return 0;
}
