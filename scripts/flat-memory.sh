#!/usr/bin/env bash
# 10^8 distinct values through one key under the agent's test build: the resident memory must stay as it is after the first fifth, and each sample
# must carry the value that its code had set. scripts/flat-memory.sh [VALUES]
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."

values=${1:-100000000}
tools=$(scripts/toolchain.sh env)
eval "$tools"
CARGO_TARGET_DIR=target/oracle cargo build --release --quiet -p ctxagent --features oracle
scripts/build.sh java
api=$PWD/java-api/build/libs/ctxagent-api.jar
work=$PWD/target/flat
rm -rf "$work" && mkdir -p "$work/classes"
"$CTXAGENT_JAVAC_HOME/bin/javac" --release 17 -cp "$api" -sourcepath tests/java -d "$work/classes" tests/java/Flat.java tests/java/io/ctxagent/oracle/Truth.java
# A heap of fixed size, touched at start: what grows is not the application's.
"$JAVA_HOME_21/bin/java" -XX:-UsePerfData -XX:+UseSerialGC -Xms64m -Xmx64m -XX:+AlwaysPreTouch \
  "-agentpath:$PWD/target/oracle/release/libctxagent.so=start,interval=1ms,cstack=no,chunktime=5s,file=$work/flat.jfr,overwrite" \
  -cp "$api:$work/classes" Flat "$values" | tee "$work/out" | grep '^resident\|^oracle\|^dictionary\|^written:\|^contexts'
awk '
  /^resident/ { n++; if (n == 4) first = $3; if (n >= 4) { if ($3 > high) high = $3; if (!low || $3 < low) low = $3 } last = $3 }
  /^oracle.wrong/ { wrong = $2 } /^oracle.right/ { right = $2 }
  END { printf "after the first fifth: %d KiB; lowest %d, highest %d, at the end %d; %d samples right, %d wrong\n", first, low, high, last, right, wrong
        exit !(right > 0 && wrong == 0 && last - first <= 1024) }' "$work/out"
