# SPDX-License-Identifier: BSD-3-Clause
# The report of a job on several hosts. usage: sh comm_hosts.sh MPIEXEC COMM_HOSTS
. "$(dirname "$0")/../../bnr/lib.sh"
export VIREO_TCP_ADDRESSES=127.0.0.1

run --report --pretend-hosts 2 -n 4 "$2" 2 2>err || fail "the job ends well" "$(cat err)"
report=$(tr -s ' ' <err)
here=$(uname -n)
same "each rank stands beside its host" \
    "$(printf '%s\n' "$report" | awk '$3 ~ /pretend/ { print $1, $3 }')" \
    "0 $here.pretend0
1 $here.pretend0
2 $here.pretend1
3 $here.pretend1"
for pair in 0-1 2-3; do
    holds "ranks $pair share memory" "$report" " $pair each other shm "
done
holds "others do not" "$report" " 0-1 2-3 tcp "
holds "because they are on other hosts" "$report" " shm: other host"
run --report -n 4 "$2" 1 2>err || fail "the job ends well" "$(cat err)"
holds "one host is told once" "$(cat err)" "Report: 4 ranks on $here"
same "and all share memory" "$(grep -c ' tcp  *loopback' err)" 0
