#include "baton/testing/workloads/options.h"

#include <cstddef>
#include <cstdint>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "absl/strings/string_view.h"
#include "absl/types/span.h"
#include "baton/base/dtype.h"
#include "baton/base/status_macros.h"
#include "baton/relay/ir/expr.h"

namespace baton::testing {

absl::Status CheckLayout(absl::string_view layout,
                         absl::Span<const absl::string_view> supported) {
  for (absl::string_view candidate : supported) {
    if (layout == candidate) return absl::OkStatus();
  }
  return absl::InvalidArgumentError(
      absl::StrCat("layout=\"", layout, "\" is not supported; expected ",
                   absl::StrJoin(supported, " or ")));
}

absl::Status CheckPositive(absl::string_view option, int64_t value) {
  if (value > 0) return absl::OkStatus();
  return absl::InvalidArgumentError(
      absl::StrCat(option, " must be positive, found ", value));
}

absl::Status CheckDType(DType dtype) {
  for (int bits : {16, 32, 64}) {
    if (dtype == DType::Float(bits)) return absl::OkStatus();
  }
  return absl::InvalidArgumentError(
      absl::StrCat("dtype=", dtype.ToString(),
                   " is not supported; expected float16, float32 or float64"));
}

absl::StatusOr<relay::Var> ImageData(int64_t batch_size,
                                     absl::Span<const int64_t> image_shape,
                                     DType dtype, int image_rank) {
  BATON_RETURN_IF_ERROR(CheckPositive("batch_size", batch_size));
  BATON_RETURN_IF_ERROR(CheckDType(dtype));
  if (image_shape.size() != static_cast<size_t>(image_rank)) {
    return absl::InvalidArgumentError(absl::StrCat(
        "image_shape must have ", image_rank == 3 ? "three" : "four",
        " dimensions, found ", image_shape.size()));
  }
  Dims shape = {batch_size};
  for (int64_t d : image_shape) {
    if (d < 1) {
      return absl::InvalidArgumentError(
          absl::StrCat("image_shape has the dimension ", d));
    }
    shape.push_back(d);
  }
  return relay::Var("data", TensorType(shape, dtype));
}

}  // namespace baton::testing
