#include "baton/instrument/instrument_registry.h"

#include <cstdint>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/string_view.h"
#include "baton/base/attr_value.h"
#include "baton/base/flags.h"
#include "baton/base/plural.h"
#include "baton/base/registry.h"
#include "baton/base/status_macros.h"
#include "baton/transform/pass_instrument.h"

namespace baton {

Registry<InstrumentFactory>& Instruments() {
  static auto& registry = *Registry<InstrumentFactory>::NewGlobal("instrument");
  return registry;
}

absl::StatusOr<std::vector<std::shared_ptr<PassInstrument>>> MakeInstruments(
    InstrumentPhase phase, const AttrMap& values, const InstrumentRun& run) {
  std::vector<std::shared_ptr<PassInstrument>> instruments;
  BATON_ASSIGN_OR_RETURN(const auto factories, Instruments().List());
  for (const InstrumentFactory* factory : factories) {
    if (factory->phase() != phase) continue;
    BATON_ASSIGN_OR_RETURN(auto instrument, factory->Make(values, run));
    if (instrument != nullptr) instruments.push_back(std::move(instrument));
  }
  return instruments;
}

namespace {

// Null, and null, if no instrument has the flag.
std::pair<const InstrumentFactory*, const Flag*> FindFlag(
    absl::string_view name) {
  for (const std::string& instrument : Instruments().Names()) {
    const InstrumentFactory* factory = Instruments().Find(instrument);
    if (factory == nullptr) continue;
    for (const Flag& flag : factory->flags()) {
      if (flag.name == name) return {factory, &flag};
    }
  }
  return {nullptr, nullptr};
}

}  // namespace

const Flag* FindInstrumentFlag(absl::string_view name) {
  return FindFlag(name).second;
}

InstrumentPhase PhaseOfFlag(absl::string_view name) {
  const InstrumentFactory* factory = FindFlag(name).first;
  return factory == nullptr ? InstrumentPhase::kRegistered : factory->phase();
}

std::string CheckedLine(absl::string_view flag, absl::string_view verb,
                        int64_t count, absl::string_view noun,
                        absl::string_view why_none) {
  return count > 0 ? absl::StrCat("--", flag, ": ", verb, " ",
                                  Plural(count, noun), "\n")
                   : absl::StrCat("--", flag, ": ", verb,
                                  " nothing: ", why_none, "\n");
}

std::string InstrumentHeading(absl::string_view name,
                              const InstrumentFactory& factory) {
  if (factory.phase() != InstrumentPhase::kRegistered) return "";
  return absl::StrCat("Instrument ", name, ". ", factory.doc());
}

absl::Status AddInstrumentFlags(FlagSet& flags, InstrumentPhase phase) {
  for (const std::string& name : Instruments().Names()) {
    BATON_ASSIGN_OR_RETURN(const InstrumentFactory* factory,
                           Instruments().Get(name));
    if (factory->phase() != phase) continue;
    BATON_RETURN_IF_ERROR(flags.Add(factory->flags(),
                                    absl::StrCat("the instrument ", name),
                                    InstrumentHeading(name, *factory)));
  }
  return absl::OkStatus();
}

}  // namespace baton
