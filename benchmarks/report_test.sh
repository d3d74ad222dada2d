#!/bin/bash
# The tables that `report` makes of recorded measurements.

set -euo pipefail

here="benchmarks"
diff "${here}/testdata/report.txt" <("${here}/report" \
  --core_json="${here}/testdata/core.json" \
  --growth_json="${here}/testdata/growth.jsonl" --matrix)
