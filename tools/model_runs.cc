#include "baton/tools/model_runs.h"

#include <algorithm>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <fstream>
#include <iostream>
#include <optional>
#include <ostream>
#include <string>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/ascii.h"
#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "absl/strings/string_view.h"
#include "absl/strings/strip.h"
#include "absl/types/span.h"
#include "baton/backend/cpu/executable.h"
#include "baton/base/hash_table.h"
#include "baton/base/plural.h"
#include "baton/base/status_macros.h"
#include "baton/base/tensor.h"
#include "baton/base/write_file.h"
#include "baton/instrument/progress.h"
#include "baton/ir/module.h"
#include "baton/onnx/listing.h"
#include "baton/relay/ir/expr.h"
#include "baton/relay/runtime/evaluator.h"
#include "baton/relay/runtime/value.h"
#include "baton/relay/runtime/value_tensors.h"
#include "baton/runtime/executor/runtime_instrument.h"
#include "baton/runtime/io/npy.h"
#include "baton/tools/plan_report.h"
#include "baton/tools/run_model_options.h"
#include "baton/tools/run_profile.h"
#include "baton/tools/runnable_model.h"

namespace baton {
namespace {

using relay::EvaluateFunction;
using relay::Value;

using Clock = std::chrono::steady_clock;

double Milliseconds(Clock::time_point begin) {
  return std::chrono::duration<double, std::milli>(Clock::now() - begin)
      .count();
}

// Views of the arguments of a session. Those that it keeps have no data.
std::vector<TensorView> ViewsOf(const RunnableModel& model,
                                const std::vector<Tensor>& inputs) {
  std::vector<TensorView> views(inputs.begin(), inputs.end());
  for (size_t i = 0; i < model.state.size(); ++i) {
    TensorView& view = views[static_cast<size_t>(model.state[i].input)];
    if (!model.kept_is_new && view.data == model.kept[i].data()) {
      view.data = nullptr;
    }
  }
  return views;
}

// The tensors of a result, and of the tuples in it.
absl::StatusOr<std::vector<Tensor>> ResultTensors(const Value& value) {
  if (relay::HasOnlyTensors(value)) return relay::TensorsOf(value);
  return absl::UnimplementedError(
      "a result is a function, a reference or of an algebraic data type; only "
      "tensors are printed, compared and written");
}

absl::StatusOr<std::vector<Tensor>> InputsOf(absl::Span<const Value> args) {
  std::vector<Tensor> inputs;
  for (const Value& arg : args) {
    if (!arg.is_tensor()) {
      return absl::UnimplementedError("an argument is no tensor");
    }
    inputs.push_back(arg.tensor());
  }
  return inputs;
}

// The results of a run of the session.
absl::StatusOr<std::vector<Tensor>> RunSession(
    const RunnableModel& model, absl::Span<const Value> args,
    executor::RuntimeInstrument* instrument = nullptr) {
  BATON_ASSIGN_OR_RETURN(const std::vector<Tensor> inputs, InputsOf(args));
  if (instrument == nullptr) instrument = model.shadow.get();
  if (model.session->executable().evaluated_part() != nullptr) {
    return model.session->Run(inputs, model.pool.get(), instrument);
  }
  const std::vector<TensorView> views = ViewsOf(model, inputs);
  std::vector<MutableTensor> results;
  for (const Executable::Port& port : model.session->executable().outputs()) {
    BATON_ASSIGN_OR_RETURN(MutableTensor one,
                           MutableTensor::Create(port.dtype, port.shape));
    results.push_back(std::move(one));
  }
  const std::vector<MutableTensorView> targets(results.begin(), results.end());
  BATON_RETURN_IF_ERROR(
      model.session->Run(views, targets, model.pool.get(), instrument));
  std::vector<Tensor> outputs;
  for (MutableTensor& one : results) {
    outputs.push_back(std::move(one).Freeze());
  }
  return outputs;
}

// The results of a run of the executor, which are named as those of the
// evaluator.
absl::StatusOr<NamedTensors> RunExecutor(const RunnableModel& model,
                                         absl::Span<const Value> args) {
  BATON_ASSIGN_OR_RETURN(const std::vector<Tensor> outputs,
                         RunSession(model, args));
  NamedTensors result;
  for (size_t i = 0; i < outputs.size(); ++i) {
    result.emplace_back(i < model.output_names.size()
                            ? model.output_names[i]
                            : absl::StrCat("output_", i),
                        outputs[i]);
  }
  return result;
}

// Shows on a terminal which node is computed, if that takes long.
class Progress {
 public:
  explicit Progress(bool shown) {
    if (!shown) return;
    line_.emplace([](absl::string_view text) {
      std::fwrite(text.data(), 1, text.size(), stderr);
      std::fflush(stderr);
    });
  }

