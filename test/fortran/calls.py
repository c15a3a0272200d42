#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""Each procedure is called from each interface, by programs that this makes.

usage: calls.py BUILD TOOLS TABLE API.c...

A call has arguments that the procedure refuses, MPI_COMM_NULL and its like, or that do no harm:
what is shown is that it compiles, links and comes to the right C function with its arguments in
place, since the error names the function. Two ranks.
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
              "MPI_Copy_function": "MPI_NULL_COPY_FN",
              "MPI_Delete_function": "MPI_NULL_DELETE_FN"}


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


def routine(p, f08, number, letter):
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
        text.append(f"  called = called + 1")
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


def program(kind):
    """The text of a program that calls all, and how many."""
    f08, count, functions = kind == "mpi_f08", 0, 0
    interface = "  include 'mpif.h'" if kind == "mpif" else ""
    # One module: each use of mpi_f08 takes a compiler a tenth of a second.
    texts = [handlers(f08), "module calls" + ("" if interface else f"\n  use {kind}"),
             "  use, intrinsic :: iso_c_binding", "  use handlers, only: called, on_comm, on_file, "
             "on_session, on_win, user_op, user_op_c, &\n    on_query, on_free, on_cancel",
             "  implicit none", interface, "contains"]
    for p in gf.procedures(gen_interface.read_table(table), api):
        if p.name in LEFT or p.large and not f08 or f08 and p.only_mpi:
            continue
        for letter in ("", "P"):
            texts.append(routine(p, f08, count, letter))
            count += 1
            functions += bool(p.value)      # Wtime and its like count no call
    init = ["call MPI_Init(ierr)", "call MPI_Comm_set_errhandler(MPI_COMM_SELF, MPI_ERRORS_RETURN, ierr)",
            "call MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN, ierr)",
            "call MPI_File_set_errhandler(MPI_FILE_NULL, MPI_ERRORS_RETURN, ierr)"]
    texts += ["subroutine call_all()"] + [f"  call call_{i}()" for i in range(count)]
    texts += ["end subroutine call_all", "end module calls", "program all",
              f"  use {'mpi_f08' if f08 else 'mpi'}", "  use calls, only: call_all",
              "  use handlers, only: called", "  implicit none", "  integer :: ierr"]
    texts += ["  " + line for line in init]
    texts += ["  call call_all()", "  call MPI_Finalize(ierr)",
              "  print '(a, i0)', 'called ', called", "end program all"]
    text = "\n".join(texts) + "\n"
    return text, count, functions


def main():
    if not shutil.which("gfortran"):
        sys.exit(77)
    bad = 0
    with tempfile.TemporaryDirectory() as folder:
        for kind in ("mpi_f08", "mpi", "mpif"):
            text, count, functions = program(kind)
            pathlib.Path(folder, kind + ".f90").write_text(text)
            for compiler in ["gfortran"]:
                flags = ["-fallow-argument-mismatch"] if kind == "mpif" else []
                env = {**os.environ, "VIREO_FC": compiler}
                env.pop("LD_LIBRARY_PATH", None)
                made = subprocess.run([f"{build}/tools/mpifort", "-w", "-O0", *flags, kind + ".f90",
                                       "-o", kind], cwd=folder, env=env, capture_output=True,
                                      text=True, check=False)
                if made.returncode:
                    print(f"not ok: {kind} with {compiler}:", made.stdout, made.stderr[:4000])
                    bad = 1
                    continue
                ran = subprocess.run([f"{build}/bnr/mpiexec", "-n", "2", "./" + kind], cwd=folder,
                                     env=env, capture_output=True, text=True, check=False,
                                     timeout=120, stdin=subprocess.DEVNULL)
                called = [int(l.split()[1]) for l in ran.stdout.splitlines() if l.startswith("called ")]
                good = ran.returncode == 0 and called == [count - functions] * 2
                print(f"{'ok' if good else 'not ok'}: {kind} with {compiler}: {count} calls")
                if not good:
                    print(ran.returncode, ran.stdout[-500:], ran.stderr[-3000:])
                    bad = 1
    sys.exit(bad)


main()
