#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""Make Fortran's view of MPI from mpi/interface.tsv.

usage: gen_fortran.py c TABLE OUTPUT API.c...
       gen_fortran.py mpi|mpi_f08|mpif TABLE MPI.H TEMPLATE OUTPUT API.c...
       gen_fortran.py mpi_ext|mpi_f08_ext|mpif-ext.h|c_ext TABLE MPI.H OUTPUT API.c...
       gen_fortran.py list TABLE API.c...

c         the procedures that need no thought: each takes what Fortran passes, calls the C function
          and gives back what it says. Those that the table calls "hand" stand in fortran/*.c
mpi, mpi_f08, mpif   the modules and the header: TEMPLATE with @CONSTANTS@ and @INTERFACES@
..._ext   the same of fault tolerance, which is beyond the standard
list      one line a procedure of mpi_f08: its name and its arguments, for tests that call each

Only what the files of mpi/api bring is there: a C function that is added brings its Fortran.

A parameter's C type and name say nearly all of what Fortran needs; `rule` below has the names, and
the table's column `fortran` the exceptions. See mpi/interface.tsv for the words of that column.
"""
import pathlib
import re
import sys

import gen_interface
from gen_interface import Wrong

HANDLES = {"Comm": "comm", "Group": "group", "Datatype": "type", "Op": "op", "Errhandler": "errhandler",
           "File": "file", "Info": "info", "Message": "message", "Request": "request",
           "Session": "session", "Win": "win"}
SCALARS = {"int": "INTEGER", "MPI_Aint": "INTEGER(KIND=MPI_ADDRESS_KIND)", "double": "DOUBLE PRECISION",
           "MPI_Count": "INTEGER(KIND=MPI_COUNT_KIND)",
           "MPI_Offset": "INTEGER(KIND=MPI_OFFSET_KIND)"}
LOGICAL = {"flag", "commute", "reorder", "quorum", "high", "periods", "remain_dims", "is_set",
           "weighted"}
BUFFERS = {"buf", "buffer", "sendbuf", "recvbuf", "inbuf", "outbuf", "inoutbuf", "origin_addr",
           "compare_addr", "result_addr", "base", "location"}
RAW = {"logical_true", "logical_false"}     # LOGICALs of any kind
ADDRESSES = {"extra_state", "attribute_val"}
SENTINELS = {"weights", "sourceweights", "destweights", "array_of_errcodes"}
STRIPPED = {"key", "value", "argv"}         # leading blanks go, too
LENGTHS = {"comm_name": "OBJECT_NAME", "type_name": "OBJECT_NAME", "win_name": "OBJECT_NAME",
           "name": "PROCESSOR_NAME", "string": "ERROR_STRING", "key": "INFO_KEY",
           "version": "LIBRARY_VERSION_STRING", "datarep": "DATAREP_STRING",
           "port_name": "PORT_NAME", "value": "INFO_VAL", "pset_name": "PSET_NAME_LEN"}
GROUPS = {"peers": "FORTRAN_PEERS", "indegree": "FORTRAN_INDEGREE",
          "outdegree": "FORTRAN_OUTDEGREE"}
NAMES = {"indx": "index", "error": "err"}   # as the standard calls them


class Param:
    """A parameter of a C function, as Fortran sees it."""

    def __init__(self, f, text, words):
        match = re.fullmatch(r"(const )?(\w+) (\**)(\w+)((?:\[\d*\])*)", text)
        if not match:
            raise Wrong(f"mpi/interface.tsv: {f.name}: what is {text}?")
        self.const, self.type, stars, self.name, brackets = match.groups()
        self.words = words
        self.depth = len(stars) + brackets.count("[")
        self.array = bool(brackets) or self.name.startswith("array_of_")
        self.handle = self.type[4:] if self.type[:4] == "MPI_" else None
        if self.handle not in HANDLES:
            self.handle = None
        self.fortran = NAMES.get(self.name, self.name)
        self.kind = self.rule()
        self.where = "inout" if "inout" in words else \
            "in" if self.const or not self.depth or self.depth == 2 or "in" in words else "out"

    def rule(self):
        """What kind of thing it is."""
        if self.type == "void":
            return "buffer" if self.name in BUFFERS else "address" if self.name in ADDRESSES \
                else "raw" if self.name in RAW else "pointer"
        if self.type.endswith(("_function", "_function_c")):
            return "procedure"
        if self.type == "char":
            return "string" if self.depth == 1 else "strings"
        if self.type == "MPI_Status":
            return "status"
        if self.handle:
            return "handles" if self.array else "handle"
        if self.type in SCALARS:
            return "logical" if self.name in LOGICAL and "number" not in self.words else "number"
        raise Wrong(f"mpi/interface.tsv: what is {self.type} in Fortran?")

    def length(self):
        """The C expression for the length of an array of handles or LOGICALs."""
        rule = next((w for w in self.words if w not in ("in", "inout")), None)
        if not rule:
            raise Wrong(f"mpi/interface.tsv: {self.name} needs a length for Fortran")
        rule, _, buffer = rule.partition("|")
        if rule in GROUPS:
            length = f"fortran_length(fortran_comm(*comm), {GROUPS[rule]})"
            return f"c_{buffer} == MPI_IN_PLACE ? 0 : {length}" if buffer else length
        return f"*{rule}"


class Procedure:
    """One row of the table."""

    def __init__(self, f):
        self.f, self.name = f, f.name
        self.call = f.name.split("_", 1)[1]
        self.short = self.call.lower()
        self.is_extension = f.name.startswith("MPIX_")
        self.large = f.name.endswith("_c") and not f.name.startswith("MPI_T_")
        words = {}
        self.hand = self.only_mpi = False
        for item in f.fortran.split():
            name, colon, rest = item.partition(":")
            if colon:
                words[name] = rest.split(",")
            elif item == "hand":
                self.hand = True
            elif item == "mpi":
                self.only_mpi = True
            else:
                raise Wrong(f"mpi/interface.tsv: {f.name}: what is {item} in column fortran?")
        texts = [p for p in f.params if p != "..."]
        if re.search(r"\bargc\b", f.parameters):   # C's main() has them
            texts = [p for p in texts if not re.search(r"\barg[cv](\[\])?$", p)]
        names = [gen_interface.parameter_name(re.sub(r"\[\d+\]$", "", p)) for p in texts]
        stray = set(words) - set(names)
        if stray:
            raise Wrong(f"mpi/interface.tsv: {f.name} has no parameter {', '.join(stray)}")
        self.params = [Param(f, p, words.get(n, [])) for p, n in zip(texts, names)]
        self.value = f.returns if f.returns != "int" else None
        self.buffers = [p for p in self.params if p.kind == "buffer"]
        odd = [p.name for p in self.params if p.kind in ("procedure", "address", "pointer", "strings")]
        if (odd or self.value) and not self.hand:
            raise Wrong(f"mpi/interface.tsv: {f.name}: {', '.join(odd)} needs hand in column fortran")

    def suffix(self):
        return "_f08ts" if self.buffers else "_f08"

    def policy(self):
        """How sections with gaps are passed."""
        names = [p.name for p in self.params]
        if "location" in names or "base" in names and "win" not in names:
            return "base"
        if "request" in names and self.params[-1].where == "out":
            return "part" if re.match(r"MPI_P(send|recv)_", self.name) else "defer"
        if "target_rank" in names:
            return "layout" if "origin_count" in names else "first"
        if "win" in names or "attach" in self.name or self.name.startswith("MPI_Win_"):
            return "whole"
        if re.search(r"_(begin|end)(_c)?$", self.name):
            return "begin" if "_begin" in self.name else "end"
        return "leave"


def procedures(table, paths):
    """Those of Fortran whose C functions there are, in the table's order."""
    there = gen_interface.implemented(table, paths)
    return [Procedure(f) for f in table.values()
            if f.name in there and not f.name.startswith(("MPI_T_", "MPIX_"))
            and not f.name.endswith(("_toint", "_fromint"))]


def extensions(table, paths):
    """Those beyond the standard that other MPIs have in Fortran, too."""
    there = gen_interface.implemented(table, paths)
    return [Procedure(f) for f in table.values() if f.name in there and f.file == "ft"]


# ---- C ----

# Partitions of a section with gaps are copied where these say that they go, or have come.
READY = {"MPI_Pready": "fortran_ready(fortran_request(*request), *partition, *partition);",
         "MPI_Pready_range": "fortran_ready(fortran_request(*request), *partition_low, *partition_high);",
         "MPI_Pready_list": "fortran_ready_list(fortran_request(*request), *length, array_of_partitions);"}
ARRIVED = {"MPI_Parrived": "if (rc == MPI_SUCCESS && c_flag)\n"
                           "        fortran_arrived(fortran_request(*request), *partition);"}

# Their instructions are counted: test/bench/gates_fortran.py.
FAST = ("MPI_Send", "MPI_Recv")

class Body:
    """The C of a procedure: its parameters, the code before and after the call."""

    def __init__(self, p, described):
        self.p, self.described = p, described
        self.decls, self.before, self.args, self.after, self.hidden = [], [], [], [], []
        self.sections = self.memory = 0
        for param in p.params:
            getattr(self, "c_" + param.kind)(param)

    def add(self, decl, arg, before=(), after=()):
        self.decls.append(decl)
        self.args.append(arg)
        self.before += before
        self.after += after

    def c_number(self, p):
        if not p.depth:
            self.add(f"const {p.type} *{p.name}", f"*{p.name}")
        elif p.name in SENTINELS:
            self.add(f"{p.const or ''}{p.type} *{p.name}", f"fortran_address({p.name})")
        elif p.name in ("index", "indx") and "MPI_Request" in self.p.f.parameters:
            self.add(f"int *{p.name}", "&c_index", ["int c_index = MPI_UNDEFINED;"],
                     [f"*{p.name} = fortran_index(c_index);"])
        elif p.name == "array_of_indices":
            self.add(f"int *{p.name}", p.name, [],
                     [f"fortran_indices({p.name}, rc, outcount);"])
        elif p.depth == 2:
            self.add(f"int {p.name}[][3]", p.name)
        else:
            self.add(f"{p.const or ''}{p.type} *{p.name}", p.name)

    def c_logical(self, p):
        if not p.depth:
            self.add(f"const int *{p.name}", f"*{p.name} != 0")
        elif p.where == "in":
            self.add(f"const int *{p.name}", p.name)
        elif p.array:
            self.add(f"int *{p.name}", p.name, [],
                     [f"fortran_logicals({p.name}, {p.length()});"])
        else:
            self.add(f"int *{p.name}", f"&c_{p.name}", [f"int c_{p.name} = 0;"],
                     [f"*{p.name} = fortran_logical(c_{p.name});"])

    def c_handle(self, p):
        kind = HANDLES[p.handle]
        if not p.depth:
            self.add(f"const int *{p.name}", f"fortran_{kind}(*{p.name})")
        elif p.where == "out":
            self.add(f"int *{p.name}", f"&c_{p.name}", [f"{p.type} c_{p.name};"],
                     [f"if (rc == MPI_SUCCESS)\n        *{p.name} = fortran_{kind}_int(c_{p.name});"])
        else:
            was = f", was_{p.name} = c_{p.name}" if p.where == "inout" else ""
            self.add(f"int *{p.name}", f"&c_{p.name}",
                     [f"{p.type} c_{p.name} = fortran_{kind}(*{p.name}){was};"],
                     [f"if (c_{p.name} != was_{p.name})\n        "
                      f"*{p.name} = fortran_{kind}_int(c_{p.name});"] if was else [])

    def c_handles(self, p):
        kind, self.memory = HANDLES[p.handle], 1
        out = [f"fortran_{kind}s_back({p.name}, c_{p.name}, {p.length()});"]
        take = f"fortran_{kind}s" + ("_out" if p.where == "out" else "")
        self.add(f"{'const ' if p.where == 'in' else ''}int *{p.name}", f"c_{p.name}",
                 [f"{p.type} *c_{p.name} = {take}(&memory, "
                  f"{'' if p.where == 'out' else p.name + ', '}{p.length()});"],
                 out if p.where != "in" else [])

    def c_status(self, p):
        self.add(f"{p.const or ''}MPI_Status *{p.name}", f"fortran_address({p.name})")

    def c_string(self, p):
        if self.described:      # a descriptor has the length
            self.memory = 1
            self.add(f"const struct fortran_descriptor *{p.name}",
                     f"fortran_string(&memory, {p.name}->base, {p.name}->elem_len, false)")
        elif p.where == "in":
            self.memory = 1
            self.hidden.append(f"size_t {p.name}_len")
            strip = "true" if p.name in STRIPPED else "false"
            self.add(f"const char *{p.name}",
                     f"fortran_string(&memory, {p.name}, {p.name}_len, {strip})")
        else:
            self.hidden.append(f"size_t {p.name}_len")
            length = ", resultlen" if "resultlen" in self.p.f.args() else ", NULL"
            self.add(f"char *{p.name}", f"c_{p.name}",
                     [f"char c_{p.name}[MPI_MAX_{LENGTHS[p.name]}];"],
                     [f"if (rc == MPI_SUCCESS)\n        "
                      f"fortran_string_back({p.name}, {p.name}_len, c_{p.name}{length});"])

    def c_raw(self, p):
        self.add(f"void *{p.name}", p.name)

    def c_buffer(self, p):
        if not self.described:
            self.add(f"{p.const or ''}void *{p.name}", f"c_{p.name}",
                     [f"{p.const or ''}void *c_{p.name} = fortran_address({p.name});"])
            return
        decl, policy = f"const struct fortran_descriptor *{p.name}", self.p.policy()
        i, self.sections = self.sections, self.sections + 1
        if policy == "base":
            call = f"fortran_address({p.name}->base)"
        elif policy == "whole":
            self.before.append(f'if (fortran_has_gaps({p.name}, "{self.p.name}", ierror))\n        return;')
            call = f"fortran_address({p.name}->base)"
        elif policy == "first":
            self.before.append(f"if (!fortran_first({p.name}, fortran_type(*datatype), "
                               f'"{self.p.name}", ierror))\n        return;')
            call = f"fortran_address({p.name}->base)"
        elif policy == "layout":
            self.add(decl, f"layout[{i}].base")
            return
        elif policy == "end":
            call = f"fortran_begun({p.name})"
        else:
            call = f"fortran_enter(&section[{i}], {p.name}, {'false' if p.const else 'true'})"
        self.add(decl, f"c_{p.name}", [f"void *c_{p.name} = {call};"])

    def layouts(self):
        """The code before a call whose buffers may be described by datatypes. Their counts and datatypes
        take the place of the caller's."""
        names, made = [q.name for q in self.p.params], []
        for i, buffer in enumerate(self.p.buffers):
            end = buffer.name[:-len("_addr")]
            count, datatype = names.index(end + "_count"), names.index(end + "_datatype")
            made.append(f"fortran_layout(&layout[{i}], {buffer.name}, *{end}_count, "
                        f'fortran_type(*{end}_datatype),\n                        "{self.p.name}", ierror)')
            self.args[count] = f"({self.p.params[count].type})layout[{i}].count"
            self.args[datatype] = f"layout[{i}].type"
        return [f"struct fortran_layout layout[{len(made)}] = "
                f"{{{', '.join(['FORTRAN_LAYOUT_INIT'] * len(made))}}};",
                f"if (!({' && '.join(made)})) {{\n        fortran_layout_end(layout, {len(made)});\n"
                "        return;\n    }"]

    def text(self):
        p, before, after = self.p, list(self.before), list(self.after)
        policy = p.policy() if self.described else ""
        before += [READY[p.name]] if p.name in READY else []
        if p.is_extension:
            before.insert(0, f"if (!MPI_({p.call})) {{\n        fortran_error(ierror, MPI_ERR_UNSUPPORTED_OPERATION);\n"
                          "        return;\n    }")
        after += [ARRIVED[p.name]] if p.name in ARRIVED else []
        if policy == "layout":
            before += self.layouts()
            after.append(f"fortran_layout_end(layout, {self.sections});")
        if policy in ("leave", "defer", "begin", "part"):
            before.insert(0, f"struct fortran_section section[{self.sections}];")
        if policy == "leave":
            after.insert(0, f"fortran_leave(section, {self.sections});")
        elif policy == "defer":
            after.insert(0, f"rc = fortran_defer(section, {self.sections}, rc, &c_request);")
        elif policy == "part":
            after.insert(0, "rc = fortran_part(section, rc, *partitions, *count, "
                         "fortran_type(*datatype), &c_request);")
        elif policy == "begin":
            after.insert(0, "fortran_begin(section, rc);")
        elif policy == "end":
            after.insert(0, "fortran_ended(c_buf);")
        if self.memory:
            before.insert(0, "struct fortran_memory memory = FORTRAN_MEMORY_INIT;")
            after.append("fortran_memory_free(&memory);")
        call = gen_interface.wrapped(f"    int rc = MPI_({p.call})", self.args or [], ";")
        if not self.args:
            call = call.replace("(void)", "()")
        decls = self.decls + ["int *ierror"] + self.hidden
        entry = gen_interface.wrapped(
            f"FORTRAN_ENTRY{'_F08TS' if self.described else ''}({p.short}, ", decls, "")
        entry = entry.replace(", (", ", ", 1)
        lines = [entry, "{"]
        if p.name in FAST:
            lines = self.slow_head(decls)
        lines += ["    " + b for b in before] + [call] + ["    " + a for a in after]
        lines += ["    fortran_error(ierror, rc);", "}"]
        return "\n".join(lines + (["", entry] + self.fast() if p.name in FAST else []))

    def slow_head(self, decls):
        """Handles are passed by value: the fast path has loaded them, and keeps no pointer to them."""
        handles = [f"const int *{q.name}" for q in self.p.params if q.kind == "handle"]
        passed = [d.replace("const int *", "int the_") if d in handles else d for d in decls]
        return [gen_interface.wrapped(f"FORTRAN_SLOW {self.slow()}", passed, ""), "{"] + \
            [f"    {d} = &the_{d[len('const int *'):]};" for d in handles]

    def slow(self):
        return f"{self.p.short}{'_f08ts' if self.described else ''}_slow"

    def fast(self):
        """The entry of a procedure in FAST: most calls need no conversion, and few registers saved. With a
        predefined datatype the buffer is none of the constants: MPI_BOTTOM is for others."""
        names = [("*" if q.kind == "handle" else "") + q.name for q in self.p.params]
        handles = " | ".join(f"*{q.name}" for q in self.p.params if q.kind == "handle")
        plain = " && fortran_is_line(buf)" if self.described else ""
        values = {"buffer": "buf->base" if self.described else "buf",
                  "status": "fortran_status(status)"}
        args = [values.get(q.kind) or (f"({q.type})(uintptr_t)(unsigned)*{q.name}"
                                       if q.kind == "handle" else f"*{q.name}")
                for q in self.p.params]
        call = f"MPI_({self.p.name[4:]})({', '.join(args)})"
        lines = ["{", f"    if (__builtin_expect(!(fortran_is_constant({handles}){plain}), 0)) {{",
                 f"        {self.slow()}({', '.join(names + ['ierror'])});", "        return;", "    }"]
        store = "fortran_error(ierror, rc);" if self.described else "*ierror = rc;"
        return lines + [f"    int rc = {call};", "    FORTRAN_LATE(ierror);", "    " + store, "}"]


def c_file(table, paths):
    """The text of the C file."""
    text = ["/* SPDX-License-Identifier: BSD-3-Clause */",
            "/* Made by tools/gen_fortran.py from mpi/interface.tsv. */",
            '#include "fortran/entry.h"']
    for p in procedures(table, paths):
        if p.hand:
            continue
        text.append(Body(p, False).text())
        if p.buffers:
            text.append(Body(p, True).text())
    return "\n\n".join(text) + "\n"


