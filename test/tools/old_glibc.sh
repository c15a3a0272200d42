#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
# What tools/old_glibc.py makes: a program that is linked with it runs here, and needs no newer glibc.
# usage: old_glibc.sh SOURCE COMPILER...
set -eu
source=$1
shift
case $("$@" -print-file-name=libc.so) in
    /*) ;;
    *)
        echo "1..0 # SKIP this is not glibc"
        exit 0
        ;;
esac
tmp=$(mktemp -d)
trap 'rm -rf "$tmp"' EXIT
mkdir "$tmp/new" "$tmp/old"
count=0

# claim WORDS COMMAND...
claim() {
    words=$1
    count=$((count + 1))
    shift
    if "$@" >"$tmp/log" 2>&1; then
        echo "ok $count - $words"
    else
        echo "not ok $count - $words"
        sed 's/^/# /' "$tmp/log"
    fi
}

fails() {
    ! "$@"
}

compile() {
    "$@" -D_GNU_SOURCE -O2 -Wall -Wextra -Werror "$source/test/tools/old_glibc.c" -lm
}

export OLD_GLIBC_TEST=word
python3 "$source/tools/old_glibc.py" 2.28 "$tmp/lib" "$@"
claim "a program is linked" compile "$@" -L"$tmp/lib" -fPIE -pie -o "$tmp/old/pie"
claim "also at a fixed address" compile "$@" -L"$tmp/lib" -fno-pie -no-pie -o "$tmp/old/fixed"
claim "both need glibc 2.28 at most" python3 "$source/tools/old_glibc.py" needs 2.28 "$tmp/old"
claim "threads, files, constructors and symbols work" "$tmp/old/pie"
claim "also at a fixed address" "$tmp/old/fixed"
compile "$@" -o "$tmp/new/program"
newest=$(objdump -T "$tmp/new/program" | sed -n 's/.*(GLIBC_2\.\([0-9]*\)).*/\1/p' | sort -n | tail -n 1)
if [ "$newest" -gt 28 ]; then
    claim "a program that needs a newer one is found" fails python3 "$source/tools/old_glibc.py" needs 2.28 "$tmp/new"
fi
printf 'int close_range(unsigned first, unsigned last, int flags);\nint main(void)\n{\n    return close_range(90, 91, 0);\n}\n' >"$tmp/late.c"
claim "a function of glibc 2.34 cannot be linked" fails "$@" -L"$tmp/lib" "$tmp/late.c" -o "$tmp/late"
echo "1..$count"
