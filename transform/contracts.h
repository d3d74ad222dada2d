// Checks the contracts of passes over a pipeline: the properties of programs
// (module_property.h) that each pass requires, establishes and invalidates
// (PassInfo).

#ifndef BATON_TRANSFORM_CONTRACTS_H_
#define BATON_TRANSFORM_CONTRACTS_H_

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "baton/ir/module.h"
#include "baton/transform/pass.h"
#include "baton/transform/pass_context.h"

namespace baton {

// Checks a pipeline before it runs on `module` in `context`. For each pass that
// the context enables, `module` or an earlier pass must establish the
// properties that the pass requires, and no pass in between may invalidate
// them. A FixedPoint is checked for two rounds. The error of an ill-ordered
// pipeline is FailedPrecondition; it names the pass, the property, the pass
// that invalidates it, and the passes to insert:
//
//   ManifestLifetimes needs a_normal_form, which FoldConstant before it may
//   invalidate; insert ToANormalForm
//   ConvertLayout needs no_primitive_functions, which FuseOps before it may
//   invalidate; put ConvertLayout before FuseOps
//
// Looks up properties in ModuleProperties(), and required passes in the
// registry of `context`. An unregistered property is an error.
absl::Status CheckContracts(const Pass& pipeline, const IRModule& module,
                            const PassContext& context);

// Inserts the missing passes into `pipeline`, with default options, each right
// before the pass that needs it:
//
//   - the first pass, by name, that establishes a property which a pass
//     requires and lacks;
//   - passes that required passes require in turn (PassInfo::required), which a
//     Sequential does not run, unless they ran before.
//
// The same applies to inserted passes. An error if no pass that the context
// enables establishes a property.
absl::StatusOr<Pass> InsertRequired(const Pass& pipeline,
                                    const IRModule& module,
                                    const PassContext& context);

}  // namespace baton

#endif  // BATON_TRANSFORM_CONTRACTS_H_
