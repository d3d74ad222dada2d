#!/usr/bin/env python3
"""Checks that libraries use the hash tables of base/hash_table.h.

usage: hash_tables.py [ROOT]

Those of Abseil are corrupt after a failed allocation, and Baton turns failed
allocations into errors. A parameter that is a constant reference may be one of
Abseil's, which those of base/hash_table.h are derived from. Tests, benchmarks
and examples may use what they like. Exits with 1 if a library uses another
table, and says where.
"""

import pathlib
import re
import sys

from include_graph import RULE, package_of, parse_rule, read_sources, report

_TABLE = re.compile(r"(?<!const )absl::(?:flat|node)_hash_(?:map|set)\b")
_ITSELF = "base/hash_table.h"


def check(root, sources, rule):
    """Returns what is wrong, one line each."""
    problems = []
    for source in sources:
        package = package_of(source.path, rule)
        if source.is_test or source.path == _ITSELF or package not in rule or package.startswith("testing"):
            continue
        lines = (root / source.path).read_text(encoding="utf-8").splitlines()
        for number, line in enumerate(lines, 1):
            if _TABLE.search(line.partition("//")[0]):
                problems.append(f"{source.path}:{number}: use FlatHashMap or FlatHashSet of {_ITSELF}")
    return problems


def main(root):
    root = pathlib.Path(root)
    sources = read_sources(root)
    rule = parse_rule((root / RULE).read_text(encoding="utf-8"))
    return report(check(root, sources, rule), f"{len(sources)} files")


if __name__ == "__main__":
    sys.exit(main(*(sys.argv[1:] or ["."])))
