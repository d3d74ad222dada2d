"""Rules for repositories that use Baton: compilers, tests and build steps.

    load("@baton//build_defs:baton.bzl", "baton_ir_test_suite", "baton_opt_binary", "baton_optimize")

docs/rules.md is their reference.
"""

load("@baton_rules//:cc.bzl", "cc_binary", "cc_library", "cc_test")

def _embedded_text_impl(ctx):
    # As a raw string, in pieces that every compiler takes.
    out = ctx.outputs.out
    macro = ctx.attr.macro.replace("{src}", ctx.file.src.short_path)
    ctx.actions.run_shell(
        inputs = [ctx.file.src],
        outputs = [out],
        command = """
{ echo "#include \\"$3\\""
  echo "$4 \\"\\""
  split -b 8000 --filter='echo -n "R\\"BATON_TEXT("; cat; echo ")BATON_TEXT\\""' "$1"
  echo ');'
} > "$2"
""",
        arguments = [ctx.file.src.path, out.path, ctx.attr.header, macro],
    )

# A source that gives the text of a file to a macro, after its other arguments.
_embedded_text = rule(
    implementation = _embedded_text_impl,
    attrs = {
        "header": attr.string(mandatory = True),
        "macro": attr.string(mandatory = True),
        "out": attr.output(mandatory = True),
        "src": attr.label(allow_single_file = True, mandatory = True),
    },
)

def _embedded_library(name, srcs, header, macro, dep, **kwargs):
    sources = []
    for i, src in enumerate(srcs):
        source = "%s_%d.cc" % (name, i)
        _embedded_text(
            name = "%s_%d_cc" % (name, i),
            src = src,
            out = source,
            header = header,
            macro = macro,
        )
        sources.append(source)
    cc_library(
        name = name,
        srcs = sources,
        copts = ["-std=c++20"],
        deps = [dep],
        alwayslink = True,
        **kwargs
    )

def baton_rules_library(name, srcs, **kwargs):
    """Rewrite rules, to be linked into a program: their pass, or Rewrite, applies them.

    Args:
      name: the library's name.
      srcs: files of rules; docs/rewrite.md says what is in them.
      **kwargs: of cc_library.
    """
    _embedded_library(
        name = name,
        srcs = srcs,
        header = "baton/relay/pattern/rule_registry.h",
        macro = "BATON_REGISTER_RULES_TEXT(\"{src}\",",
        dep = Label("//relay/pattern:rule_registry"),
        **kwargs
    )

def baton_patterns_library(name, compiler, src, **kwargs):
    """What an external compiler takes, to be linked into a program.

    Args:
      name: the library's name.
      compiler: the compiler's name.
      src: a file of patterns; docs/bring_your_own_accelerator.md says what is in
        it.
      **kwargs: of cc_library.
    """
    _embedded_library(
        name = name,
        srcs = [src],
        header = "baton/relay/pattern/pattern_table.h",
        macro = "BATON_REGISTER_PATTERN_TABLE_TEXT(\"%s\", \"{src}\"," % compiler,
        dep = Label("//relay/pattern:pattern_table"),
        **kwargs
    )

def baton_opt_binary(name, passes = [], ops = [], workloads = [], instruments = [], rules = [], standard = True, deps = [], **kwargs):
    """A compiler with passes and operators of your own: `baton-opt` and more.

    It has all the flags of `baton-opt`, and those of the instruments.

    Args:
      name: the program's name, which RUN lines call it by.
      passes: cc_library targets that register passes.
      ops: cc_library targets that register operators.
      workloads: cc_library targets that register workloads.
      instruments: cc_library targets that register instruments.
      rules: files of rewrite rules, which the pass Rewrite applies.
      standard: whether all of Baton's passes, operators and workloads are in it,
        too. Without them it has those that are named here, and what they need.
      deps: further cc_library targets.
      **kwargs: of cc_binary.
    """
    parts = passes + ops + workloads + instruments + deps + [Label("//tools:main")]
    if rules:
        baton_rules_library(
            name = name + "_rules",
            srcs = rules,
        )
        parts.append(":%s_rules" % name)
    if standard:
        parts += [
            Label("//lower"),
            Label("//relay/kernels"),
            Label("//relay/op:all_ops"),
            Label("//relay/transform:all_passes"),
            Label("//testing/workloads:networks"),
            Label("//tir"),
            Label("//tir/script"),
            Label("//tir/transform:all_passes"),
            Label("//tools:executable_output"),
            Label("//tools:llvm_output"),
            Label("//tools:onnx_input"),
        ]
    cc_binary(
        name = name,
        # A library may be in several of the lists.
        deps = {str(part): None for part in parts}.keys(),
        **kwargs
    )

