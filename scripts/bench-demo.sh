#!/usr/bin/env bash
# What the agent costs the demo shop: the same work with and without it, in alternating pairs; the median of the pairs' ratios.
# scripts/bench-demo.sh [PAIRS [REQUESTS]], 7 pairs of 20000 requests by default. BENCH_THREADS=both|virtual|platform.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."

pairs=${1:-7}
requests=${2:-20000}
[[ $pairs =~ ^[0-9]+$ && $requests =~ ^[0-9]+$ ]] && ((pairs >= 1 && requests >= 1)) || { echo "usage: scripts/bench-demo.sh [PAIRS [REQUESTS]]" >&2; exit 2; }

. scripts/shop.sh
build_shop
mkdir -p target/demo
agent=-agentpath:$PWD/target/release/libctxagent.so=start,event=cpu,interval=10ms,file=target/demo/bench.jfr,ctx=endpoint+tenant

# Requests per second and CPU milliseconds per request of one run.
measure() {
  rm -f target/demo/bench.jfr
  shop "$@" --warmup=5 "--requests=$requests" "--threads=${BENCH_THREADS:-both}" |
    sed -n 's/.*: \([0-9.]*\) requests\/s, \([0-9.]*\) ms of CPU each, 0 failed.*/\1 \2/p'
}

with=()
without=()
for ((pair = 1; pair <= pairs; pair++)); do
  # The order changes with each pair, so that a drift of the machine hits both alike.
  if ((pair % 2)); then
    with+=("$(measure "$agent")")
    without+=("$(measure -Dctxagent.none=true)")
  else
    without+=("$(measure -Dctxagent.none=true)")
    with+=("$(measure "$agent")")
  fi
  echo "pair $pair of $pairs: with ${with[-1]% *} requests/s, without ${without[-1]% *}" >&2
done

# median NUMBER…
median() { printf '%s\n' "$@" | sort -g | awk '{ v[NR] = $1 } END { print (NR % 2) ? v[(NR + 1) / 2] : (v[NR / 2] + v[NR / 2 + 1]) / 2 }'; }

# The runs of a pair follow each other, so the machine's drift is in both: the median of the pairs' ratios, not the ratio of two medians.
throughput=()
cpu=()
for ((pair = 0; pair < pairs; pair++)); do
  read -r with_rate with_cpu <<<"${with[pair]}"
  read -r without_rate without_cpu <<<"${without[pair]}"
  throughput+=("$(awk -v a="$with_rate" -v b="$without_rate" 'BEGIN { printf "%.4f", a / b }')")
  cpu+=("$(awk -v a="$with_cpu" -v b="$without_cpu" 'BEGIN { printf "%.4f", a / b }')")
done
spread() { printf '%s\n' "$@" | sort -g | sed -n '1p;$p' | paste -sd' ' | awk '{ printf "%.3f to %.3f", $1, $2 }'; }
printf '%d pairs of %d requests, with the agent / without, median of the pairs (and their spread):\n' "$pairs" "$requests"
printf '  throughput        %.3f (%s)\n' "$(median "${throughput[@]}")" "$(spread "${throughput[@]}")"
printf '  CPU per request   %.3f (%s)\n' "$(median "${cpu[@]}")" "$(spread "${cpu[@]}")"
