#!/usr/bin/env bash
# Known 70/30 splits of CPU time in step with the kernel's tick, measured by our engines and by profilers that sample on the tick: is the share
# inside the 95 % interval that its number of samples allows, how far off is it, and are there as many samples as CPU time is due?
# scripts/bench-bias.sh [RUNS [MILLIS]]: 60 runs of 2000 ms of CPU time by default, for each profiler, load and interval. BENCH_PROFILERS, BENCH_LOADS and
# BENCH_INTERVALS choose others of them. Each run appends a line to BENCH_FILE (target/bias/runs.txt), so that a measurement that was broken off goes
# on; the table is made of all its lines. Remove the file to begin anew.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."

runs=${1:-60}
millis=${2:-2000}
[[ $runs =~ ^[0-9]+$ && $millis =~ ^[0-9]+$ ]] && ((millis >= 1)) || { echo "usage: scripts/bench-bias.sh [RUNS [MILLIS]]" >&2; exit 2; }
# Of async-profiler and JDK 25 what they call their CPU time mode.
read -ra profilers <<<"${BENCH_PROFILERS:-stratified precise tick async-profiler jdk25}"
# threads_period_sleep, milliseconds; v = virtual threads.
read -ra loads <<<"${BENCH_LOADS:-6_8_0 6_10_0 2_2_3}"
read -ra intervals <<<"${BENCH_INTERVALS:-10}"

tools=$(scripts/toolchain.sh env)
eval "$tools"
scripts/build.sh
readonly OUT=$PWD/target/bias
readonly API=$PWD/java-api/build/classes/java/main
file=${BENCH_FILE:-$OUT/runs.txt}
mkdir -p "$OUT/classes"
touch "$file"
"$CTXAGENT_JAVAC_HOME/bin/javac" --release 17 -cp "$API" -sourcepath tests/java -d "$OUT/classes" tests/java/Bias.java

