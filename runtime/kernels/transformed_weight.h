// Transforms weights of convolutions for particular algorithms.

#ifndef BATON_RUNTIME_KERNELS_TRANSFORMED_WEIGHT_H_
#define BATON_RUNTIME_KERNELS_TRANSFORMED_WEIGHT_H_

#include <array>
#include <cstdint>

#include "absl/status/statusor.h"
#include "baton/base/tensor.h"

namespace baton::kernels {

// The weight of a convolution by Winograd's method (arXiv:1509.09308), which
// computes `tile_size` (2 to 8) outputs of an axis at a time. Converts OIHW to
// (tile_size + H - 1, tile_size + W - 1, O, I), of the same floating-point
// dtype. An error unless H = W, from 3 to 7.
absl::StatusOr<Tensor> WinogradWeight2d(const Tensor& weight,
                                        int64_t tile_size);
// As above, for OIDHW. If D = H = W, transforms all three axes, to (tile_size +
// D - 1, tile_size + H - 1, tile_size + W - 1, O, I). Otherwise leaves D as it
// is: (tile_size + H - 1, tile_size + W - 1, D, O, I).
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
