# SPDX-License-Identifier: BSD-3-Clause
# Where ranks run: on machines that hwloc makes up, as the options say, against tables worked out by
# hand; and on this one, as the kernel says.
. "$(dirname "$0")/lib.sh"
unset HWLOC_SYNTHETIC HWLOC_XMLFILE

# picture MACHINE OPTIONS...: what each rank is bound to, a line each
picture() {
    HWLOC_SYNTHETIC=$1
    shift
    [ -z "$HWLOC_SYNTHETIC" ] || export HWLOC_SYNTHETIC
    run --do-not-launch --report-bindings "$@" true 2>err
    unset HWLOC_SYNTHETIC
    sed -n -e 's/.*is bound to \([^,]*\),.*/\1/p' -e 's/.*is not bound: \(.*\)/\1/p' err | xargs
    grep -v '^mpiexec: \(rank\|host\) ' err
}

# Machines: two packages of four cores; of two cores of two threads; memory in each package twice,
# with two caches of two cores each.
flat="package:2 l3:1 core:4 pu:1"
threads="package:2 l3:1 core:2 pu:2"
cached="package:1 l5:2 l4:2 core:2 pu:1"
deep="package:2 numa:2 l3:2 core:2 pu:1"
none="core:2 pu:1"

# MACHINE | OPTIONS | BINDINGS
while IFS='|' read -r machine options wanted; do
    [ -n "$machine" ] || continue
    eval "made=\$$machine"
    # shellcheck disable=SC2086,SC2154
    same "$machine: $options" "$(picture "$made" $options)" "$wanted"
