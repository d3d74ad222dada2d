#include "baton/relay/transform/merge_composite.h"

#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "absl/status/statusor.h"
#include "baton/base/status_macros.h"
#include "baton/ir/module.h"
#include "baton/relay/ir/expr.h"
#include "baton/relay/ir/infer_type.h"
#include "baton/relay/pattern/partition.h"
#include "baton/relay/pattern/pattern_table.h"
#include "baton/relay/transform/function_pass.h"
#include "baton/transform/pass.h"
#include "baton/transform/pass_context.h"
#include "baton/transform/pass_info.h"
#include "baton/transform/pass_registry.h"

namespace baton::relay {
namespace {

absl::StatusOr<Function> Merge(Function function,
                               const std::vector<CompositePattern>& patterns,
                               const IRModule& module) {
  for (const CompositePattern& pattern : patterns) {
    const Expr merged =
        PartitionMatches(pattern.pattern, function,
                         {{attr::kComposite, pattern.name}}, pattern.accepts);
    if (merged == function) continue;
    // The next pattern may ask for types.
    BATON_ASSIGN_OR_RETURN(const Expr typed, InferTypeOf(merged, &module));
    function = Function(typed.As<FunctionNode>());
  }
  return function;
}

PassInfo Info() {
  return {.name = "MergeComposite",
          .required = {"InferType"},
          .doc = "Makes functions of what external compilers take as one.",
          .destroys = {"a_normal_form", "no_primitive_functions"}};
}

}  // namespace

Pass MergeComposite(MergeCompositeOptions options) {
  return CreateFunctionPass(
      [options](const Function& function, const IRModule& module,
                const PassContext& /*context*/) -> absl::StatusOr<Function> {
        const std::vector<std::string> compilers = options.compilers.empty()
                                                       ? PatternTables().Names()
                                                       : options.compilers;
        Function result = function;
        for (const std::string& compiler : compilers) {
          BATON_ASSIGN_OR_RETURN(
              const std::shared_ptr<const PatternTable> table,
              GetPatternTable(compiler));
          BATON_ASSIGN_OR_RETURN(
              result, Merge(std::move(result), table->composites, module));
        }
        return result;
      },
      Info(), options);
}
BATON_REGISTER_PASS(MergeComposite);

Pass MergeCompositePatterns(std::vector<CompositePattern> patterns) {
  return CreateFunctionPass(
      [patterns = std::move(patterns)](const Function& function,
                                       const IRModule& module,
                                       const PassContext& /*context*/) {
        return Merge(function, patterns, module);
      },
      Info());
}

}  // namespace baton::relay
