// Tests laws of each field of each node class, derived from the descriptions: a
// new class in the lists of kinds is covered automatically.
//
// A node is filled with samples for its fields; then one field gets another
// sample. The role of the field determines if the two nodes must be equal.

#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <type_traits>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/strings/str_cat.h"
#include "baton/base/attr_value.h"
#include "baton/base/dtype.h"
#include "baton/base/source.h"
#include "baton/base/tensor.h"
#include "baton/ir/attrs.h"
#include "baton/ir/attrs_registry.h"
#include "baton/ir/binary_reader.h"
#include "baton/ir/binary_writer.h"
#include "baton/ir/expr.h"
#include "baton/ir/module.h"
#include "baton/ir/node_class.h"
#include "baton/ir/node_compare.h"
#include "baton/ir/node_fields.h"
#include "baton/ir/node_rebuild.h"
#include "baton/ir/span.h"
#include "baton/ir/type.h"
#include "baton/relay/ir/adt.h"
#include "baton/relay/ir/expr.h"
#include "baton/relay/ir/node_kind.h"
#include "gtest/gtest.h"

namespace baton::relay {
namespace {

struct LawAttrs {
  int64_t number = 0;
  static constexpr char kTypeKey[] = "test.LawAttrs";
  template <typename V>
  static void VisitFields(V& v) {
    v("number", &LawAttrs::number, "");
  }
};
BATON_REGISTER_ATTRS(LawAttrs);

// The `which`-th sample of a T: others differ, and not only in names.
template <typename T>
T Sample(int which) {
  if constexpr (std::is_same_v<T, Expr>) {
    return GlobalVar(absl::StrCat("g", which));
  } else if constexpr (std::is_same_v<T, Type>) {
    return TensorType({which}, DType::Float(32));
  } else if constexpr (std::is_same_v<T, Var>) {
    return Var(absl::StrCat("v", which), Sample<Type>(which));
  } else if constexpr (std::is_same_v<T, TypeVar>) {
    return TypeVar(absl::StrCat("T", which), Sample<TypeVarKind>(which));
  } else if constexpr (std::is_same_v<T, GlobalTypeVar>) {
    return GlobalTypeVar(absl::StrCat("G", which));
  } else if constexpr (std::is_same_v<T, Constructor>) {
    return Constructor(absl::StrCat("C", which), {}, GlobalTypeVar("G"));
  } else if constexpr (std::is_same_v<T, Pattern>) {
    return Pattern::OfTuple(
        std::vector<Pattern>(static_cast<size_t>(which), Pattern::Wildcard()));
  } else if constexpr (std::is_same_v<T, Attrs>) {
    return Attrs::Make(LawAttrs{.number = which});
  } else if constexpr (std::is_same_v<T, DictAttrs>) {
    return DictAttrs({{"k", which}});
  } else if constexpr (std::is_same_v<T, AttrMap>) {
    return {{"k", which}};
  } else if constexpr (std::is_same_v<T, Span>) {
    return Span(std::make_shared<const Source>("name", "text"), 0, which);
  } else if constexpr (std::is_same_v<T, bool>) {
    return which % 2 == 1;
  } else if constexpr (std::is_enum_v<T>) {
    return static_cast<T>((which + 2) % NumValuesOf(T{}));
  } else if constexpr (std::is_same_v<T, Dim> || std::is_arithmetic_v<T>) {
    return T(which);
  } else if constexpr (std::is_same_v<T, std::string>) {
    return absl::StrCat("s", which);
  } else if constexpr (std::is_same_v<T, DType>) {
    return DType::Int(8 << which);
  } else if constexpr (std::is_same_v<T, Tensor>) {
    return Tensor::ScalarOf(DType::Float(32), which);
  } else if constexpr (baton::internal::kIsOptional<T>) {
    return std::make_unique<typename T::element_type>(
        Sample<typename T::element_type>(which));
  } else if constexpr (baton::internal::kIsVector<T>) {
    return {Sample<typename T::value_type>(which)};
  } else {
    static_assert(baton::internal::Record<T>, "give a sample for such fields");
    T record;
    baton::internal::ApplyFields(
        [&](auto... part) {
          ((decltype(part)::Of(record) =
                Sample<typename decltype(part)::Value>(which)),
           ...);
        },
        T::Fields());
    return record;
  }
}

// A node of N whose `changed`-th field, if it is not -1, is the second sample.
// Fields that may be null although their role does not say so are null, since
// such classes have several forms.
template <typename N>
const N* MakeSample(int changed) {
  N* node = baton::internal::NewBlankNode<N>(
      baton::internal::HasTrailingArray<N>() ? 1 : 0);
  int i = 0;
  ForEachField<N>([&](auto field) {
    using F = decltype(field);
    using T = typename F::Value;
    const int which = i++ == changed ? 2 : 1;
    if constexpr (F::kIsTrailing) {
      new (F::Of(*node).data()) T(Sample<T>(which));
    } else if constexpr (F::kRole == FieldRole::kDerived ||
                         F::kRole == FieldRole::kHint) {
      // As it is in a new node.
    } else {
      if (!F::kMayBeNull || MayBeNull(F::kRole) || which == 2) {
        F::Of(*node) = Sample<T>(which);
      }
    }
  });
  if constexpr (requires { N::Derive(*node); })
    static_cast<void>(N::Derive(*node));
  return node;
}

template <typename N>
bool IsPossible(const N& node) {
  if constexpr (requires { N::Derive(const_cast<N&>(node)).ok(); }) {
    return N::Derive(const_cast<N&>(node)).ok();
  } else {
    return true;
  }
}

bool IsGraph(const Node* node) {
  return node->kind().Is(NodeSort::kExpr) ||
         node->kind().Is(NodeSort::kTypeDefinition);
}

bool Equal(const Node* a, const Node* b) {
  baton::internal::NodeComparator comparator(/*map_free=*/true,
                                             /*trace=*/false);
  return IsGraph(a) ? comparator.Compare(a, b) : comparator.CompareTypes(a, b);
}

uint64_t Hash(const Node* node) {
  baton::internal::NodeHasher hasher;
  return IsGraph(node) ? hasher.Hash(node) : hasher.HashTree(node);
}

// A module in which `node` stands.
template <typename N>
IRModule ModuleOf(const N* node) {
  IRModule module;
  const GlobalVar g("g");
  if constexpr (std::is_base_of_v<TypeDefinitionNode, N>) {
    module.SetType(HandleOf<N>(node));
  } else if constexpr (std::is_base_of_v<BaseFuncNode, N>) {
    module.Set("main", HandleOf<N>(node));
  } else if constexpr (std::is_base_of_v<ExprNode, N>) {
    module.Set("main", Function({}, Expr(node)));
  } else if constexpr (std::is_base_of_v<TypeNode, N>) {
    module.Set("main", Function({Var("x", Type(node))}, g));
  } else if constexpr (std::is_same_v<N, PatternNode>) {
    module.Set("main", Function({}, Match(g, {{Pattern(node), g}})));
  } else {
    static_assert(std::is_same_v<N, DictAttrsNode>, "where does it stand?");
    module.Set("main", Function({}, g, {}, {}, DictAttrs(node)));
  }
  return module;
}

std::string Written(const IRModule& module) {
  const absl::StatusOr<BinaryModule> binary = WriteBinary(module);
  EXPECT_TRUE(binary.ok()) << binary.status();
  return binary.ok() ? binary->ToString() : "";
}

// True if a difference in a field of N makes nodes different.
template <typename N>
bool Counts(FieldRole role) {
  switch (role) {
    case FieldRole::kData:
    case FieldRole::kReference:
      return true;
    case FieldRole::kChild:
    case FieldRole::kBinder:
    case FieldRole::kPattern:
    case FieldRole::kAnnotation:
    case FieldRole::kTypeParam:
    case FieldRole::kAttrs:
    case FieldRole::kDim:
    case FieldRole::kRecords:
      return baton::internal::IdentityOf<N>() != NodeIdentity::kName;
    case FieldRole::kInferredType:
    case FieldRole::kName:
    case FieldRole::kSpan:
    case FieldRole::kDerived:
    case FieldRole::kHint:
      return false;
  }
  return false;
}

// All that consist of their fields. An operator is what is registered,
// attributes are structs, dimensions values (each has tests of its own), and
// spans are neither compared nor written.
template <typename Blank, typename... Nodes>
using NodeTypes = ::testing::Types<Nodes...>;
#define BATON_NODE_TYPE(index, Name, sort) , Name##Node
using Classes = NodeTypes<void, GlobalVarNode,
                          DictAttrsNode BATON_IR_TYPES(BATON_NODE_TYPE)
                              BATON_RELAY_NODES(BATON_NODE_TYPE)>;
#undef BATON_NODE_TYPE

template <typename N>
class NodeLawsTest : public ::testing::Test {
 protected:
  // Calls `fn(field, changed)` for each field, with a node in which it has
  // another value.
  template <typename Fn>
  static void ForEachChange(Fn&& fn) {
    int i = 0;
    ForEachField<N>([&](auto field) {
      SCOPED_TRACE(absl::StrCat(std::string(N::kName), ".", field.name()));
      const NodeRef changed(MakeSample<N>(i++));
      fn(field, *static_cast<const N*>(changed.get()));
    });
  }
};
TYPED_TEST_SUITE(NodeLawsTest, Classes);

TYPED_TEST(NodeLawsTest, FieldsCountAsTheirRolesSay) {
  using N = TypeParam;
  const NodeRef node(MakeSample<N>(-1));
  const NodeRef same(MakeSample<N>(-1));
  EXPECT_TRUE(Equal(node.get(), same.get()));
  EXPECT_EQ(Hash(node.get()), Hash(same.get()));
  this->ForEachChange([&](auto field, const N& changed) {
    const bool equal = !Counts<N>(decltype(field)::kRole);
    EXPECT_EQ(Equal(node.get(), &changed), equal);
    EXPECT_EQ(Equal(&changed, node.get()), equal);
    EXPECT_EQ(Hash(node.get()) == Hash(&changed), equal);
  });
}

TYPED_TEST(NodeLawsTest, FieldsSurviveInFiles) {
  using N = TypeParam;
  const NodeRef node(MakeSample<N>(-1));
  const std::string bytes =
      Written(ModuleOf(static_cast<const N*>(node.get())));
  this->ForEachChange([&](auto field, const N& changed) {
    using F = decltype(field);
    if (!IsPossible(changed)) return;
    const std::string other = Written(ModuleOf(&changed));
    const bool is_written = F::kNumber != 0 ||
                            F::kRole == FieldRole::kInferredType ||
                            F::kRole == FieldRole::kRecords;
    EXPECT_EQ(other != bytes, is_written);
    const absl::StatusOr<BinaryContent> read =
        ReadBinary(other, nullptr, "file");
    ASSERT_TRUE(read.ok()) << read.status();
    EXPECT_EQ(Written(read->module), other);
  });
}

TYPED_TEST(NodeLawsTest, ReferencesAreVisited) {
  using N = TypeParam;
  const NodeRef node(MakeSample<N>(-1));
  int references = 0;
  ForEachReference(node.get(), [&](const Node* target) {
    ++references;
    EXPECT_NE(target, nullptr);
  });
  int expected = 0;
  auto count = [&expected](const auto& reference) {
    expected += ReferredNode(reference) != nullptr ? 1 : 0;
  };
  const N& n = *static_cast<const N*>(node.get());
  ForEachField<N>([&](auto field) {
    baton::internal::ForEachReferenceIn(decltype(field)::Of(n), count);
  });
  EXPECT_EQ(references, expected);
}

TYPED_TEST(NodeLawsTest, ExpressionsAreRebuilt) {
  using N = TypeParam;
  if constexpr (std::is_base_of_v<ExprNode, N>) {
    const NodeRef node(MakeSample<N>(-1));
    const N& n = *static_cast<const N*>(node.get());
    this->ForEachChange([&](auto field, const N& changed) {
      using F = decltype(field);
      // With another type.
      const Type type = Sample<Type>(3);
      const Expr typed = CopyWithType(changed, type);
      EXPECT_TRUE(Equal(typed.get(), &changed));
      if (baton::internal::HasInferredType<N>()) {
        EXPECT_EQ(typed->type(), type);
      }
      EXPECT_EQ(typed->span(), changed.span());
      // With other children.
      std::vector<Expr> children;
      ForEachChildOf(changed,
                     [&](const Expr& child) { children.push_back(child); });
      EXPECT_EQ(children.size(), NumChildrenOf(changed));
      const Expr rebuilt = CopyWithChildren(n, children, n.type());
      const bool is_children =
          F::kRole == FieldRole::kChild || F::kRole == FieldRole::kBinder;
      if (is_children) {
        EXPECT_TRUE(Equal(rebuilt.get(), &changed));
      }
      std::vector<Expr> again;
      ForEachChildOf(*static_cast<const N*>(rebuilt.get()),
                     [&](const Expr& child) { again.push_back(child); });
      EXPECT_EQ(again, children);
    });
  }
}

}  // namespace
}  // namespace baton::relay
