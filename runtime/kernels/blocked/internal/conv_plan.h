// Divides a convolution into items of work, and computes the size of the
// workspace that each call of its kernel needs.
//
// An item computes a slab, two blocks of channels of the result, in a band of
// rows (of columns, where rows are joined). Adjacent items share a band. If the
// input is copied, it is copied once for the items of a band.

#ifndef BATON_RUNTIME_KERNELS_BLOCKED_INTERNAL_CONV_PLAN_H_
#define BATON_RUNTIME_KERNELS_BLOCKED_INTERNAL_CONV_PLAN_H_

#include <cstddef>
#include <cstdint>

#include "baton/runtime/kernels/blocked/blocked_conv.h"

namespace baton::kernels::blocked::internal {

// A dimension of the copy of the input, which has a part for each phase of the
// stride: position (o + i) * stride + phase - pad_before of the input is at
// index o + i of part `phase`. So adjacent outputs read adjacent elements.
struct CopyAxis {
  int64_t phases;  // The stride, or less if the window is narrower.
  int64_t extent;  // Elements of a phase, for the outputs of a band.
};

struct ConvPlan {
  // Rows are joined where a tap of one row is at the same distance for each
  // output: kernels of one column without padding, and maps of one column.
  ConvParams params;
  bool depthwise;  // Groups have one input and one output channel.
  bool pads;       // Some output reads outside of the input.
  // True if the sums of a tile skip the taps that read padding; all outputs of
  // a tile skip the same taps. Used for taps that are far apart, with which
  // most of a copy would be padding.
  bool skips_padding;
  // True if the input of a band is copied: with padding, divided by the phases
  // of the strides, and so that each group begins with the first channel of a
  // block.
  bool copies_input;
  // True if the input of a band is read in place although the channels of a
  // group begin within a block.
  bool reads_within_blocks;
  // True if the channels of a group of the result begin within a block. An item
  // then is a band of all groups, whose sums are joined before they are stored.
  bool joins_groups;
  int64_t joined_step;   // Floats from one position to the next.
  int64_t in_blocks;     // Blocks of a group, from its first channel on.
  int64_t out_blocks;    // Blocks of a group.
  int64_t slabs;         // Slabs of a group; 1 if groups are joined.
  int64_t rows;          // Rows of a band.
  int64_t columns;       // Columns of a band.
  int64_t row_bands;     // Bands, one below the other.
  int64_t column_bands;  // Bands, side by side.
  CopyAxis copy_h;
  CopyAxis copy_w;
  int64_t taps;    // Positions of the window: h.kernel * w.kernel.
  int64_t units;   // Pairs of a block of channels and a tap (sums.h).
  int64_t chunks;  // Chunks of a sum (sums.h), at least 1.
  int64_t terms;   // Terms of a sum, without those of missing channels.
  bool in_double;  // Groups of chunks are added in double (sums.h).
  int64_t items;
  // Bytes of the workspace: the copy, sums of chunks, sums of groups of them,
  // joined sums.
  size_t copy_bytes;
  size_t sum_bytes;
  size_t double_bytes;
  size_t joined_bytes;
};

constexpr int64_t kBlocksOfSlab = 2;

ConvPlan MakeConvPlan(const ConvParams& params);

}  // namespace baton::kernels::blocked::internal

#endif  // BATON_RUNTIME_KERNELS_BLOCKED_INTERNAL_CONV_PLAN_H_
