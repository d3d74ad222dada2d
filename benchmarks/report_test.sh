#!/bin/bash
# The tables that `report` makes of recorded measurements.

set -euo pipefail

here="benchmarks"
diff "${here}/testdata/report.txt" <("${here}/report" \
  --core_json="${here}/testdata/core.json" \
  --growth_json="${here}/testdata/growth.jsonl" --matrix)

# The page that `instrument_costs` makes of them.
diff "${here}/testdata/instrument_costs.txt" <("${here}/instrument_costs" \
  --json="${here}/testdata/instrument_costs.json" \
  --machine="a machine, 2 cores")
