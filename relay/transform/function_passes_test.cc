// Function passes: which functions they leave alone, pipelines over one
// function at a time, and inference on several threads.

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <random>
#include <stdexcept>
#include <string>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/string_view.h"
#include "absl/types/span.h"
#include "baton/base/attr_value.h"
#include "baton/base/dtype.h"
#include "baton/base/tensor.h"
#include "baton/ir/attrs.h"
#include "baton/ir/module.h"
#include "baton/ir/module_text.h"
#include "baton/ir/op.h"
#include "baton/ir/type.h"
#include "baton/ir/type_relation.h"
#include "baton/relay/ir/constant.h"
#include "baton/relay/ir/expr.h"
#include "baton/relay/ir/infer_type.h"
#include "baton/relay/op/tensor.h"
#include "baton/relay/op/tensor/indexing.h"
#include "baton/relay/runtime/evaluator.h"
#include "baton/relay/runtime/value.h"
#include "baton/relay/transform/fold_constant.h"
#include "baton/relay/transform/function_pass.h"
#include "baton/relay/transform/function_pipeline.h"
#include "baton/relay/transform/infer_type.h"
#include "baton/testing/parse_typed.h"
#include "baton/testing/random_program.h"
#include "baton/testing/status_matchers.h"
#include "baton/testing/test_settings.h"
#include "baton/testing/threads_sweep.h"
#include "baton/testing/workloads/workload.h"
#include "baton/transform/pass.h"
#include "baton/transform/pass_context.h"
#include "baton/transform/pass_info.h"
#include "baton/transform/pass_instrument.h"
#include "baton/transform/pipeline.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"

namespace baton::relay {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using testing::ParseTyped;

using Shape = std::vector<int64_t>;

// A function of one tensor that gives it back.
Function Identity() {
  const Var x("x", {2});
  return Function({x}, x);
}

// Puts tanh around the result of each function.
Pass AddTanh() {
  return CreateFunctionPass(
      [](const Function& function, const IRModule& /*module*/,
         const PassContext& /*context*/) -> absl::StatusOr<Function> {
        return Function({function->params().begin(), function->params().end()},
                        Tanh(function->body()), {}, {}, function->attrs());
      },
      {.name = "AddTanh"});
}

TEST(RelayFunctionPassTest, LeavesSomeFunctionsAlone) {
  const struct {
    const char* attr;
    AttrValue value;
    const char* reason;
  } cases[] = {
      {attr::kCompiler, "dnnl", "Compiler"},
      {attr::kExtern, 1, "Extern"},
      {attr::kExtern, 0, ""},
      {attr::kSkipOptimization, 1, "SkipOptimization"},
      {attr::kSkipOptimization, 0, ""},
      {attr::kPrimitive, 1, ""},
  };
  IRModule module;
  module.Set("main", Identity());
  for (const auto& c : cases) {
    const Function function = Identity().WithAttr(c.attr, c.value);
    EXPECT_EQ(RelayFunctions().SkipReason(function), c.reason);
    module.Set(absl::StrCat("f", module.size()), function);
  }
  EXPECT_EQ(RelayFunctions().SkipReason(Identity()), "");
  BATON_ASSERT_OK_AND_ASSIGN(const IRModule result, AddTanh()(module));
  for (int i = 0; i < module.size(); ++i) {
    const Function function = result.functions<Function>()[i].function;
    const bool skipped = i > 0 && *cases[i - 1].reason != '\0';
    EXPECT_EQ(function->body().As<CallNode>() == nullptr, skipped) << i;
    EXPECT_TRUE(function->type().defined()) << i;
  }
}

TEST(RelayFunctionPassTest, InferTypeRunsInside) {
  const Pass pass = CreateFunctionPass(
      [](const Function& function, const IRModule& /*module*/,
         const PassContext& /*context*/) -> absl::StatusOr<Function> {
        const Var y("y", {3});
        return Function({y}, Add(function->params()[0], y));
      },
      {.name = "Broken"});
  IRModule module;
  module.Set("main", Identity());
  EXPECT_THAT(pass(module),
              testing::StatusIs(absl::StatusCode::kInvalidArgument,
                                "in pass #1 Broken > #2 InferType:\n"));
}

constexpr absl::string_view kPasses =
    "SimplifyInference,FoldConstant,EliminateCommonSubexpr,FastMath,"
    "CanonicalizeOps,FoldScaleAxis,FuseOps";

// Functions that call each other, a data type, and one that passes skip.
constexpr absl::string_view kProgram = R"(
    type List[A] { Cons(A, List[A]), Nil, }
    def @even(%n: int32, %x: Tensor[(4), float32]) -> Tensor[(4), float32] {
      if (equal(%n, 0)) { add(%x, add(1f, 2f)) }
      else { @odd(subtract(%n, 1), exp(%x)) }
    }
    def @odd(%n: int32, %x: Tensor[(4), float32]) -> Tensor[(4), float32] {
      if (equal(%n, 0)) { subtract(%x, add(1f, 2f)) }
      else { @even(subtract(%n, 1), tanh(tanh(%x))) }
    }
    def @kept(%x: Tensor[(4), float32], SkipOptimization=1) {
      add(%x, add(1f, 2f))
    }
    def @total(%l: List[Tensor[(4), float32]]) -> Tensor[(4), float32] {
      match (%l) {
        Cons(%h, %t) => add(%h, @total(%t)),
        Nil => @kept(zeros(shape=[4], dtype="float32")),
      }
    }
    def @main(%x: Tensor[(4), float32]) {
      %0 = @even(3, add(exp(%x), exp(%x)));
      @total(Cons(%0, Cons(@kept(%x), Nil)))
    })";

