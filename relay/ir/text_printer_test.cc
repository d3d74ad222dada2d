#include "baton/relay/ir/text_printer.h"

#include <cstdint>
#include <cstring>
#include <limits>
#include <optional>
#include <sstream>
#include <string>
#include <utility>
#include <vector>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "baton/base/dtype.h"
#include "baton/base/tensor.h"
#include "baton/ir/attrs.h"
#include "baton/ir/module.h"
#include "baton/ir/op.h"
#include "baton/ir/type.h"
#include "baton/relay/ir/adt.h"
#include "baton/relay/ir/expr.h"
#include "baton/relay/ir/module.h"
#include "baton/testing/small_stack.h"
#include "gtest/gtest.h"

namespace baton::relay {
namespace {

struct ToyConvAttrs {
  std::vector<int64_t> padding;
  Dim channels;
  std::string layout = "NCHW";
  DType out_dtype;
  double epsilon = 1e-5;
  bool center = true;
  std::optional<int64_t> axis = 1;

  static constexpr char kTypeKey[] = "relay.attrs.ToyConvAttrs";
  template <typename V>
  static void VisitFields(V& v) {
    v("padding", &ToyConvAttrs::padding, "Padding.", kRequired);
    v("channels", &ToyConvAttrs::channels, "Channels.");
    v("layout", &ToyConvAttrs::layout, "Layout.");
    v("out_dtype", &ToyConvAttrs::out_dtype, "Accumulation type.");
    v("epsilon", &ToyConvAttrs::epsilon, "Small.");
    v("center", &ToyConvAttrs::center, "Flag.");
    v("axis", &ToyConvAttrs::axis, "Axis.");
  }
};

BATON_REGISTER_OP("toy.add").Arguments({{"a", ""}, {"b", ""}});
BATON_REGISTER_OP("toy.neg").Arguments({{"a", ""}});
BATON_REGISTER_OP("toy.conv")
    .Arguments({{"data", ""}, {"weight", ""}})
    .TakesAttrs<ToyConvAttrs>();

Expr Add(Expr a, Expr b) {
  return Call(Op::Find("toy.add"), {std::move(a), std::move(b)});
}
Expr Neg(Expr a) { return Call(Op::Find("toy.neg"), {std::move(a)}); }
template <typename T>
Expr Scalar(T value) {
  return Constant(Tensor::Scalar<T>(value));
}
Constant Vector(std::vector<float> values) {
  const int64_t size = static_cast<int64_t>(values.size());
  return Constant(*Tensor::FromValues<float>({size}, values));
}

TEST(TextPrinterTest, Scalars) {
  EXPECT_EQ(ToText(Scalar<int16_t>(42)), "42i16");
  EXPECT_EQ(ToText(Scalar<int32_t>(-42)), "-42");
  EXPECT_EQ(ToText(Scalar<int64_t>(42)), "42i64");
  EXPECT_EQ(ToText(Scalar(Float16(1.5f))), "1.5f16");
  EXPECT_EQ(ToText(Scalar(3.0f)), "3f");
  EXPECT_EQ(ToText(Scalar(3.0)), "3f64");
  EXPECT_EQ(ToText(Scalar(true)), "True");
  EXPECT_EQ(ToText(Scalar(-0.0f)), "-0f");
  EXPECT_EQ(ToText(Scalar(1e10f)), "1e+10f");
  EXPECT_EQ(ToText(Scalar(2e-5f)), "2e-05f");
  constexpr float kInf = std::numeric_limits<float>::infinity();
  EXPECT_EQ(ToText(Scalar(kInf)), "inff");
  EXPECT_EQ(ToText(Scalar(-kInf)), "-inff");
  EXPECT_EQ(ToText(Scalar(std::numeric_limits<float>::quiet_NaN())), "nanf");
}

TEST(TextPrinterTest, FloatsKeepTheirBits) {
  EXPECT_EQ(ToText(Scalar(0.1f)), "0.1f");
  EXPECT_EQ(ToText(Scalar(1.0f / 3)), "0.33333334f");
  EXPECT_EQ(ToText(Scalar(16777215.0f)), "16777215f");
  EXPECT_EQ(ToText(Scalar(1.0 / 3)), "0.3333333333333333f64");
  for (int i = 0; i < 0x7c00; ++i) {
    const std::string text =
        ToText(Scalar(Float16::FromBits(static_cast<uint16_t>(i))));
    EXPECT_EQ(Float16(std::stof(text)).bits, i) << text;
  }
}

TEST(TextPrinterTest, OtherConstantsGoToTheMetadata) {
  EXPECT_EQ(ToText(Scalar<uint8_t>(1)), "meta[relay.Constant][0]\n");
  EXPECT_EQ(ToText(Vector({1, 2})), "meta[relay.Constant][0]\n");
  uint32_t bits = 0x7fc00001;
  float nan;
  std::memcpy(&nan, &bits, 4);
  EXPECT_EQ(ToText(Scalar(nan)), "meta[relay.Constant][0]\n");
}

TEST(TextPrinterTest, SharedNodesAreNumbered) {
  Var x("x", {1, 8});
  Expr sum = Add(x, x);
  IRModule module = ModuleFromExpr(Function({x}, Add(Neg(sum), sum)));
  EXPECT_EQ(AsText(module),
            "#[version = \"0.0.5\"]\n"
            "def @main(%x: Tensor[(1, 8), float32]) {\n"
            "  %0 = toy.add(%x, %x);\n"
            "  %1 = toy.neg(%0);\n"
            "  toy.add(%1, %0)\n"
            "}\n");
}

TEST(TextPrinterTest, ConstantsAreNumberedWhenFirstMet) {
  Constant a = Vector({1});
  Constant b = Vector({2});
  // The left operand is visited first, and so is what it holds.
  Expr expr = Add(Add(b, Neg(a)), a);
  EXPECT_EQ(ToText(expr),
            "%0 = toy.neg(meta[relay.Constant][1]);\n"
            "%1 = toy.add(meta[relay.Constant][0], %0);\n"
            "toy.add(%1, meta[relay.Constant][1])\n");
}

TEST(TextPrinterTest, Attributes) {
  Var x("x");
  ToyConvAttrs attrs;
  attrs.padding = {0, 1};
  Expr conv = Call(Op::Find("toy.conv"), {x, x}, Attrs::Make(attrs));
  EXPECT_EQ(ToText(conv), "free_var %x;\ntoy.conv(%x, %x, padding=[0, 1])");
  attrs.channels = 64;
  attrs.layout = "a\"b\n\x01";
  attrs.out_dtype = DType::Float(32);
  attrs.epsilon = 2e-5;
  attrs.center = false;
  attrs.axis.reset();
  conv = Call(Op::Find("toy.conv"), {x, x}, Attrs::Make(attrs));
  EXPECT_EQ(ToText(conv),
            "free_var %x;\ntoy.conv(%x, %x, padding=[0, 1], channels=64, "
            "layout=\"a\\\"b\\n\\x01\", out_dtype=\"float32\", "
            "epsilon=2e-05f, center=False, axis=None)");
}

TEST(TextPrinterTest, AttributesOfAnotherTypeGoToTheMetadata) {
  Var x("x");
  ToyConvAttrs attrs;
  attrs.padding = {0, 1};
  Expr call = Call(Op::Find("toy.neg"), {x}, Attrs::Make(attrs));
  EXPECT_EQ(ToText(call), "free_var %x;\ntoy.neg(%x, padding=[0, 1])");
  const std::string text = AsText(call, {.version = false});
  EXPECT_TRUE(absl::StartsWith(
      text,
      "free_var %x;\ntoy.neg(%x, meta[relay.attrs.ToyConvAttrs][0])\n"
      "#[metadata]\n"))
      << text;
  EXPECT_TRUE(absl::StrContains(text, "\"padding\": \"4\"")) << text;
}

TEST(TextPrinterTest, CallsOfFunctionsKeepTheTypeOfTheirAttributes) {
  Expr call = Call(GlobalVar("f"), {Scalar(1)}, Attrs::Make(ToyConvAttrs()));
  EXPECT_EQ(ToText(call),
            "@f(1, padding=[], "
            "attrs_type_key=\"relay.attrs.ToyConvAttrs\")");
}

TEST(TextPrinterTest, Names) {
  Var plain("x"), again("x"), third("x"), number("1"), empty(""), odd("a.b:0");
  Expr tuple = Tuple({plain, again, third, number, empty, odd});
  EXPECT_EQ(ToText(Function({plain, again, third, number, empty, odd}, tuple)),
            "fn (%x, %x1, %x2, %v1, %v, %a_b_0) {\n"
            "  (%x, %x1, %x2, %v1, %v, %a_b_0)\n"
            "}");
}

TEST(TextPrinterTest, NamesAreUniqueInTheModule) {
  Var a("x"), b("x");
  IRModule module;
  module.Set("g", Function({b}, Neg(Neg(b))));
  module.Set("f", Function({a}, Neg(Neg(a))));
  EXPECT_EQ(ToText(module),
            "def @f(%x) {\n"
            "  %0 = toy.neg(%x);\n"
            "  toy.neg(%0)\n"
            "}\n"
            "\n"
            "def @g(%x1) {\n"
            "  %1 = toy.neg(%x1);\n"
            "  toy.neg(%1)\n"
            "}\n");
}

TEST(TextPrinterTest, OneFunctionUnderTwoNames) {
  Var x("x");
  Function f({x}, x);
  IRModule module;
  module.Set("a", f);
  module.Set("b", f);
  EXPECT_EQ(ToText(module),
            "def @a(%x) {\n  %x\n}\n\ndef @b(%x1) {\n  %x1\n}\n");
}

TEST(TextPrinterTest, CalleesAreVisitedFirstAndWrittenLast) {
  Var x("x"), p("p0"), q("p0");
  DictAttrs primitive = DictAttrs().With("Primitive", 1);
  Function inner({p}, Neg(p), {}, {}, primitive);
  Function outer({q}, Neg(q), {}, {}, primitive);
  Expr first = Call(inner, {x});
  Expr body = Call(outer, {first});
  EXPECT_EQ(ToText(ModuleFromExpr(Function({x}, body))),
            "def @main(%x) {\n"
            "  %0 = fn (%p01, Primitive=1) {\n"
            "    toy.neg(%p01)\n"
            "  };\n"
            "  %1 = %0(%x);\n"
            "  %2 = fn (%p0, Primitive=1) {\n"
            "    toy.neg(%p0)\n"
            "  };\n"
            "  %2(%1)\n"
            "}\n");
}

TEST(TextPrinterTest, NestedFunctionsTakeTheirNumbersFirst) {
  Var x("x"), p("p");
  Function f({p}, Neg(Neg(p)));
  EXPECT_EQ(ToText(Function({x}, Call(f, {Neg(x)}))),
            "fn (%x) {\n"
            "  %1 = toy.neg(%x);\n"
            "  %2 = fn (%p) {\n"
            "    %0 = toy.neg(%p);\n"
            "    toy.neg(%0)\n"
            "  };\n"
            "  %2(%1)\n"
            "}");
}

TEST(TextPrinterTest, Lets) {
  Var x("x");
  Expr pair = Tuple({Scalar(0), Scalar(0)});
  EXPECT_EQ(ToText(Let(x, pair, pair)),
            "%0 = (0, 0);\n"
            "let %x = %0;\n"
            "%0");
  EXPECT_EQ(ToText(Let(x, pair, x)),
            "let %x = (0, 0);\n"
            "%x");
}

TEST(TextPrinterTest, LetChains) {
  Var a("a"), b("b"), c("c");
  Expr body = Let(c, Add(a, Neg(b)), c);
  EXPECT_EQ(ToText(Let(a, Scalar(1), Let(b, Neg(Neg(a)), body))),
            "let %a = 1;\n"
            "%0 = toy.neg(%a);\n"
            "let %b = toy.neg(%0);\n"
            "%1 = toy.neg(%b);\n"
            "let %c = toy.add(%a, %1);\n"
            "%c");
}

TEST(TextPrinterTest, LetInLet) {
  Var a("a"), b("b");
  EXPECT_EQ(ToText(Let(a, Let(b, Neg(Neg(Scalar(1))), b), a)),
            "%0 = toy.neg(1);\n"
            "let %a = let %b = toy.neg(%0);\n"
            "%b;\n"
            "%a");
}

TEST(TextPrinterTest, LetAsOperand) {
  Var a("a"), b("b");
  Expr let = Let(a, Neg(Neg(Scalar(1))), Let(b, Neg(Neg(a)), b));
  EXPECT_EQ(ToText(Neg(let)),
            "%0 = toy.neg(1);\n"
            "%2 = (\n"
            "  let %a = toy.neg(%0);\n"
            "  %1 = toy.neg(%a);\n"
            "  let %b = toy.neg(%1);\n"
            "  %b\n"
            ");\n"
            "toy.neg(%2)");
}

TEST(TextPrinterTest, LocalRecursion) {
  Var f("f"), n("n");
  Expr body = Call(f, {n});
  EXPECT_EQ(ToText(Let(f, Function({n}, body), Call(f, {Scalar(3)}))),
            "let %f = fn (%n) {\n"
            "  %f(%n)\n"
            "};\n"
            "%f(3)");
}

TEST(TextPrinterTest, If) {
  Var c("c", {}, DType::Bool()), x("x");
  Expr body = If(c, Neg(Neg(x)), x);
  EXPECT_EQ(ToText(Function({c, x}, Neg(body))),
            "fn (%c: bool, %x) {\n"
            "  %1 = if (%c) {\n"
            "    %0 = toy.neg(%x);\n"
            "    toy.neg(%0)\n"
            "  } else {\n"
            "    %x\n"
            "  };\n"
            "  toy.neg(%1)\n"
            "}");
  EXPECT_EQ(ToText(Function({c, x}, If(c, If(c, x, x), Let(x, x, x)))),
            "fn (%c: bool, %x) {\n"
            "  if (%c) {\n"
            "    if (%c) {\n"
            "      %x\n"
            "    } else {\n"
            "      %x\n"
            "    }\n"
            "  } else {\n"
            "    let %x-malformed-ir = %x;\n"
            "    %x\n"
            "  }\n"
            "}");
}

TEST(TextPrinterTest, NodesSharedWithABranchAreWrittenThere) {
  Var c("c"), x("x");
  Expr shared = Neg(x);
  EXPECT_EQ(ToText(Function({c, x}, Add(shared, If(c, shared, x)))),
            "fn (%c, %x) {\n"
            "  %1 = if (%c) {\n"
            "    %0 = toy.neg(%x);\n"
            "    %0\n"
            "  } else {\n"
            "    %x\n"
            "  };\n"
            "  toy.add(%0, %1)\n"
            "}");
}

TEST(TextPrinterTest, NothingIsUsedBeforeItIsWritten) {
  Var c("c"), x("x");
  Expr shared = Neg(x);
  Expr branch = If(c, shared, x);
  // The operands of the second argument are settled before the branch is.
  Expr body = Add(branch, Neg(Neg(shared)));
  branch = Expr();
  EXPECT_EQ(ToText(Function({c, x}, body)),
            "fn (%c, %x) {\n"
            "  %1 = if (%c) {\n"
            "    %0 = toy.neg(%x);\n"
            "    %0\n"
            "  } else {\n"
            "    %x\n"
            "  };\n"
            "  %2 = toy.neg(%0);\n"
            "  %3 = toy.neg(%2);\n"
            "  toy.add(%1, %3)\n"
            "}");
}

TEST(TextPrinterTest, SiblingsThatShareANode) {
  Var x("x"), y("y"), z("z");
  Expr shared = Neg(x);
  Function f({y}, Add(shared, y)), g({z}, Add(shared, z));
  EXPECT_EQ(ToText(Function({x}, Tuple({f, g}))),
            "fn (%x) {\n"
            "  %1 = fn (%y) {\n"
            "    %0 = toy.neg(%x);\n"
            "    toy.add(%0, %y)\n"
            "  };\n"
            "  %2 = fn (%z) {\n"
            "    toy.add(%0, %z)\n"
            "  };\n"
            "  (%1, %2)\n"
            "}");
}

TEST(TextPrinterTest, SiblingsThatShareANodeInTheOtherOrder) {
  // The callee is visited first and settled last.
  Var x("x"), y("y"), z("z");
  Expr shared = Neg(x);
  Function f({y}, Add(shared, y)), g({z}, Add(shared, z));
  EXPECT_EQ(ToText(Function({x}, Call(f, {g}))),
            "fn (%x) {\n"
            "  %1 = fn (%y) {\n"
            "    %0 = toy.neg(%x);\n"
            "    toy.add(%0, %y)\n"
            "  };\n"
            "  %2 = fn (%z) {\n"
            "    toy.add(%0, %z)\n"
            "  };\n"
            "  %1(%2)\n"
            "}");
}

TEST(TextPrinterTest, ALineWrittenBeforeWhatUsedItsInside) {
  // `g` uses a node that is defined in `f`, and then `f` itself, whose line
  // must still come first. It has taken its number inside `g`.
  Var x("x"), y("y"), z("z");
  Expr shared = Neg(x);
  Function f({y}, Add(shared, y));
  Function g({z}, Tuple({Neg(shared), f, z}));
  EXPECT_EQ(ToText(Function({x}, Tuple({f, g, f}))),
            "fn (%x) {\n"
            "  %2 = fn (%y) {\n"
            "    %0 = toy.neg(%x);\n"
            "    toy.add(%0, %y)\n"
            "  };\n"
            "  %3 = fn (%z) {\n"
            "    %1 = toy.neg(%0);\n"
            "    (%1, %2, %z)\n"
            "  };\n"
            "  (%2, %3, %2)\n"
            "}");
}

TEST(TextPrinterTest, TextMovesToTheDepthWhereItIsWritten) {
  Var c("c"), p("p");
  Function f({p}, p);
  EXPECT_EQ(ToText(Add(f, If(c, f, c))),
            "free_var %c;\n"
            "%1 = if (%c) {\n"
            "  %0 = fn (%p) {\n"
            "    %p\n"
            "  };\n"
            "  %0\n"
            "} else {\n"
            "  %c\n"
            "};\n"
            "toy.add(%0, %1)");
}

TEST(TextPrinterTest, References) {
  Expr ref = RefCreate(Neg(Scalar(1)));
  EXPECT_EQ(ToText(RefWrite(ref, RefRead(ref))),
            "%0 = toy.neg(1);\n"
            "%1 = ref(%0);\n"
            "%2 = ref_read(%1);\n"
            "ref_write(%1, %2)");
}

TEST(TextPrinterTest, Tuples) {
  Var x("x");
  EXPECT_EQ(ToText(Function({x}, TupleGetItem(Tuple({x, Tuple({x})}), 1))),
            "fn (%x) {\n"
            "  %0 = (%x,);\n"
            "  %1 = (%x, %0);\n"
            "  %1.1\n"
            "}");
  EXPECT_EQ(ToText(Tuple({})), "()");
}

// A name takes dots, and so does a number.
TEST(TextPrinterTest, ProjectionsOfNamesAndNumbers) {
  EXPECT_EQ(ToText(TupleGetItem(GlobalVar("f_"), 1)), "(@f_).1");
  EXPECT_EQ(ToText(TupleGetItem(Constant(Tensor::Scalar(int32_t{3})), 0)),
            "(3).0");
}

TEST(TextPrinterTest, Types) {
  TypeVar a("A");
  Type tensor = TensorType({1, Dim::Any()}, DType::Float(16));
  Type scalar = TensorType::Scalar(DType::Int(32));
  EXPECT_EQ(tensor.ToString(), "Tensor[(1, ?), float16]");
  EXPECT_EQ(scalar.ToString(), "int32");
  EXPECT_EQ(TupleType({}).ToString(), "()");
  EXPECT_EQ(TupleType({scalar}).ToString(), "(int32,)");
  EXPECT_EQ(TupleType({scalar, tensor}).ToString(),
            "(int32, Tensor[(1, ?), float16])");
  EXPECT_EQ(FuncType({}, scalar).ToString(), "fn () -> int32");
  EXPECT_EQ(FuncType({a, scalar}, RefType(a), {a}).ToString(),
            "fn [A](A, int32) -> ref(A)");
  EXPECT_EQ(TypeCall(GlobalTypeVar("List"), {a, scalar}).ToString(),
            "List[A, int32]");
  EXPECT_EQ(IncompleteType().ToString(), "_");
}

TEST(TextPrinterTest, GenericFunctions) {
  TypeVar a("A");
  Var x("x", a);
  EXPECT_EQ(ToText(Function({x}, x, a, {a})),
            "fn [A](%x: A) -> A {\n"
            "  %x\n"
            "}");
  IRModule module;
  module.Set("id", Function({x}, x, a, {a}));
  EXPECT_EQ(ToText(module), "def @id[A](%x: A) -> A {\n  %x\n}\n");
}

// Each name is read as the innermost type parameter that has it.
TEST(TextPrinterTest, TypeParametersOfOneName) {
  const TypeVar a("A");
  const TypeVar b("A");
  const Var x("x", a);
  const Var y("y", b);
  EXPECT_EQ(ToText(Function({x, y}, x, a, {a, b})),
            "fn [A, A1](%x: A, %y: A1) -> A {\n  %x\n}");
  const Type pair = TupleType({b, a});
  const Function inner({y}, Tuple({y, x}), pair, {b});
  EXPECT_EQ(ToText(Function({x}, inner, FuncType({b}, pair, {b}), {a})),
            "fn [A](%x: A) -> fn [A1](A1) -> (A1, A) {\n"
            "  fn [A1](%y: A1) -> (A1, A) {\n"
            "    (%y, %x)\n"
            "  }\n"
            "}");
  // Beside one another they may have the same.
  EXPECT_EQ(ToText(Tuple({Function({x}, x, a, {a}), Function({y}, y, b, {b})})),
            "%0 = fn [A](%x: A) -> A {\n"
            "  %x\n"
            "};\n"
            "%1 = fn [A](%y: A) -> A {\n"
            "  %y\n"
            "};\n"
            "(%0, %1)");
}

TEST(TextPrinterTest, TypeParametersWithTheNameOfADataType) {
  const TypeVar a("T");
  const Type data = TypeCall(GlobalTypeVar("T"), {});
  const Var x("x", data);
  IRModule module;
  module.SetType(TypeData(GlobalTypeVar("T"), {}, {}));
  module.Set("f", Function({x}, x, FuncType({a}, data, {a}), {a}));
  EXPECT_EQ(ToText(module),
            "type T {\n"
            "  \n"
            "}\n"
            "\n"
            "def @f[T1](%x: T[]) -> fn [T1](T1) -> T[] {\n"
            "  %x\n"
            "}\n");
}

TEST(TextPrinterTest, SymbolicDimensions) {
  Dim n(
      new DimExprNode(DimExprNode::Op::kSizeVar, "n", DType::Int(32), {}, {}));
  Dim m(new DimExprNode(DimExprNode::Op::kMul, "", DType::Int(32), n, 16));
  EXPECT_EQ(m.ToString(), "(n * 16)");
  Var x("x", {m, n});
  EXPECT_EQ(TensorType({m, n}, DType::Int(8)).ToString(),
            "Tensor[((n * 16), n), int8]");
  const std::string text = AsText(Function({x}, x));
  EXPECT_EQ(text, R"(#[version = "0.0.5"]
fn (%x: Tensor[(meta[tir.Mul][0], meta[tir.SizeVar][0]), float32]) {
  %x
}
#[metadata]
{
  "root": 1, 
  "nodes": [
    {
      "type_key": ""
    }, 
    {
      "type_key": "Map", 
      "keys": [
        "tir.SizeVar", 
        "tir.Mul"
      ], 
      "data": [2, 6]
    }, 
    {
      "type_key": "Array", 
      "data": [3]
    }, 
    {
      "type_key": "tir.SizeVar", 
      "attrs": {
        "dtype": "int32", 
        "name": "4", 
        "span": "0", 
        "type_annotation": "5"
      }
    }, 
    {
      "type_key": "runtime.String", 
      "repr_str": "n"
    }, 
    {
      "type_key": "PrimType", 
      "attrs": {"dtype": "int32"}
    }, 
    {
      "type_key": "Array", 
      "data": [7]
    }, 
    {
      "type_key": "tir.Mul", 
      "attrs": {
        "a": "3", 
        "b": "8", 
        "dtype": "int32", 
        "span": "0"
      }
    }, 
    {
      "type_key": "IntImm", 
      "attrs": {
        "dtype": "int32", 
        "span": "0", 
        "value": "16"
      }
    }
  ], 
  "b64ndarrays": [], 
  "attrs": {"tvm_version": "0.14.0"}
})");
}

TEST(TextPrinterTest, MetadataOfAConstant) {
  const std::string text =
      AsText(Constant(*Tensor::FromValues<int32_t>({1}, {5})));
  EXPECT_EQ(text, R"(#[version = "0.0.5"]
meta[relay.Constant][0]
#[metadata]
{
  "root": 1, 
  "nodes": [
    {
      "type_key": ""
    }, 
    {
      "type_key": "Map", 
      "keys": [
        "relay.Constant"
      ], 
      "data": [2]
    }, 
    {
      "type_key": "Array", 
      "data": [3]
    }, 
    {
      "type_key": "relay.Constant", 
      "attrs": {
        "_checked_type_": "0", 
        "data": "0", 
        "span": "0", 
        "virtual_device_": "4"
      }
    }, 
    {
      "type_key": "VirtualDevice", 
      "attrs": {
        "device_type_int": "-1", 
        "memory_scope": "5", 
        "target": "0", 
        "virtual_device_id": "-1"
      }
    }, 
    {
      "type_key": "runtime.String"
    }
  ], 
  "b64ndarrays": [
    "P6G0lvBAXt0AAAAAAAAAAAEAAAAAAAAAAQAAAAAgAQABAAAAAAAAAAQAAAAAAAAABQAAAA=="
  ], 
  "attrs": {"tvm_version": "0.14.0"}
})");
}

TEST(TextPrinterTest, OmittedMetadataIsNoted) {
  IRModule module = ModuleFromExpr(Function({}, Vector({1})));
  EXPECT_EQ(AsText(module, {.metadata = false}),
            "#[version = \"0.0.5\"]\n"
            "def @main() {\n"
            "  meta[relay.Constant][0]\n"
            "}\n"
            "\n"
            "/* For debugging purposes the metadata section has been omitted.\n"
            " * If you would like to see the full metadata section you can set "
            "the \n"
            " * option to `True` when invoking `astext`. \n"
            " */");
  EXPECT_EQ(ToText(module), "def @main() {\n  meta[relay.Constant][0]\n}\n\n");
}

TEST(TextPrinterTest, TypesAreNotedOnce) {
  const Type type = TensorType({2}, DType::Float(32));
  Var x(new VarNode("x", type, type, {}));
  Call sum(Op::Find("toy.add"), std::vector<Expr>{x, x}, {}, {}, type);
  Constant two(*Tensor::FromValues<float>({2}, {1, 2}), type);
  Call all(Op::Find("toy.add"), std::vector<Expr>{sum, two}, {}, {}, type);
  Function f({x}, all, type, {}, {}, FuncType({type}, type));
  EXPECT_EQ(ToText(f),
            "fn (%x: Tensor[(2), float32] /* ty=Tensor[(2), float32] */) -> "
            "Tensor[(2), float32] {\n"
            "  %0 = toy.add(%x, %x) /* ty=Tensor[(2), float32] */;\n"
            "  toy.add(%0, meta[relay.Constant][0] /* ty=Tensor[(2), float32] "
            "*/) /* ty=Tensor[(2), float32] */\n"
            "} /* ty=fn (Tensor[(2), float32]) -> Tensor[(2), float32] */\n");
  EXPECT_EQ(AsText(f, {.version = false,
                       .metadata = false,
                       .note_omitted_metadata = false,
                       .types = false}),
            "fn (%x: Tensor[(2), float32]) -> Tensor[(2), float32] {\n"
            "  %0 = toy.add(%x, %x);\n"
            "  toy.add(%0, meta[relay.Constant][0])\n"
            "}\n");
}

TEST(TextPrinterTest, StreamsEqualStrings) {
  Var x("x");
  Expr expr = x;
  for (int i = 0; i < 20000; ++i) expr = Add(expr, Vector({1.0f * i}));
  IRModule module = ModuleFromExpr(Function({x}, expr));
  std::ostringstream os;
  AsText(module, os);
  EXPECT_EQ(os.str(), AsText(module));
}

TEST(TextPrinterTest, DepthDoesNotMatter) {
  constexpr int kDepth = 100000;
  testing::RunWithStack(testing::kSmallStackBytes, [] {
    Var x("x");
    Expr chain = x;
    for (int i = 0; i < kDepth; ++i) chain = Add(chain, x);
    EXPECT_TRUE(absl::StrContains(
        ToText(Function({x}, chain)),
        absl::StrCat("%", kDepth - 2, " = toy.add(%", kDepth - 3,
                     ", %x);\n  "
                     "toy.add(%",
                     kDepth - 2, ", %x)\n}")));

    Expr lets = x;
    for (int i = 0; i < kDepth; ++i) lets = Let(Var("y"), x, lets);
    EXPECT_TRUE(
        absl::StrContains(ToText(lets), absl::StrCat("let %y", kDepth - 1)));

    Expr values = x;
    for (int i = 0; i < kDepth; ++i) values = Let(Var("y"), values, x);
    EXPECT_TRUE(absl::StrContains(ToText(values),
                                  absl::StrCat("= let %y", kDepth - 1)));

    Expr refs = x;
    for (int i = 0; i < kDepth; ++i) refs = RefRead(refs);
    EXPECT_TRUE(absl::StrContains(ToText(refs), "ref_read(%9)"));

    Type type = TupleType({});
    for (int i = 0; i < kDepth; ++i) type = TupleType({type});
    EXPECT_EQ(type.ToString().size(), 2u + 3u * kDepth);
  });
}

TEST(TextPrinterTest, NestedScopesAreNotCopiedAtEveryLevel) {
  // 2,000 functions inside one another, each the argument of a call.
  Expr expr = Scalar(1);
  for (int i = 0; i < 2000; ++i) expr = Neg(Function({}, expr));
  const std::string text = ToText(expr);
  EXPECT_TRUE(absl::StartsWith(text, "%1999 = fn () {\n  %1998 = fn () {\n"));
}

}  // namespace
}  // namespace baton::relay
