#!/bin/bash
# Runs ONNX's backend tests with baton-run alone, which takes the values that a
# model needs from the inputs. Those that do not pass are the lines of a file.
#
# usage: onnx_run_cases_test.sh BATON_RUN NODE_CASES.tar FOLDER EXPECTED

set -euo pipefail
export LC_ALL=C

baton_run="$1" archive="$2" folder="$3" expected="$4"

tar --extract --file="${archive}" --directory="${TEST_TMPDIR}"

run_all() {
  for model in "${TEST_TMPDIR}"/node/*/model.onnx \
    "${TEST_TMPDIR}"/simple/*/model.onnx "${folder}"/*/model.onnx; do
    case="$(dirname "${model}")"
    "${baton_run}" "${case}" >/dev/null 2>&1 || basename "${case}"
  done
}

run_all | sort >"${TEST_TMPDIR}/failed"
grep -v '^#' "${expected}" >"${TEST_TMPDIR}/expected"
total="$(find "${TEST_TMPDIR}/node" "${TEST_TMPDIR}/simple" "${folder}" \
  -name model.onnx | wc -l)"
echo "$((total - $(wc -l <"${TEST_TMPDIR}/failed"))) of ${total} cases pass."
if ! diff "${TEST_TMPDIR}/expected" "${TEST_TMPDIR}/failed"; then
  echo "Lines behind '<' are in ${expected}, those behind '>' are not."
  exit 1
fi