def baton_run_binary(name, deps = [], **kwargs):
    """`baton-run` with operators and code generators of your own.

    Args:
      name: the program's name.
      deps: cc_library targets with them.
      **kwargs: of cc_binary.
    """
    cc_binary(
        name = name,
        deps = deps + [
            Label("//relay/kernels"),
            Label("//relay/op:all_ops"),
            Label("//relay/transform:all_passes"),
            Label("//tools:onnx_input"),
            Label("//tools:run_model_main"),
        ],
        **kwargs
    )

def _ir_test_impl(ctx):
    programs = [ctx.attr.tool, ctx.attr._check] + ctx.attr.tools
    executables = [program[DefaultInfo].files_to_run.executable for program in programs]
    names = {}
    for executable in executables:
        if executable.basename in names:
            fail("%s and %s have the same name" % (names[executable.basename], executable.short_path))
        names[executable.basename] = executable.short_path
    launcher = ctx.actions.declare_file(ctx.label.name + ".sh")
    ctx.actions.write(
        launcher,
        "#!/bin/bash\nexec '%s' %s --programs='%s' \"$@\"\n" % (
            ctx.executable._runner.short_path,
            " ".join(["'%s'" % file.short_path for file in ctx.files.srcs]),
            ",".join([executable.short_path for executable in executables]),
        ),
        is_executable = True,
    )
    runfiles = ctx.runfiles(files = ctx.files.srcs + ctx.files.data)
    for target in programs + [ctx.attr._runner] + ctx.attr.data:
        runfiles = runfiles.merge(target[DefaultInfo].default_runfiles)
    return [DefaultInfo(executable = launcher, runfiles = runfiles)]

_ir_test = rule(
    implementation = _ir_test_impl,
    attrs = {
        "data": attr.label_list(allow_files = True),
        "srcs": attr.label_list(allow_files = True, mandatory = True),
        "tool": attr.label(
            cfg = "target",
            default = Label("//tools:baton-opt"),
            executable = True,
        ),
        "tools": attr.label_list(cfg = "target"),
        "_check": attr.label(
            cfg = "target",
            default = Label("//tools:baton-check"),
            executable = True,
        ),
        "_runner": attr.label(
            cfg = "target",
            default = Label("//tools:baton-ir-test"),
            executable = True,
        ),
    },
    test = True,
)

def baton_ir_test(name, src, **kwargs):
    """A test that is a file with RUN and CHECK lines.

    docs/ir_tests.md says what these lines can be.

    Args:
      name: the test's name.
      src: the file.
      **kwargs: `tool`, the compiler, which RUN lines call by its name
        (`//tools:baton-opt` if not given); `tools`, further programs to be
        called by name; `data`, files that the lines read, beside `%S`; and what
        every test rule has; `size` is "small" if not given.
    """
    kwargs.setdefault("size", "small")
    _ir_test(name = name, srcs = [src], **kwargs)

def _rules_test_impl(ctx):
    launcher = ctx.actions.declare_file(ctx.label.name + ".sh")
    ctx.actions.write(
        launcher,
        "#!/bin/bash\nexec '%s' --rules='%s' --check_rules \"$@\"\n" % (
            ctx.executable.tool.short_path,
            ",".join([file.short_path for file in ctx.files.srcs]),
        ),
        is_executable = True,
    )
    runfiles = ctx.runfiles(files = ctx.files.srcs)
    runfiles = runfiles.merge(ctx.attr.tool[DefaultInfo].default_runfiles)
    return [DefaultInfo(executable = launcher, runfiles = runfiles)]

