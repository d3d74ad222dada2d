// Builds, visits, types, prints, reads, compares, hashes, evaluates, optimizes
// with every registered pass, and destroys a hundred thousand nested nodes (a
// million in the nightly form of tests), in a small stack.

#include <cstdint>
#include <ostream>
#include <string>
#include <utility>
#include <vector>

#include "absl/functional/function_ref.h"
#include "absl/status/statusor.h"
#include "absl/types/span.h"
#include "baton/base/dtype.h"
#include "baton/base/tensor.h"
#include "baton/ir/binary_reader.h"
#include "baton/ir/binary_writer.h"
#include "baton/ir/module.h"
#include "baton/ir/structural_equal.h"
#include "baton/relay/ir/expr.h"
#include "baton/relay/ir/infer_type.h"
#include "baton/relay/ir/module.h"
#include "baton/relay/ir/text_parser.h"
#include "baton/relay/ir/text_printer.h"
#include "baton/relay/ir/visit.h"
#include "baton/relay/ir/well_formed.h"
#include "baton/relay/op/builders.h"
#include "baton/relay/runtime/evaluator.h"
#include "baton/relay/runtime/value.h"
#include "baton/testing/counting_buffer.h"
#include "baton/testing/registered_passes.h"
#include "baton/testing/small_stack.h"
#include "baton/testing/status_matchers.h"
#include "baton/testing/test_settings.h"
#include "baton/transform/pass.h"
#include "gtest/gtest.h"

namespace baton::testing {
namespace {

using relay::Function;
using relay::InferTypes;
using relay::Var;

// A frame on the stack for each would take more than the small stack has: 52
// bytes would do in the short form of tests, 3 in the long one.
const int kDepth = NightlyLongOrShort(1'000'000, 100'000, 5'000);

void RunInSmallStack(absl::FunctionRef<void()> body) {
  RunWithStack(SmallStackBytesOfThisBuild(), body);
}

// Each shape is a function of one tensor, float32 of shape (2,).
struct Shape {
  std::string name;
  Function (*make)();
  // True if each level is indented further: then the text of n levels takes n^2
  // bytes, too much to print a million.
  bool indents = false;
};

Var Input() { return Var("x", {2}); }

Function Calls() {
  const Var x = Input();
  Expr e = x;
  for (int i = 0; i < kDepth; ++i) e = relay::Maximum(std::move(e), x);
  return Function({x}, std::move(e));
}

Function Lets() {
  const Var x = Input();
  std::vector<Var> vars;
  vars.reserve(kDepth);
  for (int i = 0; i < kDepth; ++i) vars.push_back(Var("v"));
  Expr e = vars.back();
  for (int i = kDepth - 1; i >= 0; --i) {
    e = relay::Let(vars[i], relay::Maximum(i == 0 ? x : vars[i - 1], x),
                   std::move(e));
  }
  return Function({x}, std::move(e));
}

Function Tuples() {
  const Var x = Input();
  Expr e = x;
  for (int i = 0; i < kDepth / 2; ++i) {
    e = relay::TupleGetItem(relay::Tuple({std::move(e), x}), 0);
  }
  return Function({x}, std::move(e));
}

Function References() {
  const Var x = Input();
  Expr e = x;
  for (int i = 0; i < kDepth / 2; ++i)
    e = relay::RefRead(relay::RefCreate(std::move(e)));
  return Function({x}, std::move(e));
}

Function Branches() {
  const Var x = Input();
  const Expr yes = relay::Constant(Tensor::ScalarOf(DType::Bool(), 1));
  const Var cond("cond");
  Expr e = x;
  for (int i = 0; i < kDepth; ++i) e = relay::If(cond, std::move(e), x);
  return Function({x}, relay::Let(cond, yes, std::move(e)));
}

Function Closures() {
  const Var x = Input();
  Expr e = x;
  for (int i = 0; i < kDepth / 2; ++i) {
    e = relay::Call(Function({}, std::move(e)), absl::Span<const Expr>());
  }
  return Function({x}, std::move(e));
}

class DeepTest : public ::testing::TestWithParam<Shape> {
 protected:
  static IRModule Make() { return relay::ModuleFromExpr(GetParam().make()); }
};

class CountingVisitor final : public relay::ExprVisitor {
 public:
  int64_t calls = 0;
  int64_t others = 0;

