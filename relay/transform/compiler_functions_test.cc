#include "baton/relay/transform/compiler_functions.h"

#include "absl/status/status.h"
#include "absl/strings/string_view.h"
#include "baton/relay/transform/pass_test_util.h"
#include "baton/relay/transform/remove_unused_functions.h"
#include "baton/testing/status_matchers.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"

namespace baton::relay {
namespace {

using ::baton::testing::StatusIs;

// As in the reference's test_compiler_function_utils.py.
constexpr char kPartitioned[] = R"(
    def @main(%x: Tensor[(2, 3), float32]) -> Tensor[(2, 4), float32] {
      @cutlass_0(%x, @cublas_3(%x))
    }
    def @cutlass_0(%a: Tensor[(2, 3), float32], %b: Tensor[(4, 3), float32],
        Compiler="cutlass", global_symbol="cutlass_0", Primitive=1)
        -> Tensor[(2, 4), float32] {
      %0 = fn (%c: Tensor[(2, 3), float32], %d: Tensor[(4, 3), float32],
               Composite="cutlass.dense") -> Tensor[(2, 4), float32] {
        nn.relu(nn.dense(%c, %d, units=4))
      };
      %0(%a, %b)
    }
    def @cublas_3(%a: Tensor[(2, 3), float32], Compiler="cublas",
        global_symbol="cublas_3", Primitive=1) -> Tensor[(4, 3), float32] {
      concatenate((%a, %a))
    })";

constexpr char kLiterals[] = R"(
    def @main(%x: Tensor[(2, 3), float32]) -> Tensor[(2, 4), float32] {
      let %f = fn (%a: Tensor[(2, 3), float32], %b: Tensor[(4, 3), float32],
          Compiler="cutlass", global_symbol="cutlass_0", Primitive=1)
          -> Tensor[(2, 4), float32] {
        %0 = fn (%c: Tensor[(2, 3), float32], %d: Tensor[(4, 3), float32],
                 Composite="cutlass.dense") -> Tensor[(2, 4), float32] {
          nn.relu(nn.dense(%c, %d, units=4))
        };
        %0(%a, %b)
      };
      %1 = fn (%a: Tensor[(2, 3), float32], Compiler="cublas",
          global_symbol="cublas_3", Primitive=1) -> Tensor[(4, 3), float32] {
        concatenate((%a, %a))
      };
      %f(%x, %1(%x))
    })";

TEST(OutlineTest, MakesGlobalFunctions) {
  ExpectPassMakes(OutlineCompilerFunctionsWithExistingGlobalSymbols(),
                  kLiterals, kPartitioned);
  ExpectPassLeaves(OutlineCompilerFunctionsWithExistingGlobalSymbols(),
                   kPartitioned);
  ExpectPassLeaves(
      OutlineCompilerFunctionsWithExistingGlobalSymbols({"tensorrt"}),
      kLiterals);
}

TEST(OutlineTest, RefusesWhatIsNoGlobalFunction) {
  const auto run = [](absl::string_view text) {
    return OutlineCompilerFunctionsWithExistingGlobalSymbols()(
        ParseTyped(text));
  };
  EXPECT_THAT(run(R"(
      def @main(%x: float32) {
        %0 = fn (%a: float32, Compiler="a") -> float32 { exp(%a) };
        %0(%x)
      })"),
              StatusIs(absl::StatusCode::kInvalidArgument,
                       "has no attribute global_symbol"));
  EXPECT_THAT(
      run(R"(
      def @main(%x: float32) {
        %0 = fn (%a: float32, Compiler="a", global_symbol="f") -> float32 {
          add(%a, %x)
        };
        %0(%x)
      })"),
      StatusIs(absl::StatusCode::kInvalidArgument, "uses the variable %x"));
  EXPECT_THAT(run(R"(
      def @f(%a: float32) -> float32 { log(%a) }
      def @main(%x: float32) {
        %0 = fn (%a: float32, Compiler="a", global_symbol="f") -> float32 {
          exp(%a)
        };
        %0(%x)
      })"),
              StatusIs(absl::StatusCode::kAlreadyExists,
                       "two functions have the global symbol f"));
}

