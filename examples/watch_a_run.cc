// An instrument of runs: what each kind of kernel does, over several runs.
//
//   watch_a_run [RUNS]
//
// docs/run_a_model.md explains it.

#include <chrono>
#include <cstdlib>
#include <iostream>
#include <map>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "baton/backend/cpu/executable.h"
#include "baton/base/status_macros.h"
#include "baton/base/tensor.h"
#include "baton/ir/module.h"
#include "baton/relay/ir/infer_type.h"
#include "baton/runtime/executor/runtime_instrument.h"
#include "baton/testing/workloads/bound_workload.h"

namespace {

using ::baton::executor::RuntimeInstrument;

// [instrument]
// Adds up the time and the arithmetic of each kind of kernel.
class KernelTimes final : public RuntimeInstrument {
 public:
  void BeforeStep(const StepEvent& /*event*/) override {
    begin_ = Clock::now();
  }
  void AfterStep(const StepEvent& event) override {
    const Clock::time_point end = Clock::now();
    Sum& sum = sums_[event.note.kernel];
    ++sum.steps;
    sum.flops += event.note.flops;
    sum.seconds += std::chrono::duration<double>(end - begin_).count();
  }

  struct Sum {
    int steps = 0;
    double flops = 0;
    double seconds = 0;
  };
  const std::map<std::string, Sum>& sums() const { return sums_; }

 private:
  using Clock = std::chrono::steady_clock;

  Clock::time_point begin_;
  std::map<std::string, Sum> sums_;
};
// [/instrument]

absl::StatusOr<baton::Executable> CompileNetwork() {
  BATON_ASSIGN_OR_RETURN(baton::IRModule module,
                         baton::testing::BoundWorkload("mlp"));
  BATON_ASSIGN_OR_RETURN(module, baton::relay::InferTypes(module));
  return baton::Compile(std::move(module), {});
}

absl::Status Run(int num_runs) {
  BATON_ASSIGN_OR_RETURN(const baton::Executable model, CompileNetwork());
  BATON_ASSIGN_OR_RETURN(const std::unique_ptr<baton::Session> session,
                         baton::Session::Create(model));
  const baton::Executable::Port& port = model.inputs()[0];
  BATON_ASSIGN_OR_RETURN(baton::MutableTensor image,
                         baton::MutableTensor::Create(port.dtype, port.shape));
  const std::vector<baton::Tensor> inputs = {std::move(image).Freeze()};
  // [run]
  KernelTimes times;
  for (int run = 0; run < num_runs; ++run) {
    BATON_RETURN_IF_ERROR(
        session->Run(inputs, /*parallel=*/nullptr, &times).status());
  }
  // [/run]
  for (const auto& [kernel, sum] : times.sums()) {
    std::cout << kernel << ": " << sum.steps << " steps, " << sum.flops
              << " flops";
    if (sum.seconds > 0) {
      std::cout << ", " << sum.flops / sum.seconds / 1e9 << " GFLOP/s";
    }
    std::cout << "\n";
  }
  return absl::OkStatus();
}

}  // namespace

int main(int argc, char** argv) {
  const int num_runs = argc > 1 ? std::atoi(argv[1]) : 10;
  const absl::Status status = Run(num_runs);
  if (status.ok()) return 0;
  std::cerr << "watch_a_run: " << status.message() << "\n";
  return 1;
}
