#!/usr/bin/env bash
# Benches of the Java API on JDK 21 (CTXAGENT_BENCH_JDK=17|25 for another), with the agent where it is built.
#   scripts/bench-java.sh quick [SHAPE…]      minimum of many short runs: some seconds, also on a busy machine
#   scripts/bench-java.sh [JMH ARGUMENT…]     JMH, for a quiet machine: scripts/bench-java.sh one -prof gc
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."

java=$(scripts/toolchain.sh "jdk${CTXAGENT_BENCH_JDK:-21}")/bin/java
log=target/gradle-bench.log
mkdir -p target
./gradlew --quiet :ctxagent-bench:benchClasspath >"$log" 2>&1 || { cat "$log" >&2; exit 1; }
classpath=$(grep '\.jar' "$log" | tail -n 1)
agent=target/release/libctxagent.so
if [[ -e $agent && -z ${CTXAGENT_BENCH_DOUBLE:-} ]]; then
  options=("-agentpath:$PWD/$agent")
else
  echo "no $agent: measuring over the tests' double of the agent" >&2
  options=(--add-exports=java.base/jdk.internal.misc=ALL-UNNAMED)
fi
if [[ ${1:-} == quick ]]; then
  shift
  exec "$java" "${options[@]}" -cp "$classpath" io.ctxagent.bench.Quick "$@"
fi
exec "$java" -cp "$classpath" org.openjdk.jmh.Main -jvmArgsAppend "${options[*]}" "$@"
