#include "baton/triage/failure.h"

#include <algorithm>
#include <cstddef>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/ascii.h"
#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "absl/strings/str_split.h"
#include "absl/strings/string_view.h"
#include "baton/base/status_macros.h"
#include "baton/ir/module.h"
#include "baton/transform/pass.h"
#include "baton/transform/pass_context.h"
#include "baton/transform/pass_error.h"
#include "baton/transform/pass_info.h"
#include "baton/transform/pass_registry.h"
#include "baton/transform/sequential.h"
#include "baton/triage/child.h"
#include "baton/triage/progress_page.h"

namespace baton {
namespace {

constexpr size_t kKeyWords = 5;

// A test takes at most so many times as long as the run that failed, but may
// always take so many seconds: fewer if they are looked for that do not end.
constexpr double kTestFactor = 10;
constexpr double kTestSeconds = 2;
constexpr double kLoopFactor = 3;
constexpr double kLoopSeconds = 0.5;

bool HasNameOrNumber(absl::string_view word) {
  for (const char c : word) {
    if (absl::ascii_isdigit(static_cast<unsigned char>(c)) || c == '%' ||
        c == '@' || c == '`' || c == '"' || c == '[' || c == '#') {
      return true;
    }
  }
  return false;
}

// True if passes of that name only finish other passes or run because these
// require them, like InferType.
bool OnlyHelps(const std::string& name) {
  const absl::StatusOr<PassInfo> info = PassRegistry::Global().Info(name);
  return info.ok() && info->always_run &&
         info->granularity != PassGranularity::kSequence;
}

bool IsSequence(const std::string& name) {
  if (name == SequentialOptions().name || name == "FixedPoint") return true;
  const absl::StatusOr<PassInfo> info = PassRegistry::Global().Info(name);
  return info.ok() && info->granularity == PassGranularity::kSequence;
}

}  // namespace

absl::string_view KindToString(Failure::Kind kind) {
  switch (kind) {
    case Failure::Kind::kNone:
      return "no failure";
    case Failure::Kind::kError:
      return "an error";
    case Failure::Kind::kCrash:
      return "a crash";
    case Failure::Kind::kTimeOut:
      return "a time-out";
  }
  return "";
}

std::string MessageKey(absl::string_view message) {
  std::vector<absl::string_view> words;
  for (const absl::string_view word :
       absl::StrSplit(message, absl::ByAnyChar(" \n\t"), absl::SkipEmpty())) {
    if (HasNameOrNumber(word)) continue;
    words.push_back(word);
    if (words.size() == kKeyWords) break;
  }
  return absl::StrJoin(words, " ");
}

Failure FailureOf(const absl::Status& error) {
  Failure failure;
  if (error.ok()) return failure;
  failure.kind = Failure::Kind::kError;
  failure.message = std::string(error.message());
  std::string culprit;
  if (const std::optional<PassError> known = GetPassError(error)) {
    culprit = known->culprit;
    // An error of the InferType after a pass is about the result of the pass.
    size_t i = known->frames.size();
    while (i > 1 && OnlyHelps(known->frames[i - 1].pass) &&
           !IsSequence(known->frames[i - 2].pass)) {
      --i;
    }
    if (i > 0) {
      failure.pass = known->frames[i - 1].pass;
      failure.number = known->frames[i - 1].number;
    }
  }
  failure.key = absl::StrCat(culprit, "|", static_cast<int>(error.code()), "|",
                             MessageKey(OriginalMessage(error)));
  return failure;
}

bool SameFailure(const Failure& was, const Failure& now) {
  return was.kind == now.kind && was.pass == now.pass && was.key == now.key;
}

// Fields end in NUL; the message, which may hold one, is the last.
std::string WriteFailure(const Failure& failure) {
  return absl::StrJoin({absl::StrCat(static_cast<int>(failure.kind)),
                        absl::StrCat(failure.number), failure.pass, failure.key,
                        failure.message},
                       absl::string_view("\0", 1));
}

Failure ReadFailure(absl::string_view text) {
  const std::vector<std::string> parts =
      absl::StrSplit(text, absl::MaxSplits('\0', 4));
  Failure failure;
  int kind = 0;
  if (parts.size() != 5 || !absl::SimpleAtoi(parts[0], &kind) ||
      !absl::SimpleAtoi(parts[1], &failure.number)) {
    failure.kind = Failure::Kind::kCrash;
    return failure;
  }
  failure.kind = static_cast<Failure::Kind>(kind);
  failure.pass = parts[2];
  failure.key = parts[3];
  failure.message = parts[4];
  return failure;
}

ChildLimits TestLimits(const Failure& failure, const ChildLimits& limits) {
  const bool loops = failure.kind == Failure::Kind::kTimeOut;
  const double seconds =
      loops ? std::max(kLoopSeconds, kLoopFactor * failure.seconds)
            : std::max(kTestSeconds, kTestFactor * failure.seconds);
  ChildLimits result = limits;
  result.seconds = std::min(limits.seconds, seconds);
  return result;
}

Failure FailureOf(const ChildResult& result, const ProgressPage& progress) {
  if (result.end == ChildResult::End::kReturned) {
    Failure failure = ReadFailure(result.output);
    failure.seconds = result.seconds;
    return failure;
  }
  Failure failure;
  if (result.end == ChildResult::End::kInterrupted) return failure;
  const bool crashed = result.end == ChildResult::End::kCrashed;
  failure.kind = crashed ? Failure::Kind::kCrash : Failure::Kind::kTimeOut;
  failure.number = progress.number();
  failure.pass = progress.pass();
  failure.seconds = crashed ? result.seconds : progress.seconds();
  failure.message =
      crashed ? absl::StrCat("the process ended by signal ", result.signal)
              : std::string("the time was up");
  if (!failure.pass.empty()) {
    absl::StrAppend(&failure.message, " in pass #", failure.number, " ",
                    failure.pass);
  }
  return failure;
}

absl::StatusOr<IRModule> RunPipeline(const IRModule& module,
                                     const Pass& pipeline,
                                     const PipelineSettings& settings) {
  PassContextOptions options = settings.context;
  options.instruments.clear();
  if (settings.make_instruments != nullptr) {
    BATON_ASSIGN_OR_RETURN(options.instruments, settings.make_instruments());
  }
  return PassContext(std::move(options)).Run([&] { return pipeline(module); });
}

absl::StatusOr<PipelineRun> PipelineRun::Start(const IRModule& module,
                                               const Pass& pipeline,
                                               const PipelineSettings& settings,
                                               const ChildLimits& limits) {
  BATON_ASSIGN_OR_RETURN(std::shared_ptr<ProgressPage> progress,
                         ProgressPage::Create());
  PipelineSettings watched = settings;
  watched.make_instruments = [&]() -> absl::StatusOr<PassInstruments> {
    PassInstruments instruments = {progress->MakeInstrument()};
    if (settings.make_instruments == nullptr) return instruments;
    BATON_ASSIGN_OR_RETURN(const PassInstruments others,
                           settings.make_instruments());
    instruments.insert(instruments.end(), others.begin(), others.end());
    return instruments;
  };
  BATON_ASSIGN_OR_RETURN(
      Child child, Child::Start(
                       [&] {
                         return WriteFailure(FailureOf(
                             RunPipeline(module, pipeline, watched).status()));
                       },
                       {.limits = limits}));
  return PipelineRun(std::move(child), std::move(progress));
}

Failure PipelineRun::Wait() { return FailureOf(child_.Wait(), *progress_); }

absl::StatusOr<Failure> RunPipelineInChild(const IRModule& module,
                                           const Pass& pipeline,
                                           const PipelineSettings& settings,
                                           const ChildLimits& limits) {
  BATON_ASSIGN_OR_RETURN(
      PipelineRun run, PipelineRun::Start(module, pipeline, settings, limits));
  return run.Wait();
}

}  // namespace baton
