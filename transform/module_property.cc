#include "baton/transform/module_property.h"

#include "baton/base/registry.h"

namespace baton {

Registry<ModuleProperty>& ModuleProperties() {
  static auto& registry = *Registry<ModuleProperty>::NewGlobal("form");
  return registry;
}

}  // namespace baton
