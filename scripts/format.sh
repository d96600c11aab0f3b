#!/usr/bin/env bash
# Formats the sources: Rust by rustfmt, Java by palantir-java-format, shell scripts by shfmt.
. "$(dirname "$0")/lib.sh"

cargo fmt --all
format_java --replace
format_scripts --write
