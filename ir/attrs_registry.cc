#include "baton/ir/attrs_registry.h"

#include <string>

#include "absl/container/flat_hash_map.h"
#include "absl/strings/string_view.h"
#include "baton/ir/attrs.h"
#include "baton/ir/op.h"

namespace baton {
namespace {

absl::flat_hash_map<std::string, const AttrsType*>& Registered() {
  static auto* const kTypes =
      new absl::flat_hash_map<std::string, const AttrsType*>;
  return *kTypes;
}

}  // namespace

AttrsRegistration::AttrsRegistration(const AttrsType& type) {
  Registered()[type.type_key()] = &type;
}

const AttrsType* FindAttrsType(absl::string_view type_key) {
  const auto it = Registered().find(type_key);
  if (it != Registered().end()) return it->second;
  for (const OpNode* op : OpRegistry::Global().ops()) {
    if (op->attrs_type() != nullptr &&
        op->attrs_type()->type_key() == type_key) {
      return op->attrs_type();
    }
  }
  return nullptr;
}

}  // namespace baton
