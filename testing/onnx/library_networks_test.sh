#!/bin/bash
# Compiles ONNX's light models to libraries. Each step and each result has the
# bytes of the executor and of the evaluator. A source is at most 1 MB of text,
# and takes the compiler at most 20 seconds of one processor and 1 GB.
#
# usage:
#   library_networks_test.sh write BATON_COMPILE OUT.tar MODEL...
#   library_networks_test.sh run LIBRARIES.tar
#   library_networks_test.sh long BATON_COMPILE MODEL...
#
# `write` makes the libraries that `run` compiles and runs: the first is an action
# of the build, so that the second runs again only if a library is another one.
# `long` is both, in the form of BATON_LONG_TESTS=1 only.

set -euo pipefail

if [[ "$1" != write ]] && ! command -v g++ >/dev/null; then
  echo "skipped: there is no g++"
  exit 0
fi
work="$(mktemp -d)"
trap 'rm -rf "${work}"' EXIT
failed=0

# write_library BATON_COMPILE MODEL OUT: into a folder of OUT.
write_library() {
  local name
  name="$(basename "$2" .onnx)"
  mkdir -p "$3/${name}"
  "$1" "$2" --isas=avx2 --test --check_values --output_dir="$3/${name}" | tail -n 1
}

# run_library FOLDER
run_library() {
  local name source
  name="$(basename "$1")"
  source="$1/${name}_avx2.cc"
  if (($(stat -c %s "${source}") > 1 << 20)); then
    echo "${name}: the source has more than 1 MB"
    failed=1
  fi
  if ! (ulimit -t 20 -v $((1 << 20)) &&
    g++ -std=c++17 -O2 -c "${source}" -o "$1/code.o"); then
    echo "${name}: the compiler takes more than 20 seconds or 1 GB"
    failed=1
  fi
  if ! (cd "$1" && g++ -std=c++17 -O1 ./*_test.cc ./*.o -lm -o run && ./run); then
    echo "${name}: the library differs"
    failed=1
  fi
  rm -rf "$1"
}

mode="$1"
shift
case "${mode}" in
  write)
    baton_compile="$1" out="$2"
    shift 2
    for model in "$@"; do
      write_library "${baton_compile}" "${model}" "${work}/out" >/dev/null
    done
    tar --create --sort=name --mtime=@0 --owner=0 --group=0 --numeric-owner \
      --file="${out}" --directory="${work}/out" .
    ;;
  run)
    mkdir "${work}/out"
    tar --extract --file="$1" --directory="${work}/out"
    for folder in "${work}"/out/*; do run_library "${folder}"; done
    ;;
  long)
    if [[ "${BATON_LONG_TESTS:-0}" == 0 ]]; then exit 0; fi
    baton_compile="$1"
    shift
    for model in "$@"; do
      write_library "${baton_compile}" "${model}" "${work}/out"
      run_library "${work}/out/$(basename "${model}" .onnx)"
    done
    ;;
esac
exit "${failed}"
