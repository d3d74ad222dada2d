#include "baton/backend/cpu/executable.h"

#include <algorithm>
#include <array>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <future>
#include <iterator>
#include <memory>
#include <random>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "absl/strings/string_view.h"
#include "absl/strings/substitute.h"
#include "absl/types/span.h"
#include "baton/backend/cpu/packed_constants.h"
#include "baton/base/dtype.h"
#include "baton/base/parallel_for.h"
#include "baton/base/status_macros.h"
#include "baton/base/tensor.h"
#include "baton/base/tensor_difference.h"
#include "baton/base/worker_pool.h"
#include "baton/ir/module.h"
#include "baton/ir/type.h"
#include "baton/relay/bind.h"
#include "baton/relay/ir/expr.h"
#include "baton/relay/ir/infer_type.h"
#include "baton/relay/runtime/evaluator.h"
#include "baton/relay/runtime/random_inputs.h"
#include "baton/relay/runtime/value.h"
#include "baton/relay/runtime/value_tensors.h"
#include "baton/runtime/executor/plan.h"
#include "baton/runtime/executor/runtime_instrument.h"
#include "baton/testing/parse_typed.h"
#include "baton/testing/status_matchers.h"
#include "baton/testing/workloads/bound_workload.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"

namespace baton {
namespace {

using relay::Value;

using ::baton::testing::IsOk;
using ::baton::testing::StatusIs;
using ::testing::Contains;
using ::testing::HasSubstr;

absl::StatusOr<IRModule> TypedWorkload(const std::string& spec) {
  BATON_ASSIGN_OR_RETURN(const IRModule module, testing::BoundWorkload(spec));
  return relay::InferTypes(module);
}

// The executor gives the bits of the evaluator, for any number of threads.
void ExpectSameAsEvaluator(const IRModule& module, uint32_t seed = 7) {
  const relay::Function main = module.Find<relay::Function>("main");
  BATON_ASSERT_OK_AND_ASSIGN(const std::vector<Value> args,
                             relay::RandomInputs(main, seed));
  BATON_ASSERT_OK_AND_ASSIGN(const Value want,
                             relay::EvaluateFunction(module, "main", args));
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
        EXPECT_TRUE(HaveSameElements(got[i], results[i].tensor()))
            << "output " << i << ", run " << run;
      }
    }
  }
}

class WorkloadsTest : public ::testing::TestWithParam<const char*> {};

TEST_P(WorkloadsTest, GiveTheBitsOfTheEvaluator) {
  BATON_ASSERT_OK_AND_ASSIGN(const IRModule module, TypedWorkload(GetParam()));
  ExpectSameAsEvaluator(module);
}

INSTANTIATE_TEST_SUITE_P(
    All, WorkloadsTest,
    ::testing::Values(
        "mlp", "resnet{num_layers=18,image_shape=[3,32,32],num_classes=10}",
        "mobilenet{num_classes=10,image_shape=[3,64,64]}", "dqn", "dcgan",
        "lstm{iterations=3,num_hidden=8}"));

// `tensor`, of which no element is aligned.
Tensor Misaligned(const Tensor& tensor) {
  const auto owner = std::make_shared<std::string>(1, ' ');
  owner->append(tensor.bytes().data(), tensor.bytes().size());
  return *Tensor::FromUnaligned(tensor.dtype(), tensor.shape(),
                                absl::string_view(*owner).substr(1), owner,
                                /*is_mapped=*/false);
}

TEST(UnalignedWeightsTest, ArePackedAndTakenFromWhereTheyAre) {
  const IRModule module = testing::ParseTyped(R"(#[version = "0.0.5"]
def @main(%ids: Tensor[(9), int32], %x: Tensor[(1, 16, 6, 6), float32],
          %table: Tensor[(50, 40), float32], %w: Tensor[(40, 52), float32],
          %d: Tensor[(20, 40), float32], %c: Tensor[(32, 16, 3, 3), float32],
          %o: Tensor[(5, 16, 1, 1), float32], %e: Tensor[(9, 52), float32]) {
  %0 = take(%table, %ids, axis=0);
  %1 = add(nn.matmul(%0, %w, units=None), %e);
  %2 = nn.conv2d(%x, %c, padding=[1, 1, 1, 1], kernel_size=[3, 3]);
  (%1, nn.dense(%0, %d, units=None), %2, nn.conv2d(%x, %o, kernel_size=[1, 1]))
})");
  const auto main = module.Find<relay::Function>("main");
  relay::NamedTensors weights;
  std::mt19937 random(3);
  for (size_t i = 2; i < main->params().size(); ++i) {
    const relay::Var& param = main->params()[i];
    const auto shape = ConstDims(param->tensor_type()->shape());
    MutableTensor values = *MutableTensor::Create(DType::Float(32), *shape);
    for (float& value : values.span<float>()) {
      value = std::normal_distribution<float>()(random);
    }
    weights.emplace_back(param->name(), Misaligned(std::move(values).Freeze()));
  }
  BATON_ASSERT_OK_AND_ASSIGN(const relay::Function bound,
                             relay::BindParamsByName(main, weights));
  IRModule with_weights;
  with_weights.Set("main", bound);
  BATON_ASSERT_OK_AND_ASSIGN(with_weights, relay::InferTypes(with_weights));
  BATON_ASSERT_OK_AND_ASSIGN(const Executable executable,
                             Compile(with_weights, {}));
  EXPECT_THAT(executable.plan().constants,
              Contains(::testing::Field(
                  &executor::Constant::data,
                  static_cast<const void*>(weights[0].second.bytes().data()))));
  ExpectSameAsEvaluator(with_weights);
}

// The kernels of the plan's steps.
std::vector<std::string> KernelsOf(const IRModule& module) {
  const absl::StatusOr<Executable> executable = Compile(module, {});
  EXPECT_THAT(executable, IsOk());
  std::vector<std::string> kernels;
  if (!executable.ok()) return kernels;
  for (const executor::StepNote& note : executable->plan().notes) {
    kernels.push_back(note.kernel);
  }
  return kernels;
}

TEST(ControlFlowTest, Branches) {
  const IRModule module = testing::ParseTyped(R"(#[version = "0.0.5"]
def @main(%x: Tensor[(2, 3), float32], %y: Tensor[(3), float32]) {
  %0 = add(%x, %y);
  %1 = sum(%y);
  %2 = greater(%1, 0f);
  %3 = if (%2) {
    %4 = exp(%0);
    (%4, %y)
  } else {
    %5 = less(%1, -0.5f);
    %6 = if (%5) { tanh(%x) } else { %0 };
    (%6, multiply(%y, 2f))
  };
  (%3.0, add(%3.1, %y), subtract(%3.0, %0))
})");
  EXPECT_THAT(KernelsOf(module), Contains("branch"));
  for (const uint32_t seed : {1, 2, 3, 4, 5, 6}) {
    ExpectSameAsEvaluator(module, seed);
  }
}

