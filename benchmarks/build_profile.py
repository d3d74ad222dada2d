#!/usr/bin/env python3
"""Sums the time of a build by kind of action and by package.

usage: build_profile.py PROFILE [ROWS]

PROFILE is the file of Bazel's --profile. Prints two tables in Markdown, for
docs/build.md, and the ROWS (10) longest actions. Seconds are those that actions
took, with their sandboxes; they add up over the actions that ran at a time.
"""

import collections
import gzip
import json
import posixpath
import sys


def read_actions(path):
    """Yields (kind, subject, seconds): ("Compiling", "ir/node.cc", 1.5)."""
    opener = gzip.open if path.endswith(".gz") else open
    with opener(path, "rt", encoding="utf-8") as file:
        events = json.load(file)["traceEvents"]
    for event in events:
        if event.get("cat") != "action processing" or event.get("dur", 0) < 1000:
            continue
        kind, _, subject = event["name"].partition(" ")
        yield kind, subject, event["dur"] / 1e6


def package_of(subject):
    """`relay/op` of `relay/op/nn/conv.cc` and `//relay/op/nn:conv_test`."""
    path = subject.split(" ")[0].lstrip("/@").split(":")[0]
    folder = posixpath.dirname(path) if "." in posixpath.basename(path) else path
    return "/".join(folder.split("/")[:2]) or "."


def print_table(heading, seconds, counts):
    print(f"| {heading} | actions | seconds |")
    print("|---|---|---|")
    for key, value in sorted(seconds.items(), key=lambda row: -row[1]):
        if value >= 1:
            print(f"| {key} | {counts[key]} | {value:.0f} |")
    print()


def main(path, rows=10):
    actions = list(read_actions(path))
    for heading, key in (
        ("kind", lambda action: action[0]),
        ("compiled in", lambda action: package_of(action[1])),
    ):
        chosen = [a for a in actions if heading == "kind" or a[0] == "Compiling"]
        seconds = collections.Counter()
        counts = collections.Counter()
        for action in chosen:
            seconds[key(action)] += action[2]
            counts[key(action)] += 1
        print_table(heading, seconds, counts)
    for kind, subject, seconds in sorted(actions, key=lambda a: -a[2])[: int(rows)]:
        print(f"{seconds:6.1f} s  {kind} {subject}")


if __name__ == "__main__":
    sys.exit(main(*sys.argv[1:]))
