"""Debian's Abseil as the repository that Abseil's users expect."""

load("//third_party:system_repository.bzl", "link_library", "require_file", "system_lib_dir")
load("//third_party/absl:targets.bzl", "ABSL_TARGETS")

_MODULE = """
cc_library(
    name = "{name}",
    srcs = {srcs},
    linkopts = {linkopts},
    deps = {deps},
)
"""

_TARGET = """
cc_library(
    name = "{name}",
    deps = ["//lib:{module}"],
)
"""

_PREFIX = "absl_"

def _requires(pc_text):
    """The modules named in a .pc file's `Requires` line, without the prefix."""
    for line in pc_text.split("\n"):
        if line.startswith("Requires:"):
            entries = [entry.strip() for entry in line[len("Requires:"):].split(",")]
            return [entry.split(" ")[0][len(_PREFIX):] for entry in entries if entry]
    return []

def _absl_repository_impl(ctx):
    lib_dir = system_lib_dir(ctx)
    pc_dir = lib_dir + "/pkgconfig"
    require_file(ctx, pc_dir + "/absl_base.pc", "libabsl-dev")

    modules = ['package(default_visibility = ["//absl:__subpackages__"])\n']
    for pc in sorted(ctx.path(pc_dir).readdir(), key = str):
        if not (pc.basename.startswith(_PREFIX) and pc.basename.endswith(".pc")):
            continue
        name = pc.basename[len(_PREFIX):-len(".pc")]
        modules.append(_MODULE.format(
            name = name,
            srcs = repr([
                link[len("lib/"):]
                for link in link_library(ctx, lib_dir, _PREFIX + name)
            ]),
            linkopts = repr(["-pthread", "-lrt"] if name == "base" else []),
            deps = repr([":" + module for module in _requires(ctx.read(pc))]),
        ))
    ctx.file("lib/BUILD", "".join(modules))

    ctx.file("BUILD", "")
    ctx.file("absl/BUILD", "")
    for package, targets in ABSL_TARGETS.items():
        build = ['package(default_visibility = ["//visibility:public"])\n']
        for name, module in targets.items():
            build.append(_TARGET.format(name = name, module = module))
        ctx.file("absl/%s/BUILD" % package, "".join(build))

absl_repository = repository_rule(
    implementation = _absl_repository_impl,
    doc = "Abseil of the package libabsl-dev: upstream's targets over Debian's libraries.",
    local = True,
)
