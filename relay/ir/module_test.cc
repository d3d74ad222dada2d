#include "baton/relay/ir/module.h"

#include <cstddef>
#include <memory>
#include <vector>

#include "baton/base/dtype.h"
#include "baton/base/source.h"
#include "baton/base/tensor.h"
#include "baton/ir/expr.h"
#include "baton/ir/module.h"
#include "baton/ir/node_map.h"
#include "baton/ir/op.h"
#include "baton/ir/span.h"
#include "baton/ir/structural_equal.h"
#include "baton/ir/type.h"
#include "baton/relay/ir/expr.h"
#include "baton/relay/ir/node_kind.h"
#include "baton/relay/ir/visit.h"
#include "gtest/gtest.h"

namespace baton {
namespace {

BATON_REGISTER_OP("test.f");

Expr F(const std::vector<Expr>& args) { return Call(Op::Find("test.f"), args); }

std::vector<const ExprNode*> NodesOf(const IRModule& module) {
  std::vector<const ExprNode*> nodes;
  NodeSet seen;
  for (const IRModule::Definition& definition : module.functions()) {
    PostOrderVisit(definition.function, [&](const ExprNode* node) {
      if (seen.Insert(node)) nodes.push_back(node);
    });
  }
  return nodes;
}

TEST(DeepCopyTest, SharesNoExpressions) {
  const Var x("x", {2});
  const Var v("v");
  const Constant one(Tensor::Scalar<float>(1));
  const Expr shared = F({one});
  IRModule module;
  module.Set("main",
             Function({x}, Let(v, F({x, shared}),
                               If(v, Tuple({shared, v}), Function({}, v)))));
  const Expr main = module.FindGlobalVar("main");
  module.Set("other", Function({}, F({shared, main})));
  const IRModule copy = DeepCopy(module);
  EXPECT_TRUE(StructuralEqual(copy, module));
  const std::vector<const ExprNode*> before = NodesOf(module);
  const std::vector<const ExprNode*> after = NodesOf(copy);
  ASSERT_EQ(after.size(), before.size());  // what is shared there is so here
  for (size_t i = 0; i < before.size(); ++i) {
    EXPECT_EQ(after[i] == before[i],
              before[i]->kind() == ExprKind::kOp ||
                  before[i]->kind() == ExprKind::kGlobalVar);
  }
}

TEST(DeepCopyTest, KeepsTypesAndPlaces) {
  const auto source = std::make_shared<const Source>("text", "f()");
  const Span span(source, 0, 3);
  const Type type = TensorType({2}, DType::Float(32));
  IRModule module;
  module.Set("main",
             Function({}, Call(Op::Find("test.f"), {}, {}, {}, type, span)));
  const auto main = DeepCopy(module).Find<Function>("main");
  EXPECT_NE(main->body(), module.Find<Function>("main")->body());
  EXPECT_EQ(main->body()->type(), type);
  EXPECT_EQ(main->body()->span(), span);
}

TEST(DeepCopyTest, NeedsNoStack) {
  Expr body = Var("x", {2});
  const Var x(body.As<VarNode>());
  for (int i = 0; i < 1'000'000; ++i) body = F({body});
  IRModule module;
  module.Set("main", Function({x}, body));
  EXPECT_EQ(NodesOf(DeepCopy(module)).size(), 1'000'003);
}

}  // namespace
}  // namespace baton
