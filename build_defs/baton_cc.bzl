"""C++ rules for Baton's own packages.

The only place that knows how Baton's headers are included: the header ir/expr.h
is `#include "baton/ir/expr.h"`, and ir/module.proto makes
"baton/ir/module.pb.h", inside this repository and outside.

For a package:

    load("//build_defs:baton_cc.bzl", "baton_cc_library", "baton_cc_test")

    package(
        default_visibility = ["//:baton"],
        features = ["layering_check"],
    )

`layering_check` makes clang refuse a header that does not come from a direct
dependency (`bazel build --config=clang //...`, which turns it on in any case);
g++ knows no such check and ignores the feature.
"""

load("@baton_rules//:cc.bzl", "cc_binary", "cc_library", "cc_test")
load("@baton_rules//:proto.bzl", "cc_proto_library", "proto_library")
load("@baton_rules//:shell.bzl", "sh_test")

# Importers' .bazelrc is not Baton's: the language comes with each target.
BATON_COPTS = ["-std=c++20"]

_INCLUDE_PREFIX = "baton"

_HEADER_SUFFIXES = (".h", ".hpp", ".inc", ".def")

def _declare_sources():
    """Makes `:cc_sources` of the package, which //checks reads."""
    if not native.existing_rule("cc_sources"):
        native.filegroup(
            name = "cc_sources",
            srcs = native.glob(
                ["**/*.cc", "**/*.h", "**/*.inc", "BUILD"],
                allow_empty = True,
            ),
            visibility = [str(Label("@baton//checks:__pkg__"))],
        )

def _compile_headers(name, srcs, hdrs):
    """Makes `<name>_self_contained`, which compiles headers on their own.

    Those, that is, without a source of the same name: the others compile on
    their own as the first include of their source, which //checks asks for. It
    is `manual`, so that not everybody compiles it; .ci/run does.
    """
    made = []
    for header in hdrs:
        if not header.endswith(".h") or ":" in header or header[:-len(".h")] + ".cc" in srcs:
            continue
        source = "self_contained/%s.cc" % header
        native.genrule(
            name = "self_contained/" + header,
            outs = [source],
            tags = ["manual"],
            cmd = "echo '#include \"%s/%s/%s\"' >$@" % (
                _INCLUDE_PREFIX,
                native.package_name(),
                header,
            ),
            visibility = ["//visibility:private"],
        )
        made.append(source)
    if made:
        cc_library(
            name = name + "_self_contained",
            testonly = True,
            srcs = made,
            copts = BATON_COPTS + ["-O0"],
            tags = ["manual"],
            visibility = ["//visibility:private"],
            deps = [":" + name],
        )
def _is_home():
    return native.repository_name() in ["@", "@@", ""]

def _copts(copts):
    """`copts` of a target, and what all of Baton's have."""

    # Warnings are for those who can mend them: in a repository that imports
    # Baton there are none of Baton's, whatever its own flags ask for.
    return BATON_COPTS + ([] if _is_home() else ["-w"]) + copts

# Packages whose headers baton_ir_precompiled has, and those that it does not serve.
_UP_TO_IR = ("base", "ir", "runtime")

# g++ collects garbage when its memory has doubled, and walks the whole
# precompiled header each time: a fifth of a compilation. Without, a compilation
# of 350 MB takes 372.
_NO_GARBAGE_COLLECTION = ["--param=ggc-min-heapsize=1048576"]

def _precompiled(srcs, copts, suffix = ""):
    """The options and dependencies that give sources a precompiled header.

    Only in Baton's own builds; and only to sources without options of their own,
    for theirs would not be those that the header was compiled with.
    """
    is_above_ir = native.package_name().split("/")[0] not in _UP_TO_IR
    header = ("baton_ir_precompiled" if is_above_ir else "baton_precompiled") + suffix
    label = Label("//build_defs:" + header)
    if not _is_home() or label.workspace_name or copts or not srcs:
        return [], []
    clang = str(Label("//build_defs:clang"))
    return (
        select({clang: [], "//conditions:default": ["-include", header + ".h"] + _NO_GARBAGE_COLLECTION}),
        select({clang: [], "//conditions:default": [str(label)]}),
    )