// A function that goes through `count` steps from %x. `step` has $0 for the
// state before, $1 for the state after, $2 for digits that no other step has, and
// $3 for a number.
std::string Chain(int count, absl::string_view step,
                  absl::string_view first = "%x") {
  std::string text = R"(#[version = "0.0.5"]
def @main(%x: Tensor[(2, 3), float32], %y: Tensor[(3), float32]) {
)";
  std::string state(first);
  for (int i = 0; i < count; ++i) {
    const std::string digits = absl::StrCat(1000 + i);
    const std::string next = absl::StrCat("%9", digits);
    absl::StrAppend(&text,
                    absl::Substitute(step, state, next, digits, i % 5 - 2));
    state = next;
  }
  return absl::StrCat(text, state, "\n}");
}

// Each branch shares the one before with its condition, with its other branch
// alone, or with a branch inside of the other.
TEST(ControlFlowTest, ChainsOfBranches) {
  for (const absl::string_view step :
       {"$1 = if (greater(sum($0), $3f)) { tanh($0) } else { cos($0) };\n",
        "$1 = if (greater(sum(%y), $3f)) { tanh($0) } else { cos($0) };\n",
        "%2$2 = if (less(sum(%y), $3f)) { cos($0) } else { sin($0) };\n"
        "$1 = if (greater(sum(%y), $3f)) { tanh($0) } else { %2$2 };\n",
        "%2$2 = if (less(sum(%y), $3f)) { (cos($0), %y) } else { ($0, %y) };\n"
        "$1 = if (greater(sum(%y), $3f)) { %2$2.0 } else { tanh($0) };\n"}) {
    SCOPED_TRACE(step);
    const IRModule module = testing::ParseTyped(Chain(40, step));
    EXPECT_LE(KernelsOf(module).size(), 40 * 6);
    ExpectSameAsEvaluator(module, 1);
    ExpectSameAsEvaluator(module, 2);
  }
}

// No branch is inside of another.
TEST(ControlFlowTest, ChainsOfManyBranches) {
  const IRModule module = testing::ParseTyped(Chain(
      400, "$1 = if (greater(sum(%y), $3f)) { tanh($0) } else { cos($0) };\n"));
  EXPECT_THAT(Compile(module, {}), IsOk());
}

TEST(ControlFlowTest, BranchesThatAreTooDeepAreRefusedAsSuch) {
  const IRModule module = testing::ParseTyped(Chain(
      250, "$1 = if (greater(sum(%y), $3f)) { tanh($0) } else { %x };\n"));
  EXPECT_THAT(
      Compile(module, {.allow_evaluated_part = false}),
      StatusIs(absl::StatusCode::kUnimplemented, "200 inside of each other"));
  ExpectSameAsEvaluator(module);
}

// Neither state needs both before it surely.
TEST(ControlFlowTest, ChainsOfStatesThatCross) {
  const IRModule module = testing::ParseTyped(
      Chain(30,
            "%3$2 = greater(sum(%y), $3f);\n"
            "%1$2 = if (%3$2) { tanh($0.0) } else { cos($0.1) };\n"
            "%2$2 = if (%3$2) { sin($0.1) } else { atan($0.0) };\n"
            "$1 = (%1$2, %2$2);\n",
            "(%x, negative(%x))"));
  EXPECT_LE(KernelsOf(module).size(), 30 * 12);
  ExpectSameAsEvaluator(module, 1);
  ExpectSameAsEvaluator(module, 2);
}

// Integer divisions may fail, so they are not computed early.
TEST(ControlFlowTest, CopiesOfBranchesAreLimited) {
  const std::string text =
      Chain(30,
            "%3$2 = greater(sum(%y), $3f);\n"
            "%1$2 = if (%3$2) { divide($0.0, 3) } else { divide($0.1, 5) };\n"
            "%2$2 = if (%3$2) { divide($0.1, 7) } else { divide($0.0, 9) };\n"
            "$1 = (%1$2, %2$2);\n",
            "(cast(%x, dtype=\"int32\"), cast(%x, dtype=\"int32\"))");
  const absl::Status status = Compile(testing::ParseTyped(text), {}).status();
  EXPECT_THAT(status, StatusIs(absl::StatusCode::kResourceExhausted,
                               "steps in branches"));
  EXPECT_THAT(status, StatusIs(absl::StatusCode::kResourceExhausted, "divide"));
}

TEST(ControlFlowTest, BranchesShareTheirPackedWeights) {
  constexpr int kBranches = 6;
  std::string text = R"(#[version = "0.0.5"]
def @main(%x: Tensor[(1, 96), float32], %w: Tensor[(96, 96), float32]) {
)";
  std::string state = "%x";
  for (int i = 0; i < kBranches; ++i) {
    const std::string next = absl::StrCat("%", i);
    absl::StrAppend(&text, absl::Substitute("$1 = if (greater(sum($0), 0f)) {\n"
                                            "  nn.matmul($0, %w, units=None)\n"
                                            "} else { cos($0) };\n",
                                            state, next));
    state = next;
  }
  const IRModule module = testing::ParseTyped(absl::StrCat(text, state, "\n}"));
  MutableTensor weight = *MutableTensor::Create(DType::Float(32), {96, 96});
  std::mt19937 random(3);
  for (float& value : weight.span<float>()) {
    value = std::normal_distribution<float>()(random) / 10;
  }
  IRModule bound;
  BATON_ASSERT_OK_AND_ASSIGN(
      const relay::Function main,
      relay::BindParamsByName(module.Find<relay::Function>("main"),
                              {{"w", std::move(weight).Freeze()}}));
  bound.Set("main", main);
  BATON_ASSERT_OK_AND_ASSIGN(bound, relay::InferTypes(bound));
  cpu::PackedConstants packed;
  ASSERT_THAT(Compile(bound, {.packed = &packed}), IsOk());
  ASSERT_EQ(packed.entries().size(), kBranches);
  for (const cpu::PackedConstants::Entry& entry : packed.entries()) {
    EXPECT_TRUE(entry.tensor.SharesBufferWith(packed.entries()[0].tensor));
  }
  for (const uint32_t seed : {1, 2, 3}) ExpectSameAsEvaluator(bound, seed);
}

