#include "baton/transform/module_pass.h"

#include <cstddef>
#include <memory>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "baton/ir/module.h"
#include "baton/relay/ir/expr.h"
#include "baton/transform/analysis_cache.h"
#include "baton/transform/pass.h"
#include "baton/transform/pass_context.h"
#include "baton/transform/pass_info.h"

namespace baton {
namespace {

class ModulePass final : public PassImpl {
 public:
  ModulePass(ModulePassBody body, PassInfo info, PassOptions options)
      : PassImpl(std::move(info), std::move(options)), body_(std::move(body)) {}

 private:
  absl::StatusOr<IRModule> RunImpl(IRModule module,
                                   const PassContext& context) const override {
    if (body_ == nullptr) return absl::InternalError("the pass has no body");
    if (context.analyses().empty()) return body_(std::move(module), context);
    // For their addresses only: what a cache knows of is alive.
    std::vector<const ExprNode*> before;
    before.reserve(module.size());
    for (const IRModule::Definition& d : module.functions()) {
      before.push_back(d.function.get());
    }
    absl::StatusOr<IRModule> result = body_(std::move(module), context);
    if (!result.ok()) return result;
    const auto after = result->functions();
    for (size_t i = 0; i < before.size(); ++i) {
      if (i >= after.size() || after[i].function.get() != before[i]) {
        context.analyses().Drop(before[i]);
      }
    }
    return result;
  }

  ModulePassBody body_;
};

}  // namespace

Pass CreateModulePass(ModulePassBody body, PassInfo info, PassOptions options) {
  info.granularity = PassGranularity::kModule;
  return Pass(std::make_shared<const ModulePass>(
      std::move(body), std::move(info), std::move(options)));
}

}  // namespace baton
