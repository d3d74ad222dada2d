#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <limits>
#include <utility>
#include <vector>

#include "absl/status/status.h"
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
#include "baton/runtime/kernels/internal/places.h"
#include "baton/runtime/kernels/internal/util.h"
#include "baton/runtime/kernels/internal/vectorize.h"
#include "baton/runtime/kernels/shape_kernels.h"

namespace baton::kernels {
namespace {

using internal::AxisView;
using internal::CheckOneElement;
using internal::CopyItems;
using internal::Error;
using internal::NormalizePlace;

// Integers of any width as int64.
absl::StatusOr<Tensor> ToIndices(absl::string_view name, const Tensor& x) {
  if (!x.dtype().is_integral() || x.dtype().is_bool()) {
    return Error(name, "indices must be integers, not ", x.TypeToString());
  }
  if (x.dtype() != DType::UInt(64)) {
    return internal::Convert(name, x, DType::Int(64));
  }
  // Numbers beyond int64 are beyond the end, not below zero.
  BATON_ASSIGN_OR_RETURN(MutableTensor result, MutableTensor::Uninitialized(
                                                   DType::Int(64), x.shape()));
  constexpr auto kLargest =
      static_cast<uint64_t>(std::numeric_limits<int64_t>::max());
  const absl::Span<const uint64_t> from = x.span<uint64_t>();
  const absl::Span<int64_t> to = result.span<int64_t>();
  for (size_t i = 0; i < from.size(); ++i) {
    to[i] = static_cast<int64_t>(std::min(from[i], kLargest));
  }
  return std::move(result).Freeze();
}

// `index` made to lie in [0, extent) by `mode`. False if it does not.
bool Resolve(int64_t extent, IndexMode mode, int64_t& index) {
  switch (mode) {
    case IndexMode::kClip:
      index = std::max<int64_t>(0, std::min(index, extent - 1));
      break;
    case IndexMode::kWrap:
      if (extent > 0) {
        index %= extent;
        if (index < 0) index += extent;
      }
      break;
    case IndexMode::kCheck:
      break;
  }
  return index >= 0 && index < extent;
}

// Indices at a time, of which one that is out of range makes all be looked at.
constexpr int64_t kBlock = 1024;

struct Range {
  int64_t least;
  int64_t greatest;
};

Range RangeOf(const int64_t* index, int64_t n) {
  Range range{0, 0};
  internal::RunLoop([index, n, &range]() BATON_LOOP {
    int64_t least = index[0];
    int64_t greatest = index[0];
    for (int64_t i = 0; i < n; ++i) {
      least = index[i] < least ? index[i] : least;
      greatest = index[i] > greatest ? index[i] : greatest;
    }
    range.least = least;
    range.greatest = greatest;
  });
  return range;
}

absl::Status OutOfRange(absl::string_view name, int64_t index, int64_t extent) {
  return Error(name, "index ", index, " is out of range for extent ", extent);
}

}  // namespace

absl::StatusOr<Tensor> Take(const Tensor& x, const Tensor& indices,
                            absl::optional<int64_t> axis, IndexMode mode,
                            int64_t batch_dims) {
  constexpr char kName[] = "take";
  BATON_ASSIGN_OR_RETURN(const Tensor at, ToIndices(kName, indices));
  if (!axis.has_value()) {
    if (batch_dims != 0) return Error(kName, "batch_dims needs an axis");
    BATON_ASSIGN_OR_RETURN(const Tensor flat, x.Reshaped({x.num_elements()}));
    return Take(flat, at, 0, mode);
  }
  BATON_ASSIGN_OR_RETURN(const int normal,
                         internal::NormalizeAxis(kName, *axis, x.rank()));
  const size_t k = static_cast<size_t>(normal);
  if (batch_dims < 0) batch_dims += at.rank();
  const size_t b = static_cast<size_t>(batch_dims);
  if (batch_dims < 0 || b > k || b > at.shape().size() ||
      x.shape().subspan(0, b) != at.shape().subspan(0, b)) {
    return Error(kName, batch_dims, " batch dimensions do not fit ",
                 x.TypeToString(), " and indices ", indices.TypeToString());
  }
  TensorShape shape(x.shape().begin(), x.shape().begin() + normal);
  shape.insert(shape.end(), at.shape().begin() + batch_dims, at.shape().end());
  shape.insert(shape.end(), x.shape().begin() + normal + 1, x.shape().end());
  BATON_ASSIGN_OR_RETURN(MutableTensor result,
                         MutableTensor::Uninitialized(x.dtype(), shape));
  if (result.num_elements() == 0) return std::move(result).Freeze();
  const int64_t extent = x.shape()[k];
  absl::Span<const int64_t> positions = at.span<int64_t>();
  std::vector<int64_t> resolved;
  const Range range = RangeOf(positions.data(), at.num_elements());
  if (range.least < 0 || range.greatest >= extent) {
    resolved.assign(positions.begin(), positions.end());
    for (int64_t& index : resolved) {
      if (!Resolve(extent, mode, index)) {
        return OutOfRange(kName, index, extent);
      }
    }
    positions = resolved;
  }
  const AxisView v = internal::ViewAround(x.shape(), normal);
  const int64_t batch = internal::Product(x.shape().subspan(0, b));
  const int64_t per_batch = v.outer / batch;
  const int64_t count = static_cast<int64_t>(positions.size()) / batch;
  const int64_t run = v.inner * x.dtype().bytes();
  char* to = static_cast<char*>(result.data());
  for (int64_t o = 0; o < v.outer; ++o) {
    CopyItems(static_cast<const char*>(x.data()) + o * v.extent * run, run,
              positions.subspan(static_cast<size_t>(o / per_batch * count),
                                static_cast<size_t>(count)),
              to);
    to += count * run;
  }
  return std::move(result).Freeze();
}

absl::StatusOr<Tensor> Gather(const Tensor& x, int64_t axis,
                              const Tensor& indices) {
  constexpr char kName[] = "gather";
  BATON_ASSIGN_OR_RETURN(const Tensor at, ToIndices(kName, indices));
  BATON_ASSIGN_OR_RETURN(const int normal,
                         internal::NormalizeAxis(kName, axis, x.rank()));
  const size_t k = static_cast<size_t>(normal);
  bool fits = at.rank() == x.rank();
  for (size_t d = 0; fits && d < x.shape().size(); ++d) {
    fits = d == k || at.shape()[d] == x.shape()[d];
  }
  if (!fits) {
    return Error(kName, "indices ", indices.TypeToString(), " do not fit ",
                 x.TypeToString(), " along axis ", axis);
  }
  BATON_ASSIGN_OR_RETURN(MutableTensor result,
                         MutableTensor::Uninitialized(x.dtype(), at.shape()));
  if (result.num_elements() == 0) return std::move(result).Freeze();
  const AxisView v = internal::ViewAround(x.shape(), normal);
  const int64_t count = at.shape()[k];
  const int64_t* index = at.span<int64_t>().data();
  const Range range = RangeOf(index, at.num_elements());
  for (const int64_t given : {range.least, range.greatest}) {
    if (given >= -v.extent && given < v.extent) continue;
    // The first that is.
    for (int64_t i = 0; i < at.num_elements(); ++i) {
      if (index[i] < -v.extent || index[i] >= v.extent) {
        return OutOfRange(kName, index[i], v.extent);
      }
    }
  }
  const auto copy = [&]<typename T>() {
    const T* from = static_cast<const T*>(x.data());
    T* to = static_cast<T*>(result.data());
    for (int64_t o = 0; o < v.outer; ++o, from += v.extent * v.inner) {
      if (v.inner == 1) {
        for (int64_t j = 0; j < count; ++j) {
          const int64_t given = *index++;
          *to++ = from[given < 0 ? given + v.extent : given];
        }
        continue;
      }
      for (int64_t j = 0; j < count; ++j) {
        for (int64_t i = 0; i < v.inner; ++i) {
          const int64_t given = *index++;
          const int64_t position = given < 0 ? given + v.extent : given;
          *to++ = from[position * v.inner + i];
        }
      }
    }
  };
  switch (x.dtype().bytes()) {
    case 1:
      copy.operator()<uint8_t>();
      break;
    case 2:
      copy.operator()<uint16_t>();
      break;
    case 4:
      copy.operator()<uint32_t>();
      break;
    default:
      copy.operator()<uint64_t>();
      break;
  }
  return std::move(result).Freeze();
}

absl::StatusOr<Tensor> GatherNd(const Tensor& x, const Tensor& indices,
                                int64_t batch_dims) {
  constexpr char kName[] = "gather_nd";
  BATON_ASSIGN_OR_RETURN(const Tensor at, ToIndices(kName, indices));
  const auto misfit = [&] {
    return Error(kName, "indices ", indices.TypeToString(), " do not fit ",
                 x.TypeToString(), " with ", batch_dims, " batch dimensions");
  };
  if (at.rank() < 1 || batch_dims < 0 || batch_dims > at.rank() - 1 ||
      batch_dims > x.rank() || at.shape()[0] > x.rank() - batch_dims) {
    return misfit();
  }
  const size_t b = static_cast<size_t>(batch_dims);
  const size_t m = static_cast<size_t>(at.shape()[0]);
  if (at.shape().subspan(1, b) != x.shape().subspan(0, b)) return misfit();
  TensorShape shape = internal::ToShape(at.shape().subspan(1));
  shape.insert(shape.end(), x.shape().begin() + batch_dims + at.shape()[0],
               x.shape().end());
  BATON_ASSIGN_OR_RETURN(MutableTensor result,
                         MutableTensor::Uninitialized(x.dtype(), shape));
  if (result.num_elements() == 0) return std::move(result).Freeze();
  GatherNdParams params;
  params.extents = internal::ToShape(x.shape().subspan(b, m));
  params.points = internal::Product(at.shape().subspan(1));
  params.per_batch = params.points / internal::Product(x.shape().subspan(0, b));
  params.run = internal::Product(x.shape().subspan(b + m)) * x.dtype().bytes();
  params.has_wide_indices = true;
  if (GatherNdInto(params, x.data(), at.data(), 0, params.points,
                   result.data())) {
    return std::move(result).Freeze();
  }
  const absl::Span<const int64_t> given = at.span<int64_t>();
  for (int64_t i = 0; i < params.points; ++i) {
    for (size_t j = 0; j < m; ++j) {
      const int64_t extent = params.extents[j];
      const int64_t index = given[j * static_cast<size_t>(params.points) +
                                  static_cast<size_t>(i)];
      if (index < -extent || index >= extent) {
        return OutOfRange(kName, index, extent);
      }
    }
  }
  return Error(kName, "an index is out of range");
}

bool GatherNdInto(const GatherNdParams& params, const void* x,
                  const void* indices, int64_t begin, int64_t end, void* y) {
  const TensorShape strides = RowMajorStrides(params.extents);
  const int64_t item = internal::Product(params.extents) * params.run;
  int64_t places[kBlock];
  int64_t widened[kBlock];
  for (int64_t p = begin; p < end;) {
    // A block of points lies within one batch.
    const int64_t count =
        std::min({kBlock, params.per_batch - p % params.per_batch, end - p});
    std::fill_n(places, count, 0);
    for (size_t j = 0; j < params.extents.size(); ++j) {
      const int64_t first = static_cast<int64_t>(j) * params.points + p;
      const int64_t* index = widened;
      if (params.has_wide_indices) {
        index = static_cast<const int64_t*>(indices) + first;
      } else {
        std::copy_n(static_cast<const int32_t*>(indices) + first, count,
                    widened);
      }
      if (!internal::AddPlaces(index, count, params.extents[j], strides[j],
                               places)) {
        return false;
      }
    }
    CopyItems(static_cast<const char*>(x) + p / params.per_batch * item,
              params.run,
              absl::MakeConstSpan(places, static_cast<size_t>(count)),
              static_cast<char*>(y) + p * params.run);
    p += count;
  }
  return true;
}

namespace {

// `choice` is of bools; x and y have one dtype.
void SelectElements(const internal::BroadcastPlan<3>& plan,
                    const Tensor& choice, const Tensor& x, const Tensor& y,
                    void* result) {
  const uint8_t* c = internal::Data<bool>(choice);
  const int64_t n = plan.dims.back();
  const auto run = [&]<typename T>() {
    internal::ForEachRun(
        plan, [&](const std::array<int64_t, 3>& at, int64_t to) {
          const uint8_t* pick = c + at[0];
          const T* first = static_cast<const T*>(x.data()) + at[1];
          const T* second = static_cast<const T*>(y.data()) + at[2];
          T* out = static_cast<T*>(result) + to;
          const std::array<int64_t, 3> step = {plan.strides[0].back(),
                                               plan.strides[1].back(),
                                               plan.strides[2].back()};
          const auto loop = [=](int64_t i, int64_t j, int64_t k) BATON_LOOP {
            for (int64_t e = 0; e < n; ++e) {
              const T u = first[e * j];
              const T v = second[e * k];
              out[e] = pick[e * i] != 0 ? u : v;
            }
          };
          // Constant steps become vectors.
          if (step[0] != 1) {
            loop(step[0], step[1], step[2]);
          } else if (step[1] == 1 && step[2] == 1) {
            internal::RunLoop([=]() BATON_LOOP { loop(1, 1, 1); });
          } else if (step[1] == 1) {
            internal::RunLoop([=]() BATON_LOOP { loop(1, 1, 0); });
          } else if (step[2] == 1) {
            internal::RunLoop([=]() BATON_LOOP { loop(1, 0, 1); });
          } else {
            internal::RunLoop([=]() BATON_LOOP { loop(1, 0, 0); });
          }
        });
  };
  switch (x.dtype().bytes()) {
    case 1:
      run.operator()<uint8_t>();
      break;
    case 2:
      run.operator()<uint16_t>();
      break;
    case 4:
      run.operator()<uint32_t>();
      break;
    default:
      run.operator()<uint64_t>();
      break;
  }
}

}  // namespace

absl::StatusOr<Tensor> Where(const Tensor& condition, const Tensor& x,
                             const Tensor& y) {
  constexpr char kName[] = "where";
  BATON_RETURN_IF_ERROR(internal::CheckSameDType(kName, x, y));
  BATON_ASSIGN_OR_RETURN(const Tensor choice,
                         internal::Convert(kName, condition, DType::Bool()));
  BATON_ASSIGN_OR_RETURN(const auto plan,
                         (internal::PlanBroadcast<3>(
                             kName, {choice.shape(), x.shape(), y.shape()})));
  BATON_ASSIGN_OR_RETURN(MutableTensor result,
                         MutableTensor::Uninitialized(x.dtype(), plan.shape));
  SelectElements(plan, choice, x, y, result.data());
  return std::move(result).Freeze();
}

absl::Status WhereInto(const Tensor& condition, const Tensor& x,
                       const Tensor& y, void* result) {
  BATON_ASSIGN_OR_RETURN(
      const auto plan,
      (internal::PlanBroadcast<3>("where",
                                  {condition.shape(), x.shape(), y.shape()})));
  SelectElements(plan, condition, x, y, result);
  return absl::OkStatus();
}

absl::StatusOr<Tensor> OneHot(const Tensor& indices, const Tensor& on,
                              const Tensor& off, int64_t depth, int64_t axis,
                              DType dtype) {
  constexpr char kName[] = "one_hot";
  BATON_ASSIGN_OR_RETURN(const Tensor at, ToIndices(kName, indices));
  BATON_ASSIGN_OR_RETURN(const size_t place,
                         NormalizePlace(kName, axis, at.rank()));
  if (depth < 0) return Error(kName, "negative depth ", depth);
  BATON_RETURN_IF_ERROR(CheckOneElement(kName, "the on value", on));
  BATON_RETURN_IF_ERROR(CheckOneElement(kName, "the off value", off));
  BATON_ASSIGN_OR_RETURN(const Tensor mark,
                         internal::Convert(kName, on, dtype));
  TensorShape shape = internal::ToShape(at.shape());
  shape.insert(shape.begin() + static_cast<std::ptrdiff_t>(place), depth);
  BATON_ASSIGN_OR_RETURN(const Tensor rest,
                         internal::Convert(kName, off, dtype));
  BATON_ASSIGN_OR_RETURN(MutableTensor result,
                         MutableTensor::Uninitialized(dtype, shape));
  if (result.num_elements() == 0) return std::move(result).Freeze();
  const AxisView v = internal::ViewAround(shape, static_cast<int>(place));
  OneHotInto({.depth = depth,
              .inner = v.inner,
              .bytes = dtype.bytes(),
              .has_wide_indices = true},
             at.data(), mark.data(), rest.data(), v.outer, result.data());
  return std::move(result).Freeze();
}

void OneHotInto(const OneHotParams& params, const void* indices, const void* on,
                const void* off, int64_t outer, void* y) {
  const int64_t slab = params.depth * params.inner;
  const auto mark = [&]<typename T, typename Index>() {
    T hot;
    T cold;
    std::memcpy(&hot, on, sizeof(T));
    std::memcpy(&cold, off, sizeof(T));
    T* to = static_cast<T*>(y);
    const Index* index = static_cast<const Index*>(indices);
    for (int64_t o = 0; o < outer; ++o, to += slab) {
      std::fill_n(to, slab, cold);
      for (int64_t i = 0; i < params.inner; ++i, ++index) {
        if (*index < 0 || *index >= params.depth) continue;
        to[int64_t{*index} * params.inner + i] = hot;
      }
    }
  };
  const auto visit = [&]<typename Index>() {
    switch (params.bytes) {
      case 1:
        return mark.template operator()<uint8_t, Index>();
      case 2:
        return mark.template operator()<uint16_t, Index>();
      case 4:
        return mark.template operator()<uint32_t, Index>();
      default:
        return mark.template operator()<uint64_t, Index>();
    }
  };
  if (params.has_wide_indices) {
    visit.template operator()<int64_t>();
  } else {
    visit.template operator()<int32_t>();
  }
}

}  // namespace baton::kernels
