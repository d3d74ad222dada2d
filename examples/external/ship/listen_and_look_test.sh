#!/bin/bash
# Three different values of the recurrent model, and one answer of the
# classifier for any number of threads.
set -euo pipefail
output="$("$1")"
echo "${output}"
[[ "$(grep -c '^heard 0[.]' <<<"${output}")" == 3 ]]
[[ "$(grep '^heard' <<<"${output}" | sort -u | wc -l)" == 3 ]]
grep -q '^seen 0[.][0-9]*, by threads, too$' <<<"${output}"
