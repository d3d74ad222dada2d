#!/bin/bash
# empty_file_test.sh FILE: passes if FILE is empty, and prints it otherwise.
set -euo pipefail

if [[ -s "$1" ]]; then
  cat "$1" >&2
  exit 1
fi
