# SPDX-License-Identifier: BSD-3-Clause
# Under every small limit of open files a job runs whole, or is refused in one line that names the
# cure. Run as: sh limits.sh MPIEXEC WORK.
. "$(dirname "$0")/lib.sh"
work=$2

# limited N COMMAND...: with so many files, of which three are the standard streams
limited() {
    limit=$1
    shift
    (ulimit -n "$limit" && exec timeout -k 5 60 "$@") >out 2>err </dev/null
}

ran=0 refused=0
for n in $(seq 4 64); do
    limited "$n" "$mpiexec" -n 4 echo here
    code=$?
    if [ $code = 0 ]; then
        [ "$(grep -c '^here$' out)$(cat err)" = 4 ] || fail "$n files: it runs whole" "$(cat out err)"
        ran=$((ran + 1))
    else
        [ "$code $(wc -l <err)" = "1 1" ] || fail "$n files: refused in one line" "$code" "$(cat err)"
        [ ! -s out ] || fail "$n files: nothing is started" "$(cat out)"
        grep -q '^mpiexec: .* ulimit -n ' err || fail "$n files: the cure is named" "$(cat err)"
        [ $ran = 0 ] || fail "$n files are enough where fewer were"
        refused=$((refused + 1))
    fi
done
[ $ran -gt 0 ] && [ $refused -gt 0 ] || fail "both happen" "$ran ran, $refused refused"
echo "ok: refused with up to $((refused + 3)) files, ran with more"

limited 20 "$mpiexec" -n 100 sh -c 'echo $PMI_FD'
enough=$(sed -n 's/.*ulimit -n \([0-9]*\).*/\1/p' err)
limited $((enough + 2)) "$mpiexec" -n 100 sh -c 'echo $PMI_FD' # a shell's own may count
same "what it asks for is enough for sockets of 100 ranks" "$?$(cat err)$(grep -c . out)" 0100
limited 20 "$mpiexec" --do-not-launch --display-map -n 400 echo here
same "a job that is only shown needs no files" "$?$(cat out)" 0
limited 20 "$mpiexec" -n 4 echo here
enough=$(sed -n 's/.*ulimit -n \([0-9]*\).*/\1/p' err)
limited "$enough" "$mpiexec" -n 4 "$work" init p2p=3 barrier=3 finalize
same "what it asks for is enough for MPI programs" "$?$(cat err)" 0
VIREO_CHANNELS=tcp,loopback limited "$enough" "$mpiexec" -n 4 "$work" init p2p=3 finalize
same "over tcp too" "$?$(cat err)" 0
limited "$enough" "$mpiexec" --stdin all -n 4 echo here
same "but for more streams it wants more" "$?" 1
(ulimit -Sn 8 && exec timeout -k 5 60 "$mpiexec" -n 16 echo here) >out 2>err
same "a soft limit is raised" "$?$(grep -c here out)$(cat err)" 016
(ulimit -Sn 8 && exec timeout -k 5 60 "$mpiexec" -n 1 sh -c 'ulimit -n') >out 2>err
same "and given to the ranks as it was" "$(cat out)" 8
