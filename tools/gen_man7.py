#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""Make mpi(7), mpi_constants(7) and mpi_errors(7): MPI by chapter, its constants, its error classes.

usage: gen_man7.py VERSION FOLDER TABLE TEMPLATE ERRORS FILE.c...

FOLDER gets the pages. Names and first sentences of functions come from TABLE (mpi/interface.tsv) and
the comments in FILE.c, constants and what they are for from the headings of TEMPLATE
(include/mpi.h.in), texts of error classes from ERRORS (mpi/errh_text.c).
"""
import pathlib
import re
import sys

import gen_interface
import gen_man

# The chapters in the order of the standard: file, heading, what they are for.
CHAPTERS = [
    ("env", "Starting and ending", "A program calls MPI_Init first and MPI_Finalize last."),
    ("session", "Sessions", "Several parts of a program may start MPI each for itself."),
    ("p2p", "Point-to-point communication",
     "A message has a sender, a receiver, a tag and a communicator, and arrives in the order sent."),
    ("buffer", "Buffers of buffered sends", ""),
    ("request", "Completing what does not block", "What begins with I returns a request."),
    ("status", "What became of a message", ""),
    ("persist", "Persistent communication", "The same message again and again is prepared once."),
    ("part", "Partitioned communication", "Threads may each complete a part of one message."),
    ("grequest", "Generalized requests", "A program's own work may be waited for by a request."),
    ("type", "Making datatypes", "A datatype says where in memory the elements of a message lie."),
    ("type_query", "What datatypes are", ""),
    ("pack", "Packing", ""),
    ("coll", "Collectives", "All members of a communicator call the same function."),
    ("icoll", "Nonblocking collectives", ""),
    ("pcoll", "Persistent collectives", ""),
    ("neighbor", "Collectives among neighbours", ""),
    ("op", "Reduction operations", ""),
    ("group", "Groups", "A group is an ordered set of processes."),
    ("comm", "Communicators", "A communicator is a group, and messages that are apart from all others."),
    ("intercomm", "Intercommunicators", ""),
    ("attr", "Attributes", ""),
    ("topo", "Grids of processes", ""),
    ("topo_graph", "Graphs of processes", ""),
    ("win", "Windows", "A window is memory of each process that others read and write."),
    ("win_attr", "Attributes and error handlers of windows", ""),
    ("win_sync", "Epochs of windows", "Operations on a window belong to an epoch, which completes them."),
    ("rma", "One-sided operations", "The origin alone calls; the target takes no part."),
    ("errh", "Errors", "An error calls the error handler of its object; at first that ends the job."),
    ("info", "Hints", ""),
    ("io", "Files", ""),
    ("io_access", "Reading and writing files", ""),
    ("spawn", "Starting processes", ""),
    ("port", "Connecting jobs", ""),
    ("handle", "Handles as numbers", ""),
    ("abi", "The binary interface", ""),
    ("version", "Versions and addresses", ""),
    ("tool", "The tool interface", ""),
    ("tool_cvar", "Control variables", ""),
    ("tool_pvar", "Performance variables", ""),
    ("tool_event", "Events", ""),
    ("ft", "Fault tolerance", "Survivors of a failure find out who has failed, and go on."),
    ("channel", "Channels of Vireo MPI", ""),
]
SECTION = re.compile(r"^/\* ([^*]+?) \*/\n", re.M)
CONSTANT = re.compile(r"^(?:#define |    )(MPI_[A-Z0-9_]+)(?: = | +)([^,\s][^,\n]*)", re.M)
TEXT = re.compile(r'TEXT\((MPI_\w+),\s*"((?:[^"\\]|\\.)*)"')
FIRST_PROGRAM = """\
#include <mpi.h>
#include <stdio.h>

