/* SPDX-License-Identifier: BSD-3-Clause */

/* The table of mpiexec's options; see options.h for its rules. */
#include "bnr/options/option_table.h"

#include <ctype.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>

#include "os/cpu/nearest.h"

const char *const option_section_titles[OPTION_SECTIONS] = {
    [OPTION_PROGRAM] = "For the program that follows",
    [OPTION_JOB] = "For the whole job",
    [OPTION_PLACE] = "Where ranks run",
    [OPTION_STREAMS] = "Standard streams",
    [OPTION_INFORMATION] = "Information",
    [OPTION_FOREIGN] = "From other launchers",
};

const struct option_row option_table[] = {
    {"n np c", "N", OPTION_PROGRAM, OPTION_COUNT,
     "Start N processes of the program; without it as many as the slots of the named hosts, else 1."},
    {"npernode N", "N", OPTION_PROGRAM, OPTION_PER_NODE,
     "Start N processes on each host, or with -n not more."},
    {"wdir wd workdir", "DIR", OPTION_PROGRAM, OPTION_WDIR, "Start the processes in DIR."},
    {"set-cwd-to-session-dir", NULL, OPTION_PROGRAM, OPTION_SESSION,
     "Start each process, without -wdir, in an empty folder of its own, which is removed when the job "
     "has ended."},
    {"env", "NAME VALUE", OPTION_PROGRAM, OPTION_ENV,
     "Set a variable for them; NAME=VALUE in one word works too."},
    {"x set-env", "NAME[=VALUE]", OPTION_PROGRAM, OPTION_EXPORT,
     "Set a variable for them, or pass mpiexec's own on."},
    {"envlist", "NAMES", OPTION_PROGRAM, OPTION_ENVLIST,
     "Pass only these variables of mpiexec's environment, separated by commas."},
    {"envall", NULL, OPTION_PROGRAM, OPTION_ENVALL,
     "Pass mpiexec's whole environment (the default)."},
    {"envnone", NULL, OPTION_PROGRAM, OPTION_ENVNONE, "Pass none of mpiexec's environment."},
    {"envexcl unset-env", "NAMES", OPTION_PROGRAM, OPTION_ENVEXCL,
     "Pass all of mpiexec's environment but these variables, separated by commas; NAME* is all that "
     "begin so."},
    {"append-env", "NAME[C] VALUE", OPTION_PROGRAM, OPTION_APPEND,
     "Add to what a variable has, behind the character C; NAME[:] is usual."},
    {"prepend-env", "NAME[C] VALUE", OPTION_PROGRAM, OPTION_PREPEND, "The same, before it."},
    {"path", "DIRS", OPTION_PROGRAM, OPTION_PATH,
     "Seek the program in these folders, separated by colons, before those of PATH."},
    {"initial-errhandler", "NAME", OPTION_PROGRAM, OPTION_ERRHANDLER,
     "The error handler that they begin with: mpi_errors_are_fatal (the default), "
     "mpi_errors_abort or mpi_errors_return."},
    {"pset", "NAME", OPTION_PROGRAM, OPTION_PSET,
     "Give the set of its processes a name, which MPI_Session_get_nth_pset tells."},
    {"memory-alloc-kinds", "KINDS", OPTION_PROGRAM, OPTION_MEMORY,
     "Ask for kinds of memory, separated by commas; they get mpi and system (the default), "
     "and no others."},

    {"genv", "NAME VALUE", OPTION_JOB, OPTION_GENV, "As -env, for every program."},
    {"genvlist", "NAMES", OPTION_JOB, OPTION_GENVLIST, "As -envlist, for every program."},
    {"genvall", NULL, OPTION_JOB, OPTION_GENVALL, "As -envall, for every program."},
    {"genvnone", NULL, OPTION_JOB, OPTION_GENVNONE, "As -envnone, for every program."},
    {"genvexcl", "NAMES", OPTION_JOB, OPTION_GENVEXCL, "As -envexcl, for every program."},
    {"configfile app", "FILE", OPTION_JOB, OPTION_CONFIG,
     "Read programs with their options from a file, a line each, # begins a comment."},
    {"iface", "NAMES", OPTION_JOB, OPTION_IFACE,
     "Let the tcp channel use the addresses of these interfaces, or in these networks (10.0.0.0/8), "
     "separated by commas; after ^ all but these. Each host looks them up for itself."},
    {"timeout", "SECONDS", OPTION_JOB, OPTION_TIMEOUT,
     "End the job after so long, report what its ranks wait for, and exit with 124; 0 means never."},
    {"set", "NAME=VALUE", OPTION_JOB, OPTION_SET,
     "Change a setting of the library; --help=settings lists them."},
    {"usize", "N|SYSTEM", OPTION_JOB, OPTION_UNIVERSE,
     "Set MPI_UNIVERSE_SIZE to N, or to the number of processors; else it is the job's size."},
    {"launcher-cmd", "COMMAND", OPTION_JOB, PLAN_LAUNCHER_COMMAND,
     "Reach other hosts by COMMAND, in which %h is the host, %u the user and %c the command to run there, as in \"kubectl "
     "exec -i %h -- %c\"; without %c that is added behind it."},
    {"launcher bootstrap", "ssh|rsh|slurm", OPTION_JOB, OPTION_LAUNCHER,
     "Reach other hosts by ssh (the default), by rsh, or by srun (the default where all are of the Slurm "
     "allocation)."},
    {"launcher-exec bootstrap-exec", "FILE", OPTION_JOB, PLAN_LAUNCHER_PROGRAM,
     "Run FILE in place of ssh or srun."},
    {"prefix", "DIR", OPTION_JOB, OPTION_REMOTE_PREFIX,
     "This library lies in DIR on the other hosts; else it lies where it does on this one."},
    {"daemon-link", "tcp|stdio", OPTION_JOB, OPTION_DAEMON_LINK,
     "Have daemons connect to mpiexec (the default), or use the launcher's own pipe, where a firewall "
     "lets none connect."},
    {"pretend-hosts", "N", OPTION_JOB, OPTION_PRETEND,
     "Pretend that this host is N hosts, which share no memory: each gets a block of consecutive "
     "ranks, and there are no more of them than ranks. For tests."},
    {"ppn perhost", "N", OPTION_JOB, OPTION_PER_HOST,
     "Give each host N processes at a time; without -n, one time."},
    {"rr", NULL, OPTION_JOB, OPTION_ALIAS, "The same as -ppn 1: hosts take turns."},
    {"gpus-per-proc g", "N", OPTION_JOB, OPTION_GPUS,
     "Let each rank see N GPUs (CUDA_VISIBLE_DEVICES and its kin), after those of the ranks before it "
     "on its host; AUTO leaves that as it is."},
    {"gdb", NULL, OPTION_JOB, OPTION_GDB,
     "Run each rank under gdb; all read the same stdin, and lines have labels."},
    {"debugger", "gdb|lldb", OPTION_JOB, OPTION_DEBUGGER,
     "Attach a debugger to each rank, in a window of tmux where mpiexec runs in one, else in an xterm; on "
     "another host it runs as daemons do. The ranks wait in MPI_Init for it."},
    {"tv", NULL, OPTION_JOB, OPTION_TOTALVIEW,
     "Run mpiexec itself under TotalView, which finds the ranks by MPIR."},
    {"stop-on-exec", NULL, OPTION_JOB, OPTION_STOP_EXEC,
     "Stop each rank before the first instruction of its program, and say how to debug it and how to "
     "let it go on."},
    {"stop-in-init stop-in-app", NULL, OPTION_JOB, OPTION_STOP_INIT,
     "Have ranks wait in MPI_Init until a debugger has attached to each, and say how."},
    {"exec-agent", "COMMAND", OPTION_JOB, OPTION_AGENT,
     "Run each rank by COMMAND, whose words blanks part, with the program and its arguments behind, as in "
     "\"valgrind -q\"."},
    {"xterm", "RANKS", OPTION_JOB, OPTION_XTERM,
     "Run these ranks, as 0,2-5 or all, each in an xterm, which stays after \"!\"."},
    {"keepalive", "FD", OPTION_JOB, OPTION_KEEPALIVE,
     "End the job, as by SIGTERM, when the other end of this open pipe or socket of mpiexec is closed."},
    {"daemonize", NULL, OPTION_JOB, OPTION_BACKGROUND,
     "Go to the background when the programs are found: the shell goes on, and exits with 0 for mpiexec."},
    {"index-argv-by-rank", NULL, OPTION_JOB, OPTION_NAME_RANKS,
     "End the name by which each process is called, argv[0], with its rank."},
    {"rtos runtime-options", "WORDS", OPTION_JOB, OPTION_RUNTIME,
     "Words that stand for options, such as timeout=60, recoverable, donotlaunch, show-progress; "
     "separated by commas."},
    {"forward-signals", "SIGNALS", OPTION_JOB, OPTION_SIGNALS,
     "Forward these signals to the ranks, of INT, TERM, HUP, TSTP, CONT, USR1 and USR2, which are "
     "forwarded anyway."},
    {"disable-auto-cleanup dac enable-recovery continuous", NULL, OPTION_JOB, OPTION_GO_ON,
     "Let the others go on when a rank fails; MPI_Abort, also by a fatal error, still ends all."},
    {"on-failure", "abort|notify", OPTION_JOB, OPTION_ON_FAILURE,
     "When a rank fails, end the others (abort), or let them go on and tell them (notify). The default is "
     "notify if the rank had functions of fault tolerance and MPI_ERRORS_RETURN, and otherwise abort."},

    {"bind-to bindto binding", "WHAT", OPTION_PLACE, OPTION_BIND,
     "Bind each rank to a hwthread, core, l1cache ... l5cache, numa or package (or socket), "
     "with :N to so many; to the processors of user:0+2,1+4,3, one after the other (rr), to those of "
     "--cpu-list (cpu-list, with :ordered one each), to those near a device (pci:ID, gpu:N, ib:N, hfi:N, "
     "en:N, or a name such as eth0), or to none (the default). With :limit=N each object has N ranks; with "
     ":overload-allowed ranks may share a core; with :if-supported the job runs also where binding "
     "is not possible."},
    {"map-by mapby", "WHAT", OPTION_PLACE, OPTION_MAP,
     "Deal ranks out by slot, node, package (or socket), numa, l3cache, l2cache, l1cache, core or "
     "hwthread, or put ppr:N:OBJECT, N on each; to an object inside of hosts they are bound, too, "
     "if --bind-to does not say otherwise; with :span to those of all hosts in turn. dist:DEVICE gives each a core, those near the device first. With :pe=N each gets N cores. rankfile:file=FILE is "
     "--rankfile, pe-list=LIST is --cpu-list."},
    {"rank-by rankby", "WHAT", OPTION_PLACE, OPTION_RANK_BY,
     "Number ranks as they were dealt out (slot), or by node or another object, in turn; with :span "
     "by the objects of all hosts; or fill one object after the other (fill)."},
    {"cpu-set", "LIST", OPTION_PLACE, OPTION_CPU_SET,
     "Use these cores alone, as 0,2-5; lstopo -l has their numbers."},
    {"cpu-list", "LIST", OPTION_PLACE, OPTION_CPU_LIST, "Bind every rank to these cores."},
    {"use-hwthread-cpus", NULL, OPTION_PLACE, OPTION_BY_THREAD,
     "Count hardware threads where cores are counted: pe=N, --cpu-set, --cpu-list, slots."},
    {"rankfile rf", "FILE", OPTION_PLACE, OPTION_RANKFILE,
     "Put each rank where the file says, a line each: rank N=HOST slot=CORES or slot=PACKAGE:CORES. HOST "
     "is a host of the job, or +nK, its Kth from 0; where none is named elsewhere, the file's are the job's."},
    {"nooversubscribe", NULL, OPTION_PLACE, OPTION_LIMITED,
     "Start no more ranks than there are slots, or cores where none are given."},
    {"nolocal skip-launch-node", NULL, OPTION_PLACE, OPTION_ELSEWHERE,
     "Run no rank on this host, but on the others that are named."},
    {"oversubscribe", NULL, OPTION_PLACE, OPTION_OVERSUBSCRIBE,
     "Start more ranks than slots (the default), and let them share cores where they are bound."},
    {"membind", "POLICY", OPTION_PLACE, OPTION_MEMBIND,
     "Take memory where it is first touched (firsttouch), from nodes alone (bind:0,2-3), from nodes "
     "in turn (interleave:0-1), or as the system has it (none, the default)."},
    {"report-bindings", NULL, OPTION_PLACE, OPTION_SHOW_BINDINGS,
     "Show on stderr what each rank is bound to: packages in brackets, cores parted by strokes, B "
     "for each hardware thread of the rank's."},
    {"display-map display-allocation display-devel-map display-diffable-map "
     "display-devel-allocation",
     NULL, OPTION_PLACE, OPTION_SHOW_MAP,
     "Show the hosts, their slots, and which rank runs where."},
    {"display-topo", NULL, OPTION_PLACE, OPTION_SHOW_HARDWARE,
     "Show the processors that may be used."},
    {"do-not-launch", NULL, OPTION_PLACE, OPTION_DRY, "Show that, and start nothing."},

    {"l label prepend-rank tag-output", NULL, OPTION_STREAMS, OPTION_LABEL,
     "Begin each line of output with the rank it comes from, as in \"[3] text\"; \"[3]+ text\" goes on with a "
     "line of which a part was shown before."},
    {"prepend-pattern", "TEXT", OPTION_STREAMS, OPTION_PREFIX,
     "Begin each line with a text, where %r is the rank, %R the rank with leading zeros, %h its host, "
     "%i its process, %s the stream, %T the time and %% a percent sign."},
    {"timestamp-output", NULL, OPTION_STREAMS, OPTION_STAMP, "Begin each line with the time."},
    {"output-from", "RANKS", OPTION_STREAMS, OPTION_OUTPUT_FROM,
     "Take the output of these ranks, as 0,2-5, and drop that of all others."},
    {"output-filename", "DIR", OPTION_STREAMS, OPTION_OUT_FOLDER,
     "Write what rank N writes to DIR/1/rank.N/stdout and DIR/1/rank.N/stderr as well; in N, zeros lead. "
     "With :nocopy behind DIR it goes there alone, with :nojobid there is no folder 1."},
    {"outfile-pattern outfile", "FILE", OPTION_STREAMS, OPTION_OUT_FILE,
     "Write stdout to FILE, where %r is the rank, %R the rank with leading zeros, %h the host, "
     "%t the time of the start and %% a percent sign."},
    {"errfile-pattern errfile", "FILE", OPTION_STREAMS, OPTION_ERR_FILE, "The same for stderr."},
    {"merge-stderr-to-stdout merge-stderr", NULL, OPTION_STREAMS, OPTION_MERGE,
     "Send stderr where stdout goes."},
    {"output", "WORDS", OPTION_STREAMS, OPTION_OUTPUT,
     "tag or rank as -l, tag-detailed and tag-fullname with more, timestamp, host, color (by rank, on a "
     "terminal), json (an object a line, with rank, host, stream, time and text), xml as --xml, merge "
     "as above, dir=DIR as --output-filename DIR:nocopy,nojobid, file=FILE for FILE.RANK.out and "
     "FILE.RANK.err, with :copy behind DIR or FILE for mpiexec's own output as well; separated by commas."},
    {"xml", NULL, OPTION_STREAMS, OPTION_XML,
     "Write all output to stdout as XML, an element a line, as in <stdout rank=\"3\">text</stdout>."},
    {"xml-file", "FILE", OPTION_STREAMS, OPTION_XML, "The same, to FILE."},
    {"stream-buffering", "0|1|2", OPTION_STREAMS, OPTION_ALIAS,
     "From MPI_Init on, have C's stdout and stderr of each rank write at once (0), a line at a time (1), "
     "or when a buffer is full (2)."},
    {"stdin", "none|all|LIST|FILE", OPTION_STREAMS, OPTION_STDIN,
     "The ranks that read mpiexec's stdin, as 0,2-5 (default 0); or the file that rank 0 reads, "
     "named with a slash, as ./FILE. All read at the pace of the slowest."},

    {"pty", "[=RANKS]", OPTION_STREAMS, OPTION_PTY,
     "Give rank 0, or these ranks, as 0,2-5 or all, a terminal of their own, of the size of mpiexec's; "
     "stdin goes to the first of them, and on a terminal each key does, Ctrl-C too."},

    {"s", NULL, OPTION_STREAMS, OPTION_S,
     "With none, all or ranks behind it the same as --stdin; else as --preload-binary."},

    {"check", NULL, OPTION_INFORMATION, OPTION_CHECK,
     "Compare collective calls across ranks, and receives with sends by their types, and end the job at "
     "a mismatch: which ranks, which calls, in which lines. Name conflicting accesses to windows, by both calls. Name what is left at MPI_Finalize: requests, communicators, datatypes, messages."},
    {"report", NULL, OPTION_INFORMATION, OPTION_REPORT,
     "Tell at the end where each rank ran and which channel each pair used, and why."},
    {"summary", "[=FILE]", OPTION_INFORMATION, OPTION_SUMMARY,
     "Tell at the end, a line a rank, the time in MPI, waits, messages, bytes and the imbalance; FILE "
     "gets it as JSON."},
    {"trace", "FILE", OPTION_INFORMATION, OPTION_TRACE,
     "Write what every rank does in MPI to FILE, which Perfetto (ui.perfetto.dev) and chrome://tracing "
     "show: calls as spans, messages as arrows."},
    {"display", "WORDS", OPTION_INFORMATION, OPTION_DISPLAY,
     "allocation or map as --display-map, bind as --report-bindings, topo as --display-topo, comm as "
     "--report; separated by commas."},
    {"output-proctable", "[=CHANNEL]", OPTION_INFORMATION, OPTION_PROCTABLE,
     "Write a line for each rank, with its host, process and program, to stdout (-, the default), "
     "stderr (+) or a file."},
    {"attach-info", "[=JOB]", OPTION_INFORMATION, OPTION_ATTACH,
     "Print rank, host, process and program of each rank of a job of yours that runs, for a debugger to "
     "attach to, and exit; JOB is the number of its mpiexec, and may follow as a word. With --output "
     "json before it as JSON."},
    {"report-pid report-uri", "CHANNEL", OPTION_INFORMATION, OPTION_REPORT_PID,
     "Write mpiexec's process number, by which vireo and --attach-info know the job, to stdout (-), "
     "stderr (+) or a file."},
    {"show-settings", NULL, OPTION_INFORMATION, OPTION_SHOW_SETTINGS,
     "Show on stderr the settings of the library that are in force."},
    {"print-all-exitcodes", NULL, OPTION_INFORMATION, OPTION_CODES,
     "Tell at the end how every rank has ended."},
    {"profile", NULL, OPTION_INFORMATION, OPTION_TIMES,
     "Tell at the end how long it took to start the ranks, and how long they ran."},
    {"v verbose d debug debug-devel", NULL, OPTION_INFORMATION, OPTION_VERBOSE,
     "Tell what is started, where, and how it ends."},
    {"progress show-progress", NULL, OPTION_INFORMATION, OPTION_PROGRESS,
     "While hosts are being started, show on a terminal how many are there: 3 of 64 hosts."},
    {"V version info", NULL, OPTION_INFORMATION, OPTION_VERSION, "Print the version and exit."},
    {"h help", "[=all|man|settings]", OPTION_INFORMATION, OPTION_HELP,
     "Print what people use most, all options, the manual page or the table of settings, and exit."},

    {"host hosts H hostlist machine machines machinelist", "NAMES", OPTION_FOREIGN, OPTION_HOST,
     "Run on these hosts. A number after a colon is a host's slots, one without "
     "it; without -n, as many processes start as there are slots. USER@NAME logs in as USER, NAME[1-3] "
     "are three, +nK is the Kth, from 0, of a hostfile or of an allocation."},
    {"arch", "NAME", OPTION_FOREIGN, OPTION_ARCH,
     "Accepted where it is what uname -m says on this host."},
    {"hostfile machinefile f", "FILE", OPTION_FOREIGN, OPTION_HOSTFILE,
     "The same from a file, a line each: NAME, NAME:4, or NAME slots=4 max_slots=8 user=USER. With "
     "-host, that picks among its lines."},
    {"rmk", "NAME", OPTION_FOREIGN, OPTION_RMK,
     "Where no option names hosts, take those that slurm, pbs, lsf, sge, ll, cobalt or oar has allocated, "
     "or of none (user); else of the first that its variables tell of."},
    {"add-host", "NAMES", OPTION_FOREIGN, OPTION_MORE_HOSTS,
     "Run on these hosts as well as on those that other options name, or a batch system; else on this one and these."},
    {"add-hostfile", "FILE", OPTION_FOREIGN, OPTION_MORE_HOSTS_FILE, "The same from a file."},
    {"default-hostfile", "FILE", OPTION_FOREIGN, OPTION_DEFAULT_HOSTFILE,
     "The same, where no other option names hosts."},
    {"mca gmca prtemca pmixmca gpmixmca omca gomca", "NAME VALUE", OPTION_FOREIGN, OPTION_MCA,
     "Parameters of Open MPI: btl chooses channels, btl_tcp_if_include interfaces, plm_rsh_agent what "
     "stands for ssh, those of mapping, ranking, binding and output do as the options; those that tune "
     "what is not here change nothing, and one that decides something else is refused. As OMPI_MCA_NAME and PRTE_MCA_NAME they are read from the environment, too."},
    {"tune am amca", "FILES", OPTION_FOREIGN, OPTION_MCA_FILE,
     "Read such parameters from files, a line each: NAME = VALUE, or options."},
    {"bind-to-core bind-to-socket bind-to-none", NULL, OPTION_PLACE, OPTION_ALIAS,
     "The same as --bind-to with that word."},
    {"byslot bynode bycore", NULL, OPTION_PLACE, OPTION_ALIAS,
     "The same as --map-by with that word."},
    {"cpus-per-proc cpus-per-rank", "N", OPTION_PLACE, OPTION_ALIAS, "The same as --map-by :pe=N."},
    {"npersocket", "N", OPTION_PLACE, OPTION_ALIAS,
     "The same as --map-by ppr:N:package --bind-to package."},
    {"ppr", "N:OBJECT", OPTION_PLACE, OPTION_ALIAS, "The same as --map-by ppr:N:OBJECT."},
    {"display-comm display-comm-finalize", NULL, OPTION_INFORMATION, OPTION_ALIAS,
     "The same as --report."},
    {"pernode", NULL, OPTION_PROGRAM, OPTION_ALIAS, "The same as -npernode 1."},
    {"allow-run-as-root quiet q", NULL, OPTION_FOREIGN, OPTION_IGNORED,
     "Accepted; mpiexec does so anyway."},
    {"enable-auto-cleanup disable-recovery abort-on-non-zero-status localonly noprefix "
     "report-child-jobs-separately",
     NULL, OPTION_FOREIGN, OPTION_IGNORED, "Accepted; it is what happens anyway."},
    {"report-state-on-timeout get-stack-traces", NULL, OPTION_FOREIGN, OPTION_IGNORED,
     "Accepted; at --timeout a report tells where each rank is, and why."},
    {"preload-binary", NULL, OPTION_FOREIGN, OPTION_IGNORED,
     "Accepted; the program is to be on every host already."},
    {"preload-files", "FILES", OPTION_FOREIGN, OPTION_IGNORED,
     "Accepted; the files are to be on every host already."},
    {"pmi-port disable-hostname-propagation enable-hostname-propagation", NULL, OPTION_FOREIGN,
     OPTION_IGNORED, "Accepted; ranks find mpiexec without ports and names."},
    {"debug-daemons debug-daemons-file leave-session-attached novm use-regexp fwd-mpirun-port "
     "do-not-resolve enable-instant-on-support uniform-nodes set-sid no-ready-msg no-app-prefix "
     "hybrid-hosts enable-x disable-x",
     NULL, OPTION_FOREIGN, OPTION_IGNORED, "Accepted; it changes nothing here."},
    {"localhost pmix-prefix app-pmix-prefix", "NAME", OPTION_FOREIGN, OPTION_IGNORED,
     "Accepted; it changes nothing here."},
    {"launch-agent", "NAME", OPTION_FOREIGN, OPTION_DAEMON,
     "Accepted where it names orted or prted, Open MPI's daemon: this library's runs in its place."},
    {"max-vm-size spawn-timeout", "N", OPTION_FOREIGN, OPTION_IGNORED,
     "Accepted; VIREO_LAUNCH_LIMIT_MS says when a daemon is late."},
    {"tmpdir cartofile cf", "NAME", OPTION_FOREIGN, OPTION_IGNORED,
     "Accepted; mpiexec keeps no files, and hwloc tells of the hardware."},
    {"rankmap", "MAP", OPTION_FOREIGN, OPTION_REFUSED,
     "--rankfile says on which host each rank runs, and --map-by deals ranks out"},
    {"order-nodes", "UP|DOWN", OPTION_FOREIGN, OPTION_REFUSED,
     "hosts have ranks in the order in which they are named; name them in another"},
    {"personality", "NAME", OPTION_FOREIGN, OPTION_IGNORED,
     "Accepted; the options of all dialects are always known."},
    {"gpu-support gpu-subdevs-per-proc max-restarts with-ft", "WHAT", OPTION_FOREIGN, OPTION_OFF,
     "Accepted where it asks for none: 0, none, false or AUTO."},
    {"file", "NAME", OPTION_FOREIGN, OPTION_IGNORED,
     "Accepted; the standard lets each launcher give it a meaning, and it has none here."},
    {"soft", "SET", OPTION_FOREIGN, OPTION_IGNORED,
     "Accepted; as many processes as -n says are started, or none."},
    {"topolib demux", "NAME", OPTION_FOREIGN, OPTION_IGNORED, "Accepted; mpiexec needs neither."},
    {"nameserver ompi-server", "NAME", OPTION_FOREIGN, OPTION_REFUSED,
     "a server that keeps published names cannot be chosen, as this version publishes none; leave the "
     "option out"},
    {"dvm hnp system-server", "[=NAME]", OPTION_FOREIGN, OPTION_REFUSED,
     "each job starts its own daemons, so none that run already are looked for; leave the option out"},
    {"report-events", "URI", OPTION_FOREIGN, OPTION_REFUSED,
     "only a tool of Open MPI's understands its events; vireo report tells what ranks wait for, and "
     "--attach-info where they are"},
    {"singleton", "ID", OPTION_FOREIGN, OPTION_REFUSED,
     "a process of Open MPI's that was started alone says this to a launcher that it starts; here one "
     "that is alone starts none"},
    {"pmi_args", "PORT NAME KEY ID", OPTION_FOREIGN, OPTION_REFUSED,
     "a process of MPICH's that was started alone says this to a launcher that it starts; here one that "
     "is alone starts none"},
    {"test-suicide", "N", OPTION_FOREIGN, OPTION_REFUSED,
     "it has a daemon of Open MPI's kill itself, for tests of Open MPI; leave it out"},
};

