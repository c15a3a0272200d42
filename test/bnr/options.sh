# SPDX-License-Identifier: BSD-3-Clause
# The options, as a user meets them.
. "$(dirname "$0")/lib.sh"

holds "--help has what people use" "$(run --help)" "-host a:4,b:4"
holds "--help=all names the options" "$(run --help=all)" "--tag-output"
holds "those that the standard has, too" "$(run --help=all)" "--initial-errhandler NAME"
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
run -n 2 --launcher-exec ./no-ssh -hostfile hosts true 2>err &&
    fail "a host that cannot be reached ends the job"
holds "it is said which host, by what command" "$(cat err)" \
    "cannot start a daemon on no.such.host.example: failed to execute"
echo "no.such.host.example slots=2 user=me" >hosts
for words in "-host no.such.host.example" "-host me@no.such.host.example"; do
    # shellcheck disable=SC2086
    run -n 2 -hostfile hosts $words --launcher-cmd './no-ssh %u %h' true 2>err &&
        fail "such a host cannot be reached"
    holds "the user of a host is known where -host picks it from a file" "$(cat err)" \
        "./no-ssh me no.such.host.example"
done
same "-arch is accepted where it is this host's" "$(run -arch "$(uname -m)" echo x)" x
printf '# all here\n\nlocalhost slots=4\n 127.0.0.1:2 # too\n' >hosts
same "one with this host is accepted" "$(run -n 2 --hostfile hosts echo x | wc -l)" 2
same "without -n, its slots are filled" "$(run --hostfile hosts echo x | wc -l)" 6
same "of those, -host picks" "$(run --hostfile hosts -host localhost echo x | wc -l)" 4
printf '\357\273\277localhost slots=4\r\n127.0.0.1:2\r\n' >windows
same "a file may be one of Windows" "$(run --hostfile windows echo x | wc -l)" 6
printf '# localhost slots=4\n\n' >comments
run -hostfile comments -n 1 echo x 2>err && fail "a file without a host is refused"
holds "a file without a host is refused" "$(cat err)" "'-hostfile comments': no line names a host; add one"
same "but for the default one" "$(run --default-hostfile comments echo x)" x
run -host localhost --add-hostfile comments echo x 2>err && fail "so is one with more hosts"
holds "so is one with more hosts" "$(cat err)" "'--add-hostfile comments': no line names a host"
printf 'localhost\nlocalhost slot=2\n' >more
run --add-hostfile more echo x 2>err && fail "its wrong line is refused"
holds "its wrong line is told with its name" "$(cat err)" "'--add-hostfile more': line 2: 'slot=2'"
run --add-hostfile absent echo x 2>err && fail "so is a file that is not there"
holds "so is a file that is not there" "$(cat err)" "'--add-hostfile absent': cannot read it"
printf 'localhost slots=4\n\000 other slots=2\n' >nul
run --hostfile nul echo x 2>err && fail "a file with a byte of 0 is refused"
holds "a file with a byte of 0 is refused" "$(cat err)" "'--hostfile nul': this is no text"
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
for option in -l --label -prepend-rank --tag-output -tag-output "--output tag"; do
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
same "a variable that is not set is told of" \
    "$(run -x NO_SUCH -x HOME -x 'NONE*' true 2>&1)" "mpiexec: there is no variable 'NO_SUCH' to pass on"
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

# What is told, and how ranks are started.
run -print-all-exitcodes -disable-auto-cleanup -n 3 sh -c 'exit $((MPI_LOCALRANKID / 2))' 2>err
holds "-print-all-exitcodes tells of all" "$(cat err)" "exit code 0: ranks 0-1
mpiexec: exit code 1: rank 2"
run -print-all-exitcodes -n 1 sh -c 'kill -9 $$' 2>err
holds "also of signals" "$(cat err)" "killed by signal 9: rank 0"
run --report-pid pid -n 1 sh -c 'echo $PPID' >parent
same "--report-pid writes the process" "$(cat pid)" "$(cat parent)"
same "on stdout after -" "$(run --report-pid - true | wc -l)" 1
run --report-pid no/such/folder true 2>err && fail "a file that cannot be is told"
holds "a file that cannot be is told" "$(cat err)" "cannot write to 'no/such/folder'"
run --output-proctable=table -n 2 true
same "--output-proctable has a line for each rank" "$(cut -d' ' -f1 table | xargs)" "0 1"
run -profile true 2>err
holds "-profile tells times" "$(cat err)" "1 ranks were started in"
same "-gpus-per-proc deals GPUs out" \
    "$(run -l -n 2 -gpus-per-proc 2 sh -c 'echo $CUDA_VISIBLE_DEVICES' | sort | xargs)" \
    "[0] 0,1 [1] 2,3"
