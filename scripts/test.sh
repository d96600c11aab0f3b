#!/usr/bin/env bash
# Runs every test, or one group. Ends with "N passed, N failed"; exit code 0 only if nothing failed.
#   scripts/test.sh [all|rust|java|e2e]
#   scripts/test.sh aarch64     unit tests of the signal-handler crates as aarch64 code, under qemu,
#                               and whether the agent compiles for it; not among all. Needs
#                               rustup target add aarch64-unknown-linux-gnu
#                               apt-get install qemu-user gcc-aarch64-linux-gnu
#                               apt-get install libc6-dev-arm64-cross
#
# Each runner's own counts are added up. A runner that ends badly without telling a failed test (it
# did not compile, it crashed) counts as one failed test. Reports in JUnit's format: of Rust in
# target/test-logs, of Java in java-api/build/test-results.
. "$(dirname "$0")/lib.sh"
set +e # goes on after a failure

passed=0
logs_of_cargo=() logs_of_gradle=()
logs=target/test-logs
mkdir -p "$logs"

say() { printf '== %s\n' "$*"; }

# count NAME PASSED FAILED EXIT_CODE: adds up, a bad end counts.
count() {
  local name=$1 good=$2 bad=$3 code=$4
  if [[ $code -ne 0 && $bad -eq 0 ]]; then
    say "$name: ended with code $code without telling a failed test"
    bad=1
  fi
  passed=$((passed + good))
  failed=$((failed + bad))
  say "$name: $good passed, $bad failed"
}

