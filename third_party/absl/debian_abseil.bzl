"""Debian's Abseil under upstream's target names.

The repository holds
  include/        the headers, all in one library for inclusion;
  debian/BUILD    one target for each of Debian's pkg-config files, with the
                  library behind it and what that needs;
  absl/*/BUILD    upstream's public targets, each with the headers that it owns
                  and the pkg-config targets behind it.
"""

load("@baton//third_party:debian_package.bzl", "copy_tree", "library_folder", "link_library", "require")

# Package -> target -> (headers, pkg-config files).
_TARGETS = {
    "algorithm": {
        "algorithm": (["algorithm.h"], ["algorithm"]),
        "container": (["container.h"], ["algorithm_container"]),
    },
    "base": {
        "base": (["call_once.h", "casts.h"], ["base"]),
        "config": (["config.h", "options.h", "policy_checks.h"], ["config"]),
        "core_headers": (
            [
                "attributes.h",
                "const_init.h",
                "macros.h",
                "optimization.h",
                "port.h",
                "thread_annotations.h",
            ],
            ["core_headers"],
        ),
        "dynamic_annotations": (["dynamic_annotations.h"], ["dynamic_annotations"]),
        "endian": (["internal/endian.h"], ["endian"]),
        "log_severity": (["log_severity.h"], ["log_severity"]),
        "raw_logging_internal": (["internal/raw_logging.h"], ["raw_logging_internal"]),
    },
    "cleanup": {
        "cleanup": (["cleanup.h"], ["cleanup"]),
    },
    "container": {
        "btree": (["btree_map.h", "btree_set.h"], ["btree"]),
        "fixed_array": (["fixed_array.h"], ["fixed_array"]),
        "flat_hash_map": (["flat_hash_map.h"], ["flat_hash_map"]),
        "flat_hash_set": (["flat_hash_set.h"], ["flat_hash_set"]),
        "inlined_vector": (["inlined_vector.h"], ["inlined_vector"]),
        "node_hash_map": (["node_hash_map.h"], ["node_hash_map"]),
        "node_hash_set": (["node_hash_set.h"], ["node_hash_set"]),
    },
    "debugging": {
        "failure_signal_handler": (["failure_signal_handler.h"], ["failure_signal_handler"]),
        "leak_check": (["leak_check.h"], ["leak_check"]),
        "stacktrace": (["stacktrace.h"], ["stacktrace"]),
        "symbolize": (["symbolize.h"], ["symbolize"]),
    },
    "flags": {
        "commandlineflag": (["commandlineflag.h"], ["flags_commandlineflag"]),
        "config": (["config.h", "usage_config.h"], ["flags_config"]),
        "flag": (["declare.h", "flag.h"], ["flags"]),
        "marshalling": (["marshalling.h"], ["flags_marshalling"]),
        "parse": (["parse.h"], ["flags_parse"]),
        "reflection": (["reflection.h"], ["flags_reflection"]),
        "usage": (["usage.h"], ["flags_usage"]),
    },
    "functional": {
        "any_invocable": (["any_invocable.h"], ["any_invocable"]),
        "bind_front": (["bind_front.h"], ["bind_front"]),
        "function_ref": (["function_ref.h"], ["function_ref"]),
    },
    "hash": {
        "hash": (["hash.h"], ["hash"]),
        "hash_testing": (["hash_testing.h"], ["hash", "strings", "variant"]),
    },
    "memory": {
        "memory": (["memory.h"], ["memory"]),
    },
    "meta": {
        "type_traits": (["type_traits.h"], ["type_traits"]),
    },
    "numeric": {
        "bits": (["bits.h"], ["bits"]),
        "int128": (["int128.h"], ["int128"]),
    },
    "random": {
        "bit_gen_ref": (["bit_gen_ref.h"], ["random_bit_gen_ref"]),
        "distributions": (
            [
                "bernoulli_distribution.h",
                "beta_distribution.h",
                "discrete_distribution.h",
                "distributions.h",
                "exponential_distribution.h",
                "gaussian_distribution.h",
                "log_uniform_int_distribution.h",
                "poisson_distribution.h",
                "uniform_int_distribution.h",
                "uniform_real_distribution.h",
                "zipf_distribution.h",
            ],
            ["random_distributions"],
        ),
        "random": (["random.h"], ["random_random"]),
        "seed_gen_exception": (["seed_gen_exception.h"], ["random_seed_gen_exception"]),
        "seed_sequences": (["seed_sequences.h"], ["random_seed_sequences"]),
    },
    "status": {
        "status": (["status.h", "status_payload_printer.h"], ["status"]),
        "statusor": (["statusor.h"], ["statusor"]),
    },
    "strings": {
        "cord": (["cord.h", "cord_buffer.h"], ["cord"]),
        "str_format": (["str_format.h"], ["str_format"]),
        "strings": (
            [
                "ascii.h",
                "charconv.h",
                "escaping.h",
                "match.h",
                "numbers.h",
                "str_cat.h",
                "str_join.h",
                "str_replace.h",
                "str_split.h",
                "string_view.h",
                "strip.h",
                "substitute.h",
            ],
            ["strings"],
        ),
    },
    "synchronization": {
        "synchronization": (
            [
                "barrier.h",
                "blocking_counter.h",
                "mutex.h",
                "notification.h",
            ],
            ["synchronization"],
        ),
    },
    "time": {
        "time": (["civil_time.h", "clock.h", "time.h"], ["time"]),
    },
    "types": {
        "any": (["any.h"], ["any"]),
        "bad_any_cast": (["bad_any_cast.h"], ["bad_any_cast"]),
        "bad_optional_access": (["bad_optional_access.h"], ["bad_optional_access"]),
        "bad_variant_access": (["bad_variant_access.h"], ["bad_variant_access"]),
        "compare": (["compare.h"], ["compare"]),
        "optional": (["optional.h"], ["optional"]),
        "span": (["span.h"], ["span"]),
        "variant": (["variant.h"], ["variant"]),
    },
    "utility": {
        "utility": (["utility.h"], ["utility"]),
    },
}

