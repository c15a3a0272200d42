#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
#
# A program with an object that was compiled with another MPI's mpif.h is told so, in a sentence.
# usage: mixed.sh BUILD
set -u
build=$(cd "$1" && pwd -P)
unset VIREO_FC MPICH_FC OMPI_FC LD_LIBRARY_PATH
tmp=$(mktemp -d)
trap 'rm -rf "$tmp"' EXIT
cd "$tmp" || exit 1
done=0 failed=0

cat >main.f90 <<'TEXT'
program mixed
  use mpi
  implicit none
  integer :: ierr
  call MPI_Init(ierr)
  call other(ierr)
  print '(a)', 'begun'
  call MPI_Finalize(ierr)
end program mixed
TEXT

cat >session.f90 <<'TEXT'
program mixed
  use mpi_f08
  implicit none
  type(MPI_Session) :: session
  integer :: ierr
  call MPI_Session_init(MPI_INFO_NULL, MPI_ERRORS_ARE_FATAL, session)
  call other(ierr)
  print '(a)', 'begun'
  call MPI_Session_finalize(session)
end program mixed
TEXT

# other NAME BLOCK MPI [MAIN PROCEDURE]: an object with such a COMMON block; no MPI: the program is all right
other() {
    done=$((done + 1)) main=${4:-main.f90} procedure=${5:-MPI_INIT}
    cat >other.f90 <<TEXT
subroutine other(ierr)
  integer :: ierr, bottom
  common /$2/ bottom
  ierr = bottom
end subroutine other
TEXT
    VIREO_FC=$compiler "$build/tools/mpifort" "$main" other.f90 -o mixed >log 2>&1 || cat log
    timeout 30 "$build/bnr/mpiexec" -n 1 ./mixed >out 2>&1 </dev/null
    status=$?
    if [ -z "$3" ]; then
        [ "$status" = 0 ] && grep -q '^begun' out
    else
        [ "$status" != 0 ] && ! grep -q '^begun' out &&
            grep -q "$procedure: object files of this program .* of $3\. .* mpifort" out
    fi || {
        echo "not ok: $compiler, $1 (status $status)"
        cat out
        failed=1
        return
    }
    echo "ok: $compiler, $1"
}

for compiler in gfortran gfortran-11 flang-new-19; do
    command -v "$compiler" >/dev/null || continue
    other 'a block of its own' MINE ''
    other 'a block of MPICH' MPIPRIV1 'MPICH or Intel MPI'
    other 'a block of Open MPI' MPI_FORTRAN_BOTTOM 'Open MPI'
    other 'a session, and a block of its own' MINE '' session.f90
    other 'a session, and a block of MPICH' MPIPRIV1 'MPICH or Intel MPI' session.f90 MPI_SESSION_INIT
done
[ "$done" -gt 0 ] || exit 77
exit "$failed"