done <<'TABLE'
flat|-n 2|[./././.][./././.] [./././.][./././.]
flat|-n 2 --bind-to none|[./././.][./././.] [./././.][./././.]
flat|-n 2 --bind-to core|[B/././.][./././.] [./B/./.][./././.]
flat|-n 2 -bind-to core|[B/././.][./././.] [./B/./.][./././.]
flat|-n 2 --bindto CORE|[B/././.][./././.] [./B/./.][./././.]
flat|-n 2 -binding core|[B/././.][./././.] [./B/./.][./././.]
flat|-n 1 -bind-to core:2|[B/B/./.][./././.]
flat|-n 3 --bind-to socket|[B/B/B/B][./././.] [./././.][B/B/B/B] [B/B/B/B][./././.]
flat|-n 1 -bind-to socket:2|[B/B/B/B][B/B/B/B]
flat|-n 2 --bind-to package|[B/B/B/B][./././.] [./././.][B/B/B/B]
flat|-n 2 -bind-to l3cache|[B/B/B/B][./././.] [./././.][B/B/B/B]
flat|-n 3 --bind-to l3cache:limit=2|[B/B/B/B][./././.] [B/B/B/B][./././.] [./././.][B/B/B/B]
cached|-n 2 -bind-to l4cache|[B/B/./././././.] [././B/B/./././.]
cached|-n 2 -bind-to l5cache|[B/B/B/B/./././.] [././././B/B/B/B]
flat|-n 2 --bind-to machine|[./././.][./././.] [./././.][./././.]
flat|-n 2 --bind-to board|[./././.][./././.] [./././.][./././.]
flat|-n 4 --map-by socket --bind-to core|[B/././.][./././.] [./././.][B/././.] [./B/./.][./././.] [./././.][./B/./.]
flat|-n 4 --map-by socket --rank-by core --bind-to core|[B/././.][./././.] [./B/./.][./././.] [./././.][B/././.] [./././.][./B/./.]
flat|-n 4 --map-by socket --rank-by fill --bind-to core|[B/././.][./././.] [./B/./.][./././.] [./././.][B/././.] [./././.][./B/./.]
flat|-n 4 --map-by core --rank-by socket --bind-to core|[B/././.][./././.] [./B/./.][./././.] [././B/.][./././.] [./././B][./././.]
flat|-n 2 --map-by socket|[B/B/B/B][./././.] [./././.][B/B/B/B]
flat|-n 2 --mapby package|[B/B/B/B][./././.] [./././.][B/B/B/B]
flat|-n 2 --map-by socket --bind-to none|[./././.][./././.] [./././.][./././.]
flat|-n 2 --map-by core|[B/././.][./././.] [./B/./.][./././.]
flat|-n 2 --map-by slot|[./././.][./././.] [./././.][./././.]
flat|-n 2 --map-by node|[./././.][./././.] [./././.][./././.]
flat|-n 2 --map-by slot:PE=2|[B/B/./.][./././.] [././B/B][./././.]
flat|-n 3 --map-by core:PE=2|[B/B/./.][./././.] [././B/B][./././.] [./././.][B/B/./.]
flat|-n 2 --map-by socket:PE=2|[B/B/./.][./././.] [./././.][B/B/./.]
flat|-n 2 --map-by socket:PE=3:SPAN|[B/B/B/.][./././.] [./././.][B/B/B/.]
flat|-n 2 --map-by :PE=4|[B/B/B/B][./././.] [./././.][B/B/B/B]
flat|-n 2 --cpus-per-proc 2|[B/B/./.][./././.] [././B/B][./././.]
flat|-n 2 --cpus-per-rank 2|[B/B/./.][./././.] [././B/B][./././.]
flat|--map-by ppr:1:socket|[B/B/B/B][./././.] [./././.][B/B/B/B]
flat|--map-by ppr:2:socket --bind-to core|[B/././.][./././.] [./B/./.][./././.] [./././.][B/././.] [./././.][./B/./.]
flat|--map-by ppr:2:socket:PE=2|[B/B/./.][./././.] [././B/B][./././.] [./././.][B/B/./.] [./././.][././B/B]
flat|--map-by ppr:2:node --bind-to core|[B/././.][./././.] [./B/./.][./././.]
flat|--ppr 1:socket|[B/B/B/B][./././.] [./././.][B/B/B/B]
flat|-npersocket 1|[B/B/B/B][./././.] [./././.][B/B/B/B]
flat|-npersocket 2|[B/B/B/B][./././.] [B/B/B/B][./././.] [./././.][B/B/B/B] [./././.][B/B/B/B]
flat|-pernode --bind-to core|[B/././.][./././.]
flat|-n 2 --bind-to-core|[B/././.][./././.] [./B/./.][./././.]
flat|-n 2 --bind-to-socket|[B/B/B/B][./././.] [./././.][B/B/B/B]
flat|-n 2 --bycore|[B/././.][./././.] [./B/./.][./././.]
flat|-n 2 --bynode|[./././.][./././.] [./././.][./././.]
flat|-n 2 --cpu-set 2,5 --bind-to core|[B][.] [.][B]
flat|-n 2 --cpu-set 4-7 --bind-to core|[B/././.] [./B/./.]
flat|-n 2 --cpu-list 2,5|[././B/.][./B/./.] [././B/.][./B/./.]
flat|-n 2 --cpu-list 2,5 --bind-to cpu-list:ordered|[././B/.][./././.] [./././.][./B/./.]
flat|-n 2 --cpu-list 2,5 --bind-to cpulist:ordered|[././B/.][./././.] [./././.][./B/./.]
flat|-n 2 --map-by pe-list=2,5:ordered|[././B/.][./././.] [./././.][./B/./.]
flat|-n 2 --map-by pe-list=2,5|[././B/.][./B/./.] [././B/.][./B/./.]
flat|-n 2 --map-by pe-list=2-3|[././B/B][./././.] [././B/B][./././.]
flat|-n 4 -bind-to user:0+2,1+4,3|[B/./B/.][./././.] [./B/./.][B/././.] [./././B][./././.] [B/./B/.][./././.]
flat|-n 3 -bind-to rr|[B/././.][./././.] [./B/./.][./././.] [././B/.][./././.]
flat|-n 9 --bind-to core:overload-allowed --cpu-set 0-1|[B/.] [./B] [B/.] [./B] [B/.] [./B] [B/.] [./B] [B/.]
flat|-n 3 --bind-to core:overload --cpu-set 0-1|[B/.] [./B] [B/.]
flat|-n 3 --oversubscribe --bind-to core --cpu-set 0-1|[B/.] [./B] [B/.]
threads|-n 2 --bind-to core|[BB/..][../..] [../BB][../..]
threads|-n 2 --bind-to hwthread|[B./..][../..] [.B/..][../..]
threads|-n 2 --map-by core --bind-to hwthread|[B./..][../..] [../B.][../..]
threads|-n 3 --map-by hwthread|[B./..][../..] [.B/..][../..] [../B.][../..]
threads|-n 2 --map-by slot:pe=2 --use-hwthread-cpus|[BB/..][../..] [../BB][../..]
threads|-n 2 --map-by slot:pe=3:hwtcpus|[BB/B.][../..] [../.B][BB/..]
threads|-n 2 --bind-to hwthread --map-by slot:pe=2|[BB/..][../..] [../BB][../..]
threads|-n 1 -bind-to hwthread:3|[BB/B.][../..]
threads|-n 2 --cpu-set 3 --bind-to hwthread|[B.] [.B]
threads|-n 1 --use-hwthread-cpus --cpu-set 3 --bind-to hwthread|[B]
threads|-n 2 --use-hwthread-cpus --cpu-list 1,2 --bind-to cpu-list:ordered|[.B/..][../..] [../B.][../..]
threads|-n 2 -bind-to numa|[BB/BB][BB/BB] [BB/BB][BB/BB]
threads|-n 2 --map-by ppr:1:l3cache:pe=2|[BB/BB][../..] [../..][BB/BB]
deep|-n 4 --map-by numa --bind-to core|[B/././././././.][./././././././.] [././././B/././.][./././././././.] [./././././././.][B/././././././.] [./././././././.][././././B/././.]
deep|-n 2 -bind-to numa:2|[B/B/B/B/B/B/B/B][./././././././.] [./././././././.][B/B/B/B/B/B/B/B]
TABLE

