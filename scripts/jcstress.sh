#!/usr/bin/env bash
# jcstress: the Java writer of a block against readers on other threads, and controls that must
# fail. No part of `make test`.
#   MODE=quick   or default, tough; sanity is too short to find the controls
#   JDK=21       or 17, 25
#   ARGS=""      more arguments of jcstress
# Ends with "N held, N controls found", exit code 0 only if all did, 3 if there is no such JDK here.
. "$(dirname "$0")/lib.sh"
option MODE quick
option JDK 21 17
option ARGS ""

load_tools
home=$(home_of "$JDK")
[[ -n $home ]] || {
  skip "on $JDK" "no JDK $JDK here"
  exit 3
}
build_agent
results=$ROOT/target/jcstress
mkdir -p "$results"
classpath=$(class_path_of :ctxagent-stress:stressClasspath -Pstress)
read -ra arguments <<<"$ARGS"
set +e # a test that fails is a result

# stress NAME: runs one test; 0 if no forbidden outcome was seen.
stress() (
  # There: it leaves files where it runs.
  cd "$results" && "$home/bin/java" -cp "$classpath" org.openjdk.jcstress.Main -m "$MODE" -v \
    -sc false -af NONE -t "io.ctxagent.$1\$" -r "$results/$1" \
    -jvmArgsPrepend "-agentpath:$AGENT" "${arguments[@]}" >"$results/$1.log" 2>&1
)

# outcomes NAME: how often each result was seen, over all VMs of the test. Rows are "RESULT SAMPLES
# FREQ% EXPECT DESCRIPTION".
outcomes() {
  awk '/^RUN RESULTS/ { exit }
    / (Acceptable|Forbidden|Interesting) / {
      for (at = 1; at <= NF && $at !~ /%$/; at++) { }
      key = $1
      for (i = 2; i < at - 1; i++) key = key " " $i
      count = $(at - 1); gsub(/,/, "", count); sum[key] += count
    }
    END { for (key in sum) printf "; %s: %d", key, sum[key] }' "$results/$1.log"
}

held=0
found=0
bad=0
for source in java-api/stress/src/main/java/io/ctxagent/*.java; do
  name=$(basename "$source" .java)
  grep -q '^@JCStressTest' "$source" || continue
  stress "$name"
  code=$?
  forbidden=$(grep -c 'Observed forbidden state' "$results/$name.log")
  if [[ $name == Control* ]]; then
    if [[ $code -ne 0 && $forbidden -gt 0 ]]; then
      verdict="found, as it must"
      found=$((found + 1))
    else
      verdict="NOT FOUND"
      bad=1
    fi
  else
    if [[ $code -eq 0 ]]; then
      verdict="held"
      held=$((held + 1))
    else
      verdict="FAILED, see $results/$name.log"
      bad=1
    fi
  fi
  echo "$name: $verdict$(outcomes "$name")"
done
echo "$held held, $found controls found"
exit $bad
