// NodeClass: run-time descriptions of the node classes. For each kind, a record
// with its name, its fields, and functions derived from its description
// (node_fields.h).
//
// A level registers its classes in one place, in a library that is linked as a
// whole (alwayslink):
//
//   BATON_REGISTER_NODE_LEVEL("loop", kLoopLevel, BATON_LOOP_NODES)

#ifndef BATON_IR_NODE_CLASS_H_
#define BATON_IR_NODE_CLASS_H_

#include <array>
#include <cstddef>
#include <cstdint>
#include <initializer_list>
#include <string>
#include <vector>

#include "absl/functional/function_ref.h"
#include "absl/status/status.h"
#include "absl/strings/string_view.h"
#include "baton/base/stable_hash.h"
#include "baton/ir/node.h"
#include "baton/ir/node_binary.h"
#include "baton/ir/node_compare.h"
#include "baton/ir/node_fields.h"

namespace baton {

// One field of a node class. A list of records has one entry for the list, with
// the role kRecords, followed by one entry for each field of the record.
struct NodeFieldInfo {
  absl::string_view name;
  FieldRole role;
  int number;  // in the binary format; 0 if it is not stored
  // The offset of the member in the object; for a trailing array, the offset of
  // its count; for a field of a record, the offset in the record.
  size_t offset;
  size_t bytes;
  bool of_record;
};

// The record of a node class.
struct NodeClass {
  NodeKind kind;
  absl::string_view name;  // `Call`
  size_t object_bytes;     // without a trailing array
  size_t alignment;
  std::vector<NodeFieldInfo> fields;

  // The bytes of the allocation of `node`, with its trailing array.
  size_t (*bytes)(const Node* node);
  // Calls `fn` for each node to which `node` refers. See ForEachReferenceOf.
  void (*for_each_reference)(const Node* node,
                             absl::FunctionRef<void(const Node*)> fn);
  // Implementation: destroys a node to which no handle refers.
  void (*destroy)(Node* node, internal::ChildSink& sink);

  // The identity of nodes, and functions that compare and hash them
  // (node_compare.h): as nodes of a graph, as trees, as names.
  NodeIdentity identity = NodeIdentity::kGraph;
  bool (*compare)(const Node* a, const Node* b, internal::NodeComparator& c,
                  int step) = nullptr;
  bool (*compare_tree)(const Node* a, const Node* b,
                       internal::NodeComparator& c, bool map) = nullptr;
  bool (*compare_name)(const Node* a, const Node* b,
                       internal::NodeComparator& c) = nullptr;
  void (*hash)(const Node* node, StableHash& hash,
               internal::NodeHasher& h) = nullptr;
  void (*hash_tree)(const Node* node, StableHash& hash,
                    internal::NodeHasher& h) = nullptr;
  void (*hash_name)(const Node* node, StableHash& hash, internal::NodeHasher& h,
                    bool with_references) = nullptr;
  // The description of a node in messages: `%x`, `a call of nn.dense`.
  std::string (*describe)(const Node* node) = nullptr;

  // The binary format (node_binary.h). `node_field` is the field of the message
  // Node for nodes of this class; 0 for classes that are stored under their
  // names.
  int node_field = 0;
  void (*push)(const Node* node, internal::NodeWriter& writer) = nullptr;
  void (*write)(const Node* node, internal::NodeWriter& writer) = nullptr;
  NodeRef (*read)(internal::NodeReader& reader,
                  absl::string_view message) = nullptr;

