#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""mpi.h and what lies beside it compile without a warning, by each compiler here, those with a version in their names
also, and in each form of C and C++.

usage: mpi_h.py SOURCE BUILD COMPILER...

The programs use each constant and each function.
"""
import concurrent.futures
import os
import pathlib
import re
import shutil
import subprocess
import sys

WARNINGS = ["-Wall", "-Wextra", "-pedantic", "-Wundef", "-Wshadow", "-Wconversion", "-Wcast-qual", "-Wdeprecated", "-Werror"]
C = ("c90", "gnu90", "c99", "c11", "c17", "c23", "c2x"), ["-Wstrict-prototypes", "-Wdeclaration-after-statement"]
CPP = ("c++98", "c++03", "c++11", "c++14", "c++17", "c++20", "c++23", "c++2b"), ["-Wold-style-cast"]
HEADERS = ("mpi.h", "mpi_compat.h", "mpi-ext.h")
FAULT = {"c": "char fault(int x);\nchar fault(int x) { return x; }\n",
         "c++": "int fault(double x);\nint fault(double x) { return (int)x; }\n"}


def program(folders):
    """A program with a use of each name that the headers define or declare."""
    text = "".join(next(p for f in folders if (p := f / h).exists()).read_text(encoding="utf-8") for h in HEADERS)
    lines = [f"#include <{header}>" for header in HEADERS] + ["int main(void)", "{"]
    handles = re.findall(r"^#define (MPI_\w+) +VIREO_MPI_CAST\((\w+), ", text, re.M)
    lines += [f"    {kind} of_{name} = {name};" for name, kind in handles]
    lines += [f"    (void)of_{name};" for name, _ in handles]
    others = {*re.findall(r"^#define (MPIX?_\w+)(?= )(?! +VIREO_)", text, re.M)}
    lines += [f"    (void)({name});" for name in sorted(others)]
    functions = {*re.findall(r"\b(P?MPIX?_[A-Z]\w*)\([^()]*[^()]*(?:\([^()]*\)[^()]*)*\)[\s\w(\")]*;", text)}
    lines += [f"    (void)&{name};" for name in sorted(functions)]
    return "\n".join(lines + ["    return 0;", "}", ""]), len(handles) + len(others), len(functions)


def installed(*names):
    """These compilers, and those that have a version behind such a name, each once."""
    found = {}
    for name in names:
        versions = {path.name for folder in os.get_exec_path() for path in pathlib.Path(folder).glob(name + "-[0-9]*")
                    if re.fullmatch(r"[\d.]+", path.name[len(name) + 1:])}
        for command in [name, *sorted(versions)]:
            where = shutil.which(command)
            if where:
                found.setdefault(os.path.realpath(where), command)
    return list(found.values())


def works(*command):
    """Whether the compiler is here, with its library."""
    return shutil.which(command[0]) and not subprocess.run(
        [*command, "-fsyntax-only", "-x", "c++", "-"], input="#include <cstddef>\n", capture_output=True, text=True,
        check=False).returncode


def complaint(command, language, standard, include, text):
    """None, or why the program does not compile; "" if the compiler does not know the standard."""
    form = ["-std=" + standard, *WARNINGS, *(C if language == "c" else CPP)[1], "-fsyntax-only", "-x", language]
    if subprocess.run([*command, form[0], *form[-3:], "-"], input="", capture_output=True, text=True, check=False).returncode:
        return ""
    run = subprocess.run([*command, *form, *include, "-DVIREO_MPI_NO_DEPRECATED", "-"], input=text, capture_output=True,
                         text=True, check=False)
    return run.stderr or "fails" if run.returncode else None


def main(source, build, *compiler):
    folders = [pathlib.Path(build, "include"), pathlib.Path(source, "include")]
    include = [f"-I{folder}" for folder in folders]
    text, constants, functions = program(folders)
    commands = [compiler, *((c,) for c in installed("gcc", "clang") if c not in compiler)]
    cases = [(command, "c", standard) for command in commands for standard in C[0]]
    commands = [*((c,) for c in installed("g++", "clang++")), ("clang++", "-stdlib=libc++")]
    cases += [(command, "c++", standard) for command in commands if works(*command) for standard in CPP[0]]
    with concurrent.futures.ThreadPoolExecutor(2) as pool:
        told = list(pool.map(lambda case: complaint(*case, include, text), cases))
        blind = [case for case in cases if case[2] in ("c11", "c++11") and complaint(*case, include, text + FAULT[case[1]]) is None]
    bad = 0
    for (command, language, standard), why in zip(cases, told):
        if why:
            print(f"not so: {' '.join(command)} -std={standard}, {language}:\n{why[:2000]}")
            bad += 1
    for command, _, standard in blind:
        print(f"not so: {' '.join(command)} -std={standard} finds no fault in a faulty program")
    print(f"{constants} constants and {functions} functions in {sum(why != '' for why in told)} forms, {bad} with a warning: "
          + ", ".join(sorted({' '.join(command) for command, *_ in cases})))
    return 1 if bad or blind or constants < 100 or functions < 1000 else 0


if __name__ == "__main__":
    if len(sys.argv) < 4:
        sys.exit(__doc__)
    sys.exit(main(*sys.argv[1:]))
