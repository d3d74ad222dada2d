// Arguments with the numbers that rewrites forget.

#ifndef BATON_INSTRUMENT_SPECIAL_INPUTS_H_
#define BATON_INSTRUMENT_SPECIAL_INPUTS_H_

#include "baton/relay/runtime/value.h"

namespace baton {

// `value` with a special number in every third place of its floating-point
// tensors, those that are fields of it as well: NaN, the infinities, zeros of
// both signs, the least and the greatest number of each sign.
Value WithSpecialNumbers(const Value& value);

// The same with zeros of both signs alone.
Value WithZeros(const Value& value);

}  // namespace baton

#endif  // BATON_INSTRUMENT_SPECIAL_INPUTS_H_
