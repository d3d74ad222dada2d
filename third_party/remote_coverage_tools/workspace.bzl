"""A stand-in for the coverage tools that Bazel otherwise downloads.

Every cc_test depends on @remote_coverage_tools. Debian does not package it.
"""

def _remote_coverage_tools_impl(repository_ctx):
    repository_ctx.symlink(Label("@baton//third_party/remote_coverage_tools:remote_coverage_tools.BUILD"), "BUILD.bazel")
    repository_ctx.symlink(Label("@baton//third_party/remote_coverage_tools:unavailable.sh"), "unavailable.sh")
    repository_ctx.file("WORKSPACE", "workspace(name = \"%s\")\n" % repository_ctx.name, executable = False)

_remote_coverage_tools = repository_rule(
    implementation = _remote_coverage_tools_impl,
)

def repo(name):
    _remote_coverage_tools(name = name)