 protected:
  void VisitCall(const relay::CallNode* /*node*/) override { ++calls; }
  void VisitLet(const relay::LetNode* /*node*/) override { ++others; }
  void VisitTuple(const relay::TupleNode* /*node*/) override { ++others; }
  void VisitTupleGetItem(const relay::TupleGetItemNode* /*node*/) override {
    ++others;
  }
  void VisitRefCreate(const relay::RefCreateNode* /*node*/) override {
    ++others;
  }
  void VisitRefRead(const relay::RefReadNode* /*node*/) override { ++others; }
  void VisitIf(const relay::IfNode* /*node*/) override { ++others; }
};

// Rebuilds every node above a variable.
class Renamer final : public relay::ExprMutator {
 protected:
  Expr VisitVar(const Var& var) override {
    return Var(var->name() + "_", var->annotation());
  }
};

TEST_P(DeepTest, VisitAndRewrite) {
  RunInSmallStack([] {
    const Function function = GetParam().make();
    CountingVisitor visitor;
    EXPECT_TRUE(visitor.Visit(function).ok());
    EXPECT_GE(visitor.calls + visitor.others, kDepth / 2);
    EXPECT_TRUE(relay::FreeVars(function).empty());
    EXPECT_GE(relay::BoundVars(function).size(), 1);
    EXPECT_EQ(*relay::ExprMutator().MutateFunction(function), function);
    const Function renamed = *Renamer().MutateFunction(function);
    EXPECT_NE(renamed, function);
    EXPECT_TRUE(StructuralEqual(renamed, function));
  });
}

TEST_P(DeepTest, TypeCheckCompareHash) {
  RunInSmallStack([] {
    BATON_ASSERT_OK_AND_ASSIGN(const IRModule module, InferTypes(Make()));
    BATON_ASSERT_OK_AND_ASSIGN(const IRModule other, InferTypes(Make()));
    EXPECT_THAT(CheckWellFormed(module), IsOk());
    EXPECT_TRUE(StructuralEqual(module, other));
    EXPECT_EQ(StructuralHash(module), StructuralHash(other));
  });
}

TEST_P(DeepTest, Text) {
  if (GetParam().indents) return;
  RunInSmallStack([] {
    const IRModule module = Make();
    BATON_ASSERT_OK_AND_ASSIGN(const IRModule read,
                               ParseModule(AsText(module)));
    EXPECT_TRUE(StructuralEqual(module, read));
    BATON_ASSERT_OK_AND_ASSIGN(const IRModule typed, InferTypes(module));
    CountingBuffer buffer;
    std::ostream stream(&buffer);
    AsText(typed, stream);
    EXPECT_GT(buffer.bytes(), kDepth);
  });
}

TEST_P(DeepTest, Binary) {
  RunInSmallStack([] {
    BATON_ASSERT_OK_AND_ASSIGN(const IRModule module, InferTypes(Make()));
    BATON_ASSERT_OK_AND_ASSIGN(const BinaryModule binary, WriteBinary(module));
    BATON_ASSERT_OK_AND_ASSIGN(
        const BinaryContent read,
        ReadBinary(binary.ToString(), nullptr, "deep.baton"));
    EXPECT_TRUE(StructuralEqual(module, read.module));
    BATON_ASSERT_OK_AND_ASSIGN(const IRModule typed, InferTypes(read.module));
    EXPECT_TRUE(typed.SameAs(read.module));
  });
}

TEST_P(DeepTest, Evaluate) {
  RunInSmallStack([] {
    const float elements[] = {1.5f, -2};
    BATON_ASSERT_OK_AND_ASSIGN(const Tensor x,
                               Tensor::FromValues<float>({2}, elements));
    BATON_ASSERT_OK_AND_ASSIGN(const IRModule module, InferTypes(Make()));
    BATON_ASSERT_OK_AND_ASSIGN(
        const relay::Value result,
        relay::EvaluateFunction(module, "main", {relay::Value(x)}));
    ASSERT_TRUE(result.is_tensor());
    EXPECT_TRUE(result.tensor() == x);
  });
}

TEST_P(DeepTest, EveryPass) {
  RunInSmallStack([] {
    BATON_ASSERT_OK_AND_ASSIGN(const IRModule module, InferTypes(Make()));
    for (const std::string& text : RegisteredPasses()) {
      SCOPED_TRACE(text);
      BATON_ASSERT_OK_AND_ASSIGN(const Pass pass, GetRegisteredPass(text));
      // The text of nested branches is quadratic in the depth.
      if (GetParam().indents && pass.name() == "PrintIR") continue;
      // It prints and parses, which DeepTest.Text does.
      if (pass.name() == "AnnotateSpans") continue;
      BATON_ASSERT_OK_AND_ASSIGN(const IRModule input,
                                 RunRequiredPasses(pass, module));
      const SilentStderr silent;
      const absl::StatusOr<IRModule> result = pass(input);
      if (!result.ok() && MayRefuse(pass)) continue;
      ASSERT_THAT(result.status(), IsOk());
      EXPECT_TRUE(result->Find<Function>("main").defined());
    }
  });
}

INSTANTIATE_TEST_SUITE_P(
    Shapes, DeepTest,
    ::testing::Values(Shape{"Calls", Calls}, Shape{"Lets", Lets},
                      Shape{"Tuples", Tuples}, Shape{"References", References},
                      Shape{"Branches", Branches, /*indents=*/true},
                      Shape{"Closures", Closures, /*indents=*/true}),
    [](const auto& info) { return info.param.name; });

// The program goes through every normal form, and becomes a graph in the end.
TEST(DeepNormalFormsTest, BackToAGraph) {
  RunInSmallStack([] {
    BATON_ASSERT_OK_AND_ASSIGN(const IRModule graph,
                               InferTypes(relay::ModuleFromExpr(Calls())));
    for (Function (*make)() : {Calls, Lets}) {
      BATON_ASSERT_OK_AND_ASSIGN(IRModule module,
                                 InferTypes(relay::ModuleFromExpr(make())));
      for (const char* text :
           {"ToANormalForm", "InferType", "DeadCodeElimination",
            "ToBasicBlockNormalForm", "DeadCodeElimination{inline_once=true}",
            "ToANormalForm", "ToGraphNormalForm"}) {
        BATON_ASSERT_OK_AND_ASSIGN(const Pass pass, GetRegisteredPass(text));
        BATON_ASSERT_OK_AND_ASSIGN(module, pass(module));
      }
      EXPECT_TRUE(StructuralEqual(module, graph));
    }
  });
}

}  // namespace
}  // namespace baton::testing
