// Operators and their registry.
//
// An operator is one registration, in any library that is linked in:
//
//   BATON_REGISTER_OP("nn.dense")
//       .Describe("Applies a linear transformation: Y = X * W^T.")
//       .Arguments({{"data", "N-d, last axis is reduced"},
//                   {"weight", "(units, in)"}})
//       .TakesAttrs<DenseAttrs>()
//       .TypeRelation(DenseRel)
//       .Set(FusionPatterns(), FusionPattern::kOutEWiseFusable);
//
// A second registration of the same name is an error (base/registry.h). An
// extension adds properties to an operator that another library registers,
// before or after. If no library does, the extension is an error:
//
//   BATON_EXTEND_OP("nn.dense").Set(MyRules(), MyDenseRule);
//
// Packages above `ir/` attach properties through their own maps (OpProperty):
// kernels, layout rules, fusion patterns. A property of an operator is set
// once: by its registration or by one extension.

#ifndef BATON_IR_OP_H_
#define BATON_IR_OP_H_

#include <cstddef>
#include <initializer_list>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "absl/types/span.h"
#include "baton/base/macros.h"
#include "baton/base/registry.h"
#include "baton/ir/attrs.h"
#include "baton/ir/attrs_registry.h"
#include "baton/ir/expr.h"
#include "baton/ir/node.h"
#include "baton/ir/node_fields.h"
#include "baton/ir/type.h"

namespace baton {

class TypeRelationContext;

// Computes the result type of a call of an operator from the types of its
// arguments. A null result means that an argument type which the relation needs
// is not yet known: inference calls the relation again when it has found more
// types. An error means that the call is ill-typed.
using TypeRelationFn = absl::StatusOr<Type> (*)(TypeRelationContext& context);

// The name and the documentation of an argument.
struct OpArgument {
  std::string name;
  std::string doc;
};

// A registered operator. One node for each, never destroyed.
class OpNode final : public ExprNode {
 public:
  BATON_NODE(Op, ExprNode, IrKind::kOp)
  static constexpr int kNodeField = 13;

  const std::string& name() const { return name_; }
  std::string Describe() const { return "operator " + name_; }
  const std::string& doc() const { return doc_; }
  absl::Span<const OpArgument> arguments() const { return arguments_; }
  // The number of arguments; -1 if any number is accepted.
  int arity() const { return arity_; }
  // Null if the operator takes no attributes.
  const AttrsType* attrs_type() const { return attrs_type_; }
  TypeRelationFn type_relation() const { return type_relation_; }
  // A small, unique index, for arrays with an element for each operator; -1 for
  // a stand-in (see Op::FindOrStandIn).
  int index() const { return index_; }

  static constexpr auto Fields() {
    return field::List(field::Data<1, &OpNode::name_>("name"),
                       field::Derived<&OpNode::doc_>("doc"),
                       field::Derived<&OpNode::arguments_>("arguments"),
                       field::Derived<&OpNode::arity_>("arity"),
                       field::Derived<&OpNode::attrs_type_>("attrs_type"),
                       field::Derived<&OpNode::type_relation_>("type_relation"),
                       field::Derived<&OpNode::index_>("index"));
  }
  static constexpr auto BaseFields() { return FixedTypeFields(); }

 private:
  friend class Op;
  friend class OpRegistry;
  friend class OpRegistration;
  OpNode(std::string name, int index)
      : ExprNode(kKind, {}, {}), name_(std::move(name)), index_(index) {}

  std::string name_;
  std::string doc_;
  std::vector<OpArgument> arguments_;
  const AttrsType* attrs_type_ = nullptr;
  TypeRelationFn type_relation_ = nullptr;
  int arity_ = -1;
  int index_ = 0;
};

class Op : public Expr {
 public:
  BATON_HANDLE(Op, Expr, OpNode)
  // The registered operator of that name; null if there is none, or if several
  // were registered.
  static Op Find(absl::string_view name);
  // As Find, but with an error that names the nearest known operators, or the
  // places where several were registered.
  static absl::StatusOr<Op> Get(absl::string_view name);
  // As Find, but if there is no such operator, returns a stand-in of that name
  // that is not in the registry. A stand-in has index -1, no properties and no
  // type relation. Type inference of a call of it reports that the operator's
  // library is not linked in.
  static Op FindOrStandIn(absl::string_view name);
};

// The registered operator `name`, as a `const Op&`. The first evaluation, on
// any thread, looks it up and caches it. For an operator that is not linked in,
// see Op::FindOrStandIn.
//
//   Expr Sigmoid(Expr data) {
//     return Call(BATON_OP("sigmoid"), {std::move(data)});
//   }
#define BATON_OP(name)                                      \
  ([]() -> const ::baton::Op& {                             \
    static const ::baton::Op& baton_op =                    \
        *new ::baton::Op(::baton::Op::FindOrStandIn(name)); \
    return baton_op;                                        \
  }())

// A typed property of operators, defined by a package above `ir/`. Look-up is
// an array access. Written only during registration.
template <typename T>
class OpProperty {
 public:
  void Set(const OpNode& op, T value) {
    const size_t i = static_cast<size_t>(op.index());
    if (values_.size() <= i) values_.resize(i + 1);
    values_[i] = std::move(value);
  }
  // Null if `op` does not have the property.
  const T* Get(const OpNode& op) const {
    const size_t i = static_cast<size_t>(op.index());
    return i < values_.size() && values_[i].has_value() ? &*values_[i]
                                                        : nullptr;
  }
  // Null also if `expr` is not an operator.
  const T* Get(const Expr& expr) const {
    const OpNode* op = expr.As<OpNode>();
    return op == nullptr ? nullptr : Get(*op);
  }

