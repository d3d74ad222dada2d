#include "baton/tools/measure_kernels.h"

#include <algorithm>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <fstream>
#include <limits>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/ascii.h"
#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_replace.h"
#include "absl/strings/str_split.h"
#include "absl/strings/string_view.h"
#include "baton/backend/cpu/executable.h"
#include "baton/backend/cpu/kernel_costs.h"
#include "baton/base/status_macros.h"
#include "baton/base/tensor.h"
#include "baton/ir/module.h"
#include "baton/relay/bind.h"
#include "baton/relay/ir/expr.h"
#include "baton/relay/ir/infer_type.h"
#include "baton/relay/ir/text_parser.h"
#include "baton/relay/runtime/random_inputs.h"
#include "baton/relay/runtime/value.h"
#include "baton/runtime/executor/plan.h"
#include "baton/runtime/executor/runtime_instrument.h"
#include "baton/runtime/kernels/blocked/kernels.h"
#include "baton/tools/machine_peak.h"

namespace baton {
namespace {

using Clock = std::chrono::steady_clock;
using cpu::KernelCosts;
using kernels::blocked::Width;
using relay::Function;

// A speed at which a part takes no time.
constexpr double kInstant = 1e9;
// A speed so low that no layout is chosen whose kernels have it.
constexpr double kNeverChosen = 1e-6;

// A row of the table and a program whose plan has a step with its kernel.
struct Program {
  std::string row;
  // How the name of that step's kernel begins; the first such step counts.
  std::string kernel;
  // The parameters of the function, of which those whose names begin with w
  // become constants, and its body.
  std::string params;
  std::string body;
  // Measures the whole run of a chain of this many such steps, if above 1.
  int chain = 1;
};

std::string FloatMap(int64_t n, int64_t c, int64_t h, int64_t w) {
  return absl::StrCat("Tensor[(", n, ", ", c, ", ", h, ", ", w, "), float32]");
}

// A convolution of `size` x `size` outputs. So many images that the time can be
// measured.
Program Conv(absl::string_view family, const std::string& kernel, int64_t size,
             int64_t channels, int64_t outputs, int64_t taps, int64_t stride,
             int64_t groups) {
  const int64_t terms = channels / groups * taps * taps;
  const int64_t work = size * size * outputs * terms;
  const int64_t images = std::max<int64_t>(1, (int64_t{1} << 20) / work);
  const int64_t pad = size == 1 ? 0 : taps / 2;
  const int64_t in = size == 1 ? taps : size * stride;
  Program program;
  program.row = absl::StrCat(family, "@", size * size, "x", terms);
  program.kernel = kernel;
  program.params =
      absl::StrCat("%x: ", FloatMap(images, channels, in, in),
                   ", %w: ", FloatMap(outputs, channels / groups, taps, taps));
  program.body = absl::StrCat(
      "nn.conv2d(%x, %w, strides=[", stride, ", ", stride, "], padding=[", pad,
      ", ", pad, ", ", pad, ", ", pad, "], groups=", groups,
      ", channels=", outputs, ", kernel_size=[", taps, ", ", taps, "])");
  return program;
}

Program Dense(absl::string_view row, int64_t rows, int64_t columns,
              int64_t terms) {
  return {std::string(row), "matmul",
          absl::StrCat("%x: Tensor[(", rows, ", ", terms,
                       "), float32], %w: Tensor[(", columns, ", ", terms,
                       "), float32]"),
          absl::StrCat("nn.dense(%x, %w, units=", columns, ")")};
}

Program Batch(absl::string_view row, int64_t rows, int64_t columns,
              int64_t terms) {
  return {std::string(row), "matmul.batch",
          absl::StrCat("%x: Tensor[(4, ", rows, ", ", terms,
                       "), float32], %y: Tensor[(4, ", terms, ", ", columns,
                       "), float32]"),
          "nn.batch_matmul(%x, %y, transpose_b=False)"};
}

// Programs of float arithmetic, by width.
std::vector<Program> Arithmetic() {
  std::vector<Program> programs;
  for (const int64_t size : {1, 4, 8, 28}) {
    for (const int64_t channels : {16, 64, 512}) {
      programs.push_back(
          Conv("conv", "conv.blocked16", size, channels, 64, 3, 1, 1));
      programs.push_back(Conv("conv.pointwise", "conv.blocked16", size,
                              channels, 64, 1, 1, 1));
      programs.push_back(Conv("conv.planar.pointwise", "conv.blocked16.first",
                              size, channels, 64, 1, 1, 1));
    }
  }
  for (const int64_t size : {4, 28, 112}) {
    const std::string planar = "conv.planar";
    const std::string first = "conv.blocked16.first";
    programs.push_back(Conv(planar, first, size, 1, 64, 3, 1, 1));
    programs.push_back(Conv(planar, first, size, 3, 64, 3, 2, 1));
    programs.push_back(Conv(planar, first, size, 3, 64, 7, 2, 1));
    programs.push_back(Conv(planar, first, size, 64, 64, 3, 1, 1));
  }
  for (const int64_t size : {4, 8, 28}) {
    for (const int64_t channels : {4, 32}) {
      programs.push_back(Conv("conv.grouped", "conv.blocked16.grouped", size,
                              128, 128, 3, 1, 128 / channels));
    }
    for (const int64_t taps : {3, 5}) {
      programs.push_back(Conv("conv.depthwise", "conv.blocked16.depthwise",
                              size, 64, 64, taps, 1, 64));
    }
  }
  for (const int64_t rows : {1, 4, 16, 128}) {
    for (const int64_t terms : {64, 512, 2048}) {
      programs.push_back(Dense(absl::StrCat("matmul@", rows, "x", terms), rows,
                               (int64_t{1} << 18) / terms, terms));
    }
  }
  for (const int64_t rows : {16, 128}) {
    for (const int64_t terms : {32, 256}) {
      programs.push_back(Batch(absl::StrCat("matmul.batch@", rows, "x", terms),
                               rows, 64, terms));
    }
  }
  return programs;
}

// Programs of the other rows, in an order in which the rows that a step needs
// besides its own were measured before.
std::vector<Program> Others() {
  const std::string map = "%x: " + FloatMap(1, 64, 56, 56);
  const std::string pool =
      "nn.max_pool2d(%x, pool_size=[3, 3], strides=[1, 1], padding=[1, 1, 1, "
      "1])";
  const std::string near_map = "%x: " + FloatMap(1, 64, 16, 16);
  const std::string scale = ", %w: Tensor[(64, 1, 1), float32]";
  const std::string square = "%x: Tensor[(256, 256), float32]";
  const std::string bytes = "%x: Tensor[(1, 64, 28, 28), uint8]";
  const auto int8_conv = [&](const std::string& data, int groups,
                             const std::string& weight) {
    return absl::StrCat("nn.conv2d(", data, ", ", weight,
                        ", padding=[1, 1, 1, 1], groups=", groups,
                        ", channels=64, kernel_size=[3, 3], "
                        "out_dtype=\"int32\")");
  };
  const std::string to_bytes =
      "cast(clip(round(divide(multiply(cast(%0, dtype=\"float32\"), 0.003f), "
      "0.07f)), a_min=0f, a_max=255f), dtype=\"uint8\")";
  const std::string weights =
      ", %w: Tensor[(64, 64, 3, 3), int8], %w1: Tensor[(64, 64, 3, 3), int8]";
  return {
      {"step", "cumsum", "%x: Tensor[(1), float32]", "cumsum(%x, axis=0)", 64},
      {"elementwise.wide.step", "elementwise.wide", "%x: Tensor[(2), int64]",
       "add(%x, %x)", 64},
      {"to_blocked16", "to_blocked16", map, pool},
      {"pool", "max_pool", map, pool},
      {"to_planar", "to_planar", map, pool},
      {"global_pool", "global_avg_pool", map, "nn.global_avg_pool2d(%x)"},
      {"lrn", "lrn", map, "nn.lrn(%x, size=5)"},
      {"apply.near", "apply", near_map + scale, "multiply(" + pool + ", %w)"},
      {"apply.far", "apply", "%x: " + FloatMap(1, 64, 128, 128) + scale,
       "multiply(" + pool + ", %w)"},
      {"gather_channels", "gather_channels",
       map + ", %w: " + FloatMap(24, 64, 1, 1),
       "%0 = nn.conv2d(%x, %w, channels=24, kernel_size=[1, 1]);\n"
       "  concatenate((%0, " +
           pool + "), axis=1)"},
      {"fold", "fold",
       "%x: " + FloatMap(1, 64, 28, 28) + ", %w: " + FloatMap(64, 32, 4, 4),
       "nn.conv2d_transpose(%x, %w, strides=[2, 2], padding=[1, 1, 1, 1], "
       "channels=32, kernel_size=[4, 4])"},
      {"elementwise.bytes", "elementwise",
       map + ", %y: " + FloatMap(1, 64, 56, 56), "add(%x, %y)"},
      {"elementwise.functions", "elementwise",
       "%x: Tensor[(64, 1024), float32]",
       "%0 = multiply(%x, sigmoid(%x));\n  add(tanh(%0), exp(%0))"},
      {"elementwise.wide", "elementwise.wide",
       "%x: Tensor[(65536), int64], %y: Tensor[(65536), int64]", "add(%x, %y)"},
      {"reduce", "reduce", square, "sum(%x, axis=[1])"},
      {"variance", "reduce", square + ", %m: Tensor[(256, 1), float32]",
       "variance(%x, %m, axis=[1])"},
      {"argmax", "reduce.argmax", square, "argmax(%x, axis=[1])"},
      {"softmax", "softmax", square, "nn.softmax(%x)"},
      {"topk", "topk", square, "topk(%x, k=8, ret_type=\"values\")"},
      {"scan", "cumsum", square, "cumsum(%x, axis=1)"},
      {"copy", "copy", square, "%x"},
      {"move", "move", "%x: Tensor[(16, 256, 256), float32]",
       "transpose(%x, axes=[0, 2, 1])"},
      {"matmul.int8", "matmul.int8",
       "%x: Tensor[(64, 512), uint8], %w: Tensor[(512, 512), int8]",
       "nn.dense(%x, %w, units=512, out_dtype=\"int32\")"},
      {"conv.int8", "conv.int8", bytes + ", %w: Tensor[(64, 64, 3, 3), int8]",
       int8_conv("%x", 1, "%w")},
      {"conv.int8.depthwise", "conv.int8.depthwise",
       bytes + ", %w: Tensor[(64, 1, 3, 3), int8]", int8_conv("%x", 64, "%w")},
      {"max_pool.bytes", "max_pool.bytes", bytes, pool},
      {"move.slabs32", "to_planar.slabs32", bytes + weights,
       "%0 = " + int8_conv("%x", 1, "%w") + ";\n  %1 = " + to_bytes + ";\n  (" +
           int8_conv("%1", 1, "%w1") + ", %1)"},
      {"max_pool.slabs32", "max_pool.slabs32", bytes + weights,
       "%0 = " + int8_conv("%x", 1, "%w") + ";\n  %1 = nn.max_pool2d(" +
           to_bytes +
           ", pool_size=[3, 3], strides=[1, 1], padding=[1, 1, 1, 1]);\n  " +
           int8_conv("%1", 1, "%w1")},
      {"evaluator.call", "evaluator", "%x: Tensor[(2), float32]", "sort(%x)"},
      {"evaluator", "evaluator", "%x: Tensor[(65536), float32]", "sort(%x)"},
  };
}

// The call number `i` of a chain: the first one reads %x, any other one the
// result of the one before.
std::string CallOn(int i, const std::string& call) {
  return i == 0 ? call
                : absl::StrReplaceAll(call, {{"%x", absl::StrCat("%", i - 1)}});
}

absl::StatusOr<IRModule> ModuleOf(const Program& program) {
  // %0 = CALL(%x); %1 = CALL(%0); ...
  std::string body;
  for (int i = 0; i + 1 < program.chain; ++i) {
    absl::StrAppend(&body, "%", i, " = ", CallOn(i, program.body), ";\n  ");
  }
  body += CallOn(program.chain - 1, program.body);
  BATON_ASSIGN_OR_RETURN(
      IRModule module,
      ParseModule(absl::StrCat("#[version = \"0.0.5\"]\ndef @main(",
                               program.params, ") {\n  ", body, "\n}\n"),
                  program.row));
  BATON_ASSIGN_OR_RETURN(module, relay::InferTypes(module));
  BATON_ASSIGN_OR_RETURN(const Function main, module.Lookup<Function>("main"));
  std::vector<relay::Var> params;
  for (const relay::Var& param : main->params()) {
    if (absl::StartsWith(param->name(), "w")) params.push_back(param);
  }
  BATON_ASSIGN_OR_RETURN(
      const std::vector<relay::Value> values,
      relay::RandomInputs(Function(params, relay::Tuple(std::vector<Expr>())),
                          1, relay::RandomRange::kMild));
  relay::NamedTensors weights;
  for (size_t i = 0; i < params.size(); ++i) {
    weights.emplace_back(std::string(params[i]->name()), values[i].tensor());
  }
  BATON_ASSIGN_OR_RETURN(Function bound,
                         relay::BindParamsByName(main, weights));
  module.Set("main", std::move(bound));
  return relay::InferTypes(module);
}

// The least time of one step.
class StepTime final : public executor::RuntimeInstrument {
 public:
  explicit StepTime(int32_t step) : step_(step) {}

