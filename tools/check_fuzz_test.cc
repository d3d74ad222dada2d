// Checks arbitrary bytes: the directives and, after a NUL, the input. A text
// without a NUL is checked against itself.

#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>

#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "baton/base/source.h"
#include "baton/tools/check.h"

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  using baton::Checks;
  using baton::Source;
  const absl::string_view text(reinterpret_cast<const char*>(data), size);
  const size_t nul = text.find('\0');
  const std::string checks(text.substr(0, nul));
  const std::string input(
      nul == absl::string_view::npos ? text : text.substr(nul + 1));
  const absl::StatusOr<Checks> parsed =
      Checks::Parse(std::make_shared<const Source>("checks", checks));
  if (parsed.ok()) {
    parsed->Check(std::make_shared<const Source>("input", input)).IgnoreError();
  }
  return 0;
}