def c_ext_file(table, paths):
    """The text of the C file of extensions. Other libraries may lack their C functions."""
    found = extensions(table, paths)
    text = ["/* SPDX-License-Identifier: BSD-3-Clause */",
            "/* Made by tools/gen_fortran.py from mpi/interface.tsv. */",
            '#define FORTRAN_EXTENSION\n#include "fortran/entry.h"',
            "\n".join(f"#pragma weak {letter}{p.name}" for p in found for letter in ("", "P"))]
    return "\n\n".join(text + [Body(p, False).text() for p in found if not p.hand]) + "\n"


# ---- Fortran ----

def wrapped(indent, head, parts, tail):
    """head(part, part)tail in free form, in lines of 100 columns."""
    lines, line = [], indent + head + "("
    for i, part in enumerate(parts):
        part += ", " if i < len(parts) - 1 else ""
        if len(line) + len(part) > 92:
            lines.append(line + "&")
            line = indent + "    "
        line += part
    return lines + [line + ")" + tail] if len(line + tail) < 120 else \
        lines + [line + ") &", indent + "    " + tail.strip()]


def is_async(p):
    """Whether something goes on behind the call."""
    names = [q.name for q in p.params]
    return "request" in names and p.params[-1].where == "out" or "win" in names or \
        bool(re.search(r"attach_buffer|Buffer_attach|_(begin|end)(_c)?$|Get_address|Free_mem", p.name))


