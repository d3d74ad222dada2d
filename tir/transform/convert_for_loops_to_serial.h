// ConvertForLoopsToSerial: makes parallel loops serial ones.
//
//   for i in T.parallel(8):       for i in range(8):

#ifndef BATON_TIR_TRANSFORM_CONVERT_FOR_LOOPS_TO_SERIAL_H_
#define BATON_TIR_TRANSFORM_CONVERT_FOR_LOOPS_TO_SERIAL_H_

#include "baton/transform/pass.h"

namespace baton::tir {

// Parallel loops within parallel ones stay.
Pass ConvertForLoopsToSerial();

}  // namespace baton::tir

#endif  // BATON_TIR_TRANSFORM_CONVERT_FOR_LOOPS_TO_SERIAL_H_
