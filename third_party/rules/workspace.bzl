"""@baton_rules: the build rules that Baton uses, wherever this Bazel has them.

Bazel 4 has them built in; Bazel 9 has none of them, and loads each from a
repository. One repository says which, so that no other file has to know:

    load("@baton_rules//:cc.bzl", "cc_binary", "cc_library", "cc_test")
    load("@baton_rules//:proto.bzl", "cc_proto_library", "proto_library")
    load("@baton_rules//:shell.bzl", "sh_test")

With WORKSPACE they are the built-in ones; with MODULE.bazel, those of rules_cc,
protobuf and rules_shell.
"""

# File -> rule -> the file that has it, for a Bazel without it.
_RULES = {
    "cc.bzl": {
        "cc_binary": "@rules_cc//cc:cc_binary.bzl",
        "cc_library": "@rules_cc//cc:cc_library.bzl",
        "cc_test": "@rules_cc//cc:cc_test.bzl",
    },
    "proto.bzl": {
        "cc_proto_library": "@com_google_protobuf//bazel:cc_proto_library.bzl",
        "proto_library": "@com_google_protobuf//bazel:proto_library.bzl",
    },
    "shell.bzl": {
        "sh_test": "@rules_shell//shell:sh_test.bzl",
    },
}

def _baton_rules_impl(repository_ctx):
    repository_ctx.file("BUILD.bazel", "exports_files(glob([\"*.bzl\"]))\n", executable = False)
    for name, rules in _RULES.items():
        lines = ["\"\"\"See third_party/rules/workspace.bzl of Baton.\"\"\"", ""]
        if not repository_ctx.attr.built_in:
            lines += ["load(\"%s\", _%s = \"%s\")" % (rules[rule], rule, rule) for rule in rules]
        for rule in rules:
            lines.append(rule + " = " + ("native." if repository_ctx.attr.built_in else "_") + rule)
        repository_ctx.file(name, "\n".join(lines) + "\n", executable = False)

_baton_rules = repository_rule(
    implementation = _baton_rules_impl,
    attrs = {"built_in": attr.bool(mandatory = True)},
)

def repo(name, built_in = True):
    _baton_rules(name = name, built_in = built_in)
