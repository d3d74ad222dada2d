"""Repositories made of what a Debian package installed on this machine."""

def system_lib_dir(ctx):
    """The directory of Debian's libraries for this machine's architecture."""
    result = ctx.execute(["uname", "-m"])
    machine = result.stdout.strip()
    for directory in ["/usr/lib/%s-linux-gnu" % machine, "/usr/lib64", "/usr/lib"]:
        if ctx.path(directory).exists:
            return directory
    fail("no library directory found for the architecture '%s'" % machine)

def require_file(ctx, path, package):
    """Fails with the package to install where `path` is missing."""
    if not ctx.path(path).exists:
        fail("@%s needs %s: run `apt-get install %s` (or build with ./bazelw, which does)" %
             (ctx.name, path, package))

def link_library(ctx, lib_dir, name):
    """Links lib<name>.a and lib<name>.so into `lib/`; returns the links made."""
    made = []
    for suffix in [".a", ".so"]:
        path = "%s/lib%s%s" % (lib_dir, name, suffix)
        if ctx.path(path).exists:
            link = "lib/lib%s%s" % (name, suffix)
            ctx.symlink(path, link)
            made.append(link)
    return made

def _system_repository_impl(ctx):
    for path, link in ctx.attr.links.items():
        require_file(ctx, path, ctx.attr.package)
        ctx.symlink(path, link)
    if ctx.attr.libraries:
        lib_dir = system_lib_dir(ctx)
        for library in ctx.attr.libraries:
            if not link_library(ctx, lib_dir, library):
                require_file(ctx, "%s/lib%s.so" % (lib_dir, library), ctx.attr.package)
    ctx.symlink(ctx.attr.build_file, "BUILD")

system_repository = repository_rule(
    implementation = _system_repository_impl,
    doc = "Links libraries and other files of a Debian package beside a BUILD file.",
    attrs = {
        "build_file": attr.label(mandatory = True, doc = "The repository's BUILD file."),
        "libraries": attr.string_list(doc = "`x` links libx.a and libx.so, those that exist, into lib/."),
        "links": attr.string_dict(doc = "System path -> its name in the repository."),
        "package": attr.string(doc = "The Debian package, for the message when a file is missing."),
    },
    local = True,
)
