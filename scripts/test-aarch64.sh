#!/usr/bin/env bash
# Unit tests of the signal-handler crates as aarch64 code, under qemu; and whether the whole agent compiles for it. Says SKIP where a tool is missing:
#   rustup target add aarch64-unknown-linux-gnu
#   apt-get install qemu-user gcc-aarch64-linux-gnu libc6-dev-arm64-cross
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."

target=aarch64-unknown-linux-gnu
skip() { echo "SKIP aarch64: $1"; exit 0; }

command -v qemu-aarch64 >/dev/null || skip "no qemu-aarch64"
command -v aarch64-linux-gnu-gcc >/dev/null || skip "no aarch64-linux-gnu-gcc"
[[ -d $(rustc --print target-libdir --target $target) ]] || skip "Rust's standard library for $target is not installed"

export CARGO_TARGET_AARCH64_UNKNOWN_LINUX_GNU_LINKER=aarch64-linux-gnu-gcc
export CARGO_TARGET_AARCH64_UNKNOWN_LINUX_GNU_RUNNER="qemu-aarch64 -L /usr/aarch64-linux-gnu"
cargo check --target $target -p ctxagent
cargo test --target $target -p signal-core -p stack-walker