def strings_shape(q):
    """Of a text, an array of them, or, of each of several commands, an array of them."""
    return "(count, *)" if q.name == "array_of_argv" else {1: "", 2: "(*)", 3: "(*)"}[q.depth]


def declared_f08(p, q):
    """The type and attributes of a dummy argument in mpi_f08, and its shape."""
    intent = {"in": ", INTENT(IN)", "out": ", INTENT(OUT)", "inout": ", INTENT(INOUT)"}[q.where]
    shape = "(*)" if q.array else ""
    if q.kind == "buffer":
        intent = ", INTENT(IN)" if q.const else ""
        extra = ", ASYNCHRONOUS" if is_async(p) else ""
        return f"TYPE(*), DIMENSION(..){intent if not extra or q.const else ''}{extra}", ""
    if q.kind == "string" and p.buffers:
        return "TYPE(*), DIMENSION(..)" + intent, ""
    if q.kind in ("string", "strings"):
        return "CHARACTER(LEN=*)" + intent, strings_shape(q)
    if q.kind == "status":
        return "TYPE(MPI_Status)" + ("" if q.where == "out" else intent), shape
    if q.kind == "handle":
        extra = ", ASYNCHRONOUS" if q.name == "newcomm" and is_async(p) else ""
        return f"TYPE(MPI_{q.handle}){intent}{extra}", ""
    if q.kind == "handles":
        return f"TYPE(MPI_{q.handle}){intent}" + \
            (", ASYNCHRONOUS" if is_async(p) and p.buffers else ""), "(*)"
    if q.kind == "logical":
        return "LOGICAL" + intent, shape
    if q.kind == "raw":
        return "LOGICAL" + (intent if "get" in p.name else ", INTENT(IN)"), ""
    if q.kind == "address":
        return "INTEGER(KIND=MPI_ADDRESS_KIND)" + \
            (", INTENT(OUT)" if "_get_attr" in p.name else ", INTENT(IN)"), ""
    if q.kind == "procedure":
        return f"PROCEDURE({q.type})", ""
    if q.kind == "pointer":
        return "TYPE(C_PTR), INTENT(OUT)", ""
    if q.depth == 2:
        shape = "(3, *)"
    if q.name in SENTINELS:
        intent, shape = ("" if q.where != "in" else intent), "(*)"
    extra = ", ASYNCHRONOUS" if q.array and is_async(p) and p.buffers else ""
    return SCALARS[q.type] + intent + extra, shape


