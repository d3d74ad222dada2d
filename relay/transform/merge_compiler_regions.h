// MergeCompilerRegions: makes neighbouring regions of one compiler one region.
//
// AnnotateTarget gives each call a region of its own. This pass joins a region
// with those that it takes its arguments from, where no other computation
// depends on the one and is needed by the other. The annotations inside of
// what was joined go. PartitionGraph then makes a function of each region.

#ifndef BATON_RELAY_TRANSFORM_MERGE_COMPILER_REGIONS_H_
#define BATON_RELAY_TRANSFORM_MERGE_COMPILER_REGIONS_H_

#include "baton/transform/pass.h"

namespace baton::relay {

// A function pass of level 0.
Pass MergeCompilerRegions();

}  // namespace baton::relay

#endif  // BATON_RELAY_TRANSFORM_MERGE_COMPILER_REGIONS_H_