# junit_report NAME: from the output of "cargo test" on stdin; a class for each test binary.
junit_report() {
  awk -v name="$1" '
    function escaped(text) {
      gsub(/&/, "\\&amp;", text); gsub(/</, "\\&lt;", text); gsub(/"/, "\\&quot;", text)
      return text
    }
    $1 == "Running" || $1 == "Doc-tests" {
      class = $NF; sub(/.*\//, "", class); sub(/-[0-9a-f]*\)$/, "", class)
    }
    match($0, / \.\.\. (ok|FAILED|ignored)/) && $1 == "test" {
      end = substr($0, RSTART + 5, 2); tests++
      failures += end == "FA"; skipped += end == "ig"
      inside = end == "FA" ? "<failure/>" : end == "ig" ? "<skipped/>" : ""
      cases = cases sprintf("<testcase classname=\"%s\" name=\"%s\">%s</testcase>\n", \
        escaped(class), escaped(substr($0, 6, RSTART - 6)), inside)
    }
    END {
      printf "<testsuite name=\"%s\" tests=\"%d\" failures=\"%d\" skipped=\"%d\">\n%s", \
        name, tests, failures, skipped, cases
      print "</testsuite>"
    }'
}

# cargo_tests NAME ARGUMENTS: "test result: ok. 12 passed; 0 failed; …", one line for each test
# binary.
cargo_tests() {
  local name=$1 log=$logs/$1.log code good bad
  shift
  logs_of_cargo+=("$log")
  cargo test --no-fail-fast "$@" 2>&1 | tee "$log"
  code=${PIPESTATUS[0]}
  junit_report "$name" <"$log" >"$logs/$name.xml"
  good=$(sed -n 's/^test result: .* \([0-9]*\) passed;.*/\1/p' "$log" | paste -sd+ | sed 's/^$/0/')
  bad=$(sed -n 's/^test result: .* \([0-9]*\) failed;.*/\1/p' "$log" | paste -sd+ | sed 's/^$/0/')
  count "$name" $((good)) $((bad)) "$code"
}

# failures LOG: the tests that failed in the output of "cargo test" and the beginning of what each
# one said; where only the end of all output is kept, it is lost otherwise.
failures() {
  awk '
    /^(successes|failures):$/ { section = $1; left = 0 }
    /^test result: / { section = ""; left = 0 }
    section == "failures:" && /^---- .* ----$/ { print "== failed: " $2; left = 0 }
    section == "failures:" && /panicked at |^Error: |^note: test did not/ { left = 12 }
    /^stack backtrace:/ { left = 0 }
    left-- > 0 { print "   " substr($0, 1, 2000) }
  ' "$1"
}

# java_failures LOG: the same of JUnit's tests: "CLASS > NAME FAILED" of Gradle's runner, "1)
# NAME(CLASS)" of JUnit's own. What a test said ends at the first empty line.
java_failures() {
  awk '
    /^[^ ]+ > [^ ]+ FAILED$/ { print "== failed: " $1 "." $3; left = 12; next }
    /^[0-9]+\) [^ ]+\([^ ]+\)$/ {
      split($2, parts, /[()]/)
      print "== failed: " parts[2] "." parts[1]; left = 12; next
    }
    /^$/ { left = 0 }
    left-- > 0 { print "   " substr($0, 1, 2000) }
  ' "$1"
}

# Attribute $1 of every <testsuite> in JUnit's files, added up.
junit_sum() {
  local sum
  sum=$(find java-api/build/test-results -name '*.xml' -exec sed \
    -n "s/^<testsuite .* $1=\"\([0-9]*\)\".*/\1/p" {} + 2>/dev/null | paste -sd+)
  echo $((${sum:-0}))
}

# logged NAME COMMAND: keeps its output and its exit code.
logged() {
  local name=$1
  shift
  "$@" >"$logs/$name.log" 2>&1
  echo $? >"$logs/$name.code"
}

# end NAME: prints what a logged command said; its exit code.
end() {
  cat "$logs/$1.log"
  return "$(cat "$logs/$1.code")"
}

run_java_tests() {
  # The files of an older run must not be counted.
  rm -rf java-api/build/test-results
  JAVA_HOME=$CTXAGENT_GRADLE_JDK "$CTXAGENT_GRADLE" --console=plain --continue cleanTest \
    cleanTestNoAgent check
}

java_tests() {
  local log=$logs/java.log code tests bad runner_good runner_bad
  logs_of_gradle+=("$log")
  end java
  code=$?
  bad=$(($(junit_sum failures) + $(junit_sum errors)))
  tests=$(($(junit_sum tests) - $(junit_sum skipped)))
  # JUnit's own runner, on the JDKs that Gradle's cannot run on: "OK (12 tests)" or "Tests run: 12,
  # Failures: 1".
  runner_good=$(sed -n 's/^OK (\([0-9]*\) tests\{0,1\})$/\1/p' "$log" | paste -sd+)
  runner_bad=$(sed -n 's/^Tests run: [0-9]*,  Failures: \([0-9]*\)$/\1/p' "$log" | paste -sd+)
  tests=$((tests + ${runner_good:-0} + $(sed \
    -n 's/^Tests run: \([0-9]*\),  Failures: [0-9]*$/\1/p' "$log" | paste -sd+ | sed 's/^$/0/')))
  bad=$((bad + ${runner_bad:-0}))
  count java $((tests - bad)) $((bad)) "$code"
}

# In its own directory: the flag changes every crate. What a model spends its time in is optimised,
# and not what loom logs with.
loom_tests() {
  local crate options=()
  for crate in signal-core stack-walker loom generator; do
    options+=(--config "profile.test.package.$crate.opt-level=2")
  done
  RUSTFLAGS="--cfg loom" CARGO_TARGET_DIR=target/loom cargo_tests loom "${options[@]}" \
    -p signal-core -p stack-walker --test loom
}

# All that they load and are, before the first one: a compiler would take its time.
build_for_e2e() {
  cargo run --quiet -p e2e --example prepare && cargo test --quiet -p e2e --no-run
}

e2e_tests() {
  end e2e-build || {
    count "what the JVMs load" 0 0 1
    return
  }
  # Each test starts a JVM that wants a core or two for itself.
  CTXAGENT_PREPARED=1 RUST_TEST_THREADS=${RUST_TEST_THREADS:-2} cargo_tests e2e -p e2e -- \
    --show-output
}

# Many Rust tests wait or have one thread: what runs beside them has the other CPU.
begin_beside_rust() {
  rm -f "$logs"/*.code
  set -m # its own process group, which ends with this script
  {
    if group java; then logged java run_java_tests; fi
    if group e2e; then logged e2e-build build_for_e2e; fi
  } </dev/null &
  set +m
  # shellcheck disable=SC2064
  trap "kill -- -$! 2>/dev/null" EXIT
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
  cargo_tests aarch64 --target $target -p signal-core -p stack-walker
}

group() { [[ $wanted == all || $wanted == "$1" ]]; }

wanted=${1:-all}
case $wanted in
  all | rust | java | e2e | aarch64) ;;
  *) usage ;;
esac

if [[ $wanted == aarch64 ]]; then
  aarch64_tests
elif load_tools; then
  say "tools: 17 ${JAVA_HOME_17:-absent}, 21 $JAVA_HOME_21, 25 ${JAVA_HOME_25:-absent}"
  say "build"
  # Both profiles at once: a library is linked by one thread.
  group rust && cargo test --workspace --exclude e2e --no-run --quiet >/dev/null 2>&1 &
  if (build_agent); then
    begin_beside_rust
    group rust && cargo_tests rust --workspace --exclude e2e
    group rust && loom_tests
    wait
    group java && java_tests
    group e2e && e2e_tests
  else
    count build 0 0 1
  fi
else
  count toolchain 0 0 1
fi

for log in "${logs_of_cargo[@]}"; do failures "$log"; done
for log in "${logs_of_gradle[@]}"; do java_failures "$log"; done
echo "$passed passed, $failed failed"
[[ $failed -eq 0 ]]