def declared_mpi(p, q):
    """The same in module mpi."""
    if q.kind == "buffer" or q.kind == "pointer" and "detach" in p.name:
        return "TYPE(*)", "(*)"
    if q.kind == "pointer":
        return "INTEGER(KIND=MPI_ADDRESS_KIND)", ""
    if q.kind == "status":
        return "INTEGER", "(MPI_STATUS_SIZE, *)" if q.array else "(MPI_STATUS_SIZE)"
    if q.handle:
        return "INTEGER", "(*)" if q.kind == "handles" else ""
    if q.kind == "procedure":
        return "EXTERNAL", ""
    if q.kind == "address":
        old = re.match(r"MPI_(Attr_|Keyval_)", p.name)
        return "INTEGER" if old else "INTEGER(KIND=MPI_ADDRESS_KIND)", ""
    declared, shape = declared_f08(p, q)
    declared = re.sub(r", (INTENT\(\w+\)|ASYNCHRONOUS)", "", declared)
    return ("CHARACTER(LEN=*)", "") if q.kind == "string" else (declared, shape)


def body_of(p, name, declared, tail, f08):
    """An interface body."""
    args = [q.fortran for q in p.params] + ([] if p.value else ["ierror"])
    kind = "FUNCTION" if p.value else "SUBROUTINE"
    lines = wrapped("    ", f"{kind} {name}", args, tail) + ["      IMPORT"]
    if p.value:
        lines.append(f"      {SCALARS[p.value]} :: {name}")
    for q in p.params:
        kind_of, shape = declared(p, q)
        if not f08 and kind_of == "TYPE(*)":
            lines += [f"!GCC$ ATTRIBUTES NO_ARG_CHECK :: {q.fortran}",
                      f"!DEC$ ATTRIBUTES NO_ARG_CHECK :: {q.fortran}",
                      f"!DIR$ IGNORE_TKR {q.fortran}"]
        lines.append(f"      {kind_of} :: {q.fortran}{shape}")
    if not p.value:
        lines.append("      INTEGER, OPTIONAL, INTENT(OUT) :: ierror" if f08
                     else "      INTEGER :: ierror")
    return lines + [f"    END {kind} {name}"]


