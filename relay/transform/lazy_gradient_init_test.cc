#include "baton/relay/transform/lazy_gradient_init.h"

#include <string>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "baton/ir/module.h"
#include "baton/relay/ir/expr.h"
#include "baton/relay/ir/text_printer.h"
#include "baton/relay/transform/pass_test_util.h"
#include "baton/testing/status_matchers.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"

namespace baton::relay {
namespace {

using ::baton::testing::StatusIs;
using ::testing::HasSubstr;

// A product with zeros is zeros, whatever the other operand: the reference
// takes zeros_like for ones.
TEST(LazyGradientInitTest, ZerosAreZeros) {
  const IRModule result = RunChecked(LazyGradientInit(), ParseTyped(R"(
    def @main(%x: Tensor[(4), float32]) {
      (abs(multiply(zeros_like(%x), %x)), multiply(ones_like(%x), %x))
    })"));
  const std::string text = AsText(result);
  EXPECT_THAT(text, HasSubstr("Zero(%"));
  EXPECT_THAT(text, HasSubstr("One(%"));
}

TEST(LazyGradientInitTest, KeepsValues) {
  for (const char* text :
       {// Tuples of parameters, of results, and of operators.
        R"(def @main(%p: (Tensor[(4), float32], Tensor[(4), float32])) {
             let %s = split(add(%p.0, %p.1), indices_or_sections=2);
             (%s.0, (concatenate(%s), %p.1))
           })",
        // A condition is taken out of its cell.
        R"(def @main(%x: Tensor[(4), float32], %c: bool) {
             if (%c) { add(%x, zeros(shape=[4], dtype="float32")) } else { %x }
           })",
        // Local functions and references hold cells.
        R"(def @main(%x: Tensor[(4), float32]) {
             let %f = fn (%y: Tensor[(4), float32]) { multiply(%y, 2f) };
             let %r = ref(%x);
             let %u = ref_write(%r, %f(ref_read(%r)));
             add(ref_read(%r), %x)
           })"}) {
    const IRModule module = ParseTyped(text);
    const IRModule result = RunChecked(LazyGradientInit(), module);
    EXPECT_FALSE(result.SameAs(module)) << text;
  }
}

// Functions that others of the module know keep their bodies if they cannot be
// written with cells; so do all on a second run.
TEST(LazyGradientInitTest, LeavesFunctionsThatReferToOthers) {
  const IRModule module = ParseTyped(R"(
    def @f(%x: Tensor[(4), float32]) { add(%x, %x) }
    def @main(%x: Tensor[(4), float32]) { @f(%x) })");
  const IRModule result = RunChecked(LazyGradientInit(), module);
  EXPECT_NE(result.Find("f"), module.Find("f"));
  EXPECT_EQ(result.size(), 5);
  BATON_ASSERT_OK_AND_ASSIGN(const IRModule again, LazyGradientInit()(result));
  EXPECT_TRUE(again.SameAs(result));
}

TEST(LazyGradientInitTest, AnotherTypeOfThatName) {
  EXPECT_THAT(
      LazyGradientInit()(ParseTyped(R"(
                type GradCell[T] { Full(T) }
                def @main(%x: Tensor[(4), float32]) { add(%x, %x) })"))
          .status(),
      StatusIs(absl::StatusCode::kFailedPrecondition, "no constructor Raw"));
}

}  // namespace
}  // namespace baton::relay
