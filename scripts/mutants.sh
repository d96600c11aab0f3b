#!/usr/bin/env bash
# Mutation testing: cargo-mutants changes the code in one place at a time, and a unit test must
# fail. Picks mutants at random until the time is over.
#   AREAS="handler writer reader accounting report patcher"
#   MINUTES=10   for each area
# Mutants that no test can notice stand in tests/reliability/equivalent-mutants.tsv with the reason;
# any other survivor is printed and makes the exit code 1. Not every survivor is a gap: the
# end-to-end tests, which are not run here, find many of them.
. "$(dirname "$0")/lib.sh"
option AREAS "handler writer reader accounting report patcher"
option MINUTES 10 1
set +e # goes on after a failure

command -v cargo-mutants >/dev/null || {
  skip "mutation testing" "cargo-mutants is not here (cargo install cargo-mutants)"
  exit 3
}
known=tests/reliability/equivalent-mutants.tsv
work=$PWD/target/mutants
mkdir -p "$work"

# area NAME FILES -- TEST ARGUMENTS: mutants of these files, which these tests of their crate must
# notice.
area() {
  local name=$1 files=() out=$work/$1
  shift
  while [[ $1 != -- ]]; do
    files+=(--file "$1")
    shift
  done
  shift
  rm -rf "$out"
  timeout --signal=INT "${MINUTES}m" cargo mutants --no-times --shuffle --timeout 60 \
    --output "$out" "${files[@]}" -- "$@" >"$work/$name.log" 2>&1
  [[ -e $out/mutants.out/caught.txt ]] || {
    tail -n 20 "$work/$name.log"
    echo "FAILED  $name: no mutant was tried"
    failed=1
    return
  }
  report "$name" "$out/mutants.out"
}

# place LINE: a mutant without line and column, which change with every edit.
place() { sed -E 's/^([^:]+):[0-9]+:[0-9]+: /\1: /' "$1"; }

lines() { wc -l <"$1"; }

report() {
  local survivors
  survivors=$(place "$2/missed.txt" | sort | comm -23 - <(cut -f 1 "$known" | sort))
  echo "$1: $(lines "$2/caught.txt") noticed, $(lines "$2/timeout.txt") ran into the time limit," \
    "$(lines "$2/missed.txt") survived, $(lines "$2/unviable.txt") did not compile"
  [[ -z $survivors ]] || {
    sed 's/^/  survivor: /' <<<"$survivors"
    failed=1
  }
}

for one in $AREAS; do
  case $one in
    handler) area handler 'agent/signal-core/src/**/*.rs' 'agent/stack-walker/src/**/*.rs' -- \
      --lib ;;
    writer) area writer 'jfr-format/src/write/**/*.rs' 'jfr-format/src/*.rs' -- -p ctxagent-events \
      --lib --test writer --test golden --test read_written ;;
    reader) area reader 'jfr-format/src/read/**/*.rs' -- -p ctxagent-events --lib \
      --test read_written --test read_hostile --test golden ;;
    accounting) area accounting 'agent/src/metrics/*.rs' -- --lib ;;
    report) area report 'cli/src/accounting/*.rs' 'cli/src/collect/*.rs' -- --bins --test cli \
      --test several ;;
    patcher) area patcher 'agent/class-patcher/src/**/*.rs' -- --lib ;;
    *) usage ;;
  esac
done
exit $failed
