# SPDX-License-Identifier: BSD-3-Clause
#
# What run and long share: parts of a gate, each with a limit of its time, whose tests are added up. Read by bash.
# Its reader sets deadline, a value of SECONDS.

passed=0 failed=0 skipped=0
log=$(mktemp) bad=$(mktemp)
trap 'rm -f "$log" "$bad"' EXIT
# Every process of this run inherits it, so that those left over can be told from others.
export VIREO_TEST_GATE=$$.$RANDOM$RANDOM

# gate SECONDS COMMAND...: run it, within the time that is left, and add up what it counts. One that counts nothing
# is one test.
gate() {
    local limit=$(($1 < deadline - SECONDS ? $1 : deadline - SECONDS)) status counts
    shift
    printf '\n==== %s\n' "$*"
    if [ "$limit" -le 0 ]; then
        echo "left out: no time is left"
        failed=$((failed + 1))
        return
    fi
    timeout -k 10 "$limit" "$@" 2>&1 | tee "$log"
    status=${PIPESTATUS[0]}
    [ "$status" != 124 ] || echo "not done after $limit s"
    counts=$(sed -n 's/^\([0-9]*\) passed, \([0-9]*\) failed, \([0-9]*\) skipped$/\1 \2 \3/p' "$log" |
        tail -n 1)
    [ -n "$counts" ] || [ "$status" != 0 ] || counts="1 0 0"
    read -r p f s <<<"${counts:-0 0 0}"
    [ "$status" = 0 ] || [ "$f" != 0 ] || f=1
    [ "$f" = 0 ] || tail -n 100 "$log" >>"$bad"
    passed=$((passed + p)) failed=$((failed + f)) skipped=$((skipped + s))
}

# The last words; returns whether nothing failed.
gate_end() {
    printf '\n==== processes left over\n'
    if env -u VIREO_TEST_GATE python3 tools/check_left.py "VIREO_TEST_GATE=$VIREO_TEST_GATE" $$; then
        passed=$((passed + 1))
    else
        failed=$((failed + 1))
    fi

    # Once more, where who reads only the end sees it.
    if [ -s "$bad" ]; then
        printf '\n==== the end of what failed\n'
        cat "$bad"
    fi

    printf '\n%d passed, %d failed, %d skipped\n' "$passed" "$failed" "$skipped"
    [ "$failed" = 0 ]
}