// Variables of lets in branches, which both branches inside use.
TEST(ControlFlowTest, BranchesShareVariables) {
  const IRModule module = testing::ParseTyped(R"(#[version = "0.0.5"]
def @main(%x: Tensor[(2, 3), float32], %y: Tensor[(3), float32]) {
  let %s = sum(%y);
  if (greater(%s, 0f)) {
    let %f = fn (%z: Tensor[(2, 3), float32]) { add(%z, %x) };
    let %u = tanh(%x);
    %0 = %f(%u);
    if (greater(%s, 1f)) {
      let %v = if (less(%s, 2f)) { sin(%0) } else { cos(%0) };
      add(%v, %u)
    } else {
      exp(%0)
    }
  } else {
    let %w = sin(%x);
    if (less(%s, -1f)) { %w } else { negative(%w) }
  }
})");
  for (const uint32_t seed : {1, 2, 3, 4, 5, 6}) {
    ExpectSameAsEvaluator(module, seed);
  }
}

// A value that is computed before a let is visited can need its variable.
TEST(ControlFlowTest, BranchesShareVariablesOfParameters) {
  const IRModule module = testing::ParseTyped(R"(#[version = "0.0.5"]
def @main(%x: Tensor[(3), float32], %y: Tensor[(3), float32]) {
  let %s = sum(%y);
  if (greater(%s, 0f)) {
    %x
  } else {
    let %p = %y;
    let %q = sin(%p);
    if (less(%s, -1f)) { add(%x, %p) } else { add(%x, %q) }
  }
})");
  for (const uint32_t seed : {1, 2, 3, 4, 5, 6}) {
    ExpectSameAsEvaluator(module, seed);
  }
}

TEST(ControlFlowTest, BranchesOnInputs) {
  const IRModule module = testing::ParseTyped(R"(#[version = "0.0.5"]
def @main(%c: bool, %x: Tensor[(2, 3), float32]) {
  if (%c) { %x } else { negative(%x) }
})");
  for (const uint32_t seed : {1, 2, 3, 4}) ExpectSameAsEvaluator(module, seed);
}

constexpr char kLoop[] = R"(#[version = "0.0.5"]
def @main(%x: Tensor[(2, 3), float32], %step: Tensor[(3), float32]) {
  %0 = abs(%step);
  let %loop = fn (%i: int64, %s: Tensor[(2, 3), float32],
                  %t: (Tensor[(3), float32], float32))
      -> (Tensor[(2, 3), float32], float32) {
    %1 = less(%i, 5i64);
    let %sum = sum(%s);
    %2 = less(%sum, 100f);
    %3 = logical_and(%1, %2);
    if (%3) {
      %4 = add(%s, %0);
      %5 = add(%t.0, %step);
      %6 = multiply(%t.1, 1.5f);
      %loop(add(%i, 1i64), add(%4, %5), (%5, %6))
    } else {
      (%s, add(%t.1, %sum))
    }
  };
  %7 = %loop(0i64, %x, (%step, 1f));
  (exp(%7.0), %7.1)
})";

TEST(ControlFlowTest, FunctionsThatCallThemselvesAtTheirEndAreLoops) {
  const IRModule module = testing::ParseTyped(kLoop);
  EXPECT_THAT(KernelsOf(module), Contains("loop"));
  for (const uint32_t seed : {1, 2, 3}) ExpectSameAsEvaluator(module, seed);
}

TEST(ControlFlowTest, LoopsOfGlobalFunctionsThatGoOnIfFalse) {
  const IRModule module = testing::ParseTyped(R"(#[version = "0.0.5"]
def @halve(%x: Tensor[(4), float32], %n: int32) -> Tensor[(4), float32] {
  %0 = equal(%n, 0);
  if (%0) { %x } else { @halve(multiply(%x, 0.5f), subtract(%n, 1)) }
}
def @main(%x: Tensor[(4), float32]) {
  %0 = @halve(%x, 3);
  add(%0, @halve(%0, 2))
})");
  EXPECT_THAT(KernelsOf(module), Contains("loop").Times(2));
  ExpectSameAsEvaluator(module, 1);
}

TEST(ControlFlowTest, OtherRecursionIsEvaluated) {
  const IRModule module = testing::ParseTyped(R"(#[version = "0.0.5"]
def @sum(%x: Tensor[(4), float32], %n: int32) -> Tensor[(4), float32] {
  %0 = equal(%n, 0);
  if (%0) { %x } else { add(%x, @sum(exp(%x), subtract(%n, 1))) }
}
def @main(%x: Tensor[(4), float32]) {
  tanh(@sum(%x, 3))
})");
  EXPECT_THAT(KernelsOf(module), Contains("evaluator"));
  ExpectSameAsEvaluator(module, 1);
}

TEST(ControlFlowTest, ShapesThatAreNotNumbersAreRefusedWithTheirPlace) {
  EXPECT_THAT(Compile(testing::ParseTyped(R"(#[version = "0.0.5"]
def @main(%x: Tensor[(?, 3), float32]) {
  exp(%x)
})"),
                      {})
                  .status(),
              StatusIs(absl::StatusCode::kUnimplemented,
                       "a plan needs shapes that are numbers, not "
                       "Tensor[(?, 3), float32]: give the extents"));
}

TEST(ControlFlowTest, ModelsWithoutAnyPlanAreRefusedWithTheirPlace) {
  const absl::Status status =
      Compile(testing::ParseTyped(R"(#[version = "0.0.5"]
def @main(%x: Tensor[(4, 3), float32]) {
  argwhere(%x)
})"),
              {})
          .status();
  EXPECT_THAT(status,
              StatusIs(absl::StatusCode::kUnimplemented,
                       "3:3: error: a plan has no memory for the result of "
                       "argwhere, Tensor[(?, 2), int32]: the values of the "
                       "operands decide how large it is"));
}

// A loop that makes its state longer in each round.
TEST(ControlFlowTest, LoopsWhoseResultsGrowAreRefusedAsSuch) {
  const absl::Status status =
      Compile(testing::ParseTyped(R"(#[version = "0.0.5"]
def @grow(%n: int32, %x: Tensor[(?), float32]) -> Tensor[(?), float32] {
  if (greater(%n, 0)) {
    @grow(subtract(%n, 1), concatenate((%x, %x), axis=0))
  } else {
    %x
  }
}
def @main(%n: int32, %x: Tensor[(3), float32]) -> Tensor[(?), float32] {
  @grow(%n, %x)
})"),
              {})
          .status();
  EXPECT_THAT(status, StatusIs(absl::StatusCode::kUnimplemented,
                               "a plan has no memory for the result of a "
                               "branch or a loop, Tensor[(?), float32]: the "
                               "values of the operands decide how large"));
}

// The plan computes what does not depend on the number of rows, the evaluator
// the rest.
constexpr char kChosenRows[] = R"(#[version = "0.0.5"]
def @main(%x: Tensor[(4, 3), float32], %scale: Tensor[(3), float32]) {
  %0 = multiply(exp(%x), %scale);
  %1 = argwhere(greater(%x, 0f));
  (tanh(%0), take(%0, take(%1, 0, axis=1), axis=0), (%1, %scale))
})";

