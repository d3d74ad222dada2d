// CapturePostDfsIndexInSpans: gives every expression a place with its number in
// the function and the number of its post-dominator, for debugging of
// partitioning.
//
// The place is in a source called `index`, whose line N (the first is 0) is
// `index:N:D`. N numbers expressions in depth-first order, each after its
// operands: the callee and the arguments before a call; the value, the variable
// and the body of a let in this order. D is the nearest expression on every
// path from N to the result; -1 if there is none.
//
// Operators, constructors and global variables belong to no program and have no
// place.

#ifndef BATON_RELAY_TRANSFORM_CAPTURE_POST_DFS_INDEX_IN_SPANS_H_
#define BATON_RELAY_TRANSFORM_CAPTURE_POST_DFS_INDEX_IN_SPANS_H_

#include "baton/transform/pass.h"

namespace baton::relay {

// A function pass of level 0.
Pass CapturePostDfsIndexInSpans();

}  // namespace baton::relay

#endif  // BATON_RELAY_TRANSFORM_CAPTURE_POST_DFS_INDEX_IN_SPANS_H_
