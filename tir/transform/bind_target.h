// BindTarget: sets the target of functions. Filter: removes the functions for
// which a condition is false.
//
//   def main(A: ...):   T.func_attr({"target": T.target("cuda", host="llvm")})

#ifndef BATON_TIR_TRANSFORM_BIND_TARGET_H_
#define BATON_TIR_TRANSFORM_BIND_TARGET_H_

#include <functional>
#include <string>

#include "baton/base/attr_value.h"
#include "baton/base/fields.h"
#include "baton/tir/ir/function.h"
#include "baton/transform/pass.h"

namespace baton::tir {

struct BindTargetOptions {
  AttrMap target;

  template <typename V>
  static void VisitFields(V& v) {
    v("target", &BindTargetOptions::target,
      "The configuration of the target: its kind, keys, host ...", kRequired);
  }
};

// Sets the attribute `target`:
// - of a function without it: the target, with its host if the function has a
//   global symbol; the host alone if the function runs on the host;
// - of a function with a global symbol whose target has no host: that target
//   with the host.
Pass BindTarget(BindTargetOptions options);

// Removes the functions of loops for which `condition` is false.
Pass Filter(std::function<bool(const PrimFunc&)> condition);

struct FilterOptions {
  std::string attr;
  AttrValue value;

  template <typename V>
  static void VisitFields(V& v) {
    v("attr", &FilterOptions::attr, "The name of the attribute.", kRequired);
    v("value", &FilterOptions::value,
      "The value that it must have; none: any but false and 0.");
  }
};

// Filter() of an attribute.
Pass FilterByAttr(FilterOptions options);

}  // namespace baton::tir

#endif  // BATON_TIR_TRANSFORM_BIND_TARGET_H_
