// Exporters of convolution, pooling, normalization, matrix products, images.

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
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
#include "baton/ir/op.h"
#include "baton/ir/type.h"
#include "baton/onnx/export_ops/integers.h"
#include "baton/onnx/export_ops/layouts.h"
#include "baton/onnx/export_ops/simple.h"
#include "baton/onnx/exporter.h"
#include "baton/onnx/graph_builder.h"
#include "baton/onnx/operator_table.h"
#include "baton/relay/ir/expr.h"
#include "baton/relay/op/image/image.h"
#include "baton/relay/op/nn/activation.h"
#include "baton/relay/op/nn/conv.h"
#include "baton/relay/op/nn/dense.h"
#include "baton/relay/op/nn/normalize.h"
#include "baton/relay/op/nn/pool.h"
#include "baton/relay/op/nn/spatial.h"
#include "baton/relay/op/tensor/shape.h"
#include "baton/relay/op/vision/vision.h"

namespace baton::onnx {
namespace {

using Ints = std::vector<int64_t>;

// --- Windows ---------------------------------------------------------------

// All begins and then all ends, from one of the three forms.
absl::StatusOr<Ints> FullPadding(const Dims& padding, size_t axes) {
  BATON_ASSIGN_OR_RETURN(Ints given, KnownDims(padding, "the padding"));
  if (given.size() == 2 * axes) return given;
  if (given.size() == 1) return Ints(2 * axes, given[0]);
  if (given.size() != axes) {
    return absl::UnimplementedError("padding of this form");
  }
  given.insert(given.end(), given.begin(), given.begin() + axes);
  return given;
}

bool AllAre(const Ints& values, int64_t value) {
  return std::all_of(values.begin(), values.end(),
                     [value](int64_t v) { return v == value; });
}

// One number may stand for all axes.
absl::StatusOr<Ints> ForAxes(const Dims& dims, size_t axes,
                             absl::string_view what) {
  BATON_ASSIGN_OR_RETURN(Ints values, KnownDims(dims, what));
  if (values.size() == 1) values.resize(axes, values[0]);
  if (values.size() != axes) {
    return absl::UnimplementedError(absl::StrCat(what, " of this form"));
  }
  return values;
}

// strides, pads and dilations, which are those that attributes of convolutions
// and of pooling have in common.
absl::Status AddWindow(const Dims& strides, const Dims& padding,
                       const Dims& dilation, size_t axes,
                       NodeAttributes& attributes) {
  BATON_ASSIGN_OR_RETURN(const Ints steps, ForAxes(strides, axes, "strides"));
  BATON_ASSIGN_OR_RETURN(const Ints pads, FullPadding(padding, axes));
  BATON_ASSIGN_OR_RETURN(const Ints dilations,
                         ForAxes(dilation, axes, "dilation"));
  if (!AllAre(dilations, 1)) attributes.Ints("dilations", dilations);
  attributes.Ints("pads", pads);
  attributes.Ints("strides", steps);
  return absl::OkStatus();
}

// --- Convolution -----------------------------------------------------------

// A convolution of small integers in float32, which holds the sums: those of so
// many channels at a time that they are less than 2^24.
class ConvInFloats {
 public:
  // `taps`: elements of the kernel for each channel; `bounds`: the magnitudes
  // of data and weights.
  ConvInFloats(CallExport& call, int64_t channels, int64_t groups, int64_t taps,
               int64_t x_bound, int64_t w_bound)
      : call_(call), channels_(channels), groups_(groups) {
    constexpr int64_t kMost = int64_t{1} << 24;
    const int64_t product = std::max<int64_t>(x_bound * w_bound, 1);
    at_once_ = kMost / product / std::max<int64_t>(taps, 1);
  }

  // `x` and `w` are of int32, in ONNX's layouts.
  absl::StatusOr<ValueId> Export(ValueId x, ValueId w,
                                 const NodeAttributes& attributes) {
    const int64_t own = channels_ / groups_;
    if (at_once_ < 1 || (groups_ > 1 && own > at_once_)) {
      return absl::UnimplementedError(
          "of integers less a computed number, with so large a kernel");
    }
    if (own <= at_once_) return Part(x, w, attributes);
    ValueId sum = kNoValue;
    for (int64_t at = 0; at < channels_; at += at_once_) {
      const ValueId part = Part(Channels(x, at), Channels(w, at), attributes);
      sum = sum == kNoValue ? part : call_.Node("Add", {sum, part});
    }
    return sum;
  }

 private:
  ValueId Channels(ValueId value, int64_t at) {
    return call_.Node(
        "Slice",
        {value, call_.Ints({at}),
         call_.Ints({std::min(at + at_once_, channels_)}), call_.Ints({1})});
  }
  ValueId Part(ValueId x, ValueId w, const NodeAttributes& attributes) {
    const DType whole = DType::Int(32);
    const DType real = DType::Float(32);
    return call_.Cast(
        call_.Node("Conv",
                   {call_.Cast(x, whole, real), call_.Cast(w, whole, real)},
                   attributes),
        real, whole);
  }

