#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""Make a manual page of each MPI function: from its row of mpi/interface.tsv and its comment.

usage: gen_man.py pages VERSION FOLDER TABLE TEMPLATE EXAMPLES FILE.c...
       gen_man.py check TABLE TEMPLATE FILE.c...

pages  write MPI_X.3 into FOLDER for every function that the files bring, and a link for each _c
check  fail where a function has no comment, or one from which no page can be made
TEMPLATE is include/mpi.h.in: it has the types of callbacks, and the names that a comment may use.
EXAMPLES is examples/functions: a page has the programs that name its function.

The comment stands over the PMPI_ body; if both forms are written by hand, over the first:

    /*
     * Send a message: return when its buffer may be changed again.
     *
     * Whether that waits for the receiver is left open: short messages are copied ...
     *
     * buf: what is sent; only read
     * size (inout): room in bytes, and then how many there are, which may be
     *   more than fit
     *
     * MPI_ERR_BUFFER: no buffer is attached, or it has no room.
     *
     * MPI-5.0 3.2.1
     */

  - The first sentence is what the function does, for the line NAME. It ends with a period.
  - Then all that the type does not show: the work and its place, when the call returns, what it
    waits for. A blank line parts paragraphs. Lines that begin with "- " are a list, a paragraph
    that is four columns in is shown as it stands. Where the first paragraph begins "As MPI_X, but",
    parameters and errors that are not described are as in the comment of MPI_X.
  - NAME: text, or NAME, NAME (in|out|inout): text for a parameter; text on further lines
    is two columns in. PARAMETERS below has common texts, which need not be said again.
  - CLASS: text for an error. ERRORS below has the common ones; another text replaces that, and one
    that begins with "never" takes it away.
  - Returns: text, if that is no error code. There are no common errors then.
  - The section of MPI-5.0, alone on the last line; "Beyond MPI-5.0" if it has none.
