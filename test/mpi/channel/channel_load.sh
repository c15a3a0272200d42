# SPDX-License-Identifier: BSD-3-Clause
# Channels loaded at run time. usage: sh channel_load.sh MPIEXEC CHANNEL_LOAD VIREO-INFO FIFO.so BAD.so...
. "$(dirname "$0")/../../bnr/lib.sh"
program=$2 info=$3 fifo=$(realpath "$4")
shift 4
export VIREO_TCP_ADDRESSES=127.0.0.1

VIREO_CHANNELS=tcp,loopback run --report -n 3 "$program" good "$fifo" "$PWD/mark" 2>err ||
    fail "a channel comes after MPI_Init" "$(cat err)"
report=$(tr -s ' ' <err)
printf '%s\n' "$report" | grep -Eq '(0-1 each other|0 1|1 0) tcp ' ||
    fail "the connection that stood stays" "$report"
holds "the others take the channel" "$report" " 2 0-1 fifo "
for channels in tcp,loopback shm,loopback; do
    VIREO_CHANNELS=$channels run -n 4 "$program" all "$fifo" 2>err ||
        fail "each loads it while others talk, over $channels" "$(cat err)"
done

VIREO_CHANNELS=fifo,loopback VIREO_CHANNEL_PATH=$fifo run --report -n 2 "$program" all "$fifo" \
    >out 2>err && fail "a name is taken once" "$(cat err)"
holds "a name is taken once" "$(cat err)" "there is a channel 'fifo' already"

VIREO_CHANNELS=tcp,loopback run -n 2 "$program" tool "$fifo" "$PWD/none.so" 2>err ||
    fail "a tool loads a channel by a control variable" "$(cat err)"
holds "a tool is told why a channel is refused" "$(cat err)" "a channel is refused: it cannot be loaded"

# With rights that are not its user's, a process loads nothing: neither from the path nor by a call.
cp "$program" rights
if [ "$(id -u)" = 0 ]; then
    chown 65534 rights && chmod 4755 rights && chmod 755 .
else
    other=$(id -G | tr ' ' '\n' | grep -vx "$(id -g)" | head -n 1)
    [ -n "$other" ] && chgrp "$other" rights && chmod 2755 rights
fi
VIREO_CHANNEL_PATH=$fifo timeout 60 ./rights rights "$fifo" >out 2>&1
case $? in
0) echo "ok: a process that is set-user-id loads nothing" ;;
77) echo "no process can be made set-user-id here" ;;
1) # The leak checker of a build with the address sanitizer cannot look at such a process.
    grep -q 'LeakSanitizer does not work' out && ! grep -qv -e '^==' -e 'set-user-id, and loads nothing' out ||
        fail "a process that is set-user-id loads nothing" "$(cat out)"
    ;;
*) fail "a process that is set-user-id loads nothing" "$(cat out)" ;;
esac

bad() { # FILE WORDS: refused when loaded, and named when on the path
    run -n 2 "$program" bad "$1" "$2" 2>err || fail "$1 is refused" "$(cat err)"
    VIREO_CHANNEL_PATH=$1 "$info" >out 2>err || fail "vireo info with $1" "$(cat err)"
    holds "vireo info tells of $(basename "$1")" "$(cat out)" "$2"
}
for file; do
    case $file in
    *crash*) bad "$file" "it crashes while it is opened" ;;
    *exit*) bad "$file" "it ends the process while it is opened" ;;
    *version*) bad "$file" "it is made for version" ;;
    *size*) bad "$file" "its table has" ;;
    *name*) bad "$file" "its name is not of letters" ;;
    *reserved*) bad "$file" "'impi', which is reserved" ;;
    *card*) bad "$file" "its card holds what would break the cards of others" ;;
    *lacks*) bad "$file" "its table has no unlink(), which every channel has" ;;
    *absent*) bad "$file" "there is no such network" ;;
    *taken*) bad "$file" "there is a channel 'tcp' already" ;;
    *nothing*) bad "$file" "it does not export vireo_channel" ;;
    *) fail "a known file" "$file" ;;
    esac
done
echo "no object" >text.so
bad "$PWD/text.so" "it cannot be loaded"
bad "$PWD/none.so" "it cannot be loaded"
VIREO_CHANNEL_PATH=$PWD/none.so run -n 2 "$program" bad "$PWD/none.so" "it cannot be loaded" 2>err
[ "$(grep -c "warning: VIREO_CHANNEL_PATH: $PWD/none.so: it cannot be loaded" err)" = 1 ] ||
    fail "a path that leads to no channel is told once" "$(cat err)"
mkdir -p none
VIREO_CHANNEL_PATH=$PWD/none:$PWD/text.so "$info" >out 2>err
holds "a folder without a channel is told" "$(cat err)" "none: it cannot be loaded: nothing in this folder"
holds "and that there are more" "$(cat err)" "\`vireo info\` lists 1 more that are refused"
VIREO_CHANNELS=tcp "$info" >out 2>err
module=$(sed -n 's/^ *in \(.*libvireo-channel-ofi.so\)$/\1/p' out)
if [ -e "$module" ]; then
    holds "vireo info lists the parameters of a channel that is closed" "$(sed -n '/^ofi:/,$p' out)" \
        "timeout_ms = 60000"
fi
mkdir -p folder
cp "$fifo" folder/
VIREO_CHANNEL_PATH=$PWD/folder "$info" >out 2>err || fail "a folder" "$(cat err)"
holds "a folder is searched" "$(cat out)" "fifo: open"
VIREO_CHANNEL_PATH=$fifo VIREO_CHANNELS=tcp "$info" >out 2>err || fail "left out" "$(cat err)"
holds "what is not asked for stays closed" "$(cat out)" "fifo: VIREO_CHANNELS leaves it out"
VIREO_CHANNELS=loopback,wire "$info" >out 2>err && fail "an unknown channel" "$(cat out)"
holds "an unknown channel is an error" "$(cat err)" "VIREO_CHANNELS names 'wire'"
VIREO_CHANNEL_PATH=$PWD/text.so VIREO_CHANNELS=loopback,wire run -n 2 "$program" all "$fifo" \
    >out 2>err && fail "a channel that is asked for and refused" "$(cat out)"
holds "of a channel that is asked for and refused the reason is told" "$(cat err)" \
    "; $PWD/text.so: it cannot be loaded"
cp "$fifo" folder/same.so
VIREO_CHANNEL_PATH=folder/same.so:folder "$info" >out 2>err || fail "twice" "$(cat err)"
holds "which file has a name already is told" "$(cat out)" \
    "there is a channel 'fifo' already, in folder/same.so"
cp "$fifo" here.so
VIREO_CHANNEL_PATH=here.so "$info" >out 2>err || fail "a file without a folder" "$(cat err)"
holds "a file without a folder is one of this folder" "$(cat out)" "fifo: open"
mkfifo waits.so
in_time 8000 bad "$PWD/waits.so" "it is no regular file"
VIREO_CHANNEL_PARAMS=tcp.depth=1 "$info" >out 2>err && fail "an unknown parameter" "$(cat out)"
holds "an unknown parameter is an error" "$(cat err)" "which channel tcp does not have"
