#!/usr/bin/env bash
# Benches of the Java API with the agent.
#   MODE=jmh       JMH, for a quiet machine; ARGS="one -prof gc" are its arguments
#   MODE=quick     minimum of many short runs: some seconds, also on a busy machine; ARGS="again"
#                  runs twice, so that the second round has seen all shapes
#   MODE=peers     JMH beside OpenTelemetry, MDC, ddprof, Pyroscope, JFR events …, with ratios; some
#                  minutes
#   MODE=matrix    JMH: each shape alone and after all others; 1, 2, 4 threads, platform and
#                  virtual; bytes; some minutes
#   MODE=observer  scopes that are observed against scopes that are not, in pairs; half a minute;
#                  ARGS="100 60 1000 count": see ObserverBench
#   JDK=21         or 17, 25
#   DOUBLE=1       over the tests' double of the agent
. "$(dirname "$0")/lib.sh"
option MODE jmh
option JDK 21 17
option ARGS ""
option DOUBLE ""

load_tools
java=$(home_of "$JDK")/bin/java
task=benchClasspath
[[ $MODE != peers ]] || task=peersClasspath
classpath=$(class_path_of ":ctxagent-bench:$task")
if [[ -z $DOUBLE ]]; then
  build_agent
  vm=("-agentpath:$AGENT")
else
  vm=(--add-exports=java.base/jdk.internal.misc=ALL-UNNAMED)
fi
read -ra arguments <<<"$ARGS"
case $MODE in
  quick) exec "$java" "${vm[@]}" -cp "$classpath" io.ctxagent.bench.Quick "${arguments[@]}" ;;
  peers) exec "$java" -cp "$classpath" io.ctxagent.bench.Peers "${vm[@]}" ;;
  matrix) exec "$java" -cp "$classpath" io.ctxagent.bench.Matrix "${vm[@]}" ;;
  observer)
    ((${#arguments[@]})) || arguments=(100 60 1000 count)
    exec "$java" "${vm[@]}" -Xmx512m -cp "$classpath" io.ctxagent.bench.ObserverBench \
      "${arguments[@]}"
    ;;
  jmh) exec "$java" -cp "$classpath" org.openjdk.jmh.Main -jvmArgsAppend "${vm[*]}" \
    "${arguments[@]}" ;;
  *) usage ;;
esac
