// Each recorded step keeps the values of its function.

#include <cstdint>
#include <iostream>
#include <string>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/match.h"
#include "absl/types/span.h"
#include "baton/base/dtype.h"
#include "baton/base/tensor.h"
#include "baton/ir/function_evaluator.h"
#include "baton/ir/module.h"
#include "baton/ir/module_text.h"
#include "baton/testing/conformance.h"
#include "baton/tir/interpreter/interpreter.h"
#include "baton/tir/ir/function.h"
#include "baton/tir/schedule/schedule.h"
#include "baton/tir/schedule/step_text.h"
#include "gtest/gtest.h"

namespace baton::tir {
namespace {

constexpr int64_t kMaxSteps = 3'000'000;

// Small integers: sums of products of them are exact in any order.
absl::StatusOr<Tensor> SmallIntegers(DType dtype,
                                     absl::Span<const int64_t> shape) {
  absl::StatusOr<MutableTensor> tensor = MutableTensor::Create(dtype, shape);
  if (!tensor.ok()) return tensor.status();
  for (int64_t i = 0; i < tensor->num_elements(); ++i) {
    const int64_t value = i * 7919 % 5 - (dtype.is_uint() ? 0 : 2);
    if (dtype == DType::Float(32)) {
      tensor->span<float>()[i] = static_cast<float>(value);
    } else if (dtype == DType::Int(32)) {
      tensor->span<int32_t>()[i] = static_cast<int32_t>(value);
    }
  }
  return std::move(*tensor).Freeze();
}

absl::StatusOr<std::vector<Tensor>> RunOnIntegers(const PrimFunc& function) {
  const FunctionEvaluator* evaluator =
      FindFunctionEvaluator(PrimFuncNode::kKind);
  absl::StatusOr<std::vector<Tensor>> tensors =
      evaluator->MakeArguments(function, SmallIntegers);
  if (!tensors.ok()) return tensors.status();
  std::vector<Argument> arguments;
  for (size_t i = 0; i < tensors->size(); ++i) {
    if (function->BufferOf(static_cast<int>(i)).defined()) {
      arguments.emplace_back((*tensors)[i]);
    } else {
      return absl::UnimplementedError("a parameter is no buffer");
    }
  }
  return Interpret(function, arguments,
                   {.check_initialized = false, .max_steps = kMaxSteps});
}

TEST(ScheduleValuesTest, StepsKeepValues) {
  const absl::StatusOr<std::vector<testing::ConformanceCase>> cases =
      testing::ReadConformanceCases("testing/loops/schedule");
  ASSERT_TRUE(cases.ok()) << cases.status();
  int compared = 0;
  int skipped = 0;
  for (const testing::ConformanceCase& c : *cases) {
    if (c.expects_error) continue;
    // The step makes a buffer of two axes with one stride, as the reference
    // does; such a buffer has no meaning.
    if (c.name() == "cache_index/b5f683f0f2") continue;
    SCOPED_TRACE(c.name());
    const absl::StatusOr<IRModule> module = ParseModule(c.before);
    ASSERT_TRUE(module.ok()) << module.status();
    const PrimFunc function = module->functions<PrimFunc>()[0].function;
    const absl::StatusOr<Step> step = ParseStep(c.step);
    ASSERT_TRUE(step.ok()) << step.status();
    const absl::StatusOr<std::vector<Tensor>> before = RunOnIntegers(function);
    if (!before.ok()) {
      ++skipped;
      continue;
    }
    Schedule schedule(function);
    const absl::Status status = schedule.Apply(*step);
    ASSERT_TRUE(status.ok()) << status;
    const absl::StatusOr<std::vector<Tensor>> after =
        RunOnIntegers(schedule.function());
    if (absl::StrContains(after.status().message(), "max_steps")) {
      ++skipped;
      continue;
    }
    ASSERT_TRUE(after.ok()) << after.status();
    ASSERT_EQ(before->size(), after->size());
    for (size_t i = 0; i < before->size(); ++i) {
      EXPECT_EQ((*before)[i], (*after)[i]) << "parameter " << i;
    }
    ++compared;
  }
  std::cout << compared << " compared, " << skipped << " not run\n";
  EXPECT_GE(compared, 60);
}

}  // namespace
}  // namespace baton::tir
