#include "baton/instrument/timing.h"

#include <algorithm>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <iostream>
#include <memory>
#include <ostream>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "absl/algorithm/container.h"
#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "absl/strings/str_join.h"
#include "absl/strings/string_view.h"
#include "baton/base/flags.h"
#include "baton/base/hash_table.h"
#include "baton/base/json.h"
#include "baton/base/near_names.h"
#include "baton/base/plural.h"
#include "baton/base/status_macros.h"
#include "baton/instrument/history.h"
#include "baton/instrument/history_trace.h"
#include "baton/instrument/instruction_counter.h"
#include "baton/instrument/instrument_registry.h"
#include "baton/instrument/peak_memory.h"
#include "baton/instrument/trace_writer.h"
#include "baton/ir/module.h"
#include "baton/ir/node_counts.h"
#include "baton/transform/function_pass.h"
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

// `1234 nodes, 1000 kept, 5.2 MB`.
std::string MeasuredText(const PassProfile& profile) {
  std::string text;
  if (profile.memory.has_value()) {
    const PassMemory& memory = *profile.memory;
    absl::StrAppendFormat(&text,
                          "; %d nodes made, %d kept, %d bytes of tensors",
                          memory.nodes, memory.kept, memory.tensor_bytes);
    if (memory.peak_bytes >= 0) {
      absl::StrAppendFormat(&text, ", peak %.1f MB",
                            static_cast<double>(memory.peak_bytes) / 1e6);
    }
  }
  if (profile.instructions.has_value()) {
    absl::StrAppend(&text, "; ", *profile.instructions, " instructions");
  }
  return text;
}

// The functions that took longest, and how many more there are.
constexpr size_t kMostFunctions = 10;

void AppendFunctions(const PassProfile& profile, std::string* out) {
  std::vector<const FunctionProfile*> longest;
  for (const FunctionProfile& f : profile.functions) longest.push_back(&f);
  absl::c_stable_sort(longest,
                      [](const FunctionProfile* a, const FunctionProfile* b) {
                        return a->total > b->total;
                      });
  const std::string indent(static_cast<size_t>(profile.depth) + 1, '\t');
  int64_t rest = 0;
  for (size_t i = 0; i < longest.size(); ++i) {
    const FunctionProfile& f = *longest[i];
    if (i >= kMostFunctions) {
      rest += f.total;
      continue;
    }
    absl::StrAppendFormat(out, "%s@%s: %.0fus, thread %d\n", indent, f.name,
                          Microseconds(f.total), f.thread);
  }
  if (longest.size() > kMostFunctions) {
    absl::StrAppendFormat(out, "%s%d other functions: %.0fus\n", indent,
                          longest.size() - kMostFunctions, Microseconds(rest));
  }
}

void AppendLines(const std::vector<PassProfile>& profiles, int64_t all,
                 int64_t parent, std::string* out) {
  for (const PassProfile& profile : profiles) {
    out->append(static_cast<size_t>(profile.depth), '\t');
    absl::StrAppendFormat(
        out, "%s: %.0fus [%.0fus] (%.2f%%; %.2f%%)%s\n", profile.name,
        Microseconds(profile.total), Microseconds(profile.self),
        Percent(profile.total, all), Percent(profile.total, parent),
        MeasuredText(profile));
    AppendFunctions(profile, out);
    AppendLines(profile.children, all, profile.total, out);
  }
}

JsonFixed JsonMicroseconds(int64_t nanoseconds) {
  return {Microseconds(nanoseconds), 3};
}

