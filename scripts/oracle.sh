#!/usr/bin/env bash
# Compares samples with what the program declares (the agent's test build), over JDKs, collectors,
# compiler modes, platform threads and 100 000 virtual ones, until SAMPLES have been compared; then
# prints the table of cells. 0 wrong is the only good end.
#   SAMPLES=10000000
#   FRESH=1            begins again; else a run goes on where the one before was stopped
. "$(dirname "$0")/lib.sh"
option SAMPLES 10000000 1
option FRESH ""

work=$ROOT/target/oracle-runs
[[ -z $FRESH ]] || rm -rf "$work"
load_tools
build_test_agent
gradle jar
table=$work/cells.tsv
compile_programs "$work/classes" context/Oracle.java io/ctxagent/oracle/Truth.java
touch "$table"
set +e # a cell that fails is a result

# One line a cell: java home, threads, collector, mode.
cells() {
  local collector mode
  for collector in G1 Z Parallel Serial; do
    for mode in default c1 int; do
      for home in "$JAVA_HOME_21" "$JAVA_HOME_25"; do
        [[ -n $home ]] && echo "$home virtual $collector $mode"
      done
    done
    for home in "$JAVA_HOME_17" "$JAVA_HOME_21" "$JAVA_HOME_25"; do
      [[ -n $home ]] && echo "$home platform $collector default"
    done
  done
  for home in "$JAVA_HOME_17" "$JAVA_HOME_21" "$JAVA_HOME_25"; do
    [[ -n $home ]] && echo "$home platform G1 c1" && echo "$home platform G1 int"
  done
  # Most samples within a change: for the protocol alone.
  for home in "$JAVA_HOME_21" "$JAVA_HOME_25"; do
    [[ -n $home ]] && echo "$home virtual G1 int-dense"
  done
}
count=$(cells | wc -l)
share=$(((SAMPLES + count - 1) / count))

# counter NAME FILE: its value in the program's output, 0 if it is not there.
counter() { sed -n "s/^$1: \([0-9]*\)$/\1/p" "$2" | tail -1 | grep . || echo 0; }

run() {
  local options=start,interval=50us,cstack=no,ctx=a+b+c,ctxblocks=262144
  local home=$1 kind=$2 collector=$3 mode=$4 threads=24 longest=10000 flags=() version name out
  version=$("$home/bin/java" -XshowSettings:properties -version 2>&1 |
    sed -n 's/^ *java.version = //p')
  name="$version $kind $collector $mode"
  grep -q "^$name	" "$table" && return
  [[ $kind == virtual ]] && threads=100000
  case $mode in
    c1) flags=(-XX:TieredStopAtLevel=1) ;;
    # Interpreted, a change takes a hundred times as long; the work between two changes must too, or
    # little else is sampled.
    int) flags=(-Xint) longest=60000 ;;
    int-dense) flags=(-Xint) longest=300 ;;
  esac
  out=$work/out
  timeout 600 "$home/bin/java" -Xmx1g -XX:-UsePerfData "-XX:+Use${collector}GC" "${flags[@]}" \
    "-agentpath:$TEST_AGENT=$options,file=$work/cell.jfr,overwrite" \
    -cp "$API:$work/classes" Oracle "$kind" "$threads" "$share" 0 300 "$longest" >"$out" 2>&1
  if ! grep -q '^ORACLE-DONE' "$out"; then
    cp "$out" "$work/failed-${name// /-}.out"
    echo "FAILED  $name (output kept in target/oracle-runs)" >&2
    return 1
  fi
  rm -f "$work"/cell*.jfr
  local figures="$name" n
  for n in right wrong missed torn changing threads leaves; do
    figures+=$'\t'$(counter "oracle.$n" "$out")
  done
  echo "$figures" >>"$table"
  grep '^ctxagent: oracle' "$out" >&2
  echo "$figures" >&2
}

while read -r cell; do
  # shellcheck disable=SC2086  # four words
  run $cell </dev/null || failed=1
done < <(cells)

awk -F'\t' '
  BEGIN {
    printf "| JDK, threads, collector, mode | compared | right | wrong | missed | met a change "
    print "| taken during a change | threads seen | times off the carrier |"
    print "|---|---|---|---|---|---|---|---|---|"
  }
  { n = $2 + $3 + $4 + $5; printf "| %s | %d | %d | %d | %d | %d | %d | %d | %d |\n", $1, n, $2,
    $3, $4, $5, $6, $7, $8
    all += n; for (i = 2; i <= 8; i++) sum[i] += $i
    if ($1 !~ /dense/) { usual += n; without += $4 + $5 } }
  END { printf "| all | %d | %d | %d | %d | %d | %d | %d | %d |\n", all, sum[2], sum[3], sum[4],
    sum[5], sum[6], sum[7], sum[8]
    printf "%d compared, %d wrong; without context %.3f %% outside of the dense cells\n", all,
      sum[3], 100 * without / (usual ? usual : 1); exit sum[3] > 0 }' "$table"
wrong=$?
exit $((failed | wrong))
