"""A family of models: one action for each member."""

load("@baton//build_defs:baton.bzl", "baton_optimize")

# [family]
def classifier_family(name, batch_sizes, tool):
    """Optimizes the built-in classifier for several sizes of a batch.

    Makes `<name>_<batch size>` for each, and `name`, a filegroup of all results.
    Members do not depend on each other: Bazel runs them in parallel, on as many
    machines as it has, and runs one again only if its own inputs change.

    Args:
      name: the name of the family.
      batch_sizes: a model is made for each.
      tool: the compiler.
    """
    for batch_size in batch_sizes:
        baton_optimize(
            name = "%s_%d" % (name, batch_size),
            out = "%s_%d.relay" % (name, batch_size),
            passes = "O3",
            tool = tool,
            workload = "mlp{batch_size=%d}" % batch_size,
        )
    native.filegroup(
        name = name,
        srcs = [":%s_%d" % (name, batch_size) for batch_size in batch_sizes],
    )
# [/family]
