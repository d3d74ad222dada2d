#include "baton/testing/inputs.h"

#include <cstdint>
#include <type_traits>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "absl/strings/str_cat.h"
#include "baton/ir/status_macros.h"
#include "baton/ir/type.h"
#include "baton/testing/numpy_random.h"

namespace baton::testing {
namespace {

absl::StatusOr<Tensor> Draw(DType dtype, absl::Span<const int64_t> shape,
                            NumpyRandom& random) {
  BATON_ASSIGN_OR_RETURN(MutableTensor tensor,
                         MutableTensor::Create(dtype, shape));
  VisitDType(dtype, [&]<typename T>() {
    for (T& x : tensor.span<T>()) {
      if constexpr (std::is_same_v<T, bool>) {
        x = (random.NextUint32() & 1u) != 0;
      } else if constexpr (std::is_integral_v<T>) {
        const int draw = static_cast<int>(random.NextUint32() >> 28);
        x = static_cast<T>(std::is_signed_v<T> ? draw - 8 : draw);
      } else {
        x = static_cast<T>(static_cast<float>(random.Uniform(-1, 1)));
      }
    }
  });
  return std::move(tensor).Freeze();
}

absl::StatusOr<Value> DrawTensor(const Type& type, NumpyRandom& random) {
  if (const auto* tensor = type.As<TensorTypeNode>()) {
    const auto shape = ConstDims(tensor->shape());
    if (shape.has_value()) return Draw(tensor->dtype(), *shape, random);
  }
  return absl::InvalidArgumentError(
      absl::StrCat("no random value can be made for the type ",
                   type.defined() ? type.ToString() : "(unknown)"));
}

}  // namespace

absl::StatusOr<Tensor> RandomTensor(DType dtype,
                                    absl::Span<const int64_t> shape,
                                    uint32_t seed) {
  NumpyRandom random(seed);
  return Draw(dtype, shape, random);
}

absl::StatusOr<std::vector<Value>> RandomInputs(const Function& function,
                                                uint32_t seed) {
  NumpyRandom random(seed);
  std::vector<Value> values;
  for (const Var& param : function->params()) {
    if (const auto* tuple = param->tuple_type()) {
      std::vector<Value> fields;
      for (const Type& field : tuple->fields()) {
        BATON_ASSIGN_OR_RETURN(Value value, DrawTensor(field, random));
        fields.push_back(std::move(value));
      }
      values.push_back(Value::MakeTuple(std::move(fields)));
      continue;
    }
    BATON_ASSIGN_OR_RETURN(Value value, DrawTensor(param->type(), random));
    values.push_back(std::move(value));
  }
  return values;
}

absl::StatusOr<Tensor> GoldenImage(absl::Span<const int64_t> shape) {
  BATON_ASSIGN_OR_RETURN(MutableTensor image,
                         MutableTensor::Create(DType::Float(32), shape));
  uint32_t word = 0;
  for (float& x : image.span<float>()) {
    x = static_cast<float>(word / 4294967296.0 - 0.5);
    word += 2654435761u;
  }
  return std::move(image).Freeze();
}

}  // namespace baton::testing
