#!/bin/bash
# Runs ONNX's backend tests through export and import: the cases that do not
# pass are those of docs/onnx.md, which do not when they are imported. What was
# written passes ONNX's checker and its strict shape inference.
#
# usage: onnx_round_trip_test.sh RUNNER NODE_CASES.tar PAGE CHECKER [FLAGS...]

set -euo pipefail

runner="$1" archive="$2" page="$3" checker="$4"
shift 4

mkdir "${TEST_TMPDIR}/written"
"${runner}" --round_trip --save="${TEST_TMPDIR}/written" "$@" \
  --archive="${archive}" node simple >"${TEST_TMPDIR}/log" || true
tail -1 "${TEST_TMPDIR}/log"

sed -n '/<!-- generated -->/,/<!-- end of generated -->/p' "${page}" |
  sed -n 's/^| `\(test_[^`]*\)` | \(not supported\|wrong\) |.*/\1/p' |
  sort -u >"${TEST_TMPDIR}/expected"
sed -n 's/^\(WRONG\|UNSUPPORTED\) \([^:]*\):.*/\2/p' "${TEST_TMPDIR}/log" |
  sort >"${TEST_TMPDIR}/failed"
if ! diff "${TEST_TMPDIR}/expected" "${TEST_TMPDIR}/failed"; then
  echo "Cases behind '<' pass but are expected not to, those behind '>' do not pass:"
  diff "${TEST_TMPDIR}/expected" "${TEST_TMPDIR}/failed" | sed -n 's/^> //p' |
    while read -r name; do grep " ${name}:" "${TEST_TMPDIR}/log"; done
  exit 1
fi
/usr/bin/python3 "${checker}" "${TEST_TMPDIR}/written"
