#!/usr/bin/env bash
# What the agent costs the demo shop: the same work with and without it, in alternating pairs; the ratio of the medians.
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

# median COLUMN RUN…
median() {
  local column=$1
  shift
  printf '%s\n' "$@" | cut -d' ' -f"$column" | sort -g | awk '{ v[NR] = $1 } END { print (NR % 2) ? v[(NR + 1) / 2] : (v[NR / 2] + v[NR / 2 + 1]) / 2 }'
}

awk -v w="$(median 1 "${with[@]}")" -v o="$(median 1 "${without[@]}")" -v wc="$(median 2 "${with[@]}")" -v oc="$(median 2 "${without[@]}")" \
  -v pairs="$pairs" -v requests="$requests" 'BEGIN {
    printf "%d pairs of %d requests, medians:\n", pairs, requests
    printf "  throughput   with agent %8.1f requests/s   without %8.1f   ratio %.3f\n", w, o, w / o
    printf "  CPU time     with agent %8.3f ms/request   without %8.3f   ratio %.3f\n", wc, oc, wc / oc
  }'
