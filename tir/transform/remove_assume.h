// RemoveAssume: removes assumptions.
//
//   T.evaluate(T.assume(n > 0))       T.evaluate(0)

#ifndef BATON_TIR_TRANSFORM_REMOVE_ASSUME_H_
#define BATON_TIR_TRANSFORM_REMOVE_ASSUME_H_

#include "baton/transform/pass.h"

namespace baton::tir {

// Removes statements T.assume(...) and what becomes empty.
Pass RemoveAssume();

}  // namespace baton::tir

#endif  // BATON_TIR_TRANSFORM_REMOVE_ASSUME_H_