/* The options that names of OPTION_ALIAS stand for. */
static const struct {
    const char *name, *words;
} aliases[] = {
    {"bind-to-core", "--bind-to core"},
    {"bind-to-socket", "--bind-to package"},
    {"bind-to-none", "--bind-to none"},
    {"byslot", "--map-by slot"},
    {"bynode", "--map-by node"},
    {"bycore", "--map-by core"},
    {"cpus-per-proc", "--map-by :pe=%"},
    {"cpus-per-rank", "--map-by :pe=%"},
    {"npersocket", "--map-by ppr:%:package --bind-to package"},
    {"ppr", "--map-by ppr:%"},
    {"pernode", "-npernode 1"},
    {"stream-buffering", "--set stream_buffering=%"},
    {"rr", "-ppn 1"},
    {"display-comm", "--report"},
    {"display-comm-finalize", "--report"},
};

const int option_table_count = sizeof(option_table) / sizeof(option_table[0]);

/* Step through the blank-separated words of names; NULL at the end. */
static const char *next_word(const char *at, size_t *len)
{
    at += *len;
    at += strspn(at, " ");
    *len = strcspn(at, " ");
    return *len ? at : NULL;
}

const struct option_row *option_find(const char *name, size_t len)
{
    for (int i = 0; i < option_table_count; i++) {
        size_t n = 0;
        for (const char *w = next_word(option_table[i].names, &n); w; w = next_word(w, &n))
            if (n == len && !memcmp(w, name, n))
                return &option_table[i];
    }
    return NULL;
}

