#!/bin/bash
# Compiles workloads with their weights to libraries. Each step and each result
# has the bytes of the executor and of the evaluator.
#
# usage:
#   library_workloads_test.sh write BATON_OPT BATON_COMPILE OUT.tar
#   library_workloads_test.sh run LIBRARIES.tar
#   library_workloads_test.sh long BATON_OPT BATON_COMPILE
#
# `write` makes the libraries of three small networks, which `run` compiles and
# runs: the first is an action of the build, so that the second runs again only
# if a library is another one. `long` is both for all workloads, in the form of
# BATON_LONG_TESTS=1 only, and takes some minutes and 3 GB; shards of the test
# have some of the workloads each.

set -euo pipefail
if [[ -n "${TEST_SHARD_STATUS_FILE:-}" ]]; then touch "${TEST_SHARD_STATUS_FILE}"; fi

if [[ "$1" != write ]] && ! command -v g++ >/dev/null; then
  echo "skipped: there is no g++"
  exit 0
fi
work="$(mktemp -d)"
trap 'rm -rf "${work}"' EXIT

# write_library BATON_OPT BATON_COMPILE WORKLOAD OUT: into a folder.
write_library() {
  local workload="$3" model="${work}/$3.baton" flags=()
  "$1" "--workload=${workload}" --bind_params --passes=InferType \
    --emit=binary --output="${model}"
  if [[ "${workload}" == bert ]]; then
    # Tokens that are there. Random numbers in the place of the mask are
    # multiplied by 10000, and scores that are added to them lose their digits.
    local inputs="${work}/bert.npz"
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
  "$2" "${model}" --isas=avx2 --test --check_values \
    --output_dir="$4" "${flags[@]}" | tail -n 1
  rm "${model}"
}

failed=0 compared=0
# run_library WORKLOAD FOLDER: compiles a library and its test, and runs it.
run_library() {
  if (cd "$2" && g++ -std=c++17 -Wall -Wextra -Wpedantic -Werror \
    ./*.cc ./*.o -lm -o run && ./run); then
    compared=$((compared + 1))
  else
    echo "$1: the library differs"
    failed=1
  fi
}

case "$1" in
  write)
    mkdir "${work}/out"
    for workload in dqn lstm mlp; do
      write_library "$2" "$3" "${workload}" "${work}/out/${workload}"
      # The compiler takes the most time, in sources that ask for all of its work.
      sed -i 's/, "O3")/)/' "${work}/out/${workload}/${workload}_avx2.cc"
    done
    tar --create --sort=name --mtime=@0 --owner=0 --group=0 --numeric-owner \
      --file="$4" --directory="${work}/out" .
    exit 0
    ;;
  run)
    mkdir "${work}/out"
    tar --extract --file="$2" --directory="${work}/out"
    for folder in "${work}"/out/*; do
      run_library "$(basename "${folder}")" "${folder}"
    done
    ;;
  long)
    if [[ "${BATON_LONG_TESTS:-0}" == 0 ]]; then exit 0; fi
    number=0
    for workload in $("$2" --list_workloads | sed -n 's/^\([a-z]\w*\) .*/\1/p'); do
      number=$((number + 1))
      ((number % ${TEST_TOTAL_SHARDS:-1} == ${TEST_SHARD_INDEX:-0})) || continue
      write_library "$2" "$3" "${workload}" "${work}/${workload}"
      run_library "${workload}" "${work}/${workload}"
      rm -rf "${work:?}/${workload}"
    done
    ;;
esac
echo "${compared} workloads have the bytes of the executor and the evaluator."
((compared >= 3)) || failed=1
exit "${failed}"
