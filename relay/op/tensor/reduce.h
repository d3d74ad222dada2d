// Reduction operators.

#ifndef BATON_RELAY_OP_TENSOR_REDUCE_H_
#define BATON_RELAY_OP_TENSOR_REDUCE_H_

#include <cstdint>
#include <optional>
#include <vector>

#include "baton/base/fields.h"
#include "baton/relay/ir/expr.h"

namespace baton::relay {

// sum, mean, max, min, prod, all, any
struct ReduceAttrs {
  std::optional<std::vector<int64_t>> axis;
  bool keepdims = false;
  bool exclude = false;

  static constexpr char kTypeKey[] = "relay.attrs.ReduceAttrs";
  template <typename V>
  static void VisitFields(V& v) {
    v("axis", &ReduceAttrs::axis, "The axes to reduce; all if not given.");
    v("keepdims", &ReduceAttrs::keepdims,
      "Keep the reduced axes, with extent 1.");
    v("exclude", &ReduceAttrs::exclude,
      "Reduce the axes that are not named instead.");
  }
};

// argmax, argmin
struct ArgReduceAttrs {
  std::optional<std::vector<int64_t>> axis;
  bool keepdims = false;
  bool select_last_index = false;
  bool exclude = false;

  static constexpr char kTypeKey[] = "relay.attrs.ArgReduceAttrs";
  template <typename V>
  static void VisitFields(V& v) {
    v("axis", &ArgReduceAttrs::axis, "The axes to reduce; all if not given.");
    v("keepdims", &ArgReduceAttrs::keepdims,
      "Keep the reduced axes, with extent 1.");
    v("select_last_index", &ArgReduceAttrs::select_last_index,
      "Take the last of equal elements; otherwise the first.");
    v("exclude", &ArgReduceAttrs::exclude,
      "Reduce the axes that are not named instead.");
  }
};

struct VarianceAttrs {
  std::optional<std::vector<int64_t>> axis;
  bool keepdims = false;
  bool exclude = false;
  bool unbiased = false;

  static constexpr char kTypeKey[] = "relay.attrs.VarianceAttrs";
  template <typename V>
  static void VisitFields(V& v) {
    v("axis", &VarianceAttrs::axis, "The axes to reduce; all if not given.");
    v("keepdims", &VarianceAttrs::keepdims,
      "Keep the reduced axes, with extent 1.");
    v("exclude", &VarianceAttrs::exclude,
      "Reduce the axes that are not named instead.");
    v("unbiased", &VarianceAttrs::unbiased, "Divide by N - 1 instead of N.");
  }
};

// Builders of calls.

// Reductions: `Sum(x, {.axis = {{2, 3}}, .keepdims = true})`.
Expr All(Expr data, ReduceAttrs attrs = {});
Expr Any(Expr data, ReduceAttrs attrs = {});
Expr ArgMax(Expr data, ArgReduceAttrs attrs = {});
Expr ArgMin(Expr data, ArgReduceAttrs attrs = {});
Expr Max(Expr data, ReduceAttrs attrs = {});
Expr Mean(Expr data, ReduceAttrs attrs = {});
Expr Min(Expr data, ReduceAttrs attrs = {});
Expr Prod(Expr data, ReduceAttrs attrs = {});
Expr Sum(Expr data, ReduceAttrs attrs = {});
// Computes the mean first.
Expr Variance(Expr data, VarianceAttrs attrs = {});
// As above, with a given mean whose reduced axes have extent 1.
Expr Variance(Expr data, Expr mean, VarianceAttrs attrs);
Expr Std(Expr data, VarianceAttrs attrs = {});

}  // namespace baton::relay

#endif  // BATON_RELAY_OP_TENSOR_REDUCE_H_
