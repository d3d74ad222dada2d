#include "baton/runtime/kernels/scatter.h"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <limits>
#include <type_traits>
#include <utility>
#include <vector>

#include "absl/functional/function_ref.h"
#include "absl/status/status.h"
#include "absl/strings/string_view.h"
#include "absl/types/span.h"
#include "baton/base/dtype.h"
#include "baton/base/status_macros.h"
#include "baton/base/strides.h"
#include "baton/runtime/kernels/internal/convert.h"
#include "baton/runtime/kernels/internal/places.h"
#include "baton/runtime/kernels/internal/util.h"

namespace baton::kernels {
namespace {

using ::baton::kernels::internal::Error;
using ::baton::kernels::internal::Product;
using ::baton::kernels::internal::ShapeToString;

absl::Status CheckIndices(absl::string_view kernel, const Tensor& indices) {
  if (indices.dtype().is_integral() && !indices.dtype().is_bool()) {
    return absl::OkStatus();
  }
  return Error(kernel, "indices must be integers, but are of ",
               indices.dtype().ToString());
}

// Maps an index in [-extent, extent) to [0, extent).
absl::StatusOr<int64_t> CheckIndex(absl::string_view kernel, int64_t index,
                                   int64_t extent) {
  if (index < -extent || index >= extent) {
    return Error(kernel, "index ", index, " is out of range [", -extent, ", ",
                 extent, ")");
  }
  return index < 0 ? index + extent : index;
}

// Combines runs of elements of a tensor with updates.
class Combiner {
 public:
  Combiner(absl::string_view kernel, ScatterMode mode)
      : kernel_(kernel), mode_(mode) {}

  absl::Status Start(const Tensor& data, const Tensor& updates) {
    if (data.dtype() != updates.dtype()) {
      return Error(kernel_, "data and updates have the types ",
                   data.dtype().ToString(), " and ",
                   updates.dtype().ToString());
    }
    absl::StatusOr<MutableTensor> copy =
        MutableTensor::Uninitialized(data.dtype(), data.shape());
    if (!copy.ok()) return copy.status();
    if (data.byte_size() > 0) {
      std::memcpy(copy->data(), data.data(), data.byte_size());
    }
    result_.push_back(*std::move(copy));
    if (mode_ == ScatterMode::kMean) counts_.assign(data.num_elements(), 1);
    return absl::OkStatus();
  }

  // Combines `count` elements at `to` with those of `updates` at `from`.
  absl::Status Combine(const Tensor& updates, int64_t from, int64_t to,
                       int64_t count) {
    MutableTensor& result = result_[0];
    if (mode_ == ScatterMode::kUpdate) {
      const int64_t bytes = result.dtype().bytes();
      std::memcpy(static_cast<char*>(result.data()) + to * bytes,
                  static_cast<const char*>(updates.data()) + from * bytes,
                  count * bytes);
      return absl::OkStatus();
    }
    for (int64_t i = 0; i < count && !counts_.empty(); ++i) {
      ++counts_[to + i];
    }
    return internal::VisitNumeric(
        kernel_, result.dtype(), [&]<typename E>() -> absl::Status {
          E* out = static_cast<E*>(result.data()) + to;
          const E* in = static_cast<const E*>(updates.data()) + from;
          for (int64_t i = 0; i < count; ++i) {
            out[i] = Combined<E>(out[i], in[i]);
          }
          return absl::OkStatus();
        });
  }