Pass Parse(absl::string_view text) {
  absl::StatusOr<Pass> pass = ParsePipeline(text);
  if (!pass.ok()) ADD_FAILURE() << pass.status();
  return pass.ok() ? *pass : Pass();
}

// The text of the result, at level 4.
std::string Run(const Pass& pass, const IRModule& module) {
  const absl::StatusOr<IRModule> result =
      PassContext({.opt_level = 4}).Run([&] { return pass(module); });
  return result.ok() ? AsText(*result) : result.status().ToString();
}

void ExpectSameAsSequence(absl::string_view passes, const IRModule& module) {
  const std::string expected = Run(Parse(passes), module);
  const Pass pass = Parse(absl::StrCat("Function(", passes, ")"));
  EXPECT_EQ(Run(pass, module), expected);
  EXPECT_EQ(testing::FindThreadsDifference(
                pass, module, {.num_schedules = testing::LongOrShort(2, 1)}),
            "");
}

TEST(FunctionPipelineTest, MakesWhatASequenceMakes) {
  ExpectSameAsSequence(kPasses, ParseTyped(kProgram));
  ExpectSameAsSequence("FastMath,FixedPoint(FoldConstant,InferType)",
                       ParseTyped(kProgram));
}

TEST(FunctionPipelineTest, MakesWhatASequenceMakesOfRandomPrograms) {
  const uint32_t count = testing::LongOrShort(32, 4);
  for (uint32_t seed = 0; seed < count; ++seed) {
    SCOPED_TRACE(seed);
    testing::RandomProgramOptions options =
        testing::RandomProgramOptions::Mixed(seed);
    options.functions = true;
    BATON_ASSERT_OK_AND_ASSIGN(const IRModule module,
                               testing::RandomProgram(seed, options));
    ExpectSameAsSequence(kPasses, module);
  }
}

TEST(FunctionPipelineTest, MakesWhatASequenceMakesOfANetwork) {
  BATON_ASSERT_OK_AND_ASSIGN(const IRModule module,
                             testing::GetWorkloadModule("resnet"));
  ExpectSameAsSequence(kPasses, module);
}

TEST(FunctionPipelineTest, ReturnsTheModuleIfNothingChanges) {
  const IRModule module = ParseTyped("def @main(%x: int32) { %x }");
  BATON_ASSERT_OK_AND_ASSIGN(const IRModule result,
                             Parse("Function(FoldConstant)")(module));
  EXPECT_TRUE(result.SameAs(module));
}

// Records the names of passes and the functions in their modules.
class Events final : public PassInstrument {
 public:
  Events() : PassInstrument("Events") {}

  absl::Status RunBeforePass(const IRModule& module,
                             const PassExecution& pass) override {
    if (pass.name() == "InferType" || pass.depth() < 2) {
      return absl::OkStatus();
    }
    std::string line = absl::StrCat(pass.name(), ":");
    for (const IRModule::Definition& definition : module.functions()) {
      absl::StrAppend(&line, " ", definition.var->name());
    }
    lines.push_back(line);
    return absl::OkStatus();
  }

  std::vector<std::string> lines;
};

TEST(FunctionPipelineTest, RunsAllPassesOnOneFunctionThenOnTheNext) {
  const IRModule module = ParseTyped(R"(
      def @f(%x: float32) { add(%x, 1f) }
      def @g(%x: float32) { @f(@f(%x)) }
      def @main(%x: float32) { (@g(%x), exp(%x)) })");
  for (const int64_t threads : {1, 2, 16}) {
    const auto events = std::make_shared<Events>();
    const PassContext context({.opt_level = 3,
                               .config = {{"threads", threads}},
                               .instruments = {events}});
    const absl::StatusOr<IRModule> result = context.Run(
        [&] { return Parse("Function(FastMath,FoldConstant)")(module); });
    ASSERT_TRUE(result.ok()) << result.status();
    // FastMath is of level 4.
    EXPECT_THAT(events->lines,
                ElementsAre("FoldConstant: f", "FoldConstant: f g",
                            "FoldConstant: f g main"));
  }
}

