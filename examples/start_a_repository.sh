# Writes a repository with a pass of its own into this folder: see
# docs/build_a_compiler.md.
# [files]
cat >WORKSPACE <<'END'
local_repository(name = "baton", path = "../baton")
load("@baton//third_party:debian_rules.bzl", "baton_debian_rules")
load("@baton//third_party:deps.bzl", "baton_dependencies")
baton_debian_rules()
baton_dependencies()
END
echo 'build --cxxopt=-std=c++20 --host_cxxopt=-std=c++20' >.bazelrc
cat >BUILD <<'END'
load("@baton//build_defs:baton.bzl", "baton_ir_test", "baton_opt_binary")
cc_library(
    name = "one_relu", srcs = ["one_relu.cc"],
    deps = ["@baton//relay/ir", "@baton//relay/transform:function_pass", "@baton//transform:pass_registry"],
    alwayslink = True,
)
baton_opt_binary(name = "our-opt", passes = [":one_relu"])
baton_ir_test(name = "one_relu_test", src = "one_relu.relay", tool = ":our-opt")
END
cat >one_relu.cc <<'END'
#include "baton/relay/ir/visit.h"
#include "baton/relay/transform/function_pass.h"
#include "baton/transform/pass_registry.h"
class OneReluMutator : public baton::relay::ExprMutator {
  baton::Expr VisitCall(const baton::relay::CallNode*, baton::relay::Call call) override {
    const bool twice = baton::relay::IsCallTo(call, relu_) && baton::relay::IsCallTo(call->arg(0), relu_);
    return twice ? call->arg(0) : call;
  }
  const baton::Op relu_ = baton::Op::Find("nn.relu");
};
baton::Pass OneRelu() {
  return baton::relay::CreateFunctionPass([](const baton::relay::Function& f, const baton::IRModule&, const baton::PassContext&)
      -> absl::StatusOr<baton::relay::Function> { return OneReluMutator().MutateFunction(f); }, {.name = "OneRelu"});
}
BATON_REGISTER_PASS(OneRelu);
END
cat >one_relu.relay <<'END'
// RUN: our-opt %s --passes=OneRelu --op_diff --emit=none 2>&1 | baton-check %s
// CHECK: 1 OneRelu nn.relu -1
def @main(%x: Tensor[(8), float32]) { nn.relu(nn.relu(%x)) }
END
# [/files]
