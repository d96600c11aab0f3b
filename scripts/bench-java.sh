#!/usr/bin/env bash
# Benches of the Java API on JDK 21 (CTXAGENT_BENCH_JDK=17|25 for another), with the agent where it is built.
#   scripts/bench-java.sh quick [again] [SHAPE…]   minimum of many short runs: some seconds, also on a busy machine;
#                                             again: twice, so that the second round has seen all shapes
#   scripts/bench-java.sh --peers             JMH beside OpenTelemetry, MDC, ddprof, Pyroscope, JFR events …, with ratios; some minutes
#   scripts/bench-java.sh --matrix            JMH: each shape alone and after all others; 1, 2, 4 threads, platform and virtual; bytes; some minutes
#   scripts/bench-java.sh [JMH ARGUMENT…]     JMH, for a quiet machine: scripts/bench-java.sh one -prof gc
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."

java=$(scripts/toolchain.sh "jdk${CTXAGENT_BENCH_JDK:-21}")/bin/java
log=target/gradle-bench.log
mkdir -p target
task=benchClasspath
[[ ${1:-} == --peers ]] && task=peersClasspath
./gradlew --quiet ":ctxagent-bench:$task" >"$log" 2>&1 || { cat "$log" >&2; exit 1; }
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
if [[ ${1:-} == --peers ]]; then
  exec "$java" -cp "$classpath" io.ctxagent.bench.Peers "${options[@]}"
fi
if [[ ${1:-} == --matrix ]]; then
  exec "$java" -cp "$classpath" io.ctxagent.bench.Matrix "${options[@]}"
fi
exec "$java" -cp "$classpath" org.openjdk.jmh.Main -jvmArgsAppend "${options[*]}" "$@"