"""
import pathlib
import re
import sys

import function_examples
import gen_interface

WIDTH = 76      # of a prototype
COMMENT = re.compile(r"/\*.*?\*/", re.S)
HEADING = re.compile(r"^/\* -+ (.*?) -+ \*/$", re.M)
ITEM = re.compile(r"(\w+(?:, \w+)*)(?: \((in|out|inout)\))?:(?: (.*))?$")
CLASS = re.compile(r"MPI_(T_)?ERR_\w+$")
SECTION = re.compile(r"\(?(?:MPI-5\.0 ((?:chapter )?\d[\d.]*(?:(?:,| and| to) \d[\d.]*)*)"
                     r"|Beyond MPI-5\.0)\)?$")
LIKE = re.compile(r"As (MPI_\w+), but ")
NAME = re.compile(r"\bMPI_\w+")
CALLBACK = re.compile(r"^typedef (\w+) \((MPI_\w+_function(?:_c)?)\)\(([^;]*)\);", re.M)

# The meaning of parameters without another text: chapters (or none: all), the names, the
# type, the direction (or none: by the type), the text. The first row that fits counts.
PARAMETERS = [
    ("", "comm", "MPI_Comm", "", "communicator"),
    ("", "comm1 comm2", "MPI_Comm", "", "communicator"),
    ("", "comm_old", "MPI_Comm", "", "communicator that has the processes"),
    ("", "group group1 group2", "MPI_Group", "", "group"),
    ("info", "info", "MPI_Info", "", "info object"),
    ("errh", "info", "MPI_Info", "", "info object"),
    ("", "info", "MPI_Info", "", "hints, or MPI_INFO_NULL"),
    ("", "session", "MPI_Session", "", "session"),
    ("", "errhandler", "MPI_Errhandler", "", "error handler"),
    ("", "buf sendbuf", "const void *", "", "what is sent; it is only read"),
    ("attr type type_query", "datatype", "MPI_Datatype", "", "datatype; it need not be committed"),
    ("", "datatype", "MPI_Datatype", "", "type of each element; committed"),
    ("", "oldtype", "MPI_Datatype", "", "type of the elements; it need not be committed"),
    ("", "newtype", "MPI_Datatype *", "",
     "the new datatype; commit it with MPI_Type_commit before it is used to communicate"),
    ("", "count", "number", "", "number of elements, 0 or more"),
    ("", "sendcount", "number", "", "number of elements that are sent, 0 or more"),
    ("", "sendtype", "MPI_Datatype", "", "type of each element that is sent; committed"),
    ("", "recvcount", "number", "", "number of elements that are received, 0 or more"),
    ("", "recvtype", "MPI_Datatype", "", "type of each element that is received; committed"),
    ("", "dest", "int", "", "rank of the receiver, or MPI_PROC_NULL: nothing is sent"),
    ("", "source", "int", "",
     "rank of the sender; or MPI_ANY_SOURCE; or MPI_PROC_NULL: nothing is received"),
    ("", "sendtag", "int", "", "tag of the message that is sent, 0 to MPI_TAG_UB"),
    ("", "recvtag", "int", "", "tag of the message that is received, or MPI_ANY_TAG"),
    ("", "root", "int", "", "rank of the root, the same in every process"),
    ("", "op", "MPI_Op", "", "operation, predefined or made by MPI_Op_create"),
    ("pcoll", "request", "MPI_Request *", "out", "inactive request, to be started by MPI_Start"),
    ("", "request", "MPI_Request *", "out",
     "request, to be completed by MPI_Wait, MPI_Test or one of their kin"),
    ("", "request", "MPI_Request", "", "request"),
    ("", "status", "MPI_Status *", "",
     "Source, tag and length of the message, or MPI_STATUS_IGNORE"),
    ("", "newcomm", "MPI_Comm *", "", "the new communicator"),
    ("", "newgroup", "MPI_Group *", "",
     "the new group, to be freed with MPI_Group_free; MPI_GROUP_EMPTY where it has no member"),
    ("io io_access", "fh", "MPI_File", "", "file"),
    ("", "extra_state", "void *", "in", "given to the callbacks as it is"),
    ("win win_attr win_sync rma", "win", "MPI_Win", "", "window"),
    ("win", "win", "MPI_Win *", "out", "the window, to be freed with MPI_Win_free"),
    ("rma", "origin_addr", "const void *", "", "data of this process; they are only read"),
    ("rma", "origin_count", "number", "", "number of elements at the origin, 0 or more"),
    ("rma", "origin_datatype", "MPI_Datatype", "", "type of each element at the origin; committed"),
    ("rma", "result_count", "number", "", "number of elements of the result, 0 or more"),
    ("rma", "result_datatype", "MPI_Datatype", "", "type of each element of the result; committed"),
    ("rma", "target_rank", "int", "", "the target, or MPI_PROC_NULL: nothing happens"),
    ("rma", "target_disp", "MPI_Aint", "",
     "where the target's data begin, in its units; in a dynamic window an address there"),
    ("rma", "target_count", "number", "", "number of elements at the target, 0 or more"),
    ("rma", "target_datatype", "MPI_Datatype", "",
     "type of each element at the target; committed"),
]
TAGS = {"dest": "tag of the message, 0 to MPI_TAG_UB",
        "source": "tag of the message, or MPI_ANY_TAG"}

COLLECTIVE = "coll icoll pcoll neighbor"
# Common errors: chapters (or none: all), of parameters of these names and this type. Of two rows of
# one class the later one counts.
ERRORS = [
    ("", "comm comm_old local_comm peer_comm comm1 comm2 intercomm", "MPI_Comm", "MPI_ERR_COMM",
     "not a communicator, or one that was freed."),
    ("", "count sendcount recvcount incount outcount sendcounts recvcounts", "number",
     "MPI_ERR_COUNT", "a count is negative, or too large."),
    ("", "datatype sendtype recvtype sendtypes recvtypes", "MPI_Datatype", "MPI_ERR_TYPE",
     "not a datatype, or not committed."),
    ("type type_query status attr", "datatype", "MPI_Datatype", "MPI_ERR_TYPE",
     "not a datatype, or one that was freed."),
    ("", "oldtype", "MPI_Datatype", "MPI_ERR_TYPE", "not a datatype."),
    ("", "buf buffer sendbuf recvbuf inbuf outbuf inoutbuf", "void *", "MPI_ERR_BUFFER",
     "a buffer is NULL, and its count is not 0."),
    (COLLECTIVE, "sendbuf recvbuf", "void *", "MPI_ERR_BUFFER",
     "a buffer is NULL, and its count is not 0; sendbuf and recvbuf share memory; or MPI_IN_PLACE "
     "has no meaning for this one."),
    (COLLECTIVE, "buffer recvbuf", "void *", "MPI_ERR_TRUNCATE",
     "a process has sent more than another has room for."),
    (COLLECTIVE, "buffer recvbuf", "void *", "MPI_ERR_COUNT",
     "a count is negative, or too large; or a process has sent less than another asks for."),
    ("type", "newtype", "MPI_Datatype *", "MPI_ERR_COUNT",
     "the size or a bound would exceed 2^63 bytes, or the datatype be nested deeper than 1024."),
    ("type", "count", "number", "MPI_ERR_COUNT", "count is negative, the size or a bound would "
     "exceed 2^63 bytes, or the datatype be nested deeper than 1024."),
    ("", "dest source local_leader remote_leader", "int", "MPI_ERR_RANK", "no such rank."),
    ("", "tag sendtag recvtag", "int", "MPI_ERR_TAG", "the tag is negative."),
    ("p2p persist", "source", "int", "MPI_ERR_TAG", "the tag is negative, and not MPI_ANY_TAG."),
    ("p2p", "sendtag", "int", "MPI_ERR_TAG",
     "a tag is negative; that of the receive may be MPI_ANY_TAG."),
    ("", "root", "int", "MPI_ERR_ROOT", "no such rank."),
    (COLLECTIVE, "root", "int", "MPI_ERR_ROOT", "no such rank; over an intercommunicator, not a "
     "rank of the other group, nor MPI_ROOT or MPI_PROC_NULL."),
    ("", "op", "MPI_Op", "MPI_ERR_OP", "not an operation."),
    ("win win_attr win_sync rma", "win", "MPI_Win MPI_Win *", "MPI_ERR_WIN",
     "not a window, or one that was freed."),
    ("rma", "target_rank rank", "int", "MPI_ERR_RANK", "no such rank."),
    ("win_sync win", "rank", "int", "MPI_ERR_RANK", "no such rank."),
    ("rma", "target_rank", "int", "MPI_ERR_RMA_SYNC", "no epoch is open in which the target may be accessed."),
    ("rma", "target_disp", "MPI_Aint", "MPI_ERR_RMA_RANGE",
     "the data are not in the target's memory; where that is not mapped, the call that completes the "
     "operation says so."),
    ("rma", "origin_count result_count target_count", "number", "MPI_ERR_COUNT",
     "a count is negative."),
    ("rma", "origin_datatype result_datatype target_datatype datatype", "MPI_Datatype",
     "MPI_ERR_TYPE", "not a datatype, or not committed."),
    (COLLECTIVE, "op", "MPI_Op", "MPI_ERR_OP",
     "not an operation, or a predefined one that is not defined for the datatype."),
    ("", "group group1 group2 local_group remote_group", "MPI_Group", "MPI_ERR_GROUP",
     "not a group, or one that was freed."),
    ("io io_access", "fh", "MPI_File", "MPI_ERR_FILE", "not a file, or one that was closed."),
    ("", "info", "MPI_Info", "MPI_ERR_INFO", "not an info object, or one that was freed."),
    ("", "errhandler", "MPI_Errhandler", "MPI_ERR_ERRHANDLER", "not an error handler."),
    ("", "session", "MPI_Session", "MPI_ERR_SESSION", "not a session."),
    ("p2p", "buf sendbuf", "void *", "MPI_ERR_PROC_ABORTED", "the other process has ended."),
    ("p2p", "buf sendbuf", "void *", "MPI_ERR_OTHER", "no channel leads to the other process."),
    (COLLECTIVE, "comm", "MPI_Comm", "MPI_ERR_PROC_ABORTED", "another process has ended."),
    (COLLECTIVE, "comm", "MPI_Comm", "MPI_ERR_OTHER", "no channel leads to another process."),
    ("", "newcomm newintercomm newintracomm comm_cart comm_graph comm_dist_graph", "MPI_Comm *",
     "MPI_ERR_PROC_ABORTED", "another process has ended."),
    ("p2p", "buf sendbuf", "void *", "MPI_ERR_NO_MEM", "out of memory."),
    (COLLECTIVE, "comm", "MPI_Comm", "MPI_ERR_NO_MEM", "out of memory."),
]
# Chapters whose functions look whether the place for a result is there.
CHECKED = {"attr", "comm", "env", "errh", "group", "info", "intercomm", "op", "pack", "session",
           "status", "topo", "topo_graph", "type", "type_query"}
HANDLES = {"MPI_Comm *", "MPI_Datatype *", "MPI_Errhandler *", "MPI_Group *", "MPI_Info *",
           "MPI_Op *", "MPI_Request *", "MPI_Session *", "MPI_Message *"}
# Whose error handler is called, by the type of a parameter.
HANDLERS = [("MPI_Comm", "the error handler of the communicator"),
            ("MPI_Session", "the error handler of the session"),
            ("MPI_Win", "the error handler of the window"),
            ("MPI_File", "the error handler of the file"), ("MPI_Errhandler", "errhandler")]
FOUND = re.compile(r"_get_|^MPI_Comm_(remote_)?group$")     # handles that are not made


class Body:
    """A PMPI_ function in a file: its comment, and the heading above it."""

    def __init__(self, name, comment, heading):
        self.name, self.comment, self.heading = name, comment, heading


def bodies(path):
    """The functions that a file defines, in its order."""
    text = pathlib.Path(path).read_text()
    bare = COMMENT.sub(lambda m: re.sub(r"[^\n]", " ", m.group(0)), text)
    headings = [(m.start(), m.group(1)) for m in HEADING.finditer(text)]
    comments = {m.end(): m.group(0) for m in COMMENT.finditer(text)}
    for match in gen_interface.BODY.finditer(bare):
        start = match.start() + len(match.group(0)) - len(match.group(0).lstrip())
        heading = next((h for at, h in reversed(headings) if at < start), "")
        above = text[:start]
        comment = comments.get(start - 1, "") if above.endswith("*/\n") else ""
        yield Body(match.group(1)[1:], comment, heading)


def plain(comment):
    """The lines of a comment without its marks."""
    lines = comment[2:-2].rstrip().split("\n")
    lines = [lines[0].strip()] + [re.sub(r"^\s*\*( |$)", "", l).rstrip() for l in lines[1:]]
    while lines and not lines[0]:
        lines.pop(0)
    while lines and not lines[-1]:
        lines.pop()
    return lines


class Comment:
    """What a comment says. wrong has a message for each thing that no page can be made from."""

    def __init__(self, text, parameters):
        self.wrong, self.paragraphs, self.parameters, self.errors = [], [], {}, {}
        self.summary = self.section = self.returns = ""
        lines = plain(text)
        self.take_section(lines)
        self.known = parameters
        blocks, block = [], []
        for line in lines + [""]:
            if line:
                block.append(line)
            elif block:
                blocks.append(block)
                block = []
        for block in blocks:
            self.take(block)
        if not text:
            self.wrong = ["has no comment"]
        elif not self.summary:
            self.wrong.append("the comment begins with no sentence")

    def take_section(self, lines):
        match = SECTION.search(lines[-1].rstrip(".")) if lines else None
        if not match:
            self.wrong.append("the comment does not end with the section, as in MPI-5.0 3.2.1")
            return
        self.section = match.group(1) or ""
        lines[-1] = lines[-1].rstrip(".")[:match.start()].rstrip()

    def is_item(self, line):
        """Whether a line begins an item, of names that are known."""
        match = ITEM.match(line)
        names = match.group(1).split(", ") if match else []
        return bool(names) and all(n in self.known or CLASS.match(n) or n == "Returns"
                                   for n in names)

    def take(self, block):
        """Take a paragraph, up to its first item; then items."""
        first = next((i for i, l in enumerate(block) if self.is_item(l)), len(block))
        if first:
            self.take_paragraph(block[:first])
        item = []
        for line in block[first:]:
            if self.is_item(line):
                self.take_item(item)
                item = [line]
            elif line.startswith("  "):
                item.append(line.strip())
            else:
                self.wrong.append(f"among parameters and errors, this is neither: {line}")
        self.take_item(item)

    def take_paragraph(self, block):
        match = ITEM.match(block[0])
        if match and re.match(r"[a-z_]+$", match.group(1)):
            self.wrong.append(f"there is no parameter {match.group(1)}")
        if not self.paragraphs and not self.summary:
            text = " ".join(block)
            match = re.match(r"(.+?)\.(?: (.*))?$", text)
            if not match:
                return
            self.summary = match.group(1)
            if len(self.summary) > 100:
                self.wrong.append("the first sentence is longer than 100 characters")
            block = [match.group(2)] if match.group(2) else []
        if block:
            self.paragraphs.append(block)

    def take_item(self, lines):
        if not lines:
            return
        match = ITEM.match(lines[0])
        text = " ".join(filter(None, [match.group(3)] + lines[1:]))
        if not text:
            self.wrong.append(f"nothing is said of {match.group(1)}")
        for name in match.group(1).split(", "):
            if CLASS.match(name):
                self.errors[name] = text
            elif name == "Returns":
                self.returns = text
            elif name in self.parameters:
                self.wrong.append(f"parameter {name} stands twice")
            else:
                self.parameters[name] = (match.group(2), text)


class Page:
    """A function, or both of its forms."""

    def __init__(self, table, found, every, name):
        self.table = table
        self.name = name
        self.forms = [table[n] for n in (name, name + "_c") if n in table]
        self.chapter = self.forms[0].file
        written = [b for b in found.values() if b.name in (name, name + "_c")]
        body = next((b for b in written if b.comment), written[0])
        self.heading = body.heading
        self.params = self.merged()
        self.comment = Comment(body.comment, self.params)
        self.base = self.base_of(every)

    def merged(self):
        """{name: type} of the parameters of both forms: one may have more."""
        longest = max(self.forms, key=lambda f: len(f.params))
        return dict(name_and_type(p) for p in longest.params if p != "...")

    def base_of(self, every):
        """The comment of the form that this one is like, or an empty one."""
        first = " ".join(self.comment.paragraphs[0]) if self.comment.paragraphs else ""
        match = LIKE.match(first)
        forms = [every[n] for n in (match.group(1) + "_c", match.group(1)) if n in every] \
            if match else []
        return Comment(forms[0].comment if forms else "", self.params)

    def described(self):
        """Yield (name, direction, text or none, type) of each parameter."""
        for name, of in self.params.items():
            way, text = (self.comment.parameters.get(name) or self.base.parameters.get(name)
                         or ("", ""))
            common_way, common = self.common(name, of)
            yield name, way or common_way or direction(of), text or common, of

    def common(self, name, of):
        if name == "tag" and of == "int":
            side = next((s for s in TAGS if s in self.params), None)
            return "", TAGS.get(side, "")
        for chapters, names, type_, way, text in PARAMETERS:
            if name in names.split() and fits(of, type_) \
                    and (not chapters or self.chapter in chapters.split()):
                return way, text
        return "", ""

    def errors(self):
        """{class: text}, the common ones first."""
        errors = {}
        if not self.comment.returns:
            errors = self.common_errors()
        errors.update(self.base.errors)
        errors.update(self.comment.errors)
        return {error: text for error, text in errors.items() if not text.startswith("never")}

    def common_errors(self):
        errors = {}
        if self.name.startswith("MPI_T_"):
            return errors
        for chapters, names, type_, error, text in ERRORS:
            if (not chapters or self.chapter in chapters.split()) and any(
                    fits(re.sub(r"\[\]$|^const (?!void)", "", self.params.get(name, "")), type_)
                    for name in names.split()):
                errors[error] = text
        results = [of for _, way, _, of in self.described() if way == "out"]
        if self.chapter in CHECKED and any(of.endswith("*") for of in results):
            errors["MPI_ERR_ARG"] = "the place for a result is NULL."
        if HANDLES & set(results) and not FOUND.search(self.name):
            errors["MPI_ERR_NO_MEM"] = "out of memory."
        return errors

    def wrong(self):
        """Yield the mistakes of the comment."""
        yield from self.comment.wrong
        if self.comment.wrong == ["has no comment"]:
            return
        for name, _, text, _ in self.described():
            if not text:
                yield f"parameter {name} is not described"
        if self.forms[0].returns != "int" and not self.comment.returns:
            yield "what it returns is not told (Returns: ...)"

    def names_used(self):
        """The MPI_ names that the comment uses."""
        texts = [" ".join(p) for p in self.comment.paragraphs] + [self.comment.summary]
        texts += [t for _, t in self.comment.parameters.values()] + [self.comment.returns]
        texts += list(self.comment.errors) + list(self.comment.errors.values())
        return sorted({n for t in texts for n in NAME.findall(t)})


def name_and_type(parameter):
    """Of "const int ranks[]", ("ranks", "const int[]")."""
    match = re.match(r"(.*?)\s*(\w+)((?:\[\d*\])*)$", parameter)
    return match.group(2), match.group(1) + ("[]" if match.group(3) else "")


def fits(of, type_):
    if type_ == "number":
        return of in ("int", "MPI_Count", "MPI_Aint")
    return of == type_ or (type_ == "void *" and of == "const void *")


def direction(of):
    if of.startswith("const ") or not of.endswith(("*", "[]")) or "_function" in of:
        return "in"
    return "out"


# ---- writing ----

def roff(text):
    """Text as roff reads it."""
    text = text.replace("\\", "\\e").replace("--", "\\-\\-")
    text = re.sub(r"(?<![\w.])-(?=[\w])", r"\\-", text)
    return re.sub(r"^(?=[.'])", r"\\&", text, flags=re.M)


def rich(table, text, own=""):
    """The same, with the names of functions shown as such, and one sentence a line."""
    def function(match):
        name = match.group(0)
        if name not in table:
            return name
        return f"\\fB{name}\\fP" + ("" if name.removesuffix("_c") == own else "(3)")
    text = NAME.sub(function, roff(text))
    return re.sub(r"(?<=[a-z)0-9][.:]) (?=\\fB|[A-Z])", "\n", text)


def sentence(text, names=()):
    """Text as a sentence: it begins with a capital or with a name, as in "count is negative" and "n
    ranks", and ends with a period."""
    first = re.match(r"([a-z]+)\b(?![_(])( (?:is|or|and|has) |, | (?!is|as|has)\w+s\b)?", text)
    if first and not (first.group(2) and first.group(1) in names):
        text = text[0].upper() + text[1:]
    return text if text.endswith((".", ":", "?")) else text + "."