void WriteProfiles(const std::vector<PassProfile>& profiles, JsonWriter& json) {
  json.BeginArray();
  for (const PassProfile& profile : profiles) {
    json.BeginObject().Fields(
        "name", profile.name, "number", profile.number, "depth", profile.depth,
        "total_us", JsonMicroseconds(profile.total), "self_us",
        JsonMicroseconds(profile.self), "changed", profile.changed);
    if (profile.memory.has_value()) {
      const PassMemory& memory = *profile.memory;
      json.Key("memory").Object(
          "nodes", memory.nodes, "node_bytes", memory.node_bytes, "kept",
          memory.kept, "garbage", memory.garbage(), "tensor_bytes",
          memory.tensor_bytes, "peak_bytes", memory.peak_bytes);
    }
    if (profile.instructions.has_value()) {
      json.Fields("instructions", *profile.instructions);
    }
    if (!profile.functions.empty()) {
      json.Key("functions").BeginArray();
      for (const FunctionProfile& f : profile.functions) {
        json.Object("name", f.name, "total_us", JsonMicroseconds(f.total),
                    "thread", f.thread);
      }
      json.End();
    }
    WriteProfiles(profile.children, json.Key("children"));
    json.End();
  }
  json.End();
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
  if (!absl::c_linear_search(open, profile.name)) {
    sum->total += profile.total;
    if (profile.memory.has_value()) {
      if (!sum->memory.has_value()) sum->memory.emplace();
      PassMemory& memory = *sum->memory;
      memory.nodes += profile.memory->nodes;
      memory.node_bytes += profile.memory->node_bytes;
      memory.kept += profile.memory->kept;
      memory.tensor_bytes += profile.memory->tensor_bytes;
      memory.peak_bytes =
          std::max(memory.peak_bytes, profile.memory->peak_bytes);
    }
  }
  if (profile.instructions.has_value()) {
    int64_t self = *profile.instructions;
    for (const PassProfile& child : profile.children) {
      self -= *child.instructions;
    }
    sum->instructions = sum->instructions.value_or(0) + self;
  }
  open.push_back(profile.name);
  for (const PassProfile& child : profile.children) {
    AddSums(child, open, sums);
  }
  open.pop_back();
}

// Calls `fn` for each function of `profiles` and of those inside them.
template <typename Fn>
void ForEachFunction(const std::vector<PassProfile>& profiles, const Fn& fn) {
  for (const PassProfile& profile : profiles) {
    for (const FunctionProfile& f : profile.functions) fn(f);
    ForEachFunction(profile.children, fn);
  }
}

template <typename NameOf>
std::vector<FunctionSum> SumsBy(const std::vector<PassProfile>& profiles,
                                const NameOf& name_of) {
  std::vector<FunctionSum> sums;
  FlatHashMap<std::string, size_t> indices;
  ForEachFunction(profiles, [&](const FunctionProfile& f) {
    const std::string name = name_of(f);
    const auto [it, is_new] = indices.try_emplace(name, sums.size());
    if (is_new) sums.push_back({.name = name});
    FunctionSum& sum = sums[it->second];
    ++sum.runs;
    sum.total += f.total;
  });
  absl::c_stable_sort(sums, [](const FunctionSum& a, const FunctionSum& b) {
    return a.total > b.total;
  });
  return sums;
}

// The time of hooks of measured instruments on this thread.
thread_local constinit int64_t hooks_on_thread = 0;

}  // namespace

// Notes when the bodies of one execution of a function pass ran, and where.
class PassTimingInstrument::Observer final : public FunctionObserver {
 public:
  Observer(PassTimingInstrument* timing, const IRModule& module)
      : timing_(*timing),
        record_(static_cast<size_t>(timing->open_)),
        module_(module),
        runs_(module.size()) {}

  void Before(size_t i) override {
    Run& run = runs_[i];
    run.thread = std::this_thread::get_id();
    run.nodes = NodeCounting::Now().made;
    run.hooks = hooks_on_thread;
    run.start = timing_.Now();
  }
  void After(size_t i) override {
    Run& run = runs_[i];
    run.end = timing_.Now();
    run.hooks = hooks_on_thread - run.hooks;
    run.nodes = NodeCounting::Now().made - run.nodes;
  }
  void Done(size_t num_functions) override {
    std::vector<FunctionProfile>& functions =
        timing_.records_[record_].more->functions;
    for (size_t i = 0; i < num_functions; ++i) {
      const Run& run = runs_[i];
      functions.push_back({.name = module_.functions()[i].var->name(),
                           .start = run.start - timing_.began_,
                           .end = run.end - timing_.began_,
                           .total = run.end - run.start - run.hooks,
                           .thread = timing_.ThreadIndex(run.thread),
                           .nodes = run.nodes});
    }
  }