  // Combines element places[i] with that of `updates` at first + i, for all of
  // them in turn.
  absl::Status CombineEach(const Tensor& updates, int64_t first,
                           absl::Span<const int64_t> places) {
    MutableTensor& result = result_[0];
    const auto each = [&]<typename E>(const auto& combine) {
      E* out = static_cast<E*>(result.data());
      const E* in = static_cast<const E*>(updates.data()) + first;
      for (const int64_t place : places) combine(*in++, out[place]);
    };
    if (mode_ == ScatterMode::kUpdate) {
      const auto update = [](auto from, auto& to) { to = from; };
      switch (result.dtype().bytes()) {
        case 1:
          each.operator()<uint8_t>(update);
          break;
        case 2:
          each.operator()<uint16_t>(update);
          break;
        case 4:
          each.operator()<uint32_t>(update);
          break;
        default:
          each.operator()<uint64_t>(update);
          break;
      }
      return absl::OkStatus();
    }
    if (!counts_.empty()) {
      for (const int64_t place : places) ++counts_[place];
    }
    return internal::VisitNumeric(
        kernel_, result.dtype(), [&]<typename E>() -> absl::Status {
          each.template operator()<E>(
              [this](E from, E& to) { to = Combined<E>(to, from); });
          return absl::OkStatus();
        });
  }

  absl::StatusOr<Tensor> Finish() {
    MutableTensor& result = result_[0];
    if (!counts_.empty()) {
      BATON_RETURN_IF_ERROR(internal::VisitNumeric(
          kernel_, result.dtype(), [&]<typename E>() -> absl::Status {
            E* out = static_cast<E*>(result.data());
            for (size_t i = 0; i < counts_.size(); ++i) {
              if (counts_[i] > 1) out[i] = static_cast<E>(out[i] / counts_[i]);
            }
            return absl::OkStatus();
          }));
    }
    return std::move(result).Freeze();
  }

 private:
  template <typename E>
  E Combined(E a, E b) const {
    if (mode_ == ScatterMode::kMin) return std::min(a, b);
    if (mode_ == ScatterMode::kMax) return std::max(a, b);
    const bool multiply = mode_ == ScatterMode::kMul;
    if constexpr (std::is_integral_v<E>) {
      using W = internal::Wrapping<E>;
      const W x = static_cast<W>(a);
      const W y = static_cast<W>(b);
      return static_cast<E>(multiply ? x * y : x + y);
    } else {
      return multiply ? a * b : a + b;
    }
  }