_rules_test = rule(
    implementation = _rules_test_impl,
    attrs = {
        "srcs": attr.label_list(allow_files = True),
        "tool": attr.label(
            cfg = "target",
            default = Label("//tools:baton-opt"),
            executable = True,
        ),
    },
    test = True,
)

def baton_rules_test(name, srcs, **kwargs):
    """A test of the laws of rewrite rules, those that are linked into the tool too.

    docs/rewrite.md says what the laws are.

    Args:
      name: the test's name.
      srcs: files of rules.
      **kwargs: `tool`, a compiler with the operators that the rules name
        (`//tools:baton-opt` if not given); and what every test rule has; `size`
        is "small" if not given.
    """
    kwargs.setdefault("size", "small")
    _rules_test(name = name, srcs = srcs, **kwargs)

# Files that a shard of a baton_ir_test_suite runs, about. To start a test takes
# as long as to run a file of a few programs.
_FILES_PER_SHARD = 48

def baton_ir_test_suite(name, srcs, tags = [], visibility = None, **kwargs):
    """A test of several files with RUN and CHECK lines, and one of each.

    The test of all runs them in shards, and its test.xml has a case for each
    file. The test of `folder/file.relay` alone is `<name>_folder_file`; it is
    `manual`, so that `bazel test //...` runs each file once.

    Args:
      name: of the test of all files.
      srcs: the files, as by `glob(["testdata/*.relay"])`.
      tags: of all.
      visibility: of all.
      **kwargs: of baton_ir_test.
    """
    if not srcs:
        fail("//%s:%s has no files" % (native.package_name(), name))
    kwargs.setdefault("size", "small")
    shards = (len(srcs) + _FILES_PER_SHARD - 1) // _FILES_PER_SHARD
    _ir_test(
        name = name,
        srcs = srcs,
        shard_count = shards if shards > 1 else None,
        tags = tags,
        visibility = visibility,
        **kwargs
    )
    for src in srcs:
        file = src.split(":")[-1]
        stem = file[:file.rfind(".")] if "." in file.split("/")[-1] else file
        baton_ir_test(
            name = "%s_%s" % (name, stem.replace("/", "_")),
            src = src,
            tags = tags + ["manual"],
            visibility = visibility,
            **kwargs
        )

def _optimize_impl(ctx):
    attr = ctx.attr
    if bool(ctx.file.src) == bool(attr.workload):
        fail("one of `src` and `workload` must be given")
    if attr.bind_params and not attr.workload:
        fail("`bind_params`: only a workload has weights to bind")

    args = ctx.actions.args()
    inputs = ctx.files.data
    if ctx.file.src:
        inputs = [ctx.file.src] + inputs
        args.add(ctx.file.src)
    else:
        args.add(attr.workload, format = "--workload=%s")
    args.add("--passes=" + attr.passes)
    args.add("--opt_level=%d" % attr.opt_level)
    if attr.bind_params:
        args.add("--bind_params")
    if attr.disabled_pass:
        args.add_joined(attr.disabled_pass, join_with = ",", format_joined = "--disabled_pass=%s")
    if attr.required_pass:
        args.add_joined(attr.required_pass, join_with = ",", format_joined = "--required_pass=%s")
    if attr.config:
        args.add("--config=" + ",".join(["%s=%s" % item for item in sorted(attr.config.items())]))
    if attr.input_shapes:
        args.add(attr.input_shapes, format = "--input_shapes=%s")
    if attr.input_values:
        args.add(attr.input_values, format = "--input_values=%s")
    if attr.verify_each:
        args.add("--verify_each")
    if attr.threads != 1:
        args.add("--threads=%d" % attr.threads)

    out = ctx.outputs.out
    emit = {"baton": "binary", "onnx": "onnx"}.get(out.extension, "text")
    output_args = ["--emit=" + emit, "--output=" + out.path]
    modules = [out]
    if attr.onnx_opset:
        output_args.append("--onnx_opset=%d" % attr.onnx_opset)
    if ctx.outputs.onnx_external_data:
        if ctx.outputs.onnx_external_data.path != out.path + ".data":
            fail("`onnx_external_data` must be `out` and `.data`")
        output_args.append("--onnx_external_data")
        modules.append(ctx.outputs.onnx_external_data)
    if ctx.outputs.artifacts:
        output_args.append("--artifacts=" + ctx.outputs.artifacts[0].dirname)
    ctx.actions.run(
        executable = ctx.executable.tool,
        arguments = [args] + output_args,
        inputs = inputs,
        outputs = modules + ctx.outputs.artifacts,
        mnemonic = "BatonOptimize",
        progress_message = "Optimizing %s" % ctx.label,
    )
    groups = {}
    if ctx.outputs.report:
        # A step of its own: times differ from run to run, the module does not.
        ctx.actions.run(
            executable = ctx.executable.tool,
            arguments = [args, "--emit=none", "--report=" + ctx.outputs.report.path],
            inputs = inputs,
            outputs = [ctx.outputs.report],
            mnemonic = "BatonReport",
            progress_message = "Measuring the passes of %s" % ctx.label,
        )
        groups["report"] = depset([ctx.outputs.report])
    return [
        DefaultInfo(files = depset([out]), runfiles = ctx.runfiles(files = modules)),
        OutputGroupInfo(**groups),
    ]

