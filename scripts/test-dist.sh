#!/usr/bin/env bash
# Checks target/dist, which scripts/dist.sh has built: what it asks of the system, its sizes and
# sums, and that one line of a user is enough, on every JDK here. Ends with "N passed, N failed".
#   AGAIN=1     also builds all of it a second time and compares
#   MUSL_JDK=D  a JDK for musl, to try that library with; a SKIP without
. "$(dirname "$0")/lib.sh"
set +e # goes on after a failure

readonly DIST=$ROOT/target/dist WORK=$ROOT/target/dist-test KIB=1024 CPU_MILLIS=500
option AGAIN 0 0
option MUSL_JDK ""
version=$(sed -n 's/^version = "\(.*\)"/\1/p' Cargo.toml)
jar=$DIST/ctxagent-$version.jar
passed=0

# expect NAME COMMAND…
expect() {
  local name=$1
  shift
  if "$@" >"$WORK/log" 2>&1; then
    passed=$((passed + 1))
    echo "$self: $name ok"
  else
    failed=$((failed + 1))
    echo "$self: $name FAILED"
    sed 's/^/    /' "$WORK/log"
  fi
}

# ---- files ----

unpack() {
  local archive
  for archive in "$DIST"/ctxagent-"$version"-linux-*.tar.gz; do tar -xzf "$archive" -C "$WORK"; done
}

# newest_glibc FILE: the newest version of the C library that it asks for.
newest_glibc() {
  readelf --dyn-syms -W "$1" | grep -o 'GLIBC_[0-9.]*' | sort -uV | tail -n 1
}

asks_for_old_glibc() {
  local newest
  newest=$(newest_glibc "$1")
  echo "$1: ${newest:-nothing}"
  [[ $(printf '%s\n' GLIBC_2.17 "${newest:-GLIBC_2}" | sort -V | tail -n 1) == GLIBC_2.17 ]]
}

needs_only_the_c_library() {
  ! readelf -dW "$1" | grep NEEDED | grep -vE '\[lib(c|m|dl|pthread)\.so'
}

is_static() { ! readelf -lW "$1" | grep -E 'INTERP|NEEDED'; }

# has_tls KIND FILE: words in the model that its loader wants.
has_tls() {
  local relocations
  relocations=$(readelf -rW "$2" | grep -E 'TPOFF|TPREL|TLSDESC')
  case $1 in
    initial-exec) grep -qE 'TPOFF|TPREL' <<<"$relocations" ;;
    descriptor) ! grep -E 'TPOFF|TPREL' <<<"$relocations" && grep -q TLSDESC <<<"$relocations" ;;
  esac
}

is_at_most() {
  local size
  size=$(stat -c %s "$2")
  echo "$2: $size bytes"
  ((size <= $1 * KIB))
}

sums_agree() {
  (cd "$DIST" && sha256sum --check --quiet SHA256SUMS &&
    diff <(sed 's/^[^ ]*  //' SHA256SUMS) \
      <(find . -type f ! -name 'SHA256SUMS*' -printf '%P\n' | LC_ALL=C sort))
}

sbom_agrees() {
  python3 - "$DIST" "$version" <<'PY'
import hashlib, json, pathlib, sys
dist, version = pathlib.Path(sys.argv[1]), sys.argv[2]
components = json.loads((dist / f"ctxagent-{version}.cdx.json").read_text())["components"]
files = {c["name"]: c["hashes"][0]["content"] for c in components if c["type"] == "file"}
names = {p.name for p in dist.iterdir() if p.suffix in (".jar", ".gz") or p.name == "ctxjfr"}
assert files.keys() == names, files.keys() ^ names
for name, digest in files.items():
    assert hashlib.sha256((dist / name).read_bytes()).hexdigest() == digest, name
crates = {c["name"] for c in components if c["type"] == "library"}
assert {"ctxagent", "ctxjfr", "libc"} <= crates and "tempfile" not in crates, crates
PY
}

is_built_again() {
  cp -r "$DIST" "$WORK/first" && rm -rf target/dist-work && scripts/dist.sh &&
    diff -r --exclude="SHA256SUMS.*" "$WORK/first" "$DIST"
}