def signature(p):
    return [re.sub(r"MPI_(ADDRESS|COUNT|OFFSET)_KIND", "8", " ".join(declared_f08(p, q)))
            for q in p.params]


def interfaces_f08(table, paths):
    """Generic interfaces: each has the form for INTEGER counts, and one for large counts where they
    can be told apart."""
    all_of = {p.name: p for p in procedures(table, paths) if not p.only_mpi}
    lines = []
    for name, p in all_of.items():
        small = all_of.get(name[:-2]) if p.large else None
        if small and signature(small) != signature(p) and "procedure" not in [q.kind for q in p.params]:
            continue                        # stands with its small form
        if small and signature(small) == signature(p):
            continue                        # one and the same for Fortran
        forms = [p]
        big = all_of.get(name + "_c")
        if big and signature(big) != signature(p) and "procedure" not in [q.kind for q in p.params]:
            forms.append(big)
        for letter in ("", "P"):
            lines.append(f"  INTERFACE {letter}{name}")
            for form in forms:
                specific = f"{letter}{form.name}{form.suffix()}"
                bind = f' BIND(C, NAME="{specific.lower()}_")' if form.buffers else ""
                lines += body_of(form, specific, declared_f08, bind, True)
            lines.append(f"  END INTERFACE {letter}{name}")
    return lines


