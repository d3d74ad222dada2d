#!/bin/bash
# Runs ONNX's backend tests with baton-run alone, which takes the values that a
# model needs from the inputs. Those that do not pass are the lines of a file.
# The short form runs each fifteenth case, the form of BATON_LONG_TESTS=1 all.
#
# usage: onnx_run_cases_test.sh BATON_RUN NODE_CASES.tar FOLDER EXPECTED

set -euo pipefail
export LC_ALL=C

baton_run="$1" archive="$2" folder="$3" expected="$4"

tar --extract --file="${archive}" --directory="${TEST_TMPDIR}"

models=("${TEST_TMPDIR}"/node/*/model.onnx "${TEST_TMPDIR}"/simple/*/model.onnx
  "${folder}"/*/model.onnx)
step=15
if [[ "${BATON_LONG_TESTS:-}" == 1 ]]; then step=1; fi
for ((i = 0; i < ${#models[@]}; i += step)); do
  case="$(dirname "${models[i]}")"
  basename "${case}" >>"${TEST_TMPDIR}/run"
  "${baton_run}" "${case}" >/dev/null 2>&1 || basename "${case}"
done | sort >"${TEST_TMPDIR}/failed"
grep -v '^#' "${expected}" | sort |
  comm -12 - <(sort "${TEST_TMPDIR}/run") >"${TEST_TMPDIR}/expected"
total="$(wc -l <"${TEST_TMPDIR}/run")"
echo "$((total - $(wc -l <"${TEST_TMPDIR}/failed"))) of ${total} cases pass."
if ! diff "${TEST_TMPDIR}/expected" "${TEST_TMPDIR}/failed"; then
  echo "Lines behind '<' are in ${expected}, those behind '>' are not."
  exit 1
fi
