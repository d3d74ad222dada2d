#include "baton/runtime/kernels/sort.h"

#include <algorithm>
#include <array>
#include <bit>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <limits>
#include <memory>
#include <numeric>
#include <type_traits>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "absl/strings/string_view.h"
#include "absl/types/span.h"
#include "baton/base/align.h"
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
  return Error(kernel, "indices must be integers, but are of ",
               dtype.ToString());
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

// Memory that a caller lends. Take() returns the next n elements of it, aligned
// to 64 bytes.
class Memory {
 public:
  explicit Memory(void* begin) : next_(static_cast<char*>(begin)) {}

  template <typename T>
  static int64_t BytesOf(int64_t n) {
    return AlignUp(n * static_cast<int64_t>(sizeof(T)), int64_t{64});
  }
  template <typename T>
  T* Take(int64_t n) {
    T* const taken = reinterpret_cast<T*>(next_);
    next_ += BytesOf<T>(n);
    return taken;
  }

 private:
  char* next_;
};

// Memory of a sort, each array of the elements of a line. Sorting exchanges the
// arrays.
template <typename Item>
struct Scratch {
  Item* items;
  Item* other;

  static int64_t BytesFor(int64_t n) { return 2 * Memory::BytesOf<Item>(n); }
  Scratch(Memory& memory, int64_t n)
      : items(memory.Take<Item>(n)), other(memory.Take<Item>(n)) {}
};

// The bytes in which keys of E differ: those of half floats are floats'.
template <typename E>
constexpr int kKeyBytes = std::is_integral_v<E>
                              ? static_cast<int>(sizeof(E))
                              : static_cast<int>(sizeof(KeyOf(E{})));

// Sorts n items of scratch.items by the bits from kShift on, of which kBytes
// bytes differ: by one byte after the other, from the lowest. The bits below are
// positions, which ascend, or none, so that the order is that of whole items.
template <int kShift, int kBytes, typename Item>
void RadixSort(Scratch<Item>& scratch, int64_t n) {
  Item* const end = scratch.items + n;
  // For few elements, or more than are counted here, comparisons are used.
  if (n < 128 || n > std::numeric_limits<uint32_t>::max()) {
    std::sort(scratch.items, end);
    return;
  }
  const auto byte = [](Item item, int i) {
    return static_cast<size_t>(item >> (kShift + 8 * i)) & 0xff;
  };
  std::array<std::array<uint32_t, 256>, kBytes> starts = {};
  for (const Item* item = scratch.items; item != end; ++item) {
    for (int i = 0; i < kBytes; ++i) ++starts[i][byte(*item, i)];
  }
  for (int i = 0; i < kBytes; ++i) {
    std::array<uint32_t, 256>& start = starts[i];
    // All have the same.
    if (start[byte(scratch.items[0], i)] == n) continue;
    uint32_t sum = 0;
    for (uint32_t& s : start) sum += std::exchange(s, sum);
    for (int64_t k = 0; k < n; ++k) {
      const Item item = scratch.items[k];
      scratch.other[start[byte(item, i)]++] = item;
    }
    std::swap(scratch.items, scratch.other);
  }
}

// Lines that are sorted side by side, by the same steps: as many as fill the
// widest vector.
template <typename Item>
constexpr int64_t kLanes = 64 / static_cast<int64_t>(sizeof(Item));

// Returns whether SortColumns takes less time than RadixSort: the steps that a
// column takes grow faster than the column, few lines leave lanes empty, and
// small vectors take more steps.
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

