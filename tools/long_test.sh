#!/bin/bash
# Runs a test in the long form of tests only (BATON_LONG_TESTS is not 0).
#
# usage: long_test.sh TEST [ARGUMENTS...]

if [[ "${BATON_LONG_TESTS:-0}" == 0 ]]; then
  echo "skipped: it is a part of the long form"
  exit 0
fi
exec "$@"
