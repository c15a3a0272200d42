#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""Count what meson test has found, or choose tests.

usage: count_tests.py TESTLOG.json
       count_tests.py --matching REGEX BUILD

The first prints what failed and "N passed, N failed, N skipped"; it fails where a test failed or
none passed. The second prints the names of the tests of which the name or a suite matches.
"""
import json
import re
import subprocess
import sys

PASSED = {"OK", "EXPECTEDFAIL"}


def count(path):
    with open(path, encoding="utf-8") as file:
        tests = [json.loads(line) for line in file if line.strip()]
    passed = sum(t["result"] in PASSED for t in tests)
    skipped = sum(t["result"] == "SKIP" for t in tests)
    failed = [t for t in tests if t["result"] not in PASSED | {"SKIP"}]
    for test in failed:
        print(f"{test['result'].lower()}: {test['name']}")
    print(f"{passed} passed, {len(failed)} failed, {skipped} skipped")
    return 1 if failed or not passed else 0


def choose(regex, build):
    listing = subprocess.run(["meson", "introspect", "--tests", build], check=True,
                             capture_output=True, text=True).stdout
    for test in json.loads(listing):
        words = [test["name"], *(s.split(":", 1)[-1] for s in test["suite"])]
        if any(re.search(rf"(^|[\W_])({regex})($|[\W_])", word) for word in words):
            print(test["name"])
    return 0


if __name__ == "__main__":
    if len(sys.argv) == 4 and sys.argv[1] == "--matching":
        sys.exit(choose(*sys.argv[2:]))
    sys.exit(count(sys.argv[1]) if len(sys.argv) == 2 else __doc__)
