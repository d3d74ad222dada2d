"""What Debian's Bazel needs to build C++ and protocol buffers offline."""

load("@baton//third_party/debian_rules:workspace.bzl", "DEBIAN_RULES")
load("@baton//third_party/remote_coverage_tools:workspace.bzl", remote_coverage_tools = "repo")

def baton_debian_rules():
    """Declares the rule repositories of Debian's Bazel, with their mends.

    For the package bazel-bootstrap (4.2.3), which downloads nothing. With
    another Bazel, leave the call out. A repository that the WORKSPACE declared
    before is left as it is.
    """
    for name, repo in DEBIAN_RULES.items():
        if not native.existing_rule(name):
            repo(name)
    if not native.existing_rule("remote_coverage_tools"):
        remote_coverage_tools("remote_coverage_tools")
