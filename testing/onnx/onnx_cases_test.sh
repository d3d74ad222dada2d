#!/bin/bash
# All cases of a folder pass, as they are imported and after passes; with the
# dimensions that their models know.
#
# usage: onnx_cases_test.sh RUNNER FOLDER

set -euo pipefail

runner="$1" folder="$2"
for flag in --passes= --passes=onnx,O3; do
  log="$("${runner}" --keep_dimensions "${flag}" "${folder}")" || true
  echo "${flag}: $(tail -1 <<<"${log}")"
  if [[ "${log}" != *' cases pass, 0 are not supported, 0 are wrong.' ]]; then
    echo "${log}"
    exit 1
  fi
done
