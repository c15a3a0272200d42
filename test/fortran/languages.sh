#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
#
# C and Fortran in one program, each calling the other, by one library for all compilers that are there;
# and objects of all of them in one program.
# usage: languages.sh BUILD
set -u
build=$(cd "$1" && pwd -P)
unset VIREO_FC MPICH_FC OMPI_FC LD_LIBRARY_PATH
tmp=$(mktemp -d)
trap 'rm -rf "$tmp"' EXIT
cd "$tmp" || exit 1
fail=0

# Handles go over as numbers, both ways.
cat >library.c <<'TEXT'
#include <mpi.h>
void c_sum(int number, int *value, int *pair_number);
void c_sum(int number, int *value, int *pair_number)
{
    MPI_Datatype pair;
    MPI_Allreduce(MPI_IN_PLACE, value, 1, MPI_INT, MPI_SUM, MPI_Comm_fromint(number));
    MPI_Type_contiguous(2, MPI_INT, &pair);
    MPI_Type_commit(&pair);
    *pair_number = MPI_Type_toint(pair);
}
TEXT
cat >library.f90 <<'TEXT'
subroutine NAME(number, value) bind(c)
  use mpi_f08
  use, intrinsic :: iso_c_binding
  integer(c_int), value :: number
  integer(c_int) :: value
  call MPI_Allreduce(MPI_IN_PLACE, value, 1, MPI_INTEGER, MPI_SUM, MPI_Comm(number))
end subroutine NAME
TEXT
cat >main.f90 <<'TEXT'
program main
  use mpi_f08
  use, intrinsic :: iso_c_binding
  implicit none
  interface
    subroutine c_sum(number, value, pair) bind(c)
      import
      integer(c_int), value :: number
      integer(c_int) :: value, pair
    end subroutine c_sum
  end interface
  integer :: rank, both(2)
  integer(c_int) :: value
  type(MPI_Comm) :: comm
  type(MPI_Datatype) :: pair
  call MPI_Init()
  call MPI_Comm_dup(MPI_COMM_WORLD, comm)
  call MPI_Comm_rank(comm, rank)
  value = rank + 1
  call c_sum(comm%MPI_VAL, value, pair%MPI_VAL)
  both = rank
  call MPI_Bcast(both, 1, pair, 2, comm)
  if (value == 6 .and. all(both == 2) .and. rank == 0) print '(a)', 'right'
  call MPI_Type_free(pair)
  call MPI_Comm_free(comm)
  call MPI_Finalize()
end program main
TEXT
cat >main.c <<'TEXT'
#include <mpi.h>
#include <stdio.h>
CALLS
int main(void)
{
    MPI_Comm comm;
    int rank, value;
    MPI_Init(NULL, NULL);
    MPI_Comm_dup(MPI_COMM_WORLD, &comm);
    MPI_Comm_rank(comm, &rank);
    for (unsigned i = 0; i < sizeof(sums) / sizeof(sums[0]); i++) {
        value = rank + 1;
        sums[i](MPI_Comm_toint(comm), &value);
        if (value != 6)
            return 1;
    }
    if (rank == 0)
        puts("right");
    MPI_Comm_free(&comm);
    MPI_Finalize();
    return 0;
}
TEXT

# runs WHAT PROGRAM: three ranks, of which the first says that all is right
runs() {
    if timeout 60 "$build/bnr/mpiexec" -n 3 "./$2" >out 2>&1 </dev/null && [ "$(cat out)" = right ]; then
        echo "ok: $1"
    else
        echo "not ok: $1"
        cat out
        fail=1
    fi
}

# main_c NAME...: a C program that calls these procedures
main_c() {
    calls= list=
    for name; do
        calls="$calls void $name(int, int *);" list="$list $name,"
    done
    sed "s/CALLS/$calls static void (*sums[])(int, int *) = {$list};/" main.c >calls.c
    "$build/tools/mpicc" -c calls.c || exit 1
}

"$build/tools/mpicc" -shared -fPIC library.c -o libc_sum.so || exit 1
names= objects= runtimes= first=
for compiler in gfortran gfortran-11 gfortran-12 flang-new-19; do
    command -v "$compiler" >/dev/null || continue
    VIREO_FC=$compiler first=${first:-$compiler}
    export VIREO_FC
    name=f_sum_$(printf '%s' "$compiler" | tr -c 'a-z0-9' _)
    "$build/tools/mpifort" main.f90 -L. -lc_sum -Wl,-rpath,"$tmp" -o main || exit 1
    runs "$compiler calls a library in C" main
    sed "s/NAME/$name/" library.f90 >"$name.f90"
    "$build/tools/mpifort" -c "$name.f90" || exit 1
    main_c "$name"
    "$build/tools/mpifort" calls.o "$name.o" -o calls || exit 1
    runs "C calls a procedure of $compiler" calls
    names="$names $name" objects="$objects $name.o"
    case $compiler in
        flang*) runtimes="$(printf -- '-L%s ' /usr/lib/llvm-*/lib) -lFortranRuntime -lFortranDecimal -lstdc++" ;;
    esac
done
[ -n "$names" ] || exit 77
main_c $names
VIREO_FC=$first "$build/tools/mpifort" calls.o $objects $runtimes -o all || exit 1
runs "objects of all of them in one program:$names" all
exit "$fail"