def interfaces_mpi(table, paths):
    lines = ["  INTERFACE"]
    late = []
    for p in procedures(table, paths):
        if p.large:
            continue
        for letter in ("", "P"):
            body = body_of(p, letter + p.name, declared_mpi, "", False)
            if any(q.kind == "pointer" and q.name == "baseptr" for q in p.params):
                name = f"{letter}{p.name}"
                other = [l.replace("INTEGER(KIND=MPI_ADDRESS_KIND) :: baseptr", "TYPE(C_PTR) :: baseptr")
                         .replace(name, name + "_cptr") for l in body]
                late += [f"  INTERFACE {name}"] + body + other + [f"  END INTERFACE {name}"]
            else:
                lines += body
    return lines + ["  END INTERFACE"] + late


def constants(mpi_h):
    """(name, handle type or None, value) of the constants that Fortran has, from mpi.h."""
    text = re.sub(r"/\*.*?\*/", "", pathlib.Path(mpi_h).read_text(), flags=re.S)
    found, by_name = [], {}
    for line in text.split("\n"):
        line = re.sub(r"\(-INT64_C\(1\)\)$", "VIREO_MPI_CAST(MPI_Offset, -1)", line)
        handle = re.match(r"#define (MPI_\w+) +VIREO_MPI_CAST\((MPI_\w+), (0x[0-9a-f]+|-1)\)$", line)
        number = re.match(r"#define (MPI_\w+) +(-?\d+)$", line) or \
            re.match(r"    (MPI_\w+) = (-?\w+),?$", line)
        alias = re.match(r"#define (MPI_\w+) +(MPI_\w+)$", line)
        if handle and (handle[2][4:] in HANDLES or handle[2] == "MPI_Offset"):
            found.append((handle[1], handle[2], int(handle[3], 16) if handle[3] != "-1" else -1))
        elif number:
            value = int(number[2], 0) - number[1].startswith("MPI_MAX_")
            found.append((number[1], None, value))
        elif alias and alias[2] in by_name:
            found.append((alias[1], *by_name[alias[2]]))
        else:
            continue
        by_name[found[-1][0]] = found[-1][1:]
    for name in ("MPI_COMM_WORLD", "MPI_LONG_LONG_INT", "MPI_DISPLACEMENT_CURRENT", "MPI_ANY_TAG"):
        if name not in by_name:
            raise Wrong(f"{mpi_h}: {name} is written otherwise than constants() here reads it")
    return [row for row in found if row[0].startswith("MPI_T_ERR_") or not row[0].startswith(("MPI_T_", "MPI_F_"))]


