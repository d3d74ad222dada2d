// Registers instruments, with flags of their own, in baton-opt.
//
//   absl::StatusOr<std::shared_ptr<PassInstrument>> MakeGrowth(
//       const GrowthOptions& options, const InstrumentRun& run) {
//     if (options.max_growth <= 0) return nullptr;
//     return std::make_shared<GrowthInstrument>(options.max_growth);
//   }
//   BATON_REGISTER_INSTRUMENT(
//       "growth", "Fails a pass that makes the program much larger.",
//       MakeGrowth);
//
// GrowthOptions has a field list with flags (tools/flags.h). Linking the
// library suffices (its target has `alwayslink = True`, and a baton_opt_binary
// names it in `instruments`): the flags are in `--help`, under a separate
// heading, and in reproducers.
//
// The pass manager calls instruments in this order:
//
//   1. --skip_execution and its sisters, --bisect_limit;
//   2. those that measure: --timing, --op_diff, --report;
//   3. those that show: --print_before and its sisters, --dump_dir;
//   4. those that are registered here, sorted by name;
//   5. those that look for mistakes: --verify_each, --verify_contracts,
//      --verify_roundtrip, --check_values.
//
// So the time of a pass does not include what a registered instrument does
// after it, the module in which it finds an error has been printed, and it sees
// results before the checks.

#ifndef BATON_TOOLS_INSTRUMENTS_H_
#define BATON_TOOLS_INSTRUMENTS_H_

#include <functional>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "baton/base/attr_value.h"
#include "baton/base/registry.h"
#include "baton/base/status_macros.h"
#include "baton/tools/flags.h"
#include "baton/transform/pass.h"
#include "baton/transform/pass_instrument.h"

namespace baton {

// The run of a pipeline over one module that an instrument is made for.
struct InstrumentRun {
  const Pass& pipeline;
  // The module's number, from 1, in an input that has several; 0 if it has one.
  int module_number = 0;
  // Writes to standard error, in order with the output of baton-opt. Valid as
  // long as the instrument lives.
  std::function<void(absl::string_view text)> report;
};

class InstrumentFactory {
 public:
  using Made = absl::StatusOr<std::shared_ptr<PassInstrument>>;

  // `doc`: one line. `make` returns null if its options ask for nothing; it is
  // called once for each module.
  template <typename O>
  InstrumentFactory(std::string doc,
                    Made (*make)(const O& options, const InstrumentRun& run))
      : doc_(std::move(doc)),
        flags_(&FlagsOf<O>()),
        make_([make](const AttrMap& values, const InstrumentRun& run) -> Made {
          O options;
          BATON_RETURN_IF_ERROR(AssignFlags(values, &options));
          BATON_RETURN_IF_ERROR(CheckChoices(FlagsOf<O>(), &options));
          return make(options, run);
        }) {}

  const std::string& doc() const { return doc_; }
  const std::vector<Flag>& flags() const { return *flags_; }

  // The instrument for these values of flags, or null. Ignores values of other
  // flags; flags without a value have their defaults.
  Made Make(const AttrMap& values, const InstrumentRun& run) const {
    return make_(values, run);
  }

 private:
  std::string doc_;
  const std::vector<Flag>* flags_;
  std::function<Made(const AttrMap&, const InstrumentRun&)> make_;
};

// Every instrument that is linked in.
Registry<InstrumentFactory>& Instruments();

// The heading in a help of the flags of the instrument `name`.
std::string InstrumentHeading(absl::string_view name,
                              const InstrumentFactory& factory);

// Adds the flags of every instrument, each under the heading of its instrument.
absl::Status AddInstrumentFlags(FlagSet& flags);

#define BATON_REGISTER_INSTRUMENT(name, doc, make)             \
  [[maybe_unused]] static const bool BATON_INSTRUMENT_CONCAT_( \
      baton_instrument_registration_, __COUNTER__) =           \
      ::baton::Instruments().Register(name,                    \
                                      ::baton::InstrumentFactory(doc, make))
#define BATON_INSTRUMENT_CONCAT_(a, b) BATON_INSTRUMENT_CONCAT_IMPL_(a, b)
#define BATON_INSTRUMENT_CONCAT_IMPL_(a, b) a##b

}  // namespace baton

#endif  // BATON_TOOLS_INSTRUMENTS_H_
