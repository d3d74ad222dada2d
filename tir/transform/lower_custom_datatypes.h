// LowerCustomDatatypes: makes operations on data types that a user registered
// calls of functions.
//
// No such types can be registered, so programs have none.

#ifndef BATON_TIR_TRANSFORM_LOWER_CUSTOM_DATATYPES_H_
#define BATON_TIR_TRANSFORM_LOWER_CUSTOM_DATATYPES_H_

#include "baton/transform/pass.h"

namespace baton::tir {

// Changes nothing. Each function must have a target, whose functions would be
// called.
Pass LowerCustomDatatypes();

}  // namespace baton::tir

#endif  // BATON_TIR_TRANSFORM_LOWER_CUSTOM_DATATYPES_H_
