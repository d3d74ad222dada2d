// Functions of floats that are made of those in internal/math.h.

#include <cmath>
#include <cstdint>

#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "baton/base/dtype.h"
#include "baton/base/tensor.h"
#include "baton/runtime/kernels/elementwise_kernels.h"
#include "baton/runtime/kernels/internal/float16_functions.h"
#include "baton/runtime/kernels/internal/math.h"
#include "baton/runtime/kernels/internal/unary.h"
#include "baton/runtime/kernels/internal/vectorize.h"

namespace baton::kernels {
namespace {

namespace float16 = internal::float16;
using internal::kMemoryBound;
using internal::MapFloatRuns;
using internal::Vectors;

// Runs a function of float32, float64 or bfloat16: fast(v, in_domain) -> T in
// its domain, which takes fewer steps, and slow(v) -> T for blocks with
// elements outside of it.
template <typename Fast, typename Slow>
absl::StatusOr<Tensor> MapFastPath(absl::string_view name, const Tensor& x,
                                   const Fast& fast, const Slow& slow) {
  return MapFloatRuns(name, x, [=](const auto* from, int64_t n, auto* to) {
    internal::InWholeRuns(
        from, n, to, [=](const auto* in, int64_t m, auto* out) {
          internal::RunFastPath(
              m, out,
              [=](int64_t i, bool& in_domain)
                  BATON_LOOP { return fast(in[i], in_domain); },
              [=](int64_t begin, int64_t end) {
                internal::MapRun<kMemoryBound>(in + begin, end - begin,
                                               out + begin, slow);
              });
        });
  });
}

// Applies fn(T) -> T where IsNearZero, and exact(T) -> T elsewhere.
template <typename Fn, typename Exact>
absl::StatusOr<Tensor> MapAngle(absl::string_view name, const Tensor& x,
                                const Fn& fn, const Exact& exact) {
  return MapFloatRuns(name, x, [=](const auto* from, int64_t n, auto* to) {
    internal::InWholeRuns(from, n, to,
                          [=](const auto* in, int64_t m, auto* out) {
                            internal::RunFastElements(
                                m, out,
                                [=](int64_t i, bool& in_domain) BATON_LOOP {
                                  in_domain = internal::IsNearZero(in[i]);
                                  return fn(in[i]);
                                },
                                [=](int64_t i) { return exact(in[i]); });
                          });
  });
}

}  // namespace

#define BATON_FUNCTION(Name, name, Map, widest, expr)                        \
  absl::StatusOr<Tensor> Name(const Tensor& x) {                             \
    if (x.dtype() == DType::Float(16)) return float16::Name(x);              \
    return MapFloatRuns(name, x, [](const auto* from, int64_t n, auto* to) { \
      internal::Map<widest>(from, n, to,                                     \
                            [](auto v) BATON_LOOP { return (expr); });       \
    });                                                                      \
  }

BATON_FUNCTION(Sqrt, "sqrt", MapRun, kMemoryBound, std::sqrt(v))
BATON_FUNCTION(Rsqrt, "rsqrt", MapRun, kMemoryBound, 1 / std::sqrt(v))
BATON_FUNCTION(Asin, "asin", MapRun, Vectors::k512, internal::Asin(v))
BATON_FUNCTION(Acos, "acos", MapRun, Vectors::k512, internal::Acos(v))
BATON_FUNCTION(Atan, "atan", MapInterleaved, Vectors::k512, internal::Atan(v))
BATON_FUNCTION(Sinh, "sinh", MapRun, Vectors::k512, internal::Sinh(v))
BATON_FUNCTION(Cosh, "cosh", MapRun, Vectors::k512, internal::Cosh(v))
BATON_FUNCTION(Tanh, "tanh", MapRun, Vectors::k512, internal::Tanh(v))
BATON_FUNCTION(Asinh, "asinh", MapInterleaved, Vectors::k512,
               internal::Asinh(v))
BATON_FUNCTION(Acosh, "acosh", MapInterleaved, Vectors::k512,
               internal::Acosh(v))
BATON_FUNCTION(Atanh, "atanh", MapInterleaved, Vectors::k512,
               internal::Atanh(v))
BATON_FUNCTION(Sigmoid, "sigmoid", MapRun, Vectors::k512, internal::Sigmoid(v))
BATON_FUNCTION(Erf, "erf", MapInterleaved, Vectors::k512, internal::Erf(v))

#undef BATON_FUNCTION

absl::StatusOr<Tensor> Exp(const Tensor& x) {
  if (x.dtype() == DType::Float(16)) return float16::Exp(x);
  return MapFastPath(
      "exp", x,
      [](auto v, bool& in_domain) BATON_LOOP {
        in_domain = internal::IsPlainExp(v);
        return internal::PlainExp(v);
      },
      [](auto v) BATON_LOOP { return internal::Exp(v); });
}

#define BATON_LOGARITHM(Name, name)                             \
  absl::StatusOr<Tensor> Name(const Tensor& x) {                \
    if (x.dtype() == DType::Float(16)) return float16::Name(x); \
    return MapFastPath(                                         \
        name, x,                                                \
        []<typename T>(T v, bool& in_domain) BATON_LOOP {       \
          in_domain = internal::IsNormalPositive(v);            \
          return internal::Normal##Name(v, T(0));               \
        },                                                      \
        [](auto v) BATON_LOOP { return internal::Name(v); });   \
  }

BATON_LOGARITHM(Log, "log")
BATON_LOGARITHM(Log2, "log2")
BATON_LOGARITHM(Log10, "log10")

#undef BATON_LOGARITHM

#define BATON_ANGLE(Name, name, exact)                                \
  absl::StatusOr<Tensor> Name(const Tensor& x) {                      \
    if (x.dtype() == DType::Float(16)) return float16::Name(x);       \
    return MapAngle(                                                  \
        name, x, [](auto v) BATON_LOOP { return internal::Name(v); }, \
        [](auto v) { return exact(v); });                             \
  }

BATON_ANGLE(Sin, "sin", std::sin)
BATON_ANGLE(Cos, "cos", std::cos)
BATON_ANGLE(Tan, "tan", std::tan)

#undef BATON_ANGLE

}  // namespace baton::kernels
