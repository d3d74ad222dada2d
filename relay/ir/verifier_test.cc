// Tests Relay's rules through ir/function_verifier.h.

#include <string>
#include <utility>

#include "absl/status/statusor.h"
#include "baton/base/dtype.h"
#include "baton/ir/function_verifier.h"
#include "baton/ir/module.h"
#include "baton/ir/type.h"
#include "baton/relay/ir/expr.h"
#include "baton/relay/ir/infer_type.h"
#include "baton/relay/ir/text_parser.h"
#include "baton/relay/ir/visit.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"

namespace baton::relay {
namespace {

using ::testing::HasSubstr;

// `module` with another type at the body of @f.
IRModule WithBodyType(IRModule module, Type type) {
  const Function f = module.Find<Function>("f");
  module.Set("f", Function({f->params().begin(), f->params().end()},
                           WithType(f->body(), std::move(type)),
                           f->result_type(), {}, {}, f->type()));
  return module;
}

TEST(RelayVerifierTest, FindsAWrongTypeOfAnyKindOfExpression) {
  for (const char* body :
       {"(%x, %x)", "(%x, %x).1", "let %y = %x; %y",
        "if (%c) { %x } else { %x }", "ref(%x)", "ref_read(ref(%x))",
        "match (%x) { %z => %z }", "fn (%z: int32) { %z }", "1"}) {
    const std::string text =
        std::string(
            "#[version = \"0.0.5\"]\ndef @f(%x: float32, %c: bool) { ") +
        body + " }";
    absl::StatusOr<IRModule> module = ParseModule(text, "test");
    ASSERT_TRUE(module.ok()) << body << module.status();
    module = InferTypes(*module);
    ASSERT_TRUE(module.ok()) << body << module.status();
    EXPECT_TRUE(CheckWellFormed(*module).ok()) << body;
    EXPECT_TRUE(CheckTypes(*module).ok()) << body << CheckTypes(*module);
    const Type wrong = TensorType({7}, DType::Int(8));
    EXPECT_THAT(std::string(CheckTypes(WithBodyType(*module, wrong)).message()),
                HasSubstr("is recorded to have type Tensor[(7), int8]"))
        << body;
  }
}

TEST(RelayVerifierTest, InfersTypesForCodeThatServesAllLevels) {
  const absl::StatusOr<IRModule> untyped =
      ParseModule("def @f(%x: float32) { (%x, %x) }", "test");
  ASSERT_TRUE(untyped.ok()) << untyped.status();
  const absl::StatusOr<IRModule> typed = InferTypesOfAllKinds(*untyped);
  ASSERT_TRUE(typed.ok()) << typed.status();
  EXPECT_EQ(typed->Find<Function>("f")->type().ToString(),
            "fn (float32) -> (float32, float32)");
  const absl::StatusOr<IRModule> again = InferTypesOfAllKinds(*typed);
  ASSERT_TRUE(again.ok()) << again.status();
  EXPECT_TRUE(again->SameAs(*typed));

  const absl::StatusOr<IRModule> wrong =
      ParseModule("def @f(%x: float32) { %x.1 }", "test");
  ASSERT_TRUE(wrong.ok()) << wrong.status();
  EXPECT_FALSE(InferTypesOfAllKinds(*wrong).ok());
}

}  // namespace
}  // namespace baton::relay
