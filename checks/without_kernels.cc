// A program that reads, types, transforms and prints Relay programs with all
// operators: it computes nothing, and needs no kernel.

#include <cstdlib>
#include <iostream>

#include "absl/status/status.h"
#include "baton/base/registry.h"
#include "baton/base/status_macros.h"
#include "baton/ir/module.h"
#include "baton/relay/ir/infer_type.h"
#include "baton/relay/ir/text_parser.h"
#include "baton/relay/ir/text_printer.h"
#include "baton/relay/transform/alter_op_layout.h"
#include "baton/relay/transform/fuse_ops.h"
#include "baton/relay/transform/simplify_inference.h"
#include "baton/transform/pass.h"
#include "baton/transform/pass_context.h"
#include "baton/transform/sequential.h"

namespace baton {
namespace {

absl::Status Main() {
  BATON_RETURN_IF_ERROR(RegistrationErrors());
  BATON_ASSIGN_OR_RETURN(const IRModule module, ParseModule(R"(
    #[version = "0.0.5"]
    def @main(%x: Tensor[(1, 3, 8, 8), float32],
              %w: Tensor[(4, 3, 3, 3), float32]) {
      %0 = nn.conv2d(%x, %w, padding=[1, 1, 1, 1]);
      nn.relu(nn.dropout(%0).0)
    })"));
  BATON_ASSIGN_OR_RETURN(const IRModule typed, relay::InferTypes(module));
  const Pass pipeline = Sequential(
      {relay::SimplifyInference(), relay::AlterOpLayout(), relay::FuseOps()});
  BATON_ASSIGN_OR_RETURN(
      const IRModule result,
      PassContext({.opt_level = 3}).Run([&] { return pipeline(typed); }));
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
