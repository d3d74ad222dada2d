#include "baton/backend/cpu/bound_weights.h"

#include <cmath>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <random>
#include <string>
#include <utility>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/strings/match.h"
#include "baton/base/dtype.h"
#include "baton/base/status_macros.h"
#include "baton/base/tensor.h"
#include "baton/ir/module.h"
#include "baton/relay/bind.h"
#include "baton/relay/ir/expr.h"
#include "baton/relay/ir/infer_type.h"
#include "baton/relay/ir/text_parser.h"
#include "baton/relay/runtime/random_inputs.h"
#include "baton/relay/runtime/value.h"

namespace baton::cpu {

namespace {

using relay::Function;

// A copy of `x` of which each element with probability 1/16 is one of
// `specials`. T is the type of the elements in memory.
template <typename T, size_t n>
Tensor With(const Tensor& x, const T (&specials)[n], uint32_t seed) {
  std::mt19937 random(seed);
  MutableTensor copy = *MutableTensor::Create(
      x.dtype(), TensorShape(x.shape().begin(), x.shape().end()));
  const auto* const from = static_cast<const T*>(x.data());
  auto* const to = static_cast<T*>(copy.data());
  for (int64_t i = 0; i < x.num_elements(); ++i) {
    to[i] = random() % 16 == 0 ? specials[random() % n] : from[i];
  }
  return std::move(copy).Freeze();
}

}  // namespace

Tensor WithAllBytes(const Tensor& x, uint32_t seed) {
  if (!x.dtype().is_byte()) return x;
  std::mt19937 random(seed);
  MutableTensor bytes = *MutableTensor::Create(
      x.dtype(), TensorShape(x.shape().begin(), x.shape().end()));
  auto* const data = static_cast<uint8_t*>(bytes.data());
  // The ends of both types.
  constexpr uint8_t kEnds[] = {0x00, 0x7f, 0x80, 0xff};
  for (int64_t i = 0; i < x.num_elements(); ++i) {
    const auto draw = static_cast<uint32_t>(random());
    data[i] = draw >> 29 == 0 ? kEnds[draw % 4] : static_cast<uint8_t>(draw);
  }
  return std::move(bytes).Freeze();
}

Tensor WithSpecialNumbers(const Tensor& x, uint32_t seed) {
  if (x.dtype() == DType::Float(16) || x.dtype() == DType::BFloat(16)) {
    // Zeros, infinities, the smallest and the largest numbers, a NaN.
    const bool is_short = x.dtype() == DType::BFloat(16);
    const uint16_t most = is_short ? 0x7f7f : 0x7bff;
    const uint16_t infinity = is_short ? 0x7f80 : 0x7c00;
    const uint16_t specials[] = {0,
                                 0x8000,
                                 infinity,
                                 1,
                                 0x8001,
                                 most,
                                 0x0400,
                                 static_cast<uint16_t>(infinity + 3),
                                 static_cast<uint16_t>(infinity | 0x8000)};
    return With(x, specials, seed);
  }
  if (x.dtype() == DType::Float(32)) {
    constexpr float kInf = std::numeric_limits<float>::infinity();
    const float specials[] = {0.0f,  -0.0f,     kInf,
                              -kInf, 0x1p-149f, std::nanf("")};
    return With(x, specials, seed);
  }
  if (x.dtype() == DType::Int(32)) {
    const int32_t specials[] = {INT32_MIN, INT32_MAX, 0x8000, 0x7fff, -0x8000,
                                -0x8001,   0x10000,   128,    -129,   256};
    return With(x, specials, seed);
  }
  return x;
}

absl::StatusOr<IRModule> WithWeights(const std::string& text, bool special) {
  BATON_ASSIGN_OR_RETURN(IRModule module, ParseModule(text));
  BATON_ASSIGN_OR_RETURN(module, relay::InferTypes(module));
  BATON_ASSIGN_OR_RETURN(const Function main, module.Lookup<Function>("main"));
  std::vector<relay::Var> params;
  for (const relay::Var& param : main->params()) {
    if (absl::StartsWith(param->name(), "w")) params.push_back(param);
  }
  // Other parameters need not have shapes of numbers.
  BATON_ASSIGN_OR_RETURN(
      const std::vector<relay::Value> values,
      relay::RandomInputs(Function(params, relay::Tuple(std::vector<Expr>())),
                          3));
  relay::NamedTensors weights;
  for (size_t i = 0; i < params.size(); ++i) {
    const auto seed = static_cast<uint32_t>(i);
    const Tensor value = WithAllBytes(values[i].tensor(), seed);
    weights.emplace_back(std::string(params[i]->name()),
                         special ? WithSpecialNumbers(value, seed) : value);
  }
  BATON_ASSIGN_OR_RETURN(Function bound,
                         relay::BindParamsByName(main, weights));
  module.Set("main", std::move(bound));
  return relay::InferTypes(module);
}

}  // namespace baton::cpu
