#include "baton/tir/transform/annotate_device_regions.h"

#include <string>
#include <utility>

#include "absl/status/statusor.h"
#include "baton/base/status_macros.h"
#include "baton/ir/module.h"
#include "baton/tir/ir/expr.h"
#include "baton/tir/ir/function.h"
#include "baton/tir/ir/functor.h"
#include "baton/tir/ir/stmt.h"
#include "baton/tir/transform/func_target.h"
#include "baton/tir/transform/prim_func_pass.h"
#include "baton/transform/pass.h"
#include "baton/transform/pass_context.h"
#include "baton/transform/pass_registry.h"

namespace baton::tir {
namespace {

class RegionAnnotator final : public Rewriter {
 public:
  explicit RegionAnnotator(Target device) : device_(std::move(device)) {}

 protected:
  Stmt VisitAttrStmt(const AttrStmtNode* node) override {
    if (node->key() == kTargetAttr) return AttrStmt(node);
    if (node->key() == "thread_extent" ||
        node->key() == "pipeline_exec_scope" || node->key() == "device_scope") {
      return AttrStmt(device_, std::string(kTargetAttr), IntImm(kInt32, 0),
                      AttrStmt(node));
    }
    return Rewriter::VisitAttrStmt(node);
  }

 private:
  const Target device_;
};

}  // namespace

Pass AnnotateDeviceRegions() {
  return CreatePrimFuncPass(
      [](PrimFunc function, const IRModule& /*module*/,
         const PassContext& /*context*/) -> absl::StatusOr<PrimFunc> {
        BATON_ASSIGN_OR_RETURN(const Target target, RequiredTargetOf(function));
        if (!HostOf(target).defined()) return function;
        return RegionAnnotator(WithoutHost(target)).RewriteBody(function);
      },
      {.name = "tir.AnnotateDeviceRegions",
       .doc = "Marks the statements of a function that run on its device.",
       .needs = {"tir.has_targets"},
       .idempotent = true});
}
BATON_REGISTER_PASS_AS("tir.AnnotateDeviceRegions", AnnotateDeviceRegions);

}  // namespace baton::tir
