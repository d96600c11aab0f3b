#!/usr/bin/env bash
# Builds what is published, into target/dist. The same sources, tools and directory give the same
# bytes. Needs what scripts/toolchain.sh fetches once, zig among it; the second platform needs
#   rustup target add aarch64-unknown-linux-gnu
# and is a SKIP without it.
#   scripts/dist.sh         all of it
#   scripts/dist.sh jar     only ctxagent.jar of this machine's own build, as tests use it
#   SIGN="gpg --batch --local-user KEY --armor --detach-sign"   or SIGN="minisign -S -s KEY -m"
#                           signs the checksums, with a key that is not in the tree
. "$(dirname "$0")/lib.sh"

readonly DIST=$ROOT/target/dist WORK=$ROOT/target/dist-work GLIBC=2.17
readonly JAVA=$ROOT/java-api/build STARTER=$ROOT/spring-boot-starter/build/libs
readonly JUNIT=$ROOT/java-api/junit/build/libs
option SIGN ""
version=$(sed -n 's/^version = "\(.*\)"/\1/p' Cargo.toml) starter=ctxagent-spring-boot-starter

platform_of() {
  case $1 in
    x86_64-*) echo linux-x64 ;;
    aarch64-*) echo linux-arm64 ;;
  esac
}

# build CARGO_COMMAND TARGET FLAGS PACKAGE [ARGUMENT…]: without the directories of this machine, and
# optimized as one program, which takes a minute and makes the library 5 % smaller; by less inlining
# of the agent's own code another 2.5 %, at the same speed of its handler.
build() {
  local command=$1 target=$2 flags=$3
  shift 3
  RUSTFLAGS="$flags --remap-path-prefix=$ROOT=/ctxagent \
    --remap-path-prefix=${CARGO_HOME:-$HOME/.cargo}=/cargo" \
    CARGO_PROFILE_RELEASE_LTO=fat CARGO_TARGET_DIR=$WORK/cargo CARGO_ZIGBUILD_ZIG_PATH=$zig/zig \
    CARGO_ZIGBUILD_CACHE_DIR=$WORK/zig PATH=$zig:$PATH \
    cargo "$command" --config profile.release.package.ctxagent.opt-level=2 \
    --release --quiet --locked --target "$target" -p "$@" >&2
}

# split FILE: strips it; what a debugger wants is FILE.debug afterwards.
split() {
  objcopy --only-keep-debug "$1" "$1.debug"
  objcopy --strip-all --add-gnu-debuglink="$1.debug" "$1"
}

# That of Rust, which knows every processor.
objcopy() {
  local root
  root=$(rustc --print sysroot)
  LD_LIBRARY_PATH=$root/lib "$(rustc --print target-libdir)/../bin/rust-objcopy" "$@"
}

# library TARGET PLATFORM [ARGUMENT…]: into $WORK/PLATFORM. It asks glibc for nothing newer than
# $GLIBC. Without the loader's own library it can be loaded by musl, too, if it is built for that.
library() {
  local target=$1 place=$WORK/$2
  mkdir -p "$place"
  build zigbuild "$target.$GLIBC" "-C link-arg=-Wl,--hash-style=gnu" ctxagent "${@:3}"
  cp "$WORK/cargo/$target/release/libctxagent.so" "$place"
  split "$place/libctxagent.so"
  python3 scripts/dist.py unneed "$place/libctxagent.so" ld-linux-
}

# command_line TARGET PLATFORM: without any library of the system where this machine can link so.
command_line() {
  local target=$1 place=$WORK/$2
  if [[ $target == "$host" ]]; then
    build build "$target" "-C target-feature=+crt-static" ctxjfr
  else
    build zigbuild "$target.$GLIBC" "" ctxjfr
  fi
  cp "$WORK/cargo/$target/release/ctxjfr" "$place"
  split "$place/ctxjfr"
}

# archive NAME DIRECTORY FILE…
archive() {
  local name=$1 directory=$2
  shift 2
  tar --create --sort=name --mtime="@$epoch" --owner=0 --group=0 --numeric-owner \
    --transform="s|^|$name/|" --directory="$directory" "$@" | gzip -9n >"$DIST/$name.tar.gz"
}

natives() {
  local platform place name files
  for platform in "$@"; do
    place=$WORK/$platform name=ctxagent-$version-$platform
    cp LICENSE LICENSE-APACHE LICENSE-MIT "$place"
    mapfile -t files < <(cd "$place" && ls -- *ctx* | grep -v debug)
    archive "$name" "$place" LICENSE LICENSE-APACHE LICENSE-MIT "${files[@]}"
    archive "$name-debug" "$place" "${files[@]/%/.debug}"
  done
}

