#!/usr/bin/env bash
# Has each thread as many samples as its CPU time is due? Loads whose threads know their CPU time,
# under our engines and other profilers: samples by due ones of all threads that worked, the same of
# each thread with more than 200 due, and the share of CPU time of one label.
#   RUNS=1 MILLIS=6000                 runs of each, and the length of one
#   PROFILERS="percpu tick async-profiler jdk25"    of the last two what they call their CPU time
#                                                   mode; they know no labels, so frames stand for
#                                                   them
#   LOADS="busy2 ..."                  names in the table below
#   INTERVALS="10 1"                   milliseconds
#   JDK=21                             for our engines and async-profiler
#   HOGS=0                             busy processes beside it
#   FILE=target/dues/runs.txt          each run appends a line; the table is made of all lines.
#                                      Remove it to begin again.
. "$(dirname "$0")/lib.sh"
readonly OUT=$ROOT/target/dues
# name: load, threads, burst and sleep in microseconds (the bursts of half of the threads are twice
# as long)
declare -A load_of=(
  [busy2]="bursts 2 2000 0" [busy12]="bursts 12 2000 0"
  ["bursts0.3"]="bursts 4 300 2000" [bursts1]="bursts 6 1000 5000" [bursts2]="bursts 4 2000 3000"
  [bursts12]="bursts 4 12000 12000"
  [sleepers200]="bursts 200 300 40000"
  ["lives0.5"]="lives 2 500 0" [lives20]="lives 2 20000 0" [lives100]="lives 2 100000 0"
  [lives500]="lives 3 500000 0"
  [virtual]="virtual 20 1000 10000" [gc]="gc 2 2000 0" [jit]="jit 2 20000 0"
)
option RUNS 1 0
option MILLIS 6000 1000
option PROFILERS "percpu tick async-profiler jdk25"
bursts="bursts0.3 bursts1 bursts2 bursts12" lives="lives0.5 lives20 lives100 lives500"
option LOADS "busy2 busy12 $bursts sleepers200 $lives virtual gc jit"
option INTERVALS "10 1"
option JDK 21
option HOGS 0 0
option FILE "$OUT/runs.txt"
prepare_profilers sampling/Dues.java

