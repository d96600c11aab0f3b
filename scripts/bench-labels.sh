#!/usr/bin/env bash
# What labels of requests cost a service that knows nothing of them, Spring MVC on Tomcat. First its
# way to one request of each route and its end: without the agent, with a recording without labels,
# with one with them, and with OpenTelemetry's Java agent instead. Then its throughput, and its CPU
# time per request, in phases of one JVM: no recording, one without labels, one with them. All take
# turns; prints medians of what is compared within a turn, and their spread.
#   STARTS=15           starts of each; 0 leaves them out
#   ROUNDS=30           rounds of three phases; 0 leaves them out
#   PHASE_MILLIS=1000   length of a phase
#   CLIENTS=4           threads that ask
#   JDK=21
. "$(dirname "$0")/lib.sh"
option STARTS 15 0
option ROUNDS 30 0
option PHASE_MILLIS 1000 100
option CLIENTS 4 1
option JDK 21

load_tools
build_agent
scripts/build.sh services
java=$(home_of "$JDK")/bin/java
readonly OUT=$ROOT/target/label-costs SERVICES=$ROOT/tests/services/build
mkdir -p "$OUT"
cd "$OUT"

# service CLASS ARGUMENT… -- VM_OPTION…
service() {
  local arguments=()
  while [[ $1 != -- ]]; do
    arguments+=("$1")
    shift
  done
  shift
  "$java" "$@" -Dserver.port=0 -cp "$SERVICES/app/*" "${arguments[@]}" >run.log 2>&1 ||
    die "a service failed: $OUT/run.log"
}

# started NAME VM_OPTION…: a line "NAME wall-clock and CPU milliseconds".
started() {
  local name=$1 TIMEFORMAT='%R %U %S'
  shift
  { time service service.SpringService 1 -- "$@"; } 2>time.txt || {
    cat time.txt >&2
    return 1
  }
  awk -v name="$name" '{ printf "%s %d %d\n", name, $1 * 1000, ($2 + $3) * 1000 }' time.txt
}

starts() {
  local recording=-agentpath:$AGENT=start,file=start.jfr,overwrite turn
  for ((turn = 0; turn <= STARTS; turn++)); do
    started without
    started labels=none "$recording,labels=none"
    started labels=auto "$recording"
    started opentelemetry "-javaagent:$SERVICES/agents/opentelemetry-javaagent.jar" \
      -Dotel.{traces,metrics,logs}.exporter=none
  done | tail -n +5 # the first turn reads the files from the disk
}

# numbers LINES NAME COLUMN: those of the lines that begin with a name.
numbers() { awk -v name="$2" -v column="$3" '$1 == name { print $column }' <<<"$1"; }

# differences LINES BASE NAME COLUMN, ratios LINES BASE NAME COLUMN: turn by turn.
pairs() { paste <(numbers "$1" "$3" "$4") <(numbers "$1" "$2" "$4"); }
differences() { pairs "$@" | awk '{ print $1 - $2 }'; }
ratios() { pairs "$@" | awk '{ print $1 / $2 }'; }

if ((STARTS)); then
  lines=$(starts)
  echo "start, four requests and end of Spring MVC on JDK $JDK, $STARTS of each, milliseconds:"
  printf '  without the agent: %s by wall clock, %s of CPU\n' \
    "$(numbers "$lines" without 2 | median)" "$(numbers "$lines" without 3 | median)"
  for name in labels=none labels=auto opentelemetry; do
    wall=$(differences "$lines" without "$name" 2)
    cpu=$(differences "$lines" without "$name" 3)
    printf '  %s: %+.0f by wall clock (%s), %+.0f of CPU (%s)\n' "$name" \
      "$(median <<<"$wall")" "$(spread %.0f <<<"$wall")" \
      "$(median <<<"$cpu")" "$(spread %.0f <<<"$cpu")"
  done
fi
if ((ROUNDS)); then
  service service.LabelCosts "$ROUNDS" "$PHASE_MILLIS" "$CLIENTS" -- "-agentpath:$AGENT"
  # requests per second, CPU microseconds per request
  lines=$(awk '$1 == "phase" { print $2, $3 * 1e6 / $4, $5 / $3 }' run.log)
  printf '%d rounds of three phases of %d ms; without a recording: ' "$ROUNDS" "$PHASE_MILLIS"
  printf '%.0f requests/s, %.0f us of CPU each, client included\n' \
    "$(numbers "$lines" off 2 | median)" "$(numbers "$lines" off 3 | median)"
  for base in off none; do
    rate=$(ratios "$lines" $base auto 2)
    cpu=$(ratios "$lines" $base auto 3)
    printf '  labels=auto / %s: throughput %.3f (%s), CPU %.3f (%s)\n' "${base/none/labels=none}" \
      "$(median <<<"$rate")" "$(spread %.3f <<<"$rate")" \
      "$(median <<<"$cpu")" "$(spread %.3f <<<"$cpu")"
  done
  awk '$1 == "heap" { printf "  %d requests: heap %.1f MB before, %.1f after\n", $2, $3 / 1e6,
    $4 / 1e6 }' run.log
fi
