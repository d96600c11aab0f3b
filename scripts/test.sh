#!/usr/bin/env bash
# Runs the tests: every one on JDK 21, and on 17 and 25 what reads the VM. Ends with "N passed, N
# failed"; exit code 0 only if nothing failed.
#   scripts/test.sh [all|rust|java|e2e]
#   JDKS=all                    every test on every JDK, the long loops at full size, as in CI
#   scripts/test.sh aarch64     unit tests of the signal-handler crates as aarch64 code, under qemu,
#                               and whether the agent compiles for it; not among all. Needs
#                               rustup target add aarch64-unknown-linux-gnu
#                               apt-get install qemu-user gcc-aarch64-linux-gnu
#                               apt-get install libc6-dev-arm64-cross
#
# Runners: cargo-nextest (.config/nextest.toml) and Gradle, with reports in JUnit's format in
# target/test-logs, JUnit's own on the JDKs that Gradle's cannot run on. One that ends badly without
# naming a failed test (it did not compile, it crashed) counts as one failed test.
. "$(dirname "$0")/lib.sh"
option JDKS 21
export JDKS
set +e # goes on after a failure

passed=0 failed=0
logs=target/test-logs
reports=()

say() { printf '== %s\n' "$*"; }

# count NAME PASSED FAILED EXIT_CODE: adds up, a bad end counts.
count() {
  local name=$1 good=$2 bad=$3 code=$4
  if [[ $code -ne 0 && $bad -eq 0 ]]; then
    say "$name: ended with code $code without naming a failed test"
    bad=1
  fi
  passed=$((passed + good))
  failed=$((failed + bad))
  say "$name: $good passed, $bad failed"
}

# sum PATTERN FILE: the numbers that sed's PATTERN finds, added up.
sum() { echo $(($(sed -n "s/$1/\1/p" "$2" | paste -sd+ | sed 's/^$/0/'))); }

# nextest NAME ARGUMENTS: leaves target/test-logs/NAME.xml.
nextest() {
  # Where nextest keeps it, whatever the directory of the build.
  local name=$1 written=target/nextest/default/junit.xml code
  shift
  rm -f "$written"
  "$NEXTEST" nextest run --test-threads $((2 * $(nproc))) "$@"
  code=$?
  reports+=("$logs/$name.xml")
  mv "$written" "$logs/$name.xml" && [[ $code -eq 0 || $code -eq 100 ]] ||
    count "$name" 0 0 "$code"
}

# Examples in documentation: "test result: ok. 12 passed; 0 failed; …", one line for each crate.
documentation_tests() {
  local log=$logs/doc.log code
  cargo test --quiet --workspace --exclude e2e --doc >"$log" 2>&1
  code=$?
  [[ $code -eq 0 ]] || cat "$log"
  count documentation "$(sum '^test result: .* \([0-9]*\) passed;.*' "$log")" \
    "$(sum '^test result: .* \([0-9]*\) failed;.*' "$log")" $code
}

# In its own directory: the flag changes every crate. What a model spends its time in is optimised,
# and not what loom logs with.
loom_tests() {
  local crate options=()
  for crate in signal-core stack-walker loom generator; do
    options+=(--config "profile.test.package.$crate.opt-level=2")
  done
  RUSTFLAGS="--cfg loom" CARGO_TARGET_DIR=target/loom nextest loom "${options[@]}" \
    -p signal-core -p stack-walker --test loom
}

run_java_tests() {
  local tasks=(test testNoAgent)
  [[ $JDKS != all ]] || tasks=(check)
  # The files of an older run must not be counted.
  rm -rf java-api/build/test-results
  JAVA_HOME=$CTXAGENT_GRADLE_JDK "$CTXAGENT_GRADLE" --console=plain --continue cleanTest \
    cleanTestNoAgent "${tasks[@]}" >"$logs/java.log" 2>&1
  echo $? >"$logs/java.code"
}

