"""Abseil's public targets, and Debian's pkg-config module behind each."""

# Package -> target -> module (absl_<module>.pc). The names are upstream's.
ABSL_TARGETS = {
    "algorithm": {
        "algorithm": "algorithm",
        "container": "algorithm_container",
    },
    "base": {
        "base": "base",
        "config": "config",
        "core_headers": "core_headers",
        "dynamic_annotations": "dynamic_annotations",
        "endian": "endian",
        "log_severity": "log_severity",
        "prefetch": "prefetch",
        "raw_logging_internal": "raw_logging_internal",
    },
    "cleanup": {
        "cleanup": "cleanup",
    },
    "container": {
        "btree": "btree",
        "fixed_array": "fixed_array",
        "flat_hash_map": "flat_hash_map",
        "flat_hash_set": "flat_hash_set",
        "inlined_vector": "inlined_vector",
        "node_hash_map": "node_hash_map",
        "node_hash_set": "node_hash_set",
    },
    "debugging": {
        "failure_signal_handler": "failure_signal_handler",
        "leak_check": "leak_check",
        "stacktrace": "stacktrace",
        "symbolize": "symbolize",
    },
    "flags": {
        "commandlineflag": "flags_commandlineflag",
        "config": "flags_config",
        "flag": "flags",
        "marshalling": "flags_marshalling",
        "parse": "flags_parse",
        "reflection": "flags_reflection",
        "usage": "flags_usage",
    },
    "functional": {
        "any_invocable": "any_invocable",
        "bind_front": "bind_front",
        "function_ref": "function_ref",
    },
    "hash": {
        "hash": "hash",
    },
    "memory": {
        "memory": "memory",
    },
    "meta": {
        "type_traits": "type_traits",
    },
    "numeric": {
        "bits": "bits",
        "int128": "int128",
    },
    "random": {
        "bit_gen_ref": "random_bit_gen_ref",
        "distributions": "random_distributions",
        "random": "random_random",
        "seed_gen_exception": "random_seed_gen_exception",
        "seed_sequences": "random_seed_sequences",
    },
    "status": {
        "status": "status",
        "statusor": "statusor",
    },
    "strings": {
        "cord": "cord",
        "str_format": "str_format",
        "strings": "strings",
    },
    "synchronization": {
        "synchronization": "synchronization",
    },
    "time": {
        "time": "time",
    },
    "types": {
        "any": "any",
        "compare": "compare",
        "optional": "optional",
        "span": "span",
        "variant": "variant",
    },
    "utility": {
        "utility": "utility",
    },
}
