#include <cstdint>

#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "baton/base/dtype.h"
#include "baton/base/status_macros.h"
#include "baton/base/tensor.h"
#include "baton/runtime/kernels/elementwise.h"
#include "baton/runtime/kernels/internal/binary.h"
#include "baton/runtime/kernels/internal/convert.h"
#include "baton/runtime/kernels/internal/util.h"
#include "baton/runtime/kernels/internal/vectorize.h"

namespace baton::kernels {
namespace {

using internal::Loops;
using internal::MapBinary;

// fn(T, T) -> bool over all dtypes.
template <typename Fn>
absl::StatusOr<Tensor> CompareBool(absl::string_view name, const Tensor& a,
                                   const Tensor& b, const Fn& fn) {
  return MapBinary<uint8_t, uint8_t, Loops::kEach>(
      name, a, b, DType::Bool(), [fn](uint8_t x, uint8_t y) BATON_LOOP {
        return static_cast<uint8_t>(fn(x != 0, y != 0));
      });
}

template <typename Fn>
absl::StatusOr<Tensor> Compare(absl::string_view name, const Tensor& a,
                               const Tensor& b, const Fn& fn) {
  BATON_RETURN_IF_ERROR(internal::CheckSameDType(name, a, b));
  if (a.dtype().is_bool()) return CompareBool(name, a, b, fn);
  BATON_ASSIGN_OR_RETURN(const Tensor x, internal::WidenHalf(name, a));
  BATON_ASSIGN_OR_RETURN(const Tensor y, internal::WidenHalf(name, b));
  return internal::VisitNumeric(name, x.dtype(), [&]<typename T>() {
    // The widest vectors for the types that are compared most.
    constexpr Loops kLoops = sizeof(T) >= 4 ? Loops::kWidest : Loops::kEach;
    return MapBinary<T, uint8_t, kLoops>(
        name, x, y, DType::Bool(),
        [fn](T u, T v) BATON_LOOP { return static_cast<uint8_t>(fn(u, v)); });
  });
}

template <typename Fn>
absl::StatusOr<Tensor> Logical(absl::string_view name, const Tensor& a,
                               const Tensor& b, const Fn& fn) {
  for (const Tensor* x : {&a, &b}) {
    if (!x->dtype().is_bool()) {
      return internal::UnsupportedDType(name, x->dtype());
    }
  }
  return CompareBool(name, a, b, fn);
}

}  // namespace

absl::StatusOr<Tensor> Equal(const Tensor& a, const Tensor& b) {
  return Compare("equal", a, b,
                 [](auto x, auto y) BATON_LOOP { return x == y; });
}

absl::StatusOr<Tensor> NotEqual(const Tensor& a, const Tensor& b) {
  return Compare("not_equal", a, b,
                 [](auto x, auto y) BATON_LOOP { return x != y; });
}

absl::StatusOr<Tensor> Less(const Tensor& a, const Tensor& b) {
  return Compare("less", a, b, [](auto x, auto y) BATON_LOOP { return x < y; });
}

absl::StatusOr<Tensor> LessEqual(const Tensor& a, const Tensor& b) {
  return Compare("less_equal", a, b,
                 [](auto x, auto y) BATON_LOOP { return x <= y; });
}

absl::StatusOr<Tensor> Greater(const Tensor& a, const Tensor& b) {
  return Compare("greater", a, b,
                 [](auto x, auto y) BATON_LOOP { return x > y; });
}

absl::StatusOr<Tensor> GreaterEqual(const Tensor& a, const Tensor& b) {
  return Compare("greater_equal", a, b,
                 [](auto x, auto y) BATON_LOOP { return x >= y; });
}

absl::StatusOr<Tensor> LogicalAnd(const Tensor& a, const Tensor& b) {
  return Logical("logical_and", a, b,
                 [](auto x, auto y) BATON_LOOP { return x && y; });
}

absl::StatusOr<Tensor> LogicalOr(const Tensor& a, const Tensor& b) {
  return Logical("logical_or", a, b,
                 [](auto x, auto y) BATON_LOOP { return x || y; });
}

absl::StatusOr<Tensor> LogicalXor(const Tensor& a, const Tensor& b) {
  return Logical("logical_xor", a, b,
                 [](auto x, auto y) BATON_LOOP { return x != y; });
}

}  // namespace baton::kernels
