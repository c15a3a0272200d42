# SPDX-License-Identifier: BSD-3-Clause
# What users get wrong at first: mpiexec and vireo say what, and what would be right.
# shellcheck disable=SC2016
source=$(cd "$(dirname "$0")" && pwd)
. "$source/lib.sh"
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

# ---- values of options ----
refused "a value behind a blank, where it stands behind =" \
    "a value of --summary stands behind '=', as in --summary=s.json" run --summary s.json -n 2 true
refused "ranks of --pty" "as in --pty=1" run --pty 1 -n 2 true
refused "no value for a file" "'--trace' needs the name of a file, not the option '-n'" \
    run --trace -n 2 true
refused "nor for a folder" "'--output-filename' needs the name of a folder, not the option '-n'" \
    run --output-filename -n 2 true
touch ./-n
same "a file of such a name has a folder before it" "$(run -configfile ./-n echo x)" x
for option in --stdin --output-from --pty= --xterm; do
    refused "$option: ranks that go down" "not '1-0'" run ${option%=}=1-0 -n 2 true
done
refused "--stdin: a rank that there is not" "'--stdin' names rank 7: the last rank is 1" \
    run --stdin 0,7 -n 2 true
refused "--output-from" "'--output-from' names rank 5: the last rank is 1" \
    run --output-from 5 -n 2 echo x
refused "--pty" "'--pty' names rank 2: the last rank is 1" run --pty=0-2 -n 2 true
refused "a hostfile that is not there" "No such file or directory; name another file" \
    run -hostfile none -n 2 true
echo 'rank 0=-x slot=0' >ranks
refused "a rankfile with a host that is none" "'--rankfile ranks': " run --rankfile ranks true
refused "an option of a mapping names it, too" "'--rankfile ranks': " run --map-by rankfile:file=ranks true
for setting in liveness_ms tree_radix launch_fan_out launch_limit_ms; do
    refused "--set $setting=0, with which no other host can be reached" ", from 1 to 1000000000" \
        run --set $setting=0 -n 1 true
done
for command in "sh -c 'exec %h" 'sh -c "exec %h' "env 'A=%h'  '"; do
    refused "a quote that is not closed" "a quote in '$command' is not closed" \
        run --launcher-cmd "$command" -host localhost -n 1 true
done
same "quotes that are closed" \
    "$(run --launcher-cmd "env \"A=%h\" 'B=it\"s'" -host localhost,elsewhere -n 2 echo x | wc -l)" 2
refused "an unknown word of --rtos" "it knows error-nonzero-status, donotlaunch" \
    run --rtos no-such -n 1 true

# ---- what lines begin with, together ----
same "--merge-stderr is short for --merge-stderr-to-stdout" \
    "$(run --merge-stderr -n 1 sh -c 'echo x >&2' 2>/dev/null)" x
holds "what json has anyway may be asked for" \
    "$(run --output tag,timestamp,rank,host,json -n 1 echo x)" '{"rank":0,"host":"'
holds "-l, too" "$(run -l --output json -n 1 echo x)" '{"rank":0,"host":"'
holds "xml has the rank" "$(run -l --xml -n 1 echo x)" '<stdout rank="0">x&#010;</stdout>'
refused "json has no text of one's own" "leave out" run --output json --prepend-pattern a -n 1 true
refused "nor xml the time" "leave out" run --output xml,timestamp -n 1 true
both=$(run --output tag-detailed,timestamp -n 1 echo x)
holds "the time comes before other beginnings" "$both" "[$(date +%Y)-"
holds "which stay" "$both" "]<stdout>: x"
refused "--output names its words" "rank, host" run --output none -n 1 true

# ---- vireo ----
refused "vireo: an unknown command" "the commands are ps, streams, report, info and fortran, not 'jobs'" \
    "$vireo" jobs
refused "vireo ps takes nothing more" "'ps' takes nothing behind it, not 'all'" "$vireo" ps all
refused "vireo streams: an unknown option" "--ranks: there is no such option" "$vireo" streams --ranks 0
refused "an option without its value" "--tag: this option needs a value behind it" "$vireo" streams --tag
refused "two jobs" "one job is shown at a time, not '2'" "$vireo" streams 1 2
refused "a value behind =" "--tag takes stdout, stderr, any or a number, not 'foo'" \
    "$vireo" streams --tag=foo
refused "a flag has none" "--stdin=3: this option takes no value" "$vireo" streams --stdin=3
for words in "--help" "-h" "help" "ps --help"; do
    # shellcheck disable=SC2086
    holds "vireo $words helps" "$("$vireo" $words 2>/dev/null)" "usage: vireo ps"
done
for command in ps streams report info; do
    holds "vireo $command --help tells of that" "$("$vireo" $command -h)" "usage: vireo $command"
    same "alone" "$("$vireo" $command -h | grep '^usage' | grep -vc "vireo $command")" 0
    holds "vireo alone lists $command in a line" "$("$vireo" 2>&1)" "
  $command "
done
same "in a few lines" "$("$vireo" 2>&1 | wc -l)" 9
page=$(cat "$source/../../doc/vireo.1.in")
for command in $("$vireo" --help | sed -n 's/^usage: vireo \([a-z]*\).*/\1/p' | sort -u); do
    holds "the manual page has vireo $command" "$page" "\\fBvireo $command\\fP"
done
for option in $("$vireo" --help | grep -o -e '--[a-z]*' | sort -u); do
    holds "and $option" "$page" "$(echo "$option" | sed 's/-/\\-/g')"
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

# ---- a working folder that has been removed ----
gone() {
    mkdir gone
    (cd gone && rmdir ../gone && timeout -k 5 60 "$mpiexec" "$@")
}
same "ranks of this host start in it" "$(gone -n 2 /bin/echo x | wc -l)" 2
refused "other hosts cannot have it" "cannot tell the name of the working folder" \
    gone --launcher-cmd "env A=%h" -host localhost:1,elsewhere:1 -n 2 /bin/echo x
same "which have another where it is said" "$(gone --launcher-cmd "env A=%h" \
    -host localhost:1,elsewhere:1 -wdir / -n 2 /bin/echo x | wc -l)" 2