TEST(InlineTest, PutsBodiesInPlaceOfCalls) {
  ExpectPassMakes(InlineCompilerFunctionsBoundTo({{"cutlass_0"}}), kPartitioned,
                  R"(
      def @main(%x: Tensor[(2, 3), float32]) -> Tensor[(2, 4), float32] {
        nn.relu(nn.dense(%x, @cublas_3(%x), units=4))
      }
      def @cublas_3(%a: Tensor[(2, 3), float32], Compiler="cublas",
          global_symbol="cublas_3", Primitive=1) -> Tensor[(4, 3), float32] {
        concatenate((%a, %a))
      })");
  ExpectPassLeaves(InlineCompilerFunctionsBoundTo(), kPartitioned);
}

TEST(InlineTest, RefusesOtherFunctions) {
  EXPECT_THAT(
      InlineCompilerFunctionsBoundTo({{"cutlass"}})(ParseTyped(kPartitioned)),
      StatusIs(absl::StatusCode::kNotFound, "cutlass_0"));
  EXPECT_THAT(
      InlineCompilerFunctionsBoundTo({{"main"}})(ParseTyped(kPartitioned)),
      StatusIs(absl::StatusCode::kInvalidArgument,
               "@main is not for an external compiler"));
  EXPECT_THAT(InlineCompilerFunctionsBoundTo({{"f"}})(ParseTyped(R"(
      def @f(%x: float32, Compiler="a") -> float32 { exp(%x) }
      def @main() -> fn (float32) -> float32 { @f })")),
              StatusIs(absl::StatusCode::kFailedPrecondition,
                       "@f cannot be inlined in @main"));
}

TEST(MarkExternTest, ReplacesAttributes) {
  ExpectPassMakes(MarkCompilerFunctionsAsExtern({"a"}), R"(
      def @f(%x: float32, Compiler="a", Inline=1) -> float32 { exp(%x) }
      def @g(%x: float32, Compiler="b", Inline=1) -> float32 { exp(%x) })",
                  R"(
      def @f(%x: float32, Extern=1) -> float32 { exp(%x) }
      def @g(%x: float32, Compiler="b", Inline=1) -> float32 { exp(%x) })");
}

TEST(RemoveUnusedFunctionsTest, KeepsWhatIsReached) {
  ExpectPassMakes(RemoveUnusedFunctions({{"main1", "main2"}}), R"(
      def @f(%x: float32) -> float32 { @g(%x) }
      def @g(%x: float32) -> float32 { @f(%x) }
      def @value(%x: float32) -> float32 { %x }
      def @unused(%x: float32) -> float32 { @unused(@f(%x)) }
      def @main1(%x: float32) -> float32 { @f(%x) }
      def @main2() -> fn (float32) -> float32 { @value })",
                  R"(
      def @f(%x: float32) -> float32 { @g(%x) }
      def @g(%x: float32) -> float32 { @f(%x) }
      def @value(%x: float32) -> float32 { %x }
      def @main1(%x: float32) -> float32 { @f(%x) }
      def @main2() -> fn (float32) -> float32 { @value })");
  ExpectPassLeaves(RemoveUnusedFunctions(),
                   "def @f(%x: float32) -> float32 { %x }");
  ExpectPassLeaves(RemoveUnusedFunctions(),
                   "def @main(%x: float32) -> float32 { %x }");
  EXPECT_THAT(RemoveUnusedFunctions({{"mian"}})(
                  ParseTyped("def @main(%x: float32) -> float32 { %x }")),
              StatusIs(absl::StatusCode::kNotFound, "main"));
}

}  // namespace
}  // namespace baton::relay
