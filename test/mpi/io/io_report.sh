#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
# VIREO_IO_REPORT=1 tells of errors that a program does not look at: each in the process that has the
# cause. Without it they are as silent as MPI has them.
#   io_report.sh MPIEXEC PROGRAM
set -eu
mpiexec=$1 program=$2
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT

# lines OF WANTED: how many lines of the report have these words
lines() {
    got=$(grep -c "$1" "$folder/err" || :)
    [ "$got" = "$2" ] || { printf 'not so: %s lines with "%s"\n' "$2" "$1"; cat "$folder/err"; exit 1; }
    echo "ok: $2 with \"$1\""
}

"$mpiexec" --timeout 40 -n 3 "$program" "$folder" 2>"$folder/err"
lines . 0
VIREO_IO_REPORT=1 "$mpiexec" --timeout 40 -n 3 "$program" "$folder" 2>"$folder/err"
lines "vireo: MPI_File_open: open: file '$folder/none/file': No such file or directory; is its folder there" 3
lines "vireo: MPI_File_write: .*MPI_MODE_RDONLY.*(rank [0-2] on" 3
lines "vireo: MPI_File_get_size: file MPI_FILE_NULL is none, or was closed" 3
lines "MPI_File_delete" 0
