# SPDX-License-Identifier: BSD-3-Clause
# What users get wrong at first: vireo says what, and what would be right.
# shellcheck disable=SC2016
. "$(dirname "$0")/lib.sh"
vireo=$2

# refused CLAIM PART COMMAND...: the command ends with an error whose one line has the part.
refused() {
    claim=$1 part=$2
    shift 2
    "$@" >out 2>err </dev/null && fail "$claim: it is refused" "$(cat out err)"
    holds "$claim" "$(cat err)" "$part"
    same "in one line" "$(wc -l <err)" 1
    same "and nothing else is written" "$(cat out)" ""
}

# ---- vireo ----
refused "vireo: an unknown command" "the commands are ps, streams, report and info, not 'jobs'" \
    "$vireo" jobs
refused "vireo ps takes nothing more" "'ps' takes nothing behind it, not 'all'" "$vireo" ps all
refused "vireo streams: an unknown option" "--ranks: there is no such option" "$vireo" streams --ranks 0
refused "an option without its value" "--tag: this option needs a value behind it" "$vireo" streams --tag
refused "two jobs" "one job is shown at a time, not '2'" "$vireo" streams 1 2
refused "a value behind =" "--tag takes stdout, stderr, any or a number, not 'foo'" \
    "$vireo" streams --tag=foo
refused "a flag has none" "--stdin=3: this option takes no value" "$vireo" streams --stdin=3
for words in "--help" "-h" "help" "streams --help" "report -h" "ps --help"; do
    # shellcheck disable=SC2086
    holds "vireo $words helps" "$("$vireo" $words 2>/dev/null)" "usage: vireo ps"
done
mkfifo words
timeout -k 5 60 "$mpiexec" --report-pid pid -n 2 --stdin all cat <words &
reader=$!
exec 9>words
soon test -s pid
job=$(cat pid)
has_job() {
    "$vireo" ps | grep -q "$job "
}
soon has_job
refused "a rank that a running job has not" "rank 7 cannot be reached: the job has no such rank" \
    "$vireo" streams --stdin --rank=7 "$job"
exec 9>&-
wait "$reader" || fail "the job ends well"
