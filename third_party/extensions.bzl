"""What MODULE.bazel needs and the Bazel Central Registry does not have."""

load("//third_party/rules:workspace.bzl", baton_rules = "repo")

def _baton_extension_impl(_module_ctx):
    baton_rules(name = "baton_rules", built_in = False)

baton_extension = module_extension(implementation = _baton_extension_impl)
