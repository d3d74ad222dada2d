#!/usr/bin/env python3
"""Checks that no two headers have the same base name.

usage: header_names.py [ROOT]

Someone who looks for a header has its base name only. Levels of the IR may have
headers of equal names for the same thing; a header that forwards to another one
may have its name. Exits with 1 if two others have one name, and says which.
"""

import collections
import posixpath

from include_graph import report, run_alone

# Headers of public targets, or of things that each level of the IR has.
_SHARED = {
    "expr.h": "the expressions of a level",
    "function_pass.h": "passes over the functions of any level, and of Relay",
    "infer_type.h": "inference, and the pass that runs it",
    "module.h": "modules, and modules of Relay's functions",
    "node_kind.h": "the kinds of nodes of a level",
    "tensor.h": "tensors, and operators on tensors",
}


def check(sources):
    """Returns what is wrong, one line each."""
    named = collections.defaultdict(list)
    for source in sources:
        if source.path.endswith(".h"):
            named[posixpath.basename(source.path)].append(source)
    problems = []
    for name, headers in sorted(named.items()):
        if len(headers) == 1 or name in _SHARED:
            continue
        others = [header.path for header in headers if not header.text.startswith("// Forwards ")]
        if len(others) > 1:
            problems.append(f"{name} is the name of " + " and ".join(sorted(others)))
    return problems


def main(root, sources):
    return report(check(sources), f"{len(sources)} files")


if __name__ == "__main__":
    run_alone(main)
