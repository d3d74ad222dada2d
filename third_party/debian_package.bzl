"""A Debian -dev package as a Bazel repository."""

def require(repository_ctx, path, package):
    """Fails unless `path` exists, and says which Debian package brings it."""
    if not repository_ctx.path(path).exists:
        fail("@{}: {} is missing: install the Debian package {}, or let Baton's ./bazelw do it.".format(
            repository_ctx.name,
            path,
            package,
        ))

def copy_tree(repository_ctx, source, destination):
    """Copies the system's folder `source` to `destination` in the repository."""
    for command in [
        ["mkdir", "-p", destination],
        ["cp", "-RL", source + "/.", destination],
    ]:
        result = repository_ctx.execute(command)
        if result.return_code != 0:
            fail("@{}: {}: {}".format(
                repository_ctx.name,
                " ".join(command),
                result.stderr,
            ))

def library_folder(repository_ctx):
    """The system's folder of libraries; its name depends on the machine."""
    machine = repository_ctx.execute(["uname", "-m"]).stdout.strip()
    folder = "/usr/lib/%s-linux-gnu" % machine
    return folder if repository_ctx.path(folder).exists else "/usr/lib"

def link_library(repository_ctx, name, destination):
    """Links the system's lib<name>.a and lib<name>.so, those that exist.

    Returns the names of the files in `destination`.
    """
    folder = library_folder(repository_ctx)
    made = []
    for suffix in [".a", ".so"]:
        library = "lib" + name + suffix
        if repository_ctx.path(folder + "/" + library).exists:
            repository_ctx.symlink(folder + "/" + library, destination + "/" + library)
            made.append(library)
    return made

def _debian_package_impl(repository_ctx):
    attr = repository_ctx.attr
    for source, destination in attr.headers.items():
        require(repository_ctx, source, attr.package)
        copy_tree(repository_ctx, source, "include/" + destination)
    for library in attr.libraries:
        if not link_library(repository_ctx, library, "lib"):
            require(repository_ctx, library_folder(repository_ctx) + "/lib%s.so" % library, attr.package)
    for source, destination in attr.programs.items():
        require(repository_ctx, source, attr.package)
        repository_ctx.symlink(source, destination)
    repository_ctx.file(
        "WORKSPACE",
        "workspace(name = \"%s\")\n" % repository_ctx.name,
        executable = False,
    )
    repository_ctx.file(
        "BUILD.bazel",
        repository_ctx.read(attr.build_file),
        executable = False,
    )

debian_package = repository_rule(
    implementation = _debian_package_impl,
    # Looked at again whenever a Bazel server starts, for the system's files may
    # have been upgraded.
    local = True,
    attrs = {
        "build_file": attr.label(
            doc = "The repository's BUILD file.",
            allow_single_file = True,
            mandatory = True,
        ),
        "headers": attr.string_dict(
            doc = "Folders of the system that are copied below include/: " +
                  "where they are -> where they go.",
        ),
        "libraries": attr.string_list(
            doc = "`x` links libx.a and libx.so, those that exist, into lib/.",
        ),
        "package": attr.string(
            doc = "The Debian package that holds all this.",
            mandatory = True,
        ),
        "programs": attr.string_dict(
            doc = "Programs of the system that are linked into the " +
                  "repository: where they are -> where they go.",
        ),
    },
    doc = """A library that Debian ships, under the name its upstream has in Bazel.

The headers are copied, not used in place: so clang's layering_check knows which
target owns which header. Headers and libraries are inputs of the actions that
use them: an upgrade of the package rebuilds what it must, and a shared cache
stays right. A target with both lib*.a and lib*.so in `srcs` is linked statically
or dynamically, as Bazel links the rest.
""",
)
