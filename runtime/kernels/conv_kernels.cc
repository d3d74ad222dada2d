#include "baton/runtime/kernels/conv_kernels.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <string>
#include <type_traits>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/string_view.h"
#include "absl/types/span.h"
#include "baton/base/dtype.h"
#include "baton/base/status_macros.h"
#include "baton/base/tensor.h"
#include "baton/runtime/kernels/internal/convert.h"
#include "baton/runtime/kernels/internal/gemm.h"
#include "baton/runtime/kernels/internal/product.h"
#include "baton/runtime/kernels/internal/util.h"
#include "baton/runtime/kernels/internal/window.h"
#include "baton/runtime/kernels/layout_kernels.h"

namespace baton::kernels {
namespace {

using internal::Error;
using internal::Terms;
using internal::Window;

// Bytes of unfolded input that are multiplied at a time.
constexpr int64_t kUnfoldedBytes = int64_t{1} << 20;
// Rows of the products of a transposed convolution, which repay the packing.
constexpr int64_t kTransposedRows = 64;

struct Position {
  int64_t d;
  int64_t h;
  int64_t w;
};

// A convolution over depth, height and width; convolutions of fewer dimensions
// have a depth (and height) of 1.
struct Geometry {
  int64_t batch;
  int64_t groups;
  int64_t in_channels;   // in one group
  int64_t out_channels;  // in one group
  Window d;
  Window h;
  Window w;

