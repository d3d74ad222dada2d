#include "baton/runtime/kernels/detection.h"

#include <algorithm>
#include <array>
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
                 regions.TypeToString(), " cannot give a result of ",
                 params.height, " by ", params.width);
  }
  return absl::OkStatus();
}

// A tensor (regions, channels, height, width) of `compute(plane, row, column)`,
// where `plane` is a channel of the image of a region. Before the first of a
// region, `begin(box)` is given its box, multiplied by the scale.
template <typename Begin, typename Compute>
absl::StatusOr<Tensor> ForEachBin(absl::string_view kernel, const Tensor& x,
                                  const Tensor& regions,
                                  const RegionParams& params,
                                  const Begin& begin, const Compute& compute) {
  const int64_t channels = x.shape()[1];
  const TensorShape shape = {regions.shape()[0], channels, params.height,
                             params.width};
  // float32 is read and written as it is, all else as double.
  const DType dtype =
      x.dtype() == DType::Float(32) ? x.dtype() : DType::Float(64);
  BATON_ASSIGN_OR_RETURN(MutableTensor result,
                         MutableTensor::Uninitialized(dtype, shape));
  BATON_ASSIGN_OR_RETURN(const std::vector<double> boxes,
                         Doubles(kernel, regions));
  BATON_ASSIGN_OR_RETURN(const Tensor data,
                         internal::Convert(kernel, x, dtype));
  const int64_t plane = x.shape()[2] * x.shape()[3];
  const auto fill = [&]<typename T>(const T* images, T* out) -> absl::Status {
    for (int64_t r = 0; r < shape[0] && result.num_elements() > 0; ++r) {
      const double* const row = boxes.data() + 5 * r;
      if (!(row[0] >= 0) || !(row[0] < static_cast<double>(x.shape()[0]))) {
        return Error(kernel, "image ", row[0], " is none of the ",
                     x.shape()[0]);
      }
      std::array<double, 4> box;
      for (size_t k = 0; k < 4; ++k) {
        box[k] = row[k + 1] * params.scale;
        if (!(std::abs(box[k]) < 1e9)) {
          return Error(kernel, "the coordinate ", box[k], " is out of range");
        }
      }
      BATON_RETURN_IF_ERROR(begin(box));
      const T* from = images + static_cast<int64_t>(row[0]) * channels * plane;
      for (int64_t c = 0; c < channels; ++c, from += plane) {
        for (int64_t i = 0; i < params.height; ++i) {
          for (int64_t j = 0; j < params.width; ++j) {
            *out++ = static_cast<T>(compute(from, i, j));
          }
        }
      }
    }
    return absl::OkStatus();
  };
  if (dtype == DType::Float(32)) {
    BATON_RETURN_IF_ERROR(
        fill(data.span<float>().data(), result.span<float>().data()));
    return std::move(result).Freeze();
  }
  BATON_RETURN_IF_ERROR(
      fill(data.span<double>().data(), result.span<double>().data()));
  return internal::Convert(kernel, std::move(result).Freeze(), x.dtype());
}

// A sample along one axis, which lies between two elements.
struct SamplePoint {
  bool is_inside = false;
  int64_t before = 0;
  int64_t behind = 0;
  double weight_before = 0;
  double weight_behind = 0;
};

SamplePoint SamplePointAt(double at, int64_t extent) {
  SamplePoint result;
  const auto size = static_cast<double>(extent);
  if (!(at >= -1 && at <= size)) return result;
  at = std::min(std::max(at, 0.0), size - 1);
  result.is_inside = true;
  result.before = static_cast<int64_t>(at);
  result.behind = std::min(result.before + 1, extent - 1);
  result.weight_behind = at - static_cast<double>(result.before);
  result.weight_before = 1 - result.weight_behind;
  return result;
}

