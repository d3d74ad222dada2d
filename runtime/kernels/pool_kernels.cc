#include "baton/runtime/kernels/pool_kernels.h"

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <memory>
#include <type_traits>
#include <utility>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/strings/ascii.h"
#include "absl/strings/string_view.h"
#include "absl/types/span.h"
#include "baton/base/dtype.h"
#include "baton/base/number_range.h"
#include "baton/base/status_macros.h"
#include "baton/base/tensor.h"
#include "baton/runtime/kernels/internal/convert.h"
#include "baton/runtime/kernels/internal/util.h"
#include "baton/runtime/kernels/internal/window.h"
#include "baton/runtime/kernels/reduce_kernels.h"

namespace baton::kernels {
namespace {

using internal::Error;
using internal::Window;

enum class Mode { kMax, kAvg };

// The spatial dimensions of a layout: [first, first + count).
struct SpatialDims {
  size_t first = 0;
  size_t count = 0;
};

absl::StatusOr<SpatialDims> FindSpatial(absl::string_view name, const Tensor& x,
                                        absl::string_view layout) {
  constexpr absl::string_view kSpatial = "DHW";
  SpatialDims dims;
  size_t rank = 0;
  size_t next = 0;
  for (const char c : layout) {
    if (!absl::ascii_isalpha(static_cast<unsigned char>(c))) continue;
    const size_t at = kSpatial.find(c);
    if (at != absl::string_view::npos) {
      const bool ordered =
          dims.count == 0 || (at == next && dims.first + dims.count == rank);
      if (!ordered) {
        return Error(name, "unsupported layout \"", layout, "\"");
      }
      if (dims.count == 0) dims.first = rank;
      ++dims.count;
      next = at + 1;
    }
    ++rank;
  }
  if (dims.count == 0 || next != kSpatial.size()) {
    return Error(name, "unsupported layout \"", layout, "\"");
  }
  if (rank != x.shape().size()) {
    return Error(name, x.TypeToString(), " cannot have layout \"", layout,
                 "\"");
  }
  return dims;
}

// A tensor seen as [outer, d, h, w, inner].
struct View {
  int64_t outer;
  Window d;
  Window h;
  Window w;
  int64_t inner;
  // The maximum of no elements, for floating-point types: the lowest number of
  // the type of the data, which may be narrower than the one computed with.
  double lowest;
};

// Averages of integers are summed in 64 bits, averages of floats in double.
template <typename T, Mode kMode>
using SumType = std::conditional_t<
    kMode == Mode::kMax, T,
    std::conditional_t<std::is_integral_v<T>, uint64_t, double>>;

template <typename T, Mode kMode>
SumType<T, kMode> Start(const View& v) {
  if constexpr (kMode == Mode::kAvg) {
    return 0;
  } else if constexpr (std::is_floating_point_v<T>) {
    return static_cast<T>(v.lowest);
  } else {
    return std::numeric_limits<T>::lowest();
  }
}

template <typename T, Mode kMode>
void Combine(SumType<T, kMode> x, SumType<T, kMode>& sum) {
  if constexpr (kMode == Mode::kMax) {
    // A NaN, once in, stays. Two selections, which become vectors.
    const T larger = x > sum ? x : sum;
    sum = x != x ? x : larger;
  } else {
    sum += x;
  }
}

template <typename T, Mode kMode>
T Result(SumType<T, kMode> sum, int64_t count) {
  if constexpr (kMode == Mode::kMax) {
    return sum;
  } else if constexpr (std::is_floating_point_v<T>) {
    return static_cast<T>(sum / static_cast<double>(count));
  } else if constexpr (std::is_signed_v<T>) {
    return static_cast<T>(static_cast<int64_t>(sum) / count);
  } else {
    return static_cast<T>(sum / static_cast<uint64_t>(count));
  }
}

// Returns the number of taps of output `o` that read inside the input.
int64_t CountInside(const Window& window, int64_t o) {
  const Window::Range taps = window.ValidTaps(o);
  return taps.last - taps.first;
}

// Along the width: the outputs that a tap serves, and what the first reads.
struct Tap {
  int64_t first;
  int64_t count;
  int64_t input;
};

std::vector<Tap> TapsOf(const View& v) {
  std::vector<Tap> taps;
  // In ascending order: the later an output, the earlier its taps. A window may
  // be much larger than the image, so its other taps are not visited.
  for (int64_t o = v.w.out, next = 0; o-- > 0;) {
    const Window::Range inside = v.w.ValidTaps(o);
    for (int64_t k = std::max(next, inside.first); k < inside.last; ++k) {
      const Window::Range valid = v.w.ValidOutputs(k);
      taps.push_back(
          {valid.first, valid.last - valid.first, v.w.Input(valid.first, k)});
    }
    next = std::max(next, inside.last);
  }
  return taps;
}

// Returns the number of elements by which the sum of each output along the
// width is divided.
std::vector<int64_t> CountsOf(const View& v, bool count_include_pad) {
  std::vector<int64_t> counts(static_cast<size_t>(v.w.out));
  for (int64_t w = 0; w < v.w.out; ++w) {
    counts[static_cast<size_t>(w)] =
        count_include_pad ? v.w.kernel : CountInside(v.w, w);
  }
  return counts;
}

// `columns` and `sums` have room for a row of the input and of the result.
// `counts` is read for averages alone.
template <typename T, Mode kMode>
void PoolRows(const View& v, bool count_include_pad,
              const std::vector<Tap>& taps, const std::vector<int64_t>& counts,
              const T* x, SumType<T, kMode>* columns, SumType<T, kMode>* sums,
              T* y) {
  using Sum = SumType<T, kMode>;
  // The elements that the taps of an output read along an axis.
  struct Reads {
    int64_t first = -1;
    int64_t count = -1;
    bool operator==(const Reads&) const = default;
  };
  const auto reads = [](const Window& window, int64_t o,
                        const Window::Range& taps) {
    const int64_t count = taps.last - taps.first;
    return Reads{count == 0 ? 0 : window.Input(o, taps.first), count};
  };
  for (int64_t outer = 0; outer < v.outer; ++outer) {
    const T* image = x + outer * v.d.in * v.h.in * v.w.in * v.inner;
    // The depth and height that `sums` are of.
    Reads depth_done, height_done;
    for (int64_t od = 0; od < v.d.out; ++od) {
      for (int64_t oh = 0; oh < v.h.out; ++oh) {
        // Neighbours that reach over the whole image, or lie in the padding,
        // read the same.
        const Window::Range depth = v.d.ValidTaps(od);
        const Window::Range height = v.h.ValidTaps(oh);
        const Reads depth_reads = reads(v.d, od, depth);
        const Reads height_reads = reads(v.h, oh, height);
        if (depth_reads != depth_done || height_reads != height_done) {
          depth_done = depth_reads;
          height_done = height_reads;
          // First over depth and height, then over width: neighbouring windows
          // share the columns.
          std::fill_n(columns, v.w.in * v.inner, Start<T, kMode>(v));
          for (int64_t kd = depth.first; kd < depth.last; ++kd) {
            const int64_t id = v.d.Input(od, kd);
            for (int64_t kh = height.first; kh < height.last; ++kh) {
              const int64_t ih = v.h.Input(oh, kh);
              const T* row = image + (id * v.h.in + ih) * v.w.in * v.inner;
              Sum* to = columns;
              for (int64_t i = 0; i < v.w.in * v.inner; ++i) {
                Combine<T, kMode>(static_cast<Sum>(row[i]), to[i]);
              }
            }
          }
          std::fill_n(sums, v.w.out * v.inner, Start<T, kMode>(v));
          for (const Tap& tap : taps) {
            const Sum* from = columns + tap.input * v.inner;
            Sum* to = sums + tap.first * v.inner;
            if (v.w.stride == 1 || v.inner == 1) {
              const int64_t step = v.inner == 1 ? v.w.stride : 1;
              for (int64_t i = 0; i < tap.count * v.inner; ++i) {
                Combine<T, kMode>(from[i * step], to[i]);
              }
            } else {
              for (int64_t w = 0; w < tap.count; ++w) {
                for (int64_t i = 0; i < v.inner; ++i) {
                  Combine<T, kMode>(from[w * v.w.stride * v.inner + i],
                                    to[w * v.inner + i]);
                }
              }
            }
          }
        }
        if constexpr (kMode == Mode::kMax) {
          y = std::copy_n(sums, v.w.out * v.inner, y);
          continue;
        }
        const int64_t rows = count_include_pad
                                 ? v.d.kernel * v.h.kernel
                                 : CountInside(v.d, od) * CountInside(v.h, oh);
        for (int64_t w = 0; w < v.w.out; ++w) {
          const int64_t count =
              std::max<int64_t>(1, rows * counts[static_cast<size_t>(w)]);
          for (int64_t i = 0; i < v.inner; ++i) {
            *y++ = Result<T, kMode>(sums[w * v.inner + i], count);
          }
        }
      }
    }
  }
}

template <typename T, Mode kMode>
void Pool(const View& v, bool count_include_pad, const T* x, T* y) {
  using Sum = SumType<T, kMode>;
  std::vector<Sum> columns(static_cast<size_t>(v.w.in * v.inner));
  std::vector<Sum> sums(static_cast<size_t>(v.w.out * v.inner));
  PoolRows<T, kMode>(v, count_include_pad, TapsOf(v),
                     CountsOf(v, count_include_pad), x, columns.data(),
                     sums.data(), y);
}

// [begin, end) of the input that output `o` of an adaptive pool covers.
Window::Range AdaptiveRange(const Window& window, int64_t o) {
  // By quotient and remainder: the products of the definition may overflow.
  const int64_t q = window.in / window.out;
  const int64_t r = window.in % window.out;
  const __int128 low = static_cast<__int128>(o) * r / window.out;
  const __int128 high =
      (static_cast<__int128>(o + 1) * r + window.out - 1) / window.out;
  return {o * q + static_cast<int64_t>(low),
          (o + 1) * q + static_cast<int64_t>(high)};
}

template <typename T, Mode kMode>
void AdaptivePool(const View& v, const T* x, T* y) {
  using Sum = SumType<T, kMode>;
  std::vector<Sum> sums(static_cast<size_t>(v.inner));
  for (int64_t outer = 0; outer < v.outer; ++outer) {
    const T* image = x + outer * v.d.in * v.h.in * v.w.in * v.inner;
    for (int64_t od = 0; od < v.d.out; ++od) {
      const Window::Range d = AdaptiveRange(v.d, od);
      for (int64_t oh = 0; oh < v.h.out; ++oh) {
        const Window::Range h = AdaptiveRange(v.h, oh);
        for (int64_t ow = 0; ow < v.w.out; ++ow) {
          const Window::Range w = AdaptiveRange(v.w, ow);
          std::fill(sums.begin(), sums.end(), Start<T, kMode>(v));
          for (int64_t id = d.first; id < d.last; ++id) {
            for (int64_t ih = h.first; ih < h.last; ++ih) {
              const T* from =
                  image + ((id * v.h.in + ih) * v.w.in + w.first) * v.inner;
              for (int64_t iw = w.first; iw < w.last; ++iw) {
                for (Sum& sum : sums)
                  Combine<T, kMode>(static_cast<Sum>(*from++), sum);
              }
            }
          }
          const int64_t count =
              (d.last - d.first) * (h.last - h.first) * (w.last - w.first);
          for (const Sum sum : sums) *y++ = Result<T, kMode>(sum, count);
        }
      }
    }
  }
}

// Runs `fn<T, kMode>(view, data, result)` on `x` with windows `view`.
template <typename Fn>
absl::StatusOr<Tensor> Run(absl::string_view name, Mode mode, const Tensor& x,
                           const SpatialDims& dims, const View& view,
                           const Fn& fn) {
  BATON_ASSIGN_OR_RETURN(const Tensor input, internal::WidenHalf(name, x));
  TensorShape shape = internal::ToShape(x.shape());
  const std::array<const Window*, 3> windows = {&view.d, &view.h, &view.w};
  for (size_t i = 0; i < dims.count; ++i) {
    shape[dims.first + i] = windows[3 - dims.count + i]->out;
  }
  BATON_ASSIGN_OR_RETURN(MutableTensor result,
                         MutableTensor::Create(input.dtype(), shape));
  BATON_ASSIGN_OR_RETURN(
      const Tensor pooled,
      internal::VisitNumeric(
          name, input.dtype(), [&]<typename T>() -> absl::StatusOr<Tensor> {
            if (result.num_elements() > 0) {
              const T* from = internal::Data<T>(input);
              T* to = static_cast<T*>(result.data());
              if (mode == Mode::kMax) {
                fn.template operator()<T, Mode::kMax>(view, from, to);
              } else {
                fn.template operator()<T, Mode::kAvg>(view, from, to);
              }
            }
            return std::move(result).Freeze();
          }));
  return internal::Convert(name, pooled, x.dtype());
}

View MakeView(const Tensor& x, const SpatialDims& dims) {
  View view;
  view.lowest = LowestFinite(x.dtype());
  view.outer = internal::Product(x.shape().subspan(0, dims.first));
  view.inner = internal::Product(x.shape().subspan(dims.first + dims.count));
  const std::array<Window*, 3> windows = {&view.d, &view.h, &view.w};
  for (size_t i = 0; i < dims.count; ++i) {
    windows[3 - dims.count + i]->in = x.shape()[dims.first + i];
  }
  return view;
}

template <size_t N>
absl::StatusOr<Tensor> PoolNd(absl::string_view name, Mode mode,
                              const Tensor& x, const PoolParams<N>& params) {
  constexpr absl::string_view kDefaults[] = {"NCW", "NCHW", "NCDHW"};
  const absl::string_view layout =
      params.layout.empty() ? kDefaults[N - 1] : params.layout;
  BATON_ASSIGN_OR_RETURN(const SpatialDims dims, FindSpatial(name, x, layout));
  if (dims.count != N) {
    return Error(name, "unsupported layout \"", layout, "\"");
  }
  View view = MakeView(x, dims);
  const std::array<Window*, 3> windows = {&view.d, &view.h, &view.w};
  for (size_t i = 0; i < N; ++i) {
    Window& window = *windows[3 - N + i];
    window.kernel = params.pool_size[i];
    window.stride = params.strides[i];
    window.dilation = params.dilation[i];
    window.pad_before = params.padding[i];
    window.pad_after = params.padding[N + i];
    if (window.kernel > internal::kMaxWindowParam) {
      return Error(name, "pool size ", window.kernel, " is out of range");
    }
    BATON_RETURN_IF_ERROR(
        internal::SetWindowOutputs(name, params.ceil_mode, window));
  }
  // So that the count of a window's elements does not overflow.
  if (static_cast<__int128>(view.d.kernel) * view.h.kernel * view.w.kernel >
      std::numeric_limits<int64_t>::max()) {
    return Error(name, "the window is too large");
  }
  return Run(
      name, mode, x, dims, view,
      [&params]<typename T, Mode kMode>(const View& v, const T* from, T* to) {
        Pool<T, kMode>(v, params.count_include_pad, from, to);
      });
}

absl::StatusOr<Tensor> Adaptive(absl::string_view name, Mode mode,
                                const Tensor& x,
                                absl::Span<const int64_t> output_size,
                                absl::string_view layout) {
  BATON_ASSIGN_OR_RETURN(const SpatialDims dims, FindSpatial(name, x, layout));
  if (output_size.size() > 1 && output_size.size() != dims.count) {
    return Error(name, "output size ", internal::ShapeToString(output_size),
                 " does not fit layout \"", layout, "\"");
  }
  View view = MakeView(x, dims);
  const std::array<Window*, 3> windows = {&view.d, &view.h, &view.w};
  for (size_t i = 0; i < dims.count; ++i) {
    Window& window = *windows[3 - dims.count + i];
    window.out = output_size.empty()
                     ? window.in
                     : output_size[output_size.size() == 1 ? 0 : i];
    if (window.out < 0 || (window.out > 0 && window.in == 0)) {
      return Error(name, "cannot pool ", x.TypeToString(), " to extent ",
                   window.out);
    }
  }
  return Run(name, mode, x, dims, view,
             []<typename T, Mode kMode>(const View& v, const T* from, T* to) {
               AdaptivePool<T, kMode>(v, from, to);
             });
}

absl::StatusOr<Tensor> Global(absl::string_view name, Mode mode,
                              const Tensor& x, absl::string_view layout) {
  BATON_ASSIGN_OR_RETURN(const SpatialDims dims, FindSpatial(name, x, layout));
  if (!x.dtype().IsStorable() || x.dtype().is_bool()) {
    return internal::UnsupportedDType(name, x.dtype());
  }
  ReduceParams params;
  params.keepdims = true;
  for (size_t i = 0; i < dims.count; ++i) {
    if (x.shape()[dims.first + i] == 0) {
      return Error(name, "nothing to pool in ", x.TypeToString());
    }
    params.axes.push_back(static_cast<int64_t>(dims.first + i));
  }
  return mode == Mode::kMax ? Max(x, params) : Mean(x, params);
}

}  // namespace

struct MaxPoolOfBytes::Impl {
  View view;
  std::vector<Tap> taps;
  bool is_signed = false;
};

MaxPoolOfBytes::MaxPoolOfBytes(bool is_signed, const Axis& h, const Axis& w) {
  const auto window = [](const Axis& axis) {
    Window result;
    result.in = axis.in;
    result.kernel = axis.kernel;
    result.stride = axis.stride;
    result.dilation = axis.dilation;
    result.pad_before = axis.pad_before;
    result.out = axis.out;
    return result;
  };
  auto impl = std::make_shared<Impl>();
  impl->view = {.outer = 1,
                .d = {},
                .h = window(h),
                .w = window(w),
                .inner = 1,
                .lowest = 0};
  impl->taps = TapsOf(impl->view);
  impl->is_signed = is_signed;
  impl_ = std::move(impl);
}

int64_t MaxPoolOfBytes::workspace_bytes() const {
  return impl_->view.w.in + impl_->view.w.out;
}

void MaxPoolOfBytes::Run(const void* x, int64_t planes, void* workspace,
                         void* y) const {
  View view = impl_->view;
  view.outer = planes;
  const auto run = [&]<typename T>() {
    T* const columns = static_cast<T*>(workspace);
    PoolRows<T, Mode::kMax>(view, true, impl_->taps, /*counts=*/{},
                            static_cast<const T*>(x), columns,
                            columns + view.w.in, static_cast<T*>(y));
  };
  if (impl_->is_signed) {
    run.template operator()<int8_t>();
  } else {
    run.template operator()<uint8_t>();
  }
}

absl::StatusOr<Tensor> MaxPool1d(const Tensor& x, const Pool1dParams& params) {
  return PoolNd<1>("max_pool1d", Mode::kMax, x, params);
}

absl::StatusOr<Tensor> MaxPool2d(const Tensor& x, const Pool2dParams& params) {
  return PoolNd<2>("max_pool2d", Mode::kMax, x, params);
}

absl::StatusOr<Tensor> MaxPool3d(const Tensor& x, const Pool3dParams& params) {
  return PoolNd<3>("max_pool3d", Mode::kMax, x, params);
}

absl::StatusOr<Tensor> AvgPool1d(const Tensor& x, const Pool1dParams& params) {
  return PoolNd<1>("avg_pool1d", Mode::kAvg, x, params);
}

absl::StatusOr<Tensor> AvgPool2d(const Tensor& x, const Pool2dParams& params) {
  return PoolNd<2>("avg_pool2d", Mode::kAvg, x, params);
}

absl::StatusOr<Tensor> AvgPool3d(const Tensor& x, const Pool3dParams& params) {
  return PoolNd<3>("avg_pool3d", Mode::kAvg, x, params);
}

absl::StatusOr<Tensor> GlobalMaxPool2d(const Tensor& x,
                                       absl::string_view layout) {
  return Global("global_max_pool2d", Mode::kMax, x, layout);
}

absl::StatusOr<Tensor> GlobalAvgPool2d(const Tensor& x,
                                       absl::string_view layout) {
  return Global("global_avg_pool2d", Mode::kAvg, x, layout);
}

absl::StatusOr<Tensor> AdaptiveMaxPool(const Tensor& x,
                                       absl::Span<const int64_t> output_size,
                                       absl::string_view layout) {
  return Adaptive("adaptive_max_pool", Mode::kMax, x, output_size, layout);
}

absl::StatusOr<Tensor> AdaptiveAvgPool(const Tensor& x,
                                       absl::Span<const int64_t> output_size,
                                       absl::string_view layout) {
  return Adaptive("adaptive_avg_pool", Mode::kAvg, x, output_size, layout);
}

}  // namespace baton::kernels
