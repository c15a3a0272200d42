#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""Each procedure is called from each interface, by programs that this makes.

usage: calls.py BUILD TOOLS TABLE API.c...

First with two ranks, and arguments that the procedure refuses, MPI_COMM_NULL and its like, or that do no
harm. Then over a library of C functions that write down their arguments and do nothing: each number,
handle, text and LOGICAL is another one, and must come to the right function in its place.
"""
import os
import pathlib
import shutil
import subprocess
import sys
import tempfile

sys.dont_write_bytecode = True
build, tools, table, *api = (os.path.abspath(a) for a in sys.argv[1:])
sys.path.insert(0, tools)
import gen_fortran as gf    # noqa: E402
import gen_interface        # noqa: E402

# These end the job, take no bad argument, or wait for others.
LEFT = {"MPI_Init", "MPI_Init_thread", "MPI_Finalize", "MPI_Abort", "MPI_Pcontrol",
        "MPI_Session_init", "MPI_Register_datarep", "MPI_Register_datarep_c",
        "MPI_Comm_create_from_group", "MPI_Intercomm_create_from_groups", "MPI_Free_mem",
        "MPI_Abi_set_fortran_info", "MPI_Abi_set_fortran_booleans"}
NULLS = {"Comm": "COMM", "Datatype": "DATATYPE", "Group": "GROUP", "Op": "OP", "Info": "INFO",
         "Errhandler": "ERRHANDLER", "File": "FILE", "Message": "MESSAGE",
         "Request": "REQUEST", "Session": "SESSION", "Win": "WIN"}
KINDS = {"int": "", "MPI_Aint": "MPI_ADDRESS_KIND", "MPI_Count": "MPI_COUNT_KIND",
         "MPI_Offset": "MPI_OFFSET_KIND"}
PROCEDURES = {"MPI_Comm_copy_attr_function": "MPI_COMM_NULL_COPY_FN",
              "MPI_Comm_delete_attr_function": "MPI_COMM_NULL_DELETE_FN",
              "MPI_Type_copy_attr_function": "MPI_TYPE_NULL_COPY_FN",
              "MPI_Type_delete_attr_function": "MPI_TYPE_NULL_DELETE_FN",
              "MPI_Win_copy_attr_function": "MPI_WIN_NULL_COPY_FN",
              "MPI_Win_delete_attr_function": "MPI_WIN_NULL_DELETE_FN",
              "MPI_Datarep_extent_function": "on_extent",
              "MPI_Datarep_conversion_function": "MPI_CONVERSION_FN_NULL",
              "MPI_Datarep_conversion_function_c": "MPI_CONVERSION_FN_NULL_C",
              "MPI_Copy_function": "MPI_NULL_COPY_FN",
              "MPI_Delete_function": "MPI_NULL_DELETE_FN"}


# ---- over functions that write down what they get ----

REFUSED = 16        # MPI_ERR_OTHER, which the functions return
# Those of callbacks without a state call MPIX_ functions, and the old ones their successors.
UNSEEN = {"MPI_Op_create", "MPI_Op_create_c", "MPI_Comm_create_errhandler", "MPI_File_create_errhandler",
          "MPI_Session_create_errhandler", "MPI_Win_create_errhandler"}
NEW = {"MPI_Attr_get": "MPI_Comm_get_attr", "MPI_Attr_put": "MPI_Comm_set_attr",
       "MPI_Keyval_create": "MPI_Comm_create_keyval"}


def marked(p, q, i, f08):
    """(value to begin with, what C is to write) of argument i, of a procedure with nothing odd."""
    number = 100 + i
    if q.kind == "number":
        if q.name in gf.SENTINELS or q.depth == 2 or q.depth and q.where == "out":
            return "1", None
        return str(number), str(number)
    if q.kind == "buffer":
        return str(number), str(number)
    if q.kind in ("handle", "handles"):
        value = f"MPI_{q.handle}({200 + i})" if f08 else str(200 + i)
        return value, None if q.where == "out" or q.depth else str(200 + i)
    if q.kind == "logical":
        if q.where == "out":
            return ".FALSE.", None
        return (".TRUE.", "1") if i % 2 else (".FALSE.", "0")
    if q.kind == "string":
        return f"'text{i}'", f"text{i}" if q.where == "in" else None
    return None, None


def recorder(all_of):
    """A C file that has these functions."""
    lines = ["#include <mpi.h>", "#include <stdio.h>"]
    for p in all_of:
        lines.append(f"{p.f.returns} {p.name}({p.f.parameters})\n{{\n    fputs(\"{p.name}\", stdout);")
        for q in [] if p.hand else p.params:
            what = {"number": "*" if q.depth == 1 else "", "buffer": "*(const int *)", "handle": "(size_t)",
                    "string": "", "logical": "*" if q.depth else ""}.get(q.kind)
            if what is None or marked(p, q, 0, False)[1] is None:
                continue
            form, to = ("%s", "") if q.kind == "string" else ("%lld", "(long long)")
            lines.append(f'    printf(" {form}", {to}{what}{q.name});')
        lines.append(f"    puts(\"\");\n    return {3 if p.value else REFUSED};\n}}")
    return "\n".join(lines) + "\n"


def written(p):
    """The line that its function is to write; of a procedure by hand, the name alone."""
    due = [] if p.hand else [marked(p, q, i, False)[1] for i, q in enumerate(p.params)]
    return " ".join([NEW.get(p.name, p.name)] + [what for what in due if what is not None])


def variable(p, q, f08):
    """(declaration, value to begin with) of an argument."""
    many = "(12)" if q.array or q.depth == 2 else ""
    if q.kind == "buffer" or q.kind == "pointer" and not f08 and "detach" in p.name:
        return "INTEGER :: {}(12)", "1"
    if q.kind == "pointer":
        return ("TYPE(C_PTR) :: {}", "C_NULL_PTR") if f08 else \
            ("INTEGER(MPI_ADDRESS_KIND) :: {}", "0")
    if q.kind == "strings":
        return "CHARACTER(LEN=20) :: {}" + ("(1, 12)" if q.name == "array_of_argv" else "(12)"), "' '"
    if q.kind == "string":
        return "CHARACTER(LEN=8300) :: {}", "'x'"
    if q.kind == "status":
        if f08:
            return "TYPE(MPI_Status) :: {}" + ("(12)" if q.array else ""), None
        return "INTEGER :: {}" + ("(MPI_STATUS_SIZE, 12)" if q.array else "(MPI_STATUS_SIZE)"), "0"
    if q.handle:
        null = f"MPI_{NULLS[q.handle]}_NULL"
        return (f"TYPE(MPI_{q.handle})" if f08 else "INTEGER") + " :: {}" + many, null
    if q.kind in ("logical", "raw"):
        return "LOGICAL :: {}" + many, ".FALSE."
    if q.kind == "address":
        old = not f08 and p.name.startswith(("MPI_Attr", "MPI_Keyval"))
        return ("INTEGER :: {}" if old else "INTEGER(MPI_ADDRESS_KIND) :: {}"), "0"
    kind = KINDS[q.type]
    shape = "(3, 4)" if q.depth == 2 else many or ("(12)" if q.name in gf.SENTINELS else "")
    return ("INTEGER" + (f"({kind})" if kind else "") + " :: {}" + shape), "1"


def routine(p, f08, number, letter, marks=False):
    """A subroutine that calls p."""
    lines, args = [], []
    for i, q in enumerate(p.params):
        if q.kind == "procedure":
            args.append(PROCEDURES.get(q.type, {
                "MPI_User_function": "user_op", "MPI_User_function_c": "user_op_c",
                "MPI_Grequest_query_function": "on_query", "MPI_Grequest_free_function": "on_free",
                "MPI_Grequest_cancel_function": "on_cancel",
                "MPI_Comm_errhandler_function": "on_comm", "MPI_File_errhandler_function": "on_file",
                "MPI_Session_errhandler_function": "on_session",
                "MPI_Win_errhandler_function": "on_win"}.get(q.type)))
            continue
        declaration, value = variable(p, q, f08)
        value = marks and not p.hand and marked(p, q, i, f08)[0] or value
        if marks:       # the lengths of arrays are marks, too
            declaration = declaration.replace("12)", "400)")
        lines.append((declaration.format(f"a{i}"), f"a{i} = {value}" if value else None))
        args.append(f"a{i}")
    name = letter + p.name[:-2] if p.large and not any(q.kind == "procedure" for q in p.params) \
        else letter + p.name
    text = [f"subroutine call_{number}()"] + ["  " + d for d, _ in lines] + ["  integer :: ierr"]
    text += ["  " + v for _, v in lines if v]
    if p.value:
        text.append("  if (real(" + name + "(" + ", ".join(args) + ")) < -1.0e30) print *, 'odd'")
    else:
        call = ", &\n    ".join(args + ["ierr"])
        text.append(f"  call {name}({call})")
        text.append("  called = called + 1")
        if marks and not p.hand:
            text.append(f"  if (ierr /= {REFUSED}) print *, 'ierror of {p.name}', ierr")
    return "\n".join(text + [f"end subroutine call_{number}"])


HANDLERS = """module handlers
  use MODULE
  use, intrinsic :: iso_c_binding
  implicit none
  integer :: called = 0
