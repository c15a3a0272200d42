#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
# CMake's FindMPI and pkg-config find a moved install, in C and C++.
# usage: findmpi.sh BUILD SOURCE
set -eu
build=$(cd "$1" && pwd -P)
source=$2
command -v cmake >/dev/null && command -v pkg-config >/dev/null || exit 77
unset VIREO_CC VIREO_CXX MPICH_CC MPICH_CXX OMPI_CC OMPI_CXX LD_LIBRARY_PATH CFLAGS CXXFLAGS
tmp=$(mktemp -d)
trap 'rm -rf "$tmp"' EXIT

DESTDIR=$tmp/dest meson install --no-rebuild -C "$build" >"$tmp/log" 2>&1
bin=$(find "$tmp/dest" -name mpicc -type f)
mv "${bin%/bin/mpicc}" "$tmp/tree"
want=$("$tmp/tree/bin/mpicc" "$source/test/tools/version.c" -o "$tmp/prog" && "$tmp/prog")

mkdir "$tmp/app"
cp "$source/test/tools/version.c" "$tmp/app/version.c"
cp "$source/test/tools/version.c" "$tmp/app/version.cc"
cat >"$tmp/app/CMakeLists.txt" <<'END'
cmake_minimum_required(VERSION 3.18)
project(app C CXX)
find_package(MPI REQUIRED COMPONENTS C CXX)
add_executable(inc version.c)
target_link_libraries(inc MPI::MPI_C)
add_executable(incxx version.cc)
target_link_libraries(incxx MPI::MPI_CXX)
message(STATUS "found ${MPI_C_LIBRARIES} version ${MPI_C_VERSION}")
END

# try NAME COMMAND... : configure with CMake, build, run both
try() {
    name=$1
    shift
    "$@" -S "$tmp/app" -B "$tmp/$name" >"$tmp/log" 2>&1 &&
        cmake --build "$tmp/$name" >>"$tmp/log" 2>&1 || {
        sed 's/^/# /' "$tmp/log"
        return 1
    }
    grep -q "found $tmp/tree/lib.*/libmpi_abi.so version 5.0" "$tmp/log" &&
        [ "$("$tmp/$name/inc")" = "$want" ] && [ "$("$tmp/$name/incxx")" = "$want" ]
}

# A Fortran wrapper of another MPI that stands behind ours.
mkdir "$tmp/other" "$tmp/fortran"
for name in mpifort mpif90; do
    printf '#!/bin/sh\necho -I/other/include -L/other/lib -lmpi_other\n' >"$tmp/other/$name"
    chmod +x "$tmp/other/$name"
done
cat >"$tmp/fortran/CMakeLists.txt" <<'END'
cmake_minimum_required(VERSION 3.18)
project(app C Fortran)
find_package(MPI COMPONENTS Fortran)
message(STATUS "fortran '${MPI_Fortran_FOUND}' '${MPI_Fortran_LIBRARIES}'")
END

echo 1..4
if [ ! -e "$tmp/tree/bin/mpiexec" ]; then
    echo "ok 1 - FindMPI by PATH # SKIP this tree has no mpiexec, and CMake starts from that"
elif try by_path env PATH="$tmp/tree/bin:$PATH" cmake; then
    echo "ok 1 - FindMPI by PATH"
else
    echo "not ok 1 - FindMPI by PATH"
fi
if try by_name cmake "-DMPI_C_COMPILER=$tmp/tree/bin/mpicc" \
    "-DMPI_CXX_COMPILER=$tmp/tree/bin/mpicxx"; then
    echo "ok 2 - FindMPI by MPI_C_COMPILER"
else
    echo "not ok 2 - FindMPI by MPI_C_COMPILER"
fi
PKG_CONFIG_PATH=$(dirname "$(find "$tmp/tree" -name vireo.pc)")
export PKG_CONFIG_PATH
# shellcheck disable=SC2046
if cc "$source/test/tools/version.c" -o "$tmp/prog" $(pkg-config --cflags --libs vireo) &&
    [ "$("$tmp/prog")" = "$want" ]; then
    echo "ok 3 - pkg-config in a moved tree"
else
    echo "not ok 3 - pkg-config in a moved tree"
fi
if ! command -v gfortran >/dev/null; then
    echo "ok 4 - FindMPI finds no Fortran # SKIP there is no Fortran compiler"
elif PATH=$tmp/tree/bin:$tmp/other:$PATH cmake -S "$tmp/fortran" -B "$tmp/f" >"$tmp/log" 2>&1 &&
    ! grep -q "mpi_other\|fortran 'TRUE'" "$tmp/log"; then
    echo "ok 4 - FindMPI finds no Fortran"
else
    sed 's/^/# /' "$tmp/log"
    echo "not ok 4 - FindMPI finds no Fortran"
fi
