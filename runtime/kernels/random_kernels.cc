#include "baton/runtime/kernels/random_kernels.h"

#include <algorithm>
#include <array>
#include <bit>
#include <cmath>
#include <cstddef>
#include <utility>
#include <vector>

#include "absl/strings/string_view.h"
#include "baton/base/limits.h"
#include "baton/base/status_macros.h"
#include "baton/runtime/kernels/internal/convert.h"
#include "baton/runtime/kernels/internal/util.h"

namespace baton::kernels {
namespace {

using ::baton::kernels::internal::Error;
using Words = std::array<uint64_t, 4>;
using Key = std::array<uint64_t, 10>;

// Threefry-4x64 with 20 rounds: the rotations of the Skein paper.
Words Threefry(const Words& key, Words x) {
  constexpr int kRotations[8][2] = {{14, 16}, {52, 57}, {23, 40}, {5, 37},
                                    {25, 33}, {46, 12}, {58, 22}, {32, 32}};
  std::array<uint64_t, 5> schedule = {key[0], key[1], key[2], key[3],
                                      0x1BD11BDAA9FC1A22};
  for (const uint64_t word : key) schedule[4] ^= word;
  for (uint64_t four = 0; four < 5; ++four) {
    for (uint64_t j = 0; j < 4; ++j) x[j] += schedule[(four + j) % 5];
    x[3] += four;
    for (uint64_t k = 0; k < 4; ++k) {
      for (size_t j = 0; j < 2; ++j) {
        x[2 * j] += x[2 * j + 1];
        x[2 * j + 1] = x[2 * j] ^ std::rotl(x[2 * j + 1],
                                            kRotations[(four * 4 + k) % 8][j]);
      }
      std::swap(x[1], x[3]);
    }
  }
  return x;
}

Words First(const Key& key) { return {key[0], key[1], key[2], key[3]}; }
// Path and counter.
Words Second(const Key& key) { return {key[4], key[5], key[6], key[7]}; }

bool PathIsFull(const Key& key) { return key[8] == 0 && key[9] == 0; }

// Moves the mark of the end of the path by one.
void Advance(Key& key) {
  if (key[8] == 1) {
    key[8] = 0;
    key[9] = uint64_t{1} << 63;
  } else if (key[8] == 0) {
    key[9] >>= 1;
  } else {
    key[8] >>= 1;
    key[9] = 0;
  }
}

absl::StatusOr<Key> ReadKey(absl::string_view kernel, const Tensor& key) {
  if (key.dtype() != DType::UInt(64) || key.num_elements() != 10) {
    return Error(kernel, "a key is uint64[10], not ", key.TypeToString());
  }
  Key words;
  std::copy_n(key.span<uint64_t>().begin(), 10, words.begin());
  return words;
}

absl::StatusOr<Tensor> MakeKey(const Key& key) {
  return Tensor::FromValues<uint64_t>({10}, key);
}

// Fills `out` and returns the next key.
Key Generate(const Key& key, absl::Span<uint64_t> out) {
  const uint64_t length = out.size();
  Key state = key;
  // The last value of the counter means that it is used up.
  if (key[7] >= ~uint64_t{0} - length) {
    if (PathIsFull(key)) {
      constexpr uint64_t kOnes = ~uint64_t{0};
      const Words fresh = Threefry(First(key), {kOnes, kOnes, kOnes, kOnes});
      state = {fresh[0], fresh[1], fresh[2], fresh[3],          0,
               0,        0,        0,        uint64_t{1} << 63, 0};
    } else {
      state[4] |= key[8];
      state[5] |= key[9];
      state[6] = 0;
      state[7] = 0;
      Advance(state);
    }
  }
  const auto block = [&state](uint64_t i) {
    Words counter = Second(state);
    for (uint64_t& word : counter) word += i;
    return Threefry(First(state), counter);
  };
  const uint64_t whole = length / 4;
  for (uint64_t i = 0; i < whole; ++i) {
    const Words words = block(i);
    std::copy(words.begin(), words.end(), out.begin() + 4 * i);
  }
  const uint64_t rest = length % 4;
  state[7] += 4 * whole;
  if (rest != 0) {
    const Words words = block(0);
    std::copy_n(words.begin(), rest, out.begin() + 4 * whole);
    state[7] += 4;
  }
  state[6] = 0;
  return state;
}

struct RandomBits {
  Key key;
  std::vector<uint64_t> bits;
};

absl::StatusOr<RandomBits> Bits(absl::string_view kernel, const Tensor& key,
                                absl::Span<const int64_t> shape) {
  BATON_ASSIGN_OR_RETURN(const Key words, ReadKey(kernel, key));
  BATON_ASSIGN_OR_RETURN(const int64_t count,
                         NumElements(DType::UInt(64), shape));
  BATON_RETURN_IF_ERROR(
      CheckTensorBytes(count * static_cast<int64_t>(sizeof(uint64_t))));
  RandomBits result;
  result.bits.resize(static_cast<size_t>(count));
  result.key = Generate(words, absl::MakeSpan(result.bits));
  return result;
}

// In [0, 1): random bits are the fraction of a number in [1, 2).
template <typename T>
T Unit(uint64_t bits) {
  if constexpr (sizeof(T) == sizeof(float)) {
    return std::bit_cast<float>((static_cast<uint32_t>(bits) >> 9) |
                                0x3F800000u) -
           1.0f;
  } else {
    return std::bit_cast<double>((bits >> 12) | 0x3FF0000000000000u) - 1.0;
  }
}

// A tensor of `dtype` whose element i is fn(units, i).
template <typename Fn>
absl::StatusOr<RandomResult> Distribution(absl::string_view kernel,
                                          const Tensor& key,
                                          absl::Span<const int64_t> bits_shape,
                                          absl::Span<const int64_t> shape,
                                          DType dtype, const Fn& fn) {
  BATON_ASSIGN_OR_RETURN(const RandomBits random,
                         Bits(kernel, key, bits_shape));
  RandomResult result;
  BATON_ASSIGN_OR_RETURN(result.key, MakeKey(random.key));
  BATON_ASSIGN_OR_RETURN(
      result.values,
      internal::VisitFloat(
          kernel, dtype, [&]<typename T>() -> absl::StatusOr<Tensor> {
            BATON_ASSIGN_OR_RETURN(MutableTensor out,
                                   MutableTensor::Create(dtype, shape));
            const absl::Span<T> values = out.span<T>();
            for (size_t i = 0; i < values.size(); ++i) {
              values[i] = fn.template operator()<T>(random.bits, i);
            }
            return std::move(out).Freeze();
          }));
  return result;
}

}  // namespace

absl::StatusOr<RandomResult> ThreefryGenerate(const Tensor& key,
                                              absl::Span<const int64_t> shape) {
  constexpr absl::string_view kKernel = "threefry_generate";
  BATON_ASSIGN_OR_RETURN(const Key words, ReadKey(kKernel, key));
  BATON_ASSIGN_OR_RETURN(MutableTensor out,
                         MutableTensor::Create(DType::UInt(64), shape));
  RandomResult result;
  BATON_ASSIGN_OR_RETURN(result.key,
                         MakeKey(Generate(words, out.span<uint64_t>())));
  result.values = std::move(out).Freeze();
  return result;
}

absl::StatusOr<SplitKeys> ThreefrySplit(const Tensor& key) {
  BATON_ASSIGN_OR_RETURN(const Key words, ReadKey("threefry_split", key));
  Key left = words;
  Key right = words;
  if (PathIsFull(words)) {
    const Words fresh = Threefry(First(words), Second(words));
    left = {fresh[0], fresh[1], fresh[2], fresh[3],          0,
            0,        0,        0,        uint64_t{1} << 62, 0};
    right = left;
    right[4] = uint64_t{1} << 63;
  } else {
    // The path goes on with a 0, and with a 1.
    right[4] |= words[8];
    right[5] |= words[9];
    Advance(left);
    Advance(right);
  }
  SplitKeys result;
  BATON_ASSIGN_OR_RETURN(result.left, MakeKey(left));
  BATON_ASSIGN_OR_RETURN(result.right, MakeKey(right));
  return result;
}

absl::StatusOr<RandomResult> RandomUniform(const Tensor& key, double low,
                                           double high,
                                           absl::Span<const int64_t> shape,
                                           DType dtype) {
  return Distribution(
      "uniform", key, shape, shape, dtype,
      [&]<typename T>(const std::vector<uint64_t>& bits, size_t i) {
        const T from = static_cast<T>(low);
        return Unit<T>(bits[i]) * (static_cast<T>(high) - from) + from;
      });
}

// The Box-Muller transform.
absl::StatusOr<RandomResult> RandomNormal(const Tensor& key, double mean,
                                          double scale,
                                          absl::Span<const int64_t> shape,
                                          DType dtype) {
  TensorShape pairs = {2};
  pairs.insert(pairs.end(), shape.begin(), shape.end());
  return Distribution(
      "normal", key, pairs, shape, dtype,
      [&]<typename T>(const std::vector<uint64_t>& bits, size_t i) {
        const T radius = std::sqrt(T{-2} * std::log(T{1} - Unit<T>(bits[i])));
        const T angle = static_cast<T>(2 * 3.14159265358979323846) *
                        Unit<T>(bits[bits.size() / 2 + i]);
        return radius * std::sin(angle) * static_cast<T>(scale) +
               static_cast<T>(mean);
      });
}

absl::StatusOr<RandomResult> RandomMultinomial(const Tensor& key,
                                               const Tensor& probs,
                                               int64_t samples) {
  constexpr absl::string_view kKernel = "multinomial";
  if (probs.rank() == 0 || probs.shape().back() == 0 || samples < 0) {
    return Error(kKernel, samples,
                 " samples cannot be drawn from probabilities ",
                 probs.TypeToString());
  }
  BATON_ASSIGN_OR_RETURN(const Tensor weights,
                         internal::Convert(kKernel, probs, DType::Float(32)));
  TensorShape shape(probs.shape().begin(), probs.shape().end());
  const int64_t categories = shape.back();
  shape.back() = samples;
  BATON_ASSIGN_OR_RETURN(const RandomBits random, Bits(kKernel, key, shape));
  BATON_ASSIGN_OR_RETURN(MutableTensor out,
                         MutableTensor::Create(DType::Int(32), shape));
  const absl::Span<int32_t> indices = out.span<int32_t>();
  std::vector<float> cumulative(static_cast<size_t>(categories));
  for (size_t i = 0; i < indices.size(); ++i) {
    const size_t row = i / static_cast<size_t>(samples);
    if (i % static_cast<size_t>(samples) == 0) {
      const absl::Span<const float> weight =
          weights.span<float>().subspan(row * static_cast<size_t>(categories),
                                        static_cast<size_t>(categories));
      float sum = 0;
      for (const float w : weight) sum += std::max(w, 0.0f);
      float total = 0;
      for (size_t k = 0; k < weight.size(); ++k) {
        total += std::max(weight[k], 0.0f) / sum;
        cumulative[k] = total;
      }
    }
    // The first category that reaches beyond the number; the first of all if
    // none does.
    const float unit = Unit<float>(random.bits[i]);
    const auto it = std::find_if(cumulative.begin(), cumulative.end(),
                                 [unit](float c) { return c - unit > 0; });
    indices[i] = it == cumulative.end()
                     ? 0
                     : static_cast<int32_t>(it - cumulative.begin());
  }
  RandomResult result;
  BATON_ASSIGN_OR_RETURN(result.key, MakeKey(random.key));
  result.values = std::move(out).Freeze();
  return result;
}

}  // namespace baton::kernels
