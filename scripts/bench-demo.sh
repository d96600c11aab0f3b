#!/usr/bin/env bash
# What the agent costs the demo shop: two shops side by side at the same time, one with the agent
# and one without, so that whatever else the machine does hits both alike. Who starts first changes
# from pair to pair. Prints the median of the pairs' ratios, with their spread. Then what sampling
# alone costs, far more exactly: one shop whose recording goes on and is paused in phases of 0.15 s,
# two paused ones for each. In a pause all but sampling stays on, so its cost is on both sides:
# contexts, class events, and the writer, which wakes 50 times a second and flushes and looks at
# /proc once a second.
#   PAIRS=7 DURATION=30           pairs, and seconds of each; PAIRS=0 leaves them out
#   ROUNDS=1500 PHASE_MILLIS=150  rounds of phases; ROUNDS=0 leaves them out
#   WARMUP=25                     seconds: until the compilers are done
#   THREADS=both                  or virtual, platform
#   OPTIONS=…                     of the recording, besides file=
. "$(dirname "$0")/lib.sh"
option PAIRS 7 0
option DURATION 30 1
option ROUNDS 1500 0
option PHASE_MILLIS 150 1
option WARMUP 25 0
option THREADS both
option OPTIONS event=cpu,interval=10ms,ctx=endpoint+tenant

build_shop
readonly OUT=target/demo/bench
mkdir -p "$OUT"
agent=-agentpath:$AGENT=start,$OPTIONS,file=$OUT/bench.jfr,overwrite

# One shop; requests per second and CPU milliseconds per request go to $OUT/NAME.
measure() {
  local name=$1 figures='\([0-9.]*\) requests\/s, \([0-9.]*\) ms of CPU each, 0 failed'
  shift
  shop "$@" "--warmup=$WARMUP" "--seconds=$DURATION" --clients=4 "--threads=$THREADS" |
    sed -n "s/.*: $figures.*/\1 \2/p" >"$OUT/$name"
}

throughput=()
cpu=()
for ((pair = 1; pair <= PAIRS; pair++)); do
  rm -f "$OUT"/*
  if ((pair % 2)); then measure with "$agent" & else measure without -Dctxagent.none=true & fi
  if ((pair % 2)); then measure without -Dctxagent.none=true & else measure with "$agent" & fi
  wait
  read -r with_rate with_cpu <"$OUT/with" && read -r without_rate without_cpu <"$OUT/without" ||
    die "a shop did not finish"
  throughput+=("$(awk -v a="$with_rate" -v b="$without_rate" 'BEGIN { printf "%.4f", a / b }')")
  cpu+=("$(awk -v a="$with_cpu" -v b="$without_cpu" 'BEGIN { printf "%.4f", a / b }')")
  echo -n "pair $pair of $PAIRS: with $with_rate requests/s, $with_cpu ms of CPU each; " >&2
  echo "without $without_rate, $without_cpu" >&2
done
if ((PAIRS)); then
  printf '%d pairs of %d s, with the agent / without, median of the pairs (and their spread):\n' \
    "$PAIRS" "$DURATION"
  printf '  throughput        %.3f (%s)\n' \
    "$(printf '%s\n' "${throughput[@]}" | median)" \
    "$(printf '%s\n' "${throughput[@]}" | spread %.3f)"
  printf '  CPU per request   %.3f (%s)\n' "$(printf '%s\n' "${cpu[@]}" | median)" \
    "$(printf '%s\n' "${cpu[@]}" | spread %.3f)"
fi
if ((ROUNDS)); then
  shop "-agentpath:$AGENT" "--warmup=$WARMUP" --seconds=3600 "--threads=$THREADS" \
    "--alternate=$ROUNDS" "--phase=$PHASE_MILLIS" \
    "--recording=$OPTIONS,file=$OUT/phases.jfr,overwrite"
fi
