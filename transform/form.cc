#include "baton/transform/form.h"

#include "baton/base/registry.h"

namespace baton {

Registry<Form>& Forms() {
  static auto& registry = *Registry<Form>::NewGlobal("form");
  return registry;
}

}  // namespace baton
