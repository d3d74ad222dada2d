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

All runs of which the same is recorded share a process. Growth and records take most of the
time, and are checked in the long form only, BATON_LONG_TESTS=1, and by --update.
"""

import math
import os
import re
import shutil
import subprocess
import sys
import tempfile

ROOM = 1.03


def count(growth, runs, record):
    """The instructions of runs, (pass, shape, size), of which `record` is recorded.

    All in one process: to start it takes longer than most passes.
    """
    with tempfile.TemporaryDirectory(dir=os.environ.get("TEST_TMPDIR")) as folder:
        run = subprocess.run(
            ["valgrind", "--tool=callgrind", "--instr-atstart=no",
             f"--callgrind-out-file={folder}/part",
             growth, "--callgrind", "--callgrind_parts", "--record=" + record,
             "--runs=" + ";".join(f"{name}@{shape}/{size}" for name, shape, size in runs)],
            capture_output=True, text=True, check=False)
        counts = {}
        for file in os.listdir(folder):
            with open(os.path.join(folder, file), encoding="utf-8",
                      errors="replace") as part:
                text = part.read()
            run_of = re.search(r"^desc: Trigger: Client Request: (.*) on (.*)/(\d+)", text, re.M)
            total = re.search(r"^totals: (\d+)", text, re.M)
            if run_of and total:
                counts[run_of.groups()] = int(total[1])
    if run.returncode == 0 and "built without Valgrind's headers" in run.stdout:
        print("skipped: GROWTH was built without the headers of valgrind")
        sys.exit(0)
    if run.returncode != 0 or '"error"' in run.stdout or set(counts) != set(runs):
        sys.exit(f"{runs}: no count\n{run.stdout}{run.stderr}")
    return counts


class Counts:
    """Counts of the lines of a baseline."""

    def __init__(self, growth, lines):
        self.growth = growth
        self.runs = {}  # by what is recorded
        self.counts = {}
        for line in lines:
            for record, run in self.of(line.split()):
                self.runs.setdefault(record, {})[run] = None

    @staticmethod
    def of(fields):
        """The runs of a line: (what is recorded, (pass, shape, size))."""
        if fields[0] == "run":
            return [("none", tuple(fields[1:4]))]
        if fields[0] == "record":
            return [("all", tuple(fields[1:4])), ("none", tuple(fields[1:4]))]
        _, name, shape, small, large, _ = fields
        return [("none", (name, shape, large)), ("none", (name, shape, small))]

    def get(self, fields):
        """The counts of the runs of a line."""
        result = []
        for record, run in self.of(fields):
            if record not in self.counts:
                self.counts[record] = count(self.growth, list(self.runs[record]), record)
            result.append(self.counts[record][run])
        return result


def check(counts, line, update):
    """The line as it is now, and what is wrong with the figures, or None."""
    fields = line.split()
    now = counts.get(fields)
    if fields[0] == "run":
        _, name, shape, size, baseline = fields
        if update:
            return f"run {name} {shape} {size} {now[0]}", None
        ratio = now[0] / int(baseline)
        print(f"{name} on {shape}/{size}: {now[0]} instructions, baseline "
              f"{baseline} ({100 * (ratio - 1):+.1f} %)")
        if ratio > ROOM:
            return line, f"{name} on {shape}/{size} is slower"
        return line, None
    if fields[0] == "record":
        _, name, shape, size, limit = fields
        percent = 100 * (now[0] / now[1] - 1)
        print(f"{name} on {shape}/{size}, recorded: {percent:+.2f} %, limit "
              f"{limit}")
        if percent > float(limit):
            return line, f"recording {name} on {shape}/{size} is slower"
        return line, None
    _, name, shape, small, large, limit = fields
    exponent = math.log(now[0] / now[1]) / math.log(int(large) / int(small))
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
    is_long = update or os.environ.get("BATON_LONG_TESTS", "") not in ("", "0")
    taken = [i for i, line in enumerate(lines)
             if line and not line.startswith("#")
             and (is_long or line.startswith("run "))]
    counts = Counts(growth, [lines[i] for i in taken])
    problems = []
    for i in taken:
        lines[i], problem = check(counts, lines[i], update)
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
