// Moves arguments slightly: the change of the results bounds the error that
// rounding inside the program causes.

#ifndef BATON_INSTRUMENT_NEARBY_INPUTS_H_
#define BATON_INSTRUMENT_NEARBY_INPUTS_H_

#include "baton/relay/runtime/value.h"

namespace baton {

// The direction in which elements move.
enum class NearbyInputs { kAbove, kBelow, kEitherWay };

// Moves each floating-point element of the tensors in `value`, tensors in
// fields included, by `tolerance` times the largest finite magnitude of its
// tensor. Moves each integer of at most 16 bits, which may be quantized, by
// that amount or by one, whichever is more, within the range of its dtype.
// kEitherWay moves each element up or down at random, with a fixed seed.
relay::Value MovedBy(const relay::Value& value, double tolerance,
                     NearbyInputs which);

}  // namespace baton

#endif  // BATON_INSTRUMENT_NEARBY_INPUTS_H_