# without NAME REASON: leaves a profiler out.
without() {
  local kept=() profiler
  for profiler in "${profilers[@]}"; do [[ $profiler == "$1" ]] || kept+=("$profiler"); done
  ((${#kept[@]} == ${#profilers[@]})) || echo "SKIP $1: $2" >&2
  profilers=("${kept[@]}")
}

jars=("${CTXAGENT_TOOLCHAIN_DIR:-.toolchain}"/interop/async-profiler-*.jar)
if [[ -e ${jars[0]} ]]; then
  unzip -qoj "${jars[0]}" linux-x64/libasyncProfiler.so -d "$OUT"
else
  without async-profiler "not fetched (jfr-format/tests/interop/foreign/fetch.sh does that)"
fi
[[ -n ${JAVA_HOME_25:-} ]] || without jdk25 "no JDK 25 here"

# bias JDK AGENT_OPTION LOAD: runs the load; sets truth and cpu, the CPU seconds that it used. The phases keep a frame of their own, for those
# that know them by frames only.
bias() {
  local home=$1 option=$2 load=$3 kind=platform threads period sleep
  if [[ $load == v* ]]; then kind=virtual load=${load#v}; fi
  IFS=_ read -r threads period sleep <<<"$load"
  read -r cpu truth < <("$home/bin/java" "$option" -XX:+IgnoreUnrecognizedVMOptions -Djdk.virtualThreadScheduler.parallelism=2 \
    -XX:CompileCommand=quiet -XX:CompileCommand=dontinline,Bias::phase* \
    -Xlog:disable -cp "$OUT/classes:$API" Bias "$kind" "$threads" "$period" "$sleep" "$millis" |
    sed -n 's/^CPU //p; s/^TRUE-SHARE //p' | paste -sd' ')
}

# frames EVENT FILE: how many events have a frame of phase A, and of phase B.
frames() {
  target/release/ctxjfr flame --event "$1" -o collapsed "$2" |
    awk '/Bias\.phaseA/ { a += $NF } /Bias\.phaseB/ { b += $NF } END { print a + 0, b + 0 }'
}

# One run; prints "profiler load interval truth cpu a b low high", a and b in samples, low and high the interval that ctxjfr gives for the share of a.
one() {
  local profiler=$1 load=$2 interval=$3 recording=$OUT/run.jfr truth="" cpu="" a="" b="" low="" high=""
  rm -f "$recording"
  case $profiler in
    async-profiler)
      bias "$JAVA_HOME_21" "-agentpath:$OUT/libasyncProfiler.so=start,event=ctimer,interval=${interval}ms,jfr,file=$recording" "$load"
      read -r a b < <(frames jdk.ExecutionSample "$recording")
      ;;
    jdk25)
      sed "s/INTERVAL/$interval ms/" >"$OUT/cpu-time.jfc" <<<'<?xml version="1.0" encoding="UTF-8"?><configuration version="2.0"><event name="jdk.CPUTimeSample"><setting name="enabled">true</setting><setting name="throttle">INTERVAL</setting><setting name="stackTrace">true</setting></event></configuration>'
      bias "$JAVA_HOME_25" "-XX:StartFlightRecording:settings=$OUT/cpu-time.jfc,filename=$recording" "$load"
      read -r a b < <(frames jdk.CPUTimeSample "$recording")
      ;;
    *)
      bias "$JAVA_HOME_21" "-agentpath:$PWD/target/release/libctxagent.so=start,engine=$profiler,interval=${interval}ms,ctx=phase,file=$recording,overwrite" "$load"
      read -r a b low high < <(target/release/ctxjfr report "$recording" --by phase --where phase --csv |
        awk -F, '$1 == "A" { a = $3; low = $6; high = $7 } $1 == "B" { b = $3 } END { print a + 0, b + 0, low, high }')
      ;;
  esac
  if [[ -z $truth || -z $b ]]; then
    echo "bench-bias: $profiler, load $load, $interval ms: no result" >&2
    exit 1
  fi
  echo "$profiler $load $interval $truth $cpu $a $b $low $high"
}

done_of() { grep -c "^$1 $2 $3 " "$file" || true; }

left=0
for load in "${loads[@]}"; do
  for interval in "${intervals[@]}"; do
    for profiler in "${profilers[@]}"; do
      missing=$((runs - $(done_of "$profiler" "$load" "$interval")))
      left=$((left + (missing > 0 ? missing : 0)))
    done
  done
done
# On two cores: a JVM's start and the reading of its recording take as long as half a second of CPU time, a load that sleeps uses one core.
estimate=$((left * (millis * 3 / 4 + 800) / 60000 + 1))
echo "bench-bias: $left runs of $millis ms of CPU time, about $estimate minutes; lines go to $file" >&2

for ((run = 1; run <= runs; run++)); do
  begin=$SECONDS before=$left
  for load in "${loads[@]}"; do
    for interval in "${intervals[@]}"; do
      for profiler in "${profilers[@]}"; do
        (($(done_of "$profiler" "$load" "$interval") < run)) || continue
        line=$(one "$profiler" "$load" "$interval")
        echo "$line" >>"$file"
        left=$((left - 1))
      done
    done
  done
  ((left == before)) || echo "run $run of $runs: $((SECONDS - begin)) s, about $(((left * (SECONDS - begin) / (before - left) + 59) / 60)) minutes more" >&2
done

echo "| profiler | threads, period, sleep (ms) | interval (ms) | runs | inside the 95 % interval of as many points | inside the one of the report | mean error (points) | root mean square of z | samples / due |"
echo "|---|---|---|---|---|---|---|---|---|"
awk '
  { key = $1 " " $2 " " $3; n = $6 + $7; runs[key]++; seen[key] += n; due[key] += $5 * 1000 / $3; if (n == 0) next
    share = $6 / n; se = sqrt($4 * (1 - $4) / n); z = (share - $4) / se
    if ($8 != "") { reported[key]++; in_report[key] += ($8 <= $4 && $4 <= $9) }
    told[key]++; inside[key] += (z < 1.96 && z > -1.96); off[key] += share - $4; squares[key] += z * z }
  END {
    for (key in runs) { split(key, k, " "); gsub("_", ", ", k[2]); t = told[key]; if (t == 0) t = 1
      r = reported[key] ? sprintf("%.0f %%", 100 * in_report[key] / reported[key]) : "–"
      printf "| %s | %s | %s | %d | %.0f %% | %s | %+.1f | %.1f | %.3f |\n", k[1], k[2], k[3], runs[key], 100 * inside[key] / runs[key], r, 100 * off[key] / t, sqrt(squares[key] / t), seen[key] / due[key] } }' "$file" | sort
