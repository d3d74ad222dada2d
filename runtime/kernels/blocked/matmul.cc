#include "baton/runtime/kernels/blocked/matmul.h"

#include <algorithm>
#include <cstddef>
#include <cstdint>

#include "baton/base/align.h"
#include "baton/runtime/kernels/blocked/blocked_conv.h"
#include "baton/runtime/kernels/blocked/internal/interleave.h"
#include "baton/runtime/kernels/blocked/internal/matmul_plan.h"
#include "baton/runtime/kernels/blocked/sums.h"

// Uses kBlock.
#include "baton/runtime/kernels/blocked/internal/pack_matrix.inc"

namespace baton::kernels::blocked {
namespace internal {
namespace {

constexpr int64_t kWorkspaceAlignment = 64;

// The second operand is read once for each band. A band stays in the second
// nearest cache of some processors; others read it from the next one, as often
// as they would read the second operand for smaller bands.
constexpr int64_t kBandBytes = int64_t{1} << 20;
constexpr int64_t kBandRows = 168;
// Tiles have 14 or 6 rows.
constexpr int64_t kWhole = 42;
constexpr int64_t kLeastRows = 28;

}  // namespace

MatmulPlan MakeMatmulPlan(const MatmulParams& params) {
  MatmulPlan plan = {};
  plan.params = params;
  MatmulParams& p = plan.params;
  if (p.x_stride == 0) p.x_stride = p.k;
  if (p.y_stride == 0) p.y_stride = p.n;
  if (p.residual_stride == 0) p.residual_stride = p.n;
  const Sums sums = {.channels = p.k, .taps = 1};
  plan.blocks = BlocksOf(p.n);
  plan.units = sums.units();
  // A sum without terms has one chunk, too.
  plan.chunks = std::max<int64_t>(1, sums.chunks());
  plan.in_double = sums.in_double();
  plan.few_rows = p.m <= kFewRows;
  plan.blocks_of_slab = 2;
  if (plan.few_rows) {
    plan.blocks_of_slab = kBlocksOfFewRows;
    if (p.least_bands > 1 && plan.blocks > 0) {
      const int64_t least =
          (plan.blocks + kBlocksOfFewRows - 1) / kBlocksOfFewRows;
      const int64_t slabs =
          std::min(plan.blocks,
                   (least + p.least_bands - 1) / p.least_bands * p.least_bands);
      plan.blocks_of_slab = (plan.blocks + slabs - 1) / slabs;
    }
  }
  plan.slabs = (plan.blocks + plan.blocks_of_slab - 1) / plan.blocks_of_slab;
  plan.rows = p.m;
  if (!plan.few_rows) {
    const int64_t fit =
        kBandBytes / std::max<int64_t>(1, p.k * int64_t{sizeof(float)});
    const int64_t most = std::clamp(fit / kWhole * kWhole, kWhole, kBandRows);
    const int64_t bands = std::max((p.m + most - 1) / most,
                                   std::min(p.least_bands, p.m / kLeastRows));
    plan.rows = (p.m + bands - 1) / bands;
  }
  plan.bands = plan.rows == 0 ? 0 : (p.m + plan.rows - 1) / plan.rows;
  plan.items = plan.bands * plan.slabs;
  if (p.m > 1) {
    // The additional kWorkspaceAlignment bytes hold the first row of the band
    // that the copy is of.
    plan.copy_bytes =
        kWorkspaceAlignment +
        AlignUp(static_cast<size_t>(plan.rows * p.k * int64_t{sizeof(float)}),
                kWorkspaceAlignment);
  }
  const int64_t elements = plan.rows * plan.blocks_of_slab * kBlock;
  plan.sum_bytes =
      AlignUp(static_cast<size_t>(elements * int64_t{sizeof(float)}),
              kWorkspaceAlignment);
  if (plan.in_double) {
    plan.double_bytes =
        AlignUp(static_cast<size_t>(elements * int64_t{sizeof(double)}),
                kWorkspaceAlignment);
  }
  return plan;
}

}  // namespace internal

int64_t PackedMatmulSize(const MatmulParams& params) {
  return BlocksOf(params.n) * params.k * kBlock;
}

void PackMatmul(const MatmulParams& params, const float* b, bool transposed,
                float* packed) {
  const int64_t stride = params.b_stride != 0 ? params.b_stride
                         : transposed         ? params.k
                                              : params.n;
  const int64_t full = transposed ? params.n / kBlock * kBlock : 0;
  for (int64_t j = 0; j < full; j += kBlock) {
    internal::InterleaveSixteen(b + j * stride, stride, params.k, 1,
                                packed + j * params.k);
  }
  PackMatrix(params.n - full, params.k, b + full * stride, stride, transposed,
             packed + full * params.k);
}

void PackMatmulRows(const MatmulParams& params, const float* rows,
                    int64_t begin, int64_t end, float* packed) {
  PackRows(params.n, params.k, rows,
           params.b_stride != 0 ? params.b_stride : params.n, begin, end,
           packed);
}

int64_t MatmulItems(const MatmulParams& params) {
  return internal::MakeMatmulPlan(params).items;
}

size_t MatmulWorkspaceSize(const MatmulParams& params) {
  const internal::MatmulPlan plan = internal::MakeMatmulPlan(params);
  return plan.copy_bytes + plan.sum_bytes + plan.double_bytes;
}

}  // namespace baton::kernels::blocked
