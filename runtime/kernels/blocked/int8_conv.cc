#include "baton/runtime/kernels/blocked/int8_conv.h"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstring>

#include "baton/runtime/kernels/blocked/blocked_conv.h"
#include "baton/runtime/kernels/blocked/int8_isa.h"
#include "baton/runtime/kernels/blocked/internal/byte_words.inc"
#include "baton/runtime/kernels/blocked/internal/int8_conv.inc"

namespace baton::kernels::blocked {

using integers::conv::FlipOf;
using integers::conv::kCollected;
using integers::conv::kEight;
using integers::conv::kQuad;
using integers::conv::kSlab;
using integers::conv::MakePlan;
using integers::conv::PackedQuad;
using integers::conv::Plan;
using integers::conv::SlabBytes;

namespace {

constexpr int64_t kCacheLine = 64;

// Weights of 32 channels and so many taps are some lines of the cache.
constexpr int64_t kRunTaps = 8;

int32_t ValueOf(const Int8ConvParams& p, int8_t weight) {
  return p.unsigned_weights ? static_cast<uint8_t>(weight) : weight;
}

// The number that takes the sign of data back: the `sum` of a channel's weights
// times what data has too little.
int32_t CorrectionOf(const Plan& plan, uint32_t sum) {
  if (FlipOf(plan.p, plan.is_depthwise) == 0) return 0;
  return static_cast<int32_t>(plan.p.signed_data ? 0u - sum * 128u
                                                 : sum * 128u);
}

// Packs a filter for each channel.
void PackChannels(const Plan& plan, const int8_t* weights, int8_t* to,
                  int32_t* added) {
  for (int64_t c = 0; c < plan.p.out_channels; ++c) {
    int8_t* const slab = to + c / kSlab * SlabBytes(plan);
    uint32_t sum = 0;
    for (int64_t t = 0; t < plan.taps; ++t) {
      const auto weight =
          static_cast<int16_t>(ValueOf(plan.p, weights[c * plan.taps + t]));
      std::memcpy(slab + ((t / 2 * kSlab + c % kSlab) * 2 + t % 2) * 2, &weight,
                  sizeof(weight));
      sum += static_cast<uint32_t>(int32_t{weight});
    }
    added[c] = CorrectionOf(plan, sum);
  }
}

// Packs `channels` weights of a quad, `step` bytes apart, of each of `outs`
// channels of the result, whose weights are `row` bytes apart.
void PackQuads(const int8_t* from, int64_t row, int64_t outs, int64_t channels,
               int64_t step, int8_t* to) {
  for (int64_t o = 0; o < outs; ++o, from += row, to += kQuad) {
    if (channels == kQuad && step == 1) {
      std::memcpy(to, from, kQuad);
      continue;
    }
    for (int64_t c = 0; c < channels; ++c) to[c] = from[c * step];
  }
}

// The most taps that PackTaps takes.
constexpr int64_t kMostTaps = 16;

// Packs the weights of a quad of one channel of the result: those of tap t are
// at `to` + t * `step`. Reads kMostTaps bytes from the first tap of each
// channel on.
void PackTaps(const int8_t* from, int64_t taps, int8_t* to, int64_t step) {
  int8_t words[kMostTaps * kQuad];
  integers::WriteWordsOfRows(from, taps, words);
  for (int64_t t = 0; t < taps; ++t) {
    std::memcpy(to + t * step, words + t * kQuad, kQuad);
  }
}

}  // namespace

int64_t PackedInt8ConvSize(const Int8ConvParams& params) {
  const Plan plan = MakePlan(params);
  return plan.p.groups * plan.slabs *
         (SlabBytes(plan) + kSlab * int64_t{sizeof(int32_t)});
}

void PackInt8ConvWeights(const Int8ConvParams& params, const int8_t* weights,
                         void* packed) {
  const Plan plan = MakePlan(params);
  auto* to = static_cast<int8_t*>(packed);
  auto* added = reinterpret_cast<int32_t*>(to + plan.p.groups * plan.slabs *
                                                    SlabBytes(plan));
  std::memset(packed, 0, static_cast<size_t>(PackedInt8ConvSize(params)));
  if (plan.is_depthwise) {
    PackChannels(plan, weights, to, added);
    return;
  }
  const int64_t terms = params.in_channels * plan.taps;
  const int8_t* const end =
      weights + params.groups * params.out_channels * terms;
  const bool flips = FlipOf(params, /*is_depthwise=*/false) != 0;
  // Channels whose weights of one channel of the result are packed at a time:
  // some lines of the cache, but all if those of a quad are adjacent.
  const int64_t run =
      plan.taps == 1
          ? params.in_channels
          : kQuad * kEight * std::max<int64_t>(1, kRunTaps / plan.taps);
  // Packs the weights of channel `o` of a slab in the quad that begins at
  // channel `c` of the data.
  const auto pack_quad = [&](const int8_t* row, int64_t c, int64_t o,
                             int8_t* packed_slab) {
    const int8_t* const from = row + c * plan.taps;
    const int64_t place = PackedQuad(plan, c, 0);
    const int64_t step = (PackedQuad(plan, c, 1) - place) * kSlab * kQuad;
    int8_t* const quad = packed_slab + (place * kSlab + o) * kQuad;
    const int64_t channels = std::min(kQuad, params.in_channels - c);
    // PackTaps must not read beyond the last weight.
    if (plan.taps <= kMostTaps && channels == kQuad &&
        end - from >= (kQuad - 1) * plan.taps + kMostTaps) {
      PackTaps(from, plan.taps, quad, step);
      return;
    }
    for (int64_t t = 0; t < plan.taps; ++t) {
      PackQuads(from + t, terms, 1, channels, plan.taps, quad + t * step);
    }
  };
  for (int64_t g = 0; g < params.groups; ++g) {
    for (int64_t s = 0; s < plan.slabs; ++s) {
      const int64_t first = s * kSlab;
      const int64_t outs = std::min(kSlab, params.out_channels - first);
      const int8_t* const slab =
          weights + (g * params.out_channels + first) * terms;
      for (int64_t c = 0; c < params.in_channels; c += run) {
        const int64_t run_end = std::min(params.in_channels, c + run);
        const int64_t next =
            std::min(params.in_channels, run_end + run) * plan.taps;
        for (int64_t o = 0; o < outs; ++o) {
          const int8_t* const row = slab + o * terms;
          // The next run of this row, which begins at another line of the
          // cache: there are too many rows for the processor to foresee that.
          for (int64_t i = run_end * plan.taps; i < next; i += kCacheLine) {
            __builtin_prefetch(row + i);
          }
          if (plan.taps == 1) continue;
          for (int64_t q = c; q < run_end; q += kQuad) pack_quad(row, q, o, to);
        }
        if (plan.taps > 1) continue;
        for (int64_t q = c; q < run_end; q += kQuad) {
          const int64_t channels = std::min(kQuad, params.in_channels - q);
          PackQuads(slab + q, terms, outs, channels, 1,
                    to + PackedQuad(plan, q, 0) * kSlab * kQuad);
        }
      }
      for (int64_t o = 0; o < outs && flips; ++o) {
        uint32_t sum = 0;
        for (int64_t i = 0; i < terms; ++i) {
          sum += static_cast<uint32_t>(ValueOf(params, slab[o * terms + i]));
        }
        added[o] = CorrectionOf(plan, sum);
      }
      to += SlabBytes(plan);
      added += kSlab;
    }
  }
}

int64_t Int8ConvItems(const Int8ConvParams& params) {
  if (params.h.out * params.w.out * params.out_channels == 0) return 0;
  const Plan plan = MakePlan(params);
  return params.batch * plan.p.groups * plan.bands * plan.slabs;
}

int64_t Int8ConvBandsFor(int64_t threads, const Int8ConvParams& params) {
  // With this many items each, threads have about equal shares.
  constexpr int64_t kManyItems = 4;
  if (threads <= 1) return 1;
  const Plan plan = MakePlan(params);
  const int64_t items_of_band =
      std::max<int64_t>(1, params.batch * plan.p.groups * plan.slabs);
  return (threads * kManyItems + items_of_band - 1) / items_of_band;
}

size_t Int8ConvWorkspaceSize(const Int8ConvParams& params) {
  const Plan plan = MakePlan(params);
  const int64_t collected =
      params.slabs_output ? 0 : std::max(kCollected, plan.p.w.out) * kSlab;
  return static_cast<size_t>(plan.copy_bytes + plan.wide_bytes +
                             plan.most_bytes +
                             integers::conv::kSlabBlocks * plan.word_bytes +
                             plan.offset_bytes + collected);
}

}  // namespace baton::kernels::blocked
