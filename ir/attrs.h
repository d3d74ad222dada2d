// Attrs, DictAttrs: the compile-time arguments of an operator call (a typed
// struct with a field list, see fields.h) and of a function (a dictionary).

#ifndef BATON_IR_ATTRS_H_
#define BATON_IR_ATTRS_H_

#include <string>
#include <utility>

#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "baton/base/attr_value.h"
#include "baton/base/fields.h"
#include "baton/ir/node.h"
#include "baton/ir/node_fields.h"

namespace baton {

class AttrsNode;

namespace internal {

// Its address identifies the attribute struct T. So AttrsNode::As<T>() does not
// instantiate the field list of T.
template <typename T>
inline constexpr char kAttrsTag = 0;

}  // namespace internal

// The run-time description of one attribute struct.
class AttrsType {
 public:
  // The description of T; one object per T.
  template <typename T>
  static const AttrsType& Of();

  // For example `relay.attrs.DenseAttrs`.
  const std::string& type_key() const { return type_key_; }
  const FieldList& fields() const { return *fields_; }

  // Makes attributes of this type from named values. See FieldList::Assign.
  absl::StatusOr<class Attrs> FromValues(const AttrMap& values) const;

 private:
  friend class AttrsNode;
  std::string type_key_;
  const void* tag_ = nullptr;  // &internal::kAttrsTag<T>
  const FieldList* fields_ = nullptr;
  AttrsNode* (*create_)() = nullptr;
  void (*destroy_)(const AttrsNode*) = nullptr;
};

class AttrsNode : public Node {
 public:
  BATON_NODE(Attrs, Node, IrKind::kAttrs)
  static constexpr int kNodeField = 11;
  const AttrsType& type() const { return *type_; }
  const FieldList& fields() const { return type_->fields(); }
  // The struct, for use with the fields of type().
  const void* object() const { return object_; }
  // The struct, or null if it is not a T.
  template <typename T>
  const T* As() const {
    return type_->tag_ == &internal::kAttrsTag<T>
               ? static_cast<const T*>(object_)
               : nullptr;
  }

  static constexpr auto Fields() {
    return field::List(field::Data<1, &AttrsNode::type_>("type"),
                       field::Derived<&AttrsNode::object_>("object"));
  }

 protected:
  AttrsNode(const AttrsType* type, void* object)
      : Node(kKind), type_(type), object_(object) {}
  ~AttrsNode() = default;

 private:
  friend class AttrsType;
  friend class internal::NodeAccess;
  // For DestroyNode: the object is a TypedAttrsNode.
  static void Delete(AttrsNode* node) { node->type_->destroy_(node); }

  const AttrsType* type_ = nullptr;
  void* object_ = nullptr;
};

// A handle to attributes; null if the operator has none.
class Attrs : public NodeRef {
 public:
  BATON_HANDLE(Attrs, NodeRef, AttrsNode)
  template <typename T>
  static Attrs Make(T value);

  // The struct; null if this is null or has another type.
  template <typename T>
  const T* As() const {
    return node_ == nullptr ? nullptr : get()->As<T>();
  }
};

// `attrs` as a T; T's defaults if `attrs` is null or of another type.
template <typename T>
const T& AttrsOrDefaults(const Attrs& attrs) {
  static const T* const kDefaults = new T();
  const T* given = attrs.As<T>();
  return given != nullptr ? *given : *kDefaults;
}

// True if both are null, or of one type with equal fields.
bool AttrsEqual(const Attrs& a, const Attrs& b);

// The attributes of a function, in the order in which they were set.
class DictAttrsNode final : public Node {
 public:
  BATON_NODE(DictAttrs, Node, IrKind::kDictAttrs)
  static constexpr int kNodeField = 14;
  explicit DictAttrsNode(AttrMap entries)
      : Node(kKind), entries_(std::move(entries)) {}
  const AttrMap& entries() const { return entries_; }
  // Null if there is no attribute of that name.
  const AttrValue* Find(absl::string_view name) const;

  static constexpr auto Fields() {
    return field::List(field::Data<1, &DictAttrsNode::entries_>("entries"));
  }

 private:
  AttrMap entries_;
};

// Null is the empty dictionary.
class DictAttrs : public NodeRef {
 public:
  BATON_HANDLE(DictAttrs, NodeRef, DictAttrsNode)
  explicit DictAttrs(AttrMap entries)
      : NodeRef(entries.empty() ? nullptr
                                : new DictAttrsNode(std::move(entries))) {}

  const AttrMap& entries() const;
  const AttrValue* Find(absl::string_view name) const {
    return node_ == nullptr ? nullptr : get()->Find(name);
  }
  // True for a bool `true` or a number other than zero.
  bool IsTrue(absl::string_view name) const;
  DictAttrs With(std::string name, AttrValue value) const;
  DictAttrs Without(absl::string_view name) const;
};

// Equality of dictionaries: ignores the order of the entries.
bool DictAttrsEqual(const DictAttrs& a, const DictAttrs& b);

// Implementation details below.

namespace internal {

template <typename T>
class TypedAttrsNode final : public AttrsNode {
 public:
  explicit TypedAttrsNode(T value)
      : AttrsNode(&AttrsType::Of<T>(), &value_), value_(std::move(value)) {}
  T value_;
};

}  // namespace internal

template <typename T>
const AttrsType& AttrsType::Of() {
  static const AttrsType* const kType = [] {
    auto* type = new AttrsType;
    type->type_key_ = T::kTypeKey;
    type->tag_ = &internal::kAttrsTag<T>;
    type->fields_ = &FieldsOf<T>();
    type->create_ = []() -> AttrsNode* {
      return new internal::TypedAttrsNode<T>(T{});
    };
    type->destroy_ = [](const AttrsNode* node) {
      delete static_cast<const internal::TypedAttrsNode<T>*>(node);
    };
    return type;
  }();
  return *kType;
}

template <typename T>
Attrs Attrs::Make(T value) {
  return Attrs(new internal::TypedAttrsNode<T>(std::move(value)));
}

}  // namespace baton

#endif  // BATON_IR_ATTRS_H_