  void BeforeStep(const StepEvent& /*event*/) override {
    begin_ = Clock::now();
  }
  void AfterStep(const StepEvent& event) override {
    const Clock::time_point end = Clock::now();
    if (event.number != step_) return;
    least_ = std::min(
        least_, std::chrono::duration<double, std::nano>(end - begin_).count());
  }
  double least() const { return least_; }

 private:
  const int32_t step_;
  Clock::time_point begin_;
  double least_ = std::numeric_limits<double>::infinity();
};

// The time that two readings of the clock take.
double ClockNs() {
  double least = 1e9;
  for (int i = 0; i < 100; ++i) {
    const Clock::time_point begin = Clock::now();
    const Clock::time_point end = Clock::now();
    least = std::min(
        least, std::chrono::duration<double, std::nano>(end - begin).count());
  }
  return least;
}

class Measurer {
 public:
  explicit Measurer(const MeasureKernelsOptions& options)
      : options_(options), clock_ns_(ClockNs()) {}

  // Measures a row for a width, and sets it.
  absl::Status Measure(const Program& program, Width width) {
    BATON_ASSIGN_OR_RETURN(const IRModule module, ModuleOf(program));
    // A time is a sum of a part that depends on the row and one that does not,
    // since other parts that overlap with it take none.
    double ns[2];
    for (int i = 0; i < 2; ++i) {
      KernelCosts costs = Prepared(program.row, width);
      costs.Set(program.row, width, i + 1);
      BATON_ASSIGN_OR_RETURN(const Executable model,
                             CompileFor(module, costs, width));
      BATON_ASSIGN_OR_RETURN(const int32_t step, StepOf(program, model));
      ns[i] = model.plan().steps[static_cast<size_t>(step)].cost_ns;
    }
    BATON_ASSIGN_OR_RETURN(
        const Executable model,
        CompileFor(module, Prepared(program.row, width), width));
    BATON_ASSIGN_OR_RETURN(const double measured, Run(program, model));
    // Rows of nanoseconds grow with the value, speeds fall.
    double value;
    if (ns[1] > ns[0]) {
      value = (measured - (2 * ns[0] - ns[1])) / (ns[1] - ns[0]);
    } else {
      const double part = 2 * (ns[0] - ns[1]);
      const double rest = measured - (ns[0] - part);
      // Never faster than all steps but this part.
      value = part / std::max(rest, measured / 8);
    }
    if (!(value > 0)) value = 1;
    costs_.Set(program.row, width, Rounded(value));
    measured_.push_back(program.row);
    return absl::OkStatus();
  }

