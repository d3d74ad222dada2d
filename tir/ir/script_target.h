// Targets of scripts: `T.target("cuda -arch=sm_80")` and
// `T.target({"kind": ...})`.

#ifndef BATON_TIR_IR_SCRIPT_TARGET_H_
#define BATON_TIR_IR_SCRIPT_TARGET_H_

#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "baton/tir/ir/expr.h"

namespace baton::tir {

// Returns `config`, a target of TVM 0.14, with the keys and default options
// that its kind adds, as TVM does on a machine without such a device. A kind
// that is not known adds nothing, and may have any options.
//
// An error: no kind, an option with a value of another type than the kind says,
// an option that is given twice, an architecture that the kind does not have.
absl::StatusOr<Dict> CompleteTargetConfig(const Dict& config);

// CompleteTargetConfig() of a text: a kind, and options `-name=value`,
// `-name value` or `-name`. A blank in quotes ('a b') or after a backslash
// separates nothing.
absl::StatusOr<Dict> TargetConfigOf(absl::string_view text);

}  // namespace baton::tir

#endif  // BATON_TIR_IR_SCRIPT_TARGET_H_
