#!/bin/bash
# Compiles models for AArch64 without a platform of Bazel, and runs their tests,
# which compare with the evaluator, under an emulator. Skipped where the cross
# compiler or the emulator is missing (Debian: g++-aarch64-linux-gnu, qemu-user).
#
# usage: aarch64_test.sh BATON_COMPILE MODEL...

set -euo pipefail

baton_compile="$(realpath "$1")"
shift
for model in "$@"; do
  name="$(basename "${model}" .relay)"
  output="${TEST_TMPDIR}/${name}"
  "${baton_compile}" "${model}" --target=aarch64 --threads --test \
    --output_dir="${output}"
  for tool in aarch64-linux-gnu-g++ qemu-aarch64; do
    if ! command -v "${tool}" >/dev/null; then
      echo "skipped: there is no ${tool}"
      exit 0
    fi
  done
  (
    cd "${output}"
    aarch64-linux-gnu-g++ -std=c++17 -O2 -ffp-contract=off -Wall -Wextra \
      -Werror -static ./*.cc ./*.o -lm -o run
    [[ "$(qemu-aarch64 ./run)" == neon ]]
  )
done
