// Runs of whole networks: one answer, no allocation, no lock, no system call.

#include <cstddef>
#include <cstdint>
#include <iterator>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/strings/str_cat.h"
#include "baton/backend/cpu/bound_weights.h"
#include "baton/backend/cpu/executable.h"
#include "baton/backend/cpu/one_answer_test_util.h"
#include "baton/base/status_macros.h"
#include "baton/base/tensor.h"
#include "baton/base/worker_pool.h"
#include "baton/ir/module.h"
#include "baton/runtime/executor/plan.h"
#include "baton/testing/confined_run.h"
#include "baton/testing/counted_calls.h"
#include "baton/testing/status_matchers.h"
#include "baton/testing/test_settings.h"
#include "baton/testing/workloads/bound_workload.h"
#include "gtest/gtest.h"

namespace baton {
namespace {

class OneAnswerTest : public ::testing::TestWithParam<NamedWidth> {};

// Networks as they were made; after passes: optimized_networks_test.cc.
TEST_P(OneAnswerTest, EvaluatorAndExecutor) {
  size_t number = 0;
  for (const char* const spec : kOneAnswerNetworks) {
    SCOPED_TRACE(spec);
    // In the short form each network has one of the widths.
    const size_t width = number++ % std::size(kNamedWidths);
    if (!testing::IsLongTest() &&
        GetParam().width != kNamedWidths[width].width) {
      continue;
    }
    BATON_ASSERT_OK_AND_ASSIGN(const IRModule module,
                               testing::BoundWorkload(spec));
    ExpectOneAnswer(module, GetParam());
  }
}

INSTANTIATE_TEST_SUITE_P(Widths, OneAnswerTest,
                         ::testing::ValuesIn(kNamedWidths),
                         [](const ::testing::TestParamInfo<NamedWidth>& info) {
                           return absl::StrCat("Bits", info.param.name);
                         });

// Each kind of step that a network of convolutions has, and others.
constexpr char kNetwork[] = R"(#[version = "0.0.5"]
def @main(%x: Tensor[(1, 3, 19, 19), float32],
          %wf: Tensor[(24, 3, 3, 3), float32], %wbf: Tensor[(24), float32],
          %wd: Tensor[(24, 1, 3, 3), float32],
          %wp: Tensor[(32, 24, 1, 1), float32],
          %wg: Tensor[(32, 8, 3, 3), float32],
          %wl: Tensor[(10, 32), float32], %wbl: Tensor[(10), float32]) {
  %0 = nn.conv2d(%x, %wf, strides=[2, 2], padding=[1, 1, 1, 1], channels=24,
                 kernel_size=[3, 3]);
  %1 = nn.bias_add(%0, %wbf);
  %2 = nn.relu(%1);
  %3 = nn.conv2d(%2, %wd, padding=[1, 1, 1, 1], groups=24, channels=24,
                 kernel_size=[3, 3]);
  %4 = clip(%3, a_min=0f, a_max=6f);
  %5 = nn.conv2d(%4, %wp, channels=32, kernel_size=[1, 1]);
  %6 = nn.conv2d(%5, %wg, padding=[1, 1, 1, 1], groups=4, channels=32,
                 kernel_size=[3, 3]);
  %7 = add(%6, %5);
  %8 = nn.relu(%7);
  %9 = sigmoid(%8);
  %10 = multiply(%8, %9);
  %11 = nn.max_pool2d(%10, pool_size=[3, 3], strides=[2, 2],
                      padding=[1, 1, 1, 1]);
  %12 = nn.avg_pool2d(%11, pool_size=[2, 2], strides=[1, 1],
                      padding=[0, 0, 0, 0]);
  %13 = nn.lrn(%12, size=5);
  %14 = split(%13, indices_or_sections=2, axis=1);
  %15 = (%14.1, %14.0);
  %16 = concatenate(%15, axis=1);
  %17 = nn.global_avg_pool2d(%16);
  %18 = nn.batch_flatten(%17);
  %19 = nn.dense(%18, %wl, units=10);
  %20 = nn.bias_add(%19, %wbl);
  nn.softmax(%20)
})";

// Operators that sort, search, scan and index.
constexpr char kSearches[] = R"(#[version = "0.0.5"]
def @main(%x: Tensor[(1, 6, 300), float32]) {
  %0 = topk(%x, k=200, axis=-1, dtype="int32");
  %1 = topk(%0.0, k=3, axis=1, is_ascend=True, dtype="int32");
  %2 = topk(%x, k=5, axis=-1, ret_type="indices", dtype="int32");
  %3 = argmax(%x, axis=[-1]);
  %4 = argmin(%x, axis=[1], select_last_index=True);
  %5 = cumsum(%1.0, axis=-1);
  %6 = one_hot(%4, 1f, 0f, depth=6, axis=1, dtype="float32");
  %7 = reshape(clip(%2, a_min=0f, a_max=5f), newshape=[1, 30]);
  %8 = gather_nd(reshape(%6, newshape=[6, 300]), %7);
  %9 = cast(where(less(cast(%3, dtype="int64"), cast(7, dtype="int64")),
                  add(cast(%3, dtype="int64"), cast(%3, dtype="int64")),
                  multiply(cast(%3, dtype="int64"), cast(%3, dtype="int64"))),
            dtype="float32");
  add(add(%8, max(%5)), max(%9))
})";

