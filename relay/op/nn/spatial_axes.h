// Defaults of attributes that operators for one, two and three spatial axes
// have in common.

#ifndef BATON_RELAY_OP_NN_SPATIAL_AXES_H_
#define BATON_RELAY_OP_NN_SPATIAL_AXES_H_

#include <cstddef>
#include <cstdint>
#include <string>

#include "baton/ir/type.h"

namespace baton::relay {

// `kAxes` times `number`.
template <size_t kAxes>
Dims ForEachAxis(int64_t number) {
  return Dims(kAxes, Dim(number));
}

// `letters` and the names of the spatial axes: `NC` gives NCW, NCHW or NCDHW.
template <int kAxes>
std::string WithSpatialAxes(std::string letters) {
  static_assert(kAxes >= 1 && kAxes <= 3);
  constexpr const char* kSpatialAxes[] = {"W", "HW", "DHW"};
  return letters + kSpatialAxes[kAxes - 1];
}

}  // namespace baton::relay

#endif  // BATON_RELAY_OP_NN_SPATIAL_AXES_H_
