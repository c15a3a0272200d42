#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
# Info keys of MPI_Comm_spawn, some in a file, and what mpiexec's report says of others.
# usage: keys.sh MPIEXEC KEYS
set -e
folder=$(mktemp -d)
trap 'rm -r "$folder"' EXIT
printf '# of the file\nsoft = 0:2\n\tenv = KEYS_FIRST=wrong\npreload_files=a b\n' >"$folder/keys"
# The keys of the info itself hold against those of the file.
said=$(timeout 40 "$1" --report -n 1 "$2" "$folder/keys" 2>"$folder/report")
[ "$said" = "as wanted
as wanted" ]
for key in arch preload_files; do
    grep -q "Rank 0: info key '$key' of the spawned program '$2' means nothing here" "$folder/report"
done
grep -q "info key 'arch' .*: this host is $(uname -m)" "$folder/report"
grep -q "info key 'preload_files' .*: programs and files are to be on every host already" "$folder/report"
! grep -q "info key '\(soft\|env\|file\)'" "$folder/report"
# A file that is not there is no error; five processes are wanted then.
timeout 40 "$1" --report -n 1 "$2" "$folder/none" >"$folder/out" 2>"$folder/report" || exit 1
grep -q "Rank 0: the file '$folder/none' of info key 'file' cannot be read: No such file" "$folder/report"
grep -q otherwise "$folder/out"