  CallExport& call_;
  int64_t channels_;
  int64_t groups_;
  int64_t at_once_ = 0;
};

template <typename A>
absl::StatusOr<Values> Conv(CallExport& call) {
  const A& attrs = call.attrs<A>();
  const A defaults;
  const size_t axes = defaults.strides.size();
  const DType dtype = call.ElementType(0);
  const DType result_dtype = call.ResultType()->dtype();
  if (!dtype.is_float() && result_dtype.bits() < 32) {
    return absl::UnimplementedError(
        absl::StrCat("of ", dtype.ToString(), " to ", result_dtype.ToString()));
  }
  NodeAttributes attributes;
  if (attrs.groups != 1) attributes.Int("group", attrs.groups);
  BATON_ASSIGN_OR_RETURN(
      const Ints order, AxisOrder(attrs.kernel_layout, defaults.kernel_layout));
  Ints kernel;
  for (size_t i = 0; i < axes; ++i) {
    const Dim& dim = call.ArgType(1)->dim(static_cast<int>(order[i + 2]));
    if (dim.is_const()) kernel.push_back(dim.value());
  }
  if (kernel.size() == axes) attributes.Ints("kernel_shape", kernel);
  BATON_RETURN_IF_ERROR(AddWindow(attrs.strides, attrs.padding, attrs.dilation,
                                  axes, attributes));
  const auto data = [&](ValueId value) {
    return InLayout(call, value, attrs.data_layout, defaults.data_layout);
  };
  const auto kernel_of = [&](ValueId value) {
    return InLayout(call, value, attrs.kernel_layout, defaults.kernel_layout);
  };
  ValueId result = kNoValue;
  if (dtype.is_float()) {
    BATON_ASSIGN_OR_RETURN(ValueId x, data(call.Arg(0)));
    BATON_ASSIGN_OR_RETURN(ValueId w, kernel_of(call.Arg(1)));
    x = call.Cast(x, dtype, result_dtype);
    w = call.Cast(w, call.ElementType(1), result_dtype);
    result = call.Node("Conv", {x, w}, std::move(attributes));
  } else if (absl::StatusOr<std::vector<ByteFactor>> xs_or =
                 ByteFactorsOf(call, 0),
             ws_or = ByteFactorsOf(call, 1);
             !xs_or.ok() || !ws_or.ok()) {
    const std::optional<int64_t> x_bound = BoundOfBytes(call, 0);
    const std::optional<int64_t> w_bound = BoundOfBytes(call, 1);
    BATON_ASSIGN_OR_RETURN(const Ints places,
                           AxisOrder(attrs.data_layout, defaults.data_layout));
    Dim channels = call.ArgType(0)->dim(static_cast<int>(places[1]));
    // The weights say how many a group has.
    const Dim& of_group = call.ArgType(1)->dim(static_cast<int>(order[1]));
    int64_t all = 0;
    if (!channels.is_const() && of_group.is_const() &&
        !__builtin_mul_overflow(of_group.value(), int64_t{attrs.groups},
                                &all)) {
      channels = Dim(all);
    }
    if (!x_bound.has_value() || !w_bound.has_value() || !channels.is_const() ||
        kernel.size() != axes) {
      return xs_or.ok() ? ws_or.status() : xs_or.status();
    }
    int64_t taps = 1;
    for (const int64_t size : kernel) {
      if (size > (1 << 12)) return xs_or.ok() ? ws_or.status() : xs_or.status();
      taps *= size;
    }
    BATON_ASSIGN_OR_RETURN(const ValueId x, data(call.Arg(0)));
    BATON_ASSIGN_OR_RETURN(const ValueId w, kernel_of(call.Arg(1)));
    const DType whole = DType::Int(32);
    BATON_ASSIGN_OR_RETURN(
        result,
        ConvInFloats(call, channels.value(), attrs.groups, taps, *x_bound,
                     *w_bound)
            .Export(call.Cast(x, dtype, whole),
                    call.Cast(w, call.ElementType(1), whole), attributes));
    result = call.Cast(result, whole, result_dtype);
  } else {
    std::vector<ByteFactor>& xs = *xs_or;
    std::vector<ByteFactor>& ws = *ws_or;
    for (ByteFactor& x : xs) {
      x = AsUnsigned(call, x);
      BATON_ASSIGN_OR_RETURN(x.value, data(x.value));
    }
    for (ByteFactor& w : ws) {
      w = AsUnsigned(call, w);
      BATON_ASSIGN_OR_RETURN(w.value, kernel_of(w.value));
    }
    result = SumOfProducts(
        call, xs, ws, [&](const ByteFactor& x, const ByteFactor& w) {
          return call.Node("ConvInteger",
                           {x.value, w.value, ZeroOf(call, x), ZeroOf(call, w)},
                           attributes);
        });
    result = call.Cast(result, DType::Int(32), result_dtype);
  }
  const std::string& out =
      attrs.out_layout.empty() ? attrs.data_layout : attrs.out_layout;
  BATON_ASSIGN_OR_RETURN(const ValueId laid_out,
                         InLayout(call, result, defaults.data_layout, out));
  return Values{laid_out};
}

template <typename A>
absl::StatusOr<Values> ConvTranspose(CallExport& call) {
  const A& attrs = call.attrs<A>();
  const A defaults;
  const size_t axes = defaults.strides.size();
  const DType dtype = call.ElementType(0);
  if (!dtype.is_float()) return absl::UnimplementedError("of integers");
  BATON_ASSIGN_OR_RETURN(
      ValueId x,
      InLayout(call, call.Arg(0), attrs.data_layout, defaults.data_layout));
  BATON_ASSIGN_OR_RETURN(
      ValueId w,
      InLayout(call, call.Arg(1), attrs.kernel_layout, defaults.kernel_layout));
  const DType result_dtype = call.ResultType()->dtype();
  x = call.Cast(x, dtype, result_dtype);
  w = call.Cast(w, call.ElementType(1), result_dtype);
  NodeAttributes attributes;
  if (attrs.groups != 1) attributes.Int("group", attrs.groups);
  BATON_ASSIGN_OR_RETURN(const Ints output_padding,
                         ForAxes(attrs.output_padding, axes, "output_padding"));
  if (!AllAre(output_padding, 0)) {
    attributes.Ints("output_padding", output_padding);
  }
  BATON_RETURN_IF_ERROR(AddWindow(attrs.strides, attrs.padding, attrs.dilation,
                                  axes, attributes));
  const ValueId result =
      call.Node("ConvTranspose", {x, w}, std::move(attributes));
  const std::string& out =
      attrs.out_layout.empty() ? attrs.data_layout : attrs.out_layout;
  BATON_ASSIGN_OR_RETURN(const ValueId laid_out,
                         InLayout(call, result, defaults.data_layout, out));
  return Values{laid_out};
}

// --- Pooling ---------------------------------------------------------------

// A pool over `x`, of the element type of the call's data. ONNX has pools of
// floats, and maxima of bytes: other integers become floats that hold them
// exactly.
absl::StatusOr<ValueId> PoolNode(CallExport& call, absl::string_view op,
                                 ValueId x, NodeAttributes attributes = {}) {
  const DType dtype = call.ElementType(0);
  if (dtype.is_float() || (op == "MaxPool" && dtype.bits() == 8)) {
    return call.Node(op, {x}, std::move(attributes));
  }
  if (dtype.bits() > 32) {
    return absl::UnimplementedError(absl::StrCat("of ", dtype.ToString()));
  }
  const DType wide = DType::Float(64);
  return call.Cast(
      call.Node(op, {call.Cast(x, dtype, wide)}, std::move(attributes)), wide,
      dtype);
}

// A tensor of zeros as wide as `pads` say, all begins and then all ends of the
// spatial axes, around `x`.
ValueId PadSpatial(CallExport& call, ValueId x, const Ints& pads) {
  const size_t axes = pads.size() / 2;
  Ints all(2 * (axes + 2), 0);
  std::copy(pads.begin(), pads.begin() + axes, all.begin() + 2);
  std::copy(pads.begin() + axes, pads.end(), all.begin() + axes + 4);
  return call.Node("Pad", {x, call.Ints(all)});
}

// The padding, all begins and then all ends, with that which `ceil_mode` adds
// behind it: with it, rounding down gives as many windows.
absl::StatusOr<Ints> CeilPadding(CallExport& call, const Ints& kernel,
                                 const Ints& steps, const Ints& dilations,
                                 Ints pads, absl::Span<const int64_t> order) {
  const size_t axes = kernel.size();
  for (size_t i = 0; i < axes; ++i) {
    const Dim& in = call.ArgType(0)->dim(static_cast<int>(order[i + 2]));
    int64_t more = steps[i] - 1;
    if (in.is_const()) {
      const int64_t room = in.value() + pads[i] + pads[axes + i] -
                           (kernel[i] - 1) * dilations[i] - 1;
      more = room < 0 ? 0 : (steps[i] - room % steps[i]) % steps[i];
    }
    pads[axes + i] += more;
  }
  return pads;
}

// The windows of a pool, in the order of ONNX's axes.
struct PoolWindows {
  Ints kernel, strides, dilations;
  Ints pads;     // all begins, then all ends
  Ints extents;  // of the data; -1 if it is not known
};

// The sums of the windows of `x`, of int64: along one axis after the other, of
// slices, since ONNX Runtime has neither pools nor convolutions of int64.
ValueId SumsOfWindows(CallExport& call, ValueId x, const PoolWindows& windows) {
  if (!AllAre(windows.pads, 0)) x = PadSpatial(call, x, windows.pads);
  for (size_t axis = 0; axis < windows.kernel.size(); ++axis) {
    const int64_t dilation = windows.dilations[axis];
    const int64_t last = (windows.kernel[axis] - 1) * dilation;
    ValueId sum = kNoValue;
    for (int64_t at = 0; at <= last; at += dilation) {
      const int64_t end = at == last ? INT64_MAX : at - last;
      const ValueId part =
          call.Node("Slice", {x, call.Ints({at}), call.Ints({end}),
                              call.Ints({static_cast<int64_t>(axis) + 2}),
                              call.Ints({windows.strides[axis]})});
      sum = sum == kNoValue ? part : call.Node("Add", {sum, part});
    }
    x = sum;
  }
  return x;
}

// The numbers of elements of the data in each window, the padding left out.
absl::StatusOr<ValueId> CountsOfWindows(CallExport& call,
                                        const PoolWindows& windows) {
  const size_t axes = windows.kernel.size();
  Ints shape = {1, 1};
  std::vector<int64_t> counts = {1};
  for (size_t i = 0; i < axes; ++i) {
    const int64_t extent = windows.extents[i];
    if (extent < 0) {
      return absl::UnimplementedError(
          "of integers of unknown extents, with padding that does not count");
    }
    const int64_t span = (windows.kernel[i] - 1) * windows.dilations[i] + 1;
    const int64_t room =
        extent + windows.pads[i] + windows.pads[axes + i] - span;
    const int64_t outputs = room < 0 ? 0 : room / windows.strides[i] + 1;
    Ints along;
    for (int64_t o = 0; o < outputs; ++o) {
      int64_t count = 0;
      for (int64_t k = 0; k < windows.kernel[i]; ++k) {
        const int64_t at =
            o * windows.strides[i] + k * windows.dilations[i] - windows.pads[i];
        if (at >= 0 && at < extent) ++count;
      }
      along.push_back(std::max<int64_t>(count, 1));
    }
    Ints product;
    for (const int64_t a : counts) {
      for (const int64_t b : along) product.push_back(a * b);
    }
    counts = std::move(product);
    shape.push_back(outputs);
  }
  BATON_ASSIGN_OR_RETURN(Tensor tensor,
                         Tensor::FromValues<int64_t>(shape, counts));
  return call.TensorConstant(std::move(tensor));
}

// Means of windows of integers, cut off as in Relay.
absl::StatusOr<ValueId> IntegerMeans(CallExport& call, ValueId x,
                                     const PoolWindows& windows,
                                     bool counts_pads) {
  constexpr int64_t kMaxParts = 1000;
  int64_t parts = 0;
  int64_t elements = 1;
  for (const int64_t size : windows.kernel) {
    parts += size;
    if (size < 1 || parts > kMaxParts) {
      return absl::UnimplementedError("of integers, with so large a window");
    }
    elements *= size;
  }
  const DType dtype = call.ElementType(0);
  const DType wide = DType::Int(64);
  ValueId counts = call.TensorConstant(Tensor::Scalar<int64_t>(elements));
  if (!counts_pads && !AllAre(windows.pads, 0)) {
    BATON_ASSIGN_OR_RETURN(counts, CountsOfWindows(call, windows));
  }
  const ValueId sums = SumsOfWindows(call, call.Cast(x, dtype, wide), windows);
  return call.Cast(call.Node("Div", {sums, counts}), wide, dtype);
}

template <typename A>
absl::StatusOr<ValueId> IntegerPool(CallExport& call, ValueId x,
                                    bool count_include_pad) {
  const A& attrs = call.attrs<A>();
  const size_t axes = A().strides.size();
  PoolWindows windows;
  BATON_ASSIGN_OR_RETURN(windows.kernel,
                         ForAxes(attrs.pool_size, axes, "pool_size"));
  BATON_ASSIGN_OR_RETURN(windows.strides,
                         ForAxes(attrs.strides, axes, "strides"));
  BATON_ASSIGN_OR_RETURN(windows.dilations,
                         ForAxes(attrs.dilation, axes, "dilation"));
  BATON_ASSIGN_OR_RETURN(windows.pads, FullPadding(attrs.padding, axes));
  BATON_ASSIGN_OR_RETURN(const Ints order, AxisOrder(attrs.layout, A().layout));
  for (size_t i = 0; i < axes; ++i) {
    const Dim& dim = call.ArgType(0)->dim(static_cast<int>(order[i + 2]));
    windows.extents.push_back(dim.is_const() ? dim.value() : -1);
  }
  if (attrs.ceil_mode) {
    BATON_ASSIGN_OR_RETURN(
        windows.pads,
        CeilPadding(call, windows.kernel, windows.strides, windows.dilations,
                    std::move(windows.pads), order));
  }
  return IntegerMeans(call, x, windows, count_include_pad);
}

template <typename A, const PoolRow& kRow>
absl::StatusOr<Values> WindowPool(CallExport& call) {
  constexpr bool kIsAverage = &kRow == &kAveragePool;
  const A& attrs = call.attrs<A>();
  bool count_include_pad = false;
  if constexpr (kIsAverage) count_include_pad = attrs.count_include_pad;
  const A defaults;
  const size_t axes = defaults.strides.size();
  BATON_ASSIGN_OR_RETURN(
      ValueId x, InLayout(call, call.Arg(0), attrs.layout, defaults.layout));
  const std::string& out =
      attrs.out_layout.empty() ? attrs.layout : attrs.out_layout;
  if (kIsAverage && !call.ElementType(0).is_float()) {
    BATON_ASSIGN_OR_RETURN(const ValueId means,
                           IntegerPool<A>(call, x, count_include_pad));
    BATON_ASSIGN_OR_RETURN(const ValueId laid_out,
                           InLayout(call, means, defaults.layout, out));
    return Values{laid_out};
  }
  BATON_ASSIGN_OR_RETURN(const Ints kernel,
                         ForAxes(attrs.pool_size, axes, "pool_size"));
  BATON_ASSIGN_OR_RETURN(const Ints dilation,
                         ForAxes(attrs.dilation, axes, "dilation"));
  if (kIsAverage && !AllAre(dilation, 1)) {
    BATON_RETURN_IF_ERROR(call.Needs(19));
  }
  NodeAttributes attributes;
  attributes.Ints("kernel_shape", kernel);
  BATON_ASSIGN_OR_RETURN(Ints pads, FullPadding(attrs.padding, axes));
  // From opset 19 on, ONNX Runtime 1.23.2 counts as if the padding behind axis
  // i were number 2 * i + 1 of them all, as it would be if they were in pairs.
  const auto is_miscounted = [&] {
    bool result = false;
    for (size_t i = 0; i < axes; ++i) {
      result = result || pads[2 * i + 1] < pads[axes + i];
    }
    return result && call.opset() >= 19;
  };
  BATON_ASSIGN_OR_RETURN(const Ints steps,
                         ForAxes(attrs.strides, axes, "strides"));
  BATON_ASSIGN_OR_RETURN(const Ints order,
                         AxisOrder(attrs.layout, defaults.layout));
  // Before opset 19, ONNX Runtime 1.23.2 counts what ceil_mode adds where there
  // is no padding. It does not count padding.
  bool counts_ceil = kIsAverage && !count_include_pad && attrs.ceil_mode &&
                     AllAre(pads, 0) && call.opset() < 19;
  for (size_t i = 0; i < axes; ++i) {
    counts_ceil = counts_ceil && kernel[i] >= steps[i];
  }
  if (counts_ceil) {
    BATON_ASSIGN_OR_RETURN(pads, CeilPadding(call, kernel, steps, dilation,
                                             std::move(pads), order));
    attributes.Ints("pads", pads).Ints("strides", steps);
  } else if (count_include_pad && (attrs.ceil_mode || is_miscounted())) {
    // Relay counts what ceil_mode adds as padding, ONNX does not: it becomes
    // padding, or data where a kernel is not wider than its padding.
    if (attrs.ceil_mode) {
      BATON_ASSIGN_OR_RETURN(pads, CeilPadding(call, kernel, steps, dilation,
                                               std::move(pads), order));
    }
    bool fits = !is_miscounted();
    for (size_t i = 0; i < 2 * axes; ++i) {
      fits = fits && pads[i] < kernel[i % axes];
    }
    if (!fits) {
      x = PadSpatial(call, x, pads);
      pads.assign(2 * axes, 0);
    }
    if (!AllAre(pads, 0)) attributes.Int("count_include_pad", 1);
    if (!AllAre(dilation, 1)) attributes.Ints("dilations", dilation);
    attributes.Ints("pads", pads).Ints("strides", steps);
  } else {
    if (attrs.ceil_mode) attributes.Int("ceil_mode", 1);
    if (count_include_pad) attributes.Int("count_include_pad", 1);
    BATON_RETURN_IF_ERROR(AddWindow(attrs.strides, attrs.padding,
                                    attrs.dilation, axes, attributes));
  }
  BATON_ASSIGN_OR_RETURN(const ValueId result,
                         PoolNode(call, kRow.onnx, x, std::move(attributes)));
  BATON_ASSIGN_OR_RETURN(const ValueId laid_out,
                         InLayout(call, result, defaults.layout, out));
  return Values{laid_out};
}

template <const PoolRow& kRow>
absl::StatusOr<Values> GlobalPool(CallExport& call) {
  const auto& attrs = call.attrs<relay::GlobalPool2DAttrs>();
  BATON_ASSIGN_OR_RETURN(const ValueId x,
                         InLayout(call, call.Arg(0), attrs.layout, "NCHW"));
  const std::string& out =
      attrs.out_layout.empty() ? attrs.layout : attrs.out_layout;
  ValueId pooled = kNoValue;
  if (&kRow == &kAveragePool && !call.ElementType(0).is_float()) {
    BATON_ASSIGN_OR_RETURN(const Ints order, AxisOrder(attrs.layout, "NCHW"));
    PoolWindows windows = {
        .strides = {1, 1}, .dilations = {1, 1}, .pads = {0, 0, 0, 0}};
    for (size_t i = 2; i < order.size(); ++i) {
      const Dim& dim = call.ArgType(0)->dim(static_cast<int>(order[i]));
      if (!dim.is_const()) {
        return absl::UnimplementedError("of integers of unknown extents");
      }
      windows.kernel.push_back(dim.value());
    }
    windows.extents = windows.kernel;
    BATON_ASSIGN_OR_RETURN(pooled, IntegerMeans(call, x, windows, true));
  } else {
    BATON_ASSIGN_OR_RETURN(pooled, PoolNode(call, kRow.global, x));
  }
  BATON_ASSIGN_OR_RETURN(const ValueId result,
                         InLayout(call, pooled, "NCHW", out));
  return Values{result};
}

// A window for each element of the result: the same for all if the extents of
// the data are multiples.
template <typename A, const PoolRow& kRow>
absl::StatusOr<Values> AdaptivePool(CallExport& call) {
  const A& attrs = call.attrs<A>();
  const std::string layout = A().layout;
  BATON_ASSIGN_OR_RETURN(const Ints order, AxisOrder(attrs.layout, layout));
  BATON_ASSIGN_OR_RETURN(const Ints shape, call.Shape(0));
  BATON_ASSIGN_OR_RETURN(const Ints result_shape, call.ResultShape());
  Ints kernel;
  bool is_global = true;
  for (size_t i = 2; i < order.size(); ++i) {
    const int64_t extent = shape[order[i]];
    const int64_t wanted = result_shape[order[i]];
    if (wanted < 1 || extent % wanted != 0) {
      return absl::UnimplementedError(absl::StrCat(
          "from an extent of ", extent, " to ", wanted, ", no divisor of it"));
    }
    kernel.push_back(extent / wanted);
    is_global = is_global && wanted == 1;
  }
  BATON_ASSIGN_OR_RETURN(const ValueId x,
                         InLayout(call, call.Arg(0), attrs.layout, layout));
  ValueId pooled = kNoValue;
  if (&kRow == &kAveragePool && !call.ElementType(0).is_float()) {
    const PoolWindows windows = {.kernel = kernel,
                                 .strides = kernel,
                                 .dilations = Ints(kernel.size(), 1),
                                 .pads = Ints(2 * kernel.size(), 0),
                                 .extents = Ints(kernel.size(), -1)};
    BATON_ASSIGN_OR_RETURN(pooled, IntegerMeans(call, x, windows, true));
  } else {
    NodeAttributes attributes;
    if (!is_global) {
      attributes.Ints("kernel_shape", kernel);
      attributes.Ints("strides", kernel);
    }
    BATON_ASSIGN_OR_RETURN(
        pooled, PoolNode(call, is_global ? kRow.global : kRow.onnx, x,
                         std::move(attributes)));
  }
  const std::string& out =
      attrs.out_layout.empty() ? attrs.layout : attrs.out_layout;
  BATON_ASSIGN_OR_RETURN(const ValueId result,
                         InLayout(call, pooled, layout, out));
  return Values{result};
}

// --- Products --------------------------------------------------------------

// An operand of a product of matrices and whether it is transposed, of an
// expression that may be a transposition of the last two axes.
struct Factor {
  ValueId value;
  bool transposed;
};

Factor FactorOf(CallExport& call, int i, bool transposed) {
  const Expr& definition = call.Definition(i);
  const int rank = call.Rank(i);
  if (rank >= 2 && relay::IsCallTo(definition, BATON_OP("transpose"))) {
    const relay::CallNode* transpose = definition.As<relay::CallNode>();
    const auto* attrs = transpose->attrs_as<relay::TransposeAttrs>();
    const Ints axes = WithLastTwoSwapped(rank);
    Ints given;
    if (attrs != nullptr && attrs->axes.has_value()) {
      for (int64_t axis : *attrs->axes) {
        given.push_back(FromFront(axis, rank));
      }
    } else if (rank == 2) {
      given = axes;
    }
    if (given == axes) return {call.Of(transpose->arg(0)), !transposed};
  }
  return {call.Arg(i), transposed};
}

// The product of integers: of bytes that are less a zero point, or as it is.
absl::StatusOr<Values> IntegerProduct(CallExport& call, bool transpose_a,
                                      bool transpose_b) {
  const DType dtype = call.ResultType()->dtype();
  const auto plain = [&call](ValueId value, int i, bool transposed) {
    return transposed ? call.Transpose(value, WithLastTwoSwapped(call.Rank(i)))
                      : value;
  };
  const absl::StatusOr<std::vector<ByteFactor>> a =
      ByteFactorsWithZeroOf(call, 0);
  const absl::StatusOr<std::vector<ByteFactor>> b =
      ByteFactorsWithZeroOf(call, 1);
  if (a.ok() && b.ok()) {
    const ValueId result = SumOfProducts(
        call, *a, *b, [&](const ByteFactor& x, const ByteFactor& y) {
          return call.Node("MatMulInteger", {plain(x.value, 0, transpose_a),
                                             plain(y.value, 1, transpose_b),
                                             ZeroOf(call, x), ZeroOf(call, y)});
        });
    return Values{call.Cast(result, DType::Int(32), dtype)};
  }
  const ValueId lhs =
      plain(call.Cast(call.Arg(0), call.ElementType(0), dtype), 0, transpose_a);
  const ValueId rhs =
      plain(call.Cast(call.Arg(1), call.ElementType(1), dtype), 1, transpose_b);
  return Values{call.Node("MatMul", {lhs, rhs})};
}

// The product of two operands whose last two axes are matrices.
absl::StatusOr<Values> Product(CallExport& call, bool transpose_a,
                               bool transpose_b) {
  const DType dtype = call.ResultType()->dtype();
  if (!dtype.is_float() && dtype.bits() < 32) {
    return absl::UnimplementedError(absl::StrCat("to ", dtype.ToString()));
  }
  if (!dtype.is_float()) return IntegerProduct(call, transpose_a, transpose_b);
  Factor a = FactorOf(call, 0, transpose_a);
  Factor b = FactorOf(call, 1, transpose_b);
  a.value = call.Cast(a.value, call.ElementType(0), dtype);
  b.value = call.Cast(b.value, call.ElementType(1), dtype);
  if (call.Rank(0) == 2 && call.Rank(1) == 2) {
    NodeAttributes attributes;
    if (a.transposed) attributes.Int("transA", 1);
    if (b.transposed) attributes.Int("transB", 1);
    return Values{call.Node("Gemm", {a.value, b.value}, std::move(attributes))};
  }
  const auto plain = [&call](const Factor& factor, int rank) {
    if (!factor.transposed) return factor.value;
    return call.Transpose(factor.value, WithLastTwoSwapped(rank));
  };
  const ValueId lhs = plain(a, call.Rank(0));
  const ValueId rhs = plain(b, call.Rank(1));
  return Values{call.Node("MatMul", {lhs, rhs})};
}

absl::StatusOr<Values> Dense(CallExport& call) {
  return Product(call, false, true);
}

absl::StatusOr<Values> Matmul(CallExport& call) {
  const auto& attrs = call.attrs<relay::MatmulAttrs>();
  return Product(call, attrs.transpose_a, attrs.transpose_b);
}

absl::StatusOr<Values> BatchMatmul(CallExport& call) {
  const auto& attrs = call.attrs<relay::BatchMatmulAttrs>();
  return Product(call, attrs.transpose_a, attrs.transpose_b);
}

// --- Activation ------------------------------------------------------------

// A vector along an axis of a tensor of that rank.
ValueId AlongAxis(CallExport& call, ValueId vector, int rank, int64_t axis) {
  axis = FromFront(axis, rank);
  Ints axes;
  for (int i = 1; i < rank - axis; ++i) axes.push_back(i);
  return call.Unsqueeze(vector, axes);
}

absl::StatusOr<Values> BiasAdd(CallExport& call) {
  const int axis = call.attrs<relay::BiasAddAttrs>().axis;
  return Values{call.Node(
      "Add", {call.Arg(0), AlongAxis(call, call.Arg(1), call.Rank(0), axis)})};
}

absl::StatusOr<Values> PRelu(CallExport& call) {
  const int axis = call.attrs<relay::PReluAttrs>().axis;
  return Values{call.Node(
      "PRelu",
      {call.Arg(0), AlongAxis(call, call.Arg(1), call.Rank(0), axis)})};
}

absl::StatusOr<Values> LeakyRelu(CallExport& call) {
  return Values{
      call.Node("LeakyRelu", {call.Arg(0)},
                NodeAttributes().Float(
                    "alpha", call.attrs<relay::LeakyReluAttrs>().alpha))};
}

template <OpName kName>
absl::StatusOr<Values> Softmax(CallExport& call) {
  return Values{call.Node(
      kName.view(), {call.Arg(0)},
      NodeAttributes().Int("axis", call.attrs<relay::SoftmaxAttrs>().axis))};
}

absl::StatusOr<Values> Dropout(CallExport& call) {
  const ValueId x = call.Arg(0);
  if (call.call().tuple_type() == nullptr) return Values{x};
  // Nothing is dropped: the mask is ones.
  const ValueId ones = call.Node(
      "Expand", {call.Scalar(1, call.ElementType(0)), call.Node("Shape", {x})});
  return Values{x, ones};
}

// --- Normalization ---------------------------------------------------------

// `vector`, or as many of a number if it has no part in the result.
absl::StatusOr<ValueId> VectorOr(CallExport& call, int i, bool is_used,
                                 double otherwise) {
  if (is_used) return call.Arg(i);
  BATON_ASSIGN_OR_RETURN(const Ints shape, call.Shape(i));
  BATON_ASSIGN_OR_RETURN(MutableTensor values,
                         MutableTensor::Create(call.ElementType(i), shape));
  VisitDType(values.dtype(), [&]<typename T>() {
    for (T& value : values.span<T>()) value = static_cast<T>(otherwise);
  });
  return call.TensorConstant(std::move(values).Freeze());
}

absl::StatusOr<Values> BatchNorm(CallExport& call) {
  const auto& attrs = call.attrs<relay::BatchNormAttrs>();
  const int rank = call.Rank(0);
  const int64_t axis = FromFront(attrs.axis, rank);
  BATON_ASSIGN_OR_RETURN(const ValueId gamma,
                         VectorOr(call, 1, attrs.scale, 1));
  BATON_ASSIGN_OR_RETURN(const ValueId beta,
                         VectorOr(call, 2, attrs.center, 0));
  const int place = rank == 1 ? 0 : 1;
  ValueId x = WithAxisAt(call, call.Arg(0), rank, axis, place);
  x = call.Node("BatchNormalization",
                {x, gamma, beta, call.Arg(3), call.Arg(4)},
                NodeAttributes().Float("epsilon", attrs.epsilon));
  return Values{WithAxisAt(call, x, rank, axis, place, true), call.Arg(3),
                call.Arg(4)};
}

absl::StatusOr<Values> InstanceNorm(CallExport& call) {
  const auto& attrs = call.attrs<relay::InstanceNormAttrs>();
  const int rank = call.Rank(0);
  const int64_t axis = FromFront(attrs.axis, rank);
  if (rank < 3) return absl::UnimplementedError("without spatial axes");
  BATON_ASSIGN_OR_RETURN(const ValueId gamma,
                         VectorOr(call, 1, attrs.scale, 1));
  BATON_ASSIGN_OR_RETURN(const ValueId beta,
                         VectorOr(call, 2, attrs.center, 0));
  ValueId x = WithAxisAt(call, call.Arg(0), rank, axis, 1);
  x = call.Node("InstanceNormalization", {x, gamma, beta},
                NodeAttributes().Float("epsilon", attrs.epsilon));
  return Values{WithAxisAt(call, x, rank, axis, 1, true)};
}

// The mean over axes that stay, with extent 1.
ValueId MeanOver(CallExport& call, ValueId x, absl::Span<const int64_t> axes) {
  if (call.opset() >= 18) {
    return call.Node("ReduceMean", {x, call.Ints(axes)});
  }
  return call.Node("ReduceMean", {x}, NodeAttributes().Ints("axes", axes));
}

// (x - mean) / sqrt(variance + epsilon).
ValueId Standardized(CallExport& call, ValueId x,
                     absl::Span<const int64_t> axes, double epsilon,
                     DType dtype) {
  const ValueId centered = call.Node("Sub", {x, MeanOver(call, x, axes)});
  const ValueId variance =
      MeanOver(call, call.Node("Mul", {centered, centered}), axes);
  const ValueId deviation = call.Node(
      "Sqrt", {call.Node("Add", {variance, call.Scalar(epsilon, dtype)})});
  return call.Node("Div", {centered, deviation});
}

absl::StatusOr<Values> LayerNorm(CallExport& call) {
  const auto& attrs = call.attrs<relay::LayerNormAttrs>();
  const int rank = call.Rank(0);
  const int64_t axis = FromFront(attrs.axis, rank);
  if (axis == rank - 1 && call.opset() >= 17 && attrs.scale) {
    Values inputs = {call.Arg(0), call.Arg(1)};
    if (attrs.center) inputs.push_back(call.Arg(2));
    return Values{call.Node(
        "LayerNormalization", inputs,
        NodeAttributes().Int("axis", -1).Float("epsilon", attrs.epsilon))};
  }
  ValueId result = Standardized(call, call.Arg(0), {axis}, attrs.epsilon,
                                call.ElementType(0));
  if (attrs.scale) {
    result =
        call.Node("Mul", {result, AlongAxis(call, call.Arg(1), rank, axis)});
  }
  if (attrs.center) {
    result =
        call.Node("Add", {result, AlongAxis(call, call.Arg(2), rank, axis)});
  }
  return Values{result};
}

absl::StatusOr<Values> GroupNorm(CallExport& call) {
  const auto& attrs = call.attrs<relay::GroupNormAttrs>();
  const int rank = call.Rank(0);
  if (FromFront(attrs.axis, rank) != 1 || attrs.num_groups < 1) {
    return absl::UnimplementedError("with channels on another axis than 1");
  }
  const ValueId x = call.Arg(0);
  const DType dtype = call.ElementType(0);
  if (call.opset() >= 21 && attrs.scale && attrs.center && rank >= 2) {
    return Values{call.Node("GroupNormalization", {x, call.Arg(1), call.Arg(2)},
                            NodeAttributes()
                                .Float("epsilon", attrs.epsilon)
                                .Int("num_groups", attrs.num_groups))};
  }
  // Groups are instances; 0 keeps an extent.
  const absl::Span<const Dim> dims = call.ArgType(0)->shape();
  const ValueId groups = call.Reshape(x, {0, attrs.num_groups, -1});
  const auto ones = [&](double value) -> absl::StatusOr<ValueId> {
    BATON_ASSIGN_OR_RETURN(
        MutableTensor values,
        MutableTensor::Create(dtype, Ints{attrs.num_groups}));
    VisitDType(dtype, [&]<typename T>() {
      for (T& element : values.span<T>()) element = static_cast<T>(value);
    });
    return call.TensorConstant(std::move(values).Freeze());
  };
  BATON_ASSIGN_OR_RETURN(const ValueId one, ones(1));
  BATON_ASSIGN_OR_RETURN(const ValueId zero, ones(0));
  ValueId result = call.Node("InstanceNormalization", {groups, one, zero},
                             NodeAttributes().Float("epsilon", attrs.epsilon));
  Ints shape = {0};
  for (int i = 1; i < rank; ++i) {
    shape.push_back(dims[i].is_const() ? dims[i].value() : -1);
  }
  result = std::count(shape.begin(), shape.end(), -1) > 1
               ? call.Node("Reshape", {result, call.Node("Shape", {x})})
               : call.Reshape(result, shape);
  if (attrs.scale) {
    result = call.Node("Mul", {result, AlongAxis(call, call.Arg(1), rank, 1)});
  }
  if (attrs.center) {
    result = call.Node("Add", {result, AlongAxis(call, call.Arg(2), rank, 1)});
  }
  return Values{result};
}

absl::StatusOr<Values> Lrn(CallExport& call) {
  const auto& attrs = call.attrs<relay::LRNAttrs>();
  const int rank = call.Rank(0);
  const int64_t axis = FromFront(attrs.axis, rank);
  // Types do not say that there is such an axis.
  if (rank < 2 || axis < 0 || axis >= rank) {
    return absl::UnimplementedError(
        absl::StrCat("along axis ", attrs.axis, " of rank ", rank));
  }
  ValueId x = WithAxisAt(call, call.Arg(0), rank, axis, 1);
  x = call.Node("LRN", {x},
                NodeAttributes()
                    .Float("alpha", attrs.alpha)
                    .Float("beta", attrs.beta)
                    .Float("bias", attrs.bias)
                    .Int("size", attrs.size));
  return Values{WithAxisAt(call, x, rank, axis, 1, true)};
}

absl::StatusOr<Values> L2Normalize(CallExport& call) {
  const auto& attrs = call.attrs<relay::L2NormalizeAttrs>();
  const ValueId x = call.Arg(0);
  const ValueId sum =
      call.Node("ReduceSum", {call.Node("Mul", {x, x}), call.Ints(attrs.axis)},
                NodeAttributes().Int("keepdims", 1));
  const ValueId bounded =
      call.Node("Max", {sum, call.Scalar(attrs.eps, call.ElementType(0))});
  return Values{call.Node("Div", {x, call.Node("Sqrt", {bounded})})};
}

// --- Space -----------------------------------------------------------------

// `pads`: those in front of all axes, then those behind them.
Values PadBy(CallExport& call, ValueId pads, absl::string_view mode,
             int value_arg) {
  Values inputs = {call.Arg(0), pads};
  if (mode == "constant" && call.num_args() > value_arg) {
    ValueId value = call.Cast(call.Arg(value_arg), call.ElementType(value_arg),
                              call.ElementType(0));
    if (call.Rank(value_arg) != 0) value = call.Reshape(value, {});
    inputs.push_back(value);
  }
  return {call.Node("Pad", inputs, NodeAttributes().String("mode", mode))};
}

absl::StatusOr<Values> PadWith(CallExport& call,
                               const std::vector<std::vector<int64_t>>& widths,
                               absl::string_view mode) {
  Ints pads;
  for (const auto& width : widths) pads.push_back(width[0]);
  for (const auto& width : widths) pads.push_back(width[1]);
  return PadBy(call, call.Ints(pads), mode, 1);
}

absl::StatusOr<Values> Pad(CallExport& call) {
  const auto& attrs = call.attrs<relay::PadAttrs>();
  return PadWith(call, attrs.pad_width, attrs.pad_mode);
}

absl::StatusOr<Values> DynPad(CallExport& call) {
  const ValueId widths =
      call.Cast(call.Arg(1), call.ElementType(1), DType::Int(64));
  return PadBy(call, call.Reshape(call.Transpose(widths, {1, 0}), {-1}),
               call.attrs<relay::PadAttrs>().pad_mode, 2);
}

absl::StatusOr<Values> MirrorPad(CallExport& call) {
  const auto& attrs = call.attrs<relay::MirrorPadAttrs>();
  if (attrs.mode != "REFLECT") {
    return absl::UnimplementedError(absl::StrCat("the mode ", attrs.mode));
  }
  return PadWith(call, attrs.pad_width, "reflect");
}

absl::StatusOr<Values> BatchFlatten(CallExport& call) {
  return Values{
      call.Node("Flatten", {call.Arg(0)}, NodeAttributes().Int("axis", 1))};
}

absl::StatusOr<Values> DepthToSpace(CallExport& call) {
  const auto& attrs = call.attrs<relay::SubPixelAttrs>();
  BATON_ASSIGN_OR_RETURN(ValueId x,
                         InLayout(call, call.Arg(0), attrs.layout, "NCHW"));
  x = call.Node("DepthToSpace", {x},
                NodeAttributes()
                    .Int("blocksize", attrs.block_size)
                    .String("mode", attrs.mode == "DCR" ? "DCR" : "CRD"));
  BATON_ASSIGN_OR_RETURN(x, InLayout(call, x, "NCHW", attrs.layout));
  return Values{x};
}

absl::StatusOr<Values> SpaceToDepth(CallExport& call) {
  const auto& attrs = call.attrs<relay::SubPixelAttrs>();
  BATON_ASSIGN_OR_RETURN(ValueId x,
                         InLayout(call, call.Arg(0), attrs.layout, "NCHW"));
  x = call.Node("SpaceToDepth", {x},
                NodeAttributes().Int("blocksize", attrs.block_size));
  BATON_ASSIGN_OR_RETURN(x, InLayout(call, x, "NCHW", attrs.layout));
  return Values{x};
}

// The regions' images and boxes are two operands.
absl::StatusOr<Values> RoiAlign(CallExport& call, bool half_pixel) {
  const auto& attrs = call.attrs<relay::ROIAlignAttrs>();
  if (attrs.mode != "avg") {
    return absl::UnimplementedError("ONNX takes the maximum of other numbers");
  }
  if (half_pixel) BATON_RETURN_IF_ERROR(call.Needs(16));
  BATON_ASSIGN_OR_RETURN(const Ints size,
                         KnownDims(attrs.pooled_size, "pooled_size"));
  BATON_ASSIGN_OR_RETURN(ValueId x,
                         InLayout(call, call.Arg(0), attrs.layout, "NCHW"));
  const ValueId axis = call.Ints({1});
  const ValueId image = call.Cast(
      call.Node("Gather", {call.Arg(1), call.Scalar(0, DType::Int(64))},
                NodeAttributes().Int("axis", 1)),
      call.ElementType(1), DType::Int(64));
  const ValueId boxes = call.Cast(
      call.Node("Slice", {call.Arg(1), call.Ints({1}), call.Ints({5}), axis}),
      call.ElementType(1), call.ElementType(0));
  NodeAttributes attributes;
  if (call.opset() >= 16) {
    attributes.String("coordinate_transformation_mode",
                      half_pixel ? "half_pixel" : "output_half_pixel");
  }
  attributes.Int("output_height", size[0])
      .Int("output_width", size[1])
      .Int("sampling_ratio", std::max(attrs.sample_ratio, 0))
      .Float("spatial_scale", attrs.spatial_scale);
  x = call.Node("RoiAlign", {x, boxes, image}, std::move(attributes));
  BATON_ASSIGN_OR_RETURN(x, InLayout(call, x, "NCHW", attrs.layout));
  return Values{x};
}

template <bool kHalfPixel>
absl::StatusOr<Values> RoiAlign(CallExport& call) {
  return RoiAlign(call, kHalfPixel);
}

absl::StatusOr<Values> GridSample(CallExport& call) {
  const auto& attrs = call.attrs<relay::GridSampleAttrs>();
  BATON_RETURN_IF_ERROR(call.Needs(16));
  if (call.Rank(0) != 4 || attrs.layout != "NCHW") {
    return absl::UnimplementedError(absl::StrCat("the layout ", attrs.layout));
  }
  // Coordinates are along axis 1 here, along the last axis there.
  const ValueId grid = call.Transpose(call.Arg(1), {0, 2, 3, 1});
  const bool is_new = call.opset() >= 20;
  const std::string mode = attrs.method == "bilinear" && is_new  ? "linear"
                           : attrs.method == "bicubic" && is_new ? "cubic"
                                                                 : attrs.method;
  return Values{call.Node("GridSample", {call.Arg(0), grid},
                          NodeAttributes()
                              .Int("align_corners", attrs.align_corners ? 1 : 0)
                              .String("mode", mode)
                              .String("padding_mode", attrs.padding_mode))};
}

// --- Registrations ---------------------------------------------------------

BATON_EXTEND_OP("nn.conv1d").Set(OnnxExporters(), Conv<relay::Conv1DAttrs>);
BATON_EXTEND_OP("nn.conv2d").Set(OnnxExporters(), Conv<relay::Conv2DAttrs>);
BATON_EXTEND_OP("nn.conv3d").Set(OnnxExporters(), Conv<relay::Conv3DAttrs>);
BATON_EXTEND_OP("nn.conv1d_transpose")
    .Set(OnnxExporters(), ConvTranspose<relay::Conv1DTransposeAttrs>);
BATON_EXTEND_OP("nn.conv2d_transpose")
    .Set(OnnxExporters(), ConvTranspose<relay::Conv2DTransposeAttrs>);
BATON_EXTEND_OP("nn.conv3d_transpose")
    .Set(OnnxExporters(), ConvTranspose<relay::Conv3DTransposeAttrs>);
// The pools of Relay that are of one kind and have so many axes, `1d`.
template <const PoolRow& kRow, typename A, typename AdaptiveA>
void SetPools(absl::string_view axes) {
  OpExtension(absl::StrCat("nn.", kRow.relay, axes))
      .Set(OnnxExporters(), WindowPool<A, kRow>);
  OpExtension(absl::StrCat("nn.adaptive_", kRow.relay, axes))
      .Set(OnnxExporters(), AdaptivePool<AdaptiveA, kRow>);
}

[[maybe_unused]] const bool pools_are_registered = [] {
  using relay::AdaptivePool1DAttrs;
  using relay::AdaptivePool2DAttrs;
  using relay::AdaptivePool3DAttrs;
  SetPools<kMaxPool, relay::MaxPool1DAttrs, AdaptivePool1DAttrs>("1d");
  SetPools<kMaxPool, relay::MaxPool2DAttrs, AdaptivePool2DAttrs>("2d");
  SetPools<kMaxPool, relay::MaxPool3DAttrs, AdaptivePool3DAttrs>("3d");
  SetPools<kAveragePool, relay::AvgPool1DAttrs, AdaptivePool1DAttrs>("1d");
  SetPools<kAveragePool, relay::AvgPool2DAttrs, AdaptivePool2DAttrs>("2d");
  SetPools<kAveragePool, relay::AvgPool3DAttrs, AdaptivePool3DAttrs>("3d");
  return true;
}();

BATON_EXTEND_OP("nn.global_avg_pool2d")
    .Set(OnnxExporters(), GlobalPool<kAveragePool>);
BATON_EXTEND_OP("nn.global_max_pool2d")
    .Set(OnnxExporters(), GlobalPool<kMaxPool>);
BATON_EXTEND_OP("nn.dense").Set(OnnxExporters(), Dense);
BATON_EXTEND_OP("nn.matmul").Set(OnnxExporters(), Matmul);
BATON_EXTEND_OP("nn.batch_matmul").Set(OnnxExporters(), BatchMatmul);
BATON_EXTEND_OP("nn.bias_add").Set(OnnxExporters(), BiasAdd);
BATON_EXTEND_OP("nn.prelu").Set(OnnxExporters(), PRelu);
BATON_EXTEND_OP("nn.leaky_relu").Set(OnnxExporters(), LeakyRelu);
BATON_EXTEND_OP("nn.softmax").Set(OnnxExporters(), Softmax<"Softmax">);
BATON_EXTEND_OP("nn.fast_softmax").Set(OnnxExporters(), Softmax<"Softmax">);
BATON_EXTEND_OP("nn.log_softmax").Set(OnnxExporters(), Softmax<"LogSoftmax">);
BATON_EXTEND_OP("nn.dropout").Set(OnnxExporters(), Dropout);
BATON_EXTEND_OP("nn.batch_norm").Set(OnnxExporters(), BatchNorm);
BATON_EXTEND_OP("nn.instance_norm").Set(OnnxExporters(), InstanceNorm);
BATON_EXTEND_OP("nn.layer_norm").Set(OnnxExporters(), LayerNorm);
BATON_EXTEND_OP("nn.group_norm").Set(OnnxExporters(), GroupNorm);
BATON_EXTEND_OP("nn.lrn").Set(OnnxExporters(), Lrn);
BATON_EXTEND_OP("nn.l2_normalize").Set(OnnxExporters(), L2Normalize);
BATON_EXTEND_OP("nn.pad").Set(OnnxExporters(), Pad);
BATON_EXTEND_OP("dyn.nn.pad").Set(OnnxExporters(), DynPad);
BATON_EXTEND_OP("vision.roi_align").Set(OnnxExporters(), RoiAlign<false>);
BATON_EXTEND_OP("vision.roi_align_half_pixel")
    .Set(OnnxExporters(), RoiAlign<true>);
BATON_EXTEND_OP("nn.mirror_pad").Set(OnnxExporters(), MirrorPad);
BATON_EXTEND_OP("nn.batch_flatten").Set(OnnxExporters(), BatchFlatten);
BATON_EXTEND_OP("nn.depth_to_space").Set(OnnxExporters(), DepthToSpace);
BATON_EXTEND_OP("nn.space_to_depth").Set(OnnxExporters(), SpaceToDepth);
BATON_EXTEND_OP("image.grid_sample").Set(OnnxExporters(), GridSample);

}  // namespace
}  // namespace baton::onnx
