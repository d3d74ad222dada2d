#include "baton/instrument/verify_roundtrip.h"

#include <memory>
#include <optional>
#include <string>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/string_view.h"
#include "baton/base/flags.h"
#include "baton/instrument/instrument_registry.h"
#include "baton/ir/binary_reader.h"
#include "baton/ir/binary_writer.h"
#include "baton/ir/module.h"
#include "baton/ir/module_text.h"
#include "baton/ir/structural_equal.h"
#include "baton/relay/ir/text_parser.h"
#include "baton/transform/pass_info.h"
#include "baton/transform/pass_instrument.h"

namespace baton {
namespace {

absl::StatusOr<IRModule> ThroughText(const IRModule& module) {
  return ParseModule(AsText(module), "printed");
}

absl::StatusOr<IRModule> ThroughBinary(const IRModule& module) {
  const absl::StatusOr<BinaryModule> binary = WriteBinary(module);
  if (!binary.ok()) return binary.status();
  const std::string bytes = binary->ToString();
  absl::StatusOr<BinaryContent> read = ReadBinary(bytes, nullptr, "written");
  if (!read.ok()) return read.status();
  return read->module;
}

}  // namespace

absl::Status VerifyRoundtripInstrument::RunAfterPass(
    const IRModule& module, const PassExecution& pass) {
  if (!pass.changed() ||
      pass.info().granularity == PassGranularity::kSequence) {
    return absl::OkStatus();
  }
  ++num_checked_;
  const auto check = [&](const absl::StatusOr<IRModule>& again,
                         absl::string_view how) {
    const std::string beginning =
        absl::StrCat("the result of pass ", pass.name(), ", ", how, ", ");
    if (!again.ok()) {
      return absl::InternalError(absl::StrCat(
          beginning, "cannot be read: ", again.status().message()));
    }
    const std::optional<std::string> difference =
        FirstDifference(*again, module, {.map_free_vars = true});
    return difference.has_value() ? absl::InternalError(absl::StrCat(
                                        beginning, "differs: ", *difference))
                                  : absl::OkStatus();
  };
  const absl::Status text = check(ThroughText(module), "as text");
  if (!text.ok()) return text;
  return check(ThroughBinary(module), "as a binary file");
}

namespace {

struct VerifyRoundtripFlags {
  bool verify_roundtrip = false;

  template <typename V>
  static void VisitFields(V& v) {
    v("verify_roundtrip", &VerifyRoundtripFlags::verify_roundtrip,
      FlagSpec{.help = "Writes and reads the module after each pass, as text "
                       "and binary.",
               .group = kFaultFlags});
  }
};

InstrumentFactory::Made MakeVerifyRoundtrip(const VerifyRoundtripFlags& flags,
                                            const InstrumentRun& run) {
  if (!flags.verify_roundtrip) return nullptr;
  auto instrument = std::make_shared<VerifyRoundtripInstrument>();
  instrument->set_name("--verify_roundtrip");
  run.checked([instrument] {
    return CheckedLine("verify_roundtrip", "checked", instrument->num_checked(),
                       "module", "no pass changed the module");
  });
  return instrument;
}

BATON_REGISTER_INSTRUMENT("verify_roundtrip",
                          "Writes and reads the module after each pass.",
                          MakeVerifyRoundtrip, InstrumentPhase::kCheck);

}  // namespace

}  // namespace baton
