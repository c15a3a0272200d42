# SPDX-License-Identifier: BSD-3-Clause
# An installed tree that was moved, and is read-only; programs however they are named; arguments
# whatever they are. Run as: sh moved.sh MPIEXEC WORK BUILD SOURCE, the last two absolute.
. "$(dirname "$0")/lib.sh"
build=$3 source=$4
unset LD_LIBRARY_PATH

DESTDIR=$scratch/dest meson install --no-rebuild --quiet -C "$build" >log 2>&1 ||
    fail "the tree installs" "$(cat log)"
installed=$(find dest -name mpiexec -type f)
mkdir "new home"
mv "${installed%/bin/mpiexec}" "new home/tree"
rm -rf dest
chmod -R a-w "new home"
trap 'chmod -R u+w "$scratch/new home"; rm -rf "$scratch"' EXIT
mpiexec="$scratch/new home/tree/bin/mpiexec"

mkdir "my programs" elsewhere
"new home/tree/bin/mpicc" -O1 "$source/test/bnr/work.c" -o "my programs/my work" ||
    fail "mpicc of a moved tree"
three="rank 0 of 3
rank 1 of 3
rank 2 of 3"
# says CLAIM COMMAND...: three ranks say who they are, and no more is said
says() {
    claim=$1
    shift
    same "$claim" "$("$@" init hello ring barrier=3 finalize 2>&1 | sort)" "$three"
}
says "by an absolute path with blanks" run -n 3 "$scratch/my programs/my work"
says "by a relative path" run -n 3 "my programs/my work"
says "in PATH" env PATH="$scratch/my programs:$PATH" "$mpiexec" -n 3 "my work"
says "beside the working folder" run -wdir elsewhere -n 3 "../my programs/my work"
ln -s "../my programs/my work" elsewhere/link
says "by a link" run -n 3 elsewhere/link
ln -s "$mpiexec" elsewhere/mpiexec
says "mpiexec by a link" elsewhere/mpiexec -n 3 "my programs/my work"
cd elsewhere || exit 1
says "mpiexec by a relative path" "../new home/tree/bin/mpiexec" -n 3 "../my programs/my work"
says "mpirun" "../new home/tree/bin/mpirun" -np 3 "../my programs/my work"
cd "$scratch" || exit 1
says "mpiexec in PATH" env PATH="$scratch/new home/tree/bin:$PATH" mpiexec -n 3 \
    "my programs/my work"
says "with an empty environment" env -i "$mpiexec" -n 3 "my programs/my work"
if [ "$(id -u)" = 0 ] && command -v unshare >/dev/null && unshare -m true 2>/dev/null; then
    says "in a tree on a read-only file system" unshare -m sh -c \
        "mount --bind '$scratch/new home' '$scratch/new home' &&
         mount -o remount,ro,bind '$scratch/new home' && exec \"\$@\"" sh \
        "$mpiexec" -n 3 "my programs/my work"
fi
mv "new home" "newest home"
trap 'chmod -R u+w "$scratch/newest home"; rm -rf "$scratch"' EXIT
mpiexec="$scratch/newest home/tree/bin/mpiexec"
says "a program that was linked before the tree was moved" run -n 3 "my programs/my work"
cat >named.c <<'C'
#include <mpi.h>
#include <stdio.h>
extern char MPIR_dll_name[];
int main(void)
{
    MPI_Init(NULL, NULL);
    puts(MPIR_dll_name);
    return MPI_Finalize();
}
C
"newest home/tree/bin/mpicc" named.c -o named || fail "mpicc of a tree that was moved again"
same "a debugger finds the library for queues" "$(run -n 1 ./named)" \
    "$(find "$PWD/newest home/tree" -name libvireo-mqs.so)"
same "no file has the path of the build" "$(grep -rl "$build" "newest home/tree")" ""
says "with a search path of the user's" env LD_LIBRARY_PATH=/nowhere "$mpiexec" -n 3 \
    "my programs/my work"
same "... which stays" "$(LD_LIBRARY_PATH=/nowhere run -n 1 sh -c 'echo $LD_LIBRARY_PATH')" /nowhere
same "nothing is set for others" "$(run -n 1 sh -c 'echo $LD_LIBRARY_PATH')" ""
if [ -n "$(find "newest home/tree" -name libvireo-profile.so)" ]; then
    holds "a summary, though the path has a blank" "$(run --summary -n 3 "my programs/my work" init hello \
        ring finalize 2>&1)" "Summary: 3 ranks"
    run --trace "a trace" -n 3 "my programs/my work" init ring finalize >log 2>&1
    same "... and a trace" "$(grep -c '"name":"MPI_Init"' "a trace")$(cat log)" 3
fi
for header in bnr.h channel.h channel_help.h; do
    [ -n "$(find "newest home/tree" -path "*/include/vireo/$header")" ] || fail "vireo/$header"
    [ -z "$(find "newest home/tree" -path "*/include/$header")" ] || fail "no $header beside mpi.h"
done
printf '%s\n' 'program x' 'use mpi_f08' 'call MPI_Init()' 'print "(a)", "fortran"' 'call MPI_Finalize()' \
    'end program' >x.f90
for name in mpifort mpif90 mpif77; do
    command -v gfortran >/dev/null || break
    VIREO_FC=gfortran "newest home/tree/bin/$name" x.f90 -o x.fortran >log 2>&1 || fail "$name compiles: $(cat log)"
    same "$name in a moved tree" "$(run -n 2 ./x.fortran 2>&1 | uniq)" fortran
done
cat >args.sh <<'S'
for a; do printf '<%s>' "$a"; done
echo
S
same "arguments come as they are" \
    "$(run -n 2 sh args.sh "two words" "" '*' '$HOME' "it's" '"' '\' "a
b" ':x' -n 9 "")" "$(for i in 1 2; do sh args.sh "two words" "" '*' '$HOME' "it's" '"' '\' "a
b" ':x' -n 9 ""; done)"
same "-wdir is where ranks are" "$(run -n 2 -wdir "my programs" pwd | uniq)" "$scratch/my programs"
