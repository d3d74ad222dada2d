// Operators of integers in 128 bits, for tests of laws.

#ifndef BATON_TIR_ARITH_WIDE_BINARY_H_
#define BATON_TIR_ARITH_WIDE_BINARY_H_

#include <optional>

#include "baton/tir/ir/expr.h"

namespace baton::tir {

// Holds sums and products that are out of the range of their type.
using Wide = __int128;

// nullopt for a division by zero, and out of the range of 128 bits.
std::optional<Wide> WideBinary(BinaryOp op, Wide a, Wide b);

}  // namespace baton::tir

#endif  // BATON_TIR_ARITH_WIDE_BINARY_H_