# JUnit's own runner says "OK (12 tests)" or "Tests run: 12,  Failures: 1"; Gradle has left files.
count_java_tests() {
  local log=$logs/java.log code ran bad
  cat "$log"
  code=$(cat "$logs/java.code")
  reports+=(java-api/build/test-results)
  bad=$(sum '^Tests run: [0-9]*,  Failures: \([0-9]*\)$' "$log")
  ran=$(($(sum '^OK (\([0-9]*\) tests\{0,1\})$' "$log") + \
  $(sum '^Tests run: \([0-9]*\),  Failures: [0-9]*$' "$log")))
  [[ $code -eq 0 ]] || java_failures "$log"
  # Tests that fail in Gradle are in its reports.
  if grep -q ' > .* FAILED$' "$log"; then code=0; fi
  count java $((ran - bad)) "$bad" "$code"
}

# java_failures LOG: "1) NAME(CLASS)" of JUnit's own runner, to the first empty line.
java_failures() {
  awk '
    /^[0-9]+\) [^ ]+\([^ ]+\)$/ { print "== failed: " $2; left = 12; next }
    /^$/ { left = 0 }
    left-- > 0 { print "   " substr($0, 1, 2000) }
  ' "$1"
}

aarch64_tests() {
  local target=aarch64-unknown-linux-gnu
  command -v qemu-aarch64 >/dev/null || {
    skip aarch64 "no qemu-aarch64"
    exit 0
  }
  command -v aarch64-linux-gnu-gcc >/dev/null || {
    skip aarch64 "no aarch64-linux-gnu-gcc"
    exit 0
  }
  [[ -d $(rustc --print target-libdir --target $target) ]] || {
    skip aarch64 "Rust's standard library for $target is not installed"
    exit 0
  }
  export CARGO_TARGET_AARCH64_UNKNOWN_LINUX_GNU_LINKER=aarch64-linux-gnu-gcc
  export CARGO_TARGET_AARCH64_UNKNOWN_LINUX_GNU_RUNNER="qemu-aarch64 -L /usr/aarch64-linux-gnu"
  cargo check --target $target -p ctxagent || count "agent for aarch64" 0 0 1
  nextest aarch64 --target $target -p signal-core -p stack-walker
}

group() { [[ $wanted == all || $wanted == "$1" ]]; }

# What the tests load, and they themselves: no compiler takes a test's time.
build() {
  build_agent || return
  if group e2e; then cargo run --quiet -p e2e --example prepare || return; fi
  "$NEXTEST" nextest run --no-run "${packages[@]}" || return
  export CTXAGENT_PREPARED=1
}

wanted=${1:-all}
packages=(--workspace)
case $wanted in
  all | java | aarch64) ;;
  rust) packages+=(--exclude e2e) ;;
  e2e) packages=(-p e2e) ;;
  *) usage ;;
esac
rm -rf "$logs" && mkdir -p "$logs"

if ! load_tools || ! NEXTEST=$(scripts/toolchain.sh nextest); then
  count toolchain 0 0 1
elif [[ $wanted == aarch64 ]]; then
  aarch64_tests
elif say "tools: 17 ${JAVA_HOME_17:-absent}, 21 $JAVA_HOME_21, 25 ${JAVA_HOME_25:-absent}" &&
  say "build" && build; then
  began=$SECONDS
  say "built after $began s"
  # Many tests of Rust wait: Java's have the other CPU.
  if group java; then
    run_java_tests </dev/null &
    trap 'kill %1 2>/dev/null' EXIT
  fi
  [[ $wanted == java ]] || nextest rust "${packages[@]}"
  if group rust; then loom_tests && documentation_tests; fi
  wait
  if group java; then count_java_tests; fi
  say "tests: $((SECONDS - began)) s; CPU time of this script and its children, build included:"
  times | tail -n 1
else
  count build 0 0 1
fi

report=$(scripts/test_report.py "${reports[@]}")
read -r good bad <<<"${report##*$'\n'}"
[[ $report != *$'\n'* ]] || echo "${report%$'\n'*}"
count "JUnit's reports" "$good" "$bad" 0
echo "$passed passed, $failed failed"
[[ $failed -eq 0 ]]
