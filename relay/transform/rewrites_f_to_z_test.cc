// Rewrites with rules, operators and instruments that the tests register, deep
// programs, and functions that callers in C++ use. Programs before and after
// the rewrites are in testing/passes/.

#include <algorithm>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "absl/algorithm/container.h"
#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/string_view.h"
#include "absl/types/span.h"
#include "baton/base/status_macros.h"
#include "baton/base/tensor.h"
#include "baton/ir/module.h"
#include "baton/ir/op.h"
#include "baton/ir/structural_equal.h"
#include "baton/ir/type.h"
#include "baton/ir/type_relation.h"
#include "baton/relay/ir/expr.h"
#include "baton/relay/ir/infer_type.h"
#include "baton/relay/ir/module.h"
#include "baton/relay/ir/text_printer.h"
#include "baton/relay/ir/visit.h"
#include "baton/relay/op/nn.h"
#include "baton/relay/op/tensor.h"
#include "baton/relay/pattern/rewrite_rule.h"
#include "baton/relay/pattern/rewriter.h"
#include "baton/relay/pattern/rule_registry.h"
#include "baton/relay/pattern/rule_text.h"
#include "baton/relay/transform/fold_scale_axis.h"
#include "baton/relay/transform/fuse_ops.h"
#include "baton/relay/transform/legalize.h"
#include "baton/relay/transform/pass_test_util.h"
#include "baton/relay/transform/rewrite_test_util.h"
#include "baton/relay/transform/rule_promise.h"
#include "baton/relay/transform/simplify_fc_transpose.h"
#include "baton/relay/transform/simplify_inference.h"
#include "baton/testing/golden.h"
#include "baton/testing/status_matchers.h"
#include "baton/testing/test_settings.h"
#include "baton/testing/workloads/workload.h"
#include "baton/transform/pass.h"
#include "baton/transform/pass_context.h"
#include "baton/transform/pass_info.h"
#include "baton/transform/pass_instrument.h"
#include "baton/transform/pass_registry.h"
#include "baton/transform/value_promise.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"

