#include "baton/relay/runtime/code_generator.h"

#include <stdexcept>
#include <utility>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/types/span.h"
#include "baton/base/registry.h"
#include "baton/base/tensor.h"
#include "baton/ir/module.h"
#include "baton/relay/ir/expr.h"
#include "baton/relay/runtime/evaluator.h"
#include "baton/relay/runtime/value.h"
#include "baton/testing/parse_typed.h"
#include "baton/testing/status_matchers.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"

namespace baton::relay {
namespace {

using ::baton::testing::ParseTyped;
using ::baton::testing::StatusIs;

using Override = ScopedOverride<CodeGenerator>;

// A generator whose code gives that.
CodeGenerator Gives(absl::StatusOr<Value> result) {
  return {.doc = "For tests.",
          .load = [=](const Function&, const Artifact& artifact)
              -> absl::StatusOr<ExternalFunction> {
            if (artifact.name != "f.c" || artifact.bytes != "code") {
              return absl::DataLossError("other code");
            }
            return ExternalFunction(
                [=](absl::Span<const Value>) { return result; });
          }};
}

constexpr char kModule[] = R"(
    def @main(%x: float32) -> float32 { add(@f(%x), %x) }
    def @f(%y: float32, Compiler="acme", global_symbol="f",
           artifact_name="f.c", artifact="code") -> float32 { exp(%y) })";

absl::StatusOr<Value> RunModule(const char* name = "main") {
  return EvaluateFunction(ParseTyped(kModule), name,
                          {Value(Tensor::Scalar(1.0f))});
}

TEST(EvaluatorTest, RunsCodeInPlaceOfFunctions) {
  const Override acme(&CodeGenerators(), "acme",
                      Gives(Value(Tensor::Scalar(41.0f))));
  absl::StatusOr<Value> result = RunModule();
  ASSERT_TRUE(result.ok()) << result.status();
  EXPECT_EQ(result->tensor().span<float>()[0], 42.0f);
  result = RunModule("f");
  ASSERT_TRUE(result.ok()) << result.status();
  EXPECT_EQ(result->tensor().span<float>()[0], 41.0f);
}

TEST(EvaluatorTest, EvaluatesFunctionsWhoseCodeRunsElsewhere) {
  const auto nothing = [](const Function&, const Artifact&) {
    return absl::StatusOr<ExternalFunction>(ExternalFunction());
  };
  for (const CodeGenerator& generator :
       {CodeGenerator{}, CodeGenerator{.load = nothing}}) {
    const Override acme(&CodeGenerators(), "acme", generator);
    const absl::StatusOr<Value> result = RunModule("f");
    ASSERT_TRUE(result.ok()) << result.status();
    EXPECT_NEAR(result->tensor().span<float>()[0], 2.7182818f, 1e-6);
  }
}

TEST(EvaluatorTest, NamesTheFunctionWhoseCodeFails) {
  const auto run = [](CodeGenerator generator) {
    const Override acme(&CodeGenerators(), "acme", std::move(generator));
    return RunModule().status();
  };
  EXPECT_THAT(run(Gives(absl::AbortedError("the device is off"))),
              StatusIs(absl::StatusCode::kAborted,
                       "external function f: the device is off"));
  EXPECT_THAT(run(Gives(Value(Tensor::Scalar(1.0)))),
              StatusIs(absl::StatusCode::kInternal,
                       "external function f: the result must be float32, found "
                       "float64"));
  EXPECT_THAT(run(Gives(Value())),
              StatusIs(absl::StatusCode::kInternal, "found another value"));
  EXPECT_THAT(
      run({.load =
               [](const Function&, const Artifact&) {
                 return absl::StatusOr<ExternalFunction>(
                     [](absl::Span<const Value>) -> absl::StatusOr<Value> {
                       throw std::runtime_error("no power");
                     });
               }}),
      StatusIs(absl::StatusCode::kInternal,
               "external function f: an exception: no power"));
  EXPECT_THAT(
      run({.load = [](const Function&,
                      const Artifact&) -> absl::StatusOr<ExternalFunction> {
        return absl::DataLossError("not for this version");
      }}),
      StatusIs(absl::StatusCode::kDataLoss,
               "external function f: not for this version"));
  EXPECT_THAT(RunModule().status(),
              StatusIs(absl::StatusCode::kNotFound,
                       "external function f: unknown code generator \"acme\""));
}

TEST(ArtifactsTest, HaveNamesOfFiles) {
  const auto names = [](const char* text) {
    return ArtifactsOf(ParseTyped(text)).status();
  };
  EXPECT_THAT(names(R"(
      def @f(%x: int32, artifact_name="../x", artifact="") { %x })"),
              StatusIs(absl::StatusCode::kInvalidArgument,
                       "code for @f: the artifact's name \"../x\" is not that "
                       "of a file"));
  EXPECT_THAT(names(R"(
      def @f(%x: int32, artifact_name="x", artifact="") { %x }
      def @g(%x: int32, artifact_name="x", artifact="") { %x })"),
              StatusIs(absl::StatusCode::kAlreadyExists,
                       "code for @g: the artifact x is that of @f already"));
}

}  // namespace
}  // namespace baton::relay
