#!/usr/bin/env bash
# The demo: a web shop under load with the agent, then who used the CPU. scripts/demo.sh [SECONDS], 20 by default.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."

seconds=${1:-20}
[[ $seconds =~ ^[0-9]+$ ]] && ((seconds >= 1)) || { echo "usage: scripts/demo.sh [SECONDS]" >&2; exit 2; }

say() { printf '\n\033[1m%s\033[0m\n' "$*"; }
[[ -t 1 ]] || say() { printf '\n%s\n' "$*"; }

. scripts/shop.sh
build_shop
recording=target/demo/demo.jfr
flame=target/demo/demo.html
mkdir -p target/demo
# A recording is never written over another program's file; this one is ours.
rm -f "$recording" "$flame"

say "A web shop on JDK 21 (virtual and platform threads, embedded database), ${seconds} s of customers"
echo "java -agentpath:target/release/libctxagent.so=start,event=cpu,interval=10ms,file=$recording,overwrite,ctx=endpoint+tenant shop.Shop"
shop "-agentpath:$PWD/target/release/libctxagent.so=start,event=cpu,interval=10ms,file=$recording,overwrite,ctx=endpoint+tenant" "--seconds=$seconds"

say "Which endpoint used the CPU?"
target/release/ctxjfr report "$recording" --by endpoint
say "Which tenant? (unlabelled: start-up and the server's dispatcher)"
target/release/ctxjfr report "$recording" --by tenant

target/release/ctxjfr flame "$recording" --by endpoint,tenant -o "$flame"
say "Recording:   $recording ($(($(stat -c %s "$recording") / 1024)) KiB), opens with jfr, JMC and others"
echo "Flame graph: $flame (open it in a browser)"
cat <<TEXT

Try next:
  target/release/ctxjfr report $recording --by endpoint,tenant
  target/release/ctxjfr flame $recording --where tenant=acme -o target/demo/acme.html
  $(scripts/toolchain.sh jdk21 | sed "s|^$PWD/||")/bin/jfr print --events jdk.ExecutionSample $recording | less
  make bench-demo        # what the agent costs
TEXT
