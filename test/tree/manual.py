#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""Manual pages: which comments are refused, what a page has, and that every page renders.

usage: manual.py SOURCE MAN3 PAGE...

MAN3 is the folder of the functions' pages; each PAGE is another one. Without groff, only their
requests are looked at.
"""
import pathlib
import re
import shutil
import subprocess
import sys
import tempfile

GOOD = """\
/*
 * Receive a message. It waits for MPI_Send.
 *
 * buf: where to
 *
 * MPI_ERR_COUNT: there are
 *   too many.
 *
 * MPI-5.0 3.2.1
 */
"""
BODY = """\
int PMPI_Recv_c(void *buf, MPI_Count count, MPI_Datatype datatype, int source, int tag,
                MPI_Comm comm, MPI_Status *status)
{
}

#include "p2p.gen.h"
"""

# comment, words of the complaint; none: accepted
CASES = [
    (GOOD, None),
    ("/* Receive a message.\n * buf: where to\n * MPI-5.0 3.2.1 */\n", None),
    ("", "has no comment"),
    ("\n" + GOOD + "\n", "has no comment"),
    (GOOD.replace(" * MPI-5.0 3.2.1\n", ""), "does not end with the section"),
    (GOOD.replace(" * buf: where to\n", ""), "parameter buf is not described"),
    (GOOD.replace("where to", ""), "nothing is said of buf"),
    (GOOD.replace("buf:", "bfu:"), "there is no parameter bfu"),
    (GOOD.replace("where to", "where to\n * bfu: where to"), "this is neither: bfu"),
    (GOOD.replace("where to", "x\n * buf: y"), "parameter buf stands twice"),
    (GOOD.replace("MPI_Send", "MPI_Sned"), "MPI has no MPI_Sned"),
    (GOOD.replace("MPI_ERR_COUNT", "MPI_ERR_CUONT"), "MPI has no MPI_ERR_CUONT"),
    (GOOD.replace("Receive a message. It waits for MPI_Send.", "Receive a message"),
     "begins with no sentence"),
]

# What the page of the good comment has, besides.
HAS = ["MPI_Recv, MPI_Recv_c \\- receive a message\n", "int MPI_Recv(void *\\fIbuf\\fB",
       "int MPI_Recv_c(void *\\fIbuf\\fB", "It waits for \\fBMPI_Send\\fP(3).",
       "\\fIbuf\\fP (out)\nWhere to.", "\\fItag\\fP (in)\nTag of the message",
       "\\fBMPI_ERR_COUNT\\fP\nThere are too many.",
       "MPI-5.0, section 3.2.1.",
       "\\fBMPI_ERR_TAG\\fP\nThe tag is negative, and not MPI_ANY_TAG.\n"]

# Another chapter, where the same parameter means something else.
QUERY = """
/*
 * Tell how many bytes of data a datatype has.
 *
 * size: bytes
 *
 * MPI-5.0 5.1.5
 */
int PMPI_Type_size_c(MPI_Datatype datatype, MPI_Count *size)
{
}
"""
QUERY_HAS = ["\\fIdatatype\\fP (in)\nDatatype; it need not be committed.\n"]
REQUESTS = {"\\\"", "TH", "SH", "SS", "TP", "IP", "PP", "B", "I", "BR", "nf", "fi", "in", "ad",
            "nh", "so"}


def generate(source, *args):
    return subprocess.run([sys.executable, f"{source}/tools/gen_man.py", *args],
                          capture_output=True, text=True)


def refusals(source, tmp):
    """Yield (whether it is as expected, the claim)."""
    table, path = f"{source}/mpi/interface.tsv", tmp / "p2p.c"
    for comment, words in CASES:
        path.write_text('#include "x.h"\n' + ("" if comment[:1] == "\n" else "\n") + comment + BODY)
        run = generate(source, "check", table, f"{source}/include/mpi.h.in", path)
        right = run.returncode == (words is not None) and (words or "") in run.stdout
        yield right, f"{comment!r}: expected {words}: {run.stdout}{run.stderr}"
    path.write_text(GOOD + BODY)
    (tmp / "type_query.c").write_text(QUERY)
    (tmp / "man3").mkdir()
    (tmp / "man3/MPI_Old.3").write_text("")
    run = generate(source, "pages", "1.2", tmp / "man3", table,
                   f"{source}/include/mpi.h.in", f"{source}/examples/functions", path,
                   tmp / "type_query.c")
    for name, has in ("MPI_Recv", HAS), ("MPI_Type_size", QUERY_HAS):
        page = (tmp / f"man3/{name}.3").read_text()
        for words in has:
            yield words in page, f"the page has no {words!r}: {page}{run.stderr}"
    yield sorted(p.name for p in (tmp / "man3").iterdir()) == [
        "MPI_Recv.3", "MPI_Recv_c.3", "MPI_Type_size.3", "MPI_Type_size_c.3"], \
        "the folder has these pages alone"


def handlers(pages):
    """Yield pages of files that have errors end the program: MPI_ERRORS_RETURN is there at first."""
    count = 0
    for page in pages:
        text = page.read_text()
        if (".SH ERRORS" not in text or not re.search(r"\bMPI_File \*?\\fI", text)
                or "_errhandler" in page.stem.lower()):
            continue
        count += 1
        if "MPI_ERRORS_RETURN at first" not in re.sub(r"\\f.", "", text) or "ends the program" in text:
            yield f"{page}: what an error of a file does at first is not said, or not so"
    if count < 50:
        yield f"{count} pages have files"


def renders(folder, pages):
    """Yield what is wrong with pages."""
    links = [p for p in pages if p.read_text().startswith(".so ")]
    for page in links:
        target = folder.parent / page.read_text().split()[1]
        if not target.exists():
            yield f"{page} leads to {target}, which is not there"
    for page in pages:
        for line in page.read_text().splitlines():
            request = re.match(r"[.'](\\?\S*)", line)
            if request and request.group(1)[:2] not in REQUESTS:
                yield f"{page}: no request: {line}"
    if shutil.which("groff"):
        run = subprocess.run(["groff", "-man", "-Tutf8", "-ww", "-z",
                              *[p for p in pages if p not in links]],
                             capture_output=True, text=True)
        yield from (run.stderr or "groff failed" * (run.returncode != 0)).splitlines()[:20]


def main(source, man3, *more):
    man3 = pathlib.Path(man3)
    pages = sorted(man3.iterdir())
    with tempfile.TemporaryDirectory() as name:
        failed = [claim for right, claim in refusals(source, pathlib.Path(name)) if not right]
    failed += handlers(pages)
    failed += renders(man3, pages + [pathlib.Path(p) for p in more])
    print("\n".join(failed) or f"manual ok: {len(pages) + len(more)} pages")
    return 1 if failed or not pages else 0


if __name__ == "__main__":
    sys.exit(main(*sys.argv[1:]))
