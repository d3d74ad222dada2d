#!/bin/bash
# Runs ONNX's backend tests, and holds what they give against docs/onnx.md.
#
# usage: onnx_backend_test.sh RUNNER NODE_CASES.tar PAGE [FLAGS...]

set -euo pipefail

runner="$1" archive="$2" page="$3"
shift 3

"${runner}" --table="${TEST_TMPDIR}/table.md" "$@" \
  --archive="${archive}" node simple || true

# The part of the page between two marks.
sed -n '/<!-- generated -->/,/<!-- end of generated -->/p' "${page}" |
  sed '1d;$d' >"${TEST_TMPDIR}/shown.md"
if ! diff "${TEST_TMPDIR}/shown.md" "${TEST_TMPDIR}/table.md"; then
  echo "${page} does not show what the cases give: that is after '>' above, and"
  echo "whole in test.outputs/table.md."
  cp "${TEST_TMPDIR}/table.md" "${TEST_UNDECLARED_OUTPUTS_DIR:-${TEST_TMPDIR}}/table.md" 2>/dev/null || true
  exit 1
fi