contains
  subroutine on_comm(object, code)
    COMM :: object
    integer :: code
  end subroutine
  subroutine on_file(object, code)
    FILE :: object
    integer :: code
  end subroutine
  subroutine on_session(object, code)
    SESSION :: object
    integer :: code
  end subroutine
  subroutine on_win(object, code)
    WIN :: object
    integer :: code
  end subroutine
  subroutine user_op(in, inout, len, datatype)
    type(c_ptr), value :: in, inout
    integer :: len
    DATATYPE :: datatype
  end subroutine
  subroutine user_op_c(in, inout, len, datatype)
    type(c_ptr), value :: in, inout
    integer(MPI_COUNT_KIND) :: len
    DATATYPE :: datatype
  end subroutine
  subroutine on_extent(datatype, extent, extra_state, ierror)
    DATATYPE :: datatype
    integer(MPI_ADDRESS_KIND) :: extent, extra_state
    integer :: ierror
    ierror = 0
  end subroutine
  subroutine on_query(extra_state, status, ierror)
    integer(MPI_ADDRESS_KIND) :: extra_state
    STATUS
    integer :: ierror
    ierror = 0
  end subroutine
  subroutine on_free(extra_state, ierror)
    integer(MPI_ADDRESS_KIND) :: extra_state
    integer :: ierror
    ierror = 0
  end subroutine
  subroutine on_cancel(extra_state, complete, ierror)
    integer(MPI_ADDRESS_KIND) :: extra_state
    logical :: complete
    integer :: ierror
    ierror = 0
  end subroutine