# refused WORDS MACHINE OPTIONS...: with these words
refused() {
    words=$1
    machine=$2
    shift 2
    HWLOC_SYNTHETIC=$machine run --do-not-launch "$@" true 2>err && fail "$* is refused"
    holds "$* is refused" "$(cat err)" "$words"
}
refused "too few cores for its 9 ranks" "$flat" -n 9 --bind-to core
refused "makes 2" "$flat" -n 3 --bind-to l3cache:limit=1
refused "tells of no l4cache" "$flat" -n 2 --bind-to l4cache
refused "pe=5" "$flat" -n 2 --map-by socket:pe=5
refused "2 ranks, but the hosts have 1 slots" "$flat" -n 2 -host localhost --nooversubscribe
refused "9 ranks, but the hosts have 8 slots" "$flat" -n 9 --map-by :NOOVERSUBSCRIBE
refused "tells of no l2cache" "$flat" -n 2 --bind-to l2cache
refused "no such object" "$flat" --map-by ppr:1:l2cache
refused "makes 4" "$flat" -n 5 --map-by ppr:2:socket
refused "each rank is to have 3" "$flat" -n 2 -bind-to socket:3
refused "3 ranks, but the list has processors for 2" "$flat" -n 3 --map-by pe-list=2,5:ordered
refused "'8' is no list of processors" "$flat" --cpu-set 8
refused "not 'soket'" "$flat" --bind-to soket
refused "no device 'gpu:1' on this host; hwloc tells of none" "$flat" -bind-to gpu:1
refused "not 'fast'" "$flat" --map-by core:fast
refused "not 'hill'" "$flat" --rank-by hill
refused "a qualifier is missing" "$flat" --map-by core:

# Devices: eth0 and a GPU at the first package, a GPU, InfiniBand and two of Omni-Path at the second.
near() {
    HWLOC_XMLFILE=$(dirname "$0")/../../tools/launcher_machine.xml
    export HWLOC_XMLFILE
    picture "" "$@"
    unset HWLOC_XMLFILE
}
while IFS='|' read -r options wanted; do
    # shellcheck disable=SC2086
    same "near a device: $options" "$(near $options)" "$wanted"
done <<'TABLE'
-n 2 -bind-to eth0|[B/B][./.] [B/B][./.]
-n 1 -bind-to gpu|[B/B][./.]
-n 1 -bind-to gpu:1|[./.][B/B]
-n 1 -bind-to gpu1|[./.][B/B]
-n 1 -bind-to cuda1|[./.][B/B]
-n 1 -bind-to en:0|[B/B][./.]
-n 1 -bind-to ib|[./.][B/B]
-n 1 -bind-to hfi:1|[./.][B/B]
-n 1 -bind-to pci:0000:80:01.0|[./.][B/B]
-n 1 -bind-to pci:00:03.0|[B/B][./.]
-n 3 --map-by dist:gpu:1|[./.][B/.] [./.][./B] [B/.][./.]
-n 3 --map-by device=eth0|[B/.][./.] [./B][./.] [./.][B/.]
-n 5 --map-by dist:eth0 --bind-to core|[B/.][./.] [./B][./.] [./.][B/.] [./.][./B] [B/.][./.]
-n 1 --map-by dist:eth0 --bind-to gpu:1|[./.][B/B]
-n 1 --map-by dist:gpu:1 --map-by core|[B/.][./.]
-n 1 --bind-to gpu:1 --cpu-set 3|[B]
TABLE
holds "a device that is not there is an error that names others" "$(near -bind-to gpu:2)" \
    "there is no device 'gpu:2' on this host; there are eth0, card0, cuda0, card1, cuda1, mlx5_0, hfi1_0"
holds "one of whose processors none may be used, too" "$(near -bind-to eth0 --cpu-set 2)" \
    "none of the processors that may be used is near 'eth0'"
holds "so is a place" "$(near -bind-to pci:0000:80:09.0)" "and by place pci:0000:00:03.0"

