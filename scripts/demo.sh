#!/usr/bin/env bash
# The demo: a web shop under load with the agent, then who used the CPU.
#   DURATION=20   seconds of customers
. "$(dirname "$0")/lib.sh"
option DURATION 20 1

title() { printf '\n\033[1m%s\033[0m\n' "$*"; }
[[ -t 1 ]] || title() { printf '\n%s\n' "$*"; }

build_shop
recording=target/demo/demo.jfr
flame=target/demo/demo.html
options=start,event=cpu,interval=10ms,file=$recording,overwrite,ctx=endpoint+tenant
mkdir -p target/demo
# A recording is never written over another program's file; this one is ours.
rm -f "$recording" "$flame"

shop="A web shop on JDK 21 (virtual and platform threads, embedded database)"
title "$shop, ${DURATION} s of customers"
echo "java -agentpath:target/release/libctxagent.so=$options shop.Shop"
shop "-agentpath:$AGENT=$options" "--seconds=$DURATION"

title "Which endpoint used the CPU?"
target/release/ctxjfr report "$recording" --by endpoint
title "Which tenant? (unlabelled: start-up and the server's dispatcher)"
target/release/ctxjfr report "$recording" --by tenant

target/release/ctxjfr flame "$recording" --by endpoint,tenant -o "$flame"
size=$(($(stat -c %s "$recording") / 1024))
title "Recording:   $recording ($size KiB), opens with jfr, JMC and others"
cat <<TEXT
Flame graph: $flame (open it in a browser)

Try next:
  target/release/ctxjfr report $recording --by endpoint,tenant
  target/release/ctxjfr flame $recording --where tenant=acme -o target/demo/acme.html
  ${JAVA_HOME_21#"$ROOT"/}/bin/jfr print --events jdk.ExecutionSample $recording | less
  make bench-demo        # what the agent costs
TEXT
