#!/usr/bin/env bash
# Builds what users get: target/release/libctxagent.so, target/release/ctxjfr, java-api/build/libs/ctxagent-api.jar.
# "docs" builds the documentation of the crates and of the Java API instead. Everything said goes to stderr.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."

command -v cargo >/dev/null || {
  echo "build: cargo is missing: it builds the agent; install Rust $(sed -n 's/^rust-version = "\(.*\)"/\1/p' Cargo.toml) or later with rustup" >&2
  exit 1
}
tools=$(scripts/toolchain.sh env)
eval "$tools"

gradle() { JAVA_HOME=$CTXAGENT_GRADLE_JDK "$CTXAGENT_GRADLE" --console=plain --quiet "$@" >&2; }

case ${1:-all} in
  all)
    cargo build --release --quiet -p ctxagent -p ctxjfr
    gradle jar
    ;;
  rust) cargo build --release --quiet -p ctxagent -p ctxjfr ;;
  java) gradle jar ;;
  docs)
    RUSTDOCFLAGS="${RUSTDOCFLAGS:-} -D warnings" cargo doc --workspace --no-deps --quiet
    gradle javadoc
    echo "docs: target/doc/ctxagent/index.html, java-api/build/docs/javadoc/index.html" >&2
    ;;
  *) echo "usage: scripts/build.sh [all|rust|java|docs]" >&2; exit 2 ;;
esac
