#!/usr/bin/env bash
# H2 and Jackson under profilers: throughput and latency beside phases in which none samples, in one
# JVM and round by round; then, one JVM each, how many of the workers' stacks reach the workers'
# loop, and how long the profiler's signal handler takes; under the hostile load of the tests, how
# many stacks have a frame of the load.
#   ROUNDS=200                   of the first part, about 45 minutes; 0 leaves it out
#   DURATION=20                  seconds of each JVM of the second part, about 8 minutes; 0 leaves
#                                it out. CPU time of the process, for the hostile load run time
#   LOADS="h2 jackson hostile"   hostile is in the second part only
#   INTERVALS="10 1"             milliseconds
#   JDKS="21 25"                 one that is not here is left out
# Needs gcc and unzip. The second part reads its recordings with the `jfr` of 25 where there is one,
# else of 21.
. "$(dirname "$0")/lib.sh"
option ROUNDS 200 0
option DURATION 20 0
option LOADS "h2 jackson hostile"
option INTERVALS "10 1"
option JDKS "21 25"
for command in gcc unzip; do
  command -v "$command" >/dev/null ||
    die "$command is missing (gcc compiles a clock for handlers, unzip unpacks async-profiler)"
done

load_tools
jdks=
for jdk in $JDKS; do
  if [[ -n $(home_of "$jdk") ]]; then jdks+=" $jdk"; else skip "$jdk" "no JDK $jdk here" >&2; fi
done
reader=${JAVA_HOME_25:-$JAVA_HOME_21}/bin/jfr
build_agent
readonly OUT=target/loads
mkdir -p "$OUT"
classpath=$(class_path_of :ctxagent-bench:loadsClasspath)
async_profiler "$(tr : '\n' <<<"$classpath" | grep '/async-profiler-')" "$OUT"
gcc -O2 -shared -fPIC -o "$OUT/handler_time.so" tests/shim/handler_time.c -ldl

# load JDK VM_OPTION… -- ARGUMENT…: a program of the benches.
load() {
  local java vm=()
  java=$(home_of "$1")/bin/java
  shift
  while [[ $1 != -- ]]; do
    vm+=("$1")
    shift
  done
  shift
  "$java" -Xmx512m -Xlog:disable -Xlog:all=error:stderr -XX:+UnlockDiagnosticVMOptions \
    -XX:+DebugNonSafepoints "${vm[@]}" -cp "$classpath" "$@"
}

if ((ROUNDS)); then
  for jdk in $jdks; do
    for work in $LOADS; do
      [[ $work != hostile ]] || continue
      for interval in $INTERVALS; do
        load "$jdk" "-agentpath:$AGENT" -- io.ctxagent.bench.loads.Compare "$work" "$interval" \
          "$ROUNDS" "$OUT"
        echo
      done
    done
  done
fi

# roots LOAD EVENT FILE: how many samples of workers there are, and how many of their stacks reach
# the loop. The hostile load recurses deeper than profilers look: there any frame of the load
# counts.
roots() {
  local thread=worker loop='Workers[$]Worker[.]loop[(]'
  [[ $1 != hostile ]] || thread='hostile-[^"]*' loop='Hostile[.$]'
  "$reader" print --events "$2" --stack-depth 2048 "$3" |
    awk -v thread="(sampledThread|eventThread) = \"$thread\"" -v loop="$loop" \
      'BEGIN { RS = "" } $0 ~ thread { n++; if ($0 ~ loop) whole++ }
      END { printf "%d %d\n", n, whole }'
}

# alone PROFILER JDK LOAD: one row of the second table.
alone() {
  local profiler=$1 jdk=$2 work=$3 file=$OUT/alone.jfr option event=jdk.ExecutionSample
  local all whole program share
  rm -f "$file"
  case $profiler in
    ctxagent) option=-agentpath:$AGENT=start,interval=1ms,file=$file,overwrite ;;
    async-profiler*)
      option=-agentpath:$PWD/$OUT/libasyncProfiler.so=start
      option+=,event=${profiler#* },interval=1ms,jfr,file=$file
      ;;
    JDK*)
      option=-XX:StartFlightRecording:settings=$OUT/cpu-time.jfc,filename=$file
      event=jdk.CPUTimeSample
      ;;
  esac
  program=(io.ctxagent.bench.loads.Alone "$work" "$DURATION")
  [[ $work != hostile ]] || program=(Hostile "$DURATION" 1)
  LD_PRELOAD=$PWD/$OUT/handler_time.so load "$jdk" "$option" \
    -- "${program[@]}" >/dev/null 2>"$OUT/alone.log" || {
    echo "| $work | $jdk | $profiler | the JVM ended with exit code $? | | |"
    return
  }
  read -r all whole < <(roots "$work" "$event" "$file")
  share=$(awk -v a="$all" -v w="$whole" 'BEGIN { printf "%.2f %%", a ? 100 * w / a : 0 }')
  echo "| $work | $jdk | $profiler | $all | $share | $(sed -n 's/^handler: //p' "$OUT/alone.log") |"
}

if ((DURATION)); then
  compile_programs "$OUT/classes" load/Hostile.java
  classpath=$OUT/classes:$classpath
  jdk_settings "1 ms" >"$OUT/cpu-time.jfc"
  echo -n "| load, 1 ms | JDK | profiler | samples of workers | reach the loop "
  echo "| its signal handler, CPU time |"
  echo "|---|---|---|---|---|---|"
  for jdk in $jdks; do
    profilers=(ctxagent "async-profiler ctimer" "async-profiler cpu-clock")
    ((jdk < 25)) || profilers+=("JDK CPUTimeSample")
    for work in $LOADS; do
      for profiler in "${profilers[@]}"; do
        alone "$profiler" "$jdk" "$work"
      done
    done
  done
fi
