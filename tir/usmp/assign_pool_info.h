// AssignPoolInfo: says which memory pools may have an allocation.
//
//   B = T.allocate([16], "float32", "global")
//
// gets the annotation {"candidate_memory_pools": [{"pool_name": "fast"}]}.

#ifndef BATON_TIR_USMP_ASSIGN_POOL_INFO_H_
#define BATON_TIR_USMP_ASSIGN_POOL_INFO_H_

#include <string>

#include "baton/base/attr_value.h"
#include "baton/tir/usmp/memory_pools.h"
#include "baton/transform/pass.h"

namespace baton::tir {

struct AssignPoolInfoOptions {
  AttrValue workspace_memory_pools;
  AttrValue constant_memory_pools;
  std::string main_function;

  template <typename V>
  static void VisitFields(V& v) {
    v("workspace_memory_pools", &AssignPoolInfoOptions::workspace_memory_pools,
      "Pools for buffers, the preferred first: "
      "[{pool_name:fast,size_hint_bytes:1024,targets:[c]},{pool_name:slow}]. "
      "Without it: the attribute of that name of the main function, or an "
      "unlimited pool `global_workspace`.");
    v("constant_memory_pools", &AssignPoolInfoOptions::constant_memory_pools,
      "Pools for constants. Without it: the attribute of that name, or, if "
      "there are no pools for buffers either, an unlimited pool "
      "`global_const_workspace`.");
    v("main_function", &AssignPoolInfoOptions::main_function,
      "The function that calls the others; without it `__tvm_main__`, or "
      "`main`.");
  }
};

// A module pass. Allocations that have the annotation keep it. Constants stay
// without one if there are no pools for them. An error if no pool is for the
// target of an allocating function; where main does not reach the function, its
// allocations stay as they are.
Pass AssignPoolInfo(AssignPoolInfoOptions options = {});

}  // namespace baton::tir

#endif  // BATON_TIR_USMP_ASSIGN_POOL_INFO_H_
