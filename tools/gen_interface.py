#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""Make from mpi/interface.tsv the code that is the same for every MPI function.

usage: gen_interface.py header TABLE TEMPLATE API OUTPUT
       gen_interface.py twins TABLE FILE.c OUTPUT
       gen_interface.py all TABLE FOLDER FILE.c...
       gen_interface.py implemented TABLE FILE.c...

header       mpi.h: TEMPLATE with the prototypes of all functions in place of @PROTOTYPES@; those
             that no file of the folder API brings carry a warning. OUTPUT.d lists the files read.
twins        <chapter>.gen.h for mpi/api/<chapter>.c, which includes it as its last line
all          that of each of the files, in FOLDER; one that would not change stays as it is
implemented  print the MPI_ names that the given files bring

How to write a chapter
  - Add its name to `chapters` in mpi/meson.build and write mpi/api/<chapter>.c. Row by row, the
    column `file` of the table says which functions belong there.
  - Write bodies as PMPI_ functions, the type and name at column 0:

        int PMPI_Send_c(const void *buf, MPI_Count count, ...)
        {

    Where there is a _c form, that one is written and the int form is made (`twin`); an int
    count arrives sign-extended, so the body sees a negative one. Where `twin` is "hand", write
    both forms.
  - End the file with #include "<chapter>.gen.h".
  - That is all. A function whose body is in the file is exported, as PMPI_ and as weak MPI_ (that
    of a _c or _x form notes that it was called);
    one whose body is not there is not. A body in the wrong file, or of no MPI function, or half
    of a hand-made pair, stops the build with a message.

The twins that widen arrays call what mpi/interface.h declares.
"""
import pathlib
import re
import sys

WIDTH = 96
FORMS = ("_c", "_x")    # endings of names whose bodies serve other names, too
COLUMNS = ["file", "name", "returns", "parameters", "deprecated", "twin", "fortran"]
GROUPS = {"peers": "INTERFACE_PEERS", "local": "INTERFACE_LOCAL", "root": "INTERFACE_ROOT",
          "indegree": "INTERFACE_INDEGREE", "outdegree": "INTERFACE_OUTDEGREE"}
BODY = re.compile(r"^(?:[A-Za-z_]\w*[\s*]+)+(PMPIX?_\w+)\s*\(([^{};]*)\)\s*\{", re.M)


class Wrong(Exception):
    """What the user must mend: a message."""


class Function:
    """One row of the table."""

    def __init__(self, row):
        for column, value in zip(COLUMNS, row):
            setattr(self, column, value)
        self.params = [] if self.parameters == "void" else self.parameters.split(", ")

    def args(self):
        return [parameter_name(p) for p in self.params]


def parameter_name(parameter):
    return re.search(r"(\w+)(?:\[\])?$", parameter).group(1)


def read_table(path):
    lines = [l for l in pathlib.Path(path).read_text().split("\n") if l and l[0] != "#"]
    if lines[0].split("\t") != COLUMNS:
        raise Wrong(f"{path}: the columns are not {' '.join(COLUMNS)}")
    table, before = {}, ("", "")
    for line in lines[1:]:
        row = line.split("\t")
        if len(row) == len(COLUMNS) - 1:    # nothing that Fortran alone needs
            row.append("")
        if len(row) != len(COLUMNS):
            raise Wrong(f"{path}: {len(row)} columns in: {line}")
        f = Function(row)
        if (f.file, f.name) <= before:
            raise Wrong(f"{path}: {f.name} is out of order")
        before = (f.file, f.name)
        if f.name in table:
            raise Wrong(f"{path}: {f.name} stands twice")
        table[f.name] = f
    for f in table.values():
        check_twin(path, table, f)
    return table


def check_twin(path, table, f):
    """A _c row and the row without _c fit together as `twin` says."""
    if not f.name.endswith("_c") or f.name[:-2] not in table:
        if f.twin:
            raise Wrong(f"{path}: {f.name} has a twin rule but is no _c form")
        return
    small = table[f.name[:-2]]
    if not f.twin:
        raise Wrong(f"{path}: {f.name} needs a twin rule")
    if f.twin == "hand":
        return
    differing = [(a, b) for a, b in zip(small.params, f.params) if a != b]
    arrays = [parameter_name(b) for a, b in differing if "[" in a]
    ruled = [] if f.twin == "call" else [rule.split(":")[0] for rule in f.twin.split(" ")]
    # An MPI_Aint array is an MPI_Count array already; see mpi/interface.h.
    wide = {parameter_name(a) for a, _ in differing if a.startswith("const MPI_Aint ")}
    if (small.args() != f.args() or any("*" in a for a, _ in differing)
            or set(ruled) - set(arrays) or set(arrays) - set(ruled) - wide):
        raise Wrong(f"{path}: the twin rule of {f.name} does not fit its parameters")


def wrapped(head, parts, tail):
    """head(part, part, ...)tail in lines of WIDTH, continued four columns in."""
    lines, line = [], head + "("
    for i, part in enumerate(parts or ["void"]):
        part += "," if i < len(parts) - 1 else ")" + tail
        if len(line) + 1 + len(part) > WIDTH:
            lines.append(line)
            line = " " * (len(head) - len(head.lstrip()) + 4) + part
        else:
            line += part if line.endswith("(") else " " + part
    return "\n".join(lines + [line])


def declare(f, name, head="", tail=""):
    space = "" if f.returns.endswith("*") else " "
    return wrapped(f"{head}{f.returns}{space}{name}", f.params, tail)


def header(table, template, implemented):
    """The text of mpi.h."""
    text, chapter = [], ""
    for f in table.values():
        if f.file != chapter:
            text.append(f"{'' if not chapter else chr(10)}/* {f.file} */")
            chapter = f.file
        tail = f' VIREO_MPI_DEPRECATED("{f.deprecated}");' if f.deprecated else ";"
        if f.name not in implemented:
            tail = " VIREO_MPI_MISSING;"
        for name in (f.name, "P" + f.name):
            text.append(declare(f, name, "VIREO_MPI_API ", tail))
    before, marker, after = pathlib.Path(template).read_text().partition("@PROTOTYPES@\n")
    if not marker:
        raise Wrong(f"{template}: no line @PROTOTYPES@")
    return before + "\n".join(text) + "\n\n" + after.lstrip("\n")


def bodies(table, path):
    """Names (MPI_...) of the functions defined in path, each of which belongs there."""
    path = pathlib.Path(path)
    text = re.sub(r"/\*.*?\*/|//[^\n]*", "", path.read_text(), flags=re.S)
    found = []
    for match in BODY.finditer(text):
        name = match.group(1)[1:]
        if name not in table:
            raise Wrong(f"{path}: P{name} is not in mpi/interface.tsv")
        if table[name].file != path.stem:
            raise Wrong(f"{path}: P{name} belongs in mpi/api/{table[name].file}.c "
                        "(column file of mpi/interface.tsv)")
        if name in found:
            raise Wrong(f"{path}: P{name} is defined twice")
        found.append(name)
    for name in found:
        check_pair(table, path, found, name)
    if f'#include "{path.stem}.gen.h"' not in text.rstrip().split("\n")[-1]:
        raise Wrong(f'{path}: the last line must be #include "{path.stem}.gen.h"')
    return found


def check_pair(table, path, found, name):
    large = table.get(name + "_c")
    if large and large.name not in found:
        raise Wrong(f"{path}: P{name} is there but P{large.name} is not"
                    + (": write both" if large.twin == "hand" else ": the _c form is the body"))
    f = table[name]
    if f.twin == "hand" and name[:-2] not in found:
        raise Wrong(f"{path}: P{name} is there but P{name[:-2]} is not: "
                    "it cannot be made (twin is hand), write both")


def array_length(f, rule):
    """The C expression for the length of the array of a rule NAME:LENGTH[|BUFFER]."""
    length, _, buffer = rule.partition(":")[2].partition("|")
    args = f.args()
    if length in GROUPS and "comm" in args and (length != "root" or "root" in args):
        root = "root" if length == "root" else "0"
        expression = f"interface_length(comm, {GROUPS[length]}, {root})"
    elif length in args:
        expression = length
    else:
        raise Wrong(f"mpi/interface.tsv: {f.name}: unknown length in {rule}")
    if buffer and buffer not in args:
        raise Wrong(f"mpi/interface.tsv: {f.name}: no parameter {buffer}")
    return f"{buffer} == MPI_IN_PLACE ? 0 : {expression}" if buffer else expression


def twin(small, f):
    """The int form `small` of the _c function f."""
    if f.twin == "call":
        return "\n".join([declare(small, "P" + small.name), "{",
                          wrapped(f"    return P{f.name}", f.args(), ";"), "}"])
    rules = f.twin.split(" ")
    lines = [declare(small, "P" + small.name), "{",
             f"    struct interface_array wide[{len(rules)}];", "    int rc;", ""]
    args = f.args()
    for i, rule in enumerate(rules):
        name = rule.split(":")[0]
        if small.params[args.index(name)].startswith("const MPI_Aint "):
            raise Wrong(f"mpi/interface.tsv: {f.name}: {name} needs no widening")
        lines.append(wrapped("    interface_widen",
                             [f"&wide[{i}]", name, array_length(f, rule)], ";"))
        args[args.index(name)] = f"wide[{i}].to"
    comm = "comm" if "comm" in args else "MPI_COMM_NULL"
    lines += [f"    if (interface_widened(wide, {len(rules)}))",
              wrapped(f"        rc = P{f.name}", args, ";"),
              "    else",
              f'        rc = interface_no_mem({comm}, "{small.name}");',
              f"    interface_release(wide, {len(rules)});", "    return rc;", "}"]
    return "\n".join(lines)


def form(f):
    """The weak MPI_ name of a _c or _x form: it says that it was called, for texts of errors."""
    typed = f.returns == "int" or f.returns.startswith("MPI_")
    lines = [declare(f, f.name, "__attribute__((weak)) "), "{",
             f'    interface_called = "{f.name}";',
             wrapped(f"    {f.returns} rc = P{f.name}", f.args(), ";"),
             "    interface_called = 0;", "    return rc;", "}"]
    if not typed:
        raise Wrong(f"mpi/interface.tsv: {f.name} returns nothing")
    return "\n".join(lines)


def twins(table, path):
    """The text of <chapter>.gen.h."""
    found = bodies(table, path)
    stem = pathlib.Path(path).stem
    text = ["/* SPDX-License-Identifier: BSD-3-Clause */",
            f"/* Made by tools/gen_interface.py from mpi/interface.tsv for mpi/api/{stem}.c. */"]
    made = []
    for name in found:
        f = table[name]
        if f.twin not in ("", "hand") and name[:-2] not in found:
            made.append(name[:-2])
            text.append(twin(table[name[:-2]], f))
    names = sorted(found + made)
    called = [form(table[name]) for name in names if name.endswith(FORMS)]
    if called:
        text.insert(2, '#include "mpi/interface.h"')
    aliases = [declare(table[name], name, "", f' __attribute__((weak, alias("P{name}")));')
               for name in names if not name.endswith(FORMS)]
    return "\n\n".join(text + called + ["\n".join(aliases)]) + "\n", names


def implemented(table, paths):
    """The MPI_ names that files bring."""
    return {name for path in paths for name in twins(table, path)[1]}


def write_new(path, text):
    """Write a file unless it has this text already, so that dependent files are not made again."""
    if not path.exists() or path.read_text() != text:
        path.write_text(text)


def main(argv):
    if len(argv) < 3:
        sys.exit(__doc__)
    mode, table = argv[0], read_table(argv[1])
    if mode == "header" and len(argv) == 5:
        files = sorted(str(p) for p in pathlib.Path(argv[3]).glob("*.c"))
        pathlib.Path(argv[4]).write_text(header(table, argv[2], implemented(table, files)))
        pathlib.Path(argv[4] + ".d").write_text(f"{argv[4]}: {' '.join(files)}\n")
    elif mode == "twins" and len(argv) == 4:
        pathlib.Path(argv[3]).write_text(twins(table, argv[2])[0])
    elif mode == "all" and len(argv) > 3:
        for path in map(pathlib.Path, argv[3:]):
            write_new(pathlib.Path(argv[2], f"{path.stem}.gen.h"), twins(table, path)[0])
    elif mode == "implemented":
        print("\n".join(sorted(implemented(table, argv[2:]))))
    else:
        sys.exit(__doc__)


if __name__ == "__main__":
    try:
        main(sys.argv[1:])
    except Wrong as wrong:
        sys.exit(f"gen_interface: {wrong}")
