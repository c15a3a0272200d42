# SPDX-License-Identifier: BSD-3-Clause
"""The end of generators whose page lies in the tree: print it, or compare it with what lies there."""
import difflib
import pathlib
import sys


def print_or_compare(new, path, source, command):
    """Print new; with path, fail where the file holds anything else. source is said to be what new
    comes from, command how the file is made. Return the exit status."""
    if not path:
        sys.stdout.write(new)
        return 0
    old = pathlib.Path(path).read_text()
    sys.stdout.writelines(difflib.unified_diff(old.splitlines(True), new.splitlines(True), path,
                                               source))
    if old != new:
        print(f"print it anew: {command}")
    return 1 if old != new else 0
