#!/usr/bin/env bash
# Known 70/30 splits of CPU time in step with the kernel's tick, measured by our engines and by profilers that sample on the tick: is the share
# inside the 95 % interval that its number of samples allows, how far off is it, and are there as many samples as CPU time is due?
# scripts/bench-bias.sh [RUNS [SECONDS]]: 60 runs of 6 s of CPU time by default, for each profiler, load and interval. BENCH_PROFILERS, BENCH_LOADS and
# BENCH_INTERVALS choose some of them. Each run appends a line to target/bias/runs.txt, so that a run that was broken off goes on; the table is
# made of all its lines.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."

runs=${1:-60}
seconds=${2:-6}
[[ $runs =~ ^[0-9]+$ && $seconds =~ ^[0-9]+$ ]] && ((seconds >= 1)) || { echo "usage: scripts/bench-bias.sh [RUNS [SECONDS]]" >&2; exit 2; }
# Of async-profiler and JDK 25 what they call their CPU time mode.
profilers=${BENCH_PROFILERS:-stratified precise tick async-profiler jdk25}
# threads_period_sleep, milliseconds; v = virtual threads.
loads=${BENCH_LOADS:-6_8_0 6_10_0 v6_8_0 2_2_3}
intervals=${BENCH_INTERVALS:-10 1}

tools=$(scripts/toolchain.sh env)
eval "$tools"
cargo build --release --quiet -p ctxagent -p ctxjfr
readonly OUT=target/bias
mkdir -p "$OUT/classes"
[[ -n ${JAVA_HOME_25:-} ]] || { echo "bench-bias: needs a JDK 25, to compile and as one of those measured" >&2; exit 1; }
(cd "$OUT" && "$JAVA_HOME_25/bin/javac" --release 17 -cp ../../java-api/build/classes/java/main -d classes ../../tests/java/Bias.java) || {
  echo "bench-bias: build the Java API first: scripts/build.sh" >&2
  exit 1
}
jars=(.toolchain/interop/async-profiler-*.jar)
if [[ -e ${jars[0]} ]]; then
  unzip -qoj "${jars[0]}" linux-x64/libasyncProfiler.so -d "$OUT"
elif [[ $profilers == *async-profiler* ]]; then
  echo "SKIP async-profiler: not fetched (jfr-format/tests/interop/foreign/fetch.sh does that)" >&2
  profilers=${profilers/async-profiler/}
fi

# bias JDK AGENT_OPTION LOAD: runs the load; sets truth and cpu, the CPU seconds that it used.
bias() {
  local home=$1 option=$2 load=$3 kind=platform threads period sleep
  if [[ $load == v* ]]; then kind=virtual load=${load#v}; fi
  IFS=_ read -r threads period sleep <<<"$load"
  read -r cpu truth < <("$home/bin/java" "$option" -XX:+IgnoreUnrecognizedVMOptions -Djdk.virtualThreadScheduler.parallelism=2 \
    -Xlog:disable -cp "$OUT/classes:java-api/build/classes/java/main" Bias "$kind" "$threads" "$period" "$sleep" "$seconds" |
    sed -n 's/^CPU //p; s/^TRUE-SHARE //p' | paste -sd' ')
}

# frames JDK EVENT FILE: how many events have a frame of phase A, and of phase B.
frames() {
  "$1/bin/jfr" print --events "$2" --stack-depth 64 "$3" |
    awk '/Bias\.phaseA\(/ { a++ } /Bias\.phaseB\(/ { b++ } END { print a + 0, b + 0 }'
}

# One run; prints "profiler load interval truth cpu a b", a and b in samples.
one() {
  local profiler=$1 load=$2 interval=$3 file=$OUT/run.jfr truth cpu a b
  rm -f "$file"
  case $profiler in
    async-profiler)
      bias "$JAVA_HOME_21" "-agentpath:$PWD/$OUT/libasyncProfiler.so=start,event=ctimer,interval=${interval}ms,jfr,file=$file" "$load"
      read -r a b < <(frames "$JAVA_HOME_21" jdk.ExecutionSample "$file")
      ;;
    jdk25)
      sed "s/INTERVAL/$interval ms/" >"$OUT/cpu-time.jfc" <<<'<?xml version="1.0" encoding="UTF-8"?><configuration version="2.0"><event name="jdk.CPUTimeSample"><setting name="enabled">true</setting><setting name="throttle">INTERVAL</setting><setting name="stackTrace">true</setting></event></configuration>'
      bias "$JAVA_HOME_25" "-XX:StartFlightRecording:settings=$OUT/cpu-time.jfc,filename=$file" "$load"
      read -r a b < <(frames "$JAVA_HOME_25" jdk.CPUTimeSample "$file")
      ;;
    *)
      bias "$JAVA_HOME_21" "-agentpath:$PWD/target/release/libctxagent.so=start,engine=$profiler,interval=${interval}ms,ctx=phase,file=$file" "$load"
      read -r a b < <(target/release/ctxjfr report "$file" --by phase --csv | awk -F, '$1 == "A" { a = $3 } $1 == "B" { b = $3 } END { print a + 0, b + 0 }')
      ;;
  esac
  echo "$profiler $load $interval $truth $cpu $a $b"
}

for ((run = 1; run <= runs; run++)); do
  for load in $loads; do
    for interval in $intervals; do
      for profiler in $profilers; do
        done_before=$(grep -c "^$profiler $load $interval " "$OUT/runs.txt" 2>/dev/null || true)
        ((${done_before:-0} >= run)) || one "$profiler" "$load" "$interval" >>"$OUT/runs.txt"
      done
    done
  done
  echo "run $run of $runs" >&2
done

sort "$OUT/runs.txt" | awk '
  { key = $1 " " $2 " " $3; n = $6 + $7; if (n == 0) { empty[key]++; next }
    share = $6 / n; se = sqrt($4 * (1 - $4) / n); z = (share - $4) / se
    runs[key]++; inside[key] += (z < 1.96 && z > -1.96); off[key] += share - $4; squares[key] += z * z; seen[key] += n; due[key] += $5 * 1000 / $3 }
  END {
    print "| profiler | threads, period, sleep (ms) | interval (ms) | runs | inside the 95 % interval | mean error (points) | root mean square of z | samples / due |"
    print "|---|---|---|---|---|---|---|---|"
    for (key in runs) { split(key, k, " "); gsub("_", ", ", k[2])
      printf "| %s | %s | %s | %d | %.0f %% | %+.1f | %.1f | %.3f |\n", k[1], k[2], k[3], runs[key], 100 * inside[key] / runs[key], 100 * off[key] / runs[key], sqrt(squares[key] / runs[key]), seen[key] / due[key] } }' | { head -2; sort; }
