#include "baton/transform/module_pass.h"

#include <memory>
#include <utility>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "baton/ir/module.h"
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
    return body_(std::move(module), context);
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
