// Reads expressions from scripts as TVM prints them: see script_printer.h.
// Functions are read by //tir/script.
//
// A call `T.name(...)` makes the node of that name, unchanged. An operator such
// as `+` converts its operands to a common type, and is folded if they are
// constants, as TVM does for Python's operators.

#ifndef BATON_TIR_IR_SCRIPT_READER_H_
#define BATON_TIR_IR_SCRIPT_READER_H_

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