// The samples of `bins` bins along an axis, from `begin` to `end` on a map of
// `extent` elements; `points` has those of one bin after those of another.
absl::Status ReadSamplePoints(absl::string_view kernel,
                              const RegionParams& params, double begin,
                              double end, int64_t bins, int64_t extent,
                              std::vector<SamplePoint>& points) {
  double length = end - begin;
  if (params.half_pixel) {
    begin -= 0.5;
  } else {
    length = std::max(length, 1.0);
  }
  const double bin = length / static_cast<double>(bins);
  // No more samples than four times the map is long.
  const int64_t samples =
      params.sample_ratio > 0
          ? params.sample_ratio
          : std::clamp<int64_t>(static_cast<int64_t>(std::ceil(bin)), 0,
                                4 * extent + 4);
  constexpr int64_t kMaxPoints = int64_t{1} << 24;
  if (samples > kMaxPoints / bins) {
    return Error(kernel, bins, " times ", samples, " samples are too many");
  }
  points.clear();
  for (int64_t i = 0; i < bins; ++i) {
    for (int64_t k = 0; k < samples; ++k) {
      points.push_back(SamplePointAt(begin + static_cast<double>(i) * bin +
                                         (static_cast<double>(k) + 0.5) * bin /
                                             static_cast<double>(samples),
                                     extent));
    }
  }
  return absl::OkStatus();
}

}  // namespace

