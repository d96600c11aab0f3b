#!/usr/bin/env bash
# Fetches other writers of recordings, by Maven coordinate and checksum, into .toolchain/interop/
# (once). Prints a line "NAME JAR" for each that can be had, "SKIP NAME: reason" for each that
# cannot.
set -euo pipefail

readonly ROOT=$(cd "$(dirname "${BASH_SOURCE[0]}")/../../../.." && pwd)
readonly TARGET=${CTXAGENT_TOOLCHAIN_DIR:-$ROOT/.toolchain}/interop

mkdir -p "$TARGET"
exec 9>"$TARGET/.lock"
flock 9

# fetch NAME COORDINATE SHA256
fetch() {
  local artifact version jar
  IFS=: read -r _ artifact version <<<"$2"
  jar=$TARGET/$artifact-$version.jar
  if [[ ! -s $jar ]]; then
    command -v mvn >/dev/null || {
      echo "SKIP $1: no mvn here"
      return
    }
    mvn -q -B dependency:copy -Dartifact="$2" -DoutputDirectory="$TARGET" >&2 || {
      echo "SKIP $1: $2 cannot be fetched"
      return
    }
  fi
  if ! echo "$3  $jar" | sha256sum --check --status; then
    echo "$jar is not what it was: expected SHA-256 $3; remove it to fetch it anew" >&2
    exit 1
  fi
  echo "$1 $jar"
}

fetch async-profiler tools.profiler:async-profiler:4.5 \
  d0184907de67ca63363f1a6333c75eb7414fb3e13c564641304fe0fdca97363e
fetch datadog com.datadoghq:ddprof:1.22.0 \
  5fa11cda627a82b5b335a15819336a22231844adb5a662ce3bd50b856be157e3
fetch mission-control org.openjdk.jmc:flightrecorder.writer:9.1.2 \
  8313e66f798f31de144c65b257a0434afca07b1bce1b59f17e63aed38c0dc9c1
