// Reproducers: a module and the options of a run of passes, in one text.
//
//   // baton-opt reproducer
//   // passes: FoldConstant,FuseOps
//   // opt_level: 3
//   // disabled_pass: [SimplifyExpr]
//   //
//   // in pass #1 sequential > #3 FuseOps, function @main:
//   // the error as it was
//   #[version = "0.0.5"]
//   def @main ...
//
// The head has a line for each of the RunOptions that differs from its default
// and for each given flag of a registered instrument. For a parser, the head is
// comments.

#ifndef BATON_TOOLS_REPRODUCER_H_
#define BATON_TOOLS_REPRODUCER_H_

#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/strings/string_view.h"
#include "baton/ir/module.h"
#include "baton/tools/run_options.h"

namespace baton {

// The head of a reproducer, and a whole reproducer as text. `module` is the
// argument of the passes; options.typed_input is set according to its types. In
// a binary reproducer, the head is the comment.
std::string ReproducerHead(const IRModule& module, RunOptions options,
                           const absl::Status& error);
std::string ReproducerText(const IRModule& module, const RunOptions& options,
                           const absl::Status& error);

// True if `text` begins like a reproducer.
bool IsReproducerHead(absl::string_view text);

// If `text` is a reproducer, sets the fields of `options` from its head, and
// other fields to their defaults, except those in `keep`. Messages name the
// text `name`.
absl::Status ReadReproducerHead(absl::string_view text, absl::string_view name,
                                const std::vector<std::string>& keep,
                                RunOptions& options);

}  // namespace baton

#endif  // BATON_TOOLS_REPRODUCER_H_