TEST(EvaluatedPartTest, IsComputedAfterThePlan) {
  const IRModule module = testing::ParseTyped(kChosenRows);
  BATON_ASSERT_OK_AND_ASSIGN(const Executable executable,
                             Compile(module, {.max_threads = 2}));
  ASSERT_NE(executable.evaluated_part(), nullptr);
  EXPECT_THAT(executable.evaluated_part()->reason,
              HasSubstr("a plan has no memory for the result of argwhere"));
  EXPECT_FALSE(executable.plan().steps.empty());
  ASSERT_EQ(executable.outputs().size(), 4u);
  EXPECT_EQ(executable.outputs()[0].shape, (TensorShape{4, 3}));
  EXPECT_EQ(executable.outputs()[1].shape, (TensorShape{-1, 3}));
  EXPECT_EQ(executable.outputs()[2].shape, (TensorShape{-1, 2}));
  EXPECT_EQ(executable.outputs()[2].dtype, DType::Int(32));
  EXPECT_EQ(executable.outputs()[3].shape, (TensorShape{3}));
  const std::unique_ptr<Session> session = *Session::Create(executable);
  WorkerPool pool(2);
  for (const uint32_t seed : {1, 2, 3}) {
    BATON_ASSERT_OK_AND_ASSIGN(
        const std::vector<Value> args,
        relay::RandomInputs(module.Find<relay::Function>("main"), seed));
    BATON_ASSERT_OK_AND_ASSIGN(const Value want,
                               relay::EvaluateFunction(module, "main", args));
    BATON_ASSERT_OK_AND_ASSIGN(
        const std::vector<Tensor> got,
        session->Run({args[0].tensor(), args[1].tensor()}, &pool));
    EXPECT_EQ(got, relay::TensorsOf(want));
  }
}

TEST(EvaluatedPartTest, NeedsResultsThatTheSessionAllocates) {
  BATON_ASSERT_OK_AND_ASSIGN(const Executable executable,
                             Compile(testing::ParseTyped(kChosenRows), {}));
  const std::unique_ptr<Session> session = *Session::Create(executable);
  EXPECT_THAT(session->Run(absl::Span<const TensorView>(),
                           absl::Span<const MutableTensorView>()),
              StatusIs(absl::StatusCode::kFailedPrecondition,
                       "call Session::Run(inputs)"));
  EXPECT_THAT(session->KeepState({{.output = 3, .input = 1}}),
              StatusIs(absl::StatusCode::kFailedPrecondition,
                       "such a model keeps no state"));
  EXPECT_THAT(session->Run(absl::Span<const Tensor>()).status(),
              StatusIs(absl::StatusCode::kInvalidArgument, "inputs"));
}

TEST(EvaluatedPartTest, ErrorsNameTheOperator) {
  const IRModule module = testing::ParseTyped(R"(#[version = "0.0.5"]
def @main(%x: Tensor[(4), float32], %n: Tensor[(1), int32]) {
  gather(exp(%x), add(squeeze(argwhere(%x), axis=[1]), %n), axis=0)
})");
  BATON_ASSERT_OK_AND_ASSIGN(const Executable executable, Compile(module, {}));
  ASSERT_NE(executable.evaluated_part(), nullptr);
  const std::unique_ptr<Session> session = *Session::Create(executable);
  const Tensor x = *Tensor::FromValues<float>({4}, {1, 0, 1, 1});
  const std::vector<Tensor> right = {x, *Tensor::FromValues<int32_t>({1}, {0})};
  const std::vector<Tensor> wrong = {x, *Tensor::FromValues<int32_t>({1}, {9})};
  EXPECT_THAT(session->Run(right), IsOk());
  EXPECT_THAT(session->Run(wrong).status(),
              StatusIs(absl::StatusCode::kInvalidArgument, "gather"));
  EXPECT_THAT(session->Run(right), IsOk());
}

TEST(EvaluatedPartTest, IsRefusedWhereOnlyAPlanServes) {
  for (const CompileOptions& options :
       {CompileOptions{.allow_evaluated_part = false},
        CompileOptions{.only_sources = true}}) {
    EXPECT_THAT(Compile(testing::ParseTyped(kChosenRows), options).status(),
                StatusIs(absl::StatusCode::kUnimplemented,
                         "a plan has no memory for the result of argwhere"));
  }
}

// A model of one input and one output, each float32[2, 3].
absl::StatusOr<Executable> SmallModel(int max_threads = 1) {
  return Compile(testing::ParseTyped(R"(#[version = "0.0.5"]
def @main(%x: Tensor[(2, 3), float32]) {
  %0 = exp(%x);
  %1 = transpose(%0, axes=[1, 0]);
  tanh(transpose(%1, axes=[1, 0]))
})"),
                 {.max_threads = max_threads});
}

// The memory of an input and an output of SmallModel.
struct SmallTensors {
  alignas(64) float x[7] = {};
  alignas(64) float y[7] = {};
  std::vector<int64_t> shape = {2, 3};

  TensorView input() const { return {DType::Float(32), shape, x}; }
  MutableTensorView output() { return {DType::Float(32), shape, y}; }
};

TEST(SessionTest, RefusesWhatDoesNotFit) {
  BATON_ASSERT_OK_AND_ASSIGN(const Executable executable, SmallModel());
  BATON_ASSERT_OK_AND_ASSIGN(const std::unique_ptr<Session> session,
                             Session::Create(executable));
  SmallTensors t;
  EXPECT_THAT(session->Run({t.input()}, {t.output()}), IsOk());
  EXPECT_THAT(session->Run({}, {t.output()}),
              StatusIs(absl::StatusCode::kInvalidArgument,
                       "the model has 1 inputs and 1 outputs"));
  EXPECT_THAT(session->Run({t.input()}, {t.output(), t.output()}),
              StatusIs(absl::StatusCode::kInvalidArgument,
                       "the model has 1 inputs and 1 outputs"));
  const std::vector<int64_t> other = {3, 2};
  EXPECT_THAT(
      session->Run({TensorView(DType::Float(32), other, t.x)}, {t.output()}),
      StatusIs(absl::StatusCode::kInvalidArgument,
               "input 0 (%x) must be float32[2, 3]"));
  EXPECT_THAT(session->Run({t.input()},
                           {MutableTensorView(DType::Int(32), t.shape, t.y)}),
              StatusIs(absl::StatusCode::kInvalidArgument,
                       "output 0 must be float32[2, 3]"));
  const char* const odd = reinterpret_cast<const char*>(t.x) + 1;
  EXPECT_THAT(
      session->Run({TensorView(DType::Float(32), t.shape, odd)}, {t.output()}),
      StatusIs(absl::StatusCode::kInvalidArgument,
               "float32[2, 3], aligned to its elements"));
  EXPECT_THAT(session->Run({TensorView(DType::Float(32), t.shape, nullptr)},
                           {t.output()}),
              StatusIs(absl::StatusCode::kInvalidArgument, "input 0 "));
  WorkerPool pool(2);
  EXPECT_THAT(
      session->Run({t.input()}, {t.output()}, &pool),
      StatusIs(absl::StatusCode::kInvalidArgument, "for at most 1 threads"));
}