def constants_mpi(mpi_h):
    lines = []
    for name, kind, value in constants(mpi_h):
        kind = "(KIND=MPI_OFFSET_KIND)" if kind == "MPI_Offset" else ""
        lines.append(f"  INTEGER{kind}, PARAMETER :: {name} = {value}")
    return lines


def constants_f08(mpi_h):
    lines = []
    for name, kind, value in constants(mpi_h):
        if kind in (None, "MPI_Offset"):
            kind = "(KIND=MPI_OFFSET_KIND)" if kind else ""
            lines.append(f"  INTEGER{kind}, PARAMETER :: {name} = {value}")
        else:
            lines.append(f"  TYPE({kind}), PARAMETER :: {name} = {kind}({value})")
    return lines


def constants_mpif(mpi_h):
    lines = []
    for name, kind, value in constants(mpi_h):
        lines += [f"      INTEGER{'*8' if kind == 'MPI_Offset' else ''} {name}",
                  f"      PARAMETER ({name}={value})"]
    return lines


def externals(table, paths):
    """mpif.h needs the types of functions alone."""
    kinds = {"double": "DOUBLE PRECISION", "MPI_Aint": "INTEGER*8"}
    return [f"      {kinds[p.value]} {letter}{p.name}\n      EXTERNAL {letter}{p.name}"
            for p in procedures(table, paths) if p.value for letter in ("", "P")]


