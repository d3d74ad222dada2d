#!/bin/bash
# Each byte of the compiled code belongs to a node of the model, or to what has
# no node.
#
# usage: report_test.sh FILE...  (the files of a target NAME_report)

set -euo pipefail

if ! command -v python3 >/dev/null; then
  echo "skipped: there is no python3"
  exit 0
fi
for file in "$@"; do
  [[ "${file}" == *.json ]] || continue
  python3 - "${file}" <<'PYTHON'
import json
import sys

with open(sys.argv[1], encoding="utf-8") as file:
    report = json.load(file)
objects = report["objects"]
assert objects
for part in objects:
    rest = sum(section["bytes"] for section in part["of_sections"])
    assert part["of_steps"] + rest + part["of_tables"] == part["bytes"], part
of_steps = sum(part["of_steps"] for part in objects)
assert sum(node["code"] for node in report["nodes"]) == of_steps > 10000
assert sum(step["code_bytes"] for step in report["steps"]) == of_steps
for node in report["nodes"]:
    print(node["code"], node["origin"].replace("\n", "; "))
PYTHON
  exit 0
done
echo "there is no report"
exit 1
