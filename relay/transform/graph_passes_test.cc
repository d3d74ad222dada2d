// Tests of passes that work on the graph which IR files of testing/passes/
// cannot be: places of nodes, options that are C++ functions, comparisons with
// a slow implementation, very large programs, elements of constants, codes of
// errors.

#include <cstddef>
#include <cstdint>
#include <optional>
#include <random>
#include <string>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/string_view.h"
#include "absl/types/span.h"
#include "baton/base/dtype.h"
#include "baton/base/source.h"
#include "baton/base/tensor.h"
#include "baton/ir/module.h"
#include "baton/ir/op.h"
#include "baton/ir/structural_equal.h"
#include "baton/ir/type.h"
#include "baton/relay/bind.h"
#include "baton/relay/ir/constant.h"
#include "baton/relay/ir/expr.h"
#include "baton/relay/ir/infer_type.h"
#include "baton/relay/ir/module.h"
#include "baton/relay/ir/text_printer.h"
#include "baton/relay/ir/visit.h"
#include "baton/relay/op/nn/activation.h"
#include "baton/relay/op/tensor.h"
#include "baton/relay/transform/capture_post_dfs_index_in_spans.h"
#include "baton/relay/transform/convert_to_sparse.h"
#include "baton/relay/transform/dead_code_elimination.h"
#include "baton/relay/transform/eliminate_common_subexpr.h"
#include "baton/relay/transform/pass_test_util.h"
#include "baton/testing/status_matchers.h"
#include "baton/testing/test_settings.h"
#include "baton/transform/pass.h"
#include "baton/transform/pass_context.h"
#include "baton/transform/pipeline.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"

namespace baton::relay {
namespace {

using ::testing::ElementsAre;
using testing::IsOk;
using testing::StatusIs;

// The places in @main after the pass, by number; empty where an operator is.
std::vector<std::string> Places(absl::string_view text) {
  const IRModule module =
      RunChecked(CapturePostDfsIndexInSpans(), ParseTyped(text));
  std::vector<std::string> places;
  PostOrderVisit(module.Find("main"), [&](const ExprNode* node) {
    const Span& span = node->span();
    if (!span.defined() || span->source().name() != "index") return;
    const size_t line =
        static_cast<size_t>(span->source().PositionOf(span->begin()).line);
    if (places.size() <= line) places.resize(line + 1);
    places[line] = span->source().text().substr(span->begin(),
                                                span->end() - span->begin());
  });
  return places;
}

// The numbers are those of the reference's test of the pass.
TEST(CapturePostDfsIndexInSpansTest, NumbersCalleesBeforeArguments) {
  EXPECT_THAT(Places(R"(
    def @main(%x: Tensor[(2, 3), float32], %y: Tensor[(2, 3), float32]) {
      %0 = nn.dense(%x, %y, units=2);
      %1 = fn (%a: Tensor[(2, 3), float32], %b: Tensor[(2, 3), float32],
               Primitive=1) {
        %2 = fn (%c: Tensor[(2, 3), float32], %d: Tensor[(2, 3), float32]) {
          multiply(%c, %d)
        };
        %2(%a, %b)
      };
      (add(%0, 1f), %1(%y, %x))
    })"),
              ElementsAre("index:0:17", "index:1:17", "", "", "index:4:6",
                          "index:5:6", "index:6:17", "index:7:14", "index:8:14",
                          "index:9:12", "index:10:12", "", "index:12:13",
                          "index:13:14", "index:14:15", "index:15:16",
                          "index:16:17", "index:17:18", "index:18:-1"));
}

// A value is before the variable that it flows into. What is not used flows
// nowhere.
TEST(CapturePostDfsIndexInSpansTest, Lets) {
  EXPECT_THAT(
      Places(R"(
    def @main(%x: int32, %y: int32) {
      let %a = negative(%x);
      let %b = add(%a, %a);
      subtract(%b, %a)
    })"),
      ElementsAre("index:0:3", "index:1:-1", "", "index:3:4", "index:4:9", "",
                  "index:6:7", "index:7:9", "", "index:9:10", "index:10:11",
                  "index:11:12", "index:12:-1"));
}

// A call of a function in its own definition does not use the definition.
TEST(CapturePostDfsIndexInSpansTest, Recursion) {
  EXPECT_THAT(
      Places(R"(
    def @main(%x: int32) {
      let %f = fn (%n: int32) -> int32 {
        if (equal(%n, 0)) { %n } else { %f(%n) }
      };
      %f(%x)
    })"),
      ElementsAre("index:0:9", "index:1:6", "", "index:3:4", "index:4:6",
                  "index:5:6", "index:6:7", "index:7:8", "index:8:9",
                  "index:9:10", "index:10:11", "index:11:-1"));
}

constexpr char kTwoSides[] = R"(
    def @main(%x: Tensor[(1, 16), float32]) {
      %0 = add(nn.relu(%x), 1f);
      %1 = add(nn.relu(%x), 1f);
      add(%0, %1)
    })";

TEST(EliminateCommonSubexprTest, SkipPredicate) {
  const auto skips = [](absl::string_view name) {
    return EliminateCommonSubexprOptions{
        .fskip = [name = std::string(name)](const Expr& expr) {
          const auto* call = expr.As<CallNode>();
          return call != nullptr && call->op_node() != nullptr &&
                 call->op_node()->name() == name;
        }};
  };
  const Pass skips_relu = EliminateCommonSubexpr(skips("nn.relu"));
  ExpectPassMakes(skips_relu, kTwoSides, kTwoSides);
  constexpr char kOneRelu[] = R"(
      def @main(%x: Tensor[(1, 16), float32]) {
        %0 = nn.relu(%x);
        add(add(%0, 1f), add(%0, 1f))
      })";
  const Pass skips_add = EliminateCommonSubexpr(skips("add"));
  ExpectPassMakes(skips_add, kTwoSides, kOneRelu);
  ExpectPassLeaves(skips_add, kOneRelu);
  // It has no text.
  EXPECT_FALSE(skips_add.ToString().ok());
}