files() {
  local platform library crate
  expect sums sums_agree
  expect sbom sbom_agrees
  for platform in "$WORK"/ctxagent-"$version"-linux-*; do
    [[ $platform != *-debug ]] || continue
    library=$platform/libctxagent.so
    platform=${platform##*"$version"-}
    expect "$platform: glibc 2.17 is enough" asks_for_old_glibc "$library"
    expect "$platform: no other library" needs_only_the_c_library "$library"
    expect "$platform: 2 MiB at most" is_at_most 2048 "$library"
    case $platform in
      *-musl) expect "$platform: thread-local words" has_tls descriptor "$library" ;;
      *)
        expect "$platform: thread-local words" has_tls initial-exec "$library"
        expect "$platform: ctxjfr on glibc 2.17" asks_for_old_glibc "${library%/*}/ctxjfr"
        ;;
    esac
  done
  expect "ctxjfr is static" is_static "$DIST/ctxjfr"
  expect "ctxjfr with the agent: 8 MiB at most" is_at_most 8192 "$DIST/ctxjfr"
  expect "jar: 4 MiB at most" is_at_most 4096 "$jar"
  for crate in jfr-format jvmti-sys class-patcher hotspot-attach; do
    expect "$crate: builds from its package" cargo package --quiet --allow-dirty -p "$crate"
  done
  ((AGAIN == 0)) || expect "a second build is the same" is_built_again
}

# ---- one line of a user ----

write_program() {
  mkdir -p "$WORK/program/src/main/java"
  cat >"$WORK/program/src/main/java/Labelled.java" <<'JAVA'
import io.ctxagent.AgentControl;
import io.ctxagent.RecordingContext;

/** Works under a label; with an argument it starts the agent with these options before that. */
public class Labelled {
    public static void main(String[] args) {
        if (args.length == 2) {
            AgentControl.execute(args[1]);
        }
        long sum = 0;
        try (RecordingContext context = RecordingContext.where("who", "me").build()) {
            long end = System.nanoTime() + Long.parseLong(args[0]) * 1_000_000;
            while (System.nanoTime() < end) {
                sum = sum * 31 + (System.nanoTime() & 15);
            }
        }
        System.out.println(sum);
        AgentControl.execute("stop");
    }
}
JAVA
}

# is_labelled FILE: most samples of the main thread have the label.
is_labelled() {
  "$DIST/ctxjfr" report "$1" --by who | tee /dev/stderr | awk '$1 == "me" && $NF >= 10 { n++ }
    END { exit n != 1 }'
}

# records NAME JAVA_ARGUMENT…: a JVM with these writes a recording with labels, and no warning.
records() {
  local file=$WORK/$1.jfr
  shift
  rm -f "$file"
  (cd "$WORK" && "$@") >"$WORK/out" 2>&1 || { cat "$WORK/out" && return 1; }
  cat "$WORK/out"
  ! grep -i warning "$WORK/out" && is_labelled "$file"
}

# is_recorded JAVA_ARGUMENT…: ctxjfr records a JVM that was started without the agent.
is_recorded() {
  local jvm code
  "$@" >/dev/null &
  jvm=$!
  until "$DIST/ctxjfr" ps | grep -q "^ $jvm "; do kill -0 $jvm || return; done
  "$DIST/ctxjfr" record $jvm -d 1s --force -o "$WORK/running.jfr" --by thread | tee /dev/stderr |
    grep -q '^ main '
  code=$?
  kill $jvm
  return $code
}

maven_project() {
  cat >"$WORK/program/pom.xml" <<XML
<project xmlns="http://maven.apache.org/POM/4.0.0">
  <modelVersion>4.0.0</modelVersion>
  <groupId>test</groupId><artifactId>program</artifactId><version>1</version>
  <properties>
    <maven.compiler.source>17</maven.compiler.source>
    <maven.compiler.target>17</maven.compiler.target>
    <project.build.sourceEncoding>UTF-8</project.build.sourceEncoding>
  </properties>
  <repositories><repository>
    <id>dist</id><url>file://$DIST/repository</url>
  </repository></repositories>
  <dependencies><dependency>
    <groupId>io.ctxagent</groupId><artifactId>ctxagent</artifactId><version>$version</version>
  </dependency></dependencies>
</project>
XML
  rm -rf ~/.m2/repository/io/ctxagent
  (cd "$WORK/program" && JAVA_HOME=$CTXAGENT_JAVAC_HOME mvn -B -q compile)
}

# spring_project: a service of Spring Boot with a line more.
spring_project() {
  local spring
  spring=$(sed -n "s/^ext.springBootVersion = '\(.*\)'/\1/p" gradle/java-common.gradle)
  mkdir -p "$WORK/spring" && cp -r tests/starter/src "$WORK/spring"
  echo "rootProject.name = 'spring'" >"$WORK/spring/settings.gradle"
  cat >"$WORK/spring/build.gradle" <<GRADLE
apply plugin: 'java'
repositories {
  mavenCentral()
  maven { url 'file://$DIST/repository' }
}
dependencies {
  implementation 'org.springframework.boot:spring-boot-starter-web:$spring'
  implementation 'io.ctxagent:ctxagent-spring-boot-starter:$version'
}
task classPath { doLast { println sourceSets.main.runtimeClasspath.asPath } }
GRADLE
  gradle -p "$WORK/spring" classes classPath >"$WORK/spring/class-path"
}

