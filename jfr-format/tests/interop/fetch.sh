#!/usr/bin/env bash
# Fetches the other readers that our files are tried with, by Maven coordinate, into
# .toolchain/interop/ (once). Prints a line "NAME CLASS_PATH" for each of them. Exit code 3: not to
# be had here, the caller leaves the test out.
set -euo pipefail

readonly ROOT=$(cd "$(dirname "${BASH_SOURCE[0]}")/../../.." && pwd)
readonly TARGET=${CTXAGENT_TOOLCHAIN_DIR:-$ROOT/.toolchain}/interop
readonly JMC=9.1.2
# The oldest that people still have, and the newest that can be had.
readonly CONVERTERS=(4.1 4.5)
readonly JMC_ARTIFACTS=(
  "org.openjdk.jmc:common:$JMC"
  "org.openjdk.jmc:flightrecorder:$JMC"
  "org.openjdk.jmc:flightrecorder.rules:$JMC"
  "org.openjdk.jmc:flightrecorder.rules.jdk:$JMC"
  org.lz4:lz4-java:1.8.0
  org.owasp.encoder:encoder:1.2.3
)

mkdir -p "$TARGET"
exec 9>"$TARGET/.lock"
flock 9

# fetch COORDINATE...: prints the jars as a class path.
fetch() {
  local artifact name version path=
  for artifact in "$@"; do
    IFS=: read -r _ name version <<<"$artifact"
    if [[ ! -s $TARGET/$name-$version.jar ]]; then
      command -v mvn >/dev/null || {
        echo "no mvn here" >&2
        exit 3
      }
      mvn -q -B dependency:copy -Dartifact="$artifact" -DoutputDirectory="$TARGET" >&2 || exit 3
    fi
    path+=${path:+:}$TARGET/$name-$version.jar
  done
  printf '%s\n' "$path"
}

path=$(fetch "${JMC_ARTIFACTS[@]}")
printf 'jmc %s\n' "$path"
for version in "${CONVERTERS[@]}"; do
  path=$(fetch "tools.profiler:jfr-converter:$version")
  printf 'converter-%s %s\n' "$version" "$path"
done
