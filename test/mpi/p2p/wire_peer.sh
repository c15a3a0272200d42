# SPDX-License-Identifier: BSD-3-Clause
# A job whose rank 1 is wire_peer.py. usage: sh wire_peer.sh MPIEXEC WIRE_PEER WIRE_PEER.py
. "$(dirname "$0")/../../bnr/lib.sh"
export VIREO_CHANNELS=tcp,loopback VIREO_TCP_ADDRESSES=127.0.0.1
run -n 1 "$2" "$PWD/where" : -n 1 python3 "$3" "$PWD/where" >out 2>&1 ||
    fail "a program of another make talks with ours" "$(cat out)"
same "and nothing is said of it" "$(cat out)" ""
rm -f where
export VIREO_BYTE_ORDER=network
run -n 1 "$2" "$PWD/where" : -n 1 python3 "$3" "$PWD/where" >out 2>&1 ||
    fail "and in network byte order, from a machine of the other one" "$(cat out)"
