#!/usr/bin/env bash
# Runs the JMH benches of the Java API on JDK 21 (CTXAGENT_BENCH_JDK=17|25 for another), with the agent where it is built.
# Arguments go to JMH: scripts/bench-java.sh one -prof gc
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."

java=$(scripts/toolchain.sh "jdk${CTXAGENT_BENCH_JDK:-21}")/bin/java
./gradlew --quiet :ctxagent-bench:classes >&2
classpath=$(./gradlew --quiet :ctxagent-bench:benchClasspath 2>/dev/null | grep '\.jar' | tail -n 1)
agent=target/release/libctxagent.so
options=()
if [[ -e $agent && -z ${CTXAGENT_BENCH_DOUBLE:-} ]]; then
  options=(-jvmArgsAppend "-agentpath:$PWD/$agent")
else
  echo "no $agent: measuring over the tests' double of the agent" >&2
fi
exec "$java" -cp "$classpath" org.openjdk.jmh.Main "${options[@]}" "$@"
