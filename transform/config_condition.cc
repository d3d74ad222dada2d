#include "baton/transform/config_condition.h"

#include <memory>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/string_view.h"
#include "absl/types/span.h"
#include "baton/base/attr_value.h"
#include "baton/base/status_macros.h"
#include "baton/ir/module.h"
#include "baton/transform/config.h"
#include "baton/transform/internal/thread_state.h"
#include "baton/transform/pass.h"
#include "baton/transform/pass_context.h"
#include "baton/transform/pass_info.h"
#include "baton/transform/pass_list.h"
#include "baton/transform/sequential.h"

namespace baton {
namespace {

constexpr char kWhenConfig[] = "WhenConfig";

class WhenConfigPass final : public PassImpl {
 public:
  WhenConfigPass(std::vector<Pass> passes, PassInfo info,
                 WhenConfigOptions options, bool by_default)
      : PassImpl(std::move(info), options),
        passes_(std::move(passes)),
        condition_(std::move(options)),
        by_default_(by_default) {}

  absl::string_view list_keyword() const override { return kWhenConfig; }
  absl::Span<const Pass> listed_passes() const override { return passes_; }

 private:
  absl::StatusOr<IRModule> RunImpl(IRModule module,
                                   const PassContext& context) const override {
    bool value = by_default_;
    if (const AttrValue* given =
            internal::ThreadState::FindConfig(context, condition_.key)) {
      value = *given->As<bool>();
    }
    if (value != condition_.is) return module;
    return internal::RunInSequence(passes_, std::move(module), context);
  }

  std::vector<Pass> passes_;
  WhenConfigOptions condition_;
  bool by_default_;
};

[[maybe_unused]] const bool kRegistered = PassListKinds().Register(
    kWhenConfig, PassListKindOf<WhenConfigOptions>(
                     "Runs passes where a setting has a value.", WhenConfig));

}  // namespace

absl::StatusOr<Pass> WhenConfig(std::vector<Pass> passes,
                                WhenConfigOptions options) {
  bool by_default = false;
  if (!options.key.empty()) {
    BATON_RETURN_IF_ERROR(CheckConfig(options.key, AttrValue(options.is)));
    BATON_ASSIGN_OR_RETURN(const ConfigInfo* config,
                           ConfigRegistry().Get(options.key));
    const bool* value = config->default_value.As<bool>();
    if (value == nullptr) {
      return absl::InvalidArgumentError(
          absl::StrCat("the setting ", options.key, " is no bool"));
    }
    by_default = *value;
  } else if (!passes.empty()) {
    return absl::InvalidArgumentError("the option key is missing");
  }
  PassInfo info{.name = kWhenConfig,
                .doc = "Runs passes where a setting has a value.",
                .always_run = true,
                .granularity = PassGranularity::kSequence};
  internal::PromiseLike(passes, info);
  return Pass(std::make_shared<const WhenConfigPass>(
      std::move(passes), std::move(info), std::move(options), by_default));
}

}  // namespace baton
