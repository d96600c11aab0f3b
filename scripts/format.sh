#!/usr/bin/env bash
# Formats the sources: Rust by rustfmt, shell scripts by shfmt.
. "$(dirname "$0")/lib.sh"

cargo fmt --all
read -ra scripts < <(shell_scripts)
shfmt=$(scripts/toolchain.sh shfmt)
"$shfmt" "${SHFMT_OPTIONS[@]}" --write "${scripts[@]}"
