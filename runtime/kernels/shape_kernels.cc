#include "baton/runtime/kernels/shape_kernels.h"

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <limits>
#include <type_traits>
#include <utility>
#include <vector>

#include "absl/algorithm/container.h"
#include "absl/container/inlined_vector.h"
#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "absl/types/optional.h"
#include "absl/types/span.h"
#include "baton/base/dtype.h"
#include "baton/base/status_macros.h"
#include "baton/base/strides.h"
#include "baton/base/tensor.h"
#include "baton/runtime/kernels/internal/broadcast.h"
#include "baton/runtime/kernels/internal/convert.h"
#include "baton/runtime/kernels/internal/elements.h"
#include "baton/runtime/kernels/internal/strided_copy.h"
#include "baton/runtime/kernels/internal/util.h"
#include "baton/runtime/kernels/internal/vectorize.h"
#include "baton/runtime/kernels/reduce_kernels.h"

namespace baton::kernels {
namespace {

using internal::AxisView;
using internal::CheckOneElement;
using internal::CopyItems;
using internal::Error;
using internal::NormalizePlace;
using internal::StridedCopy;

const char* Bytes(const Tensor& x) {
  return static_cast<const char*>(x.data());
}

char* Bytes(MutableTensor& x) { return static_cast<char*>(x.data()); }

// A tensor whose elements are all the one of `value`.
absl::StatusOr<MutableTensor> FilledWith(const Tensor& value,
                                         absl::Span<const int64_t> shape) {
  if (absl::c_all_of(value.bytes(), [](char c) { return c == 0; })) {
    return MutableTensor::Create(value.dtype(), shape);
  }
  BATON_ASSIGN_OR_RETURN(MutableTensor result,
                         MutableTensor::Uninitialized(value.dtype(), shape));
  StridedCopy(value.dtype().bytes(), {result.num_elements()}, value.data(), {0},
              result.data(), {1});
  return result;
}

// The part [start, start + count) of `axis`.
absl::StatusOr<Tensor> Section(const Tensor& x, int axis, int64_t start,
                               int64_t count) {
  const size_t k = static_cast<size_t>(axis);
  if (count == x.shape()[k]) return x;
  TensorShape shape = internal::ToShape(x.shape());
  shape[k] = count;
  BATON_ASSIGN_OR_RETURN(MutableTensor result,
                         MutableTensor::Uninitialized(x.dtype(), shape));
  const TensorShape strides = RowMajorStrides(x.shape());
  if (result.num_elements() > 0) {
    StridedCopy(x.dtype().bytes(), shape,
                Bytes(x) + start * strides[k] * x.dtype().bytes(), strides,
                result.data(), RowMajorStrides(shape));
  }
  return std::move(result).Freeze();
}

// Copies `x` to the place `start` along `axis` of `result`.
void Place(const Tensor& x, size_t axis, int64_t start, MutableTensor& result) {
  if (x.num_elements() == 0) return;
  const TensorShape strides = RowMajorStrides(result.shape());
  StridedCopy(
      x.dtype().bytes(), x.shape(), x.data(), RowMajorStrides(x.shape()),
      Bytes(result) + start * strides[axis] * x.dtype().bytes(), strides);
}

// Position i along axis d of the result is positions[d][i] of `x`, which has
// elements and at least one axis.
absl::StatusOr<Tensor> Select(
    const Tensor& x, absl::Span<const std::vector<int64_t>> positions) {
  TensorShape shape;
  for (const std::vector<int64_t>& axis : positions) {
    shape.push_back(static_cast<int64_t>(axis.size()));
  }
  BATON_ASSIGN_OR_RETURN(MutableTensor result,
                         MutableTensor::Uninitialized(x.dtype(), shape));
  if (result.num_elements() == 0) return std::move(result).Freeze();
  // A row is the last axis that changes, with what lies below it.
  size_t last = shape.size() - 1;
  while (last > 0 && shape[last] == x.shape()[last]) --last;
  const TensorShape strides = RowMajorStrides(x.shape());
  const int64_t item = strides[last] * x.dtype().bytes();
  const absl::Span<const int64_t> row = positions[last];
  // The longest run of adjacent positions of a row is copied as one.
  size_t begin = 0;
  size_t end = 0;
  for (size_t i = 0; i < row.size();) {
    size_t next = i + 1;
    while (next < row.size() && row[next] == row[next - 1] + 1) ++next;
    if (next - i > end - begin) {
      begin = i;
      end = next;
    }
    i = next;
  }
  const int64_t run = static_cast<int64_t>(end - begin) * item;
  std::vector<size_t> index(last, 0);
  char* to = Bytes(result);
  while (true) {
    int64_t start = 0;
    for (size_t d = 0; d < last; ++d) {
      start += positions[d][index[d]] * strides[d];
    }
    const char* from = Bytes(x) + start * x.dtype().bytes();
    CopyItems(from, item, row.subspan(0, begin), to);
    to += static_cast<int64_t>(begin) * item;
    std::memcpy(to, from + row[begin] * item, static_cast<size_t>(run));
    to += run;
    CopyItems(from, item, row.subspan(end), to);
    to += static_cast<int64_t>(row.size() - end) * item;
    size_t d = last;
    while (d > 0 && ++index[d - 1] == positions[d - 1].size()) {
      index[--d] = 0;
    }
    if (d == 0) return std::move(result).Freeze();
  }
}

// Writes fn(i) to to[i] for all i < n; fn takes a double if kReal.
template <bool kReal, typename T, typename Fn>
BATON_LOOP inline void FillInSequence(int64_t n, const Fn& fn, T* to) {
  if constexpr (kReal) {
    // Vectors convert int32, and few processors' int64. The sums are exact: no
    // memory holds 2^53 elements.
    constexpr int32_t kPart = 1024;
    for (int64_t first = 0; first < n; first += kPart) {
      const double base = static_cast<double>(first);
      const auto count =
          static_cast<int32_t>(std::min<int64_t>(kPart, n - first));
      for (int32_t i = 0; i < count; ++i) {
        to[first + i] = static_cast<T>(fn(base + static_cast<double>(i)));
      }
    }
  } else {
    for (int64_t i = 0; i < n; ++i) to[i] = static_cast<T>(fn(i));
  }
}

// fn(0), ..., fn(count - 1) as `dtype`, which is not bool.
template <typename Fn>
absl::StatusOr<Tensor> Filled(absl::string_view kernel, DType dtype,
                              int64_t count, const Fn& fn) {
  constexpr bool kReal = std::is_floating_point_v<decltype(fn(int64_t{0}))>;
  // The type to which Convert converts half floats or, with bounds, integers.
  const DType stored = dtype.is_half()                ? DType::Float(32)
                       : kReal && dtype.is_integral() ? DType::Float(64)
                                                      : dtype;
  BATON_ASSIGN_OR_RETURN(MutableTensor result,
                         MutableTensor::Uninitialized(stored, {count}));
  BATON_ASSIGN_OR_RETURN(
      const Tensor filled,
      internal::VisitNumeric(
          kernel, stored, [&]<typename T>() -> absl::StatusOr<Tensor> {
            T* to = static_cast<T*>(result.data());
            internal::RunLoop(
                [=]() BATON_LOOP { FillInSequence<kReal>(count, fn, to); });
            return std::move(result).Freeze();
          }));
  return internal::Convert(kernel, filled, dtype);
}

}  // namespace

absl::StatusOr<Tensor> Reshape(const Tensor& x,
                               absl::Span<const int64_t> newshape) {
  constexpr char kName[] = "reshape";
  const absl::Span<const int64_t> in = x.shape();
  const auto bad = [&] {
    return Error(kName, "cannot reshape ", x.TypeToString(), " by ",
                 internal::ShapeToString(newshape));
  };
  TensorShape shape;
  size_t next = 0;  // The next dimension of `x`.
  absl::optional<size_t> inferred;
  for (size_t i = 0; i < newshape.size(); ++i) {
    const int64_t d = newshape[i];
    if (d > 0) {
      shape.push_back(d);
      ++next;
    } else if (d == 0) {
      if (next >= in.size()) return bad();
      shape.push_back(in[next++]);
    } else if (d == -1) {
      if (inferred.has_value()) return bad();
      inferred = shape.size();
      shape.push_back(1);
      ++next;
    } else if (d == -2) {
      for (; next < in.size(); ++next) shape.push_back(in[next]);
    } else if (d == -3) {
      if (in.size() < 2 || next > in.size() - 2) return bad();
      BATON_ASSIGN_OR_RETURN(
          const int64_t merged,
          internal::CheckedMul(kName, in[next], in[next + 1]));
      shape.push_back(merged);
      next += 2;
    } else if (d == -4) {
      if (next >= in.size() || i + 2 >= newshape.size()) return bad();
      const int64_t whole = in[next++];
      int64_t first = newshape[i + 1];
      int64_t second = newshape[i + 2];
      i += 2;
      if (first == -1 && second > 0) {
        first = whole / second;
      } else if (second == -1 && first > 0) {
        second = whole / first;
      }
      // Division instead of a product, which might overflow.
      if (first < 1 || second < 1 || whole % second != 0 ||
          whole / second != first) {
        return bad();
      }
      shape.push_back(first);
      shape.push_back(second);
    } else {
      return bad();
    }
  }
  if (inferred.has_value()) {
    BATON_ASSIGN_OR_RETURN(const int64_t rest, NumElements(x.dtype(), shape));
    if (rest == 0 ? x.num_elements() != 0 : x.num_elements() % rest != 0) {
      return bad();
    }
    shape[*inferred] = rest == 0 ? 0 : x.num_elements() / rest;
  }
  absl::StatusOr<Tensor> result = x.Reshaped(shape);
  if (!result.ok()) return bad();
  return result;
}

absl::StatusOr<Tensor> BatchFlatten(const Tensor& x) {
  if (x.rank() < 1) {
    return Error("batch_flatten", "rank must be positive: ", x.TypeToString());
  }
  return x.Reshaped({x.shape()[0], internal::Product(x.shape().subspan(1))});
}

absl::StatusOr<Tensor> ExpandDims(const Tensor& x, int64_t axis,
                                  int64_t count) {
  constexpr char kName[] = "expand_dims";
  // More dimensions than this are a mistake.
  constexpr int64_t kMaxCount = 1024;
  BATON_ASSIGN_OR_RETURN(const size_t at,
                         NormalizePlace(kName, axis, x.rank()));
  if (count < 0 || count > kMaxCount) {
    return Error(kName, "cannot insert ", count, " dimensions");
  }
  TensorShape shape = internal::ToShape(x.shape());
  shape.insert(shape.begin() + static_cast<std::ptrdiff_t>(at),
               static_cast<size_t>(count), 1);
  return x.Reshaped(shape);
}

absl::StatusOr<Tensor> Squeeze(const Tensor& x,
                               absl::optional<absl::Span<const int64_t>> axes) {
  constexpr char kName[] = "squeeze";
  absl::InlinedVector<bool, 6> drop(x.shape().size(), false);
  if (axes.has_value()) {
    for (const int64_t axis : *axes) {
      BATON_ASSIGN_OR_RETURN(const int normal,
                             internal::NormalizeAxis(kName, axis, x.rank()));
      const size_t k = static_cast<size_t>(normal);
      if (x.shape()[k] != 1) {
        return Error(kName, "axis ", axis, " of ", x.TypeToString(),
                     " is not of extent 1");
      }
      drop[k] = true;
    }
  } else {
    for (size_t k = 0; k < drop.size(); ++k) drop[k] = x.shape()[k] == 1;
  }
  TensorShape shape;
  for (size_t k = 0; k < drop.size(); ++k) {
    if (!drop[k]) shape.push_back(x.shape()[k]);
  }
  return x.Reshaped(shape);
}

absl::StatusOr<Tensor> Concatenate(absl::Span<const Tensor> tensors,
                                   int64_t axis) {
  constexpr char kName[] = "concatenate";
  if (tensors.empty()) return Error(kName, "there are no tensors");
  const Tensor& first = tensors[0];
  BATON_ASSIGN_OR_RETURN(const int normal,
                         internal::NormalizeAxis(kName, axis, first.rank()));
  const size_t k = static_cast<size_t>(normal);
  TensorShape shape = internal::ToShape(first.shape());
  shape[k] = 0;
  for (const Tensor& x : tensors) {
    BATON_RETURN_IF_ERROR(internal::CheckSameDType(kName, first, x));
    bool fits = x.rank() == first.rank();
    for (size_t d = 0; fits && d < shape.size(); ++d) {
      fits = d == k || x.shape()[d] == shape[d];
    }
    if (!fits) {
      return Error(kName, first.TypeToString(), " and ", x.TypeToString(),
                   " do not fit along axis ", axis);
    }
    BATON_ASSIGN_OR_RETURN(shape[k],
                           internal::CheckedAdd(kName, shape[k], x.shape()[k]));
  }
  if (tensors.size() == 1) return first;
  BATON_ASSIGN_OR_RETURN(MutableTensor result,
                         MutableTensor::Uninitialized(first.dtype(), shape));
  int64_t at = 0;
  for (const Tensor& x : tensors) {
    Place(x, k, at, result);
    at += x.shape()[k];
  }
  return std::move(result).Freeze();
}

absl::StatusOr<Tensor> Stack(absl::Span<const Tensor> tensors, int64_t axis) {
  constexpr char kName[] = "stack";
  if (tensors.empty()) return Error(kName, "there are no tensors");
  std::vector<Tensor> expanded;
  for (const Tensor& x : tensors) {
    BATON_RETURN_IF_ERROR(internal::CheckSameDType(kName, tensors[0], x));
    if (x.shape() != tensors[0].shape()) {
      return Error(kName, "shapes differ: ", tensors[0].TypeToString(), " and ",
                   x.TypeToString());
    }
    BATON_ASSIGN_OR_RETURN(const size_t at,
                           NormalizePlace(kName, axis, x.rank()));
    BATON_ASSIGN_OR_RETURN(Tensor wide,
                           ExpandDims(x, static_cast<int64_t>(at)));
    expanded.push_back(std::move(wide));
  }
  return Concatenate(expanded, axis);
}

absl::StatusOr<std::vector<Tensor>> Split(const Tensor& x, int64_t sections,
                                          int64_t axis) {
  constexpr char kName[] = "split";
  BATON_ASSIGN_OR_RETURN(const int normal,
                         internal::NormalizeAxis(kName, axis, x.rank()));
  const int64_t extent = x.shape()[static_cast<size_t>(normal)];
  // An empty axis could be split into any number of nothings: bound it.
  if (sections < 1 || extent % sections != 0 ||
      (extent == 0 && sections > (1 << 20))) {
    return Error(kName, "axis ", axis, " of ", x.TypeToString(),
                 " does not split into ", sections, " equal parts");
  }
  const int64_t size = extent / sections;
  std::vector<Tensor> parts;
  for (int64_t i = 0; i < sections; ++i) {
    BATON_ASSIGN_OR_RETURN(Tensor part, Section(x, normal, i * size, size));
    parts.push_back(std::move(part));
  }
  return parts;
}

absl::StatusOr<std::vector<Tensor>> SplitAt(const Tensor& x,
                                            absl::Span<const int64_t> indices,
                                            int64_t axis) {
  constexpr char kName[] = "split";
  BATON_ASSIGN_OR_RETURN(const int normal,
                         internal::NormalizeAxis(kName, axis, x.rank()));
  const int64_t extent = x.shape()[static_cast<size_t>(normal)];
  std::vector<Tensor> parts;
  int64_t start = 0;
  for (size_t i = 0; i <= indices.size(); ++i) {
    const int64_t end = i < indices.size() ? indices[i] : extent;
    if (end < start || end > extent) {
      return Error(kName, "indices ", internal::ShapeToString(indices),
                   " do not ascend within axis ", axis, " of ",
                   x.TypeToString());
    }
    BATON_ASSIGN_OR_RETURN(Tensor part, Section(x, normal, start, end - start));
    parts.push_back(std::move(part));
    start = end;
  }
  return parts;
}

absl::StatusOr<Tensor> StridedSlice(const Tensor& x,
                                    const StridedSliceParams& params) {
  constexpr char kName[] = "strided_slice";
  const size_t n = params.begin.size();
  if (params.end.size() != n || params.strides.size() > n ||
      (params.axes.has_value() && params.axes->size() != n) ||
      (!params.axes.has_value() && n > x.shape().size())) {
    return Error(kName,
                 "begin, end, strides and axes do not fit each other or ",
                 x.TypeToString());
  }
  TensorShape shape = internal::ToShape(x.shape());
  const TensorShape dense = RowMajorStrides(x.shape());
  TensorShape strides = dense;
  int64_t offset = 0;
  absl::InlinedVector<bool, 6> seen(shape.size(), false);
  for (size_t i = 0; i < n; ++i) {
    const int64_t axis =
        params.axes.has_value() ? (*params.axes)[i] : static_cast<int64_t>(i);
    BATON_ASSIGN_OR_RETURN(const int normal,
                           internal::NormalizeAxis(kName, axis, x.rank()));
    const size_t k = static_cast<size_t>(normal);
    if (seen[k]) return Error(kName, "axis ", axis, " is repeated");
    seen[k] = true;
    const int64_t extent = x.shape()[k];
    int64_t stride = params.end_is_size || i >= params.strides.size()
                         ? 1
                         : params.strides[i];
    if (stride == 0) return Error(kName, "stride 0 along axis ", axis);
    // A step beyond the extent selects one element, whatever its length.
    stride = std::clamp(stride, -extent - 1, extent + 1);
    // Positions lie in [0, extent], or [-1, extent - 1] going backwards.
    const int64_t low = stride > 0 ? 0 : -1;
    const int64_t high = stride > 0 ? extent : extent - 1;
    const auto position = [&](int64_t p) {
      if (p < 0) p = p < -extent ? low : p + extent;
      return std::clamp(p, low, std::max(low, high));
    };
    const int64_t begin = position(params.begin[i]);
    int64_t end;
    if (!params.end_is_size) {
      end = position(params.end[i]);
    } else if (params.end[i] < 0) {
      end = extent;
    } else {
      end = params.end[i] > extent - begin ? extent : begin + params.end[i];
    }
    const int64_t room = stride > 0 ? end - begin : begin - end;
    const int64_t step = stride > 0 ? stride : -stride;
    shape[k] = room <= 0 ? 0 : (room - 1) / step + 1;
    strides[k] = shape[k] > 1 ? dense[k] * stride : dense[k];
    offset += begin * dense[k];
  }
  if (shape == internal::ToShape(x.shape()) && strides == dense) return x;
  BATON_ASSIGN_OR_RETURN(MutableTensor result,
                         MutableTensor::Uninitialized(x.dtype(), shape));
  if (result.num_elements() > 0) {
    StridedCopy(x.dtype().bytes(), shape, Bytes(x) + offset * x.dtype().bytes(),
                strides, result.data(), RowMajorStrides(shape));
  }
  return std::move(result).Freeze();
}

absl::StatusOr<Tensor> Pad(const Tensor& x, absl::Span<const int64_t> before,
                           absl::Span<const int64_t> after, PadMode mode,
                           const Tensor& value) {
  constexpr char kName[] = "pad";
  const size_t rank = x.shape().size();
  if (before.size() != rank || after.size() != rank) {
    return Error(kName, "as many pad widths as dimensions of ",
                 x.TypeToString(), " expected");
  }
  TensorShape shape(rank);
  for (size_t i = 0; i < rank; ++i) {
    const int64_t extent = x.shape()[i];
    for (const int64_t width : {before[i], after[i]}) {
      if (width < 0 && mode != PadMode::kConstant) {
        return Error(kName, "negative pad width ", width);
      }
      if (width > 0 && ((mode == PadMode::kEdge && extent == 0) ||
                        (mode == PadMode::kReflect && width >= extent))) {
        return Error(kName, "pad width ", width, " does not fit axis ", i,
                     " of ", x.TypeToString());
      }
    }
    BATON_ASSIGN_OR_RETURN(shape[i],
                           internal::CheckedAdd(kName, extent, before[i]));
    BATON_ASSIGN_OR_RETURN(shape[i],
                           internal::CheckedAdd(kName, shape[i], after[i]));
    if (shape[i] < 0) {
      return Error(kName, "pad widths ", before[i], " and ", after[i],
                   " cut off more than axis ", i, " of ", x.TypeToString());
    }
  }
  // The widths are compared, not the shapes: a negative width in front and a
  // positive one behind can give the shape of `x`.
  const auto is_zero = [](int64_t width) { return width == 0; };
  if (std::all_of(before.begin(), before.end(), is_zero) &&
      std::all_of(after.begin(), after.end(), is_zero)) {
    return x;
  }
  if (mode == PadMode::kConstant) {
    BATON_RETURN_IF_ERROR(CheckOneElement(kName, "the pad value", value));
    BATON_ASSIGN_OR_RETURN(const Tensor fill,
                           internal::Convert(kName, value, x.dtype()));
    BATON_ASSIGN_OR_RETURN(MutableTensor result, FilledWith(fill, shape));
    // The part of `x` that is kept, from `first` on.
    TensorShape kept(rank);
    const TensorShape from = RowMajorStrides(x.shape());
    const TensorShape to = RowMajorStrides(shape);
    int64_t first = 0;
    int64_t offset = 0;
    bool is_empty = false;
    for (size_t i = 0; i < rank; ++i) {
      const int64_t extent = x.shape()[i];
      const int64_t skipped = -std::clamp<int64_t>(before[i], -extent, 0);
      const int64_t end = extent + std::clamp<int64_t>(after[i], -extent, 0);
      kept[i] = end - skipped;
      is_empty = is_empty || kept[i] <= 0;
      first += skipped * from[i];
      offset += std::max<int64_t>(before[i], 0) * to[i];
    }
    if (!is_empty) {
      const int bytes = x.dtype().bytes();
      StridedCopy(bytes, kept, Bytes(x) + first * bytes, from,
                  Bytes(result) + offset * bytes, to);
    }
    return std::move(result).Freeze();
  }
  // Refuse what is too large before the first axis is padded.
  BATON_RETURN_IF_ERROR(NumElements(x.dtype(), shape).status());
  if (x.num_elements() == 0) return Tensor::Zeros(x.dtype(), shape);
  std::vector<std::vector<int64_t>> positions(rank);
  for (size_t i = 0; i < rank; ++i) {
    const int64_t last = x.shape()[i] - 1;
    for (int64_t p = -before[i]; p <= last + after[i]; ++p) {
      if (mode == PadMode::kEdge) {
        positions[i].push_back(std::clamp<int64_t>(p, 0, last));
      } else {
        positions[i].push_back(p < 0 ? -p : p > last ? 2 * last - p : p);
      }
    }
  }
  return Select(x, positions);
}

absl::StatusOr<Tensor> Tile(const Tensor& x, absl::Span<const int64_t> reps) {
  constexpr char kName[] = "tile";
  const size_t rank = std::max(x.shape().size(), reps.size());
  TensorShape in(rank - x.shape().size(), 1);
  in.insert(in.end(), x.shape().begin(), x.shape().end());
  TensorShape times(rank - reps.size(), 1);
  times.insert(times.end(), reps.begin(), reps.end());
  const TensorShape dense = RowMajorStrides(in);
  TensorShape shape(rank);
  // Each dimension is read as [repetitions, extent].
  TensorShape split, strides;
  for (size_t i = 0; i < rank; ++i) {
    if (times[i] < 0) return Error(kName, "negative repetition ", times[i]);
    BATON_ASSIGN_OR_RETURN(shape[i],
                           internal::CheckedMul(kName, in[i], times[i]));
    split.push_back(times[i]);
    split.push_back(in[i]);
    strides.push_back(0);
    strides.push_back(dense[i]);
  }
  if (shape == in) return x.Reshaped(shape);
  BATON_ASSIGN_OR_RETURN(MutableTensor result,
                         MutableTensor::Uninitialized(x.dtype(), shape));
  if (result.num_elements() > 0) {
    StridedCopy(x.dtype().bytes(), split, x.data(), strides, result.data(),
                RowMajorStrides(split));
  }
  return std::move(result).Freeze();
}

absl::StatusOr<Tensor> Repeat(const Tensor& x, int64_t repeats, int64_t axis) {
  constexpr char kName[] = "repeat";
  BATON_ASSIGN_OR_RETURN(const int normal,
                         internal::NormalizeAxis(kName, axis, x.rank()));
  const size_t k = static_cast<size_t>(normal);
  if (repeats < 0) return Error(kName, "negative repetition ", repeats);
  TensorShape shape = internal::ToShape(x.shape());
  BATON_ASSIGN_OR_RETURN(shape[k],
                         internal::CheckedMul(kName, shape[k], repeats));
  BATON_ASSIGN_OR_RETURN(MutableTensor result,
                         MutableTensor::Uninitialized(x.dtype(), shape));
  const AxisView v = internal::ViewAround(x.shape(), normal);
  if (result.num_elements() > 0) {
    const TensorShape split = {v.outer * v.extent, repeats, v.inner};
    StridedCopy(x.dtype().bytes(), split, x.data(), {v.inner, 0, 1},
                result.data(), RowMajorStrides(split));
  }
  return std::move(result).Freeze();
}

absl::StatusOr<Tensor> Reverse(const Tensor& x, int64_t axis) {
  constexpr char kName[] = "reverse";
  BATON_ASSIGN_OR_RETURN(const int normal,
                         internal::NormalizeAxis(kName, axis, x.rank()));
  const AxisView v = internal::ViewAround(x.shape(), normal);
  if (x.num_elements() == 0 || v.extent == 1) return x;
  BATON_ASSIGN_OR_RETURN(MutableTensor result,
                         MutableTensor::Uninitialized(x.dtype(), x.shape()));
  const TensorShape shape = {v.outer, v.extent, v.inner};
  StridedCopy(x.dtype().bytes(), shape,
              Bytes(x) + (v.extent - 1) * v.inner * x.dtype().bytes(),
              {v.extent * v.inner, -v.inner, 1}, result.data(),
              RowMajorStrides(shape));
  return std::move(result).Freeze();
}

absl::StatusOr<Tensor> BroadcastTo(const Tensor& x,
                                   absl::Span<const int64_t> shape) {
  constexpr char kName[] = "broadcast_to";
  BATON_RETURN_IF_ERROR(NumElements(x.dtype(), shape).status());
  BATON_ASSIGN_OR_RETURN(const TensorShape common,
                         internal::BroadcastShape(kName, {x.shape(), shape}));
  if (common != internal::ToShape(shape)) {
    return Error(kName, x.TypeToString(), " does not broadcast to ",
                 internal::ShapeToString(shape));
  }
  if (shape == x.shape()) return x;
  BATON_ASSIGN_OR_RETURN(MutableTensor result,
                         MutableTensor::Uninitialized(x.dtype(), shape));
  if (result.num_elements() > 0) {
    StridedCopy(x.dtype().bytes(), shape, x.data(),
                internal::BroadcastStrides(x.shape(), shape), result.data(),
                RowMajorStrides(shape));
  }
  return std::move(result).Freeze();
}

absl::StatusOr<Tensor> CollapseSumTo(const Tensor& x,
                                     absl::Span<const int64_t> shape) {
  constexpr char kName[] = "collapse_sum_to";
  const auto misfit = [&] {
    return Error(kName, x.TypeToString(), " does not collapse to ",
                 internal::ShapeToString(shape));
  };
  if (shape.size() > x.shape().size()) return misfit();
  const size_t extra = x.shape().size() - shape.size();
  ReduceParams params;
  for (size_t i = 0; i < x.shape().size(); ++i) {
    if (i < extra || (shape[i - extra] == 1 && x.shape()[i] != 1)) {
      params.axes.push_back(static_cast<int64_t>(i));
    } else if (shape[i - extra] != x.shape()[i]) {
      return misfit();
    }
  }
  if (params.axes.empty()) return x;
  params.keepdims = true;
  BATON_ASSIGN_OR_RETURN(const Tensor sum, Sum(x, params));
  return sum.Reshaped(shape);
}

absl::StatusOr<Tensor> Full(const Tensor& value,
                            absl::Span<const int64_t> shape, DType dtype) {
  constexpr char kName[] = "full";
  BATON_RETURN_IF_ERROR(CheckOneElement(kName, "the value", value));
  BATON_ASSIGN_OR_RETURN(
      const Tensor fill,
      internal::Convert(kName, value, dtype.is_void() ? value.dtype() : dtype));
  BATON_ASSIGN_OR_RETURN(MutableTensor result, FilledWith(fill, shape));
  return std::move(result).Freeze();
}

absl::StatusOr<Tensor> Arange(const Tensor& start, const Tensor& stop,
                              const Tensor& step, DType dtype) {
  constexpr char kName[] = "arange";
  if (!dtype.IsStorable() || dtype.is_bool()) {
    return internal::UnsupportedDType(kName, dtype);
  }
  bool whole = true;
  for (const Tensor* x : {&start, &stop, &step}) {
    BATON_RETURN_IF_ERROR(CheckOneElement(kName, "a bound", *x));
    whole = whole && x->dtype().is_integral();
  }
  const auto too_many = [&] { return Error(kName, "too many elements"); };
  constexpr int64_t kMax = std::numeric_limits<int64_t>::max();
  if (whole) {
    const __int128 first = start.AtAsInt64(0);
    const __int128 by = step.AtAsInt64(0);
    if (by == 0) return Error(kName, "step must not be 0");
    const __int128 room =
        by > 0 ? stop.AtAsInt64(0) - first : first - stop.AtAsInt64(0);
    const __int128 count = room <= 0 ? 0 : (room - 1) / (by > 0 ? by : -by) + 1;
    if (count > kMax) return too_many();
    return Filled(kName, dtype, static_cast<int64_t>(count),
                  [first = start.AtAsInt64(0),
                   by = step.AtAsInt64(0)](int64_t i) BATON_LOOP {
                    // Between the bounds, whatever the product is.
                    return static_cast<int64_t>(static_cast<uint64_t>(first) +
                                                static_cast<uint64_t>(i) *
                                                    static_cast<uint64_t>(by));
                  });
  }
  const double first = start.AtAsDouble(0);
  const double by = step.AtAsDouble(0);
  const double count = std::ceil((stop.AtAsDouble(0) - first) / by);
  if (by == 0 || std::isnan(count)) {
    return Error(kName, "step ", by, " gives no number of elements");
  }
  if (count >= static_cast<double>(kMax)) return too_many();
  return Filled(kName, dtype, static_cast<int64_t>(std::max(0.0, count)),
                [first, by](double i) BATON_LOOP { return first + i * by; });
}

absl::StatusOr<Tensor> Cast(const Tensor& x, DType dtype) {
  return internal::Convert("cast", x, dtype);
}

void CastInto(DType from, const void* x, int64_t n, DType to, void* y) {
  internal::ConvertElements(from, x, n, to, y);
}

}  // namespace baton::kernels
