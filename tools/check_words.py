#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""Fail if a file has more of four constructions that sound translated than it may.

usage: check_words.py [SOURCE] [-v]

They are the four CONSTRUCTIONS below: a clause as a noun, conditions, relative clauses, and a word
for "otherwise". The check reads the comments of the sources, and the documents. A file may have
MOST in all, and MOST a thousand words. -v prints each place.
"""
import pathlib
import re
import sys

MOST = 3
FOLDERS = ("include", "os", "channels", "diagnose", "bnr", "mpid", "mpi", "romio", "profile", "queues",
           "examples", "tools", "doc", "test")
C = re.compile(r'/\*.*?\*/|"(?:\\.|[^"\\\n])*"|\'(?:\\.|[^\'\\\n])*\'', re.S)
HASH = re.compile(r'^[ \t]*#(?!!)([^\n]*)|^[ \t]*"""(.*?)"""', re.M | re.S)
CODE = re.compile(r"^ {4}.*$|^```.*?^```|`[^`]*`|^\|[-|: ]*\|$|\]\([^)]*\)", re.M | re.S)
VERB = (r"(?:is|are|was|were|be|has|have|had|does|do|did|may|can|could|will|would|must|need|needs|"
        r"(?!this|its|his|as|us|always|across|perhaps|class|process|access|less)[a-z]{2,}(?:s|ed))")
CONSTRUCTIONS = {
    "what or who as a noun": rf"\b(?:what|who|whoever|whatever)\s+{VERB}\b(?![^.;:]*\?)",
    "where": r"\bwhere\s+(?:there|that|it|they|this|those|these|one|none|both|all|some)\b",
    "of which": r"\bof\s+(?:which|whom)\b",
    "else": r"(?:(?<=[,;:] )|\bor )else\b(?!\s+(?:if|is|was|has)\b)|\.\s+Else\b",
}
PATTERNS = {name: re.compile(p, re.I) for name, p in CONSTRUCTIONS.items()}


def prose(path, text):
    """The comments of a source, or a document without its code."""
    if path.suffix == ".md":
        return CODE.sub(" ", text)
    if path.suffix in (".c", ".h", ".in", ".inc"):
        parts = [m[0][2:-2] for m in C.finditer(text) if m[0].startswith("/*")]
    else:
        parts = [a or b for a, b in HASH.findall(text)]
    return re.sub(r"\n\s*\*(?!/)", "\n", "\n".join(parts))


MADE = ("doc/files.md", "doc/launcher-options.md", "doc/settings.md") # from other texts


def sources(root):
    paths = [p for f in FOLDERS for p in (root / f).rglob("*")] + list(root.glob("*.md"))
    for path in sorted(paths):
        if str(path.relative_to(root)) in MADE:
            continue
        if path.suffix in (".c", ".h", ".in", ".inc", ".py", ".sh", ".md") and path.is_file():
            yield path.relative_to(root)


def main(*arguments):
    options = [a for a in arguments if a.startswith("-")]
    root = pathlib.Path(next((a for a in arguments if not a.startswith("-")), "."))
    bad, words_in_all, totals = 0, 0, dict.fromkeys(PATTERNS, 0)
    for path in sources(root):
        text = " ".join(prose(path, (root / path).read_text(errors="replace")).split())
        words, found = len(text.split()), {n: list(p.finditer(text)) for n, p in PATTERNS.items()}
        count = sum(map(len, found.values()))
        words_in_all += words
        for name, places in found.items():
            totals[name] += len(places)
        if "-v" in options:
            for name, places in found.items():
                for m in places:
                    print(f"{path}: {name}: ...{text[max(0, m.start() - 30):m.end() + 30]}...")
        limit = max(MOST * words // 1000, MOST)
        if count > limit:
            bad += 1
            print(f"{path}: {count} in {words} words, at most {limit}: "
                  + ", ".join(f"{len(p)} {n}" for n, p in found.items() if p))
    each = ", ".join(f"{1000 * n / max(words_in_all, 1):.2f} {name}" for name, n in totals.items())
    print(f"{'words: ' + str(bad) + ' files have more' if bad else 'words ok'}: {words_in_all} words; "
          f"in a thousand {each}")
    return 1 if bad or not words_in_all else 0


if __name__ == "__main__":
    sys.exit(main(*sys.argv[1:]))
