# SPDX-License-Identifier: BSD-3-Clause
# Members of a collective that have different lengths, one of which goes by messages: run as sh coll_apart.sh MPIEXEC
# COLL_APART.
. "$(dirname "$0")/../../bnr/lib.sh"
apart=$2
for ranks in 3 4; do
    for kind in 0 1 2 3 4 5 6; do
        for who in 0 $((ranks - 1)); do
            case $kind$who in
            10 | 20) continue ;; # the others only give: they are done before the root waits
            6$((ranks - 1))) continue ;; # no other waits for the last one
            esac
            run --timeout 20 -n $ranks "$apart" $kind $who >out 2>err
            code=$?
            [ $code != 0 ] && [ $code != 124 ] && grep -q "another count" err ||
                fail "$ranks ranks, kind $kind, rank $who: status $code" "$(cat out err)"
        done
    done
    echo "ok: $ranks ranks are told"
done
