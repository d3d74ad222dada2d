#include "baton/ir/attrs_registry.h"

#include "absl/strings/string_view.h"
#include "baton/base/registry.h"
#include "baton/ir/attrs.h"

namespace baton {
namespace {

Registry<const AttrsType*>& AttrsTypes() {
  static auto& kRegistry =
      *Registry<const AttrsType*>::NewGlobal("attribute type");
  return kRegistry;
}

}  // namespace

namespace internal {

void RegisterAttrsType(const AttrsType& type, CodeLocation location) {
  AttrsTypes().RegisterSame(type.type_key(), &type, location);
}

}  // namespace internal

const AttrsType* FindAttrsType(absl::string_view type_key) {
  const AttrsType* const* type = AttrsTypes().Find(type_key);
  return type == nullptr ? nullptr : *type;
}

}  // namespace baton
