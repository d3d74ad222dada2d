#include "baton/runtime/kernels/blocked/conv.h"

#include <algorithm>
#include <cstddef>
#include <cstdint>

#include "baton/base/align.h"
#include "baton/runtime/kernels/blocked/internal/conv_plan.h"
#include "baton/runtime/kernels/blocked/internal/interleave.h"
#include "baton/runtime/kernels/blocked/sums.h"

namespace baton::kernels::blocked {
namespace internal {
namespace {

constexpr int64_t kWorkspaceAlignment = 64;

// True if some output reads outside of the input.
bool Pads(const Axis& axis) {
  return axis.pad_before > 0 || (axis.out - 1) * axis.stride +
                                        (axis.kernel - 1) * axis.dilation -
                                        axis.pad_before >=
                                    axis.in;
}

CopyAxis CopyOf(const Axis& axis, int64_t outputs) {
  const int64_t reach = (axis.kernel - 1) * axis.dilation;
  return {.phases = std::min(axis.stride, reach + 1),
          .extent = outputs + reach / axis.stride};
}

// The inputs of a band fit into the second-level cache. The inputs of its tiles,
// and their sums, nearly fit into the first-level cache.
constexpr int64_t kBandBytes = int64_t{896} << 10;
constexpr int64_t kBandPositions = 448;
// Weights are read for each band.
constexpr int64_t kLeastPositions = 64;
// Items of joined groups are bands alone, of which threads want several.
constexpr int64_t kJoinedPositions = 84;
// Columns at the edges of a map are computed by several rows at a time.
constexpr int64_t kDepthwiseRows = 14;
// Tiles have 14 or 6 positions.
constexpr int64_t kWhole = 42;
// Where taps lie closer together, tiles that end with them are too small.
constexpr int64_t kDroppingDilation = 6;

}  // namespace

ConvPlan MakeConvPlan(const ConvParams& params) {
  ConvPlan plan = {};
  ConvParams& p = plan.params;
  p = params;
  const int64_t in_blocks_of_map = BlocksOf(p.groups * p.in_channels);
  const int64_t out_blocks_of_map = BlocksOf(p.groups * p.out_channels);
  const int64_t in = p.h.in * p.w.in;
  const int64_t out = p.h.out * p.w.out;
  if (p.x_batch_stride == 0) {
    p.x_batch_stride = p.planar_input ? p.groups * p.in_channels * in
                                      : in_blocks_of_map * kBlock * in;
  }
  const int64_t y_batch_stride = out_blocks_of_map * kBlock * out;
  if (p.y_batch_stride == 0) p.y_batch_stride = y_batch_stride;
  if (p.residual_batch_stride == 0) p.residual_batch_stride = y_batch_stride;
  plan.pads = Pads(p.h) || Pads(p.w);
  plan.in_blocks = BlocksOf(p.in_channels);
  plan.out_blocks = BlocksOf(p.out_channels);
  plan.taps = p.h.kernel * p.w.kernel;
  const Sums sums = {.channels = p.in_channels, .taps = plan.taps};
  plan.units = sums.units();
  // A sum without terms has one chunk, too.
  plan.chunks = std::max<int64_t>(1, sums.chunks());
  plan.in_double = sums.in_double();
  plan.terms = p.in_channels * plan.taps;
  plan.depthwise = p.groups > 1 && p.in_channels == 1 && p.out_channels == 1 &&
                   !p.planar_input;
  if (p.batch * p.groups * p.out_channels * out == 0) return plan;
  if (plan.depthwise) {
    plan.rows = kDepthwiseRows;
    plan.row_bands = (p.h.out + plan.rows - 1) / plan.rows;
    plan.items = p.batch * out_blocks_of_map * plan.row_bands;
    return plan;
  }
  if (plan.taps == 1 && p.h.stride == 1 && p.w.stride == 1 && !plan.pads &&
      p.w.out == p.w.in) {
    p.w.in = in;
    p.w.out = out;
    p.h.in = p.h.out = 1;
  }
  plan.drops = plan.pads && p.w.stride == 1 && !p.planar_input &&
               (p.groups == 1 || p.in_channels % kBlock == 0) &&
               std::max(p.h.dilation, p.w.dilation) >= kDroppingDilation;
  plan.copies = (plan.pads && !plan.drops) || p.w.stride != 1;
  plan.splits = !plan.copies && !p.planar_input && p.groups > 1 &&
                p.in_channels % kBlock != 0;
  plan.joins = p.groups > 1 && p.out_channels % kBlock != 0;
  plan.slabs =
      plan.joins ? 1 : (plan.out_blocks + kBlocksOfSlab - 1) / kBlocksOfSlab;
  // As many positions as fit, in bands of equal size.
  const int64_t channels =
      p.planar_input ? p.in_channels : plan.in_blocks * kBlock;
  const int64_t inputs = std::max<int64_t>(1, channels) *
                         CopyOf(p.h, 1).phases * CopyOf(p.w, 1).phases *
                         int64_t{sizeof(float)};
  const int64_t most = plan.joins ? kJoinedPositions : kBandPositions;
  const int64_t positions =
      std::clamp(kBandBytes / inputs, std::min(most, kLeastPositions), most);
  if (p.h.out == 1) {
    const int64_t bands = (p.w.out + positions - 1) / positions;
    plan.rows = 1;
    plan.columns = (p.w.out + bands - 1) / bands;
    if (bands > 1) plan.columns = (plan.columns + kWhole - 1) / kWhole * kWhole;
  } else {
    const int64_t rows = std::clamp<int64_t>(positions / p.w.out, 1, p.h.out);
    const int64_t bands = (p.h.out + rows - 1) / rows;
    plan.rows = (p.h.out + bands - 1) / bands;
    plan.columns = p.w.out;
  }
  plan.row_bands = (p.h.out + plan.rows - 1) / plan.rows;
  plan.column_bands = (p.w.out + plan.columns - 1) / plan.columns;
  plan.copy_h = CopyOf(p.h, plan.rows);
  plan.copy_w = CopyOf(p.w, plan.columns);
  plan.items = p.batch * (plan.joins ? 1 : p.groups) * plan.row_bands *
               plan.column_bands * plan.slabs;
  if (plan.copies) {
    plan.copy_bytes = AlignUp(
        static_cast<size_t>(channels * plan.copy_h.phases * plan.copy_h.extent *
                            plan.copy_w.phases * plan.copy_w.extent *
                            int64_t{sizeof(float)}),
        kWorkspaceAlignment);
  }
  const int64_t elements = plan.rows * plan.columns * kBlocksOfSlab * kBlock;
  if (plan.joins) {
    // Blocks are stored as a whole, also the last one of the last group.
    plan.joined_step = (BlocksOf(p.groups * p.out_channels) + 1) * kBlock;
    plan.joined_bytes =
        AlignUp(static_cast<size_t>(plan.rows * plan.columns *
                                    plan.joined_step * int64_t{sizeof(float)}),
                kWorkspaceAlignment);
  }
  if (plan.chunks > 1) {
    plan.sum_bytes =
        AlignUp(static_cast<size_t>(elements * int64_t{sizeof(float)}),
                kWorkspaceAlignment);
  }
  if (plan.in_double) {
    plan.double_bytes =
        AlignUp(static_cast<size_t>(elements * int64_t{sizeof(double)}),
                kWorkspaceAlignment);
  }
  return plan;
}

}  // namespace internal

int64_t PackedConvSize(const ConvParams& params) {
  const internal::ConvPlan plan = internal::MakeConvPlan(params);
  if (plan.depthwise) return BlocksOf(params.groups) * plan.taps * kBlock;
  return params.groups * plan.out_blocks * plan.terms * kBlock;
}

bool PackConvWeights(const ConvParams& params, const float* weights,
                     float* packed) {
  const internal::ConvPlan plan = internal::MakeConvPlan(params);
  const int64_t taps = plan.taps;
  bool finite = true;
  const auto copy = [&](const float* from, float* to) {
    // Infinities and NaNs are not equal to themselves times zero plus that.
    finite = finite && *from - *from == 0;
    *to = *from;
  };
  if (plan.depthwise) {
    std::fill_n(packed, PackedConvSize(params), 0.0f);
    for (int64_t c = 0; c < params.groups; ++c) {
      for (int64_t t = 0; t < taps; ++t) {
        copy(weights + c * taps + t,
             packed + (c / kBlock * taps + t) * kBlock + c % kBlock);
      }
    }
    return finite;
  }
  // Weights of a filter and a block of channels are read one after another, and
  // spread over a part of the result that the nearest cache holds.
  float* to = packed;
  for (int64_t g = 0; g < params.groups; ++g) {
    for (int64_t b = 0; b < plan.out_blocks; ++b) {
      const int64_t o0 = b * kBlock;
      const int64_t outs = std::min(kBlock, params.out_channels - o0);
      for (int64_t c0 = 0; c0 < params.in_channels; c0 += kBlock) {
        const int64_t channels = std::min(kBlock, params.in_channels - c0);
        if (outs == kBlock) {
          const int64_t stride = params.in_channels * taps;
          finite &= internal::InterleaveSixteen(
              weights + (g * params.out_channels + o0) * stride + c0 * taps,
              stride, channels, taps, to);
          to += taps * channels * kBlock;
          continue;
        }
        std::fill_n(to, taps * channels * kBlock, 0.0f);
        for (int64_t o = 0; o < outs; ++o) {
          const float* from =
              weights +
              ((g * params.out_channels + o0 + o) * params.in_channels + c0) *
                  taps;
          for (int64_t c = 0; c < channels; ++c) {
            for (int64_t t = 0; t < taps; ++t) {
              copy(from++, to + (t * channels + c) * kBlock + o);
            }
          }
        }
        to += taps * channels * kBlock;
      }
    }
  }
  return finite;
}

int64_t ConvItems(const ConvParams& params) {
  return internal::MakeConvPlan(params).items;
}

size_t ConvWorkspaceSize(const ConvParams& params) {
  const internal::ConvPlan plan = internal::MakeConvPlan(params);
  return plan.copy_bytes + plan.sum_bytes + plan.double_bytes +
         plan.joined_bytes;
}

}  // namespace baton::kernels::blocked
