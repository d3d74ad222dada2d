"""A header that g++ parses once for all sources of a build.

Half of the time of a source goes into the headers of Abseil, GoogleTest and the
standard library. `precompiled_header` compiles them; baton_cc.bzl gives the result
to all of Baton's sources (`-include`), in Baton's own builds. It changes nothing
but time: clang does without, so that a source that forgets an include does not
compile there; and g++ reads the header's text where its options differ from those
that the header was compiled with.
"""

load("@bazel_tools//tools/build_defs/cc:action_names.bzl", "CPP_COMPILE_ACTION_NAME")
load("@bazel_tools//tools/cpp:toolchain_utils.bzl", "find_cpp_toolchain")

def _compile(ctx, toolchain, header, compiled, context):
    """Compiles `header` with the options that sources of Baton have."""
    features = cc_common.configure_features(
        ctx = ctx,
        cc_toolchain = toolchain,
        requested_features = ctx.features,
        unsupported_features = ctx.disabled_features,
    )
    variables = cc_common.create_compile_variables(
        feature_configuration = features,
        cc_toolchain = toolchain,
        source_file = header.path,
        output_file = compiled.path,
        user_compile_flags = ctx.fragments.cpp.copts + ctx.fragments.cpp.cxxopts + ctx.attr.copts,
        include_directories = context.includes,
        quote_include_directories = context.quote_includes,
        system_include_directories = context.system_includes,
        preprocessor_defines = context.defines,
        use_pic = toolchain.needs_pic_for_dynamic_libraries(feature_configuration = features),
    )
    ctx.actions.run(
        executable = cc_common.get_tool_for_action(
            feature_configuration = features,
            action_name = CPP_COMPILE_ACTION_NAME,
        ),
        arguments = ["-x", "c++-header"] + cc_common.get_memory_inefficient_command_line(
            feature_configuration = features,
            action_name = CPP_COMPILE_ACTION_NAME,
            variables = variables,
        ),
        env = cc_common.get_environment_variables(
            feature_configuration = features,
            action_name = CPP_COMPILE_ACTION_NAME,
            variables = variables,
        ),
        inputs = depset([header], transitive = [context.headers, toolchain.all_files]),
        outputs = [compiled],
        mnemonic = "CppPrecompile",
        progress_message = "Precompiling %s" % ctx.label,
    )

def _precompiled_header_impl(ctx):
    toolchain = find_cpp_toolchain(ctx)
    header = ctx.actions.declare_file(ctx.label.name + ".h")
    ctx.actions.write(
        header,
        "".join(["#include <%s>\n" % name for name in ctx.attr.includes]),
    )
    context = cc_common.merge_cc_infos(
        cc_infos = [dep[CcInfo] for dep in ctx.attr.deps],
    ).compilation_context
    compiled = ctx.actions.declare_file(ctx.label.name + ".h.gch")
    _compile(ctx, toolchain, header, compiled, context)
    own = cc_common.create_compilation_context(
        headers = depset([header, compiled]),
        quote_includes = depset([header.dirname]),
    )
    return [cc_common.merge_cc_infos(
        direct_cc_infos = [CcInfo(compilation_context = own)],
        cc_infos = [CcInfo(compilation_context = context)],
    )]

precompiled_header = rule(
    implementation = _precompiled_header_impl,
    doc = "The header <name>.h, which includes others, parsed once.",
    attrs = {
        "copts": attr.string_list(
            doc = "Options that the sources have beside those of the command line.",
        ),
        "deps": attr.label_list(
            doc = "The libraries of the headers. They are not linked.",
            providers = [CcInfo],
        ),
        "includes": attr.string_list(
            doc = "The headers, in their order.",
            mandatory = True,
        ),
        "_cc_toolchain": attr.label(default = "@bazel_tools//tools/cpp:current_cc_toolchain"),
    },
    fragments = ["cpp"],
    toolchains = ["@bazel_tools//tools/cpp:toolchain_type"],
    incompatible_use_toolchain_transition = True,
)
