#!/usr/bin/env bash
# The checks that need no test run. Goes through all of them and fails at the end if one did; a tool that is not here is a SKIP.
. "$(dirname "$0")/lib.sh"

check format cargo fmt --all --check
check warnings cargo clippy --workspace --all-targets --quiet -- -D warnings
check documentation env RUSTDOCFLAGS="-D warnings" cargo doc --workspace --no-deps --quiet
for script in scripts/*.sh scripts/hooks/* .ci/run; do
  check "$script" bash -n "$script"
done
if command -v cargo-deny >/dev/null; then
  check licences cargo deny --log-level error check
else
  skip licences "cargo-deny is not here (cargo install cargo-deny)"
fi
exit $failed
