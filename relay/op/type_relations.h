// Type relations that many operators share, and helpers for the others.

#ifndef BATON_RELAY_OP_TYPE_RELATIONS_H_
#define BATON_RELAY_OP_TYPE_RELATIONS_H_

#include <cstdint>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "absl/types/span.h"
#include "baton/base/dtype.h"
#include "baton/base/layout.h"
#include "baton/ir/type.h"
#include "baton/ir/type_relation.h"

namespace baton::relay {

// The result has the type of the first argument, which may be any type.
absl::StatusOr<Type> IdentityRel(TypeRelationContext& context);
// As IdentityRel, for operators on tensors.
absl::StatusOr<Type> TensorIdentityRel(TypeRelationContext& context);
// The result is a bool tensor of the shape of the argument.
absl::StatusOr<Type> PredicateRel(TypeRelationContext& context);
// Both arguments are broadcast to one shape and must have one element type.
absl::StatusOr<Type> BroadcastRel(TypeRelationContext& context);
// As BroadcastRel, with a bool result.
absl::StatusOr<Type> BroadcastCompareRel(TypeRelationContext& context);

// The tensor type with `shape` and `dtype`. Returns the type of argument `like`
// itself if it is equal.
Type TensorLike(const TypeRelationContext& context, int like,
                absl::Span<const Dim> shape, DType dtype);

// The shape to which both `a` and `b` broadcast. The error names both shapes.
absl::StatusOr<Dims> BroadcastShapes(const TypeRelationContext& context,
                                     absl::Span<const Dim> a,
                                     absl::Span<const Dim> b);

// Unifies the type of argument `i` with the tensor type of `shape` and `dtype`:
// infers an unknown type, and checks a known one. The error names argument and
// types.
absl::Status ExpectArg(TypeRelationContext& context, int i,
                       absl::Span<const Dim> shape, DType dtype);

// Converts a negative `axis`, counted from the end, to a non-negative one. The
// error names `what`.
absl::StatusOr<int> NormalizeAxis(const TypeRelationContext& context,
                                  int64_t axis, int rank,
                                  absl::string_view what = "axis");

// Errors if a result would have more axes, or a tuple more fields, than the
// limits allow (base/limits.h). A relation that takes a count from an attribute
// must call these before it allocates that many elements.
absl::Status ExpectRankInLimit(const TypeRelationContext& context,
                               int64_t rank);
absl::Status ExpectFieldsInLimit(const TypeRelationContext& context,
                                 int64_t fields);

// An error unless `rank` is the rank of argument `i`.
absl::Status ExpectRank(const TypeRelationContext& context, int i,
                        const TensorTypeNode& type, int rank);

// Parses `text`, the layout in attribute `what`. An error if it cannot be
// converted to `canonical`. The result points to `canonical` or to `storage`,
// which receives the layout.
absl::StatusOr<const Layout*> ParseLayout(const TypeRelationContext& context,
                                          absl::string_view what,
                                          absl::string_view text,
                                          const Layout& canonical,
                                          Layout& storage);

// The shape of argument `i`, converted from layout `from` to layout `to`.
absl::StatusOr<Dims> ConvertArgShape(const TypeRelationContext& context, int i,
                                     const TensorTypeNode& type,
                                     const Layout& from, const Layout& to);

// Converts `shape` from layout `from` to layout `to`.
absl::StatusOr<Dims> ToLayout(const TypeRelationContext& context, Dims shape,
                              const Layout& from, const Layout& to);

// The fields of argument `i`, a tuple of tensors of one element type. Empty if
// the type of a field is not yet known.
absl::StatusOr<std::vector<const TensorTypeNode*>> TensorFields(
    TypeRelationContext& context, int i);

}  // namespace baton::relay

#endif  // BATON_RELAY_OP_TYPE_RELATIONS_H_
