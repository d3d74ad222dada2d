#include "baton/relay/transform/function_pass.h"

#include <utility>

#include "absl/strings/string_view.h"
#include "baton/ir/attrs.h"
#include "baton/relay/ir/expr.h"
#include "baton/relay/transform/infer_type.h"
#include "baton/transform/function_pass.h"
#include "baton/transform/pass.h"
#include "baton/transform/pass_info.h"

namespace baton::relay {
namespace {

class RelayFunctionKind final : public FunctionKind<Function> {
 public:
  absl::string_view SkipReason(const Function& function) const override {
    const DictAttrs& attrs = function->attrs();
    if (!attrs.defined()) return {};
    if (attrs.Find(attr::kCompiler) != nullptr) return attr::kCompiler;
    if (attrs.IsTrue(attr::kExtern)) return attr::kExtern;
    if (attrs.IsTrue(attr::kSkipOptimization)) return attr::kSkipOptimization;
    return {};
  }

  Pass FinishingPass() const override { return infer_type_; }

 private:
  const Pass infer_type_ = relay::InferType();
};

}  // namespace

const FunctionKind<Function>& RelayFunctions() {
  static const auto* const kind = new RelayFunctionKind;
  return *kind;
}

Pass CreateFunctionPass(FunctionPassBody<Function> body, PassInfo info,
                        PassOptions options) {
  return CreateFunctionPass(RelayFunctions(), std::move(body), std::move(info),
                            std::move(options));
}

}  // namespace baton::relay
