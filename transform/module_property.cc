#include "baton/transform/module_property.h"

#include "baton/base/registry.h"

namespace baton {

Registry<ModuleProperty>& ModuleProperties() {
  static auto& registry =
      *Registry<ModuleProperty>::NewGlobal("module property");
  return registry;
}

}  // namespace baton
