// Splittable random numbers that are functions of a key: Threefry (Salmon et
// al., "Parallel random numbers: as easy as 1, 2, 3", 2011), with keys as in
// Claessen and Palka, "Splittable pseudorandom number generators using
// cryptographic hashing", 2013. Bit-exact with TVM
// (python/tvm/topi/random/kernel.py).
//
// A key is uint64 (10): four words of key, two of path, two of counter, and a
// bit that marks the end of the path.

#ifndef BATON_RUNTIME_KERNELS_RANDOM_KERNELS_H_
#define BATON_RUNTIME_KERNELS_RANDOM_KERNELS_H_

#include <cstdint>

#include "absl/status/statusor.h"
#include "absl/types/span.h"
#include "baton/base/dtype.h"
#include "baton/base/tensor.h"

namespace baton::kernels {

struct RandomResult {
  Tensor key;  // for the next call
  Tensor values;
};

// Random uint64 values.
absl::StatusOr<RandomResult> ThreefryGenerate(const Tensor& key,
                                              absl::Span<const int64_t> shape);

struct SplitKeys {
  Tensor left;
  Tensor right;
};
absl::StatusOr<SplitKeys> ThreefrySplit(const Tensor& key);

// Uniform values in [low, high) of `dtype`: float32 or float64.
absl::StatusOr<RandomResult> RandomUniform(const Tensor& key, double low,
                                           double high,
                                           absl::Span<const int64_t> shape,
                                           DType dtype);

// Normal values with the given mean and standard deviation, of `dtype`: float32
// or float64.
absl::StatusOr<RandomResult> RandomNormal(const Tensor& key, double mean,
                                          double scale,
                                          absl::Span<const int64_t> shape,
                                          DType dtype);

// For each row of `probs`, `samples` int32 indices with probabilities
// proportional to the row (negative ones count as zero).
absl::StatusOr<RandomResult> RandomMultinomial(const Tensor& key,
                                               const Tensor& probs,
                                               int64_t samples);

}  // namespace baton::kernels

#endif  // BATON_RUNTIME_KERNELS_RANDOM_KERNELS_H_
