#!/bin/bash
# All cases of a folder pass: as they are imported, after passes, and both again
# when they are exported and imported. What is exported passes ONNX's checker and
# its strict shape inference.
#
# usage: pytorch_cases_test.sh RUNNER FOLDER CHECKER

set -euo pipefail

runner="$1" folder="$2" checker="$3"
run() {
  local log
  log="$("${runner}" --keep_dimensions "$@" "${folder}")" || true
  echo "$*: $(tail -1 <<<"${log}")"
  if [[ "${log}" != *' cases pass, 0 are not supported, 0 are wrong.' ]]; then
    echo "${log}"
    exit 1
  fi
}
for passes in '' onnx,O3; do
  run --passes="${passes}"
  written="${TEST_TMPDIR}/written.${passes}"
  mkdir "${written}"
  run --passes="${passes}" --round_trip --opset=17 --save="${written}"
  /usr/bin/python3 "${checker}" "${written}"
done
