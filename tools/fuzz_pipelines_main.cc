// fuzz-pipelines: runs random pipelines over programs of all kinds:
//
//   bazelw run //tools:fuzz-pipelines -- --seconds=3600 --output=/tmp/found
//
// Prints a line for each kind of failure, and writes a page and a test of it to
// a folder. With --pairs, lists pairs of passes that do not commute.

#include <chrono>
#include <cstdint>
#include <cstdlib>
#include <iostream>
#include <map>
#include <string>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/string_view.h"
#include "baton/base/flags.h"
#include "baton/base/status_macros.h"
#include "baton/testing/golden.h"
#include "baton/testing/registered_passes.h"
#include "baton/tools/command_line.h"
#include "baton/tools/pipeline_fuzz.h"
#include "baton/tools/tool_main.h"
#include "re2/re2.h"

namespace baton {
namespace {

struct FuzzToolOptions {
  int64_t seed = 0;
  int64_t count = 0;
  double seconds = 60;
  std::string output = "found";
  std::string passes = ".*";
  int64_t pairs = 0;

  template <typename V>
  static void VisitFields(V& v) {
    v("seed", &FuzzToolOptions::seed,
      FlagSpec{.help = "The first seed.", .value = "N"});
    v("count", &FuzzToolOptions::count,
      FlagSpec{.help = "Number of pipelines; 0: until --seconds are over.",
               .value = "N",
               .least = 0});
    v("seconds", &FuzzToolOptions::seconds,
      FlagSpec{.help = "Limit of wall-clock time; 0: none.",
               .value = "X",
               .least = 0});
    v("output", &FuzzToolOptions::output,
      FlagSpec{.help = "Folder for failures, each in a folder in it.",
               .value = "DIR"});
    v("passes", &FuzzToolOptions::passes,
      FlagSpec{.help = "Only passes that match (RE2, whole text).",
               .value = "RE"});
    v("pairs", &FuzzToolOptions::pairs,
      FlagSpec{.help = "Lists pairs of passes whose order changes the result "
                       "for one of N programs.",
               .value = "N",
               .least = 0});
  }
};

double Now() {
  return std::chrono::duration<double>(
             std::chrono::steady_clock::now().time_since_epoch())
      .count();
}

absl::StatusOr<PipelineFuzzer> MakeFuzzer(const FuzzToolOptions& options) {
  PipelineFuzzOptions fuzz = {
      .passes = {},
      .recorded = testing::RunfilePath("testing/conformance"),
      .workloads = {
          "resnet{num_layers=8,image_shape=[3,12,12],num_classes=10}",
          "resnet{num_layers=8,image_shape=[12,12,3],num_classes=10,"
          "layout=NHWC}",
          "mlp{image_shape=[1,6,6]}", "lstm{iterations=2,num_hidden=4}",
          "dcgan{ngf=2,random_len=4}",
          "bert{num_layers=1,hidden_size=8,num_heads=2,intermediate_size=12,"
          "vocab_size=20,max_position_embeddings=8,sequence_length=4}",
          "vit{num_layers=1,hidden_size=8,num_heads=2,intermediate_size=12,"
          "patch_size=4,num_classes=5,image_shape=[3,8,8]}"}};
  for (const std::string& pass : testing::RegisteredPasses()) {
    if (RE2::FullMatch(pass, options.passes)) fuzz.passes.push_back(pass);
  }
  return PipelineFuzzer::Create(std::move(fuzz));
}

absl::Status ListPairs(const FuzzToolOptions& options,
                       const PipelineFuzzer& fuzzer) {
  BATON_ASSIGN_OR_RETURN(
      const std::vector<PipelineFuzzer::Pair> pairs,
      fuzzer.NonCommuting(static_cast<uint32_t>(options.seed),
                          static_cast<int>(options.pairs), nullptr));
  for (const PipelineFuzzer::Pair& pair : pairs) {
    std::cout << pair.first << " " << pair.second << ": " << pair.differ
              << " of " << pair.tried << " programs differ, such as "
              << pair.example << "\n";
  }
  return absl::OkStatus();
}

// A failure that is one kind with others.
struct Found {
  uint32_t seed = 0;  // the first
  int64_t times = 0;
};

absl::StatusOr<bool> Fuzz(const FuzzToolOptions& options,
                          const PipelineFuzzer& fuzzer) {
  using End = PipelineFuzzer::End;
  const double end = options.seconds > 0 ? Now() + options.seconds : 0;
  std::map<End, int64_t> ends;
  std::map<std::string, Found> found;
  int64_t with_values = 0;
  for (int64_t i = 0; options.count == 0 || i < options.count; ++i) {
    if (end > 0 && Now() >= end) break;
    const auto seed = static_cast<uint32_t>(options.seed + i);
    BATON_ASSIGN_OR_RETURN(const FuzzedPipeline fuzzed, fuzzer.Draw(seed));
    BATON_ASSIGN_OR_RETURN(const PipelineFuzzer::Outcome outcome,
                           fuzzer.Run(fuzzed));
    ++ends[outcome.end];
    with_values += outcome.checked_values ? 1 : 0;
    if (outcome.end != End::kFailed) continue;
    const Failure& failure = outcome.failure;
    Found& same = found[absl::StrCat(KindToString(failure.kind), " of ",
                                     failure.pass, ": ", failure.key)];
    if (same.times++ > 0) continue;
    same.seed = seed;
    const std::string folder =
        absl::StrCat(options.output, "/", failure.pass, "_", seed);
    const absl::StatusOr<std::string> triage =
        fuzzer.WriteTriage(fuzzed, outcome, folder);
    std::cout << "seed " << seed << ": " << fuzzed.name << ", " << fuzzed.passes
              << ": " << KindToString(failure.kind) << " of " << failure.pass
              << "\n"
              << failure.message << "\n"
              << (triage.ok() ? *triage
                              : std::string(triage.status().message()))
              << "\n"
              << std::endl;
  }
  std::cout << ends[End::kPassed] << " passed, " << ends[End::kRefused]
            << " refused, " << ends[End::kAmplified]
            << " amplified rounding errors, " << ends[End::kFailed]
            << " failed; values were checked in " << with_values << "\n";
  for (const auto& [what, same] : found) {
    std::cout << same.times << " times " << what << " (seed " << same.seed
              << ")\n";
  }
  return found.empty();
}

absl::StatusOr<int> Main(const std::vector<absl::string_view>& args) {
  FuzzToolOptions options;
  BATON_ASSIGN_OR_RETURN(
      const ParsedCommandLine line,
      ReadCommandLine(
          "fuzz-pipelines",
          "Runs random pipelines over programs of all kinds.\n\nFlags:\n", args,
          std::cout, &options));
  if (line.is_answered) return 0;
  BATON_RETURN_IF_ERROR(CheckNumArguments(line.arguments, 0));
  // `bazel run` runs programs in a folder of its own.
  const char* folder = std::getenv("BUILD_WORKING_DIRECTORY");
  if (folder != nullptr && !absl::StartsWith(options.output, "/")) {
    options.output = absl::StrCat(folder, "/", options.output);
  }
  BATON_ASSIGN_OR_RETURN(const PipelineFuzzer fuzzer, MakeFuzzer(options));
  if (options.pairs > 0) {
    BATON_RETURN_IF_ERROR(ListPairs(options, fuzzer));
    return 0;
  }
  BATON_ASSIGN_OR_RETURN(const bool passed, Fuzz(options, fuzzer));
  return passed ? 0 : 1;
}

}  // namespace
}  // namespace baton

int main(int argc, char** argv) {
  return baton::RunTool("fuzz-pipelines", [argc, argv] {
    const absl::StatusOr<int> code =
        baton::Main({argv + (argc > 0 ? 1 : 0), argv + argc});
    if (code.ok()) return *code;
    std::cerr << "fuzz-pipelines: " << code.status().message() << "\n";
    return 1;
  });
}
