#!/bin/bash
# All cases of a folder are right in all ways.
#
# usage: onnx_reports_test.sh BATON_RUN BATON_OPT SCRIPT FOLDER

set -euo pipefail

/usr/bin/python3 "$3" "$1" "$2" "$4"
