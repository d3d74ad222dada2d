// How operators compute with padded arguments, for padded_sizes.h.

#ifndef BATON_BACKEND_CPU_PADDED_RULES_H_
#define BATON_BACKEND_CPU_PADDED_RULES_H_

#include <cstddef>
#include <cstdint>
#include <initializer_list>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "baton/base/dtype.h"
#include "baton/ir/op.h"
#include "baton/ir/type.h"
#include "baton/relay/ir/expr.h"

namespace baton::cpu {

class ValueRanges;

// A value with constant sizes.
struct Padded {
  Expr value = {};  // typed
  // The extents of a tensor, by axis: how many indices are its own, an
  // int64 scalar; null if all are. Empty if all are on each axis.
  std::vector<Expr> extents = {};
  // The fields of a tuple that has such a tensor. `value` is null then.
  std::vector<Padded> fields = {};
  // True for the result of a call that was refused, and what depends on it.
  bool is_refused = false;

  int rank() const { return value->tensor_type()->rank(); }
  int64_t bound(int axis) const {
    return value->tensor_type()->dim(axis).value();
  }
  const Expr& extent(int axis) const;
  // The number of indices of an axis that are its own, an int64 scalar: that of
  // `extents`, or else the bound.
  Expr own_extent(int axis) const;
  bool is_padded() const;
};

// A call whose arguments are padded.
struct PaddedCall {
  const relay::CallNode& call;
  ValueRanges& ranges;  // of the function of the call
  std::vector<Padded> args;

  template <typename A>
  A attrs() const {
    const A* given = call.attrs_as<A>();
    return given == nullptr ? A() : *given;
  }
  const Padded& arg(size_t i) const { return args[i]; }

  // The call with `values` as its arguments, typed.
  absl::StatusOr<Expr> With(std::vector<Expr> values) const;
  // The call with the padded arguments.
  absl::StatusOr<Expr> Rebuilt() const;
  // An error if an argument is padded whose number is not in `allowed`.
  absl::Status OnlyPadded(std::initializer_list<size_t> allowed) const;
};

// Computes a call of an operator with padded arguments, or one whose result has
// a data-dependent shape.
using PaddedRule = absl::StatusOr<Padded> (*)(const PaddedCall& call);

// The rule of an operator; null if it has none.
const PaddedRule* PaddedRuleOf(const Expr& op);

// The extents of `x` without padding, a vector of `dtype`.
Expr ExtentsOf(const Padded& x, DType dtype);

// The elements of `x` itself, in row-major order, in front of the padding.
absl::StatusOr<Expr> DenseElements(const Padded& x);

}  // namespace baton::cpu

#endif  // BATON_BACKEND_CPU_PADDED_RULES_H_
