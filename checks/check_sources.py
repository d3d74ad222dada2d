#!/usr/bin/env python3
"""Runs all checks of the sources, one after the other.

usage: check_sources.py [ROOT]

ROOT is a checkout, or the runfiles of a test (default: the current folder). One
test of all of them reads the sources once. Exits with 1 if one fails; each says
what is wrong.
"""

import sys

import comment_words
import direct_includes
import hash_tables
import header_first
import header_names
import include_graph
import public_targets
import shipped_sources
from include_graph import read_sources


def main(root):
    sources = read_sources(root)
    failed = 0
    for check in (comment_words, direct_includes, hash_tables, header_first, header_names, include_graph):
        print(f"{check.__name__}: ", end="", flush=True)
        failed |= check.main(root, sources)
    for check in (public_targets, shipped_sources):
        print(f"{check.__name__}: ", end="", flush=True)
        failed |= check.main(root)
    return failed


if __name__ == "__main__":
    sys.exit(main(*(sys.argv[1:] or ["."])))
