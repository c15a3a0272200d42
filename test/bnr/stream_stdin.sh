# SPDX-License-Identifier: BSD-3-Clause
# mpiexec's stdin where a rank does not read it, and where one dies.
# Run as: sh stream_stdin.sh MPIEXEC never-reads|dying-rank
. "${0%/*}/lib.sh"

# The most memory that mpiexec has used, in KiB, told by a rank.
peak='grep VmHWM /proc/$PPID/status | tr -cd 0-9'
head -c 20000000 /dev/urandom >data
hash=$(sha1sum <data | cut -d' ' -f1)

never_reads() {
    # Rank 0 looks at its stdin only when the others have written all that they have to.
    out=$(yes | run -n 4 --stdin 0 sh -c '
        if [ $BNR_RANK = 0 ]; then
            until [ -e 1.done ] && [ -e 2.done ] && [ -e 3.done ]; do sleep 0.02; done
        else
            seq 300000; : >$BNR_RANK.done
        fi' | sort -n | uniq -c | grep -c "^ *3 ")
    same "others write 6 MB while a rank never reads" "$out" 300000
    rm -f ./*.done
    out=$(cat data | run -n 3 --stdin all sh -c '
        if [ $BNR_RANK = 0 ]; then
            until [ -e 1.began ] && [ -e 2.began ]; do sleep 0.02; done
            sleep 0.3; '"$peak"' >memory; exec sleep 0
        else
            (head -c 1000; : >$BNR_RANK.began; cat) | sha1sum
        fi')
    same "one of all that never reads holds the others up until it ends, and loses them nothing" \
        "$out" "$hash  -
$hash  -"
    memory=$(cat memory)
    echo "mpiexec used $memory KiB"
    [ "$memory" -lt 65536 ] || fail "that takes less than 64 MiB" "$memory KiB"
}

dying_rank() {
    out=$(cat data | run -disable-auto-cleanup -n 4 --stdin all sh -c '
        if [ $BNR_RANK = 1 ]; then head -c 5 >/dev/null; kill -9 $$; fi; sha1sum' 2>err)
    same "the status is that of the rank that died" "$?" 137
    same "the others get all bytes" "$out" "$hash  -
$hash  -
$hash  -"
    out=$(yes | run -disable-auto-cleanup -n 2 --stdin all sh -c 'head -c 5 >/dev/null; kill -9 $$' 2>&1)
    same "with the last one, mpiexec stops reading" "$?" 137
}

case $2 in
never-reads) never_reads ;;
dying-rank) dying_rank ;;
*) fail "no case $2" ;;
esac
