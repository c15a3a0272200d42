#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
#
# Run a command where the kernel starts another machine's programs by qemu (binfmt_misc, in a user namespace of its own,
# which needs Linux 6.7), so that they are named as this machine's own are. Status 77 where that cannot be had.
# usage: registered.sh MACHINE COMMAND...
set -u
here=$(dirname "$0")
. "$here/machine.sh"
machine_facts "${1:?usage: registered.sh MACHINE COMMAND...}" || { echo "there is no machine '$1'" >&2; exit 2; }
if [ "${REGISTERED:-}" != "$1" ]; then
    interpreter=$(command -v "$qemu") || { echo "there is no $qemu" >&2; exit 77; }
    REGISTERED=$1 INTERPRETER=$interpreter exec unshare -Urm "$0" "$@"
fi
shift
at=/proc/sys/fs/binfmt_misc
mount -t binfmt_misc none $at 2>/dev/null || { echo "this kernel has no binfmt_misc in a namespace" >&2; exit 77; }
# The first 20 bytes of an ELF file of 64 bits, of an executable or a shared object; the ABI's byte is free.
case $endian in
    little) kind='\x02\x00' order='\x01' of='\xfe\xff' number="\\x$(printf %02x "$elf")\\x00" ;;
    big) kind='\x00\x02' order='\x02' of='\xff\xfe' number="\\x00\\x$(printf %02x "$elf")" ;;
esac
zeros='\x00\x00\x00\x00\x00\x00\x00\x00'
ones='\xff\xff\xff\xff\xff\xff\xff'
printf '%s' ":$REGISTERED:M::\\x7fELF\\x02$order\\x01\\x00$zeros$kind$number:$ones\\x00\\xff\\xff\\xff\\xff\\xff\\xff\\xff\\xff$of\\xff\\xff:$INTERPRETER:" \
    >$at/register || exit 77
exec "$@"
