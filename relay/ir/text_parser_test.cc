#include "baton/relay/ir/text_parser.h"

#include <cmath>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/string_view.h"
#include "baton/base/dtype.h"
#include "baton/base/tensor.h"
#include "baton/ir/attrs_registry.h"
#include "baton/ir/diagnostics.h"
#include "baton/ir/module.h"
#include "baton/ir/op.h"
#include "baton/ir/structural_equal.h"
#include "baton/ir/type.h"
#include "baton/relay/ir/expr.h"
#include "baton/relay/ir/module.h"
#include "baton/relay/ir/text_printer.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"

namespace baton::relay {
namespace {

using ::testing::HasSubstr;
using ::testing::Not;
using ::testing::SizeIs;

struct ToyAttrs {
  std::vector<int64_t> padding;
  Dim channels;
  std::string layout = "NCHW";
  DType out_dtype;
  double epsilon = 1e-5;
  bool center = true;
  std::optional<int64_t> axis = 1;
  AttrValue device;

  static constexpr char kTypeKey[] = "relay.attrs.ToyAttrs";
  template <typename V>
  static void VisitFields(V& v) {
    v("padding", &ToyAttrs::padding, "Padding.");
    v("channels", &ToyAttrs::channels, "Channels.");
    v("layout", &ToyAttrs::layout, "Layout.");
    v("out_dtype", &ToyAttrs::out_dtype, "Accumulation type.");
    v("epsilon", &ToyAttrs::epsilon, "Small.");
    v("center", &ToyAttrs::center, "Flag.");
    v("axis", &ToyAttrs::axis, "Axis.");
    v("device", &ToyAttrs::device, "Anything.");
  }
};

struct ToyRequiredAttrs {
  int shape = 0;
  static constexpr char kTypeKey[] = "relay.attrs.ToyRequiredAttrs";
  template <typename V>
  static void VisitFields(V& v) {
    v("shape", &ToyRequiredAttrs::shape, "Shape.", kRequired);
  }
};

struct LooseAttrs {
  std::string name;
  static constexpr char kTypeKey[] = "attrs.Loose";
  template <typename V>
  static void VisitFields(V& v) {
    v("name", &LooseAttrs::name, "Name.");
  }
};
BATON_REGISTER_ATTRS(LooseAttrs);

BATON_REGISTER_OP("add").Arguments({{"a", ""}, {"b", ""}});
BATON_REGISTER_OP("subtract").Arguments({{"a", ""}, {"b", ""}});
BATON_REGISTER_OP("multiply").Arguments({{"a", ""}, {"b", ""}});
BATON_REGISTER_OP("divide").Arguments({{"a", ""}, {"b", ""}});
BATON_REGISTER_OP("less").Arguments({{"a", ""}, {"b", ""}});
BATON_REGISTER_OP("less_equal").Arguments({{"a", ""}, {"b", ""}});
BATON_REGISTER_OP("greater").Arguments({{"a", ""}, {"b", ""}});
BATON_REGISTER_OP("greater_equal").Arguments({{"a", ""}, {"b", ""}});
BATON_REGISTER_OP("equal").Arguments({{"a", ""}, {"b", ""}});
BATON_REGISTER_OP("not_equal").Arguments({{"a", ""}, {"b", ""}});
BATON_REGISTER_OP("nn.relu").Arguments({{"a", ""}});
BATON_REGISTER_OP("nn.toy").Arguments({{"a", ""}}).TakesAttrs<ToyAttrs>();
BATON_REGISTER_OP("nn.needy")
    .Arguments({{"a", ""}})
    .TakesAttrs<ToyRequiredAttrs>();

Expr Parsed(absl::string_view text) {
  absl::StatusOr<Expr> expr = ParseExpr(text);
  EXPECT_TRUE(expr.ok()) << text << "\n" << expr.status();
  return expr.ok() ? *std::move(expr) : Expr(Tuple({}));
}

std::string ErrorOf(absl::string_view text) {
  const absl::StatusOr<IRModule> module = ParseModule(text, "t");
  EXPECT_FALSE(module.ok()) << text;
  return std::string(module.status().message());
}

std::string Printed(absl::string_view text) { return ToText(Parsed(text)); }

void ExpectRoundTrip(absl::string_view text) {
  const absl::StatusOr<IRModule> module = ParseModule(text);
  ASSERT_TRUE(module.ok()) << text << "\n" << module.status();
  const std::string printed = AsText(*module);
  const absl::StatusOr<IRModule> again = ParseModule(printed);
  ASSERT_TRUE(again.ok()) << printed << "\n" << again.status();
  EXPECT_EQ(FirstDifference(*module, *again), std::nullopt) << printed;
  EXPECT_EQ(AsText(*again), printed);
}

template <typename T>
T ScalarOf(absl::string_view text) {
  const Expr expr = Parsed(text);
  const auto* constant = expr.As<ConstantNode>();
  if (constant == nullptr || constant->value().dtype() != DType::Of<T>()) {
    ADD_FAILURE() << text << " is not a " << DType::Of<T>();
    return T();
  }
  return constant->value().span<T>()[0];
}

TEST(TextParserTest, Integers) {
  EXPECT_EQ(ScalarOf<int32_t>("1"), 1);
  EXPECT_EQ(ScalarOf<int32_t>("-05"), -5);
  EXPECT_EQ(ScalarOf<int32_t>("--10"), 10);
  EXPECT_EQ(ScalarOf<int32_t>("---10"), -10);
  EXPECT_EQ(ScalarOf<int32_t>("-42i"), -42);
  EXPECT_EQ(ScalarOf<int16_t>("-32768i16"), -32768);
  EXPECT_EQ(ScalarOf<int32_t>("7i32"), 7);
  EXPECT_EQ(ScalarOf<int64_t>("7i64"), 7);
  EXPECT_EQ(ScalarOf<int32_t>("2147483647"), 2147483647);
  EXPECT_EQ(ScalarOf<int64_t>("2147483648"), 2147483648);
  EXPECT_EQ(ScalarOf<int64_t>("-9223372036854775808i64"),
            std::numeric_limits<int64_t>::min());
  EXPECT_THAT(ErrorOf("2147483648i32"), HasSubstr("does not fit in 32 bits"));
  EXPECT_THAT(ErrorOf("32768i16"), HasSubstr("does not fit in 16 bits"));
  EXPECT_THAT(ErrorOf("9223372036854775808"), HasSubstr("64 bits"));
  EXPECT_THAT(ErrorOf("1i8"), HasSubstr("a number ends in `f` or `i`"));
  EXPECT_THAT(ErrorOf("1.5"), HasSubstr("ends in `f`"));
}

TEST(TextParserTest, Floats) {
  EXPECT_EQ(ScalarOf<float>("1.0f"), 1.0f);
  EXPECT_EQ(ScalarOf<float>("1e-1f"), 0.1f);
  EXPECT_EQ(ScalarOf<float>("1.0E+1f"), 10.0f);
  EXPECT_EQ(ScalarOf<float>("1.f"), 1.0f);
  EXPECT_EQ(ScalarOf<float>("3f32"), 3.0f);
  EXPECT_EQ(ScalarOf<double>("0.1f64"), 0.1);
  EXPECT_EQ(ScalarOf<Float16>("3f16"), Float16(3.0f));
  EXPECT_EQ(ScalarOf<float>("3.4028235e+38f"),
            std::numeric_limits<float>::max());
  EXPECT_EQ(ScalarOf<float>("1e-60f"), 0.0f);
  EXPECT_EQ(ScalarOf<float>("1.4e-45f"),
            std::numeric_limits<float>::denorm_min());
  EXPECT_TRUE(std::signbit(ScalarOf<float>("-0f")));
  EXPECT_EQ(ScalarOf<float>("inff"), std::numeric_limits<float>::infinity());
  EXPECT_EQ(ScalarOf<float>("-inff"), -std::numeric_limits<float>::infinity());
  EXPECT_EQ(ScalarOf<double>("inff64"),
            std::numeric_limits<double>::infinity());
  EXPECT_TRUE(std::isnan(ScalarOf<float>("nanf")));
  EXPECT_EQ(ScalarOf<Float16>("nanf16").bits, 0x7e00);
  EXPECT_EQ(ScalarOf<Float16>("-inff16").bits, 0xfc00);
  EXPECT_THAT(ErrorOf("3.40283e+38f32"), HasSubstr("does not fit"));
  EXPECT_THAT(ErrorOf("65505f16"), HasSubstr("does not fit in 16 bits"));
  EXPECT_TRUE(ScalarOf<bool>("True"));
  EXPECT_FALSE(ScalarOf<bool>("False"));
}

TEST(TextParserTest, CommentsAreSkipped) {
  EXPECT_EQ(Printed("// a\n() // b"), "()");
  EXPECT_EQ(Printed("/* a /* nested */ * / */ 1 /* ty=int32 */"), "1");
  EXPECT_THAT(ErrorOf("() /* /* */"), HasSubstr("t:1:4: error: this comment"));
}

TEST(TextParserTest, OperatorsAssociateToTheLeft) {
  const auto equal = [](absl::string_view a, absl::string_view b) {
    return StructuralEqual(Parsed(a), Parsed(b));
  };
  EXPECT_TRUE(equal("1 * 1 + 1 < 1 == 1", "(((1 * 1) + 1) < 1) == 1"));
  EXPECT_TRUE(equal("1 == 1 < 1 + 1 * 1", "1 == (1 < (1 + (1 * 1)))"));
  EXPECT_TRUE(equal("1 - 2 - 3", "subtract(subtract(1, 2), 3)"));
  EXPECT_TRUE(equal("6 / 2 / 3", "divide(divide(6, 2), 3)"));
  EXPECT_TRUE(equal("1 <= 2 != 2 >= 1",
                    "not_equal(less_equal(1, 2), greater_equal(2, 1))"));
  EXPECT_FALSE(equal("1 * 1 + 1", "1 * (1 + 1)"));
  EXPECT_TRUE(equal("1 -1", "subtract(1, 1)"));
  EXPECT_TRUE(equal("add(1 + 2, 3 > 4)", "add(add(1, 2), greater(3, 4))"));
}

TEST(TextParserTest, Tuples) {
  EXPECT_EQ(Printed("()"), "()");
  EXPECT_EQ(Printed("(0,)"), "(0,)");
  EXPECT_EQ(Printed("(0, 1,)"), "(0, 1)");
  EXPECT_EQ(Printed("(0)"), "0");
  const Expr projection = Parsed("free_var %x: int32; %x.0.12");
  const auto* outer = projection.As<TupleGetItemNode>();
  ASSERT_NE(outer, nullptr);
  EXPECT_EQ(outer->index(), 12);
  EXPECT_EQ(outer->tuple().As<TupleGetItemNode>()->index(), 0);
  ExpectRoundTrip("free_var %x: float32; %x((%x,).0, %x)");
}

TEST(TextParserTest, Lets) {
  ExpectRoundTrip("let %x = 1; let %y = 2; ()");
  ExpectRoundTrip("(); ()");
  ExpectRoundTrip("let %_ : _ = (); ()");
  ExpectRoundTrip("(let %a = 1; 3) + 2");
  ExpectRoundTrip("let %x = let %y = 1; let %z = 2; (%y, %z); %x");
  // The inner one hides the outer one, to the end of its scope.
  const Expr expr = Parsed("let %x = 1; ((let %x = 2; %x), %x)");
  const auto* let = expr.As<LetNode>();
  const auto* tuple = let->body().As<TupleNode>();
  EXPECT_EQ(tuple->fields()[1], let->var());
  EXPECT_NE(tuple->fields()[0].As<LetNode>()->body(), let->var());
  EXPECT_THAT(ErrorOf("(let %a = 1; 3, %a)"), HasSubstr("unknown variable %a"));
  EXPECT_THAT(ErrorOf("let @x = 1; ()"), HasSubstr("expected a variable"));
  EXPECT_THAT(ErrorOf("let x = 1; ()"), HasSubstr("expected a variable"));
}

TEST(TextParserTest, NumberedVariables) {
  EXPECT_TRUE(StructuralEqual(Parsed("%0 = (); %1 = 1; (%0, %0, %1)"),
                              Parsed("((), (), 1)")));
  const Expr shared = Parsed("%0 = nn.relu(1); add(%0, %0)");
  EXPECT_EQ(shared.As<CallNode>()->arg(0), shared.As<CallNode>()->arg(1));
  EXPECT_TRUE(Parsed("%0 = 1; %0 == 1").Is<CallNode>());
  EXPECT_TRUE(
      Parsed("%7000000000 = 1; %2 = 3; %7000000000").Is<ConstantNode>());
  // Bound in one branch, used in the other.
  const Expr branches = Parsed(R"(
    free_var %c: bool;
    if (%c) { %0 = nn.relu(1); %0 } else { nn.relu(%0) })");
  const auto* branch = branches.As<IfNode>();
  EXPECT_EQ(branch->false_branch().As<CallNode>()->arg(0),
            branch->true_branch());
  EXPECT_THAT(ErrorOf("%0 = 1; %0 = 2; %0"), HasSubstr("already bound"));
  EXPECT_THAT(ErrorOf("add(%3, 1)"), HasSubstr("unknown variable %3"));
  // To the end of the definition, and no further.
  EXPECT_THAT(ErrorOf("def @f() { %0 = 1; %0 } def @g() { %0 }"),
              HasSubstr("t:1:36: error: unknown variable %0"));
}

TEST(TextParserTest, FunctionsAndCalls) {
  ExpectRoundTrip("fn () { 0 }");
  ExpectRoundTrip("fn (%x, %y) { %x + %y }");
  ExpectRoundTrip("fn [A, B](%x: A, %y: fn (A) -> B) -> B { %y(%x) }");
  ExpectRoundTrip("(fn (%x) { %x })(0)");
  ExpectRoundTrip("let %f = fn (%x) { fn (%y) { %x * %y } }; %f(0); %f(0)(0)");
  ExpectRoundTrip(
      "let %loop = fn (%n: int32) -> int32 { %loop(%n) }; %loop(3)");
  ExpectRoundTrip(
      "fn (%x: float32, Primitive=1, relay.reshape_only=1, Compiler=\"a\\\"b\","
      " shape=[1, [2, 3]], hardware-version=2, ratio=0.5f) { %x }");
  const Expr curried = Parsed("let %f = fn (%x) { %x }; %f(1)(2)");
  EXPECT_TRUE(
      curried.As<LetNode>()->body().As<CallNode>()->op().Is<CallNode>());
}

TEST(TextParserTest, IfAndReferences) {
  ExpectRoundTrip("if (True) { 0 } else { 1 }");
  ExpectRoundTrip(
      "fn (%x: float32) { %0 = ref(%x); ref_write(%0, 1f); ref_read(%0) }");
  ExpectRoundTrip("fn (%r: ref((int32, ref(bool)))) { ref_read(%r) }");
  EXPECT_THAT(ErrorOf("if (True) { let %x = (); () } else { %x }"),
              HasSubstr("unknown variable %x"));
}

TEST(TextParserTest, Types) {
  for (absl::string_view text :
       {"int8", "uint64", "float16", "bfloat16", "bool", "int8x4", "float16x4",
        "Tensor[(1), float32]", "Tensor[(?, 1), bool]", "()", "(int32,)",
        "(int32, (bool, ref(int8)))", "fn () -> int32",
        "fn (int32, Tensor[(2, 3), float32]) -> (bool, bool)",
        "fn [A](A, List[A]) -> List[A]", "List[List[int32]]", "Storage[]", "_",
        "ref(fn () -> ())"}) {
    const absl::StatusOr<Type> type = ParseType(text);
    ASSERT_TRUE(type.ok()) << type.status();
    EXPECT_EQ((*type).ToString(), text);
  }
  EXPECT_EQ((*ParseType("int")).ToString(), "int32");
  EXPECT_EQ((*ParseType("uint1x4")).ToString(), "boolx4");
  EXPECT_EQ((*ParseType("Tensor[(), float32]")).ToString(), "float32");
  EXPECT_EQ((*ParseType("Tensor[(2i64, 1), float32]")).ToString(),
            "Tensor[(2, 1), float32]");
  EXPECT_EQ((*ParseType("(int32)")).ToString(), "(int32,)");
  EXPECT_THAT(std::string(ParseType("Tensor[(1), flot32]").status().message()),
              HasSubstr("did you mean \"float32\""));
  EXPECT_FALSE(ParseType("Tensor[(4611686018427387904), bool]").ok());
  EXPECT_TRUE(ParseType("Tensor[(4611686018427387903), bool]").ok());
  EXPECT_FALSE(ParseType("Tensor[(-1), bool]").ok());
  EXPECT_FALSE(ParseType("(int32").ok());
  EXPECT_FALSE(ParseType("int32 int32").ok());
}

TEST(TextParserTest, RanksHaveALimit) {
  const auto type = [](int rank) {
    std::string text = "Tensor[(1";
    for (int i = 1; i < rank; ++i) text += ", 1";
    return text + "), bool]";
  };
  EXPECT_TRUE(ParseType(type(1024)).ok());
  EXPECT_THAT(std::string(ParseType(type(1025)).status().message()),
              HasSubstr("input:1:8: error: a tensor of 1025 dimensions is over "
                        "the limit (limits.max_rank=1024)"));
}

TEST(TextParserTest, TypesAndConstructorsHaveNamesOfTheirOwn) {
  EXPECT_THAT(ErrorOf("type Ayy { Lmao }\n"
                      "type Lmao { Ayy }\n"),
              HasSubstr("t:2:6: error: type Lmao has the name of a "
                        "constructor"));
  const std::string error = ErrorOf(
      "type Lmao { Nil }\n"
      "type Ayy { Lmao }\n");
  EXPECT_THAT(error, HasSubstr("t:2:12: error: constructor Lmao has the name "
                               "of a type"));
  EXPECT_THAT(error, HasSubstr("t:1:6: note: which is defined here"));
  // One of its own may have it.
  EXPECT_TRUE(ParseModule("type box[a] { box(a), }").ok());
}

TEST(TextParserTest, EqualTypesAreOneNode) {
  const Expr expr =
      Parsed("fn (%a: Tensor[(1, 2), bool], %b: Tensor[(1, 2), bool]) { %a }");
  const auto* function = expr.As<FunctionNode>();
  EXPECT_EQ(function->params()[0]->annotation(),
            function->params()[1]->annotation());
}

TEST(TextParserTest, AttributesComeInAnyOrder) {
  const Expr a = Parsed(
      "nn.toy(1, axis=None, layout=\"NHWC\", padding=[1, 2], center=False,"
      " epsilon=0.1f, channels=?, out_dtype=\"int8\")");
  const Expr b = Parsed(
      "nn.toy(1, out_dtype=\"int8\", epsilon=0.1f, padding=[1, 2],"
      " center=False, layout=\"NHWC\", axis=None)");
  EXPECT_TRUE(StructuralEqual(a, b));
  const auto* attrs = a.As<CallNode>()->attrs_as<ToyAttrs>();
  ASSERT_NE(attrs, nullptr);
  EXPECT_EQ(attrs->epsilon, 0.1);
  EXPECT_EQ(attrs->axis, std::nullopt);
  EXPECT_EQ(attrs->out_dtype, DType::Int(8));
  EXPECT_TRUE(Parsed("nn.toy(1, padding=(3))")
                  .As<CallNode>()
                  ->attrs_as<ToyAttrs>()
                  ->padding == std::vector<int64_t>{3});
  EXPECT_EQ(Parsed("nn.toy(1, epsilon=-inff)")
                .As<CallNode>()
                ->attrs_as<ToyAttrs>()
                ->epsilon,
            -std::numeric_limits<double>::infinity());
  ExpectRoundTrip("nn.toy(1, device={\"a\"=1, \"b\"={\"c\"=[None, True]}})");
  ExpectRoundTrip("nn.toy(1, layout=\"a\\n\\\"\\x01)\", padding=[])");
  // Without attributes, the defaults; equal text, one node.
  const Expr twice = Parsed(
      "(nn.toy(1), nn.toy(2), nn.toy(3, axis=4),"
      " nn.toy(5, axis=4))");
  const auto fields = twice.As<TupleNode>()->fields();
  EXPECT_EQ(fields[0].As<CallNode>()->attrs(),
            fields[1].As<CallNode>()->attrs());
  EXPECT_EQ(fields[2].As<CallNode>()->attrs(),
            fields[3].As<CallNode>()->attrs());
  EXPECT_NE(fields[0].As<CallNode>()->attrs_as<ToyAttrs>(), nullptr);
}

TEST(TextParserTest, AttributesOfCallsToFunctions) {
  const Expr call =
      Parsed("(fn (%x) { %x })(1, name=\"n\", attrs_type_key=\"attrs.Loose\")");
  ASSERT_NE(call.As<CallNode>()->attrs_as<LooseAttrs>(), nullptr);
  EXPECT_EQ(call.As<CallNode>()->attrs_as<LooseAttrs>()->name, "n");
  EXPECT_THAT(ErrorOf("(fn (%x) { %x })(1, name=\"n\")"),
              HasSubstr("need `attrs_type_key`"));
  EXPECT_THAT(ErrorOf("(fn (%x) { %x })(1, attrs_type_key=\"no\")"),
              HasSubstr("unknown attribute type `no`"));
}

TEST(TextParserTest, ErrorsInAttributes) {
  EXPECT_THAT(ErrorOf("nn.toy(1, layot=\"NHWC\")"),
              HasSubstr("t:1:11: error: nn.toy has no attribute `layot`; did "
                        "you mean \"layout\"?"));
  EXPECT_THAT(ErrorOf("nn.toy(1, axis=1, padding=\"x\")"),
              HasSubstr("t:1:19: error: attribute `padding` of nn.toy: "));
  EXPECT_THAT(ErrorOf("nn.toy(1, axis=1, axis=2)"), HasSubstr("given twice"));
  // None is no list, and no dimension.
  EXPECT_THAT(
      ErrorOf("nn.toy(1, padding=None)"),
      HasSubstr("t:1:11: error: attribute `padding` of nn.toy: expected "
                "an integer, found none"));
  EXPECT_THAT(ErrorOf("nn.toy(1, channels=None)"),
              HasSubstr("attribute `channels` of nn.toy: expected a dimension, "
                        "found none"));
  EXPECT_THAT(ErrorOf("nn.toy(1, layout=None)"), HasSubstr("found none"));
  EXPECT_THAT(ErrorOf("nn.relu(1, axis=1)"), HasSubstr("takes no attributes"));
  EXPECT_THAT(ErrorOf("nn.needy(1)"), HasSubstr("\"shape\" is missing"));
  EXPECT_THAT(ErrorOf("nn.toy(1, layout=NHWC)"),
              HasSubstr("strings must be in quotes"));
  EXPECT_THAT(ErrorOf("nn.toy(1, layout=\"\\q\")"), HasSubstr("escape"));
  EXPECT_THAT(
      ErrorOf(absl::StrCat("nn.toy(1, device=", std::string(100000, '['), ")")),
      HasSubstr("nested too deeply"));
}

TEST(TextParserTest, NamesOfImportedModels) {
  const Expr expr = Parsed(R"(
    fn (%input.1: int32, %conv-weight: int32, %a/b: int32, %größe: int32,
        %x: (int32, int32), %1.bias: int32) {
      (%input.1, %conv-weight, %a/b, %größe, %x.1, %1.bias,
       %a/b/%a/b, %input.1-%conv-weight)
    })");
  const auto* function = expr.As<FunctionNode>();
  const auto* body = function->body().As<TupleNode>();
  for (int i = 0; i < 4; ++i) {
    EXPECT_EQ(body->fields()[i], function->params()[i]);
  }
  EXPECT_TRUE(body->fields()[4].Is<TupleGetItemNode>());
  EXPECT_EQ(body->fields()[5], function->params()[5]);
  EXPECT_EQ(function->params()[0]->name(), "input.1");
  EXPECT_EQ(ToText(body->fields()[6].As<CallNode>()->op()), "divide");
  EXPECT_EQ(ToText(body->fields()[7].As<CallNode>()->op()), "subtract");
  ExpectRoundTrip("def @torch.nn-main.1(%x/y/: int32) { %x/y/ }");
}

TEST(TextParserTest, FreeVariablesBecomeParameters) {
  const absl::StatusOr<IRModule> module =
      ParseModule("free_var %x: int32;\nfree_var %y: int32;\nadd(%y, %x)");
  ASSERT_TRUE(module.ok()) << module.status();
  EXPECT_EQ(module->Find<Function>("main")->params()[0]->name(), "y");
  EXPECT_THAT(module->Find<Function>("main")->params(), SizeIs(2));
}

TEST(TextParserTest, Modules) {
  const absl::StatusOr<IRModule> module = ParseModule(R"(
    #[version = "0.0.5"]
    def @f(%x: int32) -> int32 { @g(%x) }
    def @g(%x: int32) -> int32 { %x })");
  ASSERT_TRUE(module.ok()) << module.status();
  EXPECT_EQ(module->size(), 2);
  EXPECT_EQ(module->Find<Function>("f")->body().As<CallNode>()->op(),
            module->FindGlobalVar("g"));
  ExpectRoundTrip(AsText(*module));
  EXPECT_TRUE(ParseModule("#[version = \"0.0.5\"]\n").ok());
  EXPECT_THAT(ErrorOf("#[version = \"0.0.4\"]\n()"),
              HasSubstr("unknown version \"0.0.4\""));
  EXPECT_THAT(ErrorOf(""), HasSubstr("t:1:1: error: expected"));
  EXPECT_THAT(ErrorOf("def @f() { 1 } def @f() { 2 }"),
              HasSubstr("t:1:20: error: @f is defined twice"));
  EXPECT_THAT(ErrorOf("def @f() { 1 } 5"), HasSubstr("expected a definition"));
}

TEST(TextParserTest, NodesKnowTheirPlaces) {
  const std::string text = "let %x = 1;\n  add(%x, nn.relu(2))";
  const Expr expr = Parsed(text);
  const auto at = [&](const Expr& e) {
    return text.substr(
        static_cast<size_t>(e->span()->begin()),
        static_cast<size_t>(e->span()->end() - e->span()->begin()));
  };
  const auto* let = expr.As<LetNode>();
  EXPECT_EQ(at(expr), text);
  EXPECT_EQ(at(let->var()), "%x");
  EXPECT_EQ(at(let->value()), "1");
  EXPECT_EQ(at(let->body()), "add(%x, nn.relu(2))");
  EXPECT_EQ(at(let->body().As<CallNode>()->arg(1)), "nn.relu(2)");
}

TEST(TextParserTest, AllErrorsInOneRun) {
  const std::string errors = ErrorOf(R"(def @f(%data: int32) {
  %0 = nn.rleu(%data);
  %1 = add(%dta, %0 1);
  let %y = 1 +;
  add(%1, %9)
}
def @g(%x: int3) { %x }
def @h(%x: int32) { %x }
def @i(x) { 1 }
)");
  EXPECT_THAT(errors, HasSubstr("t:2:8: error: unknown operator `nn.rleu`; did "
                                "you mean \"nn.relu\"?\n"
                                "  %0 = nn.rleu(%data);\n"
                                "       ^~~~~~~"));
  EXPECT_THAT(errors, HasSubstr("t:3:12: error: unknown variable %dta; did you "
                                "mean \"data\"?"));
  EXPECT_THAT(errors,
              HasSubstr("t:3:21: error: expected `,` or `)`, found a number"));
  EXPECT_THAT(errors, HasSubstr("t:4:15: error: expected an expression"));
  EXPECT_THAT(errors, HasSubstr("t:5:11: error: unknown variable %9"));
  EXPECT_THAT(errors, HasSubstr("t:9:8: error: expected a parameter"));
  // Names that a statement with an error binds are defined.
  EXPECT_THAT(errors, Not(HasSubstr("%1;")));
  Diagnostics diagnostics;
  const IRModule module =
      ParseModule("def @a() { %0 } def @b() { 1 }", "t", diagnostics);
  EXPECT_EQ(module.size(), 1);
  EXPECT_EQ(diagnostics.num_errors(), 1);
}

TEST(TextParserTest, ManyErrorsEndTheRun) {
  std::string text = "def @f() { ";
  for (int i = 0; i < 100000; ++i) absl::StrAppend(&text, "add(%z; ");
  absl::StrAppend(&text, "}");
  EXPECT_LT(ErrorOf(text).size(), size_t{100000});
}

// ---------------------------------------------------------------------------
// Metadata.

Tensor Matrix() {
  return *Tensor::FromValues<float>({2, 2},
                                    std::vector<float>{1, 2.5, -3, 4e-7f});
}

TEST(TextParserTest, ConstantsInTheMetadata) {
  const auto check = [](Tensor tensor) {
    const std::string text =
        AsText(ModuleFromExpr(Call(Op::Find("nn.relu"), {Constant(tensor)})));
    const absl::StatusOr<IRModule> module = ParseModule(text);
    ASSERT_TRUE(module.ok()) << module.status();
    const auto* call = module->Find<Function>("main")->body().As<CallNode>();
    EXPECT_EQ(call->arg(0).As<ConstantNode>()->value(), tensor);
    EXPECT_EQ(AsText(*module), text);
  };
  check(Matrix());
  check(Tensor::Scalar(int8_t{-3}));
  check(*Tensor::Zeros(DType::Bool(), {0, 3}));
  for (int64_t n = 0; n < 9; ++n) {
    check(*Tensor::Ones(DType::UInt(8), {n}));
    check(*Tensor::Ones(DType::BFloat(16), {1, n}));
    check(*Tensor::Ones(DType::Float(64), {1, 1, n}));
  }
}

TEST(TextParserTest, AttributesAndDimensionsInTheMetadata) {
  ToyAttrs attrs;
  attrs.layout = "12";
  attrs.axis = std::nullopt;
  attrs.device = AttrMap{{"a", AttrList{1, "x", 0.5, AttrValue()}}};
  const Dim n(
      new DimExprNode(DimExprNode::Op::kSizeVar, "n", DType::Int(32), {}, {}));
  const Dim twice(
      new DimExprNode(DimExprNode::Op::kMul, "", DType::Int(32), n, 2));
  attrs.channels = twice;
  const Var x("x", {n, twice, Dim::Any(), 3});
  const IRModule module = ModuleFromExpr(
      Call(Op::Find("nn.relu"), {x}, Attrs::Make(std::move(attrs))));
  const std::string text = AsText(module);
  ASSERT_THAT(text, HasSubstr("meta[relay.attrs.ToyAttrs][0]"));
  const absl::StatusOr<IRModule> again = ParseModule(text);
  ASSERT_TRUE(again.ok()) << again.status();
  EXPECT_EQ(FirstDifference(module, *again), std::nullopt);
  EXPECT_EQ(AsText(*again), text);
}

// The reference's output for computed dimensions: conversions between integers,
// and products that are rounded.
TEST(TextParserTest, ConversionsOfDimensionsInTheMetadata) {
  const auto dim_of = [](absl::string_view nodes) -> std::string {
    const std::string text = absl::StrCat(
        R"(fn (%x: Tensor[(meta[tir.Cast][0], 3), float32]) { %x }
#[metadata]
{"root": 1, "nodes": [{"type_key": ""},
  {"type_key": "Map", "keys": ["tir.Cast"], "data": [2]},
  {"type_key": "Array", "data": [3]},
  {"type_key": "tir.Cast", "attrs": {"dtype": "int64", "span": "0", "value": "4"}},
)",
        nodes, R"(], "b64ndarrays": [], "attrs": {"tvm_version": "0.14.0"}})");
    const absl::StatusOr<Expr> parsed = ParseExpr(text);
    if (!parsed.ok()) return std::string(parsed.status().message());
    return parsed->As<FunctionNode>()->params()[0]->annotation().ToString();
  };
  const std::string variable =
      R"({"type_key": "tir.SizeVar", "attrs": {"dtype": "int32", "name": "5",
          "span": "0", "type_annotation": "0"}},
         {"type_key": "runtime.String", "repr_str": "n"})";
  EXPECT_EQ(dim_of(variable), "Tensor[(n, 3), float32]");
  EXPECT_EQ(dim_of(R"({"type_key": "FloatImm",
                       "attrs": {"dtype": "float64", "value": "64"}})"),
            "Tensor[(64, 3), float32]");
  const auto rounded = [&](absl::string_view factor) {
    return dim_of(absl::StrCat(
        R"({"type_key": "tir.Call", "attrs": {"args": "6", "op": "5", "dtype": "float64"}},
           {"type_key": "Op", "repr_str": "tir.round"},
           {"type_key": "Array", "data": [7]},
           {"type_key": "tir.Mul", "attrs": {"a": "8", "b": "9", "dtype": "float64"}},
           {"type_key": "tir.Cast", "attrs": {"dtype": "float64", "value": "10"}},
           {"type_key": "FloatImm", "attrs": {"dtype": "float64", "value": ")",
        factor, R"("}},
           {"type_key": "tir.Var", "attrs": {"dtype": "int32", "name": "11"}},
           {"type_key": "runtime.String", "repr_str": "n"})"));
  };
  EXPECT_EQ(rounded("2"), "Tensor[((n * 2), 3), float32]");
  // The result is not an integer for every n.
  EXPECT_EQ(rounded("1.5"), "Tensor[(?, 3), float32]");
  EXPECT_EQ(
      dim_of(absl::StrCat(
          R"({"type_key": "tir.FloorMod", "attrs": {"a": "6", "b": "7", "dtype": "int32"}},
             {"type_key": "runtime.String", "repr_str": "n"},
             {"type_key": "tir.Var", "attrs": {"dtype": "int32", "name": "5"}},
             {"type_key": "IntImm", "attrs": {"dtype": "int32", "value": "4"}})")),
      "Tensor[((n - ((n // 4) * 4)), 3), float32]");
  const auto larger = [&](absl::string_view kind, absl::string_view other) {
    return dim_of(absl::StrCat(R"({"type_key": ")", kind,
                               R"(", "attrs": {"a": "6", "b": ")", other,
                               R"(", "dtype": "int32"}},
           {"type_key": "runtime.String", "repr_str": "n"},
           {"type_key": "IntImm", "attrs": {"dtype": "int32", "value": "4"}},
           {"type_key": "IntImm", "attrs": {"dtype": "int32", "value": "7"}},
           {"type_key": "tir.Var", "attrs": {"dtype": "int32", "name": "5"}})"));
  };
  EXPECT_EQ(larger("tir.Max", "7"), "Tensor[(7, 3), float32]");
  EXPECT_EQ(larger("tir.Min", "7"), "Tensor[(4, 3), float32]");
  EXPECT_EQ(larger("tir.Max", "6"), "Tensor[(4, 3), float32]");
  EXPECT_EQ(larger("tir.Max", "8"), "Tensor[(?, 3), float32]");
  EXPECT_THAT(dim_of(R"({"type_key": "tir.Load", "attrs": {}})"),
              HasSubstr("unknown kind `tir.Load`"));
  EXPECT_THAT(
      dim_of(R"({"type_key": "tir.Call", "attrs": {"args": "6", "op": "5"}},
                {"type_key": "Op", "repr_str": "tir.exp"},
                {"type_key": "Array", "data": [3]})"),
      HasSubstr("no dimension is a call of `tir.exp`"));
  EXPECT_THAT(dim_of(R"({"type_key": "tir.Cast", "attrs": {"value": "3"}})"),
              HasSubstr("it refers to itself"));
}

