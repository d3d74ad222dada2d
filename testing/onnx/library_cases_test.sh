#!/bin/bash
# Compiles ONNX's backend tests to libraries, and runs these on the inputs of
# the cases: each step and each result has the bytes of the executor and of the
# evaluator. The cases of which no library is made are the lines of a file.
#
# usage, in the folder of the repository:
#   library_cases_test.sh write STEP BATON_COMPILE NODE_CASES.tar FOLDER OUT.tar
#   library_cases_test.sh run LIBRARIES.tar REFUSED
#   library_cases_test.sh long BATON_COMPILE NODE_CASES.tar FOLDER REFUSED
#
# `write` makes the libraries of each STEPth case, which `run` compiles and runs:
# the first is an action of the build, so that the second runs again only if a
# library is another one. `long` is both for each seventh case, in the form of
# BATON_LONG_TESTS=1 only; LIBRARY_CASES_STEP=1 takes all, which needs a quarter
# of an hour and --test_timeout=3600. Flags for the compiler of C++, such as
# -fsanitize=address,undefined, are in LIBRARY_FLAGS.

set -euo pipefail
export LC_ALL=C
source testing/onnx/archived_cases.sh

if [[ "$1" != write ]] && ! command -v g++ >/dev/null; then
  echo "skipped: there is no g++"
  exit 0
fi
work="$(mktemp -d)"
trap 'rm -rf "${work}"' EXIT

# write_libraries STEP BATON_COMPILE NODE_CASES.tar FOLDER OUT: into a folder.
write_libraries() {
  local step="$1" baton_compile archive folder out="$5" cases i case name inputs
  baton_compile="$(realpath "$2")" archive="$(realpath "$3")" folder="$(realpath "$4")"
  mkdir -p "${work}/cases" "${out}"
  unpack_cases "${archive}" "${folder}" "${step}" "${work}/cases"
  : >"${out}/refused"
  : >"${out}/messages"
  for ((i = 0; i < ${#cases[@]}; i += step)); do
    case="${cases[i]}"
    name="${case##*/}"
    echo "${name}" >>"${out}/taken"
    inputs=()
    if [[ -e "${case}/test_data_set_0/input_0.pb" ]]; then
      inputs=("--inputs=${case}/test_data_set_0")
    fi
    if ! "${baton_compile}" "${case}/model.onnx" --name="${name}" --isas=avx2 \
      --output_dir="${out}" --test --check_values "${inputs[@]}" \
      >"${work}/message" 2>&1; then
      echo "${name}" >>"${out}/refused"
      echo "${name}: $(grep -m 1 error "${work}/message" || tail -n 1 "${work}/message")" |
        sed "s|${work}/cases/||g" >>"${out}/messages"
      continue
    fi
    # The compiler takes the most time, in sources that ask for all of its work.
    sed -i 's/, "O3")/)/' "${out}/${name}_avx2.cc"
    sed -i "s/^int main()/int Main_${name}()/" "${out}/${name}_test.cc"
  done
}

failed=0
# run_libraries FOLDER NAMES...: compiles libraries and their tests as one
# program, and runs it.
run_libraries() {
  local folder="$1" name files=()
  shift
  if (($# == 0)); then return; fi
  {
    printf 'int Main_%s();\n' "$@"
    echo '#include <cstdio>'
    echo 'int main() {'
    echo '  int failed = 0;'
    for name in "$@"; do
      echo "  if (Main_${name}() != 0) {"
      echo "    std::puts(\"${name}: the library differs\");"
      echo '    failed = 1;'
      echo '  }'
    done
    echo '  return failed;'
    echo '}'
  } >"${work}/driver.cc"
  for name in "$@"; do
    files+=("${folder}/${name}_avx2.cc" "${folder}/${name}_test.cc"
      "${folder}/${name}_weights.o" "${folder}/${name}_test_data.o")
  done
  # shellcheck disable=SC2086
  if ! { g++ -std=c++17 ${LIBRARY_FLAGS:-} "${work}/driver.cc" "${files[@]}" \
    -lm -o "${work}/run" && "${work}/run"; } >"${work}/output" 2>&1; then
    failed=1
    echo "of $*:"
    grep -v '^avx2$' "${work}/output" | head -n 50 || true
  fi
}

# run_all FOLDER REFUSED: what `write_libraries` made.
run_all() {
  local folder="$1" refused="$2" names=() name
  cat "${folder}/messages"
  while read -r name; do
    names+=("${name}")
    if ((${#names[@]} == 40)); then
      run_libraries "${folder}" "${names[@]}"
      names=()
    fi
  done < <(grep -vxFf "${folder}/refused" "${folder}/taken")
  run_libraries "${folder}" "${names[@]}"
  echo "$(($(wc -l <"${folder}/taken") - $(wc -l <"${folder}/refused"))) of" \
    "$(wc -l <"${folder}/taken") cases are libraries."
  if ! diff <(grep -v '^#' "${refused}" | sort | comm -12 - <(sort "${folder}/taken")) \
    <(sort "${folder}/refused"); then
    echo "Lines behind '<' are in ${refused}, those behind '>' are not."
    failed=1
  fi
}

case "$1" in
  write)
    write_libraries "$2" "$3" "$4" "$5" "${work}/out"
    tar --create --sort=name --mtime=@0 --owner=0 --group=0 --numeric-owner \
      --file="$6" --directory="${work}/out" .
    ;;
  run)
    mkdir "${work}/out"
    tar --extract --file="$2" --directory="${work}/out"
    run_all "${work}/out" "$3"
    ;;
  long)
    if [[ "${BATON_LONG_TESTS:-0}" == 0 ]]; then exit 0; fi
    write_libraries "${LIBRARY_CASES_STEP:-7}" "$2" "$3" "$4" "${work}/out"
    run_all "${work}/out" "$5"
    ;;
esac
exit "${failed}"
