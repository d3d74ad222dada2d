// A law of modules and executables: threads may use one at the same time. Each
// thread prints, types, compares, writes, optimizes, evaluates, compiles and
// runs the same module, and has the results that the others have. Under the
// thread sanitizer, nothing that they share is a data race.
// BATON_PROGRAMS=N tries N random programs, from seed BATON_FIRST_SEED on.

#include <array>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <thread>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/strings/str_cat.h"
#include "absl/types/span.h"
#include "baton/backend/cpu/executable.h"
#include "baton/base/parallel_for.h"
#include "baton/base/status_macros.h"
#include "baton/base/tensor.h"
#include "baton/base/worker_pool.h"
#include "baton/ir/binary_writer.h"
#include "baton/ir/module.h"
#include "baton/ir/module_text.h"
#include "baton/ir/structural_equal.h"
#include "baton/relay/ir/expr.h"
#include "baton/relay/ir/infer_type.h"
#include "baton/relay/ir/text_parser.h"
#include "baton/relay/ir/text_printer.h"
#include "baton/relay/runtime/evaluator.h"
#include "baton/relay/runtime/random_inputs.h"
#include "baton/relay/runtime/value.h"
#include "baton/relay/runtime/value_tensors.h"
#include "baton/testing/random_program.h"
#include "baton/testing/status_matchers.h"
#include "baton/testing/test_settings.h"
#include "gtest/gtest.h"

namespace baton::testing {
namespace {

using relay::Value;

constexpr size_t kThreads = 3;

// The bytes of tensors.
std::string BytesOf(absl::Span<const Tensor> tensors) {
  std::string bytes;
  for (const Tensor& tensor : tensors) {
    absl::StrAppend(&bytes, tensor.TypeToString(), tensor.bytes());
  }
  return bytes;
}

// The results of a thread.
struct Found {
  std::string text;
  std::string binary;
  std::string optimized;
  std::string value;     // of the evaluator
  std::string own;       // of an executable of the thread
  std::string shared;    // of an executable of all threads
  bool is_equal = true;  // to itself, read from its text
};

absl::StatusOr<std::string> RunOf(const Executable& executable,
                                  absl::Span<const Tensor> inputs,
                                  ParallelFor* pool) {
  BATON_ASSIGN_OR_RETURN(const std::unique_ptr<Session> session,
                         Session::Create(executable));
  std::string bytes;
  for (int run = 0; run < 2; ++run) {
    BATON_ASSIGN_OR_RETURN(const std::vector<Tensor> outputs,
                           session->Run(inputs, pool));
    bytes = BytesOf(outputs);
  }
  return bytes;
}

// A status in place of what was asked for: threads have the same errors, too.
std::string TextOr(const absl::StatusOr<std::string>& text) {
  return text.ok() ? *text : text.status().ToString();
}

Found Use(const IRModule& module, absl::Span<const Value> args,
          const absl::StatusOr<Executable>& executable) {
  Found found;
  found.text = AsText(module);
  const absl::StatusOr<IRModule> parsed = ParseModule(found.text);
  found.is_equal = parsed.ok() && StructuralEqual(*parsed, module);
  const absl::StatusOr<BinaryModule> binary = WriteBinary(module);
  if (binary.ok()) found.binary = binary->ToString();
  const auto optimize = [&]() -> absl::StatusOr<std::string> {
    BATON_ASSIGN_OR_RETURN(IRModule optimized,
                           RunNamedPipeline("onnx,O3", module));
    BATON_ASSIGN_OR_RETURN(optimized, relay::InferTypes(optimized));
    return AsText(optimized);
  };
  found.optimized = TextOr(optimize());
  std::vector<Tensor> inputs;
  for (const Value& arg : args) {
    if (arg.is_tensor()) inputs.push_back(arg.tensor());
  }
  const auto evaluate = [&]() -> absl::StatusOr<std::string> {
    relay::EvaluateOptions limits;
    limits.max_call_depth = 1000;
    limits.max_calls = 100'000;
    BATON_ASSIGN_OR_RETURN(
        const Value value,
        relay::EvaluateFunction(module, "main", args, limits));
    return BytesOf(relay::TensorsOf(value));
  };
  found.value = TextOr(evaluate());
  WorkerPool pool(2);
  const auto compile_and_run = [&]() -> absl::StatusOr<std::string> {
    BATON_ASSIGN_OR_RETURN(const Executable own,
                           Compile(module, {.max_threads = 2}));
    return RunOf(own, inputs, &pool);
  };
  found.own = TextOr(compile_and_run());
  found.shared = executable.ok() ? TextOr(RunOf(*executable, inputs, &pool))
                                 : executable.status().ToString();
  return found;
}

TEST(SharedModuleTest, ThreadsFindTheSame) {
  const uint32_t first = TestSetting("BATON_FIRST_SEED", 0);
  const uint32_t programs =
      TestSetting("BATON_PROGRAMS", IsLongTest() ? 200 : 20);
  uint32_t num_run = 0;
  for (uint32_t seed = first; seed < first + programs; ++seed) {
    SCOPED_TRACE(absl::StrCat("seed ", seed));
    RandomProgramOptions options = RandomProgramOptions::Hard(seed);
    options.effects = false;
    // Values of data types have no place in a plan.
    options.data_types = options.data_types && seed % 4 == 0;
    options.functions = options.functions && seed % 3 == 0;
    BATON_ASSERT_OK_AND_ASSIGN(const IRModule module,
                               RandomProgram(seed, options));
    BATON_ASSERT_OK_AND_ASSIGN(
        const std::vector<Value> args,
        relay::RandomInputs(module.Find<relay::Function>("main"), 5));
    const absl::StatusOr<Executable> executable =
        Compile(module, {.max_threads = 2});
    std::array<Found, kThreads> found;
    std::vector<std::thread> threads;
    threads.reserve(kThreads);
    for (Found& one : found) {
      threads.emplace_back([&] { one = Use(module, args, executable); });
    }
    for (std::thread& thread : threads) thread.join();
    EXPECT_TRUE(found[0].is_equal);
    EXPECT_NE(found[0].binary, "");
    for (const Found& one : found) {
      EXPECT_EQ(one.text, found[0].text);
      EXPECT_EQ(one.is_equal, found[0].is_equal);
      EXPECT_EQ(one.optimized, found[0].optimized);
      EXPECT_TRUE(one.binary == found[0].binary);
      EXPECT_TRUE(one.value == found[0].value);
      EXPECT_TRUE(one.own == found[0].own);
      EXPECT_TRUE(one.shared == found[0].own);
    }
    if (executable.ok()) {
      ++num_run;
      EXPECT_TRUE(found[0].own == found[0].value);
    }
  }
  EXPECT_GT(num_run, programs / 4);
}

}  // namespace
}  // namespace baton::testing