  KernelCosts& costs() { return costs_; }

  KernelCosts Finish() && {
    std::vector<std::string> missing = KernelCosts::Rows();
    missing.erase(std::remove_if(missing.begin(), missing.end(),
                                 [this](const std::string& row) {
                                   return row == "peak" ||
                                          std::find(measured_.begin(),
                                                    measured_.end(),
                                                    row) != measured_.end();
                                 }),
                  missing.end());
    costs_.set_missing(std::move(missing));
    return std::move(costs_);
  }

  static double Rounded(double value) {
    double unit = 1;
    while (value / unit >= 1000) unit *= 10;
    while (value / unit < 100) unit /= 10;
    return static_cast<double>(static_cast<int64_t>(value / unit + 0.5)) * unit;
  }

 private:
  // The table with which the plan of a row is made: with the layouts that the
  // row is about, and without the time of what overlaps with its part.
  KernelCosts Prepared(const std::string& row, Width width) const {
    KernelCosts costs = costs_;
    const std::string family = row.substr(0, row.find('@'));
    for (const std::string& other : KernelCosts::Rows()) {
      const size_t at = other.find('@');
      if (at == std::string::npos) continue;
      const bool is_own = other.substr(0, at) == family;
      // A product takes its usual time beside packing.
      constexpr double kUsual = 0.6;
      costs.Set(other, width,
                row == "matmul.batch.pack" ? kUsual
                : family == "memory"       ? kInstant
                : is_own                   ? 1
                                           : kNeverChosen);
    }
    if (family != "memory") costs.Set("memory", width, kInstant);
    if (row == "elementwise.bytes") {
      costs.Set("elementwise.functions", width, kInstant);
    } else if (row == "elementwise.functions") {
      costs.Set("elementwise.bytes", width, kInstant);
    }
    return costs;
  }

