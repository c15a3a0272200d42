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
"$suite" --checks-secret ./fifo.so