  // A node was computed.
  void Computed(const ExprNode& node) {
    if (!line_.has_value()) return;
    ++count_;
    // Names cost more than small nodes.
    const auto now = std::chrono::steady_clock::now();
    if (now - shown_at_ < std::chrono::milliseconds(100)) return;
    shown_at_ = now;
    line_->Show(absl::StrCat(Plural(count_, "node"), " computed, ",
                             onnx::OriginName(node.span())));
  }

 private:
  std::optional<ProgressLine> line_;
  int64_t count_ = 0;
  std::chrono::steady_clock::time_point shown_at_;
};

// VmHWM, in bytes; 0 if the system does not say.
int64_t PeakMemory() {
  std::ifstream status("/proc/self/status");
  for (std::string line; std::getline(status, line);) {
    absl::string_view text = line;
    if (!absl::ConsumePrefix(&text, "VmHWM:")) continue;
    int64_t kib = 0;
    text = absl::StripAsciiWhitespace(text);
    return absl::SimpleAtoi(text.substr(0, text.find(' ')), &kib) ? kib * 1024
                                                                  : 0;
  }
  return 0;
}

// The profile of a run of `module`, the model or its evaluated part, by the
// evaluator.
absl::StatusOr<RunProfile> EvaluatorProfile(const RunnableModel& model,
                                            const IRModule& module,
                                            absl::Span<const Value> args,
                                            const RunModelOptions& options) {
  for (int i = 0; i < std::max(0, options.warmup); ++i) {
    BATON_RETURN_IF_ERROR(
        EvaluateFunction(module, "main", args, {.other_level = model.jit.get()})
            .status());
  }
  RunProfile profile;
  relay::EvaluateOptions evaluate;
  evaluate.other_level = model.jit.get();
  evaluate.observe = [&profile](const ExprNode& node, const Value&) {
    profile.Computed(node);
  };
  BATON_RETURN_IF_ERROR(
      EvaluateFunction(module, "main", args, evaluate).status());
  return profile;
}

// The profile of a run of the executor, with that of the evaluated part.
absl::StatusOr<std::string> ExecutorProfile(const RunnableModel& model,
                                            absl::Span<const Value> args,
                                            const RunModelOptions& options,
                                            std::vector<double>& step_us) {
  for (int i = 0; i < std::max(0, options.warmup); ++i) {
    BATON_RETURN_IF_ERROR(RunExecutor(model, args).status());
  }
  PlanProfile profile(model.session->executable(), model.creation);
  const Executable::EvaluatedPart* const part =
      model.session->executable().evaluated_part();
  if (part == nullptr) {
    BATON_RETURN_IF_ERROR(RunSession(model, args, &profile).status());
    step_us = profile.StepTimes();
    return profile.Report(options.profile);
  }
  BATON_ASSIGN_OR_RETURN(const std::vector<Tensor> inputs, InputsOf(args));
  BATON_ASSIGN_OR_RETURN(
      const std::vector<Tensor> planned,
      model.session->RunPlan(inputs, model.pool.get(), &profile));
  step_us = profile.StepTimes();
  std::vector<Value> all(planned.begin(), planned.end());
  all.insert(all.end(), args.begin(), args.end());
  BATON_ASSIGN_OR_RETURN(const RunProfile evaluated,
                         EvaluatorProfile(model, part->module, all, options));
  return profile.Report(options.profile, &evaluated);
}

}  // namespace

absl::StatusOr<NamedTensors> ComputeResults(const RunnableModel& model,
                                            absl::Span<const Value> args,
                                            const RunModelOptions& options,
                                            NodeResults* nodes) {
  // The executor does not compute the results of all nodes.
  if (model.session != nullptr && nodes == nullptr) {
    return RunExecutor(model, args);
  }
  Progress progress(options.progress);
  relay::EvaluateOptions evaluate;
  evaluate.other_level = model.jit.get();
  if (options.progress) {
    evaluate.observe = [&progress](const ExprNode& node, const Value&) {
      progress.Computed(node);
    };
  }
  FlatHashMap<std::string, size_t> places;
  if (nodes != nullptr) {
    evaluate.observe = [&](const ExprNode& node, const Value& value) {
      progress.Computed(node);
      if (!value.is_tensor()) return;
      std::string name = onnx::OriginName(node.span());
      if (name.empty()) return;
      const auto [place, is_new] = places.emplace(name, nodes->size());
      if (is_new) {
        nodes->emplace_back(std::move(name), value.tensor());
      } else {
        (*nodes)[place->second].second = value.tensor();
      }
    };
  }
  BATON_ASSIGN_OR_RETURN(
      const Value value,
      EvaluateFunction(model.module, "main", args, evaluate));
  BATON_ASSIGN_OR_RETURN(const std::vector<Tensor> tensors,
                         ResultTensors(value));
  NamedTensors result;
  for (const Tensor& tensor : tensors) {
    const size_t i = result.size();
    result.emplace_back(i < model.output_names.size()
                            ? model.output_names[i]
                            : absl::StrCat("output_", i),
                        tensor);
  }
  return result;
}

absl::Status MeasureRuns(const RunnableModel& model,
                         absl::Span<const Value> args,
                         const RunModelOptions& options, std::ostream& out) {
  std::vector<Tensor> inputs;
  std::vector<TensorView> views;
  std::vector<MutableTensor> results;
  std::vector<MutableTensorView> outputs;
  const bool is_plan = model.session != nullptr &&
                       model.session->executable().evaluated_part() == nullptr;
  if (is_plan) {
    for (const Value& arg : args) inputs.push_back(arg.tensor());
    views = ViewsOf(model, inputs);
    for (const Executable::Port& port : model.session->executable().outputs()) {
      BATON_ASSIGN_OR_RETURN(MutableTensor result,
                             MutableTensor::Create(port.dtype, port.shape));
      results.push_back(std::move(result));
    }
    outputs.assign(results.begin(), results.end());
    for (const StateBinding& ports : model.state) {
      outputs[static_cast<size_t>(ports.output)].data = nullptr;
    }
  }
  std::vector<double> times;  // ms
  for (int i = -std::max(0, options.warmup); i < options.bench; ++i) {
    const Clock::time_point begin = Clock::now();
    if (is_plan) {
      BATON_RETURN_IF_ERROR(model.session->Run(views, outputs, model.pool.get(),
                                               model.shadow.get()));
    } else if (model.session != nullptr) {
      BATON_RETURN_IF_ERROR(RunSession(model, args).status());
    } else {
      BATON_RETURN_IF_ERROR(EvaluateFunction(model.module, "main", args,
                                             {.other_level = model.jit.get()})
                                .status());
    }
    if (i < 0) continue;
    times.push_back(Milliseconds(begin));
  }
  std::sort(times.begin(), times.end());
  out << absl::StrFormat(
      "ms min %.3f median %.3f threads %d creation %.3f arena %d peak %d\n",
      times.front(), times[times.size() / 2],
      model.pool != nullptr ? model.pool->num_threads() : 1, model.creation_ms,
      model.bounded != nullptr ? model.bounded->arena_bytes()
      : model.session != nullptr
          ? model.session->executable().plan().arena_bytes
          : 0,
      PeakMemory());
  return absl::OkStatus();
}

absl::Status ProfileRun(const RunnableModel& model,
                        absl::Span<const Value> args,
                        const RunModelOptions& options, std::ostream& out,
                        std::vector<double>& step_us) {
  std::string report;
  if (model.session != nullptr) {
    BATON_ASSIGN_OR_RETURN(report,
                           ExecutorProfile(model, args, options, step_us));
  } else {
    BATON_ASSIGN_OR_RETURN(
        const RunProfile profile,
        EvaluatorProfile(model, model.module, args, options));
    BATON_ASSIGN_OR_RETURN(report, profile.Report(options.profile));
  }
  if (!options.report.empty()) {
    return WriteFileAtomically(options.report, report);
  }
  out << report;
  return absl::OkStatus();
}

}  // namespace baton
