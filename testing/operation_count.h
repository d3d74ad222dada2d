// How long it takes to evaluate a program, before it is evaluated.

#ifndef BATON_TESTING_OPERATION_COUNT_H_
#define BATON_TESTING_OPERATION_COUNT_H_

#include <cstdint>

#include "baton/ir/module.h"

namespace baton::testing {

// About how many multiplications and additions it takes to compute each
// expression of a typed module once.
int64_t NumOperations(const IRModule& module);

}  // namespace baton::testing

#endif  // BATON_TESTING_OPERATION_COUNT_H_
