#include "baton/backend/cpu/executable.h"

#include <cmath>
#include <cstddef>
#include <cstring>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/str_cat.h"
#include "baton/base/tensor.h"
#include "baton/base/worker_pool.h"
#include "baton/ir/module.h"
#include "baton/relay/bind.h"
#include "baton/relay/ir/expr.h"
#include "baton/relay/ir/infer_type.h"
#include "baton/relay/runtime/evaluator.h"
#include "baton/relay/runtime/random_inputs.h"
#include "baton/relay/runtime/value.h"
#include "baton/testing/status_matchers.h"
#include "baton/testing/workloads/workload.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"

namespace baton {
namespace {

// The network with its weights as constants.
absl::StatusOr<IRModule> BoundWorkload(const std::string& spec) {
  absl::StatusOr<testing::Workload> workload = testing::GetWorkload(spec);
  if (!workload.ok()) return workload.status();
  absl::StatusOr<Function> main = relay::BindParamsByName(
      workload->module.Find<Function>("main"), workload->params);
  if (!main.ok()) return main.status();
  IRModule module = workload->module;
  module.Set("main", *main);
  return InferTypes(module);
}

// Equal bits, but any NaN equals any other.
bool SameResults(const Tensor& a, const Tensor& b) {
  if (a == b) return true;
  if (a.dtype() != b.dtype() || a.shape() != b.shape() ||
      a.dtype() != DType::Float(32)) {
    return false;
  }
  for (int64_t i = 0; i < a.num_elements(); ++i) {
    const float x = a.span<float>()[static_cast<size_t>(i)];
    const float y = b.span<float>()[static_cast<size_t>(i)];
    if (std::memcmp(&x, &y, sizeof(x)) != 0 &&
        !(std::isnan(x) && std::isnan(y))) {
      return false;
    }
  }
  return true;
}

// The executor gives the bits of the evaluator, for any number of threads.
void ExpectSameAsEvaluator(const IRModule& module) {
  const Function main = module.Find<Function>("main");
  BATON_ASSERT_OK_AND_ASSIGN(const std::vector<Value> args,
                             RandomInputs(main, 7));
  BATON_ASSERT_OK_AND_ASSIGN(const Value want,
                             EvaluateFunction(module, "main", args));
  std::vector<Tensor> inputs;
  for (const Value& arg : args) inputs.push_back(arg.tensor());
  const std::vector<Value> results =
      want.is_tuple()
          ? std::vector<Value>(want.fields().begin(), want.fields().end())
          : std::vector<Value>{want};
  for (const int threads : {1, 2, 3, 16}) {
    SCOPED_TRACE(absl::StrCat(threads, " threads"));
    BATON_ASSERT_OK_AND_ASSIGN(const Executable executable,
                               Compile(module, {.max_threads = threads}));
    BATON_ASSERT_OK_AND_ASSIGN(const std::unique_ptr<Session> session,
                               Session::Create(executable));
    WorkerPool pool(threads);
    for (int run = 0; run < 2; ++run) {
      BATON_ASSERT_OK_AND_ASSIGN(const std::vector<Tensor> got,
                                 session->Run(inputs, &pool));
      ASSERT_EQ(got.size(), results.size());
      for (size_t i = 0; i < got.size(); ++i) {
        EXPECT_TRUE(SameResults(got[i], results[i].tensor()))
            << "output " << i << ", run " << run;
      }
    }
  }
}

class WorkloadsTest : public ::testing::TestWithParam<const char*> {};

TEST_P(WorkloadsTest, GiveTheBitsOfTheEvaluator) {
  BATON_ASSERT_OK_AND_ASSIGN(const IRModule module, BoundWorkload(GetParam()));
  ExpectSameAsEvaluator(module);
}

INSTANTIATE_TEST_SUITE_P(
    All, WorkloadsTest,
    ::testing::Values(
        "mlp", "resnet{num_layers=18,image_shape=[3,32,32],num_classes=10}",
        "mobilenet{num_classes=10,image_shape=[3,64,64]}", "dqn", "dcgan",
        "lstm{iterations=3,num_hidden=8}"));

}  // namespace
}  // namespace baton
