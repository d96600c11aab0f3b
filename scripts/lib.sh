# To be sourced first by the scripts of this directory. Each is a task of the Makefile and takes its
# options as variables, NAME=VALUE, from the environment or from make: `make oracle SAMPLES=1000` is
# `SAMPLES=1000 scripts/oracle.sh`. With -h a script prints its head, which names them.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."
readonly ROOT=$PWD
self=$(basename "$0" .sh)

say() { echo "$self: $*" >&2; }
die() {
  say "$@"
  exit 1
}
usage() {
  sed -n '2,/^[^#]/s/^# \{0,1\}//p' "scripts/$self.sh" >&2
  exit 2
}
[[ ${1:-} != -h && ${1:-} != --help ]] || usage

# option NAME DEFAULT [LEAST]: sets the variable NAME unless the caller did. With LEAST it is a
# whole number, not below that.
option() {
  local value=${!1:-$2}
  [[ -z ${3:-} ]] || { [[ $value =~ ^[0-9]+$ ]] && ((value >= $3)); } || {
    say "$1=$value: a whole number from $3 on is needed"
    exit 2
  }
  printf -v "$1" %s "$value"
}

# load_tools: JAVA_HOME_17, _21 and _25 (empty where there is no such JDK), CTXAGENT_JAVAC_HOME,
# CTXAGENT_GRADLE and its JDK.
load_tools() {
  local tools
  tools=$(scripts/toolchain.sh env) || return
  eval "$tools"
  : "${JAVA_HOME_17:=}" "${JAVA_HOME_25:=}"
}

# home_of VERSION: the home of a JDK, empty where there is none.
home_of() {
  local home=JAVA_HOME_$1
  echo "${!home}"
}

# ---- building ----

gradle() { JAVA_HOME=$CTXAGENT_GRADLE_JDK "$CTXAGENT_GRADLE" --console=plain --quiet "$@"; }

# build_agent [CARGO ARGUMENT…]: agent and command line as users get them, or with features. They
# are where the pages name them, wherever cargo builds otherwise.
build_agent() {
  local oldest
  oldest=$(sed -n 's/^rust-version = "\(.*\)"/\1/p' Cargo.toml)
  command -v cargo >/dev/null ||
    die "cargo is missing: it builds the agent; install Rust $oldest or later with rustup"
  CARGO_TARGET_DIR=$ROOT/target cargo build --release --quiet -p ctxagent -p ctxjfr "$@" >&2
}
readonly AGENT=$ROOT/target/release/libctxagent.so API=$ROOT/java-api/build/libs/ctxagent-api.jar

# build_test_agent: the build that compares each sample with what the program declares, and whose
# stack walker can be given a bad load.
build_test_agent() {
  # The crates that it shares with the agent are not compiled again. A directory of its own: the
  # library that users get is never a test build.
  local directory=$ROOT/target/oracle
  [[ -d $directory/release ]] || {
    build_agent && mkdir -p "$directory" && cp -a target/release "$directory"
  } || return
  CARGO_TARGET_DIR=$directory cargo build --release --quiet -p ctxagent --features oracle,faults >&2
}
readonly TEST_AGENT=$ROOT/target/oracle/release/libctxagent.so

# compile_programs DIRECTORY NAME…: classes of these programs of tests/java, and what they use.
compile_programs() {
  local directory=$1 places
  shift
  mkdir -p "$directory"
  # Programs are in no package: each directory is a root of its own.
  places=$(find tests/java -maxdepth 1 -type d | paste -sd:)
  "$CTXAGENT_JAVAC_HOME/bin/javac" -nowarn --release 17 -cp "$API" -sourcepath "$places" \
    -d "$directory" "${@/#/tests/java/}"
}

