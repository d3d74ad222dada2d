#!/bin/bash
# usage: without_test.sh PROGRAM OUTPUT PACKAGES SYMBOL SYMBOLS
#
# Checks that checks/PROGRAM works, that is, prints a line that contains OUTPUT;
# that it depends on none of PACKAGES (`relay|runtime`); and that it holds the
# symbol SYMBOL, so that there are symbols to look at, but none of SYMBOLS. All
# but OUTPUT and SYMBOL are extended regular expressions.

set -euo pipefail

program="checks/$1"
output="$2"
packages="$3"
symbol="$4"
symbols="$5"
dependencies="${program}_dependencies"

fail() {
  echo "$1" >&2
  exit 1
}

[[ "$("${program}" | grep -cF "${output}")" == 1 ]] || fail "the program does not work"

grep -qx '//ir:ir' "${dependencies}" || fail "no list of dependencies"
if grep -E "^//(${packages})[/:]" "${dependencies}"; then
  fail "the program depends on these"
fi

# With --config=dynamic, symbols are in shared libraries.
mapfile -t files < <(echo "${program}" &&
  ldd "${program}" | awk '$3 ~ /^\// && $3 !~ /^\/(usr\/)?lib/ { print $3 }')
found="$(nm --demangle "${files[@]}")"
grep -qF "${symbol}" <<<"${found}" || fail "no symbols to look at"
if grep -E "${symbols}" <<<"${found}"; then
  fail "the program holds these symbols"
fi
