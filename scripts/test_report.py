#!/usr/bin/env python3
"""Sums up JUnit's files: the tests that failed, the slowest ones, "PASSED FAILED" as last line.

    test_report.py FILE_OR_DIRECTORY...

A file that cannot be read counts as one failed test: its runner ended too early.
"""

import pathlib
import sys
import xml.etree.ElementTree as xml

SLOWEST = 20
# Of what a failed test said.
LINES = 40


def files(arguments):
    for argument in map(pathlib.Path, arguments):
        yield from sorted(argument.rglob("*.xml")) if argument.is_dir() else [argument]


def cases(file):
    """(name, seconds, what it said if it failed, whether it was skipped) of each test."""
    for suite in xml.parse(file).getroot().iter("testsuite"):
        for case in suite.iter("testcase"):
            fault = case.find("failure")
            fault = case.find("error") if fault is None else fault
            said = None
            if fault is not None:
                output = case.findtext("system-err") or ""
                said = f"{fault.get('message') or ''}\n{fault.text or ''}\n{output}"
            name = f"{suite.get('name')} {case.get('name')}"
            yield name, float(case.get("time") or 0), said, case.find("skipped") is not None


def main():
    passed, failed, times = 0, [], []
    for file in files(sys.argv[1:]):
        try:
            found = list(cases(file))
        except (OSError, xml.ParseError) as error:
            failed.append((str(file), str(error)))
            continue
        for name, seconds, said, skipped in found:
            times.append((seconds, name))
            if said is not None:
                failed.append((name, said))
            elif not skipped:
                passed += 1
    for name, said in failed:
        print(f"== failed: {name}")
        for line in [line for line in said.splitlines() if line.strip()][:LINES]:
            print(f"   {line[:2000]}")
    print(f"== the {SLOWEST} slowest tests")
    for seconds, name in sorted(times, reverse=True)[:SLOWEST]:
        print(f"   {seconds:7.1f} s  {name}")
    print(passed, len(failed))


main()