  static absl::StatusOr<Executable> CompileFor(const IRModule& module,
                                               const KernelCosts& costs,
                                               Width width) {
    return Compile(module,
                   {.pipeline = "",
                    .verify_plan = false,
                    .width = width,
                    .costs = std::make_shared<const KernelCosts>(costs)});
  }

  static absl::StatusOr<int32_t> StepOf(const Program& program,
                                        const Executable& model) {
    const auto& notes = model.plan().notes;
    std::string kernels;
    for (size_t i = 0; i < notes.size(); ++i) {
      if (absl::StartsWith(notes[i].kernel, program.kernel)) {
        return static_cast<int32_t>(i);
      }
      absl::StrAppend(&kernels, " ", notes[i].kernel);
    }
    return absl::InternalError(absl::StrCat("the plan for the row ",
                                            program.row, " has no step ",
                                            program.kernel, ":", kernels));
  }

  // The least time of the program's step, in nanoseconds.
  absl::StatusOr<double> Run(const Program& program, const Executable& model) {
    BATON_ASSIGN_OR_RETURN(const int32_t step, StepOf(program, model));
    BATON_ASSIGN_OR_RETURN(std::unique_ptr<Session> session,
                           Session::Create(model));
    std::vector<Tensor> inputs;
    std::vector<TensorView> views;
    for (const Executable::Port& port : model.inputs()) {
      BATON_ASSIGN_OR_RETURN(inputs.emplace_back(),
                             relay::RandomTensor(port.dtype, port.shape, 1));
    }
    views.assign(inputs.begin(), inputs.end());
    std::vector<MutableTensor> outputs;
    for (const Executable::Port& port : model.outputs()) {
      BATON_ASSIGN_OR_RETURN(MutableTensor result,
                             MutableTensor::Create(port.dtype, port.shape));
      outputs.push_back(std::move(result));
    }
    std::vector<MutableTensorView> results(outputs.begin(), outputs.end());
    StepTime time(step);
    const bool is_chain = program.chain > 1;
    double least_run = std::numeric_limits<double>::infinity();
    const Clock::time_point begin = Clock::now();
    const auto seconds = [&begin] {
      return std::chrono::duration<double>(Clock::now() - begin).count();
    };
    for (int runs = 0; runs < 3 || seconds() < options_.seconds; ++runs) {
      const Clock::time_point start = Clock::now();
      BATON_RETURN_IF_ERROR(
          session->Run(views, results, nullptr, is_chain ? nullptr : &time));
      least_run = std::min(least_run, std::chrono::duration<double, std::nano>(
                                          Clock::now() - start)
                                          .count());
    }
    if (is_chain) return least_run / program.chain;
    return std::max(time.least() - clock_ns_, 1.0);
  }

