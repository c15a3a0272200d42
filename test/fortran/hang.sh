#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
#
# The report of a hang, the text of an error, --check and a trace name the Fortran file and line.
# usage: hang.sh BUILD SOURCE-FOLDER
set -u
build=$(cd "$1" && pwd -P) here=$(cd "$2" && pwd -P)
unset VIREO_FC MPICH_FC OMPI_FC LD_LIBRARY_PATH
command -v gfortran >/dev/null || exit 77
tmp=$(mktemp -d)
trap 'rm -rf "$tmp"' EXIT
cd "$tmp" || exit 1
fail=0

# says WHAT PATTERN FILE
says() {
    if grep -q "$2" "$3"; then
        echo "ok: $1"
    else
        echo "not ok: $1"
        cat "$3"
        fail=1
    fi
}

"$build/tools/mpifort" -g "$here/hang.f90" -o hang || exit 1
timeout 60 "$build/bnr/mpiexec" --timeout 2 -n 2 ./hang >out 2>&1 </dev/null
says "a hang names the call and its line" 'at hang\.f90:9' out
"$build/tools/mpifort" -g "$here/wrong.f90" -o wrong || exit 1
timeout 60 "$build/bnr/mpiexec" -n 1 ./wrong >out 2>&1 </dev/null
says "an error names its line" 'MPI_Send: .*wrong\.f90:8' out
cat >bcast.f90 <<'TEXT'
program p
  use mpi_f08
  integer :: rank, a(4)
  call MPI_Init()
  call MPI_Comm_rank(MPI_COMM_WORLD, rank)
  call MPI_Bcast(a, merge(4, 3, rank == 0 .or. command_argument_count() == 0), &
    MPI_INTEGER, 0, MPI_COMM_WORLD)
  call MPI_Finalize()
end program p
TEXT
"$build/tools/mpifort" -g bcast.f90 -o bcast || exit 1
timeout 60 "$build/bnr/mpiexec" --check -n 2 ./bcast other >out 2>&1 </dev/null
says "--check names both lines" 'rank [01] calls MPI_Bcast (bcast\.f90:[67]), rank [01] calls MPI_Bcast (bcast\.f90:[67])' out
if [ -e "$build/profile/libvireo-profile.so" ]; then
    timeout 60 "$build/bnr/mpiexec" --trace trace.json -n 2 ./bcast >out 2>&1 </dev/null
    says "a trace names the line" '"MPI_Bcast".*"pid":1.*"at":"bcast\.f90:[67]"' trace.json
fi
# Errors that are returned: by ierror and its words alone.
"$build/tools/mpifort" "$here/words.f90" -o words || exit 1
timeout 60 "$build/bnr/mpiexec" -n 1 ./words >out 2>&1 </dev/null
echo "status $?" >>out
says "ierror has words of Fortran" '^status 0$' out
[ "$(wc -l <out)" = 1 ] || { echo "not ok: and nothing is printed"; fail=1; }
exit "$fail"
