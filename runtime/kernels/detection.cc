#include "baton/runtime/kernels/detection.h"

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <limits>
#include <numeric>
#include <utility>

#include "absl/status/status.h"
#include "absl/strings/string_view.h"
#include "absl/types/span.h"
#include "baton/base/limits.h"
#include "baton/base/status_macros.h"
#include "baton/runtime/kernels/internal/convert.h"
#include "baton/runtime/kernels/internal/util.h"

namespace baton::kernels {
namespace {

using ::baton::kernels::internal::Error;

// The elements as doubles.
absl::StatusOr<std::vector<double>> Doubles(absl::string_view kernel,
                                            const Tensor& x) {
  BATON_ASSIGN_OR_RETURN(const Tensor wide,
                         internal::Convert(kernel, x, DType::Float(64)));
  const absl::Span<const double> values = wide.span<double>();
  return std::vector<double>(values.begin(), values.end());
}

absl::StatusOr<Tensor> FromDoubles(absl::string_view kernel, DType dtype,
                                   absl::Span<const int64_t> shape,
                                   const std::vector<double>& values) {
  BATON_ASSIGN_OR_RETURN(const Tensor wide,
                         Tensor::FromValues<double>(shape, values));
  return internal::Convert(kernel, wide, dtype);
}

absl::Status CheckRegions(absl::string_view kernel, const Tensor& x,
                          const Tensor& regions, const RegionParams& params) {
  if (x.rank() != 4 || regions.rank() != 2 || regions.shape()[1] != 5 ||
      params.height <= 0 || params.width <= 0) {
    return Error(kernel, "data ", x.TypeToString(), " and regions ",
                 regions.TypeToString(), " for a result of ", params.height,
                 " by ", params.width);
  }
  return absl::OkStatus();
}

// A tensor (regions, channels, height, width) of `compute(plane, region, row,
// column)`, where `plane` is a channel of the image of the region, whose box
// has been multiplied by the scale.
template <typename Fn>
absl::StatusOr<Tensor> ForEachBin(absl::string_view kernel, const Tensor& x,
                                  const Tensor& regions,
                                  const RegionParams& params,
                                  const Fn& compute) {
  BATON_RETURN_IF_ERROR(CheckRegions(kernel, x, regions, params));
  const int64_t channels = x.shape()[1];
  const TensorShape shape = {regions.shape()[0], channels, params.height,
                             params.width};
  BATON_ASSIGN_OR_RETURN(const int64_t size,
                         NumElements(DType::Float(64), shape));
  BATON_RETURN_IF_ERROR(
      CheckTensorBytes(size * static_cast<int64_t>(sizeof(double))));
  BATON_ASSIGN_OR_RETURN(const std::vector<double> boxes,
                         Doubles(kernel, regions));
  BATON_ASSIGN_OR_RETURN(const std::vector<double> data, Doubles(kernel, x));
  const int64_t plane = x.shape()[2] * x.shape()[3];
  std::vector<double> out;
  out.reserve(static_cast<size_t>(size));
  for (int64_t r = 0; r < shape[0] && size > 0; ++r) {
    const double* const row = boxes.data() + 5 * r;
    if (!(row[0] >= 0) || !(row[0] < static_cast<double>(x.shape()[0]))) {
      return Error(kernel, "image ", row[0], " is none of the ", x.shape()[0]);
    }
    double box[4];
    for (int k = 0; k < 4; ++k) {
      box[k] = row[k + 1] * params.scale;
      if (!(std::abs(box[k]) < 1e9)) {
        return Error(kernel, "the coordinate ", box[k], " is out of range");
      }
    }
    const double* from =
        data.data() + static_cast<int64_t>(row[0]) * channels * plane;
    for (int64_t c = 0; c < channels; ++c, from += plane) {
      for (int64_t i = 0; i < params.height; ++i) {
        for (int64_t j = 0; j < params.width; ++j) {
          out.push_back(compute(from, box, i, j));
        }
      }
    }
  }
  return FromDoubles(kernel, x.dtype(), shape, out);
}

// The element at (y, x) between those of a plane; 0 outside.
double Interpolated(const double* plane, int64_t rows, int64_t columns,
                    double y, double x) {
  const auto height = static_cast<double>(rows);
  const auto width = static_cast<double>(columns);
  if (y < -1 || y > height || x < -1 || x > width) return 0;
  y = std::min(std::max(y, 0.0), height - 1);
  x = std::min(std::max(x, 0.0), width - 1);
  const auto top = static_cast<int64_t>(y);
  const auto left = static_cast<int64_t>(x);
  const double down = y - static_cast<double>(top);
  const double right = x - static_cast<double>(left);
  double sum = 0;
  for (int64_t i = 0; i < 2; ++i) {
    for (int64_t j = 0; j < 2; ++j) {
      if (top + i >= rows || left + j >= columns) continue;
      sum += (i == 0 ? 1 - down : down) * (j == 0 ? 1 - right : right) *
             plane[(top + i) * columns + left + j];
    }
  }
  return sum;
}

}  // namespace

absl::StatusOr<Tensor> RoiAlign(const Tensor& x, const Tensor& regions,
                                const RegionParams& params) {
  constexpr absl::string_view kKernel = "roi_align";
  BATON_RETURN_IF_ERROR(CheckRegions(kKernel, x, regions, params));
  const int64_t rows = x.shape()[2];
  const int64_t columns = x.shape()[3];
  if (rows == 0 || columns == 0) return Error(kKernel, "the map is empty");
  if (params.sample_ratio > 1024) {
    return Error(kKernel, "sample_ratio=", params.sample_ratio,
                 " is too large");
  }
  // No more samples along a side than four times the map is long.
  const auto samples = [&params](double length, int64_t bins, int64_t extent) {
    if (params.sample_ratio > 0) return params.sample_ratio;
    return std::min(
        static_cast<int64_t>(std::ceil(length / static_cast<double>(bins))),
        4 * extent + 4);
  };
  return ForEachBin(
      kKernel, x, regions, params,
      [&](const double* plane, const double* box, int64_t i, int64_t j) {
        const double width = std::max(box[2] - box[0], 1.0);
        const double height = std::max(box[3] - box[1], 1.0);
        const double bin_height = height / static_cast<double>(params.height);
        const double bin_width = width / static_cast<double>(params.width);
        const int64_t down = samples(height, params.height, rows);
        const int64_t across = samples(width, params.width, columns);
        double sum = 0;
        double largest = -std::numeric_limits<double>::infinity();
        for (int64_t a = 0; a < down; ++a) {
          const double at_y = box[1] + static_cast<double>(i) * bin_height +
                              (static_cast<double>(a) + 0.5) * bin_height /
                                  static_cast<double>(down);
          for (int64_t b = 0; b < across; ++b) {
            const double at_x = box[0] + static_cast<double>(j) * bin_width +
                                (static_cast<double>(b) + 0.5) * bin_width /
                                    static_cast<double>(across);
            const double value = Interpolated(plane, rows, columns, at_y, at_x);
            sum += value;
            largest = std::max(largest, value);
          }
        }
        return params.max ? largest : sum / static_cast<double>(down * across);
      });
}

absl::StatusOr<Tensor> RoiPool(const Tensor& x, const Tensor& regions,
                               const RegionParams& params) {
  constexpr absl::string_view kKernel = "roi_pool";
  BATON_RETURN_IF_ERROR(CheckRegions(kKernel, x, regions, params));
  const int64_t rows = x.shape()[2];
  const int64_t columns = x.shape()[3];
  // The elements of bin `i` of `bins` of a side from `begin` to `end`.
  const auto range = [](double begin, double end, int64_t i, int64_t bins,
                        int64_t extent) {
    const double first = std::round(begin);
    const double length = std::max(std::round(end) - first + 1, 1.0);
    const double bin = length / static_cast<double>(bins);
    const auto bounded = [extent](double at) {
      return static_cast<int64_t>(
          std::min(std::max(at, 0.0), static_cast<double>(extent)));
    };
    return std::pair(
        bounded(std::floor(static_cast<double>(i) * bin) + first),
        bounded(std::ceil(static_cast<double>(i + 1) * bin) + first));
  };
  return ForEachBin(
      kKernel, x, regions, params,
      [&](const double* plane, const double* box, int64_t i, int64_t j) {
        const std::pair<int64_t, int64_t> down =
            range(box[1], box[3], i, params.height, rows);
        const std::pair<int64_t, int64_t> across =
            range(box[0], box[2], j, params.width, columns);
        if (down.first >= down.second || across.first >= across.second) {
          return 0.0;
        }
        double largest = plane[down.first * columns + across.first];
        for (int64_t a = down.first; a < down.second; ++a) {
          for (int64_t b = across.first; b < across.second; ++b) {
            largest = std::max(largest, plane[a * columns + b]);
          }
        }
        return largest;
      });
}

absl::StatusOr<Tensor> AnchorBoxes(int64_t height, int64_t width,
                                   const AnchorParams& params, DType dtype) {
  constexpr absl::string_view kKernel = "multibox_prior";
  const bool fits = !params.sizes.empty() && !params.ratios.empty() &&
                    params.steps.size() == 2 && params.offsets.size() == 2 &&
                    height >= 0 && width >= 0;
  if (!fits) {
    return Error(kKernel,
                 "one size, one ratio, two steps and two offsets are needed");
  }
  const int64_t kinds =
      static_cast<int64_t>(params.sizes.size() + params.ratios.size()) - 1;
  BATON_ASSIGN_OR_RETURN(
      const int64_t size,
      NumElements(DType::Float(64), {height, width, kinds, 4}));
  BATON_RETURN_IF_ERROR(
      CheckTensorBytes(size * static_cast<int64_t>(sizeof(double))));
  const auto rows = static_cast<double>(height);
  const auto columns = static_cast<double>(width);
  std::vector<double> out;
  out.reserve(static_cast<size_t>(size));
  const double step_down = params.steps[0] > 0 ? params.steps[0] : 1 / rows;
  const double step_across =
      params.steps[1] > 0 ? params.steps[1] : 1 / columns;
  for (int64_t i = 0; i < height; ++i) {
    const double y = (static_cast<double>(i) + params.offsets[0]) * step_down;
    for (int64_t j = 0; j < width; ++j) {
      const double x =
          (static_cast<double>(j) + params.offsets[1]) * step_across;
      for (size_t k = 0; k < static_cast<size_t>(kinds); ++k) {
        const bool by_size = k < params.sizes.size();
        const double side = params.sizes[by_size ? k : 0];
        const double ratio =
            by_size ? 1 : std::sqrt(params.ratios[k - params.sizes.size() + 1]);
        const double w = side * rows / columns * ratio / 2;
        const double h = side / ratio / 2;
        for (const double corner : {x - w, y - h, x + w, y + h}) {
          out.push_back(params.clip ? std::min(std::max(corner, 0.0), 1.0)
                                    : corner);
        }
      }
    }
  }
  return FromDoubles(kKernel, dtype, {1, height * width * kinds, 4}, out);
}

absl::StatusOr<CountedBoxes> DecodeBoxes(const Tensor& scores,
                                         const Tensor& locations,
                                         const Tensor& anchors,
                                         const DecodeParams& params) {
  constexpr absl::string_view kKernel = "multibox_transform_loc";
  const bool fits = scores.rank() == 3 && locations.rank() == 2 &&
                    anchors.rank() == 3 &&
                    scores.shape()[0] == locations.shape()[0] &&
                    scores.shape()[2] == anchors.shape()[1] &&
                    locations.shape()[1] == 4 * anchors.shape()[1] &&
                    anchors.shape()[0] == 1 && anchors.shape()[2] == 4 &&
                    params.variances.size() == 4;
  if (!fits) {
    return Error(kKernel, "scores ", scores.TypeToString(), ", locations ",
                 locations.TypeToString(), " and anchors ",
                 anchors.TypeToString(), " do not fit");
  }
  const int64_t images = scores.shape()[0];
  const int64_t classes = scores.shape()[1];
  const int64_t count = scores.shape()[2];
  BATON_ASSIGN_OR_RETURN(const std::vector<double> score,
                         Doubles(kKernel, scores));
  BATON_ASSIGN_OR_RETURN(const std::vector<double> location,
                         Doubles(kKernel, locations));
  BATON_ASSIGN_OR_RETURN(const std::vector<double> anchor,
                         Doubles(kKernel, anchors));
  BATON_ASSIGN_OR_RETURN(const int64_t size,
                         NumElements(DType::Float(64), {images, count, 6}));
  std::vector<double> out(static_cast<size_t>(size));
  std::vector<int32_t> valid(static_cast<size_t>(images));
  for (int64_t i = 0; i < images; ++i) {
    for (int64_t j = 0; j < count; ++j) {
      double best = -1;
      int64_t id = 0;
      for (int64_t k = params.keep_background ? 0 : 1; k < classes; ++k) {
        const double value = score[(i * classes + k) * count + j];
        if (value > best) {
          best = value;
          id = k;
        }
      }
      if (id > 0 && best < params.threshold) id = 0;
      if (!params.keep_background && id == 0) continue;
      double* const row = out.data() + (i * count + valid[i]++) * 6;
      row[0] = static_cast<double>(params.keep_background ? id : id - 1);
      row[1] = best;
      const double* const a = anchor.data() + 4 * j;
      const double* const p = location.data() + 4 * (i * count + j);
      const std::vector<double>& v = params.variances;
      for (int axis = 0; axis < 2; ++axis) {
        const double length = a[axis + 2] - a[axis];
        const double center =
            p[axis] * v[axis] * length + (a[axis] + a[axis + 2]) / 2;
        const double half = std::exp(p[axis + 2] * v[axis + 2]) * length / 2;
        row[2 + axis] = center - half;
        row[4 + axis] = center + half;
      }
      if (!params.clip) continue;
      for (int k = 2; k < 6; ++k) row[k] = std::min(std::max(row[k], 0.0), 1.0);
    }
  }
  CountedBoxes result;
  BATON_ASSIGN_OR_RETURN(result.boxes, FromDoubles(kKernel, scores.dtype(),
                                                   {images, count, 6}, out));
  BATON_ASSIGN_OR_RETURN(result.count,
                         Tensor::FromValues<int32_t>({images}, valid));
  return result;
}

namespace {

absl::Status CheckColumn(absl::string_view kernel, const Tensor& boxes,
                         int64_t column, int64_t least, int64_t length = 1) {
  if (column >= least && column <= boxes.shape()[2] - length) {
    return absl::OkStatus();
  }
  return Error(kernel, "boxes of ", boxes.shape()[2],
               " numbers have no position ", column);
}

}  // namespace

absl::StatusOr<ValidBoxes> FilterBoxes(const Tensor& boxes, double threshold,
                                       int64_t id_index, int64_t score_index) {
  constexpr absl::string_view kKernel = "get_valid_counts";
  if (boxes.rank() != 3) {
    return Error(kKernel, "boxes ", boxes.TypeToString());
  }
  BATON_RETURN_IF_ERROR(CheckColumn(kKernel, boxes, score_index, 0));
  if (id_index >= 0) {
    BATON_RETURN_IF_ERROR(CheckColumn(kKernel, boxes, id_index, 0));
  }
  const int64_t images = boxes.shape()[0];
  const int64_t count = boxes.shape()[1];
  const int64_t length = boxes.shape()[2];
  BATON_ASSIGN_OR_RETURN(const std::vector<double> data,
                         Doubles(kKernel, boxes));
  std::vector<double> out(data.size(), -1);
  std::vector<int32_t> indices(static_cast<size_t>(images * count), -1);
  std::vector<int32_t> valid(static_cast<size_t>(images));
  for (int64_t i = 0; i < images; ++i) {
    for (int64_t j = 0; j < count; ++j) {
      const double* const row = data.data() + (i * count + j) * length;
      if (!(row[score_index] > threshold)) continue;
      if (id_index >= 0 && !(row[id_index] >= 0)) continue;
      const int64_t to = i * count + valid[i]++;
      std::copy_n(row, length, out.begin() + to * length);
      indices[to] = static_cast<int32_t>(j);
    }
  }
  ValidBoxes result;
  BATON_ASSIGN_OR_RETURN(result.count,
                         Tensor::FromValues<int32_t>({images}, valid));
  BATON_ASSIGN_OR_RETURN(
      result.boxes, FromDoubles(kKernel, boxes.dtype(), boxes.shape(), out));
  BATON_ASSIGN_OR_RETURN(result.indices,
                         Tensor::FromValues<int32_t>({images, count}, indices));
  return result;
}

namespace {

// Intersection over union of two boxes, given by opposite corners.
double Overlap(const double* a, const double* b) {
  const auto side = [](const double* box, int axis) {
    return std::abs(box[axis] - box[axis + 2]);
  };
  double shared = 1;
  for (int axis = 0; axis < 2; ++axis) {
    const double low = std::max(std::min(a[axis], a[axis + 2]),
                                std::min(b[axis], b[axis + 2]));
    const double high = std::min(std::max(a[axis], a[axis + 2]),
                                 std::max(b[axis], b[axis + 2]));
    shared *= std::max(0.0, high - low);
  }
  const double whole =
      side(a, 0) * side(a, 1) + side(b, 0) * side(b, 1) - shared;
  return whole <= 0 ? 0 : shared / whole;
}

}  // namespace

absl::StatusOr<SuppressedBoxes> SuppressBoxes(const Tensor& boxes,
                                              const Tensor& valid_count,
                                              const Tensor& indices,
                                              const SuppressionParams& params) {
  constexpr absl::string_view kKernel = "non_max_suppression";
  const bool fits = boxes.rank() == 3 && valid_count.rank() == 1 &&
                    indices.rank() == 2 &&
                    valid_count.shape()[0] == boxes.shape()[0] &&
                    indices.shape() == boxes.shape().first(2);
  if (!fits) {
    return Error(kKernel, "boxes ", boxes.TypeToString(), ", counts ",
                 valid_count.TypeToString(), " and indices ",
                 indices.TypeToString(), " do not fit");
  }
  BATON_RETURN_IF_ERROR(CheckColumn(kKernel, boxes, params.score_index, 0));
  BATON_RETURN_IF_ERROR(CheckColumn(kKernel, boxes, params.coord_start, 0, 4));
  if (params.id_index >= 0) {
    BATON_RETURN_IF_ERROR(CheckColumn(kKernel, boxes, params.id_index, 0));
  }
  const int64_t images = boxes.shape()[0];
  const int64_t count = boxes.shape()[1];
  const int64_t length = boxes.shape()[2];
  BATON_ASSIGN_OR_RETURN(const std::vector<double> data,
                         Doubles(kKernel, boxes));
  std::vector<double> out(data.size(), -1);
  std::vector<int32_t> where(static_cast<size_t>(images * count), -1);
  std::vector<int32_t> found(static_cast<size_t>(images));
  std::vector<int64_t> order;
  std::vector<const double*> kept;
  for (int64_t i = 0; i < images; ++i) {
    const double* const rows = data.data() + i * count * length;
    const int64_t valid =
        std::clamp<int64_t>(valid_count.AtAsInt64(i), 0, count);
    order.resize(static_cast<size_t>(valid));
    std::iota(order.begin(), order.end(), int64_t{0});
    const bool suppress = params.iou_threshold > 0;
    if (suppress) {
      std::stable_sort(order.begin(), order.end(), [&](int64_t a, int64_t b) {
        return rows[a * length + params.score_index] >
               rows[b * length + params.score_index];
      });
      if (params.top_k > 0 && params.top_k < valid) order.resize(params.top_k);
    }
    kept.clear();
    for (size_t j = 0; j < order.size(); ++j) {
      const double* const row = rows + order[j] * length;
      if (suppress && row[params.score_index] > 0) {
        // A limit of 0 or more; negative ones are none.
        const bool full = static_cast<int64_t>(kept.size()) == params.max_boxes;
        const auto suppresses = [&](const double* better) {
          const bool comparable =
              params.id_index < 0 ||
              (better[params.id_index] >= 0 &&
               (params.across_classes ||
                better[params.id_index] == row[params.id_index]));
          return comparable &&
                 Overlap(row + params.coord_start,
                         better + params.coord_start) >= params.iou_threshold;
        };
        if (full || std::any_of(kept.begin(), kept.end(), suppresses)) continue;
        kept.push_back(row);
      } else if (suppress &&
                 static_cast<int64_t>(kept.size()) == params.max_boxes) {
        continue;
      }
      const int64_t to = i * count + static_cast<int64_t>(j);
      std::copy_n(row, length, out.begin() + to * length);
      where[to] = static_cast<int32_t>(
          params.return_indices ? indices.AtAsInt64(i * count + order[j])
                                : order[j]);
    }
    // What is valid comes first.
    int32_t* const first = where.data() + i * count;
    found[i] = static_cast<int32_t>(
        std::stable_partition(first, first + count,
                              [](int32_t index) { return index >= 0; }) -
        first);
    if (!params.return_indices && params.invalid_to_bottom) {
      int64_t to = 0;
      double* const block = out.data() + i * count * length;
      for (int64_t j = 0; j < count; ++j) {
        if (!(block[j * length] >= 0)) continue;
        if (to != j) {
          std::copy_n(block + j * length, length, block + to * length);
        }
        ++to;
      }
      std::fill(block + to * length, block + count * length, -1.0);
    }
  }
  SuppressedBoxes result;
  BATON_ASSIGN_OR_RETURN(
      result.boxes, FromDoubles(kKernel, boxes.dtype(), boxes.shape(), out));
  BATON_ASSIGN_OR_RETURN(result.indices,
                         Tensor::FromValues<int32_t>({images, count}, where));
  BATON_ASSIGN_OR_RETURN(result.count,
                         Tensor::FromValues<int32_t>({images, 1}, found));
  return result;
}

absl::StatusOr<Tensor> Reorg(const Tensor& x, int64_t stride) {
  constexpr absl::string_view kKernel = "yolo_reorg";
  if (x.rank() != 4 || stride <= 0 || stride > (int64_t{1} << 20)) {
    return Error(kKernel, "data ", x.TypeToString(), " with stride ", stride);
  }
  const int64_t area = stride * stride;
  const int64_t channels = x.shape()[1];
  const int64_t height = x.shape()[2];
  const int64_t width = x.shape()[3];
  if (channels % area != 0 || height % stride != 0 || width % stride != 0) {
    return Error(kKernel, "the shape of ", x.TypeToString(),
                 " is no multiple of the stride ", stride);
  }
  BATON_ASSIGN_OR_RETURN(const int64_t blocks,
                         internal::CheckedMul(kKernel, channels, area));
  BATON_ASSIGN_OR_RETURN(
      MutableTensor out,
      MutableTensor::Create(
          x.dtype(), {x.shape()[0], blocks, height / stride, width / stride}));
  if (out.num_elements() == 0) return std::move(out).Freeze();
  // The data is read as if it had fewer channels of more elements.
  const int64_t few = channels / area;
  const int bytes = x.dtype().bytes();
  const auto* const from = static_cast<const char*>(x.data());
  auto* to = static_cast<char*>(out.data());
  for (int64_t b = 0; b < x.shape()[0]; ++b) {
    for (int64_t k = 0; k < channels; ++k) {
      for (int64_t j = 0; j < height; ++j) {
        for (int64_t i = 0; i < width; ++i) {
          const int64_t row = j * stride + k / few / stride;
          const int64_t column = i * stride + k / few % stride;
          const int64_t index =
              ((b * few + k % few) * height * stride + row) * width * stride +
              column;
          std::copy_n(from + index * bytes, bytes, to);
          to += bytes;
        }
      }
    }
  }
  return std::move(out).Freeze();
}

}  // namespace baton::kernels
