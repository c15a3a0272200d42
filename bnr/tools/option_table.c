/* SPDX-License-Identifier: BSD-3-Clause */

/* The table of mpiexec's options; see options.h for its rules. */
#include "bnr/tools/option_table.h"

#include <ctype.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>

#include "os/nearest.h"

const char *const option_section_titles[OPTION_SECTIONS] = {
    [OPTION_PROGRAM] = "For the program that follows",
    [OPTION_JOB] = "For the whole job",
    [OPTION_STREAMS] = "Standard streams",
    [OPTION_INFORMATION] = "Information",
    [OPTION_FOREIGN] = "From other launchers",
};

const struct option_row option_table[] = {
    {"n np c", "N", OPTION_PROGRAM, OPTION_COUNT, "Start N processes of the program; without it as many as the slots of the named hosts, else 1."},
    {"npernode N", "N", OPTION_PROGRAM, OPTION_PER_NODE,
     "Start N processes on each host, or with -n not more."},
    {"wdir wd workdir", "DIR", OPTION_PROGRAM, OPTION_WDIR, "Start the processes in DIR."},
    {"env", "NAME VALUE", OPTION_PROGRAM, OPTION_ENV,
     "Set a variable for them; NAME=VALUE in one word works too."},
    {"x", "NAME[=VALUE]", OPTION_PROGRAM, OPTION_EXPORT,
     "Set a variable for them, or pass mpiexec's own on."},
    {"envlist", "NAMES", OPTION_PROGRAM, OPTION_ENVLIST,
     "Pass only these variables of mpiexec's environment, separated by commas."},
    {"envall", NULL, OPTION_PROGRAM, OPTION_ENVALL,
     "Pass mpiexec's whole environment (the default)."},
    {"envnone", NULL, OPTION_PROGRAM, OPTION_ENVNONE, "Pass none of mpiexec's environment."},
    {"initial-errhandler", "NAME", OPTION_PROGRAM, OPTION_ERRHANDLER,
     "The error handler that they begin with: mpi_errors_are_fatal (the default), "
     "mpi_errors_abort or mpi_errors_return."},
    {"memory-alloc-kinds", "KINDS", OPTION_PROGRAM, OPTION_MEMORY,
     "Ask for kinds of memory, separated by commas; they get mpi and system (the default), "
     "and no others."},

    {"genv", "NAME VALUE", OPTION_JOB, OPTION_GENV, "As -env, for every program."},
    {"genvlist", "NAMES", OPTION_JOB, OPTION_GENVLIST, "As -envlist, for every program."},
    {"genvall", NULL, OPTION_JOB, OPTION_GENVALL, "As -envall, for every program."},
    {"genvnone", NULL, OPTION_JOB, OPTION_GENVNONE, "As -envnone, for every program."},
    {"timeout", "SECONDS", OPTION_JOB, OPTION_TIMEOUT,
     "End the job after so long, report what its ranks wait for, and exit with 124; 0 means never."},
    {"set", "NAME=VALUE", OPTION_JOB, OPTION_SET,
     "Change a setting of the library; --help=settings lists them."},
    {"usize", "N|SYSTEM", OPTION_JOB, OPTION_UNIVERSE,
     "Set MPI_UNIVERSE_SIZE to N, or to the number of processors; else it is the job's size."},
    {"pretend-hosts", "N", OPTION_JOB, OPTION_PRETEND,
     "Pretend that this host is N hosts, which share no memory: each gets a block of consecutive "
     "ranks, and there are no more of them than ranks. For tests."},
    {"disable-auto-cleanup enable-recovery continuous", NULL, OPTION_JOB, OPTION_GO_ON,
     "Let the others go on when a rank fails; MPI_Abort, also by a fatal error, still ends all."},

    {"l prepend-rank tag-output", NULL, OPTION_STREAMS, OPTION_LABEL,
     "Begin each line of output with the rank it comes from, as in \"[3] text\"."},
    {"output-filename", "DIR", OPTION_STREAMS, OPTION_OUT_FOLDER,
     "Write what rank N writes to DIR/rank.N/stdout and DIR/rank.N/stderr, and nowhere else; in "
     "N, zeros lead."},
    {"outfile-pattern", "FILE", OPTION_STREAMS, OPTION_OUT_FILE,
     "Write stdout to FILE, where %r is the rank, %R the rank with leading zeros, %h the host, "
     "%t the time of the start and %% a percent sign."},
    {"errfile-pattern", "FILE", OPTION_STREAMS, OPTION_ERR_FILE, "The same for stderr."},
    {"merge-stderr-to-stdout", NULL, OPTION_STREAMS, OPTION_MERGE,
     "Send stderr where stdout goes."},
    {"output", "WORDS", OPTION_STREAMS, OPTION_OUTPUT,
     "tag as -l, dir=DIR as --output-filename, merge as above; separated by commas."},
    {"stdin s", "none|all|RANK", OPTION_STREAMS, OPTION_STDIN,
     "Which rank reads mpiexec's stdin (default 0)."},

    {"report display-map report-bindings display-allocation", NULL, OPTION_INFORMATION,
     OPTION_REPORT,
     "Tell at the end where each rank ran and which channel each pair used, and why."},
    {"display", "WHAT", OPTION_INFORMATION, OPTION_REPORT, "The same as --report."},
    {"v verbose", NULL, OPTION_INFORMATION, OPTION_VERBOSE,
     "Tell what is started, where, and how it ends."},
    {"V version info", NULL, OPTION_INFORMATION, OPTION_VERSION, "Print the version and exit."},
    {"h help", "[=man|settings]", OPTION_INFORMATION, OPTION_HELP,
     "Print this text, the manual page or the table of settings, and exit."},

    {"host hosts H", "NAMES", OPTION_FOREIGN, OPTION_HOST,
     "Accepted where every name is this host's. A number after a colon is its slots, one without "
     "it; without -n, as many processes start as there are slots."},
    {"arch", "NAME", OPTION_FOREIGN, OPTION_ARCH,
     "Accepted where it is what uname -m says on this host."},
    {"bind-to", "none", OPTION_FOREIGN, OPTION_BIND, "Ranks are not bound; only none is accepted."},
    {"map-by rank-by", "WORD", OPTION_FOREIGN, OPTION_MAP,
     "Accepted where it changes nothing on one host; ppr:N:node is the same as -npernode N."},
    {"hostfile machinefile f", "FILE", OPTION_FOREIGN, OPTION_HOSTFILE,
     "The same from a file, a line each: NAME, NAME:4, or NAME slots=4 max_slots=8. With -host, "
     "that picks among its lines."},
    {"default-hostfile", "FILE", OPTION_FOREIGN, OPTION_DEFAULT_HOSTFILE,
     "The same, where no other option names hosts."},
    {"mca gmca prtemca pmixmca", "NAME VALUE", OPTION_FOREIGN, OPTION_MCA,
     "Accepted for the few parameters that change nothing here."},
    {"allow-run-as-root oversubscribe quiet q bind-to-none", NULL, OPTION_FOREIGN, OPTION_IGNORED,
     "Accepted; mpiexec does so anyway."},
    {"enable-auto-cleanup disable-recovery abort-on-non-zero-status localonly noprefix", NULL,
     OPTION_FOREIGN, OPTION_IGNORED, "Accepted; it is what happens anyway."},
    {"report-state-on-timeout get-stack-traces", NULL, OPTION_FOREIGN, OPTION_IGNORED,
     "Accepted; at --timeout a report tells where each rank is, and why."},
    {"preload-binary", NULL, OPTION_FOREIGN, OPTION_IGNORED,
     "Accepted; the program is on this host already."},
    {"pmi-port disable-hostname-propagation", NULL, OPTION_FOREIGN, OPTION_IGNORED,
     "Accepted; ranks find mpiexec without ports and names."},
    {"use-hwthread-cpus", NULL, OPTION_FOREIGN, OPTION_IGNORED,
     "Accepted; every hardware thread counts as a processor anyway."},
    {"byslot bycore bynode", NULL, OPTION_FOREIGN, OPTION_IGNORED,
     "Accepted; ranks are not bound, so it changes nothing on one host."},
    {"ppn perhost", "N", OPTION_JOB, OPTION_PER_HOST,
     "Give each host N processes at a time; without -n, one time."},
    {"launcher launcher-exec bootstrap rmk prefix order-nodes localhost", "NAME", OPTION_FOREIGN,
     OPTION_IGNORED, "Accepted; one host needs no launcher."},
    {"personality", "NAME", OPTION_FOREIGN, OPTION_IGNORED,
     "Accepted; the options of all dialects are always known."},
    {"soft", "SET", OPTION_FOREIGN, OPTION_IGNORED,
     "Accepted; as many processes as -n says are started, or none."},
    {"topolib demux", "NAME", OPTION_FOREIGN, OPTION_IGNORED, "Accepted; mpiexec needs neither."},
    {"nolocal skip-launch-node", NULL, OPTION_FOREIGN, OPTION_REFUSED,
     "this version runs every process on this host; leave the option out"},
    {"nooversubscribe", NULL, OPTION_FOREIGN, OPTION_REFUSED,
     "mpiexec does not limit processes by the number of processors; leave the option out"},
    {"iface", "NAME", OPTION_FOREIGN, OPTION_REFUSED,
     "no interface is chosen by its name; use --set tcp_addresses=ADDRESS"},
    {"configfile app file", "FILE", OPTION_FOREIGN, OPTION_REFUSED,
     "write the programs on the command line, separated by ':'"},
    {"bind-to-core bind-to-socket membind cpu-set cpu-list", NULL, OPTION_FOREIGN, OPTION_REFUSED,
     "this version does not bind ranks; leave the option out"},
    {"cpus-per-proc cpus-per-rank npersocket rankfile rf", NULL, OPTION_FOREIGN, OPTION_REFUSED,
     "this version does not place ranks; leave the option out"},
    {"path", "DIRS", OPTION_FOREIGN, OPTION_REFUSED, "name the program by its path, or set PATH"},
    {"prepend-pattern timestamp-output xml", NULL, OPTION_FOREIGN, OPTION_REFUSED,
     "lines can begin with the rank only; use -l"},
    {"print-all-exitcodes", NULL, OPTION_FOREIGN, OPTION_REFUSED,
     "use -v, which tells how each rank ends"},
    {"xterm debug tv gpus-per-proc", NULL, OPTION_FOREIGN, OPTION_REFUSED,
     "start a script that does so; it finds its rank in MPI_LOCALRANKID"},
    {"profile", NULL, OPTION_FOREIGN, OPTION_REFUSED,
     "mpiexec does not measure itself; use -v, which tells what it does, or leave the option out"},
    {"preload-files", "FILES", OPTION_FOREIGN, OPTION_REFUSED,
     "the files are not copied; name them by their paths on this host, or use -wdir"},
    {"nameserver dvm", "NAME", OPTION_FOREIGN, OPTION_REFUSED,
     "mpiexec needs no server that runs already; leave the option out"},
    {"forward-signals", "SIGNALS", OPTION_FOREIGN, OPTION_REFUSED,
     "INT, TERM, HUP, TSTP, CONT, USR1 and USR2 reach the ranks anyway; leave the option out"},
    {"display-topo do-not-launch report-uri report-pid", NULL, OPTION_FOREIGN, OPTION_REFUSED,
     "use -v, which tells what is started, or --report; lstopo prints the host's topology"},
    {"am tune", "FILE", OPTION_FOREIGN, OPTION_REFUSED,
     "its parameters belong to another MPI; --help=settings lists the settings of this one"},
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