jars() {
  local platform suffix libraries=()
  for platform in "$@"; do libraries+=("$platform=$WORK/$platform/libctxagent.so"); done
  gradle :ctxagent-api:dist >&2
  cp "$JAVA/libs/ctxagent-api.jar" "$DIST/ctxagent-api-$version.jar"
  for artifact in ctxagent ctxagent-api; do
    cp "$JAVA/libs/ctxagent-api-sources.jar" "$DIST/$artifact-$version-sources.jar"
    cp "$JAVA/libs/ctxagent-api-javadoc.jar" "$DIST/$artifact-$version-javadoc.jar"
  done
  agent_jar "$DIST/ctxagent-$version.jar" "${libraries[@]}"
  gradle -Pstarter :ctxagent-spring-boot-starter:dist :ctxagent-junit:dist >&2
  for suffix in "" -sources -javadoc; do
    cp "$STARTER/$starter$suffix.jar" "$DIST/$starter-$version$suffix.jar"
    cp "$JUNIT/ctxagent-junit$suffix.jar" "$DIST/ctxagent-junit-$version$suffix.jar"
  done
}

# agent_jar FILE PLATFORM=LIBRARY…
agent_jar() {
  python3 scripts/dist.py jar "$version" "$1" "$JAVA/libs/ctxagent-api.jar" \
    "$JAVA/classes/java/loader" "${@:2}"
}

repository() {
  local artifact jars=() spring jupiter
  for artifact in ctxagent ctxagent-api ctxagent-junit "$starter"; do
    local at=$DIST/$artifact-$version
    jars+=("$artifact=$at.jar,$at-sources.jar,$at-javadoc.jar")
  done
  spring=$(sed -n "s/^ext.springBootVersion = '\(.*\)'/\1/p" gradle/java-common.gradle)
  jupiter=$(sed -n "s/^ext.jupiterVersion = '\(.*\)'/\1/p" gradle/java-common.gradle)
  jars[2]+="=org.junit.jupiter:junit-jupiter-api:$jupiter"
  jars[-1]+="=io.ctxagent:ctxagent:$version,"
  jars[-1]+="org.springframework.boot:spring-boot-starter-actuator:$spring"
  python3 scripts/dist.py repository "$DIST/repository" "$version" "${jars[@]}"
}

all() {
  local targets target platform platforms=()
  host=$(rustc --print host-tuple) targets=("$host")
  zig=$(scripts/toolchain.sh zig)
  epoch=$(git log -1 --format=%ct 2>/dev/null || echo 0)
  if [[ -d $(rustc --print target-libdir --target aarch64-unknown-linux-gnu) ]]; then
    targets+=(aarch64-unknown-linux-gnu)
  else
    skip linux-arm64 "Rust's standard library for it is not installed" >&2
  fi
  rm -rf "$DIST" "$WORK"/linux-* && mkdir -p "$DIST"
  for target in "${targets[@]}"; do
    say "$target"
    platform=$(platform_of "$target")
    library "$target" "$platform"
    command_line "$target" "$platform"
    library "$target" "$platform-musl" --features musl
    platforms+=("$platform" "$platform-musl")
  done
  natives "${platforms[@]}"
  platform=$(platform_of "$host")
  "$WORK/$platform/ctxjfr" __pack "$DIST/ctxjfr" "$WORK/$platform/libctxagent.so" \
    "$WORK/$platform-musl/libctxagent.so" >&2
  chmod 755 "$DIST/ctxjfr"
  jars "${platforms[@]}"
  repository
  cargo metadata --locked --format-version 1 --filter-platform "$host" |
    python3 scripts/dist.py sbom "$version" "$DIST/ctxagent-$version.cdx.json" \
      "$DIST"/*.jar "$DIST"/*.tar.gz "$DIST/ctxjfr"
  (cd "$DIST" && find . -type f ! -name SHA256SUMS -printf '%P\n' | LC_ALL=C sort |
    xargs sha256sum >SHA256SUMS)
  # shellcheck disable=SC2086 # a command with its arguments
  [[ -z $SIGN ]] || (cd "$DIST" && $SIGN SHA256SUMS)
  (cd "$DIST" && find . -maxdepth 1 -type f -printf '%10s %P\n' | sort -k 2)
}

load_tools
case ${1:-all} in
  all) all ;;
  jar)
    build_agent
    gradle :ctxagent-api:jar :ctxagent-api:loaderClasses >&2
    mkdir -p "$WORK/jar" target/e2e
    cp "$AGENT" "$WORK/jar"
    split "$WORK/jar/libctxagent.so"
    agent_jar target/e2e/ctxagent.jar \
      "$(platform_of "$(rustc --print host-tuple)")=$WORK/jar/libctxagent.so"
    ;;
  *) usage ;;
esac
