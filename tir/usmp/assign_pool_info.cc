#include "baton/tir/usmp/assign_pool_info.h"

#include <string>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/string_view.h"
#include "baton/base/attr_value.h"
#include "baton/base/hash_table.h"
#include "baton/base/status_macros.h"
#include "baton/ir/error_at.h"
#include "baton/ir/expr.h"
#include "baton/ir/module.h"
#include "baton/tir/ir/expr.h"
#include "baton/tir/ir/function.h"
#include "baton/tir/ir/functor.h"
#include "baton/tir/ir/stmt.h"
#include "baton/tir/usmp/call_visitor.h"
#include "baton/tir/usmp/memory_pools.h"
#include "baton/transform/module_pass.h"
#include "baton/transform/pass.h"
#include "baton/transform/pass_context.h"
#include "baton/transform/pass_registry.h"

namespace baton::tir {
namespace {

struct Pools {
  std::vector<MemoryPool> workspace;
  std::vector<MemoryPool> constant;
};

// The pools of an option, or of an attribute of the main function. `given` is
// true if there is one of both.
absl::StatusOr<std::vector<MemoryPool>> GivenPools(const AttrValue& option,
                                                   const PrimFunc& main,
                                                   absl::string_view attribute,
                                                   bool& given) {
  const AttrValue* value = &option;
  if (option.is_none()) value = main->attrs().Find(attribute);
  given = value != nullptr;
  if (!given) return std::vector<MemoryPool>();
  const PrimExpr list = ExprOfAttr(*value);
  if (!list.defined()) {
    return absl::InvalidArgumentError(
        absl::StrCat(attribute, " is no list of memory pools"));
  }
  return PoolsOf(list);
}

absl::StatusOr<Pools> PoolsFor(const AssignPoolInfoOptions& options,
                               const PrimFunc& main) {
  Pools pools;
  bool given = false;
  bool constants_given = false;
  BATON_ASSIGN_OR_RETURN(pools.workspace,
                         GivenPools(options.workspace_memory_pools, main,
                                    kWorkspacePoolsAttr, given));
  BATON_ASSIGN_OR_RETURN(pools.constant,
                         GivenPools(options.constant_memory_pools, main,
                                    kConstantPoolsAttr, constants_given));
  if (!given) {
    pools.workspace.push_back(UnlimitedPool("global_workspace"));
    if (!constants_given) {
      pools.constant.push_back(UnlimitedPool("global_const_workspace"));
    }
  }
  for (const MemoryPool& pool : pools.workspace) {
    for (const MemoryPool& other : pools.constant) {
      if (pool.name != other.name) continue;
      return absl::InvalidArgumentError(absl::StrCat(
          "pool ", pool.name, " is for constants and for other buffers"));
    }
  }
  return pools;
}

class Assigner final : public Rewriter {
 public:
  explicit Assigner(const Pools& pools) : pools_(pools) {}

  // `is_reached`: main calls the function, so each allocation needs a pool.
  absl::StatusOr<PrimFunc> Run(const PrimFunc& function, bool is_reached) {
    function_ = function;
    is_reached_ = is_reached;
    workspace_ = {};
    constant_ = {};
    PrimFunc result = RewriteBody(function);
    BATON_RETURN_IF_ERROR(status_);
    return result;
  }

 protected:
  Stmt VisitAllocate(const AllocateNode* node) override {
    const Stmt visited = Rewriter::VisitAllocate(node);
    const auto* alloc = visited.As<AllocateNode>();
    if (alloc->annotations().Find(kCandidatePools).defined()) return visited;
    const List& candidates = Candidates(pools_.workspace, workspace_, node);
    if (!candidates.defined()) return visited;
    return Allocate(
        alloc->var(), alloc->dtype(),
        {alloc->extents().begin(), alloc->extents().end()}, alloc->condition(),
        WithMissing(alloc->annotations(), {{kCandidatePools, candidates}}),
        alloc->body(), alloc->span());
  }
  Stmt VisitAllocateConst(const AllocateConstNode* node) override {
    const Stmt visited = Rewriter::VisitAllocateConst(node);
    const auto* alloc = visited.As<AllocateConstNode>();
    if (pools_.constant.empty() ||
        alloc->annotations().Find(kCandidatePools).defined()) {
      return visited;
    }
    const List& candidates = Candidates(pools_.constant, constant_, node);
    if (!candidates.defined()) return visited;
    return AllocateConst(
        alloc->var(), alloc->dtype(),
        {alloc->extents().begin(), alloc->extents().end()}, alloc->data(),
        WithMissing(alloc->annotations(), {{kCandidatePools, candidates},
                                           {kReadOnly, IntImm(kInt32, 1)}}),
        alloc->body(), alloc->span());
  }

 private:
  // The pools that the function may use; null after an error, or if there are
  // none. `known` is what was found for another allocation of the function.
  const List& Candidates(const std::vector<MemoryPool>& pools, List& known,
                         const StmtNode* node) {
    if (known.defined() || !status_.ok()) return known;
    std::vector<PrimExpr> candidates;
    for (const MemoryPool& pool : pools) {
      const absl::StatusOr<bool> may_use = MayUse(function_, pool);
      if (!may_use.ok()) {
        if (is_reached_) status_ = may_use.status();
        return known;
      }
      if (*may_use) candidates.push_back(pool.config);
    }
    if (candidates.empty()) {
      if (!is_reached_) return known;
      status_ = ErrorAt(node->span(),
                        "no memory pool is for the target of the function that "
                        "allocates this");
      return known;
    }
    known = List(std::move(candidates));
    return known;
  }

  const Pools& pools_;
  PrimFunc function_;
  bool is_reached_ = true;
  List workspace_;
  List constant_;
  absl::Status status_;
};

}  // namespace

Pass AssignPoolInfo(AssignPoolInfoOptions options) {
  return CreateModulePass(
      [options](IRModule module,
                const PassContext& /*context*/) -> absl::StatusOr<IRModule> {
        BATON_ASSIGN_OR_RETURN(const GlobalVar main,
                               MainFunctionOf(module, options.main_function));
        if (!main.defined()) return module;
        BATON_ASSIGN_OR_RETURN(
            const Pools pools,
            PoolsFor(options, module.Find<PrimFunc>(main->name())));
        BATON_ASSIGN_OR_RETURN(const std::vector<std::string> names,
                               ReachedFrom(main->name(), module));
        const FlatHashSet<std::string> reached(names.begin(), names.end());
        Assigner assigner(pools);
        std::vector<PrimFunc> functions;
        for (const auto& [var, function] : module.functions<PrimFunc>()) {
          BATON_ASSIGN_OR_RETURN(
              PrimFunc assigned,
              assigner.Run(function, reached.contains(var->name())));
          functions.push_back(std::move(assigned));
        }
        return module.WithFunctions(functions);
      },
      {.name = "tir.usmp.AssignPoolInfo",
       .doc = "Says which memory pools may have an allocation.",
       .idempotent = true,
       .examples = {"workspace_memory_pools=[{pool_name:fast,size_hint_bytes:"
                    "1024},{pool_name:slow}], "
                    "constant_memory_pools=[{pool_name:flash}]"}},
      options);
}
BATON_REGISTER_PASS_AS("tir.usmp.AssignPoolInfo", AssignPoolInfo);

}  // namespace baton::tir
