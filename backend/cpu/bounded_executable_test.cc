#include "baton/backend/cpu/bounded_executable.h"

#include <cstddef>
#include <cstdint>
#include <memory>
#include <random>
#include <string>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/str_cat.h"
#include "baton/backend/cpu/bound_weights.h"
#include "baton/backend/cpu/evaluator_test_util.h"
#include "baton/backend/cpu/executable.h"
#include "baton/base/dtype.h"
#include "baton/base/status_macros.h"
#include "baton/base/tensor.h"
#include "baton/base/tensor_difference.h"
#include "baton/ir/module.h"
#include "baton/relay/runtime/evaluator.h"
#include "baton/relay/runtime/value.h"
#include "baton/relay/runtime/value_tensors.h"
#include "baton/runtime/executor/runtime_instrument.h"
#include "baton/testing/status_matchers.h"
#include "gtest/gtest.h"

namespace baton {
namespace {

using relay::Value;

using ::baton::testing::IsOk;
using ::baton::testing::StatusIs;

constexpr char kNetwork[] = R"(#[version = "0.0.5"]
def @main(%x: Tensor[(meta[tir.Var][0], 16, meta[tir.Var][1], 12), float32],
          %y: Tensor[(meta[tir.Var][0], 10), float32],
          %wc: Tensor[(32, 16, 3, 3), float32], %wb: Tensor[(32), float32],
          %wd: Tensor[(10, 32), float32]) {
  %0 = nn.conv2d(%x, %wc, padding=[1, 1, 1, 1], channels=32,
                 kernel_size=[3, 3]);
  %1 = nn.bias_add(%0, %wb);
  %2 = nn.relu(%1);
  %3 = nn.max_pool2d(%2, pool_size=[2, 2], strides=[2, 2]);
  %4 = nn.global_avg_pool2d(%3);
  %5 = nn.batch_flatten(%4);
  %6 = nn.dense(%5, %wd, units=10);
  %7 = add(%6, %y);
  %8 = fn (%p: Tensor[(meta[tir.Var][0], 10), float32], Primitive=1)
      -> Tensor[(meta[tir.Var][0], 10), float32] {
    nn.softmax(%p)
  };
  (%8(%7), sigmoid(%1))
}
#[metadata]
{"root": 1, "nodes": [{"type_key": ""},
  {"type_key": "Map", "keys": ["tir.Var"], "data": [2]},
  {"type_key": "Array", "data": [3, 5]},
  {"type_key": "tir.Var", "attrs": {"dtype": "int32", "name": "4",
   "span": "0", "type_annotation": "0"}},
  {"type_key": "runtime.String", "repr_str": "n"},
  {"type_key": "tir.Var", "attrs": {"dtype": "int32", "name": "6",
   "span": "0", "type_annotation": "0"}},
  {"type_key": "runtime.String", "repr_str": "s"}],
 "b64ndarrays": [], "attrs": {"tvm_version": "0.14.0"}})";

absl::StatusOr<BoundedExecutable> CompileNetwork(const std::string& bounds) {
  BATON_ASSIGN_OR_RETURN(IRModule module, cpu::WithWeights(kNetwork));
  BATON_ASSIGN_OR_RETURN(std::vector<DimBound> parsed, ParseDimBounds(bounds));
  return BoundedExecutable::Compile(std::move(module), std::move(parsed), {});
}

Tensor Random(const TensorShape& shape, uint32_t seed) {
  std::mt19937 random(seed);
  MutableTensor tensor = *MutableTensor::Create(DType::Float(32), shape);
  for (float& x : tensor.span<float>()) {
    x = static_cast<float>(random() % 2001) / 1000 - 1;
  }
  return std::move(tensor).Freeze();
}

std::vector<Tensor> Inputs(int64_t n, int64_t s) {
  return {Random({n, 16, s, 12}, 1), Random({n, 10}, 2)};
}

std::vector<TensorView> ViewsOf(const std::vector<Tensor>& tensors) {
  return {tensors.begin(), tensors.end()};
}

TEST(BoundedExecutableTest, AnySizeWithinTheBoundsGivesTheEvaluatorsBits) {
  BATON_ASSERT_OK_AND_ASSIGN(const IRModule module, cpu::WithWeights(kNetwork));
  BATON_ASSERT_OK_AND_ASSIGN(const BoundedExecutable model,
                             CompileNetwork("n=0..5,s=4..40"));
  BATON_ASSERT_OK_AND_ASSIGN(const std::unique_ptr<BoundedSession> sessions,
                             BoundedSession::Create(model));
  EXPECT_EQ(sessions->arena_bytes() / 64,
            (model.largest().plan().arena_bytes + 63) / 64);
  std::mt19937 random(5);
  for (int round = 0; round < 20; ++round) {
    const int64_t n = static_cast<int64_t>(random() % 6);
    const int64_t s = 4 + static_cast<int64_t>(random() % 37);
    SCOPED_TRACE(absl::StrCat("n ", n, ", s ", s));
    const std::vector<Tensor> inputs = Inputs(n, s);
    BATON_ASSERT_OK_AND_ASSIGN(Session* const session,
                               sessions->For(ViewsOf(inputs)));
    EXPECT_LE(session->executable().plan().arena_bytes,
              sessions->arena_bytes());
    BATON_ASSERT_OK_AND_ASSIGN(const std::vector<Tensor> got,
                               session->Run(inputs));
    BATON_ASSERT_OK_AND_ASSIGN(
        const Value value,
        relay::EvaluateFunction(
            module, "main", std::vector<Value>(inputs.begin(), inputs.end())));
    const std::vector<Tensor> want = relay::TensorsOf(value);
    ASSERT_EQ(got.size(), want.size());
    for (size_t i = 0; i < got.size(); ++i) {
      EXPECT_TRUE(HaveSameElements(got[i], want[i])) << "result " << i;
    }
  }
}

// The constants of the plan of some sizes.
std::vector<const void*> LargeConstantsAt(const BoundedExecutable& model,
                                          const std::vector<int64_t>& sizes) {
  std::vector<const void*> data;
  const absl::StatusOr<Executable> executable = model.At(sizes);
  EXPECT_THAT(executable, IsOk());
  if (!executable.ok()) return data;
  for (const executor::Constant& constant : executable->plan().constants) {
    if (constant.bytes >= 1024) data.push_back(constant.data);
  }
  return data;
}

TEST(BoundedExecutableTest, PlansShareThePackedWeights) {
  BATON_ASSERT_OK_AND_ASSIGN(const BoundedExecutable model,
                             CompileNetwork("n=1..5,s=4..40"));
  const std::vector<const void*> first = LargeConstantsAt(model, {5, 40});
  EXPECT_EQ(first.size(), 2);  // the convolution's and the product's
  EXPECT_EQ(LargeConstantsAt(model, {1, 7}), first);
}

// A weight and a reshaped view of it have one address.
TEST(BoundedExecutableTest, WeightsOfOneAddressAndTwoShapesArePackedTwice) {
  constexpr char kProducts[] = R"(#[version = "0.0.5"]
def @main(%a: Tensor[(meta[tir.Var][0], 64), float32],
          %b: Tensor[(meta[tir.Var][0], 32), float32],
          %w: Tensor[(32, 64), float32]) {
  (nn.dense(%a, %w, units=32),
   nn.dense(%b, reshape(%w, newshape=[64, 32]), units=64))
}
)";
  BATON_ASSERT_OK_AND_ASSIGN(
      const IRModule module,
      cpu::WithWeights(absl::StrCat(kProducts, cpu::kMetadataOfN)));
  BATON_ASSERT_OK_AND_ASSIGN(std::vector<DimBound> bounds,
                             ParseDimBounds("n=1..4"));
  BATON_ASSERT_OK_AND_ASSIGN(
      const BoundedExecutable model,
      BoundedExecutable::Compile(module, std::move(bounds), {}));
  BATON_ASSERT_OK_AND_ASSIGN(const std::unique_ptr<BoundedSession> sessions,
                             BoundedSession::Create(model));
  const std::vector<Tensor> inputs = {Random({3, 64}, 1), Random({3, 32}, 2)};
  BATON_ASSERT_OK_AND_ASSIGN(Session* const session,
                             sessions->For(ViewsOf(inputs)));
  BATON_ASSERT_OK_AND_ASSIGN(const std::vector<Tensor> got,
                             session->Run(inputs));
  BATON_ASSERT_OK_AND_ASSIGN(
      const Value value,
      relay::EvaluateFunction(
          module, "main", std::vector<Value>(inputs.begin(), inputs.end())));
  const std::vector<Tensor> want = relay::TensorsOf(value);
  ASSERT_EQ(got.size(), 2);
  EXPECT_TRUE(HaveSameElements(got[0], want[0]));
  EXPECT_TRUE(HaveSameElements(got[1], want[1]));
}

