#include "baton/runtime/kernels/internal/float16_functions.h"

#include <algorithm>
#include <cmath>
#include <cstdint>

#include "absl/status/statusor.h"
#include "baton/base/tensor.h"
#include "baton/runtime/kernels/internal/half.h"
#include "baton/runtime/kernels/internal/math.h"
#include "baton/runtime/kernels/internal/unary.h"
#include "baton/runtime/kernels/internal/vectorize.h"

namespace baton::kernels::internal::float16 {
namespace {

// Applies plain(float) -> float to blocks of elements that are all positive and
// finite, and fn(float) -> float to others.
template <typename Plain, typename Fn>
absl::StatusOr<Tensor> MapLogarithm(const Tensor& x, const Plain& plain,
                                    const Fn& fn) {
  return MapStoredHalves(x, [=](const uint16_t* from, int64_t n, uint16_t* to) {
    constexpr int64_t kBlock = 2048;
    for (int64_t i = 0; i < n; i += kBlock) {
      const uint16_t* in = from + i;
      const int64_t count = std::min(kBlock, n - i);
      uint16_t any = 0;
      RunLoop<kMemoryBound>([=, &any]() BATON_LOOP {
        uint16_t others = 0;
        for (int64_t j = 0; j < count; ++j) {
          // The bits of those that are positive and finite are 1 to 0x7bff.
          others |= static_cast<uint16_t>(in[j] - 1u) < 0x7bffu ? 0 : 1;
        }
        any = others;
      });
      if (any == 0) {
        MapHalves(in, count, to + i, plain);
      } else {
        MapHalves<kMemoryBound>(in, count, to + i, fn);
      }
    }
  });
}

}  // namespace

#define BATON_FUNCTION(Name, widest, expr)                                   \
  absl::StatusOr<Tensor> Name(const Tensor& x) {                             \
    return MapFloat16<widest>(x, [](float v) BATON_LOOP { return (expr); }); \
  }

BATON_FUNCTION(Sqrt, kMemoryBound, std::sqrt(v))
BATON_FUNCTION(Rsqrt, kMemoryBound, 1 / std::sqrt(v))
BATON_FUNCTION(Asin, Vectors::k512, internal::Asin(v))
BATON_FUNCTION(Acos, Vectors::k512, half::Acos(v))
BATON_FUNCTION(Atan, Vectors::k512, internal::Atan(v))
BATON_FUNCTION(Sinh, Vectors::k512, half::Sinh(v))
BATON_FUNCTION(Cosh, Vectors::k512, half::Cosh(v))
BATON_FUNCTION(Tanh, Vectors::k512, half::Tanh(v))
BATON_FUNCTION(Asinh, Vectors::k512, internal::Asinh(v))
BATON_FUNCTION(Acosh, Vectors::k512, internal::Acosh(v))
BATON_FUNCTION(Atanh, Vectors::k512, internal::Atanh(v))
BATON_FUNCTION(Sigmoid, Vectors::k512, internal::Sigmoid(v))
BATON_FUNCTION(Erf, Vectors::k512, internal::Erf(v))
BATON_FUNCTION(Exp, Vectors::k512, half::Exp(v))
// Near zero, as finite numbers are.
BATON_FUNCTION(Sin, Vectors::k512, internal::Sin(v))
BATON_FUNCTION(Cos, Vectors::k512, internal::Cos(v))
BATON_FUNCTION(Tan, Vectors::k512, internal::Tan(v))

#undef BATON_FUNCTION

#define BATON_LOGARITHM(Name)                                       \
  absl::StatusOr<Tensor> Name(const Tensor& x) {                    \
    return MapLogarithm(                                            \
        x, [](float v) BATON_LOOP { return half::Plain##Name(v); }, \
        [](float v) BATON_LOOP { return half::Name(v); });          \
  }

BATON_LOGARITHM(Log)
BATON_LOGARITHM(Log2)
BATON_LOGARITHM(Log10)

#undef BATON_LOGARITHM

}  // namespace baton::kernels::internal::float16