end module handlers
"""


def handlers(f08):
    text = HANDLERS.replace("MODULE", "mpi_f08" if f08 else "mpi")
    text = text.replace("    STATUS\n", "    type(MPI_Status) :: status\n" if f08 else
                        "    integer :: status(MPI_STATUS_SIZE)\n")
    for word, name in (("COMM ::", "Comm"), ("FILE ::", "File"), ("SESSION ::", "Session"),
                       ("WIN ::", "Win"), ("DATATYPE ::", "Datatype")):
        text = text.replace("    " + word, f"    type(MPI_{name}) ::" if f08 else "    integer ::")
    return text


def program(kind, marks=False):
    """The text of a program that calls all, and how many: with marks, what they are to write."""
    f08, count, functions, lines = kind == "mpi_f08", 0, 0, []
    interface = "  include 'mpif.h'" if kind == "mpif" else ""
    # One module: each use of mpi_f08 takes a compiler a tenth of a second.
    texts = [handlers(f08), "module calls" + ("" if interface else f"\n  use {kind}"),
             "  use, intrinsic :: iso_c_binding", "  use handlers, only: called, on_comm, on_file, "
             "on_session, on_win, user_op, user_op_c, &\n    on_query, on_free, on_cancel, on_extent",
             "  implicit none", interface, "contains"]
    all_of = {p.name: p for p in gf.procedures(gen_interface.read_table(table), api)}
    for p in all_of.values():
        if p.name in LEFT and not marks or p.large and not f08 or f08 and p.only_mpi:
            continue
        small = all_of.get(p.name[:-2]) if p.large else None
        lines.append(written(small if small and gf.signature(small) == gf.signature(p) else p))
        for letter in ("",) if marks else ("", "P"):
            texts.append(routine(p, f08, count, letter, marks))
            count += 1
            functions += bool(p.value)      # Wtime and its like count no call
    init = ["call MPI_Init(ierr)", "call MPI_Comm_set_errhandler(MPI_COMM_SELF, MPI_ERRORS_RETURN, ierr)",
            "call MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN, ierr)",
            "call MPI_File_set_errhandler(MPI_FILE_NULL, MPI_ERRORS_RETURN, ierr)"]
    texts += ["subroutine call_all()"] + [f"  call call_{i}()" for i in range(count)]
    texts += ["end subroutine call_all", "end module calls", "program all",
              f"  use {'mpi_f08' if f08 else 'mpi'}", "  use calls, only: call_all",
              "  use handlers, only: called", "  implicit none", "  integer :: ierr"]
    texts += ["  " + (line.replace("MPI_", "PMPI_", 1) if marks else line) for line in init]
    texts += ["  call call_all()", f"  call {'P' if marks else ''}MPI_Finalize(ierr)",
              "  print '(a, i0)', 'called ', called", "end program all"]
    text = "\n".join(texts) + "\n"
    return text, count, functions, lines


def compile_and_run(folder, name, text, launch, **variables):
    """The outcome of running a program; that of compiling it where that fails."""
    pathlib.Path(folder, name + ".f90").write_text(text)
    env = {**os.environ, "VIREO_FC": "gfortran"}
    env.pop("LD_LIBRARY_PATH", None)
    flags = ["-fallow-argument-mismatch"] if name.startswith("mpif") else []
    made = subprocess.run([f"{build}/tools/mpifort", "-w", "-O0", *flags, name + ".f90", "-o", name],
                          cwd=folder, env=env, capture_output=True, text=True, check=False)
    return made if made.returncode else \
        subprocess.run([*launch, "./" + name], cwd=folder, env={**env, **variables}, capture_output=True,
                       text=True, check=False, timeout=120, stdin=subprocess.DEVNULL)


def check_calls(folder, kind):
    """Whether all procedures can be called."""
    text, count, functions, _ = program(kind)
    ran = compile_and_run(folder, kind, text, [f"{build}/bnr/mpiexec", "-n", "2"])
    called = [int(l.split()[1]) for l in ran.stdout.splitlines() if l.startswith("called ")]
    good = ran.returncode == 0 and called == [count - functions] * 2
    print(f"{'ok' if good else 'not ok'}: {kind}: {count} calls")
    if not good:
        print(ran.returncode, ran.stdout[-500:], ran.stderr[-3000:])
    return good


def check_arguments(folder, kind):
    """Whether each comes to its C function, with its arguments in place."""
    text, count, _, due = program(kind, True)
    ran = compile_and_run(folder, kind + "_marks", text, [], LD_PRELOAD=folder + "/recorder.so")
    got = [l for l in ran.stdout.splitlines() if l.startswith("MPI_")]
    due = [line for line in due if line not in UNSEEN]
    wrong = [f"{d}: {g}" for d, g in zip(due, got) if d != g]
    odd = [l for l in ran.stdout.splitlines() if l.startswith(" ierror of")]
    good = ran.returncode == 0 and len(got) == len(due) and not wrong and not odd
    print(f"{'ok' if good else 'not ok'}: {kind}: the arguments of {count} calls")
    if not good:
        print(ran.returncode, len(got), len(due), *wrong[:20], *odd[:20], ran.stderr[-3000:], sep="\n")
    return good


def main():
    if not shutil.which("gfortran"):
        sys.exit(77)
    bad = 0
    with tempfile.TemporaryDirectory() as folder:
        pathlib.Path(folder, "recorder.c").write_text(
            recorder(gf.procedures(gen_interface.read_table(table), api)))
        subprocess.run([f"{build}/tools/mpicc", "-w", "-shared", "-fPIC", "recorder.c", "-o",
                        "recorder.so"], cwd=folder, check=True)
        for kind in ("mpi_f08", "mpi", "mpif"):
            bad |= not check_calls(folder, kind)
            bad |= not check_arguments(folder, kind)
    sys.exit(bad)


main()