const char *option_alias(const char *name, size_t len)
{
    for (size_t i = 0; i < sizeof(aliases) / sizeof(aliases[0]); i++)
        if (strlen(aliases[i].name) == len && !memcmp(aliases[i].name, name, len))
            return aliases[i].words;
    return "";
}

void option_spell(const char *name, size_t len, char *text, size_t size)
{
    static const char two[] = " output stdin report display version help set timeout mca "
                              "prtemca pmixmca personality ";
    char padded[40];
    snprintf(padded, sizeof(padded), " %.*s ", (int)len, name);
    int dashes = len > 1 && (strstr(two, padded) || memchr(name, '-', len)) ? 2 : 1;
    snprintf(text, size, "%s%.*s", dashes == 2 ? "--" : "-", (int)len, name);
}

/* "-np4" for "-np 4": digits that belong behind a blank. */
static bool is_number_stuck(const char *name, size_t len, char *near, size_t size)
{
    char own[40];
    size_t n = len;
    while (n && isdigit((unsigned char)name[n - 1]))
        n--;
    const struct option_row *row = n && n < len ? option_find(name, n) : NULL;
    if (!row || !row->value || strcmp(row->value, "N"))
        return false;
    option_spell(name, n, own, sizeof(own));
    snprintf(near, size, "%s %.*s", own, (int)(len - n < 20 ? len - n : 20), name + n);
    return true;
}

void option_nearest(const char *name, size_t len, char *near, size_t size)
{
    char lower[OS_NEAREST_LEN];
    int best = OS_NEAREST_FAR;
    near[0] = 0;
    if (len > 32 || is_number_stuck(name, len, near, size))
        return;
    for (size_t i = 0; i < len; i++)
        lower[i] = (char)tolower((unsigned char)name[i]);
    for (int i = 0; i < option_table_count; i++) {
        size_t n = 0;
        for (const char *w = next_word(option_table[i].names, &n); w; w = next_word(w, &n)) {
            int d = os_nearest_distance(lower, len, w, n);
            if (d >= best || !os_nearest_is_near(d, len, n))
                continue;
            best = d;
            near[0] = 0;
            if (option_table[i].action != OPTION_REFUSED)
                option_spell(w, n, near, size);
        }
    }
}
