#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""Make the MPI_ functions of profile/ from mpi/interface.tsv.

usage: gen_profile.py TABLE OUTPUT FILE.c...

Of the functions whose bodies are in the given chapters (mpi/api/FILE.c), those that communicate get
a wrapper: begin a span, call the PMPI_ name, note what has been sent, received or made, end the
span. KINDS says for each chapter what its calls count as; NOTES has the notes. The names of
profile/profile.c come first.
"""
import pathlib
import re
import sys

import gen_interface

OWN = ["MPI_Init", "MPI_Finalize"]              # in the order of profile.h
KINDS = {"p2p": "P2P", "persist": "P2P", "part": "P2P", "buffer": "P2P", "request": "WAIT",
         "coll": "COLLECTIVE", "icoll": "COLLECTIVE", "pcoll": "COLLECTIVE", "neighbor": "COLLECTIVE",
         "io": "FILE", "io_access": "FILE", "win": "WINDOW", "win_sync": "WINDOW", "rma": "WINDOW",
         "comm": "SETUP", "intercomm": "SETUP", "spawn": "SETUP", "port": "SETUP", "topo": "SETUP",
         "topo_graph": "SETUP"}

# A post: a receive that may match from here on. Its name in a wrapper is `post`.
POST = "struct profile_post post = profile_posted(comm);"
OWN_STATUS = ("MPI_Status own_status;\n"
              "    status = status == MPI_STATUS_IGNORE ? &own_status : status;")
SENT = "profile_sent(&span, comm, dest, {tag}, {count}, {type});"
RECEIVED = "profile_received(&span, &post, comm, status);"
PEND = "profile_pend((uintptr_t)*{handle}, &(struct profile_pending){{.comm = comm, .post = post{more}}});"
WAITS = "struct profile_waits waits;"
OPERATED = "profile_operated(&span, target_rank, {count}, {type});"
BEGINS = "profile_epoch_begins(win, PROFILE_{kind}, {target});"
ENDS = "profile_epoch_ends(&span, win, PROFILE_{kind}, {target});"
BEGIN = ("profile_waits_begin(&waits, {count}, {requests}, {statuses});")

# name without MPI_ and _c -> (code before the call, after it if it succeeds, replaced
# arguments)
NOTES = [
    (r"I?[bsr]?send", "", SENT.format(tag="tag", count="count", type="datatype"), {}),
    (r"[BSR]send|Send", "", SENT.format(tag="tag", count="count", type="datatype"), {}),
    (r"Recv", f"{OWN_STATUS}\n    {POST}", RECEIVED, {}),
    (r"Sendrecv", f"{OWN_STATUS}\n    {POST}",
     SENT.format(tag="sendtag", count="sendcount", type="sendtype") + "\n        " + RECEIVED, {}),
    (r"Sendrecv_replace", f"{OWN_STATUS}\n    {POST}",
     SENT.format(tag="sendtag", count="count", type="datatype") + "\n        " + RECEIVED, {}),
    (r"Irecv", POST, PEND.format(handle="request", more=""), {}),
    (r"Isendrecv", POST, SENT.format(tag="sendtag", count="sendcount", type="sendtype") + "\n        "
     + PEND.format(handle="request", more=""), {}),
    (r"Isendrecv_replace", POST, SENT.format(tag="sendtag", count="count", type="datatype")
     + "\n        " + PEND.format(handle="request", more=""), {}),
    (r"Mprobe", POST, PEND.format(handle="message", more=""), {}),
    (r"Improbe", POST, "if (*flag)\n            " + PEND.format(handle="message", more=""), {}),
    (r"Mrecv", f"{OWN_STATUS}\n    struct profile_pending pending;\n"
     "    bool known = profile_unpend((uintptr_t)*message, &pending);",
     "if (known)\n            profile_received(&span, &pending.post, pending.comm, status);", {}),
    (r"Imrecv", "struct profile_pending pending;\n"
     "    bool known = profile_unpend((uintptr_t)*message, &pending);",
     "if (known)\n            profile_pend((uintptr_t)*request, &pending);", {}),
    (r"[BSR]?[Ss]end_init", "", "profile_pend((uintptr_t)*request, &(struct profile_pending){\n"
     "            .comm = comm, .is_send = true, .is_persistent = true, .dest = dest, .tag = tag,\n"
     "            .count = count, .type = datatype});", {}),
    (r"Recv_init", "", "profile_pend((uintptr_t)*request,\n            &(struct profile_pending){"
     ".comm = comm, .is_persistent = true});", {}),
    (r"Start", "profile_started(&span, *request);", "", {}),
    (r"Startall", "for (int i = 0; i < count; i++)\n        "
     "profile_started(&span, array_of_requests[i]);", "", {}),
    (r"Request_free", "struct profile_pending pending;\n"
     "    (void)profile_unpend((uintptr_t)*request, &pending);", "", {}),
    (r"Wait", WAITS + "\n    " + BEGIN.format(count=1, requests="request", statuses="status"),
     "", {"status": "waits.statuses"}),
    (r"Test", WAITS + "\n    " + BEGIN.format(count=1, requests="request", statuses="status"),
     "", {"status": "waits.statuses"}),
    (r"(Wait|Test)any", WAITS + "\n    " + BEGIN.format(
        count="count", requests="array_of_requests", statuses="NULL")
     + "\n    if (status != MPI_STATUS_IGNORE)\n        waits.statuses = status;",
     "", {"status": "waits.statuses"}),
    (r"(Wait|Test)all", WAITS + "\n    " + BEGIN.format(
        count="count", requests="array_of_requests", statuses="array_of_statuses"),
     "", {"array_of_statuses": "waits.statuses"}),
    (r"(Wait|Test)some", WAITS + "\n    " + BEGIN.format(
        count="incount", requests="array_of_requests", statuses="array_of_statuses"),
     "", {"array_of_statuses": "waits.statuses"}),
    (r"R?[Pp]ut|R?[Gg]et(_accumulate)?|R?[Aa]ccumulate",
     OPERATED.format(count="target_count", type="target_datatype"), "", {}),
    (r"Fetch_and_op|Compare_and_swap", OPERATED.format(count="1", type="datatype"), "", {}),
    (r"Win_fence", ENDS.format(kind="FENCE", target=-1),
     "if (!(assert & MPI_MODE_NOSUCCEED))\n            " + BEGINS.format(kind="FENCE", target=-1), {}),
    (r"Win_start", "", BEGINS.format(kind="START", target=-1), {}),
    (r"Win_complete", ENDS.format(kind="START", target=-1), "", {}),
    (r"Win_post", "", BEGINS.format(kind="EXPOSURE", target=-1), {}),
    (r"Win_wait", "", ENDS.format(kind="EXPOSURE", target=-1), {}),
    (r"Win_test", "", "if (*flag)\n            " + ENDS.format(kind="EXPOSURE", target=-1), {}),
    (r"Win_lock", "", BEGINS.format(kind="LOCK", target="rank"), {}),
    (r"Win_unlock", ENDS.format(kind="LOCK", target="rank"), "", {}),
    (r"Win_lock_all", "", BEGINS.format(kind="LOCK_ALL", target=-1), {}),
    (r"Win_unlock_all", ENDS.format(kind="LOCK_ALL", target=-1), "", {}),
    (r"Win_free", ENDS.format(kind="ANY_EPOCH", target=-1).replace("win,", "*win,"), "", {}),
    (r"Comm_(free|disconnect)", "profile_comm_gone(*comm);", "", {}),
]
# How many of the statuses count, and whose requests'.
DONE = {"Wait": "1, NULL", "Test": "*flag ? 1 : 0, NULL", "Waitall": "count, NULL",
        "Testall": "*flag ? count : 0, NULL", "Waitany": "*indx != MPI_UNDEFINED, indx",
        "Testany": "*flag && *indx != MPI_UNDEFINED, indx",
        "Waitsome": "*outcount == MPI_UNDEFINED ? 0 : *outcount, array_of_indices",
        "Testsome": "*outcount == MPI_UNDEFINED ? 0 : *outcount, array_of_indices"}


def notes_of(f):
    name = f.name.removeprefix("MPI_").removesuffix("_c")
    for pattern, before, after, replaced in NOTES:
        if re.fullmatch(pattern, name):
            return before, after, replaced
    made = [p for p in f.params if re.match(r"MPI_Comm \*", p)]
    if made and name != "Comm_get_parent":
        parent = "comm" if name.startswith("Comm_idup") else "MPI_COMM_NULL"
        return "", f"profile_comm_made(*{gen_interface.parameter_name(made[0])}, {parent});", {}
    return "", "", {}


def is_wrapped(f):
    if f.returns != "int" or f.file not in KINDS or f.name.startswith("MPIX") or f.name in OWN:
        return False
    if KINDS[f.file] != "SETUP":
        return True
    return any(re.match(r"MPI_Comm \*", p) for p in f.params) and f.name != "MPI_Comm_get_parent"


def wrapper(f):
    before, after, replaced = notes_of(f)
    name = f.name.removeprefix("MPI_")
    lines = [gen_interface.declare(f, f.name), "{", "    struct profile_span span;"]
    lines.append(f"    profile_begin(&span, CALL_{name}, __builtin_return_address(0));")
    if before:
        lines.append("    " + before)
    args = [replaced.get(a, a) for a in f.args()]
    lines.append(gen_interface.wrapped(f"    int rc = P{f.name}", args, ";") if args
                 else f"    int rc = P{f.name}();")
    if after:
        lines += ["    if (!rc) {", "        " + after, "    }"]
    if name in DONE:
        count, indices = DONE[name].rsplit(", ", 1)
        lines.append(f"    profile_waits_end(&waits, &span, rc ? 0 : ({count}), {indices});")
    return "\n".join(lines + ["    profile_end(&span);", "    return rc;", "}"])


def main(argv):
    if len(argv) < 3:
        sys.exit(__doc__)
    table = gen_interface.read_table(argv[0])
    there = sorted(n for path in argv[2:] for n in gen_interface.twins(table, path)[1])
    wrapped = [table[n] for n in there if is_wrapped(table[n])]
    text = ["/* SPDX-License-Identifier: BSD-3-Clause */",
            "/* Made by tools/gen_profile.py: the functions that a profile measures. */",
            '#include "profile/profile.h"',
            "enum {\n" + "".join(f"    CALL_{f.name.removeprefix('MPI_')} = {len(OWN) + i},\n"
                                 for i, f in enumerate(wrapped)) + "};",
            "const struct profile_function profile_functions[] = {\n"
            + "".join(f'    {{"{n}", PROFILE_SETUP}},\n' for n in OWN)
            + "".join(f'    {{"{f.name}", PROFILE_{KINDS[f.file]}}},\n' for f in wrapped) + "};"]
    pathlib.Path(argv[1]).write_text("\n\n".join(text + [wrapper(f) for f in wrapped]) + "\n")


if __name__ == "__main__":
    try:
        main(sys.argv[1:])
    except gen_interface.Wrong as wrong:
        sys.exit(f"gen_profile: {wrong}")
