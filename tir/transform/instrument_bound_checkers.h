// InstrumentBoundCheckers: stores only where all indices of a statement are
// within their bounds.
//
//   A[i] = B[i]      if i >= 0 and i < n: A[i] = B[i]
//                    else: assert ..., "OUT OF THE BOUNDS"

#ifndef BATON_TIR_TRANSFORM_INSTRUMENT_BOUND_CHECKERS_H_
#define BATON_TIR_TRANSFORM_INSTRUMENT_BOUND_CHECKERS_H_

#include "baton/transform/pass.h"

namespace baton::tir {

// For memory with the attribute `buffer_bound`, whose value is a call with the
// extents, and for allocations of such memory. Statements with a conditional
// value stay.
Pass InstrumentBoundCheckers();

}  // namespace baton::tir

#endif  // BATON_TIR_TRANSFORM_INSTRUMENT_BOUND_CHECKERS_H_