// Returns the begin of the first group from `begin` on that has an element with
// a key below `bound`; `n` if there is none.
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
  Item* const best = scratch.items;
  // Few are kept in order, by insertion: most elements come after all of them.
  constexpr int64_t kFew = 128;
  if (k <= kFew) {
    int64_t kept = 0;
    Key<E> worst = 0;  // the worst key that is kept, once there are k
    for (int64_t i = 0; i < n;) {
      bool changed = false;
      for (const int64_t end = std::min(n, i + kGroup); i < end; ++i) {
        const Item next = item(i);
        // An equal one was earlier.
        if (kept == k && static_cast<Key<E>>(next >> kBits) >= worst) {
          continue;
        }
        changed = true;
        if (kept < k) ++kept;
        int64_t at = kept - 1;
        for (; at > 0 && next < best[at - 1]; --at) best[at] = best[at - 1];
        best[at] = next;
        worst = static_cast<Key<E>>(best[kept - 1] >> kBits);
      }
      if (!changed) i = NextBelow(in, i, n, flip, worst);
    }
  } else {
    for (int64_t i = 0; i < n; ++i) best[i] = item(i);
    if (k < n / 4) {
      std::nth_element(best, best + k, best + n);
      std::sort(best, best + k);
    } else {
      RadixSort<kBits, kKeyBytes<E>>(scratch, n);
    }
  }
  for (int64_t i = 0; i < k; ++i) {
    out[i] = static_cast<int64_t>(scratch.items[i] & ((Item{1} << kBits) - 1));
  }
}

// Some lines along the axis: the first begins at `from` of the elements and at
// `to` of the results, of which each line has k; the others `from_step` and
// `to_step` elements apart.
struct Lines {
  int64_t from;
  int64_t to;
  int64_t count;
  int64_t from_step;
  int64_t to_step;
};

// Calls fn(lines) for all lines along the axis, at most `width` at a time.
template <typename Fn>
void ForEachBlock(const AxisView& view, int64_t k, int64_t width,
                  const Fn& fn) {
  if (view.inner == 1) {
    for (int64_t first = 0; first < view.outer; first += width) {
      fn(Lines{first * view.extent, first * k,
               std::min(width, view.outer - first), view.extent, k});
    }
    return;
  }
  for (int64_t outer = 0; outer < view.outer; ++outer) {
    for (int64_t first = 0; first < view.inner; first += width) {
      fn(Lines{outer * view.extent * view.inner + first,
               outer * k * view.inner + first,
               std::min(width, view.inner - first), 1, 1});
    }
  }
}

// Memory for lines of elements that are not adjacent, and for their results.
template <typename E, typename To>
struct LineBuffers {
  // As many lines as whole cache lines of elements have, unless that is too
  // much.
  int64_t width;
  E* lines = nullptr;
  To* results = nullptr;

  static int64_t WidthOf(const AxisView& view) {
    constexpr int64_t kMaxElements = 1 << 17;
    return std::clamp<int64_t>(kMaxElements / std::max<int64_t>(view.extent, 1),
                               1, kLanes<E>);
  }
  static int64_t BytesFor(const AxisView& view, int64_t k) {
    if (view.inner == 1) return 0;
    const int64_t width = WidthOf(view);
    return Memory::BytesOf<E>(width * view.extent) +
           Memory::BytesOf<To>(width * k);
  }
  LineBuffers(Memory& memory, const AxisView& view, int64_t k)
      : width(WidthOf(view)) {
    if (view.inner == 1) return;
    lines = memory.Take<E>(width * view.extent);
    results = memory.Take<To>(width * k);
  }
};

// Calls fn(line, result), where `line` holds the elements of a line of `in` and
// its k results go to the place of the line in `out`, for each until one returns
// false. Returns true if none did.
template <typename E, typename To, typename Fn>
bool ForEachLine(const E* in, const AxisView& view, int64_t k, To* out,
                 const LineBuffers<E, To>& buffers, const Fn& fn) {
  const int64_t extent = view.extent;
  bool done = true;
  if (view.inner == 1) {
    for (int64_t o = 0; done && o < view.outer; ++o) {
      done = fn(in + o * extent, out + o * k);
    }
    return done;
  }
  ForEachBlock(view, k, buffers.width, [&](const Lines& lines) {
    internal::StridedCopy(sizeof(E), {lines.count, extent}, in + lines.from,
                          {lines.from_step, view.inner}, buffers.lines,
                          {extent, 1});
    for (int64_t j = 0; done && j < lines.count; ++j) {
      done = fn(buffers.lines + j * extent, buffers.results + j * k);
    }
    if (!done) return;
    internal::StridedCopy(sizeof(To), {lines.count, k}, buffers.results, {k, 1},
                          out + lines.to, {lines.to_step, view.inner});
  });
  return done;
}

