// FuseOps: fuses groups of operator calls into primitive functions.
//
// Level 0, a function pass. Each group that can be computed as one kernel
// becomes a function with the attribute Primitive=1, and a call of it:
//
//   %0 = nn.conv2d(%x, %w);        %2 = fn (%p0, %p1, Primitive=1) {
//   %1 = add(%0, 1f);                %0 = nn.conv2d(%p0, %p1);
//   nn.relu(%1)                      %1 = add(%0, 1f);
//                                    nn.relu(%1)
//                                  };
//                                  %2(%x, %w)
//
// relay/op/fusion_pattern.h and relay/analysis/fusion_groups.h define what may
// be fused. Scalar constants are moved into the functions; other constants are
// arguments. A group that only reshapes is marked relay.reshape_only=1.
//
// Nothing is fused across lets, branches, references, and calls of functions;
// annotation.stop_fusion separates its two sides, and is dropped. Functions
// that are already primitive, or are for an external compiler, stay unchanged.

#ifndef BATON_RELAY_TRANSFORM_FUSE_OPS_H_
#define BATON_RELAY_TRANSFORM_FUSE_OPS_H_

#include <cstdint>

#include "baton/transform/pass.h"

namespace baton::relay {

struct FuseOpsOptions {
  int64_t fuse_opt_level = -1;

  template <typename V>
  static void VisitFields(V& v) {
    v("fuse_opt_level", &FuseOpsOptions::fuse_opt_level,
      "At 0 each call gets a function of its own; -1 stands for the level of "
      "the context.");
  }
};

// The setting relay.FuseOps.max_depth is the limit of the number of nodes in a
// group, 256 by default. With relay.FuseOps.link_params, all constants are
// moved into the functions.
Pass FuseOps(FuseOpsOptions options = {});

}  // namespace baton::relay

#endif  // BATON_RELAY_TRANSFORM_FUSE_OPS_H_
