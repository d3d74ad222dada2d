#include "baton/tir/transform/extract_prim_func_constants.h"

#include <vector>

#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "baton/base/hash_table.h"
#include "baton/base/tensor.h"
#include "baton/ir/module.h"
#include "baton/tir/ir/function.h"
#include "baton/tir/ir/functor.h"
#include "baton/tir/ir/stmt.h"
#include "baton/transform/module_pass.h"
#include "baton/transform/pass.h"
#include "baton/transform/pass_context.h"
#include "baton/transform/pass_registry.h"

namespace baton::tir {
namespace {

class ConstantSharer final : public Rewriter {
 protected:
  Stmt VisitAllocateConst(const AllocateConstNode* node) override {
    const Stmt visited = Rewriter::VisitAllocateConst(node);
    const auto* alloc = visited.As<AllocateConstNode>();
    const Tensor& data = alloc->data();
    // The elements are those of the tensor, which lives as long as the map.
    for (const Tensor& known : known_[data.bytes()]) {
      if (known.dtype() != data.dtype() || known.shape() != data.shape()) {
        continue;
      }
      if (known.data() == data.data()) return visited;
      return AllocateConst(alloc->var(), alloc->dtype(),
                           {alloc->extents().begin(), alloc->extents().end()},
                           known, alloc->annotations(), alloc->body(),
                           alloc->span());
    }
    known_[data.bytes()].push_back(data);
    return visited;
  }

 private:
  FlatHashMap<absl::string_view, std::vector<Tensor>> known_;
};

}  // namespace

Pass ExtractPrimFuncConstants() {
  return CreateModulePass(
      [](IRModule module,
         const PassContext& /*context*/) -> absl::StatusOr<IRModule> {
        ConstantSharer sharer;
        std::vector<PrimFunc> functions;
        bool changed = false;
        for (const auto& [var, function] : module.functions<PrimFunc>()) {
          functions.push_back(sharer.RewriteBody(function));
          changed = changed || functions.back() != function;
        }
        if (!changed) return module;
        return module.WithFunctions(functions);
      },
      {.name = "tir.ExtractPrimFuncConstants",
       .doc = "Keeps equal constants of a module once.",
       .idempotent = true});
}
BATON_REGISTER_PASS_AS("tir.ExtractPrimFuncConstants",
                       ExtractPrimFuncConstants);

}  // namespace baton::tir