TEST(FunctionPipelineTest, ErrorsNameTheFunctionAndThePass) {
  const Pass picky = CreateFunctionPass(
      [](const Function& function, const IRModule& /*module*/,
         const PassContext& /*context*/) -> absl::StatusOr<Function> {
        if (function->params().size() == 2) {
          return absl::InternalError("two parameters");
        }
        return function;
      },
      {.name = "Picky"});
  const IRModule module = ParseTyped(R"(
      def @f(%x: float32) { %x }
      def @bad(%x: float32, %y: float32) { %x }
      def @worse(%x: float32, %y: float32) { %y })");
  for (const int64_t threads : {1, 2}) {
    const absl::StatusOr<IRModule> result =
        PassContext({.config = {{"threads", threads}}}).Run([&] {
          return FunctionPipeline({FoldConstant(), picky})(module);
        });
    EXPECT_THAT(result.status().ToString(), HasSubstr("two parameters"));
    EXPECT_THAT(result.status().ToString(), HasSubstr("bad"));
    EXPECT_THAT(result.status().ToString(), HasSubstr("Picky"));
  }
}

TEST(FunctionPipelineTest, TakesPassesOverFunctionsOnly) {
  EXPECT_THAT(
      ParsePipeline("Function(FoldConstant,ToANormalForm)").status().ToString(),
      HasSubstr("ToANormalForm works on a whole module, not on one "
                "function"));
  EXPECT_THAT(ParsePipeline("Function(Sequential(FixedPoint(LambdaLift)))")
                  .status()
                  .ToString(),
              HasSubstr("LambdaLift works on a whole module"));
  EXPECT_THAT(FunctionPipeline({Pass()})(IRModule()).status().ToString(),
              HasSubstr("null"));
  EXPECT_THAT(
      ParsePipeline("Function{limit=3}(FoldConstant)").status().ToString(),
      HasSubstr("Function takes no options"));
}

TEST(FunctionPipelineTest, TextRoundTrips) {
  const std::string text =
      "Function(FoldConstant,FixedPoint{limit=3}(EliminateCommonSubexpr),"
      "Function(FoldScaleAxis))";
  BATON_ASSERT_OK_AND_ASSIGN(const std::string printed,
                             PipelineToString(Parse(text)));
  EXPECT_EQ(printed, text);
}

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

// The constant that FoldConstant makes of a strided_slice of `whole`.
Tensor FoldedSlice(const Tensor& whole, StridedSliceAttrs attrs) {
  const Expr call = Call(Op::Find("strided_slice"), {Expr(Constant(whole))},
                         Attrs::Make(std::move(attrs)));
  const absl::StatusOr<Expr> folded = FoldConstantInExpr(call);
  const auto* constant = folded.ok() ? folded->As<ConstantNode>() : nullptr;
  EXPECT_NE(constant, nullptr) << folded.status();
  return constant == nullptr ? Tensor() : constant->value();
}

// The weights of a direction of a recurrence are not copied.
TEST(FoldConstantTest, LargeAdjacentPartsShareTheBuffer) {
  std::vector<float> values(2 * 4 * 600);
  for (size_t i = 0; i < values.size(); ++i) values[i] = static_cast<float>(i);
  const Tensor whole = *Tensor::FromValues<float>({2, 4, 600}, values);
  const float* const data = whole.span<float>().data();

  const Tensor second = FoldedSlice(whole, {.begin = Shape{1},
                                            .end = Shape{2},
                                            .strides = Shape{1},
                                            .axes = Shape{0}});
  EXPECT_EQ(second.data(), data + 2400);
  EXPECT_THAT(second.shape(), ElementsAre(1, 4, 600));
  const Tensor first = FoldedSlice(whole, {.begin = Shape{0, 0, 0},
                                           .end = Shape{1, 4, 600},
                                           .strides = Shape{1, 1, 1}});
  EXPECT_EQ(first.data(), data);
  EXPECT_THAT(first.shape(), ElementsAre(1, 4, 600));

  // Elements that are not adjacent, or few, are copied.
  const struct {
    StridedSliceAttrs attrs;
    Shape shape;
    float first;
  } copied[] = {
      {{.begin = Shape{0, 1, 0},
        .end = Shape{2, 4, 600},
        .strides = Shape{1, 1, 1}},
       {2, 3, 600},
       600},
      {{.begin = Shape{0, 0, 1},
        .end = Shape{1, 4, 600},
        .strides = Shape{1, 1, 1}},
       {1, 4, 599},
       1},
      {{.begin = Shape{1, 3, 0},
        .end = Shape{2, 4, 600},
        .strides = Shape{1, 1, 1}},
       {1, 1, 600},
       4200},
      {{.begin = Shape{1},
        .end = Shape{-3},
        .strides = Shape{-1},
        .axes = Shape{0}},
       {2, 4, 600},
       2400},
  };
  for (const auto& [attrs, shape, first] : copied) {
    const Tensor part = FoldedSlice(whole, attrs);
    EXPECT_EQ(part.shape(), absl::MakeConstSpan(shape));
    EXPECT_EQ(part.AtAsDouble(0), first);
    EXPECT_TRUE(part.span<float>().data() < data ||
                part.span<float>().data() >= data + values.size());
  }
}