// Memory for lines that are sorted side by side.
template <typename E, typename Item>
struct ColumnBuffers {
  E* elements;
  Item* items;

  static int64_t BytesFor(int64_t extent) {
    return Memory::BytesOf<E>(extent * kLanes<Item>) +
           Memory::BytesOf<Item>(extent * kLanes<Item>);
  }
  ColumnBuffers(Memory& memory, int64_t extent)
      : elements(memory.Take<E>(extent * kLanes<Item>)),
        items(memory.Take<Item>(extent * kLanes<Item>)) {}
};

// As FirstPositions, for all lines of `in`, of keys of four bytes.
template <typename E>
void PositionsByColumns(const E* in, const AxisView& view, int64_t k,
                        uint32_t flip,
                        const ColumnBuffers<E, uint64_t>& buffers,
                        int64_t* out) {
  using Item = uint64_t;
  constexpr int64_t kN = kLanes<Item>;
  // Lanes that no line fills.
  std::fill_n(buffers.elements, view.extent * kN, E{});
  ForEachBlock(view, k, kN, [&](const Lines& lines) {
    internal::StridedCopy(sizeof(E), {view.extent, lines.count},
                          in + lines.from, {view.inner, lines.from_step},
                          buffers.elements, {kN, 1});
    internal::RunLoop([in = buffers.elements, out = buffers.items, flip,
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
    SortColumns(buffers.items, view.extent);
    for (int64_t i = 0; i < k * kN; ++i) buffers.items[i] &= 0xffffffff;
    internal::StridedCopy(sizeof(Item), {k, lines.count}, buffers.items,
                          {kN, 1}, out + lines.to, {view.inner, lines.to_step});
  });
}

// The Items of FirstPositions: of lines longer than 32 bits count, the long
// ones.
template <typename E>
constexpr bool kHasShortItems = sizeof(Key<E>) == 4;
bool HasLongLines(const AxisView& view) {
  return view.extent > std::numeric_limits<uint32_t>::max();
}

template <typename E>
int64_t PositionsBytes(const AxisView& view, int64_t k) {
  const int64_t lines = LineBuffers<E, int64_t>::BytesFor(view, k);
  if constexpr (kHasShortItems<E>) {
    if (!HasLongLines(view)) {
      return std::max(ColumnBuffers<E, uint64_t>::BytesFor(view.extent),
                      lines + Scratch<uint64_t>::BytesFor(view.extent));
    }
  }
  return lines + Scratch<unsigned __int128>::BytesFor(view.extent);
}

// The first `k` of the positions 0 ... extent - 1 sorted by the elements along
// an axis, for each line of elements along it. The result is [outer, k, inner].
// `memory` has PositionsBytes().
template <typename E>
void FindPositions(const E* in, const AxisView& view, int64_t k, Key<E> flip,
                   Memory memory, int64_t* out) {
  const auto find = [&]<typename Item>() {
    const LineBuffers<E, int64_t> buffers(memory, view, k);
    Scratch<Item> scratch(memory, view.extent);
    ForEachLine(in, view, k, out, buffers, [&](const E* line, int64_t* first) {
      FirstPositions<Item>(line, view.extent, k, flip, first, scratch);
      return true;
    });
  };
  if constexpr (kHasShortItems<E>) {
    if (!HasLongLines(view)) {
      // Keys of fewer bytes take fewer steps of RadixSort, and few positions are
      // found faster one line after the other.
      if constexpr (kKeyBytes<E> == 4) {
        if (SortsColumns<uint64_t>(view) && k >= view.extent / 64) {
          return PositionsByColumns(
              in, view, k, flip,
              ColumnBuffers<E, uint64_t>(memory, view.extent), out);
        }
      }
      return find.template operator()<uint64_t>();
    }
  }
  find.template operator()<unsigned __int128>();
}

// Memory of the evaluator, without zeros.
std::unique_ptr<char[]> Allocated(int64_t bytes) {
  return std::unique_ptr<char[]>(
      static_cast<char*>(::operator new[](static_cast<size_t>(bytes) + 64)));
}
Memory MemoryOf(const std::unique_ptr<char[]>& block) {
  return Memory(reinterpret_cast<void*>(
      AlignUp(reinterpret_cast<uintptr_t>(block.get()), uintptr_t{64})));
}

// As FindPositions, of a tensor, in its shape.
absl::StatusOr<Tensor> SortedPositions(absl::string_view kernel,
                                       const Tensor& x, int axis,
                                       bool ascending) {
  const AxisView view = ElementsAround(x, axis);
  BATON_ASSIGN_OR_RETURN(MutableTensor result, MutableTensor::Uninitialized(
                                                   DType::Int(64), x.shape()));
  const absl::Span<int64_t> out = result.span<int64_t>();
  if (!x.dtype().IsStorable()) {
    return internal::UnsupportedDType(kernel, x.dtype());
  }
  VisitUnsigned(x.dtype(), [&]<typename E>() {
    const std::unique_ptr<char[]> block =
        Allocated(PositionsBytes<E>(view, view.extent));
    FindPositions(static_cast<const E*>(x.data()), view, view.extent,
                  FlipOf<E>(x.dtype(), ascending), MemoryOf(block), out.data());
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

// Returns 1 if another element may have the key of `x` and other bytes; else 0.
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
  int special = 0;
  for (int64_t i = 0; i < count; ++i) {
    special |= SharesKey(in[i]);
    scratch.items[i] = KeyOf(in[i]) ^ flip;
  }
  if (special != 0) return false;
  RadixSort<0, kKeyBytes<E>>(scratch, count);
  for (int64_t i = 0; i < count; ++i) {
    out[i] = ElementOf<E>(scratch.items[i] ^ flip);
  }
  return true;
}

// As SortLine, for all lines of `in`.
template <typename E>
bool SortByColumns(const E* in, const AxisView& view, Key<E> flip,
                   const ColumnBuffers<E, Key<E>>& buffers, E* out) {
  constexpr int64_t kN = kLanes<Key<E>>;
  // Lanes that no line fills.
  std::fill_n(buffers.elements, view.extent * kN, E{});
  int special = 0;
  ForEachBlock(view, view.extent, kN, [&](const Lines& lines) {
    if (special != 0) return;
    internal::StridedCopy(sizeof(E), {view.extent, lines.count},
                          in + lines.from, {view.inner, lines.from_step},
                          buffers.elements, {kN, 1});
    internal::RunLoop([from = buffers.elements, to = buffers.items,
                       n = view.extent * kN, flip, &special]() BATON_LOOP {
      int found = 0;
      for (int64_t i = 0; i < n; ++i) {
        found |= SharesKey(from[i]);
        to[i] = KeyOf(from[i]) ^ flip;
      }
      special = found;
    });
    SortColumns(buffers.items, view.extent);
    internal::RunLoop([from = buffers.items, to = buffers.elements,
                       n = view.extent * kN, flip]() BATON_LOOP {
      for (int64_t i = 0; i < n; ++i) {
        to[i] = ElementOf<E>(from[i] ^ flip);
      }
    });
    internal::StridedCopy(sizeof(E), {view.extent, lines.count},
                          buffers.elements, {kN, 1}, out + lines.to,
                          {view.inner, lines.to_step});
  });
  return special == 0;
}

// As Sort; false for dtypes and elements whose order is not that of the keys.
bool SortByKeys(const Tensor& x, int axis, bool ascending, void* result) {
  if (!x.dtype().IsStorable() || x.dtype().is_bool() || x.dtype().is_half()) {
    return false;
  }
  const AxisView view = ElementsAround(x, axis);
  bool is_sorted = false;
  VisitUnsigned(x.dtype(), [&]<typename E>() {
    if constexpr (std::is_integral_v<E> || std::is_floating_point_v<E>) {
      const E* in = static_cast<const E*>(x.data());
      E* out = static_cast<E*>(result);
      const Key<E> flip = FlipOf<E>(x.dtype(), ascending);
      const int64_t extent = view.extent;
      if (SortsColumns<Key<E>>(view)) {
        const std::unique_ptr<char[]> block =
            Allocated(ColumnBuffers<E, Key<E>>::BytesFor(extent));
        Memory memory = MemoryOf(block);
        is_sorted = SortByColumns(
            in, view, flip, ColumnBuffers<E, Key<E>>(memory, extent), out);
        return;
      }
      const std::unique_ptr<char[]> block =
          Allocated(LineBuffers<E, E>::BytesFor(view, extent) +
                    Scratch<Key<E>>::BytesFor(extent));
      Memory memory = MemoryOf(block);
      const LineBuffers<E, E> buffers(memory, view, extent);
      Scratch<Key<E>> scratch(memory, extent);
      is_sorted = ForEachLine(
          in, view, extent, out, buffers, [&](const E* line, E* sorted) {
            return SortLine(line, extent, flip, sorted, scratch);
          });
    }
  });
  return is_sorted;
}

// Lines of which the positions are kept at a time, where lines are adjacent.
constexpr int64_t kLinesAtATime = 16;

AxisView ViewOf(const TopKParams& p, int64_t outer) {
  return {outer, p.extent, p.inner};
}

template <typename E>
void FindFirst(const TopKParams& p, const E* x, int64_t outer, Memory memory,
               E* values, void* indices) {
  const int64_t most = p.inner == 1 ? kLinesAtATime : 1;
  int64_t* const positions = memory.Take<int64_t>(most * p.k * p.inner);
  const Key<E> flip = FlipOf<E>(p.dtype, p.ascending);
  int64_t next = 0;
  for (int64_t first = 0; first < outer; first += most) {
    const int64_t count = std::min(most, outer - first);
    const E* from = x + first * p.extent * p.inner;
    FindPositions(from, ViewOf(p, count), p.k, flip, memory, positions);
    const int64_t* position = positions;
    for (int64_t line = 0; line < count; ++line) {
      for (int64_t i = 0; i < p.k; ++i) {
        for (int64_t inner = 0; inner < p.inner; ++inner, ++next) {
          const int64_t at = *position++;
          if (values != nullptr) values[next] = from[at * p.inner + inner];
          if (indices == nullptr) continue;
          if (p.has_wide_indices) {
            static_cast<int64_t*>(indices)[next] = at;
          } else {
            static_cast<int32_t*>(indices)[next] = static_cast<int32_t>(at);
          }
        }
      }
      from += p.extent * p.inner;
    }
  }
}

// The elements of `x` at `positions`, which has its shape.
absl::StatusOr<Tensor> ElementsAt(const Tensor& x, const Tensor& positions,
                                  int axis) {
  const AxisView view = ElementsAround(x, axis);
  BATON_ASSIGN_OR_RETURN(MutableTensor values,
                         MutableTensor::Uninitialized(x.dtype(), x.shape()));
  const absl::Span<const int64_t> from = positions.span<int64_t>();
  const int64_t bytes = x.dtype().bytes();
  const char* in = static_cast<const char*>(x.data());
  char* out = static_cast<char*>(values.data());
  size_t next = 0;
  for (int64_t outer = 0; outer < view.outer; ++outer) {
    for (int64_t i = 0; i < view.extent; ++i) {
      for (int64_t inner = 0; inner < view.inner; ++inner, ++next) {
        std::memcpy(out, in + (from[next] * view.inner + inner) * bytes,
                    static_cast<size_t>(bytes));
        out += bytes;
      }
    }
    in += view.extent * view.inner * bytes;
  }
  return std::move(values).Freeze();
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
  if (!HasScanInto(data.dtype())) {
    return internal::UnsupportedDType(kernel, data.dtype());
  }
  ScanInto({.dtype = data.dtype(),
            .multiply = kMultiply,
            .exclusive = exclusive,
            .extent = view.extent,
            .inner = view.inner},
           data.data(), view.outer, result.data());
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
  BATON_ASSIGN_OR_RETURN(const Tensor positions,
                         SortedPositions("sort", x, along, ascending));
  return ElementsAt(x, positions, along);
}

absl::StatusOr<Tensor> Argsort(const Tensor& x, int64_t axis, bool ascending,
                               DType index_dtype) {
  BATON_RETURN_IF_ERROR(index_dtype.is_float()
                            ? absl::OkStatus()
                            : CheckIndexDType("argsort", index_dtype));
  BATON_ASSIGN_OR_RETURN(const int along,
                         internal::NormalizeAxis("argsort", axis, x.rank()));
  BATON_ASSIGN_OR_RETURN(const Tensor positions,
                         SortedPositions("argsort", x, along, ascending));
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
  TensorShape shape = internal::ToShape(x.shape());
  shape[along] = k;
  BATON_ASSIGN_OR_RETURN(MutableTensor values,
                         MutableTensor::Uninitialized(x.dtype(), shape));
  const bool is_wide = index_dtype != DType::Int(32);
  BATON_ASSIGN_OR_RETURN(MutableTensor indices,
                         MutableTensor::Uninitialized(
                             is_wide ? DType::Int(64) : index_dtype, shape));
  if (x.num_elements() > 0) {
    const AxisView view = ElementsAround(x, along);
    const TopKParams params = {.dtype = x.dtype(),
                               .extent = view.extent,
                               .inner = view.inner,
                               .k = k,
                               .ascending = ascending,
                               .has_wide_indices = is_wide};
    const std::unique_ptr<char[]> block = Allocated(TopKWorkspaceSize(params));
    VisitUnsigned(x.dtype(), [&]<typename E>() {
      FindFirst(params, static_cast<const E*>(x.data()), view.outer,
                MemoryOf(block), static_cast<E*>(values.data()),
                indices.data());
    });
  }
  BATON_ASSIGN_OR_RETURN(
      Tensor converted,
      Convert("topk", std::move(indices).Freeze(), index_dtype));
  return TopKResult{std::move(values).Freeze(), std::move(converted)};
}

int64_t TopKWorkspaceSize(const TopKParams& params) {
  const AxisView view = ViewOf(params, kLinesAtATime);
  const int64_t lines = params.inner == 1 ? kLinesAtATime : 1;
  int64_t bytes = Memory::BytesOf<int64_t>(lines * params.k * params.inner);
  VisitUnsigned(params.dtype, [&]<typename E>() {
    bytes += PositionsBytes<E>(view, params.k);
  });
  return bytes;
}

void TopKInto(const TopKParams& params, const void* x, int64_t outer,
              void* workspace, void* values, void* indices) {
  VisitUnsigned(params.dtype, [&]<typename E>() {
    FindFirst(params, static_cast<const E*>(x), outer, Memory(workspace),
              static_cast<E*>(values), indices);
  });
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

bool HasScanInto(DType dtype) {
  return dtype.IsStorable() && !dtype.is_bool() && !dtype.is_half();
}

void ScanInto(const ScanParams& params, const void* x, int64_t outer, void* y) {
  VisitUnsigned(params.dtype, [&]<typename E>() {
    if constexpr (std::is_arithmetic_v<E>) {
      const AxisView view = {outer, params.extent, params.inner};
      const E* const in = static_cast<const E*>(x);
      E* const out = static_cast<E*>(y);
      if (params.multiply) {
        ScanLines</*kMultiply=*/true>(in, view, params.exclusive, out);
      } else {
        ScanLines</*kMultiply=*/false>(in, view, params.exclusive, out);
      }
    }
  });
}

absl::StatusOr<UniqueResult> Unique(const Tensor& x, bool sorted) {
  constexpr absl::string_view kKernel = "unique";
  BATON_RETURN_IF_ERROR(internal::CheckRank(kKernel, "data", x, 1));
  BATON_ASSIGN_OR_RETURN(const Tensor order_tensor,
                         SortedPositions(kKernel, x, 0, /*ascending=*/true));
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