def constants_ext(mpi_h):
    """(name, value) of the error classes of extensions."""
    known = {name: value for name, _, value in constants(mpi_h)}
    found = re.findall(r"^#define (MPIX_ERR_\w+) +(\w+)$", pathlib.Path(mpi_h).read_text(), flags=re.M)
    return [(name, known.get(value, value)) for name, value in found]


def extension_file(mpi_h, table, paths, mode):
    """The text of a module, or of the header that goes with mpif.h."""
    head = ["! SPDX-License-Identifier: BSD-3-Clause",
            f"! {mode}: fault tolerance, which is beyond the standard; Open MPI has this name, too.",
            "! Made by tools/gen_fortran.py."]
    if mode == "mpif-ext.h":
        return "\n".join(head + [f"      INTEGER {name}\n      PARAMETER ({name}={value})"
                                 for name, value in constants_ext(mpi_h)]) + "\n"
    f08 = mode == "mpi_f08_ext"
    lines = head + [f"MODULE {mode}", f"  USE {'mpi_f08_types' if f08 else 'mpi_constants'}",
                    "  IMPLICIT NONE", "  PUBLIC"]
    lines += [f"  INTEGER, PARAMETER :: {name} = {value}" for name, value in constants_ext(mpi_h)]
    for p in extensions(table, paths):
        for letter in ("", "P"):
            name = letter + p.name
            lines += [f"  INTERFACE {name if f08 else ''}"] + \
                body_of(p, name + ("_f08" if f08 else ""), declared_f08 if f08 else declared_mpi, "", f08) + \
                [f"  END INTERFACE {name if f08 else ''}"]
    return "\n".join(lines + [f"END MODULE {mode}"]) + "\n"


def fill(template, mpi_h, table, paths, mode):
    parts = {"mpi": (constants_mpi, interfaces_mpi), "mpi_f08": (constants_f08, interfaces_f08),
             "mpif": (constants_mpif, externals)}[mode]
    text = pathlib.Path(template).read_text()
    text = text.replace("@CONSTANTS@", "\n".join(parts[0](mpi_h)))
    return text.replace("@INTERFACES@", "\n".join(parts[1](table, paths)))


def main(argv):
    if len(argv) < 3:
        sys.exit(__doc__)
    mode, table = argv[0], gen_interface.read_table(argv[1])
    if mode == "c":
        pathlib.Path(argv[2]).write_text(c_file(table, argv[3:]))
    elif mode in ("mpi", "mpi_f08", "mpif") and len(argv) > 5:
        pathlib.Path(argv[4]).write_text(fill(argv[3], argv[2], table, argv[5:], mode))
    elif mode == "c_ext" and len(argv) > 4:
        pathlib.Path(argv[3]).write_text(c_ext_file(table, argv[4:]))
    elif mode in ("mpi_ext", "mpi_f08_ext", "mpif-ext.h") and len(argv) > 4:
        pathlib.Path(argv[3]).write_text(extension_file(argv[2], table, argv[4:], mode))
    elif mode == "list":
        for p in procedures(table, argv[2:]):
            print(p.name, *(f"{q.fortran}:{q.kind}:{q.where}" for q in p.params))
    else:
        sys.exit(__doc__)


if __name__ == "__main__":
    try:
        main(sys.argv[1:])
    except Wrong as wrong:
        sys.exit(f"gen_fortran: {wrong}")
