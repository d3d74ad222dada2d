// Chooses step functions by the bytes of an element.

#ifndef BATON_BACKEND_CPU_ELEMENT_BYTES_H_
#define BATON_BACKEND_CPU_ELEMENT_BYTES_H_

#include <cstdint>

#include "baton/runtime/executor/plan.h"

namespace baton::cpu {

// Returns function_of.operator()<T>() for the unsigned integer T of `bytes`
// bytes; null if there is none. For steps that only move elements.
template <typename FunctionOf>
executor::StepFunction ForElementBytes(int64_t bytes,
                                       const FunctionOf& function_of) {
  switch (bytes) {
    case 1:
      return function_of.template operator()<uint8_t>();
    case 2:
      return function_of.template operator()<uint16_t>();
    case 4:
      return function_of.template operator()<uint32_t>();
    case 8:
      return function_of.template operator()<uint64_t>();
    default:
      return nullptr;
  }
}

}  // namespace baton::cpu

#endif  // BATON_BACKEND_CPU_ELEMENT_BYTES_H_
