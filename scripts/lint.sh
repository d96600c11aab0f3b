#!/usr/bin/env bash
# The checks that need no test run. Goes through all of them and fails at the end if one did; a tool
# that is not here is a SKIP.
. "$(dirname "$0")/lib.sh"

check_formats
check_code
read -ra scripts < <(shell_scripts)
for script in "${scripts[@]}"; do
  check "$script" bash -n "$script"
done
if command -v cargo-deny >/dev/null; then
  check licences cargo deny --log-level error check
else
  skip licences "cargo-deny is not here (cargo install cargo-deny)"
fi
# The oldest dependencies that the manifests allow must do: in a copy, as this changes the lock
# file.
minimal_versions() (
  copy=target/minimal-versions
  rm -rf "$copy" && mkdir -p "$copy"
  git ls-files -z | xargs -0 tar -c --ignore-failed-read | tar -x -C "$copy"
  cd "$copy" && cargo +nightly update --quiet -Z direct-minimal-versions &&
    CARGO_TARGET_DIR=$ROOT/target/minimal cargo check --workspace --quiet
)
if rustc +nightly --version >/dev/null 2>&1; then
  check "minimal versions" minimal_versions
else
  skip "minimal versions" "no nightly compiler here (rustup toolchain install nightly)"
fi
exit $failed
