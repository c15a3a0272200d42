# SPDX-License-Identifier: BSD-3-Clause
# mpiexec's stdin reaches the ranks that should have it, exactly, at their speed.
. "$(dirname "$0")/lib.sh"

head -c 100000000 /dev/urandom >big
hash=$(sha1sum <big | cut -d' ' -f1)
cat >slow.py <<'P'
import hashlib, os, time
time.sleep(0.5)
h, n = hashlib.sha1(), 0
while True:
    data = os.read(0, 1 << 16)
    if not data:
        break
    h.update(data)
    n += len(data)
    if n % 5000000 < len(data):
        time.sleep(0.02)
if n:
    print(os.environ["OMPI_COMM_WORLD_RANK"], h.hexdigest())
P

same "100 MB from a pipe reach a slow rank 0" "$(cat big | run -n 3 python3 slow.py)" "0 $hash"
same "100 MB from a file reach rank 2 where asked" \
    "$(run -n 3 --stdin 2 python3 slow.py <big)" "2 $hash"
same "100 MB reach all ranks" "$(cat big | run -n 3 --stdin all python3 slow.py | sort)" \
    "0 $hash
1 $hash
2 $hash"
same "a rank that ends does not keep the others from theirs" \
    "$(cat big | run -n 3 --stdin all sh -c '
        if [ $OMPI_COMM_WORLD_RANK = 1 ]; then head -c 5 >/dev/null; else sha1sum; fi' | sort -u)" \
    "$hash  -"
same "a rank that closes its stdin and goes on does not either" \
    "$(cat big | run -n 2 --stdin all sh -c '
        if [ $OMPI_COMM_WORLD_RANK = 1 ]; then exec <&-; sleep 1; echo late; else sha1sum; fi' |
        sort)" \
    "$hash  -
late"
same "a reader that ends early ends well" \
    "$(run -n 2 sh -c 'head -c 5 | wc -c' <big | sort -n | tr -d '\n'; echo " $?")" "05 0"
same "all readers ending early end well" \
    "$(yes | run -n 2 --stdin all sh -c 'head -c 5 | wc -c' | tr -d '\n')" "55"
same "a stdin that nobody reads holds nothing up" \
    "$(yes | run -n 2 sh -c 'sleep 0.2; echo done' | tr -d '\n')" "donedone"
same "with none, every rank has an empty stdin" \
    "$(run -n 2 --stdin none wc -c <big | tr -d '\n')" "00"
same "an empty stdin ends at once" "$(run -n 2 --stdin all wc -c </dev/null | tr -d '\n')" "00"
same "what the ranks do not read stays for the next reader" \
    "$(printf 'one\ntwo\n' | while read -r line; do
        run -n 2 true
        printf '%s ' "$line"
    done)" "one two "
run -n 2 --stdin all cat </proc/self/mem >out 2>err
same "a stdin that cannot be read is no good end" $? 1
holds "and told" "$(cat err)" "stdin cannot be read to its end"
same "a closed stdin is empty" "$(run -n 2 wc -c <&- | tr -d '\n')" "00"
same "a terminal's lines reach rank 0" \
    "$( (sleep 0.5; echo word; sleep 0.5) | timeout 30 script -qec \
        "$mpiexec -l -n 2 sh -c 'read -r a; echo got \$a'" /dev/null | tr -d '\r' | grep got | sort)" \
    "[0] got word
[1] got"
same "a file is read in the place of stdin" \
    "$(echo other | run -n 2 --stdin ./big sha256sum | cut -d' ' -f1 | sort | uniq -c | wc -l)" "2"
same "by rank 0" "$(run -n 2 --stdin ./big sh -c 'echo $BNR_RANK $(wc -c)' | sort)" "0 $(wc -c <big)
1 0"
holds "a file that is not there is told" "$(run -n 1 --stdin ./none true 2>&1)" \
    "cannot read './none' for --stdin"
