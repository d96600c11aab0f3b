# One command for each thing to do. Every target does its own set-up: what is missing is fetched by scripts/toolchain.sh.

.DEFAULT_GOAL := help
.PHONY: help demo bench-demo check hooks test test-rust test-java test-e2e test-aarch64 stress oracle selftest nightly build lint docs clean

help: ## this list
	@sed -n 's/^\([a-z0-9-]*\):.*## /\1\t/p' $(MAKEFILE_LIST) | expand -t 14

demo: ## a web shop under load for 20 s, then: which endpoint and which tenant burnt the CPU
	@scripts/demo.sh

bench-demo: ## throughput of the demo with the agent against without, in pairs; then sampling against a paused recording
	@scripts/bench-demo.sh

check: ## formats, warnings, unit tests and pages, without a JVM: two minutes
	@scripts/check.sh

hooks: ## git checks format and warnings before each commit
	@git config core.hooksPath scripts/hooks

test: ## every test; the last line is "N passed, N failed"
	@scripts/test.sh

test-rust: ## unit and property tests in Rust
	@scripts/test.sh rust

test-java: ## tests of the Java API, on every JDK, with the agent and without
	@scripts/test.sh java

test-e2e: ## real JVMs with the agent, one process per test
	@scripts/test.sh e2e

test-aarch64: ## unit tests of the signal room for aarch64, under qemu; SKIP without the tools
	@scripts/test-aarch64.sh

stress: ## the hostile load over JDKs, collectors and compiler modes, 10 minutes
	@scripts/stress.sh

oracle: ## ten million samples against what the program declares, half an hour; goes on where it was stopped
	@scripts/oracle.sh

selftest: ## a planted bug for each promise: its test must find it; a quarter of an hour
	@scripts/selftest.sh

nightly: ## the long runs, three hours; goes on where it was stopped
	@scripts/nightly.sh

build: ## the agent, the command line and the Java API, as users get them
	@scripts/build.sh

lint: ## formats, warnings, documentation, licences: each as in CONTRIBUTING.md
	@scripts/lint.sh

docs: ## documentation of the crates and of the Java API
	@scripts/build.sh docs

clean: ## removes what was built, keeps what was fetched
	@rm -rf target build java-api/build java-api/bench/build java-api/stress/build examples/shop/build .gradle
