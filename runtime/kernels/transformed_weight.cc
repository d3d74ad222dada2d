#include "baton/runtime/kernels/transformed_weight.h"

#include <cmath>
#include <cstddef>
#include <cstring>
#include <limits>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "absl/strings/string_view.h"
#include "absl/types/span.h"
#include "baton/base/dtype.h"
#include "baton/base/status_macros.h"
#include "baton/runtime/kernels/internal/convert.h"
#include "baton/runtime/kernels/internal/util.h"
#include "baton/runtime/kernels/layout_kernels.h"

namespace baton::kernels {
namespace {

using ::baton::kernels::internal::AxisView;
using ::baton::kernels::internal::Error;

constexpr absl::string_view kWinograd = "winograd_weight_transform";

// The points at which polynomials are evaluated: those of arXiv:1803.10986,
// which lose the least accuracy. Their number is tile size + taps - 2, 3 to 13.
std::vector<double> InterpolationPoints(int64_t number) {
  switch (number) {
    case 3:
    case 4:
    case 5:
    case 6: {
      const std::vector<double> points = {0, -1, 1, 0.5, -2, -0.5};
      return {points.begin(), points.begin() + number};
    }
    case 10:
      return {0, -1, 1, 0.5, -0.5, 2, -2, -0.25, 0.75, -4.0 / 3};
    case 11:
    case 12: {
      const std::vector<double> points = {0,  -1,    1, 0.5,  -0.5,     2,
                                          -2, -0.25, 4, 0.75, -4.0 / 3, 0.25};
      return {points.begin(), points.begin() + number};
    }
    default: {  // 7, 8, 9 and 13
      const std::vector<double> points = {
          0, -1, 1, 0.5, -0.5, 2, -2, -0.25, 4, 0.25, -0.75, 4.0 / 3, -4};
      return {points.begin(), points.begin() + number};
    }
  }
}

// The matrix of the transformation, a row for each of tile + taps - 1 values:
// that of a polynomial with the taps as coefficients at each of the points, and
// at infinity.
std::vector<std::vector<double>> WinogradMatrix(int64_t tile_size,
                                                int64_t taps) {
  const std::vector<double> points = InterpolationPoints(tile_size + taps - 2);
  std::vector<std::vector<double>> matrix;
  for (size_t i = 0; i < points.size(); ++i) {
    double scale = 1;
    for (size_t k = 0; k < points.size(); ++k) {
      if (k != i) scale *= points[i] - points[k];
    }
    // The sign of the first row is free.
    if (i == 0) scale = std::abs(scale);
    std::vector<double>& row = matrix.emplace_back();
    double power = 1;
    for (int64_t j = 0; j < taps; ++j, power *= points[i]) {
      row.push_back(power / scale);
    }
  }
  matrix.emplace_back(static_cast<size_t>(taps), 0.0).back() = 1;
  return matrix;
}

absl::Status CheckWinograd(const Tensor& weight, int rank, int64_t tile_size) {
  BATON_RETURN_IF_ERROR(internal::CheckRank(kWinograd, "weight", weight, rank));
  if (!weight.dtype().is_float()) {
    return internal::UnsupportedDType(kWinograd, weight.dtype());
  }
  const int64_t taps = weight.shape()[rank - 1];
  if (taps != weight.shape()[rank - 2] || taps < 3 || taps > 7) {
    return Error(kWinograd, "weight ", weight.TypeToString(),
                 " does not have 3 to 7 rows and as many columns");
  }
  if (tile_size < 2 || tile_size > 8) {
    return Error(kWinograd, "tile_size=", tile_size, " is not 2 to 8");
  }
  return absl::OkStatus();
}

// Multiplies the vectors along `axis`, of doubles, by the matrix.
absl::StatusOr<Tensor> MultiplyAlong(
    const std::vector<std::vector<double>>& matrix, const Tensor& x, int axis) {
  const AxisView view = internal::ViewAround(x.shape(), axis);
  const auto rows = static_cast<int64_t>(matrix.size());
  TensorShape shape = internal::ToShape(x.shape());
  shape[axis] = rows;
  BATON_ASSIGN_OR_RETURN(MutableTensor result,
                         MutableTensor::Create(DType::Float(64), shape));
  // Extents of 0 do not bound the others.
  if (x.num_elements() == 0) return std::move(result).Freeze();
  const double* const in = x.span<double>().data();
  double* out = result.span<double>().data();
  for (int64_t outer = 0; outer < view.outer; ++outer) {
    for (const std::vector<double>& row : matrix) {
      for (int64_t inner = 0; inner < view.inner; ++inner) {
        double sum = 0;
        for (int64_t k = 0; k < view.extent; ++k) {
          sum += row[static_cast<size_t>(k)] *
                 in[(outer * view.extent + k) * view.inner + inner];
        }
        *out++ = sum;
      }
    }
  }
  return std::move(result).Freeze();
}

// The weight transformed along `axes`, with its axes in `order` then.
absl::StatusOr<Tensor> Transformed(const Tensor& weight, int64_t tile_size,
                                   absl::Span<const int> axes,
                                   absl::Span<const int64_t> order) {
  const std::vector<std::vector<double>> matrix =
      WinogradMatrix(tile_size, weight.shape()[weight.rank() - 1]);
  BATON_ASSIGN_OR_RETURN(
      Tensor x, internal::Convert(kWinograd, weight, DType::Float(64)));
  for (const int axis : axes) {
    BATON_ASSIGN_OR_RETURN(x, MultiplyAlong(matrix, x, axis));
  }
  BATON_ASSIGN_OR_RETURN(x, Transpose(x, order));
  return internal::Convert(kWinograd, x, weight.dtype());
}

// Calls fn(element, place) with where each element of a matrix (columns, rows),
// the weight in HWIO, is among its tiles.
template <typename Fn>
void ForEachTiled(int64_t reduced, int64_t units,
                  absl::Span<const int64_t> tiles, const Fn& fn) {
  for (int64_t k = 0; k < reduced && units > 0; ++k) {
    for (int64_t n = 0; n < units; ++n) {
      const int64_t tile = n / tiles[2] * tiles[1] + k / tiles[3];
      fn(k * units + n,
         (tile * tiles[2] + n % tiles[2]) * tiles[3] + k % tiles[3]);
    }
  }
}

}  // namespace

absl::StatusOr<Tensor> WinogradWeight2d(const Tensor& weight,
                                        int64_t tile_size) {
  BATON_RETURN_IF_ERROR(CheckWinograd(weight, 4, tile_size));
  return Transformed(weight, tile_size, {2, 3}, {2, 3, 0, 1});
}

absl::StatusOr<Tensor> WinogradWeight3d(const Tensor& weight,
                                        int64_t tile_size) {
  BATON_RETURN_IF_ERROR(CheckWinograd(weight, 5, tile_size));
  const int64_t depth = weight.shape()[2];
  if (depth < 3 || depth > 7) {
    return Transformed(weight, tile_size, {3, 4}, {3, 4, 2, 0, 1});
  }
  if (depth != weight.shape()[3]) {
    return Error(kWinograd, "weight ", weight.TypeToString(),
                 " is as deep as a cube, but not one");
  }
  return Transformed(weight, tile_size, {2, 3, 4}, {2, 3, 4, 0, 1});
}

absl::StatusOr<Tensor> TiledWeight(const Tensor& weight, int64_t rows,
                                   int64_t columns) {
  constexpr absl::string_view kKernel = "gemm_weight_transform";
  BATON_RETURN_IF_ERROR(internal::CheckRank(kKernel, "weight", weight, 4));
  constexpr int64_t kMaxSide = std::numeric_limits<int32_t>::max();
  if (rows <= 0 || rows > kMaxSide || columns <= 0 || columns > kMaxSide) {
    return Error(kKernel, "tiles of ", rows, " by ", columns,
                 " are out of range");
  }
  const int64_t reduced = internal::Product(weight.shape().first(3));
  const int64_t units = weight.shape()[3];
  const auto whole = [](int64_t x, int64_t size) {
    return x / size + (x % size != 0 ? 1 : 0);
  };
  BATON_ASSIGN_OR_RETURN(
      const int64_t across,
      internal::CheckedMul(kKernel, whole(reduced, 4 * columns), 4));
  BATON_ASSIGN_OR_RETURN(
      MutableTensor result,
      MutableTensor::Create(weight.dtype(),
                            {whole(units, rows), across, rows, columns}));
  const auto bytes = static_cast<size_t>(weight.dtype().bytes());
  const auto* const from = static_cast<const char*>(weight.data());
  auto* const to = static_cast<char*>(result.data());
  ForEachTiled(reduced, units, result.shape(), [&](int64_t i, int64_t place) {
    std::memcpy(to + static_cast<size_t>(place) * bytes,
                from + static_cast<size_t>(i) * bytes, bytes);
  });
  return std::move(result).Freeze();
}

absl::StatusOr<Tensor> UntiledWeight(const Tensor& tiles,
                                     const std::array<int64_t, 4>& shape) {
  constexpr absl::string_view kKernel = "conv2d_gemm";
  BATON_RETURN_IF_ERROR(internal::CheckRank(kKernel, "weight", tiles, 4));
  BATON_ASSIGN_OR_RETURN(MutableTensor result,
                         MutableTensor::Create(tiles.dtype(), shape));
  const int64_t reduced =
      internal::Product(absl::MakeConstSpan(shape).first(3));
  const absl::Span<const int64_t> sides = tiles.shape();
  // So that no product of them overflows where the tiles are not empty.
  const bool fits =
      result.num_elements() == 0 ||
      (tiles.num_elements() > 0 && shape[3] <= sides[0] * sides[2] &&
       reduced <= sides[1] * sides[3]);
  if (!fits) {
    return Error(kKernel, "weight ", tiles.TypeToString(), " has no tiles for ",
                 internal::ShapeToString(shape));
  }
  const auto bytes = static_cast<size_t>(tiles.dtype().bytes());
  const auto* const from = static_cast<const char*>(tiles.data());
  auto* const to = static_cast<char*>(result.data());
  if (result.num_elements() > 0) {
    ForEachTiled(reduced, shape[3], sides, [&](int64_t i, int64_t place) {
      std::memcpy(to + static_cast<size_t>(i) * bytes,
                  from + static_cast<size_t>(place) * bytes, bytes);
    });
  }
  return std::move(result).Freeze();
}

}  // namespace baton::kernels
