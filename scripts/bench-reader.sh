#!/usr/bin/env bash
# Our reader beside RecordingFile, async-profiler's JfrReader and Grafana's jfr-parser, on the same
# files in the same run. Some ten minutes.
#   RECORDINGS="a.jfr b.jfr"   besides the files made here: each as it is, and repeated up to 200 MB
. "$(dirname "$0")/lib.sh"
option RECORDINGS ""

load_tools
# cargo runs a bench in the directory of its crate.
recordings=()
for file in $RECORDINGS; do recordings+=("$(realpath "$file")"); done
exec cargo bench --quiet -p jfr-format --bench reader -- "${recordings[@]}"