// Slices that share a buffer have the elements that the kernel gives, and are
// refused where the kernel fails.
TEST(FoldConstantTest, SlicesAreThoseOfTheKernel) {
  std::mt19937 random(13);
  const auto number = [&random](int64_t low, int64_t high) {
    return std::uniform_int_distribution<int64_t>(low, high)(random);
  };
  std::vector<float> values(4 * 3 * 1100);
  for (size_t i = 0; i < values.size(); ++i) values[i] = static_cast<float>(i);
  const Tensor whole = *Tensor::FromValues<float>({4, 3, 1100}, values);
  const float* const data = whole.span<float>().data();
  int shared = 0;
  int failed = 0;
  for (int i = 0; i < 3000; ++i) {
    StridedSliceAttrs attrs;
    const auto count =
        static_cast<size_t>(number(0, 9) == 0 ? 4 : number(1, 3));
    const auto some = [&](int64_t low, int64_t high) {
      Shape list(number(0, 19) == 0 ? count - 1 : count);
      for (int64_t& k : list) k = number(low, high);
      return list;
    };
    attrs.begin = some(-2, 2);
    attrs.end = some(-2, 4);
    attrs.strides = Shape(count, 1);
    if (number(0, 3) == 0) attrs.strides = some(-1, 2);
    for (int64_t& end : *attrs.end) {
      if (number(0, 1) == 0) end = 1100;
    }
    if (number(0, 1) == 0) attrs.axes = some(-3, number(0, 9) == 0 ? 3 : 2);
    if (number(0, 4) == 0) attrs.slice_mode = "size";
    const Expr call = Call(Op::Find("strided_slice"), {Expr(Constant(whole))},
                           Attrs::Make(attrs));
    const absl::StatusOr<Value> computed =
        RunKernel(*call.As<CallNode>(), {Value(whole)});
    const absl::StatusOr<Expr> folded = FoldConstantInExpr(call);
    ASSERT_TRUE(folded.ok()) << folded.status();
    const auto* constant = folded->As<ConstantNode>();
    if (constant == nullptr) {
      // A program with such a call has no type.
      EXPECT_FALSE(InferTypeOf(call).ok()) << i;
      ++failed;
      continue;
    }
    ASSERT_TRUE(computed.ok()) << i << ": " << computed.status();
    EXPECT_EQ(constant->value(), computed->tensor()) << i;
    const float* const first = constant->value().span<float>().data();
    if (first >= data && first < data + values.size()) ++shared;
  }
  EXPECT_GT(shared, 100);
  EXPECT_GT(failed, 100);
}

// The kernel refuses an axis that is repeated.
TEST(FoldConstantTest, SlicesOfRepeatedAxesStay) {
  const Tensor whole = *Tensor::Zeros(DType::Float(32), {8, 1024});
  for (const Shape& axes : {Shape{0, 0}, Shape{0, -2}}) {
    const Expr call = Call(Op::Find("strided_slice"), {Expr(Constant(whole))},
                           Attrs::Make(StridedSliceAttrs{.begin = Shape{5, 5},
                                                         .end = Shape{8, 8},
                                                         .strides = Shape{1, 1},
                                                         .axes = axes}));
    EXPECT_THAT(std::string(InferTypeOf(call).status().message()),
                HasSubstr(absl::StrCat("axis ", axes[1], " is repeated")));
    const absl::StatusOr<Expr> folded = FoldConstantInExpr(call);
    ASSERT_TRUE(folded.ok()) << folded.status();
    EXPECT_EQ(folded->As<ConstantNode>(), nullptr);
    EXPECT_THAT(
        std::string(
            RunKernel(*call.As<CallNode>(), {Value(whole)}).status().message()),
        HasSubstr(absl::StrCat("axis ", axes[1], " is repeated")));
  }
}

}  // namespace
}  // namespace baton::relay
