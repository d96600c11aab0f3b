# One command for each thing to do. Every target does its own set-up: what is missing is fetched by scripts/toolchain.sh. Options are variables:
# `make oracle SAMPLES=1000`; the head of scripts/TARGET.sh names those of a target.

.DEFAULT_GOAL := help
TASKS := demo check format lint test stress jcstress oracle flat-memory selftest mutants miri nightly \
	build dist test-dist test-aarch64-jvm \
	bench-demo bench-labels bench-java bench-loads bench-bias bench-dues bench-reader
.PHONY: help $(TASKS) test-rust test-java test-e2e test-aarch64 docs direct-memory hooks clean

help: ## this list
	@sed -n 's/^\([a-z0-9-]*\):.*## /\1\t/p' $(MAKEFILE_LIST) | expand -t 14

demo: ## a web shop under load for 20 s, then: which endpoint and which tenant burnt the CPU
test: ## the tests; JDKS=all: every one on every JDK, as in CI. The last line is "N passed, N failed"
test-rust: ## unit and property tests in Rust
test-java: ## tests of the Java API, on every JDK, with the agent and without
test-e2e: ## real JVMs with the agent, one process per test
test-aarch64: ## unit tests of the signal-handler crate for aarch64, under qemu; SKIP without the tools
test-aarch64-jvm: ## the published agent in a JVM for aarch64, under qemu; SKIP without the tools
test-dist: ## what `make dist` has built: symbols, sizes, sums; one line of Maven, Gradle, java
check: ## formats, warnings, unit tests and pages, without a JVM: two minutes
format: ## formats the sources; fetches the formatters once
lint: ## formats, warnings, documentation, licences, minimal versions
miri: ## unit tests without system calls under Miri; SKIP without it
build: ## the agent, the command line and the Java API, as users get them
dist: ## what is published, in target/dist: jars, native archives, a Maven repository, checksums
docs: ## documentation of the crates and of the Java API
direct-memory: ## the class that the agent carries, made again from its source
oracle: ## ten million samples against what the program declares, half an hour; goes on where it was stopped
stress: ## the hostile load over JDKs, collectors and compiler modes, 10 minutes
jcstress: ## the Java writer of a block against readers on other threads
flat-memory: ## memory under 10^8 distinct values
selftest: ## a seeded fault for each promise: its test must find it; three quarters of an hour
mutants: ## mutation testing, ten minutes for each area
nightly: ## the long runs, three hours; goes on where it was stopped
bench-demo: ## throughput of the demo with the agent against without, in pairs; then sampling against a paused recording
bench-labels: ## what labels of requests cost a service: start-up and throughput, beside OpenTelemetry's agent
bench-java: ## the Java API: JMH, peers, matrix, observed scopes
bench-loads: ## H2 and Jackson under this and other profilers
bench-bias: ## error in known shares of CPU time, for this and other profilers
bench-dues: ## samples of each thread against its CPU time, for this and other profilers
bench-reader: ## the JFR reader beside others

$(TASKS):
	@scripts/$@.sh

test-rust test-java test-e2e test-aarch64:
	@scripts/test.sh $(@:test-%=%)

docs direct-memory:
	@scripts/build.sh $@

hooks: ## git checks format and warnings before each commit
	@git config core.hooksPath scripts/hooks

clean: ## removes what was built, keeps what was fetched
	@rm -rf target build java-api/build java-api/bench/build java-api/junit/build java-api/stress/build examples/shop/build .gradle