// Runs another session in the midst of a run.
class RunsAnother final : public executor::RuntimeInstrument {
 public:
  RunsAnother(Session& session, const std::vector<Tensor>& inputs)
      : session_(session), inputs_(inputs) {}
  void BeforeStep(const StepEvent& /*event*/) override {
    status = session_.Run(inputs_).status();
  }

  absl::Status status;

 private:
  Session& session_;
  const std::vector<Tensor>& inputs_;
};

TEST(BoundedExecutableTest, SessionsOfOneArenaDoNotRunAtOnce) {
  BATON_ASSERT_OK_AND_ASSIGN(const BoundedExecutable model,
                             CompileNetwork("n=1..2,s=8"));
  BATON_ASSERT_OK_AND_ASSIGN(const std::unique_ptr<BoundedSession> sessions,
                             BoundedSession::Create(model));
  const std::vector<Tensor> one = Inputs(1, 8);
  const std::vector<Tensor> two = Inputs(2, 8);
  BATON_ASSERT_OK_AND_ASSIGN(Session* const first, sessions->For(ViewsOf(one)));
  BATON_ASSERT_OK_AND_ASSIGN(Session* const second,
                             sessions->For(ViewsOf(two)));
  RunsAnother runs_another(*second, two);
  EXPECT_THAT(first->Run(one, nullptr, &runs_another), IsOk());
  EXPECT_THAT(runs_another.status,
              StatusIs(absl::StatusCode::kFailedPrecondition, ""));
  EXPECT_THAT(second->Run(two), IsOk());
}

