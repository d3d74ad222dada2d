"""Libraries of many alike: passes, operators, kernels, instruments, converters."""

load(":baton.bzl", "baton_rules_library")
load(":baton_cc.bzl", "baton_cc_library")

_PASS_DEPS = [
    "//ir",
    "//relay/ir",
    "//transform:pass",
    "//transform:pass_context",
    "//transform:pass_registry",
    "@com_google_absl//absl/status:statusor",
]

_TIR_PASS_DEPS = [
    "//ir",
    "//tir/ir",
    "//transform:pass",
    "//transform:pass_context",
    "//transform:pass_registry",
    "@com_google_absl//absl/status:statusor",
]

_OPERATOR_DEPS = [
    "//base:fields",
    "//base:status_macros",
    "//base:tensor",
    "//ir",
    "//relay/ir",
    "//relay/op:fusion_pattern",
    "//relay/op:type_relations",
    "@com_google_absl//absl/status:statusor",
]

_KERNEL_DEPS = [
    "//base:status_macros",
    "//base:tensor",
    "//ir",
    "//relay/ir",
    "//relay/kernels:kernel_adapters",
    "//relay/runtime:kernel",
    "//relay/runtime:value",
    "@com_google_absl//absl/status",
    "@com_google_absl//absl/status:statusor",
    "@com_google_absl//absl/strings",
    "@com_google_absl//absl/types:span",
]

_INSTRUMENT_DEPS = [
    "//base:flags",
    "//base:status_macros",
    "//instrument:instrument_registry",
    "//ir",
    "//transform:pass_instrument",
    "@com_google_absl//absl/status",
    "@com_google_absl//absl/status:statusor",
    "@com_google_absl//absl/strings",
]

_CONVERTER_DEPS = [
    "//base:dtype",
    "//base:status_macros",
    "//base:tensor",
    "//ir",
    "//onnx:converter",
    "//relay/ir",
    "//relay/ir:constant",
    "//relay/op/tensor:create",
    "//relay/op/tensor:elementwise",
    "//relay/op/tensor:indexing",
    "//relay/op/tensor:shape",
    "@com_google_absl//absl/status",
    "@com_google_absl//absl/status:statusor",
    "@com_google_absl//absl/strings",
]

_TENSOR_KERNEL_DEPS = [
    "//base:dtype",
    "//base:status_macros",
    "//base:tensor",
    "//runtime/kernels:util",
    "@com_google_absl//absl/status:statusor",
    "@com_google_absl//absl/strings",
]

def _place(dep):
    """The key of the order that Buildifier gives dependencies."""
    return ("0" if dep.startswith(":") else "1" if dep.startswith("//") else "2") + dep.replace(":", "!")

def _library(name, deps, source = None, has_header = True, alwayslink = True, **kwargs):
    source = source or name
    baton_cc_library(
        name = name,
        srcs = [source + ".cc"],
        hdrs = [source + ".h"] if has_header else [],
        deps = sorted(deps, key = _place),
        alwayslink = alwayslink,
        **kwargs
    )

def baton_pass(name, deps = [], rules = [], kernels = False, **kwargs):
    """The library of <name>.h and <name>.cc, which registers a pass over Relay.

    Args:
      name: the target's name.
      deps: dependencies beside the IR, passes and their registry.
      rules: files of rewrite rules that belong to the pass.
      kernels: True if the pass computes values. The kernels of all operators
        come with it; <name>_without_kernels is the pass alone, for programs that
        name the kernels that they need.
      **kwargs: of baton_cc_library.
    """
    if rules:
        baton_rules_library(
            name = name + "_rules",
            srcs = rules,
            visibility = ["//visibility:private"],
        )
        deps = deps + [":%s_rules" % name]
    if kernels:
        _library(
            name + "_without_kernels",
            _PASS_DEPS + deps,
            source = name,
            visibility = kwargs.get("visibility"),
        )
        baton_cc_library(
            name = name,
            hdrs = [name + ".h"],
            deps = [":%s_without_kernels" % name, "//relay/kernels"],
            **kwargs
        )
    else:
        _library(name, _PASS_DEPS + deps, **kwargs)

def baton_tir_pass(name, deps = [], **kwargs):
    """The library of <name>.h and <name>.cc, which registers a pass over loops.

    Args:
      name: the target's name.
      deps: dependencies beside the IR, passes and their registry.
      **kwargs: of baton_cc_library.
    """
    _library(name, _TIR_PASS_DEPS + deps, **kwargs)

def baton_operators(name, deps = [], **kwargs):
    """The library of <name>.h and <name>.cc, which registers a family of operators.

    Args:
      name: the target's name.
      deps: dependencies beside the IR, attributes and type relations.
      **kwargs: of baton_cc_library.
    """
    _library(name, _OPERATOR_DEPS + deps, **kwargs)

def baton_kernels(name, deps = [], **kwargs):
    """The library of <name>.cc, which registers the kernels of a family of operators.

    Args:
      name: the target's name.
      deps: the operators, the functions on tensors that compute them, and
        dependencies beside the IR and values.
      **kwargs: of baton_cc_library.
    """
    _library(name, _KERNEL_DEPS + deps, has_header = False, **kwargs)

def baton_instrument(name, deps = [], **kwargs):
    """The library of <name>.h and <name>.cc, which registers an instrument.

    Args:
      name: the target's name.
      deps: dependencies beside the IR, flags and the registry of instruments.
      **kwargs: of baton_cc_library.
    """
    _library(name, _INSTRUMENT_DEPS + deps, **kwargs)

def baton_converters(name, deps = [], **kwargs):
    """The library of <name>.cc, which registers converters of ONNX's operators.

    Args:
      name: the target's name.
      deps: dependencies beside the IR, constants and the operators that most
        converters make.
      **kwargs: of baton_cc_library.
    """
    _library(name, _CONVERTER_DEPS + deps, has_header = False, **kwargs)

def baton_tensor_kernels(name, deps = [], **kwargs):
    """The library of <name>.h and <name>.cc in runtime/kernels: functions on tensors.

    Args:
      name: the target's name.
      deps: dependencies beside tensors.
      **kwargs: of baton_cc_library.
    """
    _library(name, _TENSOR_KERNEL_DEPS + deps, alwayslink = False, **kwargs)
