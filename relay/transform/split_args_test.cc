#include "baton/relay/transform/split_args.h"

#include "absl/status/status.h"
#include "absl/strings/string_view.h"
#include "baton/base/attr_value.h"
#include "baton/relay/transform/pass_test_util.h"
#include "baton/testing/status_matchers.h"
#include "baton/transform/pass_registry.h"
#include "gtest/gtest.h"

namespace baton::relay {
namespace {

using ::baton::testing::StatusIs;

constexpr absl::string_view kFive = R"(
    def @main(%a: Tensor[(2), float32], %b: Tensor[(2), float32], %c: Tensor[(2), float32],
              %d: Tensor[(2), float32], %e: Tensor[(2), float32]) {
      concatenate((%a, %b, %c, %d, %e), axis=0)
    })";

TEST(SplitArgsTest, LeavesConcatenationsOfFewTensors) {
  ExpectPassLeaves(SplitArgs(), kFive);
  ExpectPassLeaves(SplitArgs({.max_function_args = 7}), kFive);
}

// What was concatenated so far counts for as much as the tensor that did not
// fit.
TEST(SplitArgsTest, Chains) {
  ExpectPassMakes(SplitArgs({.max_function_args = 4}), kFive, R"(
    def @main(%a: Tensor[(2), float32], %b: Tensor[(2), float32], %c: Tensor[(2), float32],
              %d: Tensor[(2), float32], %e: Tensor[(2), float32]) {
      %0 = concatenate(annotation.stop_fusion((%a, %b, %c)), axis=0);
      concatenate(annotation.stop_fusion((%0, %d, %e)), axis=0)
    })");
}

// A concatenation inside of another one is split as well.
TEST(SplitArgsTest, Nested) {
  ExpectPassMakes(SplitArgs({.max_function_args = 3}), R"(
    def @main(%a: Tensor[(2), float32]) {
      %0 = concatenate((%a, %a, %a), axis=0);
      concatenate((%0, %a), axis=0)
    })",
                  R"(
    def @main(%a: Tensor[(2), float32]) {
      %0 = concatenate(annotation.stop_fusion((%a, %a)), axis=0);
      %1 = concatenate(annotation.stop_fusion((%0, %a)), axis=0);
      concatenate(annotation.stop_fusion((%1, %a)), axis=0)
    })");
}

TEST(SplitArgsTest, ResultsCount) {
  EXPECT_THAT(SplitArgs({.max_function_args = 2})(ParseTyped(R"(
                def @main(%a: Tensor[(?), float32]) {
                  concatenate((%a, %a), axis=0)
                })"))
                  .status(),
              StatusIs(absl::StatusCode::kInvalidArgument,
                       "concatenate: the result counts for 2"));
}

TEST(SplitArgsTest, BadLimit) {
  EXPECT_THAT(PassRegistry::Global()
                  .Create("SplitArgs", {{"max_function_args", -1}})
                  .status(),
              StatusIs(absl::StatusCode::kInvalidArgument, "-1"));
}

}  // namespace
}  // namespace baton::relay
