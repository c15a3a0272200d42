#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
# CMake's FindMPI and pkg-config find a moved install, in C, C++ and Fortran.
# usage: findmpi.sh BUILD SOURCE
set -eu
build=$(cd "$1" && pwd -P)
source=$2
command -v cmake >/dev/null && command -v pkg-config >/dev/null || exit 77
unset VIREO_FC MPICH_FC OMPI_FC VIREO_CC VIREO_CXX MPICH_CC MPICH_CXX OMPI_CC OMPI_CXX LD_LIBRARY_PATH CFLAGS CXXFLAGS
tmp=$(mktemp -d)
trap 'rm -rf "$tmp"' EXIT

DESTDIR=$tmp/dest meson install --no-rebuild -C "$build" >"$tmp/log" 2>&1
bin=$(find "$tmp/dest" -name mpicc -type f)
tree="$tmp/a tree" # CMake reads what mpicc says of a path with a blank
mv "${bin%/bin/mpicc}" "$tree"
want=$("$tree/bin/mpicc" "$source/test/tools/version.c" -o "$tmp/prog" && "$tmp/prog")

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
message(STATUS "starts by ${MPIEXEC_EXECUTABLE}")
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
    grep -q "found $tree/lib.*/libmpi_abi.so version 5.0" "$tmp/log" &&
        { [ "$name" != by_home ] || grep -q "starts by $tree/bin/mpiexec" "$tmp/log"; } &&
        [ "$("$tmp/$name/inc")" = "$want" ] && [ "$("$tmp/$name/incxx")" = "$want" ]
}

# Fortran's three interfaces. A wrapper of another MPI that stands behind ours is not taken.
mkdir "$tmp/other" "$tmp/fortran"
for name in mpifort mpif90; do
    printf '#!/bin/sh\necho -I/other/include -L/other/lib -lmpi_other\n' >"$tmp/other/$name"
    chmod +x "$tmp/other/$name"
done
cp "$source"/test/fortran/basic_* "$tmp/fortran"
cat >"$tmp/fortran/CMakeLists.txt" <<'END'
cmake_minimum_required(VERSION 3.18)
project(app C Fortran)
find_package(MPI REQUIRED COMPONENTS C Fortran)
foreach(name f08.f90 mpi.f90 mpif.f)
  add_executable(${name}.x basic_${name})
  target_link_libraries(${name}.x MPI::MPI_Fortran)
endforeach()
message(STATUS "fortran ${MPI_Fortran_HAVE_F77_HEADER} ${MPI_Fortran_HAVE_F90_MODULE} \
${MPI_Fortran_HAVE_F08_MODULE}")
END

# runs DIR: the three programs of CMake
runs() {
    for name in f08.f90 mpi.f90 mpif.f; do
        [ "$(timeout 30 "$tree/bin/mpiexec" -n 2 "$1/$name.x")" = ok ] || return 1
    done
}

echo 1..6
if [ ! -e "$tree/bin/mpiexec" ]; then
    echo "ok 1 - FindMPI by PATH # SKIP this tree has no mpiexec, and CMake starts from that"
elif try by_path env PATH="$tree/bin:$PATH" cmake; then
    echo "ok 1 - FindMPI by PATH"
else
    echo "not ok 1 - FindMPI by PATH"
fi
if try by_name cmake "-DMPI_C_COMPILER=$tree/bin/mpicc" \
    "-DMPI_CXX_COMPILER=$tree/bin/mpicxx"; then
    echo "ok 2 - FindMPI by MPI_C_COMPILER"
else
    echo "not ok 2 - FindMPI by MPI_C_COMPILER"
fi
if [ ! -e "$tree/bin/mpiexec" ]; then
    echo "ok 3 - FindMPI by MPI_HOME # SKIP this tree has no mpiexec"
elif try by_home cmake "-DMPI_HOME=$tree"; then
    echo "ok 3 - FindMPI by MPI_HOME, which finds mpiexec, too"
else
    echo "not ok 3 - FindMPI by MPI_HOME"
fi
PKG_CONFIG_PATH=$(dirname "$(find "$tree" -name vireo.pc)")
export PKG_CONFIG_PATH
if eval cc "$source/test/tools/version.c" -o "$tmp/prog" "$(pkg-config --cflags --libs vireo)" &&
    [ "$("$tmp/prog")" = "$want" ]; then
    echo "ok 4 - pkg-config in a moved tree"
else
    echo "not ok 4 - pkg-config in a moved tree"
fi
if ! command -v gfortran >/dev/null || [ ! -e "$tree/bin/mpiexec" ]; then
    echo "ok 5 - FindMPI finds Fortran # SKIP there is no gfortran"
    echo "ok 6 - pkg-config for Fortran # SKIP there is no gfortran"
    exit
fi
if PATH=$tree/bin:$tmp/other:$PATH cmake -S "$tmp/fortran" -B "$tmp/f" >"$tmp/log" 2>&1 &&
    cmake --build "$tmp/f" >>"$tmp/log" 2>&1 && grep -q "fortran TRUE TRUE TRUE" "$tmp/log" &&
    runs "$tmp/f" 2>>"$tmp/log"; then
    echo "ok 5 - FindMPI finds Fortran"
else
    sed 's/^/# /' "$tmp/log"
    echo "not ok 5 - FindMPI finds Fortran"
fi
if eval gfortran "$source/test/fortran/basic_f08.f90" -o "$tmp/prog" \
    "$(pkg-config --cflags --libs vireo-fortran)" &&
    [ "$(timeout 30 "$tree/bin/mpiexec" -n 2 "$tmp/prog")" = ok ]; then
    echo "ok 6 - pkg-config for Fortran"
else
    echo "not ok 6 - pkg-config for Fortran"
fi