namespace baton::relay {
namespace {

using ::baton::testing::StatusIs;
using ::testing::ElementsAre;

using Shape = std::vector<int64_t>;

// `function` after `pass`.
absl::StatusOr<Expr> RunOn(const Pass& pass, const Expr& function) {
  BATON_ASSIGN_OR_RETURN(const IRModule result, pass(ModuleFromExpr(function)));
  return Expr(result.Find<Function>("main"));
}
absl::StatusOr<Expr> Backward(const Expr& function) {
  return RunOn(BackwardFoldScaleAxis(), function);
}
absl::StatusOr<Expr> Forward(const Expr& function) {
  return RunOn(ForwardFoldScaleAxis(), function);
}

// A constant with elements from 0.5 up.
Constant Positive(const Shape& shape) {
  int64_t size = 1;
  for (const int64_t extent : shape) size *= extent;
  std::vector<float> values(size);
  for (int64_t i = 0; i < size; ++i) values[i] = 0.5f + 0.125f * i;
  return Const(*Tensor::FromValues<float>(shape, values));
}

// The constant is found to be positive through a reshape.
TEST(BackwardFoldScaleAxisTest, ReshapedScale) {
  const Var x = TensorVar("x", {2, 2, 10, 10, 16});
  const Var w = TensorVar("w", {4, 32, 3, 3, 1, 16});
  const Var b = TensorVar("b", {64});
  const Constant s = Positive({64});
  const Shape full = {1, 4, 1, 1, 16};
  const Expr squeezed = Squeeze(Reshape(s, full), Shape{0, 2, 3});
  const auto conv = [&](const Expr& weight) {
    return nn::Conv2D(x, weight,
                      {.padding = {1, 1},
                       .channels = Dim(64),
                       .kernel_size = {3, 3},
                       .data_layout = "NCHW16c",
                       .kernel_layout = "OIHW1i16o"});
  };
  ExpectRewrites(
      Backward,
      Function({x, w, b},
               Multiply(nn::LeakyRelu(Add(conv(w), Reshape(b, full)), 0.1),
                        Reshape(s, full))),
      Function(
          {x, w, b},
          nn::LeakyRelu(
              Add(conv(Multiply(w, Reshape(squeezed, {4, 1, 1, 1, 1, 16}))),
                  Multiply(Reshape(b, full), Reshape(squeezed, full))),
              0.1)));
}

// The gate of a recurrent unit is computed: a constant weight would be, too.
TEST(BackwardFoldScaleAxisTest, ConstantWeightsStayConstant) {
  const Var x = TensorVar("x", {2, 16});
  const Var gate = TensorVar("gate", {16});
  const Var weight = TensorVar("w", {16, 16});
  const Constant constant = Positive({16, 16});
  const auto gated = [&](const Expr& w) {
    return Multiply(nn::Dense(x, w), Sigmoid(gate));
  };
  ExpectRewrites(Backward, Function({x, gate}, gated(constant)),
                 Function({x, gate}, gated(constant)));
  ExpectRewrites(
      Backward, Function({x, gate, weight}, gated(weight)),
      Function({x, gate, weight},
               nn::Dense(x, Multiply(weight, ExpandDims(Sigmoid(gate), 1)))));
  // Forward as well.
  const auto before = [&](const Expr& w) {
    return nn::Dense(Multiply(x, Sigmoid(gate)), w);
  };
  ExpectRewrites(Forward, Function({x, gate}, before(constant)),
                 Function({x, gate}, before(constant)));
}

// A sink in registered operators: a user's own layer, which takes scales of
// its data along the last axis in forward direction, but refuses.
BATON_REGISTER_OP("toy.refuses")
    .Arguments({{"data", ""}})
    .TypeRelation([](TypeRelationContext& context) -> absl::StatusOr<Type> {
      return context.arg(0);
    })
    .Set(ForwardScaleRules(),
         ForwardScaleRule{
             .request = [](const CallNode& /*call*/, const ScaleSink& /*out*/,
                           absl::Span<ScaleSink> args) { args[0].axes = {1}; },
             .rewrite = [](const CallNode& /*call*/,
                           absl::Span<const ScaledExpr> /*args*/,
                           const ScaleSink& /*out*/) -> ScaledExpr {
               return {};
             }});
// An operator linear in its data, which passes scales on in both directions.
BATON_REGISTER_OP("toy.linear")
    .Arguments({{"data", ""}})
    .TypeRelation([](TypeRelationContext& context) -> absl::StatusOr<Type> {
      return context.arg(0);
    })
    .Set(ForwardScaleRules(),
         ForwardScaleRule{
             .request = [](const CallNode& /*call*/, const ScaleSink& out,
                           absl::Span<ScaleSink> args) { args[0] = out; },
             .rewrite = [](const CallNode& call,
                           absl::Span<const ScaledExpr> args,
                           const ScaleSink& /*out*/) -> ScaledExpr {
               return {WithArgs(call, {args[0].value}), args[0].scale,
                       args[0].axes};
             }})
    .Set(BackwardScaleRules(),
         BackwardScaleRule{
             .accept = [](const CallNode& /*call*/,
                          absl::Span<const ScaleSink> args) -> BackwardSink {
               return {.sink = args[0], .scaled_args = 1};
             },
             .apply =
                 [](const CallNode& call, absl::Span<const Expr> args,
                    const BackwardSink& /*sink*/,
                    const Expr& /*scale*/) { return WithArgs(call, args); }});

Expr CallToy(const char* name, Expr data) {
  return Call(Op::Find(name), {std::move(data)});
}

TEST(FoldScaleAxisTest, RulesCanBeAdded) {
  const Var x = TensorVar("x", {2, 4});
  const Var w = TensorVar("w", {3, 4});
  const Var s = TensorVar("s", {4});
  const Var t = TensorVar("t", {3});
  ExpectRewrites(
      Forward,
      Function({x, w, s}, nn::Dense(CallToy("toy.linear", Multiply(x, s)), w)),
      Function({x, w, s}, nn::Dense(CallToy("toy.linear", x), Multiply(w, s))));
  ExpectRewrites(
      Backward,
      Function({x, w, t}, Multiply(CallToy("toy.linear", nn::Dense(x, w)), t)),
      Function(
          {x, w, t},
          CallToy("toy.linear", nn::Dense(x, Multiply(w, ExpandDims(t, 1))))));
}

TEST(FoldScaleAxisTest, ARefusedScaleIsMultipliedIn) {
  const Var x = TensorVar("x", {2, 4});
  const Var s = TensorVar("s", {4});
  ExpectRewrites(
      Forward,
      Function({x, s},
               CallToy("toy.refuses", CallToy("toy.linear", Multiply(x, s)))),
      Function({x, s},
               CallToy("toy.refuses", Multiply(CallToy("toy.linear", x), s))));
}

TEST(FoldScaleAxisTest, LongChains) {
  const int length = testing::LongOrShort(100'000, 10'000);
  const Var x = TensorVar("x", {2, 4});
  const Var w = TensorVar("w", {4, 4});
  const Constant s = Positive({4});
  const auto relus = [&](Expr expr) {
    for (int i = 0; i < length; ++i) expr = nn::Relu(expr);
    return expr;
  };
  ExpectRewrites(Forward, Function({x, w}, nn::Dense(relus(Multiply(x, s)), w)),
                 Function({x, w}, nn::Dense(relus(x), Multiply(w, s))));
  ExpectRewrites(
      Backward, Function({x, w}, Multiply(relus(nn::Dense(x, w)), s)),
      Function({x, w}, relus(nn::Dense(x, Multiply(w, ExpandDims(s, 1))))));
}

TEST(FoldScaleAxisTest, IsASequenceOfThree) {
  const Pass pass = FoldScaleAxis();
  EXPECT_EQ(pass.name(), "FoldScaleAxis");
  EXPECT_EQ(pass.info().opt_level, 0);
  EXPECT_EQ(BackwardFoldScaleAxis().info().ToString(),
            "The meta data of the pass - pass name: BackwardFoldScaleAxis, "
            "opt_level: 3, required passes: [\nInferType, ]\n");
  EXPECT_EQ(ForwardFoldScaleAxis().info().opt_level, 3);

  // At level 2 only FoldConstant is left of it.
  const Var x = TensorVar("x", {2, 4});
  const Var w = TensorVar("w", {3, 4});
  const IRModule module = ModuleFromExpr(
      Typed(Function({x, w}, nn::Dense(Multiply(x, Positive({4})), w))));
  BATON_ASSERT_OK_AND_ASSIGN(
      const IRModule at_2,
      PassContext({.opt_level = 2}).Run([&] { return pass(module); }));
  EXPECT_TRUE(at_2.SameAs(module));
  BATON_ASSERT_OK_AND_ASSIGN(
      const IRModule at_3,
      PassContext({.opt_level = 3}).Run([&] { return pass(module); }));
  const IRModule expected = ModuleFromExpr(
      Typed(Function({x, w}, nn::Dense(x, Multiply(w, Positive({4}))))));
  EXPECT_EQ(FirstDifference(at_3, expected), std::nullopt);
}

// The number of nodes in the bodies of the primitive functions, parameters not
// counted, in the order of their calls.
std::vector<int> GroupSizes(const Expr& root) {
  std::vector<int> sizes;
  PostOrderVisit(root, [&](const ExprNode* node) {
    const auto* function = Expr(node).As<FunctionNode>();
    if (function == nullptr || !function->IsPrimitive()) return;
    int size = 0;
    PostOrderVisit(function->body(), [&](const ExprNode* inner) {
      size += inner->kind() == ExprKind::kVar || inner->kind() == ExprKind::kOp
                  ? 0
                  : 1;
    });
    sizes.push_back(size);
  });
  return sizes;
}

IRModule SimplifiedResNet() {
  const auto module = testing::GetWorkloadModule("resnet");
  EXPECT_THAT(module, testing::IsOk());
  const auto simplified = SimplifyInference()(*module);
  EXPECT_THAT(simplified, testing::IsOk());
  return *simplified;
}

TEST(FuseOpsTest, ResNet) {
  const IRModule module = SimplifiedResNet();
  for (const auto& [level, golden] :
       {std::pair(2, "FuseOps.relay"), std::pair(0, "FuseOps0.relay")}) {
    const Pass pass = FuseOps({.fuse_opt_level = level});
    BATON_ASSERT_OK_AND_ASSIGN(const IRModule fused, pass(module));
    EXPECT_TRUE(testing::MatchesGolden(
        AsText(fused), absl::StrCat("resnet18_passes/", golden)));
    BATON_ASSERT_OK_AND_ASSIGN(const IRModule again, pass(fused));
    EXPECT_TRUE(again.SameAs(fused));
  }
}

Expr TypedOrFail(const Expr& expr) {
  const auto typed = InferTypeOf(expr);
  EXPECT_THAT(typed, testing::IsOk());
  return typed.ok() ? *typed : expr;
}

TEST(FuseOpsTest, HugePrograms) {
  const int size = testing::LongOrShort(100'000, 20'000);
  {
    // A tuple of many fields, of which a group takes 254: the tuple and the
    // concatenation are in it too.
    std::vector<Var> params;
    std::vector<Expr> fields;
    for (int i = 0; i < size; ++i) {
      params.push_back(Var(absl::StrCat("x", i), {1}));
      fields.push_back(nn::Relu(params.back()));
    }
    const Expr program =
        TypedOrFail(Function(params, Concatenate(std::move(fields), 0)));
    BATON_ASSERT_OK_AND_ASSIGN(const Expr fused, RunOn(FuseOps(), program));
    EXPECT_EQ(GroupSizes(fused).size(), size - 254 + 1);
  }
  {
    const Var x("x", {1});
    Expr ladder = x;
    for (int i = 0; i < size; ++i) {
      ladder = Add(nn::Relu(ladder), Exp(ladder));
    }
    const Expr program = TypedOrFail(Function({x}, ladder));
    BATON_ASSERT_OK_AND_ASSIGN(const Expr fused, RunOn(FuseOps(), program));
    const std::vector<int> sizes = GroupSizes(fused);
    EXPECT_LE(*std::max_element(sizes.begin(), sizes.end()), 256);
  }
}

// Records whether inference inside of a pass changed its result.
class InferenceWatcher : public PassInstrument {
 public:
  InferenceWatcher() : PassInstrument("InferenceWatcher") {}
  absl::Status RunAfterPass(const IRModule& /*module*/,
                            const PassExecution& pass) override {
    if (pass.depth() > 0) changed_ = changed_ || pass.changed();
    return absl::OkStatus();
  }
  bool changed() const { return changed_; }

