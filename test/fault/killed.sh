# SPDX-License-Identifier: BSD-3-Clause
# Run as: sh killed.sh MPIEXEC PROBE [ROUNDS [SEED]]. In each round a job of ranks, wrappers,
# and daemons of theirs loses a member to kill -9 at a random moment: mpiexec, a rank, a
# descendant, a warden, or mpiexec and a warden together. Two seconds later no process of it is left.
. "$(dirname "$0")/../bnr/lib.sh"
probe=$2
rounds=${3:-24}
seed=${4:-$$}
echo "seed $seed"

# The mark that every process of a round has in its arguments or environment.
mark() {
    echo "seconds-$$-$1"
}

cat >tree.sh <<'S'
# A rank: plain, under a wrapper, with children in a session of their own.
case $(($BNR_RANK % 3)) in
0) exec "$PROBE" init fences=3 sleep=30000 finalize ;;
1) sh -c "setsid sh -c 'sleep 30; : $MARK' & sleep 30; : $MARK" ;;
2) (setsid sh -c "sleep 30; : $MARK" >/dev/null 2>&1 </dev/null &)
   (env -i sh -c "sleep 30; : $MARK" &)
   sleep 30 ;;
esac
S

# The processes of the round: by mark in arguments or environment, our own shell not among them.
left() {
    grep -slz -- "$1" /proc/[0-9]*/cmdline /proc/[0-9]*/environ 2>/dev/null |
        cut -d/ -f3 | sort -u | grep -vx -e "$$" | while read -r pid; do
        state=$(sed 's/.*) //; s/ .*//' "/proc/$pid/stat" 2>/dev/null) || continue
        case $state in Z | X | "") ;; *) echo "$pid" ;; esac
    done
}


for round in $(seq 1 "$rounds"); do
    word=$(mark "$round")
    MARK=$word PROBE=$probe setsid "$mpiexec" -n 6 sh tree.sh >out 2>&1 </dev/null &
    job=$!
    seed=$(((seed * 1103515245 + 12345) % 2147483648))
    sleep "0.$(printf %03d $((seed / 65536 % 250)))"
    what=$((round % 5))
    victim=
    case $what in
    0) victim=$job ;;
    1) victim=$(tr ' ' '\n' <"/proc/$job/task/$job/children" 2>/dev/null | sed -n 4p) ;;
    2) victim=$(left "$word" | grep -vx "$job" | tail -n 1)
       [ -z "$victim" ] || kill -9 "$victim" # it may be nobody's rank: the job may go on
       sleep 0.05
       kill "$job" 2>/dev/null
       victim=none ;;
    3) warden=$(tr ' ' '\n' <"/proc/$job/task/$job/children" 2>/dev/null | sed -n 1p)
       [ -z "$warden" ] || kill -9 "$warden"
       sleep 0.05
       victim=$job ;;
    4) warden=$(tr ' ' '\n' <"/proc/$job/task/$job/children" 2>/dev/null | sed -n 1p)
       kill -9 "$job" $warden 2>/dev/null
       victim=none ;;
    esac
    [ -n "$victim" ] || victim=$job
    [ $victim = none ] || kill -9 "$victim" 2>/dev/null
    tries=0
    while [ -n "$(left "$word")" ]; do
        tries=$((tries + 1))
        [ $tries -lt 40 ] || {
            for pid in $(left "$word"); do
                tr '\0' ' ' <"/proc/$pid/cmdline"; echo " ($pid)"
                kill -9 "$pid"
            done >stray
            fail "round $round, kind $what: nothing is left after 2 s" "$(cat stray)"
        }
        sleep 0.05
    done
    wait "$job" 2>/dev/null
done
echo "ok: $rounds jobs lost a member and left nothing"
