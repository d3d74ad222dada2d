// RemoveStoreUndef: removes stores of undefined values.
//
//   A[i] = T.undef()       T.evaluate(0)

#ifndef BATON_TIR_TRANSFORM_REMOVE_STORE_UNDEF_H_
#define BATON_TIR_TRANSFORM_REMOVE_STORE_UNDEF_H_

#include "baton/transform/pass.h"

namespace baton::tir {

// Removes each store of a value that depends on T.undef(), also by way of a
// let, and what becomes empty. An error if T.undef() is left.
Pass RemoveStoreUndef();

}  // namespace baton::tir

#endif  // BATON_TIR_TRANSFORM_REMOVE_STORE_UNDEF_H_