  int64_t in_positions() const { return d.in * h.in * w.in; }
  int64_t out_positions() const { return d.out * h.out * w.out; }
  int64_t taps() const { return d.kernel * h.kernel * w.kernel; }
  // The terms of a sum, in operands that have channels first.
  Terms terms() const { return {in_channels, taps()}; }
  Position TapAt(int64_t tap) const {
    return {tap / (h.kernel * w.kernel), tap / w.kernel % h.kernel,
            tap % w.kernel};
  }
  // True if each output position reads exactly its input position.
  bool IsPointwise() const {
    for (const Window* window : {&d, &h, &w}) {
      if (window->kernel != 1 || window->stride != 1 || window->pads()) {
        return false;
      }
    }
    return true;
  }
};

Position OutputPosition(const Geometry& g, int64_t index) {
  return {index / (g.h.out * g.w.out), index / g.w.out % g.h.out,
          index % g.w.out};
}

// Calls fn(kd, kh, kw) for every tap.
template <typename Fn>
void ForEachTap(const Geometry& g, const Fn& fn) {
  for (int64_t kd = 0; kd < g.d.kernel; ++kd) {
    for (int64_t kh = 0; kh < g.h.kernel; ++kh) {
      for (int64_t kw = 0; kw < g.w.kernel; ++kw) fn(kd, kh, kw);
    }
  }
}

bool Inside(int64_t i, const Window& window) { return i >= 0 && i < window.in; }

// Packs what taps read: row (channel, tap), in the order of sums, and column p
// of the matrix is what the tap reads for output position p. `x` is
// [channels, positions].
template <typename T>
void PackUnfolded(const Geometry& g, const T* x,
                  const internal::PackedBlock<T>& block) {
  const Position start = OutputPosition(g, block.first_column);
  const Terms terms = g.terms();
  for (int64_t i = 0; i < block.rows; ++i) {
    const Terms::Term term = terms.At(block.first_row + i);
    const Position tap = g.TapAt(term.tap);
    const T* plane = x + term.channel * g.in_positions();
    const Window::Range valid = g.w.ValidOutputs(tap.w);
    internal::PackedRow<T> to(block, i);
    Position p = start;
    for (int64_t left = block.columns; left > 0;) {
      // The part [p.w, end) of a row of outputs.
      const int64_t end = std::min(g.w.out, p.w + left);
      left -= end - p.w;
      const int64_t id = g.d.Input(p.d, tap.d);
      const int64_t ih = g.h.Input(p.h, tap.h);
      int64_t w0 = std::clamp(valid.first, p.w, end);
      int64_t w1 = std::clamp(valid.last, p.w, end);
      if (!Inside(id, g.d) || !Inside(ih, g.h)) w0 = w1 = end;
      to.Zeros(w0 - p.w);
      if (w0 < w1) {
        to.Copy(plane + (id * g.h.in + ih) * g.w.in + g.w.Input(w0, tap.w),
                w1 - w0, g.w.stride);
      }
      to.Zeros(end - w1);
      p.w = 0;
      if (++p.h == g.h.out) {
        p.h = 0;
        ++p.d;
      }
    }
    to.Finish();
  }
}

// Writes row p - first and column (tap, channel) of `unfolded`. `x` is
// [positions, all channels], at the group's first channel.
template <typename T>
void UnfoldChannelsLast(const Geometry& g, const T* x, int64_t first,
                        int64_t last, T* unfolded) {
  const int64_t channels = g.in_channels;
  const int64_t step = channels * g.groups;
  T* out = unfolded;
  Position p = OutputPosition(g, first);
  for (int64_t i = first; i < last; ++i) {
    const int64_t iw0 = g.w.Input(p.w, 0);
    const bool whole_row = g.groups == 1 && g.w.dilation == 1 && iw0 >= 0 &&
                           iw0 + g.w.kernel <= g.w.in;
    for (int64_t kd = 0; kd < g.d.kernel; ++kd) {
      const int64_t id = g.d.Input(p.d, kd);
      for (int64_t kh = 0; kh < g.h.kernel; ++kh) {
        const int64_t ih = g.h.Input(p.h, kh);
        if (!Inside(id, g.d) || !Inside(ih, g.h)) {
          std::fill(out, out + g.w.kernel * channels, T(0));
          out += g.w.kernel * channels;
          continue;
        }
        const T* row = x + (id * g.h.in + ih) * g.w.in * step;
        if (whole_row) {
          out = std::copy_n(row + iw0 * step, g.w.kernel * channels, out);
          continue;
        }
        for (int64_t kw = 0; kw < g.w.kernel; ++kw) {
          const int64_t iw = iw0 + kw * g.w.dilation;
          if (Inside(iw, g.w)) {
            out = std::copy_n(row + iw * step, channels, out);
          } else {
            out = std::fill_n(out, channels, T(0));
          }
        }
      }
    }
    if (++p.w == g.w.out) {
      p.w = 0;
      if (++p.h == g.h.out) {
        p.h = 0;
        ++p.d;
      }
    }
  }
}

// Returns the number of output positions to unfold at a time. `depth` is the
// number of elements of one position.
template <typename T>
int64_t PositionsAtATime(int64_t depth, int64_t positions) {
  const int64_t fit = kUnfoldedBytes / static_cast<int64_t>(sizeof(T)) /
                      std::max<int64_t>(1, depth);
  return std::min(positions, std::max<int64_t>(32, fit));
}

template <typename T>
absl::StatusOr<MutableTensor> Scratch(int64_t elements) {
  return MutableTensor::Create(DType::Of<T>(), {elements});
}

// x: [batch, groups * in_channels, positions], kernel: [groups * out_channels,
// in_channels, taps], y: [batch, groups * out_channels, positions].
template <typename T>
void ChannelsFirst(const Geometry& g, const T* x, const T* kernel, T* y) {
  const int64_t depth = g.in_channels * g.taps();
  Terms terms = g.terms();
  // Few channels are brought to the order of sums first: a tile would otherwise
  // go from tap to tap after a few terms each.
  std::vector<T> ordered;
  if (!terms.are_ordered() && g.in_channels < 16) {
    ordered.resize(static_cast<size_t>(g.groups * g.out_channels * depth));
    terms.taps_first = true;
    T* to = ordered.data();
    for (const T* from = kernel; to != ordered.data() + ordered.size();
         from += depth) {
      for (int64_t tap = 0; tap < g.taps(); ++tap) {
        for (int64_t c = 0; c < g.in_channels; ++c) {
          *to++ = from[c * g.taps() + tap];
        }
      }
    }
    kernel = ordered.data();
  }
  const int64_t positions = g.out_positions();
  const bool pointwise = g.IsPointwise();
  for (int64_t n = 0; n < g.batch; ++n) {
    for (int64_t group = 0; group < g.groups; ++group) {
      const T* image =
          x + (n * g.groups + group) * g.in_channels * g.in_positions();
      const T* weights = kernel + group * g.out_channels * depth;
      T* out = y + (n * g.groups + group) * g.out_channels * positions;
      if (pointwise) {
        internal::Gemm<T>(g.out_channels, positions, terms, {weights, depth},
                          internal::ConstMatrix<T>{image, positions}, out,
                          positions);
        continue;
      }
      const auto pack = [&g, image](const internal::PackedBlock<T>& block) {
        PackUnfolded(g, image, block);
      };
      internal::Gemm<T>(g.out_channels, positions, terms, {weights, depth},
                        internal::PackFn<T>(pack), out, positions);
    }
  }
}

// x: [batch, positions, groups * in_channels], kernel: [taps, in_channels,
// groups * out_channels], y: [batch, positions, groups * out_channels].
template <typename T>
absl::Status ChannelsLast(const Geometry& g, const T* x, const T* kernel,
                          T* y) {
  const int64_t depth = g.in_channels * g.taps();
  const int64_t positions = g.out_positions();
  const int64_t all_in = g.groups * g.in_channels;
  const int64_t all_out = g.groups * g.out_channels;
  const Terms terms = {g.in_channels, g.taps(), /*taps_first=*/true};
  const bool pointwise = g.IsPointwise();
  const int64_t step = PositionsAtATime<T>(depth, positions);
  BATON_ASSIGN_OR_RETURN(MutableTensor scratch,
                         Scratch<T>(pointwise ? 0 : depth * step));
  T* unfolded = scratch.span<T>().data();
  for (int64_t n = 0; n < g.batch; ++n) {
    for (int64_t group = 0; group < g.groups; ++group) {
      const T* image =
          x + n * g.in_positions() * all_in + group * g.in_channels;
      const T* weights = kernel + group * g.out_channels;
      T* out = y + n * positions * all_out + group * g.out_channels;
      if (pointwise) {
        internal::Gemm<T>(positions, g.out_channels, terms, {image, all_in},
                          {weights, all_out}, out, all_out);
        continue;
      }
      for (int64_t first = 0; first < positions; first += step) {
        const int64_t last = std::min(positions, first + step);
        UnfoldChannelsLast(g, image, first, last, unfolded);
        internal::Gemm<T>(last - first, g.out_channels, terms,
                          {unfolded, depth}, {weights, all_out},
                          out + first * all_out, all_out);
      }
    }
  }
  return absl::OkStatus();
}

// Sums of products in the order that Gemm has: of float32, those of
// OrderedSums; integers and float64 in the order of taps.
template <typename T>
class Sums {
 public:
  Sums(int64_t n, const Terms&) : sums_(static_cast<size_t>(n)) {}
  void Start() { std::fill(sums_.begin(), sums_.end(), T(0)); }
  T* ChainsOf(int64_t) { return sums_.data(); }
  const T* Finish() { return sums_.data(); }

