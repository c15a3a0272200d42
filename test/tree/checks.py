#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""The checks of the tree see what they are for. usage: checks.py SOURCE"""
import pathlib
import subprocess
import sys
import tempfile

LONG = "".join(f"    work({i});\n" for i in range(90))

# check, file, its text, words of the complaint; none: nothing to complain about
CASES = [
    ("layers", "mpid/conn/vc.c", '#include "include/channel.h"\n#include "mpid/conn/vc.h"\n', None),
    ("layers", "mpid/conn/vc.c", '#include "channels/tcp/tcp.h"\n', "mpid/conn may not include"),
    ("layers", "mpid/conn/vc.c", '#include "mpid/wait/wake.h"\n', None),
    ("layers", "mpid/wait/wake.c", '#include "mpid/conn/vc.h"\n', "mpid/wait may not include"),
    ("layers", "mpid/conn/vc.c", "#include <mpi.h>\n", "may not include <mpi.h>"),
    ("layers", "channels/tcp/tcp.c", '#include "channels/tcp/link.h"\n#include "os/net.h"\n', None),
    ("layers", "channels/tcp/tcp.c", '#include "channels/shm/shm.h"\n', "channels/tcp may not"),
    ("layers", "channels/tcp/tcp.c", '#  include "include/mpid.h"\n', "channels/tcp may not"),
    ("layers", "bnr/host/kvs.c", '#include "include/channel.h"\n', "bnr/host may not include"),
    ("layers", "bnr/core/job.c", '#include "bnr/host/table.h"\n', "bnr/core may not include"),
    ("layers", "bnr/launch/launch.c", "#include <uv.h>\n", "is only for"),
    ("layers", "bnr/tools/mpiexec.c", '#include "bnr/run/run.h"\n#include "os/log.h"\n', None),
    ("layers", "mpi/api/p2p.c", '#include <mpi.h>\n#include "p2p.gen.h"\n', None),
    ("layers", "mpi/comm/comm.c", '#include "include/bnr.h"\n', "mpi may not include"),
    ("layers", "mpi/comm/comm.c", '#include "mpi/type/type.h"\n#include "mpi/attr.h"\n', None),
    ("layers", "mpi/comm/comm.c", '#include "mpi/coll/coll.h"\n', "is in no room of mpi/ below it"),
    ("layers", "mpi/attr.c", '#include "mpi/comm/comm.h"\n', "is in no room of mpi/ below it"),
    ("layers", "mpi/yard/a.c", '#include "mpi/attr.h"\n', "is in no room of mpi/ below it"),
    ("layers", "os/log.c", '#include "log.h"\n', "os may not include"),
    ("layers", "os/cpu/cpus.c", "#include <hwloc.h>\n", "is only for"),
    ("size", "os/a.c", "int f(int a, int b)\n{\n    return a + b;\n}\n", None),
    ("size", "os/a.c", "int f(void)\n{\n" + LONG + "}\n", "f() is 93 lines"),
    ("size", "os/a.c", "int f(int a, int b, int c, int d,\n    int e, int f, int g, int h)\n{\n}\n",
     "takes 8 arguments"),
    ("size", "os/a.c", "int f(int a, int (*b)(int, int, int, int, int, int, int))\n{\n}\n", None),
    ("size", "mpi/a.c", "int PMPI_X(int a, int b, int c, int d,\n    int e, int f, int g, int h)\n"
     "{\n}\n", None),
    ("size", "os/a.h", "\n" * 301 + "int x;\n", "budget 300"),
    ("size", "os/a.c", "\n" * 801 + "int x;\n", "budget 800"),
    ("size", "mpi/api/a.c", "/*\n" + " * x\n" * 801 + " */\nint PMPI_X(int a)\n{\n}\n", None),
    ("size", "mpi/api/a.c", "/*\n" + " * x\n" * 801 + " */\nstatic int f(int a)\n{\n}\n",
     "budget 800"),
    ("size", "os/a.h", "#define X(a) \\\n    if (a) \\\n        return a\n", "hides a return"),
    ("size", "os/a.h", '#define X "return" /* goto */\n', None),
    ("size", "os/a.h", "#define X " + "\\\n   1 + " * 11 + "1\n", "a macro of 12 lines"),
    ("tags", "os/a.c", "struct a {\n    struct b *b;\n};\nenum b {\n    B\n};\n", None),
    ("tags", "os/a.c", "struct a {\n    int i;\n};\n/* union a { */\nunion a {\n    int i;\n};\n",
     "os/a.c:1: the tag a is also defined at os/a.c:5"),
    ("tags", "os/a.h", "#define A(tag) \\\n    struct tag { \\\n    }\nstruct tag {\n};\n", None),
    ("reach", "os/a.c", "#include \"os/a.h\"\nint a;\n", None),
    ("reach", "doc/a.md", "text\n", "no source file of the project"),
    ("words", "os/a.c", "/* Say what follows. */\nint a; /* what is, what was */\nchar *b = \"what is\";\n",
     None),
    ("words", "os/a.c", "/* " + "what is sent, of which there is one, else " * 4 + "*/\n",
     "os/a.c: 12 in 36 words"),
    ("words", "doc/a.md", "where there is `what is` " * 12, "doc/a.md: 12 in"),
    ("docs", "doc/a.md", "Plain words, and `code`.\n", None),
    ("docs", "doc/a.md", "It calls `no_such()`.\n", "there is no function no_such()"),
    ("docs", "doc/a.md", "It is `no_such()` in\n`mpid/none.c`.\n",
     "there is no function no_such() in mpid/none.c"),
    ("docs", "doc/a.md", "See `mpid/none.c`.\n", "there is no file mpid/none.c"),
    ("docs", "doc/a.md", "## `mpid/`\n\n| `none.h` | nothing |\n", "there is no file none.h"),
    ("docs", "doc/a.md", "See [it](none.md).\n", "a link leads to none.md"),
    ("docs", "doc/architecture.md", "See `architecture.md`.\n", None),
    ("docs", "doc/decisions.md", "word " * 80 + "\n\n| " + "word " * 81, None),
    ("docs", "doc/decisions.md", "word " * 81, "81 words, at most 80"),
]


def knots_are_found(source):
    """Of two circles that one arrow joins, each is a knot; a file alone is none."""
    sys.path.insert(0, f"{source}/tools")
    import check_knots # pylint: disable=import-outside-toplevel,import-error
    arrows = {"a": {"b"}, "b": {"c"}, "c": {"a", "d"}, "d": {"e"}, "e": {"d", "f"}, "f": set()}
    return check_knots.knots(arrows) == [["a", "b", "c"], ["d", "e"]]


def main(source):
    wrong = 0 if knots_are_found(source) else 1
    for check, name, text, words in CASES:
        with tempfile.TemporaryDirectory() as root:
            path = pathlib.Path(root, name)
            path.parent.mkdir(parents=True)
            path.write_text(text)
            run = subprocess.run([sys.executable, f"{source}/tools/check_{check}.py", root],
                                 capture_output=True, text=True)
        right = run.returncode == 0 if words is None else run.returncode == 1 and words in run.stdout
        if not right:
            wrong += 1
            print(f"check_{check} on {name}: {text[:60]!r}: expected {words}: {run.stdout}")
    print(f"{len(CASES) - wrong} of {len(CASES)} as expected")
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1]))
