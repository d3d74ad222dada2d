// Tensors and matchers for tests of kernels. (ir/testing contains a level of
// the IR for tests; testing/ contains the laws of passes.)

#ifndef BATON_RUNTIME_KERNELS_INTERNAL_TESTING_H_
#define BATON_RUNTIME_KERNELS_INTERNAL_TESTING_H_

#include <cstddef>
#include <cstdint>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "absl/types/span.h"
#include "baton/base/dtype.h"
#include "baton/base/tensor.h"
#include "gtest/gtest.h"

namespace baton::kernels::internal {

// A tensor of `dtype` with `values` converted to it.
Tensor Make(DType dtype, absl::Span<const int64_t> shape,
            const std::vector<double>& values);
// A float32 tensor.
Tensor MakeFloat(absl::Span<const int64_t> shape,
                 const std::vector<double>& values);

// Values that depend only on `seed`: in [-1, 1] for floats, in [-100, 100] for
// signed integers, in [0, 200] for unsigned integers.
Tensor Random(DType dtype, absl::Span<const int64_t> shape, uint32_t seed = 1);
// 0, 1, 2, ..., wrapped to the dtype.
Tensor Iota(DType dtype, absl::Span<const int64_t> shape);

std::vector<double> Values(const Tensor& x);

// The value of `result`; after an error, fails the test and returns a default.
Tensor Unwrap(absl::StatusOr<Tensor> result);

// Passes if `result` has the given dtype and shape and each value is within
// relative * |expected| + absolute of the expected one (or both are NaN).
::testing::AssertionResult Matches(const absl::StatusOr<Tensor>& result,
                                   DType dtype, absl::Span<const int64_t> shape,
                                   const std::vector<double>& expected,
                                   double relative = 1e-5,
                                   double absolute = 1e-7);
// As Matches, with a bound for each value, such as 1e-5 of the magnitudes.
::testing::AssertionResult Within(const absl::StatusOr<Tensor>& result,
                                  DType dtype, absl::Span<const int64_t> shape,
                                  const std::vector<double>& expected,
                                  const std::vector<double>& bounds);

// Passes if `status` is an InvalidArgumentError whose message starts with
// `kernel` and contains `text`.
::testing::AssertionResult Fails(const absl::Status& status,
                                 absl::string_view kernel,
                                 absl::string_view text = "");

// Calls fn(index) with every index of `shape`, row-major.
template <typename Fn>
void ForEachIndex(const std::vector<int64_t>& shape, const Fn& fn) {
  for (const int64_t d : shape) {
    if (d == 0) return;
  }
  std::vector<int64_t> index(shape.size(), 0);
  while (true) {
    fn(index);
    size_t d = shape.size();
    while (true) {
      if (d == 0) return;
      --d;
      if (++index[d] < shape[d]) break;
      index[d] = 0;
    }
  }
}

// The row-major position of `index` in `shape`.
int64_t Flat(absl::Span<const int64_t> shape, absl::Span<const int64_t> index);

}  // namespace baton::kernels::internal

#endif  // BATON_RUNTIME_KERNELS_INTERNAL_TESTING_H_
