#include "baton/runtime/kernels/reduce_kernels.h"

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <type_traits>
#include <utility>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "baton/base/dtype.h"
#include "baton/base/status_macros.h"
#include "baton/base/tensor.h"
#include "baton/runtime/kernels/internal/convert.h"
#include "baton/runtime/kernels/internal/math.h"
#include "baton/runtime/kernels/internal/util.h"
#include "baton/runtime/kernels/internal/vectorize.h"
#include "baton/runtime/kernels/layout_kernels.h"

namespace baton::kernels {
namespace {

using internal::Error;
using internal::Vectors;

// A reduction of [outer, extent, inner] over the middle, and the shape of its
// result.
struct Plan {
  Tensor x;
  int64_t outer = 1;
  int64_t extent = 1;
  int64_t inner = 1;
  TensorShape shape;
};

// Half floats come out as float32. Moves the reduced axes together where they
// are not adjacent.
absl::StatusOr<Plan> MakePlan(absl::string_view name, const Tensor& x,
                              const ReduceParams& params) {
  const size_t rank = x.shape().size();
  absl::InlinedVector<bool, 6> reduced(rank, params.axes.empty());
  for (const int64_t axis : params.axes) {
    BATON_ASSIGN_OR_RETURN(const int normal,
                           internal::NormalizeAxis(name, axis, x.rank()));
    reduced[static_cast<size_t>(normal)] = true;
  }
  if (params.exclude && !params.axes.empty()) {
    for (bool& r : reduced) r = !r;
  }
  Plan plan;
  TensorShape kept_axes, reduced_axes;
  // Changes between kept and reduced, looking at extents other than 1 only.
  int runs = 0;
  bool last = false;
  for (size_t i = 0; i < rank; ++i) {
    const int64_t extent = x.shape()[i];
    (reduced[i] ? reduced_axes : kept_axes).push_back(static_cast<int64_t>(i));
    if (!reduced[i]) {
      plan.shape.push_back(extent);
    } else if (params.keepdims) {
      plan.shape.push_back(1);
    }
    if (extent == 1) continue;
    if (reduced[i] && !last) ++runs;
    last = reduced[i];
    if (reduced[i]) {
      plan.extent *= extent;
    } else if (runs == 0) {
      plan.outer *= extent;
    } else {
      plan.inner *= extent;
    }
  }
  BATON_ASSIGN_OR_RETURN(plan.x, internal::WidenHalf(name, x));
  if (runs > 1) {
    TensorShape order = kept_axes;
    order.insert(order.end(), reduced_axes.begin(), reduced_axes.end());
    BATON_ASSIGN_OR_RETURN(plan.x, Transpose(plan.x, order));
    plan.outer *= plan.inner;
    plan.inner = 1;
  }
  return plan;
}

// A row of inner elements is reduced in pieces of at most this many.
constexpr int64_t kPiece = 512;

// Partial results of a contiguous run: enough to hide how long a step takes.
template <typename T>
constexpr int64_t kLanesOf = sizeof(T) == 1 ? 128 : 32;

// As many of them as the end of a run, and a run that is shorter than all, use.
constexpr int64_t kFewLanes = 8;

// The types that loops reduce: floats, the integers that are reduced most, and
// uint64_t, which no other integer holds.
template <typename Fn>
internal::VisitResult<const Fn> VisitReduced(absl::string_view name,
                                             DType dtype, const Fn& fn) {
  if (dtype == DType::Int(8)) return fn.template operator()<int8_t>();
  if (dtype == DType::Int(32)) return fn.template operator()<int32_t>();
  if (dtype == DType::Int(64)) return fn.template operator()<int64_t>();
  if (dtype == DType::UInt(64)) return fn.template operator()<uint64_t>();
  return internal::VisitFloat(name, dtype, fn);
}

// Integers of other dtypes as those that hold them.
absl::StatusOr<Tensor> WidenRare(absl::string_view name, const Tensor& x) {
  const DType dtype = x.dtype();
  if (dtype == DType::UInt(32)) {
    return internal::Convert(name, x, DType::Int(64));
  }
  if (dtype == DType::Int(16) || dtype == DType::UInt(16) ||
      dtype == DType::UInt(8)) {
    return internal::Convert(name, x, DType::Int(32));
  }
  return x;
}

// The widest clones of the loops that reduce elements of T.
template <typename T>
constexpr Vectors kWidestReduction =
    std::is_same_v<T, uint64_t> ? Vectors::k128 : Vectors::k512;

// The widest clone of a loop over adjacent results, which waits for memory.
constexpr Vectors NotBeyondMemory(Vectors widest) {
  return widest == Vectors::k512 ? internal::kMemoryBound : widest;
}

// Reduces n elements. The order depends on n alone, and so do the last bits of a
// sum.
template <typename Op, typename T>
BATON_LOOP inline typename Op::Acc ReduceRun(const Op& op, const T* x,
                                             int64_t n) {
  using Acc = typename Op::Acc;
  constexpr int64_t kLanes = kLanesOf<T>;
  Acc few[kFewLanes];
  for (Acc& lane : few) lane = op.Start();
  int64_t i = 0;
  if (n >= kLanes) {
    Acc lanes[kLanes];
    for (Acc& lane : lanes) lane = op.Start();
    for (; i + kLanes <= n; i += kLanes) {
      for (int64_t j = 0; j < kLanes; ++j) op.Add(x[i + j], lanes[j]);
    }
#pragma GCC unroll 8
    for (int64_t half = kLanes / 2; half >= kFewLanes; half /= 2) {
      for (int64_t j = 0; j < half; ++j) op.Merge(lanes[j + half], lanes[j]);
    }
    for (int64_t j = 0; j < kFewLanes; ++j) few[j] = lanes[j];
  }
  for (; i + kFewLanes <= n; i += kFewLanes) {
    for (int64_t j = 0; j < kFewLanes; ++j) op.Add(x[i + j], few[j]);
  }
  for (; i < n; ++i) op.Add(x[i], few[0]);
#pragma GCC unroll 8
  for (int64_t half = kFewLanes / 2; half > 0; half /= 2) {
    for (int64_t j = 0; j < half; ++j) op.Merge(few[j + half], few[j]);
  }
  return few[0];
}

// Reduces each of `outer` runs with an Op: `Acc Start()`, `void Add(T, Acc&)`,
// `void Merge(const Acc&, Acc&)`; finish(Acc) -> R.
template <Vectors kWidest, typename T, typename R, typename Op, typename Finish>
void ReduceRuns(const T* data, int64_t outer, int64_t extent, R* y,
                const Op& op, const Finish& finish) {
  internal::RunLoop<kWidest>([=]() BATON_LOOP {
    for (int64_t o = 0; o < outer; ++o) {
      y[o] = finish(ReduceRun(op, data + o * extent, extent));
    }
  });
}

// Room for the partial results of some columns.
constexpr int64_t kPartials = 2048;

// Reduces each of `columns` adjacent columns of n >= kNumLanes rows, which are
// `stride` apart, in the order that ReduceRun has for n elements: so a reduction
// does not depend on the layout of its operand. `lanes` has the lanes of all
// columns, lane by lane.
template <int64_t kNumLanes, typename Op, typename T, typename R,
          typename Finish>
BATON_LOOP inline void ReduceColumns(const Op& op, const T* x, int64_t n,
                                     int64_t stride, int64_t columns,
                                     const Finish& finish,
                                     typename Op::Acc* lanes, R* y) {
  using Acc = typename Op::Acc;
  constexpr int64_t kRow = std::min(kPiece, kPartials / kNumLanes);
  for (int64_t lane = 0; lane < kNumLanes; ++lane, x += stride) {
    Acc* const to = lanes + lane * kRow;
    for (int64_t j = 0; j < columns; ++j) {
      Acc acc = op.Start();
      op.Add(x[j], acc);
      to[j] = acc;
    }
  }
  const auto add = [&op, columns, lanes](const T* row, int64_t lane)
                       BATON_LOOP {
                         Acc* const to = lanes + lane * kRow;
                         for (int64_t j = 0; j < columns; ++j)
                           op.Add(row[j], to[j]);
                       };
  int64_t i = kNumLanes;
  for (; i + kNumLanes <= n; i += kNumLanes) {
    for (int64_t lane = 0; lane < kNumLanes; ++lane, x += stride) add(x, lane);
  }
  if constexpr (kNumLanes > kFewLanes) {
    static_assert(kNumLanes == 4 * kFewLanes);
    for (Acc* to = lanes; to != lanes + kFewLanes * kRow; to += kRow) {
      for (int64_t j = 0; j < columns; ++j) {
        Acc acc = to[j];
        op.Merge(to[j + 2 * kFewLanes * kRow], acc);
        Acc other = to[j + kFewLanes * kRow];
        op.Merge(to[j + 3 * kFewLanes * kRow], other);
        op.Merge(other, acc);
        to[j] = acc;
      }
    }
    for (; i + kFewLanes <= n; i += kFewLanes) {
      for (int64_t lane = 0; lane < kFewLanes; ++lane, x += stride) {
        add(x, lane);
      }
    }
  }
  for (; i < n; ++i, x += stride) add(x, 0);
  for (int64_t j = 0; j < columns; ++j) {
    constexpr int64_t kLeft = std::min(kNumLanes, kFewLanes);
    Acc acc[kLeft];
#pragma GCC unroll 8
    for (int64_t l = 0; l < kLeft; ++l) acc[l] = lanes[l * kRow + j];
#pragma GCC unroll 8
    for (int64_t half = kLeft / 2; half > 0; half /= 2) {
#pragma GCC unroll 8
      for (int64_t l = 0; l < half; ++l) op.Merge(acc[l + half], acc[l]);
    }
    y[j] = finish(acc[0]);
  }
}

// As ReduceRuns, along the axis of the plan.
template <Vectors kWidest, typename T, typename R, typename Op, typename Finish>
void Reduce(const T* data, int64_t outer, int64_t extent, int64_t inner, R* y,
            const Op& op, const Finish& finish) {
  using Acc = typename Op::Acc;
  if (inner == 1) {
    ReduceRuns<kWidest>(data, outer, extent, y, op, finish);
    return;
  }
  const auto reduce = [&]<int64_t kNumLanes>() {
    internal::RunLoop<NotBeyondMemory(kWidest)>([=]() BATON_LOOP {
      constexpr int64_t kColumns = std::min(kPiece, kPartials / kNumLanes);
      Acc lanes[kPartials];
      for (int64_t o = 0; o < outer; ++o) {
        for (int64_t first = 0; first < inner; first += kColumns) {
          ReduceColumns<kNumLanes>(op, data + o * extent * inner + first,
                                   extent, inner,
                                   std::min(kColumns, inner - first), finish,
                                   lanes, y + o * inner + first);
        }
      }
    });
  };
  // Integers have one result in any order.
  if constexpr (std::is_floating_point_v<T>) {
    if (extent >= kLanesOf<T>) return reduce.template operator()<kLanesOf<T>>();
    if (extent >= kFewLanes) return reduce.template operator()<kFewLanes>();
  }
  if (extent > 0) return reduce.template operator()<1>();
  std::fill_n(y, outer * inner, finish(op.Start()));
}

// The operations of sums and products, which wrap for integers.
template <typename T, bool kIntegral = std::is_integral_v<T>>
struct AccumulatorOf {
  using Type = double;
};
template <typename T>
struct AccumulatorOf<T, true> {
  using Type = std::make_unsigned_t<T>;
};
template <typename T>
using Accumulator = typename AccumulatorOf<T>::Type;

// Sums of floats in double, of integers modulo 2^bits.
template <typename T>
struct SumOp {
  using Acc = Accumulator<T>;
  BATON_LOOP Acc Start() const { return 0; }
  BATON_LOOP void Add(T x, Acc& sum) const { Merge(static_cast<Acc>(x), sum); }
  BATON_LOOP void Merge(Acc x, Acc& sum) const {
    sum = static_cast<Acc>(sum + x);
  }
};

// Sums of integers in 64 bits, for what is more than their sum.
template <typename T>
struct WideSumOp {
  using Acc = std::conditional_t<std::is_integral_v<T>, uint64_t, double>;
  BATON_LOOP Acc Start() const { return 0; }
  BATON_LOOP void Add(T x, Acc& sum) const { sum += static_cast<Acc>(x); }
  BATON_LOOP void Merge(Acc x, Acc& sum) const { sum += x; }
};

template <typename T>
struct ProdOp {
  using Acc = Accumulator<T>;
  BATON_LOOP Acc Start() const { return 1; }
  BATON_LOOP void Add(T x, Acc& product) const {
    Merge(static_cast<Acc>(x), product);
  }
  BATON_LOOP void Merge(Acc x, Acc& product) const {
    if constexpr (std::is_integral_v<T>) {
      // In int, the product of small integers could overflow.
      product = static_cast<Acc>(internal::Wrapping<T>(product) * x);
    } else {
      product *= x;
    }
  }
};

template <typename T>
struct MaxOp {
  using Acc = T;
  BATON_LOOP T Start() const {
    if constexpr (std::is_integral_v<T>) {
      return std::numeric_limits<T>::min();
    } else {
      return -std::numeric_limits<T>::infinity();
    }
  }
  BATON_LOOP void Add(T x, T& best) const {
    // Two selections, which become vectors. A NaN, once in, stays.
    const T larger = x > best ? x : best;
    best = x != x ? x : larger;
  }
  BATON_LOOP void Merge(T x, T& best) const { Add(x, best); }
};

template <typename T>
struct MinOp {
  using Acc = T;
  BATON_LOOP T Start() const {
    if constexpr (std::is_integral_v<T>) {
      return std::numeric_limits<T>::max();
    } else {
      return std::numeric_limits<T>::infinity();
    }
  }
  BATON_LOOP void Add(T x, T& best) const {
    const T smaller = x < best ? x : best;
    best = x != x ? x : smaller;
  }
  BATON_LOOP void Merge(T x, T& best) const { Add(x, best); }
};

// The operation on bytes that represent bools.
struct AllOp {
  using Acc = uint8_t;
  BATON_LOOP uint8_t Start() const { return 1; }
  BATON_LOOP void Add(uint8_t x, uint8_t& result) const {
    result &= x != 0 ? 1 : 0;
  }
  BATON_LOOP void Merge(uint8_t x, uint8_t& result) const { result &= x; }
};

struct AnyOp {
  using Acc = uint8_t;
  BATON_LOOP uint8_t Start() const { return 0; }
  BATON_LOOP void Add(uint8_t x, uint8_t& result) const {
    result |= x != 0 ? 1 : 0;
  }
  BATON_LOOP void Merge(uint8_t x, uint8_t& result) const { result |= x; }
};

// The unsigned integer of the size of T; floats as they are.
template <typename T, bool kIntegral = std::is_integral_v<T>>
struct BitsOf {
  using Type = T;
};
template <typename T>
struct BitsOf<T, true> {
  using Type = std::make_unsigned_t<T>;
};

// The result of a reduction as it is.
struct Cast {
  template <typename T, typename Acc>
  BATON_LOOP T As(Acc acc) const {
    return static_cast<T>(acc);
  }
};

// The quotient of a sum of `n` numbers.
struct Quotient {
  int64_t n;
  template <typename T, typename Acc>
  BATON_LOOP T As(Acc sum) const {
    if constexpr (std::is_floating_point_v<T>) {
      return static_cast<T>(sum / static_cast<double>(n));
    } else if constexpr (std::is_signed_v<T>) {
      return static_cast<T>(static_cast<int64_t>(sum) / n);
    } else {
      return static_cast<T>(sum / static_cast<uint64_t>(n));
    }
  }
};

template <typename T, typename Finish>
struct FinishAs {
  Finish finish;
  template <typename Acc>
  BATON_LOOP T operator()(Acc acc) const {
    return finish.template As<T>(acc);
  }
};

// Reduces floats and integers with Op<T>; finish.As<T>(Acc) -> T. Integers are
// reduced as unsigned ones if the bits of the result are the same.
enum class Integers { kBits, kNumbers, kRare };
template <template <typename> class Op, Integers kIntegers, typename Finish>
absl::StatusOr<Tensor> ReduceNumeric(absl::string_view name, const Tensor& x,
                                     Plan plan, const Finish& finish) {
  BATON_ASSIGN_OR_RETURN(plan.x, WidenRare(name, plan.x));
  BATON_ASSIGN_OR_RETURN(MutableTensor result, MutableTensor::Uninitialized(
                                                   plan.x.dtype(), plan.shape));
  if (result.num_elements() == 0) return Tensor::Zeros(x.dtype(), plan.shape);
  BATON_ASSIGN_OR_RETURN(
      const Tensor reduced,
      VisitReduced(name, plan.x.dtype(),
                   [&]<typename N>() -> absl::StatusOr<Tensor> {
                     using T = std::conditional_t<kIntegers == Integers::kBits,
                                                  typename BitsOf<N>::Type, N>;
                     constexpr Vectors kWidest =
                         std::is_floating_point_v<T>    ? Vectors::k512
                         : kIntegers == Integers::kBits ? Vectors::k512
                         : kIntegers == Integers::kRare ? Vectors::k128
                                                        : kWidestReduction<T>;
                     Reduce<kWidest>(static_cast<const T*>(plan.x.data()),
                                     plan.outer, plan.extent, plan.inner,
                                     static_cast<T*>(result.data()), Op<T>(),
                                     FinishAs<T, Finish>{finish});
                     return std::move(result).Freeze();
                   }));
  return internal::Convert(name, reduced, x.dtype());
}

absl::Status CheckNotEmpty(absl::string_view name, const Tensor& x,
                           const Plan& plan) {
  if (plan.extent > 0) return absl::OkStatus();
  return Error(name, "no elements to reduce in ", x.TypeToString());
}

template <template <typename> class Op>
absl::StatusOr<Tensor> Extremum(absl::string_view name, const Tensor& x,
                                const ReduceParams& params) {
  BATON_ASSIGN_OR_RETURN(const Plan plan, MakePlan(name, x, params));
  return ReduceNumeric<Op, Integers::kNumbers>(name, x, plan, Cast());
}

// Calls fn(row) -> double with a getter of each group of reduced elements, in
// doubles, and stores the results.
template <typename Fn>
absl::StatusOr<Tensor> ReduceGroups(absl::string_view name, const Tensor& x,
                                    const Plan& plan, const Fn& fn) {
  BATON_ASSIGN_OR_RETURN(MutableTensor result,
                         MutableTensor::Create(plan.x.dtype(), plan.shape));
  BATON_ASSIGN_OR_RETURN(
      const Tensor reduced,
      internal::VisitFloat(
          name, plan.x.dtype(), [&]<typename T>() -> absl::StatusOr<Tensor> {
            const T* from = internal::Data<T>(plan.x);
            T* to = static_cast<T*>(result.data());
            for (int64_t i = 0; i < result.num_elements(); ++i) {
              const T* group = from +
                               i / plan.inner * plan.extent * plan.inner +
                               i % plan.inner;
              to[i] = static_cast<T>(fn([group, &plan](int64_t k) {
                return static_cast<double>(group[k * plan.inner]);
              }));
            }
            return std::move(result).Freeze();
          }));
  return internal::Convert(name, reduced, x.dtype());
}

absl::StatusOr<Tensor> Spread(absl::string_view name, const Tensor& x,
                              const ReduceParams& params, bool unbiased,
                              bool root) {
  BATON_ASSIGN_OR_RETURN(const Plan plan, MakePlan(name, x, params));
  const int64_t n = plan.extent;
  return ReduceGroups(name, x, plan, [n, unbiased, root](const auto& at) {
    double mean = 0;
    for (int64_t i = 0; i < n; ++i) mean += at(i);
    mean /= static_cast<double>(n);
    double squares = 0;
    for (int64_t i = 0; i < n; ++i) {
      squares += (at(i) - mean) * (at(i) - mean);
    }
    const double variance = squares / static_cast<double>(unbiased ? n - 1 : n);
    return root ? std::sqrt(variance) : variance;
  });
}

// Computes for each of `outer` rows of `extent` bytes that represent bools
// whether it has one that is true (or false); stops at the first.
void AnyIs(bool wanted, const uint8_t* x, int64_t outer, int64_t extent,
           uint8_t* y) {
  internal::RunLoop([=]() BATON_LOOP {
    constexpr int64_t kBlock = 256;
    const int false_found = wanted ? 0 : 1;
    for (int64_t o = 0; o < outer; ++o) {
      const uint8_t* row = x + o * extent;
      uint8_t found = 0;
      for (int64_t begin = 0; begin < extent && found == 0; begin += kBlock) {
        const int64_t end = std::min(extent, begin + kBlock);
        for (int64_t i = begin; i < end; ++i) {
          found |= static_cast<uint8_t>((row[i] != 0 ? 1 : 0) ^ false_found);
        }
      }
      y[o] = found;
    }
  });
}

absl::StatusOr<Tensor> ReduceBool(absl::string_view name, const Tensor& x,
                                  const ReduceParams& params, bool all) {
  if (!x.dtype().is_bool()) {
    return internal::UnsupportedDType(name, x.dtype());
  }
  BATON_ASSIGN_OR_RETURN(const Plan plan, MakePlan(name, x, params));
  BATON_ASSIGN_OR_RETURN(MutableTensor result,
                         MutableTensor::Create(DType::Bool(), plan.shape));
  const auto keep = [](uint8_t acc) BATON_LOOP { return acc; };
  uint8_t* to = static_cast<uint8_t*>(result.data());
  if (result.num_elements() == 0) return std::move(result).Freeze();
  if (plan.inner == 1) {
    const int64_t rows = result.num_elements();
    AnyIs(!all, internal::Data<bool>(plan.x), rows, plan.extent, to);
    for (int64_t i = 0; all && i < rows; ++i) to[i] ^= 1;
  } else if (all) {
    Reduce<internal::kMemoryBound>(internal::Data<bool>(plan.x), plan.outer,
                                   plan.extent, plan.inner, to, AllOp(), keep);
  } else {
    Reduce<internal::kMemoryBound>(internal::Data<bool>(plan.x), plan.outer,
                                   plan.extent, plan.inner, to, AnyOp(), keep);
  }
  return std::move(result).Freeze();
}

// Returns whether `a` replaces `b` as extremum; a NaN replaces all other
// numbers.
template <bool kMax, typename T>
BATON_LOOP inline bool Better(T a, T b) {
  // Integers, and all questions asked: without branches it becomes vectors.
  const int beyond = (kMax ? a > b : a < b) ? 1 : 0;
  return (beyond | ((a != a ? 1 : 0) & (b == b ? 1 : 0))) != 0;
}

// The first of the blocks of kBlock of n elements, from the end on if `last`,
// that has an element which `is_sought`, and where; one has. Without branches:
// it becomes vectors.
template <typename T, typename Pred>
BATON_LOOP inline int64_t PlaceOf(const T* x, int64_t n, bool last,
                                  const Pred& is_sought) {
  // Vectors of masks are as wide as those of elements, and hold a block's
  // places.
  using Mask =
      std::conditional_t<sizeof(T) == 8, int64_t,
                         std::conditional_t<sizeof(T) == 4, int32_t, int16_t>>;
  constexpr Mask kBlock = sizeof(T) >= 4 ? 64 : 128;
  int64_t done = 0;
  int64_t length = 0;
  const T* block = x;
  for (;; done += length) {
    length = std::min<int64_t>(kBlock, n - done);
    block = last ? x + (n - done - length) : x + done;
    Mask found = 0;
    for (int64_t k = 0; k < length; ++k) {
      found |= is_sought(block[k]) ? Mask{1} : Mask{0};
    }
    if (found != 0) break;
  }
  // Each lane finds where, counted from the end that is searched from: the
  // place of block[k] is origin + step * k.
  const Mask step = last ? -1 : 1;
  const Mask origin = static_cast<Mask>(last ? length - 1 : 0);
  Mask place = kBlock;
  for (Mask k = 0; k < static_cast<Mask>(length); ++k) {
    const Mask here = static_cast<Mask>(origin + step * k);
    const Mask at = is_sought(block[k]) ? here : kBlock;
    place = at < place ? at : place;
  }
  return last ? n - 1 - done - place : done + place;
}

// The positions of extrema[o] among the n > 0 elements of run `o`, the first or
// last of equals.
template <typename T>
void PlacesOf(const T* data, int64_t outer, int64_t n, const T* extrema,
              bool last, int64_t* to) {
  internal::RunLoop<kWidestReduction<T>>([=]() BATON_LOOP {
    for (int64_t o = 0; o < outer; ++o) {
      const T* x = data + o * n;
      const T best = extrema[o];
      to[o] = best != best
                  ? PlaceOf(x, n, last, [](T v) BATON_LOOP { return v != v; })
                  : PlaceOf(x, n, last,
                            [best](T v) BATON_LOOP { return v == best; });
    }
  });
}

// The output of positions, as int64 or int32.
struct PositionsOut {
  void* to;
  bool is_wide;
};

// Stores n positions from element `first` on.
BATON_LOOP inline void StorePositions(const int64_t* from, int64_t n,
                                      const PositionsOut& out, int64_t first) {
  if (out.is_wide) {
    int64_t* to = static_cast<int64_t*>(out.to) + first;
    for (int64_t i = 0; i < n; ++i) to[i] = from[i];
  } else {
    int32_t* to = static_cast<int32_t*>(out.to) + first;
    for (int64_t i = 0; i < n; ++i) to[i] = static_cast<int32_t>(from[i]);
  }
}

template <bool kMax, typename T>
void Positions(const T* data, int64_t outer, int64_t extent, int64_t inner,
               bool last, const PositionsOut& out) {
  if (inner == 1) {
    // Some runs at a time, which are still in the cache when they are searched.
    constexpr int64_t kMaxRuns = 256;
    constexpr int64_t kMaxElements = 4096;
    T extrema[kMaxRuns];
    int64_t places[kMaxRuns];
    const int64_t runs =
        std::clamp<int64_t>(kMaxElements / extent, 1, kMaxRuns);
    for (int64_t o = 0; o < outer; o += runs) {
      const int64_t n = std::min(runs, outer - o);
      const T* from = data + o * extent;
      ReduceRuns<kWidestReduction<T>>(
          from, n, extent, extrema,
          std::conditional_t<kMax, MaxOp<T>, MinOp<T>>(), FinishAs<T, Cast>());
      PlacesOf(from, n, extent, extrema, last, places);
      StorePositions(places, n, out, o);
    }
    return;
  }
  internal::RunLoop<NotBeyondMemory(kWidestReduction<T>)>([=]() BATON_LOOP {
    const int is_last = last ? 1 : 0;
    T best[kPiece];
    int64_t at[kPiece];
    for (int64_t o = 0; o < outer; ++o) {
      for (int64_t first = 0; first < inner; first += kPiece) {
        const int64_t n = std::min(kPiece, inner - first);
        const T* from = data + o * extent * inner + first;
        for (int64_t j = 0; j < n; ++j) best[j] = from[j];
        for (int64_t j = 0; j < n; ++j) at[j] = 0;
        for (int64_t k = 1; k < extent; ++k) {
          from += inner;
          for (int64_t j = 0; j < n; ++j) {
            const T value = from[j];
            const int better = Better<kMax>(value, best[j]) ? 1 : 0;
            const int worse = Better<kMax>(best[j], value) ? 1 : 0;
            const bool take = (better | (is_last & (1 - worse))) != 0;
            best[j] = take ? value : best[j];
            at[j] = take ? k : at[j];
          }
        }
        StorePositions(at, n, out, o * inner + first);
      }
    }
  });
}

absl::Status FindPositions(absl::string_view name, const ArgReduction& search,
                           DType dtype, const void* x, int64_t outer,
                           int64_t extent, int64_t inner,
                           const PositionsOut& out) {
  return VisitReduced(name, dtype, [&]<typename T>() -> absl::Status {
    // Without elements, the extents may be huge.
    if (outer == 0 || inner == 0) return absl::OkStatus();
    const T* from = static_cast<const T*>(x);
    if (search.is_max) {
      Positions<true>(from, outer, extent, inner, search.is_last, out);
    } else {
      Positions<false>(from, outer, extent, inner, search.is_last, out);
    }
    return absl::OkStatus();
  });
}

absl::StatusOr<Tensor> ArgExtremum(absl::string_view name, const Tensor& x,
                                   const ReduceParams& params,
                                   const ArgReduction& search,
                                   DType index_dtype) {
  if (index_dtype != DType::Int(32) && index_dtype != DType::Int(64)) {
    return internal::UnsupportedDType(name, index_dtype);
  }
  BATON_ASSIGN_OR_RETURN(Plan plan, MakePlan(name, x, params));
  BATON_RETURN_IF_ERROR(CheckNotEmpty(name, x, plan));
  BATON_ASSIGN_OR_RETURN(plan.x, WidenRare(name, plan.x));
  BATON_ASSIGN_OR_RETURN(MutableTensor result,
                         MutableTensor::Uninitialized(index_dtype, plan.shape));
  const bool is_empty = result.num_elements() == 0;
  BATON_RETURN_IF_ERROR(FindPositions(
      name, search, plan.x.dtype(), plan.x.data(), is_empty ? 0 : plan.outer,
      plan.extent, plan.inner, {result.data(), index_dtype == DType::Int(64)}));
  return std::move(result).Freeze();
}

}  // namespace

absl::StatusOr<Tensor> Sum(const Tensor& x, const ReduceParams& params) {
  BATON_ASSIGN_OR_RETURN(const Plan plan, MakePlan("sum", x, params));
  return ReduceNumeric<SumOp, Integers::kBits>("sum", x, plan, Cast());
}

absl::StatusOr<Tensor> Prod(const Tensor& x, const ReduceParams& params) {
  BATON_ASSIGN_OR_RETURN(const Plan plan, MakePlan("prod", x, params));
  return ReduceNumeric<ProdOp, Integers::kBits>("prod", x, plan, Cast());
}

absl::StatusOr<Tensor> Mean(const Tensor& x, const ReduceParams& params) {
  BATON_ASSIGN_OR_RETURN(const Plan plan, MakePlan("mean", x, params));
  if (x.dtype().is_integral()) {
    BATON_RETURN_IF_ERROR(CheckNotEmpty("mean", x, plan));
  }
  return ReduceNumeric<WideSumOp, Integers::kRare>("mean", x, plan,
                                                   Quotient{plan.extent});
}

void ReduceInto(FloatReduction reduction, const float* x, int64_t outer,
                int64_t extent, int64_t inner, float* y) {
  const auto reduce = [&]<typename Finish>(const auto& op,
                                           const Finish& finish) {
    Reduce<Vectors::k512>(x, outer, extent, inner, y, op,
                          FinishAs<float, Finish>{finish});
  };
  switch (reduction) {
    case FloatReduction::kSum:
      return reduce(SumOp<float>(), Cast());
    case FloatReduction::kMean:
      return reduce(WideSumOp<float>(), Quotient{extent});
    case FloatReduction::kMax:
      return reduce(MaxOp<float>(), Cast());
    case FloatReduction::kMin:
      return reduce(MinOp<float>(), Cast());
  }
}

void VarianceInto(const float* x, const float* mean, int64_t outer,
                  int64_t extent, float* squares, float* y) {
  for (int64_t o = 0; o < outer; ++o, x += extent) {
    const float center = mean[o];
    internal::MapRun(x, extent, squares, [center](float v) BATON_LOOP {
      const float distance = v - center;
      return distance * distance;
    });
    ReduceInto(FloatReduction::kMean, squares, 1, extent, 1, y + o);
  }
}

absl::StatusOr<Tensor> Max(const Tensor& x, const ReduceParams& params) {
  return Extremum<MaxOp>("max", x, params);
}

absl::StatusOr<Tensor> Min(const Tensor& x, const ReduceParams& params) {
  return Extremum<MinOp>("min", x, params);
}

absl::StatusOr<Tensor> Variance(const Tensor& x, const ReduceParams& params,
                                bool unbiased) {
  return Spread("variance", x, params, unbiased, /*root=*/false);
}

absl::StatusOr<Tensor> Std(const Tensor& x, const ReduceParams& params,
                           bool unbiased) {
  return Spread("std", x, params, unbiased, /*root=*/true);
}

absl::StatusOr<Tensor> All(const Tensor& x, const ReduceParams& params) {
  return ReduceBool("all", x, params, /*all=*/true);
}

absl::StatusOr<Tensor> Any(const Tensor& x, const ReduceParams& params) {
  return ReduceBool("any", x, params, /*all=*/false);
}

absl::StatusOr<Tensor> ArgMax(const Tensor& x, const ReduceParams& params,
                              bool select_last_index, DType index_dtype) {
  return ArgExtremum("argmax", x, params,
                     {.is_max = true, .is_last = select_last_index},
                     index_dtype);
}

absl::StatusOr<Tensor> ArgMin(const Tensor& x, const ReduceParams& params,
                              bool select_last_index, DType index_dtype) {
  return ArgExtremum("argmin", x, params,
                     {.is_max = false, .is_last = select_last_index},
                     index_dtype);
}

bool HasArgReduceInto(DType dtype) {
  return dtype == DType::Float(32) || dtype == DType::Float(64) ||
         dtype == DType::Int(8) || dtype == DType::Int(32) ||
         dtype == DType::Int(64) || dtype == DType::UInt(64);
}

void ArgReduceInto(const ArgReduction& search, DType dtype, const void* x,
                   int64_t outer, int64_t extent, int64_t inner, bool is_wide,
                   void* y) {
  FindPositions("argmax", search, dtype, x, outer, extent, inner, {y, is_wide})
      .IgnoreError();
}

}  // namespace baton::kernels
