#include "baton/runtime/kernels/resize.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <cstddef>
#include <numeric>
#include <utility>

#include "absl/status/status.h"
#include "baton/base/limits.h"
#include "baton/base/status_macros.h"
#include "baton/runtime/kernels/internal/convert.h"
#include "baton/runtime/kernels/internal/util.h"

namespace baton::kernels {
namespace {

using ::baton::kernels::internal::Error;
using ::baton::kernels::internal::Product;
using ::baton::kernels::internal::ShapeToString;
using ::baton::kernels::internal::ToShape;

using Taps = ResizeTaps;

// Positions far outside are as good as those just outside; NaN is one.
double Bounded(double position, int64_t extent) {
  const double limit = static_cast<double>(extent) + 8;
  if (!(position > -8)) return -8;
  return position < limit ? position : limit;
}

std::array<double, 4> CubicWeights(double t, double alpha) {
  const double t2 = t * t;
  const double t3 = t2 * t;
  return {alpha * (t3 - 2 * t2 + t), (alpha + 2) * t3 - (alpha + 3) * t2 + 1,
          -(alpha + 2) * t3 + (2 * alpha + 3) * t2 - alpha * t,
          alpha * (t2 - t3)};
}

// Resamples one axis.
class AxisSampler {
 public:
  AxisSampler(absl::string_view kernel, const ResizeParams& params,
              int64_t extent, int64_t target)
      : kernel_(kernel), params_(params), extent_(extent), target_(target) {}

  // The taps of each position of the result. `begin` and `end` bound the
  // region for tf_crop_and_resize.
  absl::StatusOr<std::vector<Taps>> Sample(double begin, double end) const {
    std::vector<Taps> taps(target_);
    for (int64_t i = 0; i < target_; ++i) {
      BATON_ASSIGN_OR_RETURN(const double exact,
                             Position(static_cast<double>(i), begin, end));
      const double position = Bounded(exact, extent_);
      BATON_RETURN_IF_ERROR(SampleAt(position, taps[i]));
      taps[i].outside =
          params_.coordinates == "tf_crop_and_resize" &&
          (position < 0 || position > static_cast<double>(extent_ - 1));
    }
    return taps;
  }

 private:
  absl::StatusOr<double> Position(double i, double begin, double end) const {
    const auto extent = static_cast<double>(extent_);
    const auto target = static_cast<double>(target_);
    const double scale = extent / target;
    const absl::string_view mode = params_.coordinates;
    if (mode == "half_pixel") return (i + 0.5) * scale - 0.5;
    if (mode == "align_corners") {
      return target_ > 1 ? (extent - 1) / (target - 1) * i : 0;
    }
    if (mode == "asymmetric") return scale * i;
    if (mode == "pytorch_half_pixel") {
      return target_ > 1 ? (i + 0.5) * scale - 0.5 : 0;
    }
    if (mode == "tf_half_pixel_for_nn") return (i + 0.5) * scale;
    if (mode == "tf_crop_and_resize") {
      return target_ > 1 ? begin * (extent - 1) +
                               i * (end - begin) * (extent - 1) / (target - 1)
                         : 0.5 * (begin + end) * (extent - 1);
    }
    return Error(kernel_, "the coordinate transformation ", mode,
                 " is unknown");
  }

  absl::Status SampleAt(double position, Taps& taps) const {
    const auto inside = [this](int64_t i) {
      return std::clamp<int64_t>(i, 0, extent_ - 1);
    };
    const double floor = std::floor(position);
    const auto first = static_cast<int64_t>(floor);
    const double t = position - floor;
    if (params_.method == "nearest_neighbor") {
      BATON_ASSIGN_OR_RETURN(const double nearest, Nearest(position));
      taps.count = 1;
      taps.index[0] = inside(static_cast<int64_t>(nearest));
      taps.weight[0] = 1;
    } else if (params_.method == "linear") {
      taps.count = 2;
      taps.index = {inside(first), inside(first + 1)};
      taps.weight = {1 - t, t};
    } else if (params_.method == "cubic") {
      taps.count = 4;
      taps.weight = CubicWeights(t, params_.cubic_alpha);
      double sum = 0;
      for (int k = 0; k < 4; ++k) {
        const int64_t i = first - 1 + k;
        taps.index[k] = inside(i);
        if (params_.cubic_exclude && i != taps.index[k]) taps.weight[k] = 0;
        sum += taps.weight[k];
      }
      if (params_.cubic_exclude) {
        for (double& weight : taps.weight) weight /= sum;
      }
    } else {
      return Error(kernel_, "the method ", params_.method, " is unknown");
    }
    return absl::OkStatus();
  }

