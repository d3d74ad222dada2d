#include "baton/tir/usmp/unified_static_memory_planner.h"

#include <memory>
#include <utility>
#include <vector>

#include "absl/status/statusor.h"
#include "baton/ir/module.h"
#include "baton/tir/usmp/assign_pool_info.h"
#include "baton/tir/usmp/convert_pool_allocations_to_offsets.h"
#include "baton/tir/usmp/create_allocates_for_io.h"
#include "baton/tir/usmp/plan_memory.h"
#include "baton/transform/config.h"
#include "baton/transform/pass.h"
#include "baton/transform/pass_context.h"
#include "baton/transform/pass_info.h"
#include "baton/transform/pass_registry.h"
#include "baton/transform/sequential.h"

namespace baton::tir {
namespace {

BATON_REGISTER_CONFIG(kUseWorkspaceIo, bool, "tir.usmp.use_workspace_io", false,
                      "tir.UnifiedStaticMemoryPlanner puts inputs and outputs "
                      "into memory pools, too.");

class Planner final : public PassImpl {
 public:
  Planner(PassInfo info, UnifiedStaticMemoryPlannerOptions options)
      : PassImpl(std::move(info), options), options_(std::move(options)) {}

 private:
  absl::StatusOr<IRModule> RunImpl(IRModule module,
                                   const PassContext& context) const override {
    std::vector<Pass> passes;
    if (options_.use_workspace_io || context.Get(kUseWorkspaceIo)) {
      passes.push_back(
          CreateAllocatesForIO({.main_function = options_.main_function}));
    }
    passes.push_back(AssignPoolInfo(
        {.workspace_memory_pools = options_.workspace_memory_pools,
         .constant_memory_pools = options_.constant_memory_pools,
         .main_function = options_.main_function}));
    passes.push_back(PlanMemory(
        {.main_function = options_.main_function,
         .algorithm = options_.algorithm,
         .workspace_byte_alignment = options_.workspace_byte_alignment,
         .constant_byte_alignment = options_.constant_byte_alignment}));
    passes.push_back(ConvertPoolAllocationsToOffsets(
        {.main_function = options_.main_function}));
    return internal::RunInSequence(passes, std::move(module), context);
  }

  UnifiedStaticMemoryPlannerOptions options_;
};

}  // namespace

Pass UnifiedStaticMemoryPlanner(UnifiedStaticMemoryPlannerOptions options) {
  return Pass(std::make_shared<const Planner>(
      PassInfo{.name = "tir.UnifiedStaticMemoryPlanner",
               .doc = "One plan of memory for all functions that main calls.",
               .idempotent = true,
               .examples = {"algorithm=arena, "
                            "workspace_memory_pools=[{pool_name:fast,size_hint_"
                            "bytes:1024},{pool_name:slow}]",
                            "algorithm=hill_climb"}},
      std::move(options)));
}
BATON_REGISTER_PASS_AS("tir.UnifiedStaticMemoryPlanner",
                       UnifiedStaticMemoryPlanner);

}  // namespace baton::tir
