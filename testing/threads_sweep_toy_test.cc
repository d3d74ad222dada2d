// Tests the pass manager alone: passes inside bodies, failures, contexts.

#include <functional>
#include <memory>
#include <stdexcept>
#include <string>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/match.h"
#include "baton/base/status_macros.h"
#include "baton/instrument/recorder.h"
#include "baton/ir/module.h"
#include "baton/ir/op.h"
#include "baton/relay/ir/expr.h"
#include "baton/testing/threads_sweep.h"
#include "baton/testing/toy_passes.h"
#include "baton/transform/pass.h"
#include "baton/transform/pass_context.h"
#include "baton/transform/pass_info.h"
#include "baton/transform/sequential.h"
#include "gtest/gtest.h"

namespace baton {
namespace {

using relay::Function;
using testing::FindThreadsDifference;

// The body of a function pass, for a function of that name.
using Body = std::function<absl::StatusOr<Function>(const std::string& name,
                                                    const Function& function)>;

Pass ByName(std::string pass, Body body) {
  return toy::CreateFunctionPass(
      [body = std::move(body)](
          const Function& function, const IRModule& module,
          const PassContext& /*context*/) -> absl::StatusOr<Function> {
        for (const auto& d : module.functions<Function>()) {
          if (d.function == function) return body(d.var->name(), function);
        }
        return absl::InternalError("the function is not in the module");
      },
      {.name = std::move(pass)});
}

absl::StatusOr<Function> RunOn(const Pass& pass, const Function& function) {
  IRModule module;
  module.Set("main", function);
  BATON_ASSIGN_OR_RETURN(module, pass(module));
  return module.Find<Function>("main");
}

// Runs passes on a module of one function, from inside the body. The deeper
// pass fails for functions whose names end in one of `failing`.
Pass Nested(const std::string& failing = "") {
  return ByName("Nested",
                [failing](const std::string& name, const Function& function) {
                  std::vector<Pass> passes = {toy::AToB(), toy::Liar()};
                  if (absl::StrContains(failing, name.back()))
                    passes.push_back(toy::Fails());
                  return RunOn(Sequential(passes, {.name = name}), function);
                });
}

TEST(ThreadsSweepTest, Passes) {
  const Pass pass =
      Sequential({toy::AToB(), toy::Grow(), toy::Nothing(), toy::Liar(),
                  FixedPoint({toy::AToB(), toy::Nothing()}),
                  Sequential({toy::BToA(), toy::Grow()}, {.name = "inner"})});
  for (const int functions : {2, 7, 300}) {
    EXPECT_EQ(FindThreadsDifference(pass, toy::Module(functions)), "");
  }
}

TEST(ThreadsSweepTest, PassesInsideBodies) {
  EXPECT_EQ(FindThreadsDifference(Sequential({Nested(), toy::Grow(), Nested()}),
                                  toy::Module(40)),
            "");
}

TEST(ThreadsSweepTest, FailuresInsideBodies) {
  for (const std::string failing : {"7", "39", "0123456789n", "n"}) {
    EXPECT_EQ(
        FindThreadsDifference(Sequential({toy::Nothing(), Nested(failing)}),
                              toy::Module(40)),
        "");
  }
}

TEST(ThreadsSweepTest, ErrorsAndExceptionsOfSeveralBodies) {
  const Pass pass =
      ByName("Fussy",
             [](const std::string& name,
                const Function& function) -> absl::StatusOr<Function> {
               if (name.back() == '7')
                 return absl::NotFoundError("not in " + name);
               if (name.back() == '5')
                 throw std::runtime_error("boom in " + name);
               if (name.back() == '9') return Function();
               return toy::Wrap(function, "toy.c");
             });
  EXPECT_EQ(FindThreadsDifference(pass, toy::Module(100)), "");
}

TEST(ThreadsSweepTest, DiagnosticsInSeveralFunctions) {
  // Inference, which follows, finds one or two errors in every third function.
  const Pass pass = ByName(
      "Mistypes",
      [](const std::string& name,
         const Function& function) -> absl::StatusOr<Function> {
        if ((name.back() - '0') % 3 != 0) return function;
        const relay::Var x = function->params()[0];
        std::vector<Expr> fields = {relay::Call(Op::Find("toy.a"), {x, x})};
        if (name.size() > 2) fields.push_back(relay::TupleGetItem(x, 3));
        return Function({x}, relay::Tuple(std::move(fields)));
      });
  EXPECT_EQ(
      FindThreadsDifference(Sequential({toy::AToB(), pass}), toy::Module(60)),
      "");
}

TEST(ThreadsSweepTest, FunctionPassesInsideFunctionPasses) {
  for (const std::string failing : {"", "7"}) {
    const Pass outer = ByName(
        "Outer",
        [failing](const std::string& name,
                  const Function& function) -> absl::StatusOr<Function> {
          // The inner pass fails in one of the outer bodies only.
          const bool fails = name == "f6";
          BATON_ASSIGN_OR_RETURN(const IRModule inner,
                                 Nested(fails ? failing : "")(toy::Module(10)));
          return toy::Wrap(function, inner.size() == 10 ? "toy.c" : "toy.d");
        });
    EXPECT_EQ(FindThreadsDifference(outer, toy::Module(10)), "");
  }
}

TEST(ThreadsSweepTest, ContextsInsideBodies) {
  // Each body enters a context with an instrument that all of them share: what
  // it sees goes into the result, by way of the number of toy.d.
  const auto run = [](int threads) {
    const auto recorder = std::make_shared<PassRecorder>();
    const Pass pass = ByName(
        "Enters",
        [recorder](const std::string& name,
                   const Function& function) -> absl::StatusOr<Function> {
          const PassContext inner({.instruments = {recorder}});
          return inner.Run([&] {
            return RunOn(toy::Replace("toy.a", "toy.d", {.name = name}),
                         function);
          });
        });
    const absl::StatusOr<IRModule> result =
        PassContext({.config = {{"threads", threads}}}).Run([&] {
          return pass(toy::Module(30));
        });
    EXPECT_TRUE(result.ok()) << result.status();
    return recorder->ToString();
  };
  const std::string expected = run(1);
  for (const int threads : {2, 16}) EXPECT_EQ(run(threads), expected);
}

}  // namespace
}  // namespace baton
