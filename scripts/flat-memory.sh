#!/usr/bin/env bash
# Many distinct values through one key under the agent's test build: the resident memory must stay
# as it is after the first fifth, and each sample must carry the value that its code had set.
#   VALUES=100000000
. "$(dirname "$0")/lib.sh"
option VALUES 100000000 1

load_tools
build_test_agent
gradle jar
work=$ROOT/target/flat
rm -rf "$work"
compile_programs "$work/classes" memory/Flat.java io/ctxagent/oracle/Truth.java
# A heap of fixed size, touched at start: what grows is not the application's.
"$JAVA_HOME_21/bin/java" -XX:-UsePerfData -XX:+UseSerialGC -Xms64m -Xmx64m -XX:+AlwaysPreTouch \
  "-agentpath:$TEST_AGENT=start,interval=1ms,cstack=no,chunktime=5s,file=$work/flat.jfr,overwrite" \
  -cp "$API:$work/classes" Flat "$VALUES" | tee "$work/out" |
  grep '^resident\|^oracle\|^dictionary\|^written:\|^contexts'
awk '
  /^resident/ {
    n++; last = $3
    if (n == 4) first = $3
    if (n >= 4 && $3 > high) high = $3
    if (n >= 4 && (!low || $3 < low)) low = $3
  }
  /^oracle.wrong/ { wrong = $2 } /^oracle.right/ { right = $2 }
  END { printf "after the first fifth: %d KiB; lowest %d, highest %d, at the end %d; ", \
          first, low, high, last
        printf "%d samples right, %d wrong\n", right, wrong
        exit !(right > 0 && wrong == 0 && last - first <= 1024) }' "$work/out"
