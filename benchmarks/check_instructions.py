#!/usr/bin/env python3
"""Holds the instructions that passes take against a checked-in baseline.

    check_instructions.py GROWTH BASELINE            the test
    check_instructions.py GROWTH BASELINE --update   writes the baseline anew

GROWTH is the program of benchmarks/growth.cc, which runs in callgrind here: the
counts do not depend on what else the machine does. BASELINE has three kinds of
lines:

    run PASS SHAPE SIZE INSTRUCTIONS
    growth PASS SHAPE SMALL LARGE EXPONENT
    record PASS SHAPE SIZE PERCENT

A run may take 3 % more instructions than its line says. A pass whose
instructions grow as the size to the power of more than EXPONENT, between the
sizes SMALL and LARGE, fails; and so does one that takes more than PERCENT more
instructions while its history is recorded, with origins and remarks. These
numbers are written by hand.

With a test runner's shards, each checks every so many lines. Growth takes two
thirds of the time, and is checked in the long form only, BATON_LONG_TESTS=1, and
by --update.
"""

import math
import os
import re
import shutil
import subprocess
import sys

ROOM = 1.03


def count(growth, name, shape, size, record="none"):
    """The instructions of one run of a pass; what of it is recorded."""
    run = subprocess.run(
        ["valgrind", "--tool=callgrind", "--instr-atstart=no",
         "--callgrind-out-file=/dev/null", growth, "--callgrind",
         "--pass=" + name, "--shape=" + shape, "--record=" + record,
         "--sizes=" + size, "--resnet_sizes=" + size],
        capture_output=True, text=True, check=False)
    found = re.search(r"Collected : (\d+)", run.stderr)
    if run.returncode != 0 or found is None or '"error"' in run.stdout:
        sys.exit(f"{name} on {shape}/{size}: no count\n{run.stdout}{run.stderr}")
    if found.group(1) == "0":
        print("skipped: GROWTH was built without the headers of valgrind")
        sys.exit(0)
    return int(found.group(1))


def check(growth, line, update):
    """The line as it is now, and what is wrong with the figures, or None."""
    fields = line.split()
    if fields[0] == "run":
        _, name, shape, size, baseline = fields
        now = count(growth, name, shape, size)
        if update:
            return f"run {name} {shape} {size} {now}", None
        ratio = now / int(baseline)
        print(f"{name} on {shape}/{size}: {now} instructions, baseline "
              f"{baseline} ({100 * (ratio - 1):+.1f} %)")
        if ratio > ROOM:
            return line, f"{name} on {shape}/{size} is slower"
        return line, None
    if fields[0] == "record":
        _, name, shape, size, limit = fields
        percent = 100 * (count(growth, name, shape, size, record="all") /
                         count(growth, name, shape, size) - 1)
        print(f"{name} on {shape}/{size}, recorded: {percent:+.2f} %, limit "
              f"{limit}")
        if percent > float(limit):
            return line, f"recording {name} on {shape}/{size} is slower"
        return line, None
    _, name, shape, small, large, limit = fields
    exponent = (math.log(count(growth, name, shape, large) /
                         count(growth, name, shape, small)) /
                math.log(int(large) / int(small)))
    print(f"{name} on {shape}, {small} to {large}: exponent {exponent:.3f}, "
          f"limit {limit}")
    if exponent > float(limit):
        return line, f"{name} on {shape} grows too fast"
    return line, None


def main():
    growth, path = sys.argv[1:3]
    update = sys.argv[3:] == ["--update"]
    if shutil.which("valgrind") is None:
        print("skipped: valgrind is not installed")
        return 0
    with open(path, encoding="utf-8") as file:
        lines = file.read().splitlines()
    shards = int(os.environ.get("TEST_TOTAL_SHARDS", "1"))
    shard = int(os.environ.get("TEST_SHARD_INDEX", "0"))
    if "TEST_SHARD_STATUS_FILE" in os.environ:
        with open(os.environ["TEST_SHARD_STATUS_FILE"], "w"):
            pass
    is_long = update or os.environ.get("BATON_LONG_TESTS") == "1"
    problems = []
    number = 0
    for i, line in enumerate(lines):
        if not line or line.startswith("#"):
            continue
        if line.startswith("growth ") and not is_long:
            continue
        number += 1
        if number % shards != shard:
            continue
        lines[i], problem = check(growth, line, update)
        if problem is not None:
            problems.append(problem)
    if update:
        with open(path, "w", encoding="utf-8") as file:
            file.write("\n".join(lines) + "\n")
    for problem in problems:
        print("FAILED: " + problem)
    if problems:
        print("If that is meant, write the baseline anew: docs/benchmarks.md.")
    return 1 if problems else 0


if __name__ == "__main__":
    sys.exit(main())