def prototype(head, params):
    """A declaration in lines of WIDTH."""
    lines, line, width = [], f"\\fB{head}(", len(head) + 1
    for i, param in enumerate(params or ["void"]):
        end = "," if i < len(params) - 1 else ");"
        gap = "" if i == 0 else " "
        if i and width + 1 + len(param) + len(end) > WIDTH:
            lines.append(line + "\\fP")
            line, width, gap = "\\fB    ", 4, ""
        shown = re.sub(r"(\w+)((?:\[\d*\])*)$", r"\\fI\1\\fB\2", param) \
            if param not in ("void", "...") else param
        line += gap + shown + end
        width += len(gap) + len(param) + len(end)
    return "\n".join(lines + [line + "\\fP"])


def prototypes(page, callbacks):
    """Those of all forms, and before them the types of callbacks."""
    words = [word for f in page.forms for word in re.findall(r"\w+", f.parameters)]
    texts = [prototype(*callbacks[w]) for w in dict.fromkeys(words) if w in callbacks]
    for f in page.forms:
        space = "" if f.returns.endswith("*") else " "
        texts.append(prototype(f"{f.returns}{space}{f.name}", f.params))
    return texts


def paragraph(table, lines, own):
    if all(l.startswith("    ") for l in lines):
        return "\n".join([".PP", ".nf", ".in +4"] + [roff(l[4:]) for l in lines] + [".in", ".fi"])
    if not any(l.startswith("- ") for l in lines):
        return ".PP\n" + rich(table, " ".join(lines), own)
    items = [[]]
    for line in lines:
        if line.startswith("- "):
            items.append([])
        items[-1].append(line.strip())
    text = [".PP\n" + rich(table, " ".join(items[0]), own)] if items[0] else []
    return "\n".join(text + [".IP \\(bu 3\n" + rich(table, " ".join(i)[2:], own)
                             for i in items[1:]])


