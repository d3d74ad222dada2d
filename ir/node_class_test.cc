#include "baton/ir/node_class.h"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "baton/ir/attrs.h"
#include "baton/ir/expr.h"
#include "baton/ir/node_kind.h"
#include "baton/ir/op.h"
#include "baton/ir/span.h"
#include "baton/ir/type.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"

namespace baton {
namespace {

using ::testing::Contains;
using ::testing::HasSubstr;
using ::testing::SizeIs;

TEST(NodeKindTest, SortIsInTheKind) {
  EXPECT_TRUE(TensorTypeNode::kKind.Is(NodeSort::kType));
  EXPECT_FALSE(TensorTypeNode::kKind.Is(NodeSort::kExpr));
  EXPECT_TRUE(GlobalVarNode::kKind.Is(NodeSort::kExpr));
  EXPECT_TRUE(IsLeaf(GlobalVarNode::kKind));
  EXPECT_FALSE(IsLeaf(TensorTypeNode::kKind));
  EXPECT_FALSE(GlobalVarNode::kKind.Is(NodeSort::kFunction));
  EXPECT_EQ(GlobalVarNode::kKind.level(), kIrLevel);
  EXPECT_EQ(TensorTypeNode::kKind.To<TypeKind>(), TypeKind::kTensorType);
}

TEST(NodeClassTest, EveryClassOfIrIsRegistered){
#define BATON_EXPECT_REGISTERED(index, Name, sort)                  \
  {                                                                 \
    const NodeClass* node_class = FindNodeClass(Name##Node::kKind); \
    ASSERT_NE(node_class, nullptr) << #Name;                        \
    EXPECT_EQ(node_class->name, #Name);                             \
    EXPECT_EQ(node_class->level, "ir");                             \
  }
    BATON_IR_NODES(BATON_EXPECT_REGISTERED)
#undef BATON_EXPECT_REGISTERED
}

// NodeFieldsCover cannot check this: the listed members are adjacent, with no
// gaps beyond alignment.
TEST(NodeClassTest, FieldsTileTheObject) {
  for (const NodeClass* node_class : NodeClasses()) {
    SCOPED_TRACE(std::string(node_class->name));
    std::vector<NodeFieldInfo> fields;
    for (const NodeFieldInfo& field : node_class->fields) {
      if (!field.of_record) fields.push_back(field);
    }
    std::sort(fields.begin(), fields.end(),
              [](const auto& a, const auto& b) { return a.offset < b.offset; });
    size_t end = sizeof(Node);
    for (const NodeFieldInfo& field : fields) {
      EXPECT_GE(field.offset, end) << field.name;
      EXPECT_LT(field.offset - end, alignof(Node)) << "before " << field.name;
      end = field.offset + field.bytes;
    }
    EXPECT_LT(node_class->object_bytes - end, node_class->alignment);
  }
}

TEST(NodeClassTest, NamesAndNumbersAreUniqueInAClass) {
  for (const NodeClass* node_class : NodeClasses()) {
    SCOPED_TRACE(std::string(node_class->name));
    std::set<std::string> names;
    std::set<int> numbers;
    for (const NodeFieldInfo& field : node_class->fields) {
      EXPECT_TRUE(names.insert(std::string(field.name)).second) << field.name;
      if (field.number == 0) continue;
      EXPECT_TRUE(numbers.insert(field.number).second) << field.name;
    }
  }
}

std::vector<const Node*> References(const NodeRef& ref) {
  std::vector<const Node*> result;
  ForEachReference(ref.get(),
                   [&](const Node* node) { result.push_back(node); });
  return result;
}

TEST(NodeClassTest, ReferencesAreTypesDimsAndParts) {
  const Type f32 = TensorType({1, 2}, DType::Float(32));
  const TypeVar a("A");
  EXPECT_THAT(References(f32), SizeIs(0));
  EXPECT_THAT(References(TupleType({f32, a})), SizeIs(2));
  const FuncType function({f32}, a, {a});
  EXPECT_THAT(References(function), SizeIs(3));
  EXPECT_THAT(References(function), Contains(a.get()));
  const Dim n(
      new DimExprNode(DimExprNode::Op::kVar, "n", DType::Int(32), 0, 0));
  EXPECT_THAT(References(TensorType({n, 1}, DType::Bool())),
              Contains(static_cast<const Node*>(n.expr())));
  EXPECT_THAT(References(GlobalVar("f", f32)), Contains(f32.get()));
}

TEST(NodeClassTest, BytesCountTrailingArrays) {
  const NodeClass* tensor_type = FindNodeClass(TensorTypeNode::kKind);
  EXPECT_EQ(tensor_type->bytes(TensorType({1, 2, 3}, DType::Bool()).get()),
            sizeof(TensorTypeNode) + 3 * sizeof(Dim));
}

// A level of a test, with one kind.
enum class ToyKind : uint16_t { kToy = NodeKind::Id(15, 0) };
constexpr NodeSort SortOf(ToyKind /*kind*/) { return NodeSort::kOther; }

class ToyNode final : public Node {
 public:
  BATON_NODE_WITHOUT_HANDLE(Toy, Node, ToyKind::kToy)
  static constexpr auto Fields() {
    return field::List(field::Annotation<1, &ToyNode::type_>("type"));
  }

 private:
  Type type_;
};

TEST(RegisterNodeLevelTest, CollisionsAreRefusedWithBothPlaces) {
  const auto refusal = [](const char* level, int number,
                          std::vector<NodeClass> classes) {
    const absl::Status status =
        RegisterNodeLevel(level, number, std::move(classes), "toy.cc", 7);
    return std::string(status.message());
  };
  EXPECT_THAT(refusal("toy", kIrLevel, {}), HasSubstr("toy.cc:7"));
  EXPECT_THAT(refusal("toy", kIrLevel, {}), HasSubstr("node_class.cc:"));
  EXPECT_THAT(refusal("ir", 14, {}),
              HasSubstr("is defined twice: at toy.cc:7"));
  EXPECT_THAT(refusal("toy", 14, {MakeNodeClass<ToyNode>()}),
              HasSubstr("has a kind of level 15"));
  EXPECT_THAT(
      refusal("toy", 15, {MakeNodeClass<ToyNode>(), MakeNodeClass<ToyNode>()}),
      HasSubstr("have one kind"));
  EXPECT_EQ(FindNodeClass(ToyNode::kKind), nullptr);
  EXPECT_EQ(NodeKindName(ToyNode::kKind), "unknown");

  EXPECT_EQ(refusal("toy", 15, {MakeNodeClass<ToyNode>()}), "");
  ASSERT_NE(FindNodeClass(ToyNode::kKind), nullptr);
  EXPECT_EQ(FindNodeClass(ToyNode::kKind)->level, "toy");
  EXPECT_EQ(NodeKindName(ToyNode::kKind), "Toy");
}

}  // namespace
}  // namespace baton