  const MeasureKernelsOptions options_;
  const double clock_ns_;
  KernelCosts costs_ = KernelCosts::BuiltIn();
  std::vector<std::string> measured_;
};

}  // namespace

std::string MachineName() {
  std::ifstream file("/proc/cpuinfo");
  std::string line;
  std::string name = "a processor";
  while (std::getline(file, line)) {
    const std::pair<std::string, std::string> parts =
        absl::StrSplit(line, absl::MaxSplits(':', 1));
    if (absl::StartsWith(parts.first, "model name")) {
      name = std::string(absl::StripAsciiWhitespace(parts.second));
      break;
    }
  }
  const Width width = kernels::blocked::BestWidth();
  return absl::StrCat(name, width == Width::k512   ? ", AVX-512"
                            : width == Width::k256 ? ", AVX2"
                                                   : ", 128 bits");
}

absl::StatusOr<KernelCosts> MeasureKernels(
    const MeasureKernelsOptions& options) {
  Measurer measurer(options);
  measurer.costs().set_machine(MachineName());
  const std::vector<Program> others = Others();
  const Width best = kernels::blocked::BestWidth();
  const std::pair<Width, int> widths[] = {
      {Width::k128, 16}, {Width::k256, 32}, {Width::k512, 64}};
  for (const auto& [width, bytes] : widths) {
    if (!kernels::blocked::IsSupported(width)) continue;
    measurer.costs().Set("peak", width,
                         Measurer::Rounded(MeasurePeakFlops(bytes) / 1e9));
  }
  for (const Program& program : others) {
    BATON_RETURN_IF_ERROR(measurer.Measure(program, best));
  }
  BATON_RETURN_IF_ERROR(measurer.Measure(Dense("memory", 1, 4096, 4096), best));
  BATON_RETURN_IF_ERROR(
      measurer.Measure(Batch("matmul.batch.pack", 8, 256, 256), best));
  for (const auto& [width, bytes] : widths) {
    if (!kernels::blocked::IsSupported(width)) continue;
    for (const Program& program : Arithmetic()) {
      BATON_RETURN_IF_ERROR(measurer.Measure(program, width));
    }
  }
  return std::move(measurer).Finish();
}

}  // namespace baton
