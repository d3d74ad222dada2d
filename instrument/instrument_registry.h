// Registers instruments, with flags of their own, in baton-opt and the tools
// that run passes as it does.
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
// GrowthOptions has a field list with flags (base/flags.h). Linking the library
// suffices (its target has `alwayslink = True`, and a baton_opt_binary names it
// in `instruments`): the flags are in `--help`, under a separate heading, and
// in reproducers.
//
// The pass manager calls instruments in this order:
//
//   1. instruments that skip passes or rewrites: --skip_execution and the like,
//      --bisect_limit, --rewrites;
//   2. instruments that measure: --timing, --op_diff, --report;
//   3. the recorder of the history: --record;
//   4. instruments that print: --print_before and the like, --dump_dir;
//   5. registered instruments, sorted by name;
//   6. instruments that check: --verify_each, --verify_contracts,
//      --verify_roundtrip, --verify_with, --check_values;
//   7. the line of a terminal that shows the running pass.
//
// So the time of a pass does not include the work of a registered instrument
// after the pass. The module in which the instrument finds an error has been
// printed. And the instrument receives results before the checks.

#ifndef BATON_INSTRUMENT_INSTRUMENT_REGISTRY_H_
#define BATON_INSTRUMENT_INSTRUMENT_REGISTRY_H_

#include <cstdint>
#include <functional>
#include <initializer_list>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "baton/base/attr_value.h"
#include "baton/base/flags.h"
#include "baton/base/macros.h"
#include "baton/base/registry.h"
#include "baton/base/status_macros.h"
#include "baton/ir/module.h"
#include "baton/transform/pass.h"
#include "baton/transform/pass_context.h"
#include "baton/transform/pass_instrument.h"

namespace baton {

// The arguments of a function: instrument/check_values.h.
struct GivenValues;
namespace relay {
class Function;
}  // namespace relay

// Headings, in the help of baton-opt, of flags of built-in instruments.
inline constexpr char kPassFlags[] = "Passes";
inline constexpr char kReportFlags[] = "Reports, on standard error";
inline constexpr char kFaultFlags[] = "Finding what is wrong";

// A function that returns lines that end in line feeds, or an empty text.
using InstrumentText = std::function<std::string()>;
// As InstrumentText; an error of the function is the error of the run.
using InstrumentReport = std::function<absl::StatusOr<std::string>()>;

// The first of `instruments` that is a T; null if there is none.
template <typename T>
std::shared_ptr<T> FindInstrument(const PassInstruments& instruments) {
  for (const auto& instrument : instruments) {
    if (auto found = std::dynamic_pointer_cast<T>(instrument)) return found;
  }
  return nullptr;
}

// The run of a pipeline over one module, for which instruments are made.
struct InstrumentRun {
  const Pass& pipeline;
  // The module's number, from 1, in an input with several modules; otherwise 0.
  int module_number = 0;
  // Writes to standard error, in order with the output of baton-opt. Valid
  // during the lifetime of the instrument.
  std::function<void(absl::string_view text)> report;
  // The following functions add texts that the tool reports, each at its time;
  // a tool without reports ignores them. `at_end`: after a run without an
  // error: flags that had no effect, for example.
  std::function<void(InstrumentText lines)> at_end = [](InstrumentText) {};
  // `in_report`: when the passes have ended, also with an error; the context
  // has not exited yet.
  std::function<void(InstrumentReport lines)> in_report = [](InstrumentReport) {
  };
  // `checked`: after a run without an error: how much was checked. Only for
  // instruments of the phase kCheck, for which the other functions do nothing.
  std::function<void(InstrumentText lines)> checked = [](InstrumentText) {};
  // Adds a value to the report in JSON. Null if there is no such report.
  std::function<void(std::string key, InstrumentText json)> in_json = nullptr;
  // The text of an output file, to append to. The tool writes it after the last
  // module, also after an error. Null before the run.
  std::function<std::shared_ptr<std::string>(const std::string& file)> output =
      nullptr;
  // Adds a function that the tool calls with the argument of the passes, in the
  // context; an error of the function is the error of the run.
  std::function<void(std::function<absl::Status(const IRModule&)>)>
      before_passes = [](const auto&) {};
  // Adds a function that the tool calls when the passes have ended, also with
  // an error; the context has not exited yet.
  std::function<void(std::function<absl::Status()>)> after_passes =
      [](const auto&) {};
  // Adds a function that returns the result of the run in place of the result
  // of the passes, or nullopt.
  std::function<void(std::function<std::optional<IRModule>()>)> result =
      [](const auto&) {};
  // Adds a function that writes a file of the instrument after the run, also
  // after an error and when the process ends by a signal. Otherwise `signal` is
  // 0.
  std::function<void(std::function<absl::Status(int signal)>)> at_exit =
      [](const auto&) {};
  // Shows the running work on a terminal; null if there is none.
  std::function<void(const std::string& text)> show_progress = nullptr;
  // The executions `NAME#k` of --disabled_pass.
  std::vector<std::string> disabled_executions = {};
  // Counts the executions that would run inside `pass`; may be null.
  std::function<int64_t(const Pass& pass, const IRModule& module)>
      count_inside = nullptr;
  // The arguments that the user gives to a function, and the expected results
  // if `has_expected_values`. Null if there are none.
  std::function<absl::StatusOr<GivenValues>(const relay::Function& function)>
      given_values = {};
  bool has_expected_values = false;
  // AddInstruments() sets the following ones: the flags of all instruments, and
  // the instruments of the run that precede this one.
  const AttrMap* flags = nullptr;
  const PassInstruments* made = nullptr;

