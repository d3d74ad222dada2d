#include "baton/instrument/verify.h"

#include <memory>
#include <string>
#include <utility>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "baton/ir/expr.h"
#include "baton/ir/module.h"
#include "baton/ir/op.h"
#include "baton/ir/type.h"
#include "baton/ir/visit.h"
#include "baton/transform/module_pass.h"
#include "baton/transform/pass.h"
#include "baton/transform/pass_context.h"
#include "baton/transform/pass_info.h"
#include "baton/transform/sequential.h"
#include "baton/transform/testing/toy_passes.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"

namespace baton {
namespace {

using ::testing::HasSubstr;
using ::testing::StartsWith;

absl::Status RunVerified(const Pass& pass, const IRModule& module,
                         VerifyOptions options = {}) {
  return PassContext(
             {.instruments = {std::make_shared<VerifyInstrument>(options)}})
      .Run([&] { return pass(module).status(); });
}

// A module pass that replaces main.
Pass SetMain(std::string name, Function main) {
  return CreateModulePass(
      [main](IRModule module,
             const PassContext& /*context*/) -> absl::StatusOr<IRModule> {
        module.Set("main", main);
        return module;
      },
      {.name = std::move(name)});
}

Function FunctionWithFreeVariable() {
  return Function({}, Call(Op::Find("toy.a"), {Var("y", {2})}));
}

// Says that its result is larger than it is.
Function FunctionWithWrongType() {
  const Function right = toy::Module().Find("main");
  return Function(
      {right->params().begin(), right->params().end()},
      Expr(WithType(right->body(), TensorType({3}, DType::Float(32)))));
}

TEST(VerifyTest, GoodPassesPass) {
  const absl::Status status = RunVerified(
      Sequential({toy::AToB(), toy::Liar(), toy::Grow()}), toy::Module(3));
  EXPECT_TRUE(status.ok()) << status;
}

TEST(VerifyTest, NamesThePassThatBreaksTheModule) {
  const absl::Status status = RunVerified(
      Sequential({toy::AToB(), SetMain("Breaks", FunctionWithFreeVariable()),
                  toy::Nothing()}),
      toy::Module());
  EXPECT_EQ(status.code(), absl::StatusCode::kInvalidArgument);
  EXPECT_THAT(std::string(status.message()),
              StartsWith("in pass #1 sequential > #4 Breaks: instrument "
                         "VerifyInstrument, RunAfterPass:\n"
                         "pass Breaks broke the module:\n"));
  EXPECT_THAT(std::string(status.message()), HasSubstr("%y"));
}

TEST(VerifyTest, NoPassIsBlamedForABadInput) {
  IRModule module;
  module.Set("main", FunctionWithFreeVariable());
  EXPECT_THAT(std::string(RunVerified(toy::Nothing(), module).message()),
              HasSubstr("the module was wrong before any pass ran:\n"));
}

TEST(VerifyTest, FindsWrongTypes) {
  const Pass pass = SetMain("Mistypes", FunctionWithWrongType());
  const absl::Status status = RunVerified(pass, toy::Module());
  EXPECT_THAT(std::string(status.message()),
              HasSubstr("pass Mistypes broke the module:\n"
                        "function @main: a call of toy.a is recorded to have "
                        "type Tensor[(3), float32], but has type "
                        "Tensor[(2), float32]"));
  EXPECT_TRUE(RunVerified(pass, toy::Module(), {.types = false}).ok());
}

TEST(VerifyTest, FindsIllTypedPrograms) {
  const Var x("x", {2});
  const Pass pass =
      SetMain("IllTyped", Function({x}, Call(Op::Find("toy.a"), {x}),
                                   TensorType({3}, DType::Float(32))));
  EXPECT_THAT(std::string(RunVerified(pass, toy::Module()).message()),
              HasSubstr("pass IllTyped broke the module:\n"));
}

TEST(VerifyTest, UntypedProgramsAreFine) {
  const Var x("x", {2});
  IRModule module;
  module.Set("main", Function({x}, Call(Op::Find("toy.a"), {x})));
  EXPECT_TRUE(CheckTypes(module).ok());
  EXPECT_TRUE(CheckTypes(toy::Module(2)).ok());
}

}  // namespace
}  // namespace baton
