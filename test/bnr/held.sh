# SPDX-License-Identifier: BSD-3-Clause
# Ranks that wait until a debugger lets them go on, on this host and on another that stands for one.
# Run as: sh held.sh MPIEXEC WORK
. "$(dirname "$0")/lib.sh"
work=$2
# The leak checker of a build with the address sanitizer cannot look beside a debugger.
export ASAN_OPTIONS="${ASAN_OPTIONS:+$ASAN_OPTIONS:}detect_leaks=0"

# pid_of RANK: its process, as mpiexec has said
pid_of() {
    sed -n "s/^mpiexec: rank $1 waits .*gdb -p \([0-9]*\).*/\1/p" err
}

# on_hosts MPIEXEC'S WORDS: 2 ranks, on the hosts of $hosts
on_hosts() {
    case $hosts in
    1) run -n 2 --report-pid pid "$@" ;;
    2) run --launcher-cmd 'env HOST=%h' -host localhost:1,elsewhere:1 --report-pid pid "$@" ;;
    esac
}

# The name by which mpiexec knows the host of rank 1.
last_host() {
    case $hosts in
    1) uname -n ;;
    2) echo elsewhere ;;
    esac
}

# begin OPTION COMMAND...: start 2 ranks, and wait until mpiexec has said where they wait
begin() {
    rm -f err
    on_hosts "$@" >out 2>err &
    job=$!
    soon grep -q 'all go on at' err
}

# Whether a process is stopped.
is_stopped() {
    grep -q '^State:.[Tt]' "/proc/$1/status"
}

without_debugger() {
    begin --stop-on-exec sh -c 'echo "$OMPI_COMM_WORLD_RANK"'
    holds "$hosts: the place is said" "$(cat err)" \
        "rank 1 waits at the start of its program on $(last_host); to debug"
    soon is_stopped "$(pid_of 0)"
    soon is_stopped "$(pid_of 1)"
    holds "$hosts: the program has been begun" \
        "$(tr '\0' ' ' <"/proc/$(pid_of 1)/cmdline")" "sh -c echo"
    same "$hosts: it has run nothing" "$(cat out)" ""
    kill -CONT "$(pid_of 1)"
    soon grep -q 1 out
    soon is_stopped "$(pid_of 0)"
    kill -CONT "$(cat pid)"
    wait "$job"
    same "$hosts: mpiexec lets all go on, and the job ends well" "$? $(sort out | tr '\n' ' ')" \
        "0 0 1 "

    begin --rtos stop-on-exec sh -c 'echo x'
    kill -INT "$(cat pid)"
    wait "$job"
    same "$hosts: a stopped job is interrupted" "$?" 130

    begin --stop-in-init "$work" init hello finalize
    holds "$hosts: ranks wait in MPI_Init" "$(cat err)" "rank 1 waits in MPI_Init"
    sleep 0.5
    same "$hosts: they have not left it" "$(cat out)" ""
    kill -CONT "$(cat pid)"
    wait "$job"
    same "$hosts: and go on" "$? $(wc -l <out)" "0 2"
}

# attach RANK COMMANDS...: a debugger for a rank
attach() {
    pid=$(pid_of "$1")
    shift
    timeout 60 gdb -nx -batch -iex 'set debuginfod enabled off' -p "$pid" "$@" >"gdb.$pid" 2>&1 &
}

with_debugger() {
    begin --stop-in-init "$work" init hello finalize
    attach 0 -ex continue
    sleep 0.5
    same "$hosts: a debugger at one rank lets none go on" "$(cat out)" ""
    attach 1 -ex continue
    wait "$job"
    same "$hosts: with a debugger each they go on" "$? $(wc -l <out)" "0 2"
    wait
    begin --stop-on-exec "$work" init hello finalize
    for r in 0 1; do
        attach $r -ex "$(sed -n "s/.*-ex '\(.*\)'/\1/p" err | head -1)" -ex continue
    done
    wait "$job"
    same "$hosts: a debugger lets a stopped rank go on" "$? $(wc -l <out)" "0 2"
    wait
}

for hosts in 1 2; do
    without_debugger
done
command -v gdb >/dev/null || { echo "left out: there is no gdb"; exit 0; }
gdb -nx -batch -ex starti true >gdb.probe 2>&1
grep -q 'Program stopped' gdb.probe || { echo "left out: gdb may not trace here"; exit 0; }
for hosts in 1 2; do
    with_debugger
done
