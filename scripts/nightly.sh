#!/usr/bin/env bash
# The long runs, at most 190 minutes together: part after part, each with its own time limit. What
# is done is remembered in target/nightly, so that a run that was stopped goes on; each part adds a
# line to target/nightly/results.md. Exit code 0 only if every part of the run passed.
#   PARTS="oracle mutants"   only these; without, all that are not done yet, or a new run when all
#                            are. PARTS=list prints their names
#   FRESH=1                  forgets what is done
#   PERCENT=20               shorter parts; the table tells with what each was run
. "$(dirname "$0")/lib.sh"
option PARTS ""
option FRESH ""
option PERCENT 100 1
set +e # goes on after a failure

work=$ROOT/target/nightly
parts=(stress-1 stress-2 stress-3 stress-4 stress-5 stress-6 kills-1 kills-2 kills-3 kills-4
  cycles oracle flat-memory threads platform-churn virtual-churn restarts denied
  fuzz-records fuzz-metadata fuzz-values fuzz-samples jcstress selftest mutants)

[[ $PARTS != list ]] || {
  printf '%s\n' "${parts[@]}"
  exit
}
[[ -z $FRESH ]] || rm -rf "$work"
mkdir -p "$work/done"
page=$work/results.md
[[ -e $page ]] || {
  echo "| day | commit | part | result | seconds | figures |"
  echo "|---|---|---|---|---|---|"
} >"$page"
load_tools || exit
# Parts are scripts with options of the same names.
unset FRESH

# part of what a whole night does, at least 1.
share() { echo $((($1 * PERCENT + 99) / 100)); }

# Recordings in a row: the test looks at the process after 20 of them, in the middle and at the end.
rounds() {
  local part
  part=$(share 1000)
  echo $((part < 100 ? 100 : part))
}

# e2e VARIABLE=VALUE… TARGET TEST: an end-to-end test with its own amount.
e2e() {
  local variables=()
  while [[ $1 == *=* ]]; do
    variables+=("$1")
    shift
  done
  env "${variables[@]}" cargo test --quiet -p e2e --test "$1" -- --exact "$2" --show-output
}

# found WORDS: the last line of the part's output that has them, without what only people at the
# screen need.
found() { grep -a "$1" "$out" | tail -n 1 | tr '|' '/' | cut -c1-220; }

fuzz() {
  local seconds
  seconds=$(share 300)
  command -v cargo-fuzz >/dev/null || {
    skip "$1" "cargo-fuzz is not here (cargo install cargo-fuzz)"
    return 3
  }
  rustup run nightly rustc --version >/dev/null 2>&1 || {
    skip "$1" "no nightly compiler here"
    return 3
  }
  (cd jfr-format && mkdir -p "fuzz/corpus/$1" &&
    cargo +nightly fuzz run "$1" "fuzz/corpus/$1" "fuzz/seeds/$1" -- "-max_total_time=$seconds" \
      -timeout=10 -max_len=8192 -rss_limit_mb=512)
}

# On 21 and, where there is one, on 25.
jcstress() {
  local code
  JDK=21 scripts/jcstress.sh || return
  JDK=25 scripts/jcstress.sh
  code=$?
  return $((code == 3 ? 0 : code))
}