TEST(BoundedExecutableTest, SizesThatDoNotFitAreRefused) {
  BATON_ASSERT_OK_AND_ASSIGN(const BoundedExecutable model,
                             CompileNetwork("n=2..5,s=8"));
  BATON_ASSERT_OK_AND_ASSIGN(const std::unique_ptr<BoundedSession> sessions,
                             BoundedSession::Create(model));
  const auto refusal = [&](const std::vector<Tensor>& inputs) {
    return sessions->For(ViewsOf(inputs)).status();
  };
  EXPECT_THAT(refusal(Inputs(2, 8)), IsOk());
  EXPECT_THAT(refusal(Inputs(1, 8)),
              StatusIs(absl::StatusCode::kInvalidArgument,
                       "dimension 0 of input 0 (%x) is 1, outside of the "
                       "bounds of n, 2..5"));
  EXPECT_THAT(refusal(Inputs(2, 9)),
              StatusIs(absl::StatusCode::kInvalidArgument,
                       "outside of the bounds of s, 8..8"));
  EXPECT_THAT(refusal({Random({2, 16, 8, 12}, 1), Random({3, 10}, 1)}),
              StatusIs(absl::StatusCode::kInvalidArgument,
                       "dimension 0 of input 1 (%y) is 3, but n is 2 of an "
                       "input before"));
  EXPECT_THAT(refusal({Random({2, 16, 8, 13}, 1), Random({2, 10}, 1)}),
              StatusIs(absl::StatusCode::kInvalidArgument,
                       "dimension 3 of input 0 (%x) is 13, not 12"));
  EXPECT_THAT(refusal({Random({2, 16, 8}, 1), Random({2, 10}, 1)}),
              StatusIs(absl::StatusCode::kInvalidArgument,
                       "input 0 (%x) has 3 dimensions, not 4"));
  EXPECT_THAT(refusal({Random({2, 10}, 1)}),
              StatusIs(absl::StatusCode::kInvalidArgument,
                       "the model has 2 inputs, not 1"));
  EXPECT_THAT(model.At({6, 8}).status(),
              StatusIs(absl::StatusCode::kInvalidArgument,
                       "n is 6, outside of its bounds, 2..5"));
}

