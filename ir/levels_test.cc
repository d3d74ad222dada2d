// Tests a level that `ir/` does not contain: its functions, definitions and
// nodes are compared, hashed, written and read by their descriptions.

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/strings/str_replace.h"
#include "baton/base/attr_value.h"
#include "baton/ir/attrs.h"
#include "baton/ir/binary_reader.h"
#include "baton/ir/binary_writer.h"
#include "baton/ir/expr.h"
#include "baton/ir/module.h"
#include "baton/ir/node_class.h"
#include "baton/ir/node_fields.h"
#include "baton/ir/node_level.h"
#include "baton/ir/structural_equal.h"
#include "baton/ir/testing/script_level.h"
#include "baton/ir/type.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"

namespace baton {

// A value that only this test knows.
struct Secret {
  uint64_t number = 0;
  friend bool operator==(Secret a, Secret b) { return a.number == b.number; }
};
template <>
struct ForeignTraits<Secret> {
  static constexpr char kName[] = "secret";
  static uint64_t Hash(const Secret& value) { return value.number; }
  static std::string ToString(const Secret& /*value*/) { return "secret"; }
};

// A level of loops: variables of its own, which loops bind.
#define BATON_LOOP_NODES(X) \
  X(0, Index, kLeafExpr)    \
  X(1, For, kExpr)          \
  X(2, Store, kExpr)        \
  X(3, Kernel, kFunction)
BATON_DEFINE_NODE_LEVEL(13, LoopKind, BATON_LOOP_NODES)

class IndexNode final : public ExprNode {
 public:
  BATON_NODE(Index, ExprNode, LoopKind::kIndex)
  static constexpr NodeIdentity kIdentity = NodeIdentity::kVariable;
  explicit IndexNode(std::string name)
      : ExprNode(kKind), name_(std::move(name)) {}
  static constexpr auto Fields() {
    return field::List(field::Name<1, &IndexNode::name_>("name"));
  }

 private:
  std::string name_;
};
class Index : public Expr {
 public:
  BATON_HANDLE(Index, Expr, IndexNode)
  explicit Index(std::string name) : Expr(new IndexNode(std::move(name))) {}
};

enum class LoopForm : uint8_t { kSerial, kParallel };
constexpr int NumValuesOf(LoopForm /*form*/) { return 2; }

class ForNode final : public ExprNode {
 public:
  BATON_NODE(For, ExprNode, LoopKind::kFor)
  ForNode(Index index, int64_t extent, LoopForm form, Expr body)
      : ExprNode(kKind),
        index_(std::move(index)),
        extent_(extent),
        body_(std::move(body)),
        form_(form) {}
  static constexpr auto Fields() {
    return field::List(field::Binder<1, &ForNode::index_>("index"),
                       field::Data<2, &ForNode::extent_>("extent"),
                       field::Child<3, &ForNode::body_>("body"),
                       field::Data<4, &ForNode::form_>("form"));
  }

 private:
  Index index_;
  int64_t extent_ = 0;
  Expr body_;
  LoopForm form_ = LoopForm::kSerial;
};
class For : public Expr {
 public:
  BATON_HANDLE(For, Expr, ForNode)
  For(Index index, int64_t extent, LoopForm form, Expr body)
      : Expr(new ForNode(std::move(index), extent, form, std::move(body))) {}
};

class StoreNode final : public ExprNode {
 public:
  BATON_NODE(Store, ExprNode, LoopKind::kStore)
  StoreNode(std::vector<Expr> indices, double value)
      : ExprNode(kKind), indices_(std::move(indices)), value_(value) {}
  static constexpr auto Fields() {
    return field::List(field::Child<1, &StoreNode::indices_>("indices"),
                       field::Data<2, &StoreNode::value_>("value"));
  }

 private:
  std::vector<Expr> indices_;
  double value_ = 0;
};
class Store : public Expr {
 public:
  BATON_HANDLE(Store, Expr, StoreNode)
  Store(std::vector<Expr> indices, double value)
      : Expr(new StoreNode(std::move(indices), value)) {}
};

class KernelNode final : public BaseFuncNode {
 public:
  BATON_NODE(Kernel, BaseFuncNode, LoopKind::kKernel)
  KernelNode(Expr body, DictAttrs attrs)
      : BaseFuncNode(kKind, std::move(attrs)), body_(std::move(body)) {}
  static constexpr auto Fields() {
    return field::List(field::Child<1, &KernelNode::body_>("body"),
                       field::Attrs<2, &KernelNode::attrs_>("attrs"));
  }

