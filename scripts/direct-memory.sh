#!/usr/bin/env bash
# Makes agent/src/jvm/DirectMemory.class from its source in java-api/src/direct: the agent carries the bytes of the class that it defines in the boot loader. A
# test compares the two. "scripts/direct-memory.sh FOLDER" makes it in another folder.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."
folder=${1:-agent/src/jvm}
javac=$(scripts/toolchain.sh javac)/bin/javac
classes=$(mktemp -d)
trap 'rm -rf "$classes"' EXIT
"$javac" -nowarn -g:none -source 17 -target 17 -XDignore.symbol.file --add-exports java.base/jdk.internal.misc=ALL-UNNAMED -d "$classes" \
  java-api/src/direct/java/io/ctxagent/direct/DirectMemory.java 2> >(grep -v '^warning\|^1 warning' >&2)
cp "$classes/io/ctxagent/direct/DirectMemory.class" "$folder/DirectMemory.class"