  // The level of the class; registration sets it.
  absl::string_view level;
  const char* file = nullptr;
  int line = 0;
};

// The record of a kind; null if no class of that kind is registered.
const NodeClass* FindNodeClass(NodeKind kind);

// The class `name` of `level`; null if no such class is registered.
const NodeClass* FindNodeClass(absl::string_view level, absl::string_view name);

// All registered classes, in the order of NodeKind::id().
std::vector<const NodeClass*> NodeClasses();

// Calls `fn` for each node to which `node` refers: see ForEachReferenceOf.
void ForEachReference(const Node* node,
                      absl::FunctionRef<void(const Node*)> fn);

// Registers all classes of a level. If the level or one of the kinds is already
// registered, registers nothing and returns AlreadyExists; the error names both
// places.
absl::Status RegisterNodeLevel(absl::string_view level, int number,
                               std::vector<NodeClass> classes, const char* file,
                               int line);

// The record of N, made from its description.
template <typename N>
NodeClass MakeNodeClass();

// Registers the classes of a level, given as a list X(index, Name, sort). Runs
// before all ordinary static initializers, so that these may make and drop
// nodes. If the level collides with another one, the program ends with a
// message that names both.
#define BATON_REGISTER_NODE_LEVEL(level, number, NODES)            \
  [[gnu::init_priority(                                            \
      201)]] static const ::baton::internal::NodeLevelRegistration \
      baton_node_level_registration(                               \
          level, number, {NODES(BATON_NODE_CLASS_OF_)}, __FILE__, __LINE__);
#define BATON_NODE_CLASS_OF_(index, Name, sort) \
  ::baton::MakeNodeClass<Name##Node>(),

// Implementation details below.

namespace internal {

// The class with the number `node_field`; null if there is none.
const NodeClass* FindNodeClassOfField(uint64_t node_field);

// The records of all classes, by NodeKind::id().
extern constinit std::array<const NodeClass*, NodeKind::kNumIds> node_classes;
// The class of a node; it must be registered.
inline const NodeClass& ClassOf(const Node* node) {
  return *node_classes[node->kind().id()];
}

class NodeLevelRegistration {
 public:
  NodeLevelRegistration(absl::string_view level, int number,
                        std::initializer_list<NodeClass> classes,
                        const char* file, int line);
};

}  // namespace internal

template <typename N>
NodeClass MakeNodeClass() {
  static_assert(NodeFieldsCover<N>(),
                "Fields() of the class does not list all of its members");
  NodeClass result = {.kind = N::kKind,
                      .name = N::kName,
                      .object_bytes = sizeof(N),
                      .alignment = alignof(N),
                      .fields = {}};
  // Offsets are measured on memory that is never read.
  alignas(N) static unsigned char memory[sizeof(N)];
  N& object = *reinterpret_cast<N*>(memory);
  const auto offset_of = [](const auto& member, const void* in) {
    return static_cast<size_t>(reinterpret_cast<uintptr_t>(&member) -
                               reinterpret_cast<uintptr_t>(in));
  };
  ForEachField<N>([&](auto field) {
    using F = decltype(field);
    size_t offset = 0;
    if constexpr (F::kIsTrailing) {
      offset = offset_of(F::CountOf(object), &object);
    } else {
      offset = offset_of(F::Of(object), &object);
    }
    result.fields.push_back(
        {field.name(), F::kRole, F::kNumber, offset, F::kBytes, false});
    if constexpr (F::kRole == FieldRole::kRecords) {
      using R = typename F::Value::value_type;
      alignas(R) static unsigned char record_memory[sizeof(R)];
      R& record = *reinterpret_cast<R*>(record_memory);
      internal::ApplyFields(
          [&](auto... part) {
            (result.fields.push_back(
                 {part.name(), decltype(part)::kRole, decltype(part)::kNumber,
                  offset_of(decltype(part)::Of(record), &record),
                  decltype(part)::kBytes, true}),
             ...);
          },
          R::Fields());
    }
  });
  result.bytes = [](const Node* node) {
    return NodeBytes(*static_cast<const N*>(node));
  };
  result.for_each_reference = [](const Node* node,
                                 absl::FunctionRef<void(const Node*)> fn) {
    ForEachReferenceOf(*static_cast<const N*>(node), fn);
  };
  result.destroy = &internal::DestroyNode<N>;
  result.identity = internal::IdentityOf<N>();
  result.compare = &internal::CompareFields<N>;
  if constexpr (!internal::HasRecords<N>()) {
    result.compare_tree = &internal::CompareTree<N>;
  }
  result.compare_name = &internal::CompareName<N>;
  result.hash = &internal::HashFields<N, false>;
  result.hash_tree = &internal::HashFields<N, true>;
  result.hash_name = &internal::HashNameOf<N>;
  result.describe = &internal::DescribeAs<N>;
  if constexpr (requires { N::kNodeField; }) result.node_field = N::kNodeField;
  result.push = internal::NodeBinary<N>::Push;
  result.write = internal::NodeBinary<N>::Write;
  result.read = internal::NodeBinary<N>::Read;
  return result;
}

}  // namespace baton

#endif  // BATON_IR_NODE_CLASS_H_
