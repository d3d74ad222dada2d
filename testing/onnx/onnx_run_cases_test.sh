#!/bin/bash
# Runs ONNX's backend tests with baton-run alone, which takes the values that a
# model needs from the inputs. Those that do not pass are the lines of a file.
# The short form runs each fifteenth case, the form of BATON_LONG_TESTS=1 all.
#
# usage, in the folder of the repository: onnx_run_cases_test.sh BATON_RUN NODE_CASES.tar FOLDER EXPECTED

set -euo pipefail
export LC_ALL=C
source testing/onnx/archived_cases.sh

baton_run="$1" archive="$2" folder="$3" expected="$4"

step=15
if [[ "${BATON_LONG_TESTS:-0}" != 0 ]]; then step=1; fi
unpack_cases "${archive}" "${folder}" "${step}" "${TEST_TMPDIR}"
for ((i = 0; i < ${#cases[@]}; i += step)); do
  echo "${cases[i]##*/}" >>"${TEST_TMPDIR}/run"
  "${baton_run}" "${cases[i]}" >/dev/null 2>&1 || echo "${cases[i]##*/}"
done | sort >"${TEST_TMPDIR}/failed"
grep -v '^#' "${expected}" | sort |
  comm -12 - <(sort "${TEST_TMPDIR}/run") >"${TEST_TMPDIR}/expected"
total="$(wc -l <"${TEST_TMPDIR}/run")"
echo "$((total - $(wc -l <"${TEST_TMPDIR}/failed"))) of ${total} cases pass."
if ! diff "${TEST_TMPDIR}/expected" "${TEST_TMPDIR}/failed"; then
  echo "Lines behind '<' are in ${expected}, those behind '>' are not."
  exit 1
fi
