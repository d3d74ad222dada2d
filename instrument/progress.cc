#include "baton/instrument/progress.h"

#include <chrono>
#include <cstddef>
#include <functional>
#include <memory>
#include <mutex>
#include <string>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/string_view.h"
#include "absl/types/span.h"
#include "baton/instrument/instrument_registry.h"
#include "baton/ir/module.h"
#include "baton/transform/pass.h"
#include "baton/transform/pass_instrument.h"

namespace baton {
namespace {

std::vector<Pass> Listed(const Pass& pipeline) {
  const absl::Span<const Pass> passes = pipeline.impl().listed_passes();
  return {passes.begin(), passes.end()};
}

}  // namespace

ProgressInstrument::ProgressInstrument(const Pass& pipeline,
                                       std::function<void(std::string)> show)
    : PassInstrument("ProgressInstrument"),
      listed_(Listed(pipeline)),
      show_(std::move(show)) {}

void ProgressInstrument::Show(const PassExecution* pass) {
  if (pass == nullptr) return;
  std::string text;
  for (; pass != nullptr; pass = pass->parent()) {
    // The list itself goes without saying.
    if (pass->depth() == 0 && !listed_.empty()) break;
    text =
        text.empty() ? pass->name() : absl::StrCat(pass->name(), " > ", text);
  }
  if (!listed_.empty()) {
    text = absl::StrCat("[", position_ + 1, "/", listed_.size(),
                        text.empty() ? "]" : "] ", text);
  }
  show_(std::move(text));
}

absl::Status ProgressInstrument::RunBeforePass(const IRModule& /*module*/,
                                               const PassExecution& pass) {
  if (pass.depth() == 0) position_ = 0;
  if (pass.depth() == 1) {
    // A pass that another one requires is not in the list.
    for (size_t i = position_; i < listed_.size(); ++i) {
      if (&listed_[i].impl() != &pass.pass().impl()) continue;
      position_ = i;
      break;
    }
  }
  Show(&pass);
  return absl::OkStatus();
}

absl::Status ProgressInstrument::RunAfterPass(const IRModule& /*module*/,
                                              const PassExecution& pass) {
  Show(pass.parent());
  return absl::OkStatus();
}

void ProgressInstrument::PassFailed(const IRModule& /*module*/,
                                    const PassExecution& pass,
                                    const absl::Status& /*error*/) {
  Show(pass.parent());
}

ProgressLine::ProgressLine(std::function<void(absl::string_view)> write,
                           std::chrono::milliseconds delay)
    : write_(std::move(write)),
      delay_(delay),
      start_(std::chrono::steady_clock::now()),
      thread_([this] { Run(); }) {}

ProgressLine::~ProgressLine() {
  {
    const std::lock_guard<std::mutex> lock(mutex_);
    stop_ = true;
    Erase();
  }
  wake_.notify_all();
  thread_.join();
}

void ProgressLine::Show(std::string text) {
  const std::lock_guard<std::mutex> lock(mutex_);
  text_ = std::move(text);
}

void ProgressLine::Hide() {
  const std::lock_guard<std::mutex> lock(mutex_);
  text_.clear();
  Erase();
}

void ProgressLine::Erase() {
  if (!written_.empty()) write_("\r\x1b[K");
  written_.clear();
}

void ProgressLine::Run() {
  constexpr std::chrono::milliseconds kInterval(100);
  constexpr size_t kMostColumns = 79;
  std::unique_lock<std::mutex> lock(mutex_);
  wake_.wait_for(lock, delay_, [this] { return stop_; });
  while (!stop_) {
    if (!text_.empty()) {
      const auto seconds = std::chrono::duration_cast<std::chrono::seconds>(
          std::chrono::steady_clock::now() - start_);
      const std::string time = absl::StrCat("  ", seconds.count(), "s");
      std::string line =
          absl::StrCat(text_.substr(0, kMostColumns - time.size()), time);
      if (line != written_) {
        write_(absl::StrCat("\r", line, "\x1b[K"));
        written_ = std::move(line);
      }
    }
    wake_.wait_for(lock, kInterval, [this] { return stop_; });
  }
}

namespace {

struct ProgressFlags {
  template <typename V>
  static void VisitFields(V& /*v*/) {}
};

InstrumentFactory::Made MakeProgress(const ProgressFlags& /*flags*/,
                                     const InstrumentRun& run) {
  if (run.show_progress == nullptr) return nullptr;
  return std::make_shared<ProgressInstrument>(run.pipeline, run.show_progress);
}

BATON_REGISTER_INSTRUMENT("progress", "Shows the running pass.", MakeProgress,
                          InstrumentPhase::kProgress);

}  // namespace

}  // namespace baton
