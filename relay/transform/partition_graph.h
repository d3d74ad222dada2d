// PartitionGraph: makes global functions of the regions that annotations assign
// to external compilers (relay/analysis/annotated_regions.h).
//
// The function of a region has the attributes `Compiler`, `Primitive=1`,
// `Inline=1` and `global_symbol`, which is its name:
// `tvmgen_MODULE_COMPILER_FUNCTION_NUMBER`, where characters other than letters
// and digits are `_`. Functions that already have a `Compiler` are renamed in
// the same way. A region with several results returns a tuple. Regions of the
// compiler `default` are only stripped of their annotations.

#ifndef BATON_RELAY_TRANSFORM_PARTITION_GRAPH_H_
#define BATON_RELAY_TRANSFORM_PARTITION_GRAPH_H_

#include <string>

#include "baton/ir/module.h"
#include "baton/transform/pass.h"

namespace baton::relay {

struct PartitionGraphOptions {
  std::string mod_name = "default";
  bool bind_constants = true;

  template <typename V>
  static void VisitFields(V& v) {
    v("mod_name", &PartitionGraphOptions::mod_name,
      "The module's part of the names of functions.");
    v("bind_constants", &PartitionGraphOptions::bind_constants,
      "Whether constants that a region uses are put into its function.");
  }
};

// A module pass of level 0. The result has types.
Pass PartitionGraph(PartitionGraphOptions options = {});

}  // namespace baton::relay

#endif  // BATON_RELAY_TRANSFORM_PARTITION_GRAPH_H_
