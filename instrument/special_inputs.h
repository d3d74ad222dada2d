// Makes arguments with special numbers, such as NaN, infinities and zeros of
// both signs.

#ifndef BATON_INSTRUMENT_SPECIAL_INPUTS_H_
#define BATON_INSTRUMENT_SPECIAL_INPUTS_H_

#include "baton/relay/runtime/value.h"

namespace baton {

// Puts a special number into every third element of the floating-point tensors
// in `value`, tensors in fields included: NaN, both infinities, zeros of both
// signs, the least and the greatest number of each sign.
relay::Value WithSpecialNumbers(const relay::Value& value);

// As WithSpecialNumbers, with zeros of both signs only.
relay::Value WithZeros(const relay::Value& value);

}  // namespace baton

#endif  // BATON_INSTRUMENT_SPECIAL_INPUTS_H_
