// Fourier transforms.

#ifndef BATON_RUNTIME_KERNELS_SIGNAL_H_
#define BATON_RUNTIME_KERNELS_SIGNAL_H_

#include <cstdint>
#include <utility>
#include <vector>

#include "absl/status/statusor.h"
#include "baton/base/tensor.h"

namespace baton::kernels {

// exp(-2 pi i k / n) for each k < n: the real part, then the imaginary part.
std::vector<double> RootsOfUnity(int64_t n);

// The discrete Fourier transform along the last axis: real and imaginary part.
// The inverse is divided by the extent. Floating dtypes only.
absl::StatusOr<std::pair<Tensor, Tensor>> Dft(const Tensor& real,
                                              const Tensor& imaginary,
                                              bool inverse);

struct StftParams {
  int64_t n_fft = 0;  // extent of the transform
  int64_t hop_length = 0;
  int64_t win_length = 0;   // extent of the window
  bool normalized = false;  // divide by the root of n_fft
  bool onesided = true;     // only the first n_fft / 2 + 1 frequencies
};
// The transforms of windows of `x` (batch, n) or (n), times `window`:
// (batch, frequencies, windows, 2), real and imaginary part.
absl::StatusOr<Tensor> Stft(const Tensor& x, const Tensor& window,
                            const StftParams& params);

}  // namespace baton::kernels

#endif  // BATON_RUNTIME_KERNELS_SIGNAL_H_
