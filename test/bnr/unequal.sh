# SPDX-License-Identifier: BSD-3-Clause
# Settings that all processes must have alike are compared: run as sh unequal.sh MPIEXEC WORK.
. "$(dirname "$0")/lib.sh"
work=$2

# pair SETTING VALUE [OPTION...]: rank 0 alone has the value
pair() {
    setting=$1 value=$2
    shift 2
    run --timeout 20 "$@" -n 1 env "VIREO_$setting=$value" "$work" init ring barrier=20 finalize : \
        -n 1 "$work" init ring barrier=20 finalize >out 2>err
}
for channels in shm,loopback tcp,loopback; do
    for one in REGION_AFTER=3:region_after=8 COLL_BCAST=tree:coll_bcast=auto CHECK=1:check=0 \
               EAGER_CREDIT=65536:eager_credit=16777216; do
        other=${one#*:} one=${one%%:*}
        pair "${one%=*}" "${one#*=}" --set channels=$channels
        [ $? = 124 ] && fail "$one with $channels: the job hangs" "$(cat err)"
        holds "$one over $channels" "$(cat err)" "setting ${other%=*} is '${one#*=}' here and '${other#*=}' there"
        holds "... and what to do" "$(cat err)" "mpiexec --set ${other%=*}=VALUE"
    done
done
pair REGION_AFTER 8
same "the initial value is no difference" "$?$(cat err)" 0
pair SPIN_US 7
same "a setting of a process's own may differ" "$?$(cat err)" 0
run --set region_after=3 --set coll_bcast=tree --set coll_tuning=/dev/null -n 2 "$work" init ring finalize \
    >out 2>err
same "all have the same" "$?$(cat err)" 0
