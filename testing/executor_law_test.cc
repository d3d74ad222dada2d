// A law of recorded programs: the executor gives the bits of the evaluator. The
// programs are the conformance cases of passes, as they were and as passes left
// them, ONNX models, and random ones. What does not evaluate, or has no plan, is
// passed over and counted. BATON_LONG_TESTS=1 takes all cases, else one of
// eight. BATON_PROGRAMS=N tries N random programs, from seed BATON_FIRST_SEED
// on.
//
// And one hash for an ONNX model as imported and one after `onnx,O3`: over the
// evaluator and the executor for all widths of vectors and numbers of threads.

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <filesystem>
#include <memory>
#include <string>
#include <tuple>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/ascii.h"
#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/string_view.h"
#include "baton/backend/cpu/executable.h"
#include "baton/backend/cpu/one_answer_test_util.h"
#include "baton/base/parallel_for.h"
#include "baton/base/tensor.h"
#include "baton/base/tensor_difference.h"
#include "baton/base/worker_pool.h"
#include "baton/instrument/special_inputs.h"
#include "baton/ir/module.h"
#include "baton/ir/module_text.h"
#include "baton/onnx/import.h"
#include "baton/relay/ir/expr.h"
#include "baton/relay/ir/infer_type.h"
#include "baton/relay/ir/text_printer.h"
#include "baton/relay/runtime/evaluator.h"
#include "baton/relay/runtime/random_inputs.h"
#include "baton/relay/runtime/value.h"
#include "baton/relay/runtime/value_tensors.h"
#include "baton/testing/conformance.h"
#include "baton/testing/golden.h"
#include "baton/testing/random_program.h"
#include "baton/testing/status_matchers.h"
#include "baton/testing/test_settings.h"
#include "gtest/gtest.h"

