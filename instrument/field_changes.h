// Compares the fields of two nodes of one class.

#ifndef BATON_INSTRUMENT_FIELD_CHANGES_H_
#define BATON_INSTRUMENT_FIELD_CHANGES_H_

#include <string>
#include <vector>

#include "baton/ir/expr.h"
#include "baton/ir/type.h"

namespace baton {

// A field of a node whose value changed: `attrs.strides`, `args[1]`, `type`.
struct FieldChange {
  std::string field;
  // The values as text; for operands, the nodes.
  std::string before = {};
  std::string after = {};
  Expr before_node = {};
  Expr after_node = {};
};

namespace internal {

// True if both are null, or equal up to the names of their free variables.
bool SameType(const Type& a, const Type& b);

// The type as text; `none` if it is null.
std::string TypeOrNone(const Type& type);

// The fields that differ in `a` and `b`, two nodes of one class: attributes,
// annotations and data, and the patterns of a match; no children, and not the
// inferred types. A function of another level than Relay has one field, `body`.
std::vector<FieldChange> CompareFields(const ExprNode* a, const ExprNode* b);

}  // namespace internal

}  // namespace baton

#endif  // BATON_INSTRUMENT_FIELD_CHANGES_H_
