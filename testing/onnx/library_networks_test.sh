#!/bin/bash
# Compiles ONNX's light models to libraries. Each step and each result has the
# bytes of the executor and of the evaluator. A source is at most 1 MB of text,
# and takes the compiler at most 20 seconds of one processor and 1 GB. Two models;
# all of them with BATON_LONG_TESTS=1.
#
# usage: library_networks_test.sh BATON_COMPILE FOLDER

set -euo pipefail

baton_compile="$(realpath "$1")" folder="$(realpath "$2")"

models="squeezenet shufflenet"
if [[ "${BATON_LONG_TESTS:-}" == 1 ]]; then
  models+=" bvlc_alexnet densenet121 inception_v1 inception_v2 resnet50 vgg19"
  models+=" zfnet512"
fi
if ! command -v g++ >/dev/null; then
  echo "skipped: there is no g++"
  exit 0
fi

failed=0
for model in ${models}; do
  output="${TEST_TMPDIR}/${model}"
  "${baton_compile}" "${folder}/light_${model}.onnx" --isas=avx2 --test \
    --check_values --output_dir="${output}" | tail -n 1
  source="${output}/light_${model}_avx2.cc"
  if (($(stat -c %s "${source}") > 1 << 20)); then
    echo "${model}: the source has more than 1 MB"
    failed=1
  fi
  if ! (ulimit -t 20 -v $((1 << 20)) &&
    g++ -std=c++17 -O2 -c "${source}" -o "${output}/limited.o"); then
    echo "${model}: the compiler takes more than 20 seconds or 1 GB"
    failed=1
  fi
  if ! (cd "${output}" && mv limited.o code.o &&
    g++ -std=c++17 -O1 ./*_test.cc ./*.o -lm -o run && ./run); then
    echo "${model}: the library differs"
    failed=1
  fi
  rm -rf "${output}"
done
exit "${failed}"
