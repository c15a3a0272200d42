#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
# mpicc and mpicxx: what they print, what they run, in the build tree and in a moved install.
# usage: wrappers.sh BUILD SOURCE
set -eu
build=$(cd "$1" && pwd -P)
source=$2
unset VIREO_CC VIREO_CXX MPICH_CC MPICH_CXX OMPI_CC OMPI_CXX LD_LIBRARY_PATH
tmp=$(mktemp -d)
trap 'rm -rf "$tmp"' EXIT
count=0

# same WHAT GOT WANT
same() {
    count=$((count + 1))
    if [ "$2" = "$3" ]; then
        echo "ok $count - $1"
    else
        echo "not ok $count - $1"
        echo "# got:  $2"
        echo "# want: $3"
    fi
}

mpicc=$build/tools/mpicc
inc="-I$build/include"
link="-L$build/mpi -Wl,-rpath,$build/mpi -lmpi_abi"

same "-show alone has all flags" "$("$mpicc" -show)" "cc $inc $link"
same "--showme with a file" "$("$mpicc" --showme a.c -o a)" "cc a.c -o a $inc $link"
same "no link flags with -c" "$("$mpicc" -show -c a.c)" "cc -c a.c $inc"
same "no link flags with -E" "$("$mpicc" -show -E a.c)" "cc -E a.c $inc"
same "no link flags with -M" "$("$mpicc" -show -M a.c)" "cc -M a.c $inc"
same "link flags with -MD" "$("$mpicc" -show -MD -MF d a.o)" "cc -MD -MF d a.o $inc $link"
same "the value of -o is no input" "$("$mpicc" -show -o a)" "cc -o a $inc"
same "standard input is an input" "$("$mpicc" -show -x c -)" "cc -x c - $inc $link"
same "no files, no link flags" "$("$mpicc" --version)" "$(cc --version)"
same "what needs quotes has them" "$("$mpicc" -show -c "a b.c" "-DX=it's")" \
    "cc -c 'a b.c' '-DX=it'\\''s' $inc"
same "-lmpi is ours" "$("$mpicc" -show a.c -lmpi -lmpich -lm)" "cc a.c -lm $inc $link"
same "so have quotes" "$("$mpicc" -show -c a.c '-I"x y"')" "cc -c a.c '-I\"x y\"' $inc"
same "--showme:compile" "$("$mpicc" --showme:compile)" "$inc"
same "-showme:link" "$("$mpicc" -showme:link)" "$link"
same "--showme:incdirs" "$("$mpicc" --showme:incdirs)" "$build/include"
same "--showme:libs" "$("$mpicc" --showme:libs)" "mpi_abi"
same "-compile-info" "$("$mpicc" -compile-info)" "cc $inc"
same "-link-info" "$("$mpicc" -link-info)" "cc $link"
case $("$mpicc" --showme:version) in *"Vireo MPI "[0-9]*) got=yes ;; *) got=no ;; esac
same "--showme:version names the library" "$got" yes
same "VIREO_CC chooses" "$(VIREO_CC='gcc -m64' "$mpicc" -show -c a.c)" "gcc -m64 -c a.c $inc"
same "MPICH_CC chooses" "$(MPICH_CC=clang "$mpicc" -show -c a.c)" "clang -c a.c $inc"
same "OMPI_CC chooses" "$(OMPI_CC=clang "$mpicc" -show -c a.c)" "clang -c a.c $inc"
same "VIREO_CC goes first" "$(VIREO_CC=x MPICH_CC=y "$mpicc" -compile-info)" "x $inc"
same "-cc= chooses" "$("$mpicc" -cc=tcc -show -c a.c)" "tcc -c a.c $inc"
same "mpicxx is C++" "$("$build/tools/mpicxx" -show -c a.cc)" "c++ -c a.cc $inc"
same "VIREO_CXX chooses" "$(VIREO_CXX=clang++ "$build/tools/mpicxx" -show -c a.cc)" \
    "clang++ -c a.cc $inc"
if "$mpicc" --showme:nothing >"$tmp/out" 2>&1; then got=0; else got=$?; fi
same "an unknown --showme: is an error" "$got" 1
ln -s "$mpicc" "$tmp/linked"
same "found through a link" "$("$tmp/linked" -compile-info)" "cc $inc"
if "$mpicc" -c "$tmp/none.c" 2>"$tmp/err"; then got=0; else got=1; fi
same "the compiler's exit status comes through" "$got" 1

# compile and run BINDIR WORDS
runs() {
    "$1/mpicc" -Wall -Werror "$source/test/tools/version.c" -o "$tmp/prog"
    "$tmp/prog"
}
"$build/tools/mpicc" -static "$source/test/tools/version.c" -o "$tmp/prog" 2>"$tmp/err" || :
same "a static program is refused" "$(cat "$tmp/err")" \
    "mpicc: there is no static library of Vireo; leave out -static"
want=$(runs "$build/tools")
case $want in 5.0*) got=yes ;; *) got=no ;; esac
same "a program runs from the build tree" "$got" yes

DESTDIR=$tmp/dest meson install --no-rebuild -C "$build" >"$tmp/log" 2>&1 || {
    cat "$tmp/log"
    exit 1
}
bin=$(find "$tmp/dest" -name mpicc -type f)
mkdir "$tmp/new home"
mv "${bin%/bin/mpicc}" "$tmp/new home/tree"
moved="$tmp/new home/tree/bin"
same "a program runs from a moved tree" "$(runs "$moved")" "$want"
home=$(cd "$moved/.." && pwd -P)
lib=$("$moved/mpicc" --showme:libdirs | tr -d "'")
same "a prefix with a blank is quoted as CMake reads it" "$("$moved/mpicc" -show a.c)" \
    "cc a.c -I\"$home/include\" -L\"$lib\" -Wl,\"-rpath,$lib\" -lmpi_abi"
eval "$("$moved/mpicc" -show -Wall -Werror "$source/test/tools/version.c" -o "$tmp/prog")"
same "and as the shell does" "$("$tmp/prog")" "$want"
mkdir "$tmp/links"
ln -s "../new home/tree/bin/mpicc" "$tmp/links/mpicc"
same "by a relative link and PATH" "$(PATH=$tmp/links:$PATH mpicc --showme:libdirs)" \
    "$("$moved/mpicc" --showme:libdirs)"
"$moved/mpic++" -x c++ -Wall -Werror "$source/test/tools/version.c" -o "$tmp/prog"
same "mpic++ makes a C++ program" "$("$tmp/prog")" "$want"
{
    printf '#include <mpi.h>\nint main()\n{\n'
    sed -n 's/^#define \(MPI_[A-Z0-9_]*\) .*[(,].*/    { auto x = \1; static_cast<void>(x); }/p' \
        "$moved/../include/mpi.h"
    printf '}\n'
} >"$tmp/constants.cc"
same "constants are many" "$(($(grep -c auto "$tmp/constants.cc") > 100))" 1
same "constants are no old casts to C++" \
    "$("$moved/mpic++" -Wall -Wextra -Wold-style-cast -c "$tmp/constants.cc" -o "$tmp/constants.o" 2>&1)" ""
rm "$moved/../include/mpi.h"
if "$moved/mpicc" -compile-info >"$tmp/out" 2>&1; then got=0; else got=$?; fi
same "a broken tree is an error" "$got" 1
echo "1..$count"