_PACKAGE = "libabsl-dev"
_HEADERS = "/usr/include/absl"

_HEADER_LIBRARY = """\
package(default_visibility = ["//visibility:public"])

licenses(["notice"])

exports_files(glob(["include/**"]))

cc_library(
    name = "headers",
    hdrs = glob(["include/**"]),
    includes = ["include"],
    visibility = ["//:__subpackages__"],
)
"""

def _requires(text):
    """The words of the field `Requires` of a .pc file."""
    for line in text.splitlines():
        if line.startswith("Requires:"):
            return line[len("Requires:"):].replace(",", " ").split(" ")
    return []

def _cc_library(name, **attributes):
    lines = ["", "cc_library(", "    name = %s," % repr(name)]
    lines += ["    %s = %s," % (key, repr(value)) for key, value in attributes.items() if value]
    return "\n".join(lines + [")", ""])

def _debian_abseil_impl(repository_ctx):
    require(repository_ctx, _HEADERS, _PACKAGE)
    copy_tree(repository_ctx, _HEADERS, "include/absl")
    repository_ctx.file("WORKSPACE", "workspace(name = \"%s\")\n" % repository_ctx.name, executable = False)
    repository_ctx.file("BUILD.bazel", _HEADER_LIBRARY, executable = False)

    pkg_config = library_folder(repository_ctx) + "/pkgconfig"
    require(repository_ctx, pkg_config + "/absl_base.pc", _PACKAGE)
    text = "package(default_visibility = [\"//:__subpackages__\"])\n"
    for path in repository_ctx.path(pkg_config).readdir():
        if not path.basename.startswith("absl_") or not path.basename.endswith(".pc"):
            continue
        module = path.basename[len("absl_"):-len(".pc")]
        text += _cc_library(
            module,
            srcs = link_library(repository_ctx, "absl_" + module, "debian"),
            # Of the system's own libraries, what Abseil's lowest one needs.
            linkopts = ["-pthread", "-lrt"] if module == "base" else [],
            deps = [
                ":" + word[len("absl_"):]
                for word in _requires(repository_ctx.read(path))
                if word.startswith("absl_")
            ],
        )
    repository_ctx.file("debian/BUILD.bazel", text, executable = False)

    for package, targets in _TARGETS.items():
        text = "package(default_visibility = [\"//visibility:public\"])\n"
        for name, (headers, pkg_config) in targets.items():
            text += _cc_library(
                name,
                hdrs = ["//:include/absl/%s/%s" % (package, header) for header in headers],
                deps = ["//:headers"] + ["//debian:" + pc for pc in pkg_config],
            )
        repository_ctx.file("absl/%s/BUILD.bazel" % package, text, executable = False)

debian_abseil = repository_rule(
    implementation = _debian_abseil_impl,
    local = True,
    doc = "Debian's Abseil under upstream's target names.",
)
