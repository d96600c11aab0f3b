#!/usr/bin/env bash
# Builds what users get: target/release/libctxagent.so, target/release/ctxjfr, both in one file as
# target/dist/ctxjfr, java-api/build/libs/ctxagent-api.jar. Everything said goes to stderr.
#   scripts/build.sh [all|rust|java]            all of it, or one part
#   scripts/build.sh test-agent                 the agent's test build, for the tests of contexts
#                                               and of its stack walker
#   scripts/build.sh services                   services with libraries from Maven Central, for
#                                               the tests of labels
#   scripts/build.sh starter                    the starter for Spring Boot, and a service with it
#   scripts/build.sh docs                       the documentation of the crates and of the Java API
#   scripts/build.sh direct-memory [DIRECTORY]     agent/src/jvm/*.class, which the agent
#                                                  carries and defines in the boot loader; a test
#                                                  compares them with java-api/src/direct
. "$(dirname "$0")/lib.sh"

direct_memory() {
  classes=$(mktemp -d) # not local: the trap runs after the function
  trap 'rm -rf "$classes"' EXIT
  "$CTXAGENT_JAVAC_HOME/bin/javac" -nowarn -g:none -source 17 -target 17 -XDignore.symbol.file \
    --patch-module java.base=java-api/src/direct/java:java-api/src/direct/stubs -implicit:none \
    -d "$classes" $(find java-api/src/direct/java -name '*.java') \
    2> >(grep -v '^warning\|^1 warning' >&2)
  find "$classes" -name '*.class' -exec cp {} "$1" \;
}

# one_file: ctxjfr with the agent in it, to be copied to any machine.
one_file() {
  mkdir -p target/dist
  target/release/ctxjfr __pack target/dist/ctxjfr "$AGENT" >&2
  chmod 755 target/dist/ctxjfr
}

load_tools
case ${1:-all} in
  all) build_agent && one_file && gradle jar >&2 ;;
  rust) build_agent ;;
  java) gradle jar >&2 ;;
  test-agent) build_test_agent ;;
  services) gradle -Pservices :services:app :services-javax:app >&2 ;;
  starter) gradle -Pstarter :ctxagent-spring-boot-starter:jar :starter-test:app >&2 ;;
  docs)
    RUSTDOCFLAGS="${RUSTDOCFLAGS:-} -D warnings" cargo doc --workspace --no-deps --quiet
    gradle javadoc >&2
    say "target/doc/ctxagent/index.html, java-api/build/docs/javadoc/index.html"
    ;;
  direct-memory) direct_memory "${2:-agent/src/jvm}" ;;
  *) usage ;;
esac
