#!/bin/bash
# Compiles ONNX's backend tests to libraries, and runs these on the inputs of
# the cases: each step and each result has the bytes of the executor and of the
# evaluator. The cases of which no library is made are the lines of a file. The
# short form takes each 29th case, the form of BATON_LONG_TESTS=1 each seventh;
# LIBRARY_CASES_STEP=1 takes all, which needs a quarter of an hour and
# --test_timeout=3600. Flags for the compiler, such as
# -fsanitize=address,undefined, are in LIBRARY_FLAGS.
#
# usage: library_cases_test.sh BATON_COMPILE NODE_CASES.tar FOLDER REFUSED

set -euo pipefail
export LC_ALL=C

baton_compile="$(realpath "$1")" archive="$2" folder="$(realpath "$3")"
refused="$(realpath "$4")"
if ! command -v g++ >/dev/null; then
  echo "skipped: there is no g++"
  exit 0
fi

tar --extract --file="${archive}" --directory="${TEST_TMPDIR}"
models=("${TEST_TMPDIR}"/node/*/model.onnx "${TEST_TMPDIR}"/simple/*/model.onnx
  "${folder}"/*/model.onnx)
step=29
if [[ "${BATON_LONG_TESTS:-}" == 1 ]]; then step=7; fi
step="${LIBRARY_CASES_STEP:-${step}}"

mkdir "${TEST_TMPDIR}/out"
cd "${TEST_TMPDIR}/out"
names=() failed=0
# Compiles the libraries of `names` and their tests as one program, and runs it.
run() {
  if ((${#names[@]} == 0)); then return; fi
  {
    printf 'int Main_%s();\n' "${names[@]}"
    echo '#include <cstdio>'
    echo 'int main() {'
    echo '  int failed = 0;'
    for name in "${names[@]}"; do
      echo "  if (Main_${name}() != 0) {"
      echo "    std::puts(\"${name}: the library differs\");"
      echo '    failed = 1;'
      echo '  }'
    done
    echo '  return failed;'
    echo '}'
  } >driver.cc
  # shellcheck disable=SC2086
  if ! { g++ -std=c++17 ${LIBRARY_FLAGS:-} ./*.cc ./*.o -lm -o run && ./run; } \
    >../output 2>&1; then
    failed=1
    echo "of ${names[*]}:"
    grep -v '^avx2$' ../output | head -n 50 || true
  fi
  rm -f ./*
  names=()
}

compiled=0
: >../refused
for ((i = 0; i < ${#models[@]}; i += step)); do
  case="$(dirname "${models[i]}")"
  name="$(basename "${case}")"
  echo "${name}" >>../taken
  inputs=()
  if [[ -e "${case}/test_data_set_0/input_0.pb" ]]; then
    inputs=("--inputs=${case}/test_data_set_0")
  fi
  if ! "${baton_compile}" "${case}/model.onnx" --name="${name}" --isas=avx2 \
    --test --check_values "${inputs[@]}" >../message 2>&1; then
    echo "${name}" >>../refused
    echo "${name}: $(grep -m 1 error ../message || tail -n 1 ../message)"
    continue
  fi
  compiled=$((compiled + 1))
  # The compiler takes the most time, in sources that ask for all of its work.
  sed -i 's/, "O3")/)/' "${name}_avx2.cc"
  sed -i "s/^int main()/int Main_${name}()/" "${name}_test.cc"
  names+=("${name}")
  if ((${#names[@]} == 40)); then run; fi
done
run
echo "${compiled} of $(wc -l <../taken) cases are libraries."
if ! diff <(grep -v '^#' "${refused}" | sort | comm -12 - <(sort ../taken)) \
  <(sort ../refused); then
  echo "Lines behind '<' are in ${refused}, those behind '>' are not."
  failed=1
fi
exit "${failed}"