  // The text of a flag of another instrument; empty if it was not given.
  std::string FlagText(absl::string_view name) const;
  // The first T that precedes this instrument; null if there is none.
  template <typename T>
  std::shared_ptr<T> Find() const {
    return made == nullptr ? nullptr : FindInstrument<T>(*made);
  }
};

// The place of an instrument among others.
enum class InstrumentPhase {
  kSkipExecutions,  // 1 above: precedes the others
  kSkip,            // 1
  kTime,            // 2: precedes the others; not in reproducers
  kMeasure,         // 2; not in reproducers
  kRecord,          // 3; not in reproducers
  kPrint,           // 4; not in reproducers
  kRegistered,      // 5
  kCheck,           // 6
  kCheckValues,     // 6: follows the others
  kProgress,        // 7
};

// True for instruments that skip passes or rewrites.
bool IsSkip(InstrumentPhase phase);
// True for instruments that do not affect the result of a run, so that
// reproducers do not have their flags.
bool IsReport(InstrumentPhase phase);

// Makes an instrument from the values of its flags.
class InstrumentFactory {
 public:
  using Made = absl::StatusOr<std::shared_ptr<PassInstrument>>;

  // `doc` is one line. `make` returns null if the options do not enable the
  // instrument; it is called once before the run, for its errors, and once for
  // each module. Only flags of the phase kRegistered have the instrument as
  // their heading; those of the other phases name one.
  template <typename O>
  InstrumentFactory(std::string doc,
                    Made (*make)(const O& options, const InstrumentRun& run),
                    InstrumentPhase phase = InstrumentPhase::kRegistered)
      : doc_(std::move(doc)),
        phase_(phase),
        flags_(&FlagsOf<O>()),
        make_([make](const AttrMap& values, const InstrumentRun& run) -> Made {
          O options;
          BATON_RETURN_IF_ERROR(AssignFlags(values, &options));
          BATON_RETURN_IF_ERROR(CheckFlagValues(FlagsOf<O>(), &options));
          return make(options, run);
        }) {}

  const std::string& doc() const { return doc_; }
  InstrumentPhase phase() const { return phase_; }
  const std::vector<Flag>& flags() const { return *flags_; }

  // Makes the instrument for the values of its flags; null if they do not
  // enable it. Ignores values of other flags; flags without a value have their
  // defaults.
  Made Make(const AttrMap& values, const InstrumentRun& run) const {
    return make_(values, run);
  }

 private:
  std::string doc_;
  InstrumentPhase phase_;
  const std::vector<Flag>* flags_;
  std::function<Made(const AttrMap&, const InstrumentRun&)> make_;
};

// All linked instruments.
Registry<InstrumentFactory>& Instruments();

// Appends the instruments of `phases` that `values`, of flags, enable to
// `instruments`: in the order of `phases`, those of a phase sorted by name.
absl::Status AddInstruments(std::initializer_list<InstrumentPhase> phases,
                            const AttrMap& values, InstrumentRun run,
                            PassInstruments& instruments);

// The flag `name` of an instrument; null if none has such a flag.
const Flag* FindInstrumentFlag(absl::string_view name);

// The phase of the instrument that has the flag `name`; kRegistered if none
// has.
InstrumentPhase PhaseOfFlag(absl::string_view name);

// `--FLAG: checked 3 functions`, with `verb` and `noun`; if `count` is 0,
// `--FLAG: checked nothing: WHY_NONE`. For InstrumentRun::checked.
std::string CheckedLine(absl::string_view flag, absl::string_view verb,
                        int64_t count, absl::string_view noun,
                        absl::string_view why_none);

// The heading of the flags of the instrument `name` in the help; empty if each
// flag has a heading.
std::string InstrumentHeading(absl::string_view name,
                              const InstrumentFactory& factory);

// Adds the flags of every instrument of `phase`, each under the heading of its
// instrument.
absl::Status AddInstrumentFlags(
    FlagSet& flags, InstrumentPhase phase = InstrumentPhase::kRegistered);

#define BATON_REGISTER_INSTRUMENT(name, ...)            \
  [[maybe_unused]] static const bool BATON_UNIQUE_NAME( \
      baton_instrument_registration_) =                 \
      ::baton::Instruments().Register(name,             \
                                      ::baton::InstrumentFactory(__VA_ARGS__))

}  // namespace baton

#endif  // BATON_INSTRUMENT_INSTRUMENT_REGISTRY_H_
