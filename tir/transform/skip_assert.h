// SkipAssert: removes assertions.
//
//   assert n > 0, "n"      A[n] = 1
//   A[n] = 1

#ifndef BATON_TIR_TRANSFORM_SKIP_ASSERT_H_
#define BATON_TIR_TRANSFORM_SKIP_ASSERT_H_

#include "baton/transform/pass.h"

namespace baton::tir {

Pass SkipAssert();

}  // namespace baton::tir

#endif  // BATON_TIR_TRANSFORM_SKIP_ASSERT_H_
