#!/bin/bash
# llvm_math.ll was made of the sources as they are.
set -eu
exec python3 tir/codegen/update_llvm_math.py --check
