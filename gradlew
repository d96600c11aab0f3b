#!/usr/bin/env bash
# Runs the build with the Gradle and the JDK that scripts/toolchain.sh finds or fetches: ./gradlew
# test
set -euo pipefail
root=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
tools=$("$root/scripts/toolchain.sh" env)
eval "$tools"
export JAVA_HOME=$CTXAGENT_GRADLE_JDK
exec "$CTXAGENT_GRADLE" --project-dir "$root" "$@"
