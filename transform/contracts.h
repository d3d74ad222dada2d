// The contracts of passes over a pipeline: which forms of programs (form.h)
// each pass needs, establishes and destroys (PassInfo).

#ifndef BATON_TRANSFORM_CONTRACTS_H_
#define BATON_TRANSFORM_CONTRACTS_H_

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "baton/ir/module.h"
#include "baton/transform/pass.h"
#include "baton/transform/pass_context.h"

namespace baton {

// Checks a pipeline before it runs on `module` in `context`: each pass that the
// context enables is given the forms that it needs, by `module` itself or by a
// pass before it, and no pass in between destroys them. A FixedPoint is checked
// for two rounds. The error of an ill-ordered pipeline is FailedPrecondition
// and names the pass, the form, the pass that destroys it, and the passes to
// insert:
//
//   ManifestLifetimes needs a_normal_form, which FoldConstant before it may
//   destroy; insert ToANormalForm
//
// Looks forms up in Forms(), required passes in the registry of `context`. A
// form that is not registered is an error.
absl::Status CheckContracts(const Pass& pipeline, const IRModule& module,
                            const PassContext& context);

// `pipeline` with the passes that it lacks, with default options, each right
// before the pass that lacks it:
//
//   - the first pass, by name, that establishes a form which a pass needs and
//     is not given;
//   - passes that required passes require in their turn (PassInfo::required),
//     which a Sequential does not run, unless they ran before.
//
// Inserted passes get what they lack in the same way. An error if no pass that
// the context enables establishes such a form.
absl::StatusOr<Pass> InsertRequired(const Pass& pipeline,
                                    const IRModule& module,
                                    const PassContext& context);

}  // namespace baton

#endif  // BATON_TRANSFORM_CONTRACTS_H_
