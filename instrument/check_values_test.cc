#include "baton/instrument/check_values.h"

#include <cmath>
#include <limits>
#include <memory>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "baton/base/tensor.h"
#include "baton/ir/module.h"
#include "baton/ir/op.h"
#include "baton/relay/ir/expr.h"
#include "baton/relay/ir/text_parser.h"
#include "baton/relay/runtime/value.h"
#include "baton/testing/status_matchers.h"
#include "baton/testing/toy_passes.h"
#include "baton/transform/pass.h"
#include "baton/transform/pass_context.h"
#include "baton/transform/pass_error.h"
#include "baton/transform/pass_info.h"
#include "baton/transform/sequential.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"

namespace baton {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using testing::IsOk;
using testing::StatusIs;

constexpr float kNan = std::numeric_limits<float>::quiet_NaN();
constexpr float kInfinity = std::numeric_limits<float>::infinity();

absl::Status Check(absl::string_view program, const Pass& pass,
                   uint32_t seed = 0) {
  absl::StatusOr<IRModule> module = ParseModule(program);
  if (!module.ok()) return module.status();
  const auto check =
      std::make_shared<CheckValuesInstrument>(CheckValuesOptions{.seed = seed});
  const absl::Status status = PassContext({.instruments = {check}})
                                  .Run([&] { return pass(*module); })
                                  .status();
  return absl::Status(status.code(), OriginalMessage(status));
}

constexpr char kTanh[] = "def @main(%x: Tensor[(2, 3), float32]) { tanh(%x) }";

Pass TanhTo(absl::string_view op, PassInfo info = {.name = "Wrong"}) {
  return toy::Replace("tanh", op, info);
}

// Multiplies the result of each function by a number.
Pass Scale(float factor, PassInfo info) {
  return toy::CreateFunctionPass(
      [factor](const Function& function, const IRModule& /*module*/,
               const PassContext& /*context*/) -> absl::StatusOr<Function> {
        return Function(
            {function->params().begin(), function->params().end()},
            Call(Op::Find("multiply"),
                 {function->body(), Constant(Tensor::Scalar<float>(factor))}));
      },
      std::move(info));
}

TEST(CheckValuesTest, NamesThePassThatComputesSomethingElse) {
  const absl::Status status = Check(
      kTanh, Sequential({toy::Nothing(), toy::Liar(), Scale(1, {"ByOne"}),
                         Sequential({TanhTo("sigmoid")}), TanhTo("negative")}));
  EXPECT_THAT(
      status,
      StatusIs(absl::StatusCode::kInvalidArgument,
               "pass Wrong changed what @main computes: 6 of 6 elements of "
               "result, float32[2, 3], are off; result["));
  EXPECT_THAT(std::string(status.message()),
              HasSubstr("the pass promises to keep every bit"));
}

TEST(CheckValuesTest, KeepsToTheToleranceOfThePass) {
  const float factor = 1.00001f;
  EXPECT_FALSE(Check(kTanh, Scale(factor, {.name = "Exact"})).ok());
  EXPECT_THAT(
      Check(kTanh, Scale(factor,
                         {.name = "Rough", .exact = false, .tolerance = 1e-4})),
      IsOk());
  EXPECT_THAT(
      Check(kTanh,
            Scale(factor, {.name = "Fine", .exact = false, .tolerance = 1e-6})),
      StatusIs(absl::StatusCode::kInvalidArgument,
               "(allowed: 1e-06 of the largest element, 0."));
}

TEST(CheckValuesTest, SeesWhatFunctionsCompute) {
  constexpr char kProgram[] =
      "def @f(%x: Tensor[(2), float32]) -> Tensor[(2), float32] { tanh(%x) }\n"
      "def @unused(%x: Tensor[(2), float32]) { abs(%x) }\n"
      "def @main(%x: Tensor[(2), float32]) { (%x, (@f(%x),)) }\n";
  EXPECT_THAT(Check(kProgram, TanhTo("sigmoid")),
              StatusIs(absl::StatusCode::kInvalidArgument, "result.1.0["));
  EXPECT_THAT(Check(kProgram, toy::Replace("abs", "exp", {.name = "Unseen"})),
              IsOk());
}

TEST(CheckValuesTest, ArgumentsThatKeepResultsFinite) {
  // Half the numbers in [-1, 1) have no root: nothing would be compared.
  constexpr char kProgram[] =
      "def @main(%var: Tensor[(1), float32], %x: Tensor[(1), float32]) {\n"
      "  tanh(divide(%x, sqrt(%var)))\n"
      "}\n";
  for (uint32_t seed = 0; seed < 20; ++seed) {
    EXPECT_FALSE(Check(kProgram, TanhTo("sigmoid"), seed).ok()) << seed;
  }
}

TEST(CheckValuesTest, WhatCannotBeEvaluated) {
  EXPECT_THAT(
      Check("def @main(%x: Tensor[(2), float32]) { toy.a(%x) }", toy::AToB()),
      StatusIs(absl::StatusCode::kUnimplemented,
               "@main cannot be evaluated as pass AToB was given it: operator "
               "toy.a has no kernel"));
  EXPECT_THAT(Check(kTanh, TanhTo("toy.a")),
              StatusIs(absl::StatusCode::kUnimplemented,
                       "@main cannot be evaluated any more after pass Wrong: "
                       "operator toy.a has no kernel"));
  EXPECT_THAT(
      Check("def @main(%x: Tensor[(?), float32]) { tanh(%x) }", TanhTo("abs")),
      StatusIs(absl::StatusCode::kInvalidArgument,
               "parameter %x: no random value can be made for the type "
               "Tensor[(?), float32]"));
  EXPECT_THAT(Check("def @f(%x: float32) { tanh(%x) }", TanhTo("abs")),
              StatusIs(absl::StatusCode::kNotFound, "main"));
  // Nothing changes, so nothing need be evaluated.
  EXPECT_THAT(Check("def @main(%x: Tensor[(?), float32]) { toy.a(%x) }",
                    Sequential({toy::InferType(), toy::Nothing()})),
              IsOk());
}

// `body` becomes `let %v = body; %v`.
Pass BindResult() {
  return toy::CreateFunctionPass(
      [](const Function& function, const IRModule& /*module*/,
         const PassContext& /*context*/) -> absl::StatusOr<Function> {
        const Var v("v");
        return Function({function->params().begin(), function->params().end()},
                        Let(v, function->body(), v));
      },
      {.name = "BindResult"});
}

// The lines that say what is not compared.
absl::StatusOr<std::vector<std::string>> NotCompared(absl::string_view program,
                                                     const Pass& pass) {
  std::vector<std::string> lines;
  absl::StatusOr<IRModule> module = ParseModule(program);
  if (!module.ok()) return module.status();
  const auto check = std::make_shared<CheckValuesInstrument>(
      CheckValuesOptions{.not_compared = [&](absl::string_view line) {
        lines.emplace_back(line);
      }});
  const absl::Status status = PassContext({.instruments = {check}})
                                  .Run([&] { return pass(*module); })
                                  .status();
  if (!status.ok()) return status;
  return lines;
}

TEST(CheckValuesTest, DataAndConstructors) {
  constexpr char kProgram[] =
      "type box[tv] { constructor(tv), other(tv), }\n"
      "def @main(%x: Tensor[(2), float32]) {\n"
      "  (constructor(()), constructor(tanh(%x)), constructor, other)\n"
      "}\n";
  EXPECT_THAT(Check(kProgram, BindResult()), IsOk());
  EXPECT_THAT(*NotCompared(kProgram, BindResult()), IsEmpty());
  EXPECT_THAT(Check(kProgram, TanhTo("sigmoid")),
              StatusIs(absl::StatusCode::kInvalidArgument, "result.1.0["));
}

TEST(CheckValuesTest, FunctionsAreCalled) {
  constexpr char kProgram[] =
      "def @f(%z: Tensor[(2), float32]) { tanh(%z) }\n"
      "def @main(%x: Tensor[(2), float32]) {\n"
      "  (fn (%y: Tensor[(2), float32]) { add(%y, @f(%x)) }, @f,\n"
      "   fn (%y: float32) { fn (%z: float32) { (%z, tanh(%y)) } })\n"
      "}\n";
  EXPECT_THAT(*NotCompared(kProgram, BindResult()), IsEmpty());
  EXPECT_THAT(Check(kProgram, TanhTo("sigmoid")),
              StatusIs(absl::StatusCode::kInvalidArgument, "(...)"));
}

TEST(CheckValuesTest, SaysWhatIsNotCompared) {
  constexpr char kProgram[] =
      "def @main(%x: Tensor[(2), float32]) {\n"
      "  (%x, fn (%y: Tensor[(?), float32]) { %y }, fn [A](%a: A) { %a })\n"
      "}\n";
  EXPECT_THAT(
      *NotCompared(kProgram, BindResult()),
      ElementsAre(
          HasSubstr("after pass BindResult, result.2 is not compared: it is a "
                    "function of type parameters"),
          HasSubstr("result.1 is not compared: it is a function: parameter %y: "
                    "no random value can be made for the type "
                    "Tensor[(?), float32]")));
  EXPECT_THAT(Check(kProgram, BindResult()), IsOk());
}

Value Floats(const std::vector<float>& values) {
  return *Tensor::FromValues<float>({static_cast<int64_t>(values.size())},
                                    values);
}

constexpr char kExactName[] = "Exact";

TEST(CompareValuesTest, Exact) {
  const PassInfo exact = {.name = kExactName};
  EXPECT_THAT(CompareValues(Floats({1, kNan, kInfinity}),
                            Floats({1, -kNan, kInfinity}), exact),
              IsOk());
  EXPECT_THAT(CompareValues(Floats({1, 0, 2}), Floats({1, -0.0f, 2}), exact),
              StatusIs(absl::StatusCode::kInvalidArgument,
                       "1 of 3 elements of result, float32[3], are off; "
                       "result[1] is -0 and was 0"));
  EXPECT_THAT(CompareValues(Floats({1, 2}), Floats({1, kNan}), exact),
              StatusIs(absl::StatusCode::kInvalidArgument,
                       "result[1] is nan and was 2"));
}

TEST(CompareValuesTest, Tolerance) {
  const PassInfo rough = {.name = "Rough", .exact = false, .tolerance = 0.1};
  EXPECT_THAT(CompareValues(Floats({0, 10}), Floats({0.9f, 10.5f}), rough),
              IsOk());
  EXPECT_THAT(CompareValues(Floats({0, 10, 1}), Floats({1.5f, 10, 4}), rough),
              StatusIs(absl::StatusCode::kInvalidArgument,
                       "2 of 3 elements of result, float32[3], are off; "
                       "result[2] is 4 and was 1 (allowed: 0.1 of the largest "
                       "element, 10)"));
  EXPECT_THAT(
      CompareValues(Floats({kInfinity, 1}), Floats({kInfinity, 1.05f}), rough),
      IsOk());
  EXPECT_FALSE(
      CompareValues(Floats({kInfinity}), Floats({-kInfinity}), rough).ok());
  EXPECT_FALSE(CompareValues(Floats({kInfinity}), Floats({1e30f}), rough).ok());
}

TEST(CompareValuesTest, Structure) {
  const PassInfo info = {.name = kExactName};
  const Value one = Floats({1});
  EXPECT_THAT(CompareValues(Value::MakeTuple({one, one}),
                            Value::MakeTuple({one, Floats({1, 1})}), info),
              StatusIs(absl::StatusCode::kInvalidArgument,
                       "result.1 is float32[2] and was float32[1]"));
  EXPECT_THAT(CompareValues(Value::MakeTuple({one, one}),
                            Value::MakeTuple({one}), info),
              StatusIs(absl::StatusCode::kInvalidArgument,
                       "result is a tuple of 1 and was a tuple of 2"));
  EXPECT_THAT(CompareValues(Value::MakeCell(one), Value::MakeCell(one), info),
              IsOk());
  EXPECT_THAT(CompareValues(Value::MakeCell(one), one, info),
              StatusIs(absl::StatusCode::kInvalidArgument,
                       "result is float32[1] and was a reference"));
  const Value function = Value::MakeClosure({});
  EXPECT_THAT(CompareValues(function, function, info),
              StatusIs(absl::StatusCode::kUnimplemented, "is a function"));
}

}  // namespace
}  // namespace baton