 private:
  Expr body_;
};
class Kernel : public BaseFunc {
 public:
  BATON_HANDLE(Kernel, BaseFunc, KernelNode)
  explicit Kernel(Expr body, DictAttrs attrs = {})
      : BaseFunc(new KernelNode(std::move(body), std::move(attrs))) {}
};

BATON_REGISTER_NODE_LEVEL("loop", kNodeLevel, BATON_LOOP_NODES)

namespace {

using ::testing::HasSubstr;

Kernel Nest(const char* i_name, const char* j_name, bool swap,
            LoopForm form = LoopForm::kParallel, int64_t extent = -3,
            double value = 0.5) {
  const Index i(i_name);
  const Index j(j_name);
  return Kernel(
      For(i, extent, form,
          For(j, 8, LoopForm::kSerial,
              Store(swap ? std::vector<Expr>{j, i} : std::vector<Expr>{i, j},
                    value))));
}

IRModule Everything() {
  IRModule module;
  module.Set("loops", Nest("i", "j", false));
  module.Set("script", script::Script({GlobalVar("loops")}));
  module.SetType(script::Record(GlobalTypeVar("Point"), {"x", "y"}));
  return module;
}

std::string Written(const IRModule& module) {
  const absl::StatusOr<BinaryModule> binary = WriteBinary(module);
  EXPECT_TRUE(binary.ok()) << binary.status();
  return binary.ok() ? binary->ToString() : "";
}

TEST(LevelsTest, VariablesAreComparedByWhereTheyAreBound) {
  const Kernel nest = Nest("i", "j", false);
  EXPECT_TRUE(StructuralEqual(nest, Nest("a", "b", false)));
  EXPECT_EQ(StructuralHash(nest), StructuralHash(Nest("a", "b", false)));
  for (const Kernel& other :
       {Nest("i", "j", true), Nest("i", "j", false, LoopForm::kSerial),
        Nest("i", "j", false, LoopForm::kParallel, 4),
        Nest("i", "j", false, LoopForm::kParallel, -3, 1)}) {
    EXPECT_FALSE(StructuralEqual(nest, other));
    EXPECT_NE(StructuralHash(nest), StructuralHash(other));
  }
  EXPECT_EQ(
      *FirstDifference(nest, Nest("i", "j", false, LoopForm::kParallel, 4)),
      "body.extent: -3 is not 4");
}

TEST(LevelsTest, ModulesAreComparedWithFunctionsOfEveryKind) {
  const IRModule module = Everything();
  EXPECT_TRUE(StructuralEqual(module, Everything()));
  EXPECT_EQ(StructuralHash(module), StructuralHash(Everything()));

  IRModule other = Everything();
  other.Set("script", Nest("i", "j", false));
  EXPECT_EQ(*FirstDifference(module, other),
            "@script.root: Script is not Kernel");
  EXPECT_NE(StructuralHash(module), StructuralHash(other));

  other = Everything();
  other.SetType(script::Record(GlobalTypeVar("Point"), {"x", "z"}));
  EXPECT_EQ(*FirstDifference(module, other),
            "Point: another definition of the type");
  EXPECT_NE(StructuralHash(module), StructuralHash(other));

  other = Everything();
  other.Remove("loops");
  EXPECT_EQ(*FirstDifference(module, other),
            "@loops: only in the first module");
}

TEST(LevelsTest, FilesHoldFunctionsOfEveryKind) {
  const IRModule module = Everything();
  const std::string bytes = Written(module);
  EXPECT_EQ(bytes[8], 2) << "the version of the format";
  const absl::StatusOr<BinaryContent> read = ReadBinary(bytes, nullptr, "file");
  ASSERT_TRUE(read.ok()) << read.status();
  EXPECT_EQ(FirstDifference(module, read->module), std::nullopt);
  EXPECT_EQ(Written(read->module), bytes);
  EXPECT_TRUE(read->module.Find("script").Is<script::ScriptNode>());
  EXPECT_TRUE(read->module.FindType("Point").Is<script::RecordNode>());
}

std::string ReadError(const std::string& bytes) {
  return std::string(
      ReadBinary(bytes, nullptr, "file",
                 {.checksums = BinaryReadOptions::Checksums::kNone})
          .status()
          .message());
}

TEST(LevelsTest, ClassesThatAreNotLinkedAreNamed) {
  EXPECT_EQ(
      ReadError(absl::StrReplaceAll(Written(Everything()), {{"loop", "leap"}})),
      "file: byte 82: node_classes[1]: this program has no node class Index of "
      "a level \"leap\": the library that registers it is not linked in");
}

TEST(LevelsTest, DamageIsFound) {
  const std::string good = Written(Everything());
  int refused = 0;
  for (size_t i = 64; i < good.size(); ++i) {
    for (int bit = 0; bit < 8; ++bit) {
      std::string bytes = good;
      bytes[i] = static_cast<char>(bytes[i] ^ (1 << bit));
      EXPECT_FALSE(ReadBinary(bytes, nullptr, "file").ok());
      const std::string error = ReadError(bytes);
      if (error.empty()) continue;
      ++refused;
      EXPECT_THAT(error, HasSubstr("file: byte "));
    }
  }
  EXPECT_GT(refused, 100);
}

TEST(LevelsTest, ValuesThatFilesCannotHoldAreRefused) {
  IRModule module;
  module.Set(
      "f",
      Kernel(
          Store({}, 1),
          DictAttrs({{"key", AttrValue(ForeignValue(Secret{.number = 7}))}})));
  EXPECT_EQ(WriteBinary(module).status().message(),
            "@f: a DictAttrs has a value of type \"secret\", which the binary "
            "format cannot hold");
}

TEST(LevelsTest, WhatIsMissingIsNamed) {
  IRModule module;
  module.Set("f", Kernel(Expr()));
  EXPECT_EQ(WriteBinary(module).status().message(), "@f: a Kernel has no body");
}

}  // namespace
}  // namespace baton
