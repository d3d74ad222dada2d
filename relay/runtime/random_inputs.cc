#include "baton/relay/runtime/random_inputs.h"

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <optional>
#include <random>
#include <type_traits>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "absl/strings/str_cat.h"
#include "baton/base/status_macros.h"
#include "baton/ir/type.h"

namespace baton::relay {
namespace {

// std::mt19937 is the same everywhere; the distributions of <random> are not.
class Generator {
 public:
  explicit Generator(uint32_t seed) : engine_(seed) {}

  uint32_t Bits() { return static_cast<uint32_t>(engine_()); }
  // Uniform in [low, high), with 53 random bits.
  double Uniform(double low, double high) {
    const uint32_t a = Bits() >> 5;
    const uint32_t b = Bits() >> 6;
    return low + (high - low) * ((a * 67108864.0 + b) / 9007199254740992.0);
  }

 private:
  std::mt19937 engine_;
};

struct Interval {
  double low;
  double high;
};

Interval FloatsIn(absl::Span<const int64_t> shape, RandomRange range) {
  if (range == RandomRange::kPlain) return {-1, 1};
  if (shape.size() < 2) return {0.5, 1.5};
  double behind = 1;
  for (const int64_t size : shape.subspan(1)) {
    behind *= static_cast<double>(size);
  }
  // The variance of a uniform value in [-a, a) is a * a / 3.
  const double bound = std::sqrt(3 / std::max(behind, 3.0));
  return {-bound, bound};
}

absl::StatusOr<Tensor> Draw(DType dtype, absl::Span<const int64_t> shape,
                            RandomRange range, Generator& random) {
  BATON_ASSIGN_OR_RETURN(MutableTensor tensor,
                         MutableTensor::Create(dtype, shape));
  const Interval floats = FloatsIn(shape, range);
  VisitDType(dtype, [&]<typename T>() {
    for (T& x : tensor.span<T>()) {
      if constexpr (std::is_same_v<T, bool>) {
        x = (random.Bits() & 1u) != 0;
      } else if constexpr (std::is_integral_v<T>) {
        const int draw = static_cast<int>(random.Bits() >> 28);
        x = static_cast<T>(std::is_signed_v<T> ? draw - 8 : draw);
      } else {
        x = static_cast<T>(
            static_cast<float>(random.Uniform(floats.low, floats.high)));
      }
    }
  });
  return std::move(tensor).Freeze();
}

// Tuples may nest; the stack is that of the fields that are being drawn.
absl::StatusOr<Value> DrawValue(const Type& type, RandomRange range,
                                Generator& random) {
  struct Open {
    const TupleTypeNode* type;
    std::vector<Value> fields;
  };
  std::vector<Open> open;
  const Type* next = &type;
  while (true) {
    Value value;
    if (const auto* tuple = next->As<TupleTypeNode>()) {
      open.push_back({tuple, {}});
    } else {
      const auto* tensor = next->As<TensorTypeNode>();
      const auto shape =
          tensor == nullptr ? std::nullopt : ConstDims(tensor->shape());
      if (!shape.has_value()) {
        return absl::InvalidArgumentError(
            absl::StrCat("no random value can be made for the type ",
                         type.defined() ? type.ToString() : "(unknown)",
                         tensor == nullptr
                             ? ""
                             : "; --input_shapes gives the shape of an input"));
      }
      BATON_ASSIGN_OR_RETURN(value,
                             Draw(tensor->dtype(), *shape, range, random));
      if (open.empty()) return value;
      open.back().fields.push_back(std::move(value));
    }
    while (open.back().fields.size() == open.back().type->fields().size()) {
      value = Value::MakeTuple(std::move(open.back().fields));
      open.pop_back();
      if (open.empty()) return value;
      open.back().fields.push_back(std::move(value));
    }
    next = &open.back().type->fields()[open.back().fields.size()];
  }
}

}  // namespace

absl::StatusOr<Tensor> RandomTensor(DType dtype,
                                    absl::Span<const int64_t> shape,
                                    uint32_t seed) {
  Generator random(seed);
  return Draw(dtype, shape, RandomRange::kPlain, random);
}

absl::StatusOr<std::vector<Value>> RandomInputs(const Function& function,
                                                uint32_t seed,
                                                RandomRange range) {
  Generator random(seed);
  std::vector<Value> values;
  for (const Var& param : function->params()) {
    const Type& type =
        param->type().defined() ? param->type() : param->annotation();
    absl::StatusOr<Value> value = DrawValue(type, range, random);
    if (!value.ok()) {
      return absl::Status(value.status().code(),
                          absl::StrCat("parameter %", param->name(), ": ",
                                       value.status().message()));
    }
    values.push_back(*std::move(value));
  }
  return values;
}

}  // namespace baton::relay
