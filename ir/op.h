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
// Packages above `ir/` attach what they need through maps of their own
// (OpAttrMap): kernels, layout rules, fusion patterns.

#ifndef BATON_IR_OP_H_
#define BATON_IR_OP_H_

#include <cstddef>
#include <cstdint>
#include <initializer_list>
#include <memory>
#include <optional>
#include <string>
#include <tuple>
#include <utility>
#include <vector>

#include "absl/container/flat_hash_map.h"
#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "absl/types/span.h"
#include "baton/ir/attrs.h"
#include "baton/ir/expr.h"
#include "baton/ir/node.h"
#include "baton/ir/node_fields.h"
#include "baton/ir/type.h"

namespace baton {

class TypeRelationContext;

// Computes the result type of a call of an operator from the types of its
// arguments. A null Type means "not yet": an argument type that the relation
// needs is not known; it will be asked again when more is. An error means that
// the call is ill-typed.
using TypeRelationFn = absl::StatusOr<Type> (*)(TypeRelationContext& context);

struct OpArgument {
  std::string name;
  std::string doc;
};

// A registered operator. One node for each, never destroyed.
class OpNode final : public ExprNode {
 public:
  BATON_NODE(Op, ExprNode, IrKind::kOp)

  const std::string& name() const { return name_; }
  const std::string& doc() const { return doc_; }
  absl::Span<const OpArgument> arguments() const { return arguments_; }
  // Number of arguments; -1 if any number is accepted.
  int arity() const { return arity_; }
  // Null if the operator takes no attributes.
  const AttrsType* attrs_type() const { return attrs_type_; }
  TypeRelationFn type_relation() const { return type_relation_; }
  // Position in the registry, from 0 in order of registration.
  int index() const { return index_; }

  static constexpr auto Fields() {
    return std::tuple(field::Data<1, &OpNode::name_>("name"),
                      field::Derived<&OpNode::doc_>("doc"),
                      field::Derived<&OpNode::arguments_>("arguments"),
                      field::Derived<&OpNode::arity_>("arity"),
                      field::Derived<&OpNode::attrs_type_>("attrs_type"),
                      field::Derived<&OpNode::type_relation_>("type_relation"),
                      field::Derived<&OpNode::index_>("index"));
  }
  static constexpr auto BaseFields() { return FixedTypeFields(); }

 private:
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
  // The registered operator of that name; null if there is none.
  static Op Find(absl::string_view name);
  // The same; an error names the nearest known operators.
  static absl::StatusOr<Op> Get(absl::string_view name);
};

// A typed property of operators that some package above `ir/` defines. Look-up
// is an array access. Written during registration only.
template <typename T>
class OpAttrMap {
 public:
  void Set(const OpNode& op, T value) {
    const size_t i = static_cast<size_t>(op.index());
    if (values_.size() <= i) values_.resize(i + 1);
    values_[i] = std::move(value);
  }
  // Null if `op` has no such property.
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

class OpRegistry {
 public:
  static OpRegistry& Global();

  // The operator of that name, made if there is none.
  OpNode& Declare(absl::string_view name);
  const OpNode* Find(absl::string_view name) const;
  // All, in order of registration: element `i` has index `i`.
  absl::Span<const OpNode* const> ops() const { return ops_; }
  // All, sorted by name.
  std::vector<const OpNode*> List() const;
  // Up to three names that resemble `name`, nearest first.
  std::vector<std::string> Suggest(absl::string_view name) const;

 private:
  OpRegistry() = default;

  std::vector<OpNode*> ops_;
  absl::flat_hash_map<std::string, OpNode*> by_name_;
};

class OpRegistration {
 public:
  explicit OpRegistration(absl::string_view name)
      : op_(&OpRegistry::Global().Declare(name)) {}

  OpRegistration& Describe(absl::string_view doc) {
    op_->doc_ = std::string(doc);
    return *this;
  }
  // Also sets the arity.
  OpRegistration& Arguments(std::initializer_list<OpArgument> arguments) {
    op_->arguments_ = arguments;
    op_->arity_ = static_cast<int>(arguments.size());
    return *this;
  }
  OpRegistration& Variadic() {
    op_->arity_ = -1;
    return *this;
  }
  template <typename T>
  OpRegistration& TakesAttrs() {
    op_->attrs_type_ = &AttrsType::Of<T>();
    return *this;
  }
  OpRegistration& TypeRelation(TypeRelationFn relation) {
    op_->type_relation_ = relation;
    return *this;
  }
  template <typename T, typename U>
  OpRegistration& Set(OpAttrMap<T>& map, U&& value) {
    map.Set(*op_, T(std::forward<U>(value)));
    return *this;
  }

 private:
  OpNode* op_;
};

#define BATON_REGISTER_OP(name)                                           \
  [[maybe_unused]] static const ::baton::OpRegistration BATON_OP_CONCAT_( \
      baton_op_registration_, __COUNTER__) = ::baton::OpRegistration(name)
#define BATON_OP_CONCAT_(a, b) BATON_OP_CONCAT_IMPL_(a, b)
#define BATON_OP_CONCAT_IMPL_(a, b) a##b

}  // namespace baton

#endif  // BATON_IR_OP_H_
