// RemoveUnusedFunctions: removes functions that no entry function reaches.

#ifndef BATON_RELAY_TRANSFORM_REMOVE_UNUSED_FUNCTIONS_H_
#define BATON_RELAY_TRANSFORM_REMOVE_UNUSED_FUNCTIONS_H_

#include <string>
#include <vector>

#include "baton/transform/pass.h"

namespace baton::relay {

struct RemoveUnusedFunctionsOptions {
  std::vector<std::string> entry_functions = {"main"};

  template <typename V>
  static void VisitFields(V& v) {
    v("entry_functions", &RemoveUnusedFunctionsOptions::entry_functions,
      "Names of the functions that are called from outside. A module that "
      "lacks one of them is an error. With the default, a module without main "
      "stays as it is.");
  }
};

// A module pass of level 1.
Pass RemoveUnusedFunctions(RemoveUnusedFunctionsOptions options = {});

}  // namespace baton::relay

#endif  // BATON_RELAY_TRANSFORM_REMOVE_UNUSED_FUNCTIONS_H_