# class_path_of TASK [GRADLE ARGUMENT…]: the class path that a Gradle task of the benches or of
# jcstress prints.
class_path_of() {
  local log=$ROOT/target/gradle-${1##*:}.log
  mkdir -p target
  gradle "$@" >"$log" 2>&1 || {
    cat "$log" >&2
    return 1
  }
  grep '\.jar' "$log" | tail -n 1
}

# async_profiler JAR DIRECTORY: its library, unpacked there.
async_profiler() { unzip -qoj "$1" linux-x64/libasyncProfiler.so -d "$2"; }

# jdk_settings INTERVAL: settings with which JDK 25 records CPU time samples.
jdk_settings() {
  cat <<XML
<?xml version="1.0" encoding="UTF-8"?>
<configuration version="2.0"><event name="jdk.CPUTimeSample">
  <setting name="enabled">true</setting>
  <setting name="throttle">$1</setting>
  <setting name="stackTrace">true</setting>
</event></configuration>
XML
}

# ---- our engines beside other profilers ----

# prepare_profilers PROGRAM: what a bench of PROFILERS, LOADS and INTERVALS needs, in $OUT; sets the
# arrays of these names in small letters, without the profilers that are not here.
prepare_profilers() {
  local jars
  read -ra profilers <<<"$PROFILERS"
  read -ra loads <<<"$LOADS"
  read -ra intervals <<<"$INTERVALS"
  load_tools
  build_agent
  gradle jar
  compile_programs "$OUT/classes" "$1"
  touch "$FILE"
  jars=("${CTXAGENT_TOOLCHAIN_DIR:-.toolchain}"/interop/async-profiler-*.jar)
  if [[ -e ${jars[0]} ]]; then
    async_profiler "${jars[0]}" "$OUT"
  else
    without async-profiler "not fetched (jfr-format/tests/interop/foreign/fetch.sh does that)"
  fi
  [[ -n $JAVA_HOME_25 ]] || without jdk25 "no JDK 25 here"
}

# without NAME REASON: leaves a profiler out.
without() {
  local kept=() profiler
  for profiler in "${profilers[@]}"; do [[ $profiler == "$1" ]] || kept+=("$profiler"); done
  ((${#kept[@]} == ${#profilers[@]})) || skip "$1" "$2" >&2
  profilers=("${kept[@]}")
}

# frames EVENT FILE: how many events have a frame of a method phaseA, and of a phaseB.
frames() {
  target/release/ctxjfr convert --event "$1" -o collapsed=- "$2" |
    awk '/\.phaseA/ { a += $NF } /\.phaseB/ { b += $NF } END { print a + 0, b + 0 }'
}

# ---- the demo's shop ----

build_shop() {
  load_tools
  say "building the agent, ctxjfr and the shop (the first time takes some minutes)"
  build_agent
  gradle :shop:app >target/gradle-shop.log 2>&1 || {
    cat target/gradle-shop.log >&2
    exit 1
  }
}

# shop JVM_OPTION… SHOP_OPTION…: runs it on JDK 21; options of the shop begin with "--" and have
# "=".
shop() {
  local vm=() own=() argument
  for argument in "$@"; do
    if [[ $argument == --*=* ]]; then own+=("$argument"); else vm+=("$argument"); fi
  done
  "$JAVA_HOME_21/bin/java" -Xms256m -Xmx256m "${vm[@]}" -cp 'examples/shop/build/app/*' shop.Shop \
    "${own[@]}"
}

# ---- formats ----

# shell_scripts: all of the tree, on one line.
shell_scripts() {
  git grep -lI '^#!/usr/bin/env bash' | cat - <(echo scripts/lib.sh) | paste -sd' '
}

# format_scripts OPTION…: runs shfmt over them.
format_scripts() {
  local shfmt scripts
  shfmt=$(scripts/toolchain.sh shfmt) || return
  read -ra scripts < <(shell_scripts)
  "$shfmt" --language-dialect bash --indent 2 --case-indent "$@" "${scripts[@]}"
}

# format_java OPTION…: runs palantir-java-format over all Java sources, 100 columns wide.
format_java() {
  local jars home package exports=() sources
  jars=$(scripts/toolchain.sh java-formatter) && home=$(scripts/toolchain.sh javac) || return
  for package in api code file parser tree util; do
    exports+=(--add-exports "jdk.compiler/com.sun.tools.javac.$package=ALL-UNNAMED")
  done
  mapfile -t sources < <(git ls-files '*.java')
  "$home/bin/java" "${exports[@]}" -cp "$jars" com.palantir.javaformat.java.Main \
    --aosp --skip-sorting-imports "$@" "${sources[@]}"
}

# ---- checks that go on after a failure ----

failed=0
# skip WHAT WHY
skip() { echo "$self: $1 SKIP: $2"; }
# check NAME COMMAND…
check() {
  local name=$1
  shift
  if "$@" >&2; then echo "$self: $name ok"; else
    echo "$self: $name FAILED: $*"
    failed=1
  fi
}

# check_formats: of Rust, Java and scripts; where a formatter cannot be fetched it is a SKIP.
check_formats() {
  check format cargo fmt --all --check
  if scripts/toolchain.sh java-formatter >/dev/null; then
    check "format of Java" format_java --dry-run --set-exit-if-changed
  else
    skip "format of Java" "its formatter cannot be fetched"
  fi
  if scripts/toolchain.sh shfmt >/dev/null; then
    check "format of scripts" format_scripts --diff
  else
    skip "format of scripts" "shfmt cannot be fetched"
  fi
}

# check_code: what the compilers say of the code and of its documentation.
check_code() {
  check warnings cargo clippy --workspace --all-targets --quiet -- -D warnings
  check documentation env RUSTDOCFLAGS="-D warnings" cargo doc --workspace --no-deps --quiet
}

# ---- figures ----

# median: of the numbers on stdin.
median() {
  sort -g |
    awk '{ v[NR] = $1 } END { print (NR % 2) ? v[(NR + 1) / 2] : (v[NR / 2] + v[NR / 2 + 1]) / 2 }'
}

# spread FORMAT: the 95 % interval of the median of the numbers on stdin; of fewer than six the
# least and the greatest.
spread() {
  sort -g | awk -v format="$1" '
    { v[NR] = $1 }
    END {
      below = int((NR - 1.96 * sqrt(NR)) / 2)
      if (below < 1) below = 1
      printf format " to " format, v[below], v[NR + 1 - below]
    }'
}
