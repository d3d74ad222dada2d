// Replaces branches that values decide by selections of computed results.
//
//   if (%c) { exp(%x) } else { %x }   becomes   where(%c, exp(%x), %x)

#ifndef BATON_TOOLS_SELECT_BRANCHES_H_
#define BATON_TOOLS_SELECT_BRANCHES_H_

#include "absl/status/statusor.h"
#include "baton/ir/diagnostics.h"
#include "baton/ir/module.h"

namespace baton {

// Replaces each `if` of @main whose branches give tensors, or tuples of them,
// and call nothing but operators without state on floats and booleans, none of
// which can fail, and whose shapes are constant. Both branches are computed.
// Leaves other branches. The module must have types, and so does the result.
// `notes`, if not null, receives a note for each replaced `if`.
absl::StatusOr<IRModule> SelectBranches(const IRModule& module,
                                        Diagnostics* notes = nullptr);

}  // namespace baton

#endif  // BATON_TOOLS_SELECT_BRANCHES_H_
