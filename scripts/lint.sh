#!/usr/bin/env bash
# The checks that need no test run. Goes through all of them and fails at the end if one did.
set -uo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."

failed=0
check() {
  local name=$1
  shift
  if "$@" >&2; then
    echo "lint: $name ok"
  else
    echo "lint: $name FAILED: $*"
    failed=1
  fi
}

check format cargo fmt --all --check
check warnings cargo clippy --workspace --all-targets --quiet -- -D warnings
check documentation env RUSTDOCFLAGS="-D warnings" cargo doc --workspace --no-deps --quiet
for script in scripts/*.sh scripts/hooks/* .ci/run; do
  check "$script" bash -n "$script"
done
if command -v cargo-deny >/dev/null; then
  check licences cargo deny --log-level error check
else
  echo "lint: licences SKIP: cargo-deny is not here (cargo install cargo-deny)"
fi
exit $failed