IRModule TypedModule(std::vector<Var> params, const Expr& body) {
  const absl::StatusOr<IRModule> typed =
      InferTypes(ModuleFromExpr(Function(std::move(params), body)));
  EXPECT_THAT(typed, IsOk());
  return typed.value_or(IRModule());
}

// @main after the pass.
Function Merged(const IRModule& module) {
  const absl::StatusOr<IRModule> result = EliminateCommonSubexpr()(module);
  EXPECT_THAT(result, IsOk());
  return result.ok() ? result->Find<Function>("main") : Function();
}

TEST(EliminateCommonSubexprTest, ManyAttributesOfOneOperator) {
  const Var x("x", {1000});
  std::vector<Expr> fields;
  for (int i = 0; i < 60; ++i) {
    fields.push_back(StridedSlice(x, {i % 30}, {i % 30 + 1}));
  }
  const Function merged = Merged(TypedModule({x}, Tuple(std::move(fields))));
  const auto* tuple = merged->body().As<TupleNode>();
  for (int i = 0; i < 60; ++i) {
    EXPECT_EQ(tuple->fields()[i], tuple->fields()[i % 30]);
  }
  for (int i = 1; i < 30; ++i) {
    EXPECT_NE(tuple->fields()[i], tuple->fields()[0]);
  }
}

// Merges by comparing each call with all earlier ones, until nothing changes.
Expr MergeSlowly(const Expr& root) {
  class Merger : public ExprMutator {
    Expr VisitCall(const CallNode* /*original*/, Call call) override {
      for (const Call& other : calls_) {
        if (StructuralEqual(call, other, {.map_free_vars = false})) {
          return other;
        }
      }
      calls_.push_back(call);
      return call;
    }
    std::vector<Call> calls_;
  };
  return *Merger().Mutate(root);
}

