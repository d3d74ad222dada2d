#include "baton/runtime/kernels/blocked/blocked_conv.h"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <utility>

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
// Columns of a band of a map of one row.
constexpr int64_t kDepthwiseColumns = 112;
// The positions of a tile, or some more than those of some tiles.
constexpr int64_t kWhole = 14;
// With a smaller dilation, tiles that end where taps end are too small.
constexpr int64_t kDroppingDilation = 6;

// Makes rows of the result as long as they can be: tiles do not cross rows.
void JoinRows(bool pads, Axis& h, Axis& w) {
  if (w.kernel != 1 || w.stride != 1 || w.pad_before != 0 || w.in != w.out) {
    return;
  }
  if (w.in == 1) {
    // A map of one column is one row. If it has a stride, its input is copied:
    // that takes less time than tiles of one position.
    std::swap(h, w);
  } else if (!pads && h.stride == 1) {
    // The taps of a column are w.in positions apart.
    const int64_t width = w.in;
    w = {.in = h.in * width,
         .kernel = h.kernel,
         .dilation = h.dilation * width,
         .out = h.out * width};
    h = {};
  }
}

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
  // Depthwise convolutions have few items if rows of more columns are joined.
  if (!plan.depthwise || p.w.in == 1) JoinRows(plan.pads, p.h, p.w);
  if (plan.depthwise) {
    plan.rows = kDepthwiseRows;
    plan.columns = p.h.out == 1 ? kDepthwiseColumns : p.w.out;
    plan.row_bands = (p.h.out + plan.rows - 1) / plan.rows;
    plan.column_bands = (p.w.out + plan.columns - 1) / plan.columns;
    plan.items =
        p.batch * out_blocks_of_map * plan.row_bands * plan.column_bands;
    return plan;
  }
  plan.skips_padding =
      plan.pads && p.w.stride == 1 && !p.planar_input &&
      (p.groups == 1 || p.in_channels % kBlock == 0) &&
      std::max(p.h.dilation, p.w.dilation) >= kDroppingDilation;
  plan.copies_input = (plan.pads && !plan.skips_padding) || p.w.stride != 1;
  plan.reads_within_blocks = !plan.copies_input && !p.planar_input &&
                             p.groups > 1 && p.in_channels % kBlock != 0;
  plan.joins_groups = p.groups > 1 && p.out_channels % kBlock != 0;
  plan.slabs = plan.joins_groups
                   ? 1
                   : (plan.out_blocks + kBlocksOfSlab - 1) / kBlocksOfSlab;
  // As many positions as fit, in bands of equal size.
  const int64_t channels =
      p.planar_input ? p.in_channels : plan.in_blocks * kBlock;
  const int64_t inputs = std::max<int64_t>(1, channels) *
                         CopyOf(p.h, 1).phases * CopyOf(p.w, 1).phases *
                         int64_t{sizeof(float)};
  const int64_t most = plan.joins_groups ? kJoinedPositions : kBandPositions;
  const int64_t positions =
      std::clamp(kBandBytes / inputs, std::min(most, kLeastPositions), most);
  if (p.h.out == 1) {
    const int64_t bands =
        std::max((p.w.out + positions - 1) / positions, p.least_bands);
    plan.rows = 1;
    plan.columns = (p.w.out + bands - 1) / bands;
    if (bands > 1) plan.columns = (plan.columns + kWhole - 1) / kWhole * kWhole;
  } else {
    const int64_t rows = std::clamp<int64_t>(positions / p.w.out, 1, p.h.out);
    const int64_t bands = std::max((p.h.out + rows - 1) / rows, p.least_bands);
    plan.rows = (p.h.out + bands - 1) / bands;
    plan.columns = p.w.out;
  }
  plan.row_bands = (p.h.out + plan.rows - 1) / plan.rows;
  plan.column_bands = (p.w.out + plan.columns - 1) / plan.columns;
  plan.copy_h = CopyOf(p.h, plan.rows);
  plan.copy_w = CopyOf(p.w, plan.columns);
  plan.items = p.batch * (plan.joins_groups ? 1 : p.groups) * plan.row_bands *
               plan.column_bands * plan.slabs;
  if (plan.copies_input) {
    // The additional kWorkspaceAlignment bytes hold the number of the band that
    // the copy is of.
    plan.copy_bytes =
        kWorkspaceAlignment +
        AlignUp(
            static_cast<size_t>(channels * plan.copy_h.phases *
                                plan.copy_h.extent * plan.copy_w.phases *
                                plan.copy_w.extent * int64_t{sizeof(float)}),
            kWorkspaceAlignment);
  }
  const int64_t elements = plan.rows * plan.columns * kBlocksOfSlab * kBlock;
  if (plan.joins_groups) {
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

int64_t ConvBandsFor(int64_t threads, const ConvParams& params) {
  // With this many items each, threads have about equal shares.
  constexpr int64_t kManyItems = 16;
  // Multiplications of an item that are worth handing to a thread.
  constexpr int64_t kLeastWork = int64_t{1} << 19;
  // Positions that take the time in which the weights of a band are read.
  constexpr double kPositionsOfWeights = 12;
  if (threads <= 1) return 1;
  ConvParams p = params;
  p.least_bands = 1;
  int64_t best = 1;
  double least = 0;
  while (true) {
    const internal::ConvPlan plan = internal::MakeConvPlan(p);
    if (plan.depthwise || plan.items == 0) return best;
    const bool are_many = plan.items >= kManyItems * threads;
    if (are_many && least == 0) return best;
    const ConvParams& q = plan.params;
    const int64_t bands = plan.row_bands * plan.column_bands;
    const int64_t positions = plan.rows * plan.columns;
    const int64_t blocks =
        plan.joins_groups ? plan.out_blocks * q.groups
                          : std::min(plan.out_blocks, internal::kBlocksOfSlab);
    if (least > 0 && positions * plan.terms * blocks * kBlock < kLeastWork) {
      return best;
    }
    // The positions and blocks of the thread that has most.
    int64_t most = 0;
    int64_t item = 0;
    for (int64_t t = 0; t < threads; ++t) {
      int64_t work = 0;
      for (; item < plan.items * (t + 1) / threads; ++item) {
        const int64_t first_block = item % plan.slabs * internal::kBlocksOfSlab;
        const int64_t band = item / plan.slabs % bands;
        const int64_t row = band / plan.column_bands * plan.rows;
        const int64_t column = band % plan.column_bands * plan.columns;
        work += std::min(plan.rows, q.h.out - row) *
                std::min(plan.columns, q.w.out - column) *
                std::min(blocks, plan.out_blocks - first_block);
      }
      most = std::max(most, work);
    }
    const double time =
        static_cast<double>(most) *
        (1 + kPositionsOfWeights / static_cast<double>(positions));
    if (least == 0 || time < least) {
      best = least == 0 ? 1 : bands;
      least = time;
    }
    if (are_many) return best;
    // The next smaller bands.
    const int64_t extent = q.h.out == 1 ? q.w.out : q.h.out;
    const int64_t smaller =
        q.h.out == 1 ? (plan.columns - 1) / internal::kWhole * internal::kWhole
                     : plan.rows - 1;
    if (smaller == 0) return best;
    p.least_bands = (extent + smaller - 1) / smaller;
  }
}

size_t ConvWorkspaceSize(const ConvParams& params) {
  const internal::ConvPlan plan = internal::MakeConvPlan(params);
  return plan.copy_bytes + plan.sum_bytes + plan.double_bytes +
         plan.joined_bytes;
}

}  // namespace baton::kernels::blocked
