# SPDX-License-Identifier: BSD-3-Clause
# No job that goes on is accused of anything: run as sh healthy.sh MPIEXEC HEALTHY VIREO REPORTS. So
# many reports in all are asked for, half of them of programs with several threads. The gate asks
# for few; 1000 take some minutes.
. "$(dirname "$0")/../../bnr/lib.sh"
program=$2
vireo=$3
reports=$4
made=0 threaded=0 accused=0

# ask CASE WORKERS REPORTS
ask() {
    : >out # of the job before
    "$mpiexec" --timeout 280 -n 4 "$program" "$1" "$2" >out 2>err &
    job=$!
    for i in $(seq 1 300); do
        grep -q begun out && break
        sleep 0.1
    done
    for i in $(seq 1 "$3"); do
        "$vireo" report "$job" >report 2>&1 || fail "a report of $1 with $2 workers" "$(cat report err)"
        made=$((made + 1))
        [ "$2" = 0 ] || threaded=$((threaded + 1))
        grep -q '^Hang report' report || fail "it is a report" "$(cat report)"
        if grep -q -i -e '^culprit' -e 'deadlock' -e 'what is wrong' report; then
            accused=$((accused + 1))
            echo "$1 with $2 workers is accused:" && cat report
        fi
    done
    kill "$job"
    wait "$job" 2>/dev/null
}

# Most over the default channels, some over tcp.
cases="ring halo collectives farm crossed copies"
each=$(((reports * 3 / 4 + 11) / 12))
for channels in "" tcp,loopback; do
    [ "$channels" ] && export VIREO_CHANNELS=$channels && each=$(((reports / 4 + 11) / 12))
    for name in $cases; do
        for workers in 0 3; do
            ask "$name" $workers $each
        done
    done
done
echo "$made reports, $threaded of them of threaded programs: $accused accusations"
same "no healthy job is accused" $accused 0