TEST(EliminateCommonSubexprTest, RandomPrograms) {
  std::mt19937 random(7);
  for (int round = 0; round < 300; ++round) {
    const std::vector<Var> params = {Var("x", {4}), Var("y", {4})};
    std::vector<Expr> values(params.begin(), params.end());
    const auto pick = [&] { return values[random() % values.size()]; };
    for (int i = 0; i < 30; ++i) {
      switch (random() % 5) {
        case 0:
          values.push_back(Add(pick(), pick()));
          break;
        case 1:
          values.push_back(Add(pick(), Const(1.0f)));
          break;
        case 2:
          values.push_back(
              StridedSlice(Concatenate({pick(), pick()}, 0), {0}, {4}));
          break;
        case 3:
          values.push_back(nn::Relu(values[random() % 2]));
          break;
        default:
          values.push_back(nn::Relu(values.back()));
          break;
      }
    }
    const IRModule module = TypedModule(params, Tuple(values));
    const Function function = module.Find<Function>("main");
    const Function merged = Merged(module);
    EXPECT_EQ(FirstDifference(merged, MergeSlowly(function)), std::nullopt)
        << ToText(function);
  }
}

TEST(EliminateCommonSubexprTest, HugePrograms) {
  const int size = testing::LongOrShort(100'000, 20'000);
  const Var x("x", {4});
  std::vector<Expr> left;
  std::vector<Expr> right;
  for (int i = 0; i < size; ++i) {
    const Expr scale = Const(static_cast<float>(i));
    left.push_back(Multiply(x, scale));
    right.push_back(Multiply(x, scale));
  }
  Expr a = Concatenate(left, 0);
  Expr b = Concatenate(right, 0);
  for (int i = 0; i < size; ++i) {
    a = nn::Relu(a);
    b = nn::Relu(b);
  }
  const Function merged = Merged(TypedModule({x}, Add(a, b)));
  const auto* sum = merged->body().As<CallNode>();
  EXPECT_EQ(sum->arg(0), sum->arg(1));
}

TEST(DeadCodeEliminationTest, RandomPrograms) {
  const int num_seeds = testing::LongOrShort(300, 100);
  for (int seed = 0; seed < num_seeds; ++seed) {
    const IRModule module = RandomProgram(seed, {.effects = seed % 2 == 1});
    for (const bool inline_once : {false, true}) {
      const Pass pass = DeadCodeElimination({.inline_once = inline_once});
      const IRModule after = RunChecked(pass, module);
      BATON_ASSERT_OK_AND_ASSIGN(const IRModule again, pass(after));
      EXPECT_TRUE(again.SameAs(after)) << ToText(after);
    }
  }
}

// The weight of a convolution of 3 times 3, in OIHW or HWIO, where output
// channel 2 and 3 have one element each that is not zero.
Tensor SparseWeight(bool is_nhwc) {
  const std::vector<int64_t> shape = is_nhwc ? std::vector<int64_t>{3, 3, 2, 4}
                                             : std::vector<int64_t>{4, 2, 3, 3};
  absl::StatusOr<MutableTensor> tensor =
      MutableTensor::Create(DType::Float(32), shape);
  EXPECT_THAT(tensor, IsOk());
  const absl::Span<float> data = tensor->span<float>();
  // Column 10 of channel 2, and column 17 of channel 3.
  data[is_nhwc ? 10 * 4 + 2 : 2 * 18 + 10] = 5;
  data[is_nhwc ? 17 * 4 + 3 : 3 * 18 + 17] = 7;
  return std::move(*tensor).Freeze();
}

IRModule ConvWithConstant(bool is_nhwc) {
  IRModule module = ParseTyped(is_nhwc ? R"(
    def @main(%data: Tensor[(1, 5, 5, 2), float32],
              %weight: Tensor[(3, 3, 2, 4), float32]) {
      nn.conv2d(%data, %weight, padding=[1, 1, 1, 1], channels=4,
                kernel_size=[3, 3], data_layout="NHWC", kernel_layout="HWIO")
    })"
                                       : R"(
    def @main(%data: Tensor[(1, 2, 5, 5), float32],
              %weight: Tensor[(4, 2, 3, 3), float32]) {
      nn.conv2d(%data, %weight, padding=[1, 1, 1, 1], channels=4,
                kernel_size=[3, 3])
    })");
  const absl::StatusOr<Function> bound = BindParamsByName(
      module.Find<Function>("main"), {{"weight", SparseWeight(is_nhwc)}});
  EXPECT_THAT(bound, IsOk());
  module.Set("main", *bound);
  return module;
}

