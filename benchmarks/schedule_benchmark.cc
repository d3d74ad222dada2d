// Measures schedules: the share of one core's peak that the C++ of a function
// reaches after each part of a schedule.
//
//   schedule_benchmark examples/matmul.tir examples/matmul.schedule [FOLDER]
//
// The function multiplies two matrices of float32: its parameters are A, B and
// the result. A part of the schedule ends at a line `# [/NAME]`. After each
// part the function is lowered by the pipeline `tir.lower`, written as C++
// (tir/codegen/cpp_source.h), compiled by `c++ -O3` and compared with the
// unscheduled function; the sources remain in FOLDER, if there is one. Times
// are the least, of the processor, of runs that take turns with the loop that
// measures the peak.

#include <dlfcn.h>
#include <time.h>
#include <unistd.h>

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <fstream>
#include <string>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_split.h"
#include "absl/strings/string_view.h"
#include "absl/strings/strip.h"
#include "baton/base/status_macros.h"
#include "baton/base/text_file.h"
#include "baton/benchmarks/float_memory.h"
#include "baton/ir/module.h"
#include "baton/ir/module_text.h"
#include "baton/tir/codegen/cpp_source.h"
#include "baton/tir/ir/expr.h"
#include "baton/tir/ir/function.h"
#include "baton/tir/schedule/schedule.h"
#include "baton/tir/schedule/step_text.h"
#include "baton/tools/machine_peak.h"
#include "baton/transform/pass.h"
#include "baton/transform/pipeline.h"

