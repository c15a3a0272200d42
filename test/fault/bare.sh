# SPDX-License-Identifier: BSD-3-Clause
# Bare machines: ranks start, greet, and exchange small and large messages where much of what
# is usual is missing or forbidden; and nothing is written but the program's own lines.
# Run as: sh bare.sh MPIEXEC WORK DENY [RANKS]. What needs rights that are missing is left out, and said.
. "$(dirname "$0")/../bnr/lib.sh"
work=$2 deny=$3 ranks=${4:-64}
set -- init hello ring barrier=3 allreduce=3 message=65536 message=1048576 finalize
acts=$*
litter >"$scratch/before"
for i in $(seq 0 $((ranks - 1))); do echo "rank $i of $ranks"; done | sort >wanted
cd / || exit 1 # nothing is to be written to the working folder, either

# works CLAIM PREFIX...: the job runs, begun by PREFIX
works() {
    claim=$1
    shift
    begin=$(milliseconds)
    # shellcheck disable=SC2086
    timeout -k 5 60 "$@" "$mpiexec" -n $ranks "$work" $acts >"$scratch/out" 2>"$scratch/err"
    same "$claim" $? 0
    same "... without a word" "$(cat "$scratch/err")" ""
    sort "$scratch/out" | cmp - "$scratch/wanted" || fail "... every rank greets once"
    echo "   $(($(milliseconds) - begin)) ms"
}

works "plainly" env
works "without single copy by setting" env VIREO_SINGLE_COPY=0
works "over tcp" env VIREO_CHANNELS=tcp,loopback
works "with an empty environment" env -i
works "with an endless TMPDIR" env "TMPDIR=/$(printf '%04000d' 0)"
works "without stdin" sh -c 'exec "$@" <&-' sh

no_copy="process_vm_readv=EPERM process_vm_writev=EPERM"
if "$deny" membarrier=ENOSYS -- true; then
    # shellcheck disable=SC2086
    works "without single copy by seccomp" "$deny" $no_copy --
    works "where it is unknown" "$deny" process_vm_readv=ENOSYS process_vm_writev=ENOSYS --
    plain=$acts # the third message of its size is the first to be written by halves
    acts="init message=1048576 message=1048576 message=1048576 message=1048576 hello finalize"
    works "where only writing is forbidden" "$deny" process_vm_writev=EPERM --
    acts=$plain
    works "without membarrier" "$deny" membarrier=ENOSYS --
    works "without calls that do not wait" "$deny" preadv2=EPERM pwritev2=EPERM statx=EPERM --
    works "without memfd" "$deny" memfd_create=ENOSYS --
    works "where the new calls are unknown" "$deny" pidfd_open=ENOSYS close_range=ENOSYS \
        epoll_pwait2=ENOSYS rseq=ENOSYS io_uring_setup=EPERM --
else
    echo "skipped: seccomp is not allowed here"
fi

if ! [ "$(id -u)" = 0 ] || ! unshare -mn true 2>/dev/null; then
    echo "skipped: namespaces and other users need root"
    exit 0
fi

# The pieces of a bare machine, for a shell in namespaces of its own.
small_shm='mount -t tmpfs -o size=64m none /dev/shm'
no_shm='mount -t tmpfs -o ro,size=4k none /dev/shm'
fixed_tmp='mount --bind /tmp /tmp; mount -o remount,ro,bind /tmp; ! touch /tmp/x 2>/dev/null'
no_names='for f in resolv.conf hosts nsswitch.conf; do
    [ ! -e /etc/$f ] || mount --bind /dev/null "$(readlink -f /etc/$f)"; done'
lo_up='ip link set lo up 2>/dev/null || ifconfig lo up'
inside() {
    claim=$1 setup=$2
    shift 2
    works "$claim" unshare -mn sh -ec "$setup; exec \"\$@\"" sh "$@"
}

inside "/dev/shm of 64 MB" "$small_shm"
inside "/dev/shm of 64 MB, and no memfd" "$small_shm" "$deny" memfd_create=ENOSYS --
inside "no /dev/shm" "$no_shm"
inside "no /dev/shm, not even the folder's own" "umount -l /dev/shm || $no_shm"
inside "a read-only /tmp" "$fixed_tmp"
inside "no names, and no network" "$no_names"
if command -v ip >/dev/null || command -v ifconfig >/dev/null; then
    inside "no names, lo alone, over tcp" "$no_names; $lo_up" env VIREO_CHANNELS=tcp,loopback
fi
if setpriv --reuid=65534 --regid=65534 --clear-groups test -x "$work" -a -x "$mpiexec" &&
    setpriv --reuid=65534 --regid=65534 --clear-groups "$mpiexec" --version >/dev/null 2>&1; then
    user="setpriv --reuid=65534 --regid=65534 --clear-groups"
else
    echo "skipped: another user cannot enter the build's folder"
    user=
fi
# shellcheck disable=SC2086
{
    [ -z "$user" ] || works "as an ordinary user" $user
    inside "all at once" "$no_shm; $fixed_tmp; $no_names" $user "$deny" $no_copy \
        membarrier=ENOSYS -- env -i LD_LIBRARY_PATH="${LD_LIBRARY_PATH:-}"
}
litter >"$scratch/after"
same "and nothing has been left behind" "$(comm -13 "$scratch/before" "$scratch/after")" ""
