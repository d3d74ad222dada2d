#include "baton/instrument/verify.h"

#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <utility>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "baton/base/status_macros.h"
#include "baton/ir/function_verifier.h"
#include "baton/ir/module.h"
#include "baton/ir/op.h"
#include "baton/ir/type.h"
#include "baton/relay/ir/adt.h"
#include "baton/relay/ir/expr.h"
#include "baton/relay/ir/infer_type.h"
#include "baton/relay/ir/visit.h"
#include "baton/testing/toy_passes.h"
#include "baton/transform/module_pass.h"
#include "baton/transform/pass.h"
#include "baton/transform/pass_context.h"
#include "baton/transform/pass_info.h"
#include "baton/transform/sequential.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"

namespace baton {
namespace {

using relay::Call;
using relay::Function;
using relay::Var;

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
  const Function right = toy::Module().Find<Function>("main");
  return Function(
      {right->params().begin(), right->params().end()},
      Expr(relay::WithType(right->body(), TensorType({3}, DType::Float(32)))));
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

// The functions that are checked again.

// Returns the number of functions that are checked when `pass` runs on
// `module`; -1 if one is wrong.
int64_t NumChecked(const Pass& pass, const IRModule& module,
                   VerifyOptions options = {}) {
  const auto verify = std::make_shared<VerifyInstrument>(options);
  const absl::Status status = PassContext({.instruments = {verify}}).Run([&] {
    return pass(module).status();
  });
  return status.ok() ? verify->num_checked() : -1;
}

// A function pass that puts toy.b around `main`, and around nothing else.
Pass ChangeMain() {
  return toy::CreateFunctionPass(
      [](const Function& function, const IRModule& module,
         const PassContext& /*context*/) -> absl::StatusOr<Function> {
        return function == module.Find<Function>("main")
                   ? toy::Wrap(function, "toy.b")
                   : function;
      },
      {.name = "ChangeMain"});
}

// A module pass from what it does.
Pass Edit(std::function<void(IRModule&)> edit) {
  return CreateModulePass(
      [edit = std::move(edit)](IRModule module, const PassContext& /*context*/)
          -> absl::StatusOr<IRModule> {
        edit(module);
        return relay::InferTypes(module);
      },
      {.name = "Edit"});
}

Function Typed(const Function& function, const IRModule& module) {
  IRModule all = module;
  all.Set("main", function);
  return relay::InferTypes(all)->Find<Function>("main");
}

// `main` calls `f1`; `f2` and `f3` are by themselves.
IRModule ModuleWithCall(const Type& result = {}) {
  IRModule module = toy::Module(4);
  const Var x("x", {2});
  module.Set("main",
             Function({x}, Call(module.FindGlobalVar("f1"), {x}), result));
  return *relay::InferTypes(module);
}

TEST(IncrementalVerifyTest, AFunctionIsCheckedOnce) {
  for (const bool types : {true, false}) {
    EXPECT_EQ(NumChecked(Sequential({ChangeMain(), toy::Nothing(), ChangeMain(),
                                     toy::Nothing()}),
                         toy::Module(1000), {.types = types}),
              1002);
  }
}

TEST(IncrementalVerifyTest, ChangedFunctionsAreChecked) {
  // AToB changes all, each time it runs.
  EXPECT_EQ(NumChecked(Sequential({toy::AToB(), toy::BToA()}), toy::Module(10)),
            30);
}

TEST(IncrementalVerifyTest, PassesInsideBodiesDoNotInterfere) {
  const Pass nested = toy::CreateFunctionPass(
      [](const Function& function, const IRModule& module,
         const PassContext& /*context*/) -> absl::StatusOr<Function> {
        if (function != module.Find<Function>("f7")) return function;
        IRModule inner;
        inner.Set("main", toy::Wrap(function, "toy.c"));
        BATON_ASSIGN_OR_RETURN(inner, toy::InferType()(inner));
        return inner.Find<Function>("main");
      },
      {.name = "Nested"});
  // `main` of the inner module and `f7` of the outer one.
  EXPECT_EQ(NumChecked(Sequential({nested, toy::Nothing()}), toy::Module(100)),
            102);
}

TEST(IncrementalVerifyTest, UsersOfAFunctionOfAnotherTypeAreChecked) {
  // f1 takes and returns another shape: main is wrong, f2 and f3 are not
  // looked at.
  const Var y("y", {3});
  const Function other({y}, Call(Op::Find("toy.a"), {y}));
  IRModule changed = ModuleWithCall();
  const Function typed = Typed(other, IRModule());
  changed.Set("f1", typed);
  const absl::Status status = RunVerified(
      CreateModulePass([changed](const IRModule&, const PassContext&)
                           -> absl::StatusOr<IRModule> { return changed; },
                       {.name = "Retype"}),
      ModuleWithCall());
  EXPECT_EQ(status.code(), absl::StatusCode::kInvalidArgument);
  EXPECT_THAT(std::string(status.message()),
              HasSubstr("pass Retype broke the module:\n"));

  // As above for f3, which no function uses.
  const IRModule module = ModuleWithCall();
  EXPECT_EQ(NumChecked(Edit([&](IRModule& m) { m.Set("f3", typed); }), module),
            4 + 1);
  // Both f1 and what uses it.
  EXPECT_EQ(NumChecked(Edit([&](IRModule& m) {
                         m.Set("f1", typed);
                         const Var x("x", {3});
                         m.Set("f2",
                               Function({x}, Call(m.FindGlobalVar("f1"), {x})));
                         m.Set("main", m.Find<Function>("f3"));
                       }),
                       module),
            4 + 3);
}

TEST(IncrementalVerifyTest, ARemovedFunctionIsMissed) {
  const absl::Status status = RunVerified(
      CreateModulePass(
          [](IRModule module,
             const PassContext& /*context*/) -> absl::StatusOr<IRModule> {
            module.Remove("f1");
            return module;
          },
          {.name = "Remove"}),
      ModuleWithCall());
  EXPECT_THAT(std::string(status.message()),
              HasSubstr("pass Remove broke the module:\n"));
  EXPECT_THAT(std::string(status.message()),
              HasSubstr("the module has no function @f1"));
}

TEST(IncrementalVerifyTest, AnotherNameIsAnotherFunction) {
  const IRModule module = toy::Module(4);
  EXPECT_EQ(
      NumChecked(Edit([](IRModule& m) { m.Set("g", m.Find<Function>("f1")); }),
                 module),
      4 + 1);
}

TEST(IncrementalVerifyTest, ChangedDataTypesMeanAll) {
  const Pass edit = Edit([](IRModule& m) {
    m.SetType(relay::TypeData(GlobalTypeVar("T"), {}, {}));
  });
  EXPECT_EQ(NumChecked(edit, toy::Module(4)), 8);
}

TEST(IncrementalVerifyTest, FindsWrongTypesInOneOfMany) {
  const Pass pass = SetMain("Mistypes", FunctionWithWrongType());
  const absl::Status status =
      RunVerified(Sequential({toy::Nothing(), pass}), toy::Module(50));
  EXPECT_THAT(std::string(status.message()),
              HasSubstr("function @main: a call of toy.a is recorded to have "
                        "type Tensor[(3), float32]"));
}

TEST(IncrementalVerifyTest, ChecksAgainInTheNextContext) {
  const auto verify = std::make_shared<VerifyInstrument>();
  const PassContext context({.instruments = {verify}});
  const IRModule module = toy::Module(10);
  for (const int64_t count : {10, 20}) {
    EXPECT_TRUE(
        context.Run([&] { return toy::Nothing()(module).status(); }).ok());
    EXPECT_EQ(verify->num_checked(), count);
  }
}

}  // namespace
}  // namespace baton
