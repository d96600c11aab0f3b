#!/usr/bin/env bash
# The agent in a JVM for aarch64, under user-mode emulation: it starts, knows contexts, takes
# samples, and its file is read back. Emulated signals and timers are not exact: the number of
# samples proves nothing. SKIP without the tools:
#   scripts/dist.sh, with linux-arm64
#   apt-get install qemu-user libc6-dev-arm64-cross libgcc-s1-arm64-cross
# The JVM is a wheel of the Python package registry, kept in .toolchain.
. "$(dirname "$0")/lib.sh"

readonly WORK=$ROOT/target/dist-test/aarch64 ROOT_OF_ARM64=/usr/aarch64-linux-gnu
version=$(sed -n 's/^version = "\(.*\)"/\1/p' Cargo.toml)

missing() {
  skip "JVM for aarch64" "$1"
  exit 0
}

emulator=$(command -v qemu-aarch64 || command -v qemu-aarch64-static) || missing "no qemu-aarch64"
[[ -e $ROOT_OF_ARM64/lib/libc.so.6 ]] || missing "no C library for it"
archive=$ROOT/target/dist/ctxagent-$version-linux-arm64.tar.gz
[[ -e $archive ]] || missing "no ${archive#"$ROOT"/}"
[[ -e $API ]] || missing "no ${API#"$ROOT"/}"
home=$(scripts/toolchain.sh jdk21-aarch64) || missing "the JVM cannot be fetched"
load_tools
rm -rf "$WORK" && mkdir -p "$WORK/classes"
tar -xzf "$archive" -C "$WORK" --strip-components=1
compile_programs "$WORK/classes" context/Labelled.java lifecycle/Stopped.java

say "a JVM under emulation takes a minute"
cd "$WORK"
# One that is emulated has neither a CPU of its own nor hardware for more threads.
timeout 300 "$emulator" -L "$ROOT_OF_ARM64" "$home/bin/java" -XX:+UseSerialGC \
  "-agentpath:$WORK/libctxagent.so=start,file=app.jfr" -cp "$API:classes" \
  Stopped Labelled 1 3000
"$ROOT/target/dist/ctxjfr" report app.jfr --by who | tee report
"$ROOT/target/dist/ctxjfr" check app.jfr || true
grep -q 'labelled-0' report || die "no sample has a label"
say "ok: $(grep -c labelled-0 report) labels were read back"
