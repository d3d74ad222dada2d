#!/usr/bin/env python3
"""Holds the includes between Baton's packages against docs/architecture.md.

usage: include_graph.py [--print] [ROOT]

ROOT is a checkout, or the runfiles of a test (default: the current folder).
The first table of docs/architecture.md is the rule: its rows are packages, from
top to bottom, and its last column says what the code of each may include. A
folder belongs to the row with the longest path that contains it. Folders of no
row (examples/, docs/ ...) may include everything and are included by nothing.
Tests may include what the code beside them may, and `testing`.

checks/known_include_violations.txt lists edges that break the rule and are to
go. An entry that is no longer needed is an error, so that the list shrinks.

--print writes the graph as a table in Markdown instead. Exits with 1 if the
rule is broken, and says where.
"""

import argparse
import collections
import dataclasses
import functools
import os
import pathlib
import re
import sys

RULE = "docs/architecture.md"
KNOWN = "checks/known_include_violations.txt"

# Packages that a test may include wherever it is.
_FOR_TESTS = ("testing", "testing/workloads")

_INCLUDE = re.compile(r'^\s*#\s*include\s+"baton/([^"]+)"', re.MULTILINE)
_ANY_INCLUDE = re.compile(r'^\s*#\s*include\s+[<"]([^>"]+)[>"]', re.MULTILINE)
_TEST_FILE = re.compile(r"_(test|test_util|benchmark)\.(h|cc)$|./testing/")
_GENERATED = ".pb.h"


@dataclasses.dataclass
class Source:
    """A C++ file: where it is in the repository, and its text."""

    path: str
    text: str

    @functools.cached_property
    def includes(self):
        """The files of Baton that it includes, as paths in the repository."""
        return _INCLUDE.findall(self.text)

    @property
    def first_include(self):
        """The first include of any kind, as written; "" if there is none."""
        first = _ANY_INCLUDE.search(self.text)
        return first.group(1) if first else ""

    @property
    def is_test(self):
        return _TEST_FILE.search(self.path) is not None


def read_sources(root):
    """All C++ files of the workspace at `root`, sorted by path; exits if there are none."""
    sources = []
    folders = [""]
    while folders:
        folder = folders.pop()
        for entry in os.scandir(os.path.join(root, folder)):
            if entry.name.startswith((".", "bazel-")):
                continue
            path = os.path.join(folder, entry.name)
            if entry.name.endswith((".h", ".cc", ".inc")):
                with open(entry.path, encoding="utf-8") as file:
                    sources.append(Source(path, file.read()))
            elif entry.is_dir():
                # A nested workspace is another repository.
                if not os.path.exists(os.path.join(entry.path, "WORKSPACE")):
                    folders.append(path)
    if not sources:
        sys.exit(f"{root}: no C++ files")
    return sorted(sources, key=lambda source: source.path)


def parse_rule(page):
    """Package -> what it may include, from the first table of a page."""
    rows = []
    for line in page.splitlines():
        if line.startswith("|"):
            rows.append([cell.strip() for cell in line.split("|")[1:-1]])
        elif rows:
            break
    rows = [row for row in rows[2:] if row[-1]]  # The others hold no sources.
    names = [row[0].strip("`/") for row in rows]
    rule = {}
    for index, (name, row) in enumerate(zip(names, rows)):
        below = names[index + 1 :]
        if row[-1] == "all below":
            rule[name] = set(below)
        else:
            rule[name] = {package.strip("/") for package in re.findall(r"`([^`]+)`", row[-1])}
        upward = sorted(rule[name] - set(below))
        if upward:
            raise ValueError(f"{RULE}: `{name}` may include what is not below it: {upward}")
    return rule


def read_rule(root):
    """The rule of the workspace at `root`."""
    return parse_rule(pathlib.Path(root, RULE).read_text(encoding="utf-8"))


def package_of(path, rule):
    """The row that a file belongs to; its top folder if there is none."""
    folder = path.rpartition("/")[0]
    while folder:
        if folder in rule:
            return folder
        folder = folder.rpartition("/")[0]
    return path.partition("/")[0]


def edges(sources, rule):
    """(package, is_test, included package) -> [(file, included file)]."""
    result = collections.defaultdict(list)
    for source in sources:
        package = package_of(source.path, rule)
        for include in source.includes:
            included = package_of(include, rule)
            if included != package:
                result[package, source.is_test, included].append((source.path, include))
    return result


def parse_known(text):
    """The edges of the list of violations: (package, is_test, included package)."""
    known = set()
    for line in text.splitlines():
        line = line.partition("#")[0].strip()
        if line:
            match = re.fullmatch(r"(\S+)( tests)? -> (\S+)", line)
            if not match:
                raise ValueError(f"{KNOWN}: cannot read: {line}")
            known.add((match[1], match[2] is not None, match[3]))
    return known


def edge_name(edge):
    package, is_test, included = edge
    return f"{package}{' tests' if is_test else ''} -> {included}"


def check(sources, rule, known):
    """Returns what is wrong, one line each."""
    problems = []
    paths = {source.path for source in sources}
    for package in rule:
        if not any(package_of(path, rule) == package for path in paths):
            problems.append(f"{RULE}: the package {package} has no sources")
    for source in sources:
        for include in source.includes:
            if include not in paths and not include.endswith(_GENERATED):
                problems.append(f"{source.path}: includes {include}, which is not among the sources")

    graph = edges(sources, rule)
    broken = set()
    for edge in sorted(graph):
        package, is_test, included = edge
        allowed = set(rule.get(package, rule))
        if is_test:
            allowed.update(_FOR_TESTS)
        if included not in allowed:
            broken.add(edge)
            if edge not in known:
                problems += [f"{edge_name(edge)}: {path} includes {include}" for path, include in graph[edge]]
    for edge in sorted(known - broken):
        problems.append(f"{KNOWN}: no longer needed: {edge_name(edge)}")
    return problems


def table(sources, rule):
    """The graph in Markdown."""
    uses = collections.defaultdict(lambda: (set(), set()))
    for package, is_test, included in edges(sources, rule):
        uses[package][is_test].add(included)
    order = list(rule)
    rank = lambda package: (order.index(package) if package in rule else -1, package)
    names = lambda packages: ", ".join(f"`{package}`" for package in sorted(packages, key=rank))
    lines = ["| package | includes | its tests also include |", "|---|---|---|"]
    for package in sorted(uses, key=rank):
        code, tests = uses[package]
        lines.append(f"| `{package}` | {names(code)} | {names(tests - code)} |")
    return "\n".join(lines)


def report(problems, summary):
    """Prints them; returns the exit status of a check that found them."""
    for problem in problems:
        print(problem)
    print(f"{summary}: {len(problems)} problems")
    return 1 if problems else 0


def main(root, sources):
    rule = read_rule(root)
    known = parse_known(pathlib.Path(root, KNOWN).read_text(encoding="utf-8"))
    problems = check(sources, rule, known)
    return report(problems, f"{len(sources)} files, {len(rule)} packages, {len(known)} known violations")


def run_alone(check_main):
    """Runs the main() of a check of all sources as a program, whose argument is ROOT."""
    root = sys.argv[1] if len(sys.argv) > 1 else "."
    sys.exit(check_main(root, read_sources(root)))


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--print", action="store_true", help="write the graph as a table")
    parser.add_argument("root", nargs="?", default=".")
    arguments = parser.parse_args()
    if arguments.print:
        print(table(read_sources(arguments.root), read_rule(arguments.root)))
    else:
        sys.exit(main(arguments.root, read_sources(arguments.root)))
