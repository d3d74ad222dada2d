#include "baton/ir/node_class.h"

#include <array>
#include <atomic>
#include <cstdio>
#include <cstdlib>
#include <initializer_list>
#include <string>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/string_view.h"
#include "baton/ir/attrs.h"
#include "baton/ir/expr.h"
#include "baton/ir/op.h"
#include "baton/ir/span.h"
#include "baton/ir/type.h"

namespace baton {

// Filled in as those below.
constinit std::array<const NodeClass*, NodeKind::kNumIds>
    internal::node_classes = {};

namespace {

using internal::node_classes;

// The classes by node_field. This and what follows is filled in while other
// static objects are made, before the process has a second thread.
constexpr int kNumNodeFields = 64;
constinit std::array<const NodeClass*, kNumNodeFields> classes_of_fields = {};
// The functions that destroy nodes, by NodeKind::id().
constinit std::array<void (*)(Node*, internal::ChildSink&), NodeKind::kNumIds>
    destroyers = {};

[[noreturn]] void Die(const std::string& message) {
  std::fprintf(stderr, "baton: %s\n", message.c_str());
  std::abort();
}

std::string PlaceOf(const NodeClass& node_class) {
  return absl::StrCat(node_class.file, ":", node_class.line);
}

}  // namespace

absl::string_view FieldRoleName(FieldRole role) {
  switch (role) {
    case FieldRole::kChild:
      return "child";
    case FieldRole::kBinder:
      return "binder";
    case FieldRole::kPattern:
      return "pattern";
    case FieldRole::kInferredType:
      return "inferred type";
    case FieldRole::kAnnotation:
      return "annotation";
    case FieldRole::kTypeParam:
      return "type parameter";
    case FieldRole::kAttrs:
      return "attributes";
    case FieldRole::kDim:
      return "dimension";
    case FieldRole::kReference:
      return "reference";
    case FieldRole::kRecords:
      return "records";
    case FieldRole::kData:
      return "data";
    case FieldRole::kName:
      return "name";
    case FieldRole::kSpan:
      return "span";
    case FieldRole::kDerived:
      return "derived";
    case FieldRole::kHint:
      return "hint";
  }
  return "unknown";
}

const NodeClass* FindNodeClass(NodeKind kind) {
  const NodeClass* found = node_classes[kind.id()];
  return found != nullptr && found->kind == kind ? found : nullptr;
}

const NodeClass* FindNodeClass(absl::string_view level,
                               absl::string_view name) {
  for (const NodeClass* node_class : node_classes) {
    if (node_class != nullptr && node_class->level == level &&
        node_class->name == name) {
      return node_class;
    }
  }
  return nullptr;
}

std::vector<const NodeClass*> NodeClasses() {
  std::vector<const NodeClass*> result;
  for (const NodeClass* node_class : node_classes) {
    if (node_class != nullptr) result.push_back(node_class);
  }
  return result;
}

absl::string_view NodeKindName(NodeKind kind) {
  const NodeClass* found = FindNodeClass(kind);
  return found == nullptr ? "unknown" : found->name;
}

std::string QualifiedNodeKindName(NodeKind kind) {
  const NodeClass* found = FindNodeClass(kind);
  return found == nullptr ? absl::StrCat("unknown.", kind.id())
                          : absl::StrCat(found->level, ".", found->name);
}

void ForEachReference(const Node* node,
                      absl::FunctionRef<void(const Node*)> fn) {
  internal::ClassOf(node).for_each_reference(node, fn);
}

absl::Status RegisterNodeLevel(absl::string_view level, int number,
                               std::vector<NodeClass> new_classes,
                               const char* file, int line) {
  const std::string place = absl::StrCat(file, ":", line);
  for (const NodeClass* other : NodeClasses()) {
    if (other->kind.level() == number) {
      return absl::AlreadyExistsError(
          absl::StrCat("the level of nodes \"", level, "\" (", place,
                       ") has the number ", number, ", which is that of \"",
                       other->level, "\" (", PlaceOf(*other), ")"));
    }
    if (other->level == level) {
      return absl::AlreadyExistsError(absl::StrCat(
          "the level of nodes \"", level, "\" is defined twice: at ", place,
          " and at ", PlaceOf(*other)));
    }
  }
  for (size_t i = 0; i < new_classes.size(); ++i) {
    const NodeClass& node_class = new_classes[i];
    const int field = node_class.node_field;
    if (field < 0 || field >= kNumNodeFields ||
        (field > 0 && classes_of_fields[field] != nullptr)) {
      return absl::InvalidArgumentError(absl::StrCat(
          "the node class ", node_class.name, " (", place, ") has the field ",
          field, " of the binary format, which is not free"));
    }
    if (node_class.kind.level() != number) {
      return absl::InvalidArgumentError(
          absl::StrCat("the node class ", node_class.name, " (", place,
                       ") has a kind of level ", node_class.kind.level(),
                       ", not of \"", level, "\", which is level ", number));
    }
    for (size_t j = 0; j < i; ++j) {
      const bool one_kind = new_classes[j].kind.id() == node_class.kind.id();
      if (!one_kind && (field == 0 || new_classes[j].node_field != field)) {
        continue;
      }
      return absl::AlreadyExistsError(absl::StrCat(
          "the node classes ", new_classes[j].name, " and ", node_class.name,
          " (", place, ") have one ", one_kind ? "kind" : "field"));
    }
  }
  for (NodeClass& node_class : new_classes) {
    auto* registered = new NodeClass(std::move(node_class));
    registered->level = *new std::string(level);
    registered->file = file;
    registered->line = line;
    node_classes[registered->kind.id()] = registered;
    if (registered->node_field > 0) {
      classes_of_fields[registered->node_field] = registered;
    }
    destroyers[registered->kind.id()] = registered->destroy;
  }
  return absl::OkStatus();
}

namespace internal {

const NodeClass* FindNodeClassOfField(uint64_t node_field) {
  return node_field < kNumNodeFields ? classes_of_fields[node_field] : nullptr;
}

NodeLevelRegistration::NodeLevelRegistration(
    absl::string_view level, int number,
    std::initializer_list<NodeClass> classes, const char* file, int line) {
  const absl::Status status =
      RegisterNodeLevel(level, number, classes, file, line);
  if (!status.ok()) Die(std::string(status.message()));
}

// Each node gives up what it refers to before it is destroyed, so that no
// destructor reaches another node.
void DestroyGraph(const Node* root) {
  ChildSink sink;
  const Node* next = root;
  while (next != nullptr) {
    Node* node = const_cast<Node*>(next);
    const auto destroy = destroyers[node->kind_.id()];
    if (destroy == nullptr) {
      Die(absl::StrCat("a node of kind ", node->kind_.id(),
                       " is destroyed whose class is not registered"));
    }
    destroy(node, sink);
    next = sink.pending_;
    if (next != nullptr) {
      sink.pending_ = reinterpret_cast<const Node*>(
          next->memo_.load(std::memory_order_relaxed));
    }
  }
}

void UnknownKind(const Node* node) {
  Die(absl::StrCat("a node of kind ", NodeKindName(node->kind()), " (",
                   node->kind().id(), ") is used where this level has none"));
}

}  // namespace internal

BATON_REGISTER_NODE_LEVEL("ir", kIrLevel, BATON_IR_NODES)

}  // namespace baton
