// Arguments close to others: what a program makes of the difference says how
// far off its results are when values inside of it are rounded.

#ifndef BATON_INSTRUMENT_NEARBY_INPUTS_H_
#define BATON_INSTRUMENT_NEARBY_INPUTS_H_

#include "baton/relay/runtime/value.h"

namespace baton {

// Which way elements go.
enum class NearbyInputs { kAbove, kBelow, kEitherWay };

// `value` with each floating-point element of its tensors, those that are
// fields of it as well, moved by `tolerance` times the largest finite magnitude
// of its tensor, and each integer of at most 16 bits, which may be quantized,
// by that or by one, whichever is more, within its dtype. kEitherWay: up or
// down at random, the same way each time.
Value MovedBy(const Value& value, double tolerance, NearbyInputs which);

}  // namespace baton

#endif  // BATON_INSTRUMENT_NEARBY_INPUTS_H_
