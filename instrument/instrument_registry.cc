#include "baton/instrument/instrument_registry.h"

#include <cstdint>
#include <initializer_list>
#include <string>
#include <utility>

#include "absl/status/status.h"
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

std::string InstrumentRun::FlagText(absl::string_view name) const {
  if (flags == nullptr) return "";
  for (const auto& [flag, value] : *flags) {
    if (flag != name) continue;
    const auto* text = value.As<std::string>();
    return text != nullptr ? *text : value.ToString();
  }
  return "";
}

bool IsSkip(InstrumentPhase phase) {
  return phase == InstrumentPhase::kSkipExecutions ||
         phase == InstrumentPhase::kSkip;
}

bool IsReport(InstrumentPhase phase) {
  return phase == InstrumentPhase::kTime ||
         phase == InstrumentPhase::kMeasure ||
         phase == InstrumentPhase::kRecord || phase == InstrumentPhase::kPrint;
}

absl::Status AddInstruments(std::initializer_list<InstrumentPhase> phases,
                            const AttrMap& values, InstrumentRun run,
                            PassInstruments& instruments) {
  run.flags = &values;
  run.made = &instruments;
  BATON_ASSIGN_OR_RETURN(const auto factories, Instruments().List());
  for (const InstrumentPhase phase : phases) {
    for (const InstrumentFactory* factory : factories) {
      if (factory->phase() != phase) continue;
      BATON_ASSIGN_OR_RETURN(auto instrument, factory->Make(values, run));
      if (instrument != nullptr) instruments.push_back(std::move(instrument));
    }
  }
  return absl::OkStatus();
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
