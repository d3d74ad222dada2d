#!/usr/bin/env python3
"""Counts the test cases of Bazel invocations.

usage: count_cases.py FOLDER

FOLDER holds, for each invocation, NAME.json (--build_event_json_file) and
NAME.status (Bazel's exit status). An invocation without tests is one case, and
so is NAME.status alone: a script that is no Bazel. Prints what failed, then, as
the last line, `N passed, N failed`; exits with 1 if anything failed.
"""

import json
import pathlib
import re
import sys
import urllib.parse
import urllib.request
import xml.etree.ElementTree as ElementTree

# Bazel's exit statuses that the tests' own results explain: success; some tests
# failed; there are no tests.
_EXPLAINED_STATUSES = (0, 3, 4)

# Bazel's event protocol does not name a package that cannot be loaded; its
# messages, which are part of the protocol, do.
_BROKEN_PACKAGE = re.compile(r"package contains errors: (\S+)")


def local_path(uri):
    """The path behind a file: URI; None for another kind."""
    parts = urllib.parse.urlparse(uri)
    if parts.scheme != "file":
        return None
    return pathlib.Path(urllib.request.url2pathname(parts.path))


def count_xml(path):
    """Returns (number of passed cases, names of failed ones) of a test.xml."""
    passed = 0
    failed = []
    for case in ElementTree.parse(path).iter("testcase"):
        if case.find("failure") is not None or case.find("error") is not None:
            suite = case.get("classname", "")
            failed.append(f"{suite}.{case.get('name', '')}".strip("."))
        elif case.get("status") != "notrun" and case.find("skipped") is None:
            passed += 1
    return passed, failed


def count_test(result):
    """Returns (number of passed cases, names of failed ones) of a testResult event."""
    cases = None
    for output in result.get("testActionOutput", []):
        path = local_path(output.get("uri", ""))
        if output.get("name") == "test.xml" and path and path.exists():
            try:
                cases = count_xml(path)
            except ElementTree.ParseError:
                pass  # The test died while writing.
    ok = result.get("status") == "PASSED"
    passed, failed = cases or (int(ok), [])
    if not ok and not failed:
        failed = [result.get("status", "no status").lower()]
    return passed, failed


def count_invocation(events, status):
    """Returns (number of passed cases, descriptions of failed ones)."""
    tests = {}  # (label, run, shard) -> the last attempt's result.
    broken = set()
    for event in events:
        identity = event.get("id", {})
        if "testResult" in event:
            key = identity["testResult"]
            tests[key["label"], key.get("run", 0), key.get("shard", 0)] = event["testResult"]
        elif "targetCompleted" in identity:
            if not event.get("completed", {}).get("success", False):
                broken.add(identity["targetCompleted"]["label"] + ": not built")
        elif "progress" in event:
            for package in _BROKEN_PACKAGE.findall(event["progress"].get("stderr", "")):
                broken.add(f"//{package}: the package cannot be loaded")

    # A target that is built, and whose test fails, completes too, with a result.
    tested = {label for label, _, _ in tests}
    failed = sorted(entry for entry in broken if entry.split(": ")[0] not in tested)
    if not failed and status not in _EXPLAINED_STATUSES:
        failed.append(f"exit status {status}")
    passed = int(not tests and not failed)
    for (label, _, _), result in sorted(tests.items()):
        new_passed, new_failed = count_test(result)
        passed += new_passed
        failed += [f"{label}: {name}" for name in new_failed]
    return passed, failed


def read_events(path):
    if not path.exists():
        return []
    events = []
    for line in path.read_text(encoding="utf-8").splitlines():
        try:
            events.append(json.loads(line))
        except ValueError:
            break  # Bazel died while writing.
    return events


def main(folder):
    passed = 0
    failed = []
    for status in sorted(folder.glob("*.status")):
        new_passed, new_failed = count_invocation(
            read_events(status.with_suffix(".json")), int(status.read_text())
        )
        passed += new_passed
        failed += [f"{status.stem}: {description}" for description in new_failed]
    for description in failed:
        print("FAILED", description)
    print(f"{passed} passed, {len(failed)} failed")
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main(pathlib.Path(sys.argv[1])))