 private:
  std::vector<std::optional<T>> values_;
};

// Operators by name. Thread-safe. Nodes of all programs refer to operators:
// unlike other registries, this one is never copied, and entries are never
// replaced.
class OpRegistry {
 public:
  static OpRegistry& Global();

  // Null if there is no operator of that name, or if several were registered.
  const OpNode* Find(absl::string_view name) const {
    const OpNode* const* op = registered_.Find(name);
    return op == nullptr ? nullptr : *op;
  }
  // As Find, but with an error that names the nearest known operators, or the
  // places where several were registered.
  absl::StatusOr<const OpNode*> Get(absl::string_view name) const;
  // The operators that Find() can find, sorted by name.
  std::vector<const OpNode*> List() const;
  // Up to three names that resemble `name`, nearest first.
  std::vector<std::string> Suggest(absl::string_view name) const;

  // The errors of the registrations, one message for each: names registered
  // several times, extensions of operators that do not exist, properties set
  // twice.
  std::vector<std::string> Errors() const;

 private:
  friend class OpRegistration;
  friend class OpExtension;
  // Names that were registered or extended, and where properties were set.
  struct Declarations;

  OpRegistry();
  // Null if the operator was already registered.
  OpNode* Register(absl::string_view name, CodeLocation location);
  OpNode* Extend(absl::string_view name, CodeLocation location);
  // Returns false if the property `map` of `op` was already set at another
  // place.
  bool MaySet(const void* map, const OpNode* op, CodeLocation location);

  Registry<const OpNode*> registered_;
  std::unique_ptr<Declarations> declarations_;
};

// Registers an operator: the result of BATON_REGISTER_OP.
class OpRegistration {
 public:
  explicit OpRegistration(absl::string_view name,
                          CodeLocation location = CodeLocation::Current())
      : location_(location),
        op_(OpRegistry::Global().Register(name, location)) {}

  OpRegistration& Describe(absl::string_view doc) {
    if (op_ != nullptr) op_->doc_ = std::string(doc);
    return *this;
  }
  // Also sets the arity.
  OpRegistration& Arguments(std::initializer_list<OpArgument> arguments) {
    if (op_ == nullptr) return *this;
    op_->arguments_ = arguments;
    op_->arity_ = static_cast<int>(arguments.size());
    return *this;
  }
  OpRegistration& Variadic() {
    if (op_ != nullptr) op_->arity_ = -1;
    return *this;
  }
  // Also registers the attributes (attrs_registry.h).
  template <typename T>
  OpRegistration& TakesAttrs() {
    internal::RegisterAttrsType(AttrsType::Of<T>(), location_);
    if (op_ != nullptr) op_->attrs_type_ = &AttrsType::Of<T>();
    return *this;
  }
  OpRegistration& TypeRelation(TypeRelationFn relation) {
    if (op_ != nullptr) op_->type_relation_ = relation;
    return *this;
  }
  template <typename T, typename U>
  OpRegistration& Set(OpProperty<T>& map, U&& value) {
    if (op_ != nullptr && OpRegistry::Global().MaySet(&map, op_, location_)) {
      map.Set(*op_, T(std::forward<U>(value)));
    }
    return *this;
  }

 private:
  CodeLocation location_;
  OpNode* op_;  // null if the registration was refused
};

// Sets properties of an operator: the result of BATON_EXTEND_OP.
class OpExtension {
 public:
  explicit OpExtension(absl::string_view name,
                       CodeLocation location = CodeLocation::Current())
      : location_(location), op_(OpRegistry::Global().Extend(name, location)) {}

  template <typename T, typename U>
  OpExtension& Set(OpProperty<T>& map, U&& value) {
    if (OpRegistry::Global().MaySet(&map, op_, location_)) {
      map.Set(*op_, T(std::forward<U>(value)));
    }
    return *this;
  }

 private:
  CodeLocation location_;
  const OpNode* op_;
};

#define BATON_REGISTER_OP(name)                                            \
  [[maybe_unused]] static const ::baton::OpRegistration BATON_UNIQUE_NAME( \
      baton_op_registration_) = ::baton::OpRegistration(name)
#define BATON_EXTEND_OP(name)                                           \
  [[maybe_unused]] static const ::baton::OpExtension BATON_UNIQUE_NAME( \
      baton_op_extension_) = ::baton::OpExtension(name)

}  // namespace baton

#endif  // BATON_IR_OP_H_