namespace baton::tir {
namespace {

using benchmarks::FloatMemory;
using benchmarks::MakeFloats;

// The time that this thread had a processor, in seconds: a machine that runs
// other programs, too, adds less to it than to the time of a clock.
double Now() {
  timespec time;
  clock_gettime(CLOCK_THREAD_CPUTIME_ID, &time);
  return static_cast<double>(time.tv_sec) +
         1e-9 * static_cast<double>(time.tv_nsec);
}

// The steps of a schedule up to the end of a part.
struct Part {
  std::string name;
  std::string steps;
};

std::vector<Part> PartsOf(absl::string_view text) {
  std::vector<Part> parts = {{"unscheduled", ""}};
  std::string steps;
  for (absl::string_view line : absl::StrSplit(text, '\n')) {
    if (absl::ConsumePrefix(&line, "# [/") && absl::ConsumeSuffix(&line, "]")) {
      parts.push_back({std::string(line), steps});
    } else {
      absl::StrAppend(&steps, line, "\n");
    }
  }
  return parts;
}

absl::StatusOr<PrimFunc> Lowered(const IRModule& module,
                                 absl::string_view steps) {
  const auto functions = module.functions<PrimFunc>();
  if (functions.size() != 1) {
    return absl::InvalidArgumentError("expected one function of loops");
  }
  Schedule schedule(functions[0].function);
  BATON_ASSIGN_OR_RETURN(const std::vector<Step> parsed, ParseSteps(steps));
  for (const Step& step : parsed) {
    BATON_RETURN_IF_ERROR(schedule.Apply(step));
  }
  IRModule scheduled = module;
  scheduled.Set(functions[0].var, schedule.function());
  BATON_ASSIGN_OR_RETURN(const Pass lower, ParsePipeline("tir.lower"));
  BATON_ASSIGN_OR_RETURN(const IRModule lowered, lower(std::move(scheduled)));
  return lowered.functions<PrimFunc>()[0].function;
}

using Function = void (*)(float* a, float* b, float* c, unsigned char* space);

struct Compiled {
  std::string name;
  Function function = nullptr;
  double best = 1e9;
};

absl::StatusOr<Compiled> Compile(const PrimFunc& function,
                                 const std::string& name,
                                 const std::string& folder,
                                 int64_t& workspace_bytes) {
  CppSourceOptions options;
  options.name_space = "scheduled";
#if defined(__x86_64__)
  options.isa = __builtin_cpu_supports("avx512f") ? CppIsa::kAvx512
                : __builtin_cpu_supports("avx2")  ? CppIsa::kAvx2
                                                  : CppIsa::kSse2;
#endif
  const std::vector<CppFunction> functions = {{"matmul", function, ""}};
  BATON_ASSIGN_OR_RETURN(const CppSource probe,
                         WriteCppSource(functions, options));
  const CppEmitted& emitted = probe.functions[0];
  workspace_bytes = std::max(workspace_bytes, emitted.workspace_bytes);
  std::string arguments;
  for (const CppParam& param : emitted.params) {
    const bool is_workspace = param.kind == CppParam::Kind::kWorkspace;
    if (!is_workspace && param.kind != CppParam::Kind::kPointer) {
      return absl::UnimplementedError("a parameter is no buffer");
    }
    absl::StrAppend(&arguments, arguments.empty() ? "" : ", ",
                    is_workspace
                        ? "space"
                        : absl::StrCat(std::string(
                              1, static_cast<char>('a' + param.index))));
  }
  options.tail = absl::StrCat(
      "}\nextern \"C\" void Run(float* a, float* b, float* c, unsigned char* "
      "space) {\n  (void)space;\n  scheduled::",
      emitted.name, "(", arguments, ");\n}\nnamespace scheduled {\n");
  BATON_ASSIGN_OR_RETURN(const CppSource source,
                         WriteCppSource(functions, options));
  const std::string base = absl::StrCat(folder, "/", name);
  std::ofstream(base + ".cc") << source.text;
  const std::string command = absl::StrCat(
      "c++ -std=c++17 -O3 -ffp-contract=off -fno-exceptions -fno-rtti -fPIC "
      "-shared ",
      base, ".cc -o ", base, ".so");
  if (std::system(command.c_str()) != 0) {
    return absl::InternalError(absl::StrCat("failed: ", command));
  }
  void* const library = dlopen((base + ".so").c_str(), RTLD_NOW | RTLD_LOCAL);
  if (library == nullptr) return absl::InternalError(dlerror());
  Compiled result;
  result.name = name;
  result.function = reinterpret_cast<Function>(dlsym(library, "Run"));
  return result;
}

absl::Status Measure(const std::string& module_file,
                     const std::string& schedule_file,
                     const std::string& folder) {
  BATON_ASSIGN_OR_RETURN(const std::string module_text,
                         ReadTextFile(module_file));
  BATON_ASSIGN_OR_RETURN(const IRModule module,
                         ParseModule(module_text, module_file));
  BATON_ASSIGN_OR_RETURN(const std::string schedule_text,
                         ReadTextFile(schedule_file));
  std::vector<Compiled> parts;
  int64_t workspace_bytes = 64;
  int64_t m = 0, n = 0, k = 0;
  for (const Part& part : PartsOf(schedule_text)) {
    const absl::StatusOr<PrimFunc> lowered = Lowered(module, part.steps);
    if (!lowered.ok()) {
      return absl::Status(
          lowered.status().code(),
          absl::StrCat(part.name, ": ", lowered.status().message()));
    }
    BATON_ASSIGN_OR_RETURN(Compiled compiled, Compile(*lowered, part.name,
                                                      folder, workspace_bytes));
    parts.push_back(std::move(compiled));
  }
  const auto extent = [&](int param, int axis) {
    const PrimFunc function = module.functions<PrimFunc>()[0].function;
    const Buffer& buffer = function->BufferOf(param);
    const auto* number = buffer->shape()[axis].As<IntImmNode>();
    return number == nullptr ? 0 : number->value();
  };
  m = extent(0, 0);
  k = extent(0, 1);
  n = extent(1, 1);
  const FloatMemory a = MakeFloats(m * k);
  const FloatMemory b = MakeFloats(k * n);
  const FloatMemory c = MakeFloats(m * n);
  const FloatMemory expected = MakeFloats(m * n);
  const FloatMemory space = MakeFloats(workspace_bytes / 4 + 16);
  auto* const bytes = reinterpret_cast<unsigned char*>(space.get());
  parts[0].function(a.get(), b.get(), expected.get(), bytes);
  for (const Compiled& part : parts) {
    std::fill_n(c.get(), m * n, 0.0f);
    part.function(a.get(), b.get(), c.get(), bytes);
    for (int64_t i = 0; i < m * n; ++i) {
      if (std::abs(c.get()[i] - expected.get()[i]) > 1e-2f) {
        return absl::InternalError(
            absl::StrCat(part.name, " computes something else"));
      }
    }
  }
  double peak = 0;
  for (int round = 0; round < 7; ++round) {
    for (Compiled& part : parts) {
      peak = std::max(peak, MeasurePeakFlops());
      const double end = Now() + 0.1;
      int runs = 0;
      while (runs < 3 || Now() < end) {
        if (part.best < 1e9 && part.best > 0.05 && runs > 0) break;
        const double start = Now();
        part.function(a.get(), b.get(), c.get(), bytes);
        part.best = std::min(part.best, Now() - start);
        ++runs;
      }
    }
  }
  const double operations = 2.0 * static_cast<double>(m * n * k);
  for (const Compiled& part : parts) {
    std::printf("%-16s %10.3f ms %8.2f GF/s of %6.1f  %5.1f %%\n",
                part.name.c_str(), part.best * 1e3,
                operations / part.best / 1e9, peak / 1e9,
                100 * operations / part.best / peak);
  }
  return absl::OkStatus();
}

int Main(int argc, char** argv) {
  if (argc < 3) {
    std::fprintf(stderr,
                 "usage: schedule_benchmark FUNCTION.tir SCHEDULE "
                 "[FOLDER]\n");
    return 2;
  }
  std::string folder;
  if (argc > 3) {
    folder = argv[3];
  } else {
    char name[] = "/tmp/schedule_benchmark_XXXXXX";
    if (mkdtemp(name) == nullptr) return 1;
    folder = name;
  }
  const absl::Status status = Measure(argv[1], argv[2], folder);
  if (status.ok()) return 0;
  std::fprintf(stderr, "schedule_benchmark: %s\n",
               std::string(status.message()).c_str());
  return 1;
}

}  // namespace
}  // namespace baton::tir

int main(int argc, char** argv) { return baton::tir::Main(argc, argv); }
