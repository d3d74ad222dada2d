#include "baton/tools/plan_report.h"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <map>
#include <numeric>
#include <string>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "absl/strings/str_join.h"
#include "absl/strings/string_view.h"
#include "absl/time/clock.h"
#include "absl/time/time.h"
#include "absl/types/span.h"
#include "baton/backend/cpu/executable.h"
#include "baton/base/json.h"
#include "baton/base/status_macros.h"
#include "baton/onnx/listing.h"
#include "baton/runtime/executor/plan.h"
#include "baton/tools/machine_peak.h"

namespace baton {
namespace {

using executor::Plan;
using executor::Space;
using executor::StepNote;

std::string OperandText(const Plan& plan, const executor::Operand& operand) {
  const executor::Value& value =
      plan.values[static_cast<size_t>(operand.value)];
  switch (value.space) {
    case Space::kArena:
      return absl::StrFormat("arena[%d+%d]", value.offset + operand.offset,
                             operand.bytes);
    case Space::kConstant:
      return absl::StrFormat("constant%d[%d]", value.index, operand.bytes);
    case Space::kInput:
      return absl::StrFormat("input%d[%d+%d]", value.index, operand.offset,
                             operand.bytes);
    case Space::kOutput:
      return absl::StrFormat("output%d[%d+%d]", value.index, operand.offset,
                             operand.bytes);
  }
  return "";
}

// The names of the model's nodes that a step computes, each once.
std::vector<std::string> OriginsOf(const Executable& executable,
                                   const StepNote& note) {
  std::vector<std::string> names;
  for (const int32_t source : note.sources) {
    const Executable::Source& place =
        executable.sources()[static_cast<size_t>(source)];
    std::string name =
        place.origin.empty() ? onnx::OriginName(place.span) : place.origin;
    if (!name.empty() &&
        std::find(names.begin(), names.end(), name) == names.end()) {
      names.push_back(std::move(name));
    }
  }
  return names;
}

// The layouts among which predicted times decided, the chosen one first.
std::vector<std::string> LayoutsOf(const StepNote& note) {
  std::vector<std::string> layouts;
  for (const executor::Candidate& candidate : note.candidates) {
    layouts.push_back(absl::StrFormat("%s %.3f us", candidate.layout,
                                      candidate.cost_ns / 1e3));
  }
  return layouts;
}

std::string OperatorsOf(const StepNote& note) {
  return note.names.empty() ? note.kernel : absl::StrJoin(note.names, "+");
}

JsonFixed Us(double us) { return {us, 3}; }
JsonFixed Whole(double value) { return {value, 0}; }
JsonFixed Share(double part, double whole) {
  return {whole > 0 ? part / whole : 0, 4};
}

// The time that the machine needs at least, in us.
double LimitOf(const StepNote& note, const MachinePeak& peak) {
  return std::max(note.flops / peak.flops_per_second,
                  note.bytes / peak.bytes_per_second) *
         1e6;
}

// The bytes that live in the arena at each step.
std::vector<int64_t> LiveBytes(const Plan& plan) {
  std::vector<int64_t> live(plan.steps.size(), 0);
  for (const executor::Value& value : plan.values) {
    if (value.space != Space::kArena) continue;
    // A value that overwrites another one begins when that one ends.
    const int32_t first = value.first_step + (value.overwrites >= 0 ? 1 : 0);
    for (int32_t i = first; i <= value.last_step; ++i) {
      live[static_cast<size_t>(i)] += executor::AlignUp(value.bytes);
    }
  }
  return live;
}

}  // namespace

std::string PlanText(const Executable& executable,
                     absl::Span<const double> measured_us) {
  const Plan& plan = executable.plan();
  int64_t constants = 0;
  for (const executor::Constant& constant : plan.constants) {
    constants += constant.bytes;
  }
  const auto fallbacks =
      std::count_if(plan.notes.begin(), plan.notes.end(),
                    [](const StepNote& note) { return note.is_fallback; });
  std::string out = absl::StrFormat(
      "arena %d bytes, lower bound %d; constants %d bytes; %d steps, of which "
      "the evaluator's kernels compute %d; at most %d threads\n",
      plan.arena_bytes, plan.arena_lower_bound, constants, plan.steps.size(),
      fallbacks, plan.max_threads);
  if (executable.evaluated_part() != nullptr) {
    absl::StrAppend(&out, "the evaluator computes what has no plan: ",
                    executable.evaluated_part()->reason, "\n");
  }
  absl::StrAppendFormat(&out, "predicted from costs measured on %s\n",
                        plan.costs);
  const std::vector<int64_t> live = LiveBytes(plan);
  for (size_t i = 0; i < plan.steps.size(); ++i) {
    const executor::Step& step = plan.steps[i];
    const StepNote& note = plan.notes[i];
    const auto operands = [&](int32_t first, int32_t count) {
      std::vector<std::string> texts;
      for (int32_t k = 0; k < count; ++k) {
        texts.push_back(
            OperandText(plan, plan.operands[static_cast<size_t>(first + k)]));
      }
      return absl::StrJoin(texts, " ");
    };
    absl::StrAppendFormat(
        &out, "step %d: %s (%s): %s -> %s\n", i, note.kernel, OperatorsOf(note),
        operands(step.first_operand, step.num_inputs),
        operands(step.first_operand + step.num_inputs, step.num_outputs));
    absl::StrAppendFormat(&out, "    predicted %.1f us, ", step.cost_ns / 1e3);
    if (i < measured_us.size()) {
      absl::StrAppendFormat(&out, "measured %.1f us, ", measured_us[i]);
    }
    absl::StrAppendFormat(&out, "%.0f flops, %.0f bytes, %d items, live %d",
                          note.flops, note.bytes, step.items, live[i]);
    if (step.workspace_bytes > 0) {
      absl::StrAppend(&out, ", workspace ", step.workspace_bytes);
    }
    const std::vector<std::string> origins = OriginsOf(executable, note);
    if (!origins.empty()) {
      absl::StrAppend(&out, "; of ", absl::StrJoin(origins, ", "));
    }
    if (!note.reason.empty()) absl::StrAppend(&out, "; ", note.reason);
    // `; layouts: blocked 12.1 us, planar input 15.3 us`
    for (size_t k = 0; k < note.candidates.size(); ++k) {
      absl::StrAppendFormat(&out, "%s%s %.1f us", k == 0 ? "; layouts: " : ", ",
                            note.candidates[k].layout,
                            note.candidates[k].cost_ns / 1e3);
    }
    out += "\n";
  }
  return out;
}

std::string PlanJson(const Executable& executable) {
  const Plan& plan = executable.plan();
  std::vector<int64_t> constants;
  for (const executor::Constant& constant : plan.constants) {
    constants.push_back(constant.bytes);
  }
  JsonWriter json;
  json.BeginObject().Fields(
      "version", 1, "arena_bytes", plan.arena_bytes, "arena_lower_bound",
      plan.arena_lower_bound, "max_threads", plan.max_threads, "inputs",
      plan.input_bytes, "outputs", plan.output_bytes, "constants", constants);
  json.Key("values").BeginArray();
  for (const executor::Value& value : plan.values) {
    constexpr const char* kSpaces[] = {"arena", "constant", "input", "output"};
    json.NewLine().Object("space", kSpaces[static_cast<size_t>(value.space)],
                          "index", value.index, "bytes", value.bytes, "offset",
                          value.offset, "first", value.first_step, "last",
                          value.last_step, "overwrites", value.overwrites);
  }
  json.End().Key("steps").BeginArray();
  for (size_t i = 0; i < plan.steps.size(); ++i) {
    const executor::Step& step = plan.steps[i];
    const auto operands = [&](int32_t first, int32_t count) {
      std::vector<std::vector<int64_t>> result;
      for (int32_t k = 0; k < count; ++k) {
        const executor::Operand& operand =
            plan.operands[static_cast<size_t>(first + k)];
        result.push_back({operand.value, operand.offset, operand.bytes});
      }
      return result;
    };
    json.NewLine().Object(
        "kernel", plan.notes[i].kernel, "inputs",
        operands(step.first_operand, step.num_inputs), "outputs",
        operands(step.first_operand + step.num_inputs, step.num_outputs),
        "items", step.items, "workspace", step.workspace, "workspace_bytes",
        step.workspace_bytes, "overwritable", step.overwritable);
  }
  json.End();
  if (executable.evaluated_part() != nullptr) {
    json.Fields("evaluated", executable.evaluated_part()->reason);
  }
  json.End();
  return std::move(json).Finish() + "\n";
}

PlanProfile::PlanProfile(const Executable& executable,
                         std::vector<Executable::Phase> creation)
    : executable_(executable),
      creation_(std::move(creation)),
      first_(absl::Now()),
      begin_(first_),
      times_(executable.plan().steps.size()) {}

void PlanProfile::BeforeStep(const StepEvent& event) {
  begin_ = absl::Now();
  if (event.number == 0) first_ = begin_;
}

void PlanProfile::AfterStep(const StepEvent& event) {
  const absl::Time end = absl::Now();
  times_[static_cast<size_t>(event.number)] = {
      absl::ToDoubleMicroseconds(begin_ - first_),
      absl::ToDoubleMicroseconds(end - begin_)};
}

std::vector<double> PlanProfile::StepTimes() const {
  std::vector<double> times;
  for (const StepTime& time : times_) times.push_back(time.us);
  return times;
}

void PlanProfile::WriteNodes(const MachinePeak& peak, JsonWriter& json) const {
  struct Node {
    double us = 0;
    double flops = 0;
    double bytes = 0;
    double limit = 0;
    std::vector<size_t> steps;
    std::string in;  // the node that has the time; empty for this one
  };
  const Plan& plan = executable_.plan();
  std::vector<std::string> order;
  std::map<std::string, Node> nodes;
  for (size_t i = 0; i < times_.size(); ++i) {
    const StepNote& note = plan.notes[i];
    const std::vector<std::string> names = OriginsOf(executable_, note);
    for (const std::string& name : names) {
      const auto [found, is_new] = nodes.try_emplace(name);
      if (is_new) order.push_back(name);
      Node& node = found->second;
      node.steps.push_back(i);
      if (name != names[0]) {
        node.in = names[0];
        continue;
      }
      node.us += times_[i].us;
      node.flops += note.flops;
      node.bytes += note.bytes;
      node.limit += LimitOf(note, peak);
    }
  }
  json.BeginArray();
  for (const std::string& name : order) {
    const Node& node = nodes[name];
    json.NewLine().BeginObject().Fields(
        "name", name, "us", Us(node.us), "flops", Whole(node.flops), "bytes",
        Whole(node.bytes), "limit_us", Us(node.limit), "share",
        Share(node.limit, node.us), "share_of_peak",
        JsonFixed{node.us > 0
                      ? node.flops / node.us * 1e6 / peak.flops_per_second
                      : 0,
                  4},
        "steps", node.steps);
    if (!node.in.empty()) json.Fields("in", node.in);
    json.End();
  }
  json.End();
}

absl::StatusOr<std::string> PlanProfile::Report(
    absl::string_view format, const RunProfile* evaluated) const {
  if (format != "text" && format != "json" && format != "trace") {
    return absl::InvalidArgumentError(
        absl::StrCat("a profile is text, json or trace, not ", format));
  }
  const Plan& plan = executable_.plan();
  const std::vector<int64_t> live = LiveBytes(plan);
  std::string out;
  if (format == "trace") {
    JsonWriter json;
    json.BeginObject().Key("traceEvents").BeginArray();
    for (size_t i = 0; i < times_.size(); ++i) {
      const StepNote& note = plan.notes[i];
      json.NewLine().BeginObject().Fields(
          "name", OperatorsOf(note), "cat", "operator", "ph", "X", "pid", 1,
          "tid", 1, "ts", Us(times_[i].begin_us), "dur", Us(times_[i].us));
      json.Key("args")
          .Object("origin", absl::StrJoin(OriginsOf(executable_, note), ", "),
                  "kernel", note.kernel, "flops", Whole(note.flops), "bytes",
                  Whole(note.bytes))
          .End();
      json.NewLine().BeginObject().Fields("name", "arena", "ph", "C", "pid", 1,
                                          "ts", Us(times_[i].begin_us));
      json.Key("args").Object("bytes", live[i]).End();
    }
    if (evaluated != nullptr) evaluated->WriteTrace(first_, json);
    json.End().End();
    return std::move(json).Finish() + "\n";
  }
  const MachinePeak peak = MeasurePeak();
  struct Kind {
    std::string name;
    int steps = 0;
    double us = 0;
    double flops = 0;
    double limit = 0;
  };
  std::map<std::string, Kind> by_kernel;
  std::map<std::string, Kind> by_operator;
  double total = 0;
  double limit = 0;
  for (size_t i = 0; i < times_.size(); ++i) {
    const StepNote& note = plan.notes[i];
    total += times_[i].us;
    limit += LimitOf(note, peak);
    for (Kind* kind :
         {&by_kernel[note.kernel], &by_operator[OperatorsOf(note)]}) {
      ++kind->steps;
      kind->us += times_[i].us;
      kind->flops += note.flops;
      kind->limit += LimitOf(note, peak);
    }
  }
  const auto sorted = [](std::map<std::string, Kind>& kinds) {
    std::vector<Kind> result;
    for (auto& [name, kind] : kinds) {
      kind.name = name;
      result.push_back(kind);
    }
    std::stable_sort(result.begin(), result.end(),
                     [](const Kind& a, const Kind& b) { return a.us > b.us; });
    return result;
  };
  std::vector<size_t> order(times_.size());
  std::iota(order.begin(), order.end(), size_t{0});
  const auto share = [](double part, double whole) {
    return whole > 0 ? 100 * part / whole : 0;
  };
  if (format == "json") {
    JsonWriter json;
    json.BeginObject().Fields(
        "version", 1, "total_us", Us(total), "peak_flops",
        Whole(peak.flops_per_second), "peak_bytes_per_second",
        Whole(peak.bytes_per_second), "arena", plan.arena_bytes,
        "arena_lower_bound", plan.arena_lower_bound);
    json.Key("operators").BeginArray();
    for (const Kind& kind : sorted(by_operator)) {
      json.Object("name", kind.name, "calls", kind.steps, "us", Us(kind.us));
    }
    json.End().Key("calls").BeginArray();
    for (size_t i = 0; i < times_.size(); ++i) {
      const StepNote& note = plan.notes[i];
      const std::vector<std::string> origins = OriginsOf(executable_, note);
      json.NewLine().Object(
          "operator", OperatorsOf(note), "kernel", note.kernel, "reason",
          note.reason, "layouts", LayoutsOf(note), "origin",
          origins.empty() ? "" : origins.back(), "nodes", origins, "begin_us",
          Us(times_[i].begin_us), "us", Us(times_[i].us), "predicted_us",
          Us(plan.steps[i].cost_ns / 1e3), "flops", Whole(note.flops), "bytes",
          Whole(note.bytes), "limit_us", Us(LimitOf(note, peak)), "share",
          Share(LimitOf(note, peak), times_[i].us), "live", live[i]);
    }
    WriteNodes(peak, json.End().Key("nodes"));
    json.Key("creation").BeginArray();
    for (const Executable::Phase& phase : creation_) {
      json.Object("name", phase.name, "ms", JsonFixed{phase.ms, 3});
    }
    json.End();
    if (evaluated != nullptr) {
      BATON_ASSIGN_OR_RETURN(const std::string profile,
                             evaluated->Report("json"));
      json.Fields("evaluated", JsonText{profile});
    }
    json.End();
    return std::move(json).Finish() + "\n";
  }
  absl::StrAppendFormat(
      &out,
      "%d steps: %.3f ms, of which %.3f ms is the machine's limit (%.1f "
      "GFLOP/s, %.1f GB/s, measured now, one thread)\n",
      times_.size(), total / 1e3, limit / 1e3, peak.flops_per_second / 1e9,
      peak.bytes_per_second / 1e9);
  for (const Kind& kind : sorted(by_kernel)) {
    absl::StrAppendFormat(
        &out,
        "%10.3f ms %5.1f%% %6d x %s (%.1f GFLOP/s, %.0f%% of the limit)\n",
        kind.us / 1e3, share(kind.us, total), kind.steps, kind.name,
        kind.us > 0 ? kind.flops / kind.us / 1e3 : 0,
        share(kind.limit, kind.us));
  }
  const auto list = [&](absl::string_view title, const auto& key) {
    constexpr size_t kShown = 10;
    std::stable_sort(order.begin(), order.end(),
                     [&](size_t a, size_t b) { return key(a) > key(b); });
    absl::StrAppend(&out, title);
    for (size_t k = 0; k < std::min(kShown, order.size()); ++k) {
      const size_t i = order[k];
      // Steps whose operands are in a cache may be faster than memory.
      if (key(i) < 0) break;
      absl::StrAppendFormat(
          &out, "%10.3f ms %5.1f%% %s %s\n", key(i) / 1e3, share(key(i), total),
          OperatorsOf(plan.notes[i]),
          absl::StrJoin(OriginsOf(executable_, plan.notes[i]), ", "));
    }
  };
  list("slowest steps:\n", [&](size_t i) { return times_[i].us; });
  list("lost against the machine's limit:\n",
       [&](size_t i) { return times_[i].us - LimitOf(plan.notes[i], peak); });
  if (!creation_.empty()) {
    double sum = 0;
    for (const Executable::Phase& phase : creation_) sum += phase.ms;
    absl::StrAppendFormat(&out, "creation: %.3f ms", sum);
    const char* separator = ": ";
    for (const Executable::Phase& phase : creation_) {
      absl::StrAppendFormat(&out, "%s%s %.3f", separator, phase.name, phase.ms);
      separator = ", ";
    }
    out += "\n";
  }
  if (evaluated != nullptr) {
    BATON_ASSIGN_OR_RETURN(const std::string profile,
                           evaluated->Report("text"));
    absl::StrAppend(&out, "the evaluator:\n", profile);
  }
  return out;
}

}  // namespace baton