_optimize = rule(
    implementation = _optimize_impl,
    attrs = {
        "artifacts": attr.output_list(),
        "bind_params": attr.bool(),
        "config": attr.string_dict(),
        "data": attr.label_list(allow_files = True),
        "disabled_pass": attr.string_list(),
        "input_shapes": attr.string(),
        "input_values": attr.string(),
        "onnx_external_data": attr.output(),
        "onnx_opset": attr.int(),
        "opt_level": attr.int(default = -1),
        "out": attr.output(mandatory = True),
        "passes": attr.string(),
        "report": attr.output(),
        "required_pass": attr.string_list(),
        "src": attr.label(allow_single_file = True),
        "threads": attr.int(default = 1),
        # Bazel 4 can be told to build a tool once for the build and for itself
        # (--nodistinct_host_configuration) if it is of this kind, not of "exec".
        "tool": attr.label(
            cfg = "host",
            default = Label("//tools:baton-opt"),
            executable = True,
        ),
        "verify_each": attr.bool(),
        "workload": attr.string(),
    },
)

def baton_optimize(name, passes, src = None, out = None, artifacts = [], report = None, **kwargs):
    """Runs passes over a module as a step of the build.

    The step reads nothing but its inputs, and gives the same bytes each time, on
    any number of threads: Bazel caches it, and runs it elsewhere, as it is told.

    Args:
      name: the target's name; it stands for the optimized module.
      passes: the pipeline, as for `baton-opt --passes`.
      src: a file with the module: text, Baton's binary format, or ONNX. In its
        place, `workload` names a built-in one.
      out: the optimized module; `<name>.relay` if not given. The binary format
        if it ends in `.baton`, ONNX if it ends in `.onnx`, else text.
      artifacts: names of files that code generators make, for other targets:
        `["acme_0.c"]`.
      report: if given, a JSON file with the time that each pass took and how it
        changed the calls of each operator. Built only if it is asked for, by its
        name or by `--output_groups=report`: a run of its own, since times differ
        from run to run.
      **kwargs: `tool`, the compiler (`//tools:baton-opt` if not given); as the
        flags of `baton-opt`: `workload`, `bind_params`, `opt_level`,
        `disabled_pass` and `required_pass` (lists), `config` (a dict),
        `input_shapes`, `input_values`, `onnx_opset`, `verify_each`, `threads`;
        `data`, the files of an ONNX model's external data, beside it;
        `onnx_external_data`, the name `<out>.data` if large tensors are to go
        there; and what every rule has.
    """
    _optimize(
        name = name,
        src = src,
        out = out or name + ".relay",
        artifacts = artifacts,
        passes = passes,
        report = report,
        **kwargs
    )

# The flags of baton-compile that have a list or a dictionary as their value.
def _compile_flags(dims, state, isas):
    flags = []
    if dims:
        flags.append("--dims=" + ",".join(["%s=%s" % (key, dims[key]) for key in sorted(dims)]))
    if state:
        flags.append("--state=" + ",".join(["%s:%s" % (key, state[key]) for key in sorted(state)]))
    flags.append("--isas=" + ",".join(isas))
    return flags