# Rankfiles.
printf 'rank 0=localhost slot=1:0-1\nrank 1=+n0 slot=3\n' >ranks
same "a rankfile binds" "$(picture "$flat" --rankfile ranks)" "[./././.][B/B/./.] [./././B][./././.]"
same "by all its names" "$(picture "$flat" -n 1 -rf ranks)" "[./././.][B/B/./.]"
same "also as a mapping" "$(picture "$flat" --map-by rankfile:file=ranks)" \
    "[./././.][B/B/./.] [./././B][./././.]"
printf 'rank 0=elsewhere slot=0\n' >ranks
refused "line 1: a host of the job is expected" "$flat" --rankfile ranks -host localhost
holds "its hosts are the job's, where no others are named" \
    "$(run --do-not-launch --rankfile ranks true 2>&1)" "rank 0 on elsewhere is to have cores 0"
refused "cannot read it" "$flat" --rankfile none

# Outside of Slurm, hosts are reached by ssh, whichever option names them.
mkdir bin
for name in ssh srun; do
    printf '#!/bin/sh\necho this is %s >&2\nexit 1\n' $name >bin/$name
    chmod +x bin/$name
done
for words in "--rankfile ranks" "--add-host elsewhere -n 2"; do
    # shellcheck disable=SC2086
    holds "$words goes by ssh" "$(unset SLURM_JOB_ID; PATH=$PWD/bin:$PATH run $words true 2>&1)" "this is ssh"
done

# This machine, by what the kernel says.
HWLOC_SYNTHETIC=$flat run -n 2 --bind-to core true 2>err && fail "another machine's are refused"
holds "to another machine nothing is bound" "$(cat err)" "unset HWLOC_SYNTHETIC"
same "unless the user says that it does not matter" \
    "$(HWLOC_SYNTHETIC=$flat run --bind-to core:if-supported echo x 2>/dev/null)" x

# allowed OPTIONS...: the processors of each rank, in their order
allowed() {
    # shellcheck disable=SC2016
    run -l "$@" sh -c 'grep Cpus_allowed_list /proc/self/status' |
        sed 's/^\[\([0-9]*\)\].*:[^0-9]*/\1 /' | sort -n | cut -d' ' -f2 | xargs
}
own=$(sed -n 's/Cpus_allowed_list:[^0-9]*//p' /proc/self/status)
first=$(taskset -pc $$ | sed 's/.*: \([0-9]*\).*/\1/')
same "ranks are not bound" "$(allowed -n 2)" "$own $own"
same "one to the first processor" "$(allowed -bind-to user:"$first")" "$first"
same "as taskset says, too" \
    "$(run -bind-to user:"$first" sh -c 'taskset -cp $$' | sed 's/.*: //')" "$first"
same "mpiexec's own affinity holds" "$(taskset -c "$first" "$mpiexec" -n 1 --map-by core \
    sed -n 's/Cpus_allowed_list:[^0-9]*//p' /proc/self/status)" "$first"
[ "$(nproc)" = 1 ] || holds "the report tells that it is not mpiexec's" \
    "$(taskset -c "$first" "$mpiexec" --report -n 1 true 2>&1)" "$first (set before mpiexec)"
holds "and whose another one is" "$(run --report -bind-to user:"$first" true 2>&1)" "$first (set by mpiexec)"
if taskset -c "$first" "$mpiexec" -n 2 --bind-to core true 2>err; then
    [ "$(grep -c . /sys/devices/system/cpu/cpu"$first"/topology/thread_siblings_list)" = 2 ] ||
        fail "two cannot be bound to the one core that is left"
fi
if [ "$(nproc)" -ge 2 ]; then
    second=$(taskset -pc $$ | sed 's/.*: [0-9]*[,-]\([0-9]*\).*/\1/')
    [ "$second" -gt $((first + 1)) ] && second=$((first + 1))
    same "each to its own" "$(allowed -n 2 -bind-to user:"$first,$second")" "$first $second"
    same "in turn" "$(allowed -n 3 -bind-to rr)" "$first $second $first"
fi
for policy in firsttouch bind:0 interleave:0; do
    if run -membind $policy true 2>err; then
        run -membind $policy grep -q "$(echo $policy | sed 's/firsttouch/local/')" \
            /proc/self/numa_maps || fail "memory is $policy"
        echo "ok: memory is $policy"
    else
        holds "memory cannot be $policy" "$(cat err)" "bind its memory"
    fi
done
run -membind bind:9-8 true 2>err && fail "nodes are read"
holds "a list of nodes is checked" "$(cat err)" "memory nodes"
run -membind nexttouch true 2>err && fail "nexttouch is refused"
holds "nexttouch is refused" "$(cat err)" "no such policy"
