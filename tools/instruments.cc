#include "baton/tools/instruments.h"

#include <string>

#include "absl/status/status.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/string_view.h"
#include "baton/base/registry.h"
#include "baton/base/status_macros.h"
#include "baton/tools/flags.h"

namespace baton {

Registry<InstrumentFactory>& Instruments() {
  static auto& registry = *Registry<InstrumentFactory>::NewGlobal("instrument");
  return registry;
}

std::string InstrumentHeading(absl::string_view name,
                              const InstrumentFactory& factory) {
  return absl::StrCat("Instrument ", name, ". ", factory.doc());
}

absl::Status AddInstrumentFlags(FlagSet& flags) {
  for (const std::string& name : Instruments().Names()) {
    BATON_ASSIGN_OR_RETURN(const InstrumentFactory* factory,
                           Instruments().Get(name));
    BATON_RETURN_IF_ERROR(flags.Add(factory->flags(),
                                    absl::StrCat("the instrument ", name),
                                    InstrumentHeading(name, *factory)));
  }
  return absl::OkStatus();
}

}  // namespace baton
