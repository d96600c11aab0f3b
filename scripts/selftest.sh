#!/usr/bin/env bash
# Does each promise's test notice when the promise is broken? Builds agent, command line and jfr-format with the seeded faults of
# tests/reliability/faults.tsv
# (features `seeded-faults`, `deviations`), and for each fault runs the one test
# that must fail with it; the same test with the same build and no fault must pass.
#   ONLY="P6 timers-kept"   only these promises and faults
#   JOBS=2                  tests at once, as many as `make test` has
# Ends with "N caught, N missed".
. "$(dirname "$0")/lib.sh"
option ONLY ""
option JOBS 2 1
set +e # a test that fails is a result

table=tests/reliability/faults.tsv
build=$ROOT/target/seeded-faults
work=$build/selftest
mkdir -p "$work"
load_tools || exit

# What a stuck JVM may cost: far more than the tests need, less than their usual limit.
export CTXAGENT_TEST_SECONDS=${CTXAGENT_TEST_SECONDS:-75}
export CTXAGENT_LIB=$build/release/libctxagent.so CTXAGENT_ORACLE_LIB=$build/release/libctxagent.so CTXAGENT_CTXJFR=$build/release/ctxjfr
unset CTXAGENT_SEEDED_FAULT JFR_FORMAT_DEVIATION

# One build has every fault. The tests of crates that need no JVM are built with it; the end-to-end tests are the usual ones.
build() {
  local crates=(--features ctxagent/seeded-faults,ctxagent/oracle,ctxagent/faults,ctxjfr/seeded-faults -p ctxagent -p ctxjfr)
  CARGO_TARGET_DIR=$build cargo build --release --quiet "${crates[@]}" || return 1
  CARGO_TARGET_DIR=$build cargo test --quiet --no-run -p jfr-format --features deviations --test read_hostile || return 1
  CARGO_TARGET_DIR=$build cargo test --quiet --no-run -p ctxagent-events --features seeded-faults --test killpoints || return 1
  CARGO_TARGET_DIR=$build cargo test --quiet --no-run -j2 -p ctxagent --features seeded-faults --lib || return 1
  CARGO_TARGET_DIR=$build cargo test --quiet --no-run -p ctxjfr --features seeded-faults --test cli || return 1
  cargo test --quiet --no-run -p e2e
}

# run_test PACKAGE:TARGET:NAME OUTPUT: 0 it passed, 1 it failed, 3 there is no such test or it did not begin, 4 it began and has no result, 5 something of it met a time limit.
run_test() {
  local package target name arguments=()
  IFS=: read -r package target name <<<"${1//::/@@}"
  name=${name//@@/::}
  case $package in
    e2e) arguments=(cargo test --quiet -p e2e --test "$target") ;;
    ctxagent) arguments=(env "CARGO_TARGET_DIR=$build" cargo test --quiet -p ctxagent --features seeded-faults --lib) ;;
    jfr-format) arguments=(env "CARGO_TARGET_DIR=$build" cargo test --quiet -p jfr-format --features deviations --test "$target") ;;
    *) arguments=(env "CARGO_TARGET_DIR=$build" cargo test --quiet -p "$package" --features seeded-faults --test "$target") ;;
  esac
  "${arguments[@]}" -- --exact "$name" >"$2" 2>&1
  local code=$?
  grep -q '^running 1 test' "$2" || return 3
  ((code)) || return 0
  grep -q '^test result: FAILED. 0 passed; 1 failed' "$2" || return 4
  grep -qE ': (still running at its time limit|no .* in time|not in time: )' "$2" && return 5
  return 1
}

# job NAME TEST FAULT: runs the test with the fault, none if it is empty; keeps NAME.out, and in NAME.end what run_test said and the seconds.
job() {
  local code
  [[ -n $3 ]] && export CTXAGENT_SEEDED_FAULT=$3 JFR_FORMAT_DEVIATION=$3
  run_test "$2" "$work/$1.out"
  code=$?
  echo "$code $SECONDS" >"$work/$1.end"
}

# control TEST: the name of its run without a fault.
control() { echo "control-${1//:/-}"; }

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

say "build"
build || exit 1
say "built in $SECONDS s"

# Controls first: they take longest, as they run to the end.
mapfile -t lines < <(faults)
jobs=()
while read -r test; do [[ -n $test ]] && jobs+=("$(control "$test")" "$test" ""); done < <(printf '%s\n' "${lines[@]}" | cut -f3 | awk '!seen[$0]++')
for line in "${lines[@]}"; do
  IFS=$'\t' read -r promise fault test what hangs <<<"$line"
  jobs+=("$fault" "$test" "$fault")
done
export -f job run_test
export build work
rm -f "$work"/*.end "$work"/*.out
((${#jobs[@]})) && printf '%s\0' "${jobs[@]}" | xargs -0 -n 3 -P "$JOBS" bash -c 'job "$@"' job

caught=0
missed=0
echo "| promise | fault | test | seconds | caught |"
echo "|---|---|---|---|---|"
for line in "${lines[@]}"; do
  IFS=$'\t' read -r promise fault test what hangs <<<"$line"
  without='' with='' seconds=''
  read -r without _ <"$work/$(control "$test").end"
  read -r with seconds <"$work/$fault.end"
  case $without/$with$hangs in
    / | */ | /* | 3/* | */3*) verdict="NO: no such test, or it did not run" ;;
    0/0*) verdict=NO ;;
    0/1 | 0/1hangs | 0/5hangs) verdict=yes ;;
    # A slow machine meets a limit too, a crash of the test has many causes: neither says that the promise was looked at.
    0/5) verdict="NO: met a time limit" ;;
    0/*) verdict="NO: the test has no result" ;;
    *) verdict="NO: fails without the fault" ;;
  esac
  if [[ $verdict == yes ]]; then caught=$((caught + 1)); else missed=$((missed + 1)); fi
  name=${test#*:}
  echo "| $promise | $what (\`$fault\`) | \`${name/:/ }\` | $seconds | $verdict |"
done
say "tests done after $SECONDS s"

# What users get has none of it: neither the variable nor a name.
build_agent || exit
for file in "$AGENT" target/release/ctxjfr; do
  while IFS=$'\t' read -r promise fault _; do
    [[ $promise == \#* || -z $promise ]] && continue
    if grep -qa -e "$fault" -e CTXAGENT_SEEDED_FAULT -e JFR_FORMAT_DEVIATION "$file"; then
      say "$file has the seeded fault $fault"
      missed=$((missed + 1))
    fi
  done <"$table"
done
grep -qa CTXAGENT_SEEDED_FAULT "$CTXAGENT_LIB" || { say "the test build has no seeded fault: the search for them finds nothing"; missed=$((missed + 1)); }

echo "$caught caught, $missed missed"
[[ $missed -eq 0 && $caught -gt 0 ]]
