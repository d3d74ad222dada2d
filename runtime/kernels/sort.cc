#include "baton/runtime/kernels/sort.h"

#include <algorithm>
#include <array>
#include <bit>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <limits>
#include <numeric>
#include <type_traits>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "absl/strings/string_view.h"
#include "absl/types/span.h"
#include "baton/base/status_macros.h"
#include "baton/runtime/kernels/internal/convert.h"
#include "baton/runtime/kernels/internal/util.h"

namespace baton::kernels {
namespace {

using ::baton::kernels::internal::AxisView;
using ::baton::kernels::internal::Convert;
using ::baton::kernels::internal::Error;
using ::baton::kernels::internal::Stored;

// A strict order in which a NaN comes last.
template <typename E>
bool Before(E a, E b) {
  if constexpr (std::is_integral_v<E>) {
    return a < b;
  } else {
    const auto x = static_cast<double>(a);
    const auto y = static_cast<double>(b);
    return y != y ? x == x : x < y;
  }
}

absl::Status CheckIndexDType(absl::string_view kernel, DType dtype) {
  if (dtype.is_integral() && !dtype.is_bool()) return absl::OkStatus();
  return Error(kernel, "indices of type ", dtype.ToString());
}

// The elements of `x` around an axis. Without elements there is nothing to
// visit, though some extents may be huge: all are 0 then.
AxisView ElementsAround(const Tensor& x, int axis) {
  if (x.num_elements() == 0) return {0, 0, 0};
  return internal::ViewAround(x.shape(), axis);
}

// An integer that orders as elements do in the order of Before: equal for
// elements of which neither comes before the other.
template <typename E>
auto KeyOf(E given) {
  if constexpr (std::is_integral_v<E>) {
    using U = std::conditional_t<sizeof(E) <= 4, uint32_t, uint64_t>;
    constexpr U kOffset = static_cast<U>(std::numeric_limits<E>::min());
    return static_cast<U>(static_cast<U>(given) - kOffset);
  } else {
    // Half floats by way of float.
    using F = std::conditional_t<std::is_same_v<E, double>, double, float>;
    using U = std::conditional_t<sizeof(F) == 4, uint32_t, uint64_t>;
    constexpr U kSign = U{1} << (8 * sizeof(F) - 1);
    const F x = static_cast<F>(given);
    // A NaN comes last, and the zeros are equal.
    const U bits = std::bit_cast<U>(x == F{0} ? F{0} : x);
    const U ordered = (bits & kSign) != 0 ? ~bits : bits | kSign;
    return x != x ? ~U{0} : ordered;
  }
}

// What the sorting of one line of elements leaves for the next.
template <typename Item>
struct Scratch {
  std::vector<Item> items;
  std::vector<Item> other;
};

// The bytes in which keys of E differ: those of half floats are floats'.
template <typename E>
constexpr int kKeyBytes = std::is_integral_v<E>
                              ? static_cast<int>(sizeof(E))
                              : static_cast<int>(sizeof(KeyOf(E{})));

// Sorts by the bits from kShift on, of which kBytes bytes differ, equals in the
// order that they have: by one byte after the other, from the lowest.
template <int kShift, int kBytes, typename Item>
void RadixSort(Scratch<Item>& scratch) {
  std::vector<Item>& items = scratch.items;
  const size_t n = items.size();
  // Where there are few, or more than are counted here, comparisons serve.
  if (n < 128 || n > std::numeric_limits<uint32_t>::max()) {
    std::stable_sort(items.begin(), items.end(), [](Item a, Item b) {
      return (a >> kShift) < (b >> kShift);
    });
    return;
  }
  const auto byte = [](Item item, int i) {
    return static_cast<size_t>(item >> (kShift + 8 * i)) & 0xff;
  };
  std::array<std::array<uint32_t, 256>, kBytes> starts = {};
  for (const Item item : items) {
    for (int i = 0; i < kBytes; ++i) ++starts[i][byte(item, i)];
  }
  scratch.other.resize(n);
  for (int i = 0; i < kBytes; ++i) {
    std::array<uint32_t, 256>& start = starts[i];
    // All have the same.
    if (start[byte(items[0], i)] == n) continue;
    uint32_t sum = 0;
    for (uint32_t& s : start) sum += std::exchange(s, sum);
    for (const Item item : items) scratch.other[start[byte(item, i)]++] = item;
    items.swap(scratch.other);
  }
}

// The positions of the `k` first of `count` elements, `stride` apart, in their
// order; of equals the earlier comes first.
// Item holds a key and a position.
template <typename Item, typename E>
void FirstPositions(const E* in, int64_t stride, int64_t count, int64_t k,
                    bool ascending, int64_t* out, Scratch<Item>& scratch) {
  using Key = decltype(KeyOf(E{}));
  constexpr int kBits = 4 * static_cast<int>(sizeof(Item));
  const auto key = [&](size_t i) {
    const Key key = KeyOf(in[static_cast<int64_t>(i) * stride]);
    return ascending ? key : static_cast<Key>(~key);
  };
  const auto item = [&](Key key, size_t i) -> Item {
    return static_cast<Item>(key) << kBits | static_cast<Item>(i);
  };
  const size_t n = static_cast<size_t>(count);
  std::vector<Item>& best = scratch.items;
  // Few are kept in order, by insertion: most elements come after all of them.
  constexpr int64_t kFew = 64;
  if (k <= kFew) {
    best.resize(static_cast<size_t>(k));
    size_t kept = 0;
    Key worst = 0;  // Of those kept, once there are k.
    for (size_t i = 0; i < n; ++i) {
      const Key next_key = key(i);
      // An equal one was earlier.
      if (kept == best.size() && next_key >= worst) continue;
      if (kept < best.size()) ++kept;
      const Item next = item(next_key, i);
      size_t at = kept - 1;
      for (; at > 0 && next < best[at - 1]; --at) best[at] = best[at - 1];
      best[at] = next;
      worst = static_cast<Key>(best[kept - 1] >> kBits);
    }
  } else {
    best.resize(n);
    for (size_t i = 0; i < n; ++i) best[i] = item(key(i), i);
    if (k < count / 4) {
      const auto middle = best.begin() + static_cast<std::ptrdiff_t>(k);
      std::nth_element(best.begin(), middle, best.end());
      std::sort(best.begin(), middle);
    } else {
      RadixSort<kBits, kKeyBytes<E>>(scratch);
    }
  }
  for (int64_t i = 0; i < k; ++i) {
    out[i * stride] = static_cast<int64_t>(best[static_cast<size_t>(i)] &
                                           ((Item{1} << kBits) - 1));
  }
}

// The first `k` of the positions 0 ... extent - 1 sorted by the elements along
// an axis, for each line of elements along it: in the shape of `x`, of which
// only so many are set.
absl::StatusOr<Tensor> SortedPositions(absl::string_view kernel,
                                       const Tensor& x, int axis, int64_t k,
                                       bool ascending) {
  const AxisView view = ElementsAround(x, axis);
  BATON_ASSIGN_OR_RETURN(MutableTensor result, MutableTensor::Uninitialized(
                                                   DType::Int(64), x.shape()));
  const absl::Span<int64_t> out = result.span<int64_t>();
  if (!x.dtype().IsStorable()) {
    return internal::UnsupportedDType(kernel, x.dtype());
  }
  VisitDType(x.dtype(), [&]<typename T>() {
    using E = Stored<T>;
    const E* in = internal::Data<T>(x);
    const auto for_each_line = [&]<typename Item>(Scratch<Item> scratch) {
      for (int64_t outer = 0; outer < view.outer; ++outer) {
        for (int64_t inner = 0; inner < view.inner; ++inner) {
          const int64_t base = outer * view.extent * view.inner + inner;
          FirstPositions<Item>(in + base, view.inner, view.extent, k, ascending,
                               out.data() + base, scratch);
        }
      }
    };
    if (sizeof(KeyOf(E{})) == 4 &&
        view.extent <= std::numeric_limits<uint32_t>::max()) {
      for_each_line(Scratch<uint64_t>());
    } else {
      for_each_line(Scratch<unsigned __int128>());
    }
  });
  return std::move(result).Freeze();
}

// The element that KeyOf made `key` of: not of half floats, of a NaN, nor of a
// zero with a sign.
template <typename E, typename Key>
E ElementOf(Key key) {
  if constexpr (std::is_integral_v<E>) {
    return static_cast<E>(key +
                          static_cast<Key>(std::numeric_limits<E>::min()));
  } else {
    constexpr Key kSign = Key{1} << (8 * sizeof(Key) - 1);
    return std::bit_cast<E>((key & kSign) != 0 ? key ^ kSign : ~key);
  }
}

// Sorts `count` elements that are `stride` apart, and returns true; or returns
// false where elements have equal keys and different bytes.
template <typename E, typename Key>
bool SortLine(const E* in, int64_t stride, int64_t count, bool ascending,
              E* out, Scratch<Key>& scratch) {
  std::vector<Key>& keys = scratch.items;
  keys.resize(static_cast<size_t>(count));
  int special = 0;
  for (int64_t i = 0; i < count; ++i) {
    const E x = in[i * stride];
    const Key key = KeyOf(x);
    if constexpr (std::is_floating_point_v<E>) {
      special |= (x != x ? 1 : 0) | ((x == 0 ? 1 : 0) & std::signbit(x));
    }
    keys[static_cast<size_t>(i)] = ascending ? key : static_cast<Key>(~key);
  }
  if (special != 0) return false;
  RadixSort<0, kKeyBytes<E>>(scratch);
  for (int64_t i = 0; i < count; ++i) {
    const Key key = keys[static_cast<size_t>(i)];
    out[i * stride] = ElementOf<E>(ascending ? key : static_cast<Key>(~key));
  }
  return true;
}

// As Sort, or false: of dtypes and elements whose order the keys do not tell.
bool SortByKeys(const Tensor& x, int axis, bool ascending, void* result) {
  if (!x.dtype().IsStorable() || x.dtype().is_bool() ||
      internal::IsHalf(x.dtype())) {
    return false;
  }
  const AxisView view = ElementsAround(x, axis);
  const absl::StatusOr<bool> sorted = internal::VisitNumeric(
      "sort", x.dtype(), [&]<typename E>() -> absl::StatusOr<bool> {
        const E* in = internal::Data<E>(x);
        E* out = static_cast<E*>(result);
        Scratch<decltype(KeyOf(E{}))> scratch;
        for (int64_t outer = 0; outer < view.outer; ++outer) {
          for (int64_t inner = 0; inner < view.inner; ++inner) {
            const int64_t base = outer * view.extent * view.inner + inner;
            if (!SortLine(in + base, view.inner, view.extent, ascending,
                          out + base, scratch)) {
              return false;
            }
          }
        }
        return true;
      });
  return sorted.ok() && *sorted;
}

// The first `k` of `positions` along the axis, and the elements there.
absl::StatusOr<TopKResult> First(const Tensor& x, const Tensor& positions,
                                 int axis, int64_t k, DType index_dtype) {
  const AxisView view = ElementsAround(x, axis);
  TensorShape shape = internal::ToShape(x.shape());
  shape[axis] = k;
  BATON_ASSIGN_OR_RETURN(MutableTensor values,
                         MutableTensor::Create(x.dtype(), shape));
  BATON_ASSIGN_OR_RETURN(MutableTensor indices,
                         MutableTensor::Create(DType::Int(64), shape));
  const absl::Span<const int64_t> from = positions.span<int64_t>();
  const absl::Span<int64_t> to = indices.span<int64_t>();
  const int64_t bytes = x.dtype().bytes();
  const char* in = static_cast<const char*>(x.data());
  char* out = static_cast<char*>(values.data());
  int64_t next = 0;
  for (int64_t outer = 0; outer < view.outer; ++outer) {
    const int64_t base = outer * view.extent * view.inner;
    for (int64_t i = 0; i < k; ++i) {
      for (int64_t inner = 0; inner < view.inner; ++inner, ++next) {
        const int64_t position = from[base + i * view.inner + inner];
        to[next] = position;
        std::memcpy(out + next * bytes,
                    in + (base + position * view.inner + inner) * bytes, bytes);
      }
    }
  }
  BATON_ASSIGN_OR_RETURN(
      Tensor converted,
      Convert("topk", std::move(indices).Freeze(), index_dtype));
  return TopKResult{std::move(values).Freeze(), std::move(converted)};
}

template <bool kMultiply>
absl::StatusOr<Tensor> Scan(absl::string_view kernel, const Tensor& x,
                            absl::optional<int64_t> axis, DType dtype,
                            bool exclusive) {
  Tensor data = x;
  int along = 0;
  if (axis.has_value()) {
    BATON_ASSIGN_OR_RETURN(along,
                           internal::NormalizeAxis(kernel, *axis, x.rank()));
  } else {
    BATON_ASSIGN_OR_RETURN(data, x.Reshaped({x.num_elements()}));
  }
  const DType result_dtype = dtype.is_void() ? x.dtype() : dtype;
  BATON_ASSIGN_OR_RETURN(data, Convert(kernel, data, result_dtype));
  BATON_ASSIGN_OR_RETURN(data, internal::WidenHalf(kernel, data));
  BATON_ASSIGN_OR_RETURN(MutableTensor result,
                         MutableTensor::Create(data.dtype(), data.shape()));
  const AxisView view = ElementsAround(data, along);
  BATON_RETURN_IF_ERROR(internal::VisitNumeric(
      kernel, data.dtype(), [&]<typename E>() -> absl::Status {
        const E* in = internal::Data<E>(data);
        E* out = static_cast<E*>(result.data());
        const auto combine = [](E a, E b) -> E {
          if constexpr (std::is_integral_v<E>) {
            using W = internal::Wrapping<E>;
            const W p = static_cast<W>(a);
            const W q = static_cast<W>(b);
            return static_cast<E>(kMultiply ? p * q : p + q);
          } else {
            return kMultiply ? a * b : a + b;
          }
        };
        for (int64_t outer = 0; outer < view.outer; ++outer) {
          for (int64_t inner = 0; inner < view.inner; ++inner) {
            int64_t at = outer * view.extent * view.inner + inner;
            E total = kMultiply ? E{1} : E{0};
            for (int64_t i = 0; i < view.extent; ++i, at += view.inner) {
              const E next = combine(total, in[at]);
              out[at] = exclusive ? total : next;
              total = next;
            }
          }
        }
        return absl::OkStatus();
      }));
  return Convert(kernel, std::move(result).Freeze(), result_dtype);
}

}  // namespace

absl::StatusOr<Tensor> Sort(const Tensor& x, int64_t axis, bool ascending) {
  BATON_ASSIGN_OR_RETURN(const int along,
                         internal::NormalizeAxis("sort", axis, x.rank()));
  BATON_ASSIGN_OR_RETURN(MutableTensor result,
                         MutableTensor::Uninitialized(x.dtype(), x.shape()));
  if (SortByKeys(x, along, ascending, result.data())) {
    return std::move(result).Freeze();
  }
  BATON_ASSIGN_OR_RETURN(
      const Tensor positions,
      SortedPositions("sort", x, along, x.shape()[along], ascending));
  BATON_ASSIGN_OR_RETURN(
      TopKResult sorted,
      First(x, positions, along, x.shape()[along], DType::Int(64)));
  return std::move(sorted.values);
}

absl::StatusOr<Tensor> Argsort(const Tensor& x, int64_t axis, bool ascending,
                               DType index_dtype) {
  BATON_RETURN_IF_ERROR(index_dtype.is_float()
                            ? absl::OkStatus()
                            : CheckIndexDType("argsort", index_dtype));
  BATON_ASSIGN_OR_RETURN(const int along,
                         internal::NormalizeAxis("argsort", axis, x.rank()));
  BATON_ASSIGN_OR_RETURN(
      const Tensor positions,
      SortedPositions("argsort", x, along, x.shape()[along], ascending));
  return Convert("argsort", positions, index_dtype);
}

absl::StatusOr<TopKResult> TopK(const Tensor& x, int64_t k, int64_t axis,
                                bool ascending, DType index_dtype) {
  BATON_RETURN_IF_ERROR(CheckIndexDType("topk", index_dtype));
  BATON_ASSIGN_OR_RETURN(const int along,
                         internal::NormalizeAxis("topk", axis, x.rank()));
  const int64_t extent = x.shape()[along];
  if (k > extent) {
    return Error("topk", k, " of ", extent, " elements are wanted");
  }
  if (k < 1) k = extent;
  BATON_ASSIGN_OR_RETURN(const Tensor positions,
                         SortedPositions("topk", x, along, k, ascending));
  return First(x, positions, along, k, index_dtype);
}

absl::StatusOr<Tensor> SearchSorted(const Tensor& sorted, const Tensor& values,
                                    bool right, DType index_dtype) {
  constexpr absl::string_view kKernel = "searchsorted";
  BATON_RETURN_IF_ERROR(CheckIndexDType(kKernel, index_dtype));
  BATON_RETURN_IF_ERROR(internal::CheckSameDType(kKernel, sorted, values));
  if (sorted.rank() == 0 || values.rank() == 0) {
    return Error(kKernel, "a scalar cannot be searched");
  }
  const bool shared = sorted.rank() == 1;
  const auto rows = values.shape().subspan(0, values.rank() - 1);
  if (!shared && sorted.shape().subspan(0, sorted.rank() - 1) != rows) {
    return Error(kKernel, "the shapes ",
                 internal::ShapeToString(sorted.shape()), " and ",
                 internal::ShapeToString(values.shape()), " do not fit");
  }
  const int64_t length = sorted.shape().back();
  const int64_t width = values.shape().back();
  BATON_ASSIGN_OR_RETURN(MutableTensor result,
                         MutableTensor::Create(DType::Int(64), values.shape()));
  const absl::Span<int64_t> out = result.span<int64_t>();
  VisitDType(sorted.dtype(), [&]<typename T>() {
    using E = Stored<T>;
    const E* in = internal::Data<T>(values);
    for (size_t i = 0; i < out.size(); ++i) {
      const E* begin = internal::Data<T>(sorted) +
                       (shared ? 0 : static_cast<int64_t>(i) / width * length);
      const E* at =
          right ? std::upper_bound(begin, begin + length, in[i], Before<E>)
                : std::lower_bound(begin, begin + length, in[i], Before<E>);
      out[i] = at - begin;
    }
  });
  return Convert(kKernel, std::move(result).Freeze(), index_dtype);
}

absl::StatusOr<Tensor> CumSum(const Tensor& x, absl::optional<int64_t> axis,
                              DType dtype, bool exclusive) {
  return Scan</*kMultiply=*/false>("cumsum", x, axis, dtype, exclusive);
}

absl::StatusOr<Tensor> CumProd(const Tensor& x, absl::optional<int64_t> axis,
                               DType dtype, bool exclusive) {
  return Scan</*kMultiply=*/true>("cumprod", x, axis, dtype, exclusive);
}

absl::StatusOr<UniqueResult> Unique(const Tensor& x, bool sorted) {
  constexpr absl::string_view kKernel = "unique";
  BATON_RETURN_IF_ERROR(internal::CheckRank(kKernel, "data", x, 1));
  BATON_ASSIGN_OR_RETURN(const Tensor order_tensor,
                         SortedPositions(kKernel, x, 0, x.num_elements(),
                                         /*ascending=*/true));
  const absl::Span<const int64_t> order = order_tensor.span<int64_t>();
  const size_t size = order.size();
  const auto bytes = static_cast<size_t>(x.dtype().bytes());
  const auto* const data = static_cast<const char*>(x.data());
  // Runs of equal elements: where they begin in `order`.
  std::vector<size_t> runs;
  for (size_t i = 0; i < size; ++i) {
    const bool same = i > 0 &&
                      x.AtAsDouble(order[i]) == x.AtAsDouble(order[i - 1]) &&
                      x.AtAsInt64(order[i]) == x.AtAsInt64(order[i - 1]);
    if (!same) runs.push_back(i);
  }
  // Equal elements keep their order, so that each run begins with the first.
  std::vector<size_t> ranks(runs.size());
  std::iota(ranks.begin(), ranks.end(), size_t{0});
  if (!sorted) {
    std::sort(ranks.begin(), ranks.end(), [&](size_t a, size_t b) {
      return order[runs[a]] < order[runs[b]];
    });
  }
  BATON_ASSIGN_OR_RETURN(MutableTensor values,
                         MutableTensor::Create(x.dtype(), x.shape()));
  std::vector<int32_t> indices(size), inverse(size), counts(size);
  for (size_t k = 0; k < ranks.size(); ++k) {
    const size_t run = ranks[k];
    const size_t end = run + 1 < runs.size() ? runs[run + 1] : size;
    const auto first = static_cast<size_t>(order[runs[run]]);
    std::memcpy(static_cast<char*>(values.data()) + k * bytes,
                data + first * bytes, bytes);
    indices[k] = static_cast<int32_t>(first);
    counts[k] = static_cast<int32_t>(end - runs[run]);
    for (size_t i = runs[run]; i < end; ++i) {
      inverse[static_cast<size_t>(order[i])] = static_cast<int32_t>(k);
    }
  }
  UniqueResult result;
  result.values = std::move(values).Freeze();
  BATON_ASSIGN_OR_RETURN(result.indices,
                         Tensor::FromValues<int32_t>(x.shape(), indices));
  BATON_ASSIGN_OR_RETURN(result.inverse,
                         Tensor::FromValues<int32_t>(x.shape(), inverse));
  const std::vector<int32_t> count = {static_cast<int32_t>(ranks.size())};
  BATON_ASSIGN_OR_RETURN(result.count, Tensor::FromValues<int32_t>({1}, count));
  BATON_ASSIGN_OR_RETURN(result.counts,
                         Tensor::FromValues<int32_t>(x.shape(), counts));
  return result;
}

absl::StatusOr<Tensor> InvertPermutation(const Tensor& x) {
  constexpr absl::string_view kKernel = "invert_permutation";
  BATON_RETURN_IF_ERROR(CheckIndexDType(kKernel, x.dtype()));
  BATON_RETURN_IF_ERROR(internal::CheckRank(kKernel, "data", x, 1));
  const int64_t n = x.num_elements();
  std::vector<int64_t> inverse(n, -1);
  for (int64_t i = 0; i < n; ++i) {
    const int64_t to = x.AtAsInt64(i);
    if (to < 0 || to >= n || inverse[to] >= 0) {
      return Error(kKernel, "the data is not a permutation");
    }
    inverse[to] = i;
  }
  BATON_ASSIGN_OR_RETURN(const Tensor result,
                         Tensor::FromValues<int64_t>({n}, inverse));
  return Convert(kKernel, result, x.dtype());
}

}  // namespace baton::kernels
