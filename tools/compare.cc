#include "baton/tools/compare.h"

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <string>
#include <vector>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "absl/strings/str_join.h"
#include "absl/strings/string_view.h"
#include "baton/base/printable.h"
#include "baton/base/tensor.h"
#include "baton/instrument/tensor_error.h"

namespace baton {
namespace {

std::string Position(const Tensor& tensor, int64_t i) {
  std::vector<int64_t> at(tensor.shape().size());
  for (size_t axis = at.size(); axis-- > 0;) {
    at[axis] = i % tensor.shape()[axis];
    i /= tensor.shape()[axis];
  }
  return absl::StrCat("[", absl::StrJoin(at, ", "), "]");
}

}  // namespace

Difference Compare(const Tensor& got, const Tensor& want,
                   const Tolerance& tolerance) {
  Difference result;
  if (got.dtype() != want.dtype() || got.shape() != want.shape()) {
    result.is_within = false;
    result.has_other_type = true;
    return result;
  }
  result.error = ErrorOf(want, got);
  // By how much an element leaves the tolerance, or how near it is to that.
  double worst = -std::numeric_limits<double>::infinity();
  for (int64_t i = 0; i < got.num_elements(); ++i) {
    const double a = got.AtAsDouble(i);
    const double b = want.AtAsDouble(i);
    const bool is_integral = !got.dtype().is_float();
    double excess =
        -tolerance.atol - (is_integral ? 0 : tolerance.rtol * std::abs(b));
    if (std::isnan(a) || std::isnan(b) || std::isinf(a) || std::isinf(b)) {
      const bool is_same = a == b || (std::isnan(a) && std::isnan(b));
      excess = is_same ? -std::numeric_limits<double>::infinity()
                       : std::numeric_limits<double>::infinity();
    } else if (is_integral && got.AtAsInt64(i) == want.AtAsInt64(i)) {
      excess = -std::numeric_limits<double>::infinity();
    } else {
      // Large integers differ that are the same double.
      excess += is_integral ? std::max(1.0, std::abs(a - b)) : std::abs(a - b);
    }
    if (excess > 0) {
      result.is_within = false;
      ++result.num_outside;
    }
    if (result.worst < 0 || excess > worst) {
      worst = excess;
      result.worst = i;
    }
  }
  return result;
}

std::string Describe(absl::string_view name, const Difference& difference,
                     const Tensor& got, const Tensor& want) {
  if (difference.has_other_type) {
    return absl::StrCat(Printable(name), ": is ", got.TypeToString(), ", not ",
                        want.TypeToString());
  }
  const std::string errors = absl::StrFormat(
      "largest errors: absolute %g, relative %g, %g ULP",
      difference.error.IsSpecial() ? std::numeric_limits<double>::infinity()
                                   : difference.error.absolute,
      difference.error.relative, difference.error.ulp);
  if (difference.is_within) {
    return absl::StrCat(Printable(name), ": within tolerance; ", errors);
  }
  return absl::StrFormat(
      "%s: %d of %d elements differ; the worst is %s: %.9g, not %.9g; %s",
      Printable(name), difference.num_outside, got.num_elements(),
      Position(got, difference.worst), got.AtAsDouble(difference.worst),
      want.AtAsDouble(difference.worst), errors);
}

}  // namespace baton