 private:
  bool changed_ = false;
};
class FinishedWatcher final : public InferenceWatcher {
 public:
  bool needs_untyped_modules() const override { return false; }
};

TEST(FuseOpsTest, TypesWaitForInferenceOnlyWhereThatIsSeen) {
  const IRModule module = SimplifiedResNet();
  const Pass pass = FuseOps({.fuse_opt_level = 2});
  BATON_ASSERT_OK_AND_ASSIGN(const IRModule alone, pass(module));
  EXPECT_FALSE(alone.SameAs(module));
  EXPECT_TRUE(InferTypes(alone)->SameAs(alone));
  for (const auto& watcher : {std::make_shared<InferenceWatcher>(),
                              std::shared_ptr<InferenceWatcher>(
                                  std::make_shared<FinishedWatcher>())}) {
    const bool sees = watcher->needs_untyped_modules();
    const PassContext context({.instruments = {watcher}});
    BATON_ASSERT_OK_AND_ASSIGN(const IRModule watched,
                               context.Run([&] { return pass(module); }));
    EXPECT_EQ(watcher->changed(), sees);
    EXPECT_EQ(ToText(watched), ToText(alone));
    EXPECT_EQ(FirstDifference(watched, alone), std::nullopt);
  }
}

constexpr char kKind[] = "LegalizeTestKind";

absl::StatusOr<Expr> ForAll(const CallNode& /*call*/,
                            absl::Span<const Expr> args) {
  return Multiply(args[0], args[0]);
}

absl::StatusOr<Expr> ForOne(const CallNode& /*call*/,
                            absl::Span<const Expr> args) {
  return Exp(args[0]);
}

absl::StatusOr<Expr> Refuse(const CallNode& /*call*/,
                            absl::Span<const Expr> /*args*/) {
  return absl::UnimplementedError("not on this chip");
}

BATON_EXTEND_OP("sqrt").Set(LegalizationRules(kKind), ForAll);
BATON_EXTEND_OP("sqrt").Set(LegalizationRules(kKind, "chip"), ForOne);
BATON_EXTEND_OP("tanh").Set(LegalizationRules(kKind), Refuse);

void ExpectBecomes(const Pass& pass, absl::string_view before,
                   absl::string_view after) {
  BATON_ASSERT_OK_AND_ASSIGN(const IRModule result, pass(ParseTyped(before)));
  EXPECT_TRUE(StructuralEqual(result, ParseTyped(after))) << AsText(result);
}

TEST(LegalizeTest, RulesOfAKindAndOfATarget) {
  constexpr char kText[] = "def @main(%x: float32) { sqrt(%x) }";
  ExpectBecomes(Legalize({.legalize_map_attr_name = kKind}), kText,
                "def @main(%x: float32) { multiply(%x, %x) }");
  ExpectBecomes(Legalize({.legalize_map_attr_name = kKind, .target = "other"}),
                kText, "def @main(%x: float32) { multiply(%x, %x) }");
  ExpectBecomes(Legalize({.legalize_map_attr_name = kKind, .target = "chip"}),
                kText, "def @main(%x: float32) { exp(%x) }");
  const IRModule module = ParseTyped(kText);
  const PassContext context({.target = {.kind = "chip"}});
  BATON_ASSERT_OK_AND_ASSIGN(const IRModule for_chip, context.Run([&] {
    return Legalize({.legalize_map_attr_name = kKind})(module);
  }));
  EXPECT_EQ(FirstDifference(for_chip,
                            ParseTyped("def @main(%x: float32) { exp(%x) }")),
            std::nullopt);
  BATON_ASSERT_OK_AND_ASSIGN(
      const IRModule same,
      Legalize({.legalize_map_attr_name = "NoSuchKind"})(module));
  EXPECT_TRUE(same.SameAs(module));
}

TEST(LegalizeTest, ErrorsNameTheOperator) {
  EXPECT_THAT(
      Legalize({.legalize_map_attr_name = kKind})(
          ParseTyped("def @main(%x: float32) { tanh(%x) }"))
          .status(),
      StatusIs(absl::StatusCode::kUnimplemented, "tanh: not on this chip"));
}

TEST(RulesOfPassesTest, AreWellFormedAndKeepThePromiseOfTheirPass) {
  std::vector<std::string> with_rules;
  for (const std::string& name : PassRegistry::Global().Names()) {
    BATON_ASSERT_OK_AND_ASSIGN(const PassInfo info,
                               PassRegistry::Global().Info(name));
    BATON_ASSERT_OK_AND_ASSIGN(const std::vector<RewriteRule> rules,
                               RuleRegistry::Global().RulesOf(name));
    const std::vector<std::string> passes = RuleRegistry::Global().Passes();
    EXPECT_EQ(!rules.empty(), absl::c_linear_search(passes, name)) << name;
    if (rules.empty()) continue;
    with_rules.push_back(name);
    EXPECT_THAT(RuleSet(rules).status(), testing::IsOk()) << name;
    const PassInfo held = WeakenedByRules(info, rules);
    EXPECT_EQ(ValuePromiseText(held), ValuePromiseText(info)) << name;
  }
  EXPECT_THAT(with_rules,
              ::testing::IsSupersetOf({"FastMath", "SimplifyExpr"}));
}

TEST(RulesOfPassesTest, ComeInTheOrderOfTheirText) {
  BATON_ASSERT_OK_AND_ASSIGN(const std::vector<RewriteRule> rules,
                             RuleRegistry::Global().RulesOf("SimplifyExpr"));
  std::vector<std::string> names;
  for (const RewriteRule& rule : rules) names.push_back(rule.name);
  ASSERT_GT(names.size(), 12);
  names.resize(12);
  EXPECT_THAT(
      names, ElementsAre("concretize_zeros_like", "concretize_ones_like",
                         "concretize_full_like", "concretize_reshape_like",
                         "concretize_collapse_sum_like",
                         "concretize_broadcast_to_like", "concretize_cast_like",
                         "sum_with_itself", "divide_by_sqrt", "identity",
                         "identity_signed", "reshapes_in_a_row"));
}

TEST(RulePromiseTest, ClassesOfRules) {
  const auto text = [](absl::string_view promise) {
    return ValuePromiseText(
        ParseRules(absl::StrCat("rule @r { match { exp(%x) } replace { %x } ",
                                promise, " }"))
            .value()[0]
            .promise);
  };
  EXPECT_EQ(text(""), "bit-exact");
  EXPECT_EQ(text("promise { exact, not nan }"),
            "exact but for NaN, infinity and zero");
  EXPECT_EQ(text("promise { rtol = 1e-6f64, atol = 2f64 }"),
            "reassociating, within 1e-06 of each element and 2");
  EXPECT_EQ(text("promise { atol = 2f64 }"), "reassociating, within 2");
  EXPECT_EQ(text("promise { exact, %x in [0f64, 1f64] }"),
            "bit-exact, for %x in [0, 1]");
}

TEST(RulePromiseTest, APassPromisesNoMoreThanItsWeakestRule) {
  const PassInfo exact = {.name = "P"};
  const auto promised = [&](std::vector<RulePromise> promises) {
    std::vector<RewriteRule> rules;
    for (RulePromise& promise : promises) {
      rules.push_back({.name = "r", .promise = std::move(promise)});
    }
    return WeakenedByRules(exact, rules);
  };
  const RulePromise rough = {.exact = false, .rtol = 1e-3};
  const RulePromise rougher = {.exact = false, .rtol = 1e-2};
  const RulePromise finite = {.excludes_infinity = true};
  const RulePromise ranged = {.ranges = {{"x", 0, 1}}};
  EXPECT_EQ(ValuePromiseOf(promised({})), ValuePromise::kBitExact);
  EXPECT_EQ(ValuePromiseOf(promised({{}, finite, finite})),
            ValuePromise::kExactButSpecial);
  EXPECT_EQ(promised({finite, finite}).waivers.size(), 1);
  EXPECT_EQ(ValuePromiseText(promised({rough, {}, rougher, finite})),
            "reassociating, within 0.01 of the largest element");
  EXPECT_EQ(ValuePromiseOf(promised({rough, ranged})), ValuePromise::kOther);
  const PassInfo rougher_pass = {.name = "P", .exact = false, .tolerance = 0.1};
  EXPECT_EQ(WeakenedByRules(rougher_pass, {}).tolerance, 0.1);
}

constexpr char kTwoLayers[] = R"(
    def @main(%w2: Tensor[(64, 16), float32], %data: Tensor[(1, 32), float32],
              %w1: Tensor[(32, 64), float32], %unused: float32) {
      %0 = transpose(%w1, axes=[1, 0]);
      %1 = nn.dense(nn.relu(%data), %0, units=None);
      %2 = transpose(%w2, axes=[-1, 0]);
      nn.dense(nn.relu(%1), %2, units=None)
    })";

TEST(SimplifyFCTransposeTest, FindsWeights) {
  EXPECT_THAT(
      TransposedDenseWeights(ParseTyped(kTwoLayers).Find<Function>("main")),
      ElementsAre("w1", "w2"));
}

// Text cannot show the dot.
TEST(SimplifyFCTransposeTest, NamesTransposedWeights) {
  BATON_ASSERT_OK_AND_ASSIGN(
      const IRModule result,
      SimplifyFCTranspose({.target_weight_name = {"w1", "w2"}})(
          ParseTyped(kTwoLayers)));
  EXPECT_EQ(result.Find<Function>("main")->params()[1]->name(), "w1.T");
}

TEST(SimplifyInferenceTest, LongChains) {
  const Var x = TensorVar("x", {2, 10});
  std::vector<Var> params = {x};
  for (const char* name : {"gamma", "beta", "mean", "var"}) {
    params.push_back(TensorVar(name, {10}));
  }
  Expr expr = x;
  const int length = testing::LongOrShort(20'000, 5'000);
  for (int i = 0; i < length; ++i) {
    expr = nn::BatchNorm(expr, params[1], params[2], params[3], params[4]);
    expr = nn::Dropout(TupleGetItem(expr, 0));
  }
  const Function input = Typed(Function(params, expr));
  BATON_ASSERT_OK_AND_ASSIGN(const Expr output,
                             RunOn(SimplifyInference(), input));
  EXPECT_NE(output, input);
  EXPECT_EQ(*RunOn(SimplifyInference(), output), output);
}

TEST(SimplifyInferenceTest, Info) {
  EXPECT_EQ(SimplifyInference().info().ToString(),
            "The meta data of the pass - pass name: SimplifyInference, "
            "opt_level: 0, required passes: [\nInferType, ]\n");
}

}  // namespace
}  // namespace baton::relay