TEST(BoundedExecutableTest, SizesThatNoMemoryHasAreRefused) {
  EXPECT_THAT(CompileNetwork("n=1..1000000000000000,s=4").status(),
              StatusIs(absl::StatusCode::kResourceExhausted,
                       "float32[1000000000000000, 16, 4, 12] has "
                       "3072000000000000000 bytes: no memory is as large"));
  EXPECT_THAT(CompileNetwork("n=1..100000000000000000,s=4").status(),
              StatusIs(absl::StatusCode::kInvalidArgument, "is too large"));
  BATON_ASSERT_OK_AND_ASSIGN(const BoundedExecutable model,
                             CompileNetwork("n=1..20000000000,s=4"));
  EXPECT_THAT(
      BoundedSession::Create(model).status(),
      StatusIs(absl::StatusCode::kResourceExhausted, "no memory for an arena"));
}

TEST(BoundedExecutableTest, BoundsAndDimensionsBelongTogether) {
  EXPECT_THAT(CompileNetwork("n=1..5").status(),
              StatusIs(absl::StatusCode::kUnimplemented,
                       "dimension 2 of input %x is s, which has no bounds: "
                       "give them, as in s=1..64"));
  EXPECT_THAT(CompileNetwork("n=1..5,s=4,m=2").status(),
              StatusIs(absl::StatusCode::kInvalidArgument,
                       "no input of the model has a dimension m"));
  for (const char* const text : {"n", "n=", "n=1..", "=1..2", "n=1...4"}) {
    EXPECT_THAT(ParseDimBounds(text).status(),
                StatusIs(absl::StatusCode::kInvalidArgument,
                         "expected NAME=N or NAME=LEAST..MOST"))
        << text;
  }
  for (const char* const text :
       {"n=5..4", "n=-1", "n=-1..4", "n=1..9223372036854775807"}) {
    EXPECT_THAT(ParseDimBounds(text).status(),
                StatusIs(absl::StatusCode::kInvalidArgument,
                         "the least size must be from 0 to the greatest, and "
                         "that at most 4611686018427387903"))
        << text;
  }
  EXPECT_THAT(ParseDimBounds("n=1,n=2").status(),
              StatusIs(absl::StatusCode::kInvalidArgument,
                       "dimension n has two bounds"));
}

constexpr char kLoop[] = R"(#[version = "0.0.5"]
def @main(%x: Tensor[(meta[tir.Var][0], 4), float32],
          %w: Tensor[(4, 4), float32]) {
  let %loop: fn (int32, Tensor[(meta[tir.Var][0], 4), float32])
      -> Tensor[(meta[tir.Var][0], 4), float32] =
    fn (%i: int32, %a: Tensor[(meta[tir.Var][0], 4), float32])
        -> Tensor[(meta[tir.Var][0], 4), float32] {
      if (less(%i, 3)) {
        %loop(add(%i, 1), add(nn.dense(%a, %w, units=4), %x))
      } else {
        %a
      }
    };
  %loop(0, %x)
}
)";

TEST(BoundedExecutableTest, LoopsNameDimensions) {
  BATON_ASSERT_OK_AND_ASSIGN(
      const IRModule module,
      cpu::WithWeights(absl::StrCat(kLoop, cpu::kMetadataOfN)));
  BATON_ASSERT_OK_AND_ASSIGN(std::vector<DimBound> bounds,
                             ParseDimBounds("n=1..5"));
  BATON_ASSERT_OK_AND_ASSIGN(
      const BoundedExecutable model,
      BoundedExecutable::Compile(module, std::move(bounds), {}));
  BATON_ASSERT_OK_AND_ASSIGN(const std::unique_ptr<BoundedSession> sessions,
                             BoundedSession::Create(model));
  for (const int64_t n : {int64_t{5}, int64_t{2}}) {
    const std::vector<Tensor> inputs = {Random({n, 4}, 3)};
    BATON_ASSERT_OK_AND_ASSIGN(Session* const session,
                               sessions->For(ViewsOf(inputs)));
    BATON_ASSERT_OK_AND_ASSIGN(const std::vector<Tensor> got,
                               session->Run(inputs));
    BATON_ASSERT_OK_AND_ASSIGN(
        const Value value,
        relay::EvaluateFunction(module, "main", {Value(inputs[0])}));
    EXPECT_TRUE(HaveSameElements(got[0], value.tensor()));
  }
}

}  // namespace
}  // namespace baton
