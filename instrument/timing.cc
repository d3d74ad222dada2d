#include "baton/instrument/timing.h"

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <iostream>
#include <memory>
#include <ostream>
#include <string>
#include <utility>
#include <vector>

#include "absl/algorithm/container.h"
#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "absl/strings/string_view.h"
#include "baton/base/status_macros.h"
#include "baton/instrument/json.h"
#include "baton/ir/module.h"
#include "baton/transform/pass_context.h"
#include "baton/transform/pass_instrument.h"

namespace baton {
namespace {

double Microseconds(int64_t nanoseconds) {
  return static_cast<double>(nanoseconds) / 1000;
}

double Percent(int64_t part, int64_t whole) {
  return whole == 0
             ? 0
             : static_cast<double>(part) / static_cast<double>(whole) * 100;
}

int64_t TotalOf(const std::vector<PassProfile>& profiles) {
  int64_t total = 0;
  for (const PassProfile& profile : profiles) total += profile.total;
  return total;
}

void AppendLines(const std::vector<PassProfile>& profiles, int64_t all,
                 int64_t parent, std::string* out) {
  for (const PassProfile& profile : profiles) {
    out->append(static_cast<size_t>(profile.depth), '\t');
    absl::StrAppendFormat(
        out, "%s: %.0fus [%.0fus] (%.2f%%; %.2f%%)\n", profile.name,
        Microseconds(profile.total), Microseconds(profile.self),
        Percent(profile.total, all), Percent(profile.total, parent));
    AppendLines(profile.children, all, profile.total, out);
  }
}

void AppendJson(const std::vector<PassProfile>& profiles, std::string* out) {
  const char* separator = "[";
  if (profiles.empty()) out->append(separator);
  for (const PassProfile& profile : profiles) {
    absl::StrAppendFormat(
        out,
        "%s{\"name\":%s,\"number\":%d,\"depth\":%d,\"total_us\":%.3f,"
        "\"self_us\":%.3f,\"changed\":%s,\"children\":",
        separator, JsonString(profile.name), profile.number, profile.depth,
        Microseconds(profile.total), Microseconds(profile.self),
        profile.changed ? "true" : "false");
    AppendJson(profile.children, out);
    out->append("}");
    separator = ",";
  }
  out->append("]");
}

// Adds `profile` and the passes inside it to `sums`. `open`: the passes that
// `profile` is inside of.
void AddSums(const PassProfile& profile, std::vector<std::string>& open,
             std::vector<PassSum>& sums) {
  auto sum = absl::c_find_if(
      sums, [&](const PassSum& s) { return s.name == profile.name; });
  if (sum == sums.end()) sum = sums.insert(sum, PassSum{profile.name});
  ++sum->runs;
  sum->self += profile.self;
  if (!absl::c_linear_search(open, profile.name)) sum->total += profile.total;
  open.push_back(profile.name);
  for (const PassProfile& child : profile.children) {
    AddSums(child, open, sums);
  }
  open.pop_back();
}

}  // namespace

// Calls the hooks of another instrument and measures them.
class MeasuredInstrument final : public PassInstrument {
 public:
  MeasuredInstrument(std::shared_ptr<PassInstrument> instrument,
                     std::shared_ptr<PassTimingInstrument> timing)
      : PassInstrument(instrument->name()),
        instrument_(std::move(instrument)),
        timing_(std::move(timing)),
        row_(timing_->instrument_times_.size()) {
    timing_->instrument_times_.push_back({.name = name()});
  }

  absl::Status EnterPassContext() override {
    const Measure measure(*this);
    return instrument_->EnterPassContext();
  }
  // Not measured: nobody can read the time afterwards.
  absl::Status ExitPassContext() override {
    return instrument_->ExitPassContext();
  }
  absl::StatusOr<bool> ShouldRun(const IRModule& module,
                                 const PassExecution& pass) override {
    const Measure measure(*this);
    return instrument_->ShouldRun(module, pass);
  }
  absl::Status RunBeforePass(const IRModule& module,
                             const PassExecution& pass) override {
    const Measure measure(*this);
    return instrument_->RunBeforePass(module, pass);
  }
  absl::Status RunAfterPass(const IRModule& module,
                            const PassExecution& pass) override {
    const Measure measure(*this);
    return instrument_->RunAfterPass(module, pass);
  }
  void PassFailed(const IRModule& module, const PassExecution& pass,
                  const absl::Status& error) override {
    const Measure measure(*this);
    instrument_->PassFailed(module, pass, error);
  }

