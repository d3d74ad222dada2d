#include "baton/tir/usmp/plan_memory.h"

#include <cstddef>
#include <string>
#include <utility>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "baton/base/status_macros.h"
#include "baton/ir/expr.h"
#include "baton/ir/module.h"
#include "baton/ir/node_map.h"
#include "baton/ir/structural_equal.h"
#include "baton/tir/ir/expr.h"
#include "baton/tir/ir/function.h"
#include "baton/tir/ir/functor.h"
#include "baton/tir/ir/stmt.h"
#include "baton/tir/usmp/extract_buffer_info.h"
#include "baton/tir/usmp/memory_pools.h"
#include "baton/tir/usmp/pool_planner.h"
#include "baton/transform/config.h"
#include "baton/transform/module_pass.h"
#include "baton/transform/pass.h"
#include "baton/transform/pass_context.h"
#include "baton/transform/pass_registry.h"

namespace baton::tir {
namespace {

BATON_REGISTER_CONFIG(kAlgorithm, std::string, "tir.usmp.algorithm",
                      "greedy_by_size",
                      "How tir.usmp.PlanMemory places buffers.");
BATON_REGISTER_CONFIG(kCustomAlgorithm, std::string,
                      "tir.usmp.custom_algorithm", "",
                      "An algorithm that a library registers, for "
                      "tir.usmp.PlanMemory in place of tir.usmp.algorithm.");

Dict WithPlace(const Dict& annotations, const Dict& place) {
  std::vector<Dict::Entry> entries = annotations.Entries();
  std::erase_if(entries, [](const Dict::Entry& entry) {
    return entry.first == kPoolAllocation;
  });
  if (place.defined()) entries.emplace_back(kPoolAllocation, place);
  return Dict::Of(std::move(entries));
}

// Annotates allocations with their places; others lose such an annotation.
class Annotator final : public Rewriter {
 public:
  explicit Annotator(const NodeMap<Dict>& places) : places_(places) {}

 protected:
  Stmt VisitAllocate(const AllocateNode* node) override {
    const Dict place = PlaceOf(node);
    const Stmt visited = Rewriter::VisitAllocate(node);
    const auto* alloc = visited.As<AllocateNode>();
    if (IsAnnotated(alloc->annotations(), place)) return visited;
    return Allocate(alloc->var(), alloc->dtype(),
                    {alloc->extents().begin(), alloc->extents().end()},
                    alloc->condition(), WithPlace(alloc->annotations(), place),
                    alloc->body(), alloc->span());
  }
  Stmt VisitAllocateConst(const AllocateConstNode* node) override {
    const Dict place = PlaceOf(node);
    const Stmt visited = Rewriter::VisitAllocateConst(node);
    const auto* alloc = visited.As<AllocateConstNode>();
    if (IsAnnotated(alloc->annotations(), place)) return visited;
    return AllocateConst(alloc->var(), alloc->dtype(),
                         {alloc->extents().begin(), alloc->extents().end()},
                         alloc->data(), WithPlace(alloc->annotations(), place),
                         alloc->body(), alloc->span());
  }

 private:
  static bool IsAnnotated(const Dict& annotations, const Dict& place) {
    const PrimExpr known = annotations.Find(kPoolAllocation);
    if (!known.defined() || !place.defined()) {
      return known.defined() == place.defined();
    }
    return StructuralEqual(known, place);
  }
  Dict PlaceOf(const StmtNode* stmt) const {
    const Dict* place = places_.Find(stmt);
    return place == nullptr ? Dict() : *place;
  }

  const NodeMap<Dict>& places_;
};

absl::StatusOr<IRModule> Planned(const IRModule& module,
                                 const PlanMemoryOptions& options,
                                 absl::string_view algorithm) {
  BATON_ASSIGN_OR_RETURN(const GlobalVar main,
                         MainFunctionOf(module, options.main_function));
  if (!main.defined()) return module;
  BATON_ASSIGN_OR_RETURN(
      const BufferInfoAnalysis analysis,
      ExtractBufferInfo(
          module.Find<PrimFunc>(main->name()), module,
          {.workspace_byte_alignment = options.workspace_byte_alignment,
           .constant_byte_alignment = options.constant_byte_alignment}));
  BATON_ASSIGN_OR_RETURN(const PoolPlan plan,
                         PlanPools(algorithm, analysis.problem));
  NodeMap<Dict> places;
  for (size_t i = 0; i < plan.size(); ++i) {
    places[analysis.infos[i].stmt.get()] = PlaceDict(
        analysis.pools[static_cast<size_t>(plan[i].pool)].name, plan[i].offset);
  }
  Annotator annotator(places);
  std::vector<PrimFunc> functions;
  for (const auto& [var, function] : module.functions<PrimFunc>()) {
    functions.push_back(annotator.RewriteBody(function));
  }
  return module.WithFunctions(functions);
}

}  // namespace

Pass PlanMemory(PlanMemoryOptions options) {
  return CreateModulePass(
      [options](IRModule module,
                const PassContext& context) -> absl::StatusOr<IRModule> {
        std::string algorithm = options.algorithm;
        if (algorithm.empty()) algorithm = context.Get(kCustomAlgorithm);
        if (algorithm.empty()) algorithm = context.Get(kAlgorithm);
        return Planned(module, options, algorithm);
      },
      {.name = "tir.usmp.PlanMemory",
       .doc = "Finds a place in a memory pool for allocations.",
       .idempotent = true,
       .examples = {"algorithm=greedy_by_conflicts", "algorithm=hill_climb",
                    "algorithm=arena, workspace_byte_alignment=64"}},
      options);
}
BATON_REGISTER_PASS_AS("tir.usmp.PlanMemory", PlanMemory);

}  // namespace baton::tir
