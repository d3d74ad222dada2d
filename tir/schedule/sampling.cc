// Factors of loops for tiles.

#include <algorithm>
#include <cstdint>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/strings/str_cat.h"
#include "absl/types/span.h"
#include "baton/tir/ir/expr.h"
#include "baton/tir/ir/stmt.h"
#include "baton/tir/schedule/conditions.h"
#include "baton/tir/schedule/state.h"
#include "baton/tir/schedule/steps.h"

namespace baton::tir {

absl::StatusOr<std::vector<int64_t>> PerfectTile(
    const Site* loop, int n, int max_innermost_factor,
    absl::Span<const int64_t> decision) {
  constexpr int kMaxFactors = 64;
  if (n < 1 || n > kMaxFactors) {
    return SiteError(loop, absl::StrCat("a loop has 1 to ", kMaxFactors,
                                        " factors, not ", n));
  }
  std::vector<int64_t> result(n, 1);
  const auto* extent = loop->loop()->extent().As<IntImmNode>();
  if (extent == nullptr) {
    result[0] = -1;
    return result;
  }
  int64_t rest = extent->value();
  if (rest < 1) {
    return SiteError(loop, absl::StrCat(loop->Describe(), " has no iteration"));
  }
  if (!decision.empty()) {
    if (decision.size() < 2) {
      return SiteError(loop, "a decision has two factors or more");
    }
    result.assign(decision.begin(), decision.end());
    for (size_t i = result.size(); i-- > 1;) {
      // A factor that does not divide takes all that is left.
      if (result[i] < 1 || rest % result[i] != 0) result[i] = rest;
      rest /= result[i];
    }
    result[0] = rest;
    return result;
  }
  int64_t innermost = max_innermost_factor < 0
                          ? rest
                          : std::min<int64_t>(rest, max_innermost_factor);
  while (innermost > 1 && rest % innermost != 0) --innermost;
  if (n > 1 && innermost >= 1) {
    result[n - 1] = innermost;
    rest /= innermost;
  }
  result[0] = rest;
  return result;
}

}  // namespace baton::tir