int main(int argc, char **argv)
{
    int rank, size;
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    printf("rank %d of %d\\n", rank, size);
    MPI_Finalize();
    return 0;
}
"""


def head(name, what, version):
    return [".\\\" SPDX-License-Identifier: BSD-3-Clause", ".\\\" Made by tools/gen_man7.py.",
            f'.TH {name} 7 "" "Vireo MPI {version}" "MPI-5.0"', ".ad l", ".nh",
            ".SH NAME", f"{name} \\- {what}"]


def overview(table, pages, version):
    text = head("mpi", "the Message Passing Interface, by chapter", version)
    text += [".SH DESCRIPTION",
             "Processes of a job send each other messages, and work together in collectives.",
             "\\fBmpicc\\fP(1) compiles a program, \\fBmpiexec\\fP(1) starts it:", ".PP", ".nf",
             "    mpicc hello.c \\-o hello", "    mpiexec \\-n 4 ./hello", ".fi",
             ".SH EXAMPLES", ".nf", gen_man.roff(FIRST_PROGRAM).rstrip("\n"), ".fi"]
    missing = {p.chapter for p in pages.values()} - {c[0] for c in CHAPTERS}
    if missing:
        raise gen_interface.Wrong(f"gen_man7.py: CHAPTERS lacks {', '.join(sorted(missing))}")
    for chapter, title, what in CHAPTERS:
        found = [p for p in pages.values() if p.chapter == chapter]
        if not found:
            continue
        text.append(f".SH {title.upper()}")
        if what:
            text.append(gen_man.rich(table, what))
        for page in found:
            text += [".TP", f"\\fB{page.name}\\fP(3)",
                     gen_man.rich(table, gen_man.sentence(page.comment.summary or "A function."))]
    text += [".SH SEE ALSO",
             "\\fBmpi_constants\\fP(7), \\fBmpi_errors\\fP(7), \\fBmpicc\\fP(1), \\fBmpiexec\\fP(1)"]
    return text


def sections(template):
    """[(heading, [(name, value)])] of the constants of mpi.h."""
    text = pathlib.Path(template).read_text()
    found = []
    parts = SECTION.split(text)
    for heading, body in zip(parts[1::2], parts[2::2]):
        rows = CONSTANT.findall(body)
        if rows:
            found.append((" ".join(heading.split()).rstrip("."), rows))
    return found


def constants(template, version):
    text = head("mpi_constants", "the constants of MPI", version)
    text += [".SH DESCRIPTION", "Names that \\fImpi.h\\fP defines, by what they are for.",
             "Their values are those of the standard's binary interface."]
    for heading, rows in sections(template):
        if heading == "Error classes":
            continue
        text += [".SS " + gen_man.roff(heading), ", ".join(f"\\fB{n}\\fP" for n, _ in rows)]
    text += [".SH SEE ALSO", "\\fBmpi\\fP(7), \\fBmpi_errors\\fP(7)"]
    return text


def errors(template, source, version):
    words = dict(TEXT.findall(pathlib.Path(source).read_text()))
    rows = next(rows for heading, rows in sections(template) if heading == "Error classes")
    text = head("mpi_errors", "the error classes of MPI, and what becomes of an error", version)
    text += [".SH DESCRIPTION",
             "A function that fails calls the error handler of the communicator, file, window or "
             "session that it was called with.", "At first that is \\fBMPI_ERRORS_ARE_FATAL\\fP, which "
             "ends the job with one line: function, what was wrong, rank and host.",
             "\\fBMPI_Comm_set_errhandler\\fP(3) with \\fBMPI_ERRORS_RETURN\\fP has functions return a "
             "code instead.", "\\fBMPI_Error_string\\fP(3) gives its text, "
             "\\fBMPI_Error_class\\fP(3) its class, one of these:"]
    for name, value in rows:
        what = words.get(name, "an error of the tool interface" if "_T_" in name else "the last class")
        text += [".TP", f"\\fB{name}\\fP ({value})", gen_man.roff(gen_man.sentence(what))]
    text += [".SH EXAMPLES", ".nf", gen_man.roff("""\
    MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN);
    int code = MPI_Send(&x, 1, MPI_INT, 99, 0, MPI_COMM_WORLD);
    if (code != MPI_SUCCESS) {
        char text[MPI_MAX_ERROR_STRING];
        int len;
        MPI_Error_string(code, text, &len);
        fprintf(stderr, "%s\\n", text);
    }"""), ".fi", ".SH SEE ALSO", "\\fBmpi\\fP(7), \\fBmpi_constants\\fP(7)"]
    return text


def main(argv):
    if len(argv) < 6:
        sys.exit(__doc__)
    version, folder, table_path, template, source = argv[:5]
    table = gen_interface.read_table(table_path)
    pages = gen_man.read(table, argv[5:], gen_man.bodies_of(argv[5:]))
    folder = pathlib.Path(folder)
    folder.mkdir(parents=True, exist_ok=True)
    for name, text in (("mpi", overview(table, pages, version)),
                       ("mpi_constants", constants(template, version)),
                       ("mpi_errors", errors(template, source, version))):
        (folder / f"{name}.7").write_text("\n".join(text) + "\n")
    return 0


if __name__ == "__main__":
    try:
        sys.exit(main(sys.argv[1:]))
    except gen_interface.Wrong as wrong:
        sys.exit(f"gen_man7: {wrong}")
