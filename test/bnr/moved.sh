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
says "with a search path of the user's" env LD_LIBRARY_PATH=/nowhere "$mpiexec" -n 3 \
    "my programs/my work"
same "... which stays" "$(LD_LIBRARY_PATH=/nowhere run -n 1 sh -c 'echo $LD_LIBRARY_PATH')" /nowhere
same "nothing is set for others" "$(run -n 1 sh -c 'echo $LD_LIBRARY_PATH')" ""
for header in bnr.h channel.h channel_help.h; do
    [ -n "$(find "newest home/tree" -path "*/include/vireo/$header")" ] || fail "vireo/$header"
    [ -z "$(find "newest home/tree" -path "*/include/$header")" ] || fail "no $header beside mpi.h"
done
for name in mpifort mpif90 mpif77; do
    text=$("newest home/tree/bin/$name" -c x.f90 2>&1) && fail "$name fails"
    holds "$name says why" "$text" "$name: Vireo MPI has no Fortran interface yet"
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
