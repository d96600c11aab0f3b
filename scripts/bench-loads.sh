#!/usr/bin/env bash
# H2 and Jackson under profilers: throughput and latency beside phases in which none samples, in one JVM and round by round; then, one JVM each, how many of
# the workers' stacks reach the workers' loop, and how long the profiler's signal handler takes; under the hostile load of the tests, how many stacks
# have a frame of the load.
# scripts/bench-loads.sh [ROUNDS [SECONDS]]: 200 rounds and 20 s by default, 0 leaves a part out; about 45 and 8 minutes. The seconds are CPU time of the
# process, for the hostile load run time. BENCH_LOADS (of h2, jackson, hostile; hostile is in the second part only), BENCH_INTERVALS and BENCH_JDKS choose
# some of them. Needs gcc and unzip; a JDK that is not here is left out. The second part reads its recordings with the `jfr` of 25 where there is one, else of 21.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."

rounds=${1:-200}
seconds=${2:-20}
[[ $rounds =~ ^[0-9]+$ && $seconds =~ ^[0-9]+$ ]] || { echo "usage: scripts/bench-loads.sh [ROUNDS [SECONDS]]" >&2; exit 2; }
loads=${BENCH_LOADS:-h2 jackson hostile}
intervals=${BENCH_INTERVALS:-10 1}
for command in gcc unzip; do
  command -v "$command" >/dev/null || { echo "bench-loads: $command is missing (gcc compiles a clock for signal handlers, unzip unpacks async-profiler)" >&2; exit 1; }
done

tools=$(scripts/toolchain.sh env)
eval "$tools"
jdks=
for jdk in ${BENCH_JDKS:-21 25}; do
  home=JAVA_HOME_$jdk
  if [[ -n ${!home:-} ]]; then jdks+=" $jdk"; else echo "SKIP $jdk: no JDK $jdk here" >&2; fi
done
reader=${JAVA_HOME_25:-$JAVA_HOME_21}/bin/jfr
cargo build --release --quiet -p ctxagent -p ctxjfr
readonly OUT=target/loads AGENT=$PWD/target/release/libctxagent.so
mkdir -p "$OUT"
./gradlew --quiet :ctxagent-bench:loadsClasspath >"$OUT/gradle.log" 2>&1 || { cat "$OUT/gradle.log" >&2; exit 1; }
classpath=$(grep '\.jar' "$OUT/gradle.log" | tail -n 1)
jar=$(tr : '\n' <<<"$classpath" | grep '/async-profiler-')
unzip -qoj "$jar" linux-x64/libasyncProfiler.so -d "$OUT"
gcc -O2 -shared -fPIC -o "$OUT/handler_time.so" tests/shim/handler_time.c -ldl

# java_of JDK
java_of() { local home=JAVA_HOME_$1; echo "${!home}/bin/java"; }
# load JDK VM_OPTION… -- ARGUMENT…: a program of the benches.
load() {
  local java vm=()
  java=$(java_of "$1")
  shift
  while [[ $1 != -- ]]; do vm+=("$1"); shift; done
  shift
  "$java" -Xmx512m -Xlog:disable -Xlog:all=error:stderr -XX:+UnlockDiagnosticVMOptions -XX:+DebugNonSafepoints "${vm[@]}" -cp "$classpath" "$@"
}

if ((rounds)); then
  for jdk in $jdks; do
    for work in $loads; do
      [[ $work != hostile ]] || continue
      for interval in $intervals; do
        load "$jdk" "-agentpath:$AGENT" -- io.ctxagent.bench.loads.Compare "$work" "$interval" "$rounds" "$OUT"
        echo
      done
    done
  done
fi

# roots LOAD EVENT FILE: how many samples of workers there are, and how many of their stacks reach the loop. The hostile load recurses deeper than
# profilers look: there any frame of the load counts.
roots() {
  local thread=worker loop='Workers[$]Worker[.]loop[(]'
  [[ $1 != hostile ]] || thread='hostile-[^"]*' loop='Hostile[.$]'
  "$reader" print --events "$2" --stack-depth 2048 "$3" |
    awk -v thread="(sampledThread|eventThread) = \"$thread\"" -v loop="$loop" \
      'BEGIN { RS = "" } $0 ~ thread { n++; if ($0 ~ loop) whole++ } END { printf "%d %d\n", n, whole }'
}

# alone PROFILER JDK LOAD: one row of the second table.
alone() {
  local profiler=$1 jdk=$2 work=$3 file=$OUT/alone.jfr option event=jdk.ExecutionSample all whole program
  rm -f "$file"
  case $profiler in
    ctxagent) option=-agentpath:$AGENT=start,interval=1ms,file=$file,overwrite ;;
    async-profiler*) option=-agentpath:$PWD/$OUT/libasyncProfiler.so=start,event=${profiler#* },interval=1ms,jfr,file=$file ;;
    JDK*) option=-XX:StartFlightRecording:settings=$OUT/cpu-time.jfc,filename=$file event=jdk.CPUTimeSample ;;
  esac
  program=(io.ctxagent.bench.loads.Alone "$work" "$seconds")
  [[ $work != hostile ]] || program=(Hostile "$seconds" 1)
  LD_PRELOAD=$PWD/$OUT/handler_time.so load "$jdk" "$option" -- "${program[@]}" >/dev/null 2>"$OUT/alone.log" || {
    echo "| $work | $jdk | $profiler | the JVM ended with exit code $? | | |"
    return
  }
  read -r all whole < <(roots "$work" "$event" "$file")
  echo "| $work | $jdk | $profiler | $all | $(awk -v a="$all" -v w="$whole" 'BEGIN { printf "%.2f %%", a ? 100 * w / a : 0 }') | $(sed -n 's/^handler: //p' "$OUT/alone.log") |"
}

if ((seconds)); then
  "$CTXAGENT_JAVAC_HOME/bin/javac" --release 17 -d "$OUT/classes" tests/java/Hostile.java
  classpath=$OUT/classes:$classpath
  echo '<?xml version="1.0" encoding="UTF-8"?><configuration version="2.0"><event name="jdk.CPUTimeSample"><setting name="enabled">true</setting><setting name="throttle">1 ms</setting><setting name="stackTrace">true</setting></event></configuration>' >"$OUT/cpu-time.jfc"
  echo "| load, 1 ms | JDK | profiler | samples of workers | reach the loop | its signal handler, CPU time |"
  echo "|---|---|---|---|---|---|"
  for jdk in $jdks; do
    profilers=(ctxagent "async-profiler ctimer" "async-profiler cpu-clock")
    ((jdk < 25)) || profilers+=("JDK CPUTimeSample")
    for work in $loads; do
      for profiler in "${profilers[@]}"; do
        alone "$profiler" "$jdk" "$work"
      done
    done
  done
fi
