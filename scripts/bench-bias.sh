#!/usr/bin/env bash
# Known 70/30 splits of CPU time in step with the kernel's tick, measured by our engines and by
# profilers that sample on the tick: is the share inside the 95 % interval that its number of
# samples allows, how far off is it, and are there as many samples as CPU time is due?
#   RUNS=60 CPU_MILLIS=2000            runs for each profiler, load and interval, and the CPU time
#                                      of each
#   PROFILERS="percpu tick async-profiler jdk25"    of the last two what they call their CPU time
#                                                   mode
#   LOADS="6_8_0 6_10_0 2_2_3"         threads_period_sleep, milliseconds; v in front: virtual
#                                      threads
#   INTERVALS=10                       milliseconds
#   FILE=target/bias/runs.txt          each run appends a line, so that a measurement that was
#                                      stopped goes on; the table is made of all lines. Remove it to
#                                      begin again.
. "$(dirname "$0")/lib.sh"
readonly OUT=$ROOT/target/bias
option RUNS 60 0
option CPU_MILLIS 2000 1
option PROFILERS "percpu tick async-profiler jdk25"
option LOADS "6_8_0 6_10_0 2_2_3"
option INTERVALS 10
option FILE "$OUT/runs.txt"
prepare_profilers sampling/Bias.java

# bias JDK AGENT_OPTION LOAD: runs the load; sets truth and cpu, the CPU seconds that it used. The
# phases keep a frame of their own, for those that know them by frames only.
bias() {
  local home=$1 option=$2 load=$3 kind=platform threads period sleep
  if [[ $load == v* ]]; then kind=virtual load=${load#v}; fi
  IFS=_ read -r threads period sleep <<<"$load"
  read -r cpu truth < <("$home/bin/java" "$option" -XX:+IgnoreUnrecognizedVMOptions \
    -Djdk.virtualThreadScheduler.parallelism=2 \
    -XX:CompileCommand=quiet -XX:CompileCommand=dontinline,Bias::phase* \
    -Xlog:disable -cp "$OUT/classes:$API" Bias "$kind" "$threads" "$period" "$sleep" "$CPU_MILLIS" |
    sed -n 's/^CPU //p; s/^TRUE-SHARE //p' | paste -sd' ')
}

# One run; prints "profiler load interval truth cpu a b low high", a and b in samples, low and high
# the interval that ctxjfr gives for the share of a.
one() {
  local profiler=$1 load=$2 interval=$3 recording=$OUT/run.jfr
  local option truth="" cpu="" a="" b="" low="" high=""
  rm -f "$recording"
  case $profiler in
    async-profiler)
      option=start,event=ctimer,interval=${interval}ms,jfr,file=$recording
      bias "$JAVA_HOME_21" "-agentpath:$OUT/libasyncProfiler.so=$option" "$load"
      read -r a b < <(frames jdk.ExecutionSample "$recording")
      ;;
    jdk25)
      jdk_settings "$interval ms" >"$OUT/cpu-time.jfc"
      option=settings=$OUT/cpu-time.jfc,filename=$recording
      bias "$JAVA_HOME_25" "-XX:StartFlightRecording:$option" "$load"
      read -r a b < <(frames jdk.CPUTimeSample "$recording")
      ;;
    *)
      option=start,engine=$profiler,interval=${interval}ms,ctx=phase,file=$recording,overwrite
      bias "$JAVA_HOME_21" "-agentpath:$AGENT=$option" "$load"
      read -r a b low high < <(target/release/ctxjfr report "$recording" --by phase \
        --where phase --csv |
        awk -F, '$1 == "A" { a = $3; low = $6; high = $7 } $1 == "B" { b = $3 }
          END { print a + 0, b + 0, low, high }')
      ;;
  esac
  if [[ -z $truth || -z $b ]]; then
    die "$profiler, load $load, $interval ms: no result"
  fi
  echo "$profiler $load $interval $truth $cpu $a $b $low $high"
}

done_of() { grep -c "^$1 $2 $3 " "$FILE" || true; }

left=0
for load in "${loads[@]}"; do
  for interval in "${intervals[@]}"; do
    for profiler in "${profilers[@]}"; do
      missing=$((RUNS - $(done_of "$profiler" "$load" "$interval")))
      left=$((left + (missing > 0 ? missing : 0)))
    done
  done
done
# On two cores: a JVM's start and the reading of its recording take as long as half a second of CPU
# time, a load that sleeps uses one core.
estimate=$((left * (CPU_MILLIS * 3 / 4 + 800) / 60000 + 1))
say "$left runs of $CPU_MILLIS ms of CPU time, about $estimate minutes; lines go to $FILE"

for ((run = 1; run <= RUNS; run++)); do
  begin=$SECONDS before=$left
  for load in "${loads[@]}"; do
    for interval in "${intervals[@]}"; do
      for profiler in "${profilers[@]}"; do
        (($(done_of "$profiler" "$load" "$interval") < run)) || continue
        line=$(one "$profiler" "$load" "$interval")
        echo "$line" >>"$FILE"
        left=$((left - 1))
      done
    done
  done
  ((left < before)) || continue
  more=$(((left * (SECONDS - begin) / (before - left) + 59) / 60))
  echo "run $run of $RUNS: $((SECONDS - begin)) s, about $more minutes more" >&2
done

echo -n "| profiler | threads, period, sleep (ms) | interval (ms) | runs "
echo -n "| inside the 95 % interval of as many points | inside the one of the report "
echo "| mean error (points) | root mean square of z | samples / due |"
echo "|---|---|---|---|---|---|---|---|---|"
awk '
  { key = $1 " " $2 " " $3; n = $6 + $7; runs[key]++; seen[key] += n; due[key] += $5 * 1000 / $3;
    if (n == 0) next
    share = $6 / n; se = sqrt($4 * (1 - $4) / n); z = (share - $4) / se
    if ($8 != "") { reported[key]++; in_report[key] += ($8 <= $4 && $4 <= $9) }
    told[key]++; inside[key] += (z < 1.96 && z > -1.96); off[key] += share - $4;
      squares[key] += z * z }
  END {
    for (key in runs) { split(key, k, " "); gsub("_", ", ", k[2]); t = told[key]; if (t == 0) t = 1
      r = reported[key] ? sprintf("%.0f %%", 100 * in_report[key] / reported[key]) : "–"
      printf "| %s | %s | %s | %d | %.0f %% | %s | %+.1f | %.1f | %.3f |\n", k[1], k[2], k[3],
        runs[key], 100 * inside[key] / runs[key], r, 100 * off[key] / t, sqrt(squares[key] / t),
        seen[key] / due[key] } }' "$FILE" | sort