 private:
  std::vector<T> sums_;
};
template <>
class Sums<float> : public internal::OrderedSums {
 public:
  Sums(int64_t n, const Terms& terms) : OrderedSums(n, terms.sums()) {}
};

template <typename T>
void AddProducts(int64_t n, const T* a, int64_t a_step, const T* b,
                 int64_t b_step, T* sums, int64_t sums_step) {
  if constexpr (std::is_same_v<T, float>) {
    internal::AddProducts(n, a, a_step, b, b_step, sums, sums_step);
  } else {
    for (int64_t i = 0; i < n; ++i) {
      sums[i * sums_step] += a[i * a_step] * b[i * b_step];
    }
  }
}

template <typename T>
void AddMultiples(int64_t rows, int64_t n, T factor, const T* x, int64_t x_row,
                  int64_t x_step, T* sums, int64_t sums_row) {
  if constexpr (std::is_same_v<T, float>) {
    internal::AddMultiples(rows, n, factor, x, x_row, x_step, sums, sums_row);
  } else {
    for (int64_t i = 0; i < rows; ++i) {
      for (int64_t j = 0; j < n; ++j) {
        sums[i * sums_row + j] += factor * x[i * x_row + j * x_step];
      }
    }
  }
}

// Depthwise convolutions sum a channel's taps directly. Layouts as in
// ChannelsFirst, with in_channels = 1.
template <typename T>
void DepthwiseChannelsFirst(const Geometry& g, const T* x, const T* kernel,
                            T* y) {
  const int64_t out = g.h.out * g.w.out;
  Sums<T> sums(out, g.terms());
  const int64_t planes = g.batch * g.groups * g.out_channels;
  for (int64_t plane = 0; plane < planes; ++plane) {
    const T* image = x + plane / g.out_channels * g.in_positions();
    const T* weights = kernel + plane % (g.groups * g.out_channels) * g.taps();
    for (int64_t od = 0; od < g.d.out; ++od) {
      sums.Start();
      int64_t next = 0;
      ForEachTap(g, [&](int64_t kd, int64_t kh, int64_t kw) {
        const int64_t tap = next++;
        const int64_t id = g.d.Input(od, kd);
        const Window::Range rows = g.h.ValidOutputs(kh);
        const Window::Range columns = g.w.ValidOutputs(kw);
        if (!Inside(id, g.d) || rows.first == rows.last ||
            columns.first == columns.last) {
          return;
        }
        AddMultiples<T>(
            rows.last - rows.first, columns.last - columns.first, weights[tap],
            image + (id * g.h.in + g.h.Input(rows.first, kh)) * g.w.in +
                g.w.Input(columns.first, kw),
            g.h.stride * g.w.in, g.w.stride,
            sums.ChainsOf(tap) + rows.first * g.w.out + columns.first, g.w.out);
      });
      y = std::copy_n(sums.Finish(), out, y);
    }
  }
}

template <typename T>
void DepthwiseChannelsLast(const Geometry& g, const T* x, const T* kernel,
                           T* y) {
  const int64_t channels = g.groups;
  const int64_t multiplier = g.out_channels;
  const int64_t outs = channels * multiplier;
  Sums<T> sums(outs, g.terms());
  for (int64_t n = 0; n < g.batch; ++n) {
    const T* image = x + n * g.in_positions() * channels;
    for (int64_t i = 0; i < g.out_positions(); ++i) {
      const Position p = OutputPosition(g, i);
      sums.Start();
      int64_t tap = -1;
      ForEachTap(g, [&](int64_t kd, int64_t kh, int64_t kw) {
        ++tap;
        const int64_t id = g.d.Input(p.d, kd);
        const int64_t ih = g.h.Input(p.h, kh);
        const int64_t iw = g.w.Input(p.w, kw);
        if (!Inside(id, g.d) || !Inside(ih, g.h) || !Inside(iw, g.w)) return;
        const T* from = image + ((id * g.h.in + ih) * g.w.in + iw) * channels;
        for (int64_t m = 0; m < multiplier; ++m) {
          AddProducts<T>(channels, from, 1, kernel + tap * outs + m, multiplier,
                         sums.ChainsOf(tap) + m, multiplier);
        }
      });
      y = std::copy_n(sums.Finish(), outs, y);
    }
  }
}

// A convolution that skips what reads padding: above it is a zero that is
// multiplied by a weight, which is nothing to add if the weight is finite.
template <typename T>
void Skipping(const Geometry& g, bool channels_last, const T* x,
              const T* kernel, T* y) {
  const Terms terms = g.terms();
  const int64_t taps = g.taps();
  const int64_t ins = g.groups * g.in_channels;
  const int64_t outs = g.groups * g.out_channels;
  // From one channel, or position, to the next.
  const int64_t x_channel = channels_last ? 1 : g.in_positions();
  const int64_t x_position = channels_last ? ins : 1;
  const int64_t y_channel = channels_last ? 1 : g.out_positions();
  const int64_t y_position = channels_last ? outs : 1;
  const int64_t kernel_out = channels_last ? 1 : g.in_channels * taps;
  const int64_t kernel_in = channels_last ? outs : taps;
  const int64_t kernel_tap = channels_last ? g.in_channels * outs : 1;
  Sums<T> sums(g.out_channels, terms);
  for (int64_t n = 0; n < g.batch; ++n) {
    for (int64_t group = 0; group < g.groups; ++group) {
      const T* image =
          x + n * ins * g.in_positions() + group * g.in_channels * x_channel;
      const T* weights = kernel + group * g.out_channels * kernel_out;
      T* out =
          y + n * outs * g.out_positions() + group * g.out_channels * y_channel;
      for (int64_t i = 0; i < g.out_positions(); ++i) {
        const Position p = OutputPosition(g, i);
        sums.Start();
        for (int64_t t = 0; t < terms.count(); ++t) {
          const Terms::Term term = terms.At(t);
          const Position tap = g.TapAt(term.tap);
          const int64_t id = g.d.Input(p.d, tap.d);
          const int64_t ih = g.h.Input(p.h, tap.h);
          const int64_t iw = g.w.Input(p.w, tap.w);
          if (!Inside(id, g.d) || !Inside(ih, g.h) || !Inside(iw, g.w)) {
            continue;
          }
          AddProducts<T>(
              g.out_channels,
              image + term.channel * x_channel +
                  ((id * g.h.in + ih) * g.w.in + iw) * x_position,
              0, weights + term.channel * kernel_in + term.tap * kernel_tap,
              kernel_out, sums.ChainsOf(term.channel / 16 * taps + term.tap),
              1);
        }
        const T* from = sums.Finish();
        for (int64_t o = 0; o < g.out_channels; ++o) {
          out[o * y_channel + i * y_position] = from[o];
        }
      }
    }
  }
}

template <typename T>
absl::Status Convolve(const Geometry& g, bool channels_last, const T* x,
                      const T* kernel, T* y) {
  if (g.in_channels == 1 && g.groups > 1) {
    if (channels_last) {
      DepthwiseChannelsLast<T>(g, x, kernel, y);
    } else {
      DepthwiseChannelsFirst<T>(g, x, kernel, y);
    }
    return absl::OkStatus();
  }
  if constexpr (std::is_floating_point_v<T>) {
    const bool pads = g.d.pads() || g.h.pads() || g.w.pads();
    const int64_t size = g.groups * g.out_channels * g.in_channels * g.taps();
    if (pads && !std::all_of(kernel, kernel + size,
                             [](T w) { return std::isfinite(w); })) {
      Skipping<T>(g, channels_last, x, kernel, y);
      return absl::OkStatus();
    }
  }
  if (channels_last) return ChannelsLast(g, x, kernel, y);
  ChannelsFirst(g, x, kernel, y);
  return absl::OkStatus();
}

// Adds the windows of `unfolded`, [channels * taps, positions], to `y`,
// [channels, positions], in the order of taps. Here the windows slide over the
// result: `in` and `out` of the geometry are swapped.
template <typename T>
void FoldChannelsFirst(const Geometry& g, const T* unfolded, int64_t channels,
                       T* y) {
  const T* from = unfolded;
  for (int64_t c = 0; c < channels; ++c) {
    T* plane = y + c * g.in_positions();
    ForEachTap(g, [&](int64_t kd, int64_t kh, int64_t kw) {
      const Window::Range valid = g.w.ValidOutputs(kw);
      for (int64_t d = 0; d < g.d.out; ++d) {
        const int64_t id = g.d.Input(d, kd);
        for (int64_t h = 0; h < g.h.out; ++h, from += g.w.out) {
          const int64_t ih = g.h.Input(h, kh);
          if (!Inside(id, g.d) || !Inside(ih, g.h)) continue;
          T* row = plane + (id * g.h.in + ih) * g.w.in;
          for (int64_t w = valid.first; w < valid.last; ++w) {
            row[g.w.Input(w, kw)] += from[w];
          }
        }
      }
    });
  }
}

// The transpose of ChannelsFirst: x has the shape of its result and y that of
// its data. kernel: [groups * out_channels, in_channels, taps]. An element is
// the sum of those of its windows, in the order of taps: so all positions of a
// channel are folded at a time.
template <typename T>
absl::Status TransposeChannelsFirst(const Geometry& g, const T* x,
                                    const T* kernel, T* y) {
  const int64_t taps = g.taps();
  const int64_t depth = g.in_channels * taps;
  const int64_t positions = g.out_positions();
  const int64_t step = std::min(
      g.in_channels, std::max((kTransposedRows + taps - 1) / taps,
                              kUnfoldedBytes / static_cast<int64_t>(sizeof(T)) /
                                  std::max<int64_t>(1, taps * positions)));
  BATON_ASSIGN_OR_RETURN(MutableTensor scratch,
                         Scratch<T>(step * taps * positions));
  T* unfolded = scratch.span<T>().data();
  for (int64_t n = 0; n < g.batch; ++n) {
    for (int64_t group = 0; group < g.groups; ++group) {
      const T* image = x + (n * g.groups + group) * g.out_channels * positions;
      const T* weights = kernel + group * g.out_channels * depth;
      T* out = y + (n * g.groups + group) * g.in_channels * g.in_positions();
      for (int64_t first = 0; first < g.in_channels; first += step) {
        const int64_t channels = std::min(step, g.in_channels - first);
        internal::Gemm<T>(channels * taps, positions, {g.out_channels},
                          {weights + first * taps, depth, /*transposed=*/true},
                          {image, positions}, unfolded, positions);
        FoldChannelsFirst(g, unfolded, channels,
                          out + first * g.in_positions());
      }
    }
  }
  return absl::OkStatus();
}

// The names of spatial dimensions: W, HW or DHW.
template <size_t N>
absl::string_view Spatial() {
  return absl::string_view("DHW").substr(3 - N);
}

// Parameters and tensors after checks and conversions: data and kernel in
// plain layouts and of the dtype to compute in.
struct Prepared {
  Tensor data;
  Tensor kernel;
  std::string layout;  // the layout of data and of the raw result
  std::string out_layout;
  DType out_dtype;
};

// LayoutTransform, with errors that name the convolution and `what`.
absl::StatusOr<Tensor> Rearrange(absl::string_view name, absl::string_view what,
                                 const Tensor& x, absl::string_view from,
                                 absl::string_view to) {
  absl::StatusOr<Tensor> result = LayoutTransform(x, from, to);
  if (result.ok()) return result;
  return Error(name, "the ", what, ": ", result.status().message());
}

// Brings the kernel to the layout `kernel_first`, its default, or, where the
// data has its channels last, to `kernel_last`. If that is empty, the data is
// brought to channels-first order.
template <size_t N>
absl::StatusOr<Prepared> Prepare(absl::string_view name, const Tensor& data,
                                 const Tensor& kernel,
                                 const ConvParams<N>& params,
                                 const std::string& kernel_first,
                                 const std::string& kernel_last) {
  Prepared p;
  const std::string first = absl::StrCat("NC", Spatial<N>());
  const std::string last = absl::StrCat("N", Spatial<N>(), "C");
  const std::string data_layout =
      params.data_layout.empty() ? first : params.data_layout;
  p.out_layout = params.out_layout.empty() ? data_layout : params.out_layout;
  p.out_dtype = params.out_dtype.is_void() ? data.dtype() : params.out_dtype;
  BATON_ASSIGN_OR_RETURN(
      const DType compute,
      internal::ProductDType(name, data.dtype(), kernel.dtype(), p.out_dtype));
  const bool channels_last = !kernel_last.empty() && data_layout == last;
  p.layout = channels_last ? last : first;
  BATON_ASSIGN_OR_RETURN(p.data,
                         Rearrange(name, "data", data, data_layout, p.layout));
  BATON_ASSIGN_OR_RETURN(
      p.kernel, Rearrange(name, "kernel", kernel,
                          params.kernel_layout.empty() ? kernel_first
                                                       : params.kernel_layout,
                          channels_last ? kernel_last : kernel_first));
  BATON_ASSIGN_OR_RETURN(p.data, internal::Convert(name, p.data, compute));
  BATON_ASSIGN_OR_RETURN(p.kernel, internal::Convert(name, p.kernel, compute));
  return p;
}

absl::StatusOr<Tensor> Finish(absl::string_view name, MutableTensor result,
                              const Prepared& p) {
  BATON_ASSIGN_OR_RETURN(
      Tensor out,
      internal::Convert(name, std::move(result).Freeze(), p.out_dtype));
  return Rearrange(name, "result", out, p.layout, p.out_layout);
}

absl::Status CheckGroups(absl::string_view name, int64_t groups,
                         int64_t channels, absl::string_view what) {
  if (groups < 1) return Error(name, "groups must be positive, not ", groups);
  if (channels % groups == 0) return absl::OkStatus();
  return Error(name, channels, " ", what, " channels do not divide into ",
               groups, " groups");
}

// Fills the windows of `g` from parameters and the kernel's spatial dimensions,
// apart from `in` and `out`.
template <size_t N>
void SetWindows(const ConvParams<N>& params, absl::Span<const int64_t> taps,
                Geometry& g) {
  const std::array<Window*, 3> windows = {&g.d, &g.h, &g.w};
  for (size_t i = 0; i < N; ++i) {
    Window& window = *windows[3 - N + i];
    window.kernel = taps[i];
    window.stride = params.strides[i];
    window.dilation = params.dilation[i];
    window.pad_before = params.padding[i];
    window.pad_after = params.padding[N + i];
  }
}

template <size_t N>
absl::StatusOr<Tensor> Conv(absl::string_view name, const Tensor& data,
                            const Tensor& kernel, const ConvParams<N>& params) {
  const std::string io = absl::StrCat(Spatial<N>(), "IO");
  BATON_ASSIGN_OR_RETURN(Prepared p,
                         Prepare(name, data, kernel, params,
                                 absl::StrCat("OI", Spatial<N>()), io));
  const bool channels_last = p.layout.back() == 'C';
  const absl::Span<const int64_t> in = p.data.shape();
  const int64_t channels = in[channels_last ? N + 1 : 1];
  BATON_RETURN_IF_ERROR(CheckGroups(name, params.groups, channels, "input"));
  // The axes of the output and input channels of the kernel.
  const size_t out_at = channels_last ? N + 1 : 0;
  const size_t in_at = channels_last ? N : 1;
  TensorShape weights = internal::ToShape(p.kernel.shape());
  if (params.groups == channels && weights[out_at] == channels &&
      channels > 1) {
    // The depthwise form [C, M, taps] is [C * M, 1, taps].
    if (channels_last) {
      BATON_ASSIGN_OR_RETURN(
          p.kernel,
          LayoutTransform(p.kernel, io, absl::StrCat(Spatial<N>(), "OI")));
    }
    BATON_ASSIGN_OR_RETURN(
        weights[out_at],
        internal::CheckedMul(name, weights[out_at], weights[in_at]));
    weights[in_at] = 1;
    BATON_ASSIGN_OR_RETURN(p.kernel, p.kernel.Reshaped(weights));
  }
  const int64_t outs = weights[out_at];
  BATON_RETURN_IF_ERROR(CheckGroups(name, params.groups, outs, "output"));
  if (weights[in_at] != channels / params.groups) {
    return Error(name, "kernel ", kernel.TypeToString(), " does not fit data ",
                 data.TypeToString(), " in ", params.groups, " groups");
  }
  Geometry g;
  g.batch = in[0];
  g.groups = params.groups;
  g.in_channels = channels / params.groups;
  g.out_channels = outs / params.groups;
  SetWindows(params, p.kernel.shape().subspan(channels_last ? 0 : 2), g);
  const std::array<Window*, 3> windows = {&g.d, &g.h, &g.w};
  TensorShape shape = internal::ToShape(in);
  shape[channels_last ? N + 1 : 1] = outs;
  for (size_t i = 0; i < N; ++i) {
    Window& window = *windows[3 - N + i];
    const size_t at = i + (channels_last ? 1 : 2);
    window.in = in[at];
    BATON_RETURN_IF_ERROR(
        internal::SetWindowOutputs(name, /*ceil_mode=*/false, window));
    shape[at] = window.out;
  }
  BATON_ASSIGN_OR_RETURN(MutableTensor result,
                         MutableTensor::Create(p.data.dtype(), shape));
  if (result.num_elements() > 0) {
    BATON_RETURN_IF_ERROR(
        internal::VisitProduct(p.data.dtype(), [&]<typename T>() {
          return Convolve<T>(g, channels_last,
                             static_cast<const T*>(p.data.data()),
                             static_cast<const T*>(p.kernel.data()),
                             static_cast<T*>(result.data()));
        }));
  }
  return Finish(name, std::move(result), p);
}

template <size_t N>
absl::StatusOr<Tensor> ConvTranspose(absl::string_view name, const Tensor& data,
                                     const Tensor& kernel,
                                     const ConvTransposeParams<N>& params) {
  const std::string io = absl::StrCat("IO", Spatial<N>());
  BATON_ASSIGN_OR_RETURN(Prepared p, Prepare<N>(name, data, kernel, params, io,
                                                /*kernel_last=*/""));
  const absl::Span<const int64_t> in = p.data.shape();
  BATON_RETURN_IF_ERROR(CheckGroups(name, params.groups, in[1], "input"));
  if (p.kernel.shape()[0] != in[1]) {
    return Error(name, "kernel ", kernel.TypeToString(), " does not fit data ",
                 data.TypeToString());
  }
  // The convolution whose transpose this is; its outputs are our inputs.
  Geometry g;
  g.batch = in[0];
  g.groups = params.groups;
  g.in_channels = p.kernel.shape()[1];
  g.out_channels = in[1] / params.groups;
  SetWindows<N>(params, p.kernel.shape().subspan(2), g);
  const std::array<Window*, 3> windows = {&g.d, &g.h, &g.w};
  TensorShape shape = internal::ToShape(in);
  BATON_ASSIGN_OR_RETURN(shape[1],
                         internal::CheckedMul(name, g.in_channels, g.groups));
  for (size_t i = 0; i < N; ++i) {
    Window& window = *windows[3 - N + i];
    BATON_RETURN_IF_ERROR(internal::CheckWindow(name, window));
    const int64_t extra = params.output_padding[i];
    if (extra < 0 || (extra >= window.stride && extra >= window.dilation)) {
      return Error(name, "output padding ", extra,
                   " must be less than the stride");
    }
    window.out = in[2 + i];
    const __int128 extent =
        static_cast<__int128>(window.out - 1) * window.stride +
        (window.kernel - 1) * window.dilation + 1 - window.pad_before -
        window.pad_after + extra;
    if (window.out < 1 || extent < 0 ||
        extent > std::numeric_limits<int64_t>::max() / 4) {
      return Error(name, "data ", data.TypeToString(), " with kernel ",
                   kernel.TypeToString(), " gives an impossible extent");
    }
    window.in = static_cast<int64_t>(extent);
    BATON_RETURN_IF_ERROR(internal::CheckWindow(name, window));
    shape[2 + i] = window.in;
  }
  BATON_ASSIGN_OR_RETURN(MutableTensor result,
                         MutableTensor::Create(p.data.dtype(), shape));
  if (result.num_elements() > 0 && p.data.num_elements() > 0) {
    BATON_RETURN_IF_ERROR(
        internal::VisitProduct(p.data.dtype(), [&]<typename T>() {
          return TransposeChannelsFirst<T>(
              g, static_cast<const T*>(p.data.data()),
              static_cast<const T*>(p.kernel.data()),
              static_cast<T*>(result.data()));
        }));
  }
  return Finish(name, std::move(result), p);
}

}  // namespace

absl::StatusOr<Tensor> Conv1d(const Tensor& data, const Tensor& kernel,
                              const Conv1dParams& params) {
  return Conv<1>("conv1d", data, kernel, params);
}

absl::StatusOr<Tensor> Conv2d(const Tensor& data, const Tensor& kernel,
                              const Conv2dParams& params) {
  return Conv<2>("conv2d", data, kernel, params);
}

absl::StatusOr<Tensor> Conv3d(const Tensor& data, const Tensor& kernel,
                              const Conv3dParams& params) {
  return Conv<3>("conv3d", data, kernel, params);
}

absl::StatusOr<Tensor> Conv1dTranspose(const Tensor& data, const Tensor& kernel,
                                       const Conv1dTransposeParams& params) {
  return ConvTranspose<1>("conv1d_transpose", data, kernel, params);
}

absl::StatusOr<Tensor> Conv2dTranspose(const Tensor& data, const Tensor& kernel,
                                       const Conv2dTransposeParams& params) {
  return ConvTranspose<2>("conv2d_transpose", data, kernel, params);
}

absl::StatusOr<Tensor> Conv3dTranspose(const Tensor& data, const Tensor& kernel,
                                       const Conv3dTransposeParams& params) {
  return ConvTranspose<3>("conv3d_transpose", data, kernel, params);
}

}  // namespace baton::kernels
