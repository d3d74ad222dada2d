// The rows of kernel_costs.txt, which a rule in BUILD makes C++ of.

#ifndef BATON_BACKEND_CPU_BUILT_IN_COSTS_H_
#define BATON_BACKEND_CPU_BUILT_IN_COSTS_H_

#include <array>
#include <cstddef>

namespace baton::cpu {

struct BuiltInCost {
  const char* row;
  std::array<double, 3> values;  // for vectors of 128, 256 and 512 bits
};

extern const char kBuiltInMachine[];
// In the order of KernelCosts::Rows().
extern const BuiltInCost kBuiltInCosts[];
extern const size_t kNumBuiltInCosts;

}  // namespace baton::cpu

#endif  // BATON_BACKEND_CPU_BUILT_IN_COSTS_H_
