# SPDX-License-Identifier: BSD-3-Clause
# The heat example goes on without a rank that has died, and with another process in its place: the field is the same.
# usage: sh heat.sh MPIEXEC HEAT PLATE
. "$(dirname "$0")/../bnr/lib.sh"
heat=$2 plate=$3
run -n 4 "$heat" "$plate" picture.png whole >out 2>&1 || fail "a run in which nobody dies" "$(cat out)"
for option in --kill --replace; do
    run -n 4 "$heat" $option "$plate" picture.png "field$option" >out 2>&1
    same "$option: status" "$?" 137
    left=$([ $option = --kill ] && echo 3 || echo 4)
    holds "$option: so many go on" "$(cat out)" "a rank is gone: $left ranks go on from sweep"
    cmp whole "field$option" || fail "$option: the field is the same" "$(cat out)"
    echo "ok: $option: the field is the same"
done
