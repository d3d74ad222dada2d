// UnifiedStaticMemoryPlanner: one plan of memory for a main function and all
// functions that it calls.
//
//   UnifiedStaticMemoryPlanner({.algorithm = "hill_climb"})(module)

#ifndef BATON_TIR_USMP_UNIFIED_STATIC_MEMORY_PLANNER_H_
#define BATON_TIR_USMP_UNIFIED_STATIC_MEMORY_PLANNER_H_

#include <cstdint>
#include <string>

#include "baton/base/attr_value.h"
#include "baton/transform/pass.h"

namespace baton::tir {

struct UnifiedStaticMemoryPlannerOptions {
  AttrValue workspace_memory_pools;
  AttrValue constant_memory_pools;
  std::string algorithm;
  bool use_workspace_io = false;
  int64_t workspace_byte_alignment = 16;
  int64_t constant_byte_alignment = 16;
  std::string main_function;

  template <typename V>
  static void VisitFields(V& v) {
    v("workspace_memory_pools",
      &UnifiedStaticMemoryPlannerOptions::workspace_memory_pools,
      "That of tir.usmp.AssignPoolInfo.");
    v("constant_memory_pools",
      &UnifiedStaticMemoryPlannerOptions::constant_memory_pools,
      "That of tir.usmp.AssignPoolInfo.");
    v("algorithm", &UnifiedStaticMemoryPlannerOptions::algorithm,
      "That of tir.usmp.PlanMemory.");
    v("use_workspace_io", &UnifiedStaticMemoryPlannerOptions::use_workspace_io,
      "If true, or if the setting tir.usmp.use_workspace_io is, inputs and "
      "outputs are in pools, too.");
    v("workspace_byte_alignment",
      &UnifiedStaticMemoryPlannerOptions::workspace_byte_alignment,
      "Bytes that offsets of buffers are multiples of.");
    v("constant_byte_alignment",
      &UnifiedStaticMemoryPlannerOptions::constant_byte_alignment,
      "Bytes that offsets of constants are multiples of.");
    v("main_function", &UnifiedStaticMemoryPlannerOptions::main_function,
      "The function that calls the others; without it `__tvm_main__`, or "
      "`main`.");
  }
};

// Runs tir.usmp.CreateAllocatesForIO (if inputs and outputs are planned),
// tir.usmp.AssignPoolInfo, tir.usmp.PlanMemory and
// tir.usmp.ConvertPoolAllocationsToOffsets.
Pass UnifiedStaticMemoryPlanner(UnifiedStaticMemoryPlannerOptions options = {});

}  // namespace baton::tir

#endif  // BATON_TIR_USMP_UNIFIED_STATIC_MEMORY_PLANNER_H_