TEST(Conv2dToSparse2Test, ConvertsConstants) {
  for (const bool is_nhwc : {false, true}) {
    SCOPED_TRACE(is_nhwc);
    const std::string layout = is_nhwc ? "NHWC" : "NCHW";
    BATON_ASSERT_OK_AND_ASSIGN(
        const IRModule result,
        Conv2dToSparse2({.layout = layout, .blocksize = {2, 3}})(
            ConvWithConstant(is_nhwc)));
    const auto* call = result.Find<Function>("main")->body().As<CallNode>();
    ASSERT_EQ(call->op_node()->name(), "nn.sparse_conv2d");
    const auto part = [call](int i) -> const Tensor& {
      return call->arg(i).As<ConstantNode>()->value();
    };
    EXPECT_THAT(part(1).shape(), ElementsAre(2, 2, 3));
    EXPECT_THAT(part(1).span<float>(),
                ElementsAre(0, 5, 0, 0, 0, 0, 0, 0, 0, 0, 0, 7));
    EXPECT_THAT(part(2).span<int32_t>(), ElementsAre(3, 5));
    EXPECT_THAT(part(3).span<int32_t>(), ElementsAre(0, 0, 2));
    // Typed, with the type of the convolution.
    EXPECT_EQ(call->type().ToString(), is_nhwc
                                           ? "Tensor[(1, 5, 5, 4), float32]"
                                           : "Tensor[(1, 4, 5, 5), float32]");
  }
}

struct BadInput {
  absl::string_view passes;
  absl::StatusCode code;
  absl::string_view program;
};

// The messages are in the IR files.
TEST(GraphPassesTest, ErrorsHaveCodes) {
  constexpr auto kInvalid = absl::StatusCode::kInvalidArgument;
  constexpr auto kNotFound = absl::StatusCode::kNotFound;
  constexpr absl::string_view kPlain = "def @main(%x: float32) { exp(%x) }";
  constexpr absl::string_view kOutline =
      "OutlineCompilerFunctionsWithExistingGlobalSymbols";
  constexpr absl::string_view kInline =
      "InlineCompilerFunctionsBoundTo{global_vars=[f]}";
  const BadInput inputs[] = {
      {kOutline, kInvalid, R"(
           def @main(%x: float32) {
             %0 = fn (%a: float32, Compiler="a") -> float32 { exp(%a) };
             %0(%x)
           })"},
      {kOutline, absl::StatusCode::kAlreadyExists, R"(
           def @f(%a: float32) -> float32 { log(%a) }
           def @main(%x: float32) {
             %0 = fn (%a: float32, Compiler="a", global_symbol="f") {
               exp(%a)
             };
             %0(%x)
           })"},
      {kInline, kNotFound, kPlain},
      {kInline, kInvalid, R"(
           def @f(%x: float32) -> float32 { exp(%x) }
           def @main(%x: float32) -> float32 { @f(%x) })"},
      {kInline, absl::StatusCode::kFailedPrecondition, R"(
           def @f(%x: float32, Compiler="a") -> float32 { exp(%x) }
           def @main() -> fn (float32) -> float32 { @f })"},
      {"RemoveUnusedFunctions{entry_functions=[mian]}", kNotFound, kPlain},
      {"Defunctionalization", kInvalid,
       "def @main(%f: fn (int32) -> int32) { %f(1) }"},
      {"Defunctionalization", kInvalid, R"(
           def @main() {
             let %f = fn (%x: int32) { %x };
             %f(1)
           })"},
      {"DenseToSparse{weight_name=[w]}", kInvalid, kPlain},
      {"Conv2dToSparse2{layout=CHWN}", kInvalid, kPlain},
      {"Conv2dToSparse2{kernel_size=2}", kInvalid, kPlain},
      {"Conv2dToSparse2{blocksize=[0, 1]}", kInvalid, kPlain},
  };
  for (const BadInput& input : inputs) {
    SCOPED_TRACE(absl::StrCat(input.passes, "\n", input.program));
    BATON_ASSERT_OK_AND_ASSIGN(const Pass passes, ParsePipeline(input.passes));
    const PassContext context({.opt_level = 5});
    const IRModule module = ParseTyped(input.program);
    EXPECT_THAT(context.Run([&] { return passes(module); }),
                StatusIs(input.code, ""));
  }
}

}  // namespace
}  // namespace baton::relay
