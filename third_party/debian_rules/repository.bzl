"""Debian's rules_cc, mended for Debian's Bazel."""

_RULES_CC = "/usr/share/bazel/rules/cc"

def _debian_rules_cc_impl(ctx):
    if not ctx.path(_RULES_CC).exists:
        fail("%s is missing: run `apt-get install bazel-rules-cc` (or build with ./bazelw, which does)" % _RULES_CC)
    result = ctx.execute(["cp", "-rL", _RULES_CC + "/.", "."])
    if result.return_code != 0:
        fail("cannot copy %s: %s" % (_RULES_CC, result.stderr))
    for name in ["cc_flags_supplier.bzl", "compiler_flag.bzl"]:
        path = "cc/private/rules_impl/" + name
        text = ctx.read(path)

        # Bazel 4.2.3 has no `use_cpp_toolchain`; this is what it returns.
        text = text.replace(', "use_cpp_toolchain")', ")")
        text = text.replace("use_cpp_toolchain()", '["@bazel_tools//tools/cpp:toolchain_type"]')
        ctx.file(path, text)

debian_rules_cc = repository_rule(
    implementation = _debian_rules_cc_impl,
    doc = "A copy of the package bazel-rules-cc that Bazel 4.2.3 can load.",
    local = True,
)