def _model_files_impl(ctx):
    # The names of these files are hashes of the functions in them: a file that
    # is there before and after a change of the model is not compiled again.
    functions = ctx.actions.declare_directory(ctx.attr.model + "_functions")
    ctx.actions.run_shell(
        command = "\"$@\" >/dev/null",
        arguments = [
            ctx.executable.tool.path,
            ctx.file.src.path,
            "--output_dir=" + ctx.outputs.outs[0].dirname,
            "--shared_dir=" + functions.path,
        ] + ctx.attr.flags,
        inputs = [ctx.file.src] + ctx.files.data,
        outputs = ctx.outputs.outs + [functions],
        tools = [ctx.executable.tool],
        mnemonic = "BatonCompile",
        progress_message = "Compiling the model %s" % ctx.file.src.short_path,
    )
    return [DefaultInfo(files = depset([functions]))]

_model_files = rule(
    implementation = _model_files_impl,
    attrs = {
        "data": attr.label_list(allow_files = True),
        "flags": attr.string_list(),
        "model": attr.string(mandatory = True),
        "outs": attr.output_list(mandatory = True),
        "src": attr.label(allow_single_file = True, mandatory = True),
        # Not for the host: Bazel would build all of Baton once more for itself.
        "tool": attr.label(
            cfg = "target",
            default = Label("//tools:baton-compile"),
            executable = True,
        ),
    },
)

def _model_report_impl(ctx):
    archives = []
    for linker_input in ctx.attr.code[CcInfo].linking_context.linker_inputs.to_list():
        for library in linker_input.libraries:
            archive = library.pic_static_library or library.static_library
            if archive:
                archives.append(archive)
    text = ctx.actions.declare_file("%s/%s.report.txt" % (ctx.label.name, ctx.attr.model))
    report = ctx.actions.declare_file("%s/%s.report.json" % (ctx.label.name, ctx.attr.model))
    ctx.actions.run_shell(
        command = """
out="$1" folder="$(mktemp -d)"
shift
"$@" --output_dir="${folder}" --report >"${out}.txt" && cp "${folder}/${out##*/}.json" "${out}.json"
status=$?
rm -rf "${folder}"
exit ${status}
""",
        arguments = [
            text.path[:-len(".txt")],
            ctx.executable.tool.path,
            ctx.file.src.path,
            "--objects=" + ",".join([archive.path for archive in archives]),
        ] + ctx.attr.flags,
        inputs = [ctx.file.src] + ctx.files.data + archives,
        outputs = [text, report],
        tools = [ctx.executable.tool],
        mnemonic = "BatonCompileReport",
        progress_message = "Measuring the code of the model %s" % ctx.file.src.short_path,
    )
    return [DefaultInfo(
        files = depset([text, report]),
        runfiles = ctx.runfiles(files = [text, report]),
    )]

_model_report = rule(
    implementation = _model_report_impl,
    attrs = {
        "code": attr.label(mandatory = True, providers = [CcInfo]),
        "data": attr.label_list(allow_files = True),
        "flags": attr.string_list(),
        "model": attr.string(mandatory = True),
        "src": attr.label(allow_single_file = True, mandatory = True),
        "tool": attr.label(
            cfg = "target",
            default = Label("//tools:baton-compile"),
            executable = True,
        ),
    },
)

