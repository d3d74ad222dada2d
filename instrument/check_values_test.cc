#include "baton/instrument/check_values.h"

#include <cmath>
#include <cstdint>
#include <limits>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "baton/base/dtype.h"
#include "baton/base/tensor.h"
#include "baton/instrument/compare_values.h"
#include "baton/ir/module.h"
#include "baton/ir/op.h"
#include "baton/ir/type.h"
#include "baton/relay/ir/expr.h"
#include "baton/relay/ir/infer_type.h"
#include "baton/relay/ir/text_parser.h"
#include "baton/relay/runtime/value.h"
#include "baton/testing/status_matchers.h"
#include "baton/testing/toy_passes.h"
#include "baton/transform/module_pass.h"
#include "baton/transform/pass.h"
#include "baton/transform/pass_context.h"
#include "baton/transform/pass_error.h"
#include "baton/transform/pass_info.h"
#include "baton/transform/sequential.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"

namespace baton {
namespace {

using relay::Function;
using relay::Value;

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
            relay::Call(Op::Find("multiply"),
                        {function->body(),
                         relay::Constant(Tensor::Scalar<float>(factor))}));
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

// The square of what is off by 1 % is off by 2 %.
TEST(CheckValuesTest, RoundingsThatTheProgramAmplifies) {
  const PassInfo rounds = {.name = "Rounds",
                           .exact = false,
                           .tolerance = 0.01,
                           .waivers = {{"precision", "It rounds."}}};
  const PassInfo reassociates = {
      .name = "Rough", .exact = false, .tolerance = 0.01};
  constexpr char kSquare[] =
      "def @main(%x: Tensor[(9), float32]) { multiply(%x, %x) }";
  EXPECT_THAT(Check(kSquare, Scale(1.02f, rounds)), IsOk());
  EXPECT_THAT(Check(kSquare, Scale(1.03f, rounds)),
              StatusIs(absl::StatusCode::kInvalidArgument, "are off"));
  EXPECT_FALSE(Check(kSquare, Scale(1.02f, reassociates)).ok());
  EXPECT_FALSE(
      Check("def @main(%x: Tensor[(9), float32]) { %x }", Scale(1.02f, rounds))
          .ok());
}

// The sine of a large number is off by a thousand roundings, as results are in
// which little is left of large numbers.
TEST(CheckValuesTest, ReassociatedSumsThatTheProgramAmplifies) {
  const PassInfo reassociates = {
      .name = "Rough", .exact = false, .tolerance = 1e-5};
  constexpr char kSteep[] =
      "def @main(%x: Tensor[(9), float32]) { sin(multiply(%x, 1000f)) }";
  constexpr char kFlat[] = "def @main(%x: Tensor[(9), float32]) { sin(%x) }";
  EXPECT_THAT(Check(kSteep, Scale(1.00002f, reassociates)), IsOk());
  EXPECT_FALSE(Check(kFlat, Scale(1.00002f, reassociates)).ok());
  EXPECT_FALSE(Check(kSteep, Scale(1.01f, reassociates)).ok());
  EXPECT_FALSE(Check(kSteep, Scale(1.00002f, {.name = "Exact"})).ok());
}

TEST(CheckValuesTest, SeesWhatFunctionsCompute) {
  constexpr char kProgram[] =
      "def @f(%x: Tensor[(2), float32]) -> Tensor[(2), float32] { tanh(%x) }\n"
      "def @unused(%x: Tensor[(2), float32]) { abs(%x) }\n"
      "def @main(%x: Tensor[(2), float32]) { (%x, (@f(%x),)) }\n";
  EXPECT_THAT(Check(kProgram, TanhTo("sigmoid")),
              StatusIs(absl::StatusCode::kInvalidArgument, "result.1.0["));
  EXPECT_THAT(Check(kProgram, toy::Replace("abs", "exp", {.name = "Other"})),
              StatusIs(absl::StatusCode::kInvalidArgument,
                       "pass Other changed what @unused computes: 2 of 2 "
                       "elements of result of @unused, float32[2], are off"));
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
        const relay::Var v("v");
        return Function({function->params().begin(), function->params().end()},
                        relay::Let(v, function->body(), v));
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

TEST(CheckValuesTest, WhatDoesNotDependOnOperatorsWithoutKernel) {
  constexpr char kProgram[] =
      "def @main(%x: Tensor[(2), float32]) {\n"
      "  (abs(toy.a(tanh(%x))), exp(%x), ref(toy.a(%x)))\n"
      "}\n";
  EXPECT_THAT(
      *NotCompared(kProgram, BindResult()),
      ElementsAre("after pass BindResult, result.0 is not compared: it depends "
                  "on operators without kernel",
                  "after pass BindResult, result.2 is not compared: it depends "
                  "on operators without kernel",
                  "after pass BindResult, @main calls toy.a, which has no "
                  "kernel: what depends on it is not compared"));
  EXPECT_THAT(Check(kProgram, toy::Replace("exp", "abs", {.name = "Wrong"})),
              StatusIs(absl::StatusCode::kInvalidArgument, "result.1["));
  // The arguments of such an operator are compared, too.
  EXPECT_THAT(Check(kProgram, TanhTo("sigmoid")),
              StatusIs(absl::StatusCode::kInvalidArgument,
                       "argument 0 of toy.a, which has no kernel, float32[2], "
                       "are off"));
  EXPECT_THAT(Check(kTanh, TanhTo("toy.a")), IsOk());
}

TEST(CheckValuesTest, BranchesThatDependOnOperatorsWithoutKernel) {
  constexpr char kProgram[] =
      "def @main(%c: bool, %x: float32) {\n"
      "  let %r = ref(%x);\n"
      "  let %y = if (toy.a(%c)) { ref_write(%r, 2f) } else { () };\n"
      "  (ref_read(%r), tanh(%x))\n"
      "}\n";
  EXPECT_THAT(*NotCompared(kProgram, BindResult()),
              ElementsAre(HasSubstr("result.0 is not compared"),
                          HasSubstr("@main calls toy.a")));
  EXPECT_THAT(Check(kProgram, TanhTo("sigmoid")),
              StatusIs(absl::StatusCode::kInvalidArgument, "result.1["));
}

TEST(CheckValuesTest, NamesTheFirstNodeThatDiffers) {
  EXPECT_THAT(
      Check("def @main(%x: Tensor[(2), float32]) {\n"
            "  exp(abs(tanh(negative(%x))))\n"
            "}\n",
            TanhTo("sigmoid")),
      StatusIs(absl::StatusCode::kInvalidArgument,
               "\nthe first value that differs: `%1 = sigmoid(%0)` in place of "
               "`%1 = tanh(%0)`: 2 of 2 elements of its value, float32[2], are "
               "off"));
}

TEST(CheckValuesTest, OtherFunctionsMayNotEnd) {
  constexpr char kProgram[] =
      "def @f(%x: float32) -> float32 { @f(tanh(%x)) }\n"
      "def @g(%x: float32) -> float32 { add(@g(%x), @g(tanh(%x))) }\n"
      "def @main(%x: float32) { tanh(%x) }\n";
  EXPECT_THAT(
      *NotCompared(kProgram, TanhTo("tanh")),
      ElementsAre(HasSubstr("@f is not checked: more than 1000 nested calls"),
                  HasSubstr("@g is not checked: more than 1000 nested calls")));
}

// The error of the instrument for a run over kTanh with these options.
absl::Status CheckTanh(CheckValuesOptions options, const Pass& pass,
                       std::string* error_log = nullptr) {
  const auto check = std::make_shared<CheckValuesInstrument>(options);
  const absl::Status status =
      PassContext({.instruments = {check}})
          .Run([&] { return pass(*ParseModule(kTanh)); })
          .status();
  if (error_log != nullptr) *error_log = check->ErrorLogText();
  return absl::Status(status.code(), OriginalMessage(status));
}

CheckValuesOptions Given(const Value& arg, std::optional<Value> expected = {}) {
  return {.given = [=](const Function& main) -> absl::StatusOr<GivenValues> {
    EXPECT_EQ(main->params().size(), 1);
    return GivenValues{{arg}, expected};
  }};
}

TEST(CheckValuesTest, GivenArgumentsAndExpectedResults) {
  const Value zeros = *Tensor::Zeros(DType::Float(32), {2, 3});
  const Value ones = *Tensor::Ones(DType::Float(32), {2, 3});
  // sin(0) = tanh(0).
  EXPECT_THAT(CheckTanh(Given(zeros), TanhTo("sin")), IsOk());
  EXPECT_FALSE(CheckTanh(Given(ones), TanhTo("sin")).ok());
  EXPECT_THAT(CheckTanh(Given(zeros, zeros), TanhTo("sin")), IsOk());
  EXPECT_THAT(CheckTanh(Given(zeros, ones), TanhTo("sin")),
              StatusIs(absl::StatusCode::kInvalidArgument,
                       "before any pass changed it, @main does not compute "
                       "what is expected: 6 of 6 elements"));
  const Value result = *Tensor::FromValues<float>(
      {2, 3}, std::vector<float>(6, std::tanh(1.0f)));
  const PassInfo rough = {.name = "Rough", .exact = false, .tolerance = 0.1};
  EXPECT_THAT(CheckTanh(Given(ones, result), Scale(1.01f, rough)),
              StatusIs(absl::StatusCode::kInvalidArgument,
                       "after pass Rough, @main does not compute what is "
                       "expected any more: "));
}

TEST(CheckValuesTest, ExpectedResultsBesideOperatorsWithoutKernel) {
  constexpr char kProgram[] =
      "def @main(%x: Tensor[(2, 3), float32]) { (toy.a(%x), tanh(%x)) }";
  const Value zeros = *Tensor::Zeros(DType::Float(32), {2, 3});
  const Value ones = *Tensor::Ones(DType::Float(32), {2, 3});
  const auto check = [&](const Value& expected, const Pass& pass) {
    const auto instrument = std::make_shared<CheckValuesInstrument>(
        Given(zeros, Value::MakeTuple({zeros, expected})));
    return PassContext({.instruments = {instrument}})
        .Run([&] { return pass(*ParseModule(kProgram)); })
        .status();
  };
  EXPECT_THAT(check(zeros, TanhTo("sin")), IsOk());
  EXPECT_THAT(check(ones, TanhTo("sin")),
              StatusIs(absl::StatusCode::kInvalidArgument,
                       "@main does not compute what is expected: 6 of 6 "
                       "elements of result.1"));
}

TEST(CheckValuesTest, ErrorsAddUp) {
  const PassInfo rough = {.name = "Rough", .exact = false, .tolerance = 0.1};
  const Pass twice =
      Sequential({Scale(1.01f, rough), toy::Nothing(), Scale(1.01f, rough)});
  std::string error_log;
  EXPECT_THAT(CheckTanh({}, twice, &error_log), IsOk());
  EXPECT_THAT(error_log,
              HasSubstr("Rough adds an error of 0.01 of the largest element "
                        "(relative 0.01, "));
  EXPECT_THAT(error_log, HasSubstr("ULP); 0.0201 in all\n"));
  EXPECT_THAT(CheckTanh({.max_error = 0.03}, twice), IsOk());
  EXPECT_THAT(CheckTanh({.max_error = 0.015}, twice),
              StatusIs(absl::StatusCode::kInvalidArgument,
                       "after pass Rough, the error of @main is over the "
                       "budget: 0.0201 of the largest element, allowed 0.015"));
}

// Makes `program` of the module.
Pass Becomes(std::string program, PassInfo info) {
  return CreateModulePass(
      [program = std::move(program)](const IRModule& /*module*/,
                                     const PassContext& /*context*/) {
        return ParseModule(program);
      },
      std::move(info));
}

TEST(CheckValuesTest, PassesThatPromiseNoAccuracyAreMeasured) {
  const PassInfo rounds = {
      .name = "Rounds",
      .exact = false,
      .waivers = {{"precision", "It rounds."}, {"values", "At will."}}};
  const PassInfo rough = {.name = "Rough", .exact = false, .tolerance = 0.1};
  const Pass both = Sequential({Scale(1.01f, rounds), Scale(1.01f, rough)});
  std::string error_log;
  EXPECT_THAT(CheckTanh({}, both, &error_log), IsOk());
  EXPECT_THAT(error_log, HasSubstr("Rounds adds an error of 0.01 of"));
  EXPECT_THAT(error_log, HasSubstr("; 0.01 in all\n"));
  EXPECT_THAT(error_log, HasSubstr("; 0.0201 in all\n"));
  EXPECT_THAT(CheckTanh({.max_error = 0.03}, both), IsOk());
  EXPECT_THAT(CheckTanh({.max_error = 0.015}, both),
              StatusIs(absl::StatusCode::kInvalidArgument, "after pass Rough"));
  EXPECT_THAT(
      CheckTanh({.max_error = 0.005}, both),
      StatusIs(absl::StatusCode::kInvalidArgument,
               "after pass Rounds, the error of @main is over the budget"));
  EXPECT_THAT(*NotCompared(kTanh, both),
              ElementsAre("after pass Rounds, results are only measured: it "
                          "promises no accuracy"));
  // The result of a shorter type is compared with the one before all passes.
  const Pass shorter = Becomes(
      "def @main(%x: Tensor[(2, 3), float32]) {\n"
      "  cast(tanh(%x), dtype=\"float16\")\n}\n",
      rounds);
  EXPECT_THAT(CheckTanh({.max_error = 1e-3}, shorter, &error_log), IsOk());
  EXPECT_THAT(error_log, HasSubstr("Rounds adds an error of 0.000"));
  EXPECT_FALSE(CheckTanh({.max_error = 1e-6}, shorter).ok());
}

TEST(CheckValuesTest, TheErrorBeforeAnotherProgramCountsToo) {
  const PassInfo rough = {.name = "Rough", .exact = false, .tolerance = 0.1};
  const Pass passes = Sequential(
      {Scale(1.01f, rough),
       Becomes("def @main(%x: Tensor[(4), float32]) { exp(%x) }",
               {.name = "Other", .waivers = {{"values", "It is other."}}}),
       Scale(1.02f, rough)});
  std::string error_log;
  EXPECT_THAT(CheckTanh({}, passes, &error_log), IsOk());
  EXPECT_THAT(error_log,
              HasSubstr("Other makes another program: what it adds is "
                        "not known; 0.01 in all\n"));
  EXPECT_THAT(error_log, HasSubstr("ULP); 0.03 in all\n"));
  EXPECT_THAT(CheckTanh({.max_error = 0.04}, passes), IsOk());
  EXPECT_FALSE(CheckTanh({.max_error = 0.025}, passes).ok());
}

TEST(CheckValuesTest, WhatStatesShareIsComputedOnce) {
  constexpr char kProgram[] =
      "def @main(%x: Tensor[(2), float32]) {\n"
      "  let %y = exp(abs(tanh(negative(abs(%x)))));\n"
      "  (%y, fn (%z: Tensor[(2), float32]) { abs(%z) }(%x))\n"
      "}\n";
  const auto check = std::make_shared<CheckValuesInstrument>();
  const absl::StatusOr<IRModule> module = ParseModule(kProgram);
  const Pass rough = toy::Replace(
      "tanh", "sin", {.name = "Rough", .exact = false, .tolerance = 1});
  const Pass passes = Sequential(
      {BindResult(), toy::Replace("abs", "abs", {.name = "Same"}), rough});
  EXPECT_THAT(PassContext({.instruments = {check}})
                  .Run([&] { return passes(*module); })
                  .status(),
              IsOk());
  // Five different calls at first; then `sin`, `abs` and `exp`.
  EXPECT_EQ(check->cache().misses(), 8);
}

// `add(x, 0)` becomes x, which it is not for x = -0.
Pass DropsZero(PassInfo info) {
  return toy::CreateFunctionPass(
      [](const Function& function, const IRModule& /*module*/,
         const PassContext& /*context*/) -> absl::StatusOr<Function> {
        return Function({function->params().begin(), function->params().end()},
                        function->body().As<relay::CallNode>()->arg(0));
      },
      std::move(info));
}

TEST(CheckValuesTest, SpecialValues) {
  constexpr char kSum[] =
      "def @main(%x: Tensor[(20), float32]) { add(%x, 0f) }";
  const auto check = [&](bool special_values, const PassInfo& info) {
    const auto instrument = std::make_shared<CheckValuesInstrument>(
        CheckValuesOptions{.special_values = special_values});
    const absl::Status status =
        PassContext({.instruments = {instrument}})
            .Run([&] { return DropsZero(info)(*ParseModule(kSum)); })
            .status();
    return absl::Status(status.code(), OriginalMessage(status));
  };
  const PassInfo exact = {.name = "Exact"};
  EXPECT_THAT(check(false, exact), IsOk());
  EXPECT_THAT(check(true, exact),
              StatusIs(absl::StatusCode::kInvalidArgument,
                       "pass Exact changed what @main computes: for NaN, "
                       "infinities and the like, 1 of 20 elements of result, "
                       "float32[20], are off; result[9] is -0 and was 0"));
  EXPECT_THAT(
      check(true, {.name = "But", .waivers = {{"special_values", "Zeros."}}}),
      IsOk());
  EXPECT_THAT(check(true, {.name = "Rough", .exact = false}), IsOk());
}

TEST(CheckValuesTest, PassesThatPromiseNothing) {
  const PassInfo nothing = {.name = "Other",
                            .waivers = {{"values", "All is other."}}};
  const Pass other = toy::Replace("tanh", "sigmoid", nothing);
  EXPECT_THAT(Check(kTanh, other), IsOk());
  EXPECT_THAT(*NotCompared(kTanh, other),
              ElementsAre("after pass Other, results are not compared: it "
                          "promises nothing about them"));
  // Results after that are compared again, with other parameters if necessary.
  const Pass wrong = toy::Replace("sigmoid", "sin", {.name = "Wrong"});
  EXPECT_THAT(Check(kTanh, Sequential({other, wrong})),
              StatusIs(absl::StatusCode::kInvalidArgument,
                       "pass Wrong changed what @main computes"));
  const Pass generic = toy::CreateFunctionPass(
      [](const Function& function, const IRModule& /*module*/,
         const PassContext& /*context*/) -> absl::StatusOr<Function> {
        const relay::Var f("f",
                           FuncType({}, TensorType({2, 3}, DType::Float(32))));
        return Function({f},
                        relay::Call(Op::Find("tanh"), {relay::Call(f, {})}));
      },
      nothing);
  EXPECT_THAT(*NotCompared(kTanh, Sequential({generic, wrong, BindResult()})),
              ElementsAre(HasSubstr("results are not compared"),
                          HasSubstr("after pass BindResult, @main is not "
                                    "checked: parameter %f: no random value")));
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
  EXPECT_THAT(
      CompareValues(Floats({kInfinity, kNan, 1, 1}),
                    Floats({-kInfinity, 1, kNan, 1.5f}), rough),
      StatusIs(absl::StatusCode::kInvalidArgument,
               "; largest errors: relative 0.5, 4.19e+06 ULP; NaN: 1 made, 1 "
               "lost; infinite: 1 made, 1 lost"));
  // In another order, a sum of infinities may be NaN.
  EXPECT_THAT(CompareValues(Floats({kInfinity, kNan}),
                            Floats({kNan, kInfinity}), rough),
              IsOk());
  EXPECT_FALSE(
      CompareValues(Floats({kInfinity}), Floats({-kInfinity}), rough).ok());
  EXPECT_FALSE(CompareValues(Floats({kInfinity}), Floats({1e30f}), rough).ok());
}

TEST(CompareValuesTest, ExactButSpecial) {
  const PassInfo info = {.name = "But",
                         .waivers = {{"special_values", "Zeros."}}};
  EXPECT_THAT(CompareValues(Floats({1, 0, kNan, 3}),
                            Floats({1, -0.0f, 2, kInfinity}), info),
              IsOk());
  EXPECT_THAT(CompareValues(Floats({1, 2}), Floats({1, 2.5f}), info),
              StatusIs(absl::StatusCode::kInvalidArgument,
                       "result[1] is 2.5 and was 2 (the pass promises to keep "
                       "every bit of ordinary numbers)"));
}

TEST(CompareValuesTest, PrecisionChanging) {
  const PassInfo info = {.name = "Short",
                         .exact = false,
                         .tolerance = 0.01,
                         .waivers = {{"precision", "Integers."}}};
  const auto ints = [](const std::vector<int8_t>& values) {
    return Value(*Tensor::FromValues<int8_t>(
        {static_cast<int64_t>(values.size())}, values));
  };
  EXPECT_THAT(CompareValues(ints({6, -1}), ints({5, 0}), info), IsOk());
  EXPECT_THAT(CompareValues(ints({6, -1}), ints({4, 0}), info),
              StatusIs(absl::StatusCode::kInvalidArgument,
                       "1 of 2 elements of result, int8[2], are off"));
  const PassInfo reassociates = {.name = "Rough", .exact = false};
  EXPECT_FALSE(CompareValues(ints({6, -1}), ints({5, 0}), reassociates).ok());
  // A result may be of another floating-point dtype.
  const Value half = *Tensor::FromValues<Float16>({1}, {Float16(1.001f)});
  EXPECT_THAT(CompareValues(Floats({1}), half, info), IsOk());
  EXPECT_FALSE(CompareValues(Floats({1}), half, reassociates).ok());
  EXPECT_FALSE(CompareValues(Floats({1.1f}), half, info).ok());
}

TEST(WithRoundingTest, OfTheShortestDtype) {
  const PassInfo rough = {.name = "Rough", .exact = false, .tolerance = 1e-5};
  const auto typed = [](absl::string_view text) {
    return *relay::InferTypes(*ParseModule(text));
  };
  const IRModule wide = typed("def @main(%x: float32) { tanh(%x) }");
  const IRModule half = typed(
      "def @main(%x: float32) {\n"
      "  cast(tanh(cast(%x, dtype=\"float16\")), dtype=\"float32\")\n"
      "}\n");
  EXPECT_EQ(WithRounding(rough, wide, wide).tolerance, 1e-5);
  EXPECT_EQ(WithRounding(rough, wide, half).tolerance, 8 / 1024.0);
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