TEST(SessionTest, NamesThePlaceOfRefusedValues) {
  const IRModule module = testing::ParseTyped(R"(#[version = "0.0.5"]
def @main(%x: Tensor[(4), float32], %i: Tensor[(1, 2), int64]) {
  %0 = negative(%x);
  gather_nd(%0, %i)
})");
  for (const char* const origin : {"", "Gather_7"}) {
    BATON_ASSERT_OK_AND_ASSIGN(
        const Executable executable,
        Compile(module, {.pipeline = "", .origins = {"Neg_3", origin}}));
    BATON_ASSERT_OK_AND_ASSIGN(const std::unique_ptr<Session> session,
                               Session::Create(executable));
    const std::vector<int64_t> x_shape = {4};
    const std::vector<int64_t> i_shape = {1, 2};
    const std::vector<int64_t> y_shape = {2};
    const float x[4] = {};
    const int64_t indices[2] = {1, 4};
    float y[2];
    const absl::Status status =
        session->Run({TensorView(DType::Float(32), x_shape, x),
                      TensorView(DType::Int(64), i_shape, indices)},
                     {MutableTensorView(DType::Float(32), y_shape, y)});
    EXPECT_THAT(status, StatusIs(absl::StatusCode::kInvalidArgument,
                                 "refuses the values of its operands"));
    EXPECT_THAT(status, StatusIs(absl::StatusCode::kInvalidArgument,
                                 "gather_nd(%0, %i)"));
    EXPECT_THAT(status, StatusIs(absl::StatusCode::kInvalidArgument, origin));
  }
}

// The first byte of `memory` that is aligned as an arena must be.
std::byte* FirstAlignedByte(std::vector<std::byte>& memory) {
  return memory.data() +
         (64 - reinterpret_cast<uintptr_t>(memory.data()) % 64) % 64;
}

TEST(SessionTest, RefusesArenasThatDoNotFit) {
  BATON_ASSERT_OK_AND_ASSIGN(const Executable executable, SmallModel());
  const size_t bytes = static_cast<size_t>(executable.plan().arena_bytes);
  ASSERT_GT(bytes, 0u);
  std::vector<std::byte> memory(bytes + 128);
  std::byte* const aligned = FirstAlignedByte(memory);
  SmallTensors t;
  BATON_ASSERT_OK_AND_ASSIGN(const std::unique_ptr<Session> session,
                             Session::Create(executable, {aligned, bytes}));
  EXPECT_THAT(session->Run({t.input()}, {t.output()}), IsOk());
  EXPECT_THAT(
      Session::Create(executable, {aligned, bytes - 1}).status(),
      StatusIs(absl::StatusCode::kInvalidArgument,
               absl::StrCat("must have ", bytes, " bytes, not ", bytes - 1)));
  EXPECT_THAT(Session::Create(executable, {aligned + 4, bytes}).status(),
              StatusIs(absl::StatusCode::kInvalidArgument,
                       "must be aligned to 64 bytes"));
}

// A model of three inputs and four results, of which some are empty.
absl::StatusOr<Executable> ModelOfManyPorts() {
  return Compile(testing::ParseTyped(R"(#[version = "0.0.5"]
def @main(%a: Tensor[(4), float32], %b: Tensor[(2, 4), float32],
          %c: Tensor[(0), float32]) {
  %0 = add(exp(%b), %a);
  (negative(%a), transpose(tanh(%0), axes=[1, 0]), exp(%c), %a)
})"),
                 {});
}

// Memory that a session of ModelOfManyPorts and its tensors have in common.
class ManyPorts {
 public:
  static constexpr size_t kInputs = 3;
  static constexpr size_t kOutputs = 4;
  static constexpr size_t kFloats = 64;  // in front of the arena

  absl::Status Create() {
    BATON_ASSIGN_OR_RETURN(const Executable executable, ModelOfManyPorts());
    arena_bytes_ = static_cast<size_t>(executable.plan().arena_bytes);
    memory_.resize(4 * kFloats + arena_bytes_ + 128);
    begin_ = FirstAlignedByte(memory_);
    BATON_ASSIGN_OR_RETURN(
        session_,
        Session::Create(executable, {begin_ + 4 * kFloats, arena_bytes_}));
    return absl::OkStatus();
  }

  size_t arena_floats() const { return arena_bytes_ / 4; }
  float* at(size_t i) { return reinterpret_cast<float*>(begin_) + i; }

  // Runs with port i at the float of number `places`[i] of the memory.
  absl::Status Run(const std::vector<size_t>& places) {
    const Executable& executable = session_->executable();
    std::vector<TensorView> inputs;
    std::vector<MutableTensorView> outputs;
    for (size_t i = 0; i < kInputs; ++i) {
      const Executable::Port& port = executable.inputs()[i];
      inputs.emplace_back(port.dtype, port.shape, at(places[i]));
    }
    for (size_t i = 0; i < kOutputs; ++i) {
      const Executable::Port& port = executable.outputs()[i];
      outputs.emplace_back(port.dtype, port.shape, at(places[kInputs + i]));
    }
    return session_->Run(inputs, outputs);
  }

 private:
  std::vector<std::byte> memory_;
  std::byte* begin_ = nullptr;
  size_t arena_bytes_ = 0;
  std::unique_ptr<Session> session_;
};