def _check_srcs(name, srcs):
    _declare_sources()
    if type(srcs) != type([]):
        return  # A select().
    for src in srcs:
        if src.endswith(_HEADER_SUFFIXES):
            fail("//{}:{}: {} must be in `hdrs` of a library: in `srcs` it has no \"{}/\" include path. For a header that others must not use, make a target of restricted visibility.".format(
                native.package_name(),
                name,
                src,
                _INCLUDE_PREFIX,
            ))

def baton_cc_library(name, srcs = [], hdrs = [], deps = [], copts = [], **kwargs):
    """A cc_library whose headers are included as "baton/<package>/<header>".

    Args:
      name: the target's name.
      srcs: .cc files only.
      hdrs: the library's headers: one, as a rule. Files that are included in the
        middle of others (.inc, .def) stand here too: Bazel 4 gives
        `textual_hdrs` no include prefix.
      deps: the libraries of the headers that these include.
      copts: further compiler options.
      **kwargs: of cc_library. A library that registers something (passes,
        operators, flags) needs `alwayslink = True`.
    """
    _check_srcs(name, srcs)
    if "textual_hdrs" in kwargs:
        fail("//{}:{}: `textual_hdrs` would have no \"{}/\" include path: use `hdrs`.".format(
            native.package_name(),
            name,
            _INCLUDE_PREFIX,
        ))
    if hdrs:
        kwargs["strip_include_prefix"] = "/"
        kwargs["include_prefix"] = _INCLUDE_PREFIX
    options, header = _precompiled(srcs, copts)
    cc_library(
        name = name,
        srcs = srcs,
        hdrs = hdrs,
        copts = _copts(copts) + options,
        deps = deps + header,
        **kwargs
    )
    if type(srcs) == type([]) and type(hdrs) == type([]):
        _compile_headers(name, srcs, hdrs)

def baton_cc_binary(name, srcs = [], deps = [], copts = [], **kwargs):
    """A cc_binary. Headers belong to a baton_cc_library."""
    _check_srcs(name, srcs)
    options, header = _precompiled(srcs, copts)
    cc_binary(
        name = name,
        srcs = srcs,
        copts = _copts(copts) + options,
        deps = deps + header,
        **kwargs
    )

def _one_source(name, srcs):
    """Sources of a test that g++ compiles as one, `<name>_sources_test.cc`.

    Most of the time of a test goes into functions that templates make, which
    sources of a package share. Each source has a namespace of its own for its
    unnamed namespace, whose names may occur in several. Messages name the
    sources' own lines. clang compiles each source alone.

    Args:
      name: the test's name.
      srcs: the sources.

    Returns:
      The `srcs` of the test.
    """
    if len(srcs) < 2 or not _is_home():
        return srcs
    joined = name + "_sources_test.cc"
    native.genrule(
        name = name + "_sources",
        testonly = True,
        srcs = srcs,
        outs = [joined],
        cmd = """
          for source in $(SRCS); do
            own="$$(basename "$${source}" .cc)_file"
            echo "#line 1 \\"$${source}\\""
            sed -e "s|^namespace {$$|namespace $${own} { namespace {|" \\
                -e "s|^}  // namespace$$|} }|" "$${source}"
          done >$@
        """,
        visibility = ["//visibility:private"],
    )
    return select({
        str(Label("//build_defs:clang")): srcs,
        "//conditions:default": [joined],
    })

def baton_cc_test(name, srcs = [], deps = [], copts = [], gtest_main = True, **kwargs):
    """A cc_test with GoogleTest and GoogleMock.

    Small tests of a package share a binary, up to about 1,500 lines: g++ compiles
    its sources as one.

    Args:
      name: the target's name.
      srcs: .cc files, whose unnamed namespaces begin with a line `namespace {`
        and end with a line `}  // namespace`; `[name + ".cc"]` if none.
      deps: what is tested. GoogleTest and its main() need not be named.
      copts: further compiler options.
      gtest_main: False for a test with a main() of its own.
      **kwargs: of cc_test; `size` is "small" if not given.
    """
    _check_srcs(name, srcs)
    kwargs.setdefault("size", "small")
    googletest = ["@com_google_googletest//:gtest"]
    if gtest_main:
        googletest.append("@com_google_googletest//:gtest_main")
    srcs = srcs or [name + ".cc"]

    # Tests of numeric loops are optimized, others are not (.bazelrc).
    is_optimized = native.package_name().startswith("runtime")
    options, header = _precompiled(
        srcs,
        copts,
        "" if is_optimized else "_test",
    )
    cc_test(
        name = name,
        srcs = _one_source(name, srcs),
        copts = _copts(copts) + options,
        deps = deps + [dep for dep in googletest if dep not in deps] + header,
        **kwargs
    )

