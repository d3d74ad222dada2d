// A program over a level of its own: it needs ir/ and transform/, and no Relay.

#include <cstdlib>
#include <iostream>

#include "absl/status/status.h"
#include "baton/base/status_macros.h"
#include "baton/ir/function_verifier.h"
#include "baton/ir/module.h"
#include "baton/ir/module_text.h"
#include "baton/testing/script_passes.h"
#include "baton/transform/pass.h"
#include "baton/transform/pass_context.h"
#include "baton/transform/sequential.h"

namespace baton {
namespace {

absl::Status Main() {
  BATON_ASSIGN_OR_RETURN(const IRModule module, ParseModule(R"(
    script @main { @main; @main; @other; }
    script @other { })"));
  const Pass pipeline = Sequential({script::MergeCalls()});
  BATON_ASSIGN_OR_RETURN(
      const IRModule result,
      PassContext({.opt_level = 3}).Run([&] { return pipeline(module); }));
  BATON_RETURN_IF_ERROR(CheckWellFormed(result));
  std::cout << AsText(result);
  return absl::OkStatus();
}

}  // namespace
}  // namespace baton

int main() {
  const absl::Status status = baton::Main();
  if (!status.ok()) std::cerr << status << "\n";
  return status.ok() ? EXIT_SUCCESS : EXIT_FAILURE;
}