  absl::StatusOr<double> Nearest(double position) const {
    absl::string_view rounding = params_.rounding;
    if (rounding.empty()) {
      rounding = params_.coordinates == "align_corners" ? "round" : "floor";
    }
    // Positions are quotients: this far from an integer they are one.
    constexpr double kEpsilon = 1e-5;
    if (rounding == "round") return std::nearbyint(position);
    if (rounding == "round_prefer_floor") return std::ceil(position - 0.5);
    if (rounding == "round_prefer_ceil") return std::floor(position + 0.5);
    if (rounding == "floor") return std::floor(position + kEpsilon);
    if (rounding == "ceil") return std::ceil(position - kEpsilon);
    return Error(kernel_, "the rounding ", rounding, " is unknown");
  }

  const absl::string_view kernel_;
  const ResizeParams& params_;
  const int64_t extent_;
  const int64_t target_;
};

// [outer, extent, inner] resampled along the middle axis.
template <typename T>
void SampleAxis(const T* in, int64_t outer, int64_t extent, int64_t inner,
                const std::vector<Taps>& taps, T* out) {
  for (int64_t o = 0; o < outer; ++o) {
    const T* const from = in + o * extent * inner;
    for (const Taps& tap : taps) {
      std::fill_n(out, inner, T{0});
      for (int k = 0; k < tap.count; ++k) {
        const T weight = static_cast<T>(tap.weight[k]);
        const T* const row = from + tap.index[k] * inner;
        for (int64_t i = 0; i < inner; ++i) out[i] += weight * row[i];
      }
      out += inner;
    }
  }
}

// `block` of the shape [outer, spatial] resampled along every spatial axis.
template <typename T>
std::vector<T> SampleBlock(std::vector<T> block, int64_t outer,
                           std::vector<int64_t> extents,
                           absl::Span<const std::vector<Taps>> taps,
                           double extrapolation_value) {
  for (const size_t axis : ResizeOrder(extents, taps)) {
    const int64_t before =
        outer * Product(absl::MakeConstSpan(extents).first(axis));
    const int64_t inner =
        Product(absl::MakeConstSpan(extents).subspan(axis + 1));
    const auto target = static_cast<int64_t>(taps[axis].size());
    std::vector<T> sampled(before * target * inner);
    SampleAxis(block.data(), before, extents[axis], inner, taps[axis],
               sampled.data());
    extents[axis] = target;
    block = std::move(sampled);
  }
  for (size_t axis = 0; axis < taps.size(); ++axis) {
    const int64_t before =
        outer * Product(absl::MakeConstSpan(extents).first(axis));
    const int64_t inner =
        Product(absl::MakeConstSpan(extents).subspan(axis + 1));
    for (int64_t i = 0; i < extents[axis]; ++i) {
      if (!taps[axis][i].outside) continue;
      for (int64_t o = 0; o < before; ++o) {
        std::fill_n(block.begin() + (o * extents[axis] + i) * inner, inner,
                    static_cast<T>(extrapolation_value));
      }
    }
  }
  return block;
}

absl::Status CheckSpatial(absl::string_view kernel, const Tensor& x,
                          absl::Span<const int64_t> size) {
  const auto spatial = static_cast<int64_t>(x.rank()) - 2;
  if (spatial < 1 || static_cast<int64_t>(size.size()) != spatial) {
    return Error(kernel, size.size(), " extents do not fit data of shape ",
                 ShapeToString(x.shape()));
  }
  for (int64_t i = 0; i < spatial; ++i) {
    if (size[i] < 0 || (x.shape()[i + 2] == 0 && size[i] != 0)) {
      return Error(kernel, "data of shape ", ShapeToString(x.shape()),
                   " cannot be resized to ", ShapeToString(size));
    }
  }
  return absl::OkStatus();
}

// float32 or float64, whichever `dtype` is computed in.
absl::StatusOr<Tensor> Real(absl::string_view kernel, const Tensor& x) {
  if (x.dtype() == DType::Float(64)) return x;
  return internal::Convert(kernel, x, DType::Float(32));
}

// `count` images of the shape (channels, spatial), the image `image(i)` of `x`
// resampled with the taps `taps(i)`.
template <typename ImageFn, typename TapsFn>
absl::StatusOr<Tensor> SampleImages(absl::string_view kernel, const Tensor& x,
                                    int64_t count,
                                    absl::Span<const int64_t> size,
                                    double extrapolation_value,
                                    const ImageFn& image, const TapsFn& taps) {
  TensorShape shape = {count, x.shape()[1]};
  shape.insert(shape.end(), size.begin(), size.end());
  BATON_ASSIGN_OR_RETURN(const Tensor real, Real(kernel, x));
  BATON_ASSIGN_OR_RETURN(
      const Tensor result,
      internal::VisitFloat(
          kernel, real.dtype(), [&]<typename T>() -> absl::StatusOr<Tensor> {
            BATON_ASSIGN_OR_RETURN(MutableTensor out,
                                   MutableTensor::Create(real.dtype(), shape));
            if (out.num_elements() == 0) return std::move(out).Freeze();
            const std::vector<int64_t> extents(x.shape().begin() + 2,
                                               x.shape().end());
            const int64_t channels = x.shape()[1];
            const int64_t stride = channels * Product(extents);
            const int64_t out_stride = out.num_elements() / count;
            for (int64_t i = 0; i < count; ++i) {
              BATON_ASSIGN_OR_RETURN(const int64_t from, image(i));
              BATON_ASSIGN_OR_RETURN(const std::vector<std::vector<Taps>> axes,
                                     taps(i));
              const T* const data = real.span<T>().data() + from * stride;
              const std::vector<T> block =
                  SampleBlock<T>(std::vector<T>(data, data + stride), channels,
                                 extents, axes, extrapolation_value);
              std::copy(block.begin(), block.end(),
                        out.span<T>().begin() + i * out_stride);
            }
            return std::move(out).Freeze();
          }));
  return internal::Convert(kernel, result, x.dtype());
}

}  // namespace

absl::StatusOr<std::vector<std::vector<ResizeTaps>>> ResizeTapsOf(
    absl::Span<const int64_t> extents, const ResizeParams& params) {
  const size_t spatial = params.size.size();
  const bool has_region = params.roi.size() == 2 * spatial;
  std::vector<std::vector<Taps>> taps;
  for (size_t i = 0; i < spatial; ++i) {
    BATON_ASSIGN_OR_RETURN(
        const int64_t positions,
        NumElements(DType::Int(8),
                    {params.size[i], static_cast<int64_t>(sizeof(Taps))}));
    BATON_RETURN_IF_ERROR(CheckTensorBytes(positions));
    const AxisSampler sampler("resize", params, extents[i], params.size[i]);
    BATON_ASSIGN_OR_RETURN(
        std::vector<Taps> axis,
        sampler.Sample(has_region ? params.roi[i] : 0,
                       has_region ? params.roi[i + spatial] : 1));
    taps.push_back(std::move(axis));
  }
  return taps;
}

std::vector<size_t> ResizeOrder(absl::Span<const int64_t> extents,
                                absl::Span<const std::vector<Taps>> taps) {
  std::vector<size_t> order(taps.size());
  std::iota(order.begin(), order.end(), size_t{0});
  std::stable_partition(order.begin(), order.end(), [&](size_t axis) {
    return static_cast<int64_t>(taps[axis].size()) <= extents[axis];
  });
  return order;
}

absl::StatusOr<Tensor> Resize(const Tensor& x, const ResizeParams& params) {
  constexpr absl::string_view kKernel = "resize";
  BATON_RETURN_IF_ERROR(CheckSpatial(kKernel, x, params.size));
  BATON_ASSIGN_OR_RETURN(const std::vector<std::vector<Taps>> taps,
                         ResizeTapsOf(x.shape().subspan(2), params));
  return SampleImages(
      kKernel, x, x.shape()[0], params.size, params.extrapolation_value,
      [](int64_t i) -> absl::StatusOr<int64_t> { return i; },
      [&taps](int64_t) -> absl::StatusOr<std::vector<std::vector<Taps>>> {
        return taps;
      });
}

absl::StatusOr<Tensor> CropAndResize(const Tensor& x, const Tensor& boxes,
                                     const Tensor& image, int64_t height,
                                     int64_t width, absl::string_view method,
                                     double extrapolation_value) {
  constexpr absl::string_view kKernel = "crop_and_resize";
  const std::vector<int64_t> size = {height, width};
  BATON_RETURN_IF_ERROR(CheckSpatial(kKernel, x, size));
  if (boxes.rank() != 2 || boxes.shape()[1] != 4 || image.rank() != 1 ||
      image.shape()[0] != boxes.shape()[0]) {
    return Error(kKernel, "boxes ", boxes.TypeToString(), " and indices ",
                 image.TypeToString(), " do not fit");
  }
  ResizeParams params;
  params.method = method == "bilinear" ? "linear" : std::string(method);
  params.coordinates = "tf_crop_and_resize";
  params.rounding = "round";
  return SampleImages(
      kKernel, x, boxes.shape()[0], size, extrapolation_value,
      [&](int64_t i) -> absl::StatusOr<int64_t> {
        const int64_t index = image.AtAsInt64(i);
        if (index < 0 || index >= x.shape()[0]) {
          return Error(kKernel, "image ", index, " is none of the ",
                       x.shape()[0]);
        }
        return index;
      },
      [&](int64_t i) -> absl::StatusOr<std::vector<std::vector<Taps>>> {
        std::vector<std::vector<Taps>> taps;
        for (int axis = 0; axis < 2; ++axis) {
          const AxisSampler sampler(kKernel, params, x.shape()[axis + 2],
                                    size[axis]);
          BATON_ASSIGN_OR_RETURN(
              std::vector<Taps> along,
              sampler.Sample(boxes.AtAsDouble(4 * i + axis),
                             boxes.AtAsDouble(4 * i + axis + 2)));
          taps.push_back(std::move(along));
        }
        return taps;
      });
}

absl::StatusOr<Tensor> AffineGrid(const Tensor& x, int64_t height,
                                  int64_t width) {
  constexpr absl::string_view kKernel = "affine_grid";
  if (x.rank() != 3 || x.shape()[1] != 2 || x.shape()[2] != 3 || height < 2 ||
      width < 2) {
    return Error(kKernel, "data ", x.TypeToString(), " and a grid of ", height,
                 " by ", width,
                 ": the data must be (batch, 2, 3), the grid at least 2 by 2");
  }
  BATON_ASSIGN_OR_RETURN(const Tensor real, Real(kKernel, x));
  BATON_ASSIGN_OR_RETURN(
      const Tensor result,
      internal::VisitFloat(
          kKernel, real.dtype(), [&]<typename T>() -> absl::StatusOr<Tensor> {
            const int64_t batch = x.shape()[0];
            BATON_ASSIGN_OR_RETURN(
                MutableTensor out,
                MutableTensor::Create(real.dtype(), {batch, 2, height, width}));
            // The last point is a little before 1, as in the reference.
            const T rows =
                static_cast<T>((2.0 - 1e-7) / static_cast<double>(height - 1));
            const T columns =
                static_cast<T>((2.0 - 1e-7) / static_cast<double>(width - 1));
            T* to = out.span<T>().data();
            for (int64_t row = 0; row < 2 * batch; ++row) {
              const T* const matrix = real.span<T>().data() + 3 * row;
              for (int64_t i = 0; i < height; ++i) {
                const T y = T{-1} + static_cast<T>(i) * rows;
                for (int64_t j = 0; j < width; ++j) {
                  const T at = T{-1} + static_cast<T>(j) * columns;
                  *to++ = matrix[0] * at + matrix[1] * y + matrix[2];
                }
              }
            }
            return std::move(out).Freeze();
          }));
  return internal::Convert(kKernel, result, x.dtype());
}

namespace {

double Reflected(double x, double size, double start) {
  if (x >= start && x <= size + start) return x;
  if (!(size > 0)) return start;
  const double distance = std::abs(start - x);
  const double times = std::floor(distance / size);
  const double extra = distance - times * size;
  return std::fmod(times, 2) == 0 ? extra + start : size - extra + start;
}

// The taps of one coordinate of GridSample; an index of -1 reads zero.
class GridSampler {
 public:
  explicit GridSampler(const GridSampleParams& params) : params_(params) {}