# is_asked_for_a_dump: over HTTP, and ctxjfr reads it.
is_asked_for_a_dump() {
  (cd "$WORK/spring" && "$JAVA_HOME_21/bin/java" -cp "$(tail -n 1 class-path)" starter.Orders \
    --server.port=0 --management.endpoints.web.exposure.include=ctxagent \
    ctxagent/start work dump) && cat "$WORK"/spring/dump.bin >"$WORK/spring/dump.jfr" &&
    "$DIST/ctxjfr" report "$WORK/spring/dump.jfr" --by operation | tee /dev/stderr |
    grep -q 'GET /orders/{id}'
}

gradle_project() {
  cat >"$WORK/program/settings.gradle" <<<"rootProject.name = 'program'"
  cat >"$WORK/program/build.gradle" <<GRADLE
apply plugin: 'java'
repositories { maven { url 'file://$DIST/repository' } }
dependencies { implementation 'io.ctxagent:ctxagent:$version' }
task classPath { doLast { println sourceSets.main.runtimeClasspath.asPath } }
GRADLE
  gradle -p "$WORK/program" classes classPath >"$WORK/class-path"
}

# start_up NAME JAVA_ARGUMENT…: milliseconds of the shortest of seven starts.
start_up() {
  local name=$1 begin best=999999 took
  shift
  for _ in 1 2 3 4 5 6 7; do
    begin=$(date +%s%N)
    (cd "$WORK" && "$@") >/dev/null 2>&1
    took=$((($(date +%s%N) - begin) / 1000000))
    ((took >= best)) || best=$took
  done
  echo "$self: start-up $name: $best ms"
}

programs() {
  local home java native jdk classes=$WORK/program/target/classes options
  mkdir -p "$classes"
  write_program
  if command -v mvn >/dev/null; then
    expect "a Maven project resolves one line" maven_project
  else
    skip "a Maven project" "no mvn here"
  fi
  expect "a Gradle project resolves one line" gradle_project
  expect "a Spring Boot project resolves one line" spring_project
  expect "its endpoint gives a dump" is_asked_for_a_dump
  for jdk in 17 21 25; do
    home=$(home_of $jdk)
    [[ -n $home ]] || continue
    java=$home/bin/java native=()
    ((jdk < 24)) || native=(--enable-native-access=ALL-UNNAMED)
    expect "$jdk: -javaagent alone" records agent-$jdk "$java" \
      "-javaagent:$jar=start,file=agent-$jdk.jfr" -cp "$classes" Labelled $CPU_MILLIS
    expect "$jdk: a dependency alone" records self-$jdk "$java" "${native[@]}" \
      -cp "$(tail -n 1 "$WORK/class-path")" Labelled $CPU_MILLIS "start,file=self-$jdk.jfr"
    expect "$jdk: ctxjfr records a running JVM" is_recorded "$java" \
      -cp "$DIST/ctxagent-api-$version.jar:$classes" Labelled 60000
    options=start,file=path-$jdk.jfr
    expect "$jdk: -agentpath alone" records path-$jdk "$java" \
      "-agentpath:$WORK/ctxagent-$version-linux-x64/libctxagent.so=$options" \
      -cp "$DIST/ctxagent-api-$version.jar:$classes" Labelled $CPU_MILLIS
    start_up "$jdk, no agent" "$java" -cp "$jar:$classes" Labelled 0
    start_up "$jdk, -agentpath" "$java" \
      "-agentpath:$WORK/ctxagent-$version-linux-x64/libctxagent.so=start,overwrite,file=x.jfr" \
      -cp "$jar:$classes" Labelled 0
    start_up "$jdk, -javaagent" "$java" "-javaagent:$jar=start,overwrite,file=x.jfr" \
      -cp "$jar:$classes" Labelled 0
  done
  if [[ -n $MUSL_JDK ]]; then
    expect "musl: ctxjfr records a running JVM" is_recorded "$MUSL_JDK/bin/java" \
      -cp "$DIST/ctxagent-api-$version.jar:$classes" Labelled 60000
    expect "musl: -javaagent alone" records musl "$MUSL_JDK/bin/java" \
      "-javaagent:$jar=start,file=musl.jfr" -cp "$classes" Labelled $CPU_MILLIS
    expect "musl: -agentpath alone" records musl-path "$MUSL_JDK/bin/java" \
      "-agentpath:$WORK/ctxagent-$version-linux-x64-musl/libctxagent.so=start,file=musl-path.jfr" \
      -cp "$DIST/ctxagent-api-$version.jar:$classes" Labelled $CPU_MILLIS
  else
    skip musl "no MUSL_JDK"
  fi
}

[[ -e $DIST/SHA256SUMS ]] || die "target/dist is not there: make dist"
load_tools || die "no tools"
rm -rf "$WORK" && mkdir -p "$WORK"
unpack
files
programs
echo "$passed passed, $failed failed"
((failed == 0))
