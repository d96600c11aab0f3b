#!/usr/bin/env bash
# Fetches the other readers that our files are tried with, by Maven coordinate, into .toolchain/interop/ (once).
# Prints the folder. Exit code 3: not to be had here, the caller leaves the test out.
set -euo pipefail

readonly ROOT=$(cd "$(dirname "${BASH_SOURCE[0]}")/../../.." && pwd)
readonly TARGET=${CTXAGENT_TOOLCHAIN_DIR:-$ROOT/.toolchain}/interop
readonly ARTIFACTS=(
  org.openjdk.jmc:flightrecorder:9.1.0
  org.openjdk.jmc:common:9.1.0
  org.lz4:lz4-java:1.8.0
  org.owasp.encoder:encoder:1.2.3
  tools.profiler:jfr-converter:4.2
)

mkdir -p "$TARGET"
exec 9>"$TARGET/.lock"
flock 9
for artifact in "${ARTIFACTS[@]}"; do
  IFS=: read -r _ name version <<<"$artifact"
  [[ -s $TARGET/$name-$version.jar ]] && continue
  command -v mvn >/dev/null || { echo "no mvn here" >&2; exit 3; }
  mvn -q -B dependency:copy -Dartifact="$artifact" -DoutputDirectory="$TARGET" >&2 || exit 3
done
printf '%s\n' "$TARGET"
