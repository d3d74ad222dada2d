#include "baton/backend/cpu/one_answer_test_util.h"

#include <cstddef>
#include <cstdint>
#include <memory>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/strings/str_cat.h"
#include "baton/backend/cpu/executable.h"
#include "baton/base/stable_hash.h"
#include "baton/base/status_macros.h"
#include "baton/base/tensor.h"
#include "baton/base/worker_pool.h"
#include "baton/ir/module.h"
#include "baton/relay/ir/expr.h"
#include "baton/relay/ir/infer_type.h"
#include "baton/relay/runtime/evaluator.h"
#include "baton/relay/runtime/random_inputs.h"
#include "baton/relay/runtime/value.h"
#include "baton/relay/runtime/value_tensors.h"
#include "baton/runtime/kernels/blocked/kernels.h"
#include "baton/runtime/kernels/vector_limit.h"
#include "baton/testing/status_matchers.h"
#include "baton/testing/test_settings.h"
#include "gtest/gtest.h"

namespace baton {

uint64_t HashOf(const std::vector<Tensor>& tensors) {
  StableHash hash(0);
  for (const Tensor& tensor : tensors) {
    hash.AddDType(tensor.dtype());
    for (const int64_t extent : tensor.shape()) {
      hash.Add(static_cast<uint64_t>(extent));
    }
    hash.AddString(
        {static_cast<const char*>(tensor.data()),
         static_cast<size_t>(tensor.num_elements() * tensor.dtype().bytes())});
  }
  return hash.value();
}

absl::StatusOr<OneAnswer> MakeOneAnswer(IRModule module,
                                        relay::RandomRange range) {
  OneAnswer result;
  BATON_ASSIGN_OR_RETURN(result.module, relay::InferTypes(module));
  BATON_ASSIGN_OR_RETURN(
      const std::vector<relay::Value> args,
      relay::RandomInputs(result.module.Find<relay::Function>("main"), 11,
                          range));
  for (const relay::Value& arg : args) result.inputs.push_back(arg.tensor());
  BATON_ASSIGN_OR_RETURN(const relay::Value value,
                         relay::EvaluateFunction(result.module, "main", args));
  result.hash = HashOf(relay::TensorsOf(value));
  return result;
}

void ExpectOneAnswer(const IRModule& module, const NamedWidth& width,
                     relay::RandomRange range, bool all_thread_counts) {
  if (!kernels::blocked::IsSupported(width.width)) {
    GTEST_SKIP() << "the processor lacks what kernels for vectors of "
                 << width.name << " bits need";
  }
  BATON_ASSERT_OK_AND_ASSIGN(const OneAnswer one, MakeOneAnswer(module, range));
  const kernels::ScopedVectorLimit limit(width.bits);
  if (!limit.is_met()) GTEST_SKIP() << limit.why_not();
  BATON_ASSERT_OK_AND_ASSIGN(const OneAnswer again,
                             MakeOneAnswer(one.module, range));
  EXPECT_EQ(again.hash, one.hash) << "the evaluator";
  const std::vector<int> thread_counts = all_thread_counts
                                             ? std::vector<int>{1, 2, 3, 16}
                                             : std::vector<int>{1, 3};
  for (const int threads : thread_counts) {
    SCOPED_TRACE(absl::StrCat(threads, " threads"));
    BATON_ASSERT_OK_AND_ASSIGN(
        const Executable executable,
        Compile(one.module, {.max_threads = threads,
                             .allow_evaluated_part = false,
                             .width = width.width}));
    BATON_ASSERT_OK_AND_ASSIGN(const std::unique_ptr<Session> session,
                               Session::Create(executable));
    WorkerPool pool(threads);
    BATON_ASSERT_OK_AND_ASSIGN(const std::vector<Tensor> got,
                               session->Run(one.inputs, &pool));
    EXPECT_EQ(HashOf(got), one.hash);
  }
}

}  // namespace baton
