#!/bin/bash
# Compiles workloads with their weights to libraries. Each step and each result
# has the bytes of the executor and of the evaluator. Three small networks; all
# workloads with BATON_LONG_TESTS=1, which takes some minutes and 3 GB.
#
# usage: library_workloads_test.sh BATON_OPT BATON_COMPILE

set -euo pipefail

baton_opt="$(realpath "$1")" baton_compile="$(realpath "$2")"

workloads="dqn lstm mlp"
if [[ "${BATON_LONG_TESTS:-}" == 1 ]]; then
  workloads="$("${baton_opt}" --list_workloads | sed -n 's/^\([a-z]\w*\) .*/\1/p')"
fi
if ! command -v g++ >/dev/null; then
  echo "skipped: there is no g++"
  exit 0
fi

failed=0 compared=0
for workload in ${workloads}; do
  output="${TEST_TMPDIR}/${workload}"
  model="${TEST_TMPDIR}/${workload}.baton"
  "${baton_opt}" "--workload=${workload}" --bind_params --passes=InferType \
    --emit=binary --output="${model}"
  flags=()
  if [[ "${workload}" == bert ]]; then
    # Tokens that are there. Random numbers in the place of the mask are
    # multiplied by 10000, and scores that are added to them lose their digits.
    inputs="${TEST_TMPDIR}/bert.npz"
    /usr/bin/python3 - "${inputs}" <<'PYTHON'
import sys

import numpy

random = numpy.random.RandomState(0)
shape = (1, 128)
numpy.savez(
    sys.argv[1],
    data=random.randint(0, 30522, shape).astype(numpy.int32),
    segment_ids=random.randint(0, 2, shape).astype(numpy.int32),
    mask=numpy.ones(shape, numpy.int32))
PYTHON
    flags=("--inputs=${inputs}")
  fi
  "${baton_compile}" "${model}" --isas=avx2 --test --check_values \
    --output_dir="${output}" "${flags[@]}" | tail -n 1
  # The compiler takes the most time, in sources that ask for all of its work.
  if [[ "${BATON_LONG_TESTS:-}" != 1 ]]; then
    sed -i 's/, "O3")/)/' "${output}/${workload}_avx2.cc"
  fi
  if (cd "${output}" && g++ -std=c++17 -Wall -Wextra -Wpedantic -Werror \
    ./*.cc ./*.o -lm -o run && ./run); then
    compared=$((compared + 1))
  else
    echo "${workload}: the library differs"
    failed=1
  fi
  rm -rf "${output}" "${model}"
done
echo "${compared} workloads have the bytes of the executor and the evaluator."
((compared >= 3)) || failed=1
exit "${failed}"