# Runs a part; its words for the table go to stdout at the end. 3 = cannot be run here, 64 = no such
# part.
run() {
  local index=${1##*-}
  case $1 in
    stress-*) FIRST=$(((index - 1) * 20)) CELLS=20 CELL_SECONDS=$(share 30) scripts/stress.sh ;;
    kills-*) e2e CTXAGENT_KILLS=50 CTXAGENT_FIRST_KILL=$((index * 50 - 50)) jvm \
      kill::kill_nine_at_random_moments_loses_nothing_flushed ;;
    cycles) e2e CTXAGENT_CYCLES="$(share 200)" jvm \
      control::many_recordings_leave_no_descriptors_threads_and_memory ;;
    oracle) FRESH=1 SAMPLES=$(share 2000000) scripts/oracle.sh ;;
    flat-memory) VALUES=$(share 100000000) scripts/flat-memory.sh ;;
    threads) e2e CTXAGENT_TURNS="$(share 100000)" reliability \
      memory::threads_in_turn_leave_memory_flat ;;
    platform-churn) e2e CTXAGENT_CHURN_PLATFORM="$(share 100000)" CTXAGENT_CHURN_VIRTUAL=16 jvm \
      churn::new_thread_has_no_stale_context ;;
    virtual-churn) e2e CTXAGENT_CHURN_VIRTUAL="$(share 1000000)" CTXAGENT_CHURN_PLATFORM=16 jvm \
      churn::new_thread_has_no_stale_context ;;
    restarts) e2e CTXAGENT_RESTARTS="$(rounds)" reliability \
      restarts::restarts_leave_no_file_thread_or_timer ;;
    denied) cargo test --quiet -p e2e --test reliability -- start_failures:: disk:: --show-output ;;
    fuzz-*) fuzz "${1#fuzz-}" ;;
    jcstress) jcstress ;;
    selftest) scripts/selftest.sh ;;
    mutants) MINUTES=$(share 8) scripts/mutants.sh ;;
    *)
      say "no part '$1'; PARTS=list names them"
      return 64
      ;;
  esac
}

# What the table says of a part that has run.
figures() {
  case $1 in
    stress-*) echo "$(share 30) s cells: $(found ' passed, ')" ;;
    kills-*) found ' kills: ' ;;
    cycles) found ' cycles: ' ;;
    oracle) found ' compared, ' ;;
    flat-memory) echo "$(share 100000000) values; $(found '^after the first fifth')" ;;
    threads) echo "$(found ' threads in turn: ')" ;;
    platform-churn | virtual-churn) grep -a '^JDK.*ended [0-9]\{3,\}' "$out" | sed 's/|/\//g' |
      paste -sd';' ;;
    restarts) grep -a '^resident memory:' "$out" | sed "s/^/$(rounds) rounds: /" | paste -sd';' ;;
    denied) found '^test result' ;;
    fuzz-*) found '^Done ' ;;
    jcstress) grep -a ' held, \| SKIP: ' "$out" | sed '1s/^/21: /; 2s/^/25: /' | paste -sd';' ;;
    selftest) found ' caught, ' ;;
    mutants) grep -a ' noticed, ' "$out" | paste -sd';' ;;
  esac
}

read -ra wanted <<<"$PARTS"
if ((${#wanted[@]} == 0)); then
  for part in "${parts[@]}"; do [[ -e $work/done/$part ]] || wanted+=("$part"); done
  ((${#wanted[@]})) || { rm -rf "$work/done" && mkdir -p "$work/done" && wanted=("${parts[@]}"); }
fi

for part in "${wanted[@]}"; do
  out=$work/$part.out
  begun=$SECONDS
  # No part is longer than this on two cores; one that is hangs.
  export -f run e2e share rounds fuzz jcstress say skip
  part=$part self=$self PERCENT=$PERCENT timeout 3000 bash -c 'run "$part"' >"$out" 2>&1
  code=$?
  words=$(figures "$part")
  case $code in
    0) verdict=passed ;;
    64)
      cat "$out" >&2
      exit 2
      ;;
    3) verdict=skipped words=$(found " SKIP: ") ;;
    *)
      verdict="FAILED ($code)"
      failed=1
      ;;
  esac
  [[ $code -eq 0 || $code -eq 3 ]] && touch "$work/done/$part"
  line="| $(date -u +%Y-%m-%d) | $(git rev-parse --short HEAD) | $part | $verdict"
  line+=" | $((SECONDS - begun)) | $words |"
  echo "$line" >>"$page"
  echo "$line"
done
exit $failed
