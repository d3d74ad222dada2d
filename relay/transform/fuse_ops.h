// FuseOps: groups calls of operators into primitive functions.
//
// Level 0, a function pass. Each group that can be computed in one go becomes
// a function with the attribute Primitive=1, and a call of it:
//
//   %0 = nn.conv2d(%x, %w);        %2 = fn (%p0, %p1, Primitive=1) {
//   %1 = add(%0, 1f);                %0 = nn.conv2d(%p0, %p1);
//   nn.relu(%1)                      %1 = add(%0, 1f);
//                                    nn.relu(%1)
//                                  };
//                                  %2(%x, %w)
//
// What may be fused with what: relay/op/fusion_pattern.h and
// fusion_groups.h. Scalar constants go into the functions, other constants
// are arguments. A group that only reshapes is marked relay.reshape_only=1.
//
// Nothing is fused across lets, branches, references, and calls of functions;
// annotation.stop_fusion keeps its two sides apart, and is dropped. Functions
// that are primitive already, or are for an external compiler, stay as they
// are.

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

// The setting relay.FuseOps.max_depth is the number of nodes that a group may
// have, 256 by default; with relay.FuseOps.link_params, all constants go into
// the functions.
Pass FuseOps(FuseOpsOptions options = {});

}  // namespace baton::relay

#endif  // BATON_RELAY_TRANSFORM_FUSE_OPS_H_
