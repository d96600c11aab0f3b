#!/usr/bin/env bash
# What the agent costs the demo shop: two shops side by side at the same time, one with the agent and one without, so that whatever else the
# machine does hits both alike. Who starts first changes from pair to pair. Prints the median of the pairs' ratios, with their spread. Then what
# sampling alone costs, far more exactly: one shop whose recording goes on and is paused in phases of 0.15 s, two paused ones for each. In a pause all
# but sampling stays on, so its cost is on both sides: contexts, class events, and the writer, which wakes 50 times a second and flushes and looks at
# /proc once a second.
# scripts/bench-demo.sh [PAIRS [SECONDS [ROUNDS]]], 7 pairs of 30 s and 1500 rounds of phases by default; 0 leaves a part out. BENCH_PHASE=MILLISECONDS (150). BENCH_THREADS=both|virtual|platform; BENCH_WARMUP=SECONDS (25: until
# the compilers are done); BENCH_OPTIONS=options of the recording besides file= (interval=10ms and two attributes).
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."

pairs=${1:-7}
seconds=${2:-30}
rounds=${3:-1500}
[[ $pairs =~ ^[0-9]+$ && $seconds =~ ^[0-9]+$ && $rounds =~ ^[0-9]+$ ]] && ((seconds >= 1)) || {
  echo "usage: scripts/bench-demo.sh [PAIRS [SECONDS [ROUNDS]]]" >&2
  exit 2
}

. scripts/shop.sh
build_shop
readonly OUT=target/demo/bench
mkdir -p "$OUT"
library=-agentpath:$PWD/target/release/libctxagent.so
options=${BENCH_OPTIONS:-event=cpu,interval=10ms,ctx=endpoint+tenant}
agent=$library=start,$options,file=$OUT/bench.jfr,overwrite

# One shop; requests per second and CPU milliseconds per request go to $OUT/NAME.
measure() {
  local name=$1
  shift
  shop "$@" "--warmup=${BENCH_WARMUP:-25}" "--seconds=$seconds" --clients=4 "--threads=${BENCH_THREADS:-both}" |
    sed -n 's/.*: \([0-9.]*\) requests\/s, \([0-9.]*\) ms of CPU each, 0 failed.*/\1 \2/p' >"$OUT/$name"
}

# median NUMBER…
median() { printf '%s\n' "$@" | sort -g | awk '{ v[NR] = $1 } END { print (NR % 2) ? v[(NR + 1) / 2] : (v[NR / 2] + v[NR / 2 + 1]) / 2 }'; }
spread() { printf '%s\n' "$@" | sort -g | sed -n '1p;$p' | paste -sd' ' | awk '{ printf "%.3f to %.3f", $1, $2 }'; }

throughput=()
cpu=()
for ((pair = 1; pair <= pairs; pair++)); do
  rm -f "$OUT"/*
  if ((pair % 2)); then measure with "$agent" & else measure without -Dctxagent.none=true & fi
  if ((pair % 2)); then measure without -Dctxagent.none=true & else measure with "$agent" & fi
  wait
  read -r with_rate with_cpu <"$OUT/with" && read -r without_rate without_cpu <"$OUT/without" || { echo "bench-demo: a shop did not finish" >&2; exit 1; }
  throughput+=("$(awk -v a="$with_rate" -v b="$without_rate" 'BEGIN { printf "%.4f", a / b }')")
  cpu+=("$(awk -v a="$with_cpu" -v b="$without_cpu" 'BEGIN { printf "%.4f", a / b }')")
  echo "pair $pair of $pairs: with $with_rate requests/s, $with_cpu ms of CPU each; without $without_rate, $without_cpu" >&2
done
if ((pairs)); then
  printf '%d pairs of %d s, with the agent / without, median of the pairs (and their spread):\n' "$pairs" "$seconds"
  printf '  throughput        %.3f (%s)\n' "$(median "${throughput[@]}")" "$(spread "${throughput[@]}")"
  printf '  CPU per request   %.3f (%s)\n' "$(median "${cpu[@]}")" "$(spread "${cpu[@]}")"
fi
if ((rounds)); then
  shop "$library" "--warmup=${BENCH_WARMUP:-25}" --seconds=3600 "--threads=${BENCH_THREADS:-both}" "--alternate=$rounds" "--phase=${BENCH_PHASE:-150}" \
    "--recording=$options,file=$OUT/phases.jfr,overwrite"
fi
