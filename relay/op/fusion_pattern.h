// FusionPattern: classifies operators for fusion by the dependence of output
// elements on input elements.

#ifndef BATON_RELAY_OP_FUSION_PATTERN_H_
#define BATON_RELAY_OP_FUSION_PATTERN_H_

#include <cstdint>

#include "baton/ir/op.h"

namespace baton::relay {

// The order matters: fusing two operators gives the larger pattern.
enum class FusionPattern : uint8_t {
  // Output element i depends on input elements i only.
  kElemWise = 0,
  // As kElemWise, but the axes of an input are mapped, in order, to some of the
  // axes of the output.
  kBroadcast = 1,
  // Each output element depends on one element of each input.
  kInjective = 2,
  // A commutative reduction.
  kCommReduce = 3,
  // A complex operation whose output element-wise operations can be fused to.
  kOutEWiseFusable = 4,
  // The construction of a tuple.
  kTuple = 7,
  // Cannot be fused.
  kOpaque = 8,
};

// An operator without an entry is opaque.
OpProperty<FusionPattern>& FusionPatterns();

}  // namespace baton::relay

#endif  // BATON_RELAY_OP_FUSION_PATTERN_H_
