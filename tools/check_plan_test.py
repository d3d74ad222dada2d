#!/usr/bin/env python3
"""check_plan.py accepts plans of models and refuses 1,000 wrong ones.

usage: check_plan_test.py BATON_RUN MODEL.onnx...
"""

import copy
import json
import os
import random
import subprocess
import sys
import tempfile
import unittest

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
import check_plan  # pylint: disable=wrong-import-position

BATON_RUN = ""
MODELS = []


def plans(folder):
    for model in MODELS:
        path = os.path.join(folder, "plan.json")
        subprocess.run([
            BATON_RUN, model, "--random_inputs", "--passes=onnx,O3",
            "--executor=cpu", "--threads=2", f"--plan={path}"
        ], check=True, stdout=subprocess.DEVNULL)
        with open(path, encoding="utf-8") as file:
            yield model, json.load(file), path


def live_together(values, i):
    """Values of the arena that live when value i does, but for those that it
    replaces or that replace it."""
    value = values[i]
    return [
        other for k, other in enumerate(values)
        if k != i and other["space"] == "arena" and other["bytes"] > 0 and
        other["first"] < value["last"] and value["first"] < other["last"]
    ]


def mutate(plan, choose):
    """Makes a plan wrong; False if it cannot in the chosen way."""
    values, steps = plan["values"], plan["steps"]
    arena = [i for i, v in enumerate(values)
             if v["space"] == "arena" and v["bytes"] > 0]
    i = choose.choice(arena)
    value = values[i]
    step = choose.choice(steps)
    delta = choose.choice([-64, 64])
    kind = choose.randrange(13)
    if kind == 0:
        plan["arena_bytes"] += delta
    elif kind == 1:
        plan["arena_lower_bound"] += delta
    elif kind == 2:
        value["offset"] += choose.choice([1, 4, 32])
    elif kind == 3:
        together = [v for v in live_together(values, i)
                    if v["offset"] != value["offset"]]
        if not together:
            return False
        value["offset"] = choose.choice(together)["offset"]
    elif kind == 4:
        value["first"] += choose.choice([-1, 1])
    elif kind == 5:
        value["last"] += choose.choice([-1, 1])
    elif kind == 6:
        plan[choose.choice(["inputs", "outputs"])][0] += delta
    elif kind == 7:
        operand = choose.choice(step["inputs"] + step["outputs"])
        operand[2] = values[operand[0]]["bytes"] - operand[1] + 1
    elif kind == 8:
        choose.choice(step["inputs"] + step["outputs"])[0] = len(values)
    elif kind == 9:
        if not any(values[o[0]]["space"] == "arena" for o in step["outputs"]):
            return False
        steps.remove(step)
    elif kind == 10:
        if step["workspace"] < 0:
            return False
        step["workspace_bytes"] += choose.choice([-1, 1]) * 63
    elif kind == 11:
        if value["overwrites"] < 0:
            return False
        value["overwrites"] = -1
    else:
        # A step before one whose result it reads.
        at = steps.index(step)
        if at == 0 or not any(
                a == b and begin < from_ + count and from_ < begin + size
                for a, begin, size in step["inputs"]
                for b, from_, count in steps[at - 1]["outputs"]):
            return False
        steps[at - 1], steps[at] = steps[at], steps[at - 1]
    return True


class CheckPlanTest(unittest.TestCase):

    def test_plans(self):
        choose = random.Random(1)
        refused = 0
        with tempfile.TemporaryDirectory() as folder:
            for model, plan, path in plans(folder):
                check_plan.check(plan)
                self.assertEqual(check_plan.main(["", path]), 0)
                count = 0
                while count < -(-1000 // len(MODELS)):
                    wrong = copy.deepcopy(plan)
                    if not mutate(wrong, choose):
                        continue
                    with self.assertRaises(check_plan.WrongPlan,
                                           msg=f"{model}: {count}"):
                        check_plan.check(wrong)
                    count += 1
                with open(path, "w", encoding="utf-8") as file:
                    json.dump(wrong, file)
                self.assertEqual(check_plan.main(["", path]), 1)
                refused += count
        print(f"{refused} wrong plans refused")
        self.assertGreaterEqual(refused, 1000)


if __name__ == "__main__":
    BATON_RUN, *MODELS = sys.argv[1:]
    unittest.main(argv=sys.argv[:1])
