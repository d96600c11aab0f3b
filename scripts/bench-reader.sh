#!/usr/bin/env bash
# Our reader beside RecordingFile, async-profiler's JfrReader and Grafana's jfr-parser, on the same files in the same run.
# scripts/bench-reader.sh [RECORDING...]: files made here, and each given one as it is and repeated up to 200 MB. Some ten minutes.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."

tools=$(scripts/toolchain.sh env)
eval "$tools"
# cargo runs a bench in the folder of its crate.
recordings=()
for file in "$@"; do recordings+=("$(realpath "$file")"); done
exec cargo bench --quiet -p jfr-format --bench reader -- "${recordings[@]}"
