#include "baton/instrument/timing.h"

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <iostream>
#include <ostream>
#include <string>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "absl/strings/string_view.h"
#include "baton/base/status_macros.h"
#include "baton/instrument/json.h"
#include "baton/ir/module.h"
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

}  // namespace

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
  if (open_ < 0) records_.clear();
  return absl::OkStatus();
}

absl::Status PassTimingInstrument::RunBeforePass(const IRModule& /*module*/,
                                                 const PassExecution& pass) {
  records_.push_back({pass.pass(), pass.number(), 0, 0, open_, false, false});
  open_ = static_cast<int>(records_.size()) - 1;
  records_.back().start = Now();
  return absl::OkStatus();
}

void PassTimingInstrument::Finish(bool changed, bool failed) {
  const int64_t now = Now();
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
  return text;
}

absl::StatusOr<std::string> PassTimingInstrument::RenderJson() const {
  BATON_ASSIGN_OR_RETURN(const std::vector<PassProfile> profiles, Profiles());
  std::string text = "{\"version\":1,\"passes\":";
  AppendJson(profiles, &text);
  return text + "}\n";
}

}  // namespace baton