// Lists of devices that parameters cannot show are attributes.
TEST(TextParserTest, ParametersWithoutDevices) {
  ExpectRoundTrip("fn (param_virtual_devices=[]) { 0 }");
  ExpectRoundTrip("fn (%x, param_virtual_devices=[None]) { %x }");
  ExpectRoundTrip("fn (%x, param_virtual_devices=[None, None]) { %x }");
  // A device that the metadata leaves out is none.
  ExpectRoundTrip(
      R"(fn (%x {virtual_device=meta[VirtualDevice][0]}) { %x }
#[metadata]
{"root": 1, "nodes": [{"type_key": ""},
  {"type_key": "Map", "keys": ["VirtualDevice"], "data": [2]},
  {"type_key": "Array", "data": [0]}],
 "b64ndarrays": [], "attrs": {"tvm_version": "0.14.0"}})");
}

TEST(TextParserTest, BadMetadata) {
  const std::string text =
      AsText(ModuleFromExpr(Function({}, Constant(Matrix()))));
  const auto changed = [&](absl::string_view from, absl::string_view to) {
    std::string copy = text;
    const size_t at = copy.rfind(std::string(from));
    EXPECT_NE(at, std::string::npos) << from;
    return copy.replace(at, from.size(), std::string(to));
  };
  ASSERT_TRUE(ParseModule(text).ok());
  for (size_t cut = text.find("#[metadata]") + 1; cut < text.size() - 1;
       ++cut) {
    EXPECT_FALSE(ParseModule(text.substr(0, cut)).ok()) << cut;
  }
  EXPECT_THAT(ErrorOf(changed("AAA", "A")), HasSubstr("is not base64"));
  EXPECT_THAT(ErrorOf(changed("AAAA", "")), HasSubstr("t:"));
  EXPECT_THAT(ErrorOf(changed("P6G0", "P6G1")),
              HasSubstr("does not begin as a tensor does"));
  EXPECT_THAT(ErrorOf(changed("\"relay.Constant\", \n      \"attrs\"",
                              "\"relay.Mystery\", \n      \"attrs\"")),
              HasSubstr("unknown kind `relay.Mystery`"));
  EXPECT_THAT(ErrorOf(changed("\"data\": \"0\"", "\"data\": \"7\"")),
              HasSubstr("there is no tensor 7"));
  EXPECT_THAT(ErrorOf(changed("\"root\": 1", "\"root\": 99")),
              HasSubstr("the root of the metadata section is not a map"));
  EXPECT_THAT(ErrorOf(text + "x"), HasSubstr("unexpected text"));
  EXPECT_THAT(ErrorOf("meta[relay.Constant][0]"),
              HasSubstr("the text has no metadata section"));
  std::string reference = text;
  reference.replace(reference.find("Constant][0]"), 12, "Constant][9]");
  EXPECT_THAT(ErrorOf(reference), HasSubstr("has 1 nodes of kind"));
  reference.replace(reference.find("Constant][9]"), 12, "Constent][0]");
  EXPECT_THAT(ErrorOf(reference), HasSubstr("did you mean"));
}