absl::StatusOr<Tensor> RoiAlign(const Tensor& x, const Tensor& regions,
                                const RegionParams& params) {
  constexpr absl::string_view kKernel = "roi_align";
  BATON_RETURN_IF_ERROR(CheckRegions(kKernel, x, regions, params));
  const int64_t rows = x.shape()[2];
  const int64_t columns = x.shape()[3];
  if (rows == 0 || columns == 0) {
    return Error(kKernel, "the feature map is empty");
  }
  if (params.sample_ratio > 1024) {
    return Error(kKernel, "sample_ratio=", params.sample_ratio,
                 " is too large");
  }
  std::vector<SamplePoint> down;
  std::vector<SamplePoint> across;
  return ForEachBin(
      kKernel, x, regions, params,
      [&](const std::array<double, 4>& box) -> absl::Status {
        BATON_RETURN_IF_ERROR(ReadSamplePoints(kKernel, params, box[1], box[3],
                                               params.height, rows, down));
        return ReadSamplePoints(kKernel, params, box[0], box[2], params.width,
                                columns, across);
      },
      [&](const auto* plane, int64_t i, int64_t j) {
        const auto per_row = static_cast<int64_t>(down.size()) / params.height;
        const auto per_column =
            static_cast<int64_t>(across.size()) / params.width;
        double sum = 0;
        double largest = -std::numeric_limits<double>::infinity();
        for (int64_t a = 0; a < per_row; ++a) {
          const SamplePoint& y = down[i * per_row + a];
          const auto* const above = plane + y.before * columns;
          const auto* const below = plane + y.behind * columns;
          for (int64_t b = 0; b < per_column; ++b) {
            const SamplePoint& x = across[j * per_column + b];
            double value = 0;
            if (y.is_inside && x.is_inside) {
              value = y.weight_before * x.weight_before * above[x.before] +
                      y.weight_before * x.weight_behind * above[x.behind] +
                      y.weight_behind * x.weight_before * below[x.before] +
                      y.weight_behind * x.weight_behind * below[x.behind];
            }
            sum += value;
            largest = std::max(largest, value);
          }
        }
        // A box of no size has no samples.
        if (per_row * per_column == 0) return 0.0;
        if (params.max) return largest;
        return sum / static_cast<double>(per_row * per_column);
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
  std::array<double, 4> box;
  return ForEachBin(
      kKernel, x, regions, params,
      [&box](const std::array<double, 4>& next) {
        box = next;
        return absl::OkStatus();
      },
      [&](const auto* plane, int64_t i, int64_t j) {
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
            largest = std::max<double>(largest, plane[a * columns + b]);
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
    return Error(kKernel, "boxes must have 3 axes, but are ",
                 boxes.TypeToString());
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
    // Valid boxes come first.
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

namespace {

// The indices [0, count), highest `score(index)` first.
template <typename Fn>
std::vector<int64_t> Ranked(int64_t count, const Fn& score) {
  std::vector<int64_t> order(static_cast<size_t>(count));
  std::iota(order.begin(), order.end(), int64_t{0});
  std::stable_sort(order.begin(), order.end(),
                   [&](int64_t a, int64_t b) { return score(a) > score(b); });
  return order;
}

struct Detection {
  int64_t box;
  int64_t label;
  double score;
};

// The intersection of two boxes over their union; 0 if one is empty.
double AreaOverlap(const double* a, const double* b) {
  const double area_a = (a[2] - a[0]) * (a[3] - a[1]);
  const double area_b = (b[2] - b[0]) * (b[3] - b[1]);
  if (!(area_a > 0 && area_b > 0)) return 0;
  const double down = std::min(a[2], b[2]) - std::max(a[0], b[0]);
  const double across = std::min(a[3], b[3]) - std::max(a[1], b[1]);
  const double both = std::max(down, 0.0) * std::max(across, 0.0);
  return both / (area_a + area_b - both);
}

}  // namespace

absl::StatusOr<Detections> SuppressByClass(
    const Tensor& boxes, const Tensor& scores,
    const ClassSuppressionParams& params) {
  constexpr absl::string_view kKernel = "regular_non_max_suppression";
  const bool fits = boxes.rank() == 3 && scores.rank() == 3 &&
                    boxes.shape()[2] == 4 &&
                    boxes.shape().first(2) == scores.shape().first(2);
  if (!fits) {
    return Error(kKernel, "boxes ", boxes.TypeToString(), " and scores ",
                 scores.TypeToString(), " do not fit");
  }
  const int64_t images = boxes.shape()[0];
  const int64_t count = boxes.shape()[1];
  const int64_t classes = scores.shape()[2];
  if (params.num_classes < 0 || params.num_classes > classes ||
      params.max_detections < 0) {
    return Error(kKernel, params.num_classes, " of ", classes,
                 " classes or a limit of ", params.max_detections,
                 " boxes is out of range");
  }
  const int64_t background = classes - params.num_classes;
  const DType dtype = DType::Float(32);
  BATON_ASSIGN_OR_RETURN(
      MutableTensor found_boxes,
      MutableTensor::Create(dtype, {images, params.max_detections, 4}));
  BATON_ASSIGN_OR_RETURN(
      MutableTensor found_classes,
      MutableTensor::Create(dtype, {images, params.max_detections}));
  BATON_ASSIGN_OR_RETURN(
      MutableTensor found_scores,
      MutableTensor::Create(dtype, {images, params.max_detections}));
  BATON_ASSIGN_OR_RETURN(MutableTensor found_count,
                         MutableTensor::Create(DType::Int(32), {images}));
  BATON_ASSIGN_OR_RETURN(const std::vector<double> corners,
                         Doubles(kKernel, boxes));
  BATON_ASSIGN_OR_RETURN(const std::vector<double> values,
                         Doubles(kKernel, scores));
  const double least = static_cast<float>(params.score_threshold);
  const double overlap = static_cast<float>(params.iou_threshold);
  std::vector<Detection> best;
  std::vector<int64_t> kept;
  for (int64_t image = 0; image < images; ++image) {
    best.clear();
    const double* const box_rows = corners.data() + image * count * 4;
    const double* const score_rows = values.data() + image * count * classes;
    for (int64_t label = 0; label < params.num_classes && count > 0; ++label) {
      const auto score = [&](int64_t box) {
        return score_rows[box * classes + background + label];
      };
      kept.clear();
      for (const int64_t box : Ranked(count, score)) {
        if (static_cast<int64_t>(kept.size()) >=
            params.max_detections_per_class) {
          break;
        }
        // False for NaN.
        if (!(score(box) >= least)) continue;
        const auto suppresses = [&](int64_t better) {
          return AreaOverlap(box_rows + 4 * better, box_rows + 4 * box) >
                 overlap;
        };
        if (std::any_of(kept.begin(), kept.end(), suppresses)) continue;
        kept.push_back(box);
        best.push_back({box, label, score(box)});
      }
      std::stable_sort(best.begin(), best.end(),
                       [](const Detection& a, const Detection& b) {
                         return a.score > b.score;
                       });
      if (static_cast<int64_t>(best.size()) > params.max_detections) {
        best.resize(static_cast<size_t>(params.max_detections));
      }
    }
    found_count.span<int32_t>()[image] = static_cast<int32_t>(best.size());
    for (size_t i = 0; i < best.size(); ++i) {
      const int64_t to =
          image * params.max_detections + static_cast<int64_t>(i);
      for (int64_t k = 0; k < 4; ++k) {
        found_boxes.span<float>()[4 * to + k] =
            static_cast<float>(box_rows[4 * best[i].box + k]);
      }
      found_classes.span<float>()[to] = static_cast<float>(best[i].label);
      found_scores.span<float>()[to] = static_cast<float>(best[i].score);
    }
  }
  return Detections{
      std::move(found_boxes).Freeze(), std::move(found_classes).Freeze(),
      std::move(found_scores).Freeze(), std::move(found_count).Freeze()};
}

namespace {

struct ScoredBox {
  double corners[4];  // left, top, right, bottom
  double score;
};

// An anchor of the first cell. Sides are in whole elements of the image.
ScoredBox Anchor(double ratio, double scale, double stride) {
  const double center = 0.5 * (stride - 1);
  const double width =
      std::floor(std::sqrt(std::floor(stride * stride / ratio)) + 0.5) * scale;
  const double height = std::floor(width / scale * ratio + 0.5) * scale;
  const double right = 0.5 * (width - 1);
  const double down = 0.5 * (height - 1);
  return {{center - right, center - down, center + right, center + down}, 0};
}

// Moves an anchor by what the network says.
void ApplyDeltas(const double* deltas, bool to_corners, ScoredBox& box) {
  double* const c = box.corners;
  if (to_corners) {
    for (int k = 0; k < 4; ++k) c[k] += deltas[k];
    return;
  }
  for (int k = 0; k < 2; ++k) {
    const double length = c[k + 2] - c[k] + 1;
    const double center = deltas[k] * length + c[k] + 0.5 * (length - 1);
    const double half = 0.5 * (std::exp(deltas[k + 2]) * length - 1);
    c[k] = center - half;
    c[k + 2] = center + half;
  }
}

// As AreaOverlap, for boxes that contain their last row and column.
double ElementOverlap(const ScoredBox& a, const ScoredBox& b) {
  const auto area = [](const double* c) {
    return (c[2] - c[0] + 1) * (c[3] - c[1] + 1);
  };
  double both = 1;
  for (int k = 0; k < 2; ++k) {
    both *= std::max(0.0, std::min(a.corners[k + 2], b.corners[k + 2]) -
                              std::max(a.corners[k], b.corners[k]) + 1);
  }
  return both / (area(a.corners) + area(b.corners) - both);
}

}  // namespace

absl::StatusOr<Tensor> Propose(const Tensor& scores, const Tensor& deltas,
                               const Tensor& images,
                               const ProposalParams& params) {
  constexpr absl::string_view kKernel = "proposal";
  const auto kinds =
      static_cast<int64_t>(params.scales.size() * params.ratios.size());
  const bool fits =
      scores.rank() == 4 && deltas.rank() == 4 && images.rank() == 2 &&
      scores.shape()[1] == 2 * kinds && deltas.shape()[1] == 4 * kinds &&
      deltas.shape()[0] == scores.shape()[0] &&
      deltas.shape().subspan(2) == scores.shape().subspan(2) &&
      images.shape()[0] == scores.shape()[0] && images.shape()[1] == 3;
  if (!fits) {
    return Error(kKernel, "scores ", scores.TypeToString(), ", deltas ",
                 deltas.TypeToString(), " and images ", images.TypeToString(),
                 " do not fit ", kinds, " anchors");
  }
  BATON_ASSIGN_OR_RETURN(const std::vector<double> score_values,
                         Doubles(kKernel, scores));
  BATON_ASSIGN_OR_RETURN(const std::vector<double> delta_values,
                         Doubles(kKernel, deltas));
  BATON_ASSIGN_OR_RETURN(const std::vector<double> image_values,
                         Doubles(kKernel, images));
  const int64_t batch = scores.shape()[0];
  const int64_t height = scores.shape()[2];
  const int64_t width = scores.shape()[3];
  const int64_t plane = kinds == 0 ? 0 : height * width;
  BATON_ASSIGN_OR_RETURN(
      const int64_t rows,
      internal::CheckedMul(kKernel, batch, params.post_nms_top_n));
  BATON_ASSIGN_OR_RETURN(MutableTensor result,
                         MutableTensor::Create(DType::Float(64), {rows, 5}));
  const auto stride = static_cast<double>(params.feature_stride);
  std::vector<ScoredBox> boxes;
  std::vector<const ScoredBox*> kept;
  for (int64_t image = 0; image < batch; ++image) {
    const double* const size = image_values.data() + 3 * image;
    const double min_size = size[2] * static_cast<double>(params.min_size);
    boxes.clear();
    for (int64_t cell = 0; cell < plane; ++cell) {
      const auto row = static_cast<double>(cell / width);
      const auto column = static_cast<double>(cell % width);
      for (int64_t k = 0; k < kinds; ++k) {
        const auto at = static_cast<size_t>(k);
        ScoredBox box =
            Anchor(params.ratios[at / params.scales.size()],
                   params.scales[at % params.scales.size()], stride);
        double by[4];
        for (int64_t i = 0; i < 4; ++i) {
          box.corners[i] += (i % 2 == 0 ? column : row) * stride;
          by[i] = delta_values[((image * kinds + k) * 4 + i) * plane + cell];
        }
        ApplyDeltas(by, params.iou_loss, box);
        double* const c = box.corners;
        for (int i = 0; i < 4; ++i) {
          c[i] = std::max(std::min(c[i], size[1 - i % 2] - 1), 0.0);
        }
        // Cells behind the image have no boxes.
        const bool behind = row >= std::trunc(size[0] / stride) ||
                            column >= std::trunc(size[1] / stride);
        box.score =
            behind ? -1
                   : score_values[((image * 2 + 1) * kinds + k) * plane + cell];
        if (c[2] - c[0] + 1 < min_size || c[3] - c[1] + 1 < min_size) {
          for (int i = 0; i < 4; ++i) {
            c[i] += (i < 2 ? -min_size : min_size) / 2;
          }
          box.score = -1;
        }
        boxes.push_back(box);
      }
    }
    std::vector<int64_t> order =
        Ranked(static_cast<int64_t>(boxes.size()),
               [&](int64_t i) { return boxes[i].score; });
    if (params.pre_nms_top_n > 0 &&
        params.pre_nms_top_n < static_cast<int64_t>(order.size())) {
      order.resize(static_cast<size_t>(params.pre_nms_top_n));
    }
    kept.clear();
    for (const int64_t i : order) {
      if (static_cast<int64_t>(kept.size()) >= params.post_nms_top_n) break;
      const auto suppresses = [&](const ScoredBox* better) {
        return ElementOverlap(*better, boxes[i]) > params.threshold;
      };
      if (std::any_of(kept.begin(), kept.end(), suppresses)) continue;
      kept.push_back(&boxes[i]);
    }
    if (kept.empty()) continue;
    double* to =
        result.span<double>().data() + image * params.post_nms_top_n * 5;
    for (int64_t i = 0; i < params.post_nms_top_n; ++i) {
      *to++ = static_cast<double>(image);
      to = std::copy_n(kept[static_cast<size_t>(i) % kept.size()]->corners, 4,
                       to);
    }
  }
  return internal::Convert(kKernel, std::move(result).Freeze(), scores.dtype());
}

absl::StatusOr<Tensor> Reorg(const Tensor& x, int64_t stride) {
  constexpr absl::string_view kKernel = "yolo_reorg";
  if (x.rank() != 4 || stride <= 0 || stride > (int64_t{1} << 20)) {
    return Error(kKernel, "data ", x.TypeToString(),
                 " cannot be reordered with stride ", stride);
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