def parameter_text(page):
    """The section PARAMETERS; those that follow one another and are the same stand together."""
    text, before = [".SH PARAMETERS"], None
    for name, way, said, _ in page.described():
        if (way, said) == before:
            text[-2] = text[-2].replace(" (", f", \\fI{name}\\fP (")
        else:
            text += [".TP", f"\\fI{name}\\fP ({way})",
                     rich(page.table, sentence(said or "-", set(page.params) - {name}), page.name)]
        before = (way, said)
    return text


def is_of_files(page):
    """Whether the error handler of a file, or of none, is called; not if MPI_File comes in passing."""
    return (not {"MPI_File", "MPI_File *"}.isdisjoint(page.params.values())
            or page.name in ("MPI_File_delete", "MPI_Register_datarep"))


def error_text(page):
    """The section ERRORS."""
    if page.comment.returns:
        return []
    where = next((text for type_, text in HANDLERS if type_ in page.params.values()),
                 "the error handler of MPI_COMM_SELF")
    text = [f"Before an error is returned, {where} is called; the one that is set at first ends "
            "the program."]
    if is_of_files(page):
        own = where if "MPI_File" in page.params.values() else "the error handler of MPI_FILE_NULL"
        if page.name == "MPI_File_close":
            own = "the error handler of the file"
        text = [f"Before an error is returned, {own} is called. It is MPI_ERRORS_RETURN at first, so the "
                "program goes on: look at the code, set MPI_ERRORS_ARE_FATAL, or run with "
                "VIREO_IO_REPORT=1, which prints each error."]
    if where == "errhandler":
        text = ["Before an error is returned, errhandler is called."]
    if page.name.startswith("MPI_T_"):
        text = ["No error handler is called."]
    text = [".SH ERRORS"] + text + [
        "\\fBMPI_Error_class\\fP(3) gives the class of the code, \\fBMPI_Error_string\\fP(3) a "
        "sentence with the cause."]
    if page.params.get("request") == "MPI_Request *" and "out" in [
            w for n, w, _, _ in page.described() if n == "request"]:
        text.append("What goes wrong later is told by the call that completes the request.")
    for error, about in page.errors().items():
        text += [".TP", f"\\fB{error}\\fP", rich(page.table, sentence(about, page.params),
                                                    page.name)]
    return text