  Taps At(double coordinate, int64_t extent) const {
    const auto size = static_cast<double>(extent);
    double x = params_.align_corners ? (coordinate + 1) * (size - 1) / 2
                                     : (coordinate + 1) * size / 2 - 0.5;
    Taps taps;
    const bool cubic = params_.method == "bicubic";
    // Beyond this, reflecting has no meaning.
    if (!(std::abs(x) < 1e15)) x = -8;
    if (!cubic) x = Inside(x, size);
    if (params_.padding != "reflection") x = Bounded(x, extent);
    const double floor = std::floor(x);
    const double t = x - floor;
    if (params_.method == "nearest") {
      taps.count = 1;
      taps.index[0] = static_cast<int64_t>(std::nearbyint(x));
      taps.weight[0] = 1;
    } else if (cubic) {
      taps.count = 4;
      taps.weight = CubicWeights(t, -0.75);
      for (int k = 0; k < 4; ++k) {
        taps.index[k] = static_cast<int64_t>(
            Inside(floor - 1 + static_cast<double>(k), size));
      }
    } else {
      taps.count = 2;
      taps.index = {static_cast<int64_t>(floor),
                    static_cast<int64_t>(floor) + 1};
      taps.weight = {1 - t, t};
    }
    for (int k = 0; k < taps.count; ++k) {
      if (taps.index[k] < 0 || taps.index[k] >= extent) taps.index[k] = -1;
    }
    return taps;
  }

