# SPDX-License-Identifier: BSD-3-Clause
# Under every limit of a process, at ten values, and where the kernel denies a call, a job runs whole,
# or ends with lines of which one names the limit, and leaves nothing running.
# Run as: sh limits.sh MPIEXEC WORK DENY.
. "$(dirname "$0")/../bnr/lib.sh"
work=$2 deny=$3
acts="init hello ring barrier=3 finalize"
for i in 0 1 2 3; do echo "rank $i of 4"; done >wanted
chmod 777 . # another user starts there
ran=0 refused=0

# bounded NAMES PREFIX...: the job, begun by PREFIX, runs whole, or a line names what NAMES, a pattern,
# says. Both streams are pipes, as a limit may forbid that a file grows.
bounded() {
    names=$1
    shift
    # shellcheck disable=SC2086
    all=$({ timeout -k 5 60 "$@" "$mpiexec" -n 4 "$work" $acts 2>&1 >&3 3>&-
            echo "code $?"; } 3>&1 | cat)
    code=${all##*code }
    if [ "${code%%[!0-9]*}" = 0 ]; then
        [ "$(echo "$all" | grep '^rank' | sort)" = "$(cat wanted)" ] || fail "it runs whole: $*" "$all"
        ran=$((ran + 1))
        return
    fi
    echo "$all" | grep -q -E "$names" || fail "what is missing is named ($names): $*" "$all"
    refused=$((refused + 1))
}

# at_values NAMES LIMIT BYTES...: under each value of a limit, as a user for whom it counts
at_values() {
    names=$1 limit=$2
    shift 2
    ran=0 refused=0
    for value in "$@"; do
        # shellcheck disable=SC2086
        bounded "$names" prlimit --$limit="$value" $user
    done
    echo "ok: $limit: $ran ran, $refused refused"
}

user=
if [ "$(id -u)" = 0 ]; then
    user="setpriv --reuid=54321 --regid=54321 --clear-groups"
    $user "$mpiexec" --version >out 2>&1 || user= # it cannot read this folder
fi
if [ -n "$user" ] || [ "$(id -u)" != 0 ]; then
    at_values "ulimit -u|processes" nproc 1 2 3 4 5 6 7 8 12 40
    [ $refused -ge 8 ] || fail "processes are counted" "$ran ran"
fi
K=1024 M=1048576
at_values "ulimit -v|address space|error while loading|work: no memory" as $((4 * M)) $((6 * M)) $((8 * M)) \
    $((10 * M)) $((12 * M)) $((14 * M)) $((80 * M)) $((200 * M)) $((500 * M)) $((1000 * M))
at_values "ulimit -f|size of files" fsize 0 1 $K $((64 * K)) $M $((10 * M)) $((100 * M)) \
    $((200 * M)) $((1000 * M)) $((10000 * M))
at_values "ulimit -n|open files|Error 24" nofile 3 4 8 16 24 32 40 48 64 256
at_values "ulimit -l|locked" memlock 0 1 $K $((4 * K)) $((8 * K)) $((16 * K)) $((32 * K)) \
    $((64 * K)) $M $((8 * M))
at_values "ulimit -s|stack" stack $((32 * K)) $((48 * K)) $((64 * K)) $((96 * K)) $((128 * K)) \
    $((256 * K)) $((512 * K)) $M $((8 * M)) $((64 * M))
at_values "ulimit -d|data|work: no memory" data $((64 * K)) $M $((2 * M)) $((3 * M)) $((4 * M)) $((5 * M)) \
    $((6 * M)) $((7 * M)) $((100 * M)) $((1000 * M))

if "$deny" membarrier=ENOSYS -- true; then
    ran=0 refused=0
    for call in memfd_create process_vm_readv process_vm_writev membarrier eventfd2 prctl getrandom \
        futex_waitv futex_wait pidfd_open close_range sched_getaffinity; do
        for error in EPERM ENOSYS; do
            bounded "$call" "$deny" $call=$error --
        done
    done
    echo "ok: calls that are denied: $ran ran, $refused refused"
    [ $refused -le 4 ] || fail "no more than eventfd2 and prctl are needed" "$refused refused"
else
    echo "skipped: seccomp is not allowed here"
fi

# in_group CONTROLLER FILE NAMES VALUES...: in a control group with such a limit
in_group() {
    controller=$1 file=$2 names=$3
    shift 3
    group=/sys/fs/cgroup/$controller/vireo-test-$$
    if ! mkdir "$group" 2>/dev/null; then
        echo "skipped: no control group of $controller can be made"
        return
    fi
    trap 'rmdir "$group"; rm -rf "$scratch"' EXIT
    ran=0 refused=0
    for value in "$@"; do
        echo "$value" >"$group/$file"
        bounded "$names" sh -c "echo \$\$ >$group/cgroup.procs; exec \"\$@\"" sh
    done
    rmdir "$group"
    trap 'rm -rf "$scratch"' EXIT
    echo "ok: $file: $ran ran, $refused refused"
}

if [ "$(id -u)" = 0 ]; then
    in_group pids pids.max "pids.max|annot fork" 2 3 4 6 8 10 12 14 20 40
    in_group memory memory.limit_in_bytes "memory|137" $((1 * M)) $((2 * M)) $((3 * M)) $((4 * M)) \
        $((6 * M)) $((8 * M)) $((12 * M)) $((16 * M)) $((32 * M)) $((256 * M))
fi

if unshare -mn true 2>/dev/null && "$deny" membarrier=ENOSYS -- true; then
    ran=0 refused=0
    for size in 4k 16k 64k 256k 1m 2m 4m 8m 16m 64m; do
        bounded "free in /dev/shm" unshare -mn sh -c "mount -t tmpfs -o size=$size none /dev/shm
            mount --bind /tmp /tmp; mount -o remount,ro,bind /tmp
            exec \"\$@\"" sh "$deny" memfd_create=EPERM --
    done
    echo "ok: /dev/shm without memfd: $ran ran, $refused refused"
    [ $ran -ge 5 ] && [ $refused -ge 4 ] || fail "room is looked for" "$ran ran, $refused refused"
fi
exit 0
