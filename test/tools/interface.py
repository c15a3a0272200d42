#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""tools/gen_interface.py: what it refuses, and what the twins that it makes do.

usage: interface.py SOURCE BUILD COMPILER...
"""
import pathlib
import subprocess
import sys
import tempfile

SEND = "int PMPI_Send_c(const void *buf)\n{\n    return 0;\n}\n"
LAST = '#include "p2p.gen.h"\n'

# chapter, text of its api file, words of the message; none: accepted
CASES = [
    ("p2p", SEND + LAST, None, "a body in its chapter is taken"),
    ("p2p", "/* int PMPI_Nothing(void)\n{ */\n" + SEND + LAST, None, "a comment is no body"),
    ("p2p", "int PMPI_Nothing(void);\n" + SEND + LAST, None, "a declaration is no body"),
    ("coll", SEND + '#include "coll.gen.h"\n', "belongs in mpi/api/p2p.c",
     "a body in the wrong file is refused"),
    ("p2p", "int PMPI_Sned(void)\n{\n}\n" + LAST, "not in mpi/interface.tsv",
     "a body of no MPI function is refused"),
    ("p2p", "int PMPI_Send(void)\n{\n}\n" + LAST, "the _c form is the body",
     "an int form alone is refused"),
    ("type_query", 'int PMPI_Type_size_c(void)\n{\n}\n#include "type_query.gen.h"\n', "write both",
     "half of a hand-made pair is refused"),
    ("p2p", SEND + SEND + LAST, "defined twice", "a second body is refused"),
    ("p2p", SEND, "the last line", "a file without its include is refused"),
]


def generate(source, mode, *args):
    return subprocess.run([sys.executable, source / "tools/gen_interface.py", mode,
                           source / "mpi/interface.tsv", *args], capture_output=True, text=True)


def refusals(source, tmp):
    for chapter, text, words, claim in CASES:
        path = tmp / f"{chapter}.c"
        path.write_text(text)
        run = generate(source, "twins", path, tmp / "out.h")
        if words is None:
            yield run.returncode == 0 and "int PMPI_Send(" in (tmp / "out.h").read_text(), claim
        else:
            yield run.returncode != 0 and words in run.stderr, claim


def missing_functions(source, tmp, build, compiler):
    """Yield (whether it is as expected, the claim) about calls of functions that there are not."""
    tmp = tmp / "missing"
    (tmp / "api").mkdir(parents=True)
    (tmp / "api/p2p.c").write_text(SEND + LAST)
    run = generate(source, "header", source / "include/mpi.h.in", tmp / "api", tmp / "mpi.h")
    yield run.returncode == 0, f"mpi.h is made: {run.stderr}"
    for call, warned in ("MPI_Send(0, 0, 0, 0, 0, 0)", False), ("MPI_Barrier(0)", True):
        (tmp / "call.c").write_text(f"#include <mpi.h>\nint f(void)\n{{\n    return {call};\n}}\n")
        run = subprocess.run([*compiler, "-I", tmp, "-I", build / "include", "-c", tmp / "call.c", "-o",
                              tmp / "call.o"], capture_output=True, text=True)
        yield ("not in this version" in run.stderr) == warned, f"{call}: {run.stderr}"


def main(source, build, *compiler):
    source, build = pathlib.Path(source), pathlib.Path(build)
    with tempfile.TemporaryDirectory() as name:
        tmp = pathlib.Path(name)
        claims = [*refusals(source, tmp), *missing_functions(source, tmp, build, compiler)]
        failed = [claim for right, claim in claims if not right]
        for claim in failed:
            print("failed:", claim)
        (tmp / "coll.c").write_text((source / "test/tools/twins.c").read_text())
        run = generate(source, "twins", tmp / "coll.c", tmp / "coll.gen.h")
        print(run.stderr, end="")
        subprocess.run([*compiler, "-std=gnu11", "-Wall", "-Wextra", "-Wno-unused-parameter",
                        "-Werror", "-g", "-I", tmp, "-I", source, "-I", build / "include",
                        tmp / "coll.c", source / "mpi/interface.c", "-o", tmp / "twins"],
                       check=True)
        twins = subprocess.run([tmp / "twins"])
        return 1 if failed or twins.returncode else 0


if __name__ == "__main__":
    sys.exit(main(*sys.argv[1:]))