TEST(SessionTest, RefusesOutputsThatOverlapOthers) {
  ManyPorts ports;
  ASSERT_THAT(ports.Create(), IsOk());
  // Side by side; the empty ones are anywhere.
  const std::vector<size_t> good = {0, 4, 13, 12, 16, 3, 24};
  for (size_t i = 0; i < 12; ++i) *ports.at(i) = static_cast<float>(i);
  ASSERT_THAT(ports.Run(good), IsOk());
  EXPECT_EQ(*ports.at(13), -1);
  EXPECT_EQ(*ports.at(27), 3);
  const auto with = [&good](size_t port, size_t place) {
    std::vector<size_t> places = good;
    places[port] = place;
    return places;
  };
  const auto refused = [](absl::string_view what) {
    return StatusIs(absl::StatusCode::kInvalidArgument, what);
  };
  // Inputs may have memory in common.
  EXPECT_THAT(ports.Run(with(0, 5)), IsOk());
  for (size_t i = 12; i < 28; ++i) *ports.at(i) = 77;
  // An output and an input, all of it or its ends.
  EXPECT_THAT(ports.Run(with(3, 0)), refused("output 0 overlaps an input"));
  EXPECT_THAT(ports.Run(with(3, 11)), refused("output 0 overlaps an input"));
  EXPECT_THAT(ports.Run(with(1, 9)), refused("output 0 overlaps an input"));
  EXPECT_THAT(ports.Run(with(4, 2)), refused("output 1 overlaps an input"));
  // Two outputs, or one within the other.
  EXPECT_THAT(ports.Run(with(6, 12)), refused("output 3 overlaps"));
  EXPECT_THAT(ports.Run(with(6, 18)), refused("output 3 overlaps"));
  EXPECT_THAT(ports.Run(with(3, 27)), refused("output 3 overlaps"));
  // The arena.
  const size_t arena = ManyPorts::kFloats;
  EXPECT_THAT(ports.Run(with(1, arena - 8)), IsOk());
  EXPECT_THAT(ports.Run(with(1, arena - 7)),
              refused("input 1 (%b) overlaps the arena"));
  EXPECT_THAT(ports.Run(with(4, arena + ports.arena_floats() - 1)),
              refused("output 1 overlaps"));
  EXPECT_THAT(ports.Run(with(4, arena + ports.arena_floats())), IsOk());
  EXPECT_THAT(ports.Run(with(5, arena)), IsOk());
}

TEST(SessionTest, RefusedOutputsAreNotWritten) {
  ManyPorts ports;
  ASSERT_THAT(ports.Create(), IsOk());
  for (size_t i = 12; i < 28; ++i) *ports.at(i) = 77;
  EXPECT_FALSE(ports.Run({0, 4, 0, 8, 16, 0, 24}).ok());
  for (size_t i = 12; i < 28; ++i) EXPECT_EQ(*ports.at(i), 77);
  EXPECT_THAT(ports.Run({0, 4, 0, 12, 16, 0, 24}), IsOk());
}

// Ports anywhere in memory: a run fails if and only if two of them overlap of
// which one is written.
TEST(SessionTest, RandomPlacesAreRefusedOrApart) {
  ManyPorts ports;
  ASSERT_THAT(ports.Create(), IsOk());
  constexpr size_t kArena = ManyPorts::kInputs + ManyPorts::kOutputs;
  const size_t floats[kArena + 1] = {4, 8, 0, 4, 8, 0, 4, ports.arena_floats()};
  std::mt19937 random(3);
  int fitted = 0;
  for (int k = 0; k < 20'000; ++k) {
    std::vector<size_t> places(kArena);
    for (size_t& place : places) place = random() % (ManyPorts::kFloats + 4);
    std::vector<size_t> all = places;
    all.push_back(ManyPorts::kFloats);
    bool fits = true;
    for (size_t i = ManyPorts::kInputs; i <= kArena; ++i) {
      for (size_t j = 0; j < i; ++j) {
        fits = fits &&
               (floats[i] == 0 || floats[j] == 0 ||
                all[i] + floats[i] <= all[j] || all[j] + floats[j] <= all[i]);
      }
    }
    const absl::Status status = ports.Run(places);
    ASSERT_EQ(status.ok(), fits) << status << absl::StrJoin(places, " ");
    if (!fits) {
      ASSERT_EQ(status.code(), absl::StatusCode::kInvalidArgument);
    }
    fitted += fits ? 1 : 0;
  }
  EXPECT_GT(fitted, 1000);
}

// Threads of a caller, which says that there are none.
class NoThreads final : public ParallelFor {
 public:
  explicit NoThreads(int threads) : threads_(threads) {}
  int num_threads() const override { return threads_; }
  void Run(int parts, Body body, void* context) override {
    for (int part = 0; part < parts; ++part) body(context, part, 0);
  }

 private:
  const int threads_;
};

TEST(SessionTest, RefusesNumbersOfThreads) {
  BATON_ASSERT_OK_AND_ASSIGN(const Executable executable, SmallModel(2));
  BATON_ASSERT_OK_AND_ASSIGN(const std::unique_ptr<Session> session,
                             Session::Create(executable));
  SmallTensors t;
  for (const int threads : {-2147483647, -1, 0, 3, 2147483647}) {
    NoThreads parallel(threads);
    EXPECT_THAT(session->Run({t.input()}, {t.output()}, &parallel),
                StatusIs(absl::StatusCode::kInvalidArgument,
                         "a run has at least one thread, and the model was "
                         "compiled for at most 2 threads"));
  }
  NoThreads two(2);
  EXPECT_THAT(session->Run({t.input()}, {t.output()}, &two), IsOk());
}

// Views of any type, shape and address, and any number of them: a run fails, or
// all fit.
TEST(SessionTest, RandomViewsAreRefusedOrFit) {
  BATON_ASSERT_OK_AND_ASSIGN(const Executable executable, SmallModel());
  BATON_ASSERT_OK_AND_ASSIGN(const std::unique_ptr<Session> session,
                             Session::Create(executable));
  const DType dtypes[] = {DType::Float(32), DType::Float(32), DType::Float(32),
                          DType::Float(16), DType::Float(64), DType::Int(32),
                          DType::Int(8),    DType::Bool(),    DType::UInt(32)};
  const int64_t extents[] = {
      0, 1, 2, 3, 6, -1, -6, int64_t{1} << 40, INT64_MAX, INT64_MIN};
  alignas(64) char from[64] = {};
  alignas(64) char to[64] = {};
  std::mt19937 random(1);
  int fitted = 0;
  for (int k = 0; k < 20'000; ++k) {
    // Most views differ in one way at most.
    struct Random {
      DType dtype = DType::Float(32);
      std::vector<int64_t> shape = {2, 3};
      size_t offset = 0;
      bool is_null = false;
      bool fits() const {
        return dtype == DType::Float(32) &&
               shape == std::vector<int64_t>{2, 3} && offset % 4 == 0 &&
               !is_null;
      }
    };
    const auto view = [&] {
      Random v;
      switch (random() % 12) {
        case 0:
          v.dtype = dtypes[random() % std::size(dtypes)];
          break;
        case 1:
          v.shape[random() % 2] = extents[random() % std::size(extents)];
          break;
        case 2:
          v.shape.resize(random() % 5, 1);
          break;
        case 3:
          v.offset = random() % 16;
          break;
        case 4:
          v.is_null = true;
          break;
        default:
          break;
      }
      return v;
    };
    std::vector<Random> in(random() % 8 == 0 ? random() % 3 : 1);
    std::vector<Random> out(random() % 8 == 0 ? random() % 3 : 1);
    bool fits = in.size() == 1 && out.size() == 1;
    std::vector<TensorView> inputs;
    std::vector<MutableTensorView> outputs;
    for (Random& v : in) {
      v = view();
      fits = fits && v.fits();
      inputs.emplace_back(v.dtype, v.shape,
                          v.is_null ? nullptr : from + v.offset);
    }
    for (Random& v : out) {
      v = view();
      fits = fits && v.fits();
      outputs.emplace_back(v.dtype, v.shape,
                           v.is_null ? nullptr : to + v.offset);
    }
    const absl::Status status = session->Run(inputs, outputs);
    ASSERT_EQ(status.ok(), fits) << status;
    if (!fits) {
      ASSERT_EQ(status.code(), absl::StatusCode::kInvalidArgument);
    }
    fitted += fits ? 1 : 0;
  }
  EXPECT_GT(fitted, 5000);
}

