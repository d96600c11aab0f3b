#!/usr/bin/env bash
# Does each promise's test notice when the promise is broken? Builds agent, command line and jfr-format with the bugs of tests/reliability/planted.tsv
# (feature `planted`), and for each bug runs the one test that must fail with it; the same test with the same build and no bug must pass.
# scripts/selftest.sh [WORD…]: only bugs whose line has one of the words, like P6 or timers-kept. Ends with "N caught, N missed".
set -uo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."

table=tests/reliability/planted.tsv
build=$PWD/target/planted
work=$build/selftest
mkdir -p "$work"
eval "$(scripts/toolchain.sh env)" || exit 1

# What a stuck JVM may cost: far more than the tests need, less than their usual limit.
export CTXAGENT_TEST_SECONDS=${CTXAGENT_TEST_SECONDS:-75}
export CTXAGENT_LIB=$build/release/libctxagent.so CTXAGENT_ORACLE_LIB=$build/release/libctxagent.so CTXAGENT_CTXJFR=$build/release/ctxjfr
unset CTXAGENT_PLANTED

say() { echo "selftest: $*" >&2; }

# One build plays every bug. The tests of crates that need no JVM are built with it; the end-to-end tests are the usual ones.
build() {
  local crates=(--features ctxagent/planted,ctxagent/oracle,ctxagent/faults,ctxjfr/planted -p ctxagent -p ctxjfr)
  CARGO_TARGET_DIR=$build cargo build --release --quiet "${crates[@]}" || return 1
  CARGO_TARGET_DIR=$build cargo test --quiet --no-run -p jfr-format --features planted --test killpoints --test read_hostile || return 1
  CARGO_TARGET_DIR=$build cargo test --quiet --no-run -j2 -p ctxagent --features planted --lib || return 1
  CARGO_TARGET_DIR=$build cargo test --quiet --no-run -p ctxjfr --features planted --test cli || return 1
  cargo test --quiet --no-run -p e2e
}

# test PACKAGE:TARGET:NAME: its exit code; 3 if there is no such test.
run_test() {
  local package target name arguments=()
  IFS=: read -r package target name <<<"${1//::/@@}"
  name=${name//@@/::}
  case $package in
    e2e) arguments=(cargo test --quiet -p e2e --test "$target") ;;
    ctxagent) arguments=(env "CARGO_TARGET_DIR=$build" cargo test --quiet -p ctxagent --features planted --lib) ;;
    *) arguments=(env "CARGO_TARGET_DIR=$build" cargo test --quiet -p "$package" --features planted --test "$target") ;;
  esac
  "${arguments[@]}" -- --exact "$name" >"$work/out" 2>&1
  local code=$?
  grep -q '^running 1 test' "$work/out" || return 3
  return $code
}

declare -A sound
# control TEST: passes with the build and no bug? Asked once per test.
control() {
  if [[ -z ${sound[$1]:-} ]]; then
    if run_test "$1"; then sound[$1]=passes; else sound[$1]=fails; cp "$work/out" "$work/control-${1##*:}.out"; fi
  fi
  [[ ${sound[$1]} == passes ]]
}

say "build"
build || exit 1

caught=0
missed=0
echo "| promise | bug | test | seconds | caught |"
echo "|---|---|---|---|---|"
while IFS=$'\t' read -r promise bug where test what; do
  [[ $promise == \#* || -z $promise ]] && continue
  if (($# > 0)); then
    wanted=0
    for word in "$@"; do [[ $promise == "$word" || $bug == "$word" ]] && wanted=1; done
    ((wanted)) || continue
  fi
  begun=$SECONDS
  name=${test#*:}
  if ! control "$test"; then
    verdict="NO: fails without the bug"
  elif CTXAGENT_PLANTED=$bug run_test "$test"; then
    verdict=NO
  elif [[ $? -eq 3 ]]; then
    verdict="NO: no such test"
  else
    verdict=yes
  fi
  if [[ $verdict == yes ]]; then caught=$((caught + 1)); else missed=$((missed + 1)); cp "$work/out" "$work/$bug.out"; fi
  echo "| $promise | $what (\`$bug\`) | \`${name/:/ }\` | $((SECONDS - begun)) | $verdict |"
done <"$table"

# What users get has none of it: neither the variable nor a name.
scripts/build.sh rust >&2 || exit 1
for file in target/release/libctxagent.so target/release/ctxjfr; do
  while IFS=$'\t' read -r promise bug _; do
    [[ $promise == \#* || -z $promise ]] && continue
    if grep -qa -e "$bug" -e CTXAGENT_PLANTED "$file"; then
      say "$file has the planted bug $bug"
      missed=$((missed + 1))
    fi
  done <"$table"
done
grep -qa CTXAGENT_PLANTED "$CTXAGENT_LIB" || { say "the test build has no planted bug: the look for them finds nothing"; missed=$((missed + 1)); }

echo "$caught caught, $missed missed"
[[ $missed -eq 0 && $caught -gt 0 ]]
