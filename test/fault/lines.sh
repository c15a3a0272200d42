# SPDX-License-Identifier: BSD-3-Clause
# A fatal error and a crash name the line of the program that has called MPI: run as
# sh lines.sh MPIEXEC LINES SOURCE.
. "$(dirname "$0")/../bnr/lib.sh"
program=$2
source=$3
ulimit -c 0

# line_of NAME: "lines.c:12", where the source says so.
line_of() {
    echo "lines.c:$(grep -n "line: $1 " "$source" | cut -d : -f 1)"
}

if ! command -v addr2line >/dev/null; then
    echo "no addr2line: places are told as offsets"
    line_of() { echo "lines+0x"; }
fi

for n in 1 2; do
    run -n $n "$program" fatal >out 2>err
    holds "a fatal error of $n" "$(cat err)" "MPI_Send: "
    holds "its line" "$(cat err)" ", called at $(line_of fatal)"
    for name in bad_op bad_abort; do
        signal=$([ $name = bad_op ] && echo 11 || echo 6)
        run -n $n "$program" $name >out 2>err
        same "$name of $n: the signal stays" $? $((128 + signal))
        holds "$name of $n" "$(cat err)" \
            "vireo: rank $((n - 1)) crashed in MPI_Reduce_local, called at $(line_of $name)"
        holds "$name of $n: mpiexec says it" "$(cat err)" "was killed by signal $signal"
    done
done
"$program" fatal >out 2>err
holds "without mpiexec" "$(cat err)" ", called at $(line_of fatal)"
for channels in "" tcp,loopback; do
    VIREO_CHANNELS=$channels run -n 2 "$program" bad_buffer >out 2>err
    [ $? = 139 ] || [ "$channels" ] || fail "a bad buffer is a crash" "$(cat err)"
    [ "$channels" ] || holds "a bad buffer" "$(cat err)" \
        "vireo: rank 1 crashed in MPI_Ssend, called at $(line_of bad_buffer): Segmentation fault"
done
for name in outside sent; do
    run -n 2 "$program" $name >out 2>err
    same "$name: the signal stays" "$? $(grep -c 'crashed in' err)" "139 0"
done
VIREO_CRASH_LINES=0 run -n 2 "$program" bad_op >out 2>err
same "the setting turns it off" "$? $(grep -c 'crashed in' err)" "139 0"
run -n 2 "$program" handled >out 2>err
same "a program's own handler stays" "$? $(grep -c '^mine' err) $(grep -c 'crashed in' err)" "7 1 0"
