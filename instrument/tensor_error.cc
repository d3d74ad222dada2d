#include "baton/instrument/tensor_error.h"

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <limits>
#include <string>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "absl/strings/string_view.h"
#include "baton/base/tensor.h"
#include "baton/base/ulp.h"

namespace baton {
namespace {

std::string MadeAndLost(absl::string_view what, int64_t made, int64_t lost) {
  if (made + lost == 0) return "";
  std::string text = absl::StrCat("; ", what, ": ");
  if (made > 0) absl::StrAppend(&text, made, " made");
  if (lost > 0) absl::StrAppend(&text, made > 0 ? ", " : "", lost, " lost");
  return text;
}

}  // namespace

void TensorError::Add(const TensorError& other) {
  absolute = std::max(absolute, other.absolute);
  of_largest = std::max(of_largest, other.of_largest);
  relative = std::max(relative, other.relative);
  ulp = std::max(ulp, other.ulp);
  nans_made += other.nans_made;
  nans_lost += other.nans_lost;
  infinities_made += other.infinities_made;
  infinities_lost += other.infinities_lost;
}

TensorError ErrorOf(const Tensor& expected, const Tensor& actual) {
  TensorError error;
  if (expected == actual) return error;
  const bool same_dtype = expected.dtype() == actual.dtype();
  double largest = 0;
  for (int64_t i = 0; i < expected.num_elements(); ++i) {
    const double x = expected.AtAsDouble(i);
    const double y = actual.AtAsDouble(i);
    if (std::isfinite(x)) largest = std::max(largest, std::fabs(x));
    // Large integers differ that are the same double.
    const bool is_integral = same_dtype && !expected.dtype().is_float();
    const bool is_same =
        is_integral ? expected.AtAsInt64(i) == actual.AtAsInt64(i) : x == y;
    if (is_same || (std::isnan(x) && std::isnan(y))) continue;
    if (std::isnan(x)) ++error.nans_lost;
    if (std::isnan(y)) ++error.nans_made;
    if (std::isinf(x)) ++error.infinities_lost;
    if (std::isinf(y)) ++error.infinities_made;
    if (!std::isfinite(x) || !std::isfinite(y)) continue;
    const double absolute =
        is_integral ? std::max(1.0, std::fabs(x - y)) : std::fabs(x - y);
    error.absolute = std::max(error.absolute, absolute);
    if (x != 0)
      error.relative = std::max(error.relative, absolute / std::fabs(x));
    if (same_dtype) {
      error.ulp = std::max(error.ulp, UlpDistance(expected, actual, i));
    }
  }
  if (error.absolute > 0) {
    error.of_largest = largest > 0 ? error.absolute / largest
                                   : std::numeric_limits<double>::infinity();
  }
  return error;
}

std::string ToString(const TensorError& error) {
  return absl::StrCat(
      absl::StrFormat("relative %.3g, %.3g ULP", error.relative, error.ulp),
      MadeAndLost("NaN", error.nans_made, error.nans_lost),
      MadeAndLost("infinite", error.infinities_made, error.infinities_lost));
}

}  // namespace baton