def example_text(page, examples):
    """The section EXAMPLES."""
    text = []
    for example in examples:
        if page.name in example.functions:
            ranks = f"{example.ranks} process" + ("es" if example.ranks > 1 else "")
            text += [".PP", rich(page.table, example.about, page.name), ".PP", ".nf", ".in +4",
                     roff(example.code.rstrip()), ".in", ".fi", ".PP",
                     f"With {ranks} it prints:", ".PP", ".nf", ".in +4",
                     roff(example.prints.rstrip()), ".in", ".fi"]
    return [".SH EXAMPLES"] + text if text else []


def see_also(page, pages):
    """Functions that the comment names, then those under the same heading; at most 24."""
    named = [n for n in page.names_used() if n in pages]
    near = [p.name for p in pages.values()
            if p.chapter == page.chapter and (not page.heading or p.heading == page.heading)]
    more = [n for n in dict.fromkeys(named + near) if n != page.name]
    return ",\n".join(f"\\fB{n}\\fP(3)" for n in more[:24])


def page_text(page, pages, callbacks, examples, version):
    names = ", ".join(f.name for f in page.forms)
    summary = page.comment.summary or "a function of MPI"
    if not re.match(r"\w*[A-Z]\w*[A-Z_]", summary):
        summary = summary[0].lower() + summary[1:]
    f = page.forms[0]
    text = [".\\\" SPDX-License-Identifier: BSD-3-Clause",
            f".\\\" Made by tools/gen_man.py from mpi/interface.tsv and mpi/api/{page.chapter}.c.",
            f'.TH {page.name} 3 "" "Vireo MPI {version}" "MPI-5.0"', ".ad l", ".nh",
            ".SH NAME", f"{names} \\- {roff(summary)}",
            ".SH SYNOPSIS", ".nf", "\\fB#include <mpi.h>\\fP", ".PP",
            "\n.PP\n".join(prototypes(page, callbacks)), ".fi"]
    about = [paragraph(page.table, lines, page.name) for lines in page.comment.paragraphs]
    if f.deprecated:
        about.insert(0, f".PP\nDeprecated since {f.deprecated}.")
    if about:
        text += [".SH DESCRIPTION"] + about
    if page.params:
        text += parameter_text(page)
    text += [".SH RETURN VALUE", rich(page.table, sentence(page.comment.returns), page.name)
             if page.comment.returns else "MPI_SUCCESS, or the code of an error."]
    text += error_text(page)
    notes = [f"\\fBP{page.name}\\fP() is the same function, for those that wrap this one."]
    if len(page.forms) > 1:
        notes.insert(0, f"\\fB{page.name}_c\\fP() is the same for numbers that are too large for "
                     f"\\fB{page.name}\\fP().")
    text += [".SH NOTES"] + notes
    if page.comment.section:
        text += [".SH STANDARDS", f"MPI-5.0, {roff(section_words(page.comment.section))}."]
    else:
        text += [".SH STANDARDS", "None: this is beyond MPI-5.0."]
    text += example_text(page, examples)
    also = see_also(page, pages)
    if also:
        text += [".SH SEE ALSO", also]
    return "\n".join(text) + "\n"