TEST(TextParserTest, AHugeShapeTakesNoMemory) {
  // A tensor of 2^62 float32 elements, and one that has no data.
  for (absl::string_view shape : {"AAAAAAAAAEA", "AAAAABAAAAA"}) {
    const std::string text = absl::StrCat(
        "meta[relay.Constant][0]\n#[metadata]\n{\"root\": 0, \"nodes\": [",
        "{\"type_key\": \"Map\", \"keys\": [\"relay.Constant\"],",
        " \"data\": [1]}, {\"type_key\": \"Array\", \"data\": [2]},",
        " {\"type_key\": \"relay.Constant\", \"attrs\": {\"data\": \"0\"}}],",
        " \"b64ndarrays\": [\"P6G0lvBAXt0AAAAAAAAAAAEAAAAAAAAAAQAAAAIgAQA",
        shape, "AAAAAAAAAAA==\"]}");
    EXPECT_THAT(ErrorOf(text), HasSubstr("tensor 0 of the metadata section"));
  }
}

// ---------------------------------------------------------------------------
// Size.

std::string Repeat(absl::string_view text, int n) {
  std::string result;
  for (int i = 0; i < n; ++i) absl::StrAppend(&result, text);
  return result;
}

TEST(TextParserTest, DeepNesting) {
  constexpr int kDepth = 10000;
  EXPECT_TRUE(
      Parsed(absl::StrCat(Repeat("(", kDepth), "1", Repeat(")", kDepth)))
          .Is<ConstantNode>());
  Parsed(absl::StrCat(Repeat("nn.relu(", kDepth), "1", Repeat(")", kDepth)));
  Parsed(absl::StrCat(Repeat("{", kDepth), "1", Repeat("}", kDepth)));
  Parsed(absl::StrCat(Repeat("fn () {", kDepth), "1", Repeat("}", kDepth)));
  Parsed(absl::StrCat(Repeat("if (True) { 1 } else {", kDepth), "1",
                      Repeat("}", kDepth)));
  Parsed(absl::StrCat(Repeat("let %x = ref(", kDepth), "1",
                      Repeat("); %x", kDepth)));
  Parsed(absl::StrCat("1", Repeat(" + 1", 100 * kDepth)));
  Parsed(absl::StrCat("let %x = 1; %x", Repeat("()", kDepth)));
  EXPECT_TRUE(ParseType(absl::StrCat(Repeat("fn (ref((", kDepth), "bool",
                                     Repeat("))) -> ()", kDepth)))
                  .ok());
  EXPECT_FALSE(ParseModule(Repeat("(", 100 * kDepth)).ok());
  EXPECT_THAT(ErrorOf(Repeat("(", 1000 * kDepth)),
              HasSubstr("nested too deeply"));
  EXPECT_FALSE(ParseType(Repeat("(", 100 * kDepth)).ok());
  EXPECT_TRUE(
      Parsed(absl::StrCat(Repeat("/*", kDepth), Repeat("*/", kDepth), "1"))
          .Is<ConstantNode>());
}

TEST(TextParserTest, AMillionLets) {
  constexpr int kLets = 1000000;
  std::string text = "let %x0 = 1;\n";
  for (int i = 1; i < kLets; ++i) {
    absl::StrAppend(&text, "let %x", i, " = nn.relu(%x", i - 1, ");\n");
  }
  absl::StrAppend(&text, "%x", kLets - 1);
  const Expr expr = Parsed(text);
  int64_t lets = 0;
  for (const LetNode* let = expr.As<LetNode>(); let != nullptr;
       let = let->body().As<LetNode>()) {
    ++lets;
  }
  EXPECT_EQ(lets, kLets);
}

TEST(TextParserTest, ALongLine) {
  std::string text = "(";
  while (text.size() < 300000) absl::StrAppend(&text, "nn.relu(1), ");
  absl::StrAppend(&text, "%nowhere)");
  const std::string error = ErrorOf(text);
  EXPECT_THAT(error, HasSubstr("unknown variable %nowhere"));
  EXPECT_LT(error.size(), size_t{1000});
}

}  // namespace
}  // namespace baton::relay