def _written_files_impl(ctx):
    folder = ctx.actions.declare_directory(ctx.label.name)
    ctx.actions.run_shell(
        tools = [ctx.executable.tool],
        outputs = [folder],
        arguments = [ctx.executable.tool.path, folder.path],
        # What is wrong is said by the test that reads the files.
        command = """
scratch="$(mktemp -d)"
TEST_TMPDIR="${scratch}" BATON_WRITTEN_LIBRARIES="${PWD}/$2" \\
  "$1" --gtest_print_time=0 >"${scratch}/log" 2>&1 || cp "${scratch}/log" "$2"
rm -rf "${scratch}"
""",
        mnemonic = "BatonWriteFiles",
        progress_message = "Writing the libraries of %s" % ctx.label,
    )
    return [DefaultInfo(
        files = depset([folder]),
        runfiles = ctx.runfiles(files = [folder]),
    )]

_written_files = rule(
    implementation = _written_files_impl,
    attrs = {
        "tool": attr.label(cfg = "host", executable = True, mandatory = True),
    },
)

def baton_code_test(name, srcs, deps, compiler, long_shard_count = 1, long_tags = [], **kwargs):
    """A test of libraries that `baton-compile` writes, without the compiler.

    tools/written_library.h says how the cases ask for libraries. `<name>_writer`
    is a program with the compiler that writes them, as an action of the build;
    run by itself, it is the test, too. `foo_test` has the short form; the long
    one is that program, which `foo_all_test` runs with BATON_LONG_TESTS=1.

    Args:
      name: the target's name.
      srcs: .cc files.
      deps: of these, without the compiler. GoogleTest need not be named.
      compiler: what registers passes, operators and kernels.
      long_shard_count: the parts that the long form runs in.
      long_tags: of the test that runs the long form.
      **kwargs: of cc_test.
    """
    _check_srcs(name, srcs)
    options, header = _precompiled(srcs, [], "_test")
    googletest = "@com_google_googletest//:gtest"
    cc_library(
        name = name + "_cases",
        testonly = True,
        srcs = srcs,
        copts = _copts([]) + options,
        visibility = ["//visibility:private"],
        deps = deps + [str(Label("@baton//tools:written_library")), googletest] + header,
        alwayslink = True,
    )
    cc_binary(
        name = name + "_writer",
        testonly = True,
        deps = compiler + [
            ":" + name + "_cases",
            str(Label("@baton//tools:write_library")),
            "@com_google_googletest//:gtest_main",
        ],
    )
    _written_files(
        name = name + "_libraries",
        testonly = True,
        tool = ":" + name + "_writer",
        visibility = ["//visibility:private"],
    )
    cc_test(
        name = name,
        data = [":" + name + "_libraries"],
        env = {"BATON_WRITTEN_LIBRARIES": "$(rootpath :%s_libraries)" % name},
        deps = [
            ":" + name + "_cases",
            str(Label("@baton//tools:read_library")),
            "@com_google_googletest//:gtest_main",
        ],
        **kwargs
    )
    sh_test(
        name = name[:-len("_test")] + "_all_test",
        size = "large",
        srcs = [Label("@baton//tools:long_test.sh")],
        args = ["$(location :%s_writer)" % name],
        data = [":%s_writer" % name],
        shard_count = long_shard_count,
        tags = long_tags,
    )