def section_words(section):
    if section.startswith("chapter"):
        return section
    return ("sections " if re.search(r"[, ]", section) else "section ") + section


# ---- modes ----

def bodies_of(paths):
    """{name: Body} of all files."""
    return {b.name: b for path in paths for b in bodies(path)}


def read(table, paths, every):
    """{name: Page} of what the files implement, in the table's order. every: bodies by name."""
    pages = {}
    for path in paths:
        chapter = pathlib.Path(path).stem
        found = {b.name: b for b in bodies(path)}
        for name in [n for n, f in table.items() if f.file == chapter]:
            base = name[:-2] if name.endswith("_c") and name[:-2] in table else name
            if name in found and base not in pages:
                pages[base] = Page(table, found, every, base)
    return pages


def callback_types(template):
    """{name: (type and name, parameters)} of the callbacks that mpi.h declares."""
    return {name: (f"typedef {returns} {name}",
                   re.sub(r"\s+", " ", params).split(", "))
            for returns, name, params in CALLBACK.findall(pathlib.Path(template).read_text())}


def write(folder, pages, callbacks, examples, version):
    """The folder has these pages, and no others."""
    folder = pathlib.Path(folder)
    folder.mkdir(parents=True, exist_ok=True)
    for old in folder.iterdir():
        old.unlink()
    for page in pages.values():
        (folder / f"{page.name}.3").write_text(page_text(page, pages, callbacks, examples, version))
        for form in page.forms[1:]:
            (folder / f"{form.name}.3").write_text(f".so man3/{page.name}.3\n")