// A layer of LSTM in a loop, and a branch.
constexpr char kRecurrent[] = R"(#[version = "0.0.5"]
def @main(%x: Tensor[(4, 8), float32], %wi: Tensor[(32, 8), float32],
          %wh: Tensor[(32, 8), float32]) {
  let %loop = fn (%i: int64, %h: Tensor[(4, 8), float32],
                  %c: Tensor[(4, 8), float32]) -> Tensor[(4, 8), float32] {
    %0 = less(%i, 5i64);
    if (%0) {
      %1 = add(nn.dense(%x, %wi, units=32), nn.dense(%h, %wh, units=32));
      %2 = split(%1, indices_or_sections=4, axis=1);
      %3 = add(multiply(sigmoid(%2.0), %c),
               multiply(sigmoid(%2.1), tanh(%2.2)));
      %4 = multiply(sigmoid(%2.3), tanh(%3));
      %loop(add(%i, 1i64), %4, %3)
    } else {
      %h
    }
  };
  %5 = %loop(0i64, %x, %x);
  %6 = greater(sum(%5), 0f);
  if (%6) { exp(%5) } else { tanh(%5) }
})";

// Convolutions of bytes, and a product of bytes.
constexpr char kBytes[] = R"(#[version = "0.0.5"]
def @main(%x: Tensor[(1, 3, 13, 11), uint8], %w0: Tensor[(40, 3, 3, 3), int8],
          %w1: Tensor[(40, 40, 3, 3), int8], %w2: Tensor[(10, 480), int8]) {
  %0 = nn.conv2d(%x, %w0, padding=[1, 1, 1, 1], channels=40,
                 kernel_size=[3, 3], out_dtype="int32");
  %1 = round(multiply(cast(%0, dtype="float32"), 0.02f));
  %2 = cast(clip(%1, a_min=0f, a_max=255f), dtype="uint8");
  %3 = nn.max_pool2d(%2, pool_size=[2, 2], strides=[2, 2]);
  %4 = nn.conv2d(%3, %w1, channels=40, kernel_size=[3, 3],
                 out_dtype="int32");
  %5 = round(multiply(cast(%4, dtype="float32"), 0.01f));
  %6 = cast(clip(%5, a_min=0f, a_max=255f), dtype="uint8");
  %7 = cast(reshape(%6, newshape=[1, 480]), dtype="int32");
  nn.dense(%7, cast(%w2, dtype="int32"), units=10, out_dtype="int32")
})";

absl::StatusOr<OneAnswer> MakeNetwork(const char* text) {
  BATON_ASSIGN_OR_RETURN(IRModule module, cpu::WithWeights(text));
  return MakeOneAnswer(std::move(module));
}

