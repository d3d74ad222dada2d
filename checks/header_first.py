#!/usr/bin/env python3
"""Checks that a source includes its own header before anything else.

usage: header_first.py [ROOT]

So each header with a source of the same name compiles on its own, for the
source does. baton_cc_library compiles a source for each header without one.
Exits with 1 if a source includes something before its header, and says which.
"""

from include_graph import report, run_alone


def check(sources):
    """Returns what is wrong, one line each."""
    paths = {source.path for source in sources}
    problems = []
    for source in sources:
        header = source.path[: -len(".cc")] + ".h"
        if source.path.endswith(".cc") and header in paths:
            if source.first_include != f"baton/{header}":
                problems.append(f'{source.path}: the first include must be "baton/{header}"')
    return problems


def main(root, sources):
    return report(check(sources), f"{len(sources)} files")


if __name__ == "__main__":
    run_alone(main)
