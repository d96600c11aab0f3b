#!/usr/bin/env bash
# The checks of the inner loop, without a JVM: formats, warnings, unit tests, pages. About two minutes after a first build.
set -uo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."

failed=0
check() {
  local name=$1
  shift
  if "$@"; then
    echo "check: $name ok"
  else
    echo "check: $name FAILED: $*"
    failed=1
  fi
}

check format cargo fmt --all --check
check warnings cargo clippy --workspace --all-targets --quiet -- -D warnings
check "unit tests" cargo test --quiet --workspace --exclude e2e --lib --bins
check "command line" cargo test --quiet -p ctxjfr
check "written files" cargo test --quiet -p jfr-format --test writer --test read_written --test golden
check pages cargo test --quiet -p e2e --test docs
exit $failed
