// Estimates the cost of evaluating a program, before it is evaluated.

#ifndef BATON_TESTING_OPERATION_COUNT_H_
#define BATON_TESTING_OPERATION_COUNT_H_

#include <cstdint>

#include "baton/ir/module.h"

namespace baton::testing {

// The approximate number of multiplications and additions for computing each
// expression of a typed module once.
int64_t NumOperations(const IRModule& module);

}  // namespace baton::testing

#endif  // BATON_TESTING_OPERATION_COUNT_H_
