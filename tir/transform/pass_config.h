// Lets structs with a field list be settings of a PassContext.
//
//   struct UnrollLoopConfig {
//     static constexpr bool kIsPassConfig = true;
//     int64_t auto_max_step = 0;
//     template <typename V>
//     static void VisitFields(V& v) {
//       v("auto_max_step", &UnrollLoopConfig::auto_max_step, "...");
//     }
//   };
//   BATON_REGISTER_CONFIG(kConfig, UnrollLoopConfig, "tir.UnrollLoop", {},
//                         "Limits of automatic unrolling.");
//
//   --config=tir.UnrollLoop={auto_max_step=16}

#ifndef BATON_TIR_TRANSFORM_PASS_CONFIG_H_
#define BATON_TIR_TRANSFORM_PASS_CONFIG_H_

#include <string>
#include <utility>

#include "absl/status/status.h"
#include "baton/base/attr_value.h"
#include "baton/base/fields.h"

namespace baton {

// Fields that a value does not name have their defaults.
template <typename T>
requires(T::kIsPassConfig) struct AttrTraits<T, void> {
  static std::string Name() { return "{string: value}"; }
  static AttrValue ToValue(const T& value) {
    return FieldsOf<T>().NonDefault(&value);
  }
  static absl::Status FromValue(const AttrValue& value, T* out) {
    AttrMap map;
    absl::Status status = AttrTraits<AttrMap>::FromValue(value, &map);
    if (!status.ok()) return status;
    T result;
    status = FieldsOf<T>().Assign(map, &result);
    if (status.ok()) *out = std::move(result);
    return status;
  }
};

}  // namespace baton

#endif  // BATON_TIR_TRANSFORM_PASS_CONFIG_H_
