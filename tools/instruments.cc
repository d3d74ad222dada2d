#include "baton/tools/instruments.h"

#include "baton/base/registry.h"

namespace baton {

Registry<InstrumentFactory>& Instruments() {
  static auto& registry = *Registry<InstrumentFactory>::NewGlobal("instrument");
  return registry;
}

}  // namespace baton
