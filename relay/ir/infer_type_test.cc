#include "baton/relay/ir/infer_type.h"

#include <initializer_list>
#include <string>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "baton/base/dtype.h"
#include "baton/base/limits.h"
#include "baton/base/tensor.h"
#include "baton/ir/module.h"
#include "baton/ir/op.h"
#include "baton/ir/type_relation.h"
#include "baton/relay/ir/expr.h"
#include "baton/relay/ir/module.h"
#include "baton/relay/ir/visit.h"
#include "baton/testing/test_settings.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"

namespace baton::relay {
namespace {

using ::testing::HasSubstr;

// Both arguments and the result have one type.
absl::StatusOr<Type> SameRel(TypeRelationContext& context) {
  const TensorTypeNode* a = context.Tensor(0);
  const TensorTypeNode* b = context.Tensor(1);
  if (a == nullptr && b == nullptr) return Type();
  const Type& known = a != nullptr ? context.arg(0) : context.arg(1);
  absl::Status status = context.AssignArg(a != nullptr ? 1 : 0, known);
  if (!status.ok()) return status;
  return known;
}
BATON_REGISTER_OP("test.add")
    .Arguments({{"a", ""}, {"b", ""}})
    .TypeRelation(SameRel);

// Any tensor to a pair of itself and a scalar bool.
absl::StatusOr<Type> PairRel(TypeRelationContext& context) {
  if (context.Tensor(0) == nullptr) return Type();
  return Type(TupleType({context.arg(0), TensorType::Scalar(DType::Bool())}));
}
BATON_REGISTER_OP("test.pair").Arguments({{"a", ""}}).TypeRelation(PairRel);

Expr TestAdd(Expr a, Expr b) {
  return Call(Op::Find("test.add"), {std::move(a), std::move(b)});
}

Type F32(std::initializer_list<Dim> shape) {
  return TensorType(shape, DType::Float(32));
}

Function Main(const IRModule& module) { return module.Find<Function>("main"); }

TEST(InferTypeTest, GivesEveryNodeItsType) {
  const Var x("x", {2, 3});
  const IRModule module = ModuleFromExpr(Function({x}, TestAdd(x, x)));
  const absl::StatusOr<IRModule> typed = InferTypes(module);
  ASSERT_TRUE(typed.ok()) << typed.status();
  PostOrderVisit(Main(*typed), [](const ExprNode* node) {
    if (node->kind() != ExprKind::kOp) {
      EXPECT_TRUE(node->type().defined()) << NodeKindName(node->kind());
    }
  });
  EXPECT_TRUE(TypeEqual(Main(*typed)->body()->type(), F32({2, 3})));
  EXPECT_TRUE(TypeEqual(Main(*typed)->result_type(), F32({2, 3})));
  // The module that went in has no types still.
  EXPECT_FALSE(Main(module)->type().defined());
  EXPECT_FALSE(x->type().defined());
}

TEST(InferTypeTest, TypedModuleComesBackItself) {
  const Var x("x", {2, 3});
  const absl::StatusOr<IRModule> typed =
      InferTypes(ModuleFromExpr(Function({x}, TestAdd(x, x))));
  ASSERT_TRUE(typed.ok());
  const absl::StatusOr<IRModule> again = InferTypes(*typed);
  ASSERT_TRUE(again.ok());
  EXPECT_TRUE(again->SameAs(*typed));
}

TEST(InferTypeTest, TypedPartsAreKept) {
  const Var x("x", {2, 3});
  const absl::StatusOr<IRModule> typed =
      InferTypes(ModuleFromExpr(Function({x}, TestAdd(x, x))));
  ASSERT_TRUE(typed.ok());
  const Expr body = Main(*typed)->body();
  const Var& param = Main(*typed)->params()[0];
  const absl::StatusOr<IRModule> more =
      InferTypes(ModuleFromExpr(Function({param}, TestAdd(body, body))));
  ASSERT_TRUE(more.ok()) << more.status();
  const auto* sum = Main(*more)->body().As<CallNode>();
  ASSERT_NE(sum, nullptr);
  EXPECT_EQ(sum->arg(0), body);
  EXPECT_EQ(sum->arg(1), body);
}

TEST(InferTypeTest, SharingIsKept) {
  const Var x("x", {2});
  const Expr shared = TestAdd(x, x);
  const absl::StatusOr<IRModule> typed =
      InferTypes(ModuleFromExpr(Function({x}, TestAdd(shared, shared))));
  ASSERT_TRUE(typed.ok());
  const auto* sum = Main(*typed)->body().As<CallNode>();
  EXPECT_EQ(sum->arg(0), sum->arg(1));
}

TEST(InferTypeTest, FindsParameterTypesBackward) {
  const Var x("x", {2, 3});
  const Var w("w");
  const absl::StatusOr<IRModule> typed =
      InferTypes(ModuleFromExpr(Function({x, w}, TestAdd(w, TestAdd(x, w)))));
  ASSERT_TRUE(typed.ok()) << typed.status();
  const Var& param = Main(*typed)->params()[1];
  EXPECT_TRUE(TypeEqual(param->type(), F32({2, 3})));
  EXPECT_TRUE(TypeEqual(param->annotation(), F32({2, 3})));
  EXPECT_TRUE(Main(*typed)->type()->complete());
}

TEST(InferTypeTest, ProjectionOfATupleKnownLater) {
  // fn (%w, %x) { test.add(test.pair(%w).0, %x) } with %w unknown: the pair is
  // suspended until the sum says what %w is... which it cannot: an error.
  const Var x("x", {4});
  const Var w("w");
  const Expr item = TupleGetItem(Call(Op::Find("test.pair"), {w}), 0);
  const absl::StatusOr<IRModule> typed =
      InferTypes(ModuleFromExpr(Function({w, x}, TestAdd(item, x))));
  ASSERT_FALSE(typed.ok());
  EXPECT_THAT(std::string(typed.status().message()),
              HasSubstr("cannot infer the type of %w"));
  // With one more use it can.
  const Expr both = TestAdd(TestAdd(item, x), w);
  const absl::StatusOr<IRModule> solved =
      InferTypes(ModuleFromExpr(Function({w, x}, both)));
  ASSERT_TRUE(solved.ok()) << solved.status();
  EXPECT_TRUE(TypeEqual(Main(*solved)->params()[0]->type(), F32({4})));
}

TEST(InferTypeTest, AnOperatorThatIsNotLinkedIsNamed) {
  const Op& missing = BATON_OP("test.not_linked");
  EXPECT_EQ(missing->name(), "test.not_linked");
  EXPECT_FALSE(Op::Find("test.not_linked").defined());
  EXPECT_THAT(
      std::string(
          InferTypeOf(Call(missing, {Var("x", {2})})).status().message()),
      HasSubstr("operator test.not_linked is not linked into this program"));
}

TEST(InferTypeTest, LetAndIfAndRefs) {
  const Var x("x", {2});
  const Var c("c", TensorType::Scalar(DType::Bool()));
  const Var v("v");
  const Var r("r");
  const Expr body =
      Let(v, TestAdd(x, x),
          Let(r, RefCreate(v),
              If(c, RefRead(r), Let(Var("u"), RefWrite(r, x), RefRead(r)))));
  const absl::StatusOr<IRModule> typed =
      InferTypes(ModuleFromExpr(Function({x, c}, body)));
  ASSERT_TRUE(typed.ok()) << typed.status();
  EXPECT_TRUE(TypeEqual(Main(*typed)->body()->type(), F32({2})));
}

TEST(InferTypeTest, RecursionThroughLetAndThroughTheModule) {
  const Var n("n", TensorType::Scalar(DType::Float(32)));
  const Var c("c", TensorType::Scalar(DType::Bool()));
  // let %f = fn (%n, %c) { if (%c) { %n } else { %f(%n, %c) } }; %f(%a, %b)
  const Var f("f");
  const Var a("a", TensorType::Scalar(DType::Float(32)));
  const Var b("b", TensorType::Scalar(DType::Bool()));
  const Expr local =
      Let(f, Function({n, c}, If(c, n, Call(f, {n, c}))), Call(f, {a, b}));
  absl::StatusOr<IRModule> typed =
      InferTypes(ModuleFromExpr(Function({a, b}, local)));
  ASSERT_TRUE(typed.ok()) << typed.status();
  EXPECT_TRUE(TypeEqual(Main(*typed)->body()->type(),
                        TensorType::Scalar(DType::Float(32))));

  IRModule module;
  const GlobalVar g("g");
  module.Set("main", Function({a, b}, Call(GlobalVar("g"), {a, b})));
  module.Set(g, Function({n, c}, If(c, n, Call(g, {n, c}))));
  typed = InferTypes(module);
  ASSERT_TRUE(typed.ok()) << typed.status();
  EXPECT_TRUE(TypeEqual(Main(*typed)->result_type(),
                        TensorType::Scalar(DType::Float(32))));
}

TEST(InferTypeTest, PolymorphicFunction) {
  const TypeVar t("A");
  const Var p("p", t);
  const Function identity({p}, p, t, {t});
  const Var x("x", {2});
  const Var id("id");
  const Var y("y", TensorType::Scalar(DType::Bool()));
  const Expr body = Let(id, identity, Tuple({Call(id, {x}), Call(id, {y})}));
  const absl::StatusOr<IRModule> typed =
      InferTypes(ModuleFromExpr(Function({x, y}, body)));
  ASSERT_TRUE(typed.ok()) << typed.status();
  EXPECT_TRUE(
      TypeEqual(Main(*typed)->body()->type(),
                TupleType({F32({2}), TensorType::Scalar(DType::Bool())})));
}

TEST(InferTypeTest, PolymorphicFunctionAsAnArgument) {
  // fn [A, B](fn (A) -> B, A) -> B, applied to the identity.
  const TypeVar a("A");
  const TypeVar b("B");
  const Var f("f", FuncType({a}, b));
  const Var v("v", a);
  const Function apply({f, v}, Call(f, {v}), b, {a, b});
  const TypeVar t("T");
  const Var p("p", t);
  const Function identity({p}, p, t, {t});
  const Var x("x", {2});
  const absl::StatusOr<IRModule> typed =
      InferTypes(ModuleFromExpr(Function({x}, Call(apply, {identity, x}))));
  ASSERT_TRUE(typed.ok()) << typed.status();
  EXPECT_TRUE(TypeEqual(Main(*typed)->result_type(), F32({2})));
}

TEST(InferTypeTest, SymbolicDimensionsUnify) {
  const Dim n(
      new DimExprNode(DimExprNode::Op::kSizeVar, "n", DType::Int(32), {}, {}));
  const Var c("c", TensorType::Scalar(DType::Bool()));
  const auto branches = [&c](const Type& a, const Type& b) {
    const Var x("x", a);
    const Var y("y", b);
    return InferTypes(ModuleFromExpr(Function({c, x, y}, If(c, x, y))));
  };
  absl::StatusOr<IRModule> typed = branches(F32({n}), F32({3}));
  ASSERT_TRUE(typed.ok()) << typed.status();
  EXPECT_TRUE(TypeEqual(Main(*typed)->result_type(), F32({3})));
  typed = branches(F32({n, Dim::Any()}), F32({n, 3}));
  ASSERT_TRUE(typed.ok()) << typed.status();
  EXPECT_TRUE(TypeEqual(Main(*typed)->result_type(), F32({n, Dim::Any()})));
  EXPECT_FALSE(branches(F32({n, 4}), F32({3, n})).ok());
}

TEST(InferTypeTest, UnknownDimensionsUnify) {
  const Var c("c", TensorType::Scalar(DType::Bool()));
  const Var x("x", F32({Dim::Any(), 2}));
  const Var y("y", F32({3, 2}));
  const absl::StatusOr<IRModule> typed =
      InferTypes(ModuleFromExpr(Function({c, x, y}, If(c, x, y))));
  ASSERT_TRUE(typed.ok()) << typed.status();
  EXPECT_TRUE(TypeEqual(Main(*typed)->result_type(), F32({Dim::Any(), 2})));
}

struct BadCase {
  const char* name;
  Expr (*make)();
  const char* message;
};

class InferTypeErrorTest : public ::testing::TestWithParam<BadCase> {};

TEST_P(InferTypeErrorTest, IsRefused) {
  const absl::StatusOr<IRModule> typed =
      InferTypes(ModuleFromExpr(GetParam().make()));
  ASSERT_FALSE(typed.ok());
  EXPECT_EQ(typed.status().code(), absl::StatusCode::kInvalidArgument);
  EXPECT_THAT(std::string(typed.status().message()),
              HasSubstr(GetParam().message));
}

const Var& X() {
  static const Var* const kX = new Var("x", {2, 3});
  return *kX;
}
const Var& Y() {
  static const Var* const kY = new Var("y", {4});
  return *kY;
}

INSTANTIATE_TEST_SUITE_P(
    Programs, InferTypeErrorTest,
    ::testing::ValuesIn(std::vector<BadCase>{
        {"Relation",
         [] {
           return Expr(Function({X(), Y()}, TestAdd(X(), Y())));
         },
         "test.add: argument 1 should be Tensor[(2, 3), float32]"},
        {"Arity",
         [] {
           return Expr(Function({X()}, Call(Op::Find("test.add"), {X()})));
         },
         "test.add takes 2 arguments, found 1"},
        {"CallOfATensor",
         [] { return Expr(Function({X()}, Call(X(), {X()}))); },
         "only a function can be called"},
        {"FieldOfATensor",
         [] { return Expr(Function({X()}, TupleGetItem(X(), 0))); },
         "only a tuple has fields"},
        {"FieldOutOfRange",
         [] { return Expr(Function({X()}, TupleGetItem(Tuple({X()}), 1))); },
         "field 1 is not in a tuple of size 1"},
        {"NegativeField",
         [] { return Expr(Function({X()}, TupleGetItem(Tuple({X()}), -1))); },
         "field -1 is not in a tuple of size 1"},
        {"Unbound", [] { return Expr(Function({X()}, TestAdd(X(), Y()))); },
         "unbound variable %y"},
        {"Condition", [] { return Expr(Function({X()}, If(X(), X(), X()))); },
         "condition of an if"},
        {"Branches",
         [] {
           const Var c("c", TensorType::Scalar(DType::Bool()));
           return Expr(Function({c, X(), Y()}, If(c, X(), Y())));
         },
         "branches of an if"},
        {"Result", [] { return Expr(Function({X()}, X(), F32({7}))); },
         "declared result type"},
        {"LetAnnotation",
         [] { return Expr(Function({X()}, Let(Var("v", {7}), X(), X()))); },
         "the value of %v does not have its type"},
        {"UnknownFunction",
         [] { return Expr(Function({X()}, Call(GlobalVar("nope"), {X()}))); },
         "no function @nope"},
        {"NothingToGoBy",
         [] {
           const Var w("w");
           return Expr(Function({w}, w));
         },
         "cannot infer the type of %w"},
        {"InfiniteType",
         [] {
           const Var f("f");
           return Expr(Function({f}, Call(f, {f})));
         },
         "contains itself"},
        {"RecursionWithoutAType",
         [] {
           const Var f("f");
           const Var n("n", {2});
           return Expr(
               Function({X()}, Let(f, Function({n}, Call(f, {n})), X())));
         },
         "cannot infer the type"},
        {"RefWrite",
         [] {
           return Expr(Function({X(), Y()}, RefWrite(RefCreate(X()), Y())));
         },
         "ref_write"},
        {"RefRead", [] { return Expr(Function({X()}, RefRead(X()))); },
         "ref_read"},
        {"TooManyArguments",
         [] {
           const Var p("p", {2, 3});
           return Expr(Function({X()}, Call(Function({p}, p), {X(), X()})));
         },
         "takes 1 argument, found 2"},
    }),
    [](const auto& info) { return std::string(info.param.name); });

TEST(InferTypeTest, AllErrorsInOneRun) {
  IRModule module;
  module.Set("f", Function({X(), Y()}, TestAdd(X(), Y())));
  module.Set("g", Function({X()}, TupleGetItem(X(), 0)));
  Diagnostics diagnostics;
  const IRModule result = InferTypes(module, diagnostics);
  EXPECT_EQ(diagnostics.num_errors(), 2);
  EXPECT_TRUE(result.SameAs(module));
}

int ChainLength() { return testing::LongOrShort(1'000'000, 100'000); }

TEST(InferTypeTest, MillionCallsInAChain) {
  Var x("x", {2});
  Expr e = x;
  const int length = ChainLength();
  for (int i = 0; i < length; ++i) e = TestAdd(e, x);
  absl::StatusOr<IRModule> typed =
      InferTypes(ModuleFromExpr(Function({x}, std::move(e))));
  ASSERT_TRUE(typed.ok());
}

TEST(InferTypeTest, MillionLetsInAChain) {
  Var x("x", {2});
  std::vector<Var> vars;
  const int length = ChainLength();
  for (int i = 0; i < length; ++i) vars.push_back(Var("v"));
  Expr e = vars.back();
  for (int i = length - 1; i >= 0; --i) {
    e = Let(vars[i], TestAdd(i == 0 ? x : vars[i - 1], x), e);
  }
  vars.clear();
  absl::StatusOr<IRModule> typed =
      InferTypes(ModuleFromExpr(Function({x}, std::move(e))));
  ASSERT_TRUE(typed.ok()) << typed.status();
}

// `count` tuples, each of which has the one before it twice.
Expr Tower(Expr base, int count) {
  for (int i = 0; i < count; ++i) base = Tuple({base, base});
  return base;
}

TEST(InferTypeTest, TypesThatShareTheirPartsAreBounded) {
  const Var x("x", {2});
  const auto error = [](Expr body, const Var& param) {
    return std::string(
        InferTypes(ModuleFromExpr(Function({param}, std::move(body))))
            .status()
            .message());
  };
  EXPECT_EQ(error(Tower(x, 15), x), "");
  for (const int count : {60, 500}) {
    EXPECT_THAT(error(Tower(x, count), x), HasSubstr("limits.max_type_parts"));
    // Two equal ones, which are not one node.
    const Var c("c", TensorType::Scalar(DType::Bool()));
    EXPECT_THAT(error(If(c, Tower(x, count), Tower(x, count)), c),
                HasSubstr("limits.max_type_parts"));
    EXPECT_THAT(error(TestAdd(Tower(x, count), x), x),
                HasSubstr("limits.max_type_parts"));
    // A type that is found out later.
    const Var unknown("u");
    EXPECT_THAT(error(Let(Var("t"), Tower(unknown, count), TestAdd(unknown, x)),
                      unknown),
                HasSubstr("limits.max_type_parts"));
    // References and functions.
    Expr e = x;
    for (int i = 0; i < count; ++i) {
      e = Function({}, RefCreate(Tuple({e, e})));
    }
    EXPECT_THAT(error(e, x), HasSubstr("limits.max_type_parts"));
  }
  Limits limits;
  limits.max_type_parts = 1000;
  const ScopedLimits scope(limits);
  EXPECT_THAT(error(Tower(x, 15), x), HasSubstr("more than 1000 parts"));
  // Many small types are no large one.
  Expr chain = x;
  for (int i = 0; i < 1000; ++i) {
    chain = TupleGetItem(Tower(std::move(chain), 3), 0);
    chain = TupleGetItem(TupleGetItem(std::move(chain), 0), 0);
  }
  EXPECT_EQ(error(std::move(chain), x), "");
}

TEST(InferTypeTest, MissingOperandsAreErrors) {
  const Var x("x", {2});
  for (const Expr& body :
       {Expr(Tuple({x, Expr()})), Expr(Let(Var("y"), Expr(), x)),
        Expr(If(Expr(), x, x))}) {
    EXPECT_THAT(std::string(InferTypeOf(body).status().message()),
                HasSubstr("an operand is missing"));
  }
}

}  // namespace
}  // namespace baton::relay
