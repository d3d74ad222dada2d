// LowerCustomDatatypes: in TVM, replaces operations on data types that a user
// registered by calls of the target's functions. Here no data types can be
// registered.

#ifndef BATON_TIR_TRANSFORM_LOWER_CUSTOM_DATATYPES_H_
#define BATON_TIR_TRANSFORM_LOWER_CUSTOM_DATATYPES_H_

#include "baton/transform/pass.h"

namespace baton::tir {

// Changes nothing; an error if a function has no target.
Pass LowerCustomDatatypes();

}  // namespace baton::tir

#endif  // BATON_TIR_TRANSFORM_LOWER_CUSTOM_DATATYPES_H_