 private:
  struct Run {
    std::thread::id thread;
    int64_t start = 0;
    int64_t end = 0;
    int64_t hooks = 0;
    int64_t nodes = 0;
  };

  PassTimingInstrument& timing_;
  const size_t record_;
  const IRModule& module_;
  std::vector<Run> runs_;
};

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
    const Measure measure(*this, "EnterPassContext");
    return instrument_->EnterPassContext();
  }
  // Leaving a context is not measured, because no report can contain its time.
  absl::Status ExitPassContext() override {
    return instrument_->ExitPassContext();
  }
  absl::StatusOr<bool> ShouldRun(const IRModule& module,
                                 const PassExecution& pass) override {
    const Measure measure(*this, "ShouldRun");
    return instrument_->ShouldRun(module, pass);
  }
  absl::Status RunBeforePass(const IRModule& module,
                             const PassExecution& pass) override {
    const Measure measure(*this, "RunBeforePass");
    return instrument_->RunBeforePass(module, pass);
  }
  absl::Status RunAfterPass(const IRModule& module,
                            const PassExecution& pass) override {
    const Measure measure(*this, "RunAfterPass");
    return instrument_->RunAfterPass(module, pass);
  }
  void PassFailed(const IRModule& module, const PassExecution& pass,
                  const absl::Status& error) override {
    const Measure measure(*this, "PassFailed");
    instrument_->PassFailed(module, pass, error);
  }
  bool needs_untyped_modules() const override {
    return instrument_->needs_untyped_modules();
  }

 private:
  // One call, which may end in an exception.
  class Measure {
   public:
    Measure(const MeasuredInstrument& of, const char* hook)
        : of_(of), hook_(hook) {
      PassTimingInstrument& timing = *of_.timing_;
      inner_ = timing.instruments_;
      start_ = timing.ReadNow();
      timing.TakePeak();
      was_in_hook_ = timing.in_hook_;
      if (was_in_hook_) return;
      timing.hook_began_ = start_.time - inner_.time;
      timing.in_hook_ = true;
    }
    Measure(const Measure&) = delete;
    Measure& operator=(const Measure&) = delete;
    ~Measure() {
      PassTimingInstrument& timing = *of_.timing_;
      timing.DropPeak();
      const PassTimingInstrument::Reading end = timing.ReadNow();
      // Hooks that this one caused, by running passes, have their own.
      const auto own = [&](auto member) {
        const int64_t inner = timing.instruments_.*member - inner_.*member;
        const int64_t amount = end.*member - start_.*member - inner;
        timing.instruments_.*member += amount;
        return amount;
      };
      using Reading = PassTimingInstrument::Reading;
      const int64_t time = own(&Reading::time);
      own(&Reading::nodes);
      own(&Reading::node_bytes);
      own(&Reading::instructions);
      InstrumentTime& row = timing.instrument_times_[of_.row_];
      row.total += time;
      ++row.calls;
      hooks_on_thread += time;
      timing.in_hook_ = was_in_hook_;
      if (timing.options_.trace) {
        timing.hook_calls_.push_back(
            {of_.row_, hook_, timing.ThreadIndex(std::this_thread::get_id()),
             start_.time, end.time});
      }
    }

   private:
    const MeasuredInstrument& of_;
    const char* const hook_;
    PassTimingInstrument::Reading start_;
    PassTimingInstrument::Reading inner_;
    bool was_in_hook_;
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
    : PassInstrument("PassTimingInstrument"), options_(std::move(options)) {
  if (options_.functions || options_.trace) {
    watch_ = [this](const IRModule& module) {
      return std::make_unique<Observer>(this, module);
    };
  }
  if (options_.memory) peak_ = std::make_unique<PeakMemory>();
  if (!options_.instructions) return;
  absl::StatusOr<InstructionCounter> counter = InstructionCounter::Create();
  if (counter.ok()) {
    counter_.emplace(*std::move(counter));
  } else {
    (options_.warnings != nullptr ? *options_.warnings : std::cerr)
        << "Warning: " << counter.status().message() << std::endl;
  }
}

int64_t PassTimingInstrument::Now() const {
  if (options_.clock != nullptr) return options_.clock();
  return std::chrono::duration_cast<std::chrono::nanoseconds>(
             std::chrono::steady_clock::now().time_since_epoch())
      .count();
}

PassTimingInstrument::Reading PassTimingInstrument::ReadNow() const {
  Reading reading = {.time = Now()};
  if (options_.memory) {
    const NodeCounts counts = NodeCounting::Now();
    reading.nodes = counts.made;
    reading.node_bytes = counts.made_bytes;
  }
  if (counter_.has_value()) reading.instructions = counter_->Read();
  return reading;
}

PassTimingInstrument::Reading PassTimingInstrument::ReadForPass() const {
  Reading reading = ReadNow();
  reading.time -= instruments_.time;
  reading.nodes -= instruments_.nodes;
  reading.node_bytes -= instruments_.node_bytes;
  reading.instructions -= instruments_.instructions;
  return reading;
}

void PassTimingInstrument::TakePeak() {
  if (peak_ == nullptr) return;
  const int64_t peak = peak_->Take();
  for (int i = open_; i >= 0; i = records_[static_cast<size_t>(i)].parent) {
    PassMemory& memory = records_[static_cast<size_t>(i)].more->memory;
    memory.peak_bytes = std::max(memory.peak_bytes, peak);
  }
}

void PassTimingInstrument::DropPeak() {
  if (peak_ != nullptr) peak_->Take();
}

int PassTimingInstrument::ThreadIndex(std::thread::id thread) {
  const auto found = absl::c_find(threads_, thread);
  const auto index = static_cast<int>(found - threads_.begin());
  if (found == threads_.end()) threads_.push_back(thread);
  return index;
}

void PassTimingInstrument::MeasureInstrument(const std::string& name,
                                             absl::FunctionRef<void()> fn) {
  const auto row =
      static_cast<size_t>(absl::c_find_if(instrument_times_,
                                          [&name](const InstrumentTime& t) {
                                            return t.name == name;
                                          }) -
                          instrument_times_.begin());
  if (row == instrument_times_.size()) instrument_times_.push_back({name});
  const int64_t start = Now();
  fn();
  const int64_t end = Now();
  instrument_times_[row].total += end - start;
  ++instrument_times_[row].calls;
  if (options_.trace) {
    hook_calls_.push_back(
        {row, "apart", ThreadIndex(std::this_thread::get_id()), start, end});
  }
}

void PassTimingInstrument::ChargeSelf(int64_t start) {
  const int64_t time = Now() - start;
  instruments_.time += time;
  hooks_on_thread += time;
  auto row = absl::c_find_if(
      instrument_times_, [](const InstrumentTime& t) { return t.is_timing; });
  if (row == instrument_times_.end()) {
    row = instrument_times_.insert(row, {.name = name(), .is_timing = true});
  }
  row->total += time;
  ++row->calls;
}

absl::Status PassTimingInstrument::ExitPassContext() {
  // A context that exits while a pass runs is nested in the profiled one: do
  // not clear the profile.
  if (open_ >= 0) return absl::OkStatus();
  records_.clear();
  hook_calls_.clear();
  threads_.clear();
  first_size_.reset();
  for (InstrumentTime& time : instrument_times_) time.total = time.calls = 0;
  return absl::OkStatus();
}

absl::Status PassTimingInstrument::RunBeforePass(const IRModule& module,
                                                 const PassExecution& pass) {
  const bool measures_more = options_.memory || options_.trace;
  const int64_t hook_start = measures_more ? Now() : 0;
  if (options_.memory) {
    TakePeak();
    NodeCounting::Begin();
  }
  if (options_.trace && records_.empty()) {
    first_size_ = CompareNodes(IRModule(), module);
  }
  if (records_.empty() && watch_ != nullptr) began_ = Now();
  records_.push_back({pass.pass(), pass.number(), open_});
  open_ = static_cast<int>(records_.size()) - 1;
  if (measures_more || watch_ != nullptr) {
    records_.back().more = std::make_unique<More>();
  }
  if (watch_ != nullptr) {
    outer_watches_.push_back(SetFunctionWatch(&watch_));
    records_.back().thread = ThreadIndex(std::this_thread::get_id());
  }
  if (measures_more) ChargeSelf(hook_start);
  Record& record = records_.back();
  record.start = ReadForPass();
  record.clock_start = record.start.time + instruments_.time;
  return absl::OkStatus();
}

void PassTimingInstrument::Finish(const IRModule* result,
                                  const PassExecution& pass, bool failed) {
  const Reading now = ReadForPass();
  Record& record = records_[static_cast<size_t>(open_)];
  record.end = now;
  record.clock_end = now.time + instruments_.time;
  record.failed = failed;
  record.changed = !failed && pass.changed();
  if (watch_ != nullptr) {
    SetFunctionWatch(outer_watches_.back());
    outer_watches_.pop_back();
  }
  if (options_.memory || options_.trace) {
    TakePeak();
    if (options_.memory) NodeCounting::End();
    if (record.changed && options_.memory) {
      const NodesMade made = CompareNodes(pass.before(), *result);
      record.more->memory.kept = made.made;
      record.more->memory.tensor_bytes = made.made_tensors;
    }
    if (record.changed && options_.trace) {
      record.more->size = CompareNodes(IRModule(), *result);
    }
    DropPeak();
    ChargeSelf(record.clock_end);
  }
  open_ = record.parent;
}

absl::Status PassTimingInstrument::RunAfterPass(const IRModule& module,
                                                const PassExecution& pass) {
  Finish(&module, pass, false);
  return absl::OkStatus();
}

void PassTimingInstrument::PassFailed(const IRModule& /*module*/,
                                      const PassExecution& pass,
                                      const absl::Status& /*error*/) {
  Finish(nullptr, pass, true);
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
                        .total = record.end.time - record.start.time,
                        .changed = record.changed,
                        .failed = record.failed,
                        .children = {children[i].rbegin(), children[i].rend()}};
    if (record.more != nullptr) profile.functions = record.more->functions;
    if (options_.memory) {
      profile.memory = record.more->memory;
      profile.memory->nodes = record.end.nodes - record.start.nodes;
      profile.memory->node_bytes =
          record.end.node_bytes - record.start.node_bytes;
    }
    if (counter_.has_value()) {
      profile.instructions =
          record.end.instructions - record.start.instructions;
    }
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

absl::StatusOr<std::vector<FunctionSum>> PassTimingInstrument::FunctionSums()
    const {
  BATON_ASSIGN_OR_RETURN(const std::vector<PassProfile> profiles, Profiles());
  return SumsBy(profiles, [](const FunctionProfile& f) { return f.name; });
}

absl::StatusOr<std::vector<FunctionSum>> PassTimingInstrument::ThreadSums()
    const {
  BATON_ASSIGN_OR_RETURN(const std::vector<PassProfile> profiles, Profiles());
  return SumsBy(profiles, [](const FunctionProfile& f) {
    return absl::StrCat("thread ", f.thread);
  });
}

std::string PassTimingInstrument::InstrumentLines() const {
  std::string text;
  for (const InstrumentTime& time : instrument_times_) {
    absl::StrAppendFormat(&text, "instrument %s: %.0fus (%s)\n", time.name,
                          Microseconds(time.total), Plural(time.calls, "call"));
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
  const bool counts = counter_.has_value();
  std::string text = absl::StrCat(
      "    self us  part   total us  runs  ",
      options_.memory ? "     nodes       kept    garbage  tensor bytes  "
                        "peak MB  "
                      : "",
      counts ? " instructions  " : "", "pass\n");
  const auto add = [&](const PassSum& sum, absl::string_view name) {
    absl::StrAppendFormat(&text, "%11.0f %4.1f%% %10.0f %5d  ",
                          Microseconds(sum.self), Percent(sum.self, all),
                          Microseconds(sum.total), sum.runs);
    if (sum.memory.has_value()) {
      const PassMemory& memory = *sum.memory;
      absl::StrAppendFormat(&text, "%10d %10d %10d %13d %8.1f  ", memory.nodes,
                            memory.kept, memory.garbage(), memory.tensor_bytes,
                            static_cast<double>(memory.peak_bytes) / 1e6);
    } else if (options_.memory) {
      absl::StrAppendFormat(&text, "%57s", "");
    }
    if (counts) {
      absl::StrAppendFormat(&text, "%13d  ", sum.instructions.value_or(0));
    }
    absl::StrAppend(&text, name, "\n");
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
    rest.instructions =
        rest.instructions.value_or(0) + sum.instructions.value_or(0);
  }
  if (num_rest > 0) add(rest, absl::StrCat("(", num_rest, " others)"));
  if (watch_ != nullptr) {
    BATON_ASSIGN_OR_RETURN(const std::vector<FunctionSum> functions,
                           FunctionSums());
    BATON_ASSIGN_OR_RETURN(const std::vector<FunctionSum> threads,
                           ThreadSums());
    int64_t in_functions = 0;
    for (const FunctionSum& sum : functions) in_functions += sum.total;
    text += "    time us  part  runs  function\n";
    int64_t num_others = 0;
    FunctionSum others;
    const auto add_sum = [&](const FunctionSum& sum, absl::string_view name) {
      absl::StrAppendFormat(&text, "%11.0f %4.1f%% %5d  %s\n",
                            Microseconds(sum.total),
                            Percent(sum.total, in_functions), sum.runs, name);
    };
    for (const FunctionSum& sum : functions) {
      if (Percent(sum.total, in_functions) >= min_percent) {
        add_sum(sum, absl::StrCat("@", sum.name));
        continue;
      }
      ++num_others;
      others.total += sum.total;
      others.runs += sum.runs;
    }
    if (num_others > 0) {
      add_sum(others, absl::StrCat("(", num_others, " others)"));
    }
    for (const FunctionSum& sum : threads) add_sum(sum, sum.name);
  }
  return text + InstrumentLines();
}

absl::StatusOr<std::string> PassTimingInstrument::RenderJson() const {
  BATON_ASSIGN_OR_RETURN(const std::vector<PassProfile> profiles, Profiles());
  JsonWriter json;
  json.BeginObject().Fields("version", 1).Key("passes");
  WriteProfiles(profiles, json);
  if (!instrument_times_.empty()) {
    json.Key("instruments").BeginArray();
    for (const InstrumentTime& time : instrument_times_) {
      json.Object("name", time.name, "total_us", JsonMicroseconds(time.total),
                  "calls", time.calls);
    }
    json.End();
  }
  json.End();
  return std::move(json).Finish() + "\n";
}

absl::StatusOr<std::string> PassTimingInstrument::RenderTrace() const {
  if (!options_.trace) {
    return absl::FailedPreconditionError("the trace is not enabled");
  }
  BATON_RETURN_IF_ERROR(Profiles().status());  // an error while a pass runs
  TraceWriter trace;
  for (size_t i = 0; i < threads_.size(); ++i) {
    trace.NameThread(static_cast<int>(i) + 1,
                     i == 0 ? "passes" : absl::StrCat("thread ", i));
  }
  const auto add_size = [&trace](const NodesMade& size, int64_t time) {
    trace.Counter("nodes", time, {{"nodes", size.made}});
    trace.Counter("bytes", time,
                  {{"nodes", size.made_bytes}, {"tensors", size.made_tensors}});
  };
  if (first_size_.has_value()) add_size(*first_size_, 0);
  for (const Record& record : records_) {
    TraceWriter::Values values = {{"number", record.number},
                                  {"changed", record.changed},
                                  {"failed", record.failed}};
    if (options_.memory) {
      PassMemory memory = record.more->memory;
      memory.nodes = record.end.nodes - record.start.nodes;
      AddMemory(memory, values);
    }
    if (counter_.has_value()) {
      values.emplace_back("instructions",
                          record.end.instructions - record.start.instructions);
    }
    trace.Slice(record.pass.name(), "pass", record.thread + 1,
                record.clock_start - began_,
                record.clock_end - record.clock_start, values);
    for (const FunctionProfile& f : record.more->functions) {
      trace.Slice(absl::StrCat("@", f.name), "function", f.thread + 1, f.start,
                  f.end - f.start);
    }
    if (record.more->size.has_value()) {
      add_size(*record.more->size, record.clock_end - began_);
    }
  }
  for (const HookCall& call : hook_calls_) {
    if (call.start < began_) continue;  // before the first pass
    trace.Slice(
        absl::StrCat(instrument_times_[call.instrument].name, " ", call.hook),
        "instrument", call.thread + 1, call.start - began_,
        call.end - call.start);
  }
  return std::move(trace).Finish();
}

namespace {

struct TimingFlags {
  std::string timing = "none";
  // The measurements besides time: functions, memory, instructions.
  std::vector<std::string> measure;
  // Passes with a smaller part of the time share one line of `sums`.
  double timing_threshold = 0;

  template <typename V>
  static void VisitFields(V& v) {
    v("timing", &TimingFlags::timing,
      FlagSpec{.help = "Times of passes: none, text, json, sums, trace.",
               .value = "FORMAT",
               .group = kReportFlags,
               .choices = {"none", "text", "json", "sums", "trace"}});
    v("measure", &TimingFlags::measure,
      FlagSpec{.help = "Adds to --timing: functions, memory, instructions; "
                       "to --record: memory.",
               .value = "WHAT,...",
               .group = kReportFlags});
    v("timing_threshold", &TimingFlags::timing_threshold,
      FlagSpec{.help = "With --timing=sums: passes below this part share a "
                       "line.",
               .value = "PERCENT",
               .group = kReportFlags,
               .least = 0,
               .most = 100});
  }
};

absl::StatusOr<PassTimingInstrument::Options> OptionsOf(
    const TimingFlags& flags, const InstrumentRun& run, bool records) {
  PassTimingInstrument::Options options = {.trace = flags.timing == "trace"};
  if (options.trace && run.module_number > 0) {
    return absl::InvalidArgumentError(
        "--timing=trace: the input has several modules");
  }
  if (flags.timing_threshold != 0 && flags.timing != "sums") {
    return absl::InvalidArgumentError(
        "--timing_threshold: needs --timing=sums");
  }
  const bool memory_alone = absl::c_all_of(
      flags.measure, [](const std::string& name) { return name == "memory"; });
  if (!flags.measure.empty() && flags.timing == "none" &&
      run.in_json == nullptr && !(records && memory_alone)) {
    return absl::InvalidArgumentError(
        "--measure: needs --timing or --report; memory, or --record");
  }
  const std::pair<const char*, bool*> things[] = {
      {"functions", &options.functions},
      {"memory", &options.memory},
      {"instructions", &options.instructions}};
  for (const std::string& name : flags.measure) {
    std::vector<std::string> names;
    bool* measured = nullptr;
    for (const auto& [thing, is_measured] : things) {
      names.push_back(thing);
      if (thing == name) measured = is_measured;
    }
    if (measured == nullptr) {
      return absl::InvalidArgumentError(absl::StrCat(
          "--measure: nothing is called \"", name, "\"",
          DidYouMean(name, names), "; there are ", absl::StrJoin(names, ", ")));
    }
    *measured = true;
  }
  return options;
}

// The report that `flags` choose.
absl::StatusOr<std::string> ReportOf(const PassTimingInstrument& timing,
                                     const TimingFlags& flags) {
  if (flags.timing == "json") return timing.RenderJson();
  if (flags.timing == "trace") return timing.RenderTrace();
  if (flags.timing == "sums") {
    return timing.RenderSums(flags.timing_threshold);
  }
  return timing.Render();
}

InstrumentFactory::Made MakeTiming(const TimingFlags& flags,
                                   const InstrumentRun& run) {
  // A history has times without those of instruments, too.
  const bool records = !run.FlagText("record").empty();
  BATON_ASSIGN_OR_RETURN(PassTimingInstrument::Options options,
                         OptionsOf(flags, run, records));
  const bool to_file = options.trace && run.in_json != nullptr;
  const bool reports = flags.timing != "none" && !to_file;
  if (flags.timing == "none" && run.in_json == nullptr && !records) {
    return nullptr;
  }
  auto timing = std::make_shared<PassTimingInstrument>(std::move(options));
  timing->set_name("--timing");
  if (reports) {
    run.in_report([timing, flags] { return ReportOf(*timing, flags); });
  }
  return timing;
}

BATON_REGISTER_INSTRUMENT("timing", "Measures passes.", MakeTiming,
                          InstrumentPhase::kTime);

}  // namespace

}  // namespace baton
