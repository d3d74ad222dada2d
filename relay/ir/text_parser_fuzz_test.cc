// Parses arbitrary bytes: the result is a module or located errors, and a
// well-formed module survives printing and parsing.

#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <optional>
#include <string>

#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "baton/ir/diagnostics.h"
#include "baton/ir/module.h"
#include "baton/ir/structural_equal.h"
#include "baton/relay/ir/text_parser.h"
#include "baton/relay/ir/text_printer.h"
#include "baton/relay/ir/well_formed.h"

namespace baton::relay {
namespace {

[[noreturn]] void Fail(const std::string& what, const std::string& text) {
  std::fprintf(stderr, "%s\n%s\n", what.c_str(), text.c_str());
  std::abort();
}

void ParseOne(absl::string_view text) {
  Diagnostics diagnostics;
  const IRModule module = ParseModule(text, "fuzz", diagnostics);
  for (const Diagnostic& diagnostic : diagnostics.list()) {
    if (!diagnostic.span.defined()) {
      Fail("an error without a place", diagnostic.ToString());
    }
  }
  if (diagnostics.has_errors()) {
    ParseType(text, "fuzz").IgnoreError();
    return;
  }
  // A graph's number may be used where its variables are not in scope.
  if (!CheckWellFormed(module).ok()) return;
  const std::string printed = AsText(module);
  const absl::StatusOr<IRModule> again = ParseModule(printed, "printed");
  if (!again.ok()) Fail(std::string(again.status().message()), printed);
  const std::optional<std::string> difference =
      FirstDifference(module, *again, {.map_free_vars = true});
  if (difference.has_value()) Fail(*difference, printed);
  if (AsText(*again) != printed) Fail(AsText(*again), printed);
}

// A file of the corpus may hold several texts.
void ParseAll(absl::string_view text) {
  constexpr absl::string_view kLine = "\n// -----\n";
  size_t begin = 0;
  while (true) {
    const size_t end = text.find(kLine, begin);
    ParseOne(text.substr(begin, end == absl::string_view::npos
                                    ? absl::string_view::npos
                                    : end - begin));
    if (end == absl::string_view::npos) return;
    begin = end + kLine.size();
  }
}

}  // namespace
}  // namespace baton::relay

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  baton::relay::ParseAll(
      absl::string_view(reinterpret_cast<const char*>(data), size));
  return 0;
}
