#!/bin/bash
# Runs a script with Debian's Python, which has onnx and NumPy.
#
# usage: run_script_test.sh SCRIPT.py [ARGS...]

set -euo pipefail

exec /usr/bin/python3 "$@"