def baton_cc_benchmark(name, srcs = None, deps = [], copts = [], benchmark_main = True, smoke_filter = None, **kwargs):
    """A Google Benchmark binary: `bazel run :name -- --benchmark_filter=RE`.

    Args:
      name: the target's name.
      srcs: .cc files; `[name + ".cc"]` if not given.
      deps: what is measured. Google Benchmark and its main() need not be named.
      copts: further compiler options.
      benchmark_main: False for a program with a main() of its own.
      smoke_filter: if given, the test `<name>_smoke_test` runs the benchmarks
        that match this regular expression for a moment, so that
        `bazel test` notices one that no longer works.
      **kwargs: of cc_binary.
    """
    if srcs == None:
        srcs = [name + ".cc"]
    _check_srcs(name, srcs)
    google_benchmark = ["@com_github_google_benchmark//:benchmark"]
    if benchmark_main:
        google_benchmark.append("@com_github_google_benchmark//:benchmark_main")
    cc_binary(
        name = name,
        testonly = True,
        srcs = srcs,
        copts = _copts(copts),
        deps = deps + google_benchmark,
        **kwargs
    )
    if smoke_filter != None:
        sh_test(
            name = name + "_smoke_test",
            size = "small",
            srcs = [":" + name],
            args = [
                # `$` begins a Make variable.
                "'--benchmark_filter=%s'" % smoke_filter.replace("$", "$$"),
                "--benchmark_min_time=0.001",
            ],
        )

def baton_cc_fuzz_test(name, srcs = [], deps = [], copts = [], corpus = [], seconds = 20, **kwargs):
    """A libFuzzer target: a source that defines LLVMFuzzerTestOneInput().

    `bazel test :foo_fuzz_test` runs it once on nothing and on each file of the
    corpus, then for two seconds on mutations of them, in every configuration; for
    half of `seconds` with `--test_env=BATON_LONG_TESTS=1`, for all with 2.
    To fuzz:

        bazel run --config=fuzz :foo_fuzzer -- -max_total_time=60 /some/folder

    Args:
      name: must end in `_fuzz_test`.
      srcs: .cc files; `[name + ".cc"]` if none.
      deps: what is fuzzed.
      copts: further compiler options.
      corpus: files to start from.
      seconds: how long the nightly form of the test runs on mutations.
      **kwargs: of cc_test; `size` is "medium" if not given.
    """
    if not name.endswith("_fuzz_test"):
        fail("//{}:{}: the name of a baton_cc_fuzz_test ends in _fuzz_test".format(
            native.package_name(),
            name,
        ))
    _check_srcs(name, srcs)
    kwargs.setdefault("size", "medium")
    kwargs["tags"] = kwargs.get("tags", []) + ["nightly"]
    cc_library(
        name = name + "_input",
        testonly = True,
        srcs = srcs or [name + ".cc"],
        copts = _copts(copts),
        visibility = ["//visibility:private"],
        deps = deps,
        alwayslink = True,
    )
    cc_test(
        name = name,
        args = ["--long_seconds=%d" % seconds] +
               ["$(locations %s)" % label for label in corpus],
        data = corpus,
        deps = [
            ":" + name + "_input",
            str(Label("@baton//build_defs:fuzz_main")),
        ],
        **kwargs
    )
    cc_binary(
        name = name[:-len("_test")] + "er",
        testonly = True,
        linkopts = ["-fsanitize=fuzzer"],
        tags = ["manual"],  # It has a main() with --config=fuzz only.
        deps = [":" + name + "_input"],
    )

def baton_proto_library(name, srcs, deps = [], visibility = None, **kwargs):
    """A proto_library and its C++ code.

    The file ir/module.proto is `import "baton/ir/module.proto"` for other
    protos and `#include "baton/ir/module.pb.h"` for C++.

    Args:
      name: must end in `_proto`; `foo_proto` comes with `foo_cc_proto`, which
        C++ targets depend on.
      srcs: .proto files.
      deps: other proto_library targets.
      visibility: of both targets.
      **kwargs: of proto_library.
    """
    if not name.endswith("_proto"):
        fail("//{}:{}: the name of a baton_proto_library ends in _proto".format(
            native.package_name(),
            name,
        ))
    proto_library(
        name = name,
        srcs = srcs,
        import_prefix = _INCLUDE_PREFIX,
        strip_import_prefix = "/",
        visibility = visibility,
        deps = deps,
        **kwargs
    )
    cc_proto_library(
        name = name[:-len("_proto")] + "_cc_proto",
        testonly = kwargs.get("testonly", False),
        visibility = visibility,
        deps = [":" + name],
    )