  const absl::string_view kernel_;
  const ScatterMode mode_;
  std::vector<MutableTensor> result_;  // one, once started
  std::vector<int64_t> counts_;        // for kMean
};

// True if the elements are combined in another type: half floats in float32,
// and rounded at the end; bools as bytes.
bool IsWidened(const Tensor& data, const Tensor& updates, ScatterMode mode) {
  return mode != ScatterMode::kUpdate && data.dtype() == updates.dtype() &&
         (data.dtype().is_half() || data.dtype().is_bool());
}

absl::StatusOr<Tensor> Widened(absl::string_view kernel, const Tensor& data,
                               const Tensor& updates, ScatterMode mode,
                               absl::FunctionRef<absl::StatusOr<Tensor>(
                                   const Tensor&, const Tensor&, ScatterMode)>
                                   scatter) {
  const DType dtype = data.dtype();
  if (dtype.is_bool()) {
    // Sums are "or", products "and".
    if (mode == ScatterMode::kAdd) mode = ScatterMode::kMax;
    if (mode == ScatterMode::kMul) mode = ScatterMode::kMin;
  }
  const DType wide = dtype.is_bool() ? DType::UInt(8) : DType::Float(32);
  BATON_ASSIGN_OR_RETURN(const Tensor to,
                         internal::Convert(kernel, data, wide));
  BATON_ASSIGN_OR_RETURN(const Tensor from,
                         internal::Convert(kernel, updates, wide));
  BATON_ASSIGN_OR_RETURN(const Tensor result, scatter(to, from, mode));
  return internal::Convert(kernel, result, dtype);
}

}  // namespace

absl::StatusOr<Tensor> ScatterElements(const Tensor& data,
                                       const Tensor& indices,
                                       const Tensor& updates, int64_t axis,
                                       ScatterMode mode) {
  constexpr absl::string_view kKernel = "scatter_elements";
  if (IsWidened(data, updates, mode)) {
    return Widened(kKernel, data, updates, mode,
                   [&](const Tensor& to, const Tensor& from, ScatterMode wide) {
                     return ScatterElements(to, indices, from, axis, wide);
                   });
  }
  BATON_ASSIGN_OR_RETURN(const int along,
                         internal::NormalizeAxis(kKernel, axis, data.rank()));
  BATON_RETURN_IF_ERROR(CheckIndices(kKernel, indices));
  bool fits =
      indices.shape() == updates.shape() && indices.rank() == data.rank();
  for (int i = 0; fits && i < data.rank(); ++i) {
    fits = i == along || indices.shape()[i] <= data.shape()[i];
  }
  if (!fits) {
    return Error(kKernel, "indices ", ShapeToString(indices.shape()),
                 " and updates ", ShapeToString(updates.shape()),
                 " do not fit data ", ShapeToString(data.shape()));
  }
  Combiner combiner(kKernel, mode);
  BATON_RETURN_IF_ERROR(combiner.Start(data, updates));
  const TensorShape strides = RowMajorStrides(data.shape());
  const absl::Span<const int64_t> extents = indices.shape();
  BATON_ASSIGN_OR_RETURN(const Tensor wide,
                         internal::Convert(kKernel, indices, DType::Int(64)));
  const absl::Span<const int64_t> index = wide.span<int64_t>();
  // Places wait until there are so many.
  constexpr int64_t kPlaces = 2048;
  int64_t places[kPlaces];
  int64_t waiting = 0;
  const auto combine = [&](int64_t end) {
    const int64_t count = std::exchange(waiting, 0);
    return combiner.CombineEach(
        updates, end - count,
        absl::MakeConstSpan(places, static_cast<size_t>(count)));
  };
  TensorShape position(data.rank(), 0);
  const int last = data.rank() - 1;
  const int64_t row = extents[last];
  const int64_t extent = data.shape()[along];
  const int64_t size = static_cast<int64_t>(index.size());
  for (int64_t i = 0; i < size;) {
    // A row along the last axis.
    int64_t start = 0;
    for (int d = 0; d < last; ++d) {
      if (d != along) start += strides[d] * position[d];
    }
    const int64_t stride = strides[along];
    const int64_t step = along == last ? 0 : 1;
    for (const int64_t end = i + row; i < end;) {
      const int64_t count = std::min(end - i, kPlaces - waiting);
      int64_t* to = places + waiting;
      // Without a way out of the loop, so that it becomes vectors.
      int wrong = 0;
      for (int64_t j = 0; j < count; ++j) {
        const int64_t at = index[i + j] + (index[i + j] < 0 ? extent : 0);
        const int beyond = (at < 0 ? 1 : 0) | (at >= extent ? 1 : 0);
        wrong |= beyond;
        to[j] = start + (beyond != 0 ? 0 : at) * stride;
        start += step;
      }
      for (int64_t j = 0; wrong != 0; ++j) {
        BATON_RETURN_IF_ERROR(
            CheckIndex(kKernel, index[i + j], extent).status());
      }
      i += count;
      waiting += count;
      if (waiting == kPlaces) {
        BATON_RETURN_IF_ERROR(combine(i));
      }
    }
    for (int d = last - 1; d >= 0 && ++position[d] == extents[d]; --d) {
      position[d] = 0;
    }
  }
  BATON_RETURN_IF_ERROR(combine(size));
  return combiner.Finish();
}

absl::StatusOr<Tensor> ScatterNd(const Tensor& data, const Tensor& indices,
                                 const Tensor& updates, ScatterMode mode) {
  constexpr absl::string_view kKernel = "scatter_nd";
  if (IsWidened(data, updates, mode)) {
    return Widened(kKernel, data, updates, mode,
                   [&](const Tensor& to, const Tensor& from, ScatterMode wide) {
                     return ScatterNd(to, indices, from, wide);
                   });
  }
  BATON_RETURN_IF_ERROR(CheckIndices(kKernel, indices));
  const int length = indices.rank() == 0
                         ? data.rank() + 1
                         : static_cast<int>(std::min<int64_t>(
                               indices.shape()[0], data.rank() + 1));
  bool fits = length <= data.rank();
  TensorShape expected;
  if (fits) {
    const auto outer = indices.shape().subspan(1);
    const auto inner = data.shape().subspan(length);
    expected.assign(outer.begin(), outer.end());
    expected.insert(expected.end(), inner.begin(), inner.end());
    fits = absl::MakeConstSpan(expected) == updates.shape();
  }
  if (!fits) {
    return Error(kKernel, "indices ", ShapeToString(indices.shape()),
                 " and updates ", ShapeToString(updates.shape()),
                 " do not fit data ", ShapeToString(data.shape()));
  }
  Combiner combiner(kKernel, mode);
  BATON_RETURN_IF_ERROR(combiner.Start(data, updates));
  const TensorShape strides = RowMajorStrides(data.shape().subspan(0, length));
  const int64_t points = Product(indices.shape().subspan(1));
  const int64_t run = Product(data.shape().subspan(length));
  BATON_ASSIGN_OR_RETURN(const Tensor wide,
                         internal::Convert(kKernel, indices, DType::Int(64)));
  const int64_t* index = wide.span<int64_t>().data();
  constexpr int64_t kPlaces = 1024;
  int64_t places[kPlaces];
  for (int64_t first = 0; first < points; first += kPlaces) {
    const int64_t count = std::min(kPlaces, points - first);
    std::fill_n(places, count, 0);
    bool in_range = true;
    for (int d = 0; d < length; ++d) {
      in_range &= internal::AddPlaces(index + d * points + first, count,
                                      data.shape()[d], strides[d], places);
    }
    for (int64_t i = first; !in_range && i < first + count; ++i) {
      for (int d = 0; d < length; ++d) {
        BATON_RETURN_IF_ERROR(
            CheckIndex(kKernel, index[d * points + i], data.shape()[d])
                .status());
      }
    }
    if (run == 1) {
      BATON_RETURN_IF_ERROR(combiner.CombineEach(
          updates, first,
          absl::MakeConstSpan(places, static_cast<size_t>(count))));
      continue;
    }
    for (int64_t i = 0; i < count; ++i) {
      BATON_RETURN_IF_ERROR(
          combiner.Combine(updates, (first + i) * run, places[i] * run, run));
    }
  }
  return combiner.Finish();
}

absl::StatusOr<Tensor> StridedSet(const Tensor& data, const Tensor& part,
                                  absl::Span<const int64_t> begin,
                                  absl::Span<const int64_t> end,
                                  absl::Span<const int64_t> strides) {
  constexpr absl::string_view kKernel = "strided_set";
  const auto rank = static_cast<size_t>(data.rank());
  if (begin.size() > rank || end.size() > rank || strides.size() > rank) {
    return Error(kKernel, "there are more bounds than dimensions of ",
                 data.TypeToString());
  }
  const TensorShape data_strides = RowMajorStrides(data.shape());
  TensorShape steps(rank);
  TensorShape counts(rank);
  int64_t first = 0;
  for (size_t d = 0; d < rank; ++d) {
    const int64_t extent = data.shape()[d];
    const int64_t stride = d < strides.size() ? strides[d] : 1;
    if (stride == 0) return Error(kKernel, "a stride is 0");
    const int64_t low = stride > 0 ? 0 : -1;
    const int64_t high = stride > 0 ? extent : extent - 1;
    const auto position = [&](absl::Span<const int64_t> bounds,
                              int64_t otherwise) {
      if (d >= bounds.size()) return otherwise;
      const int64_t at = bounds[d] < 0 ? bounds[d] + extent : bounds[d];
      return std::clamp(at, low, high);
    };
    const int64_t from = position(begin, stride > 0 ? low : high);
    const int64_t to = position(end, stride > 0 ? high : low);
    const int64_t room = stride > 0 ? to - from : from - to;
    // The opposite of the least stride does not exist; it takes one element.
    const int64_t step =
        std::min(stride > 0 ? stride : -std::max(stride, -INT64_MAX),
                 std::max<int64_t>(extent, 1));
    counts[d] = room > 0 ? (room - 1) / step + 1 : 0;
    steps[d] = (stride > 0 ? step : -step) * data_strides[d];
    first += from * data_strides[d];
  }
  if (part.dtype() != data.dtype() ||
      part.shape() != absl::MakeConstSpan(counts)) {
    return Error(kKernel, "the part ", part.TypeToString(),
                 " does not have the dtype and the shape ",
                 ShapeToString(counts), " of what it replaces");
  }
  Combiner combiner(kKernel, ScatterMode::kUpdate);
  BATON_RETURN_IF_ERROR(combiner.Start(data, part));
  TensorShape index(rank, 0);
  int64_t to = first;
  for (int64_t i = 0; i < part.num_elements(); ++i) {
    BATON_RETURN_IF_ERROR(combiner.Combine(part, i, to, 1));
    for (size_t d = rank; d > 0; --d) {
      to += steps[d - 1];
      if (++index[d - 1] < counts[d - 1]) break;
      to -= steps[d - 1] * counts[d - 1];
      index[d - 1] = 0;
    }
  }
  return combiner.Finish();
}

absl::StatusOr<Tensor> MatrixSetDiag(const Tensor& data, const Tensor& diagonal,
                                     int64_t first, int64_t last,
                                     bool super_right, bool sub_right) {
  constexpr absl::string_view kKernel = "matrix_set_diag";
  const int rank = data.rank();
  const bool several = last > first;
  TensorShape expected;
  if (rank >= 2) {
    expected.assign(data.shape().begin(), data.shape().end() - 2);
  }
  const int64_t rows = rank < 2 ? 0 : data.shape()[rank - 2];
  const int64_t columns = rank < 2 ? 0 : data.shape()[rank - 1];
  bool fits = rank >= 2 && first <= last && first > -rows && last < columns &&
              diagonal.rank() == rank - (several ? 0 : 1);
  if (fits) {
    if (several) expected.push_back(last - first + 1);
    expected.push_back(diagonal.shape().back());
    fits = diagonal.shape() == absl::MakeConstSpan(expected);
  }
  if (!fits) {
    return Error(kKernel, "the diagonals ", first, " to ", last, " of ",
                 data.TypeToString(), " cannot be ", diagonal.TypeToString());
  }
  if (data.num_elements() == 0) return data;
  Combiner combiner(kKernel, ScatterMode::kUpdate);
  BATON_RETURN_IF_ERROR(combiner.Start(data, diagonal));
  const int64_t length = diagonal.shape().back();
  const int64_t matrices = data.num_elements() / (rows * columns);
  const int64_t count = last - first + 1;
  for (int64_t k = first; k <= last; ++k) {
    const int64_t size = std::min(columns - std::max<int64_t>(k, 0),
                                  rows + std::min<int64_t>(k, 0));
    if (size > length) {
      return Error(kKernel, "diagonal ", k, " has ", size, " elements, not ",
                   length);
    }
    const bool right = k >= 0 ? super_right : sub_right;
    const int64_t offset = several && right ? length - size : 0;
    for (int64_t m = 0; m < matrices; ++m) {
      for (int64_t i = 0; i < size; ++i) {
        const int64_t row = i + std::max<int64_t>(-k, 0);
        const int64_t column = i + std::max<int64_t>(k, 0);
        BATON_RETURN_IF_ERROR(combiner.Combine(
            diagonal, (m * count + last - k) * length + offset + i,
            (m * rows + row) * columns + column, 1));
      }
    }
  }
  return combiner.Finish();
}

absl::StatusOr<Tensor> UnravelIndex(const Tensor& positions,
                                    absl::Span<const int64_t> shape) {
  constexpr absl::string_view kKernel = "unravel_index";
  BATON_RETURN_IF_ERROR(CheckIndices(kKernel, positions));
  BATON_ASSIGN_OR_RETURN(const int64_t size,
                         NumElements(positions.dtype(), shape));
  TensorShape result_shape = {static_cast<int64_t>(shape.size())};
  result_shape.insert(result_shape.end(), positions.shape().begin(),
                      positions.shape().end());
  BATON_ASSIGN_OR_RETURN(
      MutableTensor result,
      MutableTensor::Create(positions.dtype(), result_shape));
  const int64_t count = positions.num_elements();
  return internal::VisitNumeric(
      kKernel, positions.dtype(), [&]<typename E>() -> absl::StatusOr<Tensor> {
        E* out = static_cast<E*>(result.data());
        for (int64_t i = 0; i < count; ++i) {
          BATON_ASSIGN_OR_RETURN(
              int64_t rest, CheckIndex(kKernel, positions.AtAsInt64(i), size));
          for (size_t d = shape.size(); d-- > 0; rest /= shape[d]) {
            out[static_cast<int64_t>(d) * count + i] =
                static_cast<E>(rest % shape[d]);
          }
        }
        return std::move(result).Freeze();
      });
}

absl::StatusOr<Tensor> ArgWhere(const Tensor& x) {
  constexpr absl::string_view kKernel = "argwhere";
  const TensorShape shape = internal::ToShape(x.shape());
  const size_t rank = shape.size();
  const int64_t n = x.num_elements();
  const int64_t width = rank == 0 ? 1 : shape.back();
  const bool is_float = x.dtype().is_float();
  // Finds nonzero elements, stored as U; zeros of floats may have either sign.
  const auto find = [&]<typename U>() -> absl::StatusOr<Tensor> {
    const U* in = static_cast<const U*>(x.data());
    constexpr U kAll = std::numeric_limits<U>::max();
    const U bits = is_float ? kAll / 2 : kAll;
    int64_t count = 0;
    for (int64_t i = 0; i < n; ++i) count += (in[i] & bits) != 0 ? 1 : 0;
    BATON_ASSIGN_OR_RETURN(
        MutableTensor result,
        MutableTensor::Uninitialized(DType::Int(32), {count, x.rank()}));
    if (rank == 0) return std::move(result).Freeze();
    int32_t* out = static_cast<int32_t*>(result.data());
    // Rows are searched in parts, without branches; what is found in one is
    // written then.
    constexpr int64_t kPart = 256;
    int32_t found[kPart];
    TensorShape row(rank - 1, 0);
    for (int64_t first = 0; first < n; first += width) {
      for (int64_t begin = 0; begin < width; begin += kPart) {
        const int64_t end = std::min(width, begin + kPart);
        int64_t size = 0;
        for (int64_t i = begin; i < end; ++i) {
          found[size] = static_cast<int32_t>(i);
          size += (in[first + i] & bits) != 0 ? 1 : 0;
        }
        for (int64_t i = 0; i < size; ++i) {
          for (const int64_t coordinate : row) {
            *out++ = static_cast<int32_t>(coordinate);
          }
          *out++ = found[i];
        }
      }
      for (size_t d = row.size(); d-- > 0;) {
        if (++row[d] < shape[d]) break;
        row[d] = 0;
      }
    }
    return std::move(result).Freeze();
  };
  switch (x.dtype().bytes()) {
    case 1:
      return find.operator()<uint8_t>();
    case 2:
      return find.operator()<uint16_t>();
    case 4:
      return find.operator()<uint32_t>();
    case 8:
      return find.operator()<uint64_t>();
  }
  return internal::UnsupportedDType(kKernel, x.dtype());
}

}  // namespace baton::kernels
