// NarrowDataType: computes indices with fewer bits where they fit.
//
//   i: T.int64                          i: T.int32
//   for i in range(T.int64(8)):         for i in range(8):
//       B[i * T.int64(4)] = ...             B[i * 4] = ...

#ifndef BATON_TIR_TRANSFORM_NARROW_DATA_TYPE_H_
#define BATON_TIR_TRANSFORM_NARROW_DATA_TYPE_H_

#include <cstdint>

#include "baton/base/fields.h"
#include "baton/transform/pass.h"

namespace baton::tir {

struct NarrowDataTypeOptions {
  int64_t target_bits = 32;

  template <typename V>
  static void VisitFields(V& v) {
    v("target_bits", &NarrowDataTypeOptions::target_bits,
      "The number of bits that integers get.", kRequired);
  }
};

// Narrows variables of loops, threads and blocks, integers and casts if all
// expressions that contain them have values that fit. Others keep their types.
Pass NarrowDataType(NarrowDataTypeOptions options);

}  // namespace baton::tir

#endif  // BATON_TIR_TRANSFORM_NARROW_DATA_TYPE_H_