 private:
  // One call, which may end in an exception.
  class Measure {
   public:
    explicit Measure(const MeasuredInstrument& of)
        : of_(of),
          start_(of.timing_->Now()),
          inner_(of.timing_->instruments_total_) {}
    Measure(const Measure&) = delete;
    Measure& operator=(const Measure&) = delete;
    ~Measure() {
      PassTimingInstrument& timing = *of_.timing_;
      // Hooks that this one caused, by running passes, have their own time.
      const int64_t inner = timing.instruments_total_ - inner_;
      const int64_t time = timing.Now() - start_ - inner;
      InstrumentTime& row = timing.instrument_times_[of_.row_];
      row.total += time;
      ++row.calls;
      timing.instruments_total_ += time;
    }

   private:
    const MeasuredInstrument& of_;
    const int64_t start_;
    const int64_t inner_;
  };

  const std::shared_ptr<PassInstrument> instrument_;
  const std::shared_ptr<PassTimingInstrument> timing_;
  const size_t row_;
};

PassInstruments MeasureInstruments(
    PassInstruments instruments,
    const std::shared_ptr<PassTimingInstrument>& timing) {
  for (std::shared_ptr<PassInstrument>& instrument : instruments) {
    if (instrument == timing) continue;
    instrument =
        std::make_shared<MeasuredInstrument>(std::move(instrument), timing);
  }
  return instruments;
}

PassTimingInstrument::PassTimingInstrument(Options options)
    : PassInstrument("PassTimingInstrument"), options_(std::move(options)) {}

int64_t PassTimingInstrument::Now() const {
  if (options_.clock != nullptr) return options_.clock();
  return std::chrono::duration_cast<std::chrono::nanoseconds>(
             std::chrono::steady_clock::now().time_since_epoch())
      .count();
}

absl::Status PassTimingInstrument::ExitPassContext() {
  // A context that exits while a pass runs is nested in the profiled one: do
  // not clear the profile.
  if (open_ >= 0) return absl::OkStatus();
  records_.clear();
  for (InstrumentTime& time : instrument_times_) time.total = time.calls = 0;
  return absl::OkStatus();
}

absl::Status PassTimingInstrument::RunBeforePass(const IRModule& /*module*/,
                                                 const PassExecution& pass) {
  records_.push_back({pass.pass(), pass.number(), 0, 0, open_, false, false});
  open_ = static_cast<int>(records_.size()) - 1;
  records_.back().start = PassNow();
  return absl::OkStatus();
}

void PassTimingInstrument::Finish(bool changed, bool failed) {
  const int64_t now = PassNow();
  Record& record = records_[static_cast<size_t>(open_)];
  record.end = now;
  record.changed = changed;
  record.failed = failed;
  open_ = record.parent;
}

absl::Status PassTimingInstrument::RunAfterPass(const IRModule& /*module*/,
                                                const PassExecution& pass) {
  Finish(pass.changed(), false);
  return absl::OkStatus();
}

void PassTimingInstrument::PassFailed(const IRModule& /*module*/,
                                      const PassExecution& /*pass*/,
                                      const absl::Status& /*error*/) {
  Finish(false, true);
}

absl::StatusOr<std::vector<PassProfile>> PassTimingInstrument::Profiles()
    const {
  if (open_ >= 0) {
    return absl::FailedPreconditionError(
        absl::StrCat("pass timings cannot be read while a pass is running: ",
                     records_[static_cast<size_t>(open_)].pass.name()));
  }
  // The trees, last first, so that children are complete before parents.
  std::vector<std::vector<PassProfile>> children(records_.size());
  std::vector<PassProfile> roots;
  std::vector<int> depths;
  for (const Record& record : records_) {
    depths.push_back(
        record.parent < 0 ? 0 : depths[static_cast<size_t>(record.parent)] + 1);
  }
  for (size_t i = records_.size(); i-- > 0;) {
    const Record& record = records_[i];
    PassProfile profile{.name = record.pass.name(),
                        .number = record.number,
                        .depth = depths[i],
                        .total = record.end - record.start,
                        .changed = record.changed,
                        .failed = record.failed,
                        .children = {children[i].rbegin(), children[i].rend()}};
    profile.self = profile.total - TotalOf(profile.children);
    children[i].clear();
    (record.parent < 0 ? roots : children[static_cast<size_t>(record.parent)])
        .push_back(std::move(profile));
  }
  return std::vector<PassProfile>(roots.rbegin(), roots.rend());
}

absl::StatusOr<std::vector<PassSum>> PassTimingInstrument::Sums() const {
  BATON_ASSIGN_OR_RETURN(const std::vector<PassProfile> profiles, Profiles());
  std::vector<PassSum> sums;
  std::vector<std::string> open;
  for (const PassProfile& profile : profiles) AddSums(profile, open, sums);
  absl::c_stable_sort(
      sums, [](const PassSum& a, const PassSum& b) { return a.self > b.self; });
  return sums;
}

std::string PassTimingInstrument::InstrumentLines() const {
  std::string text;
  for (const InstrumentTime& time : instrument_times_) {
    absl::StrAppendFormat(&text, "instrument %s: %.0fus (%d calls)\n",
                          time.name, Microseconds(time.total), time.calls);
  }
  return text;
}

absl::StatusOr<std::string> PassTimingInstrument::Render() const {
  BATON_ASSIGN_OR_RETURN(const std::vector<PassProfile> profiles, Profiles());
  if (profiles.empty()) {
    (options_.warnings != nullptr ? *options_.warnings : std::cerr)
        << "Warning: no passes have been profiled, did you enable pass "
           "profiling?"
        << std::endl;
    return "";
  }
  const int64_t all = TotalOf(profiles);
  std::string text;
  AppendLines(profiles, all, all, &text);
  return text + InstrumentLines();
}

absl::StatusOr<std::string> PassTimingInstrument::RenderSums(
    double min_percent) const {
  BATON_ASSIGN_OR_RETURN(const std::vector<PassSum> sums, Sums());
  int64_t all = 0;
  for (const PassSum& sum : sums) all += sum.self;
  std::string text = "    self us  part   total us  runs  pass\n";
  const auto add = [&](const PassSum& sum, absl::string_view name) {
    absl::StrAppendFormat(&text, "%11.0f %4.1f%% %10.0f %5d  %s\n",
                          Microseconds(sum.self), Percent(sum.self, all),
                          Microseconds(sum.total), sum.runs, name);
  };
  PassSum rest;
  int64_t num_rest = 0;
  for (const PassSum& sum : sums) {
    if (Percent(sum.self, all) >= min_percent) {
      add(sum, sum.name);
      continue;
    }
    ++num_rest;
    rest.self += sum.self;
    rest.total += sum.self;
    rest.runs += sum.runs;
  }
  if (num_rest > 0) add(rest, absl::StrCat("(", num_rest, " others)"));
  return text + InstrumentLines();
}

absl::StatusOr<std::string> PassTimingInstrument::RenderJson() const {
  BATON_ASSIGN_OR_RETURN(const std::vector<PassProfile> profiles, Profiles());
  std::string text = "{\"version\":1,\"passes\":";
  AppendJson(profiles, &text);
  const char* separator = ",\"instruments\":[";
  for (const InstrumentTime& time : instrument_times_) {
    absl::StrAppendFormat(
        &text, "%s{\"name\":%s,\"total_us\":%.3f,\"calls\":%d}", separator,
        JsonString(time.name), Microseconds(time.total), time.calls);
    separator = ",";
  }
  if (!instrument_times_.empty()) text += "]";
  return text + "}\n";
}

}  // namespace baton
