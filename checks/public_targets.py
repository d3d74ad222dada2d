#!/usr/bin/env python3
"""Holds the targets that BUILD files make public against docs/compatibility.md.

usage: public_targets.py [ROOT]

ROOT is a checkout, or the runfiles of a test (default: the current folder).
The page lists, between `<!-- public targets -->` and the next empty comment,
each label that is visible to other repositories, and no other. All that the
examples and the macros of build_defs/baton.bzl depend on must be among them;
and each must be one of these, or have its label, its header or, if it is a
program, its name in a page besides the list.
Packages of third_party are not looked at. Exits with 1 and says what differs.
"""

import ast
import os
import pathlib
import re
import sys

from include_graph import report

PAGE = "docs/compatibility.md"

_PUBLIC = ["//visibility:public"]
_LABEL = re.compile(r'"(?:@baton)?(//[\w/-]+(?::(?!__)[\w./-]+)?)"')
# Their files are for all: licenses, and macros, which visibility says nothing of.
_FILES_FOR_ALL = ("BUILD", "build_defs/BUILD")


def _normal(label):
    """`//ir:ir` is written `//ir`."""
    package, _, name = label.partition(":")
    return package if name == package.split("/")[-1] else label


def public_targets(path, text):
    """The labels that a BUILD file makes public, and problems of the file."""
    package = os.path.dirname(path)
    default, labels, problems = None, [], []
    constants = {}
    for statement in ast.parse(text).body:
        if isinstance(statement, ast.Assign) and isinstance(statement.value, ast.Dict):
            constants[statement.targets[0].id] = ast.literal_eval(statement.value)
        if not isinstance(statement, ast.Expr):
            continue
        call = statement.value
        names = None
        if isinstance(call, ast.ListComp):  # A target for each key of a constant.
            items = call.generators[0].iter
            if isinstance(items, ast.Call) and isinstance(items.func, ast.Attribute):
                names = list(constants[items.func.value.id])
            call = call.elt
        if not isinstance(call, ast.Call):
            continue
        arguments = {argument.arg: argument.value for argument in call.keywords}
        visibility = arguments.get("visibility")
        if visibility is not None:
            visibility = ast.literal_eval(visibility)
        if call.func.id == "package":
            default = ast.literal_eval(arguments["default_visibility"])
            if default == _PUBLIC and path != "BUILD":
                problems.append(f"{path}: all targets are public: each says so itself")
        elif call.func.id == "exports_files":
            if visibility in (None, _PUBLIC) and path not in _FILES_FOR_ALL:
                problems.append(f"{path}: exports_files without visibility exports to all")
        elif "name" in arguments and call.func.id != "package_group":
            if (visibility or default) == _PUBLIC:
                names = names or [ast.literal_eval(arguments["name"])]
                if "kernels" in arguments:  # Of baton_pass.
                    names = names + [name + "_without_kernels" for name in names]
                labels += [_normal(f"//{package}:{name}") for name in names]
    return labels, problems


def promised_targets(table):
    """The labels of the table in the page, in its order."""
    labels = []
    for line in table.splitlines():
        row = line.split("|")
        if len(row) > 2 and row[1].strip().startswith("`//"):
            package = row[1].strip(" `")
            names = re.findall(r"`([^`]+)`", row[2])
            labels += [package if name == "." else f"{package}:{name}" for name in names]
    return labels


def is_named(label, text):
    """Whether `text` has the label, a header of its name, or its program."""
    package, _, name = label[2:].partition(":")
    name = name or package.split("/")[-1]
    words = [re.escape(label) + r"(?![\w/:.-])", re.escape(f"{package}/{name}.h") + r"\b"]
    if name.startswith("baton-"):
        words.append(re.escape(name) + r"\b")
    return re.search("|".join(words), text) is not None


def check(public, promised, used, text):
    """Returns what is wrong.

    `used` maps a label to the file that mentions it; `text` is that of the
    pages, without the list, or None in a tree without examples/external, as
    tests have it, which cannot say what is used there.
    """
    problems = []
    for label in sorted(set(public) - set(used)):
        if text is not None and not is_named(label, text):
            problems.append(f"{label} is public: no page, example or macro names it")
    for label in sorted(set(public) - set(promised)):
        problems.append(f"{label} is public: {PAGE} does not list it")
    for label in sorted(set(promised) - set(public)):
        problems.append(f"{label} is listed in {PAGE}: no BUILD file makes it public")
    for label, path in sorted(used.items()):
        if label not in public:
            problems.append(f"{path} uses {label}, which is not public")
    if len(set(promised)) != len(promised):
        problems.append(f"{PAGE} lists a target twice")
    return problems


def _files(root):
    """Paths of the files that the check reads, with their texts."""
    for folder, folders, names in os.walk(root):
        folders[:] = sorted(f for f in folders if not f.startswith((".", "bazel-")) and f != "third_party")
        for name in names:
            path = pathlib.Path(folder, name)
            shown = path.relative_to(root).as_posix()
            if name == "BUILD" or shown == "build_defs/baton.bzl":
                yield shown, path.read_text(encoding="utf-8")


def main(root):
    public, problems, used, files = [], [], {}, 0
    has_outside = False
    outside = ("examples/external/", "examples/external_deps/")
    for path, text in _files(pathlib.Path(root)):
        files += 1
        has_outside |= path.startswith(outside)
        if path.startswith("examples/") or path == "build_defs/baton.bzl":
            for label in _LABEL.findall(text):
                # Packages of the examples, macros, and rules of the workspace.
                if not re.match(r"//(acme|model|ship|examples|build_defs|third_party|visibility)\b", label):
                    used.setdefault(_normal(label), path)
        if path.endswith("BUILD") and not path.startswith(outside):
            labels, wrong = public_targets(path, text)
            public += labels
            problems += wrong
    page = (pathlib.Path(root) / PAGE).read_text(encoding="utf-8")
    before, promised, after = re.split("<!-- public targets -->|<!-- -->", page, maxsplit=2)
    pages = [path.read_text(encoding="utf-8") for path in sorted(pathlib.Path(root, "docs").glob("*.md"))
             if path.name != pathlib.Path(PAGE).name]
    text = "\n".join([before, after] + pages)
    problems += check(public, promised_targets(promised), used, text if has_outside else None)
    return report(problems, f"{files} files, {len(public)} public targets")


if __name__ == "__main__":
    sys.exit(main(*(sys.argv[1:] or ["."])))
