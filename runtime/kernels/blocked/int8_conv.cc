#include "baton/runtime/kernels/blocked/int8_conv.h"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstring>

#include "baton/runtime/kernels/blocked/conv.h"
#include "baton/runtime/kernels/blocked/int8_isa.h"
#include "baton/runtime/kernels/blocked/internal/int8_conv.inc"

namespace baton::kernels::blocked {

using integers::conv::kCollected;
using integers::conv::kQuad;
using integers::conv::kSlab;
using integers::conv::MakePlan;
using integers::conv::PackedQuad;
using integers::conv::Plan;
using integers::conv::SlabBytes;

namespace {

// Packs a filter for each channel.
void PackChannels(const Plan& plan, const int8_t* weights, int8_t* to,
                  int32_t* added) {
  for (int64_t c = 0; c < plan.p.out_channels; ++c) {
    int8_t* const slab = to + c / kSlab * SlabBytes(plan);
    uint32_t sum = 0;
    for (int64_t t = 0; t < plan.taps; ++t) {
      const int16_t weight = weights[c * plan.taps + t];
      std::memcpy(slab + ((t / 2 * kSlab + c % kSlab) * 2 + t % 2) * 2, &weight,
                  sizeof(weight));
      sum += static_cast<uint32_t>(int32_t{weight});
    }
    if (plan.p.signed_data) added[c] = static_cast<int32_t>(0u - sum * 128u);
  }
}

}  // namespace

bool IsSupported(Int8Isa isa) {
#ifdef __x86_64__
  switch (isa) {
    case Int8Isa::kPlain:
      return true;
    case Int8Isa::kAvx2:
      return __builtin_cpu_supports("avx2");
    case Int8Isa::kVnni:
      return __builtin_cpu_supports("avx512f") &&
             __builtin_cpu_supports("avx512vnni");
  }
  return false;
#else
  return isa == Int8Isa::kPlain;
#endif
}

Int8Isa BestInt8Isa() {
  if (IsSupported(Int8Isa::kVnni)) return Int8Isa::kVnni;
  return IsSupported(Int8Isa::kAvx2) ? Int8Isa::kAvx2 : Int8Isa::kPlain;
}

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
  for (int64_t g = 0; g < params.groups; ++g) {
    for (int64_t s = 0; s < plan.slabs; ++s) {
      for (int64_t o = s * kSlab;
           o < std::min<int64_t>(params.out_channels, (s + 1) * kSlab); ++o) {
        const int8_t* from = weights + (g * params.out_channels + o) *
                                           params.in_channels * plan.taps;
        uint32_t sum = 0;
        for (int64_t c = 0; c < params.in_channels; ++c) {
          for (int64_t t = 0; t < plan.taps; ++t) {
            to[(PackedQuad(plan, c, t) * kSlab + o % kSlab) * kQuad +
               c % kQuad] = *from;
            sum += static_cast<uint32_t>(int32_t{*from++});
          }
        }
        if (params.signed_data) {
          added[o % kSlab] = static_cast<int32_t>(0u - sum * 128u);
        }
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
                             plan.wide_weight_bytes + collected);
}

}  // namespace baton::kernels::blocked
