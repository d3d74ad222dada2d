#!/usr/bin/env python3
"""Checks a plan that `baton-run MODEL --plan=FILE.json` wrote.

usage: check_plan.py FILE.json

It is no part of what makes plans or runs them. It proves, from the places and
lifetimes of values alone, that

- operands lie in their values, and values in the arena, aligned to 64 bytes;
- two values that share bytes never live at the same step, but for a result that
  replaces an operand of which that step is the last use, in the same place, where
  the step computes element by element;
- a step reads no byte that no step before it wrote into that value; inputs and
  constants are not written; each output is written whole;
- workspaces are large enough for all threads;
- lifetimes are those of the uses;
- `arena_lower_bound` is the largest sum of bytes that live at one step, which no
  arena can be smaller than, and `arena_bytes` is where the last value ends.

The exit status is 0 if all of it holds; else the first that does not is printed.
"""

import json
import sys

ALIGNMENT = 64
NO_INPUT, ANY_INPUT = -1, -2


class WrongPlan(Exception):
    pass


def require(condition, *words):
    if not condition:
        raise WrongPlan(" ".join(str(word) for word in words))


def aligned(size):
    return -(-size // ALIGNMENT) * ALIGNMENT


def covered(ranges, begin, end):
    """True if the union of ranges has all of [begin, end)."""
    for first, last in sorted(ranges):
        if first > begin:
            break
        begin = max(begin, last)
    return begin >= end


def check_tables(plan):
    tables = {name: plan[name + "s"] for name in ("constant", "input", "output")}
    number_of = {}
    for i, value in enumerate(plan["values"]):
        require(value["bytes"] >= 0, "value", i, "has a negative size")
        if value["space"] == "arena":
            require(value["offset"] % ALIGNMENT == 0 and value["offset"] >= 0,
                    "value", i, "is misaligned at", value["offset"])
            require(value["offset"] + value["bytes"] <= plan["arena_bytes"],
                    "value", i, "leaves the arena")
            continue
        table = tables.get(value["space"])
        require(table is not None, "value", i, "is nowhere")
        require(0 <= value["index"] < len(table) and
                table[value["index"]] == value["bytes"],
                "value", i, "is not its", value["space"])
        if value["space"] == "output":
            require(value["index"] not in number_of, "output", value["index"],
                    "is two values")
            number_of[value["index"]] = i
    for index in range(len(plan["outputs"])):
        require(index in number_of, "output", index, "is no value")
    return number_of


def check_steps(plan):
    """Returns the first and last steps that use each value, and who replaces an
    operand in which step."""
    values = plan["values"]
    first, last = {}, {}
    written = {}  # the ranges of a value that were written
    replaced = set()  # (operand, result, step)
    for number, step in enumerate(plan["steps"]):
        name = f"step {number} ({step['kernel']})"
        operands = step["inputs"] + step["outputs"]
        require(step["outputs"] and step["items"] >= 1, name, "is malformed")
        for value, offset, size in operands:
            require(0 <= value < len(values), name, "has an operand that is no value")
            require(offset >= 0 and size >= 0 and
                    offset + size <= values[value]["bytes"],
                    name, "leaves value", value)
        used = [operand[0] for operand in operands]
        if step["workspace"] >= 0:
            require(step["workspace"] < len(values) and
                    values[step["workspace"]]["space"] == "arena" and
                    step["workspace_bytes"] >= 0 and
                    step["workspace_bytes"] % ALIGNMENT == 0 and
                    step["workspace_bytes"] * plan["max_threads"] <=
                    values[step["workspace"]]["bytes"],
                    name, "has a wrong workspace")
            require(step["workspace"] not in used, name,
                    "has an operand as its workspace")
            used.append(step["workspace"])
        else:
            require(step["workspace_bytes"] == 0, name, "has no workspace")
        for value, offset, size in step["inputs"]:
            if values[value]["space"] in ("arena", "output"):
                require(covered(written.get(value, []), offset, offset + size),
                        name, "reads of value", value, "what is not written")
        for k, (value, offset, size) in enumerate(step["outputs"]):
            require(values[value]["space"] in ("arena", "output"), name,
                    "writes value", value, "which is read only")
            for j, (other, from_, count) in enumerate(operands):
                require(other != value or j == len(step["inputs"]) + k or
                        offset >= from_ + count or from_ >= offset + size, name,
                        "writes what it uses of value", value)
            over = values[value]["overwrites"]
            if k == 0 and over >= 0 and value not in first:
                places = [j for j, operand in enumerate(step["inputs"])
                          if operand[0] == over]
                require(places and all(
                    step["overwritable"] in (ANY_INPUT, j) and
                    step["inputs"][j][1:] == [offset, size] for j in places),
                    name, "may not replace value", over)
                replaced.add((over, value, number))
        for value, offset, size in step["outputs"]:
            written.setdefault(value, []).append((offset, offset + size))
        for value in used:
            first.setdefault(value, number)
            last[value] = number
    for i, value in enumerate(values):
        if value["space"] == "output":
            require(covered(written.get(i, []), 0, value["bytes"]), "output",
                    value["index"], "is not written")
    return first, last, replaced


def check_memory(plan, first, last, replaced):
    values = plan["values"]
    live_at = [0] * len(plan["steps"])
    end = 0
    active = []
    for i in sorted(first, key=first.get):
        value = values[i]
        if value["overwrites"] >= 0:
            over = value["overwrites"]
            require((over, i, first[i]) in replaced and
                    last.get(over) == first[i] and
                    all(values[over][key] == value[key]
                        for key in ("space", "offset", "bytes")),
                    "value", i, "overwrites another in vain")
        if value["space"] != "arena":
            continue
        require((value["first"], value["last"]) == (first[i], last[i]), "value",
                i, "lives from step", first[i], "to", last[i])
        end = max(end, value["offset"] + aligned(value["bytes"]))
        begin = first[i] + (1 if value["overwrites"] >= 0 else 0)
        for number in range(begin, last[i] + 1):
            live_at[number] += aligned(value["bytes"])
        if value["bytes"] == 0:
            continue
        active = [other for other in active if last[other] >= first[i]]
        for other in active:
            require(value["offset"] >= values[other]["offset"] + values[other]["bytes"] or
                    values[other]["offset"] >= value["offset"] + value["bytes"] or
                    (other, i, first[i]) in replaced,
                    "values", other, "and", i, "share bytes in step", first[i])
        active.append(i)
    for i, value in enumerate(values):
        require(i in first or value["overwrites"] < 0, "value", i,
                "overwrites another in vain")
    most = max(live_at, default=0)
    require(most == plan["arena_lower_bound"],
            "the largest sum of live bytes is", most, "and not",
            plan["arena_lower_bound"])
    require(end == plan["arena_bytes"], "the arena has", plan["arena_bytes"],
            "bytes, of which", end, "are used")


def check(plan):
    require(plan.get("version") == 1, "the file is of another version")
    require(plan["max_threads"] >= 1 and plan["arena_bytes"] >= 0,
            "a size is out of range")
    check_tables(plan)
    check_memory(plan, *check_steps(plan))


def main(argv):
    if len(argv) != 2:
        print(__doc__, file=sys.stderr)
        return 2
    with open(argv[1], encoding="utf-8") as file:
        plan = json.load(file)
    try:
        check(plan)
    except WrongPlan as problem:
        print(f"{argv[1]}: wrong plan: {problem}")
        return 1
    print(f"{argv[1]}: {len(plan['steps'])} steps, {len(plan['values'])} values; "
          f"arena {plan['arena_bytes']} bytes, lower bound "
          f"{plan['arena_lower_bound']}: the plan holds")
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv))