hogs=()
end_hogs() { ((${#hogs[@]} == 0)) || kill "${hogs[@]}"; }
trap end_hogs EXIT
for ((hog = 0; hog < HOGS; hog++)); do
  sh -c 'while :; do :; done' &
  hogs+=($!)
done

# run HOME AGENT_OPTION LOAD: prints what the load used.
run() {
  local home=$1 agent=$2 arguments
  read -ra arguments <<<"${load_of[$3]}"
  "$home/bin/java" "$agent" -Xmx512m -XX:-UseDynamicNumberOfCompilerThreads \
    -XX:-UseDynamicNumberOfGCThreads -XX:+IgnoreUnrecognizedVMOptions \
    -Djdk.virtualThreadScheduler.parallelism=2 -XX:CompileCommand=quiet \
    -XX:CompileCommand=dontinline,Dues::phase* -Xlog:disable \
    -cp "$OUT/classes:$API" Dues "${arguments[@]}" "$MILLIS" >"$OUT/used.txt"
}

# share_of_a: of two numbers on stdin, the part of the first in both.
share_of_a() { awk '{ print $1 + $2 ? $1 / ($1 + $2) : 0 }'; }

# One run; prints a line of the file: profiler, load, interval, JDK, hogs, due and seen of all
# threads, due threads, those outside of 3.5 deviations, mean square of z, share of A: true, seen.
one() {
  local profiler=$1 load=$2 interval=$3 recording=$OUT/run.jfr event=cpu jdk=$JDK share option
  rm -f "$recording"
  case $profiler in
    async-profiler)
      event=jdk.ExecutionSample
      option=start,event=ctimer,interval=${interval}ms,jfr,file=$recording
      run "$(home_of "$JDK")" "-agentpath:$OUT/libasyncProfiler.so=$option" "$load"
      share=$(frames "$event" "$recording" | share_of_a)
      ;;
    jdk25)
      event=jdk.CPUTimeSample jdk=25
      jdk_settings "$interval ms" >"$OUT/cpu-time.jfc"
      option=settings=$OUT/cpu-time.jfc,filename=$recording
      run "$JAVA_HOME_25" "-XX:StartFlightRecording:$option" "$load"
      share=$(frames "$event" "$recording" | share_of_a)
      ;;
    *)
      option=start,engine=$profiler,interval=${interval}ms,file=$recording,overwrite,loglevel=warn
      run "$(home_of "$JDK")" "-agentpath:$AGENT=$option" "$load"
      share=$(target/release/ctxjfr report "$recording" --by half --where half --csv |
        awk -F, '$1 == "A" { a = $3 } $1 == "B" { b = $3 } END { print a + 0, b + 0 }' | share_of_a)
      ;;
  esac
  target/release/ctxjfr report --event "$event" --by thread --csv "$recording" >"$OUT/threads.csv"
  awk -v interval="$interval" -v head="$profiler $load $interval $jdk $HOGS" -v share="$share" '
    # As the kernel knows it; what a virtual thread does counts for its carrier.
    function kernel(name) {
      if (is_virtual && name == "(virtual)") return "ForkJoinPool-1-"
      name = substr(name, 1, 15); sub(/ +$/, "", name); gsub(" ", "_", name); return name
    }
    BEGIN { is_virtual = head ~ / virtual / }
    FILENAME ~ /used.txt$/ {
      if ($1 == "due") due[$2] = $3 / interval / 1e6; else label[$2] = $3
      next
    }
    FNR > 1 { n = split($0, f, ","); name = kernel(f[1]); gsub("\"", "", name);
      draws[name] += f[2]; weight[name] += f[3] }
    END {
      for (name in due) {
        ours = name ~ /^(due-|life-)/ || (is_virtual && name ~ /^ForkJoin/)
        if (ours || due[name] > 200) { all += due[name]; seen += weight[name] }
        if (due[name] <= 200) continue
        each = draws[name] ? weight[name] / draws[name] : 1
        z = (weight[name] - due[name]) / sqrt(due[name] * each)
        count++; squares += z * z
        if (z > 3.5 || z < -3.5) {
          outside++; who = who " " name sprintf("(%.0f/%.0f)", weight[name], due[name])
        }
      }
      print head, all, seen, count + 0, outside + 0, count ? squares / count : 0,
        label["A"] / (label["A"] + label["B"]), share who }' "$OUT/used.txt" "$OUT/threads.csv"
}

for ((run = 0; run < RUNS; run++)); do
  for interval in "${intervals[@]}"; do
    for load in "${loads[@]}"; do
      [[ -n ${load_of[$load]:-} ]] || die "LOADS: no load $load; there are ${!load_of[*]}"
      for profiler in "${profilers[@]}"; do
        one "$profiler" "$load" "$interval" | tee -a "$FILE" >&2
      done
    done
  done
done

echo -n "| profiler | load | interval (ms) | JDK | hogs | runs | samples / due "
echo -n "| threads of 200 due: outside of 3.5 deviations, root mean square of z "
echo "| error in share of A (points) |"
echo "|---|---|---|---|---|---|---|---|---|"
awk '{ key = $1 " | " $2 " | " $3 " | " $4 " | " $5; runs[key]++; due[key] += $6; seen[key] += $7;
  count[key] += $8; outside[key] += $9; squares[key] += $8 * $10; off[key] += $12 - $11 }
  END { for (key in runs) printf "| %s | %d | %.3f | %d of %d, %.1f | %+.1f |\n", key, runs[key],
    seen[key] / due[key], outside[key], count[key],
    count[key] ? sqrt(squares[key] / count[key]) : 0, 100 * off[key] / runs[key] }' "$FILE" | sort
