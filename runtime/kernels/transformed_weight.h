// Transforms weights of convolutions for particular algorithms.

#ifndef BATON_RUNTIME_KERNELS_TRANSFORMED_WEIGHT_H_
#define BATON_RUNTIME_KERNELS_TRANSFORMED_WEIGHT_H_

#include <array>
#include <cstdint>

#include "absl/status/statusor.h"
#include "baton/base/tensor.h"

namespace baton::kernels {

// For Winograd's method (arXiv:1509.09308) with `tile_size` outputs at a time,
// 2 to 8. Converts floating OIHW to (tile + H - 1, tile + W - 1, O, I). H and W
// are equal, 3 to 7.
absl::StatusOr<Tensor> WinogradWeight2d(const Tensor& weight,
                                        int64_t tile_size);
// Converts OIDHW to (tile + D - 1, tile + H - 1, tile + W - 1, O, I) if D is 3
// to 7, and then equal to H and W; otherwise to (tile + H - 1, tile + W - 1, D,
// O, I).
absl::StatusOr<Tensor> WinogradWeight3d(const Tensor& weight,
                                        int64_t tile_size);

// The matrix (O, H * W * I) of a weight in HWIO, in tiles: (tiles down, tiles
// across, rows, columns of a tile). The number of tiles across is a multiple of
// four. Zeros fill what is outside of the matrix.
absl::StatusOr<Tensor> TiledWeight(const Tensor& weight, int64_t rows,
                                   int64_t columns);
// The inverse of TiledWeight: the weight in HWIO, of `shape`.
absl::StatusOr<Tensor> UntiledWeight(const Tensor& tiles,
                                     const std::array<int64_t, 4>& shape);

}  // namespace baton::kernels

#endif  // BATON_RUNTIME_KERNELS_TRANSFORMED_WEIGHT_H_
