#!/usr/bin/env bash
# The checks of the inner loop, without tests in a JVM: formats, warnings, documentation, unit
# tests, pages. Goes through all of them and fails at the end if one did; about two minutes after a
# first build.
. "$(dirname "$0")/lib.sh"

check_formats
check_code
check "unit tests" cargo test --quiet --workspace --exclude e2e --lib --bins
check "command line, schema" cargo test --quiet -p ctxjfr -p ctxagent-schema
check "written files" cargo test --quiet -p ctxagent-events -p jfr-format --test writer \
  --test read_written --test golden
check "pages, public items" cargo test --quiet -p e2e --test source
exit $failed
