#include "baton/relay/transform/to_mixed_precision.h"

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "baton/base/attr_value.h"
#include "baton/ir/module.h"
#include "baton/ir/structural_equal.h"
#include "baton/relay/ir/text_printer.h"
#include "baton/relay/transform/pass_test_util.h"
#include "baton/testing/status_matchers.h"
#include "baton/transform/pass_registry.h"
#include "gtest/gtest.h"

namespace baton::relay {
namespace {

using ::baton::testing::StatusIs;

void ExpectBecomes(absl::string_view before, absl::string_view after) {
  BATON_ASSERT_OK_AND_ASSIGN(const IRModule result,
                             ToMixedPrecision()(ParseTyped(before)));
  EXPECT_TRUE(StructuralEqual(result, ParseTyped(after))) << AsText(result);
}

TEST(ToMixedPrecisionTest, LeavesIntegers) {
  const IRModule module = ParseTyped(R"(
    def @main(%x: Tensor[(4), int32]) { add(%x, sqrt(%x)) })");
  BATON_ASSERT_OK_AND_ASSIGN(const IRModule result, ToMixedPrecision()(module));
  EXPECT_TRUE(result.SameAs(module));
}

// An operator that has no such type computes in the one that it has.
TEST(ToMixedPrecisionTest, OperatorsThatRefuseTheType) {
  ExpectBecomes(R"(
    def @main(%x: Tensor[(4), float32]) {
      qnn.quantize(add(%x, %x), 1f, 0, out_dtype="int8")
    })",
                R"(
    def @main(%x: Tensor[(4), float32]) {
      %0 = cast(%x, dtype="float16");
      qnn.quantize(cast(add(%0, %0), dtype="float32"), 1f, 0, out_dtype="int8")
    })");
}

TEST(ToMixedPrecisionTest, BoundsOutOfRange) {
  ExpectBecomes(R"(
    def @main(%x: Tensor[(4), float32]) {
      clip(add(%x, %x), a_min=-1e5f, a_max=1e5f)
    })",
                R"(
    def @main(%x: Tensor[(4), float32]) {
      %0 = cast(%x, dtype="float16");
      clip(cast(add(%0, %0), dtype="float32"), a_min=-1e5f, a_max=1e5f)
    })");
}

// Variables get the type of their values; a function that is only called gets
// the result that its body has.
TEST(ToMixedPrecisionTest, LetsAndFunctions) {
  ExpectBecomes(R"(
    def @main(%x: Tensor[(4), float32]) {
      let %f = fn(%y: Tensor[(4), float32]) -> Tensor[(4), float32] { add(%y, %y) };
      let %z: Tensor[(4), float32] = %f(%x);
      add(%z, %z)
    })",
                R"(
    def @main(%x: Tensor[(4), float32]) {
      let %f = fn(%y: Tensor[(4), float32]) {
        %0 = cast(%y, dtype="float16");
        add(%0, %0)
      };
      let %z = %f(%x);
      add(%z, %z)
    })");
}

// Where a function is a value, others know its type; a function that calls
// itself does.
TEST(ToMixedPrecisionTest, FunctionsThatKeepTheirTypes) {
  ExpectBecomes(R"(
    def @main(%x: Tensor[(4), float32], %n: int32) {
      let %loop = fn(%i: int32, %y: Tensor[(4), float32]) -> Tensor[(4), float32] {
        if (less(%i, 1)) { %y } else { %loop(subtract(%i, 1), add(%y, %y)) }
      };
      let %pair = (fn(%z: Tensor[(4), float32]) { add(%z, %z) }, %loop(%n, %x));
      %pair.0(%pair.1)
    })",
                R"(
    def @main(%x: Tensor[(4), float32], %n: int32) {
      let %loop = fn(%i: int32, %y: Tensor[(4), float32]) -> Tensor[(4), float32] {
        if (less(%i, 1)) { %y } else {
          %0 = cast(%y, dtype="float16");
          %1 = add(%0, %0);
          %loop(subtract(%i, 1), cast(%1, dtype="float32"))
        }
      };
      let %pair = (fn(%z: Tensor[(4), float32]) {
        %2 = cast(%z, dtype="float16");
        cast(add(%2, %2), dtype="float32")
      }, %loop(%n, %x));
      %pair.0(%pair.1)
    })");
}

TEST(ToMixedPrecisionTest, BadOptions) {
  EXPECT_THAT(
      PassRegistry::Global()
          .Create("ToMixedPrecision", {{"mixed_precision_type", DType::Int(8)}})
          .status(),
      StatusIs(absl::StatusCode::kInvalidArgument, "int8"));
  EXPECT_THAT(PassRegistry::Global()
                  .Create("ToMixedPrecision", {{"missing_op_mode", 3}})
                  .status(),
              StatusIs(absl::StatusCode::kInvalidArgument, "missing_op_mode"));
}

}  // namespace
}  // namespace baton::relay
