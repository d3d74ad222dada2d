#!/usr/bin/env python3
"""Checks what the sources that become part of shipped libraries include.

usage: shipped_sources.py [ROOT]

ROOT is a checkout, or the runfiles of a test (default: the current folder).
`kernel_texts_cc` of runtime/kernels/blocked/BUILD makes a text of its sources,
without their includes: compiled models include <cstddef> and <cstdint>. So the
sources may include these two and one another, and nothing else.
Exits with 1 if one includes more, and says what.
"""

import ast
import pathlib
import re
import sys

from include_graph import report

PACKAGE = "runtime/kernels/blocked"
TARGET = "kernel_texts_cc"

_INCLUDE = re.compile(r'^\s*#\s*include\s+[<"]([^>"]+)[>"]', re.MULTILINE)
_HEADERS = ("cstddef", "cstdint")
# A text that libraries have in the place of a header.
_REPLACED = {"internal/int8_targets.h": "internal/library_isa.inc"}


def shipped_sources(build):
    """The sources of the target, from the text of the BUILD file."""
    for statement in ast.parse(build).body:
        call = getattr(statement, "value", None)
        arguments = {a.arg: a.value for a in getattr(call, "keywords", [])}
        name = arguments.get("name")
        if isinstance(name, ast.Constant) and name.value == TARGET:
            return ast.literal_eval(arguments["srcs"])
    return []


def check(texts):
    """Returns what is wrong; `texts` are the sources by path in the package."""
    problems = []
    for path, text in texts.items():
        for include in _INCLUDE.findall(text):
            own = include.removeprefix(f"baton/{PACKAGE}/")
            own = _REPLACED.get(own, own)
            if include not in _HEADERS and (own == include or own not in texts):
                problems.append(f"{PACKAGE}/{path}: compiled models have no {include}")
    return problems


def main(root):
    package = pathlib.Path(root, PACKAGE)
    paths = shipped_sources((package / "BUILD").read_text(encoding="utf-8"))
    texts = {path: (package / path).read_text(encoding="utf-8") for path in paths}
    problems = check(texts) if texts else [f"{PACKAGE}/BUILD: there is no {TARGET}"]
    return report(problems, f"{len(texts)} files")


if __name__ == "__main__":
    sys.exit(main(*(sys.argv[1:] or ["."])))
