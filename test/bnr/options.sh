# SPDX-License-Identifier: BSD-3-Clause
# The options, as a user meets them.
. "$(dirname "$0")/lib.sh"

holds "--help names the options" "$(run --help)" "--tag-output"
holds "those that the standard has, too" "$(run --help)" "--initial-errhandler NAME"
holds "in the manual page, too" "$(run --help=man)" "\\-\\-memory\\-alloc\\-kinds KINDS"
holds "--version says one" "$(run --version)" "."
holds "--help=settings lists the settings" "$(run --help=settings)" "VIREO_CHANNELS"
holds "--help=man is a manual page" "$(run --help=man)" ".TH MPIEXEC 1"
if command -v groff >groff.path; then
    same "groff finds nothing wrong with it" \
        "$(run --help=man | groff -man -ww -Tutf8 2>&1 >/dev/null)" ""
fi

holds "it tells the exit status" "$(run --help=man)" ".SH EXIT STATUS"
run -v -n 1 sh -c 'exit 3' 2>err
holds "-v tells the exit code" "$(cat err)" "has ended with exit code 3"
run -v -n 1 sh -c 'kill -9 $$' 2>err
holds "-v tells the signal" "$(cat err)" ") was killed by signal 9"

run -nn 2 true 2>err && fail "an unknown option is refused"
holds "an unknown option is refused with the nearest name" "$(cat err)" "did you mean '-n"
same "in one line" "$(wc -l <err)" "1"
for word in "$(printf -- '--a\nb\033[2J')" "$(printf './a\nb\033[2J')"; do
    run -n 2 "$word" 2>err && fail "such a word is refused"
    same "a word with control characters is told in one line of text" "$(wc -l <err)" 1
    holds "with marks in their place" "$(cat err)" "a?b?[2J"
done
run 2>err && fail "a missing program is refused"
holds "a missing program is refused" "$(cat err)" "no program"
echo "no.such.host.example slots=2" >hosts
run -n 2 -hostfile hosts true 2>err && fail "a hostfile with other hosts is refused"
holds "a hostfile with other hosts is refused with the reason" "$(cat err)" "on this host"
same "-arch is accepted where it is this host's" "$(run -arch "$(uname -m)" echo x)" x
printf '# all here\n\nlocalhost slots=4\n 127.0.0.1:2 # too\n' >hosts
same "one with this host is accepted" "$(run -n 2 --hostfile hosts echo x | wc -l)" 2
same "without -n, its slots are filled" "$(run --hostfile hosts echo x | wc -l)" 6
same "of those, -host picks" "$(run --hostfile hosts -host localhost echo x | wc -l)" 4
echo "localhost max_slots=3" >most
same "max_slots are slots where there are no others" "$(run -f most echo x | wc -l)" 3
run -n 4 -f most echo x 2>err && fail "more than max_slots are refused"
holds "more than max_slots are refused" "$(cat err)" "max_slots=3"
same "without a number, a host is one slot" "$(run -host localhost echo x | wc -l)" 1
same "the default hostfile is used where no other is" \
    "$(run --default-hostfile most echo x | wc -l)" 3
same "and not where another is" "$(run --default-hostfile most -host localhost:2 echo x | wc -l)" 2
same "an empty hostfile is none" "$(run --hostfile /dev/null echo x | wc -l)" 1
same "ppr:N:node starts N" "$(run --map-by ppr:3:node echo x | wc -l)" 3

for option in "-n 3" "-np 3" "--np 3" "-c 3" "-n=3" "--allow-run-as-root --oversubscribe -n 3"; do
    # shellcheck disable=SC2086
    same "$option starts three" "$(run $option echo x | wc -l)" "3"
done
for option in -l -prepend-rank --tag-output -tag-output "--output tag"; do
    # shellcheck disable=SC2086
    same "$option labels" "$(run $option -n 2 echo x | sort)" "[0] x
[1] x"
done

same "programs follow one another in rank" \
    "$(run -l -n 1 echo a : -n 2 echo b | sort)" "[0] a
[1] b
[2] b"
same "-env, -genv and -x set variables" \
    "$(run -genv G 1 -env A 2 -x B=3 sh -c 'echo $G$A$B' : sh -c 'echo $G$A$B' | sort)" "1
123"
same "-genvnone passes nothing, but what is named" \
    "$(KEEP=1 DROP=2 run -genvnone -x KEEP -x PATH sh -c 'echo $KEEP$DROP')" "1"
mkdir here
same "-wdir is where they start" "$(run -wdir here pwd)" "$scratch/here"
same "--set reaches the ranks" \
    "$(run --set spin_us=7 sh -c 'echo $VIREO_SPIN_US')" "7"

begin=$(milliseconds)
run --timeout 0.5 -n 2 sleep 30 2>err
same "--timeout ends the job with 124" "$?" "124"
[ $(($(milliseconds) - begin)) -lt 5000 ] || fail "the timeout came late"
MPIEXEC_TIMEOUT=0.5 run -n 2 sleep 30 2>err
same "MPIEXEC_TIMEOUT does too" "$?" "124"
