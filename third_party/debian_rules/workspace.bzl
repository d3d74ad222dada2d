"""The rule repositories that bazel_tools loads, as Debian packages them.

Packages: bazel-rules-cc 0.0.4, bazel-rules-java 4.0.0, bazel-rules-proto 4.0.0,
bazel-skylib 1.0.3, bazel-platforms 0.0.2.
Upstream: https://github.com/bazelbuild. Licence: Apache-2.0.
"""

load("@baton//third_party:debian_package.bzl", "copy_tree", "require")

# The files of rules_cc that use a symbol which came after Bazel 4.2.3.
_USERS_OF_USE_CPP_TOOLCHAIN = [
    "cc/private/rules_impl/cc_flags_supplier.bzl",
    "cc/private/rules_impl/compiler_flag.bzl",
]

def _rules_cc_impl(repository_ctx):
    source = "/usr/share/bazel/rules/cc"
    require(repository_ctx, source, "bazel-rules-cc")
    copy_tree(repository_ctx, source, ".")
    for path in _USERS_OF_USE_CPP_TOOLCHAIN:
        text = repository_ctx.read(path)
        text = text.replace(", \"use_cpp_toolchain\")", ")")
        text = text.replace(
            "use_cpp_toolchain()",
            "[\"@bazel_tools//tools/cpp:toolchain_type\"]",
        )
        repository_ctx.file(path, text, executable = False)

_rules_cc = repository_rule(
    implementation = _rules_cc_impl,
    local = True,
    doc = "Debian's rules_cc, mended for Debian's Bazel.",
)

def _linked_impl(repository_ctx):
    attr = repository_ctx.attr
    require(repository_ctx, attr.path, attr.package)
    for entry in repository_ctx.path(attr.path).readdir():
        repository_ctx.symlink(entry, entry.basename)

_linked = repository_rule(
    implementation = _linked_impl,
    local = True,
    attrs = {
        "package": attr.string(mandatory = True),
        "path": attr.string(mandatory = True),
    },
    doc = "A folder of the system as a repository.",
)

def _declare_rules_cc(name):
    _rules_cc(name = name)

def _rules_java(name):
    _linked(
        name = name,
        package = "bazel-rules-java",
        path = "/usr/share/bazel/rules/java",
    )

def _rules_proto(name):
    _linked(
        name = name,
        package = "bazel-rules-proto",
        path = "/usr/share/bazel/rules/proto",
    )

def _bazel_skylib(name):
    _linked(
        name = name,
        package = "bazel-skylib",
        path = "/usr/share/bazel/tools/skylib",
    )

def _platforms(name):
    _linked(
        name = name,
        package = "bazel-platforms",
        path = "/usr/share/bazel/tools/platforms",
    )

# Name -> what declares it.
DEBIAN_RULES = {
    "bazel_skylib": _bazel_skylib,
    "platforms": _platforms,
    "rules_cc": _declare_rules_cc,
    "rules_java": _rules_java,
    "rules_proto": _rules_proto,
}
