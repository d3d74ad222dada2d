// PlanMemory: finds a place in a memory pool for allocations.
//
//   B = T.allocate([16], "float32", "global", annotations={
//       "candidate_memory_pools": [{"pool_name": "fast"}]})
//
// gets the annotation {"pool_allocation": {"byte_offset": 64, "pool_name":
// "fast"}}.

#ifndef BATON_TIR_USMP_PLAN_MEMORY_H_
#define BATON_TIR_USMP_PLAN_MEMORY_H_

#include <cstdint>
#include <string>

#include "baton/transform/pass.h"

namespace baton::tir {

struct PlanMemoryOptions {
  std::string main_function;
  std::string algorithm;
  int64_t workspace_byte_alignment = 16;
  int64_t constant_byte_alignment = 16;

  template <typename V>
  static void VisitFields(V& v) {
    v("main_function", &PlanMemoryOptions::main_function,
      "The function that calls the others; without it `__tvm_main__`, or "
      "`main`.");
    v("algorithm", &PlanMemoryOptions::algorithm,
      "`greedy_by_size`, `greedy_by_conflicts`, `hill_climb`, `arena`, or one "
      "that a library registers. Without it: that of the settings "
      "tir.usmp.custom_algorithm and tir.usmp.algorithm.");
    v("workspace_byte_alignment", &PlanMemoryOptions::workspace_byte_alignment,
      "Bytes that offsets of buffers are multiples of.");
    v("constant_byte_alignment", &PlanMemoryOptions::constant_byte_alignment,
      "Bytes that offsets of constants are multiples of.");
  }
};

// A module pass. Allocations that are placed already are placed again.
Pass PlanMemory(PlanMemoryOptions options = {});

}  // namespace baton::tir

#endif  // BATON_TIR_USMP_PLAN_MEMORY_H_
