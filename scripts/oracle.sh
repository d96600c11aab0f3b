#!/usr/bin/env bash
# Compares samples with what the program declares (the agent's test build), over JDKs, collectors, compiler modes, platform threads and 100 000 virtual
# ones, until SAMPLES have been compared, 10^7 by default; then prints the table of cells. 0 wrong is the only good end.
# scripts/oracle.sh [SAMPLES]: goes on where an earlier run ended; scripts/oracle.sh --fresh [SAMPLES]: begins again.
set -uo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."

work=$PWD/target/oracle-runs
[[ ${1:-} == --fresh ]] && { rm -rf "$work"; shift; }
samples=${1:-10000000}
[[ $samples =~ ^[0-9]+$ ]] && ((samples > 0)) || { echo "usage: scripts/oracle.sh [--fresh] [SAMPLES]" >&2; exit 2; }

tools=$(scripts/toolchain.sh env) || exit 1
eval "$tools"
CARGO_TARGET_DIR=target/oracle cargo build --release --quiet -p ctxagent --features oracle || exit 1
scripts/build.sh java || exit 1
agent=$PWD/target/oracle/release/libctxagent.so
api=$PWD/java-api/build/libs/ctxagent-api.jar
table=$work/cells.tsv
mkdir -p "$work/classes"
touch "$table"
"$CTXAGENT_JAVAC_HOME/bin/javac" --release 17 -cp "$api" -d "$work/classes" tests/java/Oracle.java tests/java/io/ctxagent/oracle/Truth.java || exit 1

# One line a cell: java home, threads, collector, mode.
cells() {
  local collector mode
  for collector in G1 Z Parallel Serial; do
    for mode in default c1 int; do
      for home in "$JAVA_HOME_21" "${JAVA_HOME_25:-}"; do
        [[ -n $home ]] && echo "$home virtual $collector $mode"
      done
    done
    for home in "${JAVA_HOME_17:-}" "$JAVA_HOME_21" "${JAVA_HOME_25:-}"; do
      [[ -n $home ]] && echo "$home platform $collector default"
    done
  done
  for home in "${JAVA_HOME_17:-}" "$JAVA_HOME_21" "${JAVA_HOME_25:-}"; do
    [[ -n $home ]] && echo "$home platform G1 c1" && echo "$home platform G1 int"
  done
  # Most samples within a change: for the protocol alone.
  for home in "$JAVA_HOME_21" "${JAVA_HOME_25:-}"; do
    [[ -n $home ]] && echo "$home virtual G1 int-dense"
  done
}
count=$(cells | wc -l)
share=$(((samples + count - 1) / count))

# counter NAME FILE: its value in the program's output, 0 if it is not there.
counter() { sed -n "s/^$1: \([0-9]*\)$/\1/p" "$2" | tail -1 | grep . || echo 0; }

run() {
  local home=$1 kind=$2 collector=$3 mode=$4 threads=24 longest=10000 flags=() version name out
  version=$("$home/bin/java" -XshowSettings:properties -version 2>&1 | sed -n 's/^ *java.version = //p')
  name="$version $kind $collector $mode"
  grep -q "^$name	" "$table" && return
  [[ $kind == virtual ]] && threads=100000
  case $mode in
    c1) flags=(-XX:TieredStopAtLevel=1) ;;
    # Interpreted, a change takes a hundred times as long; the work between two changes must too, or little else is sampled.
    int) flags=(-Xint) longest=60000 ;;
    int-dense) flags=(-Xint) longest=300 ;;
  esac
  out=$work/out
  timeout 600 "$home/bin/java" -Xmx1g -XX:-UsePerfData "-XX:+Use${collector}GC" "${flags[@]}" \
    "-agentpath:$agent=start,interval=50us,engine=precise,cstack=no,ctx=a+b+c,ctxblocks=262144,file=$work/cell.jfr,overwrite" \
    -cp "$api:$work/classes" Oracle "$kind" "$threads" "$share" 0 300 "$longest" >"$out" 2>&1
  if ! grep -q '^ORACLE-DONE' "$out"; then
    cp "$out" "$work/failed-${name// /-}.out"
    echo "FAILED  $name (output kept in target/oracle-runs)" >&2
    return 1
  fi
  rm -f "$work"/cell*.jfr
  local figures="$name" n
  for n in right wrong missed torn changing threads leaves; do figures+=$'\t'$(counter "oracle.$n" "$out"); done
  echo "$figures" >>"$table"
  grep '^ctxagent: oracle' "$out" >&2
  echo "$figures" >&2
}

failed=0
while read -r cell; do
  # shellcheck disable=SC2086  # four words
  run $cell </dev/null || failed=1
done < <(cells)

awk -F'\t' '
  BEGIN { print "| JDK, threads, collector, mode | compared | right | wrong | missed | met a change | taken during a change | threads seen | times off the carrier |\n|---|---|---|---|---|---|---|---|---|" }
  { n = $2 + $3 + $4 + $5; printf "| %s | %d | %d | %d | %d | %d | %d | %d | %d |\n", $1, n, $2, $3, $4, $5, $6, $7, $8
    all += n; for (i = 2; i <= 8; i++) sum[i] += $i
    if ($1 !~ /dense/) { usual += n; without += $4 + $5 } }
  END { printf "| all | %d | %d | %d | %d | %d | %d | %d | %d |\n", all, sum[2], sum[3], sum[4], sum[5], sum[6], sum[7], sum[8]
    printf "%d compared, %d wrong; without context %.3f %% outside of the dense cells\n", all, sum[3], 100 * without / (usual ? usual : 1); exit sum[3] > 0 }' "$table"
wrong=$?
exit $((failed | wrong))
