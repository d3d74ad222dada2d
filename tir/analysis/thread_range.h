// CheckSameThreadRange: the condition under which two loops can be one loop
// over the threads of a kernel.

#ifndef BATON_TIR_ANALYSIS_THREAD_RANGE_H_
#define BATON_TIR_ANALYSIS_THREAD_RANGE_H_

#include "absl/status/status.h"
#include "absl/strings/string_view.h"
#include "baton/ir/span.h"
#include "baton/tir/arith/analyzer.h"
#include "baton/tir/ir/expr.h"

namespace baton::tir {

// An error at `span` unless the analyzer proves that the two ranges are equal.
// `tag` is the thread to which both loops are bound, such as `threadIdx.x`.
absl::Status CheckSameThreadRange(const Range& a, const Range& b,
                                  absl::string_view tag, const Span& span,
                                  Analyzer& analyzer);

}  // namespace baton::tir

#endif  // BATON_TIR_ANALYSIS_THREAD_RANGE_H_
