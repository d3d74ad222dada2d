#include "baton/relay/transform/infer_type.h"

#include <algorithm>
#include <functional>
#include <memory>
#include <stdexcept>
#include <string>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/str_cat.h"
#include "baton/ir/module.h"
#include "baton/ir/op.h"
#include "baton/ir/type.h"
#include "baton/relay/ir/expr.h"
#include "baton/relay/ir/infer_type.h"
#include "baton/relay/ir/type_relation.h"
#include "baton/relay/op/tensor.h"
#include "baton/relay/transform/function_pass.h"
#include "baton/testing/status_matchers.h"
#include "baton/transform/pass.h"
#include "baton/transform/pass_context.h"
#include "baton/transform/pass_instrument.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"

namespace baton::relay {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;

absl::StatusOr<Type> ThrowingRelation(TypeRelationContext& /*context*/) {
  throw std::runtime_error("boom");
}
BATON_REGISTER_OP("test.throws")
    .Arguments({{"x", ""}})
    .TypeRelation(ThrowingRelation);

// A module of functions `f0`, `f1` ..., without types.
IRModule Module(int size, const std::function<Function(int i)>& make) {
  IRModule module;
  for (int i = 0; i < size; ++i) module.Set(absl::StrCat("f", i), make(i));
  return module;
}

Function TanhFunction() {
  const Var x("x", {2});
  return Function({x}, Tanh(x));
}

class InferTypeTest : public ::testing::TestWithParam<int> {
 protected:
  static absl::StatusOr<IRModule> Run(const Pass& pass, const IRModule& module,
                                      PassInstruments instruments = {}) {
    return PassContext({.config = {{"threads", GetParam()}},
                        .instruments = std::move(instruments)})
        .Run([&] { return pass(module); });
  }
};

INSTANTIATE_TEST_SUITE_P(Threads, InferTypeTest,
                         ::testing::Values(1, 2, 3, 16, 0));

TEST_P(InferTypeTest, TypesWhatHasNoType) {
  const IRModule half =
      *InferTypes(Module(100, [](int) { return TanhFunction(); }));
  IRModule module = half;
  for (int i = 0; i < 100; i += 3) {
    module.Set(absl::StrCat("f", i), TanhFunction());
  }
  BATON_ASSERT_OK_AND_ASSIGN(const IRModule result, Run(InferType(), module));
  for (int i = 0; i < 100; ++i) {
    const BaseFunc function = result.functions()[i].function;
    EXPECT_TRUE(function->type().defined());
    EXPECT_EQ(function == half.functions()[i].function, i % 3 != 0);
  }
  BATON_ASSERT_OK_AND_ASSIGN(const IRModule again, Run(InferType(), result));
  EXPECT_TRUE(again.SameAs(result));
}

TEST_P(InferTypeTest, SharingDoesNotDependOnTheNumberOfThreads) {
  // All functions have one expression in common. How many there are afterwards
  // is the same on one thread.
  const auto num_shared = [](const IRModule& module) {
    std::vector<const ExprNode*> nodes;
    for (const auto& d : module.functions<Function>()) {
      nodes.push_back(d.function->body().As<CallNode>()->arg(0).get());
    }
    std::sort(nodes.begin(), nodes.end());
    return std::unique(nodes.begin(), nodes.end()) - nodes.begin();
  };
  const Expr shared = Tanh(Const(2.0F));
  const IRModule module = Module(
      300, [&](int) { return Function(std::vector<Var>{}, Tanh(shared)); });
  BATON_ASSERT_OK_AND_ASSIGN(const IRModule expected, InferType()(module));
  BATON_ASSERT_OK_AND_ASSIGN(const IRModule result, Run(InferType(), module));
  EXPECT_EQ(num_shared(module), 1);
  EXPECT_EQ(num_shared(result), num_shared(expected));
}

// Notes whether `f1` has a type before and after inference.
class TypeWatcher final : public PassInstrument {
 public:
  TypeWatcher() : PassInstrument("TypeWatcher") {}
  absl::Status RunBeforePass(const IRModule& module,
                             const PassExecution& pass) override {
    return Note(module, pass);
  }
  absl::Status RunAfterPass(const IRModule& module,
                            const PassExecution& pass) override {
    return Note(module, pass);
  }
  const std::vector<bool>& typed() const { return typed_; }

 private:
  absl::Status Note(const IRModule& module, const PassExecution& pass) {
    if (pass.name() == "InferType") {
      typed_.push_back(module.Find("f1")->type().defined());
    }
    return absl::OkStatus();
  }
  std::vector<bool> typed_;
};

TEST_P(InferTypeTest, OnlyInferenceIsSeenToInfer) {
  const Pass grow = CreateFunctionPass(
      [](const Function& function, const IRModule& /*module*/,
         const PassContext& /*context*/) -> absl::StatusOr<Function> {
        return Function({function->params().begin(), function->params().end()},
                        Tanh(function->body()));
      },
      {.name = "Grow"});
  const auto watcher = std::make_shared<TypeWatcher>();
  BATON_ASSERT_OK_AND_ASSIGN(
      const IRModule result,
      Run(grow, Module(20, [](int) { return TanhFunction(); }), {watcher}));
  EXPECT_THAT(watcher->typed(), ElementsAre(false, true));
}

TEST_P(InferTypeTest, FunctionsThatUseEachOther) {
  // Each calls the one before it and gives the result one more field; no types
  // are given.
  const IRModule module = Module(20, [](int i) {
    const Var x("x", {2});
    if (i == 0) return Function({x}, Tuple({x}));
    const Expr call = Call(GlobalVar(absl::StrCat("f", i - 1)), {x});
    std::vector<Expr> fields = {x};
    for (int k = 0; k < i; ++k) fields.push_back(TupleGetItem(call, k));
    return Function({x}, Tuple(std::move(fields)));
  });
  BATON_ASSERT_OK_AND_ASSIGN(const IRModule result, Run(InferType(), module));
  for (int i = 0; i < 20; ++i) {
    const Function function = result.Find<Function>(absl::StrCat("f", i));
    EXPECT_EQ(function->body()->tuple_type()->fields().size(), i + 1);
  }
}

TEST_P(InferTypeTest, ErrorsAreThoseOfTheWholeModule) {
  const IRModule module = Module(20, [](int i) {
    const Var x("x", {2});
    const Op tanh = Op::Find("tanh");
    if (i == 3) return Function({x}, Call(tanh, {x, x}));
    if (i == 5) return Function({x}, Call(GlobalVar("f31"), {x}));
    if (i == 8) {
      return Function(std::vector<Var>{}, Call(tanh, {Var("y", {2})}));
    }
    if (i == 9) return Function({x}, Call(GlobalVar("f8"), {x}));
    return TanhFunction();
  });
  const std::string errors(InferTypes(module).status().message());
  EXPECT_EQ(std::count(errors.begin(), errors.end(), '\n'), 3) << errors;
  EXPECT_EQ(std::string(Run(InferType(), module).status().message()),
            "in pass #1 InferType:\n" + errors);
}

TEST_P(InferTypeTest, RelationsThatThrow) {
  const IRModule module = Module(20, [](int i) {
    const Var x("x", {2});
    if (i % 7 != 0) return TanhFunction();
    return Function({x}, Call(Op::Find("test.throws"), {x}));
  });
  EXPECT_THAT(std::string(Run(InferType(), module).status().message()),
              HasSubstr("boom"));
}

}  // namespace
}  // namespace baton::relay
