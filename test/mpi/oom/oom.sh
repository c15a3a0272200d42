# SPDX-License-Identifier: BSD-3-Clause
# Where one allocation fails, a call fails with an error or does without; the same again, with memory, is
# good, and nothing ends without a word. Run as: sh oom.sh MPIEXEC OOM LIBRARY [SCENARIO...], alone, by two
# ranks, of which the first lacks memory, and by many, which all do.
. "$(dirname "$0")/../../bnr/lib.sh"
oom=$2 library=$3
shift 3

# try COMMAND...: with one allocation after the other failing
try() {
    k=0
    while [ $k -lt 200 ]; do
        timeout -k 2 20 "$@" "$scenario" $k >out 2>err
        code=$?
        [ $code = 77 ] && break
        case $scenario:$code in
        *:0) ;;
        init:* | files:*) # it cannot be tried again, or ROMIO ends the job, but each says why
            [ $code -lt 124 ] && [ -s err ] || fail "$scenario, allocation $k: status $code" "$(cat out err)" ;;
        *) fail "$scenario, allocation $k: status $code" "$(cat out err)" ;;
        esac
        k=$((k + 1))
    done
    [ $code = 77 ] || fail "$scenario: it does not end"
    echo "ok: $scenario, $k allocations, by $1"
}

for scenario in ${*:-init contact contact_long collectives nonblocking communicators types files end}; do
    try env "LD_PRELOAD=$library" "$oom"
done
[ $# = 0 ] || exit 0
for scenario in contact contact_long end; do
    for channels in shm,loopback tcp,loopback; do
        try "$mpiexec" --set channels=$channels -n 2 env "LD_PRELOAD=$library" "$oom"
    done
done
scenario=arrays
try "$mpiexec" -n 17 env "LD_PRELOAD=$library" "$oom"
