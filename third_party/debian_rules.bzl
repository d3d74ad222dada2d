"""The rule sets that Debian packages, as repositories under the names that Bazel users expect."""

load("//third_party:system_repository.bzl", "system_repository")
load("//third_party/debian_rules:repository.bzl", "debian_rules_cc")

_LOCAL_REPOSITORIES = {
    "bazel_skylib": "/usr/share/bazel/tools/skylib",
    "platforms": "/usr/share/bazel/tools/platforms",
    "rules_java": "/usr/share/bazel/rules/java",
    "rules_proto": "/usr/share/bazel/rules/proto",
}

def baton_debian_rules():
    """Declares Debian's rule sets, each unless the workspace has one of that name.

    Only for builds with Debian's Bazel. Call it before `baton_dependencies`.
    """
    if not native.existing_rule("rules_cc"):
        debian_rules_cc(name = "rules_cc")
    for name, path in _LOCAL_REPOSITORIES.items():
        if not native.existing_rule(name):
            native.local_repository(name = name, path = path)
    if not native.existing_rule("remote_coverage_tools"):
        system_repository(
            name = "remote_coverage_tools",
            build_file = Label("@baton//third_party/remote_coverage_tools:remote_coverage_tools.BUILD"),
        )
