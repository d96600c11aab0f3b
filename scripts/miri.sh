#!/usr/bin/env bash
# Unit tests under Miri: undefined behaviour in what needs no system call, assembly or long loop.
# The state that a handler uses is never freed, so leaks are ignored.
#   FILTERS="block:: …"   tests of signal-core, by the begin of their names
. "$(dirname "$0")/lib.sh"
option FILTERS "block:: counters:: filter:: layout:: lost_weights:: record:: sleep::"

cargo +nightly miri --version >/dev/null 2>&1 || {
  skip Miri "it is not here (rustup toolchain install nightly --component miri,rust-src)"
  exit 0
}
export CARGO_TARGET_DIR=target/miri MIRIFLAGS=-Zmiri-ignore-leaks
read -ra filters <<<"$FILTERS"
cargo +nightly miri test --quiet -p signal-core --lib -- "${filters[@]}"