namespace baton::testing {
namespace {

using relay::Value;

struct Count {
  int compared = 0;          // all has a plan
  int compared_in_part = 0;  // the evaluator computes a part
  int not_evaluated = 0;
  int without_plan = 0;
};

// The executor's error is the evaluator's; runs agree in each bit.
void Compare(const IRModule& module, Count& count, bool special = false) {
  const absl::StatusOr<relay::Function> main =
      module.Lookup<relay::Function>("main");
  if (!main.ok()) {
    ++count.not_evaluated;
    return;
  }
  absl::StatusOr<std::vector<Value>> args = relay::RandomInputs(*main, 5);
  if (special && args.ok()) {
    for (Value& arg : *args) arg = WithSpecialNumbers(arg);
  }
  relay::EvaluateOptions limits;
  limits.max_call_depth = 1000;
  limits.max_calls = 100'000;
  const absl::StatusOr<Value> want =
      args.ok() ? relay::EvaluateFunction(module, "main", *args, limits)
                : absl::StatusOr<Value>(args.status());
  if (!want.ok() ||
      std::any_of(args->begin(), args->end(),
                  [](const Value& arg) { return !arg.is_tensor(); })) {
    ++count.not_evaluated;
    return;
  }
  const absl::StatusOr<Executable> executable =
      Compile(module, {.max_threads = 2});
  if (!executable.ok()) {
    EXPECT_NE(executable.status().code(), absl::StatusCode::kInternal)
        << executable.status();
    ++count.without_plan;
    return;
  }
  BATON_ASSERT_OK_AND_ASSIGN(const std::unique_ptr<Session> session,
                             Session::Create(*executable));
  const std::vector<Tensor> expected = relay::TensorsOf(*want);
  std::vector<Tensor> inputs;
  for (const Value& arg : *args) inputs.push_back(arg.tensor());
  ++(executable->evaluated_part() == nullptr ? count.compared
                                             : count.compared_in_part);
  WorkerPool pool(2);
  for (ParallelFor* const threads :
       {static_cast<ParallelFor*>(nullptr), static_cast<ParallelFor*>(&pool)}) {
    BATON_ASSERT_OK_AND_ASSIGN(const std::vector<Tensor> got,
                               session->Run(inputs, threads));
    ASSERT_EQ(got.size(), expected.size());
    for (size_t i = 0; i < got.size(); ++i) {
      EXPECT_TRUE(HaveSameElements(got[i], expected[i])) << "output " << i;
    }
  }
}

void Print(absl::string_view name, const Count& count) {
  std::printf(
      "%s: %d compared, %d more of which the evaluator computes a part, %d "
      "without a value, %d without a plan\n",
      std::string(name).c_str(), count.compared, count.compared_in_part,
      count.not_evaluated, count.without_plan);
}

TEST(ExecutorLawTest, ConformanceCases) {
  BATON_ASSERT_OK_AND_ASSIGN(
      const std::vector<ConformanceCase> cases,
      ReadConformanceCases(RunfilePath("testing/conformance")));
  Count count;
  for (size_t i = 0; i < cases.size(); i += LongOrShort(1, 24)) {
    const ConformanceCase& c = cases[i];
    for (const std::string& text : {c.before, c.after}) {
      if (text.empty()) continue;
      SCOPED_TRACE(absl::StrCat(c.name(), ":\n", text));
      const absl::StatusOr<IRModule> parsed = ParseModule(text);
      const absl::StatusOr<IRModule> module =
          parsed.ok() ? relay::InferTypes(*parsed) : parsed.status();
      if (module.ok()) Compare(*module, count);
    }
  }
  Print("conformance cases", count);
  EXPECT_GT(count.compared, LongOrShort(400, 15));
}

absl::StatusOr<IRModule> Imported(const std::string& path) {
  const auto bytes =
      std::make_shared<const std::string>(ReadFileOrFail(RunfilePath(path)));
  return ImportOnnx(*bytes, bytes);
}

// Paths of the models below a folder, sorted.
std::vector<std::string> Models(const std::string& folder) {
  std::vector<std::string> paths;
  const std::string root = RunfilePath(folder);
  for (const auto& entry :
       std::filesystem::recursive_directory_iterator(root)) {
    if (entry.path().extension() == ".onnx") {
      paths.push_back(
          absl::StrCat(folder, entry.path().string().substr(root.size())));
    }
  }
  std::sort(paths.begin(), paths.end());
  return paths;
}

TEST(ExecutorLawTest, OnnxModels) {
  Count count;
  for (const char* const folder :
       {"testing/onnx_corpus", "testing/onnx_cases"}) {
    const std::vector<std::string> paths = Models(folder);
    EXPECT_GT(paths.size(), 50);
    for (size_t i = 0; i < paths.size(); i += IsLongTest() ? 1 : 8) {
      SCOPED_TRACE(paths[i]);
      const absl::StatusOr<IRModule> module = Imported(paths[i]);
      if (module.ok()) Compare(*module, count);
    }
  }
  Print("ONNX models", count);
  EXPECT_GT(count.compared, IsLongTest() ? 100 : 10);
}

// Random programs, on plain and on special numbers.
TEST(ExecutorLawTest, RandomPrograms) {
  const uint32_t first = TestSetting("BATON_FIRST_SEED", 0);
  const uint32_t programs =
      TestSetting("BATON_PROGRAMS", NightlyLongOrShort(2000, 700, 100));
  Count count;
  for (uint32_t seed = first; seed < first + programs; ++seed) {
    RandomProgramOptions options = RandomProgramOptions::Hard(seed);
    // Values of data types have no place in a plan.
    options.data_types = false;
    options.functions = options.functions && seed % 3 == 0;
    options.effects = false;
    BATON_ASSERT_OK_AND_ASSIGN(const IRModule module,
                               RandomProgram(seed, options));
    const ::testing::ScopedTrace trace(__FILE__, __LINE__,
                                       absl::StrCat("seed ", seed));
    Compare(module, count, /*special=*/false);
    Compare(module, count, /*special=*/true);
    if (HasFailure()) FAIL() << AsText(module);
  }
  Print("random programs", count);
  EXPECT_GT(count.compared, static_cast<int>(programs) / 4);
}

constexpr const char* kModels[] = {
    "testing/onnx_light/light_squeezenet.onnx",
    "testing/onnx_light/light_shufflenet.onnx",
    "testing/onnx_corpus/basic_conv_with_padding.onnx",
    "testing/onnx_corpus/lstm_with_peepholes.onnx",
    "testing/onnx_corpus/gru_batchwise.onnx",
    "testing/onnx_corpus/qlinearconv.onnx",
    "testing/onnx_corpus/matmulinteger.onnx",
    "testing/onnx_cases/test_ms_attention/model.onnx",
    "testing/onnx_cases/test_attention_4d_with_qk_matmul_softmax/model.onnx",
    "testing/pytorch_cases/test_quantized/model.onnx"};

class OneAnswerTest
    : public ::testing::TestWithParam<std::tuple<const char*, NamedWidth>> {};

TEST_P(OneAnswerTest, AsImportedAndOptimized) {
  const auto& [path, width] = GetParam();
  if (!IsLongTest() && absl::StrContains(path, "onnx_light")) {
    GTEST_SKIP() << "whole networks are part of the long form";
  }
  for (const bool is_optimized : {false, true}) {
    SCOPED_TRACE(is_optimized ? "after onnx,O3" : "as imported");
    BATON_ASSERT_OK_AND_ASSIGN(IRModule module, Imported(path));
    if (is_optimized) {
      BATON_ASSERT_OK_AND_ASSIGN(module, RunNamedPipeline("onnx,O3", module));
    }
    ExpectOneAnswer(module, width, relay::RandomRange::kMild,
                    /*all_thread_counts=*/true);
  }
}

INSTANTIATE_TEST_SUITE_P(
    Models, OneAnswerTest,
    ::testing::Combine(::testing::ValuesIn(kModels),
                       ::testing::ValuesIn(kNamedWidths)),
    [](const ::testing::TestParamInfo<OneAnswerTest::ParamType>& info) {
      std::string name;
      for (const char c :
           absl::string_view(std::get<0>(info.param)).substr(8)) {
        if (absl::ascii_isalnum(static_cast<unsigned char>(c))) name += c;
      }
      return absl::StrCat(name, "Bits", std::get<1>(info.param).name);
    });

}  // namespace
}  // namespace baton::testing
