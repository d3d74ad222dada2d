#!/bin/bash
# Prints the commit of the sources, for `--version`. ./bazelw gives this script
# to Bazel as --workspace_status_command; a program that is linked while the
# sources have another commit gets that one, and no program is linked for it.

set -euo pipefail

commit="$(git rev-parse --short=12 HEAD 2>/dev/null)" || exit 0
if ! git diff-index --quiet HEAD -- 2>/dev/null; then
  commit+="-modified"
fi
echo "BUILD_SCM_REVISION ${commit}"
