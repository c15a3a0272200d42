# SPDX-License-Identifier: BSD-3-Clause
"""The programs of examples/functions, one or more functions shown by each.

The first comment of a program says what it does, and then:

    Functions: names, whose manual pages show it
    Ranks: how many it wants
    Prints:
        what it prints, as it is
"""
import pathlib
import re
import typing

FORM = re.compile(r"/\*\n \* (?P<about>.*?)\n \*\n \* Functions: (?P<functions>.*?)\n"
                  r" \* Ranks: (?P<ranks>\d+)\n \* Prints:\n(?P<prints>.*?\n) \*/\n(?P<code>.*)", re.S)


class Example(typing.NamedTuple):
    path: pathlib.Path
    about: str
    functions: list
    ranks: int
    prints: str
    code: str


def read(folder):
    """Return the examples in a folder, by name. ValueError: one has no such comment."""
    found = []
    for path in sorted(pathlib.Path(folder).glob("*.c")):
        match = FORM.search(path.read_text())
        if not match:
            raise ValueError(f"{path}: the first comment is not as tools/function_examples.py says")
        words = {name: re.sub(r"\n \* ", " ", match[name]) for name in ("about", "functions")}
        found.append(Example(path, words["about"], words["functions"].split(), int(match["ranks"]),
                             re.sub(r"^ \*     ", "", match["prints"], flags=re.M), match["code"]))
    return found
