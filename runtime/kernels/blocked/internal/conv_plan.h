// How a convolution is cut into items and what a caller of its kernel lends.
//
// An item is a slab of two blocks of channels of the result in a band of its
// rows (columns, where rows are joined). Items that follow each other share a
// band, of which the input is copied once, where it is copied.

#ifndef BATON_RUNTIME_KERNELS_BLOCKED_INTERNAL_CONV_PLAN_H_
#define BATON_RUNTIME_KERNELS_BLOCKED_INTERNAL_CONV_PLAN_H_

#include <cstddef>
#include <cstdint>

#include "baton/runtime/kernels/blocked/conv.h"

namespace baton::kernels::blocked::internal {

// The copy of a dimension: input (o + i) * stride + phase - pad_before of
// output o is at index o + i of its phase. Outputs that are neighbours read
// neighbours.
struct CopyAxis {
  int64_t phases;
  int64_t extent;  // A phase's, for the outputs of a band.
};

struct ConvPlan {
  ConvParams params;  // Rows of pointwise convolutions are joined.
  bool depthwise;
  bool pads;
  // Taps that read padding are left out of the sums of a tile, and a tile ends
  // where these are other taps. For taps that lie far apart: most of a copy
  // would be padding.
  bool drops;
  // The input of a band is copied: with its padding, apart by phases of
  // strides, and each group from a block's first channel on.
  bool copies;
  // The input of a band is read where it is, and channels of a group begin
  // within a block.
  bool splits;
  // Channels of a group of the result begin within a block. An item then is a
  // band of all groups, whose sums are joined before they are stored.
  bool joins;
  int64_t joined_step;  // Floats from one position to the next.
  int64_t in_blocks;    // A group's, from its first channel on.
  int64_t out_blocks;   // A group's.
  int64_t slabs;
  int64_t rows;  // A band's.
  int64_t columns;
  int64_t row_bands;
  int64_t column_bands;
  CopyAxis copy_h;
  CopyAxis copy_w;
  int64_t taps;
  int64_t units;
  int64_t chunks;
  int64_t terms;  // A sum's, without channels that are missing.
  bool in_double;
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