def check(table, template, paths):
    known = set(NAME.findall(pathlib.Path(template).read_text())) | set(table)
    every = bodies_of(paths)
    bad, pages = [], {}
    for path in paths:
        mine = read(table, [path], every)
        pages.update(mine)
        for page in mine.values():
            bad += [f"{path}: P{page.name}: {message}" for message in page.wrong()]
            bad += [f"{path}: P{page.name}: MPI has no {name}" for name in page.names_used()
                    if name not in known
                    and not (name.endswith("_") and any(k.startswith(name) for k in known))]
    print("\n".join(bad) or f"comments ok: {len(pages)} functions")
    return 1 if bad or not pages else 0


def main(argv):
    if len(argv) > 6 and argv[0] == "pages":
        pages = read(gen_interface.read_table(argv[3]), argv[6:], bodies_of(argv[6:]))
        write(argv[2], pages, callback_types(argv[4]), function_examples.read(argv[5]), argv[1])
        bare = sum(not p.comment.summary for p in pages.values())
        if bare:
            print(f"{bare} functions have no comment: their pages are from the table alone")
        return 0
    if len(argv) > 3 and argv[0] == "check":
        return check(gen_interface.read_table(argv[1]), argv[2], argv[3:])
    sys.exit(__doc__)


if __name__ == "__main__":
    try:
        sys.exit(main(sys.argv[1:]))
    except gen_interface.Wrong as wrong:
        sys.exit(f"gen_man: {wrong}")
