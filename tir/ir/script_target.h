// Targets that scripts write as strings: `T.target("cuda -arch=sm_80")`.

#ifndef BATON_TIR_IR_SCRIPT_TARGET_H_
#define BATON_TIR_IR_SCRIPT_TARGET_H_

#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "baton/tir/ir/expr.h"

namespace baton::tir {

// The configuration of a target of TVM 0.14: the kind, which is the first word
// of `text`, the options `-name=value`, and the defaults that TVM adds for the
// kind on a machine without such a device. Errors: no kind, a word that is not
// an option, an option without a name.
absl::StatusOr<Dict> TargetConfigOf(absl::string_view text);

}  // namespace baton::tir

#endif  // BATON_TIR_IR_SCRIPT_TARGET_H_
