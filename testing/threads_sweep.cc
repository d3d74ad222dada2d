#include "baton/testing/threads_sweep.h"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <map>
#include <memory>
#include <sstream>
#include <string>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/str_cat.h"
#include "baton/base/status_macros.h"
#include "baton/base/text_file.h"
#include "baton/instrument/dump.h"
#include "baton/instrument/op_differ.h"
#include "baton/instrument/print_ir_instrument.h"
#include "baton/instrument/recorder.h"
#include "baton/instrument/timing.h"
#include "baton/instrument/verify.h"
#include "baton/ir/module.h"
#include "baton/relay/ir/text_printer.h"
#include "baton/transform/internal/thread_pool.h"
#include "baton/transform/parallel.h"
#include "baton/transform/pass.h"
#include "baton/transform/pass_context.h"
#include "gtest/gtest.h"

namespace baton::testing {
namespace {

// The observations, by name.
using Observations = std::map<std::string, std::string>;

void AppendShape(const std::vector<PassProfile>& profiles, std::string* out) {
  // Profiles nest as deep as passes do.
  std::vector<const PassProfile*> stack;
  const auto push = [&stack](const std::vector<PassProfile>& list) {
    for (size_t i = list.size(); i-- > 0;) stack.push_back(&list[i]);
  };
  push(profiles);
  while (!stack.empty()) {
    const PassProfile& profile = *stack.back();
    stack.pop_back();
    absl::StrAppend(out, std::string(profile.depth, ' '), profile.number, " ",
                    profile.name, profile.changed ? " changed" : "",
                    profile.failed ? " failed" : "", "\n");
    push(profile.children);
  }
}

std::string EventsToString(const std::vector<PassRecorder::Event>& events) {
  std::string out;
  for (const PassRecorder::Event& event : events) {
    absl::StrAppend(&out, static_cast<int>(event.hook), " ", event.pass, " ",
                    event.number, " ", event.depth, " ", event.changed, "\n");
  }
  return out;
}

void AddFiles(const std::filesystem::path& folder, Observations& seen) {
  for (const auto& entry : std::filesystem::directory_iterator(folder)) {
    seen[absl::StrCat("dump ", entry.path().filename().string())] =
        ReadTextFile(entry.path().string()).value_or("unreadable");
  }
}

void AddResult(const absl::StatusOr<IRModule>& result, Observations& seen) {
  seen["code"] = absl::StatusCodeToString(result.status().code());
  seen["error"] = std::string(result.status().message());
  if (result.ok()) seen["text"] = AsText(*result);
}

PassContextOptions ContextOptions(int threads, int opt_level) {
  return {.opt_level = opt_level,
          .config = {{ThreadsConfig().name(), threads}}};
}

Observations Run(const Pass& pass, const IRModule& module, int threads,
                 int opt_level) {
  Observations seen;
  AddResult(PassContext(ContextOptions(threads, opt_level)).Run([&] {
    return pass(module);
  }),
            seen);
  return seen;
}

absl::StatusOr<Observations> RunWatched(const Pass& pass,
                                        const IRModule& module, int threads,
                                        int opt_level) {
  const std::filesystem::path folder =
      std::filesystem::path(::testing::TempDir()) / "threads_sweep";
  std::filesystem::remove_all(folder);
  std::ostringstream printed;
  std::ostringstream warnings;
  BATON_ASSIGN_OR_RETURN(
      const auto print,
      PrintIrInstrument::Create({.after = ".*",
                                 .changed = PrintIrOptions::Changed::kDiff,
                                 .out = &printed}));
  const auto timing = std::make_shared<PassTimingInstrument>(
      PassTimingInstrument::Options{.warnings = &warnings});
  const auto recorder = std::make_shared<PassRecorder>();
  const auto differ = std::make_shared<OpDiffer>();
  const auto verify = std::make_shared<VerifyInstrument>();
  PassContextOptions options = ContextOptions(threads, opt_level);
  options.instruments = {
      timing, recorder, differ,
      print,  verify,   std::make_shared<DumpInstrument>(folder.string())};
  Observations seen;
  AddResult(
      PassContext(std::move(options)).Run([&]() -> absl::StatusOr<IRModule> {
        absl::StatusOr<IRModule> result = pass(module);
        BATON_ASSIGN_OR_RETURN(const auto profiles, timing->Profiles());
        AppendShape(profiles, &seen["timing"]);
        seen["op differ"] = differ->ToString();
        return result;
      }),
      seen);
  seen["events"] = EventsToString(recorder->events());
  seen["report"] = recorder->ToString();
  seen["printed"] = printed.str();
  seen["warnings"] = warnings.str();
  seen["verified"] = absl::StrCat(verify->num_checked());
  AddFiles(folder, seen);
  std::filesystem::remove_all(folder);
  return seen;
}

// The part of a text from a line before the first byte that differs from
// `other`.
std::string FromDifference(const std::string& text, const std::string& other) {
  const size_t place =
      std::mismatch(text.begin(), text.end(), other.begin(), other.end())
          .first -
      text.begin();
  const size_t begin = text.rfind('\n', place > 0 ? place - 1 : 0);
  return text.substr(begin == std::string::npos ? 0 : begin + 1, 500);
}

std::string Difference(const Observations& expected,
                       const Observations& actual) {
  for (const auto& [what, text] : expected) {
    const auto it = actual.find(what);
    if (it == actual.end()) return absl::StrCat("no ", what);
    if (it->second == text) continue;
    return absl::StrCat(what, ", on one thread:\n",
                        FromDifference(text, it->second), "\nnow:\n",
                        FromDifference(it->second, text));
  }
  for (const auto& [what, text] : actual) {
    if (!expected.contains(what)) return absl::StrCat("there is ", what);
  }
  return "";
}

}  // namespace

std::string FindThreadsDifference(const Pass& pass, const IRModule& module,
                                  const ThreadsSweepOptions& options) {
  for (const bool watched : {false, true}) {
    const auto run = [&](int threads) -> absl::StatusOr<Observations> {
      if (watched) return RunWatched(pass, module, threads, options.opt_level);
      return Run(pass, module, threads, options.opt_level);
    };
    const absl::StatusOr<Observations> expected = run(1);
    if (!expected.ok()) return std::string(expected.status().message());
    for (const int threads : {2, 16}) {
      for (int i = 0; i < options.num_schedules; ++i) {
        const uint32_t seed = options.first_seed + i;
        internal::ThreadPool::Shared().PerturbSchedule(seed);
        const absl::StatusOr<Observations> actual = run(threads);
        internal::ThreadPool::Shared().PerturbSchedule(0);
        if (!actual.ok()) return std::string(actual.status().message());
        const std::string difference = Difference(*expected, *actual);
        if (!difference.empty()) {
          return absl::StrCat(threads, " threads, shuffled by ", seed,
                              watched ? ", watched" : "", ": ", difference);
        }
      }
    }
  }
  return "";
}

}  // namespace baton::testing
