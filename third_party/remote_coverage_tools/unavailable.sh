#!/bin/bash
echo "bazel coverage: Debian packages no coverage tools for Bazel." >&2
exit 1