def baton_model_library(name, src, passes = None, cpp_class = None, dims = {}, state = {}, isas = ["avx512", "avx2", "sse2"], threads = False, max_threads = None, profile = False, line_table = False, input_shapes = None, input_values = None, max_error = None, model_data = [], visibility = None, **kwargs):
    """A model as a C++ library, which needs nothing but libc and libm.

    The header is "<package>/<name>.h"; docs/ship_a_model.md shows its use. Beside
    the library there are `<name>_test`, which compares it with the evaluator on
    random inputs, byte for byte; `<name>_benchmark`, which measures runs; and the
    file `<name>.report.json`: the steps, the places of values and weights. The
    files of `<name>_report` have the bytes of the compiled code by node, too.
    Libraries in one program share equal functions and weights.

    Args:
      name: the target's name, an identifier.
      src: a file with the model: ONNX, text, or Baton's binary format.
      passes: passes that run before the pipeline `cpu`, as for
        `baton-opt --passes`; those of `baton-compile` if not given.
      cpp_class: the class, with its namespaces: `acme::Mlp`; `name` if not given.
      dims: numbers for dimensions that the model leaves open, by their names; or
        bounds, such as "1..8", within which each run chooses.
      state: inputs that are outputs of the run before, by the outputs' names.
      isas: sets of instructions, of which the library chooses by the processor;
        `sse2` has the fused multiplication and addition of libm, which is slow.
      threads: whether there is a Run that takes the caller's threads, too.
      max_threads: with `threads`, the most threads of a run, 8 if not given.
      profile: whether there is a Run that measures steps, too.
      line_table: whether debuggers, profilers and sanitizers name lines of the
        file `<name>.model.txt`, which has the steps and the model's nodes. What
        is compiled with `-g` has such lines.
      input_shapes: shapes of inputs, as for `baton-compile --input_shapes`.
      input_values: inputs of an ONNX model that become constants: `sr:16000`.
      max_error: how far outputs may be from those of the model without passes,
        over the largest element of the output: "1e-5". `<name>_test` fails where
        they are farther; the header has it as kMaxError. If it is not given,
        kMaxError is what random inputs show.
      model_data: the files of an ONNX model's external data, beside it.
      visibility: of all targets.
      **kwargs: of cc_library.
    """
    files = [name + ".h"] + ["%s_%s.cc" % (name, isa) for isa in isas]
    outs = files + [
        name + "_weights.o",
        name + ".report.json",
        name + "_test.cc",
        name + "_test_data.o",
        name + "_benchmark.cc",
    ]
    flags = _compile_flags(dims, state, isas)
    if passes != None:
        flags.append("--passes=" + passes)
    if threads:
        flags.append("--threads")
    if max_threads != None:
        flags.append("--max_threads=%d" % max_threads)
    if profile:
        flags.append("--profile")
    if input_shapes:
        flags.append("--input_shapes=" + input_shapes)
    if input_values:
        flags.append("--input_values=" + input_values)
    if max_error:
        flags.append("--max_error=" + max_error)
    if line_table:
        flags.append("--line_table")
        outs.append(name + ".model.txt")
    flags += ["--name=" + name, "--cpp_class=" + (cpp_class or name), "--test", "--benchmark"]
    if isas == ["neon"]:
        flags.append("--target=aarch64")

    _model_files(
        name = name + "_files",
        data = model_data,
        flags = flags,
        model = name,
        outs = outs,
        src = src,
        visibility = visibility,
    )
    copts = ["-std=c++17", "-O3", "-ffp-contract=off", "-fno-exceptions", "-fno-rtti"]

    # Without the header, which other weights change.
    cc_library(
        name = name + "_code",
        srcs = files[1:] + [name + "_files"],
        copts = copts,
        linkopts = ["-lm"],
        visibility = visibility,
        **{key: kwargs[key] for key in ["features", "tags", "target_compatible_with", "testonly"] if key in kwargs}
    )
    _model_report(
        name = name + "_report",
        code = ":" + name + "_code",
        data = model_data,
        flags = flags,
        model = name,
        src = src,
        tags = ["manual"],
        visibility = visibility,
    )
    cc_library(
        name = name,
        srcs = [name + "_weights.o"],
        hdrs = [name + ".h"],
        visibility = visibility,
        deps = kwargs.pop("deps", []) + [":" + name + "_code"],
        **kwargs
    )
    cc_test(
        name = name + "_test",
        size = "small",
        srcs = [name + "_test.cc", name + "_test_data.o"],
        copts = ["-std=c++17"],
        deps = [":" + name],
        visibility = visibility,
    )
    cc_binary(
        name = name + "_benchmark",
        srcs = [name + "_benchmark.cc"],
        copts = ["-std=c++17"],
        tags = ["manual"],
        deps = [":" + name],
        visibility = visibility,
    )
