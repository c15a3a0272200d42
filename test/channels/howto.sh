#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
#
# The channel of doc/channel-howto.md, made outside the source tree against the installed headers
# alone, through the conformance suite.
#
# usage: howto.sh CC HOWTO.py HOWTO.md CHANNEL-TEST HEADER...
set -eu

cc=$1 extract=$(realpath "$2") page=$(realpath "$3") suite=$(realpath "$4")
shift 4
here=$(mktemp -d)
trap 'rm -rf "$here"' EXIT
mkdir "$here/include"
cp "$@" "$here/include"
cd "$here"
python3 "$extract" "$page" fifo.c
$cc -O2 -Wall -Wextra -Werror -Wno-unused-parameter -D_GNU_SOURCE -shared -fPIC -I include fifo.c \
    -o fifo.so

# A link that its channel refuses is what the report of a wait tells of.
sed 's/frame->kind == WELCOME && link->state == CALLING) {/&\
        link->state = OVER;\
        sink->refused(\&link->base, CHAN_ACCEPT, "this one refuses all");\
    } else if (frame->kind == WELCOME \&\& link->state == OVER) {/' fifo.c >refusing.c
$cc -O2 -D_GNU_SOURCE -shared -fPIC -I include refusing.c -o refusing.so
"$suite" ./refusing.so exchange >report 2>&1 && echo "Bail out! a channel that refuses all passes"
grep -q "waited in vain for opened(); the link to 1 was refused (answer 0): this one refuses all" report ||
    { sed 's/^/# /' report; echo "Bail out! the refusal is not told"; exit 1; }

"$suite" --checks-secret ./fifo.so
