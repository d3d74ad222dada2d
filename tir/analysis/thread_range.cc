#include "baton/tir/analysis/thread_range.h"

#include "absl/status/status.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/string_view.h"
#include "baton/ir/error_at.h"
#include "baton/ir/span.h"
#include "baton/tir/arith/analyzer.h"
#include "baton/tir/ir/expr.h"

namespace baton::tir {

absl::Status CheckSameThreadRange(const Range& a, const Range& b,
                                  absl::string_view tag, const Span& span,
                                  Analyzer& analyzer) {
  if (analyzer.CanProveEqual(a.min, b.min) &&
      analyzer.CanProveEqual(a.extent, b.extent)) {
    return absl::OkStatus();
  }
  return ErrorAt(span, absl::StrCat("two loops that are bound to ", tag,
                                    " have different ranges"));
}

}  // namespace baton::tir