 private:
  // The coordinate inside of the data that stands for `x`; `x` itself where
  // the padding is zeros.
  double Inside(double x, double size) const {
    if (params_.padding == "zeros") return x;
    if (params_.padding == "reflection") {
      x = params_.align_corners ? Reflected(x, size - 1, 0)
                                : Reflected(x, size, -0.5);
    }
    return std::min(std::max(x, 0.0), size - 1);
  }

  const GridSampleParams& params_;
};

}  // namespace

absl::StatusOr<Tensor> GridSample(const Tensor& x, const Tensor& grid,
                                  const GridSampleParams& params) {
  constexpr absl::string_view kKernel = "grid_sample";
  const int spatial = x.rank() - 2;
  const bool fits = (spatial == 2 || spatial == 3) && grid.rank() == x.rank() &&
                    grid.shape()[0] == x.shape()[0] &&
                    grid.shape()[1] == spatial;
  if (!fits) {
    return Error(kKernel, "data ", x.TypeToString(), " and grid ",
                 grid.TypeToString(), " do not fit");
  }
  const bool known =
      (params.method == "nearest" || params.method == "bilinear" ||
       (params.method == "bicubic" && spatial == 2)) &&
      (params.padding == "zeros" || params.padding == "border" ||
       params.padding == "reflection");
  if (!known) {
    return Error(kKernel, "method ", params.method, " with padding ",
                 params.padding, " is not supported");
  }
  TensorShape shape = ToShape(grid.shape());
  shape[1] = x.shape()[1];
  BATON_ASSIGN_OR_RETURN(const Tensor real, Real(kKernel, x));
  BATON_ASSIGN_OR_RETURN(
      const Tensor result,
      internal::VisitFloat(
          kKernel, real.dtype(), [&]<typename T>() -> absl::StatusOr<Tensor> {
            BATON_ASSIGN_OR_RETURN(MutableTensor out,
                                   MutableTensor::Create(real.dtype(), shape));
            const auto extents = x.shape().subspan(2);
            const int64_t points = Product(grid.shape().subspan(2));
            const int64_t image = Product(extents);
            const int64_t channels = x.shape()[1];
            const GridSampler sampler(params);
            for (int64_t n = 0; n < x.shape()[0]; ++n) {
              const T* const data =
                  real.span<T>().data() + n * channels * image;
              T* const to = out.span<T>().data() + n * channels * points;
              for (int64_t p = 0; p < points; ++p) {
                // Row-major: the last coordinate of the grid is axis 0.
                std::array<Taps, 3> axes;
                int64_t combinations = 1;
                for (int axis = 0; axis < spatial; ++axis) {
                  const int64_t at =
                      (n * spatial + (spatial - 1 - axis)) * points + p;
                  axes[axis] = sampler.At(grid.AtAsDouble(at), extents[axis]);
                  combinations *= axes[axis].count;
                }
                for (int64_t c = 0; c < channels; ++c) {
                  double sum = 0;
                  for (int64_t k = 0; k < combinations; ++k) {
                    int64_t rest = k;
                    int64_t index = 0;
                    double weight = 1;
                    for (int axis = 0; axis < spatial && index >= 0; ++axis) {
                      const Taps& taps = axes[axis];
                      const int64_t tap = rest % taps.count;
                      rest /= taps.count;
                      weight *= taps.weight[tap];
                      index = taps.index[tap] < 0
                                  ? -1
                                  : index * extents[axis] + taps.index[tap];
                    }
                    if (index >= 0) {
                      sum +=
                          weight * static_cast<double>(data[c * image + index]);
                    }
                  }
                  to[c * points + p] = static_cast<T>(sum);
                }
              }
            }
            return std::move(out).Freeze();
          }));
  return internal::Convert(kKernel, result, x.dtype());
}

}  // namespace baton::kernels
