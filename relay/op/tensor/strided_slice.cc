#include "baton/relay/op/tensor/strided_slice.h"

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <vector>

#include "absl/container/inlined_vector.h"
#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/str_cat.h"
#include "absl/types/span.h"
#include "baton/base/status_macros.h"
#include "baton/ir/type.h"
#include "baton/relay/op/dim_math.h"
#include "baton/relay/op/tensor/indexing.h"

namespace baton::relay {
namespace {

constexpr int64_t kFarEnd = std::numeric_limits<int64_t>::max();

// An index into an axis of `extent` elements, counted from the front and
// limited to the axis.
int64_t LimitIndex(int64_t index, int64_t extent, int64_t stride) {
  if (index < 0) index += extent;
  const int64_t low = stride < 0 ? -1 : 0;
  const int64_t high = stride < 0 ? extent - 1 : extent;
  return std::min(std::max(index, low), high);
}

}  // namespace

absl::StatusOr<absl::InlinedVector<AxisSlice, 6>> SlicesOf(
    absl::Span<const Dim> shape, const StridedSliceAttrs& attrs,
    CrossedEnds crossed) {
  const auto error = [&](const auto&... why) {
    return absl::InvalidArgumentError(
        absl::StrCat(why..., " (shape ", ShapeToString(shape), ")"));
  };
  if (!attrs.begin.has_value() || !attrs.end.has_value() ||
      !attrs.strides.has_value()) {
    return error("begin, end and strides must be given");
  }
  const std::vector<int64_t>& begins = *attrs.begin;
  const std::vector<int64_t>& ends = *attrs.end;
  const std::vector<int64_t>& strides = *attrs.strides;
  const bool sizes = attrs.slice_mode == "size";
  if (!sizes && attrs.slice_mode != "end") {
    return error("slice_mode=\"", attrs.slice_mode,
                 "\" is neither \"end\" nor \"size\"");
  }
  const int rank = static_cast<int>(shape.size());
  size_t count = shape.size();
  if (attrs.axes.has_value()) {
    count = attrs.axes->size();
    if (begins.size() != count || ends.size() != count ||
        strides.size() != count) {
      return error("axes, begin, end and strides must be equally long");
    }
  } else if (begins.size() > count || ends.size() > count) {
    return error("begin or end is longer than the shape");
  }
  absl::InlinedVector<AxisSlice, 6> slices;
  absl::InlinedVector<bool, 6> seen(shape.size(), false);
  for (size_t i = 0; i < count; ++i) {
    AxisSlice slice;
    const int64_t axis =
        attrs.axes.has_value() ? (*attrs.axes)[i] : static_cast<int64_t>(i);
    if (axis < -rank || axis >= rank)
      return error("axis ", axis, " is out of range");
    slice.axis = static_cast<int>(axis < 0 ? axis + rank : axis);
    bool& is_repeated = seen[static_cast<size_t>(slice.axis)];
    if (is_repeated) return error("axis ", axis, " is repeated");
    is_repeated = true;
    // With sizes, strides do not count.
    slice.stride = sizes || i >= strides.size() ? 1 : strides[i];
    if (slice.stride == 0 || slice.stride == -kFarEnd - 1) {
      return error("stride ", slice.stride, " on axis ", axis);
    }
    slice.begin =
        i < begins.size() ? begins[i] : (slice.stride > 0 ? 0 : kFarEnd);
    if (i >= ends.size() || (sizes && ends[i] < 0)) {
      slice.end = slice.stride > 0 ? kFarEnd : 0;
    } else if (!sizes) {
      slice.end = ends[i];
    } else if (__builtin_add_overflow(slice.begin, ends[i], &slice.end)) {
      return error("size ", ends[i], " on axis ", axis, " is out of range");
    }
    const Dim& extent = shape[slice.axis];
    if (extent.is_const()) {
      const int64_t n = extent.value();
      slice.begin = LimitIndex(slice.begin, n, slice.stride);
      slice.end = LimitIndex(slice.end, n, slice.stride);
      if (slice.stride > 0 ? slice.begin > slice.end
                           : slice.begin < slice.end) {
        if (crossed == CrossedEnds::kEmpty) {
          slice.end = slice.begin;
          slices.push_back(slice);
          continue;
        }
        return error("the slice from ", slice.begin, " to ", slice.end, " by ",
                     slice.stride, " on axis ", axis, " is invalid");
      }
    }
    slices.push_back(slice);
  }
  return slices;
}

int64_t NumElements(const AxisSlice& slice) {
  const int64_t step = std::abs(slice.stride);
  const int64_t length = std::abs(slice.end - slice.begin);
  return length / step + (length % step != 0 ? 1 : 0);
}

absl::StatusOr<Dims> StridedSliceShape(absl::Span<const Dim> shape,
                                       const StridedSliceAttrs& attrs) {
  BATON_ASSIGN_OR_RETURN(const auto slices, SlicesOf(shape, attrs));
  Dims result(shape.begin(), shape.end());
  for (const AxisSlice& slice : slices) {
    Dim& extent = result[slice.axis];
    extent = extent.is_const() ? Dim(NumElements(slice)) : Dim::Any();
  }
  return result;
}

}  // namespace baton::relay
