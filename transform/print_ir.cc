#include "baton/transform/print_ir.h"

#include <iostream>
#include <string>

#include "absl/status/statusor.h"
#include "absl/strings/ascii.h"
#include "absl/strings/str_cat.h"
#include "baton/ir/module.h"
#include "baton/ir/module_text.h"
#include "baton/transform/config.h"
#include "baton/transform/module_pass.h"
#include "baton/transform/pass.h"
#include "baton/transform/pass_context.h"
#include "baton/transform/pass_registry.h"

namespace baton {

const ConfigKey<bool>& PrintIrConfig() {
  static const auto* const key =
      new ConfigKey<bool>("print_ir", true, "Whether the pass PrintIR prints.");
  return *key;
}

namespace {
// Registered before any context is made.
[[maybe_unused]] const ConfigKey<bool>& registered_print_ir = PrintIrConfig();
}  // namespace

Pass PrintIR(PrintIrPassOptions options) {
  return CreateModulePass(
      [options](IRModule module,
                const PassContext& context) -> absl::StatusOr<IRModule> {
        if (!context.Get(PrintIrConfig())) return module;
        const std::string text =
            AsText(module, {.version = false,
                            .metadata = options.show_meta_data,
                            .note_omitted_metadata = false});
        std::ostream& out = options.out == nullptr ? std::cerr : *options.out;
        // In one piece: other threads may print too.
        out << absl::StrCat("PrintIR(", options.header, "):\n",
                            absl::StripTrailingAsciiWhitespace(text), "\n\n")
            << std::flush;
        return module;
      },
      {.name = "PrintIR",
       .doc = "Prints the module.",
       .idempotent = true,
       .always_run = true},
      options);
}
BATON_REGISTER_PASS(PrintIR);

}  // namespace baton
