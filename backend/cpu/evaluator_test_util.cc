#include "baton/backend/cpu/evaluator_test_util.h"

#include <cmath>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <random>
#include <string>
#include <utility>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "baton/backend/cpu/bound_weights.h"
#include "baton/backend/cpu/executable.h"
#include "baton/backend/cpu/kernel_costs.h"
#include "baton/base/tensor.h"
#include "baton/base/tensor_difference.h"
#include "baton/base/worker_pool.h"
#include "baton/ir/module.h"
#include "baton/relay/ir/expr.h"
#include "baton/relay/runtime/evaluator.h"
#include "baton/relay/runtime/random_inputs.h"
#include "baton/relay/runtime/value.h"
#include "baton/relay/runtime/value_tensors.h"
#include "baton/runtime/executor/plan.h"
#include "baton/runtime/kernels/blocked/kernels.h"
#include "baton/runtime/kernels/vector_limit.h"
#include "baton/testing/status_matchers.h"
#include "gtest/gtest.h"

namespace baton::cpu {
namespace {

// Describes the first element whose bits differ; empty if there is none.
std::string DifferenceOf(const Tensor& got, const Tensor& want) {
  if (HaveSameElements(got, want)) return "";
  if (got.TypeToString() != want.TypeToString()) return got.TypeToString();
  const int64_t i = FirstDifferentElement(got, want).value_or(0);
  return absl::StrCat("element ", i, " is ", got.AtAsDouble(i), ", not ",
                      want.AtAsDouble(i), ": ",
                      got.AtAsDouble(i) - want.AtAsDouble(i), " more");
}

}  // namespace

void ExpectSameAsEvaluator(const IRModule& module, const Executable& model,
                           uint32_t seed, bool special, int bits) {
  BATON_ASSERT_OK_AND_ASSIGN(
      std::vector<relay::Value> args,
      relay::RandomInputs(module.Find<relay::Function>("main"), seed));
  std::vector<Tensor> inputs;
  for (relay::Value& arg : args) {
    arg = WithAllBytes(arg.tensor(), seed);
    if (special) arg = WithSpecialNumbers(arg.tensor(), seed);
    inputs.push_back(arg.tensor());
  }
  const absl::StatusOr<relay::Value> want =
      relay::EvaluateFunction(module, "main", args);
  std::optional<kernels::ScopedVectorLimit> limit;
  if (bits != 0) limit.emplace(bits);
  BATON_ASSERT_OK_AND_ASSIGN(const std::unique_ptr<Session> session,
                             Session::Create(model));
  for (const int threads : {1, 2, 3, 16}) {
    if (threads > model.plan().max_threads) break;
    SCOPED_TRACE(absl::StrCat(threads, " threads"));
    WorkerPool pool(threads);
    const absl::StatusOr<std::vector<Tensor>> got = session->Run(inputs, &pool);
    ASSERT_EQ(got.ok(), want.ok()) << got.status() << want.status();
    if (!want.ok()) continue;
    const std::vector<Tensor> results = relay::TensorsOf(*want);
    ASSERT_EQ(got->size(), results.size());
    for (size_t i = 0; i < results.size(); ++i) {
      ASSERT_EQ(DifferenceOf((*got)[i], results[i]), "")
          << "result " << i << ", " << results[i].TypeToString();
    }
  }
}

std::vector<std::string> CheckProgram(
    const std::string& text, std::shared_ptr<const KernelCosts> costs) {
  std::vector<std::string> kernels;
  const absl::StatusOr<IRModule> module = WithWeights(text);
  EXPECT_TRUE(module.ok()) << module.status() << text;
  if (!module.ok()) return kernels;
  const absl::StatusOr<Executable> model =
      Compile(*module, {.max_threads = 16,
                        .allow_evaluated_part = false,
                        .costs = std::move(costs)});
  EXPECT_TRUE(model.ok()) << model.status() << text;
  if (!model.ok()) return kernels;
  ExpectSameAsEvaluator(*module, *model, 5, false);
  ExpectSameAsEvaluator(*module, *model, 6, true);
  for (const executor::StepNote& note : model->plan().notes) {
    kernels.push_back(note.kernel);
    EXPECT_FALSE(note.reason.empty()) << note.kernel << "\n" << text;
  }
  return kernels;
}

namespace {

constexpr kernels::blocked::Width kWidths[] = {kernels::blocked::Width::k128,
                                               kernels::blocked::Width::k256,
                                               kernels::blocked::Width::k512};

}  // namespace

std::shared_ptr<const KernelCosts> CostsWith(
    const std::vector<std::pair<std::string, double>>& speeds) {
  auto costs = std::make_shared<KernelCosts>(KernelCosts::BuiltIn());
  for (const auto& [name, speed] : speeds) {
    bool is_row = false;
    for (const std::string& row : KernelCosts::Rows()) {
      if (row != name && !absl::StartsWith(row, name + "@")) continue;
      is_row = true;
      for (const auto width : kWidths) costs->Set(row, width, speed);
    }
    EXPECT_TRUE(is_row) << name;
  }
  return costs;
}

std::shared_ptr<const KernelCosts> RandomCosts(uint32_t seed) {
  auto costs = std::make_shared<KernelCosts>(KernelCosts::BuiltIn());
  std::mt19937 random(seed);
  for (const std::string& row : KernelCosts::Rows()) {
    for (const auto width : kWidths) {
      const double factor =
          std::pow(10, static_cast<double>(random() % 601) / 100 - 3);
      costs->Set(row, width, costs->Get(row, width) * factor);
    }
  }
  return costs;
}

}  // namespace baton::cpu
