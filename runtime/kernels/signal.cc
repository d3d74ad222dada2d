#include "baton/runtime/kernels/signal.h"

#include <cmath>
#include <complex>
#include <vector>

#include "absl/strings/string_view.h"
#include "baton/base/dtype.h"
#include "baton/base/status_macros.h"
#include "baton/runtime/kernels/internal/convert.h"
#include "baton/runtime/kernels/internal/util.h"

namespace baton::kernels {
namespace {

using ::baton::kernels::internal::Error;

constexpr double kTwoPi = 2 * 3.14159265358979323846;

}  // namespace

std::vector<double> RootsOfUnity(int64_t n) {
  std::vector<double> roots;
  for (int64_t k = 0; k < n; ++k) {
    const std::complex<double> root = std::polar(
        1.0, -kTwoPi * static_cast<double>(k) / static_cast<double>(n));
    roots.push_back(root.real());
    roots.push_back(root.imag());
  }
  return roots;
}

absl::StatusOr<std::pair<Tensor, Tensor>> Dft(const Tensor& real,
                                              const Tensor& imaginary,
                                              bool inverse) {
  constexpr absl::string_view kKernel = "dft";
  if (real.shape() != imaginary.shape() || real.rank() == 0 ||
      !real.dtype().is_float() || !imaginary.dtype().is_float()) {
    return Error(kKernel, "the parts ", real.TypeToString(), " and ",
                 imaginary.TypeToString(), " do not fit");
  }
  const DType kDouble = DType::Float(64);
  BATON_ASSIGN_OR_RETURN(const Tensor re,
                         internal::Convert(kKernel, real, kDouble));
  BATON_ASSIGN_OR_RETURN(const Tensor im,
                         internal::Convert(kKernel, imaginary, kDouble));
  BATON_ASSIGN_OR_RETURN(MutableTensor out_re,
                         MutableTensor::Create(kDouble, real.shape()));
  BATON_ASSIGN_OR_RETURN(MutableTensor out_im,
                         MutableTensor::Create(kDouble, real.shape()));
  const int64_t extent = real.shape().back();
  const int64_t rows =
      real.num_elements() == 0 ? 0 : real.num_elements() / extent;
  const std::vector<double> roots = RootsOfUnity(rows == 0 ? 0 : extent);
  for (int64_t row = 0; row < rows; ++row) {
    const double* const a = re.span<double>().data() + row * extent;
    const double* const b = im.span<double>().data() + row * extent;
    for (int64_t k = 0; k < extent; ++k) {
      double sum_re = 0;
      double sum_im = 0;
      int64_t at = 0;  // k * i modulo the extent
      for (int64_t i = 0; i < extent; ++i) {
        const double cosine = roots[2 * at];
        const double sine = inverse ? -roots[2 * at + 1] : roots[2 * at + 1];
        sum_re += a[i] * cosine - b[i] * sine;
        sum_im += a[i] * sine + b[i] * cosine;
        at += k;
        if (at >= extent) at -= extent;
      }
      if (inverse) {
        sum_re /= static_cast<double>(extent);
        sum_im /= static_cast<double>(extent);
      }
      out_re.span<double>()[row * extent + k] = sum_re;
      out_im.span<double>()[row * extent + k] = sum_im;
    }
  }
  BATON_ASSIGN_OR_RETURN(
      Tensor first,
      internal::Convert(kKernel, std::move(out_re).Freeze(), real.dtype()));
  BATON_ASSIGN_OR_RETURN(Tensor second,
                         internal::Convert(kKernel, std::move(out_im).Freeze(),
                                           imaginary.dtype()));
  return std::pair(std::move(first), std::move(second));
}

absl::StatusOr<Tensor> Stft(const Tensor& x, const Tensor& window,
                            const StftParams& params) {
  constexpr absl::string_view kKernel = "stft";
  const bool fits = (x.rank() == 1 || x.rank() == 2) && window.rank() == 1 &&
                    params.n_fft > 0 && params.hop_length > 0 &&
                    params.win_length > 0 &&
                    params.win_length <= params.n_fft &&
                    params.win_length <= window.shape()[0] &&
                    params.n_fft <= x.shape().back();
  if (!fits) {
    return Error(kKernel, "data ", x.TypeToString(), " and window ",
                 window.TypeToString(), " do not fit n_fft=", params.n_fft,
                 ", hop_length=", params.hop_length,
                 " and win_length=", params.win_length);
  }
  const DType kDouble = DType::Float(64);
  const int64_t extent = x.shape().back();
  const int64_t frequencies =
      params.onesided ? params.n_fft / 2 + 1 : params.n_fft;
  const int64_t windows = (extent - params.n_fft) / params.hop_length + 1;
  TensorShape shape = {frequencies, windows, 2};
  if (x.rank() == 2) shape.insert(shape.begin(), x.shape()[0]);
  BATON_ASSIGN_OR_RETURN(MutableTensor out,
                         MutableTensor::Create(kDouble, shape));
  BATON_ASSIGN_OR_RETURN(const Tensor data,
                         internal::Convert(kKernel, x, kDouble));
  BATON_ASSIGN_OR_RETURN(const Tensor factors,
                         internal::Convert(kKernel, window, kDouble));
  const std::vector<double> roots = RootsOfUnity(params.win_length);
  const double scale =
      params.normalized ? 1 / std::sqrt(static_cast<double>(params.n_fft)) : 1;
  double* to = out.span<double>().data();
  const int64_t batch = x.rank() == 2 ? x.shape()[0] : 1;
  for (int64_t n = 0; n < batch; ++n) {
    const double* const row = data.span<double>().data() + n * extent;
    for (int64_t k = 0; k < frequencies; ++k) {
      for (int64_t w = 0; w < windows; ++w) {
        const double* const from = row + w * params.hop_length;
        double sum_re = 0;
        double sum_im = 0;
        for (int64_t i = 0, at = 0; i < params.win_length; ++i) {
          const double x_i = factors.span<double>()[i] * from[i];
          sum_re += x_i * roots[2 * at];
          sum_im += x_i * roots[2 * at + 1];
          at = (at + k) % params.win_length;
        }
        *to++ = sum_re * scale;
        *to++ = sum_im * scale;
      }
    }
  }
  return internal::Convert(kKernel, std::move(out).Freeze(), x.dtype());
}

}  // namespace baton::kernels
