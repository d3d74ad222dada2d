#include "baton/runtime/kernels/bitserial.h"

#include <bit>
#include <type_traits>
#include <utility>

#include "absl/status/status.h"
#include "absl/strings/string_view.h"
#include "absl/types/span.h"
#include "baton/base/status_macros.h"
#include "baton/runtime/kernels/internal/convert.h"
#include "baton/runtime/kernels/internal/util.h"
#include "baton/runtime/kernels/internal/window.h"

namespace baton::kernels {
namespace {

using ::baton::kernels::internal::AxisView;
using ::baton::kernels::internal::Error;
using ::baton::kernels::internal::Window;

constexpr int64_t kMaxBits = 8;

absl::Status CheckWord(absl::string_view kernel, DType dtype) {
  return dtype.is_uint() && dtype.IsStorable() && !dtype.is_bool()
             ? absl::OkStatus()
             : internal::UnsupportedDType(kernel, dtype);
}

absl::Status CheckBits(absl::string_view kernel, int64_t bits) {
  return bits >= 1 && bits <= kMaxBits
             ? absl::OkStatus()
             : Error(kernel, bits, " bits of an element are not 1 to ",
                     kMaxBits);
}

// BitPack with each word in a uint64.
absl::StatusOr<Tensor> Pack(absl::string_view kernel, const Tensor& x,
                            const BitPackParams& params) {
  BATON_RETURN_IF_ERROR(CheckWord(kernel, params.dtype));
  BATON_RETURN_IF_ERROR(CheckBits(kernel, params.bits));
  if (params.pack_axis < 0 || params.pack_axis >= x.rank() ||
      params.bit_axis < 0 || params.bit_axis > x.rank()) {
    return Error(kernel, "pack_axis=", params.pack_axis,
                 " or bit_axis=", params.bit_axis, " is out of range for ",
                 x.TypeToString());
  }
  const AxisView view =
      internal::ViewAround(x.shape(), static_cast<int>(params.pack_axis));
  const int64_t width = params.dtype.bits();
  if (view.extent % width != 0) {
    return Error(kernel, "the ", view.extent,
                 " elements of the axis do not fill words of ", width, " bits");
  }
  TensorShape shape = internal::ToShape(x.shape());
  shape[params.pack_axis] /= width;
  // The number of words behind the axis of the bits.
  const int64_t behind =
      internal::Product(absl::MakeConstSpan(shape).subspan(params.bit_axis));
  shape.insert(shape.begin() + params.bit_axis, params.bits);
  BATON_ASSIGN_OR_RETURN(MutableTensor result,
                         MutableTensor::Create(DType::UInt(64), shape));
  // Extents of 0 do not bound the others.
  if (x.num_elements() == 0) return std::move(result).Freeze();
  uint64_t* const words = result.span<uint64_t>().data();
  BATON_RETURN_IF_ERROR(internal::VisitNumeric(
      kernel, x.dtype(), [&]<typename T>() -> absl::Status {
        if constexpr (!std::is_integral_v<T>) {
          return internal::UnsupportedDType(kernel, x.dtype());
        } else {
          const T* in = x.span<T>().data();
          for (int64_t outer = 0; outer < view.outer; ++outer) {
            for (int64_t i = 0; i < view.extent; ++i) {
              const int64_t row = outer * (view.extent / width) + i / width;
              const int64_t shift = width - 1 - i % width;
              for (int64_t inner = 0; inner < view.inner; ++inner, ++in) {
                const int64_t word = row * view.inner + inner;
                const auto element = static_cast<uint64_t>(*in);
                for (int64_t bit = 0; bit < params.bits; ++bit) {
                  const int64_t at =
                      (word / behind * params.bits + bit) * behind +
                      word % behind;
                  words[at] |= (element >> bit & 1) << shift;
                }
              }
            }
          }
          return absl::OkStatus();
        }
      }));
  return std::move(result).Freeze();
}

// `weight` with its bits at `bit_axis`: of `rank` axes if it is to be packed,
// of one more if it is already.
absl::StatusOr<Tensor> PackedWeight(absl::string_view kernel,
                                    const Tensor& weight, int rank,
                                    int64_t bit_axis,
                                    const BitserialParams& params) {
  if (weight.rank() != rank + 1) {
    BATON_RETURN_IF_ERROR(internal::CheckRank(kernel, "weight", weight, rank));
    return Pack(kernel, weight,
                {params.weight_bits, 1, bit_axis, params.pack_dtype});
  }
  if (weight.dtype() != params.pack_dtype) {
    return Error(kernel, "the packed weight ", weight.TypeToString(),
                 " does not have words of ", params.pack_dtype.ToString());
  }
  BATON_RETURN_IF_ERROR(CheckBits(kernel, weight.shape()[bit_axis]));
  return internal::Convert(kernel, weight, DType::UInt(64));
}

// Returns the sum over words of one bit of data and of one bit of weights.
uint64_t Contribution(uint64_t data, uint64_t weight, bool signed_weights) {
  auto sum = static_cast<uint64_t>(std::popcount(data & weight));
  if (signed_weights) {
    sum -= static_cast<uint64_t>(std::popcount(data & ~weight));
  }
  return sum;
}

// A tensor of `element(i)` for each index, wrapped to `dtype`.
template <typename Fn>
absl::StatusOr<Tensor> Wrapped(absl::string_view kernel, DType dtype,
                               absl::Span<const int64_t> shape,
                               const Fn& element) {
  BATON_ASSIGN_OR_RETURN(MutableTensor result,
                         MutableTensor::Create(dtype, shape));
  BATON_RETURN_IF_ERROR(
      internal::VisitNumeric(kernel, dtype, [&]<typename T>() -> absl::Status {
        if constexpr (!std::is_integral_v<T>) {
          return internal::UnsupportedDType(kernel, dtype);
        } else {
          int64_t i = 0;
          for (T& x : result.span<T>()) x = static_cast<T>(element(i++));
          return absl::OkStatus();
        }
      }));
  return std::move(result).Freeze();
}

}  // namespace

absl::StatusOr<Tensor> BitPack(const Tensor& x, const BitPackParams& params) {
  constexpr absl::string_view kKernel = "bitpack";
  BATON_ASSIGN_OR_RETURN(const Tensor words, Pack(kKernel, x, params));
  return internal::Convert(kKernel, words, params.dtype);
}

absl::StatusOr<Tensor> BitserialDense(const Tensor& data, const Tensor& weight,
                                      const BitserialParams& params) {
  constexpr absl::string_view kKernel = "bitserial_dense";
  BATON_RETURN_IF_ERROR(internal::CheckRank(kKernel, "data", data, 2));
  BATON_ASSIGN_OR_RETURN(
      const Tensor packed_data,
      Pack(kKernel, data, {params.data_bits, 1, 1, params.pack_dtype}));
  BATON_ASSIGN_OR_RETURN(const Tensor packed_weight,
                         PackedWeight(kKernel, weight, 2, 1, params));
  const int64_t units = packed_weight.shape()[0];
  const int64_t weight_bits = packed_weight.shape()[1];
  const int64_t words = packed_weight.shape()[2];
  if (packed_data.shape()[2] != words) {
    return Error(kKernel, "data ", data.TypeToString(), " and weight ",
                 weight.TypeToString(), " differ in width");
  }
  const uint64_t* const x = packed_data.span<uint64_t>().data();
  const uint64_t* const w = packed_weight.span<uint64_t>().data();
  return Wrapped(
      kKernel, params.out_dtype, {data.shape()[0], units}, [&](int64_t i) {
        const uint64_t* row = x + i / units * params.data_bits * words;
        uint64_t sum = 0;
        for (int64_t data_bit = 0; data_bit < params.data_bits; ++data_bit) {
          const uint64_t* unit = w + i % units * weight_bits * words;
          for (int64_t bit = 0; bit < weight_bits; ++bit, unit += words) {
            uint64_t part = 0;
            for (int64_t k = 0; k < words; ++k) {
              part += Contribution(row[k], unit[k], params.signed_weights);
            }
            sum += part << (data_bit + bit);
          }
          row += words;
        }
        return sum;
      });
}

absl::StatusOr<Tensor> BitserialConv2d(const Tensor& data, const Tensor& weight,
                                       const BitserialConvParams& params) {
  constexpr absl::string_view kKernel = "bitserial_conv2d";
  BATON_RETURN_IF_ERROR(internal::CheckRank(kKernel, "data", data, 4));
  BATON_ASSIGN_OR_RETURN(
      const Tensor packed_data,
      Pack(kKernel, data, {params.data_bits, 1, 1, params.pack_dtype}));
  BATON_ASSIGN_OR_RETURN(const Tensor packed_weight,
                         PackedWeight(kKernel, weight, 4, 4, params));
  const absl::Span<const int64_t> shape = packed_weight.shape();
  const int64_t words = shape[1];
  const int64_t weight_bits = shape[4];
  if (packed_data.shape()[2] != words) {
    return Error(kKernel, "data ", data.TypeToString(), " and weight ",
                 weight.TypeToString(), " differ in channels");
  }
  BATON_ASSIGN_OR_RETURN(
      const auto windows,
      internal::Windows2d(kKernel, /*ceil_mode=*/false, data.shape().subspan(2),
                          shape.subspan(2), params.strides, /*dilation=*/{1, 1},
                          params.padding));
  const Window& down = windows[0];
  const Window& across = windows[1];
  const int64_t plane = down.in * across.in;
  const int64_t taps = words == 0 ? 0 : down.kernel * across.kernel;
  const uint64_t* const x = packed_data.span<uint64_t>().data();
  const uint64_t* const w = packed_weight.span<uint64_t>().data();
  return Wrapped(
      kKernel, params.out_dtype,
      {data.shape()[0], shape[0], down.out, across.out}, [&](int64_t i) {
        const int64_t column = i % across.out;
        const int64_t row = i / across.out % down.out;
        const int64_t channel = i / (across.out * down.out) % shape[0];
        const int64_t image = i / (across.out * down.out) / shape[0];
        uint64_t sum = 0;
        for (int64_t tap = 0; tap < taps; ++tap) {
          const int64_t y = down.Input(row, tap / across.kernel);
          const int64_t z = across.Input(column, tap % across.kernel);
          if (y < 0 || y >= down.in || z < 0 || z >= across.in) continue;
          for (int64_t bit = 0; bit < params.data_bits; ++bit) {
            const uint64_t* from =
                x + (image * params.data_bits + bit) * words * plane +
                y * across.in + z;
            for (int64_t k = 0; k < words; ++k, from += plane) {
              const uint64_t* const to =
                  w + ((channel * words + k) * taps + tap) * weight_bits;
              for (int64_t b = 0; b < weight_bits; ++b) {
                sum += Contribution(*from, to[b], params.signed_weights)
                       << (bit + b);
              }
            }
          }
        }
        return sum;
      });
}

}  // namespace baton::kernels
