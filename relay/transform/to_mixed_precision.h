// ToMixedPrecision: computes in a shorter floating-point type where that is
// faster and accurate enough.
//
// Operators are of three categories. Operators that gain always compute in the
// shorter type. Operators that follow do so if their arguments already have it.
// The others compute in float32. Casts are inserted where arguments differ.
//
// Values that cross other boundaries keep their types: arguments of functions
// and constructors, values in references, results of branches that would
// differ, results of functions that are called by name, are recursive, or are
// values themselves. The result of @main gets the type in which it is computed,
// if nothing calls @main.

#ifndef BATON_RELAY_TRANSFORM_TO_MIXED_PRECISION_H_
#define BATON_RELAY_TRANSFORM_TO_MIXED_PRECISION_H_

#include <cstdint>

#include "baton/base/dtype.h"
#include "baton/base/fields.h"
#include "baton/ir/op.h"
#include "baton/relay/ir/expr.h"
#include "baton/transform/pass.h"

namespace baton::relay {

struct ToMixedPrecisionOptions {
  DType mixed_precision_type = DType::Float(16);
  int64_t missing_op_mode = 1;

  template <typename V>
  static void VisitFields(V& v) {
    v("mixed_precision_type", &ToMixedPrecisionOptions::mixed_precision_type,
      "The floating-point type to compute in.");
    v("missing_op_mode", &ToMixedPrecisionOptions::missing_op_mode,
      "The treatment of operators without a category: 0 is an error; with 1 "
      "and 2 they follow their arguments, with 1 and a remark.");
  }
};

// A function pass of level 0. If the setting
// `relay.ToMixedPrecision.keep_orig_output_dtype` is on, the result of @main
// keeps its type.
Pass ToMixedPrecision(ToMixedPrecisionOptions options = {});

// The category of an operator.
enum class PrecisionCategory {
  kAlways,     // gains from the shorter type
  kFollow,     // does not, but can be computed in it
  kNever,      // loses too much accuracy
  kUnchanged,  // its arguments must keep their types
};

// The conversion of one call.
struct PrecisionConversion {
  PrecisionCategory category;
  // The dtype in which the operator accumulates, if it has an attribute for it.
  DType accumulation_dtype;
  // The dtype to which the result is cast.
  DType output_dtype;
};

// The conversion of a call of an operator; `dtype` is the shorter type.
using PrecisionRule = PrecisionConversion (*)(const CallNode& call,
                                              DType dtype);
OpProperty<PrecisionRule>& PrecisionRules();

}  // namespace baton::relay

#endif  // BATON_RELAY_TRANSFORM_TO_MIXED_PRECISION_H_
