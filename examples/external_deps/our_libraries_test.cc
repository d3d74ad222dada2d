// Baton's libraries bring the Abseil, the RE2 and the protobuf of this
// workspace.

#include <iostream>
#include <memory>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "baton/base/source.h"
#include "baton/ir/binary_reader.h"
#include "baton/ir/binary_writer.h"
#include "baton/ir/module.h"
#include "baton/ir/structural_equal.h"
#include "baton/relay/ir/expr.h"
#include "baton/relay/ir/module.h"
#include "baton/tools/check.h"

#if !defined(OUR_ABSEIL) || !defined(OUR_RE2) || !defined(OUR_PROTOC)
#error "Baton was built with other libraries"
#endif

namespace {

// Uses RE2.
absl::Status CheckText() {
  using baton::Source;
  const absl::StatusOr<baton::Checks> checks = baton::Checks::Parse(
      std::make_shared<const Source>("checks", "CHECK: a{{[0-9]+}}b\n"));
  if (!checks.ok()) return checks.status();
  return checks->Check(std::make_shared<const Source>("input", "a12b\n"));
}

// Uses protobuf.
absl::Status CheckBinary() {
  const baton::relay::Var x("x", {2, 3});
  const baton::IRModule module =
      baton::relay::ModuleFromExpr(baton::relay::Function({x}, x));
  const absl::StatusOr<baton::BinaryModule> binary = baton::WriteBinary(module);
  if (!binary.ok()) return binary.status();
  const absl::StatusOr<baton::BinaryContent> content =
      baton::ReadBinary(binary->ToString(), nullptr, "x.baton");
  if (!content.ok()) return content.status();
  return baton::StructuralEqual(content->module, module)
             ? absl::OkStatus()
             : absl::InternalError("x.baton: another module came back");
}

}  // namespace

int main() {
  for (absl::Status (*check)() : {CheckText, CheckBinary}) {
    const absl::Status status = check();
    if (status.ok()) continue;
    std::cerr << status << "\n";
    return 1;
  }
}