class RunTest : public ::testing::TestWithParam<const char*> {};

constexpr const char* kNames[] = {"Maps", "Searches", "Recurrent", "Bytes"};

INSTANTIATE_TEST_SUITE_P(Networks, RunTest,
                         ::testing::Values(kNetwork, kSearches, kRecurrent,
                                           kBytes),
                         [](const ::testing::TestParamInfo<const char*>& info) {
                           return std::string(kNames[info.index]);
                         });

TEST_P(RunTest, NoStepOfTheNetworkIsTheEvaluators) {
  BATON_ASSERT_OK_AND_ASSIGN(const OneAnswer one, MakeNetwork(GetParam()));
  BATON_ASSERT_OK_AND_ASSIGN(const Executable executable,
                             Compile(one.module, {}));
  EXPECT_EQ(executable.evaluated_part(), nullptr);
  for (const executor::StepNote& note : executable.plan().notes) {
    EXPECT_FALSE(note.is_fallback) << note.kernel;
  }
}

// A session whose views are made before it runs.
struct Prepared {
  std::unique_ptr<Session> session;
  std::vector<TensorView> inputs;
  MutableTensor result;
  std::vector<MutableTensorView> outputs;
};

absl::StatusOr<std::unique_ptr<Prepared>> Prepare(const OneAnswer& one,
                                                  int threads) {
  BATON_ASSIGN_OR_RETURN(const Executable executable,
                         Compile(one.module, {.max_threads = threads}));
  BATON_ASSIGN_OR_RETURN(std::unique_ptr<Session> session,
                         Session::Create(executable));
  const Executable::Port& port = executable.outputs()[0];
  BATON_ASSIGN_OR_RETURN(MutableTensor result,
                         MutableTensor::Create(port.dtype, port.shape));
  auto prepared = std::make_unique<Prepared>(
      Prepared{std::move(session),
               std::vector<TensorView>(one.inputs.begin(), one.inputs.end()),
               std::move(result),
               {}});
  prepared->outputs.emplace_back(prepared->result);
  return prepared;
}

TEST_P(RunTest, AllocatesNothingAndTakesNoLock) {
  BATON_ASSERT_OK_AND_ASSIGN(const OneAnswer one, MakeNetwork(GetParam()));
  for (const int threads : {1, 2}) {
    BATON_ASSERT_OK_AND_ASSIGN(const std::unique_ptr<Prepared> run,
                               Prepare(one, threads));
    WorkerPool pool(threads);
    const int64_t allocations = testing::NumAllocations();
    const int64_t locks = testing::NumLocks();
    bool all_ran = true;
    for (int k = 0; k < 10; ++k) {
      all_ran = all_ran && run->session
                               ->Run(run->inputs, run->outputs,
                                     threads == 1 ? nullptr : &pool)
                               .ok();
    }
    EXPECT_EQ(testing::NumAllocations(), allocations) << threads << " threads";
    if (threads == 1) {
      EXPECT_EQ(testing::NumLocks(), locks);
    }
    EXPECT_TRUE(all_ran);
    EXPECT_EQ(HashOf({std::move(run->result).Freeze()}), one.hash);
  }
}

TEST_P(RunTest, MakesNoSystemCall) {
  if (!testing::CanConfine()) {
    GTEST_SKIP() << "seccomp's strict mode cannot be entered here";
  }
  BATON_ASSERT_OK_AND_ASSIGN(const OneAnswer one, MakeNetwork(GetParam()));
  BATON_ASSERT_OK_AND_ASSIGN(const std::unique_ptr<Prepared> run,
                             Prepare(one, 1));
  // The pages of the arena are there after the first run.
  EXPECT_EQ(testing::RunConfined([&] {
              bool all_ran = true;
              for (int k = 0; k < 3; ++k) {
                all_ran = all_ran &&
                          run->session->Run(run->inputs, run->outputs).ok();
              }
              return all_ran;
            }),
            0);
}

}  // namespace
}  // namespace baton
