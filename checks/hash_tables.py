#!/usr/bin/env python3
"""Checks that libraries use the hash tables of base/hash_table.h.

usage: hash_tables.py [ROOT]

Those of Abseil are corrupt after a failed allocation, and Baton turns failed
allocations into errors. A parameter that is a constant reference may be one of
Abseil's, which those of base/hash_table.h are derived from. Tests, benchmarks
and examples may use what they like. Exits with 1 if a library uses another
table, and says where.
"""

import re

from include_graph import package_of, read_rule, report, run_alone

_TABLE = re.compile(r"(?<!const )absl::(?:flat|node)_hash_(?:map|set)\b")
_ITSELF = "base/hash_table.h"


def check(sources, rule):
    """Returns what is wrong, one line each."""
    problems = []
    for source in sources:
        package = package_of(source.path, rule)
        if source.is_test or source.path == _ITSELF or package not in rule or package.startswith("testing"):
            continue
        if not _TABLE.search(source.text):
            continue
        for number, line in enumerate(source.text.splitlines(), 1):
            if _TABLE.search(line.partition("//")[0]):
                problems.append(f"{source.path}:{number}: use FlatHashMap or FlatHashSet of {_ITSELF}")
    return problems


def main(root, sources):
    return report(check(sources, read_rule(root)), f"{len(sources)} files")


if __name__ == "__main__":
    run_alone(main)
