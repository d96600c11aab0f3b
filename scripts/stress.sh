#!/usr/bin/env bash
# The hostile load under the default engine with all events, over JDKs, collectors and modes of the
# compilers: 0 crashes, 0 hangs, right answers, 0 wrong contexts (the agent's test build compares
# each sample with what the program declares), readable recordings.
#   MINUTES=10        cell after cell until then
#   CELL_SECONDS=8    of load in each
#   CELLS=20          so many cells, however long it takes; FIRST=40 is the first of them
#   CELLS=all         every cell once, then a table
# A cell that this machine or this build of the JVM has not is a SKIP; nothing but those is no
# success.
. "$(dirname "$0")/lib.sh"
option MINUTES 10 0
option CELL_SECONDS 8 1
option CELLS ""
option FIRST 0 0

versions=(21 25 17)
collectors=(G1 Z Shenandoah Parallel Serial)
modes=("" "-Xint" "-XX:TieredStopAtLevel=1" "-XX:-TieredCompilation"
  "-XX:+SafepointALot -XX:+HandshakeALot -XX:GuaranteedSafepointInterval=1"
  "-XX:+DeoptimizeNMethodBarriersALot" "-XX:ReservedCodeCacheSize=12m -XX:+UseCodeCacheFlushing"
  "-Xcheck:jni")
mode_names=(default interpreted "C1 only" "C2 only" "safepoints at each poll" deoptimised
  "small code cache" "-Xcheck:jni")
cells=$((${#versions[@]} * ${#collectors[@]} * ${#modes[@]}))
# No common divisor with the number of cells: each is met once, and any few in a row differ in
# everything.
readonly STRIDE=49

count=1000000
case $CELLS in
  "") ;;
  all) count=$cells MINUTES=1000 ;;
  *)
    option CELLS "" 1
    count=$CELLS MINUTES=1000
    ;;
esac

load_tools
build_agent
build_test_agent
gradle jar
work=$ROOT/target/stress
rm -rf "$work"
compile_programs "$work/classes" load/{Stress,Hostile}.java context/Oracle.java \
  io/ctxagent/oracle/Truth.java
set +e # a cell that fails is a result

passed=0 skipped=0 compared=0
declare -A results

skip_cell() {
  skipped=$((skipped + 1))
  results[$1]=-
  echo "SKIP    $2: $3"
}

# refused FILE: the line by which a JVM says that it has no such collector or option, and ends
# before it runs anything.
refused() {
  local not_there="^(Error: )?VM option '|^Unrecognized VM option '"
  grep -m 1 -E "$not_there|^Option -XX:\+Use[A-Za-z]*GC not supported" "$1"
}

# What -Xcheck:jni has to say.
jni_warnings() { grep -E '^(WARNING|FATAL ERROR) in native method|^WARNING: JNI local refs' "$1"; }

# counted NAME FILE: a counter of the status that the program printed, 0 if it is not there.
counted() {
  local n
  n=$(sed -n "s/^oracle\.$1: *\([0-9]*\)$/\1/p" "$2" | tail -n 1)
  echo "${n:-0}"
}

# sound OUT RECORDING: the program ended with its own answers, no context was wrong, and the
# recording adds up. Says what is not so.
sound() {
  grep -q '^STRESS-OK' "$1" && grep -q '^STRESS-DONE' "$1" || {
    echo "the program did not end well"
    return 1
  }
  ! compgen -G "$work/hs_err*" >/dev/null || {
    echo "the JVM crashed"
    return 1
  }
  ! jni_warnings "$1" || return 1
  [[ $(counted wrong "$1") -eq 0 ]] || {
    echo "$(counted wrong "$1") wrong contexts"
    return 1
  }
  [[ $(counted right "$1") -gt 0 ]] || {
    echo "no context was compared"
    return 1
  }
  target/release/ctxjfr check "$2" >"$1.check" 2>&1 || {
    echo "ctxjfr check: $(tail -n 1 "$1.check")"
    return 1
  }
}

# run_cell NUMBER: the cell's JDK, collector and mode.
run_cell() {
  local number=$1 version jdk collector mode kind=both walker=vm key out code why options
  version=${versions[number % 3]} collector=${collectors[number / 3 % 5]} mode=${modes[number / 15]}
  jdk=$(home_of "$version")
  key="$version $collector $((number / 15))"
  local name="JDK $version, $collector, ${mode_names[number / 15]}"
  [[ -n $jdk ]] || {
    skip_cell "$key" "$name" "no JDK $version here"
    return
  }
  [[ $version -ge 21 ]] || kind=platform
  # The walker for JVMs without tables, in one cell of seven.
  ((number % 7 != 6)) || walker=asgct
  out=$work/$number.out
  options=start,event=cpu+wall+alloc+lock,interval=1ms,wall=10ms,ctx=a+b+c,chunktime=2s
  # shellcheck disable=SC2086  # the mode is several options
  (cd "$work" && timeout $((CELL_SECONDS * 6 + 60)) "$jdk/bin/java" -Xmx512m \
    -XX:+UnlockDiagnosticVMOptions -XX:+UnlockExperimentalVMOptions "-XX:+Use${collector}GC" $mode \
    "-agentpath:$TEST_AGENT=$options,cstack=$walker,file=$work/$number.jfr,overwrite" \
    -cp "$API:classes" Stress "$CELL_SECONDS" "$number" "$kind") >"$out" 2>&1
  code=$?
  if [[ $code -eq 1 ]] && ! compgen -G "$work/hs_err*" >/dev/null && why=$(refused "$out"); then
    skip_cell "$key" "$name" "$why"
  elif [[ $code -eq 0 ]] && why=$(sound "$out" "$work/$number.jfr"); then
    passed=$((passed + 1))
    compared=$((compared + $(counted right "$out")))
    results[$key]=ok
    echo "ok      $name, $walker: $(counted right "$out") contexts compared"
    rm -f "$work/$number.jfr" "$out" "$out.check"
  else
    failed=$((failed + 1))
    results[$key]=FAILED
    [[ $code -ne 124 ]] || why="no end within $((CELL_SECONDS * 6 + 60)) s"
    echo "FAILED  $name, $walker: exit $code; ${why:-} (output kept in target/stress/$number.out)"
    mkdir -p "$work/failed-$number" && mv "$work"/hs_err* "$work/failed-$number/" 2>/dev/null
  fi
}

# One row for each mode, one column for each collector, the JDKs' results in a cell.
print_table() {
  local m c v line
  printf '| mode |' && printf ' %s |' "${collectors[@]}"
  printf '\n|---|' && printf -- '---|%.0s' "${collectors[@]}"
  for m in "${!modes[@]}"; do
    printf '\n| %s |' "${mode_names[m]}"
    for c in "${collectors[@]}"; do
      line=
      for v in 17 21 25; do line+=" ${results["$v $c $m"]:--}"; done
      printf '%s |' "$line"
    done
  done
  echo
}

end=$((SECONDS + MINUTES * 60))
for ((n = FIRST; n < FIRST + count && SECONDS < end; n++)); do
  run_cell $((n * STRIDE % cells))
done
[[ $CELLS != all ]] || print_table
echo "$passed passed, $failed failed, $skipped skipped, $compared contexts compared"
[[ $failed -eq 0 && $passed -gt 0 ]]
