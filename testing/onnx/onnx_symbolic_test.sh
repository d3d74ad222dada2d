#!/bin/bash
# Runs ONNX's backend tests with symbolic extents. Those that do not pass when
# they are imported are the cases of a file, each with the reason; after passes,
# export and import, the same.
#
# usage: onnx_symbolic_test.sh RUNNER SYMBOLIC_CASES.tar EXPECTED

set -euo pipefail
export LC_ALL=C

runner="$1" archive="$2" expected="$3"

# Prints a line `CASE: REASON` for each case that does not pass.
failures() {
  "${runner}" --keep_dimensions "$@" --archive="${archive}" \
    node simple >"${TEST_TMPDIR}/log" || true
  tail -1 "${TEST_TMPDIR}/log" >&2
  sed -n 's/^\(WRONG\|UNSUPPORTED\) //p' "${TEST_TMPDIR}/log" |
    sed 's/ | .*//; s/model.onnx:1:1: error: //' | sort
}

grep -v '^#' "${expected}" >"${TEST_TMPDIR}/expected"
failures >"${TEST_TMPDIR}/imported"
if ! diff "${TEST_TMPDIR}/expected" "${TEST_TMPDIR}/imported"; then
  echo "Imported: lines behind '<' are in ${expected}, those behind '>' are not."
  exit 1
fi

sed 's/:.*//' "${TEST_TMPDIR}/expected" | sort -u >"${TEST_TMPDIR}/expected_names"
failures --passes=onnx,O3 --round_trip >"${TEST_TMPDIR}/written"
if ! diff "${TEST_TMPDIR}/expected_names" \
  <(sed 's/:.*//' "${TEST_TMPDIR}/written"); then
  echo "After passes, export and import: cases behind '<' pass but are expected"
  echo "not to, those behind '>' do not pass:"
  cat "${TEST_TMPDIR}/written"
  exit 1
fi