TEST(SessionTest, RandomArenasAreRefusedOrFit) {
  BATON_ASSERT_OK_AND_ASSIGN(const Executable executable, SmallModel());
  const size_t bytes = static_cast<size_t>(executable.plan().arena_bytes);
  std::vector<std::byte> memory(bytes + 512);
  std::mt19937 random(2);
  int fitted = 0;
  for (int k = 0; k < 5000; ++k) {
    std::byte* const begin = memory.data() + random() % 256;
    const size_t size = random() % 2 == 0
                            ? bytes + random() % 256
                            : bytes - std::min<size_t>(bytes, random() % 70);
    const bool fits =
        reinterpret_cast<uintptr_t>(begin) % 64 == 0 && size >= bytes;
    const absl::StatusOr<std::unique_ptr<Session>> session =
        Session::Create(executable, {begin, size});
    ASSERT_EQ(session.ok(), fits) << session.status();
    if (!fits) continue;
    ++fitted;
    SmallTensors t;
    ASSERT_THAT((*session)->Run({t.input()}, {t.output()}), IsOk());
  }
  EXPECT_GT(fitted, 10);
}

TEST(SessionTest, KeepsState) {
  BATON_ASSERT_OK_AND_ASSIGN(const Executable executable,
                             Compile(testing::ParseTyped(R"(#[version = "0.0.5"]
def @main(%x: Tensor[(2, 3), float32], %sum: Tensor[(2, 3), float32]) {
  %0 = add(%x, %sum);
  (multiply(%0, 2f), %0)
})"),
                                     {}));
  BATON_ASSERT_OK_AND_ASSIGN(const std::unique_ptr<Session> session,
                             Session::Create(executable));
  SmallTensors t;
  const TensorView kept(DType::Float(32), t.shape, nullptr);
  EXPECT_THAT(session->Run({t.input(), kept}, {t.output(), t.output()}),
              StatusIs(absl::StatusCode::kInvalidArgument, "input 1 (%sum)"));
  const MutableTensorView left(DType::Float(32), t.shape, nullptr);
  // All of it or nothing.
  EXPECT_THAT(session->KeepState({{1, 1}, {2, 1}}),
              StatusIs(absl::StatusCode::kInvalidArgument, "no output 2"));
  ASSERT_THAT(session->KeepState({{1, 1}}), IsOk());
  EXPECT_THAT(session->KeepState({{1, 0}}),
              StatusIs(absl::StatusCode::kInvalidArgument, "state twice"));
  t.x[0] = 1;
  for (int run = 1; run <= 5; ++run) {
    ASSERT_THAT(session->Run({t.input(), kept}, {t.output(), left}), IsOk());
    EXPECT_EQ(t.y[0], 2.0f * static_cast<float>(run));
  }
  // The caller has the result, too.
  SmallTensors sum;
  ASSERT_THAT(session->Run({t.input(), kept}, {t.output(), sum.output()}),
              IsOk());
  EXPECT_EQ(sum.y[0], 6);
  ASSERT_THAT(session->Run({t.input(), kept}, {t.output(), left}), IsOk());
  EXPECT_EQ(t.y[0], 14);
  // Another state.
  sum.x[0] = 100;
  ASSERT_THAT(session->Run({t.input(), sum.input()}, {t.output(), left}),
              IsOk());
  EXPECT_EQ(t.y[0], 202);
  ASSERT_THAT(session->Run({t.input(), kept}, {t.output(), left}), IsOk());
  EXPECT_EQ(t.y[0], 204);
}

// A failure in the plan, or in that of a loop, leaves nothing behind.
TEST(SessionTest, RunsAfterFailures) {
  for (const char* const text : {R"(#[version = "0.0.5"]
def @main(%i: Tensor[(1, 1), int64], %sum: Tensor[(4), float32]) {
  %0 = add(%sum, 1f);
  (gather_nd(%0, %i), %0)
})",
                                 R"(#[version = "0.0.5"]
def @main(%i: Tensor[(1, 1), int64], %sum: Tensor[(4), float32]) {
  let %loop: fn (int32, Tensor[(4), float32], Tensor[(1), float32])
      -> (Tensor[(1), float32], Tensor[(4), float32]) =
    fn (%k: int32, %a: Tensor[(4), float32], %b: Tensor[(1), float32])
        -> (Tensor[(1), float32], Tensor[(4), float32]) {
      if (less(%k, 2)) {
        %0 = add(%a, 0.5f);
        %loop(add(%k, 1), %0, gather_nd(%0, %i))
      } else {
        (%b, %a)
      }
    };
  %loop(0, %sum, zeros(shape=[1], dtype="float32"))
})"}) {
    BATON_ASSERT_OK_AND_ASSIGN(const Executable executable,
                               Compile(testing::ParseTyped(text), {}));
    BATON_ASSERT_OK_AND_ASSIGN(const std::unique_ptr<Session> session,
                               Session::Create(executable));
    ASSERT_THAT(session->KeepState({{1, 1}}), IsOk());
    const std::vector<int64_t> index_shape = {1, 1};
    const std::vector<int64_t> sum_shape = {4};
    const std::vector<int64_t> y_shape = {1};
    int64_t index = 0;
    float y[1] = {};
    const auto run = [&] {
      return session->Run(
          {TensorView(DType::Int(64), index_shape, &index),
           TensorView(DType::Float(32), sum_shape, nullptr)},
          {MutableTensorView(DType::Float(32), y_shape, y),
           MutableTensorView(DType::Float(32), sum_shape, nullptr)});
    };
    float sum = 0;
    for (const int64_t at : {0, 4, 3, -5, INT32_MAX, 1, 2}) {
      index = at;
      const absl::Status status = run();
      if (at >= 0 && at < 4) {
        sum += 1;
        ASSERT_THAT(status, IsOk());
        EXPECT_EQ(y[0], sum);
      } else {
        EXPECT_THAT(status, StatusIs(absl::StatusCode::kInvalidArgument,
                                     "refuses the values"));
      }
    }
  }
}

