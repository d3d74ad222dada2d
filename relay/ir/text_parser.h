// Parses Relay text: everything that text_printer.h writes and that TVM 0.14
// prints.
//
//   absl::StatusOr<IRModule> module = ParseModule(R"(
//     #[version = "0.0.5"]
//     def @main(%x: Tensor[(1, 8), float32]) {
//       %0 = nn.relu(%x);
//       add(%0, %0)
//     })");
//
// Parsing infers no types and skips all comments, including `/* ty=... */`.
// Every expression has its place in the text, so that type errors show it.
//
// One run finds all errors: after an error, parsing continues with the next
// statement or definition. Nesting costs no stack.
//
// Departures from TVM: the parser reads `ref(...)` types, type parameters of
// function types, and `%x.0.1`; the version line may be missing; a string may
// have escapes; a name may contain dots and dashes between other characters (in
// an expression, `%a-b` is a name only if that name is bound); binding `%0`
// twice in one definition is an error.

#ifndef BATON_RELAY_IR_TEXT_PARSER_H_
#define BATON_RELAY_IR_TEXT_PARSER_H_

#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "baton/ir/module_text.h"  // IWYU pragma: export
#include "baton/ir/type.h"
#include "baton/relay/ir/expr.h"

namespace baton::relay {

// ir/module_text.h declares ParseModule(). Linking this library adds Relay's
// functions and data types to it.

// An expression, possibly after `free_var` declarations.
absl::StatusOr<Expr> ParseExpr(absl::string_view text,
                               absl::string_view source_name = "input");

// A type, such as `Tensor[(1, ?), float32]`.
absl::StatusOr<Type> ParseType(absl::string_view text,
                               absl::string_view source_name = "input");

}  // namespace baton::relay

#endif  // BATON_RELAY_IR_TEXT_PARSER_H_
