# SPDX-License-Identifier: BSD-3-Clause
# A debugger takes hold of a job by MPIR: sh debugger.sh MPIEXEC WORK.
. "$(dirname "$0")/lib.sh"
work=$2

command -v gdb >/dev/null || { echo "left out: there is no gdb"; exit 77; }
gdb -nx -batch -ex starti true >gdb.probe 2>&1
grep -q 'Program stopped' gdb.probe || { echo "left out: gdb may not trace here"; exit 77; }

# hold MPIEXEC: run 3 ranks under gdb, which stops where MPIR says, and looks; then to the end.
# $1 has been stripped or not: every word is read by its type of MPIR.
hold() {
    cat >commands <<EOF
set debuginfod enabled off
set confirm off
starti
set {int}&MPIR_being_debugged = 1
break MPIR_Breakpoint
continue
printf "state %d\n", {int}&MPIR_debug_state
printf "size %d\n", {int}&MPIR_proctable_size
set \$row = {char *}&MPIR_proctable
printf "host %s\n", {char *}\$row
printf "program %s\n", {char *}(\$row + 8)
printf "pid %d\n", {int}(\$row + 2 * 24 + 16)
shell sleep 0.5
shell cat started 2>/dev/null | sed 's/^/already /'
continue
EOF
    rm -f started
    timeout -k 5 60 gdb -nx -batch -x commands --args "$1" -n 3 sh -c \
        '"$0" init hello finalize >>started' "$work" >"$2" 2>&1
}

for kind in whole stripped; do
    launcher=$mpiexec
    if [ $kind = stripped ]; then
        launcher=$(dirname "$mpiexec")/mpiexec.stripped.$$
        strip -o "$launcher" "$mpiexec"
        trap 'rm -rf "$scratch" "$launcher"' EXIT
    fi
    hold "$launcher" out.$kind
    text=$(cat out.$kind)
    holds "$kind: gdb stops where all ranks are there" "$text" "state 1"
    holds "$kind: the table has them" "$text" "size 3"
    holds "$kind: it names the program" "$text" "program /"
    case $text in *already*) fail "$kind: ranks wait in MPI_Init" "$text" ;; esac
    echo "ok: $kind: ranks wait in MPI_Init"
    holds "$kind: the job goes on, and ends well" "$text" "exited normally"
    same "$kind: all ranks have" "$(wc -l <started)" 3
done

# A job that ends early stops for the debugger once more.
cat >commands <<'EOF'
set debuginfod enabled off
set confirm off
starti
set {int}&MPIR_being_debugged = 1
break MPIR_Breakpoint
continue
continue
printf "state %d\n", {int}&MPIR_debug_state
printf "why %s\n", {char *}&MPIR_debug_abort_string
continue
EOF
timeout -k 5 60 gdb -nx -batch -x commands --args "$mpiexec" -n 2 sh -c \
    '[ $OMPI_COMM_WORLD_RANK = 0 ] || exit 3' >out.abort 2>&1
holds "a job that ends early stops again" "$(cat out.abort)" "state 2"
holds "and says why" "$(grep '^why' out.abort)" "rank 1 on"
holds "in words" "$(grep '^why' out.abort)" "exited with code 3"
