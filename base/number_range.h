// FiniteRange: the least and the largest finite number of an element type.

#ifndef BATON_BASE_NUMBER_RANGE_H_
#define BATON_BASE_NUMBER_RANGE_H_

#include <optional>

#include "baton/base/dtype.h"

namespace baton {

struct NumberRange {
  double low;
  double high;

  bool Contains(const NumberRange& other) const {
    return low <= other.low && other.high <= high;
  }
};

// The range of the finite numbers of a type, or of its lanes; 2^63 and 2^64
// stand for the largest integers of 64 bits. nullopt for types that are no
// numbers, and for floats of other widths than 16, 32 and 64.
std::optional<NumberRange> FiniteRange(DType dtype);

// The least finite number of a type, that of float32 for types without a range.
double LowestFinite(DType dtype);

}  // namespace baton

#endif  // BATON_BASE_NUMBER_RANGE_H_