// Runs the session again in its steps.
class Intruder final : public executor::RuntimeInstrument {
 public:
  Intruder(Session& session, SmallTensors& tensors)
      : session_(session), tensors_(tensors) {}
  void BeforeStep(const StepEvent& /*event*/) override {
    status_ = session_.Run({tensors_.input()}, {tensors_.output()});
  }
  const absl::Status& status() const { return status_; }

 private:
  Session& session_;
  SmallTensors& tensors_;
  absl::Status status_;
};

TEST(SessionTest, OneRunAtATime) {
  BATON_ASSERT_OK_AND_ASSIGN(const Executable executable, SmallModel());
  BATON_ASSERT_OK_AND_ASSIGN(const std::unique_ptr<Session> session,
                             Session::Create(executable));
  SmallTensors t;
  SmallTensors other;
  Intruder intruder(*session, other);
  EXPECT_THAT(session->Run({t.input()}, {t.output()}, nullptr, &intruder),
              IsOk());
  EXPECT_THAT(intruder.status(), StatusIs(absl::StatusCode::kFailedPrecondition,
                                          "another thread runs this session"));
  EXPECT_THAT(session->Run({t.input()}, {t.output()}), IsOk());
}

// Sessions of two models in one arena run in turn.
TEST(SessionTest, SessionsOfOneArenaRunInTurn) {
  BATON_ASSERT_OK_AND_ASSIGN(const Executable small, SmallModel());
  BATON_ASSERT_OK_AND_ASSIGN(const Executable large, ModelOfManyPorts());
  const size_t bytes = static_cast<size_t>(
      std::max(small.plan().arena_bytes, large.plan().arena_bytes));
  std::vector<std::byte> memory(bytes + 64);
  const absl::Span<std::byte> arena(FirstAlignedByte(memory), bytes);
  std::atomic<bool> is_running = false;
  BATON_ASSERT_OK_AND_ASSIGN(const std::unique_ptr<Session> first,
                             Session::Create(small, arena, &is_running));
  BATON_ASSERT_OK_AND_ASSIGN(const std::unique_ptr<Session> second,
                             Session::Create(small, arena, &is_running));
  BATON_ASSERT_OK_AND_ASSIGN(const std::unique_ptr<Session> third,
                             Session::Create(large, arena, &is_running));
  SmallTensors t;
  SmallTensors other;
  Intruder intruder(*second, other);
  ASSERT_THAT(first->Run({t.input()}, {t.output()}, nullptr, &intruder),
              IsOk());
  EXPECT_THAT(intruder.status(), StatusIs(absl::StatusCode::kFailedPrecondition,
                                          "or one with the same arena"));
  std::vector<Tensor> inputs;
  for (const Executable::Port& port : large.inputs()) {
    inputs.push_back(*Tensor::Zeros(port.dtype, port.shape));
  }
  BATON_ASSERT_OK_AND_ASSIGN(const std::vector<Tensor> want,
                             third->Run(inputs));
  for (int i = 0; i < 3; ++i) {
    t.x[0] = static_cast<float>(i);
    other.x[0] = static_cast<float>(i);
    ASSERT_THAT(first->Run({t.input()}, {t.output()}), IsOk());
    BATON_ASSERT_OK_AND_ASSIGN(const std::vector<Tensor> got,
                               third->Run(inputs));
    EXPECT_TRUE(HaveSameElements(got[1], want[1]));
    ASSERT_THAT(second->Run({other.input()}, {other.output()}), IsOk());
    EXPECT_EQ(t.y[0], other.y[0]);
  }
}

// Doubles a tensor, in one step.
absl::StatusOr<Executable> DoublingModel() {
  return Compile(testing::ParseTyped(R"(#[version = "0.0.5"]
def @main(%x: Tensor[(2, 3), float32]) { multiply(%x, 2f) })"),
                 {});
}

// Waits before the only step until it may go on.
class Waiter final : public executor::RuntimeInstrument {
 public:
  void BeforeStep(const StepEvent& /*event*/) override {
    has_begun.set_value();
    may_go_on.get_future().wait();
  }

  std::promise<void> has_begun;
  std::promise<void> may_go_on;
};

TEST(SessionTest, SecondThreadGetsAnError) {
  BATON_ASSERT_OK_AND_ASSIGN(const Executable executable, DoublingModel());
  BATON_ASSERT_OK_AND_ASSIGN(const std::unique_ptr<Session> session,
                             Session::Create(executable));
  ASSERT_EQ(executable.plan().steps.size(), 1);
  SmallTensors t;
  t.x[0] = 1;
  Waiter waiter;
  absl::Status first;
  std::thread runner([&] {
    first = session->Run({t.input()}, {t.output()}, nullptr, &waiter);
  });
  waiter.has_begun.get_future().wait();
  SmallTensors other;
  other.x[0] = 5;
  other.y[0] = -1;
  EXPECT_THAT(session->Run({other.input()}, {other.output()}),
              StatusIs(absl::StatusCode::kFailedPrecondition,
                       "another thread runs this session"));
  EXPECT_EQ(other.y[0], -1);
  waiter.may_go_on.set_value();
  runner.join();
  EXPECT_THAT(first, IsOk());
  EXPECT_EQ(t.y[0], 2);
  EXPECT_THAT(session->Run({other.input()}, {other.output()}), IsOk());
  EXPECT_EQ(other.y[0], 10);
}

// Threads that meet in one session: each run is right or an error.
TEST(SessionTest, ThreadsThatMeetGetErrorsOrResults) {
  BATON_ASSERT_OK_AND_ASSIGN(const Executable executable, DoublingModel());
  BATON_ASSERT_OK_AND_ASSIGN(const std::unique_ptr<Session> session,
                             Session::Create(executable));
  constexpr int kThreads = 3;
  std::array<int, kThreads> right = {};
  std::array<int, kThreads> wrong = {};
  std::array<int, kThreads> refused = {};
  std::vector<std::thread> threads;
  threads.reserve(kThreads);
  for (size_t k = 0; k < kThreads; ++k) {
    threads.emplace_back([&, k] {
      SmallTensors mine;
      for (int run = 1; run <= 200; ++run) {
        mine.x[0] = static_cast<float>(run);
        const absl::Status status =
            session->Run({mine.input()}, {mine.output()});
        if (status.code() == absl::StatusCode::kFailedPrecondition) {
          ++refused[k];
        } else if (status.ok() && mine.y[0] == 2 * mine.x[0]) {
          ++right[k];
        } else {
          ++wrong[k];
        }
      }
    });
  }
  for (std::thread& thread : threads) thread.join();
  int num_right = 0;
  for (size_t k = 0; k < kThreads; ++k) {
    EXPECT_EQ(wrong[k], 0);
    EXPECT_EQ(right[k] + refused[k], 200);
    num_right += right[k];
  }
  EXPECT_GT(num_right, 0);
}

}  // namespace
}  // namespace baton
