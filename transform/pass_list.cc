#include "baton/transform/pass_list.h"

#include <utility>
#include <vector>

#include "absl/status/statusor.h"
#include "baton/base/attr_value.h"
#include "baton/base/registry.h"
#include "baton/base/status_macros.h"
#include "baton/transform/pass.h"

namespace baton {

Registry<PassListKind>& PassListKinds() {
  static auto& registry = *Registry<PassListKind>::NewGlobal("list of passes");
  return registry;
}

absl::StatusOr<Pass> WithPasses(const Pass& list, std::vector<Pass> passes) {
  BATON_ASSIGN_OR_RETURN(const PassListKind* kind,
                         PassListKinds().Get(list.impl().list_keyword()));
  BATON_ASSIGN_OR_RETURN(const AttrMap options, list.impl().options().Values());
  return kind->make(std::move(passes), options);
}

}  // namespace baton
