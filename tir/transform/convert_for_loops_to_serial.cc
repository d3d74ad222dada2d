#include "baton/tir/transform/convert_for_loops_to_serial.h"

#include <utility>

#include "absl/status/statusor.h"
#include "baton/ir/module.h"
#include "baton/tir/ir/function.h"
#include "baton/tir/ir/functor.h"
#include "baton/tir/ir/stmt.h"
#include "baton/tir/transform/prim_func_pass.h"
#include "baton/transform/pass.h"
#include "baton/transform/pass_context.h"
#include "baton/transform/pass_registry.h"

namespace baton::tir {
namespace {

class LoopSerializer final : public Rewriter {
 protected:
  Stmt VisitFor(const ForNode* node) override {
    if (node->for_kind() != ForKind::kParallel) {
      return Rewriter::VisitFor(node);
    }
    ForNode::Parts parts = node->parts();
    parts.kind = ForKind::kSerial;
    return For(std::move(parts), node->span());
  }
};

}  // namespace

Pass ConvertForLoopsToSerial() {
  return CreatePrimFuncPass(
      [](PrimFunc function, const IRModule& /*module*/,
         const PassContext& /*context*/) -> absl::StatusOr<PrimFunc> {
        return LoopSerializer().RewriteBody(function);
      },
      {.name = "tir.ConvertForLoopsToSerial",
       .doc = "Makes parallel loops serial ones."});
}
BATON_REGISTER_PASS_AS("tir.ConvertForLoopsToSerial", ConvertForLoopsToSerial);

}  // namespace baton::tir