same "--index-argv-by-rank names processes" \
    "$(run -n 2 --index-argv-by-rank sh -c 'echo $0 $(tr "\0" " " </proc/$$/cmdline | cut -d" " -f1)' |
        sort | xargs)" "sh-0 sh-0 sh-1 sh-1"
same "--output-from takes those alone" "$(run -l -n 4 --output-from 1,3 echo x | sort | xargs)" \
    "[1] x [3] x"
mkdir -p bin
printf '#!/bin/sh\necho own\n' >bin/true
chmod +x bin/true
same "--path comes before PATH" "$(run --path "$scratch/bin" true)" own
same "and PATH after it" "$(run --path "$scratch/bin" echo x)" x
if command -v gdb >where; then
    same "-gdb debugs each" \
        "$(printf 'run\nquit\n' | run -n 2 -gdb true 2>err | grep -c 'exited normally')" 2
fi
if ! command -v xterm >where; then
    run --xterm 0 true 2>err && fail "a missing xterm is told"
    holds "a missing xterm is told" "$(cat err)" "there is no program 'xterm'"
fi
holds "--timestamp-output begins lines with the time" "$(run --timestamp-output echo x)" \
    "[$(date +%Y-)"
same "-prepend-pattern begins them as it says" "$(run -n 2 -prepend-pattern '%r/%s=' echo x | sort |
    xargs)" "0/stdout=x 1/stdout=x"

# Files and parameters.
printf -- '-n 1 echo a\n-n 2 echo b # two\n' >programs
same "-configfile names programs" "$(run -l -configfile programs | sort | xargs)" \
    "[0] a [1] b [2] b"
same "--app too" "$(run --app programs | sort | xargs)" "a b b"
printf 'orte_tag_output = 1\n' >parameters
same "--tune reads parameters" "$(run --tune parameters echo x)" "[0] x"
same "variables of Open MPI count" "$(OMPI_MCA_orte_tag_output=1 run echo x)" "[0] x"
same "--mca btl chooses channels" \
    "$(run --mca btl tcp,self sh -c 'echo $VIREO_CHANNELS')" "loopback,tcp"

# Worlds of one.
cp "$(ldd "$(command -v sleep)" | sed -n 's,.* \(/.*\)/libc\.so.*,\1,p')/libm.so.6" libmpi.so.40
alone="LD_PRELOAD=$scratch/libmpi.so.40"
ends_alone() {
    run "$@" 2>err
    same "a script that runs a program of another MPI ends the job" $? 126
    grep -q "rank [01] runs sleep (pid [0-9]*) with another MPI library (libmpi.so.40)" err ||
        fail "and is told of" "$(cat err)"
}
ends_alone -n 2 sh -c "$alone sleep 20; true"
ends_alone -n 2 env $alone sleep 20
ends_alone -n 1 sleep 20 : -n 1 sh -c "$alone sleep 20; true"
cp "$(command -v sleep)" ompi_info
same "one that shows how that is built does not" "$(run -n 2 sh -c "$alone ./ompi_info 0.3; true" 2>&1; echo $?)" 0
for other in PMIX_RANK=0 BNR_JOB=0; do
    same "nor one that another has started: $other" \
        "$(run -n 2 sh -c "$other $alone sleep 0.3; true" 2>&1; echo $?)" 0
done
same "nor a job of one" "$(run -n 2 sh -c "$mpiexec -n 1 env $alone sleep 0.3; true" 2>&1; echo $?)" 0
SLURM_PROCID=0 SLURM_STEP_NUM_TASKS=2 run -n 1 true 2>err
holds "so is a launcher that starts several of mpiexec" "$(cat err)" \
    "srun meant 2 processes (SLURM_PROCID=0, SLURM_STEP_NUM_TASKS=2), and each of them starts a job"
SLURM_PROCID=1 SLURM_STEP_NUM_TASKS=2 run -n 1 true 2>err
same "by the first of them alone" "$(cat err)" ""
same "a rank may start a job" "$(run -n 2 "$mpiexec" -n 1 true 2>&1)" ""
PBS_JOBID=7 run -n 1 true 2>err
holds "so is a job of a batch system that names no hosts" "$(cat err)" "PBS_NODEFILE is not: this host alone"
