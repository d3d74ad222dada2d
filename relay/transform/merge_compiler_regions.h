// MergeCompilerRegions: merges neighbouring regions of one compiler.
//
// AnnotateTarget gives each call a separate region. This pass merges a region
// with the regions of its arguments, unless another computation depends on one
// of them and the other depends on that computation. The annotations inside of
// the merged region are removed. PartitionGraph then makes a function of each
// region.

#ifndef BATON_RELAY_TRANSFORM_MERGE_COMPILER_REGIONS_H_
#define BATON_RELAY_TRANSFORM_MERGE_COMPILER_REGIONS_H_

#include "baton/transform/pass.h"

namespace baton::relay {

// A function pass of level 0.
Pass MergeCompilerRegions();

}  // namespace baton::relay

#endif  // BATON_RELAY_TRANSFORM_MERGE_COMPILER_REGIONS_H_
