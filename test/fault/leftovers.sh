# SPDX-License-Identifier: BSD-3-Clause
# What ranks leave running when a job ends well is ended with it, and no file appears.
. "$(dirname "$0")/../bnr/lib.sh"
probe=$2

litter >before
daemons() {
    run -n 3 sh -c 'sleep 31 & setsid sleep 31 & (env -i setsid sleep 31 >/dev/null 2>&1 &)
        echo $$ >pid.$BNR_RANK; : done'
    same "a job with daemons of its own ends at once" $? 0
}
in_time 2000 daemons
same "and they with it" "$(ps -eo args | grep -c '^sleep 31')" 0
same "no zombie of it stays" "$(ps -eo ppid,stat | awk -v p=$$ '$1 == p && $2 ~ /Z/' | wc -l)" 0
run -n 8 "$probe" init cards memory fences=3 finalize
litter >after
same "memory that ranks used has no name anywhere" "$(comm -13 before after)" ""

# A job inside a job: the outer end takes the inner along.
MARK=inner-$$ run --timeout 1 -n 1 sh -c "'$mpiexec' -n 2 sleep 32"
same "a time limit ends the inner job too" $? 124
same "all of it" "$(ps -eo args | grep -c '^sleep 32')" 0
