// Baton's libraries bring the Abseil and the RE2 of this workspace.

#include <iostream>
#include <memory>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "baton/ir/source.h"
#include "baton/testing/check.h"

#if !defined(OUR_ABSEIL) || !defined(OUR_RE2)
#error "Baton was built with other libraries"
#endif

int main() {
  using baton::Source;
  const absl::StatusOr<baton::testing::Checks> checks =
      baton::testing::Checks::Parse(
          std::make_shared<const Source>("checks", "CHECK: a{{[0-9]+}}b\n"));
  if (!checks.ok()) {
    std::cerr << checks.status() << "\n";
    return 1;
  }
  const absl::Status status =
      checks->Check(std::make_shared<const Source>("input", "a12b\n"));
  if (!status.ok()) std::cerr << status << "\n";
  return status.ok() ? 0 : 1;
}
