"""An Abseil, an RE2 and a protobuf that are not those of Baton's third_party/."""

# Targets of upstream's.
_ABSEIL = {
    "algorithm": ["algorithm", "container"],
    "base": ["base", "config", "core_headers", "dynamic_annotations", "endian", "log_severity"],
    "cleanup": ["cleanup"],
    "container": ["btree", "fixed_array", "flat_hash_map", "flat_hash_set", "inlined_vector", "node_hash_map", "node_hash_set"],
    "debugging": ["failure_signal_handler", "leak_check", "stacktrace", "symbolize"],
    "flags": ["commandlineflag", "config", "flag", "marshalling", "parse", "reflection", "usage"],
    "functional": ["any_invocable", "bind_front", "function_ref"],
    "hash": ["hash"],
    "memory": ["memory"],
    "meta": ["type_traits"],
    "numeric": ["bits", "int128"],
    "random": ["bit_gen_ref", "distributions", "random"],
    "status": ["status", "statusor"],
    "strings": ["cord", "str_format", "strings"],
    "synchronization": ["synchronization"],
    "time": ["time"],
    "types": ["any", "optional", "span", "variant"],
    "utility": ["utility"],
}

_ALL = """
cc_library(
    name = "{name}",
    defines = ["{define}"],
    linkopts = {linkopts},
    visibility = ["//visibility:public"],
)
"""

_PART = """
cc_library(
    name = "{name}",
    visibility = ["//visibility:public"],
    deps = ["//:all"],
)
"""

def _our_abseil_impl(repository_ctx):
    # The linker looks for what it needs in all of them.
    machine = repository_ctx.execute(["uname", "-m"]).stdout.strip()
    libraries = []
    for file in repository_ctx.path("/usr/lib/%s-linux-gnu" % machine).readdir():
        name = file.basename
        if name.startswith("libabsl_") and name.endswith(".a"):
            libraries.append("-l" + name[len("lib"):-len(".a")])
    linkopts = ["-Wl,--start-group"] + libraries + ["-Wl,--end-group", "-pthread"]
    repository_ctx.file("BUILD", _ALL.format(
        name = "all",
        define = "OUR_ABSEIL",
        linkopts = repr(linkopts),
    ))
    for package, names in _ABSEIL.items():
        repository_ctx.file(
            "absl/%s/BUILD" % package,
            "".join([_PART.format(name = name) for name in names]),
        )

our_abseil = repository_rule(
    implementation = _our_abseil_impl,
    local = True,
)

def _our_re2_impl(repository_ctx):
    repository_ctx.file("BUILD", _ALL.format(
        name = "re2",
        define = "OUR_RE2",
        linkopts = repr(["-lre2", "-pthread"]),
    ))

our_re2 = repository_rule(implementation = _our_re2_impl)

_PROTOBUF = _ALL + """
# What cc_proto_library uses. The code that our compiler makes compiles only
# with our library, which defines the macro.
exports_files(["protoc"])

proto_lang_toolchain(
    name = "cc_toolchain",
    command_line = "--cpp_out=dllexport_decl=OUR_PROTOC:$(OUT)",
    runtime = ":protobuf",
)
"""

def _our_protobuf_impl(repository_ctx):
    repository_ctx.symlink("/usr/bin/protoc", "protoc")
    repository_ctx.file("BUILD", _PROTOBUF.format(
        name = "protobuf",
        define = "OUR_PROTOC=",
        linkopts = repr(["-lprotobuf", "-lz", "-pthread"]),
    ))

our_protobuf = repository_rule(
    implementation = _our_protobuf_impl,
    local = True,
)
