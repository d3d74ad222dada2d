// Reads expressions from scripts as the reference prints them: see
// script_printer.h. Functions are read by //tir/script.
//
// A call `T.name(...)` makes the node of that name as it is written; operators
// are brought to one type and folded as Python's are in the reference.

#ifndef BATON_TIR_IR_SCRIPT_READER_H_
#define BATON_TIR_IR_SCRIPT_READER_H_

#include <string>
#include <utility>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "absl/types/span.h"
#include "baton/tir/ir/expr.h"

namespace baton::tir {

// The expression `text` over variables of those names. Errors say the place.
absl::StatusOr<PrimExpr> ParseScriptExpr(absl::string_view text,
                                         absl::Span<const Var> vars);

}  // namespace baton::tir

#endif  // BATON_TIR_IR_SCRIPT_READER_H_
