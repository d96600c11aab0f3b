#!/usr/bin/env bash
# Does each promise's test notice when the promise is broken? For each fault of
# tests/reliability/faults.tsv: changes a copy of the sources by the patch
# tests/reliability/faults/FAULT.patch, builds it, and runs the one test that must fail with it; the
# same test with the copy as it is must pass.
#   ONLY="P6 timers-kept"   only these promises and faults
# Ends with "N caught, N missed".
. "$(dirname "$0")/lib.sh"
option ONLY ""
set +e # a test that fails is a result

table=tests/reliability/faults.tsv
work=$ROOT/target/selftest
copy=$work/tree
mkdir -p "$work"
load_tools || exit

# What a stuck JVM may cost: far more than the tests need, less than their usual limit.
export CTXAGENT_TEST_SECONDS=${CTXAGENT_TEST_SECONDS:-75}
export CTXAGENT_LIB=$work/target/release/libctxagent.so \
  CTXAGENT_ORACLE_LIB=$work/target/release/libctxagent.so \
  CTXAGENT_CTXJFR=$work/target/release/ctxjfr

# in_copy COMMAND…: in the copy, which is built often: little optimisation across crates, and no
# lint stops a fault.
in_copy() {
  (cd "$copy" && CARGO_TARGET_DIR=$work/target CARGO_PROFILE_RELEASE_LTO=off \
    CARGO_PROFILE_RELEASE_CODEGEN_UNITS=16 CARGO_INCREMENTAL=1 \
    RUSTFLAGS="--cap-lints allow" "$@")
}

# build_copy PACKAGE: what a test of this package runs.
build_copy() {
  case $1 in
    e2e) in_copy cargo build --release --quiet --features ctxagent/oracle,ctxagent/faults \
      -p ctxagent -p ctxjfr ;;
    *) true ;; # cargo builds a test as it runs it
  esac
}

# run_test PACKAGE:TARGET:NAME OUTPUT: 0 it passed, 1 it failed, 3 there is no such test or it did
# not begin, 4 it began and has no result, 5 something of it met a time limit.
run_test() {
  local package target name
  IFS=: read -r package target name <<<"${1//::/@@}"
  name=${name//@@/::}
  build_copy "$package" >"$2" 2>&1 || return 3
  case $package in
    e2e) cargo test --quiet -p e2e --test "$target" -- --exact "$name" ;;
    ctxagent) in_copy cargo test --quiet -p ctxagent --lib -- --exact "$name" ;;
    *) in_copy cargo test --quiet -p "$package" --test "$target" -- --exact "$name" ;;
  esac >>"$2" 2>&1
  local code=$?
  grep -q '^running 1 test' "$2" || return 3
  ((code)) || return 0
  grep -q '^test result: FAILED. 0 passed; 1 failed' "$2" || return 4
  grep -qE ': (still running at its time limit|no .* in time|not in time: )' "$2" && return 5
  return 1
}

# Lines of the table that are wanted, without remarks.
faults() {
  local promise fault where test what hangs word wanted
  while IFS=$'\t' read -r promise fault where test what hangs; do
    [[ $promise == \#* || -z $promise ]] && continue
    wanted=$([[ -n $ONLY ]] || echo 1)
    for word in $ONLY; do [[ $promise == "$word" || $fault == "$word" ]] && wanted=1; done
    [[ -z $wanted ]] || printf '%s\t%s\t%s\t%s\t%s\n' "$promise" "$fault" "$test" "$what" "$hangs"
  done <"$table"
}

# Files that did not change keep their times: cargo builds little. Those that a fault changes do
# not: an earlier run may have built them with the fault, and the test must pass without.
rm -rf "$copy" && mkdir -p "$copy" && git ls-files -z | xargs -0 cp -p --parents -t "$copy" || exit
(cd "$copy" && sed -n 's/^+++ b\///p' tests/reliability/faults/*.patch | xargs touch) || exit
mapfile -t lines < <(faults)
declare -A without
while read -r test; do
  [[ -n $test ]] || continue
  run_test "$test" "$work/control.out"
  without[$test]=$?
done < <(printf '%s\n' "${lines[@]}" | cut -f3 | awk '!seen[$0]++')

caught=0
missed=0
echo "| promise | fault | test | seconds | caught |"
echo "|---|---|---|---|---|"
for line in "${lines[@]}"; do
  IFS=$'\t' read -r promise fault test what hangs <<<"$line"
  patch=$ROOT/tests/reliability/faults/$fault.patch
  began=$SECONDS
  git apply --directory="${copy#"$ROOT"/}" "$patch" || {
    say "$fault: the patch does not apply"
    exit 1
  }
  run_test "$test" "$work/$fault.out"
  with=$?
  git apply -R --directory="${copy#"$ROOT"/}" "$patch" || exit
  case ${without[$test]}/$with$hangs in
    3/* | */3*) verdict="NO: no such test, or it did not run" ;;
    0/0*) verdict=NO ;;
    0/1 | 0/1hangs | 0/5hangs) verdict=yes ;;
    # A slow machine meets a limit too, a crash of the test has many causes: neither says that the
    # promise was looked at.
    0/5) verdict="NO: met a time limit" ;;
    0/*) verdict="NO: the test has no result" ;;
    *) verdict="NO: fails without the fault" ;;
  esac
  if [[ $verdict == yes ]]; then caught=$((caught + 1)); else missed=$((missed + 1)); fi
  name=${test#*:}
  echo "| $promise | $what (\`$fault\`) | \`${name/:/ }\` | $((SECONDS - began)) | $verdict |"
done
say "done after $SECONDS s"

echo "$caught caught, $missed missed"
[[ $missed -eq 0 && $caught -gt 0 ]]
