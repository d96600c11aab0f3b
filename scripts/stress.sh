#!/usr/bin/env bash
# The hostile load under the agent at 1 ms, over JDKs, collectors and compiler modes: 0 crashes, 0 hangs, right answers, readable recordings.
# scripts/stress.sh [MINUTES] [SECONDS PER CELL], 10 minutes of 8 s cells by default. Goes round until the time is over, then tells each cell.
# scripts/stress.sh cells FIRST COUNT [SECONDS PER CELL]: these of the 60 cells, however long it takes.
# A cell that this machine or this build of the JVM has not is a SKIP; nothing but those is no success.
set -uo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."

first=0
count=1000000
if [[ ${1:-} == cells ]]; then
  first=${2:-0} count=${3:-60}
  set -- 1000 "${4:-8}"
fi
minutes=${1:-10}
seconds=${2:-8}
[[ $minutes =~ ^[0-9]+$ && $seconds =~ ^[0-9]+$ ]] && ((seconds >= 1)) || { echo "usage: scripts/stress.sh [MINUTES] [SECONDS PER CELL]" >&2; exit 2; }

tools=$(scripts/toolchain.sh env) || exit 1
eval "$tools"
scripts/build.sh rust >&2 || exit 1
agent=$PWD/target/release/libctxagent.so
work=$PWD/target/stress
rm -rf "$work" && mkdir -p "$work/classes"
"$CTXAGENT_JAVAC_HOME/bin/javac" --release 17 -d "$work/classes" tests/java/Hostile.java || exit 1

versions=(21 25 17)
jdks=("$JAVA_HOME_21" "${JAVA_HOME_25:-}" "${JAVA_HOME_17:-}")
collectors=(G1 Z Shenandoah Parallel Serial)
modes=("" "-Xint" "-XX:TieredStopAtLevel=1" "-XX:-TieredCompilation" "-XX:+SafepointALot -XX:+HandshakeALot -XX:GuaranteedSafepointInterval=1"
  "-XX:+DeoptimizeNMethodBarriersALot" "-XX:ReservedCodeCacheSize=12m -XX:+UseCodeCacheFlushing" "-XX:-UseCompressedOops" "-Xcheck:jni")
walkers=(vm vm asgct)

passed=0
failed=0
skipped=0
cell=$first
end=$((SECONDS + minutes * 60))

skip() {
  skipped=$((skipped + 1))
  echo "SKIP    $1: $2"
}

# refused FILE: the line by which a JVM says that it has no such collector or option, and ends before it runs anything.
refused() { grep -m 1 -E "^(Error: )?VM option '|^Unrecognized VM option '|^Option -XX:\+Use[A-Za-z]*GC not supported" "$1"; }

# What -Xcheck:jni has to say.
jni_warnings() { grep -E '^(WARNING|FATAL ERROR) in native method|^WARNING: JNI local refs' "$1"; }

# One cell: JDK, collector, mode, walker.
run() {
  local java=$1/bin/java collector=$2 mode=$3 walker=$4 name out code why
  name="$(basename "$1") $collector ${mode:-default} cstack=$walker"
  out=$work/$cell.out
  # shellcheck disable=SC2086  # the mode is several options
  (cd "$work" && timeout $((seconds * 6 + 60)) "$java" -Xmx512m -XX:+UnlockDiagnosticVMOptions -XX:+UnlockExperimentalVMOptions "-XX:+Use${collector}GC" $mode \
    "-agentpath:$agent=start,interval=1ms,engine=precise,cstack=$walker,chunktime=2s,file=$work/$cell.jfr,overwrite" \
    -cp classes Hostile "$seconds" "$cell") >"$out" 2>&1
  code=$?
  if [[ $code -eq 1 ]] && ! compgen -G "$work/hs_err*" >/dev/null && why=$(refused "$out"); then
    skip "$name" "$why"
    return
  fi
  if [[ $code -eq 0 ]] && grep -q '^STRESS-OK' "$out" && ! compgen -G "$work/hs_err*" >/dev/null && ! jni_warnings "$out" >&2 && target/release/ctxjfr check "$work/$cell.jfr" >"$out.check" 2>&1; then
    passed=$((passed + 1))
    echo "ok      $name"
    rm -f "$work/$cell.jfr" "$out" "$out.check"
  else
    failed=$((failed + 1))
    echo "FAILED  $name (exit $code; output kept in target/stress/$cell.out)"
    mkdir -p "$work/failed-$cell" && mv "$work"/hs_err* "$work/failed-$cell/" 2>/dev/null
  fi
}

while ((SECONDS < end && cell < first + count)); do
  # All pairs of JDK and mode, JDK and collector, collector and mode come together in 60 cells.
  n=$(((cell + cell / ${#modes[@]}) % ${#jdks[@]}))
  jdk=${jdks[n]}
  if [[ -n $jdk ]]; then
    run "$jdk" "${collectors[cell / 3 % ${#collectors[@]}]}" "${modes[cell * 5 % ${#modes[@]}]}" "${walkers[cell % 7 % ${#walkers[@]}]}"
  else
    skip "cell $cell" "no JDK ${versions[n]} here"
  fi
  cell=$((cell + 1))
done
echo "$passed passed, $failed failed, $skipped skipped"
[[ $failed -eq 0 && $passed -gt 0 ]]
