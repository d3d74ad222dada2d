#!/bin/bash
# A program that uses ir/ and transform/ alone links nothing of Relay: it
# depends on no package of it, and holds none of its symbols.

set -euo pipefail

program="checks/without_relay"
dependencies="checks/without_relay_dependencies"

fail() {
  echo "$1" >&2
  exit 1
}

[[ "$("${program}" | grep -c '@main;')" == 1 ]] || fail "the program does not work"

grep -qx '//ir:ir' "${dependencies}" || fail "no list of dependencies"
if grep -E '^//(relay|runtime|instrument|tools)[/:]' "${dependencies}"; then
  fail "the program depends on these"
fi

# With --config=dynamic, symbols are in shared libraries.
mapfile -t files < <(echo "${program}" &&
  ldd "${program}" | awk '$3 ~ /^\// && $3 !~ /^\/(usr\/)?lib/ { print $3 }')
symbols="$(nm --demangle "${files[@]}")"
grep -q 'baton::IRModule::Set(' <<<"${symbols}" || fail "no symbols to look at"
# Relay's node classes are in namespace baton.
if grep -E 'baton::(relay::|CallNode|FunctionNode|LetNode|InferTypes|ParseExpr)' \
    <<<"${symbols}"; then
  fail "the program holds these symbols of Relay"
fi
