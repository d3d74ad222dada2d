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

#include "absl/base/attributes.h"
#include "absl/status/status.h"
#include "absl/strings/string_view.h"
#include "absl/types/span.h"
#include "baton/base/status_macros.h"
#include "baton/runtime/kernels/internal/convert.h"
#include "baton/runtime/kernels/internal/strided_copy.h"
#include "baton/runtime/kernels/internal/util.h"
#include "baton/runtime/kernels/internal/vectorize.h"

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
// elements of which neither comes before the other. Signed integers are given
// as unsigned ones of the same bits: FlipOf orders them.
template <typename E>
BATON_LOOP inline auto KeyOf(E given) {
  if constexpr (std::is_integral_v<E>) {
    static_assert(std::is_unsigned_v<E>);
    using U = std::conditional_t<sizeof(E) <= 4, uint32_t, uint64_t>;
    return static_cast<U>(given);
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

template <typename E>
using Key = decltype(KeyOf(E{}));

// Calls fn<E>() for the type of elements of `dtype`, integers as unsigned.
template <typename Fn>
void VisitUnsigned(DType dtype, const Fn& fn) {
  VisitDType(dtype, [&fn]<typename T>() {
    using E = Stored<T>;
    if constexpr (std::is_integral_v<E>) {
      fn.template operator()<std::make_unsigned_t<E>>();
    } else {
      fn.template operator()<E>();
    }
  });
}

// The bits that differ between KeyOf an element of `dtype` and the key by which
// it is sorted.
template <typename E>
Key<E> FlipOf(DType dtype, bool ascending) {
  Key<E> flip = ascending ? Key<E>{0} : static_cast<Key<E>>(~Key<E>{0});
  if (dtype.is_int()) flip ^= Key<E>{1} << (8 * sizeof(E) - 1);
  return flip;
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

// Sorts by the bits from kShift on, equals in the order that they have.
template <int kShift, typename Item>
ABSL_ATTRIBUTE_NOINLINE void SortByComparing(std::vector<Item>& items) {
  std::stable_sort(items.begin(), items.end(), [](Item a, Item b) {
    return (a >> kShift) < (b >> kShift);
  });
}

// As SortByComparing, of bits of which kBytes bytes differ: by one byte after
// the other, from the lowest.
template <int kShift, int kBytes, typename Item>
void RadixSort(Scratch<Item>& scratch) {
  std::vector<Item>& items = scratch.items;
  const size_t n = items.size();
  // Where there are few, or more than are counted here, comparisons serve.
  if (n < 128 || n > std::numeric_limits<uint32_t>::max()) {
    return SortByComparing<kShift>(items);
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

// Lines that are sorted side by side, by the same steps: as many as fill the
// widest vector.
template <typename Item>
constexpr int64_t kLanes = 64 / static_cast<int64_t>(sizeof(Item));

// Whether SortColumns takes less time than RadixSort: the steps that a column
// takes grow faster than the column, few lines leave lanes empty, and small
// vectors take more steps.
template <typename Item>
bool SortsColumns(const AxisView& view) {
  constexpr int64_t kMaxRows = 2048;
  constexpr auto kNeeded =
      sizeof(Item) == 4 ? internal::Vectors::k256 : internal::Vectors::k512;
  const int64_t adjacent = view.inner == 1 ? view.outer : view.inner;
  return view.extent <= kMaxRows && adjacent >= kLanes<Item> / 4 &&
         internal::WidestVectors() >= kNeeded;
}

// Sorts each of the kLanes columns of `rows` rows by Batcher's merge exchange
// (Knuth, The Art of Computer Programming, 5.2.2, algorithm M). Which rows are
// compared does not depend on what they hold.
template <typename Item>
void SortColumns(Item* items, int64_t rows) {
  internal::RunLoop([=]() BATON_LOOP {
    if (rows < 2) return;
    constexpr int64_t kN = kLanes<Item>;
    const auto top =
        static_cast<int64_t>(std::bit_ceil(static_cast<uint64_t>(rows)) / 2);
    for (int64_t p = top; p > 0; p /= 2) {
      int64_t start = 0;
      int64_t distance = p;
      for (int64_t q = top;; q /= 2) {
        // Runs of p rows, every other one.
        for (int64_t run = start; run + distance < rows; run += 2 * p) {
          const int64_t end = std::min(run + p, rows - distance);
          for (int64_t i = run; i < end; ++i) {
            Item* a = items + i * kN;
            Item* b = a + distance * kN;
            for (int64_t j = 0; j < kN; ++j) {
              const Item x = a[j];
              const Item y = b[j];
              a[j] = x < y ? x : y;
              b[j] = x < y ? y : x;
            }
          }
        }
        if (q == p) break;
        distance = q - p;
        start = p;
      }
    }
  });
}

// Elements that are looked at together.
constexpr int64_t kGroup = 64;

// Where the first group from `begin` on begins of which an element has a key
// below `bound`; `n` if there is none.
template <typename E>
int64_t NextBelow(const E* in, int64_t begin, int64_t n, Key<E> flip,
                  Key<E> bound) {
  int64_t place = n;
  internal::RunLoop([=, &place]() BATON_LOOP {
    for (int64_t first = begin; first < n; first += kGroup) {
      const int64_t end = std::min(n, first + kGroup);
      int found = 0;
      for (int64_t i = first; i < end; ++i) {
        found |= (KeyOf(in[i]) ^ flip) < bound ? 1 : 0;
      }
      if (found == 0) continue;
      place = first;
      return;
    }
  });
  return place;
}

// The positions of the `k` first of `n` elements, in their order; of equals the
// earlier comes first. Item holds a key and a position.
template <typename Item, typename E>
void FirstPositions(const E* in, int64_t n, int64_t k, Key<E> flip,
                    int64_t* out, Scratch<Item>& scratch) {
  constexpr int kBits = 4 * static_cast<int>(sizeof(Item));
  const auto item = [&](int64_t i) -> Item {
    const auto key = static_cast<Key<E>>(KeyOf(in[i]) ^ flip);
    return static_cast<Item>(key) << kBits | static_cast<Item>(i);
  };
  std::vector<Item>& best = scratch.items;
  // Few are kept in order, by insertion: most elements come after all of them.
  constexpr int64_t kFew = 128;
  if (k <= kFew) {
    best.resize(static_cast<size_t>(k));
    size_t kept = 0;
    Key<E> worst = 0;  // Of those kept, once there are k.
    for (int64_t i = 0; i < n;) {
      bool changed = false;
      for (const int64_t end = std::min(n, i + kGroup); i < end; ++i) {
        const Item next = item(i);
        // An equal one was earlier.
        if (kept == best.size() &&
            static_cast<Key<E>>(next >> kBits) >= worst) {
          continue;
        }
        changed = true;
        if (kept < best.size()) ++kept;
        size_t at = kept - 1;
        for (; at > 0 && next < best[at - 1]; --at) best[at] = best[at - 1];
        best[at] = next;
        worst = static_cast<Key<E>>(best[kept - 1] >> kBits);
      }
      if (!changed) i = NextBelow(in, i, n, flip, worst);
    }
  } else {
    best.resize(static_cast<size_t>(n));
    for (int64_t i = 0; i < n; ++i) best[static_cast<size_t>(i)] = item(i);
    if (k < n / 4) {
      const auto middle = best.begin() + static_cast<std::ptrdiff_t>(k);
      std::nth_element(best.begin(), middle, best.end());
      std::sort(best.begin(), middle);
    } else {
      RadixSort<kBits, kKeyBytes<E>>(scratch);
    }
  }
  for (int64_t i = 0; i < k; ++i) {
    out[i] = static_cast<int64_t>(best[static_cast<size_t>(i)] &
                                  ((Item{1} << kBits) - 1));
  }
}

// Calls fn(base, lines, step) for all lines along the axis, at most `width` at
// a time: the first begins at `base`, the others `step` elements apart.
template <typename Fn>
void ForEachBlock(const AxisView& view, int64_t width, const Fn& fn) {
  if (view.inner == 1) {
    for (int64_t first = 0; first < view.outer; first += width) {
      fn(first * view.extent, std::min(width, view.outer - first), view.extent);
    }
    return;
  }
  for (int64_t outer = 0; outer < view.outer; ++outer) {
    for (int64_t first = 0; first < view.inner; first += width) {
      fn(outer * view.extent * view.inner + first,
         std::min(width, view.inner - first), 1);
    }
  }
}

// Calls fn(line, result), where `line` holds the elements of a line of `in` and
// the first `k` of its `result` go to the place of the line in `out`, for each
// until one returns false. Whether none did.
template <typename E, typename To, typename Fn>
bool ForEachLine(const E* in, const AxisView& view, int64_t k, To* out,
                 const Fn& fn) {
  const int64_t extent = view.extent;
  bool done = true;
  if (view.inner == 1) {
    for (int64_t o = 0; done && o < view.outer; ++o) {
      done = fn(in + o * extent, out + o * extent);
    }
    return done;
  }
  // Whole cache lines of `in`, unless that is too much.
  constexpr int64_t kMaxElements = 1 << 17;
  const int64_t width = std::clamp<int64_t>(
      kMaxElements / std::max<int64_t>(extent, 1), 1, kLanes<E>);
  std::vector<E> lines(static_cast<size_t>(width * extent));
  std::vector<To> results(static_cast<size_t>(width * extent));
  ForEachBlock(view, width, [&](int64_t base, int64_t count, int64_t step) {
    internal::StridedCopy(sizeof(E), {count, extent}, in + base,
                          {step, view.inner}, lines.data(), {extent, 1});
    for (int64_t j = 0; done && j < count; ++j) {
      done = fn(lines.data() + j * extent, results.data() + j * extent);
    }
    if (!done) return;
    internal::StridedCopy(sizeof(To), {count, k}, results.data(), {extent, 1},
                          out + base, {step, view.inner});
  });
  return done;
}

// As FirstPositions, for all lines of `in`, of keys of four bytes.
template <typename E>
void PositionsByColumns(const E* in, const AxisView& view, int64_t k,
                        uint32_t flip, int64_t* out) {
  using Item = uint64_t;
  constexpr int64_t kN = kLanes<Item>;
  std::vector<E> elements(static_cast<size_t>(view.extent * kN));
  std::vector<Item> items(elements.size());
  ForEachBlock(view, kN, [&](int64_t base, int64_t lines, int64_t step) {
    internal::StridedCopy(sizeof(E), {view.extent, lines}, in + base,
                          {view.inner, step}, elements.data(), {kN, 1});
    internal::RunLoop([in = elements.data(), out = items.data(), flip,
                       rows = view.extent]() BATON_LOOP {
      const E* from = in;
      Item* to = out;
      for (int64_t i = 0; i < rows; ++i) {
        for (int64_t j = 0; j < kLanes<Item>; ++j, ++from, ++to) {
          const auto key = static_cast<uint32_t>(KeyOf(*from));
          *to = Item{key ^ flip} << 32 | static_cast<Item>(i);
        }
      }
    });
    SortColumns(items.data(), view.extent);
    for (int64_t i = 0; i < k * kN; ++i) items[i] &= 0xffffffff;
    internal::StridedCopy(sizeof(Item), {k, lines}, items.data(), {kN, 1},
                          out + base, {view.inner, step});
  });
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
  if (view.extent > std::numeric_limits<uint32_t>::max() &&
      x.dtype() != DType::Float(64) && x.dtype() != DType::UInt(64) &&
      x.dtype() != DType::Int(64)) {
    // So long a line of keys of four bytes is sorted by keys of eight.
    BATON_ASSIGN_OR_RETURN(
        const Tensor wide,
        Convert(kernel, x,
                x.dtype().is_float() ? DType::Float(64) : DType::Int(64)));
    return SortedPositions(kernel, wide, axis, k, ascending);
  }
  VisitUnsigned(x.dtype(), [&]<typename E>() {
    const E* in = static_cast<const E*>(x.data());
    const Key<E> flip = FlipOf<E>(x.dtype(), ascending);
    // Keys of fewer bytes take fewer steps of RadixSort, and few positions are
    // found faster one line after the other.
    if constexpr (kKeyBytes<E> == 4) {
      if (SortsColumns<uint64_t>(view) && k >= view.extent / 64) {
        return PositionsByColumns(in, view, k, flip, out.data());
      }
    }
    using Item =
        std::conditional_t<sizeof(Key<E>) == 4, uint64_t, unsigned __int128>;
    Scratch<Item> scratch;
    ForEachLine(in, view, k, out.data(), [&](const E* line, int64_t* first) {
      FirstPositions<Item>(line, view.extent, k, flip, first, scratch);
      return true;
    });
  });
  return std::move(result).Freeze();
}

// The element that KeyOf made `key` of: not of half floats, of a NaN, nor of a
// zero with a sign.
template <typename E>
BATON_LOOP inline E ElementOf(Key<E> key) {
  if constexpr (std::is_integral_v<E>) {
    return static_cast<E>(key);
  } else {
    constexpr Key<E> kSign = Key<E>{1} << (8 * sizeof(Key<E>) - 1);
    return std::bit_cast<E>((key & kSign) != 0 ? key ^ kSign : ~key);
  }
}

// Whether another element may have the key of `x` and other bytes: 1 or 0.
template <typename E>
BATON_LOOP inline int SharesKey(E x) {
  if constexpr (std::is_floating_point_v<E>) {
    return (x != x ? 1 : 0) | ((x == 0 ? 1 : 0) & (std::signbit(x) ? 1 : 0));
  } else {
    return 0;
  }
}

// Sorts `count` elements, and returns true; or returns false where elements
// have equal keys and different bytes.
template <typename E>
bool SortLine(const E* in, int64_t count, Key<E> flip, E* out,
              Scratch<Key<E>>& scratch) {
  std::vector<Key<E>>& keys = scratch.items;
  keys.resize(static_cast<size_t>(count));
  int special = 0;
  for (int64_t i = 0; i < count; ++i) {
    special |= SharesKey(in[i]);
    keys[static_cast<size_t>(i)] = KeyOf(in[i]) ^ flip;
  }
  if (special != 0) return false;
  RadixSort<0, kKeyBytes<E>>(scratch);
  for (int64_t i = 0; i < count; ++i) {
    out[i] = ElementOf<E>(keys[static_cast<size_t>(i)] ^ flip);
  }
  return true;
}

// As SortLine, for all lines of `in`.
template <typename E>
bool SortByColumns(const E* in, const AxisView& view, Key<E> flip, E* out) {
  constexpr int64_t kN = kLanes<Key<E>>;
  std::vector<E> elements(static_cast<size_t>(view.extent * kN));
  std::vector<Key<E>> keys(elements.size());
  int special = 0;
  ForEachBlock(view, kN, [&](int64_t base, int64_t lines, int64_t step) {
    if (special != 0) return;
    internal::StridedCopy(sizeof(E), {view.extent, lines}, in + base,
                          {view.inner, step}, elements.data(), {kN, 1});
    internal::RunLoop([from = elements.data(), to = keys.data(),
                       n = view.extent * kN, flip, &special]() BATON_LOOP {
      int found = 0;
      for (int64_t i = 0; i < n; ++i) {
        found |= SharesKey(from[i]);
        to[i] = KeyOf(from[i]) ^ flip;
      }
      special = found;
    });
    SortColumns(keys.data(), view.extent);
    internal::RunLoop([from = keys.data(), to = elements.data(),
                       n = view.extent * kN, flip]() BATON_LOOP {
      for (int64_t i = 0; i < n; ++i) {
        to[i] = ElementOf<E>(from[i] ^ flip);
      }
    });
    internal::StridedCopy(sizeof(E), {view.extent, lines}, elements.data(),
                          {kN, 1}, out + base, {view.inner, step});
  });
  return special == 0;
}

// As Sort, or false: of dtypes and elements whose order the keys do not tell.
bool SortByKeys(const Tensor& x, int axis, bool ascending, void* result) {
  if (!x.dtype().IsStorable() || x.dtype().is_bool() ||
      internal::IsHalf(x.dtype())) {
    return false;
  }
  const AxisView view = ElementsAround(x, axis);
  bool is_sorted = false;
  VisitUnsigned(x.dtype(), [&]<typename E>() {
    if constexpr (std::is_integral_v<E> || std::is_floating_point_v<E>) {
      const E* in = static_cast<const E*>(x.data());
      E* out = static_cast<E*>(result);
      const Key<E> flip = FlipOf<E>(x.dtype(), ascending);
      if (SortsColumns<Key<E>>(view)) {
        is_sorted = SortByColumns(in, view, flip, out);
        return;
      }
      Scratch<Key<E>> scratch;
      is_sorted = ForEachLine(
          in, view, view.extent, out, [&](const E* line, E* sorted) {
            return SortLine(line, view.extent, flip, sorted, scratch);
          });
    }
  });
  return is_sorted;
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

// Scans all lines of `in`; integers are unsigned, whose sums and products wrap.
template <bool kMultiply, typename E>
void ScanLines(const E* in, const AxisView& view, bool exclusive, E* out) {
  const auto combine = [](E a, E b) -> E {
    if constexpr (std::is_integral_v<E>) {
      using W = internal::Wrapping<E>;
      const W p = a;
      const W q = b;
      return static_cast<E>(kMultiply ? p * q : p + q);
    } else {
      return kMultiply ? a * b : a + b;
    }
  };
  const E start = kMultiply ? E{1} : E{0};
  const int64_t inner = view.inner;
  for (int64_t outer = 0; outer < view.outer; ++outer) {
    if (inner == 1) {
      E total = start;
      for (int64_t i = 0; i < view.extent; ++i) {
        const E next = combine(total, in[i]);
        out[i] = exclusive ? total : next;
        total = next;
      }
    } else {
      // Adjacent lines become vectors.
      for (int64_t j = 0; j < inner; ++j) {
        out[j] = exclusive ? start : combine(start, in[j]);
      }
      const E* terms = exclusive ? in : in + inner;
      for (int64_t at = inner; at < view.extent * inner; ++at) {
        out[at] = combine(out[at - inner], *terms++);
      }
    }
    in += view.extent * inner;
    out += view.extent * inner;
  }
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
  if (!data.dtype().IsStorable() || data.dtype().is_bool()) {
    return internal::UnsupportedDType(kernel, data.dtype());
  }
  VisitUnsigned(data.dtype(), [&]<typename E>() {
    if constexpr (std::is_arithmetic_v<E>) {
      ScanLines<kMultiply>(static_cast<const E*>(data.data()), view, exclusive,
                           static_cast<E*>(result.data()));
    }
  });
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
