#include "baton/relay/runtime/evaluator.h"

#include <algorithm>
#include <initializer_list>
#include <memory>
#include <optional>
#include <stdexcept>
#include <string>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "absl/types/span.h"
#include "baton/base/dtype.h"
#include "baton/base/limits.h"
#include "baton/base/status_macros.h"
#include "baton/base/tensor.h"
#include "baton/ir/module.h"
#include "baton/ir/op.h"
#include "baton/ir/type.h"
#include "baton/relay/ir/adt.h"
#include "baton/relay/ir/expr.h"
#include "baton/relay/runtime/kernel.h"
#include "baton/testing/test_settings.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"

namespace baton::relay {
namespace {

using ::testing::HasSubstr;

int kernel_runs = 0;

float AsFloat(const Value& value) { return value.tensor().span<float>()[0]; }

absl::StatusOr<Value> AddKernel(const CallNode& /*call*/,
                                absl::Span<const Value> args) {
  ++kernel_runs;
  return Value(Tensor::Scalar(AsFloat(args[0]) + AsFloat(args[1])));
}
BATON_REGISTER_OP("test.add").Set(Kernels(), AddKernel);

absl::StatusOr<Value> PositiveKernel(const CallNode& /*call*/,
                                     absl::Span<const Value> args) {
  return Value(Tensor::Scalar(AsFloat(args[0]) > 0));
}
BATON_REGISTER_OP("test.positive").Set(Kernels(), PositiveKernel);

absl::StatusOr<Value> FailKernel(const CallNode& /*call*/,
                                 absl::Span<const Value> /*args*/) {
  return absl::InvalidArgumentError("no such luck");
}
BATON_REGISTER_OP("test.fail").Set(Kernels(), FailKernel);

absl::StatusOr<Value> ThrowKernel(const CallNode& /*call*/,
                                  absl::Span<const Value> /*args*/) {
  throw std::runtime_error("boom");
}
BATON_REGISTER_OP("test.throw").Set(Kernels(), ThrowKernel);

BATON_REGISTER_OP("test.no_kernel");

Expr Op1(const char* op, Expr a) { return Call(Op::Find(op), {std::move(a)}); }
Expr Add(Expr a, Expr b) {
  return Call(Op::Find("test.add"), {std::move(a), std::move(b)});
}
Expr Const(float value) { return Constant(Tensor::Scalar(value)); }

float Result(const Expr& e, const IRModule* module = nullptr) {
  const absl::StatusOr<Value> value = Evaluate(e, module);
  EXPECT_TRUE(value.ok()) << value.status();
  return value.ok() && value->is_tensor() ? AsFloat(*value) : -1;
}

TEST(EvaluatorTest, SharedNodesAreComputedOnce) {
  kernel_runs = 0;
  Expr e = Const(1);
  for (int i = 0; i < 20; ++i) e = Add(e, e);
  EXPECT_EQ(Result(e), 1 << 20);
  EXPECT_EQ(kernel_runs, 20);
}

TEST(EvaluatorTest, SharedLetsAndIfsAreComputedOnce) {
  kernel_runs = 0;
  Expr e = Const(1);
  for (int i = 0; i < 20; ++i) {
    const Var v("v");
    const Expr bound = Let(v, e, Add(v, v));
    e = If(Op1("test.positive", Const(1)), bound, Const(0));
    e = Let(Var("u"), e, e);
  }
  EXPECT_EQ(Result(e), 1 << 20);
  EXPECT_EQ(kernel_runs, 20);
}

TEST(EvaluatorTest, OnlyTheBranchTakenIsEvaluated) {
  EXPECT_EQ(Result(If(Op1("test.positive", Const(1)), Const(2),
                      Op1("test.fail", Const(1)))),
            2);
}

TEST(EvaluatorTest, ClosuresCaptureAndTuplesProject) {
  const Var x("x");
  const Var y("y");
  const Var f("f");
  const Expr e = Let(x, Const(3),
                     Let(f, Function({y}, Add(x, y)),
                         TupleGetItem(Tuple({Call(f, {Const(4)}), x}), 0)));
  EXPECT_EQ(Result(e), 7);
}

// fn (%a) { let %b = %a + 10; fn (%c) { fn () { (%a + %b) + (%c + %b) } } }
TEST(EvaluatorTest, NestedClosuresCaptureThroughEachOther) {
  const Var a("a");
  const Var b("b");
  const Var c("c");
  const Function inner({}, Add(Add(a, b), Add(c, b)));
  const Function outer({a},
                       Let(b, Add(a, Const(10)), Function({c}, Expr(inner))));
  const Var f("f");
  const Expr call =
      Call(Call(Call(f, {Const(1)}), {Const(100)}), absl::Span<const Expr>());
  EXPECT_EQ(Result(Let(f, outer, call)), 1 + 11 + 100 + 11);
}

TEST(EvaluatorTest, ReferencesAreWritten) {
  const Var r("r");
  const Expr e =
      Let(r, RefCreate(Const(1)),
          Let(Var("_"), RefWrite(r, Add(RefRead(r), Const(5))), RefRead(r)));
  EXPECT_EQ(Result(e), 6);
}

// let %f = fn (%n) { if (%n > 0) { %f(%n - 1) } else { 42 } }; %f(n)
Expr CountDown(float n) {
  const Var f("f");
  const Var p("n");
  return Let(f,
             Function({p}, If(Op1("test.positive", p),
                              Call(f, {Add(p, Const(-1))}), Const(42))),
             Call(f, {Const(n)}));
}

TEST(EvaluatorTest, DeepRecursionOfTheProgramUsesNoStack) {
  EXPECT_EQ(Result(CountDown(100'000)), 42);
}

// A tensor that is counted while it lives.
int live_tensors = 0;
int most_live_tensors = 0;
absl::StatusOr<Value> CountedKernel(const CallNode& /*call*/,
                                    absl::Span<const Value> args) {
  most_live_tensors = std::max(most_live_tensors, ++live_tensors);
  const std::shared_ptr<float> data(new float(AsFloat(args[0])),
                                    [](const float* number) {
                                      --live_tensors;
                                      delete number;
                                    });
  BATON_ASSIGN_OR_RETURN(
      Tensor tensor,
      Tensor::FromBuffer(
          DType::Float(32), {},
          absl::string_view(reinterpret_cast<const char*>(data.get()),
                            sizeof(float)),
          data));
  return Value(std::move(tensor));
}
BATON_REGISTER_OP("test.counted").Set(Kernels(), CountedKernel);

TEST(EvaluatorTest, RoundsOfALoopKeepNoMemory) {
  const Var f("f");
  const Var p("n");
  const Expr next = Op1("test.counted", Add(Op1("test.counted", p), Const(-1)));
  const Expr loop = Let(
      f, Function({p}, If(Op1("test.positive", p), Call(f, {next}), Const(42))),
      Call(f, {Const(1000)}));
  most_live_tensors = 0;
  EXPECT_EQ(Result(loop), 42);
  EXPECT_LE(most_live_tensors, 4);
  EXPECT_EQ(live_tensors, 0);
  // Calls that return after a loop, or are told of, are as before.
  EXPECT_EQ(Result(Add(loop, loop)), 84);
  int told = 0;
  EvaluateOptions options;
  options.observe = [&told](const ExprNode& node, const Value& /*value*/) {
    const auto* call = node.kind() == ExprKind::kCall
                           ? static_cast<const CallNode*>(&node)
                           : nullptr;
    if (call != nullptr && call->op_node() == nullptr) ++told;
  };
  EXPECT_EQ(AsFloat(*Evaluate(loop, nullptr, options)), 42);
  EXPECT_EQ(told, 1001);
}

absl::StatusOr<Value> DoubleKernel(const CallNode& /*call*/,
                                   absl::Span<const Value> args) {
  BATON_ASSIGN_OR_RETURN(MutableTensor result,
                         MutableTensor::Create(DType::Float(32), {}));
  result.span<float>()[0] = 2 * AsFloat(args[0]);
  return Value(std::move(result).Freeze());
}

int reuses = 0;

absl::StatusOr<Value> DoubleInPlace(const CallNode& call,
                                    absl::Span<Value> args) {
  Tensor x = std::move(args[0]).tensor();
  std::optional<MutableTensor> reused = MutableTensor::Reuse(x);
  if (!reused.has_value()) {
    const Value argument(std::move(x));
    return DoubleKernel(call, {&argument, 1});
  }
  ++reuses;
  reused->span<float>()[0] *= 2;
  return Value(std::move(*reused).Freeze());
}
BATON_REGISTER_OP("test.double").Set(Kernels(), DoubleInPlace);

TEST(EvaluatorTest, BuffersThatNothingElseUsesAreReused) {
  const auto twice = [](Expr x) { return Op1("test.double", std::move(x)); };
  // In a chain, all but the first, which reads a constant.
  const Expr constant = Const(3);
  reuses = 0;
  EXPECT_EQ(Result(twice(twice(twice(constant)))), 24);
  EXPECT_EQ(reuses, 2);
  EXPECT_EQ(constant.As<ConstantNode>()->value().AtAsDouble(0), 3);
  // A value that is used twice is not overwritten.
  const Expr shared = twice(constant);
  reuses = 0;
  EXPECT_EQ(Result(Add(twice(shared), Add(twice(shared), shared))), 30);
  EXPECT_EQ(reuses, 0);
  // Variables, which may be used again, are not overwritten.
  const Var v("v");
  reuses = 0;
  EXPECT_EQ(Result(Let(v, twice(constant), Add(twice(v), Add(twice(v), v)))),
            30);
  EXPECT_EQ(reuses, 0);
  // Arguments, which belong to the caller, and values that an observer keeps
  // are not overwritten.
  MutableTensor argument = *MutableTensor::Create(DType::Float(32), {});
  argument.span<float>()[0] = 5;
  const Value given(std::move(argument).Freeze());
  std::vector<Value> seen;
  EvaluateOptions options;
  options.observe = [&seen](const ExprNode& node, const Value& value) {
    if (node.kind() == ExprKind::kCall) seen.push_back(value);
  };
  const Function function({v}, twice(twice(twice(v))));
  reuses = 0;
  IRModule module;
  module.Set("main", function);
  EXPECT_EQ(AsFloat(*EvaluateFunction(module, "main", {&given, 1}, options)),
            40);
  EXPECT_EQ(reuses, 0);
  EXPECT_EQ(AsFloat(given), 5);
  ASSERT_EQ(seen.size(), 3u);
  EXPECT_EQ(AsFloat(seen[0]), 10);
  EXPECT_EQ(AsFloat(seen[1]), 20);
  EXPECT_EQ(AsFloat(*EvaluateFunction(module, "main", {&given, 1})), 40);
  EXPECT_EQ(reuses, 2);
  EXPECT_EQ(AsFloat(given), 5);
}

TEST(EvaluatorTest, RunKernelKeepsItsArguments) {
  MutableTensor buffer = *MutableTensor::Create(DType::Float(32), {});
  buffer.span<float>()[0] = 5;
  const Value argument(std::move(buffer).Freeze());
  const Expr call = Op1("test.double", Const(1));
  reuses = 0;
  const absl::StatusOr<Value> value =
      RunKernel(*call.As<CallNode>(), {&argument, 1});
  ASSERT_TRUE(value.ok()) << value.status();
  EXPECT_EQ(AsFloat(*value), 10);
  EXPECT_EQ(AsFloat(argument), 5);
  EXPECT_EQ(reuses, 0);
}

TEST(EvaluatorTest, EndlessRecursionIsAnError) {
  const absl::StatusOr<Value> value =
      Evaluate(CountDown(5000), nullptr, {.max_call_depth = 1000});
  EXPECT_EQ(value.status().code(), absl::StatusCode::kResourceExhausted);
}

TEST(EvaluatorTest, RoundsOfALoopAreLimitedByTheirNumberOnly) {
  // More than calls may be deep; fewer in the short form of tests.
  const float rounds =
      testing::IsLongTest() ? EvaluateOptions::kMaxCallDepth + 10 : 10'000;
  EXPECT_EQ(Result(CountDown(rounds)), 42);
  const Limits limits = {.max_calls = 1000};
  const ScopedLimits scope(limits);
  const absl::StatusOr<Value> value = Evaluate(CountDown(rounds), nullptr);
  EXPECT_THAT(std::string(value.status().message()),
              HasSubstr("limits.max_calls=1000"));
}

TEST(EvaluatorTest, FunctionsOfAModule) {
  IRModule module;
  const Var x("x", std::initializer_list<Dim>{});
  module.Set("twice", Function({x}, Add(x, x)));
  module.Set("main", Function({x}, Call(GlobalVar("twice"), {x})));
  absl::StatusOr<Value> value =
      EvaluateFunction(module, "main", {Tensor::Scalar(4.0f)});
  ASSERT_TRUE(value.ok()) << value.status();
  EXPECT_EQ(AsFloat(*value), 8);
  // Arguments are checked against the parameters.
  EXPECT_THAT(
      std::string(EvaluateFunction(module, "main", {}).status().message()),
      HasSubstr("@main takes 1 arguments, found 0"));
  EXPECT_THAT(
      std::string(EvaluateFunction(module, "main", {Tensor::Scalar(1.0)})
                      .status()
                      .message()),
      HasSubstr("argument %x must be float32"));
  EXPECT_FALSE(EvaluateFunction(module, "mian", {}).ok());
}

TEST(EvaluatorTest, ErrorsNameTheOperator) {
  const auto message = [](const Expr& e) {
    const absl::StatusOr<Value> value = Evaluate(e, nullptr);
    return value.ok() ? "" : std::string(value.status().message());
  };
  EXPECT_THAT(message(Op1("test.fail", Const(1))),
              HasSubstr("evaluating test.fail: no such luck"));
  EXPECT_THAT(message(Op1("test.throw", Const(1))),
              HasSubstr("test.throw threw an exception: boom"));
  EXPECT_THAT(message(Op1("test.no_kernel", Const(1))),
              HasSubstr("test.no_kernel has no kernel"));
  EXPECT_THAT(message(Var("x")), HasSubstr("variable %x has no value"));
  EXPECT_THAT(message(TupleGetItem(Tuple({Const(1)}), 3)),
              HasSubstr("no field 3"));
  EXPECT_THAT(message(Call(Const(1), {Const(1)})),
              HasSubstr("the callee is not a function"));
  EXPECT_THAT(message(Op::Find("test.add")), HasSubstr("only be called"));
  std::string missing;
  EXPECT_FALSE(HasKernels(Op1("test.no_kernel", Const(1)), &missing));
  EXPECT_EQ(missing, "test.no_kernel");
  EXPECT_TRUE(HasKernels(Add(Const(1), Const(1))));
}

// A million in the long form of tests.
int Many() { return testing::IsLongTest() ? 1'000'000 : 100'000; }

TEST(EvaluatorTest, ManyCallsAndLets) {
  Expr e = Const(0);
  for (int i = 0; i < Many(); ++i) e = Add(std::move(e), Const(1));
  EXPECT_EQ(Result(e), Many());
  Expr lets = Const(5);
  for (int i = 0; i < Many(); ++i) {
    lets = Let(Var("v"), Const(1), std::move(lets));
  }
  EXPECT_EQ(Result(lets), 5);
}

// `type List { Cons(A, List), Nil }`.
struct List {
  GlobalTypeVar name{"List"};
  TypeVar a{"A"};
  Constructor cons{"Cons", {a, TypeCall(name, {a})}, name, {a}};
  Constructor nil{"Nil", {}, name, {a}};

  Expr Cons(Expr head, Expr tail) const {
    return Call(cons, {std::move(head), std::move(tail)});
  }
  Expr Nil() const { return Call(nil, {}); }
};

// def @sum(%xs) { match (%xs) { Cons(%x, %rest) => %x + @sum(%rest), Nil => 0 }
IRModule SumModule(const List& list) {
  const Var xs("xs");
  const Var x("x");
  const Var rest("rest");
  IRModule module;
  module.Set(
      "sum",
      Function(
          {xs},
          Match(xs, {{Pattern::OfConstructor(
                          list.cons, {Pattern::OfVar(x), Pattern::OfVar(rest)}),
                      Add(x, Call(GlobalVar("sum"), {rest}))},
                     {Pattern::OfConstructor(list.nil, {}), Const(0)}})));
  return module;
}

TEST(EvaluatorTest, TakesDataApart) {
  const List list;
  const IRModule module = SumModule(list);
  const Expr three = list.Cons(Const(1), list.Cons(Const(2), list.Nil()));
  EXPECT_EQ(Result(Call(GlobalVar("sum"), {three}), &module), 3);
  // A constructor as a value.
  const Var make("make");
  EXPECT_EQ(
      Result(Let(make, list.cons,
                 Call(GlobalVar("sum"), {Call(make, {Const(5), list.Nil()})})),
             &module),
      5);
  const Var f("f");
  const Function apply({f}, Call(f, {Const(5), list.Nil()}));
  EXPECT_EQ(Result(Call(GlobalVar("sum"), {Call(apply, {list.cons})}), &module),
            5);
  // Tuples and wildcards.
  const Var y("y");
  EXPECT_EQ(
      Result(Match(
          Tuple({three, Const(7)}),
          {{Pattern::OfTuple(
                {Pattern::OfConstructor(list.nil, {}), Pattern::OfVar(y)}),
            Const(1)},
           {Pattern::OfTuple({Pattern::Wildcard(), Pattern::OfVar(y)}), y}})),
      7);
}

TEST(EvaluatorTest, AnOperatorAsAnArgumentIsAnError) {
  const Var f("f");
  const Function apply({f}, Call(f, {Const(1), Const(2)}));
  const auto value = Evaluate(Call(apply, {Op::Find("test.add")}), nullptr);
  EXPECT_THAT(value.status().message(), HasSubstr("can only be called"));
}

TEST(EvaluatorTest, MatchWithoutAFittingClauseIsAnError) {
  const List list;
  const Pattern cons = Pattern::OfConstructor(
      list.cons, {Pattern::Wildcard(), Pattern::Wildcard()});
  const auto value = Evaluate(Match(list.Nil(), {{cons, Const(1)}}), nullptr);
  EXPECT_THAT(value.status().message(), HasSubstr("no clause of the match"));
}

TEST(EvaluatorTest, DeepDataIsBuiltAndDestroyed) {
  const List list;
  Expr chain = list.Nil();
  const Expr one = Const(1);
  for (int i = 0; i < Many(); ++i) chain = list.Cons(one, std::move(chain));
  const auto value = Evaluate(chain, nullptr);
  ASSERT_TRUE(value.ok()) << value.status();
  EXPECT_TRUE(value->is_data());
}

}  // namespace
}  // namespace baton::relay
