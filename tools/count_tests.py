#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""Count what meson test has found, or choose tests.

usage: count_tests.py TESTLOG.json
       count_tests.py --conformance FILE.csv
       count_tests.py --matching REGEX BUILD
       count_tests.py --listed FILE KIND BUILD
       count_tests.py --but FILE BUILD

The first prints what failed, each with the end of its output, and "N passed, N failed, N skipped";
it fails where a test failed or none passed. The second does so with what test/conformance/run has found; programs that need
functions which the library does not have yet are skipped. The third prints the names of the tests
of which the name or a suite matches; the fourth those in lines "KIND NAME" of a file, all of which
must be there; the fifth all tests but those in lines "SUITE REGEX" of a file, of whole names; it
warns of a line that fits no test of this build.
"""
import csv
import json
import re
import subprocess
import sys

PASSED = {"OK", "EXPECTEDFAIL"}
OUTPUT_LINES = 30       # of a failed test


def from_meson(path):
    with open(path, encoding="utf-8") as file:
        tests = [json.loads(line) for line in file if line.strip()]
    for test in tests:
        result = test["result"]
        output = (test.get("stdout") or "") + (test.get("stderr") or "")
        yield test["name"], "OK" if result in PASSED else result, output


def from_conformance(path):
    with open(path, encoding="utf-8", newline="") as file:
        for row in csv.DictReader(file):
            verdict = "SKIP" if row["verdict"] in ("skipped", "lacking") else row["verdict"]
            name = f"{row['dir']}/{row['program']} np={row['ranks']} {row['args']}".strip()
            yield name, "OK" if verdict == "passed" else verdict, row["reason"]


def count(results):
    results = list(results)
    failed = [r for r in results if r[1] not in ("OK", "SKIP")]
    passed = sum(verdict == "OK" for _, verdict, _ in results)
    for name, verdict, output in failed:
        print(f"{verdict.lower()}: {name}")
        for line in output.splitlines()[-OUTPUT_LINES:]:
            print("    " + line)
    print(f"{passed} passed, {len(failed)} failed, {len(results) - passed - len(failed)} skipped")
    return 1 if failed or not passed else 0


def tests_of(build):
    """Yields the name and the suites of each test of a build."""
    listing = subprocess.run(["meson", "introspect", "--tests", build], check=True,
                             capture_output=True, text=True).stdout
    for test in json.loads(listing):
        yield test["name"], {suite.split(":", 1)[-1] for suite in test["suite"]}


def choose(regex, build):
    for name, suites in tests_of(build):
        if any(re.search(rf"(^|[\W_])({regex})($|[\W_])", word) for word in (name, *suites)):
            print(name)
    return 0


def listed(path, kind, build):
    known = {name for name, _ in tests_of(build)}
    with open(path, encoding="utf-8") as file:
        names = [line.removeprefix(kind + " ").strip() for line in file if line.startswith(kind + " ")]
    missing = [name for name in names if name not in known]
    if missing or not names:
        return f"{path}: there is no test {', '.join(missing) or 'of ' + kind}"
    print("\n".join(names))
    return 0


def but(path, build):
    with open(path, encoding="utf-8") as file:
        patterns = [tuple(line.strip().split(None, 1)) for line in file if line.strip() and not line.startswith("#")]
    kept, left, used = [], set(), set()
    for name, suites in tests_of(build):
        fits = [p for p in patterns if p[0] in suites and re.fullmatch(p[1], name)]
        used.update(fits)
        if fits:
            left.add(name)
        else:
            kept.append(name)
    both = left.intersection(kept)
    if both:
        return f"{path}: tests of two suites are called {', '.join(sorted(both))}; rename one"
    idle = [" ".join(p) for p in patterns if p not in used]
    if idle:
        print(f"{path}: no such test here: {'; '.join(idle)}", file=sys.stderr)
    print("\n".join(dict.fromkeys(kept))) # of two tests with one name, meson runs both by it
    return 0


def main(arguments):
    if len(arguments) == 3 and arguments[0] == "--matching":
        return choose(*arguments[1:])
    if len(arguments) == 4 and arguments[0] == "--listed":
        return listed(*arguments[1:])
    if len(arguments) == 3 and arguments[0] == "--but":
        return but(*arguments[1:])
    if len(arguments) == 2 and arguments[0] == "--conformance":
        return count(from_conformance(arguments[1]))
    return count(from_meson(arguments[0])) if len(arguments) == 1 else __doc__


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
